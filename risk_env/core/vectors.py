"""What is done to a whole board or mask at once, in vectors.

LLVM turns the loops of a kernel into vectors either all or none, and the short ones only get slower by it (`core.jit`).
So what pays is said in LLVM's own vectors, of which it makes what the processor has. The plain function before each
says what it does, and is what runs with the JIT off or with bounds checks.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from risk_env.core.bits import ONE, turned
from risk_env.core.jit import BOUNDS_CHECKED, JIT_DISABLED, inlined

WORD = 64  # elements of a word of a set
_FLAG, _INT8, _INT32, _UINT64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))


def _differing(numbers, others, first):
    """The k < 64 for which `numbers[first + k]` is not `others[first + k]` (int32), as a word of a set."""
    word = np.uint64(0)
    for k in range(WORD):
        word |= np.uint64(numbers[first + k] != others[first + k]) << np.uint64(k)
    return word


@intrinsic
def _differing_in_vectors(_, numbers, others, first):
    def code(context, builder, signature, arguments):
        places = [_place(context, builder, signature.args[k], arguments[k], arguments[2], _INT32) for k in range(2)]
        ours, theirs = (_load(builder, place, _INT32, WORD, align=4) for place in places)
        return builder.bitcast(builder.icmp_signed("!=", ours, theirs), _UINT64)

    return types.uint64(numbers, others, types.int64), code


def _write_flags(word, flags, first):
    """The bits of a word as bytes 0 or 1, eight to each of the eight uint64 from `flags[first]` on."""
    for k in range(WORD // 8):
        flags[first + k] = 0
        for j in range(8):
            flag = (word >> np.uint64(8 * k + j)) & ONE
            flags[first + k] |= flag << np.uint64(8 * j)


@intrinsic
def _write_flags_in_vectors(_, word, flags, first):
    def code(context, builder, signature, arguments):
        word, flags, first = arguments
        bits = builder.bitcast(word, ir.VectorType(_FLAG, WORD))
        place = _place(context, builder, signature.args[1], flags, first, _UINT64)
        _store(builder, builder.zext(bits, ir.VectorType(_INT8, WORD)), place, align=8)

    return types.void(types.uint64, flags, types.int64), code


def _word_at(numbers, first):
    """Eight bytes from `numbers[first]` on (int8, none negative) as a word."""
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(numbers[first + k]) << np.uint64(8 * k)
    return word


@intrinsic
def _word_at_in_vectors(_, numbers, first):
    def code(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments, _INT8)
        return builder.bitcast(_load(builder, place, _INT8, 8, align=1), _UINT64)

    return types.uint64(numbers, types.int64), code


def _put_word(numbers, first, word):
    """Write a word as eight bytes (none above 127) from `numbers[first]` on (int8)."""
    for k in range(8):
        numbers[first + k] = (word >> np.uint64(8 * k)) & np.uint64(0xFF)


@intrinsic
def _put_word_in_vectors(_, numbers, first, word):
    def code(context, builder, signature, arguments):
        numbers, first, word = arguments
        place = _place(context, builder, signature.args[0], numbers, first, _INT8)
        _store(builder, builder.bitcast(word, ir.VectorType(_INT8, 8)), place, align=1)

    return types.void(numbers, types.int64, types.uint64), code


def _turn_every_other(words, first, turning, down, up):
    """`turned` of every other one of eight words from `words[first]` on."""
    for k in range(0, 8, 2):
        words[first + k] = turned(words[first + k], turning, down, up)


@intrinsic
def _turn_every_other_in_vectors(_, words, first, turning, down, up):
    def code(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments[0], arguments[1], _UINT64)
        turning, down, up = (_repeated(builder, argument, 8) for argument in arguments[2:])
        turning = builder.and_(turning, ir.Constant(turning.type, [-1, 0] * 4))
        word = _load(builder, place, _UINT64, 8, align=8)
        before, others = builder.and_(word, turning), builder.and_(word, builder.not_(turning))
        lowered, raised = builder.lshr(before, down), builder.and_(builder.shl(before, up), turning)
        _store(builder, builder.or_(others, builder.or_(lowered, raised)), place, align=8)

    return types.void(words, types.int64, types.uint64, types.uint64, types.uint64), code


def _place(context, builder, array_type, array, first, element):
    """Where an element of an array lies."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), element.as_pointer())


def _load(builder, place, element, size, align):
    """So many elements from a place on."""
    return builder.load(builder.bitcast(place, ir.VectorType(element, size).as_pointer()), align=align)


def _store(builder, vector, place, align):
    """Write all elements of a vector from a place on."""
    builder.store(vector, builder.bitcast(place, vector.type.as_pointer()), align=align)


def _repeated(builder, value, size):
    """A vector of so many times the same."""
    one = builder.insert_element(ir.Constant(ir.VectorType(value.type, size), ir.Undefined), value, _INT32(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT32, size), [0] * size))


def _either(plain, in_vectors):
    return inlined(plain) if JIT_DISABLED or BOUNDS_CHECKED else in_vectors


differing = _either(_differing, _differing_in_vectors)
write_flags = _either(_write_flags, _write_flags_in_vectors)
word_at = _either(_word_at, _word_at_in_vectors)
put_word = _either(_put_word, _put_word_in_vectors)
turn_every_other = _either(_turn_every_other, _turn_every_other_in_vectors)
