"""The network of the project's own policies with torch, to be trained; `agents.network` is the same one, to play."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch
from torch import nn

from agents.layout import MANY, Layout
from risk_env.core.observe import TERRITORY_WIDTH

Array = npt.NDArray[Any]
Tensor = torch.Tensor

ILLEGAL = -40.0  # the logit of what is not legal: next to no probability, but none of the tiny floats that are slow


class Network(nn.Module):
    """The weights, and what is computed with them."""

    def __init__(self, layout: Layout, width: int, local: int) -> None:
        super().__init__()
        self.layout = layout
        self.weights = nn.ParameterDict()
        for name, (inputs, outputs) in layout.shapes(width, local).items():
            gain = 0.01 if name in ("actions", "value") or name.endswith("_out") else 2**0.5
            self.weights[name] = nn.init.orthogonal_(torch.empty(inputs, outputs), gain)
            if not name.endswith(("_trunk", "_out")):
                self.weights[f"{name}_bias"] = torch.zeros(outputs)

    def forward(self, codes: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 (k, n), ILLEGAL where not legal, and values (k,), of codes (k, D) and masks (k, n)."""
        return self.answer(*self.look(codes), masks > 0)

    def look(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """What the network looks at, before any weights, of codes (k, D): `look`."""
        return look(self.layout, codes)

    def answer(self, places: Tensor, whole: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """The same as `forward`, of what `look` gave and masks bool (k, n)."""
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
        return {name: value.detach().numpy().copy() for name, value in self.weights.items()}


def look(layout: Layout, codes: Tensor) -> tuple[Tensor, Tensor]:
    """What a network looks at, before any weights, of codes (k, D).

    Territories float32 (k, T, 2 F), each with its own features and its neighbours', and the whole board (k, I): every
    territory, the globals, and the ends of the move under way once more.
    """
    codes, device = codes.float(), codes.device
    neighbours, global_counts = (
        torch.as_tensor(part, device=device) for part in (layout.neighbours, layout.global_counts)
    )
    split = TERRITORY_WIDTH * layout.territories
    board, others = codes[:, :split].reshape(-1, layout.territories, TERRITORY_WIDTH), codes[:, split:]
    counts, marks = board[:, :, layout.count_columns], board[:, :, layout.mark_columns]
    own = torch.cat([counts.clip(0, 1), counts.log1p() / 2, counts / MANY, marks], 2)
    places = torch.cat([own, neighbours @ own], 2)
    others = torch.where(global_counts, others.log1p() / 2, others)
    source, target = layout.end_columns
    ends = torch.stack([own[:, :, source], own[:, :, target]], 1) @ places
    return places, torch.cat([part.flatten(1) for part in (own, others, ends)], 1)


def log_probabilities(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability of each action (k,) and entropy of each row (k,)."""
    logs = logits - logits.logsumexp(1, keepdim=True)
    chosen = logs.gather(1, actions[:, None])[:, 0]
    return chosen, -(logs.exp() * logs).sum(1)
