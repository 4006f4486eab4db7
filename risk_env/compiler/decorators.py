"""The decorators of compiled functions."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler import CompilerBase

from risk_env.compiler.cache import cache_directory
from risk_env.compiler.mode import is_core, numba_setting
from risk_env.compiler.pipeline import EntryCompiler, HelperCompiler, VectorizedCompiler

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": HelperCompiler}  # compiled faster


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    """What all compiled functions have in common; the core makes no arrays, so it does not count who holds one.

    A count is a locked instruction, and every row of an array that is handed on is counted twice.
    """
    return {**_OPTIONS, "_nrt": not is_core(function.__module__)}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a helper of the core: inlined into what calls it only if the compiler thinks it pays."""
    return numba.njit(**_options(function), **_INTERNAL)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small helper that is always inlined: arrays handed to it cost nothing (an array is seven words)."""
    return numba.njit(**_options(function), **_INTERNAL, forceinline=True)(function)


def entry_point(function: Callable[..., Any]) -> Any:
    """Compile a kernel that Python calls; its machine code, helpers included, is kept on disk between runs."""
    return _kept(function, EntryCompiler)


def vectorized_entry_point(function: Callable[..., Any]) -> Any:
    """The same for a kernel whose time goes into long loops that do the like for every element."""
    return _kept(function, VectorizedCompiler)


def brief_entry_point(function: Callable[..., Any]) -> Any:
    """A vectorized entry point that is done in about a microsecond: to let other threads run would take longer."""
    return _kept(function, VectorizedCompiler, nogil=False)


def _kept(function: Callable[..., Any], compiler: type[CompilerBase], **options: Any) -> Any:
    folder = Path(sys.modules[function.__module__].__file__ or __file__).parent
    directory = cache_directory(folder, function.__module__)
    if directory is None:
        return numba.njit(**_options(function) | options, pipeline_class=compiler)(function)
    with numba_setting("CACHE_DIR", directory):
        return numba.njit(**_options(function) | options, pipeline_class=compiler, cache=True)(function)
