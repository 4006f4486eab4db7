"""Kernels that compute the values of a turn's states from the values of the next turn."""

from typing import Any, NamedTuple

from numpy import int64

from risk_agents.exact.enumeration import PASSED, UNSEEN, WON
from risk_env.compiler import entry_point, inlined, kernel

BEST, UNIFORM = -1, -2  # choices that are not the index of a transition


class Graph(NamedTuple):
    """States and transitions, as in `enumeration.Space`, and the probabilities of rolls."""

    first: Any
    number: Any
    mine: Any
    dice: Any
    order: Any
    successors: Any
    starts: Any
    odds: Any  # float64 (12, 3): probability by `Space.dice` and the number of troops that the defender loses


@inlined
def value_of(successor, values, opponents):
    """Return the value of a successor for the mover (see `enumeration`): 1 for a win, -1 for a loss."""
    if successor >= 0:
        return values[successor]
    if successor == WON:
        return 1.0
    return -opponents[PASSED - successor]


@entry_point
def sweep(graph, mine, theirs, opponents, values, starts):
    """Write the values of all states and positions; return the largest change of a position's value.

    `mine` and `theirs` are the choices of the mover and of the defender, int8 (N,): the index of a
    transition, BEST or UNIFORM. `opponents`, float64 (P,), contains the values of positions for the opponent.
    The values for the mover are written into `values`, float64 (N,), and `starts`, float64 (P,).
    """
    for k in range(len(graph.order)):
        state = int64(graph.order[k])
        choice = int64(mine[state]) if graph.mine[state] else int64(theirs[state])
        values[state] = value_of_state(graph, state, choice, opponents, values)
    change = 0.0
    for position in range(len(starts)):
        if graph.starts[position] != UNSEEN:
            value = value_of(int64(graph.starts[position]), values, opponents)
            change = max(change, abs(value - starts[position]))
            starts[position] = value
    return change


@kernel
def value_of_state(graph, state, choice, opponents, values):
    """Return the value of a state, computed from the values of its successors."""
    first, number = graph.first[state], int64(graph.number[state])
    dice = int64(graph.dice[state])
    if dice > 0:
        total = 0.0
        for k in range(number):
            follower = int64(graph.successors[first + k])
            total += graph.odds[dice, k] * value_of(follower, values, opponents)
        return total
    if choice >= 0:
        return value_of(int64(graph.successors[first + choice]), values, opponents)
    total, sign = 0.0, 1.0 if graph.mine[state] else -1.0
    best = value_of(int64(graph.successors[first]), values, opponents)
    for k in range(number):
        value = value_of(int64(graph.successors[first + k]), values, opponents)
        total += value
        best = value if sign * value > sign * best else best
    return best if choice == BEST else total / number


@entry_point
def write_best(graph, opponents, values, choices):
    """Write the index of each state's best transition into `choices`, int8 (N,).

    Among equally good transitions, the first is chosen.
    """
    for state in range(len(choices)):
        first, sign = graph.first[state], 1.0 if graph.mine[state] else -1.0
        best, most = 0, -2.0
        for k in range(int64(graph.number[state])):
            value = sign * value_of(int64(graph.successors[first + k]), values, opponents)
            if value > most + 1e-12:
                best, most = k, value
        choices[state] = best


@entry_point
def write_regrets(graph, choices, opponents, values, regrets):
    """Write the regret of each choice, and 0 for rolls, into `regrets`, float64 (N,)."""
    for state in range(len(choices)):
        regrets[state] = 0.0
        if graph.dice[state] == 0:
            own = value_of_state(graph, state, int64(choices[state]), opponents, values)
            regrets[state] = abs(values[state] - own)
