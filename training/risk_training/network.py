"""The network of the project's own policies with torch, to be trained; `learned.network` is the same one, to play."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch
from torch import nn

from risk_agents.learned.layout import Layout
from risk_agents.learned.sight import look_all, sight_of

Array = npt.NDArray[Any]
Tensor = torch.Tensor

_BELOW_ONE = 1 - 1e-6  # rounding must not put a point beyond the last sum
ILLEGAL = -40.0  # the logit of what is not legal: next to no probability, but none of the tiny floats that are slow


class Network(nn.Module):
    """The weights, and what is computed with them."""

    def __init__(self, layout: Layout, width: int, local: int) -> None:
        super().__init__()
        self.layout, self.sight = layout, sight_of(layout)
        self.weights = nn.ParameterDict()
        for name, (inputs, outputs) in layout.shapes(width, local).items():
            gain = 0.01 if name in ("actions", "value") or name.endswith("_out") else 2**0.5
            self.weights[name] = nn.init.orthogonal_(torch.empty(inputs, outputs), gain)
            if not name.endswith(("_trunk", "_out")):
                self.weights[f"{name}_bias"] = torch.zeros(outputs)

    def forward(self, codes: Array, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 (k, n), ILLEGAL where not legal, and values (k,), of codes int8 (k, D) and masks (k, n)."""
        return self.answer(*self.look(codes), masks > 0)

    def look(self, codes: Array) -> tuple[Tensor, Tensor]:
        """What the network looks at, before any weights, of codes int8 (k, D): `risk_agents.learned.sight.look_all`."""
        places, whole = self.layout.room(len(codes))
        look_all(self.sight, codes, places, whole)
        return self._constant(places), self._constant(whole)

    def answer(self, places: Tensor, whole: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """The same as `forward`, of what `look` gives and masks bool (k, n)."""
        weights, layout = self.weights, self.layout
        hidden = (whole @ weights["trunk_1"] + weights["trunk_1_bias"]).clip(0)
        trunk = (hidden @ weights["trunk_2"] + weights["trunk_2_bias"]).clip(0)
        logits = trunk @ weights["actions"] + weights["actions_bias"]
        T, border_0, card_0 = layout.territories, layout.border_0, layout.card_0
        sources, targets = self._constant(layout.sources), self._constant(layout.targets)
        rows, at = torch.where(masks[:, :T])
        logits[rows, at] += self._judged("territory", places[rows, at], trunk, rows)
        rows, at = torch.where(masks[:, border_0 : border_0 + len(sources)])
        ends = torch.cat([places[rows, sources[at]], places[rows, targets[at]]], 1)
        logits[rows, border_0 + at] += self._judged("border", ends, trunk, rows)
        rows, at = torch.where(masks[:, card_0 : card_0 + T])
        logits[rows, card_0 + at] += self._judged("card", places[rows, at], trunk, rows)
        values = (trunk @ weights["value"] + weights["value_bias"])[:, 0]
        return logits.masked_fill(~masks, ILLEGAL), values

    def _judged(self, head: str, places: Tensor, trunk: Tensor, rows: Tensor) -> Tensor:
        """What a local head adds to the logits of the legal actions of its block, (m,) of places (m, ...)."""
        weights = self.weights
        shared = trunk @ weights[f"{head}_trunk"] + weights[f"{head}_in_bias"]
        hidden = (places @ weights[f"{head}_in"] + shared[rows]).clip(0)
        return (hidden @ weights[f"{head}_out"])[:, 0]

    def _constant(self, array: Array) -> Tensor:
        return torch.as_tensor(array, device=self.weights["value"].device)

    def arrays(self) -> dict[str, Array]:
        """The weights as NumPy arrays, copied."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self.weights.items()}


def drawn(logs: Tensor, legal: Tensor, chance: torch.Generator | None = None) -> Tensor:
    """An action of each row (k,), legal bool (k, n), as likely as its log-probabilities (k, n) say."""
    sums = (legal * logs.exp()).cumsum(1)
    points = torch.rand(len(sums), 1, generator=chance, device=sums.device).clip(max=_BELOW_ONE) * sums[:, -1:]
    return (sums > points).byte().argmax(1)


def log_probabilities(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability of each action (k,) and entropy of each row (k,)."""
    logs = logits - logits.logsumexp(1, keepdim=True)
    chosen = logs.gather(1, actions[:, None])[:, 0]
    return chosen, -(logs.exp() * logs).sum(1)
