"""Odds of one roll, and of a blitz.

`attackers` is the number of all troops on the attacking territory, including the troop that has to stay.
Three dice therefore need four attackers. Tables in books that count "attacking armies" mean `attackers - 1`.
`defenders` is the number of troops on the attacked territory.

In a blitz (RULES 3.2.4), both sides roll as many dice as possible (RULES 3.2.2) until the territory falls or
one attacker is left. After a capture, the number of attackers left counts the attacker's troops on both
territories.

Python code calls `roll_outcomes`, `battle_odds` and `win_probability`. A compiled bot passes the array from
`odds_table` to its kernels, which call `win_chance`, `left_after` and `defenders_after`. Results within the
table, and results of `battle_odds` up to `MOST_CELLS`, are exact except for rounding. For larger armies,
`far_odds` gives a close approximation.
"""

import math
import operator
from collections import Counter
from functools import cache, lru_cache
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from risk_env.compiler import entry_point, inlined, kernel
from risk_env.core.combat import MAX_ATTACK_DICE, MAX_DEFENCE_DICE
from risk_env.core.types import NUM_FACES

Floats = NDArray[np.float64]

WIN, ATTACKER_LEFT, DEFENDER_LEFT = range(3)  # indices on the last axis of a table
LEAST_TABLE = 32  # minimum size of a table in troops; for smaller armies `far_odds` would not be close
# maximum product attackers × defenders for which `battle_odds` computes exact odds, in about 10 ms
MOST_CELLS = 1_000_000
_FAR = 192  # troops per side of the battles to which `far_odds` is fitted


class BattleOdds(NamedTuple):
    """Odds of a blitz: probability that the territory falls, and expected troops left on either side."""

    win: float
    attacker_left: float  # troops on both territories
    defender_left: float


# One roll


def roll_outcomes(attack_dice: int, defence_dice: int) -> NDArray[np.int64]:
    """Return the numbers of rolls in which the defender loses 0, 1, ... troops (RULES 3.2.3).

    The array is int64 (compared + 1,). `compared` is the smaller number of dice, which is also the number of
    troops that both sides lose together. The counts add up to 6 to the power of the number of dice. For
    example, `roll_outcomes(3, 2)` returns 2275, 2611 and 2890, which add up to 7776.
    """
    compared = min(attack_dice, defence_dice)
    counts = np.zeros(compared + 1, np.int64)
    sides = _highest_dice(attack_dice, compared).items(), _highest_dice(defence_dice, compared).items()
    for (attack, ways), (defence, other_ways) in product(*sides):
        counts[sum(map(operator.gt, attack, defence))] += ways * other_ways
    return counts


def _highest_dice(rolled: int, compared: int) -> Counter[tuple[int, ...]]:
    """Return the number of rolls for each tuple of a side's highest dice."""
    rolls = product(range(1, NUM_FACES + 1), repeat=rolled)
    return Counter(tuple(sorted(dice, reverse=True)[:compared]) for dice in rolls)


@cache
def roll_odds() -> Floats:
    """Return the probabilities of the outcomes of one roll: float64 (4, 3, 3).

    The axes are the number of attack dice, the number of defence dice, and the number of troops that the
    defender loses.
    """
    odds = np.zeros((MAX_ATTACK_DICE + 1, MAX_DEFENCE_DICE + 1, MAX_DEFENCE_DICE + 1))
    for attack_dice in range(1, MAX_ATTACK_DICE + 1):
        for defence_dice in range(1, MAX_DEFENCE_DICE + 1):
            counts = roll_outcomes(attack_dice, defence_dice)
            odds[attack_dice, defence_dice, : len(counts)] = counts / counts.sum()
    odds.flags.writeable = False
    return odds


# Battles: the recursion over (attackers, defenders)


@inlined
def dice_of(attackers, defenders):
    """Return the maximum numbers of attack dice, defence dice and compared dice (RULES 3.2.2, 3.2.3)."""
    attack_dice = min(MAX_ATTACK_DICE, attackers - 1)
    defence_dice = min(MAX_DEFENCE_DICE, defenders)
    return attack_dice, defence_dice, min(attack_dice, defence_dice)


@inlined
def after_a_roll(odds, values, attackers, defenders):
    """Return the mean of `values` over the outcomes of the next roll."""
    attack_dice, defence_dice, compared = dice_of(attackers, defenders)
    mean = 0.0
    for lost in range(compared + 1):
        mean += odds[attack_dice, defence_dice, lost] * values[attackers - compared + lost, defenders - lost]
    return mean


