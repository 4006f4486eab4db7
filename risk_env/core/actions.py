"""Legal actions of each phase, as bit masks.

`risk_env.board.action_space` assigns the numbers of the actions.
"""

import numpy as np
from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ZERO, add, bit, chunk_of, clear, put_block, size
from risk_env.core.cards import (
    MIN_STARS,
    counts_left,
    counts_picked,
    may_pick_kind,
    num_picked,
    pickable_stars,
    set_is_owed,
    stars_in,
)
from risk_env.core.combat import ATTACKER, battles_left, most_attack_dice, most_defence_dice
from risk_env.core.draft import draftable
from risk_env.core.goals import objectives_met
from risk_env.core.movement import can_fortify_from, movable
from risk_env.core.position import free_territories, with_room
from risk_env.core.turn import airfield_places
from risk_env.core.types import ALL_OF_THEM, BLITZ, HALF, MANY, NUM_FACES, Deck, Phase

BLITZ_DICE = 2  # a blitz needs three troops, and three troops allow two dice (RULES 3.2.4)


@kernel
def write_legal(game, board, rules):
    """Write the legal actions of the current phase into `game.legal`.

    The mask is empty when the game is over or a chance event is next.
    """
    clear(game.legal)
    phase = game.phase
    if phase == Phase.ATTACK:
        legal_attacks(game, board, rules)
    elif phase == Phase.ATTACK_DICE:
        legal_attack_dice(game, rules)
    elif phase == Phase.DEFEND:
        legal_defence_dice(game, rules)
    elif phase == Phase.DRAFT:
        legal_own(game, rules, int64(game.turn))
    elif phase == Phase.DRAFT_AMOUNT:
        legal_amounts(game, rules, draftable(game, rules, int64(game.target)))
    elif phase == Phase.OCCUPY:
        legal_amounts(game, rules, movable(game, rules))
        add(game.legal, int64(rules.done))
    elif phase == Phase.FORTIFY_FROM:
        legal_sources(game, board, rules)
    elif phase == Phase.FORTIFY_TO:
        legal_territories(game, game.reach)
    elif phase == Phase.FORTIFY_AMOUNT:
        legal_amounts(game, rules, movable(game, rules))
        if game.move_begun:
            add(game.legal, int64(rules.done))
    elif phase == Phase.TRADE:
        legal_cards(game, board, rules)
    else:
        write_setup_or_variant_legal(game, board, rules)


@kernel
def write_setup_or_variant_legal(game, board, rules):
    """Write the legal actions of the phases of set-up, bonuses and variants."""
    phase = game.phase
    if phase == Phase.CLAIM or phase == Phase.CAPITAL:
        legal_free(game, board)
    elif phase == Phase.DEPLOY:
        legal_own(game, rules, int64(game.turn))
    elif phase == Phase.DEPLOY_NEUTRAL:
        legal_own(game, rules, int64(rules.num_players))
    elif phase == Phase.HEADQUARTERS:
        legal_territories(game, game.owned[game.turn])
    elif phase == Phase.BONUS:
        legal_territories(game, game.bonus)
    elif phase == Phase.REROLL or phase == Phase.COMMANDER:
        legal_dice(game, rules)
    elif phase == Phase.OBJECTIVE:
        put_block(game.legal, int64(rules.objective_0), objectives_met(game, board, rules))
        add(game.legal, int64(rules.done))
    elif phase == Phase.AIRFIELD:
        for w in range(len(game.strong)):
            put_block(game.legal, w << 6, airfield_places(game, w))


@inlined
def legal_territories(game, territories):
    """Add the TERRITORY action of every territory in the set `territories`."""
    for w in range(len(territories)):
        put_block(game.legal, w << 6, territories[w])


@kernel
def legal_free(game, board):
    """Add the TERRITORY actions of the territories that nobody holds."""
    for w in range(len(game.strong)):
        put_block(game.legal, w << 6, free_territories(game, board, w))


@kernel
def legal_own(game, rules, owner):
    """Add the TERRITORY actions of the territories of `owner` that have room for one more troop."""
    for w in range(len(game.strong)):
        put_block(game.legal, w << 6, with_room(game, rules, w, game.owned[owner, w]))


