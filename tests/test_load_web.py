"""A few live games under load; `python -m tests.load_web` plays a hundred."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")


@pytest.mark.long
def test_a_killed_server_loses_no_frame_that_was_seen_and_hostile_clients_stop_nobody() -> None:
    small = ["--games", "4", "--watchers", "10", "--seconds", "3", "--late", "5"]
    small += ["--memory", "1000"]  # compiling counts
    small += ["--unread", "2", "--half-open", "150", "--blitzes", "4"]
    command = [sys.executable, "-m", "tests.load_web", *small]
    found = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 watchers lost frames" in found.stdout and " 4 blitzes" in found.stdout
