"""Composed choices: taken back, confirmed and bounded; they show nothing beyond the end of a composition."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from risk_agents.web.browser_request import Refused
from risk_agents.web.browser_table import (
    MOST_COMPOSED,
    Answer,
    BrowserTable,
    Setting,
    choice_of,
    composed_question,
    question_of,
)
from risk_agents.web.composition import MOST_ACTIONS, MOST_CHOICES, PARTS, Composition
from risk_agents.web.lobby import _of_position
from risk_env import Game, Rules
from risk_env.core.types import NOBODY, Phase, Reward
from risk_env.saved_game import SavedGame
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

REWARDS = {"attack die": Reward.ATTACK_DIE, "airfield": Reward.AIRFIELD}


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
    with client(tmp_path) as server:
        begin = begun(server, position=DRAFT)
        game = server.lobby.tables[begin["game"]].game
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
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
    with client(tmp_path) as server:
        begin = begun(server, position=DRAFT)
        table = server.lobby.tables[begin["game"]]
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
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
    with client(tmp_path) as server:
        begin = begun(server, position=DRAFT)
        game = server.lobby.tables[begin["game"]].game
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
            now = question(socket)
            now = answered(socket, now, action=action(now, "draft Ash"), compose=True)
            now = answered(socket, now, troops=4)
            assert now["phase"] == "DRAFT" and game.troops[0] == 9


def test_the_server_settles_the_rest_of_a_set_up(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, options={"setup": "claim"}, players=["human"] * 3)
        table = server.lobby.tables[begin["game"]]
        for _ in range(3):
            seat = table.game.seat
            with seated(server, begin["game"], begin["tokens"][seat]) as socket:
                now = question(socket)
                socket.send_json({"decision": now["decision"], "command": "settle"})
                while now := socket.receive_json().get("question"):
                    pass
        with seated(server, begin["game"], begin["tokens"][int(table.game.record.starter)]) as socket:
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
    with pytest.raises(Refused, match="confirm the choices, or undo"):
        composed.add("done")
    composed.take_back()
    assert not composed.is_complete and composed.game.record == game.record


def test_compositions_are_bounded() -> None:
    game = position(
        "classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase="draft", draft_left="500"
    )
    composed = Composition(game)
    for _ in range(MOST_CHOICES - 1):
        composed.add("draft Alaska 1")
    assert not composed.facts["complete"]
    composed.add("draft Alberta 1")
    shown = composed_question(composed, 3)
    assert shown["complete"] and shown["phase"] == "CONFIRM" and shown["decision"] == 3 + MOST_CHOICES
    assert shown["composed"] == [f"{MOST_CHOICES - 1} on Alaska", "1 on Alberta"]
    with pytest.raises(Refused, match=f"at most {MOST_CHOICES} choices"):
        composed.add("draft Alaska 1")
    composed.take_back()
    assert not composed.facts["complete"]
    with pytest.raises(Refused, match="phase ATTACK cannot be composed"):
        Composition(position("classic", "Alaska 9", "Kamchatka 9", "rest 9")).add("done")


def test_the_actions_of_a_composed_choice_are_bounded() -> None:
    game = position(
        "classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase="draft", draft_left="19000"
    )
    composed = Composition(game)
    with pytest.raises(Refused, match=f"more than {MOST_ACTIONS} actions"):
        composed.add("draft Alaska 18999")
    assert len(composed) == 0 and composed.game.record == game.record
    composed.add("draft Alaska 19000")
    assert composed.facts["added"] == {game.board.territory("Alaska"): 19000}


def test_decisions_that_are_forced_count_as_composed() -> None:
    game = position("classic", "Alaska 2, Alberta 1", "rest 1", phase="fortify_from")
    composed = Composition(game)
    composed.add("from Alaska")
    alaska, alberta = map(game.board.territory, ("Alaska", "Alberta"))
    assert composed.facts["added"] == {alaska: -1, alberta: 1}
    assert composed.facts["composed"] == ["1 on Alberta from Alaska"]
    game = position("classic", "Alaska 2", "rest 1", phase="trade", hand_0="Alaska, Alberta, wild")
    composed = Composition(game)
    composed.add([game.parse_action(f"card {name}") for name in ("Alaska", "Alberta", "wild")])
    assert composed.facts["added"] == {alaska: 2}
    assert composed.facts["composed"] == ["trade Alaska, Alberta, wild", "2 on Alaska"]


def test_rooms_and_ranges_of_troops() -> None:
    game = position(
        "preset=classic, max_troops=12", "Alaska 9, Alberta 2", "rest 1", phase="draft", draft_left="8"
    )
    now = question_of(game)
    assert {choice["text"]: choice["room"] for choice in now["legal"]} == {
        "draft Alaska": 3,
        "draft Alberta": 8,
    }
    alaska = action(now, "draft Alaska")
    with pytest.raises(Refused, match="troops=4: must be from 1 to 3"):
        choice_of(game, Answer(action=alaska, troops=4))
    assert choice_of(game, Answer(action=alaska, troops=3)) == "draft Alaska 3"
    game.step(alaska)
    with pytest.raises(Refused, match="troops=4: must be from 1 to 3"):
        choice_of(game, Answer(troops=4))


@pytest.mark.parametrize(
    "cards", [["Alaska"], ["Alaska", "Alberta", "Peru"], ["Alaska"] * 3, [7**9], ["done"]]
)
def test_cards_that_are_no_set_of_the_hand_are_refused(cards: list[Any]) -> None:
    hand = "Alaska, Alberta, Argentina, wild"
    game = position("classic", "Alaska 9", "Kamchatka 9", "rest 9", phase="trade", hand_0=hand)
    done, space = game.tables.space.done, game.tables.space.blocks["card"]
    numbers = {name: space[game.board.territory(name)] for name in ("Alaska", "Alberta", "Peru")}
    given = [numbers.get(card, done if card == "done" else card) for card in cards]
    with pytest.raises(Refused, match="not a set in your hand"):
        choice_of(game, Answer(cards=given))
    for extra in ({"action": given[0]}, {"troops": 3}):
        with pytest.raises(Refused, match="cards cannot be combined"):
            choice_of(game, Answer(cards=given, **extra))


def test_cards_are_taken_in_a_trade_only() -> None:
    game = position("classic", "Alaska 9", "Kamchatka 9", "rest 9")
    with pytest.raises(Refused, match="only in phase TRADE, but the phase is ATTACK"):
        choice_of(game, Answer(cards=[int(game.legal_actions()[0])]))


@pytest.mark.parametrize("reward", [None, "attack die", "airfield"])
def test_odds_are_told_only_where_no_reward_changes_the_dice(reward: str | None) -> None:
    game = Game(Rules.preset("command_room", 3, setup="random"), "classic", seed=1)
    while game.phase != Phase.ATTACK:
        game.step(int(game.legal_actions()[0]))
    source, target = next(
        choice["places"] for choice in question_of(game)["legal"] if choice["kind"] == "attack"
    )
    game.record["reward_owner"][:] = NOBODY
    if reward:
        game.record["reward_owner"][REWARDS[reward]] = game.seat
        game.record["airfield"][0] = source
    told = {
        choice["places"]: "chance" in choice
        for choice in question_of(game)["legal"]
        if choice["kind"] == "attack"
    }
    assert told[source, target] is (reward is None)
    assert all(told.values()) is (reward is None) and any(told.values()) is (reward != "attack die")


@pytest.mark.parametrize("has_maneuver", [False, True])
def test_the_question_tells_whether_attacks_follow_a_fortify_move(has_maneuver: bool) -> None:
    game = Game(Rules.preset("command_room", 3, setup="random"), "classic", seed=1)
    while game.phase != Phase.DRAFT:
        game.step(int(game.legal_actions()[0]))
    game.record["reward_owner"][:] = NOBODY
    if has_maneuver:
        game.record["reward_owner"][Reward.STARTING_MANEUVER] = game.seat
    while game.phase != Phase.FORTIFY_FROM:
        declines = game.phase == Phase.ATTACK
        game.step("done" if declines else int(game.legal_actions()[0]))
    assert question_of(game)["attacks"] is has_maneuver
    game.step("done")
    assert (game.phase == Phase.ATTACK) is has_maneuver


def test_the_server_settles_neutral_troops(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, preset="two_player", options={}, map="classic")
        table = server.lobby.tables[begin["game"]]
        for seat in 2 * [table.game.seat, 1 - table.game.seat]:
            with seated(server, begin["game"], begin["tokens"][seat]) as socket:
                now = question(socket)
                if now["phase"] in ("DEPLOY", "DEPLOY_NEUTRAL"):
                    assert now["left"] >= now["placeable"] > 0
                    socket.send_json({"decision": now["decision"], "command": "settle"})
                    while now := socket.receive_json().get("question"):
                        if now["phase"] not in ("DEPLOY", "DEPLOY_NEUTRAL"):
                            break
            if table.game.round:
                break
        assert table.game.round == 1 and not table.game.record.to_place.any()


def test_compositions_are_limited_and_wake_only_their_seat() -> None:
    asyncio.run(_compose_often())


async def _compose_often() -> None:
    game = SavedGame.of(_of_position(DRAFT, 2), ("human", "human"))
    table = BrowserTable(Setting.new(game, ("Ann", "Bob")), lambda *_: None)
    playing = asyncio.create_task(table.play())
    await asyncio.sleep(0)
    others = [table.changed[viewer] for viewer in (1, NOBODY)]
    mine, chosen = table.changed[0], asked(table)["legal"][0]["action"]
    for seat, decision in ((1, 0), (NOBODY, 0), (0, 1)):
        with pytest.raises(Refused, match="no longer your decision"):
            await table.answer(seat, decision, Answer(action=chosen, compose=True))
    work = [table.answer(0, 0, Answer(action=chosen, troops=1, compose=True)) for _ in range(3)]
    found = await asyncio.gather(*work, return_exceptions=True)
    assert [type(one) for one in found].count(Refused) == 2  # the second and the third come too late
    assert mine.is_set() and not any(event.is_set() for event in others)
    with pytest.raises(Refused, match="per second"):
        for _ in range(10 * MOST_COMPOSED):
            await table.answer(0, 1, Answer(command="undo"))
            await table.answer(0, 0, Answer(action=chosen, troops=1, compose=True))
    playing.cancel()
    table.close()


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


def test_the_server_defends_with_the_most_dice(tmp_path: Path) -> None:
    rules = "preset=classic, num_players=2, attack=choice, defender_dice=choice"
    start = position(rules, "Ash 90, Ember 3", "Birch 9, rest 5", map="tiny", phase="attack")
    with client(tmp_path) as server:
        begin = begun(server, position=start.to_text())
        table = server.lobby.tables[begin["game"]]
        with (
            seated(server, begin["game"], begin["tokens"][0]) as attacker,
            seated(server, begin["game"], begin["tokens"][1]) as defender,
        ):
            for _ in range(3):  # the defender decides only once
                now = question(attacker)
                now = answered(attacker, now, action=action(now, "attack Ash > Birch"))
                attacker.send_json({"decision": now["decision"], "action": action(now, "dice 1")})
                if not table._settled:
                    defence = question(defender)
                    assert defence["phase"] == "DEFEND"
                    defender.send_json({"decision": defence["decision"], "command": "settle"})
            question(attacker)
            chosen = [table.game.tables.space.decode(number) for number in table.game.actions]
            assert [found.arguments for found in chosen if found.kind == "dice"] == 3 * [(1,), (2,)]
            with pytest.raises(Refused, match="not allowed in this decision"):
                table._obey(0, Answer(command="settle"))
