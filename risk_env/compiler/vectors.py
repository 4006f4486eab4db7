"""LLVM code that works on vectors. LLVM compiles this code for the vector units of the processor.

Each public function returns an intrinsic that works on several consecutive elements of an array at once.
`first` is the index of the first element.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_FLAG, _INT8, _INT32, _UINT64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
_WORD = 64  # bits in a word


def differing(size: int, bits: int) -> Any:
    """Return an intrinsic that compares the numbers in two arrays.

    The arguments of the intrinsic are (numbers, others, first). Bit k of the result is set if the numbers
    (`bits` bits each) at index `first` + k differ, for k < `size`.
    """
    element = ir.IntType(bits)

    @intrinsic
    def compare(_, numbers, others, first):
        def code(context, builder, signature, arguments):
            places = [
                _place(context, builder, signature.args[k], arguments[k], arguments[2], element)
                for k in (0, 1)
            ]
            ours, theirs = (_load(builder, place, element, size, align=bits // 8) for place in places)
            return _as_word(builder, builder.icmp_unsigned("!=", ours, theirs))

        return types.uint64(numbers, others, types.int64), code

    return compare


def nonzero(size: int) -> Any:
    """Return an intrinsic that finds the numbers that are not zero.

    The argument of the intrinsic is `numbers`. Bit k of the result is set if number k (int8) is not zero, for
    k < `size`.
    """

    @intrinsic
    def find(_, numbers):
        def code(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], arguments[0], ir.IntType(64)(0), _INT8)
            found = _load(builder, place, _INT8, size, align=1)
            return _as_word(builder, builder.icmp_unsigned("!=", found, ir.Constant(found.type, [0] * size)))

        return types.uint64(numbers), code

    return find


def unpack_bits() -> Any:
    """Return an intrinsic that writes the bits of a word as bytes 0 or 1.

    The arguments of the intrinsic are (word, words, first). The bytes are written into the eight uint64
    values from `words[first]` on.
    """

    @intrinsic
    def unpack(_, word, words, first):
        def code(context, builder, signature, arguments):
            word, words, first = arguments
            bits = builder.bitcast(word, ir.VectorType(_FLAG, _WORD))
            place = _place(context, builder, signature.args[1], words, first, _UINT64)
            _store(builder, builder.zext(bits, ir.VectorType(_INT8, _WORD)), place, align=8)

        return types.void(types.uint64, words, types.int64), code

    return unpack


def rotate_blocks(blocks: int, size: int) -> Any:
    """Return an intrinsic that rotates consecutive blocks of numbers.

    The arguments of the intrinsic are (numbers, first, field, down, up). The intrinsic treats each block of
    `size` numbers (int8) as one word, and rotates the word (`_rotated`).
    """
    to_words = [size * (byte // 8) + min(byte % 8, size - 1) for byte in range(8 * blocks)]
    to_blocks = [8 * (k // size) + k % size for k in range(blocks * size)]

    @intrinsic
    def rotate(_, numbers, first, field, down, up):
        def code(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], arguments[0], arguments[1], _INT8)
            how = [_repeated(builder, argument, blocks) for argument in arguments[2:]]
            found = _load(builder, place, _INT8, blocks * size, align=1)
            words = builder.bitcast(_chosen(builder, found, to_words), ir.VectorType(_UINT64, blocks))
            rotated = builder.bitcast(_rotated(builder, words, *how), ir.VectorType(_INT8, 8 * blocks))
            _store(builder, _chosen(builder, rotated, to_blocks), place, align=1)

        return types.void(numbers, types.int64, types.uint64, types.uint64, types.uint64), code

    return rotate


def rotate_every_other(size: int) -> Any:
    """Return an intrinsic that rotates every other word.

    The arguments of the intrinsic are (words, first, field, down, up). The intrinsic rotates (`_rotated`) the
    first, the third, ... of the `size` words from `words[first]` on.
    """

    @intrinsic
    def rotate(_, words, first, field, down, up):
        def code(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], arguments[0], arguments[1], _UINT64)
            field, down, up = (_repeated(builder, argument, size) for argument in arguments[2:])
            field = builder.and_(field, ir.Constant(field.type, [-1, 0] * (size // 2)))
            found = _load(builder, place, _UINT64, size, align=8)
            _store(builder, _rotated(builder, found, field, down, up), place, align=8)

        return types.void(words, types.int64, types.uint64, types.uint64, types.uint64), code

    return rotate


def _rotated(builder, words, field, down, up):
    """Return each word with the bits in the mask `field` rotated down by `down` bits.

    Bits that leave the field at the bottom are shifted up by `up` bits and enter the field at the top.
    """
    before, others = builder.and_(words, field), builder.and_(words, builder.not_(field))
    lowered, raised = builder.lshr(before, down), builder.and_(builder.shl(before, up), field)
    return builder.or_(others, builder.or_(lowered, raised))


def _place(context, builder, array_type, array, first, element):
    """Return the memory address of an element of an array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), element.as_pointer())


def _load(builder, place, element, size, align):
    """Load `size` elements as a vector."""
    return builder.load(builder.bitcast(place, ir.VectorType(element, size).as_pointer()), align=align)


def _store(builder, vector, place, align):
    """Write all elements of a vector."""
    builder.store(vector, builder.bitcast(place, vector.type.as_pointer()), align=align)


def _as_word(builder, flags):
    """Return a vector of flags as the bits of a word."""
    bits = builder.bitcast(flags, ir.IntType(flags.type.count))
    return bits if flags.type.count == _WORD else builder.zext(bits, _UINT64)


def _repeated(builder, value, size):
    """Return a vector of `size` equal elements."""
    one = builder.insert_element(ir.Constant(ir.VectorType(value.type, size), ir.Undefined), value, _INT32(0))
    return _chosen(builder, one, [0] * size)


def _chosen(builder, vector, elements):
    """Return a vector of the elements of `vector` at the indices `elements`."""
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_INT32, len(elements)), elements))
