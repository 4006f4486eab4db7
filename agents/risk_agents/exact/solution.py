"""Exact values of a small duel (`Solution`), best responses to a player, and games against best play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.exact.enumeration import write_ranks
from risk_agents.exact.graph import StateGraph
from risk_agents.exact.sweeps import BEST, UNIFORM, Graph, sweep, write_best, write_regrets
from risk_env.arrays import Floats
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS
from risk_env.game import Game

Choices = npt.NDArray[np.int8]

SMALLEST_CHANGE = 1e-9  # sweeps end when the value of every position changes by less than this
MOST_SWEEPS = 2000
UNIFORM_BOT = "random"  # bot that chooses uniformly; all other bots must be deterministic
EQUAL = 1e-6  # two values that differ by less count as equal


class Values(NamedTuple):
    """Values for the mover, the player whose turn it is: 1 for a win, -1 for a loss."""

    states: Floats  # float64 (N,)
    positions: Floats  # float64 (P,): values when a turn begins
    change: float  # largest change of a position's value in the last sweep
    sweeps: int  # number of sweeps


class Met(NamedTuple):
    """Values of states in games between two players, with either player as the mover."""

    first: Values  # for the first player, while it is the first player's turn
    second: Values  # for the second player, while it is the second player's turn


@dataclass(frozen=True)
class Solution:
    """Values of all states under best play, and one best choice for each decision."""

    graph: StateGraph
    values: Values
    choices: Choices  # int8 (N,): index of a best action among the legal actions

    def value(self, game: Game) -> float:
        """Return the expected result for the mover under best play of both seats, from -1 to 1."""
        return float(self.values.states[self.graph.find(game)])

    def action(self, game: Game) -> int:
        """Return a best action of the seat to act."""
        return int(game.legal_actions()[self.choices[self.graph.find(game)]])


def solve(graph: StateGraph) -> Solution:
    """Return the solution of a graph whose states are listed."""
    free = np.full(graph.num_states, BEST, np.int8)
    values = meet(graph, free).first
    choices = np.zeros(graph.num_states, np.int8)
    write_best(graph.graph(), values.positions, values.states, choices)
    return Solution(graph, values, choices)


def meet(graph: StateGraph, first: Choices, second: Choices | None = None) -> Met:
    """Return the values of games between two players who make the choices `first` and `second`.

    A player whose choice is BEST plays a best response. If `second` is None, both players make the choices
    `first`. A game that never ends has the value 0.
    """
    arrays, N, P = graph.graph(), graph.num_states, graph.num_position_numbers
    choices = (first,) if second is None else (first, second)
    for mine in choices:
        check_choices(arrays, mine)
    states = [np.zeros(N) for _ in choices]
    positions = [np.zeros(P) for _ in choices]
    number, change = 0, 1.0
    while number < MOST_SWEEPS and change >= SMALLEST_CHANGE:
        number += 1
        before = [array.copy() for array in positions]
        change = 0.0
        for k, mine in enumerate(choices):
            other = len(choices) - 1 - k
            changed = sweep(arrays, mine, choices[other], before[other], states[k], positions[k])
            change = max(change, float(changed))
    games = [Values(s, p, change, number) for s, p in zip(states, positions, strict=True)]
    return Met(games[0], games[-1])


def check_choices(graph: Graph, choices: Choices) -> None:
    """Raise ValueError unless `choices` has the index of a transition, BEST or UNIFORM for each state."""
    shape = graph.number.shape
    if choices.dtype != np.int8 or choices.shape != shape:
        raise ValueError(f"choices are {choices.dtype} {choices.shape}: must be int8 {shape}")
    if (wrong := np.flatnonzero((choices >= graph.number) | (choices < UNIFORM))).size:
        state = int(wrong[0])
        raise ValueError(
            f"choices[{state}]={choices[state]}: must be from {UNIFORM} to {graph.number[state] - 1}"
        )


def from_starts(graph: StateGraph, met: Met) -> float:
    """Return the first player's mean result over all start positions and both seats."""
    at = graph.start_positions
    return float(((met.first.positions[at] - met.second.positions[at]) / 2) @ graph.start_weights)


def regrets(solution: Solution, choices: Choices) -> Floats:
    """Return the regret of each choice, float64 (N,).

    The regret is the value that the choice loses if both players play best afterwards. The regret of a roll
    is 0.
    """
    arrays, values = solution.graph.graph(), solution.values
    check_choices(arrays, choices)
    losses = np.zeros(len(choices))
    write_regrets(arrays, choices, values.positions, values.states, losses)
    return losses


def choices_of(graph: StateGraph, bots: list[CompiledBot]) -> dict[str, Choices]:
    """List the states of an empty graph, and return the choices of each bot by name, int8 (N,).

    A bot that writes to its memory is left out, and so is a bot other than `random` that draws random
    numbers.
    """
    kept: dict[str, list[tuple[Any, Any]]] = {bot.name: [] for bot in bots}
    for records, states in graph.records():
        for bot in bots:
            if bot.name in kept and bot.name != UNIFORM_BOT:
                if (ranks := _ranks(graph, bot, records)) is None:
                    del kept[bot.name]
                else:
                    kept[bot.name].append((states.copy(), ranks))
    choices = {name: np.full(graph.num_states, UNIFORM, np.int8) for name in kept}
    for name, parts in kept.items():
        for states, ranks in parts:
            choices[name][states] = ranks
    return choices


def _ranks(graph: StateGraph, bot: CompiledBot, records: Any) -> Choices | None:
    """Return the index of the bot's action among the legal actions of each record, int8 (k,).

    Returns None if the bot draws random numbers or writes to its memory.
    """
    k, T = len(records), graph.tables
    memory = np.zeros((k, MAX_SEATS, bot.memory), np.int32)
    memory[..., : len(bot.begins)] = bot.begins
    randoms, begun = np.zeros((k, MAX_SEATS), np.uint64), memory.copy()
    actions, ranks = np.zeros(k, np.int64), np.zeros(k, np.int64)
    bot.choose(records, T.board, T.rules, np.arange(k), randoms, memory, actions)
    if randoms.any() or (memory != begun).any():
        return None
    write_ranks(records, actions, ranks)
    return ranks.astype(np.int8)
