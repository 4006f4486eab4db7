"""Prefetching: rows of arrays are brought into the processor's caches before they are worked on.

A step works through a batch row by row. A small batch stays in the caches from one step to the next. The rows of a
larger one come from memory, and a row of a batch that threads share may come from another processor, whose thread read
it to choose an action. Asking for the next row while one is worked on hides most of that wait.
"""

from risk_env.compiler import in_memory, inlined

LINE = 64  # bytes of a cache line
NEAR_ROWS = 2048  # about as many games with their observations as fit into the caches


@in_memory("prefetch")
def _fetch_line(rows, index, first):
    """Ask for the cache line of byte `first` of a row; nothing waits for it."""


@inlined
def fetch(rows, index):
    """Ask for a row, an element of the first axis; it may be beyond the end."""
    for first in range(0, rows.strides[0], LINE):
        _fetch_line(rows, index, first)
