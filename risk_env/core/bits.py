"""Sets of territories, borders, cards and actions as bitsets.

A bitset is an array of uint64 words. Element `e` is bit `e % 64` of word `e // 64`. Arithmetic combines a
word only with another word. A mix of uint64 and int64 would give a signed number in compiled code and a float
in NumPy.
"""

import numpy as np
from numpy import int64

from risk_env.compiler import JIT_DISABLED, in_memory, inlined

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
CHUNK = 6  # number of elements of a chunk; the bits of a chunk are an index into a lookup table
_CHUNK_MASK = np.uint64(2**CHUNK - 1)
_PAIRS = np.uint64(0x5555555555555555)
_NIBBLES = np.uint64(0x3333333333333333)
_LOW_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_CARRIES = np.uint64(0x7F7F7F7F7F7F7F7F)
_DIAGONAL = np.uint64(0x8040201008040201)  # bit k of byte k
_BYTE = np.uint64(0xFF)


def _wrapping_times(a, b):
    return np.uint64((int(a) * int(b)) & 0xFFFFFFFFFFFFFFFF)


def _wrapping_plus(a, b):
    return np.uint64((int(a) + int(b)) & 0xFFFFFFFFFFFFFFFF)


def _times(a, b):
    return np.uint64(a) * np.uint64(b)


def _plus(a, b):
    return np.uint64(a) + np.uint64(b)


# uint64 arithmetic modulo 2**64. In interpreted code, plain NumPy arithmetic would warn about overflow.
times = _wrapping_times if JIT_DISABLED else inlined(_times)
plus = _wrapping_plus if JIT_DISABLED else inlined(_plus)


@in_memory("stack_words")
def new_set(words):
    """Return an empty set with as many words as the set `words`.

    In compiled code, the set is on the stack until the calling function returns. Do not call this function in
    a loop.
    """
    return np.zeros(len(words), np.uint64)


@inlined
def bit(element):
    """Return the word in which only the bit of `element` (modulo 64) is set."""
    return ONE << np.uint64(element & 63)


@inlined
def has(words, element):
    """Return True if `element` is in the set."""
    return (words[element >> 6] >> np.uint64(element & 63)) & ONE != ZERO


@inlined
def add(words, element):
    """Add `element` to the set."""
    words[element >> 6] |= bit(element)


@inlined
def remove(words, element):
    """Remove `element` from the set."""
    words[element >> 6] &= ~bit(element)


@inlined
def put(words, element, inside):
    """Add `element` to the set if `inside` is true, otherwise remove `element`."""
    others = words[element >> 6] & ~bit(element)
    words[element >> 6] = others | (np.uint64(inside) << np.uint64(element & 63))


@inlined
def clear(words):
    """Remove all elements from the set."""
    for w in range(len(words)):
        words[w] = ZERO


@inlined
def bits_of_bytes(word):
    """Return a word whose eight bytes count the bits that are set in the same bytes of `word`."""
    pairs = word - ((word >> ONE) & _PAIRS)
    nibbles = (pairs & _NIBBLES) + ((pairs >> np.uint64(2)) & _NIBBLES)
    return (nibbles + (nibbles >> np.uint64(4))) & _LOW_NIBBLES


@inlined
def running_sums(numbers):
    """Return a word in which each byte is the sum of the same byte of `numbers` and all lower bytes."""
    return times(numbers, _SUM)


@inlined
def popcount(word):
    """Return the number of bits that are set in `word`."""
    return int64(running_sums(bits_of_bytes(word)) >> np.uint64(56))


@inlined
def lowest(word):
    """Return the index of the lowest set bit of `word`, which must not be zero."""
    return popcount(~word & (word - ONE))


@inlined
def size(words):
    """Return the number of elements of the set."""
    total = 0
    for w in range(len(words)):
        total += popcount(words[w])
    return total


@inlined
def common(words, others):
    """Return the number of elements that two sets have in common."""
    total = 0
    for w in range(len(words)):
        total += popcount(words[w] & others[w])
    return total


@inlined
def is_empty(words):
    """Return True if the set has no elements."""
    found = ZERO
    for w in range(len(words)):
        found |= words[w]
    return found == ZERO


@inlined
def count_at_most(numbers, most):
    """Return the number of bytes of the word `numbers` that are at most `most`.

    Each of the eight bytes must be below 128.
    """
    not_above = ((times(np.uint64(most), _SUM) | _TOPS) - numbers) & _TOPS
    return int64(running_sums(not_above >> np.uint64(7)) >> np.uint64(56))


@inlined
def nth_bit(word, n):
    """Return the index of set bit number `n` of a word with more than `n` set bits.

    Set bit 0 is the lowest. The kernel finds the byte first, then the bit within the byte.
    """
    sums = running_sums(bits_of_bytes(word))
    place = np.uint64(8 * count_at_most(sums, n))
    before = int64(((sums << np.uint64(8)) >> place) & _BYTE)
    byte = (word >> place) & _BYTE
    bits = ((times(byte, _SUM) & _DIAGONAL) + _CARRIES) >> np.uint64(7) & _SUM
    return int64(place) + count_at_most(running_sums(bits), n - before)


@inlined
def nth(words, n):
    """Return element number `n` of the set, or -1 if the set has at most `n` elements.

    Element number 0 is the smallest.
    """
    full, before, total = 0, 0, 0
    for w in range(len(words)):
        total += popcount(words[w])
        if total <= n:
            full, before = w + 1, total
    return (full << 6) + nth_bit(words[full], int64(n) - before) if full < len(words) else -1


@inlined
def put_block(words, offset, word):
    """Add the elements of one word to the set, shifted up by `offset`.

    Bit 0 of `word` becomes element `offset`.
    """
    index = offset >> 6
    shift = np.uint64(offset & 63)
    words[index] |= word << shift
    words[index + 1] |= (word >> ONE) >> (np.uint64(63) - shift)


@inlined
def chunk_of(words, chunk):
    """Return six bits of the set, from element `6 * chunk` on, as a number 0 ... 63."""
    first = CHUNK * chunk
    w = first >> 6
    shift = first & 63
    members = words[w] >> np.uint64(shift)
    if shift > 64 - CHUNK and w + 1 < len(words):
        members |= words[w + 1] << np.uint64(64 - shift)
    return int64(members & _CHUNK_MASK)
