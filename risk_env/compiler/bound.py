"""Entry points that are called many times with arguments of the same types."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba.extending import is_jitted

from risk_env.compiler.mode import PLAIN


def compiled_for(entry: Any, *arguments: Any) -> Callable[..., Any]:
    """The machine code of an entry point for arguments of these types: calling it skips Numba's look-up of types.

    That look-up takes longer than a step of a game. Call the result with the same types only. A plain function (with
    the JIT disabled) is returned unchanged; in plain mode (`mode.PLAIN`) so is the entry point.
    """
    return entry.compile(tuple(map(numba.typeof, arguments))) if is_jitted(entry) and not PLAIN else entry


class BoundKernel:
    """An entry point with its first arguments, `given`, fixed; the other ones must always have the same types.

    The first call fixes their types, and later calls use the machine code directly (`compiled_for`). Types are not
    checked again: an array of another dtype, number of dimensions or memory layout would be misread. The caller has to
    prevent that.
    """

    def __init__(self, entry: Any, *given: Any) -> None:
        self._entry, self._given = entry, given
        self._call: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundKernel, (self._entry, *self._given)  # machine code cannot be pickled

    def __call__(self, *others: Any) -> Any:
        """The entry point's result for the given and these arguments."""
        if self._call is None:
            self._call = partial(compiled_for(self._entry, *self._given, *others), *self._given)
        return self._call(*others)
