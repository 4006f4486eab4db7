"""Cards: hands, sets, their worth, and the trade (RULES 5, 9.4)."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, bit, clear, common, has, lowest, size
from risk_env.core.position import add_to_draft, add_troops, room, with_room
from risk_env.core.types import MOST_TROOPS, Deck, OccupiedBonus, Phase, SetValues, Trade

FORCED_HAND = 5  # cards from which on a set is owed (RULES 5.3)
ELIMINATION_HAND = 6  # cards that force trades after an elimination (RULES 3.3.2)
KEPT_HAND = 4  # and at which those trades stop
SET_CARDS = 3
BONUS_TROOPS = 2  # for an occupied territory (RULES 5.4)
THREE_INFANTRY, THREE_CAVALRY, THREE_ARTILLERY, ONE_OF_EACH = 4, 6, 8, 10  # worth of fixed sets (RULES 5.2)
MIN_STARS = 2
MAX_STARS = 10


@inlined
def hand_size(game, seat):
    """Number of cards held, the picked ones included."""
    return size(game.hand[seat]) + int64(game.wilds[seat])


@inlined
def num_picked(game):
    """Number of cards picked for a trade."""
    return size(game.picked) + int64(game.picked_wilds)


@kernel
def count_symbol(cards, board, symbol):
    """Number of cards of a symbol in a set of cards."""
    return common(cards, board.symbol_cards[symbol])


@kernel
def holds_set(game, board, seat):
    """Whether the hand holds a set (RULES 5.1)."""
    infantry = count_symbol(game.hand[seat], board, 0)
    cavalry = count_symbol(game.hand[seat], board, 1)
    artillery = count_symbol(game.hand[seat], board, 2)
    wilds = int64(game.wilds[seat])
    if wilds > 0:
        return infantry + cavalry + artillery + wilds >= SET_CARDS
    return max(infantry, cavalry, artillery) >= SET_CARDS or min(infantry, cavalry, artillery) > 0


@kernel
def completes(infantry, cavalry, artillery, wilds):
    """Whether three cards are a set: one symbol, one of each, or any with a wild (RULES 5.1)."""
    three_alike = max(infantry, cavalry, artillery) == SET_CARDS
    one_of_each = min(infantry, cavalry, artillery) == 1
    return wilds > 0 or three_alike or one_of_each


@kernel
def can_become_set(picked, left):
    """Whether the picked cards (counts of the three symbols and of wilds) can become a set with cards that are left."""
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
    """How many infantry, cavalry, artillery and wild cards are picked."""
    cards = game.picked
    return (
        count_symbol(cards, board, 0),
        count_symbol(cards, board, 1),
        count_symbol(cards, board, 2),
        int64(game.picked_wilds),
    )


@kernel
def counts_left(game, board, seat):
    """How many of each the hand holds apart from the picked ones."""
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
    """Whether a card of a kind (0-2 a symbol, 3 a wild) is held and may join the picked ones: a set stays possible."""
    one = (int64(kind == 0), int64(kind == 1), int64(kind == 2), int64(kind == 3))
    if left[0] * one[0] + left[1] * one[1] + left[2] * one[2] + left[3] * one[3] == 0:
        return False
    return can_become_set(
        (picked[0] + one[0], picked[1] + one[1], picked[2] + one[2], picked[3] + one[3]),
        (left[0] - one[0], left[1] - one[1], left[2] - one[2], left[3] - one[3]),
    )


@kernel
def stars_in(cards, board):
    """Stars on a set of cards."""
    return size(cards) + common(cards, board.two_stars)


@kernel
def star_troops(stars):
    """Troops for 2 to 10 stars (RULES 9.4): 2, 4, 7, 10, 13, 17, 21, 25, 30."""
    if stars <= 3:
        return 2 * stars - 2
    if stars <= 6:
        return 3 * stars - 5
    return 4 * stars - 11 + int64(stars == MAX_STARS)


@kernel
def set_troops_due(rules, number):
    """Troops for the number-th set of the game, from 1; with fixed sets the most that one can give (RULES 5.2)."""
    if rules.set_values == SetValues.FIXED:
        return ONE_OF_EACH
    if rules.set_values == SetValues.BY_ONE:
        return min(number + 3, MOST_TROOPS)
    if number <= 5:
        return 2 * number + 2
    return min(5 * number - 15, MOST_TROOPS)


@kernel
def fixed_worth(infantry, cavalry, artillery):
    """Troops for a fixed set by its cards with a symbol (RULES 5.2).

    Two of one symbol can only be three of it; wild cards make one of each of all other sets, the dearest.
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
    """Troops for the picked set, the next one of the game (RULES 5.2)."""
    if rules.set_values == SetValues.FIXED:
        infantry, cavalry, artillery, _wilds = counts_picked(game, board)
        return fixed_worth(infantry, cavalry, artillery)
    return set_troops_due(rules, int64(game.sets_traded) + 1)


