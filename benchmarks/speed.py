"""`risk-env bench`: the speed of the core, and the time to the end of a first game.

The command measures uniformly random legal play on one thread, after warm-up. The mask is written as bits at
every decision, and forced actions are not counted. When a run begins, the lanes are at different stages of
their games. All runs play the same games, so other processes have disturbed the fastest run least.
docs/benchmarks.md describes the method.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks import first_use, random_play
from benchmarks.arguments import add_windows, at_least_one
from benchmarks.random_play import Event
from benchmarks.records import RESULTS, heading, heading_lines, keep, table
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, presets
from risk_env.board.tables import Tables, tables
from risk_env.cli import command_parser
from risk_env.core.types import Phase
from risk_env.engine import batch_loop
from risk_env.seeds import uint64

OPTIONS: dict[str, Any] = {
    "setup": "random",
    "attack": "choice",
    "defender_dice": "choice",
    "max_rounds": 100,
}
ALL = "all"
PACKAGES = ("risk-env", "numpy", "numba")
CALIBRATION_SWEEPS = 50
STAGES = 64  # number of stages of a game over which the lanes are spread
SCOUTS = 8  # number of lanes that measure the length of a game
SCOUT_SWEEPS = 200
EMPTY_CALLS = 200
DECISIONS_ALONE = 200_000

Array = npt.NDArray[Any]


class Play(NamedTuple):
    """Games in progress, with the arrays that the kernels need to continue them."""

    tables: Tables
    games: Array  # (N,) game records
    pickers: Array  # uint64 (N,)
    lanes: Array  # int64 (N,)

    def copy(self) -> Play:
        """Return an independent copy."""
        return Play(self.tables, self.games.copy(), self.pickers.copy(), self.lanes)

    def on(self, sweeps: int, lanes: Array | None = None) -> int:
        """Make `sweeps` steps in each of these lanes (None: all), and return the number of new games."""
        return random_play.play(*self.records, self.lanes if lanes is None else lanes, sweeps)

    @property
    def records(self) -> tuple[Array, Array, Array, Array]:
        """First arguments of every kernel: games, board, rules and pickers."""
        return self.games, self.tables.board, self.tables.rules, self.pickers


def main(argv: Sequence[str]) -> None:
    """Run the command `bench`: print the results and, if `--record` is given, store them."""
    arguments = read_arguments(argv)
    chosen = presets() if arguments.preset == ALL else (arguments.preset,)
    record = heading(["risk-env", "bench", *argv], PACKAGES)
    record["presets"] = [measure_preset(name, arguments) for name in chosen]
    if arguments.first_use:
        say("first use: everything is compiled again, which takes a minute or two ...")
        record["first_use"] = first_use.measure()
    shown = report(record)
    print(shown)
    if arguments.record is not None:
        path = keep(f"speed-{arguments.preset}", record, shown, arguments.record)
        say(f"recorded in {path}")


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Return the checked arguments of the command."""
    parser = command_parser("bench")
    names = ", ".join(presets())
    parser.add_argument(
        "--preset",
        default="classic",
        metavar="NAME",
        help=f"preset of the rules: {names}, or {ALL} (default: classic)",
    )
    parser.add_argument(
        "--players", type=int, metavar="N", help="number of players (default: 3, or 2 for two_player)"
    )
    parser.add_argument(
        "--games",
        type=at_least_one,
        default=1024,
        metavar="N",
        help="number of parallel games (default: 1,024)",
    )
    add_windows(parser, repeats=7)
    parser.add_argument("--seed", type=int, default=0, help="seed of all games (default: 0)")
    parser.add_argument(
        "--no-first-use", dest="first_use", action="store_false", help="skip the measurement of the first use"
    )
    parser.add_argument(
        "--record", nargs="?", type=Path, const=RESULTS, metavar="FOLDER", help=help_of_record()
    )
    return parser.parse_args(argv)


def help_of_record() -> str:
    """Return the help of `--record`."""
    return "store the result as JSON and Markdown in FOLDER, or in benchmarks/results if FOLDER is left out"


def say(line: str) -> None:
    """Print progress to stderr."""
    print(line, file=sys.stderr, flush=True)


# Measuring


