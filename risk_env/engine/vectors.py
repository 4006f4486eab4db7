"""Vector operations on a whole board, observation or mask.

LLVM vectorizes either all loops of a kernel or none, and vectorized short loops are slower
(`compiler.decorators`). The few operations that gain from vectors are therefore written with LLVM's vector
types (`compiler.vectors`). The functions in this module define the results of these operations.
"""

import numpy as np

from risk_env.compiler import in_vectors, inlined
from risk_env.core.bits import ONE, ZERO
from risk_env.core.types import MAX_OWNERS, MAX_SEATS

WORD = 64  # number of elements in a word of a bitset
BLOCKS = 8  # number of blocks that `rotate_blocks` rotates; a block has one number per seat
EVERY_OTHER_OF = 8  # number of words of which `rotate_every_other` rotates the first, third, ...


def _differing(size, bits):
    """Return a function that compares `numbers` with `others` from index `first` on.

    Bit k of its result is set if `numbers[first + k]` differs from `others[first + k]`, for each k < `size`.
    """

    @in_vectors("differing", size, bits)
    def differing(numbers, others, first):
        word = ZERO
        for k in range(size):
            word |= np.uint64(numbers[first + k] != others[first + k]) << np.uint64(k)
        return word

    return differing


differing_owners = _differing(WORD, 8)
differing_troops = _differing(WORD, 32)
differing_marks = _differing(MAX_SEATS, 8)
differing_armies = _differing(MAX_OWNERS, 32)


@in_vectors("nonzero", MAX_SEATS)
def seats_marked(marks):
    """Return the seats whose mark, int8 (6,), is not zero, as bits of a word."""
    word = ZERO
    for seat in range(MAX_SEATS):
        word |= np.uint64(marks[seat] != 0) << np.uint64(seat)
    return word


@in_vectors("unpack_bits")
def write_flags(word, flags, first):
    """Write the bits of a word as bytes 0 or 1 into eight uint64 values, from `flags[first]` on."""
    for k in range(WORD // 8):
        flags[first + k] = 0
        for j in range(8):
            flag = (word >> np.uint64(8 * k + j)) & ONE
            flags[first + k] |= flag << np.uint64(8 * j)


@inlined
def rotated(word, field, down, up):
    """Return `word` with the bits of the mask `field` rotated down by `down` bits.

    Bits that leave the field at the bottom are shifted up by `up`, and enter the field at the top.
    """
    before = word & field
    return (word & ~field) | (before >> down) | ((before << up) & field)


@in_vectors("rotate_blocks", BLOCKS, MAX_SEATS)
def rotate_blocks(numbers, first, field, down, up):
    """Apply `rotated` to each of eight blocks of six numbers from `numbers[first]` on.

    The numbers are int8 and not negative.
    """
    for block in range(first, first + BLOCKS * MAX_SEATS, MAX_SEATS):
        word = ZERO
        for k in range(MAX_SEATS):
            word |= np.uint64(numbers[block + k]) << np.uint64(8 * k)
        word = rotated(word, field, down, up)
        for k in range(MAX_SEATS):
            numbers[block + k] = (word >> np.uint64(8 * k)) & np.uint64(0xFF)


@in_vectors("rotate_every_other", EVERY_OTHER_OF)
def rotate_every_other(words, first, field, down, up):
    """Apply `rotated` to the first, third, ... of eight words from `words[first]` on."""
    for k in range(0, EVERY_OTHER_OF, 2):
        words[first + k] = rotated(words[first + k], field, down, up)
