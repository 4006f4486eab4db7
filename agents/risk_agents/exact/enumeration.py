"""Kernels that list the states of a small duel, and the transitions between them.

A *state* is a decision of a seat or a roll that is due. The key of a state contains all facts on which later
play depends. These facts include the phase, the owners, the troops, the territories and dice of the current
decision, and whether a territory was captured this turn. Forced actions are played at once, as in every game.
Owners are relative to the *mover*, the player whose turn it is. A situation is therefore the same state for
both seats.

A *position* consists of the owners and troops at the start of a turn. No state occurs twice within a turn.
The order of states places each state after all its successors of the same turn.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from risk_env.compiler import entry_point, inlined, kernel
from risk_env.core.actions import write_legal
from risk_env.core.bits import nth, size
from risk_env.core.chance import scramble
from risk_env.core.combat import ATTACKER, DEFENDER, MAX_DEFENCE_DICE
from risk_env.core.position import change_owner, owner_of, set_troops, troops_on
from risk_env.core.step import apply, is_chance, is_forced, only_action, play_one_chance
from risk_env.core.turn import begin_turn
from risk_env.core.types import Phase

WON = -1  # successor: the mover has won
PASSED = -2  # successor PASSED - p: the turn ends, and the opponent is at position p
UNSEEN = -(2**31)  # in `Space.starts`: the position has not been reached
UNBEGUN = -1  # in `Space.starts`: the position has been reached, but its turn has not been begun
NEW = -1  # in `Space.first`: the state's transitions are not listed yet
MOST_SUCCESSORS = 64  # maximum number of successors of a state

DONE, FULL, STOPPED = 0, 1, 2  # results of `enumerate_states`
STATES, SUCCESSORS, ORDERED, STACKED, REACHED, BEGUN, KEPT = range(7)  # indices in `Space.counts`
NOW, NEXT, TEMPLATE = 0, 1, 2  # indices in `Space.scratch`

PLACE_BITS, DRAFT_BITS, MOVES_BITS, DICE_BITS, TROOPS_BITS = 4, 4, 3, 2, 3
DICE_STEP = MAX_DEFENCE_DICE + 1  # difference in `Space.dice` for one more attack die


class Space(NamedTuple):
    """States and transitions found so far, and the working memory of the enumeration."""

    keys: Any  # int64 (N,)
    first: Any  # int64 (N,): first transition of each state, or NEW
    number: Any  # uint8 (N,): number of transitions of each state
    mine: Any  # bool (N,): True if the mover decides; False for the defender's decisions and rolls
    dice: Any  # uint8 (N,): DICE_STEP * attack dice + defence dice of a roll, 0 for a decision
    order: Any  # int32 (N,): states, each after all its successors of the same turn
    successors: Any  # int32 (E,): a state, WON, or PASSED - position
    slots: Any  # int32 (power of 2): hash table of states, -1 where free
    starts: Any  # int32 (P,): successor of the start of a turn at each position, UNSEEN or UNBEGUN
    reached: Any  # int32 (P,): positions in the order in which they were reached
    stack: Any  # records (S,): states whose transitions are to be listed
    # int32 (S,): number of each state on the stack; -1 - number if only its place in `order` is missing
    marks: Any
    scratch: Any  # records (3,)
    # uint64 (4, 3, 3): generator state for a roll, by attack dice, defence dice and losses of the defender
    rolls: Any
    counts: Any  # int64 (7,)


class Kept(NamedTuple):
    """Buffer for the records of decisions."""

    records: Any  # records (K,)
    states: Any  # int32 (K,)


@entry_point
def enumerate_states(space, boards, rules, kept):
    """List all states that can be reached from `space.reached`, and their transitions.

    Returns DONE, FULL if the arrays of `space` must grow first, or STOPPED if the buffer `kept` is full.
    """
    counts = space.counts
    while counts[STACKED] > 0 or counts[BEGUN] < counts[REACHED]:
        if is_full(space):
            return FULL
        if counts[KEPT] == len(kept.states):
            return STOPPED
        if counts[STACKED] > 0:
            take_top(space, boards[0], rules[0], kept)
        else:
            begin_position(space, boards[0], rules[0])
    return DONE


@inlined
def is_full(space):
    """Return True if the transitions of another state might not fit into the arrays."""
    counts = space.counts
    states = counts[STATES] + MOST_SUCCESSORS
    stacked, successors = counts[STACKED] + MOST_SUCCESSORS, counts[SUCCESSORS] + MOST_SUCCESSORS
    is_short = stacked > len(space.marks) or successors > len(space.successors)
    return is_short or states > len(space.keys) or 2 * states > len(space.slots)


@kernel
def begin_position(space, board, rules):
    """Begin a turn at the next position, and put its first state on the stack."""
    position = int64(space.reached[space.counts[BEGUN]])
    space.counts[BEGUN] += 1
    space.scratch[NEXT] = space.scratch[TEMPLATE]
    write_position(space.scratch[NEXT], board, rules, position)
    begin_turn(space.scratch[NEXT], board, rules, 0)
    space.starts[position] = successor(space, board, rules, 0)


@kernel
def write_position(game, board, rules, position):
    """Write the owners and troops of a position into `game`; seat 0 is the mover."""
    for territory in range(board.num_territories):
        change_owner(game, territory, 1 - (position & 1))
        position >>= 1
    for territory in range(board.num_territories):
        set_troops(game, territory, 1 + position % rules.max_troops)
        position //= rules.max_troops


@kernel
def position_of(game, board, rules):
    """Return the number of a game's position, relative to the mover."""
    position = 0
    for territory in range(board.num_territories - 1, -1, -1):
        position = position * int64(rules.max_troops) + troops_on(game, territory) - 1
    for territory in range(board.num_territories - 1, -1, -1):
        position = position << 1 | int64(owner_of(game, territory) == game.turn)
    return position


