"""Incremental observations of a batch: most columns that have not changed are not written again.

One action changes little of an observation, and a batch keeps its observations. A *view cache*
(`view_cache_dtype`) contains the facts from which an observation was written. The kernels compare these facts
with the current game, so they find any kind of change. No other code may write into the observation.
"""

from functools import cache as cached
from typing import Any

import numpy as np
from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, common, has, lowest, remove
from risk_env.core.observe import (
    BLOCK,
    COLUMN,
    CONTINENT_WIDTH,
    GLOBAL_WIDTH,
    TERRITORY_WIDTH,
    WORDS_A_TERRITORY,
    column_of,
    encode_count,
    mark,
    mark_known_cards,
    mark_move,
    observe_all_but_armies,
    observe_army,
    observe_continent,
    observe_course,
    observe_decision,
    observe_holdings,
    observe_lands,
    observe_mission,
    observe_objectives,
    observe_own_cards,
    observe_piles,
    observe_places,
    observe_rounds,
    observe_seats,
    seen_from,
)
from risk_env.core.position import owner_of, troops_on
from risk_env.core.types import (
    FREE,
    MAX_OWNERS,
    MAX_SEATS,
    NOBODY,
    Deck,
    Phase,
    SizeClass,
    Victory,
    game_dtype,
    packed,
)
from risk_env.engine.vectors import (
    differing_armies,
    differing_marks,
    differing_owners,
    differing_troops,
    rotate_blocks,
    rotate_every_other,
    rotated,
)

_WORD = 8  # columns of an observation in a word
_BYTE = np.uint64(0xFF)
# byte k is k, the code of a holder: nobody, six seats, the neutral army
_HOLDERS = np.uint64(0x0706050403020100)
# columns before `city` in a territory's second word
_BEFORE_PLACES = (ONE << np.uint64(8 * (COLUMN.city % _WORD))) - ONE


CACHED = (
    *(
        "owned",
        "owner",
        "troops",
        "to_place",
        "source",
        "target",
        "hand",
        "wilds",
        "deck",
        "deck_wilds",
        "discard",
    ),
    *("picked", "picked_wilds", "shown", "sets_traded", "round_number", "phase", "turn", "death"),
    "seat",  # observing seat; NOBODY if no observation is written yet
)


@cached
def view_cache_dtype(sizes: SizeClass) -> np.dtype[Any]:
    """Return the dtype of the facts from which a lane's observation was written.

    Fields of the game have the same names in the cache.
    """
    game = game_dtype(sizes)
    return packed(
        [
            *((name, game[name].base, game[name].shape) for name in CACHED),
            ("own_hand", np.uint64, (sizes.words,)),  # (TW,) hand of the observing seat
            ("army_troops", np.int64, (MAX_OWNERS,)),  # (7,) troops of each owner on the whole board
            ("changed_armies", np.uint64),  # armies whose territories the last update changed, as bits
            ("changed_continents", np.uint64),  # continents of the changed territories, as bits
            ("own_mission", np.int8),  # mission of the observing seat
            ("moved", np.bool_),  # the last update changed troops or holders
        ]
    )


def new_view_caches(count: int, sizes: SizeClass) -> np.ndarray[Any, Any]:
    """Return the view caches of `count` lanes whose observations are not written yet."""
    caches = np.zeros(count, view_cache_dtype(sizes))
    caches["seat"] = NOBODY
    return caches


@kernel
def update_observation(game, board, rules, seat, cache, words, observation):
    """Change an observation into the observation that `observe` would write for `seat`.

    `cache` contains the facts of the observation before the call. The kernel updates `cache`.
    """
    is_same = is_same_view(game, seat, cache)
    global_part = observation[TERRITORY_WIDTH * int64(board.num_territories) :]
    if is_same and cache.seat != seat:
        rotate_observation(game, board, rules, seat, cache, words, observation)
    if is_same:
        update_cards(game, board, rules, seat, cache, observation, global_part)
        update_turn(game, rules, seat, cache, global_part)
    update_territories(game, board, rules, seat, cache, words)
    if is_same:
        update_move(game, cache, observation)
        update_places(game, board, rules, seat, words, observation)
        if rules.deck == Deck.STAR:
            observe_holdings(game, board, rules, seat, global_part)
            update_objectives(game, rules, seat, global_part)
        elif cache.changed_continents != ZERO:
            update_holdings(game, board, rules, seat, cache, global_part)
    else:
        observe_all_but_armies(game, board, rules, seat, words, observation)
        write_cache(game, rules, seat, cache)
    if cache.moved or not is_same:
        for army in range(rules.num_armies):
            observe_army(game, rules, seat, army, int64(cache.army_troops[army]), global_part)


