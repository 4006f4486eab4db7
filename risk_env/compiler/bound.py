"""Entry points called again and again with arguments of the same types."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba.core import dispatcher


def direct(entry: Any, *arguments: Any) -> Callable[..., Any]:
    """An entry point's machine code for arguments of these types, and only for such: called without a look at types.

    That look takes longer than a step of a game. A function that is not compiled, as all are with the JIT off, is
    returned as it is.
    """
    return entry.compile(tuple(map(numba.typeof, arguments))) if isinstance(entry, dispatcher.Dispatcher) else entry


class BoundKernel:
    """An entry point called again and again with the same first arguments, `given`, and others of the same types.

    The first call says which types; from then on it is called `direct`ly. Arrays of another type, of other dimensions
    or no longer in one piece would be read as if they were as before: who prepares a call sees to that.
    """

    def __init__(self, entry: Any, *given: Any) -> None:
        self._entry, self._given = entry, given
        self._call: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundKernel, (self._entry, *self._given)  # machine code stays behind

    def __call__(self, *others: Any) -> Any:
        """The entry point's result for the given and these arguments."""
        if self._call is None:
            self._call = partial(direct(self._entry, *self._given, *others), *self._given)
        return self._call(*others)
