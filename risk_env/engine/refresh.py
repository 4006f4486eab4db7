"""A lane's view brought up to date: what has not changed since it was written is left as it stands.

One decision changes little of what a seat sees, and a batch keeps its views. `shown` (`core.types.shown_dtype`) holds
the facts that a view was written from. They are compared with the game as it is, however it came to be so: played on,
begun anew, loaded or changed from outside. All that is asked of the view is that nobody else has written into it.
"""

import numpy as np
from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, has, lowest, popcount, remove, turned
from risk_env.core.observe import (
    ATTACK_DICE,
    CAPTURED,
    CITY_COLUMN,
    CONTINENT_WIDTH,
    DISCARDED_COLUMN,
    GLOBAL_WIDTH,
    KNOWN_CARD_COLUMN,
    MISSION_TARGET,
    MOVABLE,
    OBJECTIVE,
    OBJECTIVES_HELD,
    OWN_CARD_COLUMN,
    OWN_FACES,
    PHASE,
    REWARD,
    SOURCE_COLUMN,
    TARGET_COLUMN,
    TERRITORY_WIDTH,
    TURN,
    WORDS_A_TERRITORY,
    column_of,
    encode_count,
    mark,
    mark_known_cards,
    observe_all_but_armies,
    observe_army,
    observe_continent,
    observe_course,
    observe_holdings,
    observe_lands,
    observe_mission,
    observe_objectives,
    observe_own_cards,
    observe_piles,
    observe_places,
    observe_question,
    observe_rounds,
    observe_seats,
    seen_from,
)
from risk_env.core.position import owner_of, troops_on
from risk_env.core.types import FREE, MAX_SEATS, NOBODY, NOWHERE, Deck, Phase, Victory
from risk_env.engine.vectors import (
    differing_armies,
    differing_marks,
    differing_owners,
    differing_troops,
    turn_blocks,
    turn_every_other,
)

_WORD = 8  # columns
_BYTE = np.uint64(0xFF)
_HOLDERS = np.uint64(0x0706050403020100)  # byte k is k: nobody, six seats, the neutral army
_BEFORE_PLACES = (ONE << np.uint64(8 * (CITY_COLUMN % _WORD))) - ONE  # of a territory's second word


@kernel
def refresh(game, board, rules, seat, shown, words, view):
    """Write what `seat` may see, as `observe` does, over the view that `shown` tells of; `shown` tells of it then."""
    again = looks_again(game, seat, shown)
    others = view[TERRITORY_WIDTH * int64(board.num_territories) :]  # the globals
    if again and shown.seat != seat:
        turn_view(game, board, rules, seat, shown, words, view)
    if again:
        refresh_cards(game, board, rules, seat, shown, view, others)
        refresh_turn(game, rules, seat, shown, others)
    refresh_territories(game, board, rules, seat, shown, words)
    if again:
        refresh_move(game, shown, view)
        refresh_places(game, board, rules, seat, words, view)
        if rules.deck == Deck.STAR:
            observe_holdings(game, board, rules, seat, others)
            refresh_objectives(game, rules, seat, others)
        elif shown.changed_continents != ZERO:
            refresh_holdings(game, board, rules, seat, shown, others)
    else:
        observe_all_but_armies(game, board, rules, seat, words, view)
        remember(game, rules, seat, shown)
    if shown.moved or not again:
        for army in range(rules.num_armies):
            observe_army(game, rules, seat, army, int64(shown.army_troops[army]), others)


@inlined
def looks_again(game, seat, shown):
    """Whether the same players are looked at."""
    same = shown.seat != NOBODY and (shown.seat != seat or game.mission[seat] == shown.mission)
    return same and differing_marks(game.death, shown.death, 0) == ZERO


@kernel
def remember(game, rules, seat, shown):
    """Note the facts that a view was written from, but for the territories'."""
    shown.seat = seat
    shown.mission = game.mission[seat]
    shown.source = game.source
    shown.target = game.target
    shown.phase = game.phase
    shown.turn = game.turn
    shown.round_number = game.round_number
    for other in range(len(game.death)):
        shown.death[other] = game.death[other]
    for w in range(len(game.strong)):
        remember_marked_cards(game, seat, shown, w)
    remember_counted_cards(game, shown)


@inlined
def remember_marked_cards(game, seat, shown, w):
    shown.own_hand[w] = game.hand[seat, w]
    shown.discard[w] = game.discard[w]
    shown.picked[w] = game.picked[w]
    shown.rerolled_cards[w] = game.shown[w]


@inlined
def remember_counted_cards(game, shown):
    """What `observe_seats`, `observe_own_cards` and `observe_piles` count, but for what is marked as well."""
    for w in range(len(game.strong)):
        shown.deck[w] = game.deck[w]
        for other in range(len(game.hand)):
            shown.hand[other, w] = game.hand[other, w]
    for other in range(len(game.wilds)):
        shown.wilds[other] = game.wilds[other]
    for army in range(len(game.to_place)):
        shown.to_place[army] = game.to_place[army]
    shown.deck_wilds = game.deck_wilds
    shown.picked_wilds = game.picked_wilds
    shown.sets_traded = game.sets_traded


