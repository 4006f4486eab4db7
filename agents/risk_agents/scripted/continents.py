"""Heuristics of scripted bots for continents, borders and majorities."""

from numpy import int64

from risk_agents.scripted.board_sense import NONE, enemy_targets, enemy_troops_near, is_inland
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest, popcount
from risk_env.core.position import holds_continent, troops_on


@kernel
def continent_ratio(game, board, seat, continent):
    """Return the ratio of the seat's troops in and near a continent to all other troops in the continent.

    The ratio is weighted by the bonus. It is 0 if the seat holds the whole continent.
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
    """Return the number of troops that one stack of the seat can send to a territory.

    The stack is the seat's largest stack beside the territory and outside the continent.
    """
    most = 0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & game.owned[seat, w] & ~board.continent_members[continent, w]
        while word != ZERO:
            most = max(most, troops_on(game, (w << 6) + lowest(word)) - 1)
            word &= word - ONE
    return most


@kernel
def own_stack_near(game, board, seat, territory, but):
    """Return the number of troops that the seat's largest adjacent stack can send to a territory.

    A stack on the territory `but` is ignored.
    """
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
    """Return the continent with the highest `continent_ratio`, or NONE if all ratios are 0."""
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
    """Return the best legal territory for attacks into a continent, or NONE if none has a target there.

    The worth of a territory increases with its targets in the continent and its own troops, and decreases
    with the troops on these targets.
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
    """Return the number of a territory's enemy targets in a continent, and the troops on these targets."""
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
    """Return True if the owner of a territory holds the territory's whole continent."""
    return holds_continent(game, board, int64(game.owner[territory]), int64(board.continent_of[territory]))


@kernel
def has_majority(game, board, seat, source, target):
    """Return True if the attackers outnumber the defenders of an attack (`outnumbers`)."""
    return outnumbers(game, board, seat, source, target, float(troops_on(game, target)))


@kernel
def outnumbers(game, board, seat, source, target, needed):
    """Return True if the source has more attackers than `needed`, or the seat has enough support.

    The support is enough if all troops of the seat that can attack the target are more than 1.5 times
    `needed`. The source must then have at least two attackers.
    """
    attackers = troops_on(game, source) - 1
    return attackers > needed or (attackers > 1 and support(game, board, seat, target) > 1.5 * needed)


@inlined
def attack_value(game, worth, source, target):
    """Return the value of an attack: `worth` plus a tenth of the number of attackers per defender."""
    return worth + (troops_on(game, source) - 1) / troops_on(game, target) / 10.0


@kernel
def support(game, board, seat, territory):
    """Return the number of the seat's troops that can attack a territory: all except one on each source."""
    total = 0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & game.owned[seat, w]
        while word != ZERO:
            total += troops_on(game, (w << 6) + lowest(word)) - 1
            word &= word - ONE
    return total


@kernel
def split_advance(game, board, seat, most):
    """Return the number of troops, out of `most`, that follow into a captured territory.

    All troops follow from an inland source. From any other source, no troops follow into an inland target.
    If neither is inland, half of the troops follow from a strong source. From a weak source, all troops
    follow if the target has at least as many enemy targets as the source, and otherwise none.
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
