"""Canaries of the three modes (`make test`): each really does what its name says."""

import numpy as np
import pytest

from risk_env.compiler import entry_point, kernel

pytestmark = pytest.mark.modes


@entry_point
def element(numbers: np.ndarray, i: int) -> int:
    """The i-th of an array, whether it is there or not."""
    return numbers[i]


def core_element(numbers: np.ndarray, i: int) -> int:
    """The same in the core, which counts no index from the end."""
    return numbers[i]


core_element.__module__ = "risk_env.core.canary"
core_element = kernel(core_element)


@entry_point
def element_in_core(numbers: np.ndarray, i: int) -> int:
    """What the core reads."""
    return core_element(numbers, i)


def test_kernels_are_compiled_unless_the_mode_says_otherwise(kernel_mode: str) -> None:
    assert hasattr(element, "py_func") == (kernel_mode != "interpreted")


def test_reading_out_of_bounds_raises_where_it_is_checked(kernel_mode: str) -> None:
    if kernel_mode == "compiled":
        pytest.skip("unchecked reads are what this mode is fast by")
    with pytest.raises(IndexError):
        element(np.arange(3), 3)


def test_a_negative_index_is_an_error_in_the_core(kernel_mode: str) -> None:
    assert element(np.arange(3), -1) == 2
    if kernel_mode != "bounds-checked":
        pytest.skip("unchecked reads are what the compiled mode is fast by; Python counts from the end")
    with pytest.raises(IndexError):
        element_in_core(np.arange(3), -1)