@kernel
def turn_view(game, board, rules, seat, shown, words, view):
    """Turn the view to another seat: it shows the same facts, players counted from there, but for the own cards."""
    first = TERRITORY_WIDTH * int64(board.num_territories)
    places = seen_from(rules, int64(shown.seat), seat)
    turn_territories(board, rules, places, words)
    turn_players(rules, places, view[first:])
    turn_continents(board, rules, seat, places, shown, view[first:])
    observe_own_cards(game, board, seat, view[first:])
    if rules.victory == Victory.MISSION:
        forget_mission(board, view[first:])
        observe_mission(game, board, rules, seat, view[first:])
    shown.mission = game.mission[seat]
    shown.seat = seat


@inlined
def turn_territories(board, rules, places, words):
    """The columns of the players: of four territories at once, and of those left over one by one."""
    turning, down, up = bits_to_turn(rules, places)
    territories = int64(board.num_territories)
    for territory in range(0, territories - 3, 4):
        turn_every_other(words, WORDS_A_TERRITORY * territory, turning, down, up)
    for territory in range(territories & ~3, territories):
        word = words[WORDS_A_TERRITORY * territory]
        words[WORDS_A_TERRITORY * territory] = turned(word, turning, down, up)


@inlined
def turn_players(rules, places, view):
    """The globals with a column for each player, eight blocks from TURN on; the dead have none."""
    turning, down, up = bits_to_turn(rules, places)
    turn_blocks(view, TURN, turning, down, up)


@inlined
def bits_to_turn(rules, places):
    """Where the players' columns stand in a word, and how far down they go, the first ones up; a column is a byte."""
    players = int64(rules.num_players)
    return (ONE << np.uint64(8 * players)) - ONE, np.uint64(8 * places), np.uint64(8 * (players - places))


@inlined
def turn_continents(board, rules, seat, places, shown, view):
    """Who holds each continent, and how much of it is one's own."""
    holders = turned_holders(rules, places)
    for continent in range(board.num_continents):
        first = GLOBAL_WIDTH + CONTINENT_WIDTH * continent
        view[first] = (holders >> (np.uint64(8) * np.uint64(view[first]))) & _BYTE
        own = 0
        for w in range(len(shown.discard)):
            own += popcount(board.continent_members[continent, w] & shown.owned[seat, w])
        view[first + 1] = encode_count(own)


@inlined
def turned_holders(rules, places):
    """Byte k of a word: how a continent's holder that was k is told now; a look costs less than the cases."""
    turning, down, up = bits_to_turn(rules, places)
    return turned(_HOLDERS >> np.uint64(8), turning, up, down) << np.uint64(8)


@inlined
def forget_mission(board, view):
    """Empty the columns of the own mission."""
    for column in range(MISSION_TARGET, GLOBAL_WIDTH):
        view[column] = 0
    for continent in range(board.num_continents):
        view[GLOBAL_WIDTH + CONTINENT_WIDTH * continent + 2] = 0


@kernel
def refresh_territories(game, board, rules, seat, shown, words):
    """The troops where they or their holder have changed, in the columns of `seat`; note what that changes."""
    shown.moved = False
    shown.changed_armies = ZERO
    shown.changed_continents = ZERO
    for w in range(len(game.strong)):
        taken = differing_owners(game.owner, shown.owner, w << 6) & board.everywhere[w]
        changed = taken | differing_troops(game.troops, shown.troops, w << 6)
        while taken != ZERO:
            note_taken(game, board, shown, (w << 6) + lowest(taken))
            taken &= taken - ONE
        while changed != ZERO:
            refresh_territory(game, rules, seat, shown, words, (w << 6) + lowest(changed))
            changed &= changed - ONE


@inlined
def note_taken(game, board, shown, territory):
    """The armies that lose and get a territory, and its continent."""
    before, owner = owner_of(shown, territory), owner_of(game, territory)
    if before != FREE:
        shown.changed_armies |= ONE << np.uint64(before)
    if owner != FREE:
        shown.changed_armies |= ONE << np.uint64(owner)
    shown.changed_continents |= ONE << np.uint64(board.continent_of[territory])


@kernel
def refresh_territory(game, rules, seat, shown, words, territory):
    """The troops of one territory, and of the armies that they leave and join; a mark in the word is lost."""
    before, owner, troops = owner_of(shown, territory), owner_of(game, territory), troops_on(game, territory)
    if before != FREE:
        shown.army_troops[before] -= troops_on(shown, territory)
        remove(shown.owned[before], territory)
    if owner != FREE:
        shown.army_troops[owner] += troops
        add(shown.owned[owner], territory)
    shown.owner[territory] = owner
    shown.troops[territory] = troops
    shown.moved = True
    code = np.uint64(encode_count(troops))
    words[WORDS_A_TERRITORY * territory] = code << np.uint64(8 * column_of(rules, seat, owner))


