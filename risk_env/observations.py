"""Observations as floats: the codes of `core.observe`, each multiplied by the scale of its column.

Counts have the scale 1/8. All other columns, and all columns of continents, have the scale 1
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
    """Return the length D of a flat observation on this map."""
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
    """Return True if the documented meaning of a column says that the column is a count."""
    return "(count" in meaning


@lru_cache(maxsize=16)
def observation_scales(board: Board) -> npt.NDArray[np.float32]:
    """Return the scale of every column of a flat observation: read-only, float32 (D,).

    A float observation is the product of the int8 codes and the scales.
    """
    of_territory = [is_count(meaning) for _, meaning in TERRITORY_COLUMNS]
    counted = np.concatenate([np.tile(of_territory, board.num_territories), counted_globals(board)])
    scales = np.where(counted, 1 / COUNT_DIVISOR, 1).astype(np.float32)
    scales.flags.writeable = False
    return scales


def as_floats(codes: npt.NDArray[Any], board: Board, observation: str = FLAT) -> Any:
    """Return observations, int8 (k, D), as new float32 arrays for learners.

    With `observation="flat"`, the result is an array (k, D). With "structured", the result is a dict of
    "territories" (k, T, F) and "globals" (k, G).
    """
    scales = observation_scales(board)
    check_flat(codes, len(scales))
    if np.shape(codes)[-1:] != scales.shape:
        raise ValueError(
            f"observations have shape {np.shape(codes)}: must be (..., {len(scales)}) on this map"
        )
    values = np.multiply(codes, scales, dtype=np.float32)
    if observation == FLAT:
        return values
    return {name: np.ascontiguousarray(part) for name, part in split_view(values, board).items()}


def check_flat(codes: Any, columns: int) -> None:
    """Raise ValueError if observations are a dict instead of an array (..., D). D is `columns`."""
    if isinstance(codes, dict):
        keys = ", ".join(map(repr, codes))
        raise ValueError(
            f"observations have the keys {keys}: must be one array (..., {columns}), as with "
            "observation='flat'"
        )


def as_codes(observations: Any, board: Board) -> npt.NDArray[np.int8]:
    """Return the codes of flat observations, int8 (k, D).

    `observations` is an array or a tensor of floats (k, D).
    """
    return np.rint(np.asarray(observations) / observation_scales(board)).astype(np.int8)


def split_view(values: npt.NDArray[Any], board: Board) -> dict[str, npt.NDArray[Any]]:
    """Return flat observations (..., D) as a dict of "territories" (..., T, F) and "globals" (..., G).

    The parts are views of `values` if possible.
    """
    border = TERRITORY_WIDTH * board.num_territories
    territories = values[..., :border].reshape(*values.shape[:-1], board.num_territories, TERRITORY_WIDTH)
    return {"territories": territories, "globals": values[..., border:]}
