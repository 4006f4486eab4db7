"""What the network of trained policies needs to know of a map and its rules: which columns of the view it looks at, and
where its outputs stand among the actions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.action_space import ActionSpace
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.observe import GLOBAL_BLOCKS, GLOBAL_WIDTH, TERRITORY_COLUMNS, num_globals

Array = npt.NDArray[Any]

MANY = 16.0  # codes are divided by this where a count goes in as it is
LOCAL_SCALE = 0.25  # of the sum over the neighbours


class Layout:
    """What the network needs to know of a map and its rules: columns that are ever used, borders, blocks of actions."""

    def __init__(self, rules: Rules, board: Board, num_actions: int) -> None:
        self.territories, self.num_actions = board.num_territories, num_actions
        self.sources = np.array([source for source, _ in board.borders])
        self.targets = np.array([target for _, target in board.borders])
        blocks = ActionSpace(rules, board).blocks
        self.border_0, self.card_0 = blocks["border"].start, blocks["card"].start
        self.counts, self.marks = used_columns(rules)
        self.global_counts = counted_globals(board)

    @property
    def columns(self) -> int:
        """Features of a territory by itself."""
        return 3 * len(self.counts) + len(self.marks)

    @property
    def inputs(self) -> int:
        """Features that the trunk sees."""
        return self.territories * self.columns + len(self.global_counts) + 4 * self.columns

    def room(self, count: int) -> tuple[Array, Array]:
        """Room for what is seen of so many views: places float32 (k, T, 2 F) and the whole board (k, I)."""
        places = np.zeros((count, self.territories, 2 * self.columns), np.float32)
        return places, np.zeros((count, self.inputs), np.float32)

    @cached_property
    def end_columns(self) -> tuple[int, int]:
        """Where `source` and `target` are among the features of a territory."""
        names = [TERRITORY_COLUMNS[column][0] for column in self.marks]
        first = 3 * len(self.counts)
        return first + names.index("source"), first + names.index("target")

    def shapes(self, width: int, local: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the weights, for a trunk and local heads of so many units."""
        shapes: dict[str, tuple[int, ...]] = {"trunk_1": (self.inputs, width), "trunk_2": (width, width)}
        shapes |= {"actions": (width, self.num_actions), "value": (width, 1)}
        for head, ends in (("territory", 1), ("border", 2), ("card", 1)):
            shapes[f"{head}_in"] = (2 * self.columns * ends, local)
            shapes[f"{head}_trunk"] = (width, local)
            shapes[f"{head}_out"] = (local, 1)
        return shapes


def used_columns(rules: Rules) -> tuple[list[int], list[int]]:
    """The columns of a territory that these rules ever use: those that count troops, and the others."""
    names = [name for name, _ in TERRITORY_COLUMNS]
    counts = [f"troops_{k}" for k in range(rules.num_players)] + ["troops_neutral"] * rules.neutral
    marks = ["source", "target", "own_card", "known_card", "discarded"]
    if rules.deck == "star":
        marks += ["city", "seat_of", "airfield", "taken"]
    elif rules.victory == "headquarters":
        marks += ["seat_of"]
    return [names.index(name) for name in counts], [names.index(name) for name in marks]


def counted_globals(board: Board) -> npt.NDArray[np.bool_]:
    """bool (G,): which global columns are counts (docs/observation.md)."""
    counted = np.zeros(num_globals(len(board.continents)), np.bool_)
    blocks = [("(count" in meaning, width) for _, width, meaning in GLOBAL_BLOCKS]
    counted[:GLOBAL_WIDTH] = np.repeat([is_count for is_count, _ in blocks], [width for _, width in blocks])
    return counted


def scaled_counts(codes: Array) -> tuple[Array, Array, Array]:
    """What the network makes of the codes of counts, float32: any or none, logarithm, share of many."""
    return codes.clip(0, 1), np.log1p(codes) / 2, codes / MANY