@inlined
def refresh_cards(game, board, rules, seat, shown, view, others):
    """The columns of the cards and what is counted of them, where something has changed; `others` are the globals."""
    counted = counts_have_changed(game, shown)
    for w in range(len(game.strong)):
        changed = game.discard[w] ^ shown.discard[w]
        changed |= (game.picked[w] ^ shown.picked[w]) | (game.shown[w] ^ shown.rerolled_cards[w])
        counted |= changed != ZERO
        changed |= game.hand[seat, w] ^ shown.own_hand[w]  # mostly another seat's
        changed |= game.picked[w] | game.shown[w]  # few, and whose they are may have changed, or who looks
        if changed != ZERO:
            remember_marked_cards(game, seat, shown, w)
        while changed != ZERO:
            refresh_card(game, rules, seat, shown, view, (w << 6) + lowest(changed))
            changed &= changed - ONE
    if counted:
        remember_counted_cards(game, shown)
        observe_seats(game, rules, seat, others)
        observe_own_cards(game, board, seat, others)
        observe_piles(game, rules, others)


@inlined
def counts_have_changed(game, shown):
    """Whether what is counted of cards, and of troops to place, has changed, but for what is marked as well."""
    changed = differing_marks(game.wilds, shown.wilds, 0) | differing_armies(game.to_place, shown.to_place, 0)
    for w in range(len(game.strong)):
        changed |= game.deck[w] ^ shown.deck[w]
        for other in range(len(game.hand)):
            changed |= game.hand[other, w] ^ shown.hand[other, w]
    same = game.deck_wilds == shown.deck_wilds and game.picked_wilds == shown.picked_wilds
    return changed != ZERO or not same or game.sets_traded != shown.sets_traded


@inlined
def refresh_card(game, rules, seat, shown, view, card):
    """The columns of one territory's card."""
    own, picked, discarded = has(shown.own_hand, card), has(shown.picked, card), has(shown.discard, card)
    mark(view, card, OWN_CARD_COLUMN, (2 if picked else 1) if own else 0)
    mark(view, card, KNOWN_CARD_COLUMN, 0)
    mark(view, card, DISCARDED_COLUMN, 1 if discarded else 0)
    if picked or has(shown.rerolled_cards, card):
        mark_known_cards(game, rules, seat, card >> 6, view)


@inlined
def refresh_move(game, shown, view):
    """From where to where the move at hand goes, and no longer the last one."""
    if shown.source != NOWHERE:
        mark(view, int64(shown.source), SOURCE_COLUMN, 0)
    if shown.target != NOWHERE:
        mark(view, int64(shown.target), TARGET_COLUMN, 0)
    if game.source != NOWHERE:
        mark(view, int64(game.source), SOURCE_COLUMN, 1)
    if game.target != NOWHERE:
        mark(view, int64(game.target), TARGET_COLUMN, 1)
    shown.source = game.source
    shown.target = game.target


@kernel
def refresh_holdings(game, board, rules, seat, shown, view):
    """What has changed of `observe_holdings`, where only territories count."""
    for army in range(rules.num_armies):
        if (shown.changed_armies >> np.uint64(army)) & ONE != ZERO:
            observe_lands(game, board, rules, seat, army, view)
    continents = shown.changed_continents
    while continents != ZERO:
        observe_continent(game, board, rules, seat, view, lowest(continents))
        continents &= continents - ONE


@inlined
def refresh_places(game, board, rules, seat, words, view):
    """What variants add to places: few, so they are marked anew."""
    if rules.deck == Deck.STAR or rules.victory == Victory.HEADQUARTERS:
        for territory in range(board.num_territories):
            words[WORDS_A_TERRITORY * territory + 1] &= _BEFORE_PLACES
        observe_places(game, rules, seat, view)


@inlined
def refresh_turn(game, rules, seat, shown, view):
    """Whose turn it is, the question at hand and what is pending."""
    forget_question(shown, view)
    shown.phase = game.phase
    observe_question(game, rules, view)
    observe_course(game, rules, view)
    if shown.turn != game.turn:
        view[TURN + seen_from(rules, seat, int64(shown.turn))] = 0
        view[TURN + seen_from(rules, seat, int64(game.turn))] = 1
        shown.turn = game.turn
    if shown.round_number != game.round_number:
        shown.round_number = game.round_number
        observe_rounds(game, rules, view)


@inlined
def forget_question(shown, view):
    """Empty the columns that `observe_question` wrote."""
    view[PHASE + int64(shown.phase)] = 0
    view[MOVABLE] = 0
    view[ATTACK_DICE] = 0
    if shown.phase == Phase.REROLL or shown.phase == Phase.COMMANDER:
        for face in range(OWN_FACES, CAPTURED):
            view[face] = 0


@inlined
def refresh_objectives(game, rules, seat, view):
    """Objectives and Rewards, anew."""
    for column in range(OBJECTIVES_HELD, OBJECTIVES_HELD + MAX_SEATS):
        view[column] = 0
    for column in range(OBJECTIVE, REWARD):
        view[column] = 0
    observe_objectives(game, rules, seat, view)
