"""What the scripted bots share: their own chance, neighbours and threats, amounts, sensible answers to rare questions.

Everything here reads only what the seat to decide may see: the board, its own hand and mission, sizes of hands, and the
legal actions of its own question. `state` of a bot's chance is `randoms[lane, seat]` (risk_env.bots.CompiledBot).
"""

import numpy as np
from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest, nth, plus, popcount, size, times
from risk_env.core.chance import scramble
from risk_env.core.draft import draftable
from risk_env.core.movement import movable
from risk_env.core.position import is_alive
from risk_env.core.types import (
    ALL_OF_THEM,
    AMOUNTS,
    BLITZ,
    HALF,
    NUM_DICE_ACTIONS,
    NUM_FACES,
    Phase,
)

NONE = -1  # no action, no territory
LAST_TO_FALL = 100  # round of death, in imagined positions, of a seat that falls there
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF_WORD = np.uint64(32)
ATTACKER, DEFENDER = 0, 1
COMPARED_DICE = 2


# A bot's own chance


@inlined
def draw_word(randoms, lane, seat):
    """64 random bits from the bot's own chance (splitmix64)."""
    state = plus(randoms[lane, seat], _GOLDEN)
    randoms[lane, seat] = state
    return scramble(state)


@inlined
def draw_below(randoms, lane, seat, n):
    """A whole number 0 ... n - 1 from the bot's own chance (n < 2**31, uneven by less than n / 2**32)."""
    return int64(times(draw_word(randoms, lane, seat) >> _HALF_WORD, np.uint64(n)) >> _HALF_WORD)


@inlined
def any_legal(game, randoms, lane, seat):
    """A legal action, each as likely."""
    return nth(game.legal, draw_below(randoms, lane, seat, size(game.legal)))


# The board as one seat sees it


@inlined
def troops_of(game, territory):
    """Troops on a territory."""
    return int64(game.troops[territory])


@inlined
def enemy_neighbours(game, board, seat, territory):
    """Number of neighbours that are not the seat's."""
    count = 0
    for w in range(len(game.strong)):
        count += popcount(board.neighbours[territory, w] & ~game.owned[seat, w])
    return count


@inlined
def is_inland(game, board, seat, territory):
    """Whether all neighbours are the seat's."""
    word = ZERO
    for w in range(len(game.strong)):
        word |= board.neighbours[territory, w] & ~game.owned[seat, w]
    return word == ZERO


@kernel
def enemy_troops_near(game, board, seat, territory):
    """Troops on the neighbours that are not the seat's."""
    total = 0
    for w in range(len(game.strong)):
        word = board.neighbours[territory, w] & ~game.owned[seat, w]
        while word != ZERO:
            total += troops_of(game, (w << 6) + lowest(word))
            word &= word - ONE
    return total


@inlined
def num_rivals(game, rules, seat):
    """Number of other seats that live."""
    count = int64(0)
    for other in range(rules.num_players):
        count += int64(other != seat and is_alive(game, other))
    return count


# Legal actions of a block


@inlined
def is_legal(game, action):
    """Whether an action is legal."""
    return has(game.legal, action)


@inlined
def first_legal(game):
    """The lowest legal action."""
    return nth(game.legal, 0)


@inlined
def next_legal(game, action):
    """The lowest legal action above `action` (NONE for the first of all), NONE if there is none."""
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


@kernel
def border_action(game, board, rules, source, target):
    """The attack from source to target, NONE if it is not legal."""
    action = next_legal(game, int64(rules.border_0) - 1)
    while action != NONE and action < int64(rules.dice_0):
        border = action - int64(rules.border_0)
        if board.border_source[border] == source and board.border_target[border] == target:
            return action
        action = next_legal(game, action)
    return NONE


# Amounts


@kernel
def amount_towards(rules, wanted, most):
    """The AMOUNT action that comes nearest to `wanted` (1 or more) of `most` troops without going over."""
    if wanted >= most:
        return int64(rules.amount_0) + ALL_OF_THEM
    best, number = 0, int64(1)
    for answer in range(len(AMOUNTS)):
        if int64(rules.amounts[answer]) <= wanted:
            best, number = answer, int64(rules.amounts[answer])
    if number < most // 2 <= wanted:
        best = HALF
    return int64(rules.amount_0) + best