@inlined
def is_same_view(game, seat, cache):
    """Return True if the cached observation can be updated.

    The cached observation must show the same living seats and, if it belongs to `seat`, the same mission.
    """
    same = cache.seat != NOBODY and (cache.seat != seat or game.mission[seat] == cache.own_mission)
    return same and differing_marks(game.death, cache.death, 0) == ZERO


@kernel
def write_cache(game, rules, seat, cache):
    """Store the facts from which an observation was written, except the facts about territories."""
    cache.seat = seat
    cache.own_mission = game.mission[seat]
    cache.source = game.source
    cache.target = game.target
    cache.phase = game.phase
    cache.turn = game.turn
    cache.round_number = game.round_number
    for other in range(len(game.death)):
        cache.death[other] = game.death[other]
    for w in range(len(game.strong)):
        cache_marked_cards(game, seat, cache, w)
    cache_counted_cards(game, cache)


@inlined
def cache_marked_cards(game, seat, cache, w):
    cache.own_hand[w] = game.hand[seat, w]
    cache.discard[w] = game.discard[w]
    cache.picked[w] = game.picked[w]
    cache.shown[w] = game.shown[w]


@inlined
def cache_counted_cards(game, cache):
    """Store the facts that `observe_seats`, `observe_own_cards` and `observe_piles` count.

    `cache_marked_cards` stores the cards that observations also mark on territories.
    """
    for w in range(len(game.strong)):
        cache.deck[w] = game.deck[w]
        for other in range(len(game.hand)):
            cache.hand[other, w] = game.hand[other, w]
    for other in range(len(game.wilds)):
        cache.wilds[other] = game.wilds[other]
    for army in range(len(game.to_place)):
        cache.to_place[army] = game.to_place[army]
    cache.deck_wilds = game.deck_wilds
    cache.picked_wilds = game.picked_wilds
    cache.sets_traded = game.sets_traded


@kernel
def rotate_observation(game, board, rules, seat, cache, words, observation):
    """Change the cached observation into the observation of `seat` with the same facts.

    Players are counted from `seat`, and the hand and the mission of `seat` are written.
    """
    first = TERRITORY_WIDTH * int64(board.num_territories)
    field, down, up = rotation(rules, seen_from(rules, int64(cache.seat), seat))
    rotate_territories(board, field, down, up, words)
    # the eight blocks with a column for each player
    rotate_blocks(observation[first:], BLOCK.turn, field, down, up)
    holders = rotated(_HOLDERS >> np.uint64(8), field, up, down) << np.uint64(8)
    rewrite_continents(board, seat, holders, cache, observation[first:])
    observe_own_cards(game, board, rules, seat, observation[first:])
    if rules.victory == Victory.MISSION:
        clear_mission(board, observation[first:])
        observe_mission(game, board, rules, seat, observation[first:])
    cache.own_mission = game.mission[seat]
    cache.seat = seat


@inlined
def rotate_territories(board, field, down, up, words):
    """Rotate the players' columns: four territories at a time, then the rest one by one."""
    territories = int64(board.num_territories)
    for territory in range(0, territories - 3, 4):
        rotate_every_other(words, WORDS_A_TERRITORY * territory, field, down, up)
    for territory in range(territories & ~3, territories):
        word = words[WORDS_A_TERRITORY * territory]
        words[WORDS_A_TERRITORY * territory] = rotated(word, field, down, up)


