"""Functions that the scripted bots share, such as random numbers, threats, amounts and usual actions.

A border leads from its source to its target. A territory can attack its targets, and its sources can attack
the territory. If all borders of a territory are two-way, its targets are also its sources.

The functions read only facts that the seat to act may see, such as the seat's own hand and the sizes of the
other hands. The random state of a bot is `randoms[lane, seat]` (`risk_env.bots.CompiledBot`).
"""

import numpy as np
from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, common, has, lowest, nth, plus, popcount, size, times
from risk_env.core.chance import scramble
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.draft import draftable
from risk_env.core.movement import movable
from risk_env.core.position import is_alive, troops_on
from risk_env.core.types import ALL_OF_THEM, AMOUNTS, HALF, NUM_FACES, Phase

NONE = -1  # stands for no action, territory, continent or seat
LAST_TO_FALL = 100  # in an imagined position: value of `game.death` for a seat that is eliminated only there
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF_WORD = np.uint64(32)
# Purposes for which a territory is chosen (`place_worth`)
STRIKE, DEFENCE, NEUTRAL, HEADQUARTERS = range(4)


# Random numbers of a bot


@inlined
def draw_word(randoms, lane, seat):
    """Draw 64 random bits from the bot's own random state (splitmix64)."""
    state = plus(randoms[lane, seat], _GOLDEN)
    randoms[lane, seat] = state
    return scramble(state)


@inlined
def chance_below(randoms, lane, seat, n):
    """Draw a random integer from 0 to n - 1 (uniform up to an error below n / 2**32)."""
    return int64(times(draw_word(randoms, lane, seat) >> _HALF_WORD, np.uint64(n)) >> _HALF_WORD)


@inlined
def any_legal(game, randoms, lane, seat):
    """Draw a uniformly random legal action."""
    return nth(game.legal, chance_below(randoms, lane, seat, size(game.legal)))


# The board as one seat sees it


@inlined
def enemy_targets(game, board, seat, territory):
    """Return the number of a territory's targets that the seat does not own."""
    count = 0
    for w in range(len(game.strong)):
        count += popcount(board.targets[territory, w] & ~game.owned[seat, w])
    return count


@inlined
def own_sources(game, board, seat, territory):
    """Return the number of a territory's sources that the seat owns."""
    return common(board.sources[territory], game.owned[seat])


@inlined
def is_inland(game, board, seat, territory):
    """Return True if the seat owns all targets and all sources of a territory."""
    word = ZERO
    for w in range(len(game.strong)):
        word |= board.sources[territory, w] & ~game.owned[seat, w]
    if word == ZERO:  # most borders are two-way, so targets are checked only if no enemy is a source
        for w in range(len(game.strong)):
            word |= board.targets[territory, w] & ~game.owned[seat, w]
    return word == ZERO


@kernel
def enemy_troops_near(game, board, seat, territory):
    """Return the number of troops on those sources of a territory that the seat does not own."""
    total = 0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & ~game.owned[seat, w]
        while word != ZERO:
            total += troops_on(game, (w << 6) + lowest(word))
            word &= word - ONE
    return total


@inlined
def num_rivals(game, rules, seat):
    """Return the number of other seats that are alive."""
    count = int64(0)
    for other in range(rules.num_players):
        count += int64(other != seat and is_alive(game, other))
    return count


# Legal actions


@inlined
def next_legal(game, action):
    """Return the lowest legal action above `action`, or NONE; pass NONE to get the first legal action."""
    after = action + 1
    w = after >> 6
    if w >= len(game.legal):
        return NONE
    word = game.legal[w] & ~((ONE << np.uint64(after & 63)) - ONE)
    while word == ZERO:
        w += 1
        if w >= len(game.legal):
            return NONE
        word = game.legal[w]
    return (w << 6) + lowest(word)


@inlined
def next_place(game, board, territory):
    """Return the lowest legal territory above `territory`, or NONE; pass NONE to get the first territory."""
    following = next_legal(game, territory)
    return following if following < board.num_territories else NONE


