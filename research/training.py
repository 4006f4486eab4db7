"""Training steps per second on one thread: unchanged MaskablePPO, and the configurations of risk_env.

    python -m research.training [--preset classic] [--players 2] [--updates 5]

The methods alternate, one update each, and the fastest update of each method counts. Other load on the
machine therefore matters little. Times are CPU times. The opponent is `grower`. A step is a decision of the
learner.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from torch.distributions import Distribution

from benchmarks.arguments import at_least_one
from benchmarks.records import table
from risk_training.league import LeagueSettings
from risk_training.sb3 import RiskVecEnv
from risk_training.sb3_trainer import Config, make_environments, make_model

SIZES: dict[str, Any] = {"n_steps": 32, "batch_size": 1024, "n_epochs": 2}
ENVIRONMENTS = 1024
LAYERS = [256, 256]
COLUMNS = (
    *("method", "steps per second", "ns per step", "ns of the update per step"),
    "speed relative to MaskablePPO",
)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="classic", help="preset of the rules (default: classic)")
    parser.add_argument("--players", type=int, default=2, help="number of players (default: 2)")
    updates = "number of measured updates per method (default: 5)"
    parser.add_argument("--updates", type=at_least_one, default=5, help=updates)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    game = {"preset": arguments.preset, "players": arguments.players}
    ways = {
        "MaskablePPO over RiskVecEnv": Way(_plain(game), True),
        "risk-env train, policy: MlpPolicy": Way(_own(game, "MlpPolicy", {"net_arch": LAYERS}), False),
        "risk-env train, policy: BoardPolicy": Way(_own(game, "BoardPolicy", {}), False),
    }
    for way in [*ways.values()] * (1 + arguments.updates):
        way.update()
    plain, _ = next(iter(ways.values())).best()
    best = {name: way.best() for name, way in ways.items()}
    rows = [
        (name, f"{1e9 / whole:,.0f}", f"{whole:,.0f}", f"{update:,.0f}", f"{plain / whole:.2f}")
        for name, (whole, update) in best.items()
    ]
    print("\n".join(table(COLUMNS, rows)))


class Way:
    """A timed training method.

    `spent` holds the ns per step of each update: in total, and in the update of the policy alone.
    """

    def __init__(self, model: MaskablePPO, validates: bool) -> None:
        self.model, self.validates = model, validates
        self.spent: list[tuple[float, float]] = []
        self._train, self._updating = model.train, 0.0
        model.train = self._timed_train  # type: ignore[method-assign]

    def update(self) -> None:
        """Run one rollout and the update that follows."""
        Distribution.set_default_validate_args(self.validates)
        size, self._updating = self.model.n_steps * self.model.n_envs, 0.0
        start = time.process_time()
        self.model.learn(size, reset_num_timesteps=False)
        self.spent.append((1e9 * (time.process_time() - start) / size, 1e9 * self._updating / size))

    def best(self) -> tuple[float, float]:
        """Return the times of the fastest update. The first update does not count."""
        return min(self.spent[1:])

    def _timed_train(self) -> None:
        start = time.process_time()
        self._train()
        self._updating += time.process_time() - start


def _plain(game: dict[str, Any]) -> MaskablePPO:
    """Return the model of sb3-contrib with the same large batches as the other methods.

    The defaults of sb3-contrib, minibatches of 64 decisions and 10 epochs, are far slower.
    """
    env = RiskVecEnv(
        ENVIRONMENTS, seed=0, preset=game["preset"], num_players=game["players"], opponents="grower"
    )
    return MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": LAYERS}, seed=0, device="cpu", **SIZES)


def _own(game: dict[str, Any], policy: str, policy_kwargs: dict[str, Any]) -> MaskablePPO:
    league = LeagueSettings(bots=("grower",), snapshot_share=0.0)
    config = Config(
        **game, policy=policy, policy_kwargs=policy_kwargs, n_envs=ENVIRONMENTS, league=league, **SIZES
    )
    return make_model(config, make_environments(config))


if __name__ == "__main__":
    main()
