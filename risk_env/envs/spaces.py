"""The observation spaces of all environments."""

from typing import Any

import numpy as np
from gymnasium import spaces

from risk_env.arguments import FLAT
from risk_env.board.maps import Board
from risk_env.core.observe import TERRITORY_WIDTH
from risk_env.game import observation_size


def observation_space(board: Board, observation: str = FLAT) -> spaces.Space[Any]:
    """Return the space of observations on a map.

    It is a Box (D,) in 0 ... 1, or a Dict of territories (T, F) and globals (G,).
    """
    D, T = observation_size(board), board.num_territories
    shapes = {"territories": (T, TERRITORY_WIDTH), "globals": (D - T * TERRITORY_WIDTH,)}
    if observation == FLAT:
        return spaces.Box(0.0, 1.0, (D,), np.float32)
    return spaces.Dict({name: spaces.Box(0.0, 1.0, shape, np.float32) for name, shape in shapes.items()})
