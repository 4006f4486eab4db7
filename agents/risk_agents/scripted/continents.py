"""Rules of thumb of scripted bots for continents, borders, enclosed enemies and odds."""

from numpy import int64

from risk_agents.scripted.board_sense import NONE, enemy_targets, enemy_troops_near, is_inland
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest, popcount
from risk_env.core.position import holds_continent, troops_on


@kernel
def continent_ratio(game, board, seat, continent):
    """Return the ratio of the seat's troops in and near a continent to other troops, weighted by the bonus.

    The ratio is 0 if the seat holds the continent.
    """
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
    """Number of troops that the seat's largest stack outside the continent can send to a territory."""
    most = 0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & game.owned[seat, w] & ~board.continent_members[continent, w]
        while word != ZERO:
            most = max(most, troops_on(game, (w << 6) + lowest(word)) - 1)
            word &= word - ONE
    return most


@kernel
def own_stack_near(game, board, seat, territory, but):
    """Number of troops that the seat's largest stack can send to a territory, without the stack on `but`."""
    most = 0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & game.owned[seat, w]
        while word != ZERO:
            source = (w << 6) + lowest(word)
            word &= word - ONE
            if source != but:
                most = max(most, troops_on(game, source) - 1)
    return most


@kernel
def easiest_continent(game, board, seat):
    """Return the continent with the best ratio that the seat does not hold, or NONE if it holds all."""
    best, most = NONE, 0.0
    for continent in range(board.num_continents):
        ratio = continent_ratio(game, board, seat, continent)
        if ratio > most:
            best, most = continent, ratio
    return best


@kernel
def weakest_border(game, board, seat):
    """Return the most outnumbered legal territory of the seat's continents; NONE if none is outnumbered."""
    best, most = NONE, 0
    for territory in range(board.num_territories):
        if has(game.legal, territory) and holds_continent(
            game, board, seat, int64(board.continent_of[territory])
        ):
            danger = enemy_troops_near(game, board, seat, territory) - troops_on(game, territory)
            if danger > most:
                best, most = territory, danger
    return best


@kernel
def springboard(game, board, seat, continent):
    """Return the best legal territory from which to attack into a continent, or NONE.

    Many targets in the continent, weak targets, and many troops on the territory itself count.
    """
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
    """Return the number of targets in a continent that the seat does not own, and the troops on them."""
    targets, defenders = 0, 0
    for w in range(len(game.strong)):
        word = board.targets[territory, w] & board.continent_members[continent, w] & ~game.owned[seat, w]
        targets += popcount(word)
        while word != ZERO:
            defenders += troops_on(game, (w << 6) + lowest(word))
            word &= word - ONE
    return targets, defenders


@inlined
def is_spoil(game, board, territory):
    """Return whether the territory's owner holds its whole continent."""
    return holds_continent(game, board, int64(game.owner[territory]), int64(board.continent_of[territory]))


@kernel
def has_majority(game, board, seat, source, target):
    """Return whether an attack has more attackers than defenders (`outnumbers`)."""
    return outnumbers(game, board, seat, source, target, float(troops_on(game, target)))


@kernel
def outnumbers(game, board, seat, source, target, needed):
    """Return whether the source has more attackers than `needed`.

    Otherwise all troops of the seat that can attack the target must be more than 1.5 times as many.
    """
    attackers = troops_on(game, source) - 1
    return attackers > needed or (attackers > 1 and support(game, board, seat, target) > 1.5 * needed)


@inlined
def attack_value(game, worth, source, target):
    """Return the value of an attack: its worth, and a tenth of the attackers per defender."""
    return worth + (troops_on(game, source) - 1) / troops_on(game, target) / 10.0


@kernel
def support(game, board, seat, territory):
    """Number of the seat's troops that could attack a territory: all but one on each source."""
    total = 0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & game.owned[seat, w]
        while word != ZERO:
            total += troops_on(game, (w << 6) + lowest(word)) - 1
            word &= word - ONE
    return total


@kernel
def split_advance(game, board, seat, most):
    """Return how many of `most` troops follow into a captured territory.

    Troops go to the territory that is not inland. If neither is, half follow from a strong source. Otherwise
    all or none follow, towards more enemy targets.
    """
    source, target = int64(game.source), int64(game.target)
    if is_inland(game, board, seat, source):
        return most
    if is_inland(game, board, seat, target):
        return 0
    behind, ahead = enemy_troops_near(game, board, seat, source), enemy_troops_near(game, board, seat, target)
    if troops_on(game, source) > 1.2 * (behind + ahead):
        return most // 2
    return most if enemy_targets(game, board, seat, target) >= enemy_targets(game, board, seat, source) else 0
