"""Prefetching: bring rows of arrays into the processor's caches before they are needed.

A step works through a batch row by row. A small batch stays in the caches from one step to the next. The rows
of a larger batch come from memory. In a batch that threads share, a row may come from another processor,
whose thread read it to choose an action. Prefetching the next row while one is worked on hides most of that
wait.
"""

from risk_env.compiler import in_memory, inlined

LINE = 64  # bytes of a cache line
NEAR_ROWS = 2048  # roughly the number of games, with their observations, that fit into the caches


@in_memory("prefetch")
def _fetch_line(rows, index, first):
    """Prefetch the cache line of byte `first` of a row, without waiting for it."""


@inlined
def fetch(rows, index):
    """Prefetch a row, an element of the first axis. The row may be beyond the end."""
    for first in range(0, rows.strides[0], LINE):
        _fetch_line(rows, index, first)
