"""Many concurrent games of a language model on one core: `python -m benchmarks.models [--record]`.

The model is a script in a separate process, behind an endpoint on loopback. Each answer takes `--delay`
seconds. All games of a tournament (`risk-env tournament --workers`) wait for the model at the same time. A
thread that should wake every 10 ms measures stalls, the delays of its wake-ups.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks.arguments import above_zero, at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.game_files import read_games
from risk_agents.tournament import cli

ROOT = Path(__file__).parents[1]
BEAT = 0.01  # seconds between two wake-ups
PACKAGES = ("risk-env", "numpy", "numba", "httpx2")
GAMES = ["--players", "2", "--max-rounds", "20", "--option", "setup=random", "--quiet", "--seed", "1"]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    parser.add_argument(
        "--games", type=at_least_one, default=64, help="number of simultaneous games (default: %(default)s)"
    )
    parser.add_argument(
        "--delay", type=above_zero, default=1.0, help="time per answer, in seconds (default: %(default)s)"
    )
    parser.add_argument("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.models", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    record["found"] = measure(arguments.games, arguments.delay)
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('models', record, report(record))}")


def measure(games: int, delay: float, options: Sequence[str] = GAMES) -> dict[str, Any]:
    """Play games at the same time, with these options of a tournament, and return the measurements."""
    with tempfile.TemporaryDirectory() as folder, endpoint(delay) as address, one_core(), heartbeat() as lags:
        os.environ["OPENAI_BASE_URL"] = address
        path = Path(folder) / "games.jsonl"
        arguments = ["--agents", "llm:fake,random", "--games", str(games), "--workers", str(games), *options]
        wall, processor = time.perf_counter(), time.process_time()
        with redirect_stdout(io.StringIO()):
            cli.main([*arguments, "--out", str(Path(folder) / "games.sqlite"), "--save", str(path)])
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        notes = [note for _, result in read_games(path) for note in result["models"] if note]
    lags.sort()
    return {
        "games": len(notes),
        "delay": delay,
        "answers": sum(note["exchanges"] for note in notes),
        "faults": sum(note["illegal"] + note["fallbacks"] + sum(note["failures"].values()) for note in notes),
        "wall_s": wall,
        "longest_game_s": max(note["exchanges"] for note in notes) * delay,  # sum of the delays
        "processor_s": processor,
        "stall_median_ms": 1000 * lags[len(lags) // 2],
        "stall_99_ms": 1000 * lags[len(lags) * 99 // 100],
        "stall_most_ms": 1000 * lags[-1],
    }


@contextmanager
def endpoint(delay: float) -> Iterator[str]:
    """Run the endpoint of the scripted model, and yield its address."""
    command = [sys.executable, "-m", "tests.fake_endpoint", "--delay", str(delay)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process.stdout.readline().strip()  # type: ignore[union-attr]
        process.stdin.close()  # type: ignore[union-attr]


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and threads that it starts, on one core, if the system supports that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def heartbeat() -> Iterator[list[float]]:
    """Yield a growing list of the delays, in seconds, of a thread that should wake every BEAT seconds."""
    lags, stop = list[float](), threading.Event()

    def beat() -> None:
        while not stop.is_set():
            start = time.perf_counter()
            time.sleep(BEAT)
            lags.append(time.perf_counter() - start - BEAT)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield lags
    finally:
        stop.set()
        thread.join()


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    results = record["found"]
    rows = [
        ("games at the same time", results["games"]),
        ("time of the model for an answer, s", f"{results['delay']:g}"),
        ("answers", results["answers"]),
        ("faults of any kind", results["faults"]),
        ("wall time, s", f"{results['wall_s']:.1f}"),
        ("time of the answers in the longest game, s", f"{results['longest_game_s']:.1f}"),
        ("CPU time, s", f"{results['processor_s']:.1f}"),
        ("CPU time per answer, ms", f"{1000 * results['processor_s'] / results['answers']:.1f}"),
        ("share of one core", f"{results['processor_s'] / results['wall_s']:.0%}"),
        *((f"stall, {name}, ms", f"{results[f'stall_{key}_ms']:.1f}") for key, name in STALLS.items()),
    ]
    return "\n".join(
        [
            "# Language models, many games at once",
            "",
            *heading_lines(record),
            "",
            *table(("measure", "value"), rows),
        ]
    )


STALLS = {"median": "median", "99": "99th percentile", "most": "longest"}


if __name__ == "__main__":
    main()
