"""Judges: every seat's chance to win in positions, for rollouts that stop before the game is over."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.learned.learned_value import WORKSPACE as LEARNED_WORKSPACE
from risk_agents.learned.table_value import TableValueFile, write_chances, write_decided
from risk_agents.search.evaluation import WEIGHTS, WORKSPACE, Evaluator, evaluate
from risk_agents.search.rollouts import Judge
from risk_agents.search.value_beam import ValueFile
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.compiler import entry_point, vectorized_entry_point
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS
from risk_env.lanes import Lanes

FILE = Path(__file__).parent.parent / "learned" / "policies" / "strategist.npz"

Array = npt.NDArray[Any]
JudgeFinder = Callable[[Rules, Board], Judge]


def judge_for(rules: Rules, board: Board) -> Judge:
    """The shipped value where it knows such tables, the heuristic evaluation elsewhere."""
    shipped = _shipped()
    return judge_by(shipped) if shipped.knows(rules, board) else judge_heuristically


@cache
def _shipped() -> TableValueFile:
    return TableValueFile.load(FILE)


def judge_by(learned: TableValueFile) -> Judge:
    """A judge that asks a learned value."""
    value = learned.value

    def judge(batch: Lanes, lanes: Array) -> Array:
        records = learned.checked_records(batch.records, batch.tables)
        chances = np.zeros((len(lanes), MAX_SEATS))
        write_chances(records, batch.tables.board, batch.tables.rules, lanes, value, chances)
        return chances

    return judge


def judges_by(learned: TableValueFile, source: str) -> JudgeFinder:
    """Finds the judge that asks a learned value; ValueError with its `source` for a table that it does not know."""
    judge = judge_by(learned)

    def find(rules: Rules, board: Board) -> Judge:
        learned.check(rules, board, source)
        return judge

    return find


def judge_by_beam_value(learned: ValueFile) -> Judge:
    """A judge that asks a beam's value, where a turn begins.

    Such a value is a seat's chance when its turn is over: that of the others here. The seat in turn gets the rest.
    """

    def judge(batch: Lanes, lanes: Array) -> Array:
        chances = np.zeros((len(lanes), MAX_SEATS))
        weights = learned.packed[0]
        write_beam_values(batch.records, batch.tables.board, batch.tables.rules, lanes, weights, chances)
        return chances

    return judge


@vectorized_entry_point
def write_beam_values(games, boards, rules, lanes, weights, chances):
    """Write what `judge_by_beam_value` says of each of these lanes, float64 (k, 6); weights float32 (n,)."""
    work = np.zeros(LEARNED_WORKSPACE, np.float32)
    for k in range(len(lanes)):
        game = games[lanes[k]]
        if write_decided(game, rules[0], chances[k]):
            continue
        for seat in range(int(rules[0].num_players)):
            if seat != game.turn:
                chances[k, seat] = evaluate(game, Evaluator(boards[0], rules[0], seat, weights, work))
        chances[k, int(game.turn)] = max(1.0 - chances[k].sum(), 0.0)


def judge_heuristically(batch: Lanes, lanes: Array) -> Array:
    """A judge that asks `search.evaluation` for every seat."""
    chances = np.zeros((len(lanes), MAX_SEATS))
    write_evaluations(batch.records, batch.tables.board, batch.tables.rules, lanes, chances)
    return chances


@entry_point
def write_evaluations(games, boards, rules, lanes, chances):
    """Write the heuristic value of each seat in each of these lanes as a share of all, float64 (k, 6)."""
    work = np.zeros(WORKSPACE)
    for k in range(len(lanes)):
        game = games[lanes[k]]
        if write_decided(game, rules[0], chances[k]):
            continue
        for seat in range(int(rules[0].num_players)):
            if is_alive(game, seat):
                chances[k, seat] = evaluate(game, Evaluator(boards[0], rules[0], seat, WEIGHTS, work))
        chances[k] /= chances[k].sum()
