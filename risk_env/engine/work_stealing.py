"""Threads that share the elements of a kernel's work, steal elements, and wait in spin loops.

A sleeping thread takes tens of microseconds to wake: half the time of a step of a thousand games. The helpers
of a batch (`thread_pool`) therefore stay in the kernel for a while after a step. In the kernel, they wait for
the next call in a spin loop, which reads the call from memory.

The work has two stages. The first stage checks all elements. The second stage begins when all elements are
checked and no check has failed.

`signals`, int64 (threads, 8), has one row (a cache line) for each thread. A row contains the state of the
thread, and a flag that is set if the thread was asleep when it was called. The row also contains the next
element of the thread's part in each stage. The last row belongs to the caller. This row also contains the
number of checked elements, and a flag that is set if a check has failed. `bounds`, int64 (threads + 1,),
contains the limits of the parts.

A thread that has finished its own part steals elements from the other parts. A slow thread therefore delays
the other threads only by the elements on which it is working.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.compiler import entry_point, in_memory, inlined
from risk_env.engine.prefetch import LINE

# columns of `signals`; NEXT + FIRST and NEXT + SECOND are the next elements of the two stages
STATE, SLEPT, CHECKED, FAILED, NEXT = range(5)
FIRST, SECOND = range(2)  # stages

ASLEEP = 0  # not in the kernel, or about to leave it
READY = 1  # waiting in the kernel for a call, or about to wait
CALLED = 2
WORKING = 3
LEAVE = 4  # the helper has to go to sleep

CLOSED = -(2**62)  # value of CHECKED after `close_checks`, far below any number of elements

ALONE = -1  # in place of a thread's number: the work is not shared


class Sharing(NamedTuple):
    """A thread's share of a kernel's work."""

    signals: npt.NDArray[np.int64]  # (threads, 8)
    bounds: npt.NDArray[np.int64]  # (threads + 1,)
    thread: int  # number of the thread (the caller has the last number), or ALONE
    patience: int  # number of turns of a spin loop after which the thread gives up


def new_signals(threads: int) -> Any:
    """Return the signals of `threads` sleeping threads."""
    return np.full((threads, LINE // 8), ASLEEP, np.int64)


NOT_SHARED = Sharing(new_signals(1), np.zeros(2, np.int64), ALONE, 0)


@entry_point
def call_all(signals, bounds):
    """Call all helpers to work on the parts, and return True if any helper was asleep.

    The pool must then start the kernel in each helper that was asleep.
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
    """Wait until no helper is working, or for `patience` iterations. Return True if no helper is working.

    Call this kernel when all elements are taken. A helper that has not begun to work is no longer called.
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
    """Wait for a call of this helper. Return True if a call comes within `share.patience` iterations."""
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
    """Return True if this thread is the caller, not a helper."""
    return share.thread == len(share.signals) - 1


@inlined
def become_ready(share):
    """Mark this helper as ready, after all elements are taken and the helper's elements are finished."""
    exchange(share.signals, share.thread, STATE, READY)


@inlined
def take(share, stage, size):
    """Take the next `size` elements of a stage, from the thread's own part or from another part.

    Return the first element and the element after the last. The two are equal if no element is left.
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
    """Report that `size` elements of the first stage are checked, and whether a check failed."""
    signals = share.signals
    if failed:
        exchange(signals, len(signals) - 1, FAILED, 1)
    fetch_add(signals, len(signals) - 1, CHECKED, size)


@inlined
def all_are_checked(share, size):
    """Return True if all `size` elements are checked within `share.patience` iterations.

    Return False earlier if the caller closes the stage.
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
    """Close the first stage in the caller's thread, and return True if all checks are done.

    If a check is missing, no helper begins the second stage.
    """
    signals = share.signals
    return exchange(signals, len(signals) - 1, CHECKED, CLOSED) == size


@inlined
def one_failed(share):
    """Return True if a check failed. The result is final when all checks are done."""
    signals = share.signals
    return load(signals, len(signals) - 1, FAILED) != 0


# The plain forms below are correct for one thread only. No work is shared when they run
# (`ThreadPool.repeat`).


@in_memory("exchange")
def exchange(signals, row, column, value):
    """Write a number atomically, and return the previous number."""
    before = signals[row, column]
    signals[row, column] = value
    return before


@in_memory("fetch_add")
def fetch_add(signals, row, column, value):
    """Add `value` to a number atomically, and return the previous number."""
    before = signals[row, column]
    signals[row, column] += value
    return before


@in_memory("compare_exchange")
def compare_exchange(signals, row, column, value, other):
    """Replace `value` with `other` atomically, and return True if the number was `value`."""
    was = signals[row, column] == value
    if was:
        signals[row, column] = other
    return was


@in_memory("load")
def load(signals, row, column):
    """Load a number atomically.

    After the load, all earlier writes of the thread that wrote the number are visible.
    """
    return signals[row, column]


@in_memory("pause")
def pause():
    """Let the processor's other hardware thread run for a moment."""
