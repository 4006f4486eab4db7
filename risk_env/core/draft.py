"""The draft: troops due at the start of a turn, and the placement of these troops (RULES 3.1, 9.2)."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ZERO, common
from risk_env.core.cards import FORCED_HAND, can_trade, hand_size
from risk_env.core.position import add_troops, controls, holds_continent, num_territories, room, with_room
from risk_env.core.types import NOWHERE, Deck, Phase, Reward, Trade

MIN_DRAFT = 3
TERRITORIES_A_TROOP = 3  # number of territories that give one troop


@kernel
def num_cities(game, owner):
    """Return the number of cities that `owner` holds (2008 games)."""
    return common(game.city, game.owned[owner])


@kernel
def continent_troops(game, board, seat):
    """Return the sum of the bonuses of the continents that `seat` holds entirely (RULES 3.1.2)."""
    total = 0
    for continent in range(board.num_continents):
        if holds_continent(game, board, seat, continent):
            total += int64(board.continent_bonus[continent])
    return total


@kernel
def capitals_controlled(game, rules, seat):
    """Return the number of capitals that `seat` holds, including its own capital (RULES 9.2)."""
    total = 0
    for other in range(rules.num_players):
        capital = int64(game.capital[other])
        total += int64(capital != NOWHERE and controls(game, seat, capital))
    return total


@kernel
def troops_due(game, board, rules, seat):
    """Return the number of troops due to `seat` before any cards (RULES 3.1, 9.2, 9.8).

    Territories, cities, continents, capitals and the Reward 2 Troops give troops.
    """
    places = num_territories(game, seat)
    if rules.deck != Deck.STAR:
        return max(MIN_DRAFT, places // TERRITORIES_A_TROOP) + continent_troops(game, board, seat)
    places += num_cities(game, seat)
    due = max(MIN_DRAFT, places // TERRITORIES_A_TROOP) + continent_troops(game, board, seat)
    due += capitals_controlled(game, rules, seat)
    return due + 2 * int64(game.reward_owner[Reward.TWO_TROOPS.value] == seat)


@kernel
def begin_draft(game, board, rules):
    """Begin the draft with the troops due (RULES 3.1, 5.3).

    If the hand contains a set or enough stars, the phase TRADE comes first.
    """
    seat = int64(game.turn)
    game.draft_left = troops_due(game, board, rules, seat)
    if can_trade(game, board, rules, seat):
        owed = rules.deck == Deck.SYMBOL and hand_size(game, seat) >= FORCED_HAND
        game.trade = Trade.OWED if owed else Trade.FREE
        game.phase = Phase.TRADE
    else:
        game.phase = Phase.DRAFT


@kernel
def anywhere_to_draft(game, rules):
    """Return True if any territory of the current player has room (RULES 10.3)."""
    roomy = ZERO
    for w in range(len(game.strong)):
        roomy |= with_room(game, rules, w, game.owned[game.turn, w])
    return roomy != ZERO


@inlined
def draftable(game, rules, territory):
    """Return the number of troops that the current player can still draft to `territory`."""
    return min(int64(game.draft_left), room(game, rules, territory))


@kernel
def place_troops(game, rules, amount):
    """Place `amount` drafted troops on the chosen territory (RULES 3.1.4)."""
    add_troops(game, int64(game.target), amount)
    game.draft_left -= amount
    game.target = NOWHERE
    game.phase = Phase.DRAFT
