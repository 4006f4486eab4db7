"""Rows of arrays brought near the processor before they are worked on.

A batch is worked through row by row. One that fits into the processor's caches is found there again at the next step.
Of a larger one every row comes from memory, and of one that threads share a row may come from another processor, whose
thread looked at it to choose; to ask for it while the row before is worked on hides most of the wait.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from risk_env.compiler import BOUNDS_CHECKED, JIT_DISABLED, inlined

LINE = 64  # bytes that come at once
NEAR_ROWS = 2048  # of a batch of games with their views, about: more do not fit into the caches
_BYTES, _INT32 = ir.IntType(8).as_pointer(), ir.IntType(32)
_TO_WRITE, _NEAREST, _DATA = 1, 3, 1  # in the words of LLVM's `prefetch`


@intrinsic
def _fetch_line(_, rows, index, first):
    """Ask for the line in which byte `first` of a row lies."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        row = builder.mul(builder.extract_value(array.strides, 0), arguments[1])
        place = builder.gep(builder.bitcast(array.data, _BYTES), [builder.add(row, arguments[2])])
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _INT32, _INT32, _INT32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [_BYTES], kind)
        builder.call(prefetch, [place, _INT32(_TO_WRITE), _INT32(_NEAREST), _INT32(_DATA)])

    return types.void(rows, types.int64, types.int64), code


@inlined
def fetch(rows, index):
    """Ask for a row, an element of the first axis, which may lie beyond the end: nothing waits for it."""
    if not (JIT_DISABLED or BOUNDS_CHECKED):
        for first in range(0, rows.strides[0], LINE):
            _fetch_line(rows, index, first)
