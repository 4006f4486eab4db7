"""Turns of a recorded game, with decisions, chance events and records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from risk_env.arrays import Array
from risk_env.chance_outcomes import possible_records
from risk_env.core import entry
from risk_env.core.types import UNLIMITED, Phase
from risk_env.game import Game
from risk_env.public import members


@dataclass
class RecordedTurn:
    """A turn of a seat, from the first decision of the turn on."""

    round: int
    seat: int
    start: Array  # record (1,) at the first decision
    decisions: list[Decision] = field(default_factory=list)  # decisions of this seat


@dataclass(frozen=True)
class Decision:
    """A decision of the seat whose turn it is, with the facts by which a similar situation is recognised."""

    phase: int
    owners: Array  # owner of each territory (T,)
    army: int  # number of troops of the seat on the map
    action: int


@dataclass(frozen=True)
class ChanceEvent:
    """A chance event: the possible records after the event, and the record that followed."""

    turn: int  # index of the turn
    records: Array  # possible records (k,)
    chances: Array  # probability of each record, float64 (k,)
    after: Array  # record that followed (1,)


def recorded_turns(game: Game) -> tuple[list[RecordedTurn], Iterator[ChanceEvent]]:
    """Return the list of a game's turns, and an iterator over the chance events of these turns.

    The iterator fills the list. The list is complete when the iterator is exhausted. The set-up and turns
    without a decision are left out.
    """
    turns: list[RecordedTurn] = []
    return turns, _Walk(game, turns).events()


class _Walk:
    """A replay of a recorded game from the first action on."""

    def __init__(self, game: Game, turns: list[RecordedTurn]) -> None:
        self._games, self._tables = game.beginning().records.copy(), game.tables
        self._actions, self._turns = game.actions, turns

    def events(self) -> Iterator[ChanceEvent]:
        """Play the actions of the game, add the turns to the list, and yield the chance events."""
        for action in self._actions:
            self._note(action)
            yield from self._act(action)
            while len(legal := members(self._games["legal"][0])) == 1:
                yield from self._act(legal[0])

    def _note(self, action: int) -> None:
        """Add a decision to the current turn. If the decision begins a turn, add the turn first.

        Decisions in the set-up, and decisions of other seats during the turn, are not added.
        """
        game = self._games[0]
        now = int(game["round_number"]), int(game["turn"])
        if not now[0] or game["phase"] == Phase.OVER:
            return
        if not self._turns or (self._turns[-1].round, self._turns[-1].seat) != now:
            self._turns.append(RecordedTurn(*now, self._games.copy()))
        if game["seat"] == now[1]:
            owners = game["owner"][: self._tables.space.board.num_territories].copy()
            troops = game["troops"][: len(owners)]
            army = int(troops[owners == now[1]].sum())
            self._turns[-1].decisions.append(Decision(int(game["phase"]), owners, army, action))

    def _act(self, action: int) -> Iterator[ChanceEvent]:
        """Play an action, and yield the chance events that follow."""
        games, T = self._games, self._tables
        before = games.copy() if games["phase"][0] == Phase.REROLL else None
        entry.apply_action(games, 0, T.board, T.rules, action)
        if before is not None:
            yield from self._event(before, action)
        while games["phase"][0] > Phase.OVER:
            before = games.copy()
            is_blitz = bool(games["blitz"][0]) and games["phase"][0] == Phase.ROLL
            entry.play_chance_once(games, 0, T.board, T.rules)
            if is_blitz and T.rules["max_battles"][0] == UNLIMITED:
                while games["phase"][0] == Phase.ROLL:
                    entry.play_chance_once(games, 0, T.board, T.rules)
            yield from self._event(before)

    def _event(self, before: Any, action: int | None = None) -> Iterator[ChanceEvent]:
        """Yield the chance event that followed the record `before`.

        Nothing is yielded before the first turn, or if `possible_records` returns fewer than two records.
        """
        if not self._turns:
            return
        records, chances = possible_records(before, self._tables, action)
        if len(records) > 1:
            yield ChanceEvent(len(self._turns) - 1, records, chances, self._games.copy())
