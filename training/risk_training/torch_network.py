"""The network of the policies in PyTorch, for training.

`risk_agents.learned.compiled_network` computes the same network in compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from risk_agents.learned.compiled_network import HEADS
from risk_agents.learned.features import checked_codes, encode, feature_spec
from risk_agents.learned.layout import Layout, has_bias
from risk_env.arrays import Array
from risk_training.action_heads import Inputs, action_logits, heads_of
from risk_training.devices import NamedWeights
from risk_training.legal_actions import LegalActions

Tensor = torch.Tensor

_BELOW_ONE = 1 - 1e-6  # keeps a point below the last sum in spite of rounding
ILLEGAL = -40.0  # logit of illegal actions: a negligible probability, but no slow subnormal floats


class Network(NamedWeights):
    """The weights of the network, and the computations with these weights.

    Values are the raw outputs of the value head. The trainers `selfplay` and `imitation` apply a sigmoid to
    these outputs, and the trainer `sb3` does not.
    """

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
        """Device of the weights."""
        return self.weights["value"].device

    def forward(self, observations: Array, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits float32 (k, n), ILLEGAL for illegal actions, and values (k,).

        The inputs are observations int8 (k, D) and masks (k, n).
        """
        return self.logits_and_values(*self.encode(observations), masks > 0)

    def encode(self, observations: Array) -> tuple[Tensor, Tensor]:
        """Return features of territories (k, T, 2 F) and of boards (k, I) for observations int8 (k, D).

        `risk_agents.learned.features` documents the features.
        """
        codes = checked_codes(self.spec, observations)
        features = self.layout.empty_features(len(codes))
        encode(self.spec, codes, *features)
        return torch.as_tensor(features[0], device=self.device), torch.as_tensor(
            features[1], device=self.device
        )

    def logits_and_values(
        self, territory_features: Tensor, board_features: Tensor, masks: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the logits and values of k decisions, given their features and masks, bool (k, n)."""
        legal = LegalActions.of(masks)
        legal_logits, values = self.legal_logits(territory_features, board_features, legal)
        logits = torch.full(masks.shape, ILLEGAL, device=masks.device)
        logits[legal.rows, legal.actions] = legal_logits
        return logits, values

    def legal_logits(
        self, territory_features: Tensor, board_features: Tensor, legal: LegalActions
    ) -> tuple[Tensor, Tensor]:
        """Return the logits (m,) of the legal actions of k decisions, and the values (k,).

        `board_features` belong to these k decisions. `territory_features` belong to all decisions from which
        `legal` was selected.
        """
        trunk = self._trunk(board_features)
        logits = action_logits(self.heads, legal, territory_features, self._inputs(trunk))
        return logits, self._value(trunk)

    def values(self, observations: Array) -> Tensor:
        """Return the values (k,) of observations int8 (k, D)."""
        return self._value(self._trunk(self.encode(observations)[1]))

    def _trunk(self, board_features: Tensor) -> Tensor:
        weights = self.weights
        hidden = torch.addmm(weights["trunk_1_bias"], board_features, weights["trunk_1"]).relu()
        return torch.addmm(weights["trunk_2_bias"], hidden, weights["trunk_2"]).relu()

    def _value(self, trunk: Tensor) -> Tensor:
        return torch.addmm(self.weights["value_bias"], trunk, self.weights["value"])[:, 0]

    def _inputs(self, trunk: Tensor) -> Inputs:
        """Return the inputs of `action_logits` for the outputs (k, width) of the trunk."""
        hidden, biases, trunks, outputs = (
            [self.weights[f"{head}_{part}"] for head in HEADS] for part in ("in", "in_bias", "trunk", "out")
        )
        shared = torch.addmm(torch.cat(biases), trunk, torch.cat(trunks, 1)).view(len(trunk), len(HEADS), -1)
        own = self.weights["actions"].T, self.weights["actions_bias"]
        return Inputs(trunk, shared, *own, torch.cat(hidden), torch.cat(outputs, 1).T)

    def load_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Load weights that `arrays` returned, onto the CPU."""
        self.weights.load_state_dict(
            {name: torch.tensor(values) for name, values in arrays.items()}, assign=True
        )


def sample_actions(logprobs: Tensor, legal: Tensor) -> Tensor:
    """Sample an action for each row, (k,), given log-probabilities (k, n) and legal actions bool (k, n)."""
    sums = (legal * logprobs.exp()).cumsum(1)
    points = torch.rand(len(sums), 1, device=sums.device).clip(max=_BELOW_ONE) * sums[:, -1:]
    return (sums > points).byte().argmax(1)


def action_logprobs(logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-probability of each action (k,) and the entropy of each row (k,)."""
    logprobs = logits - logits.logsumexp(1, keepdim=True)
    return logprobs.gather(1, actions[:, None])[:, 0], -(logprobs.exp() * logprobs).sum(1)
