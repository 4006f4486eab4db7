"""Observation spaces of all environments."""

from typing import Any

import numpy as np
from gymnasium import spaces

from risk_env.arguments import FLAT
from risk_env.board.maps import Board
from risk_env.core.observe import MOST_CODE
from risk_env.observations import observation_scales, split_view


def observation_space(board: Board, observation: str = FLAT) -> spaces.Space[Any]:
    """Return the space of observations on a map.

    The space is a Box (D,), or a Dict of "territories" (T, F) and "globals" (G,). The values of a column go
    from 0 to the highest code times the scale of the column.
    """
    highest = MOST_CODE * observation_scales(board)
    if observation == FLAT:
        return spaces.Box(np.zeros_like(highest), highest, dtype=np.float32)
    parts = split_view(highest, board)
    return spaces.Dict({name: spaces.Box(np.zeros_like(part), part) for name, part in parts.items()})
