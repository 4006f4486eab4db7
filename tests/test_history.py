"""Agents and programs see the history of their game (`View.events`), wherever they play."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from risk_agents.registry import play_game
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.players import PlayerPool
from risk_agents.tournament.runner import play_single
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_training.evaluate import play_piece

RULES = Rules.preset("classic", 2, setup="random", attack="blitz", defender_dice="max", max_rounds=3)

AGENT = """
from risk_env import Agent

class Witness(Agent):
    def reset(self, seat, rules, board, seed):
        self.known = []

    def act(self, view):
        assert list(view.events[: len(self.known)]) == self.known
        self.known = list(view.events)
        assert {event.only for event in self.known} <= {-1, view.seat}
        rounds = {event.number for event in self.known if event.kind == "round"}
        assert view.public.round in rounds, (view.public.round, rounds)
        return int(view.legal_actions[-1])
"""

PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"protocol": 1, "name": "witness", "events": True}), flush=True)
    elif message["type"] == "game":
        rounds = set()
    elif message["type"] == "act":
        rounds |= {event["number"] for event in message["events"] if event["kind"] == "round"}
        assert message["round"] in rounds, (message["round"], rounds)
        print(json.dumps({"id": message["id"], "action": message["legal"][-1]}), flush=True)
"""


@pytest.fixture(params=["agent", "program"])
def witness(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the spec of an agent that raises if its history lacks a round."""
    path = tmp_path / "witness.py"
    path.write_text(AGENT if request.param == "agent" else PROGRAM, encoding="utf-8")
    return f"{path}:Witness" if request.param == "agent" else f"cmd:{shlex.join([sys.executable, str(path)])}"


def test_in_a_game(witness: str) -> None:
    assert play_game(RULES, load_map("tiny"), [witness, witness], seed=1).is_over


def test_in_evaluate(witness: str) -> None:
    assert (play_piece(witness, "attacker", RULES, load_map("tiny"), range(2), seed=1)["rounds"] > 1).all()


def test_in_a_tournament(witness: str) -> None:
    config = make_config([witness, "attacker"], RULES, "tiny", time_limit=50.0)
    pool = PlayerPool(config)
    try:
        results = [play_single(config, pairing, pool) for pairing in config.schedule(2)]
    finally:
        pool.close()
    assert [result.forfeit_reason for result in results] == ["", ""]