@entry_point
def write_positions(games, boards, rules, positions):
    """Write the position of each game into `positions`, int64 (k,)."""
    for k in range(len(games)):
        positions[k] = position_of(games[k], boards[0], rules[0])


@entry_point
def write_keys(games, boards, keys):
    """Write the key of each game's state into `keys`, int64 (k,)."""
    for k in range(len(games)):
        keys[k] = key_of(games[k], boards[0])


@kernel
def key_of(game, board):
    """Return the key of a game's state, without the fields that its phase does not use."""
    phase = int64(game.phase)
    has_places = phase != Phase.DRAFT and phase != Phase.ATTACK and phase != Phase.FORTIFY_FROM
    has_dice = phase == Phase.DEFEND or phase == Phase.ROLL
    key = phase
    key = key << PLACE_BITS | (int64(game.source) + 1 if has_places else 0)
    key = key << PLACE_BITS | (int64(game.target) + 1 if has_places else 0)
    key = key << DRAFT_BITS | int64(game.draft_left)
    key = key << MOVES_BITS | int64(game.moves_left)
    key = key << DICE_BITS | (int64(game.chosen_dice[ATTACKER]) if has_dice else 0)
    key = key << DICE_BITS | (int64(game.chosen_dice[DEFENDER]) if phase == Phase.ROLL else 0)
    key = key << 1 | int64(game.blitz and phase == Phase.ROLL)
    key = key << 1 | int64(game.move_begun)
    key = key << 1 | int64(game.captured)
    for territory in range(board.num_territories):
        key = key << 1 | int64(owner_of(game, territory) == game.turn)
        key = key << TROOPS_BITS | (troops_on(game, territory) - 1)
    return key


@inlined
def slot_of(slots, key):
    """Return the slot at which the search for a key in the hash table begins."""
    return int64(scramble(np.uint64(key))) & (len(slots) - 1)


@kernel
def find(keys, slots, key):
    """Return the slot of a key, or the free slot for the key if the table does not contain it."""
    slot = slot_of(slots, key)
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@entry_point
def fill_slots(keys, slots):
    """Write all keys into the hash table `slots`, which must be empty."""
    for state in range(len(keys)):
        slots[find(keys, slots, keys[state])] = state


