"""`planner`: follows the route of captures with the best ratio of gain to cost.

With Dijkstra's algorithm, the bot finds the cheapest route from each of its border territories to every enemy
territory that it can reach. The bot follows the best of these routes. The cost of a route is the expected
number of troops that are lost or left behind. The gain is the expected increase of the position's value, with
the exact probability that the whole route succeeds. The bot makes a new plan before each attack. The idea
comes from route planners in the literature; the implementation is our own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from risk_agents.scripted.board_sense import NONE, border_action, is_inland, move_amount
from risk_agents.scripted.claims import claim
from risk_agents.scripted.threats import ODDS
from risk_agents.search.evaluation import WEIGHTS, WON, WORKSPACE, Evaluator, evaluate
from risk_agents.search.moves import MOVE_WORDS, best_advance, fortify_or_usual_action
from risk_agents.search.turn_search import succeed
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest
from risk_env.core.odds import left_after, win_chance
from risk_env.core.position import add_troops, room, set_troops, troops_on
from risk_env.core.types import SIZE_CLASSES, Phase

LEAST_CHANCE = 0.6  # minimum probability that a whole route succeeds
LONGEST = 8  # maximum number of captures of a route
# Minimum gain as a share of the gap to a certain win, so that the bot also finishes a nearly won game
LEAST_GAIN = 0.002
FIXED_COST = 12.0  # troops added to the cost of every route, as a penalty for cheap routes with small gains
FAR = 1e9  # cost of a territory without a route
FRESH, OTHER, NUM_SLOTS = 0, 1, 2
MOST_TERRITORIES = SIZE_CLASSES[-1].territories
# Rows of the route table: expected cost to reach a territory, the previous territory of its route, and 1 if
# the territory is settled
COST, CAME_FROM, SETTLED = 0, 1, 2
# Entries of a plan: the source and the first target
SOURCE, TARGET = 0, 1


class Workspace(NamedTuple):
    """Workspace for a plan."""

    nodes: Any  # records (NUM_SLOTS,)
    routes: Any  # float64 (3, MOST_TERRITORIES)
    plan: Any  # int64 (2,)


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    space = Workspace(
        np.empty(NUM_SLOTS, games.dtype), np.zeros((3, MOST_TERRITORIES)), np.zeros(2, np.int64)
    )
    work = np.zeros(WORKSPACE)
    for k in range(len(lanes)):
        lane = lanes[k]
        seat = int64(games[lane].seat)
        evaluator = Evaluator(boards[0], rules[0], seat, WEIGHTS, work)
        claimed = claim(games[lane], boards[0], randoms, lane, seat)
        actions[lane] = (
            decide(games[lane], memory[lane, seat], space, evaluator) if claimed == NONE else claimed
        )


@kernel
def decide(game, memory, space, evaluator):
    """Return the action in the current phase, except for claims."""
    phase, plan, rules = game.phase, space.plan, evaluator.rules
    if phase == Phase.ATTACK:
        make_plan(game, 0, space, evaluator)
        # `action` is NONE without a plan
        action = border_action(game, evaluator.board, rules, plan[SOURCE], plan[TARGET])
        return int64(rules.done) if action == NONE else action
    if phase == Phase.DRAFT:
        make_plan(game, int64(game.draft_left), space, evaluator)
        return safest_place(game, space.nodes, evaluator) if plan[SOURCE] == NONE else plan[SOURCE]
    if phase == Phase.OCCUPY:
        return move_amount(game, rules, best_advance(game, space.nodes, FRESH, evaluator))
    return fortify_or_usual_action(game, memory, space.nodes, FRESH, evaluator)


@kernel
def make_plan(game, extra, space, evaluator):
    """Plan the route with the best ratio of gain to cost, after `extra` troops are drafted to its source.

    The source of the plan is NONE if no route has a sufficient gain.
    """
    board, rules, seat, _weights, _work = evaluator
    space.plan[SOURCE] = NONE
    best = 0.0
    now = evaluate(game, evaluator)
    for w in range(len(game.strong)):
        sources = game.owned[seat, w]
        while sources != ZERO:
            source = (w << 6) + lowest(sources)
            sources &= sources - ONE
            drafted = min(extra, room(game, rules, source))
            strength = troops_on(game, source) + drafted
            if strength < 2 or (extra > 0 and drafted == 0) or is_inland(game, board, seat, source):
                continue
            find_routes(game, board, seat, source, strength, space.routes)
            for target in range(board.num_territories):
                if 0.0 < space.routes[COST, target] < strength:
                    best = weigh_route(game, source, target, drafted, now, best, space, evaluator)


@kernel
def find_routes(game, board, seat, source, strength, routes):
    """Write the cheapest routes from a source through enemy territories into `routes`.

    A route ends at a territory with a cost of `strength` - 1 or more.
    """
    for territory in range(board.num_territories):
        routes[COST, territory] = FAR
        routes[SETTLED, territory] = 0.0
    routes[COST, source] = 0.0
    here = source
    while here != NONE:
        routes[SETTLED, here] = 1.0
        relax(game, board, seat, here, strength, routes)
        here = nearest_open(board, strength, routes)


@kernel
def relax(game, board, seat, here, strength, routes):
    """Write the routes through the settled territory `here` that are cheaper than the known routes."""
    for w in range(len(game.strong)):
        word = board.targets[here, w] & ~game.owned[seat, w]
        while word != ZERO:
            target = (w << 6) + lowest(word)
            word &= word - ONE
            left = int64(strength - routes[COST, here])
            defenders = troops_on(game, target)
            cost = routes[COST, here] + 1.0 + left - left_after(ODDS, left, defenders)
            if left > 1 and cost < routes[COST, target] and routes[SETTLED, target] == 0.0:
                routes[COST, target] = cost
                routes[CAME_FROM, target] = here


@kernel
def nearest_open(board, strength, routes):
    """Return the cheapest territory that is not settled and costs less than `strength` - 1, or NONE."""
    best, least = NONE, float(strength) - 1.0
    for territory in range(board.num_territories):
        if routes[SETTLED, territory] == 0.0 and routes[COST, territory] < least:
            best, least = territory, routes[COST, territory]
    return best


@kernel
def weigh_route(game, source, target, drafted, now, best, space, evaluator):
    """Plan the route to a target if its ratio of gain to cost is above `best`; return the best ratio.

    A route is not planned if it has more than LONGEST captures, or if its probability or its gain is too low
    (LEAST_CHANCE, LEAST_GAIN).
    """
    nodes, routes, plan = space
    length = 0
    first = target
    here = target
    while here != source:
        length += 1
        first = here
        here = int64(routes[CAME_FROM, here])
    if length > LONGEST:
        return best
    nodes[FRESH] = game
    add_troops(nodes[FRESH], source, drafted)
    chance = take_route(nodes[FRESH], source, target, length, routes, evaluator)
    if chance < LEAST_CHANCE:
        return best
    gain = chance * evaluate(nodes[FRESH], evaluator) - now
    if chance < 1.0:
        nodes[OTHER] = game
        set_troops(nodes[OTHER], source, 1)
        set_troops(nodes[OTHER], first, max(1, troops_on(game, first) // 2))
        gain += (1.0 - chance) * evaluate(nodes[OTHER], evaluator)
    rate = gain / (FIXED_COST + routes[COST, target])
    if gain > LEAST_GAIN * (WON - now) and rate > best:
        plan[SOURCE], plan[TARGET] = source, first
        return rate
    return best


@kernel
def take_route(game, source, target, length, routes, evaluator):
    """Capture the territories of a route; return the probability that all attacks succeed.

    Each attack leaves the expected number of survivors. If the probability is below LEAST_CHANCE, the
    function stops and returns 0.
    """
    board, rules, seat, _weights, _work = evaluator
    chance = 1.0
    here = source
    for done in range(length):
        following = target
        for _ in range(length - done - 1):
            following = int64(routes[CAME_FROM, following])
        odds = win_chance(ODDS, troops_on(game, here), troops_on(game, following))
        chance *= odds
        if chance < LEAST_CHANCE:
            return 0.0
        succeed(game, board, rules, seat, here, following, odds, 1)
        here = following
    return chance


@kernel
def safest_place(game, nodes, evaluator):
    """Return the legal territory where the draft increases the value most, without any attack."""
    board, rules = evaluator.board, evaluator.rules
    best, most = NONE, -1.0
    for territory in range(board.num_territories):
        if not has(game.legal, territory):
            continue
        nodes[FRESH] = game
        add_troops(nodes[FRESH], territory, min(int64(game.draft_left), room(game, rules, territory)))
        value = evaluate(nodes[FRESH], evaluator)
        if value > most:
            best, most = territory, value
    return best


BOT = CompiledBot("planner", "2", choose, MOVE_WORDS)
