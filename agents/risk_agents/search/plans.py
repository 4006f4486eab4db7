"""Plans: ways to play a whole turn, asked by their numbers within kernels (`lookahead`, `plan_policy`).

A plan gives the answers of a script or of a narrow beam. `breaker at 0`, `breaker at 1`, ... draft everything to the
first, second, ... own territory that has an enemy beside it, and go on as `breaker`.
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

BEAM, BREAKER, HUNTER, GROWER, RAIDER, STOPPER = range(6)  # whose answers a plan gives
KIND, RANK, WEIGHED, PLACE = range(4)  # columns of a plan: rank and weights of a beam (`beam.other_turn`); the place
ANYWHERE = -1  # in PLACE: the draft is that of the script
WIDTH = 1  # positions that a plan's beam keeps at each depth
MOST_PLACES = 12
BOLD = 3  # a row of `beam.WEIGHTS_FOR`

PLANS = {
    "breaker": (BREAKER, 0, 0, ANYWHERE),
    "hunter": (HUNTER, 0, 0, ANYWHERE),
    "raider": (RAIDER, 0, 0, ANYWHERE),  # a breaker that stops once it has earned a card
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
SET_UP = NAMES.index("breaker")  # places the first troops, and answers in others' turns
FOR_THE_REST = 4  # plans that may play the rest of a turn, from the first on
# What a bot that follows plans remembers behind its plan's own words: in which round plus 1 it chose, the plan's
# number, and how often it was asked for an attack
ROUND = beam.MEMORY
NUMBER = ROUND + 1
ATTACKS = NUMBER + 1
MEMORY = ATTACKS + 1


class Space(NamedTuple):
    """Where plans work."""

    tree: Tree
    work: Any  # float64 WORKSPACE
    seen: Any  # uint64 (W,): a set of territories


@inlined
def new_space(games):
    """An empty space for games of this dtype."""
    return Space(new_tree(games, WIDTH, beam.DEPTH), np.zeros(WORKSPACE), np.zeros(games[0].strong.shape[0], np.uint64))


@kernel
def is_chosen(game, memory):
    """Whether a plan was chosen in this turn, by what the seat remembers: int32 (MEMORY,)."""
    return memory[ROUND] == game.round_number + 1 and 0 <= memory[NUMBER] < len(TABLE)


@kernel
def remember(game, memory, plan):
    """Follow a plan in this turn from here on; attacks are counted on."""
    attacks = memory[ATTACKS] if is_chosen(game, memory) else 0
    begin_plan(memory, plan)
    memory[ROUND] = game.round_number + 1
    memory[NUMBER] = plan
    memory[ATTACKS] = attacks


@kernel
def begin_plan(memory, plan):
    """What a plan remembers before it is asked first."""
    memory[:] = 0
    memory[beam.RANK] = TABLE[plan, RANK]
    memory[beam.WEIGHED] = TABLE[plan, WEIGHED]


@kernel
def play_turn(plan, games, boards, rules, lane, randoms, memory, last, space):
    """Play a turn in a lane by a plan, until it is over or asks for more than the phase `last`."""
    turn = games[lane].turn
    while games[lane].turn == turn and games[lane].phase <= last:
        act(games[lane], boards[0], rules[0], ask(plan, games, boards, rules, lane, randoms, memory, space))


@kernel
def ask(plan, games, boards, rules, lane, randoms, memory, space):
    """The answer of a plan in a lane.

    It calls what the bots' entry points call, not these: they are called by address elsewhere, and code that holds
    them twice has two functions of one name.
    """
    game, seat = games[lane], int64(games[lane].seat)
    if TABLE[plan, KIND] == BEAM:
        row = TABLE[plan, WEIGHED]
        weights = beam.WEIGHTS_FOR[row if row > 0 else int64(rules[0].num_players)]
        return int64(beam.choose_in(lane, games, boards, rules, randoms, memory, weights, space.work, space.tree))
    action = int64(claim(game, boards[0], randoms, lane, seat))
    if action == NONE:
        action = drafted_action(plan, game, boards[0], rules[0], seat)
    if action == NONE:
        action = script_action(TABLE[plan, KIND], game, boards[0], rules[0], seat, memory[lane, seat], space.seen)
    return action


@kernel
def drafted_action(plan, game, board, rules, seat):
    """The answer of a plan that drafts everything to one place; NONE for other plans and questions."""
    if TABLE[plan, PLACE] != ANYWHERE:
        if game.phase == Phase.DRAFT:
            place = place_of(plan, game, board, seat)
            return place if place != NONE and has(game.legal, place) else int64(NONE)
        if game.phase == Phase.DRAFT_AMOUNT:
            return int64(draft_amount(game, rules, int64(game.draft_left)))
    return int64(NONE)


@kernel
def place_of(plan, game, board, seat):
    """The territory that a plan drafts to; NONE if there are not that many."""
    left = TABLE[plan, PLACE]
    for territory in range(board.num_territories):
        if has(game.owned[seat], territory) and not is_inland(game, board, seat, territory):
            if left == 0:
                return int64(territory)
            left -= 1
    return int64(NONE)


@kernel
def is_possible(plan, game, board, seat):
    """Whether a plan can be chosen: there is the place that it drafts to."""
    return TABLE[plan, PLACE] == ANYWHERE or place_of(plan, game, board, seat) != NONE


@kernel
def script_action(kind, game, board, rules, seat, memory, seen):
    """The answer of a script."""
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