@entry_point
def find_states(keys, slots, wanted, states):
    """Write the number of the state with each key of `wanted` into `states`, int64 (k,), or -1 if unknown."""
    for k in range(len(wanted)):
        states[k] = slots[find(keys, slots, wanted[k])]


@kernel
def successor(space, board, rules, turn):
    """Play forced actions in `scratch[NEXT]`, and return the successor: a state, WON, or PASSED - position.

    A state whose transitions are not listed is put on the stack, and a new position is added to `reached`.
    """
    game = space.scratch[NEXT]
    while True:
        if game.phase == Phase.OVER:
            return WON
        if game.turn != turn:
            return PASSED - noted(space, position_of(game, board, rules))
        if is_chance(game):
            break
        write_legal(game, board, rules)
        if not is_forced(game):
            break
        apply(game, board, rules, only_action(game))
    state = numbered(space, key_of(game, board))
    if space.first[state] == NEW:
        top = space.counts[STACKED]
        space.stack[top] = space.scratch[NEXT]
        space.marks[top] = state
        space.counts[STACKED] += 1
    return state


@inlined
def noted(space, position):
    """Add a position to `space.reached` if it is new, and return the position."""
    if space.starts[position] == UNSEEN:
        space.starts[position] = UNBEGUN
        space.reached[space.counts[REACHED]] = position
        space.counts[REACHED] += 1
    return position


@inlined
def numbered(space, key):
    """Return the number of the state with the key `key`; add the state if it is new."""
    slot = find(space.keys, space.slots, key)
    if space.slots[slot] < 0:
        space.slots[slot] = space.counts[STATES]
        space.keys[space.counts[STATES]] = key
        space.counts[STATES] += 1
    return int64(space.slots[slot])


@kernel
def take_top(space, board, rules, kept):
    """List the transitions of the state on top of the stack, or remove the state from the stack.

    A state whose transitions and successors are listed is appended to `space.order`.
    """
    top = space.counts[STACKED] - 1
    state = int64(space.marks[top])
    if state < 0:
        space.order[space.counts[ORDERED]] = -1 - state
        space.counts[ORDERED] += 1
        space.counts[STACKED] -= 1
    elif space.first[state] != NEW:
        space.counts[STACKED] -= 1
    else:
        space.marks[top] = -1 - state
        space.scratch[NOW] = space.stack[top]
        list_successors(space, board, rules, state)
        if space.dice[state] == 0:
            kept.records[space.counts[KEPT]] = space.scratch[NOW]
            kept.states[space.counts[KEPT]] = state
            space.counts[KEPT] += 1


@kernel
def list_successors(space, board, rules, state):
    """List the successors of the state in `scratch[NOW]`.

    There is one successor for each legal action of a decision, or for each result of a roll.
    """
    game = space.scratch[NOW]
    first, turn = space.counts[SUCCESSORS], int64(game.turn)
    space.first[state] = first
    if is_chance(game):
        attack, defence = int64(game.chosen_dice[ATTACKER]), int64(game.chosen_dice[DEFENDER])
        number = min(attack, defence) + 1
        space.dice[state] = DICE_STEP * attack + defence
    else:
        number = size(game.legal)
        space.mine[state] = game.seat == game.turn
    space.number[state] = number
    space.counts[SUCCESSORS] += number
    for k in range(number):
        space.scratch[NEXT] = space.scratch[NOW]
        if is_chance(game):
            space.scratch[NEXT].random = space.rolls[attack, defence, k]
            play_one_chance(space.scratch[NEXT], board, rules)
        else:
            apply(space.scratch[NEXT], board, rules, nth(game.legal, k))
        space.successors[first + k] = successor(space, board, rules, turn)


@entry_point
def write_ranks(games, actions, ranks):
    """Write the index of each action among its game's legal actions into `ranks`, int64 (k,)."""
    for k in range(len(games)):
        ranks[k] = 0
        while nth(games[k].legal, ranks[k]) != actions[k]:
            ranks[k] += 1
