"""Rare garbage collections while entry points are compiled.

The compiler makes millions of objects and few reference cycles. With Python's default thresholds, the garbage
collector takes a tenth of the compilation time.
"""

import gc
from typing import Any
from weakref import WeakSet

from numba.core.event import Event, Listener, register

FEW_COLLECTIONS = 100_000  # number of new objects between two garbage collections during a compilation


class _RareCollections(Listener):
    """Listener that raises the first threshold of the garbage collector during compilations.

    Numba compiles in one thread at a time. Numba reports the end of every compilation, even after an error.
    """

    def __init__(self) -> None:
        self.entries: WeakSet[Any] = WeakSet()
        self.running = 0  # number of nested compilations
        self.before = gc.get_threshold()

    def on_start(self, event: Event) -> None:
        """Raise the threshold, unless the program has switched off the collector with a threshold of 0."""
        if event.data["dispatcher"] not in self.entries:
            return
        if self.running == 0:
            self.before = gc.get_threshold()
            if self.before[0]:
                gc.set_threshold(max(FEW_COLLECTIONS, self.before[0]), *self.before[1:])
        self.running += 1

    def on_end(self, event: Event) -> None:
        """Restore the thresholds at the end of the outermost compilation."""
        if event.data["dispatcher"] in self.entries:
            self.running -= 1
            if self.running == 0:
                gc.set_threshold(*self.before)


_listener = _RareCollections()
register("numba:compile", _listener)


def collect_rarely(entry: Any) -> None:
    """Collect garbage rarely during later compilations of an entry point."""
    _listener.entries.add(entry)