@inlined
def rotation(rules, places):
    """Return the arguments of `rotated` for a word of players' columns (bytes): field, shift down, shift up.

    `places` is the number of columns to rotate by.
    """
    players = int64(rules.num_players)
    return (ONE << np.uint64(8 * players)) - ONE, np.uint64(8 * places), np.uint64(8 * (players - places))


@inlined
def rewrite_continents(board, seat, holders, cache, observation):
    """Rewrite the holder of each continent, and the number of the continent's territories that `seat` holds.

    Byte k of `holders` is the new code for the holder whose old code is k.
    """
    for continent in range(board.num_continents):
        first = GLOBAL_WIDTH + CONTINENT_WIDTH * continent
        observation[first] = (holders >> (np.uint64(8) * np.uint64(observation[first]))) & _BYTE
        observation[first + 1] = encode_count(common(board.continent_members[continent], cache.owned[seat]))


@inlined
def clear_mission(board, observation):
    """Clear the columns of the observing seat's mission."""
    for column in range(BLOCK.mission_target, GLOBAL_WIDTH):
        observation[column] = 0
    for continent in range(board.num_continents):
        observation[GLOBAL_WIDTH + CONTINENT_WIDTH * continent + 2] = 0


@kernel
def update_territories(game, board, rules, seat, cache, words):
    """Update the territories whose troops or owner changed, and record the changes."""
    cache.moved = False
    cache.changed_armies = ZERO
    cache.changed_continents = ZERO
    for w in range(len(game.strong)):
        taken = differing_owners(game.owner, cache.owner, w << 6) & board.everywhere[w]
        changed = taken | differing_troops(game.troops, cache.troops, w << 6)
        while taken != ZERO:
            note_taken(game, board, cache, (w << 6) + lowest(taken))
            taken &= taken - ONE
        while changed != ZERO:
            update_territory(game, rules, seat, cache, words, (w << 6) + lowest(changed))
            changed &= changed - ONE


@inlined
def note_taken(game, board, cache, territory):
    """Record the armies that lose and gain `territory`, and the continent of `territory`."""
    before, owner = owner_of(cache, territory), owner_of(game, territory)
    if before != FREE:
        cache.changed_armies |= ONE << np.uint64(before)
    if owner != FREE:
        cache.changed_armies |= ONE << np.uint64(owner)
    cache.changed_continents |= ONE << np.uint64(board.continent_of[territory])


@kernel
def update_territory(game, rules, seat, cache, words, territory):
    """Update the troops of one territory, and the total troops of its old and new owner.

    The kernel also clears the mark `source`, which is in the first word of the territory.
    """
    before, owner, troops = owner_of(cache, territory), owner_of(game, territory), troops_on(game, territory)
    if before != FREE:
        cache.army_troops[before] -= troops_on(cache, territory)
        remove(cache.owned[before], territory)
    if owner != FREE:
        cache.army_troops[owner] += troops
        add(cache.owned[owner], territory)
    cache.owner[territory] = owner
    cache.troops[territory] = troops
    cache.moved = True
    code = np.uint64(encode_count(troops))
    words[WORDS_A_TERRITORY * territory] = code << np.uint64(8 * column_of(rules, seat, owner))


@inlined
def update_cards(game, board, rules, seat, cache, observation, global_part):
    """Update the columns of cards, and the counts of cards in `global_part`, where something changed."""
    counted = counts_have_changed(game, cache)
    for w in range(len(game.strong)):
        changed = game.discard[w] ^ cache.discard[w]
        changed |= (game.picked[w] ^ cache.picked[w]) | (game.shown[w] ^ cache.shown[w])
        counted |= changed != ZERO
        changed |= game.hand[seat, w] ^ cache.own_hand[w]  # usually another seat's hand
        # these cards are few; their holder or the observer may have changed
        changed |= game.picked[w] | game.shown[w]
        if changed != ZERO:
            cache_marked_cards(game, seat, cache, w)
        while changed != ZERO:
            update_card(game, rules, seat, cache, observation, (w << 6) + lowest(changed))
            changed &= changed - ONE
    if counted:
        cache_counted_cards(game, cache)
        observe_seats(game, rules, seat, global_part)
        observe_own_cards(game, board, rules, seat, global_part)
        observe_piles(game, rules, global_part)


