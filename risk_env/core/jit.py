"""The one decorator of every compiled function, and where compiled code is kept between runs.

Numba's own cache notices a change in the file of a kernel, not in the files of the kernels it calls. So the folder of
the cache is named by a hash of all sources, of the mode and of the compiler's version: stale code is never found.
"""

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import dispatcher, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering

JIT_DISABLED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
BOUNDS_CHECKED = bool(numba.config.BOUNDSCHECK)  # type: ignore[attr-defined]


class _HelperLibrary(JITCodeLibrary):
    """The code of a helper: optimised and made machine code only as a part of the entry points that use it."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _EntryLibrary(JITCodeLibrary):
    """The code of an entry point and of all its helpers: its own, so what is called once joins its caller."""

    vectorized = 0  # loops over a few words or dice only get slower

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        with _numba_setting("LOOP_VECTORIZE", self.vectorized):
            super()._optimize_final_module()


class _VectorizedLibrary(_EntryLibrary):
    """The same with its loops as vectors: for entry points that do the like for a whole view or mask."""

    vectorized = 1


@register_pass(mutates_CFG=False, analysis_only=False)
class _PlainIndices(AnalysisPass):
    """Before any function of the core is lowered: no index of an array is negative there, so none is looked at.

    To count negative ones from the end, as Python does, takes three instructions an index, a tenth of a step's time.
    With bounds checks a negative index is an error.
    """

    _name = "risk_env_plain_indices"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if not _is_core(state.func_id.modname):
            return False
        for access, signature in list(state.calltypes.items()):
            is_item = isinstance(access, ir.SetItem) or getattr(access, "op", None) == "getitem"
            if is_item and isinstance(signature.args[0], types.Array):
                array, index, *value = signature.args
                del state.calltypes[access]  # it takes no other value for what it has
                state.calltypes[access] = signature.replace(args=(array, _without_sign(index), *value))
        return True


def _without_sign(index: Any) -> Any:
    """The type of an index, or of a tuple of them, as it is without a sign."""
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_without_sign(part) for part in index.types])  # type: ignore[attr-defined]
    return types.uintp if isinstance(index, types.Integer) else index


@register_pass(mutates_CFG=False, analysis_only=True)
class _HelperCode(AnalysisPass):
    """Before a helper is lowered: its code goes into a library of helpers, and no machine code is made."""

    _name = "risk_env_helper_code"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _HelperKnown(AnalysisPass):
    """After it: those that call the helper find its code under a key, as they do where there is machine code."""

    _name = "risk_env_helper_known"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        warning = f"{{{state.func_id.func_name} is a helper, which only compiled code can call}}"
        state.cr = state.cr._replace(cfunc=warning.format)  # Python calls the key: a KeyError that says why
        state.targetctx.insert_user_function(state.cr.cfunc, state.cr.fndesc, [state.library])
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _EntryCode(AnalysisPass):
    """Before an entry point is lowered: its code goes into a library of its own kind."""

    _name = "risk_env_entry_code"
    library: type[JITCodeLibrary] = _EntryLibrary

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _VectorizedCode(_EntryCode):
    """The same for a vectorized entry point."""

    _name = "risk_env_vectorized_code"
    library = _VectorizedLibrary


class _HelperCompiler(CompilerBase):
    """Numba's own pipeline, without machine code for every helper by itself (half of the time otherwise)."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_PlainIndices, AnnotateTypes)
        passes.add_pass_after(_HelperCode, AnnotateTypes)
        passes.add_pass_after(_HelperKnown, NativeLowering)
        passes.finalize()
        return [passes]


class _EntryCompiler(CompilerBase):
    """Numba's own pipeline; helpers of the entry point are known to be called from nowhere else."""

    code = _EntryCode

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_PlainIndices, AnnotateTypes)
        passes.add_pass_after(self.code, AnnotateTypes)
        passes.finalize()
        return [passes]


class _VectorizedCompiler(_EntryCompiler):
    """The same for a vectorized entry point."""

    code = _VectorizedCode


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": _HelperCompiler}  # compiled faster


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    """What all compiled functions have in common; the core makes no arrays, so it does not count who holds one.

    A count is a locked instruction, and every row of an array that is handed on is counted twice.
    """
    return {**_OPTIONS, "_nrt": not _is_core(function.__module__)}