@kernel
def can_trade(game, board, rules, seat):
    """Whether the seat holds a set, or the two stars of a trade (RULES 5.1, 9.4)."""
    if rules.deck == Deck.STAR:
        return stars_in(game.hand[seat], board) >= MIN_STARS
    return holds_set(game, board, seat)


@inlined
def set_is_owed(game):
    """Return whether another set must be traded in after the bonus (RULES 5.3, 3.3.2)."""
    if game.trade == Trade.ELIMINATION:
        return hand_size(game, int64(game.turn)) > KEPT_HAND
    return game.trade == Trade.OWED


@kernel
def pick_card(game, board, rules, card):
    """Pick a card of the hand for a trade; the third one makes the set."""
    if card == board.num_territories:
        game.picked_wilds += 1
    else:
        add(game.picked, card)
    if rules.deck == Deck.SYMBOL and num_picked(game) == SET_CARDS:
        trade_set(game, board, rules)


@kernel
def trade_set(game, board, rules):
    """Trade the picked set in: add its troops to the draft, ask for the place of its bonus (RULES 5.2, 5.4)."""
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
    """Own territories shown by the picked set that may get the two extra troops (RULES 5.4, 10.3)."""
    paid = rules.occupied_bonus == OccupiedBonus.ONCE_A_TURN and game.bonus_paid
    for w in range(len(game.bonus)):
        shown = game.picked[w] & game.owned[game.turn, w]
        game.bonus[w] = ZERO if paid else with_room(game, rules, w, shown)


@kernel
def discard_picked(game):
    """Lay the picked cards on the discard pile (RULES 5.5)."""
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
    """Two extra troops on a territory of the set, or as many as there is room for (RULES 5.4, 10.3)."""
    add_troops(game, territory, min(BONUS_TROOPS, room(game, rules, territory)))
    game.bonus_paid = True
    clear(game.bonus)
    after_trade(game, board, rules)


@kernel
def after_trade(game, board, rules):
    """Another set if one is owed or held, else place the troops (RULES 5.3, 3.3.2)."""
    if game.trade == Trade.ELIMINATION:
        again = set_is_owed(game)
    else:
        again = holds_set(game, board, int64(game.turn))
    game.phase = Phase.TRADE if again else Phase.DRAFT
    if not again:
        game.trade = Trade.FREE


@kernel
def stop_trading(game, board):
    """Trade the picked stars in, if there are any, and stop trading (RULES 5.3, 9.4)."""
    if size(game.picked) > 0:
        add_to_draft(game, star_troops(stars_in(game.picked, board)))
        discard_picked(game)
    game.phase = Phase.DRAFT


@kernel
def pickable_stars(game, board, w):
    """Word w of the cards that may join the picked ones: at most ten stars together."""
    word = game.hand[game.turn, w] & ~game.picked[w]
    left = MAX_STARS - stars_in(game.picked, board)
    fitting = ZERO
    while word != ZERO:
        card = lowest(word)
        if 1 + int64(has(board.two_stars, (w << 6) + card)) <= left:
            fitting |= bit(card)
        word &= word - ONE
    return fitting
