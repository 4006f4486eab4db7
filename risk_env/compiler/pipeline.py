"""Numba's compiler as the core uses it: helpers without machine code of their own, entry points that own theirs.

Only this file names Numba's private classes.
"""

from typing import Any

from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering

from risk_env.compiler.mode import is_core, numba_setting


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
        with numba_setting("LOOP_VECTORIZE", self.vectorized):
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
        if not is_core(state.func_id.modname):
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


class HelperCompiler(CompilerBase):
    """Numba's own pipeline, without machine code for every helper by itself (half of the time otherwise)."""

    def define_pipelines(self) -> list[Any]:
        """The passes, in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_PlainIndices, AnnotateTypes)
        passes.add_pass_after(_HelperCode, AnnotateTypes)
        passes.add_pass_after(_HelperKnown, NativeLowering)
        passes.finalize()
        return [passes]


class EntryCompiler(CompilerBase):
    """Numba's own pipeline; helpers of the entry point are known to be called from nowhere else."""

    code = _EntryCode

    def define_pipelines(self) -> list[Any]:
        """The passes, in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_PlainIndices, AnnotateTypes)
        passes.add_pass_after(self.code, AnnotateTypes)
        passes.finalize()
        return [passes]


class VectorizedCompiler(EntryCompiler):
    """The same for a vectorized entry point."""

    code = _VectorizedCode
