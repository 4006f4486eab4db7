"""`beam`: plans its draft and all captures of a turn together, by a beam search with exact battle odds.

`search.turn_search` contains the search. The bot follows its plan while battles end as expected, and makes a
new plan otherwise. The idea of search over one turn comes from the literature; the implementation is our own.
"""

from dataclasses import replace

import numpy as np
from numpy import int64

from risk_agents.learned.beam_value_features import WORKSPACE as LEARNED_WORKSPACE
from risk_agents.scripted.board_sense import (
    NONE,
    border_action,
    draft_amount,
    is_inland,
    move_amount,
    next_legal,
)
from risk_agents.scripted.claims import claim
from risk_agents.search.evaluation import EXPOSED, INCOME, PROGRESS, WEIGHTS, WORKSPACE, Evaluator
from risk_agents.search.moves import MOVE_WORDS, fortify_or_usual_action
from risk_agents.search.turn_search import (
    BEST,
    DRAFTED,
    FIRST_STEP,
    FRESH,
    MOST_DEPTH,
    MOST_ROOTS,
    STEP_ALL,
    STEP_SIZE,
    STEP_SOURCE,
    STEP_TARGET,
    STEP_TROOPS,
    STEPS,
    Tree,
    add_root,
    new_tree,
    search_turn,
)
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, inlined, kernel, vectorized_entry_point
from risk_env.core.bits import add, clear, has
from risk_env.core.movement import movable
from risk_env.core.position import add_troops, room, troops_on
from risk_env.core.types import MAX_SEATS, Phase

WIDTH = 12  # number of positions kept at each depth
DEPTH = 8  # maximum number of captures of a plan
MOST_RANK = 7  # highest rank of a territory to draft to
HALF_DRAFTED = -1  # value of `memory[AT]` after half of the draft is placed
# Weights of `search.evaluation` by number of players, from `research/tune_beam.py`. Other numbers of players
# use WEIGHTS.
TUNED = {3: np.array([[1.41, 3.0, 1.94, 0.737, 0.939, 1.78, 2.35, 0.331, 8.0, 0.351, 0.00204, 0.469]])}
WEIGHTS_FOR = np.concatenate(
    [TUNED.get(players, WEIGHTS[None]) for players in range(MAX_SEATS + 1)] + [WEIGHTS[None]]
)
CAUTIOUS = MAX_SEATS + 1  # additional row with less weight on income, and more on exposed territories
WEIGHTS_FOR[CAUTIOUS, [INCOME, PROGRESS, EXPOSED]] = 1.2, 0.2, 1.6
# Columns of the bot's memory
DRAFT_WANTED = MOVE_WORDS  # number of troops for the territory that was just chosen in the draft
RANK = DRAFT_WANTED + 1  # rank of the territory to draft to: 0 for the best, 1 for the second best, ...
WEIGHED = RANK + 1  # row of WEIGHTS_FOR, or 0 for the row of the number of players
NARROW = WEIGHED + 1  # maximum number of positions kept at each depth, or 0 for the width of the tree
GATHER = NARROW + 1  # number of the territory that gets all first troops, plus 1; 0 for `usual_action`
AT = GATHER + 1  # number of steps of the plan that are done, or HALF_DRAFTED
PLAN = AT + 1  # number of steps of the plan; the steps follow, as in a path of `search.turn_search`
MEMORY = PLAN + 1 + STEP_SIZE * MOST_DEPTH


@entry_point
def choose_by(games, boards, rules, lanes, randoms, memory, actions, weights):
    """Choose an action in each lane with the lane's row of `weights`, float64 (N or 1, NUM_WEIGHTS)."""
    choose_lanes(games, boards, rules, lanes, randoms, memory, actions, weights, np.zeros(WORKSPACE), WIDTH)


@vectorized_entry_point
def choose_learned(games, boards, rules, lanes, randoms, memory, actions, weights, width):
    """Choose an action in each lane by a learned value; keep `width` positions at each depth.

    `weights`, float32 (1, n), come from `risk_agents.learned.beam_value_features.packed`.
    """
    work = np.zeros(LEARNED_WORKSPACE, np.float32)
    choose_lanes(games, boards, rules, lanes, randoms, memory, actions, weights, work, width)


