"""The scripts of `tests/clients` run.

`make clients` runs those whose libraries need an environment of their own.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.clients import APART, HERE

ROOT = Path(__file__).parent.parent
CLIENTS = ROOT / "tests" / "clients"


def test_every_client_is_run() -> None:
    assert sorted(path.stem.removeprefix("with_") for path in CLIENTS.glob("with_*.py")) == sorted(
        [*HERE, *APART]
    )


@pytest.mark.parametrize(
    "client", [pytest.param(name, marks=pytest.mark.long) if name == "sb3" else name for name in HERE]
)
def test_a_client_runs(client: str) -> None:
    if client == "sb3" and find_spec("sb3_contrib") is None:
        pytest.skip("sb3_contrib is not installed")
    search = os.pathsep.join(str(ROOT / folder) for folder in (".", "agents", "training"))
    command = [sys.executable, str(CLIENTS / f"with_{client}.py")]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