@inlined
def draft_amount(game, rules, wanted):
    """Answer of `DRAFT_AMOUNT`: towards `wanted` troops on the chosen territory."""
    return amount_towards(rules, max(wanted, 1), draftable(game, rules, int64(game.target)))


@inlined
def move_amount(game, rules, wanted):
    """Answer of `OCCUPY` and `FORTIFY_AMOUNT`: towards `wanted` more troops; DONE for none, where it is legal."""
    if wanted < 1 and is_legal(game, int64(rules.done)):
        return int64(rules.done)
    return amount_towards(rules, max(wanted, 1), movable(game, rules))


# Places


@kernel
def most_surrounded(game, board, seat):
    """The legal territory with most neighbours of others; of equal ones the one with most troops."""
    best, most = NONE, NONE
    territory = next_legal(game, NONE)
    while territory != NONE and territory < board.num_territories:
        worth = (enemy_neighbours(game, board, seat, territory) << 32) + troops_of(game, territory)
        if worth > most:
            best, most = territory, worth
        territory = next_legal(game, territory)
    return best


@kernel
def most_pressed(game, board, seat):
    """The legal territory that is outnumbered most by the troops of others around it."""
    best, most = NONE, -(1 << 60)
    territory = next_legal(game, NONE)
    while territory != NONE and territory < board.num_territories:
        near = enemy_troops_near(game, board, seat, territory)
        worth = near - troops_of(game, territory) if near > 0 else -(1 << 40)
        if worth > most:
            best, most = territory, worth
        territory = next_legal(game, territory)
    return best


@kernel
def easiest_free(game, board, seat):
    """The free territory to claim: in a small continent where the seat has much and others have little."""
    best, most = NONE, -(1 << 60)
    territory = next_legal(game, NONE)
    while territory != NONE and territory < board.num_territories:
        worth = claim_worth(game, board, seat, territory)
        if worth > most:
            best, most = territory, worth
        territory = next_legal(game, territory)
    return best


@kernel
def claim_worth(game, board, seat, territory):
    """How much a free territory helps to a continent: own ones there count for it, those of others against it."""
    continent = int64(board.continent_of[territory])
    own, members, taken, near = 0, 0, 0, 0
    for w in range(len(game.strong)):
        inside = board.continent_members[continent, w]
        members += popcount(inside)
        own += popcount(inside & game.owned[seat, w])
        near += popcount(board.neighbours[territory, w] & game.owned[seat, w])
        for other in range(len(game.owned)):
            taken += popcount(inside & game.owned[other, w])
    bonus = int64(board.continent_bonus[continent])
    return 40 * (2 * own - taken) // members + 20 * bonus // members + 4 * near - members


@kernel
def hardest_neutral(game, board, seat):
    """The neutral territory that stands most in the way of others and least in the seat's own (RULES 6.1)."""
    best, most = NONE, -(1 << 60)
    territory = next_legal(game, NONE)
    while territory != NONE and territory < board.num_territories:
        own, others = 0, 0
        for w in range(len(game.strong)):
            own += popcount(board.neighbours[territory, w] & game.owned[seat, w])
            others += popcount(board.neighbours[territory, w] & game.owned[1 - seat, w])
        worth = 4 * (others - own) - troops_of(game, territory)
        if worth > most:
            best, most = territory, worth
        territory = next_legal(game, territory)
    return best


@kernel
def safest_own(game, board, seat):
    """The legal territory least surrounded and best defended: for headquarters (RULES 7.1)."""
    best, most = NONE, -(1 << 60)
    territory = next_legal(game, NONE)
    while territory != NONE and territory < board.num_territories:
        worth = 2 * troops_of(game, territory) - enemy_troops_near(game, board, seat, territory)
        if worth > most:
            best, most = territory, worth
        territory = next_legal(game, territory)
    return best


# Cards


