"""The notices before anything is compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from risk_env.compiler import notice

ROOT = Path(__file__).parent.parent

PROGRAM = """
import sys
import numpy as np
from risk_env.compiler import entry_point

@entry_point
def first(numbers):
    return numbers[0]

@entry_point
def second(numbers):
    return numbers[1]

print(first(np.arange(2)), second(np.arange(2)))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program with two kernels, in a folder of its own."""
    path = tmp_path / "kernels.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def errors_of(program: Path, code: str = "import kernels", **environment: str) -> list[str]:
    """Return the lines on stderr of a process that runs the program with its own cache."""
    settings = {"RISK_ENV_CACHE_DIR": str(program.parent / "cache"), "PYTHONPATH": f"{program.parent}:{ROOT}"}
    usual = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "RISK_ENV_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=usual | settings | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 1\n"
    return done.stderr.splitlines()


def test_compiling_is_reported_in_one_line_and_loading_is_not(program: Path) -> None:
    (line,) = errors_of(program)
    assert line.startswith("risk_env: compiling kernels for the first use")
    assert line.endswith(f"(cached in {program.parent / 'cache'})")
    assert errors_of(program) == []


def test_compiling_is_reported_again_after_a_pause(program: Path) -> None:
    code = "from risk_env.compiler import notice; notice.PAUSE = 0.0; import kernels"
    assert len(errors_of(program, code)) == 2


def test_the_report_is_a_warning_that_can_be_switched_off(program: Path) -> None:
    code = "import logging; logging.getLogger('risk_env').setLevel('ERROR'); import kernels"
    assert errors_of(program, code) == []


def test_nothing_is_reported_where_nothing_is_compiled(program: Path) -> None:
    assert errors_of(program, NUMBA_DISABLE_JIT="1") == []


def test_the_rules_are_named_as_such() -> None:
    assert "compiling the rules" in notice._notice("risk_env.core.entry", None)
    assert "not cached" in notice._notice("risk_env.core.entry", None)
