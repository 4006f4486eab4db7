"""`risk-env demo`: watch a game, train a small agent, and see where it stands on the ladder."""

import argparse
import os
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from risk_agents.tournament import cli as tournament
from risk_env.arena import Arena
from risk_env.batch import GameBatch
from risk_env.cli import command_parser, require
from risk_env.doors.seat_lanes import training_rules
from risk_training.cli import training_bar, win_rates

CONFIG = Path(__file__).parent / "configs" / "selfplay_demo.yml"
LADDER = ("random", "attacker", "grower", "breaker", "planner", "beam", "duelist")
TOURNAMENT = "tournament.sqlite"
TRAINED = "yours"  # the label of the agent that the demo trains
WATCHED = ("random", "attacker", "grower", "hunter", "breaker", "planner")


def main(argv: Sequence[str] | None = None) -> None:
    """The command `demo`."""
    parser = command_parser("demo")
    parser.add_argument("--games", type=int, default=280, help="games of the tournament (default: %(default)s)")
    parser.add_argument("--decisions", type=int, metavar="N", help="to train on (default: about two minutes' worth)")
    parser.add_argument("--no-training", action="store_true", help="leave the training out")
    parser.add_argument("--seed", type=int, default=1, help="of the games (default: %(default)s)")
    parser.add_argument("--out", metavar="FOLDER", help="where the files go (default: a new runs/demo-<time>)")
    arguments = parser.parse_args(argv)
    folder = Path(arguments.out or time.strftime("runs/demo-%Y%m%d-%H%M%S"))
    _check(arguments, folder)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.rule("1. A game of six (the first run compiles the rules)")
    console.print(watch(arguments.seed), markup=False)
    agents = list(LADDER)
    if not arguments.no_training:
        console.rule("2. Training an agent for two players, by playing itself and the ladder")
        agents.append(f"{TRAINED}={train(folder, arguments.decisions, console)}")
    console.rule(f"3. Tournament: {len(agents)} agents, two players, every deal from both seats")
    report = folder / "report.html" if find_spec("matplotlib") else None
    tournament.main(tournament_arguments(agents, arguments, folder, report))
    console.rule("Done")
    found = f"Report with plots: {report}" if report else "No report: pip install 'risk-env[tournament]'"
    console.print(f"{found}\nAll files: {folder}{os.sep}", soft_wrap=True, markup=False)


def _check(arguments: argparse.Namespace, folder: Path) -> None:
    """Raise the errors now that training or tournament would raise minutes later."""
    for name, value in (("--games", arguments.games), ("--decisions", arguments.decisions)):
        if value is not None and value < 1:
            raise ValueError(f"{name} {value}: must be at least 1")
    if not arguments.no_training:
        require("torch")
    if (folder / TOURNAMENT).exists():
        raise FileExistsError(f"{folder / TOURNAMENT} exists: --out must be a new folder")


def watch(seed: int) -> str:
    """The board at the end of a game between the ladder's bots, and who won."""
    batch = GameBatch(training_rules("classic", 6), "classic", 1, seed, observation=None, mask=None, autoreset=False)
    arena, lane = Arena(batch, WATCHED), np.zeros(1, np.int64)
    arena.numbers[:, : len(WATCHED)] = np.arange(len(WATCHED))
    batch.reset()
    arena.seat_players(lane)
    arena.play_on(lane)
    seats = ", ".join(f"{seat}: {name}" for seat, name in enumerate(WATCHED))
    return f"{batch.game(0)}\n\nSeats: {seats}"


def train(folder: Path, decisions: int | None, console: Console) -> Path:
    """Train by the demo's configuration, with a progress bar; the policy file."""
    import torch

    from risk_training.config import read_config
    from risk_training.ppo import POLICY, Config, Trainer

    torch.set_num_threads(1)
    trainer = Trainer(Config.from_dict(read_config(CONFIG, n_timesteps=decisions)), folder)
    with training_bar(trainer.config.length, 0, "decisions") as show:
        trainer.train(show)
    rates = [f"{rate:.0%} against {bot}" for bot, rate in win_rates(trainer.rows[-1]).items()]
    console.print(f"Games won, of its likeliest moves: {', '.join(rates)}")
    return folder / POLICY


def tournament_arguments(agents: Sequence[str], arguments: Any, folder: Path, report: Path | None) -> list[str]:
    """The arguments of `risk-env tournament`."""
    named = {"agents": ",".join(agents), "players": 2, "games": arguments.games, "seed": arguments.seed}
    named |= {"jobs": os.cpu_count() or 1, "out": folder / TOURNAMENT}
    named |= {"report": report} if report else {}
    return [word for name, value in named.items() for word in (f"--{name}", str(value))]