def _is_core(module: str) -> bool:
    """Whether a module is one of this package."""
    return module.startswith(f"{__package__}.")


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a helper of the core: inlined into what calls it only if the compiler thinks it pays."""
    return numba.njit(**_options(function), **_INTERNAL)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small helper that is always inlined: arrays handed to it cost nothing (an array is seven words)."""
    return numba.njit(**_options(function), **_INTERNAL, forceinline=True)(function)


def entry_point(function: Callable[..., Any]) -> Any:
    """Compile a kernel that Python calls; its machine code, helpers included, is kept on disk between runs."""
    return _kept(function, _EntryCompiler)


def vectorized_entry_point(function: Callable[..., Any]) -> Any:
    """The same for a kernel whose time goes into long loops that do the like for every element."""
    return _kept(function, _VectorizedCompiler)


def brief_entry_point(function: Callable[..., Any]) -> Any:
    """A vectorized entry point that is done in about a microsecond: to let other threads run would take longer."""
    return _kept(function, _VectorizedCompiler, nogil=False)


def _kept(function: Callable[..., Any], compiler: type[CompilerBase], **options: Any) -> Any:
    folder = Path(sys.modules[function.__module__].__file__ or __file__).parent
    directory = cache_directory(folder, function.__module__)
    if directory is None:
        return numba.njit(**_options(function) | options, pipeline_class=compiler)(function)
    with _numba_setting("CACHE_DIR", directory):
        return numba.njit(**_options(function) | options, pipeline_class=compiler, cache=True)(function)


def direct(entry: Any, *arguments: Any) -> Callable[..., Any]:
    """An entry point's machine code for arguments of these types, and only for such: called without a look at types.

    That look takes longer than a step of a game. A function that is not compiled, as all are with the JIT off, is
    returned as it is.
    """
    return entry.compile(tuple(map(numba.typeof, arguments))) if isinstance(entry, dispatcher.Dispatcher) else entry


class Prepared:
    """An entry point called again and again with the same first arguments, `given`, and others of the same types.

    The first call says which types; from then on it is called `direct`ly. Arrays of another type, of other dimensions
    or no longer in one piece would be read as if they were as before: who prepares a call sees to that.
    """

    def __init__(self, entry: Any, *given: Any) -> None:
        self._entry, self._given = entry, given
        self._call: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self._entry, *self._given)  # machine code stays behind

    def __call__(self, *others: Any) -> Any:
        """The entry point's result for the given and these arguments."""
        if self._call is None:
            self._call = partial(direct(self._entry, *self._given, *others), *self._given)
        return self._call(*others)


@cache
def cache_directory(folder: Path, module: str) -> str | None:
    """Folder of the compiled code of a module in `folder`; None (and a warning) if none can be written.

    A module has its own: compiled code knows the name its module was imported by.
    """
    name = f"{module}-{_cache_key(folder)}"
    for root in _cache_roots():
        directory = root / name
        if _writable(directory):
            return str(directory)
    warnings.warn(
        "no folder for compiled code can be written: kernels are compiled anew in every process "
        "(set RISK_ENV_CACHE_DIR to a folder that you may write)",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("RISK_ENV_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    account = os.getuid() if hasattr(os, "getuid") else "user"
    return [Path(user) / "risk_env", Path(tempfile.gettempdir()) / f"risk_env-{account}"]


@cache
def _cache_key(folder: Path) -> str:
    """Hash of the core's sources, of those in `folder`, of the bounds-check mode and of the compiler's versions."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {BOUNDS_CHECKED}".encode())
    for source in sorted({*Path(__file__).parent.glob("*.py"), *folder.glob("*.py")}):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


@contextmanager
def _numba_setting(name: str, value: Any) -> Any:
    """Change one of Numba's settings for a moment, and for nothing else in this process."""
    before = getattr(numba.config, name)
    setattr(numba.config, name, value)
    try:
        yield
    finally:
        setattr(numba.config, name, before)
