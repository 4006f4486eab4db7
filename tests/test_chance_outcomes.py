"""Chance apart from hidden facts: new dice, and the outcomes of the next chance event one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from risk_env import Game, IllegalAction, Rules, load_map
from risk_env.chance_outcomes import Outcome, _combinations, _force
from risk_env.core import entry
from risk_env.core.odds import battle_odds, roll_outcomes

TEXT = """risk_env game 1
rules: preset=classic, num_players=3, {rules}
map: tiny
phase: {phase}
{facts}

[territories]
Ash: player 0, {ash} troops
Birch: player 0
Cedar: player 1, {cedar}
Dune: player 1, 2
Ember: player 2, 3
Flint: player 2, 3
"""
ATTACK = "attack Ash > Cedar"


def at(attack: str = "blitz", ash: int = 9, cedar: int = 4, phase: str = "attack", facts: str = "") -> Game:
    rules = f"attack={attack}, defender_dice=max"
    return Game.from_text(TEXT.format(rules=rules, ash=ash, cedar=cedar, phase=phase, facts=facts))


@pytest.mark.parametrize(("ash", "cedar"), [(9, 4), (2, 1), (3, 7)])
def test_the_ends_of_a_blitz_have_the_odds_of_the_battle(ash: int, cedar: int) -> None:
    game = at(ash=ash, cedar=cedar)
    found = game.chance_outcomes(ATTACK)
    odds = battle_odds(ash, cedar)
    assert sum(chance for _, chance in found) == pytest.approx(1)
    assert sum(chance for outcome, chance in found if outcome.values[1] == 0) == pytest.approx(odds.win)
    mean = sum(chance * outcome.values[0] for outcome, chance in found)
    assert mean == pytest.approx(odds.attacker_left)
    for outcome, _ in found:
        other = game.copy()
        other.step(ATTACK, outcome)
        left = [int(other.troops[other.board.territory(name)]) for name in ("Ash", "Cedar")]
        won = outcome.values[1] == 0
        assert (sum(left) if won else left[0]) == outcome.values[0]
        assert (other.owner[other.board.territory("Cedar")] == 0) == won


@pytest.mark.parametrize(("ash", "cedar", "dice"), [(9, 4, (3, 2)), (3, 1, (2, 1)), (2, 5, (1, 2))])
def test_a_roll_has_the_counts_of_the_rules(ash: int, cedar: int, dice: tuple[int, int]) -> None:
    counts = roll_outcomes(*dice)
    found = dict(at("max", ash, cedar).chance_outcomes(ATTACK))
    compared = len(counts) - 1
    expected = {
        (compared - lost, lost): count / counts.sum() for lost, count in enumerate(counts.tolist()) if count
    }
    assert {outcome.values: chance for outcome, chance in found.items()} == pytest.approx(expected)
    lost = min(found, key=lambda outcome: outcome.values[0])
    assert lost.text(load_map("tiny")) == f"roll: losses 0, {compared}"


def test_every_combination_of_faces_is_rolled_by_the_core_as_often_as_counted() -> None:
    """The core's own generator plays each of the 1,296 combinations of four dice."""
    game = at("max")
    games = np.repeat(game.records, 6**4)
    entry.apply_action(games, 0, game.tables.board, game.tables.rules, game.parse_action(ATTACK))
    games[1:] = games[0]
    games["chosen_dice"][:] = 2, 2
    rolled = Counter[Any]()
    for number in range(6**4):
        _force(games[number : number + 1], ((number, 6**4),))
        entry.play_chance_once(games, number, game.tables.board, game.tables.rules)
        rolled[tuple(sorted(games["rolled"][number, side, :2].tolist()) for side in (0, 1)).__repr__()] += 1
    assert sorted(rolled.values()) == sorted(ways for _, ways in _combinations(2, 2))
    assert len(rolled) == 21**2


