"""Vectors: equal to plain functions, whatever surrounds the elements."""

from typing import Any

import numba
import numpy as np
import pytest

from risk_env.engine import vectors

pytestmark = pytest.mark.modes
CASES = 50


@numba.njit
def differing_owners(numbers, others, first):
    return vectors.differing_owners(numbers, others, first)


@numba.njit
def differing_troops(numbers, others, first):
    return vectors.differing_troops(numbers, others, first)


@numba.njit
def differing_marks(numbers, others, first):
    return vectors.differing_marks(numbers, others, first)


@numba.njit
def differing_armies(numbers, others, first):
    return vectors.differing_armies(numbers, others, first)


@numba.njit
def seats_marked(marks):
    return vectors.seats_marked(marks)


@numba.njit
def write_flags(word, flags, first):
    vectors.write_flags(word, flags, first)


@numba.njit
def rotate_blocks(numbers, first, field, down, up):
    vectors.rotate_blocks(numbers, first, field, down, up)


@numba.njit
def rotate_every_other(words, first, field, down, up):
    vectors.rotate_every_other(words, first, field, down, up)


def a_rotation(chance: np.random.Generator) -> tuple[int, int, tuple[np.uint64, np.uint64, np.uint64]]:
    """Return players, and arguments that rotate them by a number of places."""
    players = int(chance.integers(2, 7))
    places = int(chance.integers(1, players))
    bits = ((1 << 8 * players) - 1, 8 * places, 8 * (players - places))
    return players, places, (np.uint64(bits[0]), np.uint64(bits[1]), np.uint64(bits[2]))


COMPARISONS = [
    (differing_owners, np.int8, 64),
    (differing_troops, np.int32, 64),
    (differing_marks, np.int8, 6),
    (differing_armies, np.int32, 7),
]


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize(("differing", "dtype", "size"), COMPARISONS)
def test_differing_tells_each_number(differing: Any, dtype: Any, size: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    bits = np.iinfo(dtype).bits
    numbers = chance.integers(0, 256, (200, bits // 8)).astype(np.uint8).view(dtype).ravel()
    others = numbers.copy()
    changed = chance.random(200) < chance.random()
    others[changed] ^= np.left_shift(dtype(1), chance.integers(0, bits - 1, changed.sum()).astype(dtype))
    first = int(chance.integers(0, 200 - size))
    word = int(differing(numbers, others, first))
    assert [bool(word >> k & 1) for k in range(64)] == [
        *changed[first : first + size],
        *[False] * (64 - size),
    ]


@pytest.mark.parametrize("seed", range(CASES))
def test_marked_seats_are_those_not_zero(seed: int) -> None:
    chance = np.random.default_rng(seed)
    marks = (chance.integers(-128, 128, 6) * (chance.random(6) < 0.5)).astype(np.int8)
    assert int(seats_marked(marks)) == sum(1 << seat for seat in range(6) if marks[seat])


@pytest.mark.parametrize("seed", range(CASES))
def test_flags_are_the_bits_of_the_word_and_nothing_else_is_written(seed: int) -> None:
    chance = np.random.default_rng(seed)
    word = int(chance.integers(0, 2**64, dtype=np.uint64))
    flags = chance.integers(0, 2**64, 30, dtype=np.uint64)
    before, first = flags.copy(), int(chance.integers(0, 23))
    write_flags(np.uint64(word), flags, first)
    assert flags[first : first + 8].view(np.uint8).tolist() == [word >> k & 1 for k in range(64)]
    before[first : first + 8] = flags[first : first + 8]
    assert np.array_equal(flags, before)


@pytest.mark.parametrize("seed", range(CASES))
def test_eight_blocks_rotate_and_nothing_else_is_written(seed: int) -> None:
    chance = np.random.default_rng(seed)
    numbers = chance.integers(0, 128, 100).astype(np.int8)
    players, places, rotation = a_rotation(chance)
    first = int(chance.integers(0, 53))
    expected = numbers.copy()
    for block in range(first, first + 48, 6):
        expected[block : block + players] = np.roll(numbers[block : block + players], -places)
    rotate_blocks(numbers, first, *rotation)
    assert np.array_equal(numbers, expected)


@pytest.mark.parametrize("seed", range(CASES))
def test_every_other_word_rotates(seed: int) -> None:
    chance = np.random.default_rng(seed)
    words = chance.integers(0, 2**64, 30, dtype=np.uint64)
    players, places, rotation = a_rotation(chance)
    first = int(chance.integers(0, 23))
    expected = words.copy()
    for k in range(first, first + 8, 2):
        block = expected[k : k + 1].view(np.uint8)
        block[:players] = np.roll(block[:players], -places)
    rotate_every_other(words, first, *rotation)
    assert np.array_equal(words, expected)
