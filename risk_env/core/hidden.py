"""Determinization: drawing again what a seat does not know: hands, deck, missions, headquarters, the generator."""

from risk_env.compiler import kernel
from risk_env.core.actions import write_legal
from risk_env.core.bits import add, bit, has, is_empty, nth_bit, popcount
from risk_env.core.cards import can_trade, num_picked
from risk_env.core.chance import any_of, below, draw_card
from risk_env.core.goals import mission_fulfilled
from risk_env.core.position import is_alive
from risk_env.core.setup import choose_headquarters, mission_pile
from risk_env.core.types import NOWHERE, Phase, Victory

MISSION_TRIES = 64  # draws before a mission that is already fulfilled is accepted
COUNT_BITS = 9  # of each seat's number of cards, in a word that holds all of them


@kernel
def determinize(game, board, rules, seat, seed):
    """Draw again all that `seat` does not know, from the distribution given what it knows; the generator gets `seed`.

    Decisions are counted from 0 again: their number would reveal who was asked whether to trade, and so had a set.
    """
    game.random = seed
    game.decisions = 0
    if rules.victory == Victory.MISSION:
        redraw_missions(game, board, rules, seat)
    if rules.victory == Victory.HEADQUARTERS and not game.headquarters_open:
        redraw_headquarters(game, rules, seat)
    redraw_hands(game, rules, seat)
    while not hand_explains_question(game, board, rules, seat):
        redraw_hands(game, rules, seat)
    write_legal(game, board, rules)


@kernel
def redraw_hands(game, rules, seat):
    """Shuffle the unknown cards of the other hands into the deck, and deal them out again."""
    counts = 0
    for other in range(rules.num_players):
        if other != seat:
            counts |= take_back_unknown(game, other) << (COUNT_BITS * other)
    for other in range(rules.num_players):
        for _ in range((counts >> (COUNT_BITS * other)) & ((1 << COUNT_BITS) - 1)):
            draw_card(game, other)


@kernel
def take_back_unknown(game, other):
    """Put the unknown cards of a hand into the deck, and count them; those shown or picked for a set stay."""
    taken = 0
    for w in range(len(game.deck)):
        unknown = game.hand[other, w] & ~game.shown[w] & ~game.picked[w]
        taken += popcount(unknown)
        game.hand[other, w] &= ~unknown
        game.deck[w] |= unknown
    picked = int(game.picked_wilds) if other == game.turn else 0
    wilds = int(game.wilds[other]) - picked
    game.wilds[other] = picked
    game.deck_wilds += wilds
    return taken + wilds


@kernel
def hand_explains_question(game, board, rules, seat):
    """Whether the hand drawn for the player in turn is consistent with the question that it is visibly asked."""
    turn = int(game.turn)
    if turn == seat:
        return True
    if game.phase == Phase.TRADE:
        write_legal(game, board, rules)
        return not is_empty(game.legal) and (num_picked(game) > 0 or can_trade(game, board, rules, turn))
    if game.phase == Phase.REROLL:
        return has(game.hand[turn], int(game.source)) or has(game.hand[turn], int(game.target))
    return True


@kernel
def redraw_missions(game, board, rules, seat):
    """Deal the other seats new missions that nobody has fulfilled yet (RULES 8.1, 8.2)."""
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
    """Pick new headquarters for the other seats that have picked theirs (RULES 7.1)."""
    for other in range(rules.num_players):
        place = int(game.headquarters[other])
        if other != seat and place != NOWHERE:
            add(game.deck, place)
            choose_headquarters(game, any_of(game, game.owned[other]), other)
