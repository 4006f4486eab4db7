"""Canaries of the modes (`make test`, `make long`): each mode does what its name says."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from risk_env.compiler import PLAIN, entry_point, kernel
from risk_env.compiler.mode import TESTED, plain_reason
from risk_env.core import bits

pytestmark = pytest.mark.modes


@entry_point
def element(numbers: np.ndarray, i: int) -> int:
    """Return the i-th element of an array, whether it exists or not."""
    return numbers[i]


def core_element(numbers: np.ndarray, i: int) -> int:
    """Return the same in the core, which allows no negative index."""
    return numbers[i]


core_element.__module__ = bits.__name__
core_element = kernel(core_element)


@entry_point
def element_in_core(numbers: np.ndarray, i: int) -> int:
    """Return the element that the core reads."""
    return core_element(numbers, i)


def test_kernels_are_compiled_unless_the_mode_says_otherwise(kernel_mode: str) -> None:
    assert hasattr(element, "py_func") == (kernel_mode != "interpreted")


def test_reading_out_of_bounds_raises_where_it_is_checked(kernel_mode: str) -> None:
    if kernel_mode in ("compiled", "plain"):
        pytest.skip("unchecked reads are what this mode is fast by")
    with pytest.raises(IndexError):
        element(np.arange(3), 3)


def test_a_negative_index_is_an_error_in_the_core(kernel_mode: str) -> None:
    assert element(np.arange(3), -1) == 2
    if kernel_mode != "bounds-checked":
        pytest.skip("unchecked reads are what the compiled mode is fast by; Python counts from the end")
    with pytest.raises(IndexError):
        element_in_core(np.arange(3), -1)


PRIVATE = {f"risk_env.compiler.{name}" for name in ("memory", "pipeline", "vectors")}


def test_plain_mode_imports_no_private_part_of_numba(kernel_mode: str) -> None:
    assert (kernel_mode == "plain") == PLAIN
    if kernel_mode != "interpreted":
        assert (PRIVATE & sys.modules.keys() == set()) == PLAIN


def test_plain_mode_compiles_with_numbas_own_pipeline(kernel_mode: str) -> None:
    if kernel_mode == "interpreted":
        pytest.skip("nothing is compiled")
    pipelines = {function._compiler.pipeline_class.__module__ for function in (element, core_element)}
    assert pipelines == (
        {"numba.core.compiler"} if kernel_mode == "plain" else {"risk_env.compiler.pipeline"}
    )


@pytest.mark.parametrize(
    ("version", "setting", "reason"),
    [
        (f"{TESTED[0]}.0", "", ""),
        (f"{TESTED[-1]}.7", "0", ""),
        ("0.68.1", "1", "RISK_ENV_PLAIN_NUMBA=1"),
        ("0.9.0", "", "Numba 0.9.0"),
        ("9.99.0", "", "Numba 9.99.0"),
    ],
)
def test_the_reason_for_plain_mode_is_named(version: str, setting: str, reason: str) -> None:
    assert plain_reason(version, setting).startswith(reason)
    assert bool(plain_reason(version, setting)) == bool(reason)


def test_the_versions_that_pip_may_install_are_the_tested_ones() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (numba,) = (entry for entry in project["project"]["dependencies"] if entry.startswith("numba"))
    least, beyond = re.fullmatch(r"numba>=0\.(\d+),<0\.(\d+)", numba).groups()
    assert tuple(f"0.{minor}" for minor in range(int(least), int(beyond))) == TESTED


OTHER_NUMBA = """
import sys, warnings
import numba
numba.__version__ = "9.99.0"
sys.modules |= dict.fromkeys({private!r})  # what an import of would fail
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import risk_env.compiler, risk_env.engine.vectors
print(*[str(warning.message) for warning in caught if "9.99.0" in str(warning.message)], sep="\\n")
"""


def test_another_numba_is_reported_once_and_its_private_parts_are_not_touched() -> None:
    compiled = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "RISK_ENV_"))
    }
    script = OTHER_NUMBA.format(private=PRIVATE)
    done = subprocess.run(
        [sys.executable, "-c", script], env=compiled, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Numba 9.99.0 is untested; tested: ") == 1
