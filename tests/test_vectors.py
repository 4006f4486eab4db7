"""Vectors: they do what the plain functions beside them say, whatever stands around what they touch."""

import numba
import numpy as np
import pytest

from risk_env.core import vectors
from risk_env.core.bits import turned

pytestmark = pytest.mark.modes
CASES = 50


@numba.njit
def differing(numbers, others, first):
    return vectors.differing(numbers, others, first)


@numba.njit
def write_flags(word, flags, first):
    vectors.write_flags(word, flags, first)


@numba.njit
def turn_block(numbers, first, turning, down, up):
    vectors.put_word(numbers, first, turned(vectors.word_at(numbers, first), turning, down, up))


@numba.njit
def turn_every_other(words, first, turning, down, up):
    vectors.turn_every_other(words, first, turning, down, up)


def a_turn(chance: np.random.Generator) -> tuple[int, int, tuple[np.uint64, np.uint64, np.uint64]]:
    """Players, by how many places they turn, and the bits of that."""
    players = int(chance.integers(2, 7))
    places = int(chance.integers(1, players))
    bits = ((1 << 8 * players) - 1, 8 * places, 8 * (players - places))
    return players, places, (np.uint64(bits[0]), np.uint64(bits[1]), np.uint64(bits[2]))


@pytest.mark.parametrize("seed", range(CASES))
def test_differing_tells_each_of_64_numbers(seed: int) -> None:
    chance = np.random.default_rng(seed)
    numbers = chance.integers(-(2**31), 2**31, 200).astype(np.int32)
    others = numbers.copy()
    changed = chance.random(200) < chance.random()
    others[changed] ^= np.int32(1) << chance.integers(0, 31, changed.sum()).astype(np.int32)
    first = int(chance.integers(0, 137))
    word = int(differing(numbers, others, first))
    assert [bool(word >> k & 1) for k in range(64)] == changed[first : first + 64].tolist()


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
def test_a_block_turns_where_it_stands(seed: int) -> None:
    chance = np.random.default_rng(seed)
    numbers = chance.integers(0, 128, 40).astype(np.int8)
    players, places, turn = a_turn(chance)
    first = int(chance.integers(0, 33))
    expected = numbers.copy()
    expected[first : first + players] = np.roll(numbers[first : first + players], -places)
    turn_block(numbers, first, *turn)
    assert np.array_equal(numbers, expected)


@pytest.mark.parametrize("seed", range(CASES))
def test_every_other_word_turns(seed: int) -> None:
    chance = np.random.default_rng(seed)
    words = chance.integers(0, 2**64, 30, dtype=np.uint64)
    players, places, turn = a_turn(chance)
    first = int(chance.integers(0, 23))
    expected = words.copy()
    for k in range(first, first + 8, 2):
        block = expected[k : k + 1].view(np.uint8)
        block[:players] = np.roll(block[:players], -places)
    turn_every_other(words, first, *turn)
    assert np.array_equal(words, expected)
