"""Chance: the generator inside the record, the seed of a game, dice, draws.

The generator is splitmix64 (Steele, Lea, Flood 2014); its state, one word, is part of the game.
Whole numbers below n are exact by rejection (Lemire 2019), never by a remainder.
"""

import numpy as np
from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import add, clear, nth, plus, remove, size, times
from risk_env.core.types import MAX_DICE, NUM_FACES

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
OUTCOMES = np.array([NUM_FACES**dice for dice in range(2 * MAX_DICE + 1)])  # of 0, 1, ... dice


@inlined
def scramble(word):
    """The output function of splitmix64: a bijection of 64-bit words that looks random."""
    word = times(word ^ (word >> np.uint64(30)), _MIX_1)
    word = times(word ^ (word >> np.uint64(27)), _MIX_2)
    return word ^ (word >> np.uint64(31))


@kernel
def mix(seed, lane, episode):
    """Seed of game number `episode` in `lane` of a batch or environment with `seed`. All uint64."""
    word = scramble(plus(seed, _GOLDEN))
    word = scramble(plus(word ^ lane, _GOLDEN))
    return scramble(plus(word ^ episode, _GOLDEN))


@inlined
def next_word(game):
    """The next 64 random bits."""
    game.random = plus(game.random, _GOLDEN)
    return scramble(game.random)


@inlined
def below(game, n):
    """A whole number 0 ... n - 1, each exactly as likely; 1 <= n < 2**31."""
    limit = np.uint64(n)
    product = times(next_word(game) >> _HALF, limit)
    if product & _LOW_HALF < limit:
        unfair = (np.uint64(1) << _HALF) % limit
        while product & _LOW_HALF < unfair:
            product = times(next_word(game) >> _HALF, limit)
    return int64(product >> _HALF)


@inlined
def any_of(game, words):
    """A random element of a set that is not empty."""
    return nth(words, below(game, size(words)))


@kernel
def roll(game, attack_dice, defence_dice):
    """Roll both sides' dice into `game.rolled`: one number, read as base-6 digits."""
    outcome = below(game, OUTCOMES[attack_dice + defence_dice])
    rest = write_dice(game.rolled[0], attack_dice, outcome)
    write_dice(game.rolled[1], defence_dice, rest)


@inlined
def write_dice(rolled, dice, outcome):
    """Write the lowest base-6 digits of an outcome as the faces of `dice` dice, 0 beyond; the rest of the outcome."""
    rest = outcome
    for d in range(len(rolled)):
        higher = outcome // NUM_FACES
        rolled[d] = outcome - NUM_FACES * higher + 1 if d < dice else 0
        rest = higher if d < dice else rest
        outcome = higher
    return rest


@kernel
def draw_card(game, seat):
    """Give a random card of the deck to a seat, if there is one (RULES 2.4)."""
    if size(game.deck) + int64(game.deck_wilds) == 0:
        shuffle_discards(game)
    cards = size(game.deck)
    total = cards + int64(game.deck_wilds)
    if total == 0:
        return
    choice = below(game, total)
    if choice >= cards:
        game.deck_wilds -= 1
        game.wilds[seat] += 1
    else:
        card = nth(game.deck, choice)
        remove(game.deck, card)
        add(game.hand[seat], card)


@inlined
def shuffle_discards(game):
    """The discard pile becomes the deck; cards of it that re-rolls had shown are secret again (RULES 2.4)."""
    for w in range(len(game.deck)):
        game.deck[w] = game.discard[w]
        game.shown[w] &= ~game.discard[w]
    clear(game.discard)
    game.deck_wilds = game.discard_wilds
    game.discard_wilds = 0
