"""`BoardPolicy`: the network of the project's own policies as a policy of sb3-contrib's MaskablePPO; its rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from agents.layout import Layout
from risk_env.core.observe import MOST_CODE
from risk_env.maps import load_map
from risk_env.rules import Rules
from training.network import Network, log_probabilities, look

_BELOW_ONE = 1 - 1e-12  # rounding must not put a point beyond the last bound

_ROWS = 1024  # looked at together

Masks = np.ndarray | torch.Tensor | None


class Seen(NamedTuple):
    """What the network looks at: places float32 (k, T, 2 F) and the whole board (k, I) (`training.network.look`)."""

    places: torch.Tensor
    whole: torch.Tensor


class BoardRolloutBuffer(MaskableRolloutBuffer):
    """A rollout for `BoardPolicy`: every observation is looked at once, for all epochs."""

    def __init__(self, *arguments: Any, layout: Layout, **others: Any) -> None:
        super().__init__(*arguments, **others)
        rows, territories = self.buffer_size * self.n_envs, layout.territories
        self._layout, self._is_seen = layout, False
        self._seen = Seen(torch.zeros(rows, territories, 2 * layout.columns), torch.zeros(rows, layout.inputs))

    def reset(self) -> None:
        """Forget the rollout."""
        super().reset()
        self._is_seen = False

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableRolloutBufferSamples:
        if not self._is_seen:
            self._look()
        rows = torch.as_tensor(batch_inds)
        parts = (self.actions, self.values, self.log_probs, self.advantages, self.returns)
        actions, *others = (torch.as_tensor(part[batch_inds]) for part in parts)
        seen, masks = Seen(*(part[rows] for part in self._seen)), torch.as_tensor(self.action_masks[batch_inds])
        return MaskableRolloutBufferSamples(seen, actions, *(other.flatten() for other in others), masks)  # type: ignore

    def _look(self) -> None:
        """Look at all observations, some at a time."""
        for first in range(0, len(self.observations), _ROWS):
            rows = slice(first, first + _ROWS)
            codes = torch.as_tensor(self.observations[rows]) * MOST_CODE
            for part, found in zip(self._seen, look(self._layout, codes), strict=True):
                part[rows] = found
        self._is_seen = True


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
        quick = {"fused": True} if issubclass(self.optimizer_class, torch.optim.Adam) else {}
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **quick, **self.optimizer_kwargs)

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

    def evaluate_actions(  # type: ignore[override]
        self, obs: torch.Tensor | Seen, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values (k, 1), log-probabilities of the actions (k,) and entropies (k,), of observations or what is seen."""
        if isinstance(obs, Seen):
            logits, values = self.network.answer(*obs, torch.as_tensor(action_masks) > 0)
        else:
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
