"""Continents and neighbours as scripted bots weigh them: ratios, borders, enclosed enemies, odds by rule of thumb."""

from numpy import int64

from risk_agents.scripted.board_sense import NONE, enemy_neighbours, enemy_troops_near, is_inland
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest, popcount
from risk_env.core.position import holds_continent, troops_on


@kernel
def continent_ratio(game, board, seat, continent):
    """Own troops in and next to a continent over those of others in it, weighed by its bonus; 0 if it is held."""
    own, others, members = 0, 0, 0
    for w in range(len(game.strong)):
        word = board.continent_members[continent, w]
        members += popcount(word)
        while word != ZERO:
            territory = (w << 6) + lowest(word)
            word &= word - ONE
            if has(game.owned[seat], territory):
                own += troops_on(game, territory) + 1
            else:
                others += troops_on(game, territory) + 1
                own += own_troops_near(game, board, seat, territory, continent) // 2
    if others == 0:
        return 0.0
    return own / others * (1.0 + int64(board.continent_bonus[continent]) / members)


@kernel
def own_troops_near(game, board, seat, territory, continent):
    """The largest own stack next to a territory, from outside the continent."""
    most = 0
    for w in range(len(game.strong)):
        word = board.neighbours[territory, w] & game.owned[seat, w] & ~board.continent_members[continent, w]
        while word != ZERO:
            most = max(most, troops_on(game, (w << 6) + lowest(word)) - 1)
            word &= word - ONE
    return most


@kernel
def own_stack_near(game, board, seat, territory, but):
    """Troops that the largest own stack next to a territory can send, one stack (`but`) left out."""
    most = 0
    for w in range(len(game.strong)):
        word = board.neighbours[territory, w] & game.owned[seat, w]
        while word != ZERO:
            neighbour = (w << 6) + lowest(word)
            word &= word - ONE
            if neighbour != but:
                most = max(most, troops_on(game, neighbour) - 1)
    return most


@kernel
def easiest_continent(game, board, seat):
    """The continent not held with the best ratio, NONE if all are held."""
    best, most = NONE, 0.0
    for continent in range(board.num_continents):
        ratio = continent_ratio(game, board, seat, continent)
        if ratio > most:
            best, most = continent, ratio
    return best


@kernel
def weakest_border(game, board, seat):
    """The border of an own continent that is outnumbered most, of those where troops may go; NONE if all hold."""
    best, most = NONE, 0
    for territory in range(board.num_territories):
        if has(game.legal, territory) and holds_continent(game, board, seat, int64(board.continent_of[territory])):
            danger = enemy_troops_near(game, board, seat, territory) - troops_on(game, territory)
            if danger > most:
                best, most = territory, danger
    return best


@kernel
def springboard(game, board, seat, continent):
    """The legal territory from which to attack into a continent: many targets there, weak ones, many troops here."""
    best, most = NONE, -(1 << 60)
    for territory in range(board.num_territories):
        if has(game.legal, territory):
            targets, defenders = targets_in(game, board, seat, territory, continent)
            worth = 3 * targets + 2 * troops_on(game, territory) - defenders
            if targets > 0 and worth > most:
                best, most = territory, worth
    return best


@kernel
def targets_in(game, board, seat, territory, continent):
    """Neighbours in a continent that are not the seat's: how many, and the troops there."""
    targets, defenders = 0, 0
    for w in range(len(game.strong)):
        word = board.neighbours[territory, w] & board.continent_members[continent, w] & ~game.owned[seat, w]
        targets += popcount(word)
        while word != ZERO:
            defenders += troops_on(game, (w << 6) + lowest(word))
            word &= word - ONE
    return targets, defenders


@inlined
def is_spoil(game, board, territory):
    """Whether the territory's owner holds its whole continent."""
    return holds_continent(game, board, int64(game.owner[territory]), int64(board.continent_of[territory]))


@kernel
def has_majority(game, board, seat, source, target):
    """Whether an attack is stronger than its target, or all own troops around the target are by half."""
    attackers, defenders = troops_on(game, source) - 1, troops_on(game, target)
    return attackers > defenders or (attackers > 1 and support(game, board, seat, target) > 1.5 * defenders)


@kernel
def support(game, board, seat, territory):
    """Own troops that could attack a territory: all but one of each neighbour."""
    total = 0
    for w in range(len(game.strong)):
        word = board.neighbours[territory, w] & game.owned[seat, w]
        while word != ZERO:
            total += troops_on(game, (w << 6) + lowest(word)) - 1
            word &= word - ONE
    return total


@kernel
def split_advance(game, board, seat, most):
    """How many of `most` follow into a captured territory: to where the enemies are, half where both have some."""
    source, target = int64(game.source), int64(game.target)
    if is_inland(game, board, seat, source):
        return most
    if is_inland(game, board, seat, target):
        return 0
    behind, ahead = enemy_troops_near(game, board, seat, source), enemy_troops_near(game, board, seat, target)
    if troops_on(game, source) > 1.2 * (behind + ahead):
        return most // 2
    return most if enemy_neighbours(game, board, seat, target) >= enemy_neighbours(game, board, seat, source) else 0
