"""Hidden information: hide secret decisions from a seat, and redraw the facts that the seat does not know."""

from risk_env.compiler import kernel
from risk_env.core.actions import write_legal
from risk_env.core.bits import ZERO, add, bit, clear, lowest, nth_bit, popcount
from risk_env.core.cards import can_trade
from risk_env.core.chance import any_of, below, draw_card
from risk_env.core.draft import begin_draft, troops_due
from risk_env.core.goals import mission_fulfilled
from risk_env.core.position import is_alive, with_room
from risk_env.core.setup import choose_headquarters, mission_pile
from risk_env.core.turn import continue_draft
from risk_env.core.types import NOWHERE, Phase, Trade, Victory

MISSION_TRIES = 64  # maximum number of deals of missions; the last deal may contain a fulfilled mission
COUNT_BITS = 9  # bits per seat in a word that contains each seat's number of cards


@kernel
def hide_decision(game, board, rules, seat):
    """Hide from `seat` a decision that another seat has only because of the cards in its hand.

    The position then looks as if the other seat had no such cards. An optional trade becomes a draft in which
    no troops have been placed. A re-roll becomes a roll that is still to be made. Picked cards are hidden
    until the trade. An obligatory trade stays visible, because the number of cards is public (RULES 3.3.2,
    5.3).

    Without a trade, the choice of a territory in the draft is forced if only one territory has room. The
    hidden position therefore has this territory as the target of the draft.
    """
    if game.seat == seat:
        return
    if game.phase == Phase.TRADE:
        clear(game.picked)
        game.picked_wilds = 0
        if game.trade == Trade.FREE:
            game.phase = Phase.DRAFT
            continue_draft(game, board, rules)
    elif game.phase == Phase.REROLL:
        game.phase = Phase.ROLL
        game.battles -= 1
    if game.phase == Phase.DRAFT and only_draftable(game, rules) != NOWHERE:
        game.target = only_draftable(game, rules)
        game.phase = Phase.DRAFT_AMOUNT


@kernel
def only_draftable(game, rules):
    """Return the only territory to which the current player can draft.

    Returns NOWHERE if there is no such territory, or more than one.
    """
    found, count = NOWHERE, 0
    for w in range(len(game.strong)):
        roomy = with_room(game, rules, w, game.owned[game.turn, w])
        count += popcount(roomy)
        if roomy != ZERO:
            found = (w << 6) + lowest(roomy)
    return found if count == 1 else NOWHERE


@kernel
def determinize(game, board, rules, seat, seed):
    """Redraw all facts that are hidden from `seat`, given the facts that `seat` knows.

    The generator continues from `seed`. The number of decisions is reset to 0, because this number would
    reveal which seats had a decision about a trade, and therefore a set.
    """
    hide_decision(game, board, rules, seat)
    game.random = seed
    game.decisions = 0
    if rules.victory == Victory.MISSION:
        redraw_missions(game, board, rules, seat)
    if rules.victory == Victory.HEADQUARTERS and not game.headquarters_open:
        redraw_headquarters(game, rules, seat)
    redraw_hands(game, rules, seat)
    while not hand_explains_decision(game, board, rules, seat):
        redraw_hands(game, rules, seat)
    if game.turn != seat:
        begin_draft_again(game, board, rules)
    write_legal(game, board, rules)


@kernel
def begin_draft_again(game, board, rules):
    """Offer a trade if the current player's new hand allows a trade and no troops have been placed."""
    is_forced = game.phase == Phase.DRAFT_AMOUNT and only_draftable(game, rules) == game.target
    no_trade = (game.phase == Phase.DRAFT or is_forced) and not game.set_traded
    if no_trade and game.draft_left == troops_due(game, board, rules, int(game.turn)):
        game.target = NOWHERE
        begin_draft(game, board, rules)
        continue_draft(game, board, rules)


@kernel
def redraw_hands(game, rules, seat):
    """Replace the unknown cards of the other hands with cards drawn from the deck.

    The unknown cards of all these hands go back into the deck before new cards are drawn.
    """
    counts = 0
    for other in range(rules.num_players):
        if other != seat:
            counts |= take_back_unknown(game, other) << (COUNT_BITS * other)
    for other in range(rules.num_players):
        for _ in range((counts >> (COUNT_BITS * other)) & ((1 << COUNT_BITS) - 1)):
            draw_card(game, other)


@kernel
def take_back_unknown(game, other):
    """Move the unknown cards of a hand into the deck, and return the number of these cards.

    Cards shown for a re-roll stay in the hand.
    """
    taken = 0
    for w in range(len(game.deck)):
        unknown = game.hand[other, w] & ~game.shown[w]
        taken += popcount(unknown)
        game.hand[other, w] &= ~unknown
        game.deck[w] |= unknown
    wilds = int(game.wilds[other])
    game.wilds[other] = 0
    game.deck_wilds += wilds
    return taken + wilds


@kernel
def hand_explains_decision(game, board, rules, seat):
    """Return True if the current player's new hand fits the current decision.

    In the phase TRADE, the hand must allow a trade.
    """
    turn = int(game.turn)
    return turn == seat or game.phase != Phase.TRADE or can_trade(game, board, rules, turn)


@kernel
def redraw_missions(game, board, rules, seat):
    """Deal new missions to the other seats (RULES 8.1, 8.2).

    The deal is repeated while one of these seats is alive and has already fulfilled its new mission. After
    MISSION_TRIES deals, the last deal is kept.
    """
    for _ in range(MISSION_TRIES):
        pile = mission_pile(board, rules) & ~bit(int(game.mission[seat]))
        fulfilled = False
        for other in range(rules.num_players):
            if other != seat:
                mission = nth_bit(pile, below(game, popcount(pile)))
                pile &= ~bit(mission)
                game.mission[other] = mission
                fulfilled |= is_alive(game, other) and mission_fulfilled(game, board, other, mission)
        if not fulfilled:
            return


@kernel
def redraw_headquarters(game, rules, seat):
    """Redraw the headquarters that seats other than `seat` have chosen (RULES 7.1)."""
    for other in range(rules.num_players):
        place = int(game.headquarters[other])
        if other != seat and place != NOWHERE:
            add(game.deck, place)
            choose_headquarters(game, any_of(game, game.owned[other]), other)
