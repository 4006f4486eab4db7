"""The legal actions of many decisions in one list: about nine of 300 actions are legal, so a list is less work than a
row of all actions for each decision.
"""

from __future__ import annotations

import numpy as np
import torch

from risk_training.devices import CPU

Tensor = torch.Tensor


class LegalActions:
    """The legal actions of k decisions, m in all: one decision's after the other's."""

    def __init__(self, actions: Tensor, counts: Tensor, decisions: Tensor | None = None) -> None:
        self.actions, self.counts = actions, counts  # int64 (m,), and of each decision how many (k,)
        self.ends = counts.cumsum(0)  # int64 (k,): where each decision's end, and where they begin
        self.starts = self.ends - counts
        self.rows = torch.repeat_interleave(counts, output_size=len(actions))  # int64 (m,): of which decision
        everyone = torch.arange(len(counts), device=counts.device)
        self.decisions = everyone if decisions is None else decisions  # int64 (k,): their numbers before `select`

    @classmethod
    def of(cls, masks: Tensor) -> LegalActions:
        """Those of masks bool (k, n)."""
        decisions, num_actions = masks.shape
        flat, is_here = masks.flatten(), masks.device.type == CPU  # where NumPy takes a third of torch's time
        places = torch.as_tensor(np.flatnonzero(flat.numpy())) if is_here else flat.nonzero()[:, 0]
        return cls(places % num_actions, torch.bincount(places // num_actions, minlength=decisions))

    def to(self, device: torch.device) -> LegalActions:
        """The same on a device."""
        return self if device == self.actions.device else LegalActions(self.actions.to(device), self.counts.to(device))

    def select(self, decisions: Tensor) -> LegalActions:
        """Those of some decisions, numbers int64 (j,)."""
        counts = self.counts[decisions]
        before = self.starts[decisions] - (counts.cumsum(0) - counts)
        places = torch.repeat_interleave(before, counts)
        places += torch.arange(len(places), device=places.device)
        return LegalActions(self.actions[places], counts, decisions)

    def find(self, actions: Tensor, num_actions: int) -> Tensor:
        """Where in its decision's part of the list the action of each decision is, int64 (k,)."""
        wanted = torch.arange(len(actions), device=actions.device) * num_actions + actions
        return torch.searchsorted(self.rows * num_actions + self.actions, wanted) - self.starts

    def sums(self, values: Tensor) -> Tensor:
        """The sums over each decision's actions (k,) of values (m,)."""
        return values.new_zeros(len(self.counts)).index_add(0, self.rows, values)

    def logprobs(self, logits: Tensor) -> Tensor:
        """The log-probability of each legal action (m,), of its logit (m,)."""
        lowest = logits.new_full((len(self.counts),), -torch.inf)
        highest = lowest.scatter_reduce(0, self.rows, logits.detach(), "amax")
        logits = logits - highest[self.rows]
        return logits - self.sums(logits.exp()).log()[self.rows]

    def sample(self, logprobs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """A place in the list for each decision (k,), drawn by log-probabilities (m,)."""
        sums = logprobs.double().exp().cumsum(0)
        tops = sums[self.ends - 1]
        bottoms = torch.cat([tops.new_zeros(1), tops[:-1]])
        points = bottoms + torch.rand(len(tops), generator=generator) * (tops - bottoms)
        return torch.minimum(torch.searchsorted(sums, points, right=True), self.ends - 1)
