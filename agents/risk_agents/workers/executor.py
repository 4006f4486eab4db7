"""Executors that say how much they can do at once, and the order in which results come."""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

RETRIES = 3  # of work whose process or machine was lost: what ends its own process must not begin for ever
PULSE = 0.25  # seconds between two looks at who could work now
LEAST_LIMIT = 300.0  # seconds: compiling is a part of the first pieces
LONGER = 20  # than any piece before


def in_order(executor: WorkExecutor, function: Callable[..., Any], pieces: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """`function(*piece)` of each piece, in their order; twice as many are running or waiting as can run at once."""
    following, results, work = iter(pieces), deque[Future[Any]](), WorkInProgress(executor, executor.size)
    while True:
        while work.has_room() and (piece := next(following, None)) is not None:
            results.append(work.submit(function, *piece))
        while results and results[0].done():
            yield results.popleft().result()
        if not work.running:
            return
        work.ended()


class WorkInProgress:
    """Pieces of work that an executor is doing or has waiting: at most twice as many as it can do at once.

    What a piece costs does not depend on how many there are.
    """

    def __init__(self, executor: Executor, size: Callable[[], int]) -> None:
        self.running = 0
        self._executor, self._size = executor, size
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self.workers, self._asked = 0, -math.inf  # what `size` returned, and when

    def has_room(self) -> bool:
        """Whether there is room for another piece; who has joined or left is noticed within a PULSE."""
        if time.monotonic() - self._asked > PULSE:
            self.workers, self._asked = self._size(), time.monotonic()
        return self.running < 2 * self.workers

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Hand a piece to the executor."""
        future = self._executor.submit(function, *args)
        self.running += 1
        future.add_done_callback(self._ended.put)
        return future

    def ended(self) -> list[Future[Any]]:
        """The pieces that have ended since the last call; without any, waits for one, but not longer than a PULSE."""
        found = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=PULSE))
            while True:
                found.append(self._ended.get_nowait())
        self.running -= len(found)
        return found


class Limits:
    """How long a piece of work may take: what takes longer is thought to hang, and begins again elsewhere.

    Without a number of the user's, LONGER times as long as the longest piece of the same function so far, and at least
    `least` seconds; until one has ended there is no limit.
    """

    def __init__(self, limit: float | None = None) -> None:
        if limit is not None and not 0 < limit < math.inf:
            raise ValueError(f"limit={limit!r}: must be a number of seconds above 0")
        self.limit, self.least = limit, LEAST_LIMIT
        self._longest: dict[Callable[..., Any], float] = {}

    def of(self, function: Callable[..., Any]) -> float:
        """Seconds for a piece of work of this function."""
        if self.limit is not None:
            return self.limit
        return max(self.least, LONGER * self._longest.get(function, math.inf))

    def shortest(self) -> float:
        """The shortest limit that there can be."""
        return self.limit or self.least

    def ended(self, function: Callable[..., Any], seconds: float) -> None:
        """A piece of work of this function has taken that long."""
        self._longest[function] = max(seconds, self._longest.get(function, 0.0))


def say_again(why: str) -> None:
    """Say in a line that work begins again."""
    with suppress(OSError):  # nobody reads any more
        print(f"{why}; its work begins again elsewhere", file=sys.stderr)


class WorkLostError(RuntimeError):
    """A piece of work whose worker was lost, or hung, again and again."""

    def __init__(self, tries: int) -> None:
        super().__init__(f"the same work ended the process of a worker, or took too long there, {tries} times")


class WorkExecutor(Executor, ABC):
    """An executor that says how much it can do, and takes what many pieces of work need."""

    @abstractmethod
    def size(self) -> int:
        """How many pieces of work can run at once now."""

    def share(self, value: Any) -> Any:
        """What stands for the value among the arguments of `submit`: Ray sends it to each machine once."""
        return value

    def allow(self, seconds: float) -> None:
        """Let every piece of work take at least that long, where the user sets no limit."""

    def submit_after(self, before: Any, function: Callable[..., Any], /, *args: Any) -> Future[tuple[Any, Any]]:
        """Call `function(state, *args)`, which returns a result and the next state: a link of a chain of work.

        `before` is the first state, or what this method returned for the link before, which may be running: if that
        fails, so does this one.
        """
        if not isinstance(before, Future):
            return self.submit(function, before, *args)
        link = Future[tuple[Any, Any]]()
        before.add_done_callback(partial(self._follow, link, function, args))
        return link

    def _follow(
        self, link: Future[Any], function: Callable[..., Any], args: tuple[Any, ...], before: Future[Any]
    ) -> None:
        """The link before has ended."""
        if before.cancelled() or before.exception():
            _end_alike(link, before)
            return
        try:
            self.submit(function, before.result()[1], *args).add_done_callback(partial(_end_alike, link))
        except Exception as error:  # such as that this executor has been shut down
            link.set_exception(error)


def _end_alike(future: Future[Any], ended: Future[Any]) -> None:
    """Let a future end as another one has."""
    if ended.cancelled():
        future.cancel()
    elif error := ended.exception():
        future.set_exception(error)
    else:
        future.set_result(ended.result())


class InProcess(WorkExecutor):
    """This process, which does each piece of work when it is submitted."""

    def size(self) -> int:
        """One."""
        return 1

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
