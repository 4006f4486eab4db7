"""Play in many lanes, without Python, until a player that is not a compiled bot must act.

The kernel calls bots by address (`compiler.calls`), so it is compiled once for all players. A kernel cannot
call policies and Python agents. Python code calls these players, writes their actions into `Flow.actions`,
and calls the kernel again.
"""

from typing import Any, NamedTuple

import numpy as np

from risk_env.compiler import entry_point, inlined, kernel
from risk_env.compiler.calls import NO_ADDRESS, call_at, cycle_counter
from risk_env.core.bits import has
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS, NOBODY, Phase
from risk_env.engine.batch_loop import NO_LANE, clear_rewards, step_game

CALLER = -1  # in place of a player's number: the caller acts for this seat
ANY_SEAT = -2  # in place of a seat: the next turn of any seat
NO_ACTION = -(2**63)  # in place of an action: the player to act has not been called
UNWRITTEN = -1  # in place of an action: the player has been called, but has written no action
RUNNING, OVER, STOPPED, REFUSED = 0, 1, 2, 3  # states of a lane
UNFIT = -1  # returned in place of a number of lanes: a lane is invalid, and no action was played


class Seats(NamedTuple):
    """The players at the seats of each lane."""

    numbers: Any  # int64 (N, 6): number of the player at each seat, or CALLER
    # int64 (K,): address of each player's entry point, NO_ADDRESS for a player that Python calls
    addresses: Any
    randoms: Any  # uint64 (N, 6): random state of each bot
    memory: Any  # int32 (N, 6, M): memory of each bot


class Stops(NamedTuple):
    """The conditions that stop a lane before its game is over."""

    death: Any  # int64 (N,): stop when this seat is eliminated; NOBODY: at no elimination
    turn: Any  # int64 (N,): stop when a turn of this seat, or of ANY_SEAT, begins; NOBODY: at no turn


class Tally(NamedTuple):
    """Counters and actions of the game in each lane.

    To switch the counters off, pass arrays of 0 lanes. To switch the log off, pass a `log` of 0 actions.
    """

    decisions: Any  # int64 (N, P): number of decisions of each seat
    turns: Any  # int64 (N, P): number of rounds with a decision of the seat; set-up counts as one round
    last_round: Any  # int64 (N, P): round of the seat's last decision, -1 before the first
    cycles: Any  # uint64 (N, P): number of processor cycles that the seat's bot took in this call
    log: Any  # int32 (N, A): the actions of the game


class Flow(NamedTuple):
    """Data that the kernel and Python exchange."""

    actions: Any  # int64 (N,): next action to play, or NO_ACTION
    states: Any  # int8 (N,): RUNNING, OVER, STOPPED, or REFUSED: the action is not legal, and was not played
    stopped: Any  # int64 (N,): lanes that are no longer RUNNING
    left: Any  # int64 (N,): running lanes in which a player, not the caller, acts next


@entry_point
def play_on(records, results, seats, stops, tally, flow, lanes, is_first, most):
    """Play the actions in `flow.actions`, then the actions of compiled bots, in each of `lanes`.

    Play in a lane ends when another player must act, when the lane is no longer RUNNING, or after `most`
    actions. Results accumulate in `results`, which a call with `is_first` clears first. Return three counts:
    lanes in `flow.stopped`, lanes in `flow.left`, and processor cycles of the call (0: not counted).

    The kernel checks the `seats` and `stops` of all lanes first. If a lane is invalid, the kernel plays no
    action and returns UNFIT, the lane and 0.
    """
    begun = cycles_now(tally)
    unfit = first_unfit(records.rules[0], seats, stops, lanes)
    if unfit != NO_LANE:
        return UNFIT, unfit, 0
    num_stopped, num_left = 0, 0
    for k in range(len(lanes)):
        lane = lanes[k]
        if is_first:
            clear_rewards(k, k + 1, lanes, False, results)
        play_lane(records, results, seats, stops, tally, flow, lanes[k : k + 1], most)
        if flow.states[lane] != RUNNING:
            flow.stopped[num_stopped] = lane
            num_stopped += 1
        elif seats.numbers[lane, records.games[lane].seat] != CALLER:
            flow.left[num_left] = lane
            num_left += 1
    return num_stopped, num_left, int(cycles_now(tally) - begun)


