"""Owners and troops of territories, and the operations that change owners and troops."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, bit, has, is_empty, lowest, put, remove, size
from risk_env.core.types import MAX_OWNERS, MOST_TROOPS


@inlined
def owner_of(game, territory):
    """Return the seat that holds `territory`, the number of the neutral army, or FREE."""
    return int64(game.owner[territory])


@inlined
def troops_on(game, territory):
    return int64(game.troops[territory])


@inlined
def set_troops(game, territory, troops):
    """Set the troops of a territory, and record whether the territory has two troops or more."""
    game.troops[territory] = troops
    put(game.strong, territory, troops > 1)


@inlined
def add_troops(game, territory, troops):
    set_troops(game, territory, troops_on(game, territory) + troops)


@inlined
def hold(game, territory, owner):
    """Give a territory that nobody holds to `owner`."""
    game.owner[territory] = owner
    add(game.owned[owner], territory)


@inlined
def change_owner(game, territory, owner):
    """Give a territory that an owner holds to another owner."""
    remove(game.owned[owner_of(game, territory)], territory)
    hold(game, territory, owner)


@inlined
def room(game, rules, territory):
    """Return the number of troops that may be added to the territory (RULES 1.5, 10.3)."""
    return int64(rules.max_troops) - troops_on(game, territory)


@kernel
def with_room(game, rules, w, word):
    """Return the part of `word` whose territories have room for another troop.

    `word` is word `w` of a bitset. Only territories with two troops or more can be full, so the kernel checks
    only these territories.
    """
    strong = word & game.strong[w]
    while strong != ZERO:
        territory = lowest(strong)
        if room(game, rules, (w << 6) + territory) <= 0:
            word &= ~bit(territory)
        strong &= strong - ONE
    return word


@kernel
def all_have_room(game, rules, owner):
    """Return True if every territory of `owner` has room for another troop."""
    full = ZERO
    for w in range(len(game.strong)):
        full |= game.owned[owner, w] & ~with_room(game, rules, w, game.owned[owner, w])
    return full == ZERO


@inlined
def add_to_draft(game, troops):
    """Add troops to the draft of the current player. Troops beyond MOST_TROOPS are lost (RULES 1.5)."""
    game.draft_left = min(int64(game.draft_left) + troops, MOST_TROOPS)


@inlined
def free_territories(game, board, w):
    """Return word `w` of the bitset of territories that nobody holds."""
    held = ZERO
    for owner in range(MAX_OWNERS):
        held |= game.owned[owner, w]
    return board.everywhere[w] & ~held


@kernel
def any_free(game, board):
    """Return True if a territory is still unclaimed."""
    free = ZERO
    for w in range(len(game.strong)):
        free |= free_territories(game, board, w)
    return free != ZERO


@inlined
def num_territories(game, owner):
    """Return the number of territories that `owner` holds."""
    return size(game.owned[owner])


@inlined
def holds_nothing(game, owner):
    return is_empty(game.owned[owner])


@inlined
def controls(game, owner, territory):
    """Return True if `owner` holds the territory."""
    return has(game.owned[owner], territory)


@inlined
def is_alive(game, seat):
    return game.death[seat] == 0


@inlined
def holds_continent(game, board, owner, continent):
    """Return True if `owner` holds every territory of the continent."""
    missing = ZERO
    for w in range(len(game.strong)):
        missing |= board.continent_members[continent, w] & ~game.owned[owner, w]
    return missing == ZERO


@kernel
def total_troops(game, owner):
    """Return the number of troops of `owner` on the whole board."""
    total = 0
    for w in range(len(game.strong)):
        word = game.owned[owner, w]
        while word != ZERO:
            total += troops_on(game, (w << 6) + lowest(word))
            word &= word - ONE
    return total


@inlined
def next_alive(game, rules, seat):
    """Return the next living seat clockwise from `seat`."""
    players = int64(rules.num_players)
    other = (seat + 1) % players
    while not is_alive(game, other):
        other = (other + 1) % players
    return other
