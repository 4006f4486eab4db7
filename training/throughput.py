"""Steps a second of training: MaskablePPO as it is, and this project's ways, one after another on one thread.

Seconds are those of the processor, so that a busy machine changes little.

    python -m training.throughput [--preset classic] [--players 2] [--updates 3]

The opponent is the grower. A step is a decision of the learner.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from torch.distributions import Distribution

from training.config import Sb3Config
from training.league import LeagueSettings
from training.sb3 import RiskVecEnv
from training.sb3_trainer import make_environments, make_model

SIZES: dict[str, Any] = {"n_steps": 32, "batch_size": 1024, "n_epochs": 2}
ENVIRONMENTS = 1024
LAYERS = [256, 256]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="classic")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--updates", type=int, default=3, help="measured, after one that is not")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    game = {"preset": arguments.preset, "players": arguments.players}
    ways: dict[str, tuple[bool, Callable[[], MaskablePPO]]] = {
        "MaskablePPO over RiskVecEnv": (True, lambda: _plain(game)),
        "risk-env train, policy: MlpPolicy": (False, lambda: _own(game, "MlpPolicy", {"net_arch": LAYERS})),
        "risk-env train, policy: BoardPolicy": (False, lambda: _own(game, "BoardPolicy", {})),
    }
    table = Table("", "steps a second", "ns a step", "of it update", box=None)
    for name, (validates, make) in ways.items():
        Distribution.set_default_validate_args(validates)
        table.add_row(name, *(f"{value:,.0f}" for value in _measured(make(), arguments.updates)))
    Console().print(table)


def _plain(game: dict[str, Any]) -> MaskablePPO:
    """sb3-contrib's own, in the same large batches; its defaults, batches of 64 and 10 epochs, are far slower yet."""
    env = RiskVecEnv(ENVIRONMENTS, seed=0, preset=game["preset"], num_players=game["players"], opponents="grower")
    return MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": LAYERS}, seed=0, device="cpu", **SIZES)


def _own(game: dict[str, Any], policy: str, policy_kwargs: dict[str, Any]) -> MaskablePPO:
    league = LeagueSettings(bots=("grower",), snapshot_share=0.0)
    config = Sb3Config(**game, policy=policy, policy_kwargs=policy_kwargs, n_envs=ENVIRONMENTS, league=league, **SIZES)
    return make_model(config, make_environments(config))


def _measured(model: MaskablePPO, updates: int) -> tuple[float, float, float]:
    """Steps a second, and nanoseconds a step: all of them, and those of the updates."""
    train, spent = model.train, [0.0]

    def timed() -> None:
        start = time.process_time()
        train()
        spent[0] += time.process_time() - start

    model.train = timed  # type: ignore[method-assign]
    size = model.n_steps * model.n_envs
    model.learn(size)
    spent[0], start = 0.0, time.process_time()
    model.learn(updates * size, reset_num_timesteps=False)
    seconds, steps = time.process_time() - start, updates * size
    return steps / seconds, 1e9 * seconds / steps, 1e9 * spent[0] / steps


if __name__ == "__main__":
    main()