@inlined
def next_attack(game, rules, action):
    """Return the lowest legal attack above `action`, or NONE; pass NONE to get the first legal attack."""
    following = next_legal(game, max(action, int64(rules.border_0) - 1))
    return following if following < int64(rules.dice_0) else NONE


@inlined
def ends_of(board, rules, action):
    """Return the source and the target of an attack."""
    border = action - int64(rules.border_0)
    return int64(board.border_source[border]), int64(board.border_target[border])


@inlined
def last_legal(game, rules):
    """Return the highest legal action; for dice, a blitz or the largest number of dice (RULES 3.2.4)."""
    action = int64(rules.num_actions) - 1
    while not has(game.legal, action):
        action -= 1
    return action


@kernel
def border_action(game, board, rules, source, target):
    """Return the attack from `source` to `target`, or NONE if this attack is not legal."""
    action = next_attack(game, rules, NONE)
    while action != NONE and ends_of(board, rules, action) != (source, target):
        action = next_attack(game, rules, action)
    return action


# Amounts


@kernel
def amount_towards(rules, wanted, most):
    """Return the AMOUNT action for the largest possible number of troops up to `wanted`, but at least 1.

    `most` is the number of troops that are available.
    """
    if wanted >= most:
        return int64(rules.amount_0) + ALL_OF_THEM
    best, number = 0, int64(1)
    for amount in range(len(AMOUNTS)):
        if int64(rules.amounts[amount]) <= wanted:
            best, number = amount, int64(rules.amounts[amount])
    if number < most // 2 <= wanted:
        best = HALF
    return int64(rules.amount_0) + best


@inlined
def draft_amount(game, rules, wanted):
    """Return the action in `DRAFT_AMOUNT` that places at most `wanted` troops, but at least 1."""
    return amount_towards(rules, max(wanted, 1), draftable(game, rules, int64(game.target)))


@inlined
def move_amount(game, rules, wanted):
    """Return the action in `OCCUPY` or `FORTIFY_AMOUNT` that moves at most `wanted` more troops.

    If `wanted` is below 1, the action is DONE where DONE is legal, and otherwise moves 1 troop.
    """
    if wanted < 1 and has(game.legal, int64(rules.done)):
        return int64(rules.done)
    return amount_towards(rules, max(wanted, 1), movable(game, rules))


# Places


@kernel
def best_place(game, board, seat, purpose):
    """Return the legal territory with the greatest worth for a purpose, or NONE if none is legal."""
    best, most = NONE, -(1 << 60)
    territory = next_place(game, board, NONE)
    while territory != NONE:
        worth = place_worth(game, board, seat, territory, purpose)
        if worth > most:
            best, most = territory, worth
        territory = next_place(game, board, territory)
    return best


@kernel
def place_worth(game, board, seat, territory, purpose):
    """Return the worth of a territory for a purpose.

    * STRIKE: many targets that the seat does not own, then many troops of the seat.
    * DEFENCE: fewer troops than the enemies around the territory.
    * NEUTRAL: next to territories of the other player rather than of the seat, and few troops (RULES 6.1).
    * HEADQUARTERS: many troops, and few enemies around the territory (RULES 7.1).
    """
    troops = troops_on(game, territory)
    if purpose == STRIKE:
        return (enemy_targets(game, board, seat, territory) << 32) + troops
    if purpose == NEUTRAL:
        own, others = (
            own_sources(game, board, seat, territory),
            own_sources(game, board, 1 - seat, territory),
        )
        return 4 * (others - own) - troops
    near = enemy_troops_near(game, board, seat, territory)
    if purpose == HEADQUARTERS:
        return 2 * troops - near
    return near - troops if near > 0 else -(1 << 40)


# Cards


@kernel
def card_to_trade(game, board, rules, seat):
    """Return the action that picks the next card to trade, or DONE if no card is legal.

    Cards of the seat's territories come first (RULES 5.4), wild cards last.
    """
    best, most = int64(rules.done), int64(NONE)
    for card in range(board.num_territories + 1):
        action = int64(rules.card_0) + card
        wild = card == board.num_territories
        worth = int64(0) if wild else int64(1) + int64(has(game.owned[seat], card))
        if worth > most and has(game.legal, action):
            best, most = action, worth
    return best


