"""Layout of the policy network: used columns of an observation, borders of the map, and blocks of actions."""

import numpy as np

from risk_env.arrays import Array
from risk_env.board.action_space import ActionSpace
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.network_features import COUNT_KINDS, global_features, used_columns
from risk_env.observations import observation_size


class Layout:
    """Used columns of an observation, borders of the map, and blocks of actions."""

    def __init__(self, rules: Rules, board: Board, num_actions: int) -> None:
        self.board, self.territories, self.num_actions = board, board.num_territories, num_actions
        self.observation_columns = observation_size(board)
        self.borders = np.array(board.borders)  # (B, 2): source and target of each border
        blocks = ActionSpace(rules, board).blocks
        self.border_0, self.card_0 = blocks["border"].start, blocks["card"].start
        self.count_columns, self.mark_columns = used_columns(rules)
        self.global_values = global_features(board)  # float32 (G, 128): feature of each column by its code

    @property
    def own_features(self) -> int:
        """Number of a territory's own features (F)."""
        return len(COUNT_KINDS) * len(self.count_columns) + len(self.mark_columns)

    @property
    def board_features(self) -> int:
        """Number of features of the board, which are the inputs of the trunk (I)."""
        return self.territories * self.own_features + len(self.global_values) + 4 * self.own_features

    def empty_features(self, count: int) -> tuple[Array, Array]:
        """Return arrays of zeros for `count` observations: float32 (count, T, 2 F) and float32 (count, I)."""
        territory_features = np.zeros((count, self.territories, 2 * self.own_features), np.float32)
        return territory_features, np.zeros((count, self.board_features), np.float32)

    def shapes(self, width: int, local: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight by name.

        Layers of the trunk have `width` units, and hidden layers of heads have `local` units.
        """
        shapes: dict[str, tuple[int, ...]] = {
            "trunk_1": (self.board_features, width),
            "trunk_2": (width, width),
        }
        shapes |= {"actions": (width, self.num_actions), "value": (width, 1)}
        for head, ends in (("territory", 1), ("border", 2), ("card", 1)):
            shapes[f"{head}_in"] = (2 * self.own_features * ends, local)
            shapes[f"{head}_trunk"] = (width, local)
            shapes[f"{head}_out"] = (local, 1)
        return shapes

    def all_shapes(self, width: int, local: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight and bias by name (see `shapes`)."""
        shapes = self.shapes(width, local)
        return shapes | {f"{name}_bias": shape[1:] for name, shape in shapes.items() if has_bias(name)}


def has_bias(name: str) -> bool:
    """Return True if the layer with the weights `name` adds a bias."""
    return not name.endswith(("_trunk", "_out"))
