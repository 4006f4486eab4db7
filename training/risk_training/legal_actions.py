"""The legal actions of many decisions in one list.

On the classic map, about ten of 300 actions are legal. A list therefore takes less work than a row of all
actions for each decision.
"""

from __future__ import annotations

import numpy as np
import torch

from risk_training.devices import CPU

Tensor = torch.Tensor


class LegalActions:
    """The m legal actions of k decisions, concatenated in the order of the decisions."""

    def __init__(self, actions: Tensor, counts: Tensor, decisions: Tensor | None = None) -> None:
        self.actions, self.counts = actions, counts  # int64 (m,); actions per decision, int64 (k,)
        self.ends = counts.cumsum(0)  # int64 (k,): end of each decision's part of the list
        self.starts = self.ends - counts
        self.rows = torch.repeat_interleave(counts, output_size=len(actions))  # int64 (m,): index of decision
        everyone = torch.arange(len(counts), device=counts.device)
        self.decisions = everyone if decisions is None else decisions  # int64 (k,): indices before `select`

    @classmethod
    def of(cls, masks: Tensor) -> LegalActions:
        """Return the legal actions of masks bool (k, n)."""
        decisions, num_actions = masks.shape
        flat, is_here = masks.flatten(), masks.device.type == CPU  # on the CPU, NumPy is three times as fast
        places = torch.as_tensor(np.flatnonzero(flat.numpy())) if is_here else flat.nonzero()[:, 0]
        return cls(places % num_actions, torch.bincount(places // num_actions, minlength=decisions))

    def to(self, device: torch.device) -> LegalActions:
        """Return the legal actions on a device."""
        if device == self.actions.device:
            return self
        return LegalActions(*(part.to(device) for part in (self.actions, self.counts, self.decisions)))

    def select(self, decisions: Tensor) -> LegalActions:
        """Return the legal actions of the decisions with these indices, int64 (j,)."""
        counts = self.counts[decisions]
        before = self.starts[decisions] - (counts.cumsum(0) - counts)
        places = torch.repeat_interleave(before, counts)
        places += torch.arange(len(places), device=places.device)
        return LegalActions(self.actions[places], counts, decisions)

    def find(self, actions: Tensor, num_actions: int) -> Tensor:
        """Return the index, int64 (k,), of each action among the legal actions of its decision."""
        wanted = torch.arange(len(actions), device=actions.device) * num_actions + actions
        return torch.searchsorted(self.rows * num_actions + self.actions, wanted) - self.starts

    def sums(self, values: Tensor) -> Tensor:
        """Return the sum (k,) of `values` (m,) over each decision's actions."""
        return values.new_zeros(len(self.counts)).index_add(0, self.rows, values)

    def logprobs(self, logits: Tensor) -> Tensor:
        """Return the log-probability (m,) of each legal action, given the logits (m,)."""
        lowest = logits.new_full((len(self.counts),), -torch.inf)
        highest = lowest.scatter_reduce(0, self.rows, logits.detach(), "amax")
        logits = logits - highest[self.rows]
        return logits - self.sums(logits.exp()).log()[self.rows]

    def sample(self, logprobs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Sample an action for each decision, given log-probabilities (m,).

        Returns the positions int64 (k,) of the sampled actions in the list.
        """
        sums = logprobs.double().exp().cumsum(0)
        tops = sums[self.ends - 1]
        bottoms = torch.cat([tops.new_zeros(1), tops[:-1]])
        points = bottoms + torch.rand(len(tops), generator=generator) * (tops - bottoms)
        return torch.minimum(torch.searchsorted(sums, points, right=True), self.ends - 1)
