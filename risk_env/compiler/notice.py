"""Reports about kernels that are being compiled or cannot be cached.

A compilation takes up to half a minute. Compiled code loads quickly from the cache, without a report. Each
report is a warning of the logger "risk_env", and goes to stderr by default.
`logging.getLogger("risk_env").setLevel("ERROR")` switches the reports off.
"""

import logging
from pathlib import Path
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from numba.core.event import Event, Listener, register

PAUSE = 10.0  # seconds without a compilation after which the next compilation is reported

MOST_LETTERS = 200  # maximum number of characters of a reported error
_reported = set[str]()
_LOGGER = logging.getLogger("risk_env")


class _Notice(Listener):
    """Listener that reports the first of several compilations in a row."""

    def __init__(self) -> None:
        # folder of each entry point; None: no cache
        self.folder_of: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()
        self.last_end = float("-inf")

    def on_start(self, event: Event) -> None:
        """Report that an entry point is about to be compiled, unless another compilation has just ended.

        Other uses of Numba are not reported.
        """
        entry = event.data["dispatcher"]
        if entry in self.folder_of and monotonic() - self.last_end > PAUSE:
            _LOGGER.warning("risk_env: %s", _notice(entry.py_func.__module__, self.folder_of[entry]))
            self.last_end = monotonic()

    def on_end(self, event: Event) -> None:
        """Record the time at which the compilation of an entry point ends."""
        if event.data["dispatcher"] in self.folder_of:
            self.last_end = monotonic()


_listener = _Notice()
register("numba:compile", _listener)


def report_compiling(entry: Any, folder: str | None) -> None:
    """Include an entry point in the reports of later compilations.

    `folder` is the cache folder of the entry point, or None.
    """
    _listener.folder_of[entry] = folder


def report_once(line: str, error: Exception) -> None:
    """Report `line` together with an error of the cache. Each `line` is reported once per process."""
    if line not in _reported:
        _reported.add(line)
        _LOGGER.warning("risk_env: %s (%s: %s)", line, type(error).__name__, str(error)[:MOST_LETTERS])


def _notice(module: str, folder: str | None) -> str:
    kernels = "the rules" if module.startswith("risk_env.") else module
    kept = "not cached" if folder is None else f"cached in {Path(folder).parent}"
    return f"compiling {kernels} for the first use; this can take half a minute ({kept})"
