"""A league in RLlib: one policy plays against itself and scripted bots, and learns by PPO with action masks.

    pip install -e '.[rllib,tournament]' torch        # in a separate environment: Ray pins Gymnasium
    # many agents: `risk_v0`, learner at one or all seats
    python examples/rllib_selfplay.py --minutes 4 --games 96 --out runs/many
    # one agent: `make_vec`, bots at all other seats
    python examples/rllib_selfplay.py --single --map classic --minutes 5 --out runs/single

RLlib's masking module expects another name for the observation, and a mask of floats. RLlib's check of the
environment must be off, because the check plays illegal actions.

Results of one run each, on about a third of a core, with 95 % intervals (logs in docs/rllib):
* one agent: 393,679 decisions in 303 seconds, 1,300 a second; the policy wins 70.3 % of 192 games against
  `random` (63.5 to 76.3 %);
* many agents: 40,000 decisions in 246 seconds, 160 a second; the policy wins 75.0 % of 96 games against
  `random` (65.5 to 82.6 %).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv, VectorWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from risk_agents import make
from risk_env import risk_v0
from risk_env.agent import View
from risk_training.curves import plot
from risk_training.run_files import METRICS
from risk_training.win_rate import WinRate

GAME = {"preset": "classic", "num_players": 2, "setup": "random", "max_rounds": 40}
BOTS = ("random", "attacker", "grower")
AGAINST_BOTS = 0.5  # many agents: share of games in which a bot plays all seats but one
ENVIRONMENTS = 32  # number of environments with a single agent


class RiskLeague(MultiAgentEnv):
    """`risk_v0` for RLlib: the learner plays all seats in some games, and one seat against a bot in others.

    The bots act inside the environment. RLlib sees only the learner's seats, `player_0` and so on.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.env = risk_v0.env(**GAME, board=options["board"])
        self.chance = np.random.default_rng([options.get("worker_index", 0), options.get("vector_index", 0)])
        self.bots: dict[str, Any] = {}  # by agent
        self.possible_agents = self.agents = list(self.env.possible_agents)
        space, actions = self.env.observation_space("player_0"), self.env.action_space("player_0")
        self.observation_spaces = dict.fromkeys(self.agents, masked_space(space["observation"], actions))
        self.action_spaces = dict.fromkeys(self.agents, actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin a game, and play until the learner must decide.

        If the game ends before the learner decides, begin another game.
        """
        seed = int(self.chance.integers(2**31)) if seed is None else seed
        self.env.reset(seed=seed)
        self.bots = {}
        if self.chance.random() < AGAINST_BOTS:
            name, own = self.chance.choice(BOTS), self.chance.integers(len(self.agents))
            self.bots = {agent: make(str(name)) for seat, agent in enumerate(self.agents) if seat != own}
        game = self.env.unwrapped.game
        for agent, bot in self.bots.items():
            bot.reset(self.agents.index(agent), game.rules, game.board, seed)
        observations = self._play_on()[0]
        return (observations, {}) if self.env.agents else self.reset()

    def step(self, action: dict[str, int]) -> Any:
        """Play one action, then play on until the learner must decide again or the game is over."""
        self.env.step(action[self.env.agent_selection])
        observations, rewards, terminated, truncated = self._play_on()
        is_over = not self.env.agents
        terminated["__all__"] = is_over and not any(truncated.values())
        truncated["__all__"] = is_over and not terminated["__all__"]
        return observations, rewards, terminated, truncated, {}

    def _play_on(self) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool]]:
        """Play until the learner must decide or the game is over.

        Returns dicts of observations, rewards, terminations and truncations of the learner's seats. The last
        entry of each dict belongs to the seat that decides next.
        """
        results: tuple[dict[str, Any], ...] = ({}, {}, {}, {})
        while self.env.agents:
            agent = self.env.agent_selection
            observation, reward, terminated, truncated, _ = self.env.last()
            if agent not in self.bots:
                values = (
                    masked(observation["observation"], observation["action_mask"]),
                    reward,
                    terminated,
                    truncated,
                )
                for part, value in zip(results, values, strict=True):
                    part[agent] = value
                if not terminated and not truncated:
                    break
            ended = terminated or truncated
            self.env.step(None if ended else self.bots[agent].act(View(self.env.unwrapped.game)))
        return results  # type: ignore[return-value]


class MaskedVector(VectorWrapper):
    """`make_vec` with the mask in the observations, as RLlib's module expects."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self.single_observation_space = masked_space(env.single_observation_space, env.single_action_space)
        self.observation_space = gymnasium.vector.utils.batch_space(
            self.single_observation_space, env.num_envs
        )

    def reset(self, **arguments: Any) -> Any:
        """Return the first observations."""
        observations, infos = self.env.reset(**arguments)
        return masked(observations, infos["action_mask"]), {}

    def step(self, actions: Any) -> Any:
        """Step all games."""
        observations, rewards, terminated, truncated, infos = self.env.step(np.asarray(actions))
        return masked(observations, infos["action_mask"]), rewards, terminated, truncated, {}


def masked(observations: Any, masks: Any) -> dict[str, Any]:
    """Return observations and masks with the keys that RLlib expects."""
    return {"observations": observations, "action_mask": np.asarray(masks, np.float32)}


def masked_space(observations: Any, actions: Any) -> spaces.Dict:
    """Return the space of the result of `masked`."""
    return spaces.Dict(
        {"observations": observations, "action_mask": spaces.Box(0.0, 1.0, (actions.n,), np.float32)}
    )


def vector_of(options: dict[str, Any], bots: Sequence[str] = BOTS) -> VectorEnv:
    """Return a vector environment, in which the learner plays one seat of each game against bots."""
    arguments = {
        "num_envs": options["num_envs"],
        "board": options["board"],
        "opponents": list(bots),
        "opponent_order": "drawn",
    }
    arguments["autoreset_mode"] = "NextStep"  # as RLlib expects
    return MaskedVector(gymnasium.make_vec("risk_env/Risk-v0", **arguments, **GAME))


def configuration(single: bool, board: str) -> PPOConfig:
    """Return the configuration of PPO with masks, for one agent or many agents."""
    network = DefaultModelConfig(fcnet_hiddens=[128, 128], fcnet_activation="relu", vf_share_layers=False)
    sizes = {"train_batch_size_per_learner": 4000, "minibatch_size": 500, "num_epochs": 4}
    register_env("risk_vector", vector_of)
    config = (
        PPOConfig()
        .environment(
            "risk_vector" if single else RiskLeague, env_config={"board": board}, disable_env_checking=True
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=network))
        .training(lr=5e-4, gamma=0.999, entropy_coeff=0.005, **sizes)
        .env_runners(num_env_runners=0)
    )
    if single:
        return config.env_runners(
            num_envs_per_env_runner=ENVIRONMENTS, gym_env_vectorize_mode="vector_entry_point"
        )
    return config.multi_agent(policies={"learner"}, policy_mapping_fn=lambda agent, episode, **_: "learner")


