"""Dangers: additional inputs of state values, which small networks would learn slowly from observations.

An observation contains the troops of each territory, but not the borders. A network without dangers must
learn the borders. `write_dangers` writes these dangers as codes of counts (`encode_count`):

* for each territory, the troops of the largest enemy stack on its sources (`scripted.board_sense`)
* for each of DANGERS, one code for each player, in the order of play from the observing player on

A player's margin against a rival is the number of troops that the player can send, minus the expected cost of
eliminating the rival. The player can send its largest stack beside the rival, except one troop, and its next
draft. If its hand may contain a set, the player can also send the troops of the set. The margin is at least
0. Without a stack that can attack the rival, the margin is 0.
"""

import numpy as np
from numpy import int64

from risk_env.board.maps import Board
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, lowest
from risk_env.core.cards import hand_size, set_troops_due
from risk_env.core.draft import troops_due
from risk_env.core.observe import encode_count, seen_from
from risk_env.core.position import is_alive, num_territories, total_troops, troops_on
from risk_env.core.types import MAX_SEATS, Deck
from risk_env.observations import observation_size

DANGERS = (
    "singles",  # number of territories with one troop
    "largest",  # troops of the largest stack
    "front",  # number of troops on territories with a border to an enemy
    "outnumbered",  # number of territories that a larger enemy stack can attack
    "sendable",  # troops of the next draft, and of a set if the hand may contain a set
    "hunted",  # largest margin of any rival against the player
    "prey",  # margin of the observing player against the player
    "hunter",  # margin of the player against the observing player
)
SINGLES, LARGEST, FRONT, OUTNUMBERED, SENDABLE, HUNTED, PREY, HUNTER = range(len(DANGERS))
LOSS = 0.95  # expected number of lost troops for each troop of the rival
SET_SIZE = 3  # smallest hand that may contain a set


def num_dangers(board: Board) -> int:
    """Return the number of codes that `write_dangers` writes."""
    return board.num_territories + len(DANGERS) * MAX_SEATS


def first_danger(board: Board) -> int:
    """Return the index of the first column of the dangers, which follow the columns of the observation."""
    return observation_size(board)


@inlined
def dangers_workspace():
    """Return the workspace of `write_dangers`, int64 (7, len(DANGERS) + 7), with a row for each owner.

    An owner is a player or the neutral army. A row begins with the DANGERS of the owner. One column for each
    owner follows: the number of troops that the row's owner can send from its largest stack beside this
    column's owner.
    """
    return np.zeros((MAX_SEATS + 1, len(DANGERS) + MAX_SEATS + 1), np.int64)


@kernel
def write_dangers(game, board, rules, looker, work, codes):
    """Write the dangers for the observing seat `looker` into `codes`, int8 (n,).

    `work` is `dangers_workspace()`.
    """
    work[:] = 0
    for territory in range(board.num_territories):
        codes[territory] = encode_count(survey(game, board, rules, territory, work))
    players = int64(rules.num_players)
    for seat in range(players):
        if is_alive(game, seat):
            work[seat, SENDABLE] = next_draft(game, board, rules, seat)
    for seat in range(players):
        if is_alive(game, seat):
            weigh_margins(game, rules, looker, seat, work)
    for seat in range(players):
        k = seen_from(rules, looker, seat)
        for danger in range(len(DANGERS)):
            codes[board.num_territories + MAX_SEATS * danger + k] = encode_count(work[seat, danger])
    for k in range(players, MAX_SEATS):
        for danger in range(len(DANGERS)):
            codes[board.num_territories + MAX_SEATS * danger + k] = 0


@kernel
def survey(game, board, rules, territory, work):
    """Add a territory to its owner's row of `work`; return the largest number of enemy troops on a source.

    Returns 0 if nobody owns the territory, or if no enemy holds a source of the territory.
    """
    owner, troops, strongest = int64(game.owner[territory]), troops_on(game, territory), int64(0)
    if owner < 0:
        return strongest
    touches = False
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & ~game.owned[owner, w]
        while word != ZERO:
            strongest = max(strongest, troops_on(game, (w << 6) + lowest(word)))
            word &= word - ONE
        word = board.targets[territory, w] & ~game.owned[owner, w]
        while word != ZERO:
            rival = int64(game.owner[(w << 6) + lowest(word)])
            word &= word - ONE
            if rival >= 0:
                touches = True
                work[owner, len(DANGERS) + rival] = max(work[owner, len(DANGERS) + rival], troops - 1)
    work[owner, SINGLES] += troops == 1
    work[owner, LARGEST] = max(work[owner, LARGEST], troops)
    work[owner, FRONT] += troops if touches else 0
    work[owner, OUTNUMBERED] += strongest > troops
    return strongest


@kernel
def next_draft(game, board, rules, seat):
    """Return the troops of a seat's next draft, plus the troops of a set if the hand may contain a set.

    With a star deck, no set is added.
    """
    troops = int64(troops_due(game, board, rules, seat))
    if rules.deck != Deck.STAR and hand_size(game, seat) >= SET_SIZE:
        troops += set_troops_due(rules, int64(game.sets_traded) + 1)
    return troops


@kernel
def weigh_margins(game, rules, looker, seat, work):
    """Write the margins of all rivals against a living seat into `work`."""
    need = int64(LOSS * total_troops(game, seat)) + num_territories(game, seat)
    for other in range(rules.num_players):
        reach = work[other, len(DANGERS) + seat]
        if other == seat or reach == 0:
            continue
        margin = max(int64(0), reach + work[other, SENDABLE] - need)
        work[seat, HUNTED] = max(work[seat, HUNTED], margin)
        if other == looker:
            work[seat, PREY] = margin
        if seat == looker:
            work[other, HUNTER] = margin
