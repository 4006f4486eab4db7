"""Prefetching: bring rows of arrays into the processor's caches before they are needed.

A step works through a batch row by row. A small batch stays in the caches from one step to the next. The rows
of a larger batch come from memory. If threads share a batch, a row may come from the cache of another
core, where a thread read the row to choose an action. The kernels prefetch the next row while they work on
the current row, which hides most of the waiting time.
"""

from risk_env.compiler import in_memory, inlined

LINE = 64  # bytes of a cache line
NEAR_ROWS = 2048  # roughly the number of games, with their observations, that fit into the caches


@in_memory("prefetch")
def _fetch_line(rows, index, first):
    """Start to prefetch the cache line of byte `first` of row `index`, without waiting."""


@inlined
def fetch(rows, index):
    """Prefetch row `index`, an element of the first axis. The row may be beyond the end of the array."""
    for first in range(0, rows.strides[0], LINE):
        _fetch_line(rows, index, first)
