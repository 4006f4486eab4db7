"""Self-play in RLlib: one policy plays every seat of `risk_v0` and learns by PPO with action masks.

    pip install -e '.[rllib]' torch        # in an environment of its own: Ray pins Gymnasium
    python examples/rllib_selfplay.py

RLlib's masking module expects another name for the observation and a mask of floats; nothing else has to be adapted.
RLlib's check of the environment must be off, because it plays illegal actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from risk_env import risk_v0


class RiskForRLlib(PettingZooEnv):
    """`risk_v0` with observations in the form of RLlib's masking module."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(risk_v0.env(**options))
        space, actions = self.env.observation_space("player_0"), self.env.action_space("player_0")
        mask = spaces.Box(0.0, 1.0, (actions.n,), np.float32)
        adapted_space = spaces.Dict({"observations": space["observation"], "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, adapted_space)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """The first observation."""
        observations, infos = super().reset(seed=seed, options=options)
        return adapted(observations), infos

    def step(self, action: dict[str, int]) -> Any:
        """Play one action; returns the next observation."""
        observations, rewards, terminated, truncated, infos = super().step(action)
        truncated["__all__"] = not self.env.agents and not terminated["__all__"]  # some terminated, others truncated
        return adapted(observations), rewards, terminated, truncated, infos


def adapted(observations: dict[str, Any]) -> dict[str, Any]:
    """The observation and mask of each agent under RLlib's names."""
    return {
        agent: {"observations": own["observation"], "action_mask": own["action_mask"].astype(np.float32)}
        for agent, own in observations.items()
    }


def main(iterations: int = 3) -> None:
    """Train, and print the mean length of the games."""
    game = {"num_players": 3, "setup": "random", "attack": "blitz", "defender_dice": "max", "max_rounds": 20}
    config = (
        PPOConfig()
        .environment(RiskForRLlib, env_config=game, disable_env_checking=True)
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"everyone"}, policy_mapping_fn=lambda agent, episode, **_: "everyone")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size_per_learner=2000, minibatch_size=500, num_epochs=2)
    )
    algorithm = config.build_algo()
    for iteration in range(iterations):
        metrics = algorithm.train()["env_runners"]
        steps, length = metrics["num_env_steps_sampled_lifetime"], metrics["episode_len_mean"]
        print(f"iteration {iteration}: {steps:.0f} decisions so far, {length:.0f} a game")
    algorithm.stop()


if __name__ == "__main__":
    main()
