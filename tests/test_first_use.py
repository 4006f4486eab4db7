"""Agents compile and load their code before their first decision, in every command."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from risk_agents import registry
from risk_agents.dataset.recorder import RecordingSpec, record
from risk_agents.human.terminal import Terminal
from risk_agents.learned import duelist
from risk_agents.mcp import games as mcp_games
from risk_agents.play.terminal_table import TerminalTable
from risk_agents.search import judges, marshal, tactician
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.players import PlayerPool
from risk_agents.tournament.runner import play_single
from risk_env import bots, compiling
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_training.evaluate import play_piece
from tests import first_use

ROOT = Path(__file__).parent.parent
RULES = Rules.preset("classic", 2, setup="random", attack="blitz", defender_dice="max", max_rounds=2)
FILES = {
    "duelist": str(duelist.FILE),
    "marshal": str(marshal.FILE),
    "strategist": str(judges.FILE),
    "tactician": str(tactician.FILE),
}

compiled_only = pytest.mark.skipif(
    any(os.environ.get(name) for name in ("NUMBA_DISABLE_JIT", "RISK_ENV_PLAIN_NUMBA")),
    reason="no entry points",
)


@compiled_only
@pytest.mark.slow
def test_nothing_is_compiled_or_loaded_while_an_agent_decides() -> None:
    """For some agents and games; `python -m tests.first_use` plays all of them."""
    works = [
        first_use.Work("strategist", ("classic:2", "classic:5")),
        first_use.Work("strategist", ("command_room:3",)),
        first_use.Work("tactician", ("classic:3",)),
    ]
    assert first_use.check(works, jobs=2) == []


@pytest.mark.long
@compiled_only
def test_trained_files_need_no_other_code_than_the_registered_agents() -> None:
    board, rules = load_map("classic"), Rules.preset("classic", 2, attack="blitz", defender_dice="max")
    for name, spec in FILES.items():
        compiling.compile_player(bots.find(name))
        before = first_use.loaded()
        registry.make(spec).prepare(rules, board)
        assert first_use.loaded() == before, name


CAREFUL = """
from risk_env import Agent
READY = []

class Careful(Agent):
    def prepare(self, rules, board):
        READY.append(rules.num_players)
        self.net = rules.num_players, board.name

    def reset(self, seat, rules, board, seed):
        assert self.net == (rules.num_players, board.name)

    def act(self, view):
        return int(view.legal_actions[-1 if self.net else 0])
"""


def in_play(spec: str) -> None:
    TerminalTable(Game(RULES, "tiny", seed=3), ["human", spec], Terminal(io.StringIO(), io.StringIO()), "")


def in_evaluate(spec: str) -> None:
    play_piece(spec, spec, RULES, load_map("tiny"), range(2), seed=1)
    assert (
        len(registry._module_of(Path(spec.rpartition(":")[0])).READY) == 4
    )  # agents: both players at both seats


def in_play_game(spec: str) -> None:
    registry.play_game(RULES, load_map("tiny"), [spec, spec], seed=1)


def in_a_data_set(spec: str) -> None:
    next(record(RecordingSpec(RULES, load_map("tiny"), (spec,))))


def in_mcp(spec: str) -> None:
    options = {name: getattr(RULES, name) for name in ("setup", "attack", "defender_dice", "max_rounds")}
    mcp_games.OpenGames().begin("classic", [spec], board="tiny", seed=1, options=options)


@pytest.mark.parametrize("use", [in_play, in_play_game, in_evaluate, in_a_data_set, in_mcp])
def test_agents_prepare_before_their_first_game(
    use: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_games, "_bot", registry.make)  # which takes names only
    path = tmp_path / "careful.py"
    path.write_text(CAREFUL, encoding="utf-8")
    use(f"{path}:Careful")
    assert registry._module_of(path).READY


def test_every_seats_agent_of_a_tournament_prepares_before_its_first_game(tmp_path: Path) -> None:
    path = tmp_path / "careful.py"
    path.write_text(CAREFUL, encoding="utf-8")
    config = make_config([f"{path}:Careful"], RULES, "tiny", time_limit=50.0)
    pool = PlayerPool(config)
    try:
        results = [play_single(config, pairing, pool) for pairing in config.schedule(2)]
    finally:
        pool.close()
    assert [result.forfeit_reason for result in results] == ["", ""]
