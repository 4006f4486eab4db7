"""What is done to a whole board or mask at once, in vectors.

LLVM turns the loops of a kernel into vectors either all or none, and the short ones only get slower by it (`core.jit`).
So what pays is said in LLVM's own vectors, of which it makes what the processor has. The plain function before each
says what it does, and is what runs with the JIT off or with bounds checks.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from risk_env.compiler import BOUNDS_CHECKED, JIT_DISABLED, inlined
from risk_env.core.bits import ONE, ZERO, turned
from risk_env.core.types import MAX_OWNERS, MAX_SEATS

WORD = 64  # elements of a word of a set
BLOCKS = 8  # of a number for each seat
_BLOCKS_TO_WORDS = [MAX_SEATS * (byte // 8) + min(byte % 8, MAX_SEATS - 1) for byte in range(8 * BLOCKS)]
_WORDS_TO_BLOCKS = [8 * (k // MAX_SEATS) + k % MAX_SEATS for k in range(BLOCKS * MAX_SEATS)]
_FLAG, _INT8, _INT32, _UINT64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))


def _differing(size, element):
    """The k < `size` for which `numbers[first + k]` is not `others[first + k]`, as bits of a word."""

    def plain(numbers, others, first):
        word = ZERO
        for k in range(size):
            word |= np.uint64(numbers[first + k] != others[first + k]) << np.uint64(k)
        return word

    @intrinsic
    def in_vectors(_, numbers, others, first):
        def code(context, builder, signature, arguments):
            places = [_place(context, builder, signature.args[k], arguments[k], arguments[2], element) for k in (0, 1)]
            ours, theirs = (_load(builder, place, element, size, align=element.width // 8) for place in places)
            return _as_word(builder, builder.icmp_unsigned("!=", ours, theirs))

        return types.uint64(numbers, others, types.int64), code

    return plain, in_vectors


def _seats_marked(marks):
    """The seats whose mark (int8, 6) is not zero, as bits of a word."""
    word = ZERO
    for seat in range(MAX_SEATS):
        word |= np.uint64(marks[seat] != 0) << np.uint64(seat)
    return word


@intrinsic
def _seats_marked_in_vectors(_, marks):
    def code(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments[0], ir.IntType(64)(0), _INT8)
        found = _load(builder, place, _INT8, MAX_SEATS, align=1)
        return _as_word(builder, builder.icmp_unsigned("!=", found, ir.Constant(found.type, [0] * MAX_SEATS)))

    return types.uint64(marks), code


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


def _turn_blocks(numbers, first, turning, down, up):
    """`turned` of each of eight blocks of six numbers (int8, none negative) from `numbers[first]` on."""
    for block in range(first, first + BLOCKS * MAX_SEATS, MAX_SEATS):
        word = ZERO
        for k in range(MAX_SEATS):
            word |= np.uint64(numbers[block + k]) << np.uint64(8 * k)
        word = turned(word, turning, down, up)
        for k in range(MAX_SEATS):
            numbers[block + k] = (word >> np.uint64(8 * k)) & np.uint64(0xFF)


@intrinsic
def _turn_blocks_in_vectors(_, numbers, first, turning, down, up):
    def code(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], arguments[0], arguments[1], _INT8)
        turn = [_repeated(builder, argument, BLOCKS) for argument in arguments[2:]]
        blocks = _load(builder, place, _INT8, BLOCKS * MAX_SEATS, align=1)
        words = builder.bitcast(_chosen(builder, blocks, _BLOCKS_TO_WORDS), ir.VectorType(_UINT64, BLOCKS))
        numbers = builder.bitcast(_turned(builder, words, *turn), ir.VectorType(_INT8, 8 * BLOCKS))
        _store(builder, _chosen(builder, numbers, _WORDS_TO_BLOCKS), place, align=1)

    return types.void(numbers, types.int64, types.uint64, types.uint64, types.uint64), code


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
        _store(builder, _turned(builder, word, turning, down, up), place, align=8)

    return types.void(words, types.int64, types.uint64, types.uint64, types.uint64), code


def _turned(builder, words, turning, down, up):
    """`turned` of each word of a vector."""
    before, others = builder.and_(words, turning), builder.and_(words, builder.not_(turning))
    lowered, raised = builder.lshr(before, down), builder.and_(builder.shl(before, up), turning)
    return builder.or_(others, builder.or_(lowered, raised))


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


def _as_word(builder, flags):
    """A vector of flags as the bits of a word."""
    bits = builder.bitcast(flags, ir.IntType(flags.type.count))
    return bits if flags.type.count == WORD else builder.zext(bits, _UINT64)


def _repeated(builder, value, size):
    """A vector of so many times the same."""
    one = builder.insert_element(ir.Constant(ir.VectorType(value.type, size), ir.Undefined), value, _INT32(0))
    return _chosen(builder, one, [0] * size)


def _chosen(builder, vector, elements):
    """The vector of these elements of another."""
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_INT32, len(elements)), elements))


def _either(plain, in_vectors):
    return inlined(plain) if JIT_DISABLED or BOUNDS_CHECKED else in_vectors


differing_owners = _either(*_differing(WORD, _INT8))
differing_troops = _either(*_differing(WORD, _INT32))
differing_marks = _either(*_differing(MAX_SEATS, _INT8))
differing_armies = _either(*_differing(MAX_OWNERS, _INT32))
seats_marked = _either(_seats_marked, _seats_marked_in_vectors)
write_flags = _either(_write_flags, _write_flags_in_vectors)
turn_blocks = _either(_turn_blocks, _turn_blocks_in_vectors)
turn_every_other = _either(_turn_every_other, _turn_every_other_in_vectors)
