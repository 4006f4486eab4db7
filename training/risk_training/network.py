"""The policies' network in torch, to be trained; `risk_agents.learned.network` is the same network compiled."""

from collections.abc import Mapping

import torch
from torch import nn

from risk_agents.learned.features import encode, feature_spec
from risk_agents.learned.layout import Layout, has_bias
from risk_env.arrays import Array

Tensor = torch.Tensor

_BELOW_ONE = 1 - 1e-6  # rounding must not put a point above the last sum
ILLEGAL = -40.0  # logit of illegal actions: hardly any probability, without the tiny floats that are slow


class Network(nn.Module):
    """The weights, and what is computed with them."""

    def __init__(self, layout: Layout, width: int, local: int) -> None:
        super().__init__()
        self.layout, self.spec = layout, feature_spec(layout)
        self.weights = nn.ParameterDict()
        self.register_buffer("sources", torch.as_tensor(layout.sources), persistent=False)
        self.register_buffer("targets", torch.as_tensor(layout.targets), persistent=False)
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
        weights, layout = self.weights, self.layout
        hidden = (board_features @ weights["trunk_1"] + weights["trunk_1_bias"]).clip(0)
        trunk = (hidden @ weights["trunk_2"] + weights["trunk_2_bias"]).clip(0)
        logits = trunk @ weights["actions"] + weights["actions_bias"]
        T, border_0, card_0 = layout.territories, layout.border_0, layout.card_0
        sources, targets = self.sources, self.targets
        rows, at = torch.where(masks[:, :T])
        logits[rows, at] += self._head("territory", territory_features[rows, at], trunk, rows)
        rows, at = torch.where(masks[:, border_0 : border_0 + len(sources)])
        ends = torch.cat([territory_features[rows, sources[at]], territory_features[rows, targets[at]]], 1)
        logits[rows, border_0 + at] += self._head("border", ends, trunk, rows)
        rows, at = torch.where(masks[:, card_0 : card_0 + T])
        logits[rows, card_0 + at] += self._head("card", territory_features[rows, at], trunk, rows)
        values = (trunk @ weights["value"] + weights["value_bias"])[:, 0]
        return logits.masked_fill(~masks, ILLEGAL), values

    def _head(self, head: str, features: Tensor, trunk: Tensor, rows: Tensor) -> Tensor:
        """A local head's part of the logits of the legal actions of its block: (m,) of features (m, ...)."""
        weights = self.weights
        shared = trunk @ weights[f"{head}_trunk"] + weights[f"{head}_in_bias"]
        hidden = (features @ weights[f"{head}_in"] + shared[rows]).clip(0)
        return (hidden @ weights[f"{head}_out"])[:, 0]

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
