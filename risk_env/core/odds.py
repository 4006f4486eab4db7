"""Exact odds of a battle: one roll, or a blitz.

`attackers` are all troops on the attacking territory, including the one that has to stay. Three dice
therefore need four attackers. Books of odds that count "attacking armies" mean `attackers - 1`. `defenders`
are the troops on the attacked territory.

A battle is a blitz (RULES 3.2.4): rolls with the most dice on both sides (RULES 3.2.2) until the territory
falls or one attacker is left. "Left" attackers are the attacker's troops on both territories, before any
choice of how many move in.

Python code calls `roll_outcomes`, `battle_odds` and `win_probability`. A compiled bot takes the array of
`odds_table` as an argument and calls `win_chance`, `left_after` and `defenders_after` in its kernels. All
results are exact (to rounding) within the table, or up to `MOST_CELLS`. For larger armies, `far_odds` is a
close approximation.
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

WIN, ATTACKER_LEFT, DEFENDER_LEFT = range(3)  # the last axis of a table
LEAST_TABLE = 32  # minimum number of troops of a table; below it `far_odds` would not be close
MOST_CELLS = 1_000_000  # largest attackers × defenders that Python computes exactly, in about 10 ms
_FAR = 192  # troops per side of the battles to which `far_odds` is fitted


class BattleOdds(NamedTuple):
    """Odds of a blitz: chance that the territory falls, and expected troops left on either side."""

    win: float
    attacker_left: float
    defender_left: float


# One roll


def roll_outcomes(attack_dice: int, defence_dice: int) -> NDArray[np.int64]:
    """Return the numbers of rolls that cost the defender 0, 1, ... troops (RULES 3.2.3).

    The array is int64 (compared + 1,). `compared` is the smaller number of dice, which is also the number of
    troops lost. Troops that the defender does not lose are lost by the attacker. The counts add up to 6 to
    the power of the number of dice: `roll_outcomes(3, 2)` is 2275, 2611, 2890 of 7776.
    """
    compared = min(attack_dice, defence_dice)
    counts = np.zeros(compared + 1, np.int64)
    sides = _highest_dice(attack_dice, compared).items(), _highest_dice(defence_dice, compared).items()
    for (attack, ways), (defence, other_ways) in product(*sides):
        counts[sum(map(operator.gt, attack, defence))] += ways * other_ways
    return counts


def _highest_dice(rolled: int, compared: int) -> Counter[tuple[int, ...]]:
    """Return, for each tuple of a side's highest dice, the number of rolls that show it."""
    rolls = product(range(1, NUM_FACES + 1), repeat=rolled)
    return Counter(tuple(sorted(dice, reverse=True)[:compared]) for dice in rolls)


@cache
def roll_odds() -> Floats:
    """Return the chances of one roll: float64 (4, 3, 3).

    The axes are attack dice, defence dice and troops that the defender loses.
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
    """Return the most dice of both sides, and the number of dice compared (RULES 3.2.2, 3.2.3)."""
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
    """Write the value of every blitz, given the values of its possible ends.

    `odds` comes from `roll_odds`. `values` is float64 (A + 1, D + 1), by attackers and defenders. Column 0
    (won) and the first two rows (lost) are given.
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


# The table, and its functions for kernels
#
#   table[a, d]    a >= 1: win, attackers left, defenders left of a blitz of a against d
#   table[0, 0]    mean, variance and skewness / 6 of the attacker's losses, three dice against two
#   table[0, 1]    shift and variance that the last rolls, with fewer dice, add to the margin; then 0
#   table[0, 2]    troops that the last rolls leave the attacker when won, the defender when lost; then 0
#   table[0, 3:]   0


