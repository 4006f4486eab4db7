"""Claims that prefer small continents with few borders (RULES 4.3, 9.3).

A random number decides between territories of nearly the same worth. Otherwise bots would claim the same
territories in every game, and would meet only a few openings.
"""

from typing import Any, NamedTuple

from risk_agents.scripted.board_sense import NONE, chance_below, own_sources
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, lowest, popcount
from risk_env.core.types import Phase

BORDER = 6  # penalty of a continent for each of its territories that can be attacked from outside
CROWD = 40  # penalty of a continent, times the share of the continent that is already claimed
FIRST = 1 << 20  # additional worth of the favourite continent
CLOSE = 8  # a random number decides between territories whose worths differ by less than this


class Taste(NamedTuple):
    """Preferences for claims."""

    border: Any  # penalty for each border territory of a continent (in `claim`: BORDER)
    crowd: Any  # penalty for the share of a continent that is already claimed (in `claim`: CROWD)
    favourite: Any  # continent that is claimed first, or NONE


@kernel
def claim(game, board, randoms, lane, seat):
    """Return the territory that the bot claims, or in which it puts its capital; NONE in other phases."""
    return claim_by(game, board, randoms, lane, seat, Taste(BORDER, CROWD, NONE))


@kernel
def claim_by(game, board, randoms, lane, seat, taste):
    """Return the territory as in `claim`, but with the preferences `taste`."""
    best, most = NONE, -(1 << 60)
    if game.phase != Phase.CLAIM and game.phase != Phase.CAPITAL:
        return best
    for continent in range(board.num_continents):
        prize = continent_prize(game, board, seat, continent, taste)
        for w in range(len(game.strong)):
            word = board.continent_members[continent, w] & game.legal[w]
            while word != ZERO:
                territory = (w << 6) + lowest(word)
                word &= word - ONE
                worth = prize + 4 * own_sources(game, board, seat, territory)
                worth += chance_below(randoms, lane, seat, CLOSE)
                if worth > most:
                    best, most = territory, worth
    return best


@kernel
def continent_prize(game, board, seat, continent, taste):
    """Return the worth of claiming a territory in a continent.

    The bonus and the seat's territories in the continent raise the worth. Claimed territories of any seat,
    borders and the size of the continent lower the worth. The favourite continent is worth more than all
    others.
    """
    own, members, taken, borders = 0, 0, 0, 0
    for w in range(len(game.strong)):
        inside = board.continent_members[continent, w]
        members += popcount(inside)
        own += popcount(inside & game.owned[seat, w])
        for other in range(len(game.owned)):
            taken += popcount(inside & game.owned[other, w])
        word = inside
        while word != ZERO:
            borders += has_sources_outside(board, continent, (w << 6) + lowest(word))
            word &= word - ONE
    bonus = board.continent_bonus[continent]
    first = FIRST if continent == taste.favourite else 0
    contested = (80 * own - taste.crowd * taken) // members
    return first + contested + 20 * bonus // members - members - taste.border * borders


@inlined
def has_sources_outside(board, continent, territory):
    """Return True if a territory can be attacked from outside its continent."""
    outside = ZERO
    for w in range(len(board.continent_members[continent])):
        outside |= board.sources[territory, w] & ~board.continent_members[continent, w]
    return outside != ZERO