def test_the_frequencies_of_reseeded_games_are_the_probabilities() -> None:
    game = at(ash=5, cedar=2)
    expected = {outcome.values: chance for outcome, chance in game.chance_outcomes(ATTACK)}
    ends, tries = Counter[Any](), 1500
    for seed in range(tries):
        other = game.reseed(seed)
        other.step(ATTACK)
        cedar, ash = (other.board.territory(name) for name in ("Cedar", "Ash"))
        won = other.owner[cedar] == 0
        troops = int(other.troops[ash]) + int(other.troops[cedar]) * won
        ends[troops, 0 if won else int(other.troops[cedar])] += 1
    assert ends.keys() <= expected.keys()
    for end, chance in expected.items():
        assert abs(ends[end] / tries - chance) < 4.5 * (chance * (1 - chance) / tries) ** 0.5 + 1e-9


def test_a_card_is_each_card_of_the_deck_and_the_wild_ones() -> None:
    game = at(facts="captured: yes\nheld at start: Birch\nhand 1: Ash, wild")
    found = game.chance_outcomes("done")
    assert sum(chance for _, chance in found) == pytest.approx(1)
    wild = [chance for outcome, chance in found if outcome.values == (game.board.num_territories,)]
    assert len(found) == 6 and wild == [pytest.approx(1 / 6)]  # Birch to Flint, and the second wild card
    for outcome, _ in found:
        other = game.copy()
        other.step("done", outcome)
        assert outcome.text(game.board) == f"card {other.hand(0)[0]}"
        assert len(other.hand(0)) == 1


def test_a_re_rolled_die_and_the_faces_before_a_decision_are_outcomes() -> None:
    rules = "attack=max, defender_dice=max, card_reroll=True"
    text = TEXT.format(rules=rules, ash=9, cedar=4, phase="attack", facts="hand 0: Ash")
    game = Game.from_text(text)
    found = game.chance_outcomes(ATTACK)
    assert sum(chance for _, chance in found) == pytest.approx(1) and len(found) == 56 * 21
    rolled = next(outcome for outcome, _ in found if outcome.values == (6, 4, 1, 0, 3, 2, 0, 0))
    assert rolled.text(game.board) == "roll: 6 4 1 against 3 2"
    game.step(ATTACK, found[100][0])
    assert game.phase.name == "REROLL"
    again = int(game.legal_actions()[-1])
    faces = game.chance_outcomes(again)
    assert [outcome.values for outcome, _ in faces] == [(face,) for face in range(1, 7)]
    assert faces[5][0].text(game.board) == "die: die 6"
    without, own = game.copy(), game.copy()
    without.step(again, [])  # the game's own dice decide
    own.step(again)
    assert without.phase.name != "REROLL" and without.to_record() == own.to_record()
    game.step(again, faces[5][0])
    assert game.record.rerolled[1] == 6


def test_events_follow_one_another_and_nothing_changes_on_an_error() -> None:
    game = at("max", ash=2, cedar=1, facts="captured: yes\nheld at start: Birch")
    before = game.to_record()
    (lost, _), (won, _) = sorted(game.chance_outcomes(ATTACK), key=lambda each: each[0].values[1])
    assert game.chance_outcomes(ATTACK, won) != [] or game.chance_outcomes(ATTACK, lost) != []
    with pytest.raises(ValueError, match="is not an outcome of the next chance event"):
        game.step(ATTACK, Outcome("roll", (7, 7)))
    with pytest.raises(ValueError, match="number of outcomes: 4; at most"):
        game.step(ATTACK, [won, Outcome("card", (3,)), Outcome("card", (4,)), won])
    with pytest.raises(ValueError, match="is not an outcome: pass outcomes from"):
        game.step(ATTACK, ["six"])  # type: ignore[list-item]
    with pytest.raises(IllegalAction):
        game.step("attack Ash > Birch", won)
    assert game.to_record() == before


def test_reseed_changes_chance_and_no_hidden_fact() -> None:
    game = Game(Rules.preset("secret_mission", 4, profile="fast"), load_map("classic"), seed=3)
    for _ in range(120):
        game.step(int(game.legal_actions()[0]))
    others = [game.reseed(seed) for seed in (1, 1, 2)]
    assert others[0] == others[1] != others[2] != game
    for other in others:
        assert [other.hand(seat) for seat in range(4)] == [game.hand(seat) for seat in range(4)]
        assert [other.mission(seat) for seat in range(4)] == [game.mission(seat) for seat in range(4)]
        assert (other.troops == game.troops).all()
        assert other.record.decisions == game.record.decisions
