"""Types of arrays for signatures, and a reader for arrays in untrusted files.

Docstrings and comments give the shapes.
"""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.bounded_io import read_file, read_zip
from risk_env.messages import shortened

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers = Ints  # numbers of lanes, seats or actions


def read_npz(path: str | Path, most: int, kinds: str) -> dict[str, Array]:
    """Return the arrays in a NumPy archive (.npz), by name.

    Neither the archive nor the total of its expanded files may have more than `most` bytes. `kinds` are the
    letters of the allowed dtypes (`numpy.dtype.kind`), and must not contain "O". Raises one of the errors
    in `bounded_io.UNREADABLE` for any other file.
    """
    members = read_zip(read_file(path, most), most)
    return {name.removesuffix(".npy"): _read_array(data, kinds) for name, data in members.items()}


def _read_array(data: bytes, kinds: str) -> Array:
    """Return the array in the bytes of a .npy file. The size is checked before the array is allocated.

    `kinds` are the letters of the allowed dtypes. Raises ValueError for other dtypes, and for bytes that are
    not a valid .npy file of format 1.0.
    """
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array has NumPy's format {version[0]}.{version[1]}: must be 1.0")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    size = len(data) - file.tell()
    if dtype.kind not in kinds or math.prod(shape) * dtype.itemsize != size:
        allowed = f"dtype.kind must be one of {list(kinds)}, and the array must have {size} bytes"
        given = f"an array of dtype {shortened(str(dtype))} and shape {shortened(shape)}"
        raise ValueError(f"{given}: {allowed}")
    if dtype == np.bool_ and np.frombuffer(data, np.uint8, offset=file.tell()).max(initial=0) > 1:
        raise ValueError("a boolean array contains bytes other than 0 and 1")
    return (
        np.frombuffer(data, dtype, offset=file.tell())
        .reshape(shape, order="F" if fortran_order else "C")
        .copy()
    )
