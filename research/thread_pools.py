"""Speed of a step of `GameBatch` with two threads: spin loops, locks, and a `ThreadPoolExecutor`.

    python -m research.thread_pools [--windows 1000] [--steps 2]

The methods of sharing a step alternate in short windows, and every second round has the reverse order. Other
load slows some windows down, so the best window of each method counts. In the methods with locks and with an
executor, the caller checks all actions, and then each thread steps slices of the lanes.

The *share of the gain* is a method's gain over one thread, relative to the gain of spin loops.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.measures import WARM_UP, OurBatch
from benchmarks.records import table
from risk_env.compiler import BoundKernel, entry_point
from risk_env.engine.batch_loop import NO_LANE, step_some
from risk_env.engine.thread_pool import ThreadPool

REST = 0.005  # pause before a window, in seconds; the scheduler prefers threads that have slept
COLUMNS = (
    *("games", "method", "decisions per second (best)", "speed relative to one thread", "share of the gain"),
    "median ratio to one thread",
)
ONE, SPIN = "one thread", "spin loops"


@entry_point
def step_slice(records, results, ends, episodes, views, lanes, actions, first, last):
    """Step `lanes[first:last]`, whose actions are legal, as a full step of `GameBatch` does."""
    step_some(first, last, records, results, ends, episodes, views, True, lanes, actions, True)


class Sliced:
    """An `OurBatch` whose steps are shared by a plain pool, slice by slice."""

    def __init__(self, games: int, slices: int, share: Callable[[Any, list[Any]], None]) -> None:
        self.ours = OurBatch(games, mask="bytes", observation="flat")
        batch, ours = self.ours.batch, self.ours
        groups = batch._step_arguments(is_full_step=True)[:-1]
        self.kernel = BoundKernel(step_slice, *groups, ours.lanes, ours.actions)
        ends = [int(end) for end in np.linspace(0, games, slices + 1)]
        self.slices = list(pairwise(ends))
        self.share, self.choose = share, ours.choose

    def step(self, actions: Any) -> int:
        """Check all actions, step all lanes, and return the number of decisions."""
        ours = self.ours
        if ours.batch._first_illegal(ours.lanes, actions) != NO_LANE:
            raise ValueError("an illegal action")
        self.share(self._step_one, self.slices)
        return len(ours.lanes)

    def _step_one(self, ends: tuple[int, int]) -> None:
        self.kernel(*ends)


def share_in_turn(executor: ThreadPoolExecutor, work: Any, slices: Sequence[Any]) -> None:
    """Call `work` for each slice; the caller's thread and one thread of the executor take slices in turn."""
    left = deque(slices)

    def take() -> None:
        with suppress(IndexError):
            while True:
                work(left.popleft())

    helper = executor.submit(take)
    take()
    if not helper.cancel():
        helper.result()


def main() -> None:
    """Measure and print the table."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add(
        "--windows",
        type=at_least_one,
        default=1000,
        metavar="N",
        help="windows of each method (default: 1000)",
    )
    add("--steps", type=at_least_one, default=2, metavar="N", help="timed steps of a window (default: 2)")
    games = "numbers of games of the batches (default: 1024 16384)"
    add("--games", type=at_least_one, nargs="+", default=[1024, 16384], metavar="N", help=games)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    rows = [row for games in arguments.games for row in measure(games, arguments)]
    print("\n".join(table(COLUMNS, rows)))
    print(f"\nLoad average before and after: {load:.1f}, {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores")


def measure(games: int, arguments: argparse.Namespace) -> list[tuple[str, ...]]:
    """Return the rows of one number of games."""
    pool, executor = ThreadPool(2), ThreadPoolExecutor(1)
    in_turn = partial(share_in_turn, executor)
    outputs = {"mask": "bytes", "observation": "flat"}
    ways: dict[str, Any] = {
        ONE: OurBatch(games, 1, **outputs),
        SPIN: OurBatch(games, 2, **outputs),
        "locks, 2 slices": Sliced(games, 2, pool.share),
        "ThreadPoolExecutor, 2 slices": Sliced(games, 2, in_turn),
        "ThreadPoolExecutor, 8 slices": Sliced(games, 8, in_turn),
    }
    for way in [*ways.values()] * WARM_UP:
        way.step(way.choose())
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(arguments.windows):
        for name in list(ways)[:: -1 if number % 2 else 1]:
            found[name].append(window(ways[name], arguments.steps))
    executor.shutdown()
    return [row_of(games, name, found) for name in ways]


def window(way: Any, steps: int) -> float:
    """Return the decisions per second of some steps, after a step that is not timed."""
    time.sleep(REST)
    way.step(way.choose())
    spent, decisions = 0.0, 0
    for _ in range(steps):
        actions = way.choose()
        start = time.perf_counter()
        decisions += way.step(actions)
        spent += time.perf_counter() - start
    return decisions / spent


def row_of(games: int, name: str, found: dict[str, list[float]]) -> tuple[str, ...]:
    """Return the cells of one method."""
    best = {way: max(windows) for way, windows in found.items()}
    ratios = [own / one for own, one in zip(found[name], found[ONE], strict=True)]
    gain = (best[name] / best[ONE] - 1) / (best[SPIN] / best[ONE] - 1)
    return (
        *(f"{games:,}", name, f"{best[name]:,.0f}", f"{best[name] / best[ONE]:.2f}", f"{gain:.0%}"),
        f"{median(ratios):.2f}",
    )


if __name__ == "__main__":
    main()
