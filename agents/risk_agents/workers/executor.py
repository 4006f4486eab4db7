"""Base class of executors, time limits of pieces of work, and results in the order of the pieces."""

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

# Maximum number of retries of a piece whose process or machine was lost or hung. The number is limited,
# because a piece may crash its own process.
RETRIES = 3
PULSE = 0.25  # time between two checks of the number of workers, in seconds
LEAST_LIMIT = 300.0  # minimum of the default time limit, in seconds; the first pieces include compilation
LONGER = 20  # ratio of the default time limit to the time of the longest piece so far


def in_order(
    executor: WorkExecutor, function: Callable[..., Any], pieces: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield `function(*piece)` for each piece, in order.

    At most twice as many pieces are submitted at a time as the executor can run at once.
    """
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
    """Submitted pieces of work, at most twice as many as an executor can run at once.

    The overhead per piece does not depend on the number of pieces.
    """

    def __init__(self, executor: Executor, size: Callable[[], int]) -> None:
        self.running = 0
        self._executor, self._size = executor, size
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self.workers, self._measured = 0, -math.inf  # last result of `size`, and its time

    def has_room(self) -> bool:
        """Return True if another piece can be submitted; the executor's size is read once per PULSE."""
        if time.monotonic() - self._measured > PULSE:
            self.workers, self._measured = self._size(), time.monotonic()
        return self.running < 2 * self.workers

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Submit a piece of work to the executor, and return its future."""
        future = self._executor.submit(function, *args)
        self.running += 1
        future.add_done_callback(self._ended.put)
        return future

    def ended(self) -> list[Future[Any]]:
        """Return the futures that have ended since the last call; wait up to PULSE seconds for the first."""
        ended = []
        with suppress(Empty):
            ended.append(self._ended.get(timeout=PULSE))
            while True:
                ended.append(self._ended.get_nowait())
        self.running -= len(ended)
        return ended


class Limits:
    """Time limits of pieces of work.

    A piece that takes longer than its time limit is assumed to hang, and starts again elsewhere. If `limit`
    is None, the time limit is LONGER times the time of the longest earlier piece of the same function. This
    time limit is at least `least` seconds, and does not apply until a piece of the function has ended. Raises
    ValueError unless `limit` is None or a finite number of seconds above 0.
    """

    def __init__(self, limit: float | None = None) -> None:
        if limit is not None and not 0 < limit < math.inf:
            raise ValueError(f"limit={limit!r}: must be a finite number of seconds above 0")
        self.limit, self.least = limit, LEAST_LIMIT
        self._longest: dict[Callable[..., Any], float] = {}

    def of(self, function: Callable[..., Any]) -> float:
        """Return the time limit for a call of `function`, in seconds."""
        if self.limit is not None:
            return self.limit
        return max(self.least, LONGER * self._longest.get(function, math.inf))

    def shortest(self) -> float:
        """Return the shortest possible limit, in seconds."""
        return self.limit or self.least

    def ended(self, function: Callable[..., Any], seconds: float) -> None:
        """Record that a call of `function` has taken `seconds`."""
        self._longest[function] = max(seconds, self._longest.get(function, 0.0))


def say_again(why: str) -> None:
    """Print `why`, the reason why a piece of work starts again, to standard error."""
    with suppress(OSError):  # standard error may be closed
        print(f"{why}; its work begins again elsewhere", file=sys.stderr)


class WorkLostError(RuntimeError):
    """Error for a piece of work that was given up, because its worker was lost or hung too many times."""

    def __init__(self, tries: int) -> None:
        super().__init__(
            f"a chunk of work failed {tries} times: its worker died, or exceeded the time limit "
            "(--chunk-limit)"
        )


class WorkExecutor(Executor, ABC):
    """Executor that has a size, and shares values among pieces of work."""

    @abstractmethod
    def size(self) -> int:
        """Return the number of pieces of work that can currently run at once."""

    def share(self, value: Any) -> Any:
        """Return `value`, or a placeholder that `submit` accepts in its place.

        With Ray, the value is sent only once to each machine.
        """
        return value

    def allow(self, seconds: float) -> None:
        """Raise the minimum of the default time limits to `seconds` if the minimum is lower.

        An executor without time limits does nothing.
        """

    def submit_after(
        self, before: Any, function: Callable[..., Any], /, *args: Any
    ) -> Future[tuple[Any, Any]]:
        """Submit one link of a chain of work: `function(state, *args)` returns a result and a new state.

        `before` is the first state, or the future that this method returned for the previous link. The
        previous link may still be running. If the previous link fails, this link also fails.
        """
        if not isinstance(before, Future):
            return self.submit(function, before, *args)
        link = Future[tuple[Any, Any]]()
        before.add_done_callback(partial(self._follow, link, function, args))
        return link

    def _follow(
        self, link: Future[Any], function: Callable[..., Any], args: tuple[Any, ...], before: Future[Any]
    ) -> None:
        """Submit a link when the previous link has ended."""
        if before.cancelled() or before.exception():
            _end_alike(link, before)
            return
        try:
            self.submit(function, before.result()[1], *args).add_done_callback(partial(_end_alike, link))
        except Exception as error:  # for example, this executor has been shut down
            link.set_exception(error)


def _end_alike(future: Future[Any], ended: Future[Any]) -> None:
    """Copy the outcome of the future `ended` to another future."""
    if ended.cancelled():
        future.cancel()
    elif error := ended.exception():
        future.set_exception(error)
    else:
        future.set_result(ended.result())


class InProcess(WorkExecutor):
    """Executor that runs each piece of work in this process when it is submitted."""

    def size(self) -> int:
        """Return 1, because this process runs one piece of work at a time."""
        return 1

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function now, and return a future that has ended."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
