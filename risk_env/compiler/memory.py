"""LLVM code for memory that threads share, for prefetching, and for arrays on the stack.

Each public function returns an intrinsic. The atomic intrinsics take an array, int64 (rows, columns), and the
row and the column of a number.
"""

import platform
from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

_BYTES, _INT32, _INT64 = ir.IntType(8).as_pointer(), ir.IntType(32), ir.IntType(64)
_TO_WRITE, _NEAREST, _DATA = 1, 3, 1  # arguments of `llvm.prefetch`
_WORD_BYTES = 8
# name of the LLVM function, and arguments of the function
_PAUSE, _YIELD = ("llvm.x86.sse2.pause", ()), ("llvm.aarch64.hint", (1,))
_PAUSES: dict[str, tuple[str, tuple[int, ...]]] = {
    "x86_64": _PAUSE,
    "amd64": _PAUSE,
    "aarch64": _YIELD,
    "arm64": _YIELD,
}


def _read_and_write(operation: str) -> Any:
    @intrinsic
    def change(_, numbers, row, column, value):
        def code(context, builder, signature, arguments):
            place = _place(context, builder, signature, arguments)
            return builder.atomic_rmw(operation, place, arguments[3], "seq_cst")

        return types.int64(numbers, types.int64, types.int64, types.int64), code

    return change


# (numbers, row, column, value): write the value, and return the previous number
exchange = partial(_read_and_write, "xchg")
# (numbers, row, column, value): add the value, and return the previous number
fetch_add = partial(_read_and_write, "add")


def compare_exchange() -> Any:
    """Return an intrinsic that atomically replaces a number if the number has a given value.

    The arguments of the intrinsic are (numbers, row, column, value, other). If the number is `value`, the
    intrinsic writes `other` and returns True. Otherwise the intrinsic returns False.
    """

    @intrinsic
    def replace(_, numbers, row, column, value, other):
        def code(context, builder, signature, arguments):
            place = _place(context, builder, signature, arguments)
            found = builder.cmpxchg(place, arguments[3], arguments[4], "seq_cst", "seq_cst")
            return builder.extract_value(found, 1)

        return types.boolean(numbers, *[types.int64] * 4), code

    return replace


def load() -> Any:
    """Return an intrinsic that loads a number atomically.

    The arguments of the intrinsic are (numbers, row, column). After the load, all earlier writes of the
    thread that wrote the number are visible (acquire order).
    """

    @intrinsic
    def read(_, numbers, row, column):
        def code(context, builder, signature, arguments):
            return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)

        return types.int64(numbers, types.int64, types.int64), code

    return read


def pause() -> Any:
    """Return an intrinsic, without arguments, for the body of a spin-wait loop.

    The intrinsic runs the processor's instruction for such loops, or nothing if no instruction is known.
    """
    known = _PAUSES.get(platform.machine().lower())

    @intrinsic
    def wait(_):
        def code(context, builder, signature, arguments):
            if known is not None:
                name, numbers = known
                kind = ir.FunctionType(ir.VoidType(), [_INT32] * len(numbers))
                function = cgutils.get_or_insert_function(builder.module, kind, name)
                builder.call(function, [_INT32(number) for number in numbers])
            return context.get_dummy_value()

        return types.void(), code

    return wait


def prefetch() -> Any:
    """Return an intrinsic that prefetches a cache line.

    The arguments of the intrinsic are (rows, index, first). The intrinsic prefetches, for writing, the cache
    line that contains byte `first` of row `index`.
    """

    @intrinsic
    def fetch(_, rows, index, first):
        def code(context, builder, signature, arguments):
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            row = builder.mul(builder.extract_value(array.strides, 0), arguments[1])
            place = builder.gep(builder.bitcast(array.data, _BYTES), [builder.add(row, arguments[2])])
            kind = ir.FunctionType(ir.VoidType(), [_BYTES, _INT32, _INT32, _INT32])
            function = builder.module.declare_intrinsic("llvm.prefetch", [_BYTES], kind)
            builder.call(function, [place, _INT32(_TO_WRITE), _INT32(_NEAREST), _INT32(_DATA)])

        return types.void(rows, types.int64, types.int64), code

    return fetch


def stack_words() -> Any:
    """Return an intrinsic that makes an array of words on the stack.

    The argument of the intrinsic is `words`. The intrinsic returns an array of zeros, with the shape of the
    bitset `words`, on the stack. The array is valid until the calling function returns.
    """

    @intrinsic
    def new(_, words):
        kind = types.Array(types.uint64, 1, "C")

        def code(context, builder, signature, arguments):
            given = context.make_array(signature.args[0])(context, builder, arguments[0])
            count, size = builder.extract_value(given.shape, 0), _INT64(_WORD_BYTES)
            data = builder.alloca(_INT64, size=count)
            cgutils.memset(builder, data, builder.mul(count, size), 0)
            array = context.make_array(kind)(context, builder)
            populate_array(array, data, shape=[count], strides=[size], itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(words), code

    return new


def _place(context, builder, signature, arguments):
    """Return the memory address of a number in a two-dimensional array."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    row = builder.mul(builder.extract_value(array.strides, 0), arguments[1])
    data = builder.bitcast(array.data, _BYTES)
    return builder.gep(builder.bitcast(builder.gep(data, [row]), _INT64.as_pointer()), [arguments[2]])
