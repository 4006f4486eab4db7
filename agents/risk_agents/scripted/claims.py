"""The territory that a scripted bot claims: towards a small continent with few borders (RULES 4.3, 9.2).

A random number decides between territories of nearly the same worth. Otherwise bots would claim alike in
every game and see only a handful of openings.
"""

from risk_agents.scripted.board_sense import NONE, chance_below, own_sources
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, lowest, popcount
from risk_env.core.types import Phase

BORDER = 6  # penalty for each territory of a continent that has sources outside
CROWD = 40  # penalty for the share of a continent that others hold
CLOSE = 8  # a random number decides between territories whose worths differ by less


@kernel
def claim(game, board, randoms, lane, seat):
    """Return the territory to claim or to found a capital in, or NONE in other phases."""
    return claim_by(game, board, randoms, lane, seat, BORDER, CROWD)


@kernel
def claim_by(game, board, randoms, lane, seat, border, crowd):
    """Return what `claim` returns, for penalties other than BORDER and CROWD."""
    best, most = NONE, -(1 << 60)
    if game.phase != Phase.CLAIM and game.phase != Phase.CAPITAL:
        return best
    for continent in range(board.num_continents):
        prize = continent_prize(game, board, seat, continent, border, crowd)
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
def continent_prize(game, board, seat, continent, border, crowd):
    """Return the worth of a territory of a continent.

    Own territories in the continent and its bonus raise the worth. Territories of others, borders and the
    size of the continent lower it.
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
    return (80 * own - crowd * taken) // members + 20 * bonus // members - members - border * borders


@inlined
def has_sources_outside(board, continent, territory):
    """Return whether a territory can be attacked from outside this continent."""
    outside = ZERO
    for w in range(len(board.continent_members[continent])):
        outside |= board.sources[territory, w] & ~board.continent_members[continent, w]
    return outside != ZERO
