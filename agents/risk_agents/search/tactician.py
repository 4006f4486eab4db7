"""`tactician`: tries the turns of several bots in games that could be the one played, and follows the best.

Where its turn begins, each plan (`search.plans`) plays the turn a few times, with the same chance for all, and a
learned value says what its end is worth (`risk_agents.learned.table_value`). Nothing is played on, unlike in
`strategist`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from risk_agents.learned.table_value import TableValueFile, evaluate_table, workspace
from risk_agents.scripted.board_sense import draw_word
from risk_agents.search.judges import FILE
from risk_agents.search.plans import BOTS, MEMORY, NUM_PLANS, NUMBER, SET_UP, is_chosen, play_turn, remember
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.chance import scramble
from risk_env.core.hidden import determinize
from risk_env.core.types import MAX_SEATS, Phase

SAMPLES = 2  # of each plan's turn


def tactician(learned: TableValueFile, source: str, name: str, samples: int = SAMPLES) -> CompiledBot:
    """The bot that judges ends of turns by a value; errors call it `source`."""
    value = learned.value

    def choose(games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any) -> None:
        numbers = np.full(len(lanes), SET_UP)
        choose_plans(games, boards, rules, lanes, randoms, memory, value, samples, numbers)
        for number in np.unique(numbers):
            BOTS[number].choose(games, boards, rules, lanes[numbers == number], randoms, memory, actions)

    def check(rules: Rules, board: Board) -> None:
        learned.check(rules, board, source)

    return CompiledBot(name, "1", choose, MEMORY, check)


class Trial(NamedTuple):
    """Lanes to try plans in: lane DRAFTED, where the plan has drafted, and lane PLAYED, in which its turn is played."""

    games: Any  # records (2,)
    randoms: Any  # uint64 (2, 6)
    memory: Any  # int32 (2, 6, MEMORY)


DRAFTED, PLAYED = 0, 1
LAST_OF_DRAFT, LAST_OF_TURN = int(Phase.DRAFT_AMOUNT), int(Phase.FORTIFY_AMOUNT)


@vectorized_entry_point
def choose_plans(games, boards, rules, lanes, randoms, memory, value, samples, numbers):
    """Write the number of the plan that the seat to decide follows, int64 (k,), where it is its turn."""
    trial = new_trial(games)
    work, chances = workspace(value), np.zeros(MAX_SEATS)
    for k in range(len(lanes)):
        lane = lanes[k]
        game, seat = games[lane], int(games[lane].seat)
        if game.phase >= Phase.TRADE and game.turn == seat:
            if not is_chosen(game, memory[lane, seat], NUM_PLANS):
                word = draw_word(randoms, lane, seat)
                plan = best_plan(game, boards, rules, word, trial, value, work, chances, samples)
                remember(game, memory[lane, seat], plan)
            numbers[k] = memory[lane, seat, NUMBER]


@inlined
def new_trial(games):
    """Lanes for games of this dtype."""
    randoms, memory = np.zeros((2, MAX_SEATS), np.uint64), np.zeros((2, MAX_SEATS, MEMORY), np.int32)
    return Trial(np.empty(2, games.dtype), randoms, memory)


@kernel
def best_plan(game, boards, rules, word, trial, value, work, chances, samples):
    """The number of the plan whose ends of the turn are worth most; `word` are 64 random bits."""
    best, most = 0, -1.0
    for plan in range(NUM_PLANS):
        worth = try_plan(plan, game, boards, rules, word, trial, value, work, chances, samples)
        if worth > most:
            best, most = plan, worth
    return best


@kernel
def try_plan(plan, game, boards, rules, word, trial, value, work, chances, samples):
    """The chance of the seat in turn after a plan's turn, added up over the samples.

    Trades and drafts are made once: before the first dice a bot sees the same in every sample.
    """
    seat = int(game.turn)
    trial.games[DRAFTED] = game
    determinize(trial.games[DRAFTED], boards[0], rules[0], seat, word)
    trial.memory[DRAFTED] = 0
    trial.randoms[DRAFTED] = word
    play_turn(plan, trial.games, boards, rules, DRAFTED, trial.randoms, trial.memory, LAST_OF_DRAFT)
    worth = 0.0
    for _ in range(samples):
        word = scramble(word)
        trial.games[PLAYED], trial.memory[PLAYED] = trial.games[DRAFTED], trial.memory[DRAFTED]
        trial.randoms[PLAYED] = word
        if trial.games[PLAYED].phase < Phase.OVER:
            determinize(trial.games[PLAYED], boards[0], rules[0], seat, word)
        play_turn(plan, trial.games, boards, rules, PLAYED, trial.randoms, trial.memory, LAST_OF_TURN)
        evaluate_table(trial.games[PLAYED], boards[0], rules[0], value, work, chances)
        worth += chances[seat]
    return worth


BOT = tactician(TableValueFile.load(FILE), "tactician", "tactician")
