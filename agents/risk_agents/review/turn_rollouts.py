"""Rollouts of a played turn and of other plans for the turn, from the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from risk_agents.review.recorded import Decision, RecordedTurn
from risk_agents.search.rollouts import Rollouts
from risk_env.arena import ANY_SEAT, CALLER
from risk_env.arrays import Array, Floats
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.step_kernel import play_on

NEAR, NEAR_SHARE = 2, 0.05  # largest difference of armies in similar situations: troops, share of the army
NO_ROW = -1
SAME_CHANCE = np.uint64(1)  # state of the random generator in all games of `ends_now`


class TurnRollouts(Rollouts):
    """Rollouts that can also repeat a recorded turn."""

    @property
    def tables(self) -> Tables:
        """Map and rules, as records for kernels."""
        return self._batch.tables

    @property
    def rules(self) -> Rules:
        """Rules of the rollouts, with a maximum number of rounds."""
        return self._batch.rules

    @property
    def board(self) -> Board:
        """Map of the games."""
        return self._batch.board

    def ends_of_played(
        self, turn: RecordedTurn, plan: int, samples: Array, rng: np.random.Generator
    ) -> Array:
        """Repeat a turn in samples of its beginning; return the records at the end of the turn, (samples,).

        The seat repeats its decisions wherever the same situation comes up again (`PlayedTurn`). In any other
        situation, plan number `plan` plays the rest of the turn. The number of samples must not exceed the
        number of lanes.
        """
        lanes, seat = np.arange(len(samples)), turn.seat
        numbers = np.full((len(samples), MAX_SEATS), self.num_plans)
        numbers[:, seat] = CALLER
        self._seat(lanes, samples, rng.integers(2**63, size=len(samples)).astype(np.uint64), numbers)
        arena, records = self._arena, self._batch.records
        played = PlayedTurn(turn.decisions, self._batch.tables)
        arena.stop_at_turn[lanes] = ANY_SEAT
        following = np.zeros(len(samples), np.int64)
        waiting = lanes
        while len(waiting):
            rows = played.rows(records[waiting], seat, following[waiting])
            strange, known = waiting[rows == NO_ROW], waiting[rows != NO_ROW]
            if len(strange):
                arena.seat_bots(strange, np.full(len(strange), seat), np.full(len(strange), plan))
            arena.actions[known] = played.actions[rows[rows != NO_ROW]]
            following[known] = rows[rows != NO_ROW] + 1
            arena.play_on(waiting)
            waiting = known[_is_turn(records[known], (turn.round, seat))]
        return records[lanes].copy()

    def ends_now(self, records: Array, passive: int) -> Array:
        """Return the records at the end of the turn if the seat stops attacking now, (k,).

        The plan `passive` makes all other decisions of the turn. The future dice and cards of all games are
        equal. The number of games must not exceed the number of lanes.
        """
        lanes, batch, arena = np.arange(len(records)), self._batch, self._arena
        games, turn = records.copy(), (int(records["round_number"][0]), int(records["turn"][0]))
        games["random"] = SAME_CHANCE
        for lane in lanes.tolist():
            play_on(games, lane, batch.tables)
        numbers = np.full((len(games), MAX_SEATS), self.num_plans)
        numbers[:, turn[1]] = passive
        self._seat(lanes, games, np.zeros(len(games), np.uint64), numbers)
        done = int(batch.tables.space.done)
        waiting = lanes
        while len(waiting := waiting[_is_turn(batch.records[waiting], turn)]):
            arena.query_players(waiting)
            ending = waiting[
                (batch.records["phase"][waiting] == Phase.ATTACK) & _is_legal(batch.records[waiting], done)
            ]
            arena.actions[ending] = done
            arena.step(waiting)
        return batch.records[lanes].copy()

    def chances_of(self, records: Array) -> Floats:
        """Return the judge's win probability of each seat in each record, float64 (k, 6).

        The records must be positions at the start of a turn, or finished games.
        """
        lanes = np.arange(len(records))
        self._batch.load_records(lanes, records)
        return self.judge(self._batch, lanes)


class PlayedTurn:
    """The decisions of a turn, by the situation of each decision.

    A situation comes up again if phase and owners are the same, and the seat has nearly the same number of
    troops. Before the first dice of the turn, every situation comes up again.
    """

    def __init__(self, decisions: Sequence[Decision], tables: Tables) -> None:
        self.actions = np.array([decision.action for decision in decisions])
        self._phases = np.array([decision.phase for decision in decisions])
        self._owners = np.array([decision.owners for decision in decisions])
        self._armies = np.array([decision.army for decision in decisions])
        self._near = np.maximum(NEAR, NEAR_SHARE * self._armies)
        borders = tables.space.blocks["border"]
        self._attacks = np.isin(self.actions, borders) & (self._phases == Phase.ATTACK)

    def rows(self, records: Array, seat: int, following: Array) -> Array:
        """Return the index of the decision to repeat in each game, or NO_ROW, int64 (k,).

        The first fitting decision from index `following` (k,) on is repeated. If no decision fits, an attack
        that has not taken its target is continued.
        """
        rows = np.arange(len(self.actions))
        fits = self._fits(records, seat)
        is_open = fits & (rows >= following[:, None])
        row_of = np.where(is_open.any(axis=1), is_open.argmax(axis=1), NO_ROW)
        last = np.maximum(following - 1, 0)
        goes_on = (
            (row_of == NO_ROW) & (following > 0) & self._attacks[last] & fits[np.arange(len(fits)), last]
        )
        row_of[goes_on] = last[goes_on]
        legal = _is_legal(records, self.actions[row_of])
        row_of[~legal] = NO_ROW
        return row_of

    def _fits(self, records: Array, seat: int) -> Array:
        """Return whether each game is in the situation of each decision, bool (k, decisions)."""
        owners = records["owner"][:, : self._owners.shape[1]]
        troops = records["troops"][:, : self._owners.shape[1]]
        armies = np.where(owners == seat, troops, 0).sum(axis=1)
        fits = records["phase"][:, None] == self._phases
        fits &= (records["seat"] == seat)[:, None]
        fits &= np.abs(armies[:, None] - self._armies) <= self._near
        return fits & (owners[:, None, :] == self._owners).all(axis=2)


def _is_legal(records: Array, actions: Any) -> Array:
    """Return whether an action is legal in each game, bool (k,). `actions` is one action or an array (k,)."""
    actions = np.broadcast_to(actions, len(records))
    words = records["legal"][np.arange(len(records)), actions // 64]
    return (words >> (actions % 64).astype(np.uint64) & np.uint64(1)).astype(np.bool_)


def _is_turn(records: Array, turn: tuple[int, int]) -> Array:
    """Return whether a turn (round, seat) is still in progress in each game, bool (k,)."""
    is_now = (records["round_number"] == turn[0]) & (records["turn"] == turn[1])
    return is_now & (records["phase"] != Phase.OVER)
