"""Plans: compiled bots that play whole turns, asked by their numbers within kernels (`tactician`, `plan_policy`)."""

import numpy as np
from numpy import int64

from risk_agents.scripted import breaker, grower, hunter
from risk_agents.scripted.board_sense import NONE
from risk_agents.search import beam, planner, raider
from risk_agents.search.evaluation import WEIGHTS, WORKSPACE, Evaluator
from risk_agents.search.turn_search import new_tree
from risk_env.compiler import kernel
from risk_env.core.step import act
from risk_env.core.types import Phase

BOTS = (beam.BOT, planner.BOT, breaker.BOT, hunter.BOT, grower.BOT, raider.BOT)
NUM_PLANS = len(BOTS)
BEAM, PLANNER, BREAKER, HUNTER, GROWER, RAIDER = range(NUM_PLANS)
SET_UP = BREAKER  # places the first troops, and answers in others' turns
# What a bot that follows plans remembers behind its plan's own words: in which round plus 1 it chose, the plan's number
ROUND = max(bot.memory for bot in BOTS)
NUMBER = ROUND + 1
MEMORY = NUMBER + 1


@kernel
def is_chosen(game, memory, plans):
    """Whether a plan was chosen in this turn, by what the seat remembers: int32 (MEMORY,)."""
    return memory[ROUND] == game.round_number + 1 and 0 <= memory[NUMBER] < plans


@kernel
def remember(game, memory, plan):
    """Follow a plan in this turn."""
    memory[:] = 0
    memory[ROUND] = game.round_number + 1
    memory[NUMBER] = plan


@kernel
def play_turn(plan, games, boards, rules, lane, randoms, memory, last):
    """Play a turn in a lane by a plan, until it is over or asks for more than the phase `last`."""
    turn = games[lane].turn
    while games[lane].turn == turn and games[lane].phase <= last:
        act(games[lane], boards[0], rules[0], ask(plan, games, boards, rules, lane, randoms, memory))


@kernel
def ask(plan, games, boards, rules, lane, randoms, memory):
    """The answer of a plan in a lane, in a turn.

    It calls what the bots' entry points call, not these: they are called by address elsewhere, and code that holds
    them twice has two functions of one name.
    """
    game, seat = games[lane], int64(games[lane].seat)
    if plan == BEAM:
        tree, players = new_tree(games, beam.WIDTH, beam.DEPTH), int64(rules[0].num_players)
        work = np.zeros(WORKSPACE)
        return beam.choose_in(lane, games, boards, rules, randoms, memory, beam.WEIGHTS_FOR[players], work, tree)
    if plan == PLANNER:
        nodes = np.empty(planner.NUM_SLOTS, games.dtype)
        space = planner.Workspace(nodes, np.zeros((3, 256)), np.zeros(2, np.int64))
        evaluator = Evaluator(boards[0], rules[0], seat, WEIGHTS, np.zeros(WORKSPACE))
        return planner.answer(game, memory[lane, seat], space, evaluator)
    return ask_script(plan, game, boards[0], rules[0], seat, memory[lane, seat])


@kernel
def ask_script(plan, game, board, rules, seat, memory):
    """The answer of a plan that does not search."""
    if plan == RAIDER and game.phase == Phase.ATTACK and game.captured:
        return int64(rules.done)
    seen = np.zeros(game.strong.shape[0], np.uint64)
    if plan in (BREAKER, RAIDER):
        return int64(breaker.break_threats(game, board, rules, seat, memory, seen))
    action = int64(NONE)
    if plan == HUNTER:
        action = int64(hunter.hunt(game, board, rules, seat, memory, seen))
    return action if action != NONE else int64(grower.grow(game, board, rules, seat))