@inlined
def counts_have_changed(game, cache):
    """Return True if a count of cards or of troops to place changed.

    `update_cards` compares the cards that observations also mark on territories.
    """
    changed = differing_marks(game.wilds, cache.wilds, 0) | differing_armies(game.to_place, cache.to_place, 0)
    for w in range(len(game.strong)):
        changed |= game.deck[w] ^ cache.deck[w]
        for other in range(len(game.hand)):
            changed |= game.hand[other, w] ^ cache.hand[other, w]
    same = game.deck_wilds == cache.deck_wilds and game.picked_wilds == cache.picked_wilds
    return changed != ZERO or not same or game.sets_traded != cache.sets_traded


@inlined
def update_card(game, rules, seat, cache, observation, card):
    """Update the columns of one territory's card."""
    own, picked, discarded = has(cache.own_hand, card), has(cache.picked, card), has(cache.discard, card)
    mark(observation, card, COLUMN.own_card, (2 if picked else 1) if own else 0)
    mark(observation, card, COLUMN.known_card, 0)
    mark(observation, card, COLUMN.discarded, 1 if discarded else 0)
    if picked or has(cache.shown, card):
        mark_known_cards(game, rules, seat, card >> 6, observation)


@inlined
def update_move(game, cache, observation):
    """Unmark the last move's source and target, and mark the current source and target."""
    mark_move(cache, observation, 0)
    mark_move(game, observation, 1)
    cache.source = game.source
    cache.target = game.target


@kernel
def update_holdings(game, board, rules, seat, cache, observation):
    """Update the columns of `observe_holdings` for the armies and continents that changed.

    Use this kernel only in games in which these columns depend on owners alone.
    """
    for army in range(rules.num_armies):
        if (cache.changed_armies >> np.uint64(army)) & ONE != ZERO:
            observe_lands(game, board, rules, seat, army, observation)
    continents = cache.changed_continents
    while continents != ZERO:
        observe_continent(game, board, rules, seat, observation, lowest(continents))
        continents &= continents - ONE


@inlined
def update_places(game, board, rules, seat, words, observation):
    """Mark the places that variants add. There are few such places, so all are marked again."""
    if rules.deck == Deck.STAR or rules.victory == Victory.HEADQUARTERS:
        for territory in range(board.num_territories):
            words[WORDS_A_TERRITORY * territory + 1] &= _BEFORE_PLACES
        observe_places(game, rules, seat, observation)


@inlined
def update_turn(game, rules, seat, cache, observation):
    """Update the player whose turn it is, the current decision and the state of the turn."""
    clear_decision(cache, observation)
    cache.phase = game.phase
    observation[BLOCK.starter] = 1 + seen_from(rules, seat, int64(game.starter))
    observe_decision(game, rules, observation)
    observe_course(game, rules, observation)
    if cache.turn != game.turn:
        observation[BLOCK.turn + seen_from(rules, seat, int64(cache.turn))] = 0
        observation[BLOCK.turn + seen_from(rules, seat, int64(game.turn))] = 1
        cache.turn = game.turn
    if cache.round_number != game.round_number:
        cache.round_number = game.round_number
        observe_rounds(game, rules, observation)


@inlined
def clear_decision(cache, observation):
    """Clear the columns that `observe_decision` wrote."""
    observation[BLOCK.phase + int64(cache.phase)] = 0
    observation[BLOCK.movable] = 0
    observation[BLOCK.attack_dice] = 0
    if cache.phase == Phase.REROLL or cache.phase == Phase.COMMANDER:
        for face in range(BLOCK.own_faces, BLOCK.captured):
            observation[face] = 0


@inlined
def update_objectives(game, rules, seat, observation):
    """Write the Objectives and Rewards again."""
    for column in range(BLOCK.objectives_held, BLOCK.objectives_held + MAX_SEATS):
        observation[column] = 0
    for column in range(BLOCK.objective, BLOCK.reward):
        observation[column] = 0
    observe_objectives(game, rules, seat, observation)
