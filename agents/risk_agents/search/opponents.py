"""Opponents: the probability that each player of the rollouts sits at a seat, from the seat's turns so far.

Players differ most in two habits: the number of captures per turn, and trades of cards before a trade is
obligatory. `Opponents` counts captures and trades in the events of a game, and compares the counts with the
habits of the players. The file `habits.json`, which `research/habits.py` writes, contains these habits. The
probabilities follow from Bayes' theorem with a uniform prior. The bot or person at a seat may be none of
these players. Therefore the evidence has the weight TRUST, and every player keeps a small probability
(DOUBT).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from risk_env.arrays import Array, Floats
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS
from risk_env.events import Event

FILE = Path(__file__).with_name("habits.json")
MOST_CAPTURES = 4  # a larger number of captures in a turn counts as this number
SET_SIZE, OBLIGATORY = 3, 5  # smallest hands with which a seat may trade, and must trade
UNKNOWN = {"captures": [0] * (MOST_CAPTURES + 1), "trades": [0, 0]}
TRUST = 0.5  # weight of the evidence: factor of the log-likelihoods
DOUBT = 0.1  # probability that is shared evenly among the players


class Habits:
    """Counted habits of one player: captures per turn, and trades that are not obligatory."""

    def __init__(self) -> None:
        self.captures = np.zeros(MOST_CAPTURES + 1)  # number of turns, by number of captures
        self.trades = np.zeros(2)  # number of turns begun with 3 or 4 cards: without a trade, with a trade


class HabitCounter:
    """Counter of the habits of one seat, from the events of its turns."""

    def __init__(self) -> None:
        self.habits, self._hand = Habits(), 0
        self._captures = -1  # number of captures in the current turn, or -1 outside a turn
        self._may_trade = self._traded = False

    def count(self, event: Event) -> None:
        """Count an event of this seat (`Event.seat`)."""
        if event.kind == "turn":
            self._captures, self._traded = 0, False
            self._may_trade = SET_SIZE <= self._hand < OBLIGATORY
        elif event.kind == "turn_end" and self._captures >= 0:
            self.habits.captures[min(self._captures, MOST_CAPTURES)] += 1
            if self._may_trade:
                self.habits.trades[int(self._traded)] += 1
            self._captures = -1
        elif event.kind == "capture":
            self._captures += 1
        elif event.kind in ("draw", "elimination"):
            self._hand += 1 if event.kind == "draw" else event.number
        elif event.kind == "trade":
            self._hand -= len(event.cards)
            self._traded = True


class Opponents:
    """Probabilities of the players at each seat, from the events of a game."""

    def __init__(self, players: Sequence[CompiledBot]) -> None:
        self._logarithms = _logarithms(tuple(player.name for player in players))
        self._counters = [HabitCounter() for _ in range(MAX_SEATS)]
        self._seen = 0

    def watch(self, events: Sequence[Event]) -> None:
        """Count the new events of the game; `events` are all events of the game so far."""
        for event in events[self._seen :]:
            if 0 <= event.seat < MAX_SEATS:
                self._counters[event.seat].count(event)
        self._seen = max(self._seen, len(events))

    def probabilities(self) -> Floats:
        """Return the probability of each player at each seat, float64 (6, players)."""
        captures, trades = self._logarithms
        evidence = np.array(
            [captures @ each.habits.captures + trades @ each.habits.trades for each in self._counters]
        )  # log-likelihoods (6, players)
        weights = np.exp(TRUST * (evidence - evidence.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        return DOUBT / weights.shape[1] + (1 - DOUBT) * weights


@cache
def _logarithms(names: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the log-probabilities of each player's captures and trades, (players, 5) and (players, 2).

    For a player without an entry in the file, all numbers of captures have the same probability, and the
    probability of a trade is 0.5.
    """
    known: Mapping[str, Mapping[str, list[int]]] = json.loads(FILE.read_text(encoding="utf-8"))
    known = {name: known.get(name, UNKNOWN) for name in names}
    captures = 1.0 + np.array([known[name]["captures"] for name in names])
    trades = 1.0 + np.array([known[name]["trades"] for name in names])
    return tuple(np.log(each / each.sum(axis=1, keepdims=True)) for each in (captures, trades))
