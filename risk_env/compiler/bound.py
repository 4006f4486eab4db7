"""Entry points that are called many times with arguments of the same types."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal

import numba
import numpy as np
from numba.extending import is_jitted

from risk_env.compiler.mode import PLAIN


def compiled_for(entry: Any, *arguments: Any) -> Callable[..., Any]:
    """Return the machine code of an entry point for the types of `arguments`.

    A call of the machine code skips Numba's look-up of types, which takes longer than a step of a game. Call
    the machine code only with arguments of the same types. With the JIT disabled, and in plain mode
    (`mode.PLAIN`), the result is `entry` itself.
    """
    return entry.compile(tuple(map(type_of, arguments))) if is_jitted(entry) and not PLAIN else entry


def type_of(argument: Any) -> Any:
    """Return Numba's type of an argument.

    Numba takes a millisecond to find the type of a record, so this type is cached.
    """
    if isinstance(argument, tuple):
        return numba.types.BaseTuple.from_types([type_of(part) for part in argument], type(argument))
    if type(argument) is not np.ndarray or argument.dtype.names is None:
        return numba.typeof(argument)
    flags = argument.flags
    layout: Literal["C", "F", "A"] = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return numba.types.Array(
        _record_type(argument.dtype), argument.ndim, layout, readonly=not flags.writeable
    )


@lru_cache(maxsize=128)
def _record_type(dtype: np.dtype[Any]) -> Any:
    return numba.typeof(np.zeros(0, dtype)).dtype


class BoundKernel:
    """An entry point whose first arguments, `given`, are fixed.

    The first call fixes the types of the other arguments. Later calls use the machine code directly
    (`compiled_for`) and do not check types. The caller must always pass the same types: an array of another
    dtype, number of dimensions or memory layout would be misread.
    """

    def __init__(self, entry: Any, *given: Any) -> None:
        self._entry, self._given = entry, given
        self._call: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundKernel, (self._entry, *self._given)  # machine code cannot be pickled

    def __call__(self, *others: Any) -> Any:
        """Return the result of the entry point for `given` followed by `others`."""
        if self._call is None:
            self._call = partial(compiled_for(self._entry, *self._given, *others), *self._given)
        return self._call(*others)
