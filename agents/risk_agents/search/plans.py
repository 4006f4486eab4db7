"""Plans: candidates for a whole turn, which kernels select by number (`lookahead`, `turn_policy`).

A plan plays like a scripted bot or a beam of width 1. The plans `breaker at 0`, `breaker at 1`, ... draft all
troops to the first, second, ... of the seat's territories that are not inland, and continue like `breaker`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from risk_agents.scripted import breaker, grower, hunter
from risk_agents.scripted.board_sense import NONE, draft_amount, is_inland
from risk_agents.scripted.claims import claim
from risk_agents.search import beam
from risk_agents.search.evaluation import WORKSPACE
from risk_agents.search.raider import raid
from risk_agents.search.turn_search import Tree, new_tree
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import has
from risk_env.core.step import act
from risk_env.core.types import Phase

BEAM, BREAKER, HUNTER, GROWER, RAIDER, STOPPER = range(6)  # kinds of plans, by the bot that plays the turn
# Columns of a plan: kind; rank and weights of a beam (`beam.other_turn`); number of the border territory to
# which the plan drafts, counted from 0
KIND, RANK, WEIGHED, PLACE = range(4)
ANYWHERE = -1  # value of PLACE if the bot chooses the territories of its draft
WIDTH = 1  # number of positions that a beam keeps at each depth
MOST_PLACES = 12  # number of plans `breaker at N`
BOLD = 3  # row of `beam.WEIGHTS_FOR` for a bold beam

PLANS = {
    "breaker": (BREAKER, 0, 0, ANYWHERE),
    "hunter": (HUNTER, 0, 0, ANYWHERE),
    "raider": (RAIDER, 0, 0, ANYWHERE),  # a breaker that stops attacking after one capture
    "stopper": (STOPPER, 0, 0, ANYWHERE),  # a breaker that does not attack
    "grower": (GROWER, 0, 0, ANYWHERE),
    "beam": (BEAM, 0, 0, ANYWHERE),
    "second beam": (BEAM, 1, 0, ANYWHERE),
    "bold beam": (BEAM, 0, BOLD, ANYWHERE),
    "cautious beam": (BEAM, 0, beam.CAUTIOUS, ANYWHERE),
    **{f"breaker at {place}": (BREAKER, 0, 0, place) for place in range(MOST_PLACES)},
}
NAMES = tuple(PLANS)
TABLE = np.array(list(PLANS.values()))  # int64 (plans, 4)
# Plan that plays the set-up, and decides during the turns of other seats
SET_UP = NAMES.index("breaker")
FOR_THE_REST = 4  # the first FOR_THE_REST plans can play the rest of a turn that another plan began
# Columns of the memory of a bot that follows plans; the first columns are the memory of the plan. ROUND is
# the round in which the plan was chosen, plus 1. NUMBER is the number of the plan. ATTACKS is the number of
# decisions about attacks in this turn.
ROUND = beam.MEMORY
NUMBER = ROUND + 1
ATTACKS = NUMBER + 1
MEMORY = ATTACKS + 1


class Space(NamedTuple):
    """Workspace of plans."""

    tree: Tree
    work: Any  # float64 (WORKSPACE)
    seen: Any  # uint64 (W,): bitset of territories


@inlined
def new_space(games):
    """Return an empty workspace for games with the dtype of `games`."""
    return Space(
        new_tree(games, WIDTH, beam.DEPTH), np.zeros(WORKSPACE), np.zeros(games[0].strong.shape[0], np.uint64)
    )


@kernel
def is_chosen(game, memory):
    """Return True if the seat's memory, int32 (MEMORY,), contains a plan that was chosen in this turn."""
    return memory[ROUND] == game.round_number + 1 and 0 <= memory[NUMBER] < len(TABLE)


@kernel
def remember(game, memory, plan):
    """Write into the memory that `plan` plays the rest of this turn; keep this turn's count of attacks."""
    attacks = memory[ATTACKS] if is_chosen(game, memory) else 0
    begin_plan(memory, plan)
    memory[ROUND] = game.round_number + 1
    memory[NUMBER] = plan
    memory[ATTACKS] = attacks


@kernel
def begin_plan(memory, plan):
    """Write the memory that `plan` needs before its first action."""
    memory[:] = 0
    memory[beam.RANK] = TABLE[plan, RANK]
    memory[beam.WEIGHED] = TABLE[plan, WEIGHED]


@kernel
def play_turn(plan, games, boards, rules, lane, randoms, memory, last, space):
    """Play a turn in a lane with a plan, until the turn is over or its phase is after `last`."""
    turn = games[lane].turn
    while games[lane].turn == turn and games[lane].phase <= last:
        act(
            games[lane],
            boards[0],
            rules[0],
            plan_action(plan, games, boards, rules, lane, randoms, memory, space),
        )


@kernel
def plan_action(plan, games, boards, rules, lane, randoms, memory, space):
    """Return the action of a plan in a lane.

    The function calls the kernels of the bots, not their entry points. Code that contained an entry point
    twice would define two functions with the same name.
    """
    game, seat = games[lane], int64(games[lane].seat)
    if TABLE[plan, KIND] == BEAM:
        row = TABLE[plan, WEIGHED]
        weights = beam.WEIGHTS_FOR[row if row > 0 else int64(rules[0].num_players)]
        return int64(
            beam.choose_in(lane, games, boards, rules, randoms, memory, weights, space.work, space.tree)
        )
    action = int64(claim(game, boards[0], randoms, lane, seat))
    if action == NONE:
        action = drafted_action(plan, game, boards[0], rules[0], seat)
    if action == NONE:
        action = script_action(
            TABLE[plan, KIND], game, boards[0], rules[0], seat, memory[lane, seat], space.seen
        )
    return action


@kernel
def drafted_action(plan, game, board, rules, seat):
    """Return the draft action of a plan that drafts to one territory, or NONE for other plans and phases.

    The result is also NONE if there is no such territory, or if drafting to it is not legal.
    """
    if TABLE[plan, PLACE] != ANYWHERE:
        if game.phase == Phase.DRAFT:
            place = place_of(plan, game, board, seat)
            return place if place != NONE and has(game.legal, place) else int64(NONE)
        if game.phase == Phase.DRAFT_AMOUNT:
            return int64(draft_amount(game, rules, int64(game.draft_left)))
    return int64(NONE)


@kernel
def place_of(plan, game, board, seat):
    """Return the territory to which a plan drafts, or NONE if the seat has too few border territories."""
    left = TABLE[plan, PLACE]
    for territory in range(board.num_territories):
        if has(game.owned[seat], territory) and not is_inland(game, board, seat, territory):
            if left == 0:
                return int64(territory)
            left -= 1
    return int64(NONE)


@kernel
def is_possible(plan, game, board, seat):
    """Return True if a plan can be chosen.

    A plan that drafts to one territory can be chosen only if this territory exists.
    """
    return TABLE[plan, PLACE] == ANYWHERE or place_of(plan, game, board, seat) != NONE


@kernel
def script_action(kind, game, board, rules, seat, memory, seen):
    """Return the action of the scripted bot that plays the plans of kind `kind`."""
    if kind == RAIDER:
        return raid(game, board, rules, seat, memory, seen)
    if kind == STOPPER and game.phase == Phase.ATTACK:
        return int64(rules.done)
    if kind in (BREAKER, STOPPER):
        return int64(breaker.break_threats(game, board, rules, seat, memory, seen))
    action = int64(NONE)
    if kind == HUNTER:
        action = int64(hunter.hunt(game, board, rules, seat, memory, seen))
    return action if action != NONE else int64(grower.grow(game, board, rules, seat))
