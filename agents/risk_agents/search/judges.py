"""Judges: functions that estimate every seat's win probability in the last position of a rollout."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.learned.beam_value_features import WORKSPACE as LEARNED_WORKSPACE
from risk_agents.learned.state_value import StateValueFile, write_chances, write_decided
from risk_agents.search.beam_value import BeamValueFile
from risk_agents.search.evaluation import WEIGHTS, WORKSPACE, Evaluator, evaluate
from risk_agents.search.rollouts import Judge
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.compiler import entry_point, vectorized_entry_point
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS
from risk_env.game_vector import GameVector
from risk_env.messages import shortened

FILE = Path(__file__).parent.parent / "learned" / "policies" / "strategist.npz"

Array = npt.NDArray[Any]
JudgeFinder = Callable[[Rules, Board], Judge]


def judge_for(rules: Rules, board: Board) -> Judge:
    """Return the judge for games with these rules on this map.

    The judge uses the shipped state value, or the heuristic for games that the value does not know.
    """
    shipped = _shipped()
    return judge_by(shipped) if shipped.knows(rules, board) else judge_heuristically


@cache
def _shipped() -> StateValueFile:
    return StateValueFile.load(FILE)


def judge_by(learned: StateValueFile) -> Judge:
    """Return a judge that uses a state value."""
    value = learned.value

    def judge(batch: GameVector, lanes: Array) -> Array:
        records = learned.checked_records(batch.records, batch.tables)
        chances = np.zeros((len(lanes), MAX_SEATS))
        write_chances(records, batch.tables.board, batch.tables.rules, lanes, value, chances)
        return chances

    return judge


def judges_by(learned: StateValueFile, source: str) -> JudgeFinder:
    """Return a function that takes rules and a map, and returns the judge that uses a state value.

    The function raises ValueError, with `source` in the message, for games that the value does not know.
    """
    judge = judge_by(learned)

    def find(rules: Rules, board: Board) -> Judge:
        learned.check(rules, board, source)
        return judge

    return find


def judge_by_beam_value(learned: BeamValueFile) -> Judge:
    """Return a judge that uses a beam value, for positions at the start of a turn.

    A beam value is the win probability of a seat whose turn is over. The judge computes the beam value of all
    seats except the seat whose turn it is. The value of this seat is 1 minus the sum of the other values, but
    at least 0. The map and the number of players determine the shapes of the weights. The judge therefore
    raises ValueError for games on another map or with another number of players.
    """
    weights, trained = learned.packed[0], learned.schema

    def judge(batch: GameVector, lanes: Array) -> Array:
        if (batch.board.digest, batch.num_players) != (trained.map_digest, trained.rules.num_players):
            games = f"{batch.num_players} players on map {batch.board.source!r}"
            known = f"{trained.rules.num_players} players on map {shortened(trained.map_source)}"
            raise ValueError(f"the games have {games}, but the {learned.KIND} is for {known}")
        chances = np.zeros((len(lanes), MAX_SEATS))
        write_beam_values(batch.records, batch.tables.board, batch.tables.rules, lanes, weights, chances)
        return chances

    return judge


@vectorized_entry_point
def write_beam_values(games, boards, rules, lanes, weights, chances):
    """Write the win probabilities of `judge_by_beam_value` in each lane of `lanes` into `chances`.

    `chances` is float64 (k, 6), and `weights` is float32 (n,).
    """
    work = np.zeros(LEARNED_WORKSPACE, np.float32)
    for k in range(len(lanes)):
        game = games[lanes[k]]
        if write_decided(game, rules[0], chances[k]):
            continue
        for seat in range(int(rules[0].num_players)):
            if seat != game.turn:
                chances[k, seat] = evaluate(game, Evaluator(boards[0], rules[0], seat, weights, work))
        chances[k, int(game.turn)] = max(1.0 - chances[k].sum(), 0.0)


def judge_heuristically(batch: GameVector, lanes: Array) -> Array:
    """Return every seat's win probability in k lanes, float64 (k, 6), as estimated by `search.evaluation`."""
    chances = np.zeros((len(lanes), MAX_SEATS))
    write_evaluations(batch.records, batch.tables.board, batch.tables.rules, lanes, chances)
    return chances


@entry_point
def write_evaluations(games, boards, rules, lanes, chances):
    """Write each living seat's share of the heuristic values into `chances`, for each lane of `lanes`.

    `chances` is float64 (k, 6). `write_decided` determines the values of finished games.
    """
    work = np.zeros(WORKSPACE)
    for k in range(len(lanes)):
        game = games[lanes[k]]
        if write_decided(game, rules[0], chances[k]):
            continue
        for seat in range(int(rules[0].num_players)):
            if is_alive(game, seat):
                chances[k, seat] = evaluate(game, Evaluator(boards[0], rules[0], seat, WEIGHTS, work))
        chances[k] /= chances[k].sum()
