"""Time of the first use of a large map: `python -m benchmarks.large_maps [--record]`.

Each measurement is a new process, timed from its start to its end. The process with an empty cache also
compiles the code. The process `GameBatch` imports risk_env and plays 20 steps of 16 games. The process
`risk-env play` runs this command with the default opponents, up to the first question. The input then ends,
so the command saves the game and stops. Both processes use a random map.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table

PACKAGES = ("risk-env", "numpy", "numba", "llvmlite")
BATCH = """
import sys
import numpy as np
import risk_env
batch = risk_env.GameBatch("classic", sys.argv[1], 16, seed=1, mask="bytes")
_, mask, _ = batch.reset()
for _ in range(20):
    mask = batch.step(np.argmax(mask, axis=1))[1]
"""
WORKS: dict[str, tuple[str, ...]] = {
    "GameBatch": ("-c", BATCH, "{name}"),
    "risk-env play": (
        "-m",
        "risk_env",
        "play",
        "--map",
        "{name}",
        "--seed",
        "1",
        "--save",
        "{folder}/{run}.game",
    ),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add(
        "--territories",
        type=at_least_one,
        default=180,
        metavar="N",
        help="number of territories of the map (default: 180)",
    )
    repeats = "number of runs with a full cache (default: 3)"
    add("--repeats", type=at_least_one, default=3, metavar="N", help=repeats)
    add("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.large_maps", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    name = record["map"] = f"random:7:territories={arguments.territories}"
    record["rows"] = [row for work in WORKS for row in measure(work, name, arguments.repeats)]
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('large_maps', record, report(record))}")


def measure(work: str, name: str, repeats: int) -> list[dict[str, Any]]:
    """Return two rows: the times with an empty cache, and the shortest times of runs with a full cache."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [run(work, name, Path(folder), number) for number in range(1 + repeats)]
    return [
        {
            "work": work,
            "cache": cache,
            "runs": len(found),
            **{key: min(each[key] for each in found) for key in found[0]},
        }
        for cache, found in (("empty", runs[:1]), ("full", runs[1:]))
    ]


def run(work: str, name: str, folder: Path, number: int) -> dict[str, float]:
    """Run a command of WORKS in a new process with a cache in `folder`; return wall and CPU seconds."""
    words = [
        word.format(name=name, folder=folder, run=number) if "\n" not in word else word
        for word in WORKS[work]
    ]
    settings = {"RISK_ENV_CACHE_DIR": str(folder / "cache")}
    before, start = cpu_seconds(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    seconds, cpu = time.perf_counter() - start, cpu_seconds() - before
    if done.returncode:
        raise SystemExit(f"large_maps: {work}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return {"wall_s": seconds, "cpu_s": cpu}


def cpu_seconds() -> float:
    """Return the CPU time of all child processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    columns = ("first use", "cache", "runs", "wall time, s", "CPU time, s")
    rows = [
        (row["work"], row["cache"], row["runs"], f"{row['wall_s']:.1f}", f"{row['cpu_s']:.1f}")
        for row in record["rows"]
    ]
    text = f"First use of the map `{record['map']}`. Each time is the shortest of the runs."
    return "\n".join(["# Large maps", "", *heading_lines(record), "", text, "", *table(columns, rows)])


if __name__ == "__main__":
    main()
