"""A few live games under load; `python -m tests.load_web` plays a hundred."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")


def test_a_killed_server_loses_no_frame_that_was_seen() -> None:
    small = ["--games", "4", "--watchers", "8", "--seconds", "3", "--late", "5", "--memory", "600"]
    command = [sys.executable, "-m", "tests.load_web", *small]
    found = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 watchers lost frames" in found.stdout
