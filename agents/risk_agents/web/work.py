"""Run slow work in threads instead of on the event loop, and refuse work if too many jobs run or wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from risk_agents.web.browser_request import Refused


class Busy(Refused):
    """Error for a request that can be repeated later: too many jobs run or wait now."""


class BoundedThreads:
    """Threads that accept at most `most` jobs at a time, including jobs that wait for a thread."""

    def __init__(self, threads: int, most: int) -> None:
        self._threads, self._most, self._doing = ThreadPoolExecutor(threads), most, 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread and return its result; raise Busy if `most` jobs run or wait."""
        if self._doing >= self._most:
            raise Busy("the server is busy: try again soon")
        self._doing += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        finally:
            self._doing -= 1

    def close(self) -> None:
        """Accept no more jobs, and cancel the jobs that wait for a thread."""
        self._threads.shutdown(wait=False, cancel_futures=True)
