"""Threads that share the elements of a kernel's work, steal from one another, and wait in spin loops.

A sleeping thread takes tens of microseconds to wake, as long as half a step of a thousand games. The helpers
of a batch (`thread_pool`) therefore stay in the kernel for a while after a step. They read the next call from
memory in a spin loop. The work has two stages. Each element is checked first. The second stage begins when
all are checked and none failed.

`signals` int64 (threads, 8) has a row, a cache line, for each thread: its state, whether it was asleep when
it was called, and the next element of its part in each stage. The last row is the caller's. It also holds the
number of checked elements, and whether one failed. `bounds` int64 (threads + 1,) holds the limits of the
parts.

A thread that has finished its own part steals from the other parts. No thread waits for a slow thread.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.compiler import entry_point, in_memory, inlined
from risk_env.engine.prefetch import LINE

# columns; NEXT of the first stage, followed by NEXT of the second
STATE, SLEPT, CHECKED, FAILED, NEXT = range(5)
FIRST, SECOND = range(2)  # stages

ASLEEP = 0  # not in the kernel, or about to leave it
READY = 1  # waiting in the kernel for a call, or about to
CALLED = 2
WORKING = 3
LEAVE = 4  # the helper has to go to sleep

CLOSED = -(2**62)  # far below any number of checked elements

ALONE = -1  # in place of a thread's number: the work is not shared


class Sharing(NamedTuple):
    """A thread's share of a kernel's work."""

    signals: npt.NDArray[np.int64]  # (threads, 8)
    bounds: npt.NDArray[np.int64]  # (threads + 1,)
    thread: int  # number of the thread, the last for the caller; or ALONE
    patience: int  # turns of a spin loop before the thread gives up


def new_signals(threads: int) -> Any:
    """Return the signals of these threads, all asleep."""
    return np.full((threads, LINE // 8), ASLEEP, np.int64)


NOT_SHARED = Sharing(new_signals(1), np.zeros(2, np.int64), ALONE, 0)


@entry_point
def call_all(signals, bounds):
    """Call all helpers to work on the parts, and return True if any was asleep.

    The pool has to send a sleeping helper into the kernel.
    """
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
    """Wait until no helper is working, for at most `patience` turns, and return True if none is.

    Call this when all elements are taken. A helper that has not begun yet is no longer called.
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
    """Wait, as a helper, for the next call, and return True if one came within `share.patience` turns."""
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
    """Return True if this thread called the others."""
    return share.thread == len(share.signals) - 1


@inlined
def become_ready(share):
    """Mark a helper as ready: all elements are taken, and its own are finished."""
    exchange(share.signals, share.thread, STATE, READY)


@inlined
def take(share, stage, size):
    """Take the next `size` elements of a stage, from the thread's own part or from another part.

    Returns the bounds of the elements, which are equal if none is left.
    """
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
    """Report that `size` elements of the first stage are checked, and whether one of them failed."""
    signals = share.signals
    if failed:
        exchange(signals, len(signals) - 1, FAILED, 1)
    fetch_add(signals, len(signals) - 1, CHECKED, size)


@inlined
def all_are_checked(share, size):
    """Return True if all `size` elements are checked within `share.patience` turns.

    Returns False if the caller closes the stage before that.
    """
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
    """Stop waiting for the checks, as the caller, and return True if all are done.

    If they are not all done, no helper begins the second stage.
    """
    signals = share.signals
    return exchange(signals, len(signals) - 1, CHECKED, CLOSED) == size


@inlined
def one_failed(share):
    """Return True if a check failed. This is known when all checks are done."""
    signals = share.signals
    return load(signals, len(signals) - 1, FAILED) != 0


# The plain forms below are correct for one thread only. No work is shared when they run
# (`ThreadPool.repeat`).


@in_memory("exchange")
def exchange(signals, row, column, value):
    """Write a number atomically, and return the number before."""
    before = signals[row, column]
    signals[row, column] = value
    return before


@in_memory("fetch_add")
def fetch_add(signals, row, column, value):
    """Add to a number atomically, and return the number before."""
    before = signals[row, column]
    signals[row, column] += value
    return before


@in_memory("compare_exchange")
def compare_exchange(signals, row, column, value, other):
    """Replace `value` by `other` atomically, and return True if the number was `value`."""
    was = signals[row, column] == value
    if was:
        signals[row, column] = other
    return was


@in_memory("load")
def load(signals, row, column):
    """Read a number. All writes before the number was written are then visible."""
    return signals[row, column]


@in_memory("pause")
def pause():
    """Let the processor's other hardware thread run for a moment."""
