"""Battle odds against slower, independent methods: enumeration, fractions, plain recursion."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from risk_env.compiler import entry_point
from risk_env.core import odds
from risk_env.core.odds import (
    ATTACKER_LEFT,
    DEFENDER_LEFT,
    WIN,
    defenders_after,
    left_after,
    win_chance,
)

pytestmark = pytest.mark.modes

PAIRINGS = list(product((1, 2, 3), (1, 2)))
COUNTS = {  # by defender losses
    (1, 1): (21, 15),
    (1, 2): (161, 55),
    (2, 1): (91, 125),
    (2, 2): (581, 420, 295),
    (3, 1): (441, 855),
    (3, 2): (2275, 2611, 2890),
}


def enumerated(attack_dice: int, defence_dice: int) -> list[int]:
    """Return the counts of one roll by defender losses, by enumeration of all rolls."""
    counts = [0] * (min(attack_dice, defence_dice) + 1)
    for dice in product(range(1, 7), repeat=attack_dice + defence_dice):
        attack, defence = (sorted(side)[::-1] for side in (dice[:attack_dice], dice[attack_dice:]))
        counts[sum(a > d for a, d in zip(attack, defence, strict=False))] += 1
    return counts


@cache
def ends(attackers: int, defenders: int) -> dict[tuple[int, int], Fraction]:
    """Return the exact probability of every (attackers, defenders) after a blitz (RULES 3.2.4)."""
    if attackers == 1 or defenders == 0:
        return {(attackers, defenders): Fraction(1)}
    counts = COUNTS[min(3, attackers - 1), min(2, defenders)]
    chances: dict[tuple[int, int], Fraction] = {}
    for lost, ways in enumerate(counts):
        for end, chance in ends(attackers - (len(counts) - 1 - lost), defenders - lost).items():
            chances[end] = chances.get(end, Fraction(0)) + chance * Fraction(ways, sum(counts))
    return chances


def exact_odds(attackers: int, defenders: int) -> list[Fraction]:
    """Return win probability, attackers left and defenders left, as fractions."""
    chances = ends(attackers, defenders).items()
    return [sum((chance * worth(*end) for end, chance in chances), Fraction(0)) for worth in WORTH]


WORTH = (lambda a, d: int(d == 0), lambda a, d: a, lambda a, d: d)


# One roll


@pytest.mark.parametrize(("attack_dice", "defence_dice"), PAIRINGS)
def test_the_counts_of_a_roll_are_the_known_ones(attack_dice: int, defence_dice: int) -> None:
    counts = odds.roll_outcomes(attack_dice, defence_dice)
    assert counts.dtype == np.int64
    assert tuple(counts) == COUNTS[attack_dice, defence_dice]
    assert counts.tolist() == enumerated(attack_dice, defence_dice)


def test_chances_of_a_roll_sum_to_one() -> None:
    chances = odds.roll_odds()
    assert chances.shape == (4, 3, 3)
    assert np.allclose(chances[1:, 1:].sum(axis=2), 1)
    assert not chances[0].any() and not chances[:, 0].any()


# Battles


def test_the_smallest_battles_by_hand() -> None:
    assert odds.win_probability(2, 1) == pytest.approx(15 / 36)
    assert odds.win_probability(3, 1) == pytest.approx(125 / 216 + 91 / 216 * 15 / 36)
    assert odds.win_probability(2, 2) == pytest.approx(55 / 216 * 15 / 36)
    assert odds.win_probability(4, 1) == pytest.approx(855 / 1296 + 441 / 1296 * odds.win_probability(3, 1))
    assert odds.battle_odds(2, 1) == pytest.approx((15 / 36, 1 + 15 / 36, 21 / 36))


@pytest.mark.parametrize(
    ("attacking_armies", "defenders", "known"),
    [
        (1, 1, 0.417),
        (2, 2, 0.363),
        (3, 3, 0.470),
        (5, 5, 0.506),
        (10, 10, 0.568),
        (3, 1, 0.916),
        (5, 3, 0.769),
    ],
)
def test_the_well_known_table_in_attacking_armies(
    attacking_armies: int, defenders: int, known: float
) -> None:
    assert odds.win_probability(attacking_armies + 1, defenders) == pytest.approx(known, abs=6e-4)


def test_the_table_is_exact() -> None:
    table = odds.odds_table()
    for attackers, defenders in product(range(1, 15), range(1, 15)):
        exact = [float(number) for number in exact_odds(attackers, defenders)]
        assert table[attackers, defenders] == pytest.approx(exact, rel=1e-13, abs=1e-13)


def test_the_table_agrees_with_a_plain_recursion() -> None:
    table = odds.odds_table()
    chances = odds.roll_odds()

    @cache
    def win(attackers: int, defenders: int) -> float:
        if attackers == 1 or defenders == 0:
            return float(defenders == 0)
        roll = chances[min(3, attackers - 1), min(2, defenders)]
        compared = min(3, attackers - 1, 2, defenders)
        return sum(
            roll[lost] * win(attackers - compared + lost, defenders - lost) for lost in range(compared + 1)
        )

    for battle in product(range(1, 41), range(1, 41)):
        assert table[(*battle, WIN)] == pytest.approx(win(*battle), abs=1e-12)


def test_more_troops_never_hurt() -> None:
    win, attacker_left, defender_left = np.moveaxis(odds.odds_table()[1:, 1:], 2, 0)
    assert np.all(np.diff(win, axis=0) >= -1e-12) and np.all(np.diff(win, axis=1) <= 1e-12)
    assert np.all(np.diff(attacker_left, axis=0) > -1e-12) and np.all(np.diff(attacker_left, axis=1) < 1e-12)
    assert np.all(np.diff(defender_left, axis=1) > -1e-12) and np.all(np.diff(defender_left, axis=0) < 1e-12)
    assert win.min() >= 0 and win.max() <= 1 + 1e-12


# Armies beyond the table


def test_large_armies_are_close(kernel_mode: str) -> None:
    size = 160 if kernel_mode == "interpreted" else 400
    exact = odds.odds_table(size, size)
    table = odds.odds_table()
    some = [*range(2, 10), *range(10, size + 1, 9)]
    large = [battle for battle in product(some, some) if max(battle) > 128]
    errors = np.abs([np.subtract(odds.look_up(table, *battle), exact[battle]) for battle in large])
    assert errors[:, WIN].max() < 0.0011
    assert errors[:, [ATTACKER_LEFT, DEFENDER_LEFT]].max() < 0.25


@pytest.mark.parametrize(
    ("attackers", "defenders", "win"),
    [
        (129, 1, 1),
        (2, 129, 0),
        (1, 500, 0),
        (500, 0, 1),
        (0, 3, 0),
        (10**6, 5 * 10**5, 1),
        (2**31 - 1, 2**31 - 1, 1),
    ],
)
def test_lopsided_armies_stay_in_bounds(attackers: int, defenders: int, win: float) -> None:
    chance, attacker_left, defender_left = odds.look_up(odds.odds_table(), attackers, defenders)
    assert chance == pytest.approx(win, abs=1e-9)
    assert min(attackers, 1) <= attacker_left <= attackers
    assert 0 <= defender_left <= defenders


def test_a_battle_too_large_for_the_table_is_still_exact() -> None:
    exact = odds.odds_table(170, 170)
    assert odds.battle_odds(160, 140) == pytest.approx(tuple(exact[160, 140]), rel=1e-12)


# In kernels, and errors


@entry_point
def best_target(table, troops, attackers):
    """Return the defenders that a blitz most probably beats, and the expected remains of both sides."""
    best = 0
    for t in range(len(troops)):
        if win_chance(table, attackers, troops[t]) > win_chance(table, attackers, troops[best]):
            best = t
    return best, left_after(table, attackers, troops[best]), defenders_after(table, attackers, troops[best])


def test_kernels_can_ask_the_table() -> None:
    table = odds.odds_table()
    best, left, against = best_target(table, np.array([500, 4, 2, 3], np.int32), np.int32(7))
    assert best == 2
    assert (left, against) == tuple(table[7, 2, [ATTACKER_LEFT, DEFENDER_LEFT]])


def test_a_table_is_cached_and_cannot_be_written() -> None:
    table = odds.odds_table()
    assert table.shape == (129, 129, 3) and table.dtype == np.float64 and table.flags.c_contiguous
    assert odds.odds_table() is table
    with pytest.raises(ValueError, match="read-only"):
        table[5, 5] = 0


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: odds.win_probability(0, 2), "attackers=0: must be a whole number of at least 1"),
        (lambda: odds.battle_odds(3, 0), "defenders=0: must be a whole number of at least 1"),
        (lambda: odds.odds_table(5, 128), "max_attackers=5: must be a whole number of at least 32"),
    ],
)
def test_what_is_not_allowed_is_named(ask, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ask()


def test_troops_are_whole_numbers() -> None:
    with pytest.raises(TypeError, match=r"attackers=2\.5: must be a whole number"):
        odds.win_probability(2.5, 2)  # type: ignore[arg-type]
    assert odds.battle_odds(2, 3).win == odds.win_probability(2, 3)
    with pytest.raises(TypeError, match=r"attackers=2\.0: must be a whole number"):
        odds.battle_odds(2.0, 3)  # type: ignore[arg-type]
