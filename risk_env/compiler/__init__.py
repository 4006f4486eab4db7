"""Decorators for compiled functions, the cache of compiled code, and all uses of Numba's internals.

`core`, `engine` and compiled bots use the names below. No code outside this package imports Numba's private
modules or llvmlite. In plain mode this package does not import these modules either. Plain mode is used with
untested versions of Numba, or with RISK_ENV_PLAIN_NUMBA=1 (`mode`).
"""

from risk_env.compiler.bound import BoundKernel, compiled_for
from risk_env.compiler.cache import cache_root
from risk_env.compiler.decorators import (
    brief_entry_point,
    entry_point,
    inlined,
    kernel,
    unordered_entry_point,
    vectorized_entry_point,
)
from risk_env.compiler.intrinsics import in_memory, in_vectors
from risk_env.compiler.kernel_files import lacks_code
from risk_env.compiler.mode import BOUNDS_CHECKED, JIT_DISABLED, PLAIN

__all__ = [
    "BOUNDS_CHECKED",
    "JIT_DISABLED",
    "PLAIN",
    "BoundKernel",
    "brief_entry_point",
    "cache_root",
    "compiled_for",
    "entry_point",
    "in_memory",
    "in_vectors",
    "inlined",
    "kernel",
    "lacks_code",
    "unordered_entry_point",
    "vectorized_entry_point",
]
