"""The arrays of a batch in named groups, as the kernels of the batch loop take them.

N lanes, P players, D columns of an observation, W words of a mask (one for 64 actions as bits, eight as bytes).
Observations (int8) are passed as words, eight columns to each: one array less to unbox in every call.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Records(NamedTuple):
    """The games of all lanes, and the map and the rules that they are played by."""

    games: Array  # game_dtype (N,)
    boards: Array  # board_dtype (1,)
    rules: Array  # rules_dtype (1,)


class Results(NamedTuple):
    """The results of a step for each seat."""

    kind: int  # of reward: WIN_REWARD or PLACEMENT_REWARD
    rewards: npt.NDArray[np.float32]  # (N, P)
    terminated: npt.NDArray[np.bool_]  # (N, P)
    truncated: npt.NDArray[np.bool_]  # (N, P)
    over: npt.NDArray[np.bool_]  # (N,) whether the lane's game is over


class Ends(NamedTuple):
    """How games ended, where they are over."""

    placements: npt.NDArray[np.int64]  # (N, P) places, from 1
    rounds: npt.NDArray[np.int64]  # (N,)
    observations: npt.NDArray[np.uint64]  # (N, P, D / 8) each seat's last one


class Episodes(NamedTuple):
    """Which game each lane plays."""

    autoreset: bool  # whether a lane's next game begins when one is over
    seed: np.uint64  # of the batch
    numbers: npt.NDArray[np.int64]  # (N,)
    seeds: npt.NDArray[np.uint64]  # (N,) `mix(seed, lane, number)`


class Questions(NamedTuple):
    """What each lane's seat to decide is asked."""

    mask_kind: int  # NO_MASK, BIT_MASK or BYTE_MASK
    masks: npt.NDArray[np.uint64]  # (N, W)
    view_cache: Array  # view_cache_dtype (N,) the facts that the observations were written from
    observations: npt.NDArray[np.uint64]  # (N, D / 8)
    seats: npt.NDArray[np.int64]  # (N,)
