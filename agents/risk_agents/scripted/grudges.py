"""Grudges in a bot's memory: the number of territories that each rival captured from the bot."""

import numpy as np
from numpy import int64

from risk_agents.scripted.board_sense import NONE
from risk_env.compiler import kernel
from risk_env.core.bits import ONE, ZERO, lowest
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS, SIZE_CLASSES

PARTS = 4  # number of parts of PART_BITS bits in each uint64 of a bitset of territories
PART_BITS = 16
PART = np.uint64(2**PART_BITS - 1)
# Number of memory words: the losses to each seat, and the parts of the bitset of territories that the bot
# held at its last decision
GRUDGE_WORDS = MAX_SEATS + PARTS * SIZE_CLASSES[-1].words


@kernel
def note_losses(game, rules, seat, grudges):
    """Count the territories that rivals captured from the seat since its last decision, in `grudges`."""
    for w in range(len(game.strong)):
        for part in range(PARTS):
            column, first = MAX_SEATS + PARTS * w + part, PART_BITS * part
            held = (game.owned[seat, w] >> np.uint64(first)) & PART
            lost = np.uint64(int64(grudges[column]) & int64(PART)) & ~held
            while lost != ZERO:
                owner = int64(game.owner[(w << 6) + first + lowest(lost)])
                lost &= lost - ONE
                if 0 <= owner < rules.num_players:
                    grudges[owner] = min(int64(grudges[owner]), 1 << 20) + 1
            grudges[column] = int64(held)


@kernel
def foe(game, rules, seat, grudges):
    """Return the living rival that captured the most territories from the seat, or NONE."""
    best, most = NONE, int64(0)
    for other in range(rules.num_players):
        if other != seat and is_alive(game, other) and grudges[other] > most:
            best, most = other, int64(grudges[other])
    return best
