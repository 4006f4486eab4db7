"""Seeds: all chance in a game and its players is derived from the seeds that users give."""

import hashlib

import numpy as np

from risk_env.core.entry import seed_of
from risk_env.splitmix64 import WORD


def uint64(number: int) -> np.uint64:
    """Return a whole number as the 64-bit word (modulo 2**64) that kernels take.

    Raises ValueError for anything else.
    """
    if type(number) is not int and (isinstance(number, bool) or not isinstance(number, int | np.integer)):
        raise ValueError(f"seed={number!r}: must be a whole number")
    return np.uint64(int(number) % WORD)


def game_seed(seed: int, lane: int = 0, episode: int = 0) -> np.uint64:
    """Return the seed of one game: `mix(seed, lane, episode)`.

    AEC, Gymnasium and `Game` are lane 0, episode 0, 1, ...
    """
    return np.uint64(seed_of(uint64(seed), uint64(lane), uint64(episode)))


def hashed_seed(seed: int) -> int:
    """Return a seed from which the given seed cannot be found.

    The seed is hashed, because `mix` can be inverted.
    """
    return int.from_bytes(hashlib.blake2b(uint64(seed).tobytes(), digest_size=8).digest(), "little")


def bot_seed(seed_of_game: int, seat: int) -> np.uint64:
    """Return the seed of a bot's random choices, which is independent of the dice.

    Dice never depend on who plays.
    """
    return game_seed(seed_of_game, seat, 1)