def measure_preset(preset: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return all measurements of one preset."""
    say(f"{preset}: random play ...")
    rules = Rules.preset(preset, num_players=arguments.players, **OPTIONS)
    begin = spread(tables(rules, load_map("classic")), arguments.games, arguments.seed)
    sweeps = sweeps_of(begin, arguments.seconds)
    runs = [time_run(begin, sweeps) for _ in range(arguments.repeats)]
    census = take_census(begin, sweeps)
    return {
        "preset": preset,
        "num_players": rules.num_players,
        "options": OPTIONS,
        "games": arguments.games,
        "sweeps": sweeps,
        "repeats": arguments.repeats,
        **rates(runs, census),
        "alone_ns": parts_alone(begin, arguments.repeats),
        "phases": phases(begin, min(sweeps, 500), arguments.repeats),
    }


def spread(chosen: Tables, count: int, seed: int) -> Play:
    """Return `count` games that are spread evenly over the stages of a game."""
    play = begin_play(chosen, count, seed)
    length = typical_length(begin_play(chosen, SCOUTS, seed))
    for stage in range(STAGES):
        behind = play.lanes * STAGES // count > stage
        play.on(length // STAGES, play.lanes[behind])
    return play


def begin_play(chosen: Tables, count: int, seed: int) -> Play:
    """Return `count` lanes whose first game has just begun."""
    lanes = np.arange(count)
    pickers = np.zeros(count, np.uint64)
    batch_loop.write_seeds(uint64(seed), lanes, np.zeros(count, np.int64), pickers)
    play = Play(chosen, chosen.new_games(count), pickers, lanes)
    play.games["phase"] = Phase.OVER
    play.on(1)
    return play


def typical_length(play: Play) -> int:
    """Return the approximate number of decisions in a game."""
    begun = sweeps = 0
    while begun < len(play.lanes):
        begun += play.on(SCOUT_SWEEPS)
        sweeps += SCOUT_SWEEPS
    return sweeps * len(play.lanes) // begun


def sweeps_of(begin: Play, seconds: float) -> int:
    """Return the number of sweeps (steps of every lane) that take about `seconds`."""
    play = begin.copy()
    play.on(CALIBRATION_SWEEPS)
    taken = time_of(lambda: play.on(CALIBRATION_SWEEPS))
    return max(1, round(CALIBRATION_SWEEPS * seconds / taken))


def time_of(work: Callable[[], Any]) -> float:
    """Return the seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Run(NamedTuple):
    """Seconds of one run: wall time, and CPU time of this thread."""

    wall: float
    cpu: float


def time_run(begin: Play, sweeps: int) -> Run:
    """Play one run, and return its times."""
    play = begin.copy()
    cpu = time.thread_time()
    wall = time_of(lambda: play.on(sweeps))
    return Run(wall, time.thread_time() - cpu)


class Census(NamedTuple):
    """Counts of decisions and events in a run."""

    decisions: Array  # int64 (phases,) decisions
    forced: Array  # int64 (phases,) forced actions
    events: Array  # int64, by Event


def take_census(begin: Play, sweeps: int) -> Census:
    """Play the games of a run again and count decisions and events.

    The census is not timed.
    """
    play = begin.copy()
    census = Census(
        np.zeros(len(Phase), np.int64), np.zeros(len(Phase), np.int64), np.zeros(len(Event), np.int64)
    )
    random_play.take_census(*play.records, play.lanes, sweeps, *census)
    return census


def rates(runs: Sequence[Run], census: Census) -> dict[str, Any]:
    """Return the rates of the best run.

    The rate of decisions is also returned for the median run, and per second of CPU time.
    """
    best, decisions = min(run.wall for run in runs), int(census.decisions.sum())
    return {
        "decisions_per_second": round(decisions / best),
        "decisions_per_second_median": round(decisions / statistics.median(run.wall for run in runs)),
        "decisions_per_cpu_second": round(decisions / min(run.cpu for run in runs)),
        "ns_per_decision": round(best / decisions * 1e9, 1),
        "forced_per_decision": round(int(census.forced.sum()) / decisions, 3),
        "battles_per_second": round(int(census.events[Event.BATTLE]) / best),
        "turns_per_second": round(int(census.events[Event.TURN]) / best),
        "games_per_second": round(int(census.events[Event.GAME]) / best, 1),
    }


def parts_alone(begin: Play, repeats: int) -> dict[str, float]:
    """Return the times to choose an action and to write a mask, in ns, from passes that do nothing else."""
    play, actions = begin.copy(), np.zeros(len(begin.lanes), np.int64)
    rounds = max(1, DECISIONS_ALONE // len(begin.lanes))
    parts: dict[str, Callable[[], Any]] = {
        "choosing an action": lambda: random_play.choose(play.games, play.pickers, play.lanes, actions),
        "writing a mask": lambda: random_play.write_masks(*play.records[:3], play.lanes),
    }
    spent = {name: each_time(part, rounds, repeats) for name, part in parts.items()}
    return {name: round(seconds / len(begin.lanes) * 1e9, 1) for name, seconds in spent.items()}


def each_time(work: Callable[[], Any], rounds: int, repeats: int) -> float:
    """Return the seconds of one call of `work`, from the best of `repeats` runs of `rounds` calls."""
    return min(time_of(lambda: [work() for _ in range(rounds)]) for _ in range(repeats)) / rounds


def phases(begin: Play, sweeps: int, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each phase: share of decisions, ns per decision, and share of time.

    The phase `OVER` is the start of a new game.
    """
    runs = [time_by_phase(begin, sweeps) for _ in range(repeats)]
    counts = runs[0][0]
    spent = np.min([seconds for _, seconds in runs], axis=0)
    rows = [phase_row(phase, counts, spent) for phase in Phase if counts[phase]]
    return sorted(rows, key=lambda row: -row["share_of_time"])


def phase_row(phase: Phase, counts: Array, spent: Array) -> dict[str, Any]:
    """Return the row of one phase."""
    decisions = counts.sum() - counts[Phase.OVER]
    return {
        "phase": phase.name,
        "share": float(round(counts[phase] / decisions, 6)),
        "ns": float(round(spent[phase] / counts[phase] * 1e9, 1)),
        "share_of_time": float(round(spent[phase] / spent.sum(), 4)),
    }


def time_by_phase(begin: Play, sweeps: int) -> tuple[Array, Array]:
    """Return decisions (int64) and seconds by phase.

    In each sweep, all lanes of a phase are played in one timed call.
    """
    play = begin.copy()
    counts, spent = np.zeros(len(Phase), np.int64), np.zeros(len(Phase))
    nothing = each_time(lambda: play.on(1, play.lanes[:0]), EMPTY_CALLS, 3)
    for _ in range(sweeps):
        phase_of = play.games["phase"].copy()
        for phase in np.unique(phase_of):
            lanes = np.flatnonzero(phase_of == phase)
            counts[phase] += len(lanes)
            spent[phase] += max(0.0, time_of(partial(play.on, 1, lanes)) - nothing)
    return counts, spent


# Reporting


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    presets = record["presets"]
    lines = ["# Speed of the core", "", *heading_lines(record), "", *summary(presets)]
    for preset in presets:
        lines += ["", f"## {title(preset)}", "", *phase_table(preset), "", *what_dominates(preset)]
    if "first_use" in record:
        lines += ["", "## First use", "", *first_use_lines(record["first_use"])]
    return "\n".join(lines)


def title(preset: dict[str, Any]) -> str:
    """Return the name of a preset and its number of players."""
    return f"{preset['preset']}, {preset['num_players']} players"


def summary(presets: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table with one row for each preset."""
    first = presets[0]
    options = ", ".join(f"{name}={value!r}" for name, value in first["options"].items())
    columns = (
        "preset",
        "million decisions/s, best",
        "million decisions/s, median",
        "million decisions per CPU s",
        "ns per decision",
        "battles/s",
        "turns/s",
        "games/s",
    )
    return [
        f"Random play chooses uniformly among the legal actions: one thread, {options},",
        f"{first['games']:,} games. The mask is written as bits at every decision.",
        "Forced actions are not counted.",
        f'The columns "best" and "median" are from {first["repeats"]} runs. The rate per CPU second is from',
        "the run with the least CPU time. If this rate is far above the best rate, the machine was busy.",
        "",
        *table(columns, [summary_row(preset) for preset in presets]),
    ]


def summary_row(preset: dict[str, Any]) -> tuple[str, ...]:
    """Return the row of one preset."""
    return (
        title(preset),
        f"{preset['decisions_per_second'] / 1e6:.2f}",
        f"{preset['decisions_per_second_median'] / 1e6:.2f}",
        f"{preset['decisions_per_cpu_second'] / 1e6:.2f}",
        f"{preset['ns_per_decision']:.0f}",
        f"{preset['battles_per_second']:,}",
        f"{preset['turns_per_second']:,}",
        f"{preset['games_per_second']:,}",
    )


def phase_table(preset: dict[str, Any]) -> list[str]:
    """Return a table with one row for each phase, in descending order of the share of time."""
    rows = [
        (
            "(a new game)" if row["phase"] == Phase.OVER.name else row["phase"],
            f"{row['share']:.2%}",
            f"{row['ns']:,.0f}",
            f"{row['share_of_time']:.1%}",
        )
        for row in preset["phases"]
    ]
    return table(("phase", "share of decisions", "ns per decision", "share of time"), rows)


def what_dominates(preset: dict[str, Any]) -> list[str]:
    """Return lines about the slowest phases, the time of a decision and of its parts, and forced actions."""
    rows = preset["phases"]
    top = [f"{row['phase']} {row['share_of_time']:.0%}" for row in rows[:3]]
    alone = ", ".join(f"{name} {ns:.0f} ns" for name, ns in preset["alone_ns"].items())
    sorted_ns = sum(row["share"] * row["ns"] for row in rows)
    return [
        f"Largest shares of the time: {', '.join(top)}.",
        f"A decision takes {preset['ns_per_decision']:.0f} ns, or {sorted_ns:.0f} ns if each phase is timed",
        f"separately. Timed alone: {alone}.",
        f"For each decision, the engine plays {preset['forced_per_decision']:.2f} forced actions.",
    ]


def first_use_lines(seconds: dict[str, Any]) -> list[str]:
    """Return lines about the seconds to the end of the first game, and about a second game."""
    cold = (
        []
        if seconds["cold_s"] is None
        else [("first game, nothing compiled before", f"{seconds['cold_s']:.1f}")]
    )
    rows = [
        *cold,
        ("first game, compiled before", f"{seconds['warm_s']:.2f}"),
        (f"second game, {seconds['then']}", f"{seconds['second_s']:.2f}"),
    ]
    return [
        f"The first game ({seconds['game']}) is played in a new process. The time begins with "
        "`import risk_env`. A second game follows in the same process:",
        "",
        *table(("game", "seconds"), rows),
        "",
        f"The second game has another preset: {seconds['compiled_by_second']} more kernels were compiled.",
    ]
