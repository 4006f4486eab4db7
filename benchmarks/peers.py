"""Speed of risk_env and of other libraries in one run: `python -m benchmarks.peers --help`.

The measures (benchmarks/measures.py) run one after another, each in a separate process. Each measure uses one
core, except `threads`, which uses two. Other libraries are searched for in this interpreter and in the
interpreters given by `--python`. Missing libraries are reported.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.arguments import add_windows, at_least_one, documented_parser
from benchmarks.measures import MEASURES, Clock, Measure
from benchmarks.records import RESULTS, heading, heading_lines, keep, table, versions

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    "SDL_VIDEODRIVER": "dummy",
}
ROOT = Path(__file__).parent.parent
PACKAGES = ("risk-env", "numpy", "numba", "pettingzoo")

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measures, print the results and, if `--record` is given, store them."""
    argv = sys.argv[1:] if argv is None else argv
    arguments = read_arguments(argv)
    if arguments.measure is not None:
        print(json.dumps(measure_here(arguments.measure, Clock(arguments.seconds, arguments.repeats))))
        return
    record = heading(["python", "-m", "benchmarks.peers", *without_paths(argv)], PACKAGES)
    record["seconds"], record["repeats"], record["rounds"] = (
        arguments.seconds,
        arguments.repeats,
        arguments.rounds,
    )
    record["measures"] = run_in_turns(arguments)
    for measure in record["measures"].values():
        record["versions"].update(measure.pop("versions", {}))
    shown = report(record)
    print(shown)
    if arguments.record is not None:
        print(f"recorded in {keep('peers', record, shown, arguments.record)}", file=sys.stderr)


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Return the checked arguments."""
    parser = documented_parser(__doc__)
    names = ", ".join(MEASURES)
    add = parser.add_argument
    add(
        "--only",
        type=names_in,
        default=tuple(MEASURES),
        metavar="NAMES",
        help=f"measures to run: {names} (default: all)",
    )
    add(
        "--python",
        action="append",
        default=[],
        metavar="PATH",
        help="Python interpreter for measures that need other packages; may be repeated",
    )
    add_windows(parser, repeats=5)
    add(
        "--rounds",
        type=at_least_one,
        default=1,
        metavar="N",
        help="number of rounds through all measures (default: 1)",
    )
    add(
        "--record",
        nargs="?",
        type=Path,
        const=RESULTS,
        metavar="FOLDER",
        help="store the result in FOLDER, or in benchmarks/results if FOLDER is left out",
    )
    add("--measure", choices=MEASURES, help="run one measure in this process and print the rows as JSON")
    return parser.parse_args(argv)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of measures in a comma-separated string."""
    names = tuple(text.split(","))
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} must be one of {', '.join(MEASURES)}")
    return names


def without_paths(argv: Iterable[str]) -> list[str]:
    """Return the arguments for a record, with absolute paths cut to their last component."""
    return [Path(word).name if Path(word).is_absolute() else word for word in argv]


# Measuring


def measure_here(name: str, clock: Clock) -> dict[str, Any]:
    """Run one measure in this process and return its rows, or the missing package."""
    measure = MEASURES[name]
    hold_to_cores(measure.cores)
    try:
        rows = list(measure.rows(clock))
    except ImportError as error:
        return {"missing": f"{type(error).__name__}: {error}"}
    return {"rows": rows, "versions": versions(measure.packages)}


def hold_to_cores(cores: int) -> None:
    """Restrict this process to its last `cores` cores, if the system supports that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def run_in_turns(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run all measures one after another in every round, and return the best version of each row.

    With several rounds, a machine that is slow for some minutes cannot spoil all runs of one measure.
    """
    best: dict[str, Any] = {}
    for _ in range(arguments.rounds):
        for name in arguments.only:
            if name not in best or "rows" in best[name]:
                best[name] = better_rows(best.get(name, {}), run(name, arguments))
    return best


