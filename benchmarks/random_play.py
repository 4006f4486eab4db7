"""Kernels that play uniformly random legal actions, to measure the speed of the core.

Every lane has its own splitmix64 generator, whose state is in `pickers` (uint64, N). The actions of a lane do
not depend on other lanes or on the order of lanes. `take_census` and `play` therefore play the same games,
whether `play` is called for all lanes or separately for the lanes of each phase.
"""

from enum import IntEnum

import numpy as np
from numpy import int64

from risk_env.compiler import entry_point, inlined, kernel
from risk_env.core.actions import write_legal
from risk_env.core.bits import nth, plus, size, times
from risk_env.core.chance import scramble
from risk_env.core.setup import set_up
from risk_env.core.step import act, apply, is_chance, is_forced, only_action, play_one_chance, start
from risk_env.core.types import Phase

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Event(IntEnum):
    """Events that a census counts besides the decisions of each phase."""

    BATTLE = 0  # a roll
    DRAW = 1  # the end of a turn in which a card may have been drawn
    TURN = 2  # the end of a turn that another turn follows
    GAME = 3  # the beginning of a game


@inlined
def draw(pickers, lane):
    """Return the next 64 random bits of a lane."""
    pickers[lane] = plus(pickers[lane], _GOLDEN)
    return scramble(pickers[lane])


@inlined
def pick(game, pickers, lane):
    """Return a random legal action, uniform up to rounding.

    The probabilities of two actions differ by at most 2**-32.
    """
    return nth(game.legal, int64(times(draw(pickers, lane) >> _HALF, np.uint64(size(game.legal))) >> _HALF))


@entry_point
def play(games, boards, rules, pickers, lanes, sweeps):
    """Make `sweeps` steps in each of the lanes (int64, k): a step plays a decision, or begins a new game.

    Returns the number of games that began. The other steps, of `sweeps * k` in total, were decisions.
    """
    begun = 0
    for _ in range(sweeps):
        for k in range(len(lanes)):
            lane = lanes[k]
            game = games[lane]
            if game.phase == Phase.OVER:
                start(games, lane, boards[0], rules[0], draw(pickers, lane))
                begun += 1
            else:
                game.decisions += 1
                act(game, boards[0], rules[0], pick(game, pickers, lane))
    return begun


@entry_point
def take_census(games, boards, rules, pickers, lanes, sweeps, decisions, forced, events):
    """Play like `play`, and count decisions, forced actions and events.

    The counts `decisions` and `forced` are by phase (int64, len(Phase)), and `events` by Event (int64, 4).
    """
    for _ in range(sweeps):
        for k in range(len(lanes)):
            lane = lanes[k]
            game = games[lane]
            if game.phase == Phase.OVER:
                events[Event.GAME.value] += 1
                set_up(games, lane, boards[0], rules[0], draw(pickers, lane))
            else:
                decisions[game.phase] += 1
                game.decisions += 1
                apply_counted(game, boards[0], rules[0], pick(game, pickers, lane), events)
            settle_counted(game, boards[0], rules[0], forced, events)


@kernel
def settle_counted(game, board, rules, forced, events):
    """Play chance events and forced actions until the next decision or the end of the game, like `act`."""
    while True:
        while is_chance(game):
            play_chance_counted(game, board, rules, events)
        write_legal(game, board, rules)
        if not is_forced(game):
            return
        forced[game.phase] += 1
        apply_counted(game, board, rules, only_action(game), events)


@kernel
def apply_counted(game, board, rules, action, events):
    """Play one action, and count a turn when it ends."""
    turn, playing = int64(game.turn), game.round_number > 0
    apply(game, board, rules, action)
    events[Event.TURN.value] += playing and game.turn != turn


@kernel
def play_chance_counted(game, board, rules, events):
    """Play one roll or draw one card, and count a turn when it ends."""
    turn = int64(game.turn)
    events[Event.BATTLE.value if game.phase == Phase.ROLL else Event.DRAW.value] += 1
    play_one_chance(game, board, rules)
    events[Event.TURN.value] += game.turn != turn


@entry_point
def choose(games, pickers, lanes, actions):
    """Write an action for each of the lanes into `actions` (int64, N), unless the lane's game is over."""
    for k in range(len(lanes)):
        lane = lanes[k]
        if games[lane].phase != Phase.OVER:
            actions[lane] = pick(games[lane], pickers, lane)


@entry_point
def write_masks(games, boards, rules, lanes):
    """Write the legal actions of each of the lanes again."""
    for k in range(len(lanes)):
        write_legal(games[lanes[k]], boards[0], rules[0])
