"""A few kills of a trainer at random moments; `python -m tests.kill` does more.

`test_run` covers kills at every write.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kill import OWN_TRAINERS


def test_every_trainer_can_be_killed():
    from risk_training.config import TRAINERS
    from tests import test_run

    assert {"risk_training.sb3_trainer", *(f"risk_training.{name}" for name in OWN_TRAINERS)} == set(
        TRAINERS.values()
    )
    assert set(OWN_TRAINERS) <= set(test_run.TRAINERS)


@pytest.mark.long
def test_a_killed_run_loses_nothing():
    command = [sys.executable, "-m", "tests.kill", "ppo", "--runs", "1"]
    found = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "ppo: 1 runs" in found.stdout and "0 lost" in found.stdout
