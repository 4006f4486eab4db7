"""Seeds of games and players. A user's seed determines all dice and cards, and the seeds of all players."""

import hashlib

import numpy as np

from risk_env.core.entry import seed_of
from risk_env.messages import shortened
from risk_env.splitmix64 import WORD


def uint64(number: int, name: str = "seed") -> np.uint64:
    """Return a whole number, modulo 2**64, as a 64-bit word for kernels.

    Raises ValueError, which names the argument `name`, for any other value.
    """
    if type(number) is not int and (isinstance(number, bool) or not isinstance(number, int | np.integer)):
        raise ValueError(f"{name}={shortened(number)}: must be a whole number")
    return np.uint64(int(number) % WORD)


def game_seed(seed: int, lane: int = 0, episode: int = 0) -> np.uint64:
    """Return the seed of one game, mixed from three numbers by SplitMix64.

    A `Game` plays lane 0 and episode 0 unless the caller passes other numbers. Environments with one game at
    a time play lane 0 and the episodes 0, 1, ...
    """
    return np.uint64(seed_of(uint64(seed), uint64(lane, "lane"), uint64(episode, "episode")))


def hashed_seed(seed: int) -> int:
    """Return a seed from which the given seed cannot be found.

    The seed is hashed, because the mixing function of `game_seed` can be inverted.
    """
    return int.from_bytes(hashlib.blake2b(uint64(seed).tobytes(), digest_size=8).digest(), "little")


def bot_seed(seed_of_game: int, seat: int) -> np.uint64:
    """Return the seed of a bot's random choices, which are independent of the dice."""
    return game_seed(seed_of_game, seat, 1)
