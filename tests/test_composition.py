"""Composed choices: taken back, confirmed, bounded, and without a trace of what lies behind their end."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from risk_agents.web.browser_table import BrowserTable
from risk_agents.web.composition import MOST_CHOICES, PARTS, Composition
from risk_agents.web.work import Refused
from risk_env import Game, Rules
from risk_env.core.types import Phase
from tests.positions import position
from tests.web_server import begun, client, question, seated

DRAFT = """risk_env game 1
rules: preset=classic, num_players=2
map: tiny
phase: draft
draft left: 5
[territories]
Ash: 0, 5
Birch: 0
Cedar: 1
Dune: 1
Ember: 1
Flint: 1
"""


def answered(socket: Any, now: dict[str, Any], **answer: Any) -> dict[str, Any]:
    """Send an answer and return the next decision."""
    socket.send_json({"decision": now["decision"], **answer})
    return question(socket)


def asked(table: BrowserTable) -> Any:
    """Return the decision of seat 0 as its browser gets it."""
    return json.loads(json.dumps(table.question(0)))


def action(now: dict[str, Any], text: str) -> int:
    """Return the number of a legal action."""
    return next(choice["action"] for choice in now["legal"] if choice["text"] == text)


def test_a_draft_is_composed_taken_back_and_confirmed(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found, position=DRAFT)
        game = found.lobby.tables[begin["game"]].game
        with seated(found, begin["game"], begin["tokens"][0]) as socket:
            first = question(socket)
            assert first["composes"] and not first["composed"]
            amount = answered(socket, first, action=action(first, "draft Ash"), compose=True)
            assert amount["phase"] == "DRAFT_AMOUNT" and amount["most"] == 5
            again = answered(socket, amount, command="undo")
            assert again["phase"] == "DRAFT" and again["decision"] == first["decision"]
            one = answered(socket, again, action=action(again, "draft Birch"), troops=2, compose=True)
            assert (one["composed"], one["added"]) == (["2 on Birch"], {"1": 2})
            two = answered(socket, one, action=action(one, "draft Ash"), troops=3, compose=True)
            assert two["complete"] and not two["legal"] and two["added"] == {"0": 3, "1": 2}
            assert game.actions == () and game.troops[0] == 5  # nothing is played yet
            now = answered(socket, two, command="confirm")
            assert now["phase"] == "ATTACK" and game.troops[:2].tolist() == [8, 3]
            assert now["decision"] == len(game.actions) == 4


def test_wrong_answers_change_no_composition(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found, position=DRAFT)
        table = found.lobby.tables[begin["game"]]
        with seated(found, begin["game"], begin["tokens"][0]) as socket:
            now = question(socket)
            done = table.game.tables.space.done
            for wrong in (
                {"command": "undo"},
                {"command": "confirm"},
                {"command": "settle"},
                {"command": "x" * 99},
                {"action": done, "compose": True},
                {"action": now["legal"][0]["action"], "troops": 6},
                {"action": now["legal"][0]["action"], "troops": -1, "compose": True},
                {"cards": [], "compose": True},
                {"cards": ["x"], "compose": True},
                {"cards": [done, 3], "compose": True},
                {"troops": 3, "compose": True},
                {"compose": True},
                {"action": now["legal"][0]["action"], "compose": 1},
            ):
                socket.send_json({"decision": now["decision"], **wrong})
                while not socket.receive_json().get("refused"):
                    pass
                assert asked(table) == now and table.game.actions == (), wrong
            composed = answered(socket, now, action=now["legal"][0]["action"], compose=True)
            socket.send_json({"decision": now["decision"], "action": now["legal"][0]["action"]})
            while not socket.receive_json().get("refused"):
                pass
            assert asked(table) == composed  # an answer to an earlier decision


def test_an_answer_at_once_plays_what_is_composed(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found, position=DRAFT)
        game = found.lobby.tables[begin["game"]].game
        with seated(found, begin["game"], begin["tokens"][0]) as socket:
            now = question(socket)
            now = answered(socket, now, action=action(now, "draft Ash"), compose=True)
            now = answered(socket, now, troops=4)
            assert now["phase"] == "DRAFT" and game.troops[0] == 9


def test_the_server_settles_the_rest_of_a_set_up(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found, options={"setup": "claim"}, players=["human"] * 3)
        table = found.lobby.tables[begin["game"]]
        for _ in range(3):
            seat = table.game.seat
            with seated(found, begin["game"], begin["tokens"][seat]) as socket:
                now = question(socket)
                socket.send_json({"decision": now["decision"], "command": "settle"})
                while now := socket.receive_json().get("question"):
                    pass
        with seated(found, begin["game"], begin["tokens"][int(table.game.record.starter)]) as socket:
            while question(socket)["phase"] in ("CLAIM", "DEPLOY"):
                pass
        assert table.game.round == 1 and (table.game.owner >= 0).all()


def test_a_composition_ends_before_chance_and_other_seats() -> None:
    game = position("classic", "Alaska 9, Alberta 1", "Kamchatka 9", "rest 1", phase="fortify_from")
    game.record["captured"] = True  # the move ends the turn, and a card is drawn
    composed = Composition(game)
    for text in ("from Alaska; to Alberta; move 3",):
        composed.add(text)
    assert composed.is_complete and composed.facts["added"] == {
        game.board.territory("Alaska"): -3,
        game.board.territory("Alberta"): 3,
    }
    assert composed.facts["composed"] == ["3 on Alberta from Alaska"]
    with pytest.raises(Refused, match="cannot be taken back"):
        composed.add("done")
    composed.take_back()
    assert not composed.is_complete and composed.game.record == game.record


def test_compositions_are_bounded() -> None:
    game = position(
        "classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase="draft", draft_left="500"
    )
    composed = Composition(game)
    for _ in range(MOST_CHOICES):
        composed.add("draft Alaska 1")
    with pytest.raises(Refused):
        composed.add("draft Alaska 1")


def test_no_phase_with_dice_is_composed() -> None:
    composed = {phase for part in PARTS for phase in part}
    dice = {Phase.ATTACK, Phase.ATTACK_DICE, Phase.DEFEND, Phase.REROLL, Phase.COMMANDER, Phase.OCCUPY}
    assert not composed & dice


def test_cards_of_a_set_are_composed() -> None:
    game = position(
        "classic",
        "Alaska 9, Alberta 9",
        "Kamchatka 9",
        "rest 9",
        phase="trade",
        hand_0="Alaska, Alberta, wild",
    )
    before, composed = game.to_record(), Composition(game)
    cards = [game.parse_action(f"card {name}") for name in ("Alaska", "Alberta", "wild")]
    composed.add(cards)
    assert composed.game.phase == Phase.BONUS and not composed.is_complete
    composed.add("bonus Alaska")
    assert composed.facts["composed"] == ["trade Alaska, Alberta, wild", "2 on Alaska"]
    assert composed.game.phase == Phase.DRAFT and game.to_record() == before
    game = Game(Rules.preset("classic", 3), "classic", seed=1)
    with pytest.raises(Refused):  # claims are played at once
        Composition(game).add([int(game.legal_actions()[0])])
