"""`risk-env play` begins a game before the code is compiled, and compiles the code in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from risk_agents.play import uncompiled
from risk_env.compiler import JIT_DISABLED
from risk_env.game import Game

fcntl = pytest.importorskip("fcntl", reason="Windows compiles before the game")


@pytest.fixture
def empty_cache(tmp_path: Path) -> Iterator[Path]:
    """Return an empty cache folder whose lock is held, so that no process compiles for later games."""
    root = tmp_path / "cache"
    root.mkdir(mode=0o700)
    with (root / uncompiled.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield root


def in_process(command: list[str], cache: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RISK_ENV_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.run(
        [sys.executable, *command],
        input=typed,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=cache.parent,
    )


def test_a_first_game_begins_uncompiled_and_a_resumed_game_goes_on(empty_cache: Path) -> None:
    start, save = ["-m", "risk_env", "play"], ["--save", "a.json"]
    begun = in_process([*start, "--opponents", "breaker", *save], empty_cache, "quit\n")
    assert begun.stdout.startswith("The game begins with uncompiled code"), begun.stderr
    assert "classic on the map Classic: 0 You, 1 breaker" in begun.stdout
    resumed = in_process([*start, "--resume", "a.json"], empty_cache, "quit\n")
    assert resumed.stdout.startswith("The game begins with uncompiled code"), resumed.stderr
    assert "The game continues" in resumed.stdout
    assert {path.name for path in empty_cache.rglob("*.nbc")} == set()


def test_only_one_process_compiles(empty_cache: Path) -> None:
    done = in_process(["-m", "risk_agents.play.uncompiled"], empty_cache)
    assert done.returncode == 0, done.stderr
    assert not list(empty_cache.rglob("*.nbc"))


CALLED = """
from risk_agents.play import cli, uncompiled
uncompiled.os.execve = lambda *_: print("replaced")
cli.must_wait = lambda _: print("would wait")
cli.main(["--opponents", "none"])
"""


def test_a_program_that_calls_the_command_is_not_replaced(empty_cache: Path) -> None:
    done = in_process(["-c", CALLED], empty_cache)
    assert "would wait" not in done.stdout and "replaced" not in done.stdout
    assert "none" in done.stderr  # an unknown agent


MUST_WAIT = """
from risk_agents.play.uncompiled import must_wait
for players in ["breaker,human", "planner,saver", "human", "beam", "strategist", "breaker,llm:any"]:
    print(players, must_wait(players.split(",")))
"""


def test_search_and_other_agents_wait_for_compiled_code(empty_cache: Path) -> None:
    done = in_process(["-c", MUST_WAIT], empty_cache)
    answers = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert answers == {
        "breaker,human": "True",
        "planner,saver": "True",
        "human": "True",
        "beam": "False",
        "strategist": "False",
        "breaker,llm:any": "False",
    }


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_game_whose_code_is_compiled_does_not_start_again() -> None:
    game = Game(seed=0)
    game.step(int(game.legal_actions()[0]))
    assert not uncompiled.must_wait(["human"])
