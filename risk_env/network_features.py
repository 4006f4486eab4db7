"""Features for neural networks: float32 arrays computed from observations (docs/features.md).

Most counts are scaled, and all other columns are unchanged. A territory has its own features, and the sum of
its neighbours' features times NEIGHBOUR_SCALE. The neighbours of a territory are its targets
(`Board.targets`). The networks of this project read the same features.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.observe import (
    CONTINENT_COLUMNS,
    GLOBAL_BLOCKS,
    MOST_CODE,
    TERRITORY_COLUMNS,
    num_globals,
)
from risk_env.game import Game
from risk_env.observations import check_flat, counted_globals, observation_size, split_view

COUNT_SCALE = 16.0  # divisor of a count's code in the linear feature of the count
NEIGHBOUR_SCALE = 0.25  # factor of the sum over the neighbours' features
COUNT_KINDS = ("any", "log", "linear")  # the features of a count, in the order of `count_features`


class Features(NamedTuple):
    """Features of k observations. For a game or a single observation, the arrays have no first axis."""

    territories: npt.NDArray[np.float32]  # (k, T, 2 F): own features, then scaled sums over the neighbours
    globals: npt.NDArray[np.float32]  # (k, G): features of the whole board


class StaticFeatures(NamedTuple):
    """Features of a map, which are the same in every game (`static_features`)."""

    # (T, 4): number of targets, number of targets in other continents, size and bonus of the continent
    territories: npt.NDArray[np.float32]
    # (C, 3): number of territories, bonus, number of territories with a source in another continent
    continents: npt.NDArray[np.float32]
    members: npt.NDArray[np.float32]  # (T, C): 1 if the territory belongs to the continent
    edge_index: npt.NDArray[np.int64]  # (2, E): `Board.edge_index`


def features(
    source: Game | Array, rules: Rules | None = None, board: Board | None = None, *, seat: int | None = None
) -> Features:
    """Return the features of a game for a seat, or of observations.

    The default of `seat` is the seat to act, or seat 0 if the game is over.

    Observations are int8 codes (k, D) or (D,) as `GameBatch` returns them, and need `rules` and `board`. The
    float32 arrays are new in each call, and `torch.from_numpy` can use them without a copy. Raises ValueError
    for observations of another dtype or shape, for negative codes, and for observations without `rules` or
    `board`.
    """
    if isinstance(source, Game):
        seat = max(source.seat, 0) if seat is None else seat
        return features(source.observe_codes(seat), source.rules, source.board)
    if rules is None or board is None:
        raise ValueError("features of observations need rules and board: pass both rules= and board=")
    parts = split_view(checked_codes(source, observation_size(board)), board)
    counts, marks = used_columns(rules)
    own_counts = [table[parts["territories"][..., counts]] for table in _count_features().T]
    own = np.concatenate([*own_counts, parts["territories"][..., marks].astype(np.float32)], -1)
    near = np.float32(NEIGHBOUR_SCALE) * (_adjacency(board) @ own)
    table = _global_features(board)
    whole = table[np.arange(len(table)), parts["globals"]]
    return Features(np.concatenate([own, near], -1), whole)


def feature_names(rules: Rules, board: Board) -> tuple[list[str], list[str]]:
    """Return the names of the features of a territory (2 F), and of the whole board (G)."""
    columns = [name for name, _ in TERRITORY_COLUMNS]
    counts, marks = used_columns(rules)
    own = [f"{columns[count]}_{kind}" for kind in COUNT_KINDS for count in counts]
    own += [columns[column] for column in marks]
    names = [
        f"{name}_{place}" if width > 1 else name for name, width, _ in GLOBAL_BLOCKS for place in range(width)
    ]
    names += [f"{name} of {continent}" for continent in board.continents for name, _ in CONTINENT_COLUMNS]
    names += ["unused"] * (num_globals(len(board.continents)) - len(names))
    return own + [f"near_{name}" for name in own], names


def static_features(board: Board) -> StaticFeatures:
    """Return the features of a map that are the same in every game. Counts and bonuses are divided by 8."""
    members = np.zeros((board.num_territories, len(board.continents)), np.float32)
    members[np.arange(board.num_territories), board.continent_of] = 1
    source, target = board.edge_index
    leaves = np.array(board.continent_of)[source] != np.array(board.continent_of)[target]
    beyond = np.bincount(source[leaves], minlength=board.num_territories)
    sizes, bonuses = members.sum(axis=0), np.array(board.bonuses, np.float32)
    entered = np.bincount(target[leaves], minlength=board.num_territories) > 0
    entries = (members * entered[:, None]).sum(axis=0)
    degree = np.bincount(source, minlength=board.num_territories)
    territories = np.stack([degree, beyond, members @ sizes, members @ bonuses], axis=1) / 8
    continents = np.stack([sizes, bonuses, entries], axis=1) / 8
    return StaticFeatures(
        territories.astype(np.float32), continents.astype(np.float32), members, board.edge_index
    )


def checked_codes(observations: Any, columns: int, is_batch: bool = False) -> npt.NDArray[np.int8]:
    """Return observations with `columns` columns as an array of codes, int8 (..., D).

    With `is_batch`, the shape must be (k, D). Raises ValueError for another shape or dtype, or for a negative
    code.
    """
    check_flat(observations, columns)
    codes = np.asarray(observations)
    has_shape = codes.shape[-1:] == (columns,) and (codes.ndim == 2 or not is_batch)
    if codes.dtype != np.int8 or not has_shape or codes.min(initial=0) < 0:
        told = f"dtype {codes.dtype}, shape {codes.shape}, smallest value {codes.min(initial=0)}"
        shape = f"({'k' if is_batch else '...'}, {columns})"
        raise ValueError(f"observations have {told}: must be int8 codes from 0 to {MOST_CODE}, shape {shape}")
    return codes


@lru_cache(maxsize=16)
def _adjacency(board: Board) -> npt.NDArray[np.float32]:
    """Return a matrix (T, T): 1 for each border from a source (row) to a target (column), and 0 elsewhere."""
    matrix = np.zeros((board.num_territories, board.num_territories), np.float32)
    matrix[tuple(board.edge_index)] = 1
    return matrix


def used_columns(rules: Rules) -> tuple[list[int], list[int]]:
    """Return the columns of a territory that become features: the counts of troops, then the others."""
    names = [name for name, _ in TERRITORY_COLUMNS]
    counts = [f"troops_{k}" for k in range(rules.num_players)] + ["troops_neutral"] * rules.neutral
    marks = ["source", "target", "own_card", "known_card", "discarded"]
    if rules.deck == "star":
        marks += ["city", "headquarters_of", "airfield", "taken"]
    elif rules.victory == "headquarters":
        marks += ["headquarters_of"]
    return [names.index(name) for name in counts], [names.index(name) for name in marks]


def count_features() -> npt.NDArray[np.float32]:
    """Return the features of each code of a count, float32 (128, 3): 0 or 1, logarithmic, and linear."""
    codes = np.arange(MOST_CODE + 1, dtype=np.float32)
    return np.stack([codes.clip(0, 1), np.log1p(codes) / 2, codes / COUNT_SCALE], 1)


def global_features(board: Board) -> npt.NDArray[np.float32]:
    """Return the feature of each global column for each code, float32 (G, 128).

    The features of the columns in `counted_globals` are logarithmic. The feature of any other column is the
    code itself.
    """
    codes = np.arange(MOST_CODE + 1, dtype=np.float32)
    logarithmic = count_features()[:, COUNT_KINDS.index("log")]
    return np.where(counted_globals(board)[:, None], logarithmic, codes)


_count_features = lru_cache(maxsize=1)(count_features)
_global_features = lru_cache(maxsize=16)(global_features)
