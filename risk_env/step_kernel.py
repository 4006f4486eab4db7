"""Kernel for one step of one game, compiled once for each size class."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.tables import Tables
from risk_env.compiler import compiled_for
from risk_env.core import entry
from risk_env.core.step import NO_ACTION
from risk_env.core.types import SizeClass, board_dtype, game_dtype, rules_dtype


@cache
def step_kernel(sizes: SizeClass) -> Callable[..., Any]:
    """Return `entry.step_game`, compiled for the records of a size class."""
    games, board, rules = (np.zeros(1, dtype(sizes)) for dtype in (game_dtype, board_dtype, rules_dtype))
    return compiled_for(entry.step_game, games, 0, board, rules, 0)


def play_on(games: npt.NDArray[Any], lane: int, tables: Tables) -> None:
    """Play the chance events and forced actions of the game in a lane, up to the next decision."""
    step_kernel(tables.sizes)(games, lane, tables.board, tables.rules, NO_ACTION)
