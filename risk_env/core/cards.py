"""Cards: hands, sets, the troops for sets, and trades (RULES 5, 9.4)."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, bit, clear, common, has, lowest, size
from risk_env.core.position import add_to_draft, add_troops, room, with_room
from risk_env.core.types import MOST_TROOPS, Deck, OccupiedBonus, Phase, SetValues, Trade

FORCED_HAND = 5  # minimum number of cards that forces a trade at the start of a turn (RULES 5.3)
ELIMINATION_HAND = 6  # minimum number of cards that forces trades after an elimination (RULES 3.3.2)
KEPT_HAND = 4  # trades after an elimination end when the hand has at most this number of cards
SET_CARDS = 3
BONUS_TROOPS = 2  # troops for a territory on a card of the traded set (RULES 5.4)
THREE_INFANTRY, THREE_CAVALRY, THREE_ARTILLERY, ONE_OF_EACH = 4, 6, 8, 10  # troops for fixed sets (RULES 5.2)
MIN_STARS = 2
MAX_STARS = 10


@inlined
def hand_size(game, seat):
    """Return the number of cards in the hand of `seat`, including the picked cards."""
    return size(game.hand[seat]) + int64(game.wilds[seat])


@inlined
def num_picked(game):
    """Return the number of cards picked for a trade."""
    return size(game.picked) + int64(game.picked_wilds)


@kernel
def count_symbol(cards, board, symbol):
    """Return the number of cards with the symbol `symbol` among `cards`."""
    return common(cards, board.symbol_cards[symbol])


@kernel
def holds_set(game, board, seat):
    """Return True if the hand of `seat` contains a set (RULES 5.1)."""
    infantry = count_symbol(game.hand[seat], board, 0)
    cavalry = count_symbol(game.hand[seat], board, 1)
    artillery = count_symbol(game.hand[seat], board, 2)
    wilds = int64(game.wilds[seat])
    if wilds > 0:
        return infantry + cavalry + artillery + wilds >= SET_CARDS
    return max(infantry, cavalry, artillery) >= SET_CARDS or min(infantry, cavalry, artillery) > 0


@kernel
def completes(infantry, cavalry, artillery, wilds):
    """Return True if three cards are a set, given the number of cards of each kind (RULES 5.1).

    A set is three cards of one symbol, one card of each symbol, or any three cards with a wild card.
    """
    three_alike = max(infantry, cavalry, artillery) == SET_CARDS
    one_of_each = min(infantry, cavalry, artillery) == 1
    return wilds > 0 or three_alike or one_of_each


@kernel
def can_become_set(picked, left):
    """Return True if the picked cards can become a set with the other cards of the hand.

    `picked` and `left` contain four numbers of cards: the three symbols, then wild cards.
    """
    missing = SET_CARDS - (picked[0] + picked[1] + picked[2] + picked[3])
    for infantry in range(min(missing, left[0]) + 1):
        for cavalry in range(min(missing - infantry, left[1]) + 1):
            for artillery in range(min(missing - infantry - cavalry, left[2]) + 1):
                wilds = missing - infantry - cavalry - artillery
                if wilds <= left[3] and completes(
                    picked[0] + infantry, picked[1] + cavalry, picked[2] + artillery, picked[3] + wilds
                ):
                    return True
    return False


@kernel
def counts_picked(game, board):
    """Return the numbers of picked infantry, cavalry, artillery and wild cards."""
    cards = game.picked
    return (
        count_symbol(cards, board, 0),
        count_symbol(cards, board, 1),
        count_symbol(cards, board, 2),
        int64(game.picked_wilds),
    )


@kernel
def counts_left(game, board, seat):
    """Return the numbers of infantry, cavalry, artillery and wild cards of a hand, without picked cards."""
    hand = game.hand[seat]
    picked = counts_picked(game, board)
    return (
        count_symbol(hand, board, 0) - picked[0],
        count_symbol(hand, board, 1) - picked[1],
        count_symbol(hand, board, 2) - picked[2],
        int64(game.wilds[seat]) - picked[3],
    )


@kernel
def may_pick_kind(picked, left, kind):
    """Return True if the hand has a card of `kind`, and a set stays possible after the card is picked.

    Kinds 0 to 2 are the symbols. Kind 3 is the wild card.
    """
    one = (int64(kind == 0), int64(kind == 1), int64(kind == 2), int64(kind == 3))
    if left[0] * one[0] + left[1] * one[1] + left[2] * one[2] + left[3] * one[3] == 0:
        return False
    return can_become_set(
        (picked[0] + one[0], picked[1] + one[1], picked[2] + one[2], picked[3] + one[3]),
        (left[0] - one[0], left[1] - one[1], left[2] - one[2], left[3] - one[3]),
    )


@kernel
def stars_in(cards, board):
    """Return the number of stars on `cards`."""
    return size(cards) + common(cards, board.two_stars)


@kernel
def star_troops(stars):
    """Return the number of troops for 2 to 10 stars: 2, 4, 7, 10, 13, 17, 21, 25, 30 (RULES 9.4)."""
    if stars <= 3:
        return 2 * stars - 2
    if stars <= 6:
        return 3 * stars - 5
    return 4 * stars - 11 + int64(stars == MAX_STARS)


@kernel
def set_troops_due(rules, number):
    """Return the number of troops for set number `number` of the game, counted from 1 (RULES 5.2).

    With fixed sets, return the largest number of troops that a set can give.
    """
    if rules.set_values == SetValues.FIXED:
        return ONE_OF_EACH
    if rules.set_values == SetValues.BY_ONE:
        return min(number + 3, MOST_TROOPS)
    if number <= 5:
        return 2 * number + 2
    return min(5 * number - 15, MOST_TROOPS)


@kernel
def fixed_worth(infantry, cavalry, artillery):
    """Return the number of troops for a fixed set, given the number of cards of each symbol (RULES 5.2).

    With two cards of one symbol, a wild card stands for a third card of this symbol. In all other sets with
    wild cards, the wild cards make one card of each symbol, which gives the most troops.
    """
    if infantry > 1:
        return THREE_INFANTRY
    if cavalry > 1:
        return THREE_CAVALRY
    if artillery > 1:
        return THREE_ARTILLERY
    return ONE_OF_EACH


@kernel
def picked_worth(game, board, rules):
    """Return the number of troops that the picked set gives as the next set of the game (RULES 5.2)."""
    if rules.set_values == SetValues.FIXED:
        infantry, cavalry, artillery, _wilds = counts_picked(game, board)
        return fixed_worth(infantry, cavalry, artillery)
    return set_troops_due(rules, int64(game.sets_traded) + 1)


@kernel
def can_trade(game, board, rules, seat):
    """Return True if `seat` has a set or, with the star deck, two stars or more (RULES 5.1, 9.4)."""
    if rules.deck == Deck.STAR:
        return stars_in(game.hand[seat], board) >= MIN_STARS
    return holds_set(game, board, seat)


@inlined
def set_is_owed(game):
    """Return True if the current player must trade in a set (RULES 5.3, 3.3.2)."""
    if game.trade == Trade.ELIMINATION:
        return hand_size(game, int64(game.turn)) > KEPT_HAND
    return game.trade == Trade.OWED


@kernel
def pick_card(game, board, rules, card):
    """Pick a card of the hand for a trade.

    With the symbol deck, the set is traded in when its third card is picked.
    """
    if card == board.num_territories:
        game.picked_wilds += 1
    else:
        add(game.picked, card)
    if rules.deck == Deck.SYMBOL and num_picked(game) == SET_CARDS:
        trade_set(game, board, rules)


@kernel
def trade_set(game, board, rules):
    """Trade in the picked set, and add the troops for the set to the draft (RULES 5.2, 5.4).

    If the set earns a territory bonus, the player chooses the territory next.
    """
    add_to_draft(game, picked_worth(game, board, rules))
    game.sets_traded += 1
    game.set_traded = True
    if game.trade == Trade.OWED:
        game.trade = Trade.FREE
    mark_bonus(game, rules)
    discard_picked(game)
    if size(game.bonus) > 0:
        game.phase = Phase.BONUS
    else:
        after_trade(game, board, rules)


@kernel
def mark_bonus(game, rules):
    """Mark the territories that may get two extra troops for the picked set (RULES 5.4, 10.3).

    The picked cards show these territories, the current player holds them, and each has room for a troop.
    """
    paid = rules.occupied_bonus == OccupiedBonus.ONCE_A_TURN and game.bonus_paid
    for w in range(len(game.bonus)):
        shown = game.picked[w] & game.owned[game.turn, w]
        game.bonus[w] = ZERO if paid else with_room(game, rules, w, shown)


@kernel
def discard_picked(game):
    """Put the picked cards on the discard pile (RULES 5.5)."""
    hand = game.hand[game.turn]
    for w in range(len(hand)):
        hand[w] &= ~game.picked[w]
        game.discard[w] |= game.picked[w]
    game.wilds[game.turn] -= game.picked_wilds
    game.discard_wilds += game.picked_wilds
    clear(game.picked)
    game.picked_wilds = 0


@kernel
def place_bonus(game, board, rules, territory):
    """Place up to two extra troops, limited by the room, on a territory of the set (RULES 5.4, 10.3)."""
    add_troops(game, territory, min(BONUS_TROOPS, room(game, rules, territory)))
    game.bonus_paid = True
    clear(game.bonus)
    after_trade(game, board, rules)


@kernel
def after_trade(game, board, rules):
    """Continue with a trade if the player must or may trade again, otherwise with the draft.

    RULES 5.3 and 3.3.2 define when the player trades again.
    """
    if game.trade == Trade.ELIMINATION:
        again = set_is_owed(game)
    else:
        again = holds_set(game, board, int64(game.turn))
    game.phase = Phase.TRADE if again else Phase.DRAFT
    if not again:
        game.trade = Trade.FREE


@kernel
def stop_trading(game, board):
    """Trade in the picked stars, if any, and continue with the draft (RULES 5.3, 9.4)."""
    if size(game.picked) > 0:
        add_to_draft(game, star_troops(stars_in(game.picked, board)))
        discard_picked(game)
    game.phase = Phase.DRAFT


@kernel
def pickable_stars(game, board, w):
    """Return word `w` of the bitset of cards that may join the picked cards.

    All picked cards together may have at most ten stars.
    """
    word = game.hand[game.turn, w] & ~game.picked[w]
    left = MAX_STARS - stars_in(game.picked, board)
    fitting = ZERO
    while word != ZERO:
        card = lowest(word)
        if 1 + int64(has(board.two_stars, (w << 6) + card)) <= left:
            fitting |= bit(card)
        word &= word - ONE
    return fitting
