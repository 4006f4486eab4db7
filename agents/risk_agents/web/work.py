"""Run slow work in threads instead of on the event loop, and refuse work if too much is waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Refused(ValueError):
    """A request of a browser is not allowed; the message says why."""


class Busy(Refused):
    """A request is refused only for now, because too much is waiting."""


class BoundedThreads:
    """Threads with a limit of `most` jobs at a time, including the jobs that wait for a thread."""

    def __init__(self, threads: int, most: int) -> None:
        self._threads, self._most, self._doing = ThreadPoolExecutor(threads), most, 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread and return its value; raise Busy if too many jobs are waiting."""
        if self._doing >= self._most:
            raise Busy("the server is busy: try again soon")
        self._doing += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        finally:
            self._doing -= 1

    def close(self) -> None:
        """Accept no more jobs."""
        self._threads.shutdown(wait=False, cancel_futures=True)
