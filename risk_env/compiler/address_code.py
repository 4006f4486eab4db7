"""LLVM code for calls by address, and for the processor's cycle counter."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def call_at(_, address, arguments):
    """Call the entry point at an address with a tuple of arguments. The entry point must return nothing."""
    kinds = tuple(arguments)

    def code(context, builder, signature, values):
        convention = context.call_conv
        pointer = convention.get_function_type(types.none, kinds).as_pointer()
        passed = cgutils.unpack_tuple(builder, values[1], len(kinds))
        function = builder.inttoptr(values[0], pointer)
        status, _ = convention.call_function(builder, function, types.none, kinds, passed)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(address, arguments), code


@intrinsic
def cycle_counter(_):
    """Return the processor's cycle counter, uint64."""

    def code(context, builder, signature, values):
        kind = ir.FunctionType(ir.IntType(64), [])
        counter = cgutils.get_or_insert_function(builder.module, kind, "llvm.readcyclecounter")
        return builder.call(counter, [])

    return types.uint64(), code
