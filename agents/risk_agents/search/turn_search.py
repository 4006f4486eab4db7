"""Beam search over the captures of one turn, with exact battle odds.

A node is a copy of the game after some captures, each with the expected number of survivors. The value of a
node is a sum of two parts. The first part is the value of the position, times the probability that all
captures succeed. The second part is a sum over the captures that can fail. A term of this sum is the value of
the position after the failure, times the probability of the failure. Among nodes with the same captures and
the same last territory, only the best node is kept. The search reads only facts that the seat may see.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from risk_agents.scripted.board_sense import LAST_TO_FALL, NONE, is_inland
from risk_agents.scripted.threats import ODDS
from risk_agents.search.evaluation import LEAST_CHANCE, STEADY, evaluate
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, lowest
from risk_env.core.combat import hand_over_cards
from risk_env.core.odds import defenders_after, left_after, win_chance
from risk_env.core.position import change_owner, holds_nothing, room, set_troops, troops_on

FEW = 4  # if at most this number of attackers survive, all movable troops occupy the territory
TRUSTED_CHANCE = 0.9999  # a battle with at least this win probability is treated as certain

MOST_ROOTS = 32  # maximum number of roots
MOST_WIDTH = 16  # maximum number of nodes kept at each depth
MOST_DEPTH = 10  # maximum number of captures of a path
# Slots of the node array: the beam, its successors, and three slots for intermediate results
NUM_SLOTS = 2 * MOST_ROOTS + 3
FRESH, FAILED, BEST = NUM_SLOTS - 3, NUM_SLOTS - 2, NUM_SLOTS - 1

# Facts of a node, float64: value, probability that all captures succeed, weighted sum of failures' values
VALUE, CHANCE, BANK = 0, 1, 2
NUM_FACTS = 3
# Path of a node, int64: territory of the draft, number of steps, territory of the last capture, the steps. A
# step has a source, a target, the expected troops on the source, and 1 if all movable troops occupy the
# target.
DRAFTED, STEPS, LAST, FIRST_STEP = 0, 1, 2, 3
STEP_SOURCE, STEP_TARGET, STEP_TROOPS, STEP_ALL = 0, 1, 2, 3
STEP_SIZE = 4
PATH_SIZE = FIRST_STEP + STEP_SIZE * MOST_DEPTH


class Tree(NamedTuple):
    """Nodes, width and depth of a search."""

    nodes: Any  # records (NUM_SLOTS,)
    facts: Any  # float64 (NUM_SLOTS, NUM_FACTS)
    paths: Any  # int64 (NUM_SLOTS, PATH_SIZE)
    passed: Any  # uint64 (W,): bitset of territories that the draft skips
    width: int  # number of nodes kept at each depth
    depth: int  # maximum number of captures of a turn


@inlined
def new_tree(games, width, depth):
    """Return an empty tree for games with the dtype of `games`."""
    facts, paths = np.empty((NUM_SLOTS, NUM_FACTS)), np.zeros((NUM_SLOTS, PATH_SIZE), np.int64)
    passed = np.zeros(games[0].strong.shape[0], np.uint64)
    return Tree(np.empty(NUM_SLOTS, games.dtype), facts, paths, passed, width, depth)


@kernel
def add_root(tree, slot, drafted, evaluator):
    """Make the position in a slot a root of the search.

    `drafted` is the territory to which troops were drafted, or NONE if there was no draft.
    """
    nodes, facts, paths = tree.nodes, tree.facts, tree.paths
    facts[slot, VALUE] = evaluate(nodes[slot], evaluator)
    facts[slot, CHANCE] = 1.0
    facts[slot, BANK] = 0.0
    paths[slot, DRAFTED] = drafted
    paths[slot, STEPS] = 0
    paths[slot, LAST] = NONE


@kernel
def search_turn(tree, roots, evaluator):
    """Search from the first `roots` slots; return the best value, and write the path to it into BEST."""
    facts, paths = tree.facts, tree.paths
    best = -1e9
    for slot in range(roots):
        if facts[slot, VALUE] > best:
            best = facts[slot, VALUE]
            copy_path(paths, BEST, slot)
    here, there, count = 0, MOST_ROOTS, roots
    for _ in range(tree.depth):
        num_successors = 0
        for slot in range(here, here + count):
            num_successors = expand(tree, slot, there, num_successors, evaluator)
        if num_successors == 0:
            break
        for slot in range(there, there + num_successors):
            if facts[slot, VALUE] > best + evaluator.weights[STEADY]:
                best = facts[slot, VALUE]
                copy_path(paths, BEST, slot)
        here, there, count = there, here, num_successors
    return best


@inlined
def copy_path(paths, to, slot):
    """Copy the path of the node in `slot` to the slot `to`."""
    for i in range(PATH_SIZE):
        paths[to, i] = paths[slot, i]


@kernel
def expand(tree, slot, there, num_successors, evaluator):
    """Try captures from the node in `slot`, and return the new number of successors.

    The win probability of a capture must be at least `weights[LEAST_CHANCE]`. The best successors are kept in
    the slots from `there` on; `num_successors` is the number of successors before the call.
    """
    game, board, seat = tree.nodes[slot], evaluator.board, evaluator.seat
    for w in range(len(game.strong)):
        sources = game.owned[seat, w] & game.strong[w]
        while sources != ZERO:
            source = (w << 6) + lowest(sources)
            sources &= sources - ONE
            for v in range(len(game.strong)):
                targets = board.targets[source, v] & ~game.owned[seat, v]
                while targets != ZERO:
                    target = (v << 6) + lowest(targets)
                    targets &= targets - ONE
                    chance = win_chance(ODDS, troops_on(game, source), troops_on(game, target))
                    if chance >= evaluator.weights[LEAST_CHANCE]:
                        num_successors = try_capture(
                            tree, slot, there, num_successors, source, target, chance, evaluator
                        )
    return num_successors


@kernel
def try_capture(tree, slot, there, num_successors, source, target, chance, evaluator):
    """Add at most two successors for a capture: one in which all movable troops move in, and one with few.

    Returns the new number of successors.
    """
    nodes, facts = tree.nodes, tree.facts
    bank = facts[slot, BANK]
    if chance < TRUSTED_CHANCE:
        fail(nodes, slot, source, target, chance)
        failed = evaluate(nodes[FAILED], evaluator)
        bank += facts[slot, CHANCE] * (1.0 - chance) * failed
    board, rules, seat, _weights, _work = evaluator
    for all_in in range(2):
        nodes[FRESH] = nodes[slot]
        if not succeed(nodes[FRESH], board, rules, seat, source, target, chance, all_in):
            continue
        facts[FRESH, CHANCE] = facts[slot, CHANCE] * chance
        facts[FRESH, BANK] = bank
        facts[FRESH, VALUE] = bank + facts[FRESH, CHANCE] * evaluate(nodes[FRESH], evaluator)
        num_successors = insert(tree, slot, there, num_successors, seat, source, target, all_in)
    return num_successors


@kernel
def fail(nodes, slot, source, target, chance):
    """Write the position after a lost blitz, with one attacker and the expected defenders, into FAILED."""
    attackers, defenders = troops_on(nodes[slot], source), troops_on(nodes[slot], target)
    nodes[FAILED] = nodes[slot]
    left = defenders_after(ODDS, attackers, defenders) / (1.0 - chance)
    set_troops(nodes[FAILED], source, 1)
    set_troops(nodes[FAILED], target, max(1, min(defenders, int64(left + 0.5))))


@kernel
def succeed(game, board, rules, seat, source, target, chance, all_in):
    """Capture a territory with the expected survivors of a won blitz.

    If `all_in` is true, all movable troops occupy the territory. Otherwise, at most three troops occupy
    the territory. Returns False if this occupation need not be tried.
    """
    attackers, defenders = troops_on(game, source), troops_on(game, target)
    left = (left_after(ODDS, attackers, defenders) - (1.0 - chance)) / max(chance, 1e-9)
    survivors = max(2, min(attackers, int64(left + 0.5)))
    loser = int64(game.owner[target])
    set_troops(game, target, 0)
    change_owner(game, target, seat)
    moving = survivors - 1 if all_in else min(3, survivors - 1)
    moving = min(moving, room(game, rules, target))
    set_troops(game, source, survivors - moving)
    set_troops(game, target, moving)
    game.captured = True
    if loser < rules.num_players and holds_nothing(game, loser):
        game.death[loser] = LAST_TO_FALL
        hand_over_cards(game, loser)
    if survivors <= FEW:
        return bool(all_in)
    if is_inland(game, board, seat, target):
        return not all_in
    return bool(all_in) or not is_inland(game, board, seat, source)


@kernel
def insert(tree, slot, there, num_successors, seat, source, target, all_in):
    """Add the node in slot FRESH to the successors if its value is high enough.

    The node replaces an equal successor, or else the worst of `tree.width` successors, if this successor has
    a lower value. Returns the new number of successors.
    """
    nodes, facts, paths, width = tree.nodes, tree.facts, tree.paths, tree.width
    place = equal_successor(nodes, paths, there, num_successors, seat, target)
    if place == NONE and num_successors < width:
        place = there + num_successors
        num_successors += 1
    else:
        if place == NONE:
            place = worst_of(facts, there, num_successors)
        if facts[place, VALUE] >= facts[FRESH, VALUE]:
            return num_successors
    attackers = troops_on(nodes[slot], source)
    nodes[place] = nodes[FRESH]
    for i in range(NUM_FACTS):
        facts[place, i] = facts[FRESH, i]
    copy_path(paths, place, slot)
    step = FIRST_STEP + STEP_SIZE * paths[slot, STEPS]
    paths[place, STEPS] += 1
    paths[place, LAST] = target
    paths[place, step + STEP_SOURCE] = source
    paths[place, step + STEP_TARGET] = target
    paths[place, step + STEP_TROOPS] = attackers
    paths[place, step + STEP_ALL] = all_in
    return num_successors


@kernel
def equal_successor(nodes, paths, there, num_successors, seat, last):
    """Return the slot of the successor that is equal to the node in slot FRESH, or NONE.

    In equal nodes, the seat owns the same territories, and the last captured territory is `last`.
    """
    for slot in range(there, there + num_successors):
        same = paths[slot, LAST] == last
        for w in range(len(nodes[slot].strong)):
            same &= nodes[slot].owned[seat, w] == nodes[FRESH].owned[seat, w]
        if same:
            return slot
    return NONE


@kernel
def worst_of(facts, there, num_successors):
    """Return the slot of the successor with the lowest value."""
    worst = there
    for slot in range(there, there + num_successors):
        if facts[slot, VALUE] < facts[worst, VALUE]:
            worst = slot
    return worst
