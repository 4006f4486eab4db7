"""Command `dataset`: let agents play games, and write their decisions into a dataset."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from risk_agents.agent_list import agent_list
from risk_agents.dataset.files import check_new, first_games, write_minari, write_parquet
from risk_agents.dataset.recorder import GameDecisions, RecordingSpec, record
from risk_agents.progress import progress_bar
from risk_agents.registry import SPECS
from risk_agents.rules_arguments import MAP, PLAYERS, add_rules_arguments, rules_of
from risk_env.board.maps import load_map
from risk_env.board.rules import FAST
from risk_env.cli import command_parser, require
from risk_env.messages import counted
from risk_env.whole_file import whole_file

MINARI = "minari:"


def main(argv: Sequence[str]) -> None:
    """Run the command `dataset`: play games, and write their decisions into a dataset."""
    arguments = _parser().parse_args(argv)
    write = _writer(arguments.out)
    if arguments.decisions < 1:
        raise ValueError(f"--decisions {arguments.decisions}: must be at least 1")
    spec = _spec(arguments)
    with progress_bar("decisions", arguments.decisions, Console(stderr=True)) as show:
        rows = write(spec, first_games(record(spec), arguments.decisions, lambda written: show(written, "")))
    print(f"{counted(rows, 'decision')} from complete games: {arguments.out}")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("dataset")
    add = parser.add_argument
    agents = (
        f"agents, of which one is drawn at random for each seat: names, {SPECS}; label=agent sets a label"
    )
    add("--agents", required=True, metavar="A,B,...", help=agents)
    add(
        "--out",
        required=True,
        metavar="FILE",
        help="dataset to write: FILE.parquet, or minari:NAME for a Minari dataset",
    )
    add(
        "--decisions",
        type=int,
        default=100_000,
        metavar="N",
        help="minimum number of decisions, rounded up to whole games (default: 100,000)",
    )
    add(
        "--only",
        default="",
        metavar="A,B,...",
        help="record only decisions of these agents (default: all agents)",
    )
    add(
        "--reward",
        choices=("win", "placement"),
        default="win",
        help="reward of a seat at the end of the game, as in GameBatch (default: win)",
    )
    add("--seed", type=int, default=0, help="seed of all games (default: 0)")
    add_rules_arguments(parser, FAST, f"number of agents, if the preset allows that number; else {PLAYERS}")
    return parser


def _spec(arguments: argparse.Namespace) -> RecordingSpec:
    agents = agent_list(arguments.agents)
    rules, board = rules_of(vars(arguments), FAST, len(agents)), load_map(arguments.map or MAP)
    specs, labels = (
        tuple(column) for column in zip(*((agent.spec, agent.name) for agent in agents), strict=True)
    )
    only = tuple(agent.name for agent in agent_list(arguments.only, "--only")) if arguments.only else ()
    return RecordingSpec(rules, board, specs, arguments.seed, only, arguments.reward, labels)


def _writer(out: str) -> Callable[[RecordingSpec, Iterable[GameDecisions]], int]:
    """Return the function that writes the dataset of `--out`.

    Raises an error for a missing package, a wrong name or an existing Minari dataset, before any game is
    played.
    """
    if out.startswith(MINARI):
        require("minari")
        require("pyarrow")
        check_new(out.removeprefix(MINARI))
        return partial(write_minari, out.removeprefix(MINARI))
    if not out.endswith(".parquet"):
        raise ValueError(f"--out {out}: must be a name that ends in .parquet, or {MINARI}NAME")
    require("pyarrow")
    return partial(_write_whole, Path(out))


def _write_whole(path: Path, spec: RecordingSpec, games: Iterable[GameDecisions]) -> int:
    """Write the games to a file atomically, and return the number of rows.

    If the function is interrupted, an existing file remains unchanged.
    """
    with whole_file(path) as fresh:
        return write_parquet(fresh, spec, games)
