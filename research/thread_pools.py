"""Speed of a step of `GameBatch` with two threads: spin loops, locks, and a `ThreadPoolExecutor`.

    python -m research.thread_pools [--windows 200] [--seconds 0.02]

The ways of sharing a step alternate in short windows, and each second round has the reverse order. Other
load slows some windows down, so the best window of each way counts. In the ways with locks and with an
executor, the caller checks all actions, and then each thread steps slices of the lanes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.arguments import above_zero, at_least_one, documented_parser
from benchmarks.measures import WARM_UP, OurBatch
from benchmarks.records import table
from risk_env.compiler import BoundKernel, entry_point
from risk_env.engine.batch_loop import NO_LANE, step_some
from risk_env.engine.thread_pool import ThreadPool

SIZES = (1024, 16384)
COLUMNS = (
    *("games", "way", "decisions per second (best)", "speed relative to one thread", "share of the gain"),
    *("median ratio to one thread", "CPU time, ns per decision"),
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
        self.slices = list(zip(ends[:-1], ends[1:], strict=True))
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


def share_with_executor(executor: ThreadPoolExecutor, work: Any, slices: Sequence[Any]) -> None:
    """Call `work` for each slice: the first half in the caller's thread, the others in the executor."""
    half = len(slices) // 2
    others = [executor.submit(work, one) for one in slices[half:]]
    for one in slices[:half]:
        work(one)
    wait(others)
    for other in others:
        other.result()


def main() -> None:
    """Measure and print the table."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add("--windows", type=at_least_one, default=200, help="windows of each way (default: 200)")
    add("--seconds", type=above_zero, default=0.02, help="length of a window (default: 0.02)")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    rows = [row for games in SIZES for row in measure(games, arguments.windows, arguments.seconds)]
    print("\n".join(table(COLUMNS, rows)))
    print(f"\nLoad average before and after: {load:.1f}, {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores")


def measure(games: int, windows: int, seconds: float) -> list[tuple[str, ...]]:
    """Return the rows of one number of games."""
    pool, executor = ThreadPool(2), ThreadPoolExecutor(1)
    plain = partial(share_with_executor, executor)
    outputs = {"mask": "bytes", "observation": "flat"}
    ways: dict[str, Any] = {
        ONE: OurBatch(games, 1, **outputs),
        SPIN: OurBatch(games, 2, **outputs),
        "locks, 2 slices": Sliced(games, 2, pool.share),
        "ThreadPoolExecutor, 2 slices": Sliced(games, 2, plain),
        "ThreadPoolExecutor, 8 slices": Sliced(games, 8, plain),
    }
    for way in [*ways.values()] * WARM_UP:
        way.step(way.choose())
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for number in range(windows):
        for name in list(ways)[:: -1 if number % 2 else 1]:
            found[name].append(window(ways[name], seconds))
    executor.shutdown()
    return [row_of(games, name, found) for name in ways]


def window(way: Any, seconds: float) -> tuple[float, float]:
    """Return the decisions per second, and the ns of CPU time per decision of all threads."""
    spent = used = 0.0
    decisions = 0
    while spent < seconds:
        actions = way.choose()
        start, begun = time.perf_counter(), time.process_time()
        decisions += way.step(actions)
        used += time.process_time() - begun
        spent += time.perf_counter() - start
    return decisions / spent, 1e9 * used / decisions


def row_of(games: int, name: str, found: dict[str, list[tuple[float, float]]]) -> tuple[str, ...]:
    """Return the cells of one way."""
    best = {way: max(rate for rate, _ in windows) for way, windows in found.items()}
    ratios = [own[0] / one[0] for own, one in zip(found[name], found[ONE], strict=True)]
    gain = (best[name] / best[ONE] - 1) / (best[SPIN] / best[ONE] - 1)
    return (
        *(f"{games:,}", name, f"{best[name]:,.0f}", f"{best[name] / best[ONE]:.2f}", f"{gain:.0%}"),
        *(f"{median(ratios):.2f}", f"{min(used for _, used in found[name]):,.0f}"),
    )


if __name__ == "__main__":
    main()
