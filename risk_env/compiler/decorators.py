"""Decorators for compiled functions."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from risk_env.compiler.cache import cache_directory
from risk_env.compiler.garbage import collect_rarely
from risk_env.compiler.kernel_files import guard
from risk_env.compiler.mode import PLAIN, numba_setting
from risk_env.compiler.notice import report_compiling

if not PLAIN:
    from risk_env.compiler import pipeline

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a helper that only kernels call. LLVM decides whether to inline the helper."""
    options = {} if PLAIN else pipeline.helper_options(function.__module__)
    return numba.njit(**_OPTIONS, **options)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small helper that is always inlined.

    Inlining saves the time to pass array arguments, which consist of at least seven words each.
    """
    options = {} if PLAIN else pipeline.helper_options(function.__module__) | {"forceinline": True}
    return numba.njit(**_OPTIONS, **options)(function)


def entry_point(function: Callable[..., Any]) -> Any:
    """Compile a kernel that Python code calls.

    The machine code, with all helpers, is cached on disk if there is a usable cache folder.
    """
    return _cached(function, {} if PLAIN else pipeline.entry_options(function.__module__))


def vectorized_entry_point(function: Callable[..., Any]) -> Any:
    """Compile an entry point with vectorized loops.

    Use this decorator for entry points that spend their time in long loops over similar elements.
    """
    return _cached(function, {} if PLAIN else pipeline.entry_options(function.__module__, vectorized=True))


def unordered_entry_point(function: Callable[..., Any]) -> Any:
    """Compile a vectorized entry point that may add up floats in any order.

    The results are bit-identical on one machine only.
    """
    options = {} if PLAIN else pipeline.entry_options(function.__module__, vectorized=True)
    return _cached(function, options | {"fastmath": {"reassoc", "contract", "nsz"}})


def brief_entry_point(function: Callable[..., Any]) -> Any:
    """Compile a vectorized entry point whose calls take about a microsecond.

    The entry point keeps the GIL, because releasing the GIL would take longer than the call.
    """
    options = {} if PLAIN else pipeline.entry_options(function.__module__, vectorized=True)
    return _cached(function, options | {"nogil": False})


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    folder = Path(sys.modules[function.__module__].__file__ or __file__).parent
    directory = cache_directory(folder, function.__module__)
    if directory is None:
        entry = numba.njit(**_OPTIONS | options)(function)
    else:
        with numba_setting("CACHE_DIR", directory):
            entry = numba.njit(**_OPTIONS | options, cache=True)(function)
        guard(entry)
    report_compiling(entry, directory)
    collect_rarely(entry)
    return entry
