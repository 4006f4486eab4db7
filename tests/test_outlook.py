"""Sentences of the page about goals, cards, and the end of a game."""

import pytest

pytest.importorskip("starlette")

from risk_agents.web.modes import MODES, modes, who_cannot_play
from risk_agents.web.outlook import (
    ending_in_words,
    goal_in_words,
    note_on,
    own_outlook,
    proposed_sets,
    sets_pay,
)
from risk_env import Game, Rules, load_map, presets
from risk_env.core.types import Phase
from tests.positions import position

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")


def trading(hand: str, rules: str = "classic", **lines: str) -> Game:
    """Return a game in which seat 0 holds these cards and decides about a trade."""
    return position(rules, "Alaska 9", "Kamchatka 9", "rest 9", phase="trade", hand_0=hand, **lines)


@pytest.mark.parametrize("preset", presets())
def test_every_mode_has_words_a_goal_and_set_ups(preset: str) -> None:
    rules = Rules.preset(preset)
    assert MODES[preset].words and goal_in_words(rules).endswith(" to win.")
    found = modes()[preset]
    assert found["rounds"] >= 5
    assert all(found["setups"][count][0] == Rules.preset(preset, count).setup for count in found["players"])
    assert "after 7 rounds" in goal_in_words(Rules.preset(preset, max_rounds=7))
    assert own_outlook(Game(rules, "classic", seed=1), 0, NAMES)["sets"]


@pytest.mark.parametrize(
    ("hand", "rules", "words"),
    [
        ("Alaska, Alberta, Argentina, wild", "classic", "Trade Alaska, "),
        ("Alaska, wild, wild", "classic", "Trade Alaska, wild, wild for 4 troops"),
    ],
)
def test_sets_are_proposed_with_what_they_pay(hand: str, rules: str, words: str) -> None:
    game = trading(hand, rules)
    before = int(game.record.draft_left)
    found = proposed_sets(game)
    assert found[0]["words"].startswith(words) and 1 <= len(found) <= 3
    troops = int(found[0]["words"].split()[-2])
    for card in found[0]["cards"]:
        if game.phase.name == "TRADE" and game.is_legal(card):
            game.step(card)
    while game.phase.name == "BONUS":
        game.step(int(game.legal_actions()[0]))
    assert int(game.record.draft_left) == before + troops


@pytest.mark.parametrize("values", ["fixed", "escalating", "by_one"])
def test_every_proposed_set_is_legal_and_pays_what_it_says(values: str) -> None:
    hand = "Alaska, Alberta, Argentina, Peru, Japan, wild"
    game = trading(hand, f"preset=classic, set_values={values}")
    for proposed in proposed_sets(game):
        copy, troops = game.copy(), int(proposed["words"].split()[-2])
        for card in proposed["cards"]:
            if copy.phase.name == "TRADE" and copy.is_legal(card):
                copy.step(card)
        assert int(copy.record.draft_left) == int(game.record.draft_left) + troops


def test_what_sets_pay_now_and_next() -> None:
    assert (
        sets_pay(trading("Alaska, wild, wild"))
        == "The next set pays 4 troops, and the set after that pays 6 troops."
    )
    assert "10 for one of each" in sets_pay(trading("Alaska, wild, wild", "preset=classic, set_values=fixed"))
    assert sets_pay(Game(Rules.preset("command_room"), "classic")).startswith("2 to 10 stars pay 2, 4, 7, ")
    assert sets_pay(Game(Rules.preset("classic", deck="none"), "classic")) == "This game has no cards."


def test_a_set_is_proposed_once() -> None:
    sets = proposed_sets(trading("Alaska, Alberta, wild, wild"))
    assert len({tuple(proposed["cards"]) for proposed in sets}) == len(sets) == 3


def test_the_end_of_a_game_is_explained() -> None:
    game = Game(Rules.preset("classic", 2, setup="random", max_rounds=1), "tiny", seed=1)
    assert ending_in_words(game, NAMES) == ""
    while not game.is_over:
        game.step(int(game.legal_actions()[-1]))
    words = ending_in_words(game, NAMES)
    assert "1 rounds" not in words and "after 1 round." in goal_in_words(game.rules)
    assert words.startswith(("Nobody has won: ", "Ann has won", "Bob has won")) and words.endswith(".")


@pytest.mark.parametrize(("preset", "wins"), [("command_room", True), ("world_conquest", False)])
def test_notes_on_decisions_follow_the_rules(preset: str, wins: bool) -> None:
    game = Game(Rules.preset(preset, 3), "classic", seed=1)
    assert game.phase.name == "CAPITAL" and ("to win by Objectives" in note_on(game)) is wins
    game.record["phase"] = Phase.OBJECTIVE
    assert ("win the game" in note_on(game)) is wins and note_on(game).endswith("the card of this turn.")


def test_a_mission_is_told_with_its_progress() -> None:
    game = Game(Rules.preset("secret_mission", 3, setup="random"), "classic", seed=3)
    told = [own_outlook(game, seat, NAMES)["goals"] for seat in range(3)]
    assert all(goals[0].startswith("Your mission: ") for goals in told)
    assert len({goals[0] for goals in told}) > 1


def test_agents_that_cannot_play_a_game_are_known() -> None:
    board = load_map("classic")
    refused = who_cannot_play(Rules.preset("classic", 3), board)
    assert "marshal" in refused and "grower" not in refused and "random" not in refused
    assert "marshal" not in who_cannot_play(Rules.preset("classic", 2), board)
