"""`BoardPolicy`, the project's own network as a policy of sb3-contrib's MaskablePPO, and its rollouts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from risk_agents.learned.features import encode, feature_spec
from risk_agents.learned.layout import Layout
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.observations import as_codes
from risk_training.torch_network import Network, action_logprobs, sample_actions

Masks = np.ndarray | torch.Tensor | None


class Features(NamedTuple):
    """Inputs of the network (`risk_agents.learned.features`)."""

    territories: torch.Tensor  # float32 (k, T, 2 F)
    boards: torch.Tensor  # float32 (k, I)


class BoardRolloutBuffer(MaskableRolloutBuffer):
    """A rollout for `BoardPolicy`: observations are stored as int8, and encoded once for all epochs."""

    def __init__(self, *arguments: Any, layout: Layout, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._spec, self._board, self._is_encoded = feature_spec(layout), layout.board, False
        self._arrays = layout.empty_features(self.buffer_size * self.n_envs)
        self._features = Features(*map(torch.as_tensor, self._arrays))

    def reset(self) -> None:
        """Clear the rollout."""
        super().reset()
        self.observations = np.zeros(self.observations.shape, np.int8)
        self.action_masks = np.zeros(self.action_masks.shape, np.bool_)  # type: ignore[assignment]
        self._is_encoded = False

    def add(self, obs: np.ndarray, *facts: Any, **masks: Any) -> None:
        """Store a step of all environments."""
        super().add(as_codes(obs, self._board), *facts, **masks)

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableRolloutBufferSamples:
        if not self._is_encoded:
            encode(self._spec, self.observations, *self._arrays)
            self._is_encoded = True
        rows = torch.as_tensor(batch_inds)
        features = Features(*(part[rows].to(self.device) for part in self._features))
        facts = (self.actions, self.values, self.log_probs, self.advantages, self.returns, self.action_masks)
        actions, *numbers, masks = (torch.as_tensor(fact[batch_inds], device=self.device) for fact in facts)
        return MaskableRolloutBufferSamples(
            features, actions, *(number.flatten() for number in numbers), masks
        )  # type: ignore


class BoardPolicy(MaskableActorCriticPolicy):
    """A policy with a trunk over the whole board, and local heads for territories, borders and cards.

    `risk_training.torch_network` documents the network. The policy takes flat observations. Methods used in
    training avoid torch.distributions, which would take more time than everything else. `rules` is the result
    of `Rules.to_dict`, and `map_source` an argument of `load_map`.
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
        self.network_arguments = {
            "rules": dict(rules),
            "map_source": map_source,
            "width": width,
            "local": local,
        }
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **arguments)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters = super()._get_constructor_parameters()
        own = (
            "net_arch",
            "activation_fn",
            "ortho_init",
            "features_extractor_class",
            "features_extractor_kwargs",
        )
        return {name: value for name, value in parameters.items() if name not in own} | self.network_arguments

    def _build(self, lr_schedule: Any) -> None:
        arguments = self.network_arguments
        rules, board = Rules.from_dict(arguments["rules"]), load_map(arguments["map_source"])
        num_actions = int(self.action_space.n)  # type: ignore[attr-defined]
        self.network = Network(Layout(rules, board, num_actions), arguments["width"], arguments["local"])
        quick = {"fused": True} if issubclass(self.optimizer_class, torch.optim.Adam) else {}
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **quick, **self.optimizer_kwargs
        )

    def logits_and_values(
        self, observations: torch.Tensor, masks: Masks = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (k, n), very low for illegal actions, and values (k,).

        The inputs are observations float32 (k, D) and masks (k, n).
        """
        return self.network(self._codes(observations), self._legal(observations, masks))

    def _codes(self, observations: torch.Tensor) -> np.ndarray:
        """Return the codes int8 (k, D) of observations float32 (k, D)."""
        return as_codes(observations.cpu(), self.network.layout.board)

    def _legal(self, observations: torch.Tensor, masks: Masks) -> torch.Tensor:
        """Return the masks as bool (k, n).

        Without masks, all actions are legal.
        """
        shape = len(observations), int(self.action_space.n)  # type: ignore[attr-defined]
        if masks is None:
            return torch.ones(shape, dtype=torch.bool, device=self.device)
        return torch.as_tensor(masks, device=self.device).reshape(shape).bool()

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions (k,), values (k, 1) and the log-probabilities of the actions (k,)."""
        legal = self._legal(obs, action_masks)
        logits, values = self.logits_and_values(obs, legal)
        logprobs = logits - logits.logsumexp(1, keepdim=True)
        actions = logprobs.argmax(1) if deterministic else sample_actions(logprobs, legal)
        return actions, values[:, None], logprobs.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(  # type: ignore[override]
        self, obs: torch.Tensor | Features, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return values (k, 1), log-probabilities of the actions (k,) and entropies (k,).

        `obs` are observations or their `Features`.
        """
        if isinstance(obs, Features):
            logits, values = self.network.logits_and_values(*obs, torch.as_tensor(action_masks).bool())
        else:
            logits, values = self.logits_and_values(obs, action_masks)
        logprobs, entropy = action_logprobs(logits, actions)
        return values[:, None], logprobs, entropy

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the values (k, 1)."""
        return self.network.values(self._codes(obs))[:, None]

    def _predict(
        self, observation: torch.Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> torch.Tensor:
        return self(observation, deterministic, action_masks)[0]

    def get_distribution(self, obs: torch.Tensor, action_masks: Masks = None) -> MaskableDistribution:
        """Return the distribution of the actions as an object of sb3-contrib."""
        distribution = self.action_dist.proba_distribution(action_logits=self.logits_and_values(obs)[0])
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution
