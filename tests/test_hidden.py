"""A question, or the absence of one, reveals nothing about the cards of another seat (docs/public.md)."""

import json

import pytest

from risk_env import Game
from risk_env.core.types import Phase
from risk_env.public import public_facts
from risk_env.words import seat_report
from tests.hidden import GAMES, compare_pairs
from tests.positions import position

PAIRS = 6  # of each game in the normal run
HIDDEN = {"headquarters": "headquarters"}  # a question whose answers differ in some of these pairs


@pytest.mark.parametrize("name", GAMES)
def test_others_receive_the_same_whatever_is_hidden(name: str) -> None:
    tally = compare_pairs(name, PAIRS)
    assert tally.pairs == PAIRS and tally.comparisons > 3 * PAIRS
    assert name not in HIDDEN or tally.differed[HIDDEN[name]] > 0


def trading(hand: str, **lines: str) -> Game:
    """Return a game in which seat 0 holds these cards and decides about a trade."""
    return position(
        "classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase="trade", hand_0=hand, **lines
    )


def test_a_trade_that_may_be_declined_is_seen_as_a_draft() -> None:
    game = trading("Alaska, Alberta, Argentina")
    for seat, phase in ((None, Phase.DRAFT), (1, Phase.DRAFT), (0, Phase.TRADE)):
        assert game.public(seat).phase == phase
    assert "question to P0: DRAFT" in seat_report(game, 1) and "question to P0: TRADE" in seat_report(game, 0)
    before = [json.dumps(game.replay(seat=seat).facts) for seat in (None, 1)]
    game.step("done")
    assert [json.dumps(game.replay(seat=seat).facts) for seat in (None, 1)] == before
    assert game.events() == game.events(seat=1) == [] and len(game.events(seat=0)) == 1


def test_cards_picked_for_a_set_are_hidden_until_it_is_traded() -> None:
    game = trading("Alaska, Alberta, Argentina, Peru")
    before = game.public()
    game.step(game.action_text(int(game.legal_actions()[0])))
    assert game.public() == before and game.public(0).picked
    assert (game.observe_codes(1) == trading("Alaska, Alberta, Argentina, Peru").observe_codes(1)).all()


def test_a_trade_that_is_owed_is_public() -> None:
    game = trading("Alaska, Alberta, Argentina, Peru, Japan")
    assert game.public().phase == game.public(1).phase == Phase.TRADE and not game.public().picked


@pytest.mark.parametrize("hand", ["Alaska", "Japan"])
def test_the_dice_are_seen_when_it_is_decided_whether_one_is_rolled_again(hand: str) -> None:
    options = "preset=classic, card_reroll=True, attack=max, defender_dice=max"
    game = position(options, "Alaska 9", "Kamchatka 9", "rest 9", hand_0=hand)
    game.step("attack Alaska > Kamchatka")
    if hand == "Alaska":
        assert game.phase == Phase.REROLL and game.public(0).dice[0]
        assert (game.public().phase, game.public().dice, game.public().battles) == (Phase.ROLL, ((), ()), 0)
        assert [event.kind for event in game.events()] == ["action"]
        assert game.determinize(1, 3).phase in (Phase.REROLL, Phase.ATTACK)
        game.step("done")
    assert [event.kind for event in game.events()] == ["action", "roll", "battle"]
    assert len(game.replay().facts["frames"]) == 3


def test_an_only_territory_to_draft_to_does_not_tell_of_a_trade() -> None:
    told = []
    for hand in ("Alberta, Argentina, Peru", "Alberta, Argentina, wild"):
        game = position("classic", "Alaska 9", "Kamchatka 9", "rest 9", phase="attack", turn="2", hand_0=hand)
        game.step("done")
        game.step("done")
        assert game.seat == 0
        told.append(
            [public_facts(game.records, game.tables, 1), game.events(), game.replay().facts["frames"]]
        )
        if game.phase == Phase.TRADE:
            game.step("done")
        assert game.phase == Phase.DRAFT_AMOUNT
        told[-1].append(game.events())
    assert told[0] == told[1]