@kernel
def first_unfit(rules, seats, stops, lanes):
    """Return the first lane with an unknown player number or a stop at an unknown seat, or NO_LANE."""
    for k in range(len(lanes)):
        lane = lanes[k]
        if not (
            NOBODY <= stops.death[lane] < rules.num_players
            and ANY_SEAT <= stops.turn[lane] < rules.num_players
        ):
            return lane
        for seat in range(MAX_SEATS):
            if not CALLER <= seats.numbers[lane, seat] < len(seats.addresses):
                return lane
    return NO_LANE


@inlined
def cycles_now(tally):
    """Return the cycle counter, or 0 if cycles are not counted."""
    return cycle_counter() if len(tally.cycles) > 0 else np.uint64(0)


@kernel
def play_lane(records, results, seats, stops, tally, flow, one, most):
    """Continue the game of the lane `one[0]`."""
    lane = one[0]
    game = records.games[lane]
    flow.states[lane] = state_of(game, stops, lane)
    for _ in range(most):
        if flow.states[lane] != RUNNING:
            return
        if flow.actions[lane] == NO_ACTION and not call_bot(records, seats, tally, flow.actions, one):
            return
        flow.states[lane] = play_action(records, results, stops, tally, flow.actions, lane)


@inlined
def state_of(game, stops, lane):
    """Return the lane's state: OVER, STOPPED or RUNNING."""
    if game.phase == Phase.OVER:
        return OVER
    watched = stops.death[lane]
    return STOPPED if watched != NOBODY and not is_alive(game, watched) else RUNNING


@kernel
def call_bot(records, seats, tally, actions, one):
    """Call the compiled bot that must act, and return True. Return False if another player must act."""
    lane = one[0]
    seat = int(records.games[lane].seat)
    number = seats.numbers[lane, seat]
    if number == CALLER or seats.addresses[number] == NO_ADDRESS:
        return False
    actions[lane] = UNWRITTEN
    arguments = (records.games, records.boards, records.rules, one, seats.randoms, seats.memory, actions)
    if len(tally.decisions) > 0:
        count_decision(records.games[lane], tally, lane)
        begun = cycles_now(tally)
        call_at(seats.addresses[number], arguments)
        tally.cycles[lane, seat] += cycles_now(tally) - begun
    else:
        call_at(seats.addresses[number], arguments)
    return True


@kernel
def play_action(records, results, stops, tally, actions, lane):
    """Play the action in a lane, and return the lane's state afterwards."""
    game, board, rules, action = records.games[lane], records.boards[0], records.rules[0], actions[lane]
    if not (0 <= action < int(rules.num_actions) and has(game.legal, action)):
        return REFUSED
    if tally.log.shape[1] > 0:
        tally.log[lane, game.decisions] = action
    turn = int(game.turn)
    actions[lane] = NO_ACTION
    step_game(game, board, rules, action, lane, results)
    state = state_of(game, stops, lane)
    watched = stops.turn[lane]
    turn_begins = game.turn != turn and (game.turn == watched or watched == ANY_SEAT)
    return STOPPED if state == RUNNING and turn_begins else state


@entry_point
def count_decisions(games, tally, lanes):
    """Count a decision of the seat to act in each of `lanes`."""
    for k in range(len(lanes)):
        count_decision(games[lanes[k]], tally, lanes[k])


@inlined
def count_decision(game, tally, lane):
    """Count a decision of the seat to act."""
    seat, now = int(game.seat), int(game.round_number)
    tally.decisions[lane, seat] += 1
    if tally.last_round[lane, seat] != now:
        tally.turns[lane, seat] += 1
        tally.last_round[lane, seat] = now