@entry_point
def write_battle_values(odds, values):
    """Write the value of every blitz, given the value of each possible end.

    `odds` is the array from `roll_odds`. `values` is float64 (A + 1, D + 1), by attackers and defenders. The
    caller fills column 0 (the blitz is won) and the first two rows (the blitz is lost).
    """
    for attackers in range(2, values.shape[0]):
        for defenders in range(1, values.shape[1]):
            values[attackers, defenders] = after_a_roll(odds, values, attackers, defenders)


def _exact_values(max_attackers: int, max_defenders: int) -> Floats:
    """Return (win, attackers left, defenders left) of every blitz.

    The array is float64 (max_attackers + 1, max_defenders + 1, 3).
    """
    values = np.zeros((3, max_attackers + 1, max_defenders + 1))
    values[WIN, :, 0] = 1.0
    values[ATTACKER_LEFT, :, 0] = np.arange(max_attackers + 1)
    values[ATTACKER_LEFT, :2, 1:] = 1.0
    values[DEFENDER_LEFT, :2] = np.arange(max_defenders + 1)
    for worth in values:
        write_battle_values(roll_odds(), worth)
    return np.moveaxis(values, 0, -1).copy()


# The table, and functions that read the table in kernels
#
#   table[a, d]    a >= 1: win, attackers left, defenders left in a blitz of a against d
#   table[0, 0]    mean, variance and skewness / 6 of the attacker's losses in a roll of 3 dice against 2
#   table[0, 1]    corrections to mean and variance of the margin (below) for rolls with fewer dice; then 0
#   table[0, 2]    correction to attackers left in a win, and to defenders left in a loss; then 0
#   table[0, 3:]   0


@lru_cache(maxsize=8)
def odds_table(max_attackers: int = 128, max_defenders: int = 128) -> Floats:
    """Return the odds of all blitzes for compiled bots: float64 (max_attackers + 1, max_defenders + 1, 3).

    The array is read-only and cached. `table[attackers, defenders]` contains WIN, ATTACKER_LEFT and
    DEFENDER_LEFT. Row 0 contains parameters for larger armies. Kernels read the table through `win_chance`,
    `left_after` and `defenders_after`. Python code reads the table through `look_up`.
    """
    max_attackers = _whole("max_attackers", max_attackers, LEAST_TABLE)
    max_defenders = _whole("max_defenders", max_defenders, LEAST_TABLE)
    table = _exact_values(max_attackers, max_defenders)
    table[0] = 0.0
    table[0, :3] = _far_field()
    table.flags.writeable = False
    return table


@inlined
def blitz_odds(table, attackers, defenders):
    """Return (win, attacker_left, defender_left) of a blitz, for any whole numbers of troops.

    The result is exact within the table. Otherwise it comes from `far_odds`.
    """
    if defenders < 1:
        return 1.0, float(attackers), 0.0
    if attackers < 2:
        return 0.0, float(attackers), float(defenders)
    if attackers < table.shape[0] and defenders < table.shape[1]:
        odds = table[attackers, defenders]
        return odds[WIN], odds[ATTACKER_LEFT], odds[DEFENDER_LEFT]
    return far_odds(table, attackers, defenders)


@inlined
def win_chance(table, attackers, defenders):
    """Return the probability that a blitz takes the territory (for kernels)."""
    return blitz_odds(table, attackers, defenders)[WIN]


@inlined
def left_after(table, attackers, defenders):
    """Return the attacker's expected troops on both territories after a blitz (for kernels)."""
    return blitz_odds(table, attackers, defenders)[ATTACKER_LEFT]


@inlined
def defenders_after(table, attackers, defenders):
    """Return the defender's expected troops after a blitz (for kernels)."""
    return blitz_odds(table, attackers, defenders)[DEFENDER_LEFT]


@entry_point
def look_up(table, attackers, defenders):
    """Return the result of `blitz_odds` (for Python code)."""
    return blitz_odds(table, attackers, defenders)


# Armies beyond the table
#
# A roll of three dice against two removes two troops. Suppose that the rolls continue past the end of the
# battle. After (attackers - 1 + defenders) / 2 rolls, exactly one side has no troops left. The attacker wins
# if the attacker's losses are then below attackers - 1. The margin is attackers - 1 minus these losses. The
# sum of the losses is nearly normal, with an Edgeworth term for the skewness. A win with u troops to spare
# leaves u / 2 rolls past the end. In these rolls the margin falls from u to u times half the defender's mean
# loss: hence the factor 2 / (2 - drift). The effect of the last rolls, which have fewer dice, is fitted to
# exact battles.


