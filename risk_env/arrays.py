"""Types of arrays in signatures; shapes stand in docstrings and comments."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers = Ints  # of lanes, seats, actions