def measured(module: Any, board: str, games: int, decisions: int, minutes: float) -> dict[str, float]:
    """Return a row of the log: win rates against the bots, with the keys that `risk-env train` uses."""
    row: dict[str, float] = {"time/steps": decisions, "time/seconds": round(60 * minutes)}
    for bot in BOTS:
        interval = WinRate(*games_won(module, board, bot, games), 0.0).interval
        row |= {
            f"eval/{name}_{bot}": value
            for name, value in zip(("win_rate", "low", "high"), interval, strict=True)
        }
    rates = (f"{bot} {row[f'eval/win_rate_{bot}']:.0%}" for bot in BOTS)
    print(f"{minutes:4.1f} minutes, {decisions:8,} decisions:", *rates, flush=True)
    return row


def games_won(module: Any, board: str, bot: str, games: int) -> tuple[int, int]:
    """Play a module's likeliest actions against a bot and return the numbers of games won and played.

    Every lane plays the same number of games.
    """
    env = vector_of({"num_envs": ENVIRONMENTS, "board": board}, [bot])
    played, won = np.zeros(ENVIRONMENTS, int), np.zeros(ENVIRONMENTS, int)
    observations, _ = env.reset(seed=1)
    while (played < -(-games // ENVIRONMENTS)).any():
        batch = {name: torch.as_tensor(values) for name, values in observations.items()}
        with torch.no_grad():
            logits = module.forward_inference({"obs": batch})["action_dist_inputs"]
        observations, rewards, terminated, truncated, _ = env.step(logits.argmax(1).numpy())
        counted = played < -(-games // ENVIRONMENTS)
        won += counted & (rewards > 0)
        played += counted & (terminated | truncated)
    return int(won.sum()), int(played.sum())


def main(argv: Sequence[str] | None = None) -> list[dict[str, float]]:
    """Train the policy, measure the win rates at each tenth of the time, and return the log."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--single", action="store_true", help="train one agent, through make_vec")
    parser.add_argument("--map", default="tiny", help="map of the games (default: %(default)s)")
    minutes = "length of the training, in minutes (default: 4)"
    parser.add_argument("--minutes", type=float, default=4.0, help=minutes)
    games = "number of games per bot in each measurement (default: 192)"
    parser.add_argument("--games", type=int, default=192, help=games)
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="folder for a picture and metrics.jsonl, in the format of `risk-env train` (default: no files)",
    )
    arguments = parser.parse_args(argv)
    algorithm = configuration(arguments.single, arguments.map).build_algo()
    name = "default_policy" if arguments.single else "learner"

    def measure(decisions: int, minutes: float) -> dict[str, float]:
        return measured(algorithm.get_module(name), arguments.map, arguments.games, decisions, minutes)

    rows, minutes, decisions = [measure(0, 0.0)], 0.0, 0
    while len(rows) == 1 or minutes < arguments.minutes:
        start = time.monotonic()
        decisions = int(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
        minutes += (time.monotonic() - start) / 60
        if minutes >= arguments.minutes * min(1, len(rows) / 10):
            rows.append(measure(decisions, minutes))
    algorithm.stop()
    print(f"{decisions:,} decisions in {60 * minutes:.0f} s: {decisions / (60 * minutes):,.0f} a second")
    if arguments.out:
        write(Path(arguments.out), rows)
    return rows


def write(folder: Path, rows: Sequence[dict[str, float]]) -> None:
    """Write the log, and draw the learning curves."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / METRICS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    plot([folder], folder / "curves.png")


if __name__ == "__main__":
    main()