@kernel
def far_odds(table, attackers, defenders):
    """Return (win, attacker_left, defender_left) of a blitz of large armies, by a normal approximation.

    If at least one side has more than 128 troops, the error of `win` is at most 0.0011. The errors of
    `attacker_left` and `defender_left` are at most 0.25.
    """
    drift = table[0, 0, 0]
    rolls = (float(attackers) - 1.0 + float(defenders)) / 2.0
    deviation = math.sqrt(table[0, 0, 1] * rolls - table[0, 1, 1])
    skew = table[0, 0, 2] / math.sqrt(rolls)
    z = (float(attackers) - 1.0 - drift * rolls + table[0, 1, 0]) / deviation
    density = math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)
    below = math.erfc(-z / math.sqrt(2.0)) / 2.0
    win = min(max(below - skew * (z * z - 1.0) * density, 0.0), 1.0)
    margin = z * below + (1.0 + skew * z) * density
    attacker_left = 1.0 + 2.0 / (2.0 - drift) * deviation * margin + table[0, 2, 0] * win
    defender_left = 2.0 / drift * deviation * (margin - z) + table[0, 2, 1] * (1.0 - win)
    return (
        win,
        min(max(attacker_left, 1.0), float(attackers)),
        min(max(defender_left, 0.0), float(defenders)),
    )


def _far_field() -> Floats:
    """Return the parameters of `far_odds`, fitted to exact battles of up to 192 troops: float64 (3, 3).

    The comment above `odds_table` describes the layout (row 0 of the table).
    """
    exact = _exact_values(_FAR, _FAR)
    field = np.zeros((3, 3))
    field[0] = _loss_moments(roll_odds()[MAX_ATTACK_DICE, MAX_DEFENCE_DICE])
    field[1, :2] = _end_of_the_margin(exact, *field[0])
    easy, hopeless = (_FAR, _FAR // 8), (_FAR // 8, _FAR)
    beyond = field[np.newaxis].copy()  # a table without any battles
    beyond.flags.writeable = False
    field[2, 0] = exact[easy][ATTACKER_LEFT] - look_up(beyond, *easy)[ATTACKER_LEFT]
    field[2, 1] = exact[hopeless][DEFENDER_LEFT] - look_up(beyond, *hopeless)[DEFENDER_LEFT]
    return field


def _loss_moments(outcomes: Floats) -> tuple[float, float, float]:
    """Return mean, variance and skewness / 6 of the attacker's losses.

    `outcomes` contains the probabilities that the defender loses 0, 1 and 2 troops.
    """
    losses = np.arange(len(outcomes))[::-1]
    mean = float(outcomes @ losses)
    variance = float(outcomes @ (losses - mean) ** 2)
    return mean, variance, float(outcomes @ (losses - mean) ** 3) / variance**1.5 / 6


def _end_of_the_margin(exact: Floats, drift: float, variance: float, skew: float) -> tuple[float, float]:
    """Return the corrections to the margin's mean and variance, fitted to two exact battles.

    The battles are one standard deviation below and above even odds.
    """
    rolls = _FAR / 2
    deviation = math.sqrt(variance * rolls)
    margins, scores = [], []
    for step in (-deviation, deviation):
        attackers = 1 + round(drift * rolls + step)
        score = NormalDist().inv_cdf(exact[attackers, _FAR + 1 - attackers, WIN])
        margins.append(attackers - 1 - drift * rolls)
        scores.append(score + skew / math.sqrt(rolls) * (score * score - 1))
    stretch = (margins[1] - margins[0]) / (scores[1] - scores[0])
    return scores[0] * stretch - margins[0], variance * rolls - stretch * stretch


# Functions for Python code


@lru_cache(maxsize=1 << 14, typed=True)  # typed: otherwise, 2.0 would get the cached result of 2
def battle_odds(attackers: int, defenders: int) -> BattleOdds:
    """Return the odds of a blitz (RULES 3.2.4).

    The odds are exact if attackers × defenders is at most `MOST_CELLS`. Otherwise the odds come from
    `far_odds`.
    """
    attackers = _whole("attackers", attackers, 1)
    defenders = _whole("defenders", defenders, 1)
    table = odds_table()
    if attackers * defenders <= MOST_CELLS and max(attackers, defenders) >= len(table):
        return BattleOdds(*map(float, _exact_values(attackers, defenders)[attackers, defenders]))
    return BattleOdds(*map(float, look_up(table, attackers, defenders)))


def win_probability(attackers: int, defenders: int) -> float:
    """Return the probability that a blitz takes the territory.

    The probability is 0 with a single attacker, which may not attack (RULES 3.2.1).
    """
    return battle_odds(attackers, defenders).win


def _whole(name: str, value: int, least: int) -> int:
    """Return `value` as an int, which must be at least `least`.

    Raises TypeError or ValueError. The message names the argument, the value and the allowed values.
    """
    allowed = f"a whole number of at least {least}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: must be {allowed}") from None
    if number < least:
        raise ValueError(f"{name}={number}: must be {allowed}")
    return number