# Dice


@inlined
def face_of(game, side, d):
    """Return the face of a side's die `d`, counted from the highest die, or 0 if the die does not exist."""
    return int64(game.settled[side, d])


@inlined
def wins_with(game, first, second):
    """Return the number of comparisons that an attacker wins with the two highest dice `first` and `second`.

    Ties go to the defender (RULES 3.2.3).
    """
    wins = int64(face_of(game, DEFENDER, 0) > 0 and first > face_of(game, DEFENDER, 0))
    return wins + int64(face_of(game, DEFENDER, 1) > 0 and second > face_of(game, DEFENDER, 1))


@inlined
def wins_if_turned(game, which, face):
    """Return the number of comparisons that the attacker wins if die `which` shows `face`."""
    first, second = 0, 0
    for d in range(game.settled.shape[1]):
        die = face if d == which else face_of(game, ATTACKER, d)
        if die > first:
            first, second = die, first
        elif die > second:
            second = die
    return wins_with(game, first, second) if game.chosen_dice[ATTACKER] > 1 else wins_with(game, first, 0)


@kernel
def best_die(game, rules):
    """Return the action in `REROLL` or `COMMANDER`: the die whose change wins the most comparisons, or DONE.

    A re-roll counts with its average over all faces. DONE is returned if no change wins more comparisons than
    the current dice.
    """
    now = NUM_FACES * wins_with(game, face_of(game, ATTACKER, 0), face_of(game, ATTACKER, 1))
    best, most = int64(rules.done), now
    for d in range(int64(game.chosen_dice[ATTACKER])):
        action = int64(rules.die_0) + face_of(game, ATTACKER, d) - 1
        gain = 0
        for face in range(1, NUM_FACES + 1):
            turned = face if game.phase == Phase.REROLL else NUM_FACES
            gain += wins_if_turned(game, d, turned)
        if gain > most and has(game.legal, action):
            best, most = action, gain
    return best


# Usual actions


@kernel
def usual_action(game, board, rules, seat):
    """Return the usual action in a phase, or NONE for CLAIM, CAPITAL, DRAFT, ATTACK and OCCUPY.

    All troops are drafted to one territory. The fortify move takes all movable troops from the largest
    inland stack to the most outnumbered territory. Sets are traded at once. The attack is a blitz if a blitz
    is legal. Otherwise, the largest number of dice is rolled.
    """
    phase = game.phase
    if phase == Phase.DRAFT_AMOUNT:
        return draft_amount(game, rules, int64(game.draft_left))
    if phase == Phase.FORTIFY_FROM:
        return largest_inland(game, board, rules, seat)
    if phase == Phase.FORTIFY_AMOUNT:
        return move_amount(game, rules, movable(game, rules))
    if phase == Phase.TRADE:
        return card_to_trade(game, board, rules, seat)
    if phase == Phase.FORTIFY_TO or phase == Phase.BONUS or phase == Phase.AIRFIELD or phase == Phase.DEPLOY:
        return best_place(game, board, seat, DEFENCE)
    if phase == Phase.DEPLOY_NEUTRAL:
        return best_place(game, board, seat, NEUTRAL)
    if phase == Phase.HEADQUARTERS:
        return best_place(game, board, seat, HEADQUARTERS)
    if phase == Phase.ATTACK_DICE or phase == Phase.DEFEND:
        return last_legal(game, rules)
    if phase == Phase.REROLL or phase == Phase.COMMANDER:
        return best_die(game, rules)
    if phase == Phase.OBJECTIVE:
        return next_legal(game, NONE)
    return NONE


@kernel
def largest_inland(game, board, rules, seat):
    """Return the legal inland territory with the most troops, or DONE if none has more than one troop."""
    best, most = int64(rules.done), 1
    territory = next_place(game, board, NONE)
    while territory != NONE:
        if troops_on(game, territory) > most and is_inland(game, board, seat, territory):
            best, most = territory, troops_on(game, territory)
        territory = next_place(game, board, territory)
    return best
