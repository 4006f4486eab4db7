"""What the scripted bots share: their own chance, neighbours and threats, amounts, and usual answers.

Everything here reads only what the seat to decide may see: the board, its own hand and mission, sizes of hands, and the
legal actions of its own question. The bot's own random state is `randoms[lane, seat]` (risk_env.bots.CompiledBot).
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

NONE = -1  # no action, no territory
LAST_TO_FALL = 100  # round of death, in imagined positions, of a seat that falls there
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF_WORD = np.uint64(32)
# What a place is chosen for (`place_worth`)
STRIKE, DEFENCE, NEUTRAL, HEADQUARTERS = range(4)


# A bot's own random numbers


@inlined
def draw_word(randoms, lane, seat):
    """64 random bits of the bot's own (splitmix64)."""
    state = plus(randoms[lane, seat], _GOLDEN)
    randoms[lane, seat] = state
    return scramble(state)


@inlined
def chance_below(randoms, lane, seat, n):
    """A random whole number 0 ... n - 1 (uneven by less than n / 2**32)."""
    return int64(times(draw_word(randoms, lane, seat) >> _HALF_WORD, np.uint64(n)) >> _HALF_WORD)


@inlined
def any_legal(game, randoms, lane, seat):
    """A uniformly random legal action."""
    return nth(game.legal, chance_below(randoms, lane, seat, size(game.legal)))


# The board as one seat sees it


@inlined
def enemy_neighbours(game, board, seat, territory):
    """Number of neighbours that are not the seat's."""
    count = 0
    for w in range(len(game.strong)):
        count += popcount(board.neighbours[territory, w] & ~game.owned[seat, w])
    return count


@inlined
def own_neighbours(game, board, seat, territory):
    """Number of neighbours that are the seat's."""
    return common(board.neighbours[territory], game.owned[seat])


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
            total += troops_on(game, (w << 6) + lowest(word))
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


@inlined
def next_place(game, board, territory):
    """The lowest legal territory above this one (NONE for the first of all), NONE if there is none."""
    found = next_legal(game, territory)
    return found if found < board.num_territories else NONE


@inlined
def next_attack(game, rules, action):
    """The lowest legal attack above `action` (NONE for the first of all), NONE if there is none."""
    found = next_legal(game, max(action, int64(rules.border_0) - 1))
    return found if found < int64(rules.dice_0) else NONE


@inlined
def ends_of(board, rules, action):
    """Source and target of an attack."""
    border = action - int64(rules.border_0)
    return int64(board.border_source[border]), int64(board.border_target[border])


@inlined
def last_legal(game, rules):
    """The highest legal action: of dice a blitz where it may be chosen, else the most (RULES 3.2.4)."""
    action = int64(rules.num_actions) - 1
    while not has(game.legal, action):
        action -= 1
    return action


@kernel
def border_action(game, board, rules, source, target):
    """The attack from source to target, NONE if it is not legal."""
    action = next_attack(game, rules, NONE)
    while action != NONE and ends_of(board, rules, action) != (source, target):
        action = next_attack(game, rules, action)
    return action


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
    if wanted < 1 and has(game.legal, int64(rules.done)):
        return int64(rules.done)
    return amount_towards(rules, max(wanted, 1), movable(game, rules))


# Places


@kernel
def best_place(game, board, seat, purpose):
    """The legal territory that is worth most for a purpose; NONE if no territory is legal."""
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
    """What a territory is worth for a purpose.

    STRIKE: most neighbours of others, then most own troops. DEFENCE: outnumbered most by the troops around it.
    NEUTRAL: in the way of others, not of the seat (RULES 6.1). HEADQUARTERS: safe (RULES 7.1).
    """
    troops = troops_on(game, territory)
    if purpose == STRIKE:
        return (enemy_neighbours(game, board, seat, territory) << 32) + troops
    if purpose == NEUTRAL:
        own, others = own_neighbours(game, board, seat, territory), own_neighbours(game, board, 1 - seat, territory)
        return 4 * (others - own) - troops
    near = enemy_troops_near(game, board, seat, territory)
    if purpose == HEADQUARTERS:
        return 2 * troops - near
    return near - troops if near > 0 else -(1 << 40)


# Cards


@kernel
def card_to_trade(game, board, rules, seat):
    """A card for a set: those of own territories first (RULES 5.4), wild cards last; DONE if nothing else is legal."""
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
        if gain > most and has(game.legal, answer):
            best, most = answer, gain
    return best


# Usual answers


@kernel
def usual_answer(game, board, rules, seat):
    """The answer to all but claims, attacks, the place of a draft, and occupations (NONE there).

    Drafts and fortify moves are made whole, from the largest stack without enemy neighbours to where others press most.
    Sets are traded at once; dice are as many as allowed, a blitz before all.
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
    """The stack without enemy neighbours that may leave, the largest; DONE if there is none."""
    best, most = int64(rules.done), 1
    territory = next_place(game, board, NONE)
    while territory != NONE:
        if troops_on(game, territory) > most and is_inland(game, board, seat, territory):
            best, most = territory, troops_on(game, territory)
        territory = next_place(game, board, territory)
    return best
