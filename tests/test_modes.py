"""Canaries of the three modes (`make test`): each really does what its name says."""

import numpy as np
import pytest

from risk_env.core.jit import entry_point

pytestmark = pytest.mark.modes


@entry_point
def element(numbers: np.ndarray, i: int) -> int:
    """The i-th of an array, whether it is there or not."""
    return numbers[i]


def test_kernels_are_compiled_unless_the_mode_says_otherwise(kernel_mode: str) -> None:
    assert hasattr(element, "py_func") == (kernel_mode != "interpreted")


def test_reading_out_of_bounds_raises_where_it_is_checked(kernel_mode: str) -> None:
    if kernel_mode == "compiled":
        pytest.skip("unchecked reads are what this mode is fast by")
    with pytest.raises(IndexError):
        element(np.arange(3), 3)
