"""A thread pool for work of a few hundred microseconds.

A `concurrent.futures` pool takes about 60 µs to hand out such work and wait for the end of the work. With
threads that each wait on their own lock, the overhead is less than 30 µs. With threads that stay in a kernel
between two calls (`ThreadPool.repeat`), the overhead is about 1 µs.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache, partial
from threading import Lock, Thread
from typing import Any

import numpy as np

from risk_env.compiler import JIT_DISABLED, PLAIN
from risk_env.engine.work_stealing import (
    ASLEEP,
    NOT_SHARED,
    SLEPT,
    STATE,
    WORKING,
    Sharing,
    call_all,
    new_signals,
    send_to_sleep,
    wait_for_all,
)

# seconds that a helper spins before it sleeps, and that the caller spins while it waits for checks
SPIN_FOR = 200e-6
# seconds of spinning per element, if the total is above SPIN_FOR: about the time of the work itself
SPIN_FOR_EACH = 50e-9
NAP = 20e-6  # seconds that the caller sleeps between two checks of whether slower helpers have finished
NOTHING: tuple[Any, int] = (None, 0)  # no repeated work
_TRIED_SPINS = 1000


class ThreadPool:
    """A pool of `size` threads, including the caller's thread.

    The other threads end when the pool is garbage-collected.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._helpers = [_Helper() for _ in range(self._size - 1)]
        self._signals = new_signals(self._size)
        self._bounds = np.zeros(self._size + 1, np.int64)
        self._repeated = NOTHING  # the work in which helpers may be waiting, and the number of its elements
        self._shares: list[Sharing] = []  # each thread's share of the repeated work, the caller's share last
        self._is_repeating = False  # true if a repetition has begun and is not known to have ended
        weakref.finalize(self, _dismiss, self._helpers)

    def share(self, work: Callable[..., None], parts: Sequence[Any], *arguments: Any) -> None:
        """Call `work(part, *arguments)` for each of at most `size` parts, the first in the caller's thread.

        Return when all calls have ended. Raise the error of the caller's own call, or else the first error of
        a helper's call.
        """
        self._prepare(NOTHING)
        busy = list(zip(self._helpers[: len(parts) - 1], parts[1:], strict=True))
        for helper, part in busy:
            helper.begin(partial(work, part, *arguments))
        try:
            work(parts[0], *arguments)
        finally:
            errors = [helper.finish() for helper, _ in busy]
        _raise_first(errors)

    def repeat(self, work: Callable[[Sharing], Any], size: int) -> Any:
        """Do a kernel's work on elements 0 ... `size` - 1 in all threads.

        Use this method for calls that are repeated many times. `work` gets the `Sharing` of a thread, and
        calls the kernel (`work_stealing`). The result comes from the caller's thread. Between calls, helpers
        wait in the kernel. Helpers leave the kernel if no call comes for a while, or when `work` or `size`
        changes. All calls with the same `work` and `size` use the arguments of the first call. With the JIT
        disabled or in plain mode, the caller works alone.
        """
        if JIT_DISABLED or PLAIN:
            return work(NOT_SHARED)
        self._prepare((work, size))
        self._is_repeating = True
        try:
            if call_all(self._signals, self._bounds):
                for number, helper in enumerate(self._helpers):
                    if self._signals[number, SLEPT]:
                        helper.begin(partial(_serve, work, self._shares[number]))
            result = work(self._shares[-1])
        finally:
            errors = self._errors_at_end()
        _raise_first(errors)
        return result

    def _prepare(self, repeated: tuple[Any, int]) -> None:
        """Make sure that the helpers exist, and that no helper works or waits in other repeated work."""
        if self._process != os.getpid():  # threads do not survive a fork
            self._start()
        if self._is_repeating:  # an interrupt came while helpers were being called or waited for
            self._errors_at_end()
        if repeated != self._repeated:
            for number, helper in enumerate(self._helpers):
                send_to_sleep(self._signals, number)
                helper.finish()
            self._signals[:, STATE] = ASLEEP
            self._bounds[:] = np.linspace(0, repeated[1], self._size + 1)
            patience = turns_to_spin(repeated[1])
            self._shares = [Sharing(self._signals, self._bounds, k, patience) for k in range(self._size)]
            self._repeated = repeated

    def _errors_at_end(self) -> list[BaseException | None]:
        """Wait until no helper is working, and return the errors of helpers that have left the kernel."""
        while not wait_for_all(self._signals, self._shares[-1].patience):
            time.sleep(NAP)
        errors = []
        for number, helper in enumerate(self._helpers):
            if not helper.is_busy:  # an interrupt came before the helper could begin
                self._signals[number, STATE] = ASLEEP
            elif self._signals[number, STATE] == ASLEEP:
                errors.append(helper.finish())
        self._is_repeating = False
        return errors


class _Helper:
    """A thread that does one job after another.

    A waiting thread keeps no reference to its last job.
    """

    def __init__(self) -> None:
        self._wanted, self._done = Lock(), Lock()
        self._wanted.acquire()
        self._done.acquire()
        self.is_busy = self._is_dismissed = False
        self._work: Callable[[], None] | None = None
        self._error: BaseException | None = None
        Thread(target=self._serve, daemon=True, name="risk_env helper").start()

    def begin(self, work: Callable[[], None]) -> None:
        """Start a job.

        If an interrupt prevented the call of `finish` for an earlier job, wait for the earlier job first.
        """
        self.finish()
        self.is_busy = True
        self._work = work
        self._wanted.release()

    def finish(self) -> BaseException | None:
        """Wait until the helper has no job, and return the error that the last job raised, or None."""
        if self.is_busy:
            self._done.acquire()
            self.is_busy = False
        error, self._error = self._error, None
        return error

    def dismiss(self) -> None:
        """Let the thread end."""
        self._is_dismissed = True
        if self._wanted.locked():  # otherwise the thread is about to begin, and will see the flag
            self._wanted.release()

    def _serve(self) -> None:
        while True:
            self._wanted.acquire()
            if self._is_dismissed or self._work is None:
                return
            try:
                self._work()
            except BaseException as error:
                self._error = error
            self._work = None
            self._done.release()


def _dismiss(helpers: list[_Helper]) -> None:
    for helper in helpers:
        helper.dismiss()


def _serve(work: Callable[[Sharing], Any], share: Sharing) -> None:
    """Do a helper's part of repeated work until no call comes for a while.

    After an error the helper is asleep.
    """
    try:
        work(share)
    except BaseException:
        share.signals[share.thread, STATE] = ASLEEP
        raise


def turns_to_spin(size: int) -> int:
    """Return the number of iterations of a spin loop after which a thread sleeps or stops waiting.

    `size` is the number of elements of the work.
    """
    return max(1, round(max(SPIN_FOR, SPIN_FOR_EACH * size) * turns_per_second()))


@cache
def turns_per_second() -> float:
    """Return the number of iterations of a spin loop per second."""
    signals = new_signals(2)
    signals[0, STATE] = WORKING
    took = []
    for _ in range(5):
        start = time.perf_counter()
        wait_for_all(signals, _TRIED_SPINS)
        took.append(time.perf_counter() - start)
    return _TRIED_SPINS / min(took)


def _raise_first(errors: Sequence[BaseException | None]) -> None:
    for error in filter(None, errors):
        raise error
