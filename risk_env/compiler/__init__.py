"""The decorators of compiled functions, their cache, and all that knows Numba's insides.

`core`, `engine` and compiled bots use the names below; nothing outside this package touches Numba's private classes.
"""

from risk_env.compiler.bound import BoundKernel, direct
from risk_env.compiler.decorators import (
    brief_entry_point,
    entry_point,
    inlined,
    kernel,
    vectorized_entry_point,
)
from risk_env.compiler.mode import BOUNDS_CHECKED, JIT_DISABLED

__all__ = [
    "BOUNDS_CHECKED",
    "JIT_DISABLED",
    "BoundKernel",
    "brief_entry_point",
    "direct",
    "entry_point",
    "inlined",
    "kernel",
    "vectorized_entry_point",
]
