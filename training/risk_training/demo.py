"""`risk-env demo`: show boards of two games, train a small agent, and play two tournaments.

The first tournament ranks the trained agent in duels. The second tournament has six players per game: agents
that search whole turns, and scripted bots.
"""

import argparse
import os
import subprocess
import sys
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
from risk_env.match import Match
from risk_env.messages import counted
from risk_env.whole_file import new_folder
from risk_training.cli import training_bar, win_rates

CONFIG = Path(__file__).parent / "configs" / "selfplay_demo.yml"
LADDER = ("random", "attacker", "grower", "breaker", "planner", "beam", "duelist")
SIX = ("strategist", "tactician", "breaker", "hunter", "beam", "planner")
TOURNAMENT, TOURNAMENT_OF_SIX = "tournament", "six_players"  # names of files, without suffixes
TRAINED = "yours"  # the label of the agent that the demo trains
# estimated CPU seconds on a core on which `loop_seconds` returns LOOP; COMPILING: a first compilation
START, DUEL, GAME_OF_SIX, DECISIONS, COMPILING = 20.0, 0.03, 3.0, 120.0, 200.0
LOOP, DEFAULT_DECISIONS = 0.05, 800_000  # DECISIONS is the time of DEFAULT_DECISIONS decisions
ROUNDS = 3  # number of rounds before the first board is printed
WATCHED = ("random", "attacker", "grower", "hunter", "breaker", "planner")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `demo`."""
    parser = command_parser("demo")
    add = parser.add_argument
    add("--games", type=int, default=280, metavar="N", help="number of two-player games (default: 280)")
    add("--six-games", type=int, default=36, metavar="N", help="number of six-player games (default: 36)")
    add(
        "--steps",
        type=int,
        metavar="N",
        help="length of the training in decisions (default: 800,000, about 2 minutes)",
    )
    add("--no-training", action="store_true", help="skip the training")
    add("--seed", type=int, default=0, help="seed of all games except training games (default: %(default)s)")
    add("--out", metavar="FOLDER", help="new or empty folder for all files (default: runs/demo-TIME)")
    arguments = parser.parse_args(argv)
    _check(arguments)
    if arguments.out:
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
    else:
        folder = new_folder(Path(time.strftime("runs/demo-%Y%m%d-%H%M%S")))
    console = Console(highlight=False)
    console.print(estimate(arguments, os.cpu_count() or 1, loop_seconds()))
    console.rule("1. Games of six players (the first run compiles the code)")
    show_games(console, arguments.seed)
    agents = list(LADDER)
    if not arguments.no_training:
        console.rule("2. Training an agent for two players, in games against itself and agents of the ladder")
        agents.append(f"{TRAINED}={train(folder, arguments.steps, console)}")
    console.rule(f"3. Tournament: {len(agents)} agents, two players, every deal from both seats")
    play(folder / TOURNAMENT, agents, players=2, games=arguments.games, seed=arguments.seed)
    console.rule("4. Tournament: six players, agents that search whole turns, and scripted bots")
    play(folder / TOURNAMENT_OF_SIX, SIX, players=len(SIX), games=arguments.six_games, seed=arguments.seed)
    console.rule("Done")
    reports = ", ".join(map(str, sorted(folder.glob("*.html"))))
    place = f"Reports with plots: {reports}" if reports else "No reports: pip install 'risk-env[tournament]'"
    console.print(f"{place}\nAll files: {folder}{os.sep}", soft_wrap=True, markup=False)


def _check(arguments: argparse.Namespace) -> None:
    """Raise at once the errors that training or the tournament would raise minutes later."""
    for name in ("games", "six_games", "steps"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} {value}: must be at least 1")
    if not arguments.no_training:
        require("torch")
    if arguments.out and Path(arguments.out).exists() and any(Path(arguments.out).iterdir()):
        raise FileExistsError(f"--out {arguments.out}: this folder is not empty; choose a new folder")


def estimate(arguments: argparse.Namespace, cores: int, loop: float) -> str:
    """Return an estimate of the time that the demo takes; `loop` is the result of `loop_seconds`."""
    training = DECISIONS * (arguments.steps or DEFAULT_DECISIONS) / DEFAULT_DECISIONS
    games = DUEL * arguments.games + GAME_OF_SIX * arguments.six_games
    usual = START + games / cores + training * (not arguments.no_training)
    minutes, more = (max(round(seconds * loop / LOOP / 60), 1) for seconds in (usual, COMPILING))
    machine = counted(cores, "core")
    return (
        f"Estimated time with {machine}: {minutes} min, and {more} min more if the code is not compiled yet."
    )


def loop_seconds() -> float:
    """Return the wall time of a fixed loop in seconds, a measure of the current speed of one core."""
    start = time.perf_counter()
    sum(number * number for number in range(500_000))
    return time.perf_counter() - start


def show_games(console: Console, seed: int) -> None:
    """Print the board after some rounds of a game, and the final board of another game."""
    console.print(f"After {ROUNDS} rounds of a game:\n{opening(seed)}", markup=False)
    console.print(f"At the end of another game:\n{watch(seed)}", markup=False)


def opening(seed: int) -> str:
    """Return the board after the first rounds of a game between the bots in `WATCHED`, as text.

    Another process plays these rounds without compiled code, so the board is ready within a few seconds.
    """
    code = f"from risk_training import demo; print(demo.first_rounds({seed}))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def first_rounds(seed: int) -> str:
    """Play the first rounds of a game between the bots in `WATCHED`, and return the board as text."""
    match = Match("classic", "classic", WATCHED, seed, num_players=len(WATCHED))
    match.run(rounds=ROUNDS)
    return str(match.game)


def watch(seed: int) -> str:
    """Play one game between the bots in `WATCHED`; return the final board and the bot of each seat as text.

    The final board names the winner.
    """
    seats, outputs = len(WATCHED), {"observation": None, "mask": None}
    batch = GameBatch("classic", "classic", 1, seed, num_players=seats, autoreset=False, **outputs)
    arena, lane = Arena(batch, WATCHED), np.zeros(1, np.int64)
    arena.numbers[:, : len(WATCHED)] = np.arange(len(WATCHED))
    batch.reset()
    arena.seat_players(lane)
    arena.play_on(lane)
    seats = ", ".join(f"{seat}: {name}" for seat, name in enumerate(WATCHED))
    return f"{batch.game(0)}\n\nSeats: {seats}"


def train(folder: Path, decisions: int | None, console: Console) -> Path:
    """Train with the demo's configuration, show a progress bar, and return the path of the policy file."""
    import torch

    from risk_training.config import read_config
    from risk_training.ppo import Config, Trainer
    from risk_training.run_files import POLICY_FILE

    torch.set_num_threads(1)
    trainer = Trainer(Config.from_dict(read_config(CONFIG, n_timesteps=decisions)), folder)
    with training_bar(trainer.config.length, 0, "decisions") as show:
        trainer.train(show)
    rates = [f"{rate:.0%} against {bot}" for bot, rate in win_rates(trainer.rows[-1]).items()]
    console.print(f"Games won with the policy's likeliest actions: {', '.join(rates)}")
    return folder / POLICY_FILE


def play(path: Path, agents: Sequence[str], **numbers: int) -> None:
    """Play a tournament, and store the games in `path`.sqlite.

    If matplotlib is installed, the report is written to `path`.html. `numbers` are the options `players`,
    `games` and `seed`.
    """
    named: dict[str, Any] = {"agents": ",".join(agents), **numbers, "workers": os.cpu_count() or 1}
    named["out"] = path.with_suffix(".sqlite")
    if find_spec("matplotlib"):
        named["report"] = path.with_suffix(".html")
    tournament.main([word for name, value in named.items() for word in (f"--{name}", str(value))])
