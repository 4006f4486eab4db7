"""Numba's compiler, adapted: no separate machine code for helpers, and optimisation of whole entry points.

This module uses Numba's private classes. It is not imported in plain mode (`mode.PLAIN`).
"""

from typing import Any

from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering, NopythonRewrites

from risk_env.compiler.mode import is_strict, numba_setting


class _HelperLibrary(JITCodeLibrary):
    """The code of a helper, which is optimised and compiled only as part of entry points."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _EntryLibrary(JITCodeLibrary):
    """The code of an entry point and of all its helpers.

    The helpers become internal, so a helper that is called once is inlined.
    """

    vectorized = False  # vectorized loops over a few words or dice are slower

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        with numba_setting("LOOP_VECTORIZE", int(self.vectorized)):
            super()._optimize_final_module()


class _Pass(AnalysisPass):
    """Base class of passes, with the constructor that Numba requires of every pass."""

    def __init__(self) -> None:
        super().__init__()


@register_pass(mutates_CFG=False, analysis_only=False)
class _PlainIndices(_Pass):
    """Pass that treats array indices as unsigned before a function of a strict module is lowered.

    Strict modules (`mode.is_strict`) use no negative index. Support for Python's negative indices takes three
    instructions per index, a tenth of the time of a step. With bounds checks, a negative index is an error.
    """

    _name = "risk_env_plain_indices"

    def run_pass(self, state: Any) -> bool:
        if not is_strict(state.func_id.modname):
            return False
        for access, signature in list(state.calltypes.items()):
            is_item = isinstance(access, ir.SetItem) or getattr(access, "op", None) == "getitem"
            if is_item and isinstance(signature.args[0], types.Array):
                array, index, *value = signature.args
                del state.calltypes[access]  # an entry cannot be overwritten
                state.calltypes[access] = signature.replace(args=(array, _without_sign(index), *value))
        return True


def _without_sign(index: Any) -> Any:
    """Return the unsigned type of an index, or of each index of a tuple."""
    if isinstance(index, types.BaseTuple):
        return types.Tuple([_without_sign(part) for part in index.types])  # type: ignore[attr-defined]
    return types.uintp if isinstance(index, types.Integer) else index


@register_pass(mutates_CFG=False, analysis_only=True)
class _HelperCode(_Pass):
    """Pass that puts a helper's code into a `_HelperLibrary` before the helper is lowered."""

    _name = "risk_env_helper_code"

    def run_pass(self, state: Any) -> bool:
        state.library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _HelperKnown(_Pass):
    """Pass that registers a helper's code for the callers of the helper, after the helper is lowered.

    Numba identifies a function by the address of its machine code. A helper has no machine code, so a unique
    object replaces the address.
    """

    _name = "risk_env_helper_known"

    def run_pass(self, state: Any) -> bool:
        warning = f"{{{state.func_id.func_name} is a helper that only compiled code can call}}"
        state.cr = state.cr._replace(cfunc=warning.format)  # a call from Python raises KeyError(warning)
        state.targetctx.insert_user_function(state.cr.cfunc, state.cr.fndesc, [state.library])
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _EntryCode(_Pass):
    """Pass that puts an entry point's code into an `_EntryLibrary` before the entry point is lowered."""

    _name = "risk_env_entry_code"
    vectorized = False

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.vectorized = self.vectorized
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _VectorizedCode(_EntryCode):
    """Pass like `_EntryCode`, for entry points with vectorized loops."""

    _name = "risk_env_vectorized_code"
    vectorized = True


class _ArgumentTypes(tuple[Any, ...]):
    """Types of arguments that are quick to print.

    Numba prints the types before every pass, and records have many fields.
    """

    def __str__(self) -> str:
        return f"({len(self)} types)"


class _Compiler(CompilerBase):
    """Numba's default pipeline with additional passes."""

    added: tuple[tuple[type, type], ...]

    def define_pipelines(self) -> list[Any]:
        """Return the passes in order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        if is_strict(self.state.func_id.modname):  # strict modules have no expressions of whole arrays
            passes.passes = [entry for entry in passes.passes if entry[0] is not NopythonRewrites]
        passes.add_pass_after(_PlainIndices, AnnotateTypes)
        for new, before in self.added:
            passes.add_pass_after(new, before)
        passes.finalize()
        self.state.args = _ArgumentTypes(self.state.args)
        return [passes]


class HelperCompiler(_Compiler):
    """Compiler of helpers, without machine code for each helper.

    The machine code of helpers would take half of the compilation time.
    """

    added = ((_HelperCode, AnnotateTypes), (_HelperKnown, NativeLowering))


class EntryCompiler(_Compiler):
    """Compiler of entry points. All helpers are internal to the entry point."""

    added = ((_EntryCode, AnnotateTypes),)


class VectorizedCompiler(_Compiler):
    """Compiler of entry points with vectorized loops."""

    added = ((_VectorizedCode, AnnotateTypes),)


def helper_options(module: str) -> dict[str, Any]:
    """Return Numba's private options for a helper of a module."""
    return {**_options(module), "no_cpython_wrapper": True, "pipeline_class": HelperCompiler}


def entry_options(module: str, vectorized: bool = False) -> dict[str, Any]:
    """Return Numba's private options for an entry point of a module."""
    return {**_options(module), "pipeline_class": VectorizedCompiler if vectorized else EntryCompiler}


def _options(module: str) -> dict[str, Any]:
    """Return the options that helpers and entry points of a module share.

    Strict modules make no arrays on the heap, so their code does not count references. Each count would need
    an atomic instruction.
    """
    return {"no_cfunc_wrapper": True, "_nrt": not is_strict(module)}
