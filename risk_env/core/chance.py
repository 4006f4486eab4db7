"""Chance: the random generator in the game record, the seed of a game, dice and draws.

The generator is splitmix64 (Steele, Lea, Flood 2014). The state of the generator is one word of the game
record. Random whole numbers below n are exactly uniform, because they are drawn by rejection (Lemire 2019)
and not by a remainder.
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
# number of outcomes of a roll of 0, 1, ... dice
OUTCOMES = np.array([NUM_FACES**dice for dice in range(2 * MAX_DICE + 1)])


@inlined
def scramble(word):
    """Return the output of splitmix64 for a state. The function is a bijection of 64-bit words."""
    word = times(word ^ (word >> np.uint64(30)), _MIX_1)
    word = times(word ^ (word >> np.uint64(27)), _MIX_2)
    return word ^ (word >> np.uint64(31))


@kernel
def mix(seed, lane, episode):
    """Return the seed of game number `episode` in `lane` of a batch or environment with `seed`.

    All arguments and the result are uint64.
    """
    word = scramble(plus(seed, _GOLDEN))
    word = scramble(plus(word ^ lane, _GOLDEN))
    return scramble(plus(word ^ episode, _GOLDEN))


@inlined
def next_word(game):
    """Advance the generator of the game, and return 64 random bits."""
    game.random = plus(game.random, _GOLDEN)
    return scramble(game.random)


@inlined
def below(game, n):
    """Return a uniform random whole number 0 ... n - 1, where 1 <= n < 2**31."""
    limit = np.uint64(n)
    product = times(next_word(game) >> _HALF, limit)
    if product & _LOW_HALF < limit:
        unfair = (np.uint64(1) << _HALF) % limit
        while product & _LOW_HALF < unfair:
            product = times(next_word(game) >> _HALF, limit)
    return int64(product >> _HALF)


@inlined
def any_of(game, words):
    """Return a random element of the set `words`, which must not be empty."""
    return nth(words, below(game, size(words)))


@kernel
def roll(game, attack_dice, defence_dice):
    """Roll the dice of both sides into `game.rolled`.

    One random number decides all dice. The base-6 digits of the number determine the faces.
    """
    outcome = below(game, OUTCOMES[attack_dice + defence_dice])
    rest = write_dice(game.rolled[0], attack_dice, outcome)
    write_dice(game.rolled[1], defence_dice, rest)


@inlined
def write_dice(rolled, dice, outcome):
    """Write the lowest base-6 digits of `outcome` as the faces of `dice` dice.

    Set the faces beyond `dice` to 0. Return the number that the remaining higher digits form.
    """
    rest = outcome
    for d in range(len(rolled)):
        higher = outcome // NUM_FACES
        rolled[d] = outcome - NUM_FACES * higher + 1 if d < dice else 0
        rest = higher if d < dice else rest
        outcome = higher
    return rest


@kernel
def draw_card(game, seat):
    """Give a random card of the deck to a seat (RULES 2.4).

    If the deck is empty, the discard pile first becomes the deck. If both are empty, nothing happens.
    """
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
    """Make the discard pile the deck (RULES 2.4).

    Discarded cards that a re-roll showed earlier become secret again.
    """
    for w in range(len(game.deck)):
        game.deck[w] = game.discard[w]
        game.shown[w] &= ~game.discard[w]
    clear(game.discard)
    game.deck_wilds = game.discard_wilds
    game.discard_wilds = 0
