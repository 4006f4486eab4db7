"""Movement of troops: the occupation after a capture, and the fortify moves (RULES 3.2.5, 3.4, 9.8)."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, bit, chunk_of, clear, is_empty, lowest, remove
from risk_env.core.position import add_troops, all_have_room, room, troops_on, with_room
from risk_env.core.types import NOWHERE, Fortify, Phase, Reward


@inlined
def movable(game, rules):
    """Return the number of troops that can move from source to target (RULES 3.4, 10.3).

    One troop must stay on the source, and the target must have room for the troops.
    """
    return min(troops_on(game, int64(game.source)) - 1, room(game, rules, int64(game.target)))


@inlined
def move_troops(game, amount):
    add_troops(game, int64(game.source), -amount)
    add_troops(game, int64(game.target), amount)


@inlined
def next_to(places, chunks, board, w):
    """Return word `w` of the bitset of targets, or of sources, of the territories in `places`.

    `chunks` is the board's table `chunk_targets` or `chunk_sources`.
    """
    word = ZERO
    for chunk in range(board.num_chunks):
        word |= chunks[chunk, chunk_of(places, chunk), w]
    return word


@kernel
def spread(game, board, territory):
    """Fill `game.reach` with the player's territories to which a path leads from `territory` (RULES 3.4).

    The player holds all territories of the path, and a border leads from each territory to the next.
    `game.reach` includes `territory`.
    """
    own = game.owned[game.turn]
    reach = game.reach
    clear(reach)
    add(reach, territory)
    grown = True
    while grown:
        grown = False
        for w in range(len(reach)):
            word = next_to(reach, board.chunk_targets, board, w) & own[w] & ~reach[w]
            reach[w] |= word
            grown |= word != ZERO


@kernel
def find_destinations(game, board, rules, territory):
    """Fill `game.reach` with the territories to which troops on `territory` may move (RULES 3.4)."""
    if rules.fortify == Fortify.ADJACENT:
        for w in range(len(game.reach)):
            game.reach[w] = board.targets[territory, w] & game.owned[game.turn, w]
    else:
        spread(game, board, territory)
        remove(game.reach, territory)
    for w in range(len(game.reach)):
        game.reach[w] = with_room(game, rules, w, game.reach[w])


@kernel
def can_fortify_from(game, board, rules, w):
    """Return word `w` of the bitset of territories from which the player can fortify (RULES 3.4)."""
    seat = int64(game.turn)
    strong = game.owned[seat, w] & game.strong[w]
    if all_have_room(game, rules, seat):
        return strong & next_to(game.owned[seat], board.chunk_sources, board, w)
    word = ZERO
    while strong != ZERO:
        territory = lowest(strong)
        find_destinations(game, board, rules, (w << 6) + territory)
        if not is_empty(game.reach):
            word |= bit(territory)
        strong &= strong - ONE
    clear(game.reach)
    return word


@kernel
def begin_fortify(game, board, rules):
    """Begin the fortify moves at the end of a turn (RULES 3.4, 9.8, 9.10)."""
    if rules.fortify == Fortify.FREE:
        game.moves_left = board.num_territories
    else:
        additional = game.reward_owner[Reward.ADDITIONAL_MANEUVER.value] == game.turn
        game.moves_left = 2 if additional else 1
    game.phase = Phase.FORTIFY_FROM


@kernel
def choose_source(game, board, rules, territory):
    game.source = territory
    find_destinations(game, board, rules, territory)
    game.phase = Phase.FORTIFY_TO


@kernel
def choose_target(game, territory):
    game.target = territory
    game.move_begun = False
    clear(game.reach)
    game.phase = Phase.FORTIFY_AMOUNT


@kernel
def fortify(game, rules, amount):
    """Move `amount` troops, and return True if the move is over because no more troops can move."""
    move_troops(game, amount)
    game.move_begun = True
    return movable(game, rules) == 0


@kernel
def end_move(game):
    """End one fortify move."""
    game.source = NOWHERE
    game.target = NOWHERE
    game.move_begun = False
    game.moves_left -= 1
    game.phase = Phase.FORTIFY_FROM
