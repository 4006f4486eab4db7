"""Agents compile and load what they need before they are first asked, wherever they play."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from risk_agents import registry
from risk_agents.dataset.recorder import Plan, record
from risk_agents.human.terminal import Terminal
from risk_agents.learned import duelist
from risk_agents.mcp import games as mcp_games
from risk_agents.play.table import Table
from risk_agents.search import judges, marshal, tactician
from risk_env import bots, compiling
from risk_env.agent import prepare
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_training.evaluate import play_piece
from tests import first_use

ROOT = Path(__file__).parent.parent
RULES = Rules.preset("classic", 2, setup="random", attack="blitz", defender_dice="max", max_rounds=2)
FILES = {
    "duelist": str(duelist.FILE),
    "duelist_search": f"search:{duelist.FILE}",
    "marshal": str(marshal.FILE),
    "strategist": str(judges.FILE),
    "tactician": str(tactician.FILE),
}

compiled_only = pytest.mark.skipif(
    any(os.environ.get(name) for name in ("NUMBA_DISABLE_JIT", "RISK_ENV_PLAIN_NUMBA")), reason="no entry points"
)


@compiled_only
@pytest.mark.slow
def test_nothing_is_compiled_or_loaded_while_an_agent_decides() -> None:
    assert first_use.check(list(first_use.works(few=True)), jobs=2) == []


@compiled_only
def test_trained_files_need_no_other_code_than_the_registered_agents() -> None:
    board, rules = load_map("classic"), Rules.preset("classic", 2, attack="blitz", defender_dice="max")
    for name, spec in FILES.items():
        compiling.compile_player(bots.find(name))
        before = first_use.loaded()
        prepare(registry.make(spec), rules, board)
        assert first_use.loaded() == before, name


CAREFUL = """
from risk_env import Agent
READY = []

class Careful(Agent):
    def prepare(self, rules, board):
        READY.append(rules.num_players)

    def reset(self, seat, rules, board, seed):
        assert rules.num_players in READY

    def act(self, view):
        return int(view.legal_actions[-1])
"""


def in_play(spec: str) -> None:
    Table(Game(RULES, "tiny", 3), ["human", spec], Terminal(io.StringIO(), io.StringIO()), "")


def in_evaluate(spec: str) -> None:
    play_piece(spec, "random", RULES, load_map("tiny"), range(1), seed=1)


def in_a_data_set(spec: str) -> None:
    next(record(Plan(RULES, load_map("tiny"), (spec,))))


def in_mcp(spec: str) -> None:
    options = {name: getattr(RULES, name) for name in ("setup", "attack", "defender_dice", "max_rounds")}
    mcp_games.OpenGames().begin("classic", [spec], board="tiny", seed=1, options=options)


@pytest.mark.parametrize("use", [in_play, in_evaluate, in_a_data_set, in_mcp])
def test_agents_prepare_before_their_first_game(
    use: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_games, "_bot", registry.make)  # which takes names only
    path = tmp_path / "careful.py"
    path.write_text(CAREFUL, encoding="utf-8")
    use(f"{path}:Careful")
    assert registry._module_of(path).READY


def warm_up(cache: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command `warmup` with its own cache."""
    command = [sys.executable, "-m", "risk_env", "warmup", *arguments]
    environment = os.environ | {"RISK_ENV_CACHE_DIR": str(cache)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@compiled_only
@pytest.mark.slow
def test_a_warmup_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    killed = warm_up(tmp_path)
    until = time.monotonic() + 300
    while not list(tmp_path.rglob("*.nbc")) and time.monotonic() < until:
        time.sleep(0.1)
    killed.kill()
    killed.communicate()
    again = warm_up(tmp_path)
    assert "compiled and cached" in again.communicate()[0] and again.returncode == 0