@kernel
def card_to_trade(game, board, rules, seat):
    """A card for a set: those of own territories first (RULES 5.4), wild cards last; DONE if nothing else is legal."""
    best, most = NONE, int64(NONE)
    action = next_legal(game, int64(rules.card_0) - 1)
    while action != NONE and action < int64(rules.done):
        card = action - int64(rules.card_0)
        wild = card == board.num_territories
        worth = int64(0) if wild else int64(1) + int64(has(game.owned[seat], card))
        if worth > most:
            best, most = action, worth
        action = next_legal(game, action)
    return int64(rules.done) if best == NONE else best


# Dice


@kernel
def most_dice(game, rules):
    """The most dice that are allowed, never a blitz."""
    answer = NUM_DICE_ACTIONS - 2
    while not is_legal(game, int64(rules.dice_0) + answer):
        answer -= 1
    return int64(rules.dice_0) + answer


@inlined
def blitz_or_most(game, rules):
    """A blitz where it may be chosen, else the most dice (RULES 3.2.4)."""
    blitz = int64(rules.dice_0) + BLITZ
    return blitz if is_legal(game, blitz) else most_dice(game, rules)


@inlined
def face_of(game, side, d):
    """Face of a side's d-th die, the highest first; 0 for none."""
    return int64(game.settled[side, d])


@inlined
def wins_with(game, first, second):
    """Comparisons that an attacker with these two highest dice wins; ties go to the defender (RULES 3.2.3)."""
    wins = int64(face_of(game, DEFENDER, 0) > 0 and first > face_of(game, DEFENDER, 0))
    return wins + int64(face_of(game, DEFENDER, 1) > 0 and second > face_of(game, DEFENDER, 1))


@inlined
def wins_if_turned(game, which, face):
    """Comparisons won if the attacker's die number `which` showed another face."""
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
    """Answer of `REROLL` and `COMMANDER`: the die whose turn wins most comparisons, DONE if none wins more."""
    now = NUM_FACES * wins_with(game, face_of(game, ATTACKER, 0), face_of(game, ATTACKER, 1))
    best, most = int64(rules.done), now
    for d in range(int64(game.chosen_dice[ATTACKER])):
        answer = int64(rules.die_0) + face_of(game, ATTACKER, d) - 1
        gain = 0
        for face in range(1, NUM_FACES + 1):
            turned = face if game.phase == Phase.REROLL else NUM_FACES
            gain += wins_if_turned(game, d, turned)
        if gain > most and is_legal(game, answer):
            best, most = answer, gain
    return best


# Sensible answers


@kernel
def rare_answer(game, board, rules, seat):
    """Answer to set-up, cards, dice and variants, for bots without a view of their own; NONE to the others.

    Claims: towards continents; places: where others press most; sets: traded at once; dice: as many as allowed;
    objectives: the first that is met.
    """
    phase = game.phase
    if phase == Phase.TRADE:
        return card_to_trade(game, board, rules, seat)
    if phase == Phase.BONUS or phase == Phase.AIRFIELD or phase == Phase.DEPLOY:
        return most_pressed(game, board, seat)
    if phase == Phase.CLAIM or phase == Phase.CAPITAL:
        return easiest_free(game, board, seat)
    if phase == Phase.DEPLOY_NEUTRAL:
        return hardest_neutral(game, board, seat)
    if phase == Phase.HEADQUARTERS:
        return safest_own(game, board, seat)
    if phase == Phase.ATTACK_DICE:
        return blitz_or_most(game, rules)
    if phase == Phase.DEFEND:
        return most_dice(game, rules)
    if phase == Phase.REROLL or phase == Phase.COMMANDER:
        return best_die(game, rules)
    if phase == Phase.OBJECTIVE:
        return first_legal(game)
    return NONE


# Fortifying


@kernel
def largest_inland(game, board, rules, seat):
    """The stack without enemy neighbours that may leave, the largest; DONE if there is none."""
    best, most = int64(rules.done), 1
    territory = next_legal(game, NONE)
    while territory != NONE and territory < board.num_territories:
        if troops_of(game, territory) > most and is_inland(game, board, seat, territory):
            best, most = territory, troops_of(game, territory)
        territory = next_legal(game, territory)
    return best
