"""Moves chosen by evaluation: the advance into a captured territory, and the fortify move.

`planner` and `beam` use these functions.
"""

from numpy import int64

from risk_agents.scripted.board_sense import move_amount, usual_action
from risk_agents.search.evaluation import evaluate
from risk_env.compiler import kernel
from risk_env.core.bits import ONE, ZERO, has, lowest
from risk_env.core.movement import find_destinations, movable
from risk_env.core.position import add_troops, room, troops_on
from risk_env.core.step import chosen_amount
from risk_env.core.types import Phase

# Columns of a bot's memory for the fortify move: target, and number of troops that are still to be moved
MOVE_TARGET, MOVE_WANTED = 0, 1
MOVE_WORDS = 2
LEAST_GAIN = 1e-6  # minimum gain in value for a fortify move


@kernel
def fortify_or_usual_action(game, memory, nodes, slot, evaluator):
    """Return a fortify action that is chosen by evaluation, or `usual_action` in other phases.

    `fortify_from` uses `nodes` and `slot`.
    """
    if game.phase == Phase.FORTIFY_FROM:
        return fortify_from(game, memory, nodes, slot, evaluator)
    target = int64(memory[MOVE_TARGET])
    if (
        game.phase == Phase.FORTIFY_TO
        and 0 <= target < evaluator.board.num_territories
        and has(game.legal, target)
    ):
        return target
    if game.phase == Phase.FORTIFY_AMOUNT:
        return fortify_amount(game, evaluator.rules, memory)
    return usual_action(game, evaluator.board, evaluator.rules, evaluator.seat)


@kernel
def fortify_from(game, memory, nodes, slot, evaluator):
    """Return the source of the fortify move with the best value, or DONE if no move improves the position.

    A move takes all movable troops or half of the movable troops. The function uses the slots `slot` and
    `slot + 1` of `nodes`, and writes the target and the amount into the memory.
    """
    board, rules = evaluator.board, evaluator.rules
    best = evaluate(game, evaluator) + LEAST_GAIN
    source = int64(rules.done)
    for territory in range(board.num_territories):
        if not has(game.legal, territory):
            continue
        nodes[slot] = game
        find_destinations(nodes[slot], board, rules, territory)
        for w in range(len(game.strong)):
            word = nodes[slot].reach[w]
            while word != ZERO:
                target = (w << 6) + lowest(word)
                word &= word - ONE
                for parts in range(1, 3):
                    amount = min(troops_on(game, territory) - 1, room(game, rules, target)) // parts
                    nodes[slot + 1] = game
                    value = evaluate_move(nodes[slot + 1], territory, target, amount, evaluator)
                    if value > best:
                        best, source = value, territory
                        memory[MOVE_TARGET] = target
                        memory[MOVE_WANTED] = amount
    return source


@kernel
def evaluate_move(game, source, target, amount, evaluator):
    """Move `amount` troops in `game`, and return the value of the position after the move."""
    add_troops(game, source, -amount)
    add_troops(game, target, amount)
    return evaluate(game, evaluator)


@kernel
def fortify_amount(game, rules, memory):
    """Return the action that moves the rest of the wanted amount; write what is left into the memory."""
    wanted = int64(memory[MOVE_WANTED])
    action = move_amount(game, rules, wanted)
    moved = 0 if action == rules.done else chosen_amount(rules, action, movable(game, rules))
    memory[MOVE_WANTED] = max(0, wanted - moved)
    return action


@kernel
def best_advance(game, nodes, slot, evaluator):
    """Return the best number of further troops to move into a captured territory: none, half or all."""
    source, target, most = int64(game.source), int64(game.target), movable(game, evaluator.rules)
    best, best_value = 0, -1.0
    for part in range(3):
        nodes[slot] = game
        amount = (2 - part) * most // 2
        value = evaluate_move(nodes[slot], source, target, amount, evaluator)
        if value > best_value:
            best, best_value = amount, value
    return best
