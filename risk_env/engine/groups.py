"""Named groups of the arrays of a batch: arguments of the kernels of the batch loop.

The sizes are N lanes, P players, D columns of an observation, and W words of a mask. A mask needs one word
for 64 actions as bits, and eight words for 64 actions as bytes. Observations (int8) are passed only as words
of eight columns, because every additional array makes each call slower.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Records(NamedTuple):
    """The games of all lanes, the map and the rules."""

    games: Array  # game_dtype (N,)
    boards: Array  # board_dtype (1,)
    rules: Array  # rules_dtype (1,)


class Results(NamedTuple):
    """The results of a step for each seat."""

    kind: int  # kind of reward: WIN_REWARD or PLACEMENT_REWARD
    rewards: npt.NDArray[np.float32]  # (N, P)
    terminated: npt.NDArray[np.bool_]  # (N, P)
    truncated: npt.NDArray[np.bool_]  # (N, P)
    over: npt.NDArray[np.bool_]  # (N,) true if the lane's game is over


class Ends(NamedTuple):
    """Places, rounds and last observations of games that are over."""

    placements: npt.NDArray[np.int64]  # (N, P) places, from 1
    rounds: npt.NDArray[np.int64]  # (N,) last round of each game
    observations: npt.NDArray[np.uint64]  # (N, P, D / 8) each seat's last observation


class Episodes(NamedTuple):
    """Number and seed of each lane's game."""

    autoreset: bool  # true if a lane's next game begins when the lane's game is over
    seed: np.uint64  # seed of the batch
    numbers: npt.NDArray[np.int64]  # (N,) number of each lane's game
    seeds: npt.NDArray[np.uint64]  # (N,) `mix(seed, lane, number)`


class Views(NamedTuple):
    """The decision in each lane: the seat to act, the legal actions and the seat's observation."""

    mask_kind: int  # NO_MASK, BIT_MASK or BYTE_MASK
    masks: npt.NDArray[np.uint64]  # (N, W) legal actions
    view_cache: Array  # view_cache_dtype (N,) the facts from which the observations were written
    observations: npt.NDArray[np.uint64]  # (N, D / 8)
    seats: npt.NDArray[np.int64]  # (N,) seat to act, or NOBODY
