"""Work that takes longer than the event loop may wait: it is done in threads, and refused when too much is waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Refused(ValueError):
    """What a browser asked for is not allowed; the message says why."""


class BoundedThreads:
    """Threads that do at most `most` things at a time, those that wait for a thread included."""

    def __init__(self, threads: int, most: int) -> None:
        self._threads, self._most, self._doing = ThreadPoolExecutor(threads), most, 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread and return its value; Refused if too much is waiting already."""
        if self._doing >= self._most:
            raise Refused("the server has too much to do at the moment: try again soon")
        self._doing += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        finally:
            self._doing -= 1

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