@lru_cache(maxsize=8)
def odds_table(max_attackers: int = 128, max_defenders: int = 128) -> Floats:
    """Return the odds of all blitzes for compiled bots: float64 (max_attackers + 1, max_defenders + 1, 3).

    The array is read-only and cached. `table[attackers, defenders]` holds WIN, ATTACKER_LEFT and
    DEFENDER_LEFT. Row 0 holds the numbers for larger armies. Kernels read the table through `win_chance`,
    `left_after` and `defenders_after`. Python code reads it through `look_up`.
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
    """Return (win, attacker_left, defender_left) of a blitz, for any whole numbers.

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
    """Return the chance that a blitz takes the territory. For kernels."""
    return blitz_odds(table, attackers, defenders)[WIN]


@inlined
def left_after(table, attackers, defenders):
    """Return the attacker's expected troops on both territories after a blitz, won or lost. For kernels."""
    return blitz_odds(table, attackers, defenders)[ATTACKER_LEFT]


@inlined
def defenders_after(table, attackers, defenders):
    """Return the defender's expected troops after a blitz, won or lost. For kernels."""
    return blitz_odds(table, attackers, defenders)[DEFENDER_LEFT]


@entry_point
def look_up(table, attackers, defenders):
    """Return `blitz_odds`. For Python code."""
    return blitz_odds(table, attackers, defenders)


# Armies beyond the table
#
# Three dice against two remove two troops. If the rolls continued past the end, exactly one side would be
# used up after (attackers - 1 + defenders) / 2 rolls. The attacker wins if its losses are then below
# attackers - 1. The sum of its losses is nearly normal (with Edgeworth's term for the skewness). The
# difference is the margin. Winning with u troops to spare leaves u / 2 rolls past the end. In these rolls the
# margin falls from u to u times half the defender's mean loss: hence 2 / (2 - drift). The effect of the last
# rolls, which have fewer dice, is fitted to exact battles.


@kernel
def far_odds(table, attackers, defenders):
    """Return (win, attacker_left, defender_left) of a blitz of large armies, by a normal approximation.

    With more than 128 troops on a side, the error of `win` is at most 0.0011, and the error of troops left is
    at most 0.25.
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
    """Return the numbers of `far_odds`, fitted to exact battles of up to 192 troops: float64 (3, 3).

    The layout is described above, at row 0 of the table.
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

    `outcomes` holds the chances of 0, 1, 2 defender losses.
    """
    losses = np.arange(len(outcomes))[::-1]
    mean = float(outcomes @ losses)
    variance = float(outcomes @ (losses - mean) ** 2)
    return mean, variance, float(outcomes @ (losses - mean) ** 3) / variance**1.5 / 6


def _end_of_the_margin(exact: Floats, drift: float, variance: float, skew: float) -> tuple[float, float]:
    """Return the shift and the loss of variance that two exact battles show.

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


@lru_cache(maxsize=1 << 14)
def battle_odds(attackers: int, defenders: int) -> BattleOdds:
    """Return the odds of a blitz (RULES 3.2.4).

    The odds are exact while attackers × defenders is at most `MOST_CELLS`. Beyond that they come from
    `far_odds`.
    """
    attackers = _whole("attackers", attackers, 1)
    defenders = _whole("defenders", defenders, 1)
    table = odds_table()
    if attackers * defenders <= MOST_CELLS and max(attackers, defenders) >= len(table):
        return BattleOdds(*map(float, _exact_values(attackers, defenders)[attackers, defenders]))
    return BattleOdds(*map(float, look_up(table, attackers, defenders)))


def win_probability(attackers: int, defenders: int) -> float:
    """Return the chance that a blitz takes the territory.

    The chance is 0 with a single attacker, who may not attack (RULES 3.2.1).
    """
    return battle_odds(attackers, defenders).win


def _whole(name: str, value: int, least: int) -> int:
    """Return the value as an int.

    If it is not allowed, the error names the argument, the value and the allowed values.
    """
    allowed = f"a whole number of at least {least}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: must be {allowed}") from None
    if number < least:
        raise ValueError(f"{name}={number}: must be {allowed}")
    return number
