"""The policies' network in torch, to be trained; `risk_agents.learned.network` is the same network compiled."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from risk_agents.learned.features import checked_codes, encode, feature_spec
from risk_agents.learned.layout import Layout, has_bias
from risk_agents.learned.network import HEADS
from risk_env.arrays import Array
from risk_training.action_heads import Inputs, action_logits, heads_of
from risk_training.devices import NamedWeights
from risk_training.legal_actions import LegalActions

Tensor = torch.Tensor

_BELOW_ONE = 1 - 1e-6  # rounding must not put a point above the last sum
ILLEGAL = -40.0  # logit of illegal actions: hardly any probability, without the tiny floats that are slow


class Network(NamedWeights):
    """The weights, and what is computed with them."""

    def __init__(self, layout: Layout, width: int, local: int) -> None:
        super().__init__()
        self.layout, self.spec = layout, feature_spec(layout)
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
        codes = checked_codes(self.spec, observations)
        found = self.layout.empty_features(len(codes))
        encode(self.spec, codes, *found)
        return torch.as_tensor(found[0], device=self.device), torch.as_tensor(found[1], device=self.device)

    def answer(self, territory_features: Tensor, board_features: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """The same as `forward`, of features and masks bool (k, n)."""
        legal = LegalActions.of(masks)
        found, values = self.legal_logits(territory_features, board_features, legal)
        logits = torch.full(masks.shape, ILLEGAL, device=masks.device)
        logits[legal.rows, legal.actions] = found
        return logits, values

    def legal_logits(
        self, territory_features: Tensor, board_features: Tensor, legal: LegalActions
    ) -> tuple[Tensor, Tensor]:
        """Logits (m,) of the legal actions of k decisions, and values (k,).

        Features of boards are those of these decisions, of territories those of all that `legal` was selected from.
        """
        trunk = self._trunk(board_features)
        logits = action_logits(self.heads, legal, territory_features, self._inputs(trunk))
        return logits, self._value(trunk)

    def values(self, observations: Array) -> Tensor:
        """Values (k,) of observations int8 (k, D)."""
        return self._value(self._trunk(self.encode(observations)[1]))

    def _trunk(self, board_features: Tensor) -> Tensor:
        weights = self.weights
        hidden = torch.addmm(weights["trunk_1_bias"], board_features, weights["trunk_1"]).relu()
        return torch.addmm(weights["trunk_2_bias"], hidden, weights["trunk_2"]).relu()

    def _value(self, trunk: Tensor) -> Tensor:
        return torch.addmm(self.weights["value_bias"], trunk, self.weights["value"])[:, 0]

    def _inputs(self, trunk: Tensor) -> Inputs:
        """What the logits are computed from, of the trunk's outputs (k, width)."""
        hidden, biases, trunks, outputs = (
            [self.weights[f"{head}_{part}"] for head in HEADS] for part in ("in", "in_bias", "trunk", "out")
        )
        shared = torch.addmm(torch.cat(biases), trunk, torch.cat(trunks, 1)).view(len(trunk), len(HEADS), -1)
        own = self.weights["actions"].T, self.weights["actions_bias"]
        return Inputs(trunk, shared, *own, torch.cat(hidden), torch.cat(outputs, 1).T)

    def load_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned, on the CPU."""
        self.weights.load_state_dict({name: torch.tensor(values) for name, values in arrays.items()}, assign=True)


def sample_actions(logprobs: Tensor, legal: Tensor) -> Tensor:
    """An action of each row (k,), of log-probabilities (k, n) and the legal actions bool (k, n)."""
    sums = (legal * logprobs.exp()).cumsum(1)
    points = torch.rand(len(sums), 1, device=sums.device).clip(max=_BELOW_ONE) * sums[:, -1:]
    return (sums > points).byte().argmax(1)


def action_logprobs(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability of each action (k,) and entropy of each row (k,)."""
    logprobs = logits - logits.logsumexp(1, keepdim=True)
    return logprobs.gather(1, actions[:, None])[:, 0], -(logprobs.exp() * logprobs).sum(1)
