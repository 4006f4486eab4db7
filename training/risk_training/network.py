"""The policies' network in torch, to be trained; `risk_agents.learned.network` is the same network compiled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn

from risk_agents.learned.features import encode, feature_spec
from risk_agents.learned.layout import Layout, has_bias
from risk_agents.learned.network import HEADS
from risk_env.arrays import Array
from risk_training.action_heads import NONE, ActionHeads, Heads
from risk_training.devices import CPU
from risk_training.legal_actions import LegalActions

Tensor = torch.Tensor

_BELOW_ONE = 1 - 1e-6  # rounding must not put a point above the last sum
ILLEGAL = -40.0  # logit of illegal actions: hardly any probability, without the tiny floats that are slow


class Network(nn.Module):
    """The weights, and what is computed with them."""

    def __init__(self, layout: Layout, width: int, local: int) -> None:
        super().__init__()
        self.layout, self.spec = layout, feature_spec(layout)
        self.weights = nn.ParameterDict()
        self.firsts = {"territory": 0, "border": layout.border_0, "card": layout.card_0}  # action of each head
        territories = torch.arange(layout.territories)[:, None]
        borders = torch.as_tensor(np.stack([layout.sources, layout.targets], 1))
        for head, ends in (("territory", territories), ("border", borders), ("card", territories)):
            self.register_buffer(f"{head}_ends", ends, persistent=False)  # int64 (actions, territories of each)
        self.heads = heads_of(layout)
        for name, (inputs, outputs) in layout.shapes(width, local).items():
            gain = 0.01 if name in ("actions", "value") or name.endswith("_out") else 2**0.5
            self.weights[name] = nn.init.orthogonal_(torch.empty(inputs, outputs), gain)
            if has_bias(name):
                self.weights[f"{name}_bias"] = torch.zeros(outputs)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights["value"].device

    def forward(self, observations: Array, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 (k, n), ILLEGAL where not legal, and values (k,), of int8 (k, D) and masks (k, n)."""
        return self.answer(*self.encode(observations), masks > 0)

    def encode(self, observations: Array) -> tuple[Tensor, Tensor]:
        """Features of territories (k, T, 2 F) and boards (k, I) of observations int8 (k, D): `learned.features`."""
        found = self.layout.empty_features(len(observations))
        encode(self.spec, observations, *found)
        return torch.as_tensor(found[0], device=self.device), torch.as_tensor(found[1], device=self.device)

    def answer(self, territory_features: Tensor, board_features: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """The same as `forward`, of features and masks bool (k, n)."""
        legal = LegalActions.of(masks)
        found, values = self.legal_logits(territory_features, board_features, legal)
        logits = torch.full(masks.shape, ILLEGAL, device=masks.device)
        logits[legal.rows, legal.actions] = found.float()
        return logits, values

    def legal_logits(
        self, territory_features: Tensor, board_features: Tensor, legal: LegalActions
    ) -> tuple[Tensor, Tensor]:
        """Logits (m,) of the legal actions of k decisions, and values (k,).

        Features of boards are those of these decisions, of territories those of all that `legal` was selected from.
        """
        trunk = self._trunk(board_features)
        shared = self._shared(trunk)
        if self.device.type == CPU:
            logits = ActionHeads.apply(self.heads, legal, territory_features, trunk.float(), *self._head_weights(shared))
        else:
            logits = self._logits(territory_features, trunk, shared, legal)
        return logits, self._value(trunk)

    def _logits(self, territory_features: Tensor, trunk: Tensor, shared: Tensor, legal: LegalActions) -> Tensor:
        """What `ActionHeads` computes, on any device."""
        everywhere = torch.addmm(self.weights["actions_bias"], trunk, self.weights["actions"])
        logits = everywhere[legal.rows, legal.actions]
        for head, part in zip(HEADS, shared.chunk(len(HEADS), 1), strict=True):
            first, ends = self.firsts[head], self.get_buffer(f"{head}_ends")
            at = torch.where((legal.actions >= first) & (legal.actions < first + len(ends)))[0]
            rows = legal.rows[at]
            places = legal.decisions[rows, None] * self.layout.territories + ends[legal.actions[at] - first]
            features = territory_features.flatten(0, 1)[places].flatten(1)
            hidden = torch.addmm(part[rows], features, self.weights[f"{head}_in"]).relu()
            logits = logits.index_add(0, at, (hidden @ self.weights[f"{head}_out"])[:, 0].to(logits.dtype))
        return logits

    def values(self, observations: Array) -> Tensor:
        """Values (k,) of observations int8 (k, D)."""
        return self._value(self._trunk(self.encode(observations)[1]))

    def _trunk(self, board_features: Tensor) -> Tensor:
        weights = self.weights
        hidden = torch.addmm(weights["trunk_1_bias"], board_features, weights["trunk_1"]).relu()
        return torch.addmm(weights["trunk_2_bias"], hidden, weights["trunk_2"]).relu()

    def _value(self, trunk: Tensor) -> Tensor:
        return torch.addmm(self.weights["value_bias"], trunk, self.weights["value"])[:, 0]

    def _shared(self, trunk: Tensor) -> Tensor:
        """What the trunk gives to the hidden layers of all HEADS, (k, 3 local)."""
        weights = torch.cat([self.weights[f"{head}_trunk"] for head in HEADS], 1)
        biases = torch.cat([self.weights[f"{head}_in_bias"] for head in HEADS])
        return torch.addmm(biases, trunk, weights)

    def _head_weights(self, shared: Tensor) -> list[Tensor]:
        weights = self.weights
        inputs, outputs = ([weights[f"{head}_{part}"] for head in HEADS] for part in ("in", "out"))
        shared = shared.float().reshape(len(shared), len(HEADS), -1)
        return [shared, weights["actions"].T.contiguous(), weights["actions_bias"], torch.cat(inputs), torch.cat(outputs, 1).T.contiguous()]

    def load_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned."""
        self.weights.load_state_dict({name: torch.tensor(values) for name, values in arrays.items()})

    def arrays(self) -> dict[str, Array]:
        """The weights as NumPy arrays, copied."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self.weights.items()}


def sample_actions(logprobs: Tensor, legal: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """An action of each row (k,), of log-probabilities (k, n) and the legal actions bool (k, n)."""
    sums = (legal * logprobs.exp()).cumsum(1)
    points = torch.rand(len(sums), 1, generator=generator, device=sums.device).clip(max=_BELOW_ONE) * sums[:, -1:]
    return (sums > points).byte().argmax(1)


def action_logprobs(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability of each action (k,) and entropy of each row (k,)."""
    logprobs = logits - logits.logsumexp(1, keepdim=True)
    return logprobs.gather(1, actions[:, None])[:, 0], -(logprobs.exp() * logprobs).sum(1)


def heads_of(layout: Layout) -> Heads:
    """The local head of each action."""
    numbers, rows = np.full((2, layout.num_actions), NONE)
    ends = np.full((layout.num_actions, 2), NONE)
    places = np.arange(layout.territories)[:, None]
    blocks = (0, places), (layout.border_0, np.stack([layout.sources, layout.targets], 1)), (layout.card_0, places)
    row = 0
    for head, (first, territories) in enumerate(blocks):
        actions = slice(first, first + len(territories))
        numbers[actions], rows[actions] = head, row
        ends[actions, : territories.shape[1]] = territories
        row += 2 * layout.own_features * territories.shape[1]
    return Heads(numbers, rows, ends)