def better_rows(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the result of two runs of one measure, with the better row of each pair."""
    if "rows" not in before or "rows" not in after:
        return before if "rows" in before else after
    return {**after, "rows": list(map(better, before["rows"], after["rows"]))}


def better(row: Row, other: Row) -> Row:
    """Return the faster of two rows.

    For rows about threads, return the best rate of each number of threads, and the ratios of both rows.
    """
    if "ratios" in row:
        one, two = (max(row[key], other[key]) for key in ("one", "two"))
        return {**row, "one": one, "two": two, "ratios": row["ratios"] + other["ratios"]}
    if "ns" in row:
        return min(row, other, key=lambda candidate: sum(candidate["ns"].values()))
    return max(row, other, key=lambda candidate: candidate["steps_per_second"])


def run(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one measure in a new process of the first interpreter that has the measure's packages."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    measure = MEASURES[name]
    result: dict[str, Any] = {}
    for python in interpreters(measure, arguments.python):
        result = run_in(python, name, arguments)
        if "rows" in result:
            break
    return result


def interpreters(measure: Measure, others: Sequence[str]) -> list[str]:
    """Return the interpreters to try for a measure."""
    return [sys.executable] if measure.is_ours else [sys.executable, *others]


def run_in(python: str, name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one measure in a new process of this interpreter and return its rows or its error."""
    clock = ["--seconds", str(arguments.seconds), "--repeats", str(arguments.repeats)]
    command = [python, "-m", "benchmarks.peers", "--measure", name, *clock]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


# Reporting


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    measures = record["measures"]
    lines = [
        "# Comparison with other libraries",
        "",
        *heading_lines(record),
        "",
        *explanation(record),
        "",
        *steps_table(measures),
    ]
    for section in (
        parts_lines(measures),
        threads_lines(measures),
        aims_table(measures),
        missing_lines(measures),
    ):
        lines += ["", *section] if section else []
    return "\n".join(lines)


def explanation(record: dict[str, Any]) -> list[str]:
    """Return the lines that explain the numbers."""
    return [
        "The table shows decisions per second on one core, with random actions. The time includes masks,",
        "rewards, ends of games and beginnings of new games, but not the choice of the actions. Except in",
        "the rows of `GameBatch` without observation, the time also includes observations.",
        f"Each row shows the best and the median of {record['repeats']} windows of {record['seconds']:g} s,",
        f"from the best of {record['rounds']} rounds. Each round runs all measures once.",
    ]


def rows_of(measures: dict[str, Any], name: str) -> list[Row]:
    """Return the rows of one measure, or an empty list if the measure did not run."""
    return measures.get(name, {}).get("rows", [])


def steps_table(measures: dict[str, Any]) -> list[str]:
    """Return a table with one row for each measure that steps an environment."""
    rows = [row for name in measures for row in rows_of(measures, name) if "steps_per_second" in row]
    cells = [
        (
            f"{row['game']}: {row['interface']}",
            f"{row['games']:,}",
            *map(amount, (row["steps_per_second"], row["median"])),
        )
        for row in rows
    ]
    return table(("game and interface", "games at once", "decisions/s, best", "decisions/s, median"), cells)


def amount(number: float) -> str:
    """Return a number with three significant digits: 12.3 M, 61.2 k, 950."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def parts_lines(measures: dict[str, Any]) -> list[str]:
    """Return lines about the times of the parts of a step of the batch; each names the largest part."""
    return [
        f"A decision in a batch of {row['games']:,} games: "
        + ", ".join(f"{name} {ns:.0f} ns" for name, ns in row["ns"].items())
        + f". Largest part: {max(inside(row), key=inside(row).__getitem__)}."
        for row in rows_of(measures, "parts")
    ]


def inside(row: Row) -> dict[str, float]:
    """Return the times of the parts that belong to the step, without the choice of actions."""
    return {name: ns for name, ns in row["ns"].items() if name != "choose"}


def threads_lines(measures: dict[str, Any]) -> list[str]:
    """Return lines about the gain from a second thread."""
    return [
        f"{row['games']:,} games: {amount(row['one'])} decisions/s with one thread, "
        f"{amount(row['two'])} with two (best windows). "
        f"Median ratio over {len(row['ratios'])} pairs of windows: {statistics.median(row['ratios']):.2f}."
        for row in rows_of(measures, "threads")
    ]


class Aim(NamedTuple):
    """A goal of a run: a value of at least `bound` or, if `less` is True, a value below `bound`."""

    words: str
    found: float | None  # None: not measured
    bound: float
    unit: str
    less: bool = False

    @property
    def reached(self) -> bool:
        """True if the run reached the aim."""
        return self.found is not None and (self.found < self.bound if self.less else self.found >= self.bound)

    @property
    def cells(self) -> tuple[str, ...]:
        """Row of the aim in the table."""
        bound = f"{'<' if self.less else '≥'} {self.bound:g}{self.unit}"
        shown = "not measured" if self.found is None else f"{self.found:.3g}{self.unit}"
        return self.words, bound, shown, "yes" if self.reached else "no"


def aims_table(measures: dict[str, Any]) -> list[str]:
    """Return the table of aims, with the values of this run."""
    return table(("aim", "target", "measured", "reached"), [aim.cells for aim in aims(measures)])


def aims(measures: dict[str, Any]) -> list[Aim]:
    """Return the aims with their measured values."""
    batch = best(measures, "batch", observation="flat")
    backgammon, chess = best(measures, "pgx-backgammon"), best(measures, "pettingzoo-chess")
    raw, wrapped = (best(measures, "aec", interface=f"risk_v0.{name}()") for name in ("raw_env", "env"))
    threads = max((statistics.median(row["ratios"]) for row in rows_of(measures, "threads")), default=None)
    return [
        Aim("GameBatch, byte mask and int8 observation, decisions/s per core", over(batch, 1e6), 8, " M"),
        Aim(
            "GameBatch, relative to backgammon in Pgx at the best batch size of Pgx",
            over(batch, backgammon),
            100,
            " ×",
        ),
        Aim("share of the Python call in a step of 1,024 games", call_share(measures), 10, " %", less=True),
        Aim("two threads relative to one, at the better size", threads, 1.9, " ×"),
        Aim("raw_env(), last() and step(), decisions/s", over(raw, 1e6), 0.3, " M"),
        Aim("env(), relative to chess in PettingZoo", over(wrapped, chess), 100, " ×"),
    ]


def best(measures: dict[str, Any], name: str, **wanted: Any) -> float | None:
    """Return the highest number of decisions per second in a measure's rows with these values, or None."""
    rows = [row for row in rows_of(measures, name) if all(row[key] == value for key, value in wanted.items())]
    return max((row["steps_per_second"] for row in rows), default=None)


def over(number: float | None, other: float | None) -> float | None:
    """Return one number divided by another, or None unless both were measured."""
    return None if number is None or other is None else number / other


def call_share(measures: dict[str, Any]) -> float | None:
    """Return the percentage of the time of a step of 1,024 games that the Python call takes.

    The time of a step of one game counts as the time of the call.
    """
    one, many = (best(measures, "batch", observation="flat", games=games) for games in (1, 1024))
    share = over(many, one)
    return None if share is None else 100 * share / 1024


def missing_lines(measures: dict[str, Any]) -> list[str]:
    """Return lines that name the missing measures and the reasons."""
    missing = [(name, measure) for name, measure in measures.items() if "rows" not in measure]
    lines = [f"* {name}: {measure.get('missing') or measure['failed']}" for name, measure in missing]
    return ["Not measured:", "", *lines] if lines else []


if __name__ == "__main__":
    main()
