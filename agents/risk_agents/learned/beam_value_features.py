"""Beam value: win probability of a seat that ends its attacks now, as a correction of the heuristic value.

A small network computes the correction. `search.evaluation` uses the network if the network's weights follow
the weights of the heuristic. `risk_training.beam_value` trains the network.

The features describe the whole board, such as fronts, armies, incomes, continents, cards and the round. A
network with columns for each territory predicted results equally well, but an agent with that network played
worse. Features are sparse: pairs of a column and a number. A column without a pair is 0.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy import int64

from risk_agents.scripted.board_sense import LAST_TO_FALL, NONE
from risk_agents.scripted.continents import own_stack_near
from risk_agents.scripted.goal_progress import goal_progress
from risk_agents.scripted.threats import DUE, ODDS, largest_threat
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE
from risk_env.core.cards import can_trade, hand_size, set_troops_due
from risk_env.core.draft import troops_due
from risk_env.core.odds import win_chance
from risk_env.core.position import holds_nothing, num_territories, troops_on
from risk_env.core.types import MAX_OWNERS, MAX_SEATS, SIZE_CLASSES, Phase

# Columns of the front, each divided by a scale:
# BORDERS            number of the seat's border territories
# AT_FRONT, BEHIND   troops beyond one per territory: on border territories, on the seat's other territories
# STACK, RIVAL       largest stack at a border: of the seat, of a rival
# FALLING            expected number of the seat's territories that fall now
# FALLEN             expected number that fall after a rival drafts half of the largest income
# IN_REACH           expected number of enemy territories that the seat can capture
BORDERS, AT_FRONT, BEHIND, STACK, RIVAL, FALLING, FALLEN, IN_REACH, FRONT_COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# Columns of an owner: square root of the troops, share of all troops, share of the territories, troops due,
# and number of cards. The last two columns are flags: more than 2 cards, and more than 3 cards.
OWNER_COLUMNS = 7
# Columns of a seat and a continent: the share that the seat holds, and 1 if the seat holds all. Each
# continent has one more column: if the observing seat holds the continent, the probability that none of its
# territories falls.
CONTINENT_COLUMNS = 2
# Columns of the game: 1 if the seat has made its fortify move, 1 if the seat holds a set of cards, troops for
# the next set, the round on two scales, and progress towards a special victory
GAME_COLUMNS = 6
# The last column is the heuristic value, as log-odds

# Rows of the workspace; row 1 is DUE:
# TROOPS, ORDER     for each owner: troops, place in the order of turns
# SIZE, SAFETY      for each continent: number of territories, probability that no territory falls
# HELD              for each owner and continent: number of territories
# FRONT             columns of the front
# COLUMN, FEATURE   features as pairs of a column and a number
# FIRST, SECOND     hidden layers
TROOPS, ORDER, SIZE, SAFETY, HELD, FRONT, COLUMN, FEATURE, FIRST, SECOND = 0, 2, 3, 4, 5, 6, 7, 8, 9, 10
MOST_UNITS = 512  # largest width of a hidden layer
CONTINENTS = SIZE_CLASSES[-1].continents  # number of entries of an owner in HELD
AT_ONCE = 4  # number of features that one pass of a loop adds
_OF_CONTINENTS = (CONTINENT_COLUMNS * MAX_SEATS + 1) * CONTINENTS
# Maximum number of columns of any map
MOST_COLUMNS = FRONT_COLUMNS + OWNER_COLUMNS * MAX_OWNERS + _OF_CONTINENTS + GAME_COLUMNS + 1
WORKSPACE = (11, max(MOST_COLUMNS + AT_ONCE, MOST_UNITS, MAX_OWNERS * CONTINENTS))
# Order of the weights, after the three sizes; "trust" is the factor of the heuristic value
LAYERS = ("first_bias", "first", "second_bias", "second", "trust", "output_bias", "output")
NUM_SIZES = 3
NOTHING = np.float32(0.0)

# Scales of the features
A_FRONT = 10.0
A_STACK = 20.0
FIELD_ARMY = 100.0
BIG_DRAFT = 10.0
FULL_HAND = 5.0
DEAREST_SET = 60.0
LATE = 40.0
GOAL = 3.0


def num_columns(rules: Rules, board: Board) -> int:
    """Return the number of input columns of the network for games with these rules on this map."""
    owners, continents = rules.num_players + int(rules.neutral), len(board.continents)
    of_continents = (CONTINENT_COLUMNS * rules.num_players + 1) * continents
    return FRONT_COLUMNS + OWNER_COLUMNS * owners + of_continents + GAME_COLUMNS + 1


def value_shapes(columns: int, first: int, second: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight by name; `first` and `second` are the sizes of the hidden layers."""
    hidden = {
        "first": (columns, first),
        "first_bias": (first,),
        "second": (first, second),
        "second_bias": (second,),
    }
    return hidden | {"output": (second, 1), "output_bias": (1,), "trust": (1,)}


