"""Uniform random legal play as kernels: what the speed of the core is measured with.

Every lane has a picker of its own, one word of splitmix64 in `pickers` (uint64, N): which actions are picked in a lane
depends on no other lane and on no order, so that `play`, lane by lane or phase by phase, and `take_census` play the
very same games.
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
    """What a census counts beside the decisions of each phase."""

    BATTLE = 0  # a roll
    DRAW = 1  # a turn's end at which a card may have been drawn
    TURN = 2  # a turn that ended and another began
    GAME = 3  # a game that began


@inlined
def draw(pickers, lane):
    """The lane's next 64 random bits."""
    pickers[lane] = plus(pickers[lane], _GOLDEN)
    return scramble(pickers[lane])


@inlined
def pick(game, pickers, lane):
    """A legal action, each as likely (uneven by less than their number / 2**32)."""
    return nth(game.legal, int64(times(draw(pickers, lane) >> _HALF, np.uint64(size(game.legal))) >> _HALF))


@entry_point
def play(games, boards, rules, pickers, lanes, sweeps):
    """In each of the lanes (int64, k), `sweeps` times over: one asked decision, or a new game where one is over.

    Returns how many new games began; all the rest, `sweeps * k` less these, were decisions.
    """
    begun = 0
    for _ in range(sweeps):
        for k in range(len(lanes)):
            lane = lanes[k]
            game = games[lane]
            if game.phase == Phase.OVER:
                start(game, boards[0], rules[0], draw(pickers, lane))
                begun += 1
            else:
                game.decisions += 1
                act(game, boards[0], rules[0], pick(game, pickers, lane))
    return begun


@entry_point
def take_census(games, boards, rules, pickers, lanes, sweeps, asked, forced, events):
    """Play as `play` does and count: decisions asked and forced by phase (int64, len(Phase)), events (int64, 4)."""
    for _ in range(sweeps):
        for k in range(len(lanes)):
            lane = lanes[k]
            game = games[lane]
            if game.phase == Phase.OVER:
                events[Event.GAME.value] += 1
                set_up(game, boards[0], rules[0], draw(pickers, lane))
            else:
                asked[game.phase] += 1
                game.decisions += 1
                apply_counted(game, boards[0], rules[0], pick(game, pickers, lane), events)
            settle_counted(game, boards[0], rules[0], forced, events)


@kernel
def settle_counted(game, board, rules, forced, events):
    """As `core.step.act`: chance and forced actions, up to the next asked decision or the end."""
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
    """One action; a turn is counted when it has passed."""
    turn, playing = int64(game.turn), game.round_number > 0
    apply(game, board, rules, action)
    events[Event.TURN.value] += playing and game.turn != turn


@kernel
def play_chance_counted(game, board, rules, events):
    """One roll or one card; a turn is counted when it has passed."""
    turn = int64(game.turn)
    events[Event.BATTLE.value if game.phase == Phase.ROLL else Event.DRAW.value] += 1
    play_one_chance(game, board, rules)
    events[Event.TURN.value] += game.turn != turn


@entry_point
def choose(games, pickers, lanes, actions):
    """Pick an action in each of the lanes, into `actions` (int64, N); none where the game is over."""
    for k in range(len(lanes)):
        lane = lanes[k]
        if games[lane].phase != Phase.OVER:
            actions[lane] = pick(games[lane], pickers, lane)


@entry_point
def write_masks(games, boards, rules, lanes):
    """Write the legal actions of each of the lanes once more; they stay the same."""
    for k in range(len(lanes)):
        write_legal(games[lanes[k]], boards[0], rules[0])