@kernel
def legal_attacks(game, board, rules):
    """Add the BORDER actions of all possible attacks, and DONE.

    An attack leads from a territory of the current player, with at least two troops, to a territory of
    another owner (RULES 3.2.1).
    """
    add(game.legal, int64(rules.done))
    if not battles_left(game, rules):
        return
    own = game.owned[game.turn]
    for w in range(board.chunk_out.shape[2]):
        leaving = ZERO
        inward = ZERO
        for chunk in range(board.num_chunks):
            members = chunk_of(own, chunk)
            leaving |= board.chunk_out[chunk, members & chunk_of(game.strong, chunk), w]
            inward |= board.chunk_in[chunk, members, w]
        put_block(game.legal, int64(rules.border_0) + (w << 6), leaving & ~inward)


@kernel
def legal_attack_dice(game, rules):
    """Add the DICE actions for the numbers of dice that the attacker may roll (RULES 3.2.2, 3.2.4).

    The attacker rolls at most three dice, and fewer dice than troops on the attacking territory. With three
    troops or more, BLITZ is also legal.
    """
    most = most_attack_dice(game)
    dice = (np.uint64(1) << np.uint64(most)) - np.uint64(1)
    if most >= BLITZ_DICE:
        dice |= bit(BLITZ)
    put_block(game.legal, int64(rules.dice_0), dice)


@kernel
def legal_defence_dice(game, rules):
    """Add the DICE actions of the defender: one die and, with two troops or more, two dice (RULES 3.2.2)."""
    dice = (np.uint64(1) << np.uint64(most_defence_dice(game))) - np.uint64(1)
    put_block(game.legal, int64(rules.dice_0), dice)


@inlined
def legal_amounts(game, rules, most):
    """Add the AMOUNT actions that are legal with `most` available troops."""
    put_block(game.legal, int64(rules.amount_0), np.uint64(rules.amount_words[min(most, MANY)]))


@inlined
def amount_of(rules, choice, most):
    """Return the number of troops for `choice`, an index into the AMOUNT block.

    `most` is the number of available troops.
    """
    if choice == ALL_OF_THEM:
        return most
    if choice == HALF:
        return most // 2
    return int64(rules.amounts[choice])


@kernel
def legal_sources(game, board, rules):
    """Add the TERRITORY actions of the territories from which troops can fortify (RULES 3.4), and DONE."""
    add(game.legal, int64(rules.done))
    for w in range(len(game.strong)):
        put_block(game.legal, w << 6, can_fortify_from(game, board, rules, w))


@kernel
def legal_cards(game, board, rules):
    """Add the CARD actions of the cards that may join the picked cards (RULES 5.1, 5.3, 9.4).

    Also add DONE if the player may stop trading.
    """
    if rules.deck == Deck.STAR:
        for w in range(len(game.strong)):
            put_block(game.legal, int64(rules.card_0) + (w << 6), pickable_stars(game, board, w))
        may_stop = size(game.picked) == 0 or stars_in(game.picked, board) >= MIN_STARS
    else:
        legal_set_cards(game, board, rules)
        may_stop = num_picked(game) == 0 and not set_is_owed(game)
    if may_stop:
        add(game.legal, int64(rules.done))


@kernel
def legal_set_cards(game, board, rules):
    """Add the CARD action of each card that can still form a set with the picked cards (RULES 5.1)."""
    picked = counts_picked(game, board)
    left = counts_left(game, board, int64(game.turn))
    for symbol in range(3):
        if may_pick_kind(picked, left, symbol):
            for w in range(len(game.strong)):
                cards = game.hand[game.turn, w] & ~game.picked[w] & board.symbol_cards[symbol, w]
                put_block(game.legal, int64(rules.card_0) + (w << 6), cards)
    if may_pick_kind(picked, left, 3):
        add(game.legal, int64(rules.card_0) + int64(board.num_territories))


@kernel
def legal_dice(game, rules):
    """Add the DIE actions for the faces of the attacker's dice, and DONE (RULES 10.4, 10.5).

    In COMMANDER, only faces below 6 are legal.
    """
    add(game.legal, int64(rules.done))
    for d in range(int64(game.chosen_dice[ATTACKER])):
        face = int64(game.settled[ATTACKER, d])
        if game.phase == Phase.REROLL or face < NUM_FACES:
            add(game.legal, int64(rules.die_0) + face - 1)
