"""Instruction counts of fixed workloads, from Valgrind's Callgrind: `python -m benchmarks.instructions`.

A *workload* is a fixed piece of work, such as 30 steps of a batch of games. A count of instructions, unlike a
time, does not depend on other processes. Even on a shared machine, a change of 3 % is therefore measurable.
Kernels are compiled for one fixed processor (PROCESSOR), with a separate cache. instructions.json contains
the counts of each version, and docs/speed.md shows these counts (`make docs`).

`--check` (`make bench-check`) compares the counts with the counts of the last record, and fails if a
workload needs over 3 % more instructions. `--record` stores the counts for the present version. The command
needs Valgrind on x86-64.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import mmap
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.arguments import documented_parser
from benchmarks.records import table, versions

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("instructions.json")
PACKAGES = ("numpy", "numba", "llvmlite")
PROCESSOR = "haswell"  # valgrind does not support the instructions of newer processors
LIMIT = 0.03  # maximum growth of a count that `--check` allows
SEED = 7
LANES = 64

# valgrind/callgrind.h: numbers of requests, and the machine instructions of a request
_CALLGRIND = ord("C") << 24 | ord("T") << 16
ZERO, DUMP_AT, START, STOP = _CALLGRIND + 1, _CALLGRIND + 3, _CALLGRIND + 4, _CALLGRIND + 5
_REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")

Work = Callable[[], Any]


def batch_steps(observation: str | None) -> Work:
    """Return a function that plays 30 steps of LANES games with random actions."""
    from benchmarks.measures import OurBatch

    ours = OurBatch(LANES, mask="bytes", observation=observation)

    def work() -> None:
        for _ in range(30):
            ours.step(ours.choose())

    return work


def bot_games() -> Work:
    """Return a function that plays ten games between three copies of `grower`."""
    from risk_env import GameBatch, Rules

    batch = GameBatch(Rules.preset("classic", 3, profile="fast"), num_games=10, seed=SEED)
    return lambda: batch.play(["grower"] * 3, games=10, seed=SEED)


def single_game() -> Work:
    """Return a function that lists the legal actions and plays an action, 300 times, in one `Game`."""
    from risk_env import Game

    game = Game("classic", profile="fast", seed=SEED)

    def work() -> None:
        playing = game.copy()
        for number in range(300):
            legal = playing.legal_actions()
            playing.step(int(legal[number % len(legal)]))

    return work


def position_texts() -> Work:
    """Return a function that reads a position from text and writes it as text, ten times."""
    from risk_env import Game

    text = Game("classic", profile="fast", seed=SEED).to_text()

    def work() -> None:
        for _ in range(10):
            Game.from_text(text).to_text()

    return work


WORKS: dict[str, Callable[[], Work]] = {
    "batch, mask": lambda: batch_steps(None),
    "batch, mask and observation": lambda: batch_steps("flat"),
    "games of a compiled bot": bot_games,
    "one game, step by step": single_game,
    "position to text and back": position_texts,
}


class Requester:
    """A sender of requests to valgrind. Without valgrind, a request does nothing."""

    def __init__(self) -> None:
        memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(_REQUEST)
        self._code = ctypes.c_char.from_buffer(memory)  # keeps the memory mapped
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(ctypes.addressof(self._code))

    def __call__(self, number: int, text: bytes = b"") -> None:
        """Send the request `number` with `text`."""
        buffer = ctypes.create_string_buffer(text)
        words = (ctypes.c_uint64 * 6)(number, ctypes.addressof(buffer))
        self._call(ctypes.addressof(words))


def run_all() -> None:
    """Run every workload twice, and count the instructions of the second run."""
    request = Requester()
    for name, make in WORKS.items():
        work = make()
        work()
        gc.collect()
        gc.disable()
        request(ZERO)
        request(START)
        work()
        request(STOP)
        request(DUMP_AT, name.encode())
        gc.enable()


def measure() -> dict[str, int]:
    """Return the number of instructions of each workload."""
    if platform.machine() != "x86_64" or not shutil.which("valgrind"):
        raise SystemExit("instructions: the counts need valgrind (apt-get install valgrind) on x86-64")
    child = (sys.executable, "-m", "benchmarks.instructions", "--run")
    run(child)  # compiles the code that is not in the cache
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        run(("valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}", *child))
        return counts_in(path.read_text(encoding="utf-8") for path in Path(folder).iterdir())


def counts_in(dumps: Iterable[str]) -> dict[str, int]:
    """Return the counts in `dumps`, the contents of callgrind's files, by workload."""
    counts = {}
    for dump in dumps:
        named = re.search(r"^desc: Trigger: Client Request: (.*)$", dump, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", dump, re.MULTILINE)
        if named and total:
            counts[named[1]] = int(total[1])
    if missing := [name for name in WORKS if name not in counts]:
        raise SystemExit(f"instructions: callgrind has no count for {', '.join(missing)}")
    return {name: counts[name] for name in WORKS}


def run(command: Sequence[str]) -> None:
    """Run a command with settings under which the number of instructions depends almost only on the code."""
    fixed = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    compiled = {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": ""}
    cache = {"RISK_ENV_CACHE_DIR": str(ROOT / "build" / "instructions"), "OPENBLAS_CORETYPE": "Haswell"}
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **fixed, **compiled, **cache}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"instructions: {' '.join(command)}: status {done.returncode}\n{done.stderr}")


def recorded() -> list[dict[str, Any]]:
    """Return the records of all versions, the oldest first."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []


def record(counts: dict[str, int]) -> dict[str, Any]:
    """Return the record of the present version."""
    from risk_env import __version__

    return {
        "version": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": {"python": platform.python_version(), **versions(PACKAGES)},
        "counts": counts,
    }


def changes(before: dict[str, Any], now: dict[str, Any]) -> dict[str, float]:
    """Return the relative change of each count that both records have."""
    return {
        name: count / before["counts"][name] - 1
        for name, count in now["counts"].items()
        if name in before["counts"]
    }


def check(before: dict[str, Any], now: dict[str, Any]) -> int:
    """Print the changes since a record; return 1 if a count grew by more than LIMIT, otherwise 0."""
    growth = changes(before, now)
    rows = [
        (name, f"{count / 1e6:.2f}", f"{100 * growth[name]:+.1f} %" if name in growth else "new")
        for name, count in now["counts"].items()
    ]
    print("\n".join(table(("workload", "million instructions", f"change since {before['version']}"), rows)))
    if before["versions"] != now["versions"]:
        print(f"Versions differ: {before['versions']} in the record, {now['versions']} now")
    slower = [name for name, change in growth.items() if change > LIMIT]
    print(f"workloads with over {LIMIT:.0%} more instructions: {', '.join(slower) or 'none'}")
    return 1 if slower else 0


def main() -> int:
    """Count the instructions, and compare or store the counts."""
    parser = documented_parser(__doc__)
    add, limit = parser.add_argument, f"{100 * LIMIT:.0f} %%"
    add("--check", action="store_true", help=f"fail if a count grew by more than {limit}")
    add("--run", action="store_true", help=argparse.SUPPRESS)
    add("--record", action="store_true", help="store the counts for the present version")
    arguments = parser.parse_args()
    if arguments.run:
        run_all()
        return 0
    before, now = recorded(), record(measure())
    status = check(before[-1] if before else now, now)
    if arguments.record:
        kept = [each for each in before if each["version"] != now["version"]]
        FILE.write_text(json.dumps([*kept, now], indent=1) + "\n", encoding="utf-8")
    return status if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
