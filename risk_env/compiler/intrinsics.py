"""Decorators that replace a helper with LLVM code (`vectors`, `memory`) if the mode allows LLVM code.

The decorated function defines the behaviour of the LLVM code. In all other modes, the decorated function is
used.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from risk_env.compiler.decorators import inlined
from risk_env.compiler.mode import BOUNDS_CHECKED, JIT_DISABLED, PLAIN

Decorator = Callable[[Callable[..., Any]], Any]


def in_vectors(name: str, *constants: int) -> Decorator:
    """Return a decorator that replaces a helper with the intrinsic `name` of `vectors`.

    `constants` are the arguments of the function that returns the intrinsic. With bounds checks the helper is
    kept, because vectors would skip the checks.
    """
    return _replaced(f"{__package__}.vectors", name, constants, not BOUNDS_CHECKED)


def in_memory(name: str) -> Decorator:
    """Return a decorator that replaces a helper with the intrinsic `name` of `memory`."""
    return _replaced(f"{__package__}.memory", name, (), True)


def _replaced(module: str, name: str, constants: tuple[int, ...], is_allowed: bool) -> Decorator:
    if JIT_DISABLED or PLAIN or not is_allowed:
        return inlined
    intrinsic = getattr(import_module(module), name)(*constants)
    return lambda plain: intrinsic