@kernel
def choose_lanes(games, boards, rules, lanes, randoms, memory, actions, weights, work, width):
    """Choose an action in each lane with the lane's row of `weights`; keep `width` positions per depth."""
    tree = new_tree(games, width, DEPTH)
    for k in range(len(lanes)):
        row = weights[lanes[k] % len(weights)]
        actions[lanes[k]] = choose_in(lanes[k], games, boards, rules, randoms, memory, row, work, tree)


@kernel
def choose_in(lane, games, boards, rules, randoms, memory, weights, work, tree):
    """Return the action of the seat to act in the lane `lane`."""
    seat = int64(games[lane].seat)
    claimed = claim(games[lane], boards[0], randoms, lane, seat)
    if claimed != NONE:
        return claimed
    own = memory[lane, seat]
    if games[lane].phase == Phase.DEPLOY and is_gathered(games[lane], boards[0], own):
        return int64(own[GATHER]) - 1
    evaluator = Evaluator(boards[0], rules[0], seat, weights, work)
    return decide(games[lane], own, narrowed(tree, int64(own[NARROW])), evaluator)


@inlined
def is_gathered(game, board, memory):
    """Return True if one territory gets all first troops, and can take the next troop."""
    return 0 < memory[GATHER] <= board.num_territories and has(game.legal, int64(memory[GATHER]) - 1)


@inlined
def narrowed(tree, width):
    """Return the tree with at most `width` positions at each depth; 0 means the tree's own width."""
    kept = width if 0 < width < tree.width else tree.width
    return Tree(tree.nodes, tree.facts, tree.paths, tree.passed, kept, tree.depth)


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    tree, work = new_tree(games, WIDTH, DEPTH), np.zeros(WORKSPACE)
    for k in range(len(lanes)):
        lane = lanes[k]
        row = int64(memory[lane, int64(games[lane].seat), WEIGHED])
        if not 0 < row < len(WEIGHTS_FOR):
            row = int64(rules[0].num_players)
        actions[lane] = choose_in(lane, games, boards, rules, randoms, memory, WEIGHTS_FOR[row], work, tree)


@kernel
def decide(game, memory, tree, evaluator):
    """Return the action in the current phase, except for claims and gathered first troops."""
    phase, rules = game.phase, evaluator.rules
    if phase == Phase.ATTACK:
        return attack(game, memory, tree, evaluator)
    if phase == Phase.OCCUPY:
        return occupy(game, rules, memory)
    if phase == Phase.DRAFT:
        return draft(game, memory, tree, evaluator)
    if phase == Phase.DRAFT_AMOUNT:
        return draft_amount(game, rules, int64(memory[DRAFT_WANTED]))
    return fortify_or_usual_action(game, memory, tree.nodes, FRESH, evaluator)


# The draft


@kernel
def draft(game, memory, tree, evaluator):
    """Return the territory to draft to, and write the number of troops into the memory.

    All troops go to the territory that allows the best turn, or half of the troops go there and half to
    another territory. The `memory[RANK]` best territories are skipped, unless half of the draft is placed. If
    all legal territories are inland, the first legal territory gets all troops.
    """
    rank = 0 if memory[AT] == HALF_DRAFTED else min(int64(memory[RANK]), MOST_RANK)
    whole = search_drafts(game, rank, memory, tree, evaluator)
    memory[DRAFT_WANTED] = game.draft_left
    place = tree.paths[BEST, DRAFTED]
    if whole < 0.0:
        return next_legal(game, NONE)
    if game.draft_left < 4:
        return place
    count = draft_roots(game, place, tree, evaluator)
    split = search_turn(tree, count, evaluator)
    if split > whole:
        memory[DRAFT_WANTED] = game.draft_left // 2
        memory[AT] = HALF_DRAFTED
    return place


@kernel
def search_drafts(game, rank, memory, tree, evaluator):
    """Plan a turn that drafts to the territory of rank `rank` (0: the best); return the value of the turn.

    If there are fewer territories, the turn drafts to the worst one. Without a territory, the value is -1.
    """
    value = -1.0
    clear(tree.passed)
    for _ in range(rank + 1):
        count = draft_roots(game, NONE, tree, evaluator)
        if count == 0:
            break
        value = search_turn(tree, count, evaluator)
        add(tree.passed, tree.paths[BEST, DRAFTED])
        remember_plan(memory, tree.paths)
    clear(tree.passed)
    return value