def packed(weights: Mapping[str, Array], head: Array) -> Array:
    """Return the weights of the network as one float32 array for the kernels.

    The keys of `weights` are the names in LAYERS. The array begins with `head`, the weights of the heuristic,
    and the three sizes of the network.
    """
    columns, hidden = weights["first"].shape
    sizes = [columns, hidden, weights["second"].shape[1]]
    return np.concatenate([head, sizes, *(weights[name].ravel() for name in LAYERS)]).astype(np.float32)


@kernel
def beam_value(game, board, rules, seat, heuristic, weights, start, work):
    """Return the seat's win probability, from 0 to 1, computed from the heuristic value and the position.

    `weights` are float32; the sizes and weights of the network begin at index `start` (see `packed`).
    """
    count = encode_position(game, board, rules, seat, game.phase == Phase.FORTIFY_FROM, heuristic, work)
    columns, first, second = (
        np.uint64(weights[start]),
        np.uint64(weights[start + 1]),
        np.uint64(weights[start + 2]),
    )
    at = np.uint64(start + NUM_SIZES)
    for u in range(first):
        work[FIRST, u] = weights[at + u]
    add_features(weights, at + first, count, first, work)
    at += first + columns * first
    for j in range(second):
        work[SECOND, j] = weights[at + j]
    add_hidden(weights, at + second, first, second, work)
    at += second + first * second
    output = weights[at] * log_odds(heuristic) + weights[at + ONE]
    at += ONE + ONE
    for j in range(second):
        output += max(work[SECOND, j], NOTHING) * weights[at + j]
    return 1.0 / (1.0 + math.exp(-output))


@inlined
def add_features(weights, at, count, size, work):
    """Add the products of features and weights to the first hidden layer, AT_ONCE features at a time.

    Each column has `size` weights; the weights of the first column begin at index `at`.
    """
    for n in range(count, count + AT_ONCE):
        work[COLUMN, n], work[FEATURE, n] = 0.0, 0.0
    for n in range(0, count, AT_ONCE):
        a, b, c, d = work[FEATURE, n], work[FEATURE, n + 1], work[FEATURE, n + 2], work[FEATURE, n + 3]
        i, j = at + size * np.uint64(work[COLUMN, n]), at + size * np.uint64(work[COLUMN, n + 1])
        k, m = at + size * np.uint64(work[COLUMN, n + 2]), at + size * np.uint64(work[COLUMN, n + 3])
        for u in range(size):
            work[FIRST, u] += (
                a * weights[i + u] + b * weights[j + u] + c * weights[k + u] + d * weights[m + u]
            )


@inlined
def add_hidden(weights, at, first, second, work):
    """Add the products of the first hidden layer's positive outputs and the weights to the second layer.

    Each output has `second` weights; the weights of the first output begin at index `at`.
    """
    for u in range(first):
        factor = work[FIRST, u]
        if factor > NOTHING:
            row = at + second * u
            for j in range(second):
                work[SECOND, j] += factor * weights[row + j]


# Features


@kernel
def encode_position(game, board, rules, seat, moved, heuristic, work):
    """Write the features of a position for a seat into the workspace; return the number of features."""
    P, neutral = int64(rules.num_players), int64(rules.neutral)
    owners = P + neutral
    count_owners(game, board, rules, seat, work)
    scan_territories(game, board, rules, seat, work)
    count, column = int64(0), int64(FRONT_COLUMNS)
    for n in range(FRONT_COLUMNS):
        count = add_feature(n, work[FRONT, n], count, work)
    count = encode_owners(game, board, rules, seat, owners, column, count, work)
    column += OWNER_COLUMNS * owners
    count = encode_continents(board, P, column, count, work)
    column += (CONTINENT_COLUMNS * P + 1) * board.num_continents
    count = encode_game(game, board, rules, seat, moved, column, count, work)
    return add_feature(column + GAME_COLUMNS, log_odds(heuristic), count, work)


@inlined
def add_feature(column, number, count, work):
    """Write a feature after the first `count` features; return the new number of features."""
    work[COLUMN, count] = column
    work[FEATURE, count] = number
    return count + 1


@inlined
def log_odds(chance):
    """Return the log-odds of a probability, which is first clipped to the range from 1e-6 to 1 - 1e-6."""
    chance = min(max(chance, 1e-6), 1.0 - 1e-6)
    return math.log(chance / (1.0 - chance))


@kernel
def count_owners(game, board, rules, seat, work):
    """Write each owner's place (the seat is first) and troops due; clear the counts and sums."""
    P = int64(rules.num_players)
    for owner in range(P + 1):
        place = owner - seat if owner >= seat else owner - seat + P
        work[ORDER, owner] = place if owner < P else P
        work[TROOPS, owner] = 0.0
        work[DUE, owner] = 0.0
        if owner < P and not holds_nothing(game, owner):
            work[DUE, owner] = troops_due(game, board, rules, owner)
    for n in range(FRONT_COLUMNS):
        work[FRONT, n] = 0.0
    for continent in range(board.num_continents):
        work[SIZE, continent] = 0.0
        work[SAFETY, continent] = 1.0
        for owner in range(P + 1):
            work[HELD, owner * CONTINENTS + continent] = 0.0


