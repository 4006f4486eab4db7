"""Observations as floats: the codes of `core.observe`, each multiplied by the scale of its column.

Counts have the scale 1/8. Flags, other small numbers and the columns of continents have the scale 1
(docs/observation.md).
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.arguments import FLAT
from risk_env.board.maps import Board
from risk_env.core.observe import GLOBAL_BLOCKS, GLOBAL_WIDTH, TERRITORY_COLUMNS, TERRITORY_WIDTH, num_globals

COUNT_DIVISOR = 8.0  # divisor of the code of a count


def observation_size(board: Board) -> int:
    """Return the length of a flat observation on this map, D."""
    return TERRITORY_WIDTH * board.num_territories + num_globals(len(board.continents))


def counted_globals(board: Board) -> npt.NDArray[np.bool_]:
    """Return a mask of the global columns that are counts, bool (G,) (docs/observation.md).

    Columns of continents are not included.
    """
    counted = np.zeros(num_globals(len(board.continents)), np.bool_)
    widths = [width for _, width, _ in GLOBAL_BLOCKS]
    counted[:GLOBAL_WIDTH] = np.repeat([is_count(meaning) for _, _, meaning in GLOBAL_BLOCKS], widths)
    return counted


def is_count(meaning: str) -> bool:
    """Return whether a column with this documented meaning is a count."""
    return "(count" in meaning


@lru_cache(maxsize=16)
def observation_scales(board: Board) -> npt.NDArray[np.float32]:
    """Return the scale of every column of a flat observation, a read-only float32 (D,).

    The float observation is the int8 codes times the scales.
    """
    of_territory = [is_count(meaning) for _, meaning in TERRITORY_COLUMNS]
    counted = np.concatenate([np.tile(of_territory, board.num_territories), counted_globals(board)])
    scales = np.where(counted, 1 / COUNT_DIVISOR, 1).astype(np.float32)
    scales.flags.writeable = False
    return scales


def as_floats(codes: npt.NDArray[Any], board: Board, observation: str = FLAT) -> Any:
    """Convert observations, int8 (k, D), to new float32 arrays for learners.

    With `observation="flat"` the result is an array (k, D). With "structured" the result is a dict
    {"territories": (k, T, F), "globals": (k, G)}.
    """
    values = np.multiply(codes, observation_scales(board), dtype=np.float32)
    if observation == FLAT:
        return values
    return {name: np.ascontiguousarray(part) for name, part in split_view(values, board).items()}


def as_codes(observations: Any, board: Board) -> npt.NDArray[np.int8]:
    """Return the codes, int8 (k, D), of flat float observations (k, D). Takes an array or a tensor."""
    return np.rint(np.asarray(observations) / observation_scales(board)).astype(np.int8)


def split_view(values: npt.NDArray[Any], board: Board) -> dict[str, npt.NDArray[Any]]:
    """Split flat observations (..., D) into {"territories": (..., T, F), "globals": (..., G)}.

    The parts are views of the observations where possible.
    """
    border = TERRITORY_WIDTH * board.num_territories
    territories = values[..., :border].reshape(*values.shape[:-1], -1, TERRITORY_WIDTH)
    return {"territories": territories, "globals": values[..., border:]}
