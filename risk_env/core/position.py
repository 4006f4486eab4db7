"""Owners and troops of territories, and the operations that change them."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, bit, has, is_empty, lowest, put, remove, size
from risk_env.core.types import MAX_OWNERS, MOST_TROOPS


@inlined
def owner_of(game, territory):
    """Return the seat that holds the territory, the neutral army's number, or FREE."""
    return int64(game.owner[territory])


@inlined
def troops_on(game, territory):
    return int64(game.troops[territory])


@inlined
def set_troops(game, territory, troops):
    """Set the troops of a territory, and record whether it has two or more."""
    game.troops[territory] = troops
    put(game.strong, territory, troops > 1)


@inlined
def add_troops(game, territory, troops):
    set_troops(game, territory, troops_on(game, territory) + troops)


@inlined
def hold(game, territory, owner):
    """Give a territory that nobody holds to an owner."""
    game.owner[territory] = owner
    add(game.owned[owner], territory)


@inlined
def change_owner(game, territory, owner):
    """Give a held territory to another owner."""
    remove(game.owned[owner_of(game, territory)], territory)
    hold(game, territory, owner)


@inlined
def room(game, rules, territory):
    """Return the number of additional troops that the territory may hold (RULES 1.5, 10.3)."""
    return int64(rules.max_troops) - troops_on(game, territory)


@kernel
def with_room(game, rules, w, word):
    """Return the territories of word `w` that have room for another troop.

    Only territories with two or more troops can be full, so only these are checked.
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
    """Return True if every territory of an owner has room for another troop."""
    full = ZERO
    for w in range(len(game.strong)):
        full |= game.owned[owner, w] & ~with_room(game, rules, w, game.owned[owner, w])
    return full == ZERO


@inlined
def add_to_draft(game, troops):
    """Give troops to the player in turn. Troops beyond the ceiling are lost (RULES 1.5)."""
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
    """Number of territories held."""
    return size(game.owned[owner])


@inlined
def holds_nothing(game, owner):
    return is_empty(game.owned[owner])


@inlined
def controls(game, owner, territory):
    """Return True if the owner holds the territory."""
    return has(game.owned[owner], territory)


@inlined
def is_alive(game, seat):
    return game.death[seat] == 0


@inlined
def holds_continent(game, board, owner, continent):
    """Return True if the owner holds every territory of the continent."""
    missing = ZERO
    for w in range(len(game.strong)):
        missing |= board.continent_members[continent, w] & ~game.owned[owner, w]
    return missing == ZERO


@kernel
def total_troops(game, owner):
    """Number of troops of an owner on the whole board."""
    total = 0
    for w in range(len(game.strong)):
        word = game.owned[owner, w]
        while word != ZERO:
            total += troops_on(game, (w << 6) + lowest(word))
            word &= word - ONE
    return total


@inlined
def next_alive(game, rules, seat):
    """Return the next living seat clockwise."""
    players = int64(rules.num_players)
    other = (seat + 1) % players
    while not is_alive(game, other):
        other = (other + 1) % players
    return other
