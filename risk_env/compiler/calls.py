"""Calls of entry points by address: a kernel can call functions that were unknown when it was compiled.

A kernel that takes functions as arguments is compiled again for every combination of functions, and misses
the cache in every process. An address is a number, so the same compiled kernel can call different entry
points.
"""

import platform
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

from risk_env.compiler.bound import type_of
from risk_env.compiler.decorators import inlined
from risk_env.compiler.mode import JIT_DISABLED, PLAIN

NO_ADDRESS = 0
HAS_ADDRESSES = not JIT_DISABLED and not PLAIN
# processors other than x86-64 do not let programs read the cycle counter
COUNTS_CYCLES = HAS_ADDRESSES and platform.machine().lower() in ("x86_64", "amd64")

if HAS_ADDRESSES:
    from risk_env.compiler.address_code import call_at, cycle_counter
else:

    @inlined
    def call_at(address, arguments):
        """Do nothing, because no entry point has an address."""

    @inlined
    def cycle_counter():
        """Return 0, because cycles are not counted."""
        return np.uint64(0)


def address_of(entry: Any, *arguments: Any) -> int:
    """Return the address of an entry point's machine code for the types of `arguments`.

    The address is valid as long as the entry point exists. The result is NO_ADDRESS with the JIT off, in
    plain mode, for functions that are not compiled, and for functions that return a value.
    """
    if not HAS_ADDRESSES or not is_jitted(entry):
        return NO_ADDRESS
    kinds = tuple(map(type_of, arguments))
    entry.compile(kinds)
    compiled: Any = entry.overloads[kinds]
    if compiled.signature.return_type != numba.types.none:
        return NO_ADDRESS
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


__all__ = ["COUNTS_CYCLES", "HAS_ADDRESSES", "NO_ADDRESS", "address_of", "call_at", "cycle_counter"]
