"""Every script in `tests/clients` runs, where the library that it uses is installed."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CLIENTS = ROOT / "tests" / "clients"
LIBRARIES = {
    "gymnasium": "gymnasium",
    "openenv": "openenv",
    "pettingzoo": "pettingzoo",
    "rllib": "tree",  # RLlib's own requirement; Ray alone has the package without what it needs
    "sb3": "sb3_contrib",
    "textarena": "textarena",
    "tianshou": "tianshou",
    "torchrl": "torchrl",
    "trl": "trl",
    "verifiers": "verifiers",
}


def test_every_client_is_run() -> None:
    assert {path.stem.removeprefix("with_") for path in CLIENTS.glob("with_*.py")} == set(LIBRARIES)


@pytest.mark.parametrize(("client", "library"), LIBRARIES.items())
def test_a_client_runs(client: str, library: str) -> None:
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    search = os.pathsep.join(str(ROOT / folder) for folder in (".", "agents", "training"))
    command = [sys.executable, str(CLIENTS / f"with_{client}.py")]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
