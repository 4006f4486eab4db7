"""Threads that share work of a few hundred microseconds.

A `concurrent.futures` pool takes about 60 µs to hand out such work and to hear that it is done, a quarter of what two
threads save on a step of a thousand games. Threads that wait at locks of their own take less than half of that, and
those that stay awake between two calls of a kernel (`Crew.repeat`) about one µs.
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
import numpy.typing as npt

from risk_env.compiler import JIT_DISABLED
from risk_env.engine.prefetch import LINE
from risk_env.engine.signals import ALONE, ASLEEP, SLEPT, STATE, WORKING, call_all, send_away, wait_for_all

Array = npt.NDArray[np.int64]

AWAKE_FOR = 200e-6  # seconds that a helper waits for the next call before it sleeps, and all for the first stage's end
AWAKE_FOR_EACH = 50e-9  # and for each element, where that is more: about as long as the work itself took
NAP = 20e-6  # seconds between looks at helpers that take longer
NOTHING: tuple[Any, int] = (None, 0)  # that is repeated
_TRIED_LOOKS = 1000


def new_signals(threads: int) -> Array:
    """The signals of so many threads, all asleep (`core.signals`)."""
    return np.full((threads, LINE // 8), ASLEEP, np.int64)


NO_OTHERS = (new_signals(1), np.zeros(2, np.int64), ALONE, 0)  # what a kernel takes that shares its work with nobody


class Crew:
    """`size` threads, the caller's among them; the others end when the crew is no longer used."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._hire()

    def _hire(self) -> None:
        self._process = os.getpid()
        self._helpers = [_Helper() for _ in range(self._size - 1)]
        self._signals = new_signals(self._size)
        self._bounds = np.zeros(self._size + 1, np.int64)
        self._repeated = NOTHING  # the work, and its size, that helpers wait for to be called again
        self._patience = 0  # looks for which one waits for another in it
        self._is_amid = False  # whether a repetition has begun and not been seen to end
        weakref.finalize(self, _dismiss, self._helpers)

    def share(self, work: Callable[..., None], parts: Sequence[Any], *arguments: Any) -> None:
        """Do `work(part, *arguments)` for each of at most `size` parts, the first in the caller's thread.

        All have ended when this returns; what one of them raised is raised here.
        """
        self._make_ready(NOTHING)
        busy = list(zip(self._helpers[: len(parts) - 1], parts[1:], strict=True))
        for helper, part in busy:
            helper.begin(partial(work, part, *arguments))
        try:
            work(parts[0], *arguments)
        finally:
            errors = [helper.finish() for helper, _ in busy]
        _raise_first(errors)

    def repeat(self, work: Callable[..., Any], size: int) -> Any:
        """Do a kernel's work on elements 0 ... `size` - 1, that is called again and again (`core.signals`).

        `work(signals, bounds, thread, patience)` calls the kernel; what it returns to the caller is returned. Helpers
        stay awake in it for a while, and go on as they were called first until `work` is another object or `size`
        another number.
        """
        if JIT_DISABLED:  # Python's threads take turns anyway
            return work(*NO_OTHERS)
        self._make_ready((work, size))
        self._is_amid = True
        try:
            if call_all(self._signals, self._bounds):
                for number, helper in enumerate(self._helpers):
                    if self._signals[number, SLEPT]:
                        helper.begin(partial(_serve, work, self._signals, self._bounds, number, self._patience))
            result = work(self._signals, self._bounds, len(self._helpers), self._patience)
        finally:
            errors = self._errors_at_end()
        _raise_first(errors)
        return result

    def _make_ready(self, repeated: tuple[Any, int]) -> None:
        """See to it that helpers are there, not at work, and wait for nothing else to be repeated."""
        if self._process != os.getpid():  # forked: threads stay behind
            self._hire()
        if self._is_amid:  # an interrupt came while they were called or waited for
            self._errors_at_end()
        if repeated != self._repeated:
            for number, helper in enumerate(self._helpers):
                send_away(self._signals, number)
                helper.finish()
            self._signals[:, STATE] = ASLEEP
            self._bounds = np.linspace(0, repeated[1], self._size + 1).astype(np.int64)
            self._patience = looks_while_awake(repeated[1])
            self._repeated = repeated

    def _errors_at_end(self) -> list[BaseException | None]:
        """Wait until nobody is at work; what those raised that have left the kernel."""
        while not wait_for_all(self._signals, self._patience):
            time.sleep(NAP)
        errors = []
        for number, helper in enumerate(self._helpers):
            if not helper.is_awaited:  # an interrupt came before it could begin
                self._signals[number, STATE] = ASLEEP
            elif self._signals[number, STATE] == ASLEEP:
                errors.append(helper.finish())
        self._is_amid = False
        return errors


class _Helper:
    """A thread that does one piece of work after another, and keeps nothing of it while it waits."""

    def __init__(self) -> None:
        self._wanted, self._done = Lock(), Lock()
        self._wanted.acquire()
        self._done.acquire()
        self.is_awaited = self._is_dismissed = False
        self._work: Callable[[], None] | None = None
        self._error: BaseException | None = None
        Thread(target=self._serve, daemon=True, name="risk_env crew").start()

    def begin(self, work: Callable[[], None]) -> None:
        """Have it begin; an earlier piece whose end was not waited for, because of an interrupt, ends first."""
        self.finish()
        self.is_awaited = True
        self._work = work
        self._wanted.release()

    def finish(self) -> BaseException | None:
        """Wait for the end of its work, if it has any; what that raised."""
        if self.is_awaited:
            self._done.acquire()
            self.is_awaited = False
        error, self._error = self._error, None
        return error

    def dismiss(self) -> None:
        """Let the thread end."""
        self._is_dismissed = True
        if self._wanted.locked():  # else it is about to begin, and will see
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


def _serve(work: Callable[..., Any], signals: Array, bounds: Array, number: int, patience: int) -> None:
    """A helper's part of what is repeated, until no call comes for a while; what it raises leaves it asleep."""
    try:
        work(signals, bounds, number, patience)
    except BaseException:
        signals[number, STATE] = ASLEEP
        raise


def looks_while_awake(size: int) -> int:
    """How many looks at a signal are taken before one sleeps, or waits no longer, in work on so many elements."""
    return max(1, round(max(AWAKE_FOR, AWAKE_FOR_EACH * size) * looks_in_a_second()))


@cache
def looks_in_a_second() -> float:
    """How many looks at a signal one second holds."""
    signals = new_signals(2)
    signals[0, STATE] = WORKING
    took = []
    for _ in range(5):
        start = time.perf_counter()
        wait_for_all(signals, _TRIED_LOOKS)
        took.append(time.perf_counter() - start)
    return _TRIED_LOOKS / min(took)


def _raise_first(errors: Sequence[BaseException | None]) -> None:
    for error in filter(None, errors):
        raise error