@kernel
def draft_roots(game, first, tree, evaluator):
    """Add a root to the tree for each territory to draft to, at most MOST_ROOTS; return the number of roots.

    Inland territories and territories in `tree.passed` are skipped. In a root, the whole draft is on the
    root's territory. If `first` is not NONE, half of the draft is on `first`, and the rest on the root's
    territory.
    """
    board, rules, seat, nodes = evaluator.board, evaluator.rules, evaluator.seat, tree.nodes
    count = 0
    for territory in range(board.num_territories):
        is_open = has(game.legal, territory) and not has(tree.passed, territory)
        if count < MOST_ROOTS and is_open and not is_inland(game, board, seat, territory):
            nodes[count] = game
            left = int64(game.draft_left)
            if first != NONE:
                half = min(left // 2, room(game, rules, first))
                add_troops(nodes[count], first, half)
                left -= half
            add_troops(nodes[count], territory, min(left, room(nodes[count], rules, territory)))
            add_root(tree, count, territory, evaluator)
            count += 1
    return count


# The plan


@kernel
def remember_plan(memory, paths):
    """Write the steps of the best path into the memory."""
    memory[AT] = 0
    memory[PLAN] = paths[BEST, STEPS]
    for i in range(STEP_SIZE * paths[BEST, STEPS]):
        memory[PLAN + 1 + i] = paths[BEST, FIRST_STEP + i]


@kernel
def planned_attack(game, board, rules, memory):
    """Return the next attack of the plan, or NONE if the plan is complete or has failed.

    The plan has failed if the attack is not legal, or its source has less than 90 % of the expected troops.
    """
    if not 0 <= memory[AT] < min(memory[PLAN], MOST_DEPTH):
        return NONE
    step = PLAN + 1 + STEP_SIZE * int64(memory[AT])
    source, target = int64(memory[step + STEP_SOURCE]), int64(memory[step + STEP_TARGET])
    wanted = int64(memory[step + STEP_TROOPS])
    action = border_action(game, board, rules, source, target)
    if action == NONE or troops_on(game, source) < wanted - wanted // 10:
        return NONE
    return action


@kernel
def attack(game, memory, tree, evaluator):
    """Return the next attack of the plan, or DONE if no attack is worthwhile.

    A new plan is made if the old plan has failed or is complete.
    """
    board, rules = evaluator.board, evaluator.rules
    action = planned_attack(game, board, rules, memory)
    if action == NONE:
        tree.nodes[0] = game
        add_root(tree, 0, NONE, evaluator)
        search_turn(tree, 1, evaluator)
        remember_plan(memory, tree.paths)
        action = planned_attack(game, board, rules, memory)
    if action == NONE:
        return int64(rules.done)
    memory[AT] += 1
    return action


@kernel
def occupy(game, rules, memory):
    """Return the action that moves all further troops into a captured territory, or none, as planned."""
    if 0 < memory[AT] <= MOST_DEPTH:
        step = PLAN + 1 + STEP_SIZE * (int64(memory[AT]) - 1)
        if memory[step + STEP_TARGET] == game.target and not memory[step + STEP_ALL]:
            return int64(rules.done)
    return move_amount(game, rules, movable(game, rules))


BOT = CompiledBot("beam", "3", choose, MEMORY)


def other_turn(bot: CompiledBot, name: str, rank: int = 0, weighed: int = 0, width: int = 0) -> CompiledBot:
    """Return a variant of a beam (`BOT`, or a bot of `search.beam_value`) that plays other turns.

    The variant drafts to the territory of rank `rank`: 0 is the best, 1 the second best. `weighed` is the
    variant's row of WEIGHTS_FOR; 0 stands for the row of the number of players. A beam with a learned value
    ignores `weighed`. The variant keeps at most `width` positions at each depth; 0 stands for the width of
    `bot`.
    """
    return replace(bot, name=name, begins=(0,) * RANK + (rank, weighed, width))
