"""Opponents (`risk_agents.search.opponents`): the habits of a seat show which bot plays there."""

from __future__ import annotations

import json

import numpy as np
import pytest

from risk_agents.scripted import breaker, card_killer, evolved, turtle
from risk_agents.search.opponents import DOUBT, FILE, MOST_CAPTURES, HabitCounter, Opponents
from risk_agents.search.strategist import GOAL_PLAYERS, PLAYERS
from risk_env import Game, Rules, load_map
from risk_env.bots import CompiledBot
from risk_env.events import Event
from risk_env.match import Match

NAMES = [player.name for player in PLAYERS]


def test_the_habits_of_every_player_are_known() -> None:
    known = json.loads(FILE.read_text(encoding="utf-8"))
    assert list(known) == NAMES
    assert all(sum(habits["captures"]) > 300 for habits in known.values())
    assert all(len(habits["captures"]) == MOST_CAPTURES + 1 for habits in known.values())


def test_habits_are_counted_as_they_happen() -> None:
    counter = HabitCounter()
    draws = [Event("draw", seat=1)] * 3
    kept = [Event("turn", seat=1), Event("capture", seat=1), Event("draw", seat=1), Event("turn_end", seat=1)]
    traded = [Event("turn", seat=1), Event("trade", seat=1, cards=(1, 2, 3)), *[Event("capture", seat=1)] * 7]
    for event in [*draws, *kept, *traded, Event("turn_end", seat=1), *kept]:
        counter.count(event)
    assert counter.habits.captures.tolist() == [0, 2, 0, 0, 1]  # seven captures count as four or more
    assert counter.habits.trades.tolist() == [1, 1]  # with one card after the trade, no set can be kept


def test_without_evidence_all_players_are_equally_likely() -> None:
    assert np.allclose(Opponents(PLAYERS).probabilities(), 1 / len(PLAYERS))
    assert Opponents(GOAL_PLAYERS).probabilities().tolist() == [[1.0]] * 6


@pytest.mark.parametrize(
    ("bot", "alike"),
    [
        (breaker.BOT, {"breaker", "hunter", "holder"}),
        (card_killer.BOT, {"card_killer"}),
        (turtle.BOT, {"turtle", *(player.name for player in evolved.BOTS)}),
    ],
)
def test_turns_show_which_players_are_likely(bot: CompiledBot, alike: set[str]) -> None:
    opponents = Opponents(PLAYERS)
    rules, board = Rules.preset("classic", 5, setup="deal", profile="fast"), load_map("classic")
    match = Match.of(Game(rules, board, seed=8), [bot] * 5)
    while not match.game.is_over and match.game.round < 12:
        match.step(match.query_player())
        if match.game.round in (4, 8):  # events that were seen before count once
            opponents.watch(match.game.events())
    opponents.watch(match.game.events())
    likely = opponents.probabilities()
    assert np.allclose(likely.sum(axis=1), 1) and likely.min() >= DOUBT / len(PLAYERS)
    together = likely[:, [NAMES.index(name) for name in sorted(alike)]].sum(axis=1)
    assert together.max() > 2 * len(alike) / len(PLAYERS) or together.max() > 0.9
