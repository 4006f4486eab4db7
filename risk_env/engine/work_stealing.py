"""Threads that share the elements of a kernel's work, steal from one another, and wait in spin loops.

A sleeping thread takes tens of microseconds to wake, as long as half a step of a thousand games. So the helpers of a
batch (`thread_pool`) stay in the kernel for a while after a step and read the next call from memory in a spin loop.
The work has two stages: each element is checked first; the second stage begins when all are checked and none failed.

`signals` int64 (threads, 8) has a row, a cache line, for each thread: its state, whether it was asleep when it was
called, and the next element of its part in each stage. The last row is the caller's; it also holds how many elements
are checked and whether one failed. `bounds` int64 (threads + 1,) holds the parts' limits.

A thread that has finished its own part steals from the other parts, so nobody waits for a slow thread.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.compiler import entry_point, in_memory, inlined
from risk_env.engine.prefetch import LINE

STATE, SLEPT, CHECKED, FAILED, NEXT = range(5)  # columns; NEXT of the first stage, followed by that of the second
FIRST, SECOND = range(2)  # stages

ASLEEP = 0  # not in the kernel, or about to leave it
READY = 1  # waiting in the kernel for a call, or about to
CALLED = 2
WORKING = 3
LEAVE = 4  # has to go to sleep

CLOSED = -(2**62)  # far below any number of checked elements

ALONE = -1  # in place of a thread's number: the work is not shared


class Sharing(NamedTuple):
    """How a thread shares a kernel's work with others."""

    signals: npt.NDArray[np.int64]  # (threads, 8)
    bounds: npt.NDArray[np.int64]  # (threads + 1,)
    thread: int  # its number, the caller's is the last; or ALONE
    patience: int  # turns of a spin loop before it gives up


def new_signals(threads: int) -> Any:
    """The signals of these threads, all asleep."""
    return np.full((threads, LINE // 8), ASLEEP, np.int64)


NOT_SHARED = Sharing(new_signals(1), np.zeros(2, np.int64), ALONE, 0)


@entry_point
def call_all(signals, bounds):
    """Call all helpers to work on the parts; whether any was asleep: the pool has to send it into the kernel."""
    threads = len(signals)
    for thread in range(threads):
        signals[thread, NEXT + FIRST] = bounds[thread]
        signals[thread, NEXT + SECOND] = bounds[thread]
    signals[threads - 1, CHECKED] = 0
    signals[threads - 1, FAILED] = 0
    slept = False
    for helper in range(threads - 1):
        signals[helper, SLEPT] = exchange(signals, helper, STATE, CALLED) == ASLEEP
        slept |= signals[helper, SLEPT] != 0
    return slept


@entry_point
def wait_for_all(signals, patience):
    """When all elements are taken: wait until no helper is working, for at most `patience` turns; whether none is.

    A helper that has not begun yet is not called any more.
    """
    for helper in range(len(signals) - 1):
        if not compare_exchange(signals, helper, STATE, CALLED, READY):
            while load(signals, helper, STATE) == WORKING:
                if patience == 0:
                    return False
                patience -= 1
                pause()
    return True


@entry_point
def send_to_sleep(signals, helper):
    """Make a helper that is not working leave the kernel."""
    exchange(signals, helper, STATE, LEAVE)


@inlined
def is_called(share):
    """Wait, as a helper, for the next call; whether one came within `share.patience` turns."""
    signals, helper = share.signals, share.thread
    while True:
        for _ in range(share.patience):
            if load(signals, helper, STATE) != READY:
                break
            pause()
        if compare_exchange(signals, helper, STATE, CALLED, WORKING):
            return True
        if compare_exchange(signals, helper, STATE, READY, ASLEEP) or load(signals, helper, STATE) == LEAVE:
            return False


@inlined
def is_caller(share):
    """Whether this thread called the others."""
    return share.thread == len(share.signals) - 1


@inlined
def become_ready(share):
    """A helper has found all elements taken, and finished its own."""
    exchange(share.signals, share.thread, STATE, READY)


@inlined
def take(share, stage, size):
    """The next `size` elements of a stage, from the own part or stolen from another; equal bounds if none is left."""
    signals, bounds = share.signals, share.bounds
    threads = len(signals)
    for after in range(threads):
        part = (share.thread + after) % threads
        if load(signals, part, NEXT + stage) < bounds[part + 1]:
            first = fetch_add(signals, part, NEXT + stage, size)
            if first < bounds[part + 1]:
                return first, min(first + size, bounds[part + 1])
    return bounds[0], bounds[0]


@inlined
def report_checked(share, size, failed):
    """`size` elements of the first stage are checked; whether one of them failed."""
    signals = share.signals
    if failed:
        exchange(signals, len(signals) - 1, FAILED, 1)
    fetch_add(signals, len(signals) - 1, CHECKED, size)


@inlined
def all_are_checked(share, size):
    """Whether all `size` elements are checked within `share.patience` turns, and before the caller closes the stage."""
    signals, patience = share.signals, share.patience
    while True:
        checked = load(signals, len(signals) - 1, CHECKED)
        if checked == size:
            return True
        if checked < 0 or patience == 0:
            return False
        patience -= 1
        pause()


@inlined
def close_checks(share, size):
    """The caller stops waiting for the checks; if they are not all done, no helper begins the second stage."""
    signals = share.signals
    return exchange(signals, len(signals) - 1, CHECKED, CLOSED) == size


@inlined
def one_failed(share):
    """Whether a check failed; known when all are done."""
    signals = share.signals
    return load(signals, len(signals) - 1, FAILED) != 0


# The plain forms below are right for one thread only: where they run, no work is shared (`ThreadPool.repeat`).


@in_memory("exchange")
def exchange(signals, row, column, value):
    """Write a number atomically; the number before."""
    before = signals[row, column]
    signals[row, column] = value
    return before


@in_memory("fetch_add")
def fetch_add(signals, row, column, value):
    """Add to a number atomically; the number before."""
    before = signals[row, column]
    signals[row, column] += value
    return before


@in_memory("compare_exchange")
def compare_exchange(signals, row, column, value, other):
    """Write `other` where `value` is, atomically; whether it was."""
    was = signals[row, column] == value
    if was:
        signals[row, column] = other
    return was


@in_memory("load")
def load(signals, row, column):
    """Read a number, and see all that was written before it."""
    return signals[row, column]


@in_memory("pause")
def pause():
    """Let the processor's other hardware thread run for a moment."""
