"""`BoardPolicy`: the network of the project's own policies as a policy of sb3-contrib's MaskablePPO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from agents.layout import Layout
from risk_env.core.observe import MOST_CODE
from risk_env.maps import load_map
from risk_env.rules import Rules
from training.network import Network, log_probabilities

_BELOW_ONE = 1 - 1e-12  # rounding must not put a point beyond the last bound

Masks = np.ndarray | torch.Tensor | None


class BoardPolicy(MaskableActorCriticPolicy):
    """A trunk that sees the whole board, and local heads for territories, borders and cards (`training.network`).

    It takes flat observations. Probabilities are computed without torch.distributions, which cost more than all else.
    `rules` are those of `Rules.to_dict`, `map_source` what `load_map` takes.
    """

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        lr_schedule: Any,
        *,
        rules: Mapping[str, Any],
        map_source: str,
        width: int = 128,
        local: int = 32,
        **arguments: Any,
    ) -> None:
        self.network_arguments = {"rules": dict(rules), "map_source": map_source, "width": width, "local": local}
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **arguments)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        found = super()._get_constructor_parameters()
        own = ("net_arch", "activation_fn", "ortho_init", "features_extractor_class", "features_extractor_kwargs")
        return {name: value for name, value in found.items() if name not in own} | self.network_arguments

    def _build(self, lr_schedule: Any) -> None:
        arguments = self.network_arguments
        board = load_map(arguments["map_source"])
        layout = Layout(Rules.from_dict(arguments["rules"]), board, int(self.action_space.n))  # type: ignore[attr-defined]
        self.network = Network(layout, arguments["width"], arguments["local"])
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def answer(self, observations: torch.Tensor, masks: Masks = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (k, n), very low where not legal, and values (k,), of observations float32 (k, D), masks (k, n)."""
        rows = len(observations)
        if masks is None:
            masks = torch.ones((rows, self.action_space.n), dtype=torch.bool)  # type: ignore[attr-defined]
        legal = torch.as_tensor(masks, device=self.device).reshape(rows, -1).bool()
        return self.network(observations * MOST_CODE, legal)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions (k,), values (k, 1) and the actions' log-probabilities (k,)."""
        logits, values = self.answer(obs, action_masks)
        actions = _chosen(logits, deterministic)
        logs = logits - logits.logsumexp(1, keepdim=True)
        return actions, values[:, None], logs.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values (k, 1), log-probabilities of the actions (k,) and entropies (k,)."""
        logits, values = self.answer(obs, action_masks)
        logs, entropy = log_probabilities(logits, actions)
        return values[:, None], logs, entropy

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Values (k, 1)."""
        nothing = torch.zeros((len(obs), self.action_space.n), dtype=torch.bool)  # type: ignore[attr-defined]
        return self.answer(obs, nothing)[1][:, None]

    def _predict(
        self, observation: torch.Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> torch.Tensor:
        return _chosen(self.answer(observation, action_masks)[0], deterministic)

    def get_distribution(self, obs: torch.Tensor, action_masks: Masks = None) -> MaskableDistribution:
        """The distribution of actions, for those who want more than actions."""
        found = self.action_dist.proba_distribution(action_logits=self.answer(obs)[0])
        if action_masks is not None:
            found.apply_masking(action_masks)
        return found


def _chosen(logits: torch.Tensor, deterministic: bool) -> torch.Tensor:
    """Actions (k,): the likeliest, or drawn with one random number a row, by where it falls among the probabilities."""
    if deterministic:
        return logits.argmax(1)
    bounds = logits.softmax(1).cumsum(1, dtype=torch.float64)
    point = torch.rand((len(logits), 1), dtype=torch.float64, device=logits.device) * bounds[:, -1:] * _BELOW_ONE
    return (bounds <= point).sum(1)
