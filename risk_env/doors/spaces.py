"""The spaces of observations, for all doors."""

from typing import Any

import numpy as np
from gymnasium import spaces

from risk_env.board.maps import Board
from risk_env.core.observe import TERRITORY_WIDTH
from risk_env.game import observation_size


def observation_space(board: Board, observation: str = "flat") -> spaces.Space[Any]:
    """The space of observations on a map: Box (D,) in 0 ... 1, or a Dict of territories (T, F) and globals (G,)."""
    D, T = observation_size(board), board.num_territories
    if observation == "flat":
        return _unit_box(D)
    split = T * TERRITORY_WIDTH
    return spaces.Dict({"territories": _unit_box(T, TERRITORY_WIDTH), "globals": _unit_box(D - split)})


def _unit_box(*shape: int) -> spaces.Box:
    return spaces.Box(0.0, 1.0, shape, np.float32)