@kernel
def scan_territories(game, board, rules, seat, work):
    """Count troops and territories, and compute the sums of the front."""
    most_due = 0.0
    for owner in range(rules.num_players):
        if owner != seat:
            most_due = max(most_due, work[DUE, owner])
    for territory in range(board.num_territories):
        owner, troops = int64(game.owner[territory]), troops_on(game, territory)
        place, continent = int64(work[ORDER, owner]), int64(board.continent_of[territory])
        work[TROOPS, owner] += troops
        work[SIZE, continent] += 1.0
        work[HELD, place * CONTINENTS + continent] += 1.0
        if owner == seat:
            scan_own(game, board, rules, seat, territory, troops, most_due / 2.0, work)
        else:
            stack = own_stack_near(game, board, seat, territory, NONE)
            if stack > 0:
                work[FRONT, IN_REACH] += win_chance(ODDS, stack + 1, troops) / A_FRONT


@inlined
def scan_own(game, board, rules, seat, territory, troops, half, work):
    """Add one of the seat's territories to the sums of the front.

    `half` is half of the largest income of a rival. For FALLEN, `half` is added to the rival's troops.
    """
    threat = largest_threat(game, board, rules, seat, territory, 0.0, work)
    if threat < 0.0:
        work[FRONT, BEHIND] += (troops - 1.0) / A_STACK
        return
    work[FRONT, BORDERS] += 1.0 / A_FRONT
    work[FRONT, AT_FRONT] += (troops - 1.0) / A_STACK
    work[FRONT, STACK] = max(work[FRONT, STACK], troops / A_STACK)
    work[FRONT, RIVAL] = max(work[FRONT, RIVAL], threat / A_STACK)
    rival = int64(threat) + 1
    work[FRONT, FALLING] += win_chance(ODDS, rival, troops) / A_FRONT
    falls = win_chance(ODDS, rival + int64(half), troops)
    work[FRONT, FALLEN] += falls / A_FRONT
    work[SAFETY, int64(board.continent_of[territory])] *= 1.0 - falls


@kernel
def encode_owners(game, board, rules, seat, owners, column, count, work):
    """Write the features of every owner, in the order of turns; return the number of features."""
    total = 0.0
    for owner in range(owners):
        total += work[TROOPS, owner]
    for owner in range(owners):
        at, troops = column + OWNER_COLUMNS * int64(work[ORDER, owner]), work[TROOPS, owner]
        count = add_feature(at, math.sqrt(troops / FIELD_ARMY), count, work)
        count = add_feature(at + 1, troops / total, count, work)
        count = add_feature(at + 2, num_territories(game, owner) / board.num_territories, count, work)
        if owner < rules.num_players:
            cards = hand_size(game, owner)
            if owner == seat and game.turn == seat and game.captured:
                cards += 1
            count = add_feature(at + 3, work[DUE, owner] / BIG_DRAFT, count, work)
            count = add_feature(at + 4, cards / FULL_HAND, count, work)
            count = add_feature(at + 5, 1.0 if cards > 2 else 0.0, count, work)
            count = add_feature(at + 6, 1.0 if cards > 3 else 0.0, count, work)
    return count


@kernel
def encode_continents(board, players, column, count, work):
    """Write the features of continents: shares of all seats, and safety; return the number of features."""
    for place in range(players):
        for continent in range(board.num_continents):
            held, members = work[HELD, place * CONTINENTS + continent], work[SIZE, continent]
            if held > 0.0:
                count = add_feature(column, held / members, count, work)
                count = add_feature(column + 1, 1.0 if held == members else 0.0, count, work)
            column += CONTINENT_COLUMNS
    for continent in range(board.num_continents):
        if work[HELD, continent] == work[SIZE, continent]:
            count = add_feature(column + continent, work[SAFETY, continent], count, work)
    return count


@kernel
def encode_game(game, board, rules, seat, moved, column, count, work):
    """Write the features of the turn, the seat's cards and the round; return the number of features."""
    set_worth, current = float(set_troops_due(rules, int64(game.sets_traded) + 1)), float(game.round_number)
    count = add_feature(column, 1.0 if moved else 0.0, count, work)
    if not is_heir(game, rules) and can_trade(game, board, rules, seat):
        count = add_feature(column + 1, 1.0, count, work)
    count = add_feature(column + 2, min(set_worth, DEAREST_SET) / (DEAREST_SET / 3.0), count, work)
    count = add_feature(column + 3, 1.0 / (1.0 + current), count, work)
    count = add_feature(column + 4, min(current, LATE) / (LATE / 2.0), count, work)
    return add_feature(column + 5, goal_progress(game, board, rules, seat) / GOAL, count, work)


@inlined
def is_heir(game, rules):
    """Return True if a capture of the search has eliminated a seat.

    The observing seat then holds the cards of the eliminated seat, but does not know them yet.
    """
    fallen = False
    for other in range(rules.num_players):
        fallen |= game.death[other] == LAST_TO_FALL
    return fallen
