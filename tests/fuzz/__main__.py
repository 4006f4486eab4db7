"""Fuzz targets, show a table, and store inputs that break a target.

`python -m tests.fuzz [TARGET ...] --inputs N --seconds S --seed K`
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tests.fuzz.running import Finding, Tally, fuzz
from tests.fuzz.targets import named


def main() -> int:
    """Run the command and return status 1 if an input broke a target."""
    arguments = _parser().parse_args()
    tallies: dict[str, Tally] = {}
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        for name in arguments.targets or named():
            task = bar.add_task(name, total=arguments.inputs)
            show = lambda tally, task=task: bar.update(task, completed=tally.inputs)  # noqa: E731
            tallies[name] = fuzz(name, arguments.inputs, arguments.seconds, arguments.seed, show)
            bar.update(task, total=tallies[name].inputs)
    Console(width=None if sys.stdout.isatty() else 140).print(_table(tallies))
    findings = [finding for tally in tallies.values() for finding in tally.findings]
    _show(findings)
    return 1 if findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Fuzz the readers of untrusted files."
    )
    add = parser.add_argument
    add("targets", nargs="*", metavar="TARGET", choices=[*named(), []], help=", ".join(named()))
    add("--inputs", type=int, default=10_000, metavar="N", help="most inputs per target (default: 10000)")
    add(
        "--seconds",
        type=float,
        default=float("inf"),
        metavar="S",
        help="most seconds per target (default: no limit)",
    )
    add("--seed", type=int, default=0, metavar="K", help="seed of all inputs (default: 0)")
    return parser


def _table(tallies: dict[str, Tally]) -> Table:
    table = Table("target", "inputs", "accepted", "refused", "broke", "slowest", "growth", "errors", box=None)
    for name, tally in tallies.items():
        refused = {kind: count for kind, count in tally.refused.items() if count}
        table.add_row(
            *(
                name,
                f"{tally.inputs:,}",
                f"{tally.accepted:,}",
                f"{sum(refused.values()):,}",
                str(len(tally.findings)),
            ),
            *(f"{1000 * tally.slowest:.0f} ms", f"{tally.growth / 2**20:.0f} MiB"),
            ", ".join(f"{kind} {count:,}" for kind, count in refused.items()),
        )
    return table


def _show(findings: list[Finding]) -> None:
    """Store one input of each problem, and print where."""
    kinds: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        kinds.setdefault((finding.target, "\n".join(finding.problem.splitlines()[-3:-1])), finding)
    for finding in kinds.values():
        print(f"\n{finding.target}, input {finding.number}, kept as {finding.keep()}:\n{finding.problem}")


if __name__ == "__main__":
    sys.exit(main())
