"""Battle odds against slower and independent ways to the same numbers: enumeration, fractions, plain recursion."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk_agents.scripted import odds
from risk_agents.scripted.odds import (
    ATTACKER_LEFT,
    DEFENDER_LEFT,
    PLAIN,
    WIN,
    Advantages,
    defenders_after,
    left_after,
    win_chance,
)
from risk_env.compiler import entry_point

pytestmark = pytest.mark.modes

PAIRINGS = list(product((1, 2, 3), (1, 2)))
ALL_ADVANTAGES = [Advantages(*flags) for flags in product((False, True), repeat=4)]
TABLE_ADVANTAGES = [PLAIN, Advantages(attack_extra=True), Advantages(defence_extra=True, attack_airfield=True)]
COUNTS = {  # by defender losses
    (1, 1): (21, 15),
    (1, 2): (161, 55),
    (2, 1): (91, 125),
    (2, 2): (581, 420, 295),
    (3, 1): (441, 855),
    (3, 2): (2275, 2611, 2890),
}


def kept_dice(dice: tuple[int, ...], chosen: int, airfield: bool) -> list[int]:
    """The chosen number of dice of a side, highest first, an airfield's bonus added (RULES 9.8)."""
    kept = sorted(dice)[::-1][:chosen]
    kept[0] += airfield
    return kept


def enumerated(attack_dice: int, defence_dice: int, advantages: Advantages = PLAIN) -> list[int]:
    """Counts of one roll by defender losses, every roll looked at."""
    counts = [0] * (min(attack_dice, defence_dice) + 1)
    rolled = attack_dice + advantages.attack_extra
    for dice in product(range(1, 7), repeat=rolled + defence_dice + advantages.defence_extra):
        attack = kept_dice(dice[:rolled], attack_dice, advantages.attack_airfield)
        defence = kept_dice(dice[rolled:], defence_dice, advantages.defence_airfield)
        counts[sum(a > d for a, d in zip(attack, defence, strict=False))] += 1
    return counts


@cache
def ends(attackers: int, defenders: int) -> dict[tuple[int, int], Fraction]:
    """Exact chance of every (attackers, defenders) left after a blitz, by recursion (RULES 3.2.4)."""
    if attackers == 1 or defenders == 0:
        return {(attackers, defenders): Fraction(1)}
    counts = COUNTS[min(3, attackers - 1), min(2, defenders)]
    chances: dict[tuple[int, int], Fraction] = {}
    for lost, ways in enumerate(counts):
        for end, chance in ends(attackers - (len(counts) - 1 - lost), defenders - lost).items():
            chances[end] = chances.get(end, Fraction(0)) + chance * Fraction(ways, sum(counts))
    return chances


def exact_odds(attackers: int, defenders: int) -> list[Fraction]:
    """Win chance, attackers left, defenders left, in fractions."""
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


@pytest.mark.parametrize("advantages", [a for a in ALL_ADVANTAGES if not (a.attack_extra and a.defence_extra)])
@pytest.mark.parametrize(("attack_dice", "defence_dice"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_rewards_change_the_counts_as_enumerated(attack_dice: int, defence_dice: int, advantages: Advantages) -> None:
    counts = odds.roll_outcomes(attack_dice, defence_dice, **advantages._asdict())
    assert counts.tolist() == enumerated(attack_dice, defence_dice, advantages)


def test_rewards_change_the_largest_roll_as_enumerated() -> None:
    advantages = Advantages(attack_extra=True, attack_airfield=True)
    assert odds.roll_outcomes(3, 2, True, False, True, False).tolist() == enumerated(3, 2, advantages)


@pytest.mark.parametrize("advantages", ALL_ADVANTAGES)
@pytest.mark.parametrize(("attack_dice", "defence_dice"), PAIRINGS)
def test_every_roll_is_counted_once(attack_dice: int, defence_dice: int, advantages: Advantages) -> None:
    dice = attack_dice + defence_dice + advantages.attack_extra + advantages.defence_extra
    assert odds.roll_outcomes(attack_dice, defence_dice, *advantages).sum() == 6**dice


def test_an_airfield_on_both_sides_helps_nobody() -> None:
    both = odds.roll_odds(Advantages(attack_airfield=True, defence_airfield=True))
    assert np.array_equal(both, odds.roll_odds())


@pytest.mark.parametrize("advantages", ALL_ADVANTAGES)
def test_chances_of_a_roll_sum_to_one(advantages: Advantages) -> None:
    chances = odds.roll_odds(advantages)
    assert chances.shape == (4, 3, 3)
    assert np.allclose(chances[1:, 1:].sum(axis=2), 1)
    assert not chances[0].any() and not chances[:, 0].any()


# Battles


def test_the_smallest_battles_by_hand() -> None:
    assert odds.win_probability(2, 1) == pytest.approx(15 / 36)
    assert odds.win_probability(3, 1) == pytest.approx(125 / 216 + 91 / 216 * 15 / 36)
    assert odds.win_probability(2, 2) == pytest.approx(55 / 216 * 15 / 36)
    assert odds.win_probability(4, 1) == pytest.approx(855 / 1296 + 441 / 1296 * odds.win_probability(3, 1))
    assert odds.expected_survivors(2, 1) == pytest.approx((1 + 15 / 36, 21 / 36))
    assert odds.expected_losses(2, 1) == pytest.approx((21 / 36, 15 / 36))


@pytest.mark.parametrize(
    ("attacking_armies", "defenders", "known"),
    [(1, 1, 0.417), (2, 2, 0.363), (3, 3, 0.470), (5, 5, 0.506), (10, 10, 0.568), (3, 1, 0.916), (5, 3, 0.769)],
)
def test_the_well_known_table_in_attacking_armies(attacking_armies: int, defenders: int, known: float) -> None:
    assert odds.win_probability(attacking_armies + 1, defenders) == pytest.approx(known, abs=6e-4)


def test_the_table_is_exact() -> None:
    table = odds.odds_table()
    for attackers, defenders in product(range(1, 15), range(1, 15)):
        exact = [float(number) for number in exact_odds(attackers, defenders)]
        assert table[attackers, defenders] == pytest.approx(exact, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("advantages", TABLE_ADVANTAGES)
def test_the_table_agrees_with_a_plain_recursion(advantages: Advantages) -> None:
    table = odds.odds_table(advantages=advantages)
    chances = odds.roll_odds(advantages)

    @cache
    def win(attackers: int, defenders: int) -> float:
        if attackers == 1 or defenders == 0:
            return float(defenders == 0)
        roll = chances[min(3, attackers - 1), min(2, defenders)]
        compared = min(3, attackers - 1, 2, defenders)
        return sum(roll[lost] * win(attackers - compared + lost, defenders - lost) for lost in range(compared + 1))

    for battle in product(range(1, 41), range(1, 41)):
        assert table[(*battle, WIN)] == pytest.approx(win(*battle), abs=1e-12)


@pytest.mark.parametrize("advantages", TABLE_ADVANTAGES)
def test_more_troops_never_hurt(advantages: Advantages) -> None:
    win, attacker_left, defender_left = np.moveaxis(odds.odds_table(advantages=advantages)[1:, 1:], 2, 0)
    assert np.all(np.diff(win, axis=0) >= -1e-12) and np.all(np.diff(win, axis=1) <= 1e-12)
    assert np.all(np.diff(attacker_left, axis=0) > -1e-12) and np.all(np.diff(attacker_left, axis=1) < 1e-12)
    assert np.all(np.diff(defender_left, axis=1) > -1e-12) and np.all(np.diff(defender_left, axis=0) < 1e-12)
    assert win.min() >= 0 and win.max() <= 1 + 1e-12


@given(st.integers(1, 60), st.integers(1, 60))
def test_rewards_help_their_owner(attackers: int, defenders: int) -> None:
    plain = odds.win_probability(attackers, defenders)
    for name in Advantages._fields:
        helped = odds.win_probability(attackers, defenders, Advantages(**{name: True}))
        assert helped >= plain - 1e-12 if name.startswith("attack") else helped <= plain + 1e-12


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_distribution_has_the_odds_as_its_means(attackers: int, defenders: int) -> None:
    attacker_left, defender_left = odds.outcome_distribution(attackers, defenders)
    assert attacker_left.shape == (attackers + 1,) and defender_left.shape == (defenders + 1,)
    assert attacker_left.sum() == pytest.approx(1) and defender_left.sum() == pytest.approx(1)
    assert attacker_left[0] == 0 and attacker_left[1] == pytest.approx(1 - defender_left[0])
    means = defender_left[0], attacker_left @ np.arange(attackers + 1), defender_left @ np.arange(defenders + 1)
    assert odds.battle_odds(attackers, defenders) == pytest.approx(means)


def test_the_distribution_is_exact() -> None:
    attacker_left, defender_left = odds.outcome_distribution(9, 6)
    for left in range(2, 10):
        assert attacker_left[left] == pytest.approx(float(ends(9, 6).get((left, 0), 0)), abs=1e-14)
    for left in range(1, 7):
        assert defender_left[left] == pytest.approx(float(ends(9, 6).get((1, left), 0)), abs=1e-14)


# Chains of territories


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_chain_of_one_is_a_battle(attackers: int, defenders: int) -> None:
    battle = odds.battle_odds(attackers, defenders)
    route = odds.route_odds(attackers, [defenders])
    assert route == pytest.approx((battle.win, battle.attacker_left - 1))  # one stays behind, or is all that is left


def exact_route(attackers: int, route: tuple[int, ...]) -> tuple[Fraction, Fraction]:
    """Chance that a chain falls, and troops on its last territory where it does, in fractions."""
    if not route:
        return Fraction(1), Fraction(attackers)
    win = left = Fraction(0)
    for (survivors, defenders), chance in ends(attackers, route[0]).items():
        if defenders == 0:
            further = exact_route(survivors - 1, route[1:])
            win, left = win + chance * further[0], left + chance * further[1]
    return win, left


@pytest.mark.parametrize("route", [(1, 1), (3, 1, 2), (1, 4), (4, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("attackers", [1, 2, 3, 6, 12])
def test_a_chain_is_exact(attackers: int, route: tuple[int, ...]) -> None:
    exact = [float(number) for number in exact_route(attackers, route)]
    assert odds.route_odds(attackers, route) == pytest.approx(exact, rel=1e-12, abs=1e-13)


def test_a_chain_needs_a_troop_for_every_territory() -> None:
    assert odds.route_odds(3, [1, 1]).win == pytest.approx(125 / 216 * 15 / 36)
    assert odds.route_odds(3, [1, 1, 1]) == (0.0, 0.0)


# Armies beyond the table


@pytest.mark.parametrize(
    ("advantages", "close", "troops"),
    [(PLAIN, 0.0011, 0.25), *((advantages, 0.0022, 0.75) for advantages in TABLE_ADVANTAGES[1:])],
)
def test_large_armies_are_close(advantages: Advantages, close: float, troops: float, kernel_mode: str) -> None:
    size = 160 if kernel_mode == "interpreted" else 400
    exact = odds.odds_table(size, size, advantages)
    table = odds.odds_table(advantages=advantages)
    some = [*range(2, 10), *range(10, size + 1, 9)]
    large = [battle for battle in product(some, some) if max(battle) > 128]
    errors = np.abs([np.subtract(odds.look_up(table, *battle), exact[battle]) for battle in large])
    assert errors[:, WIN].max() < close
    assert errors[:, [ATTACKER_LEFT, DEFENDER_LEFT]].max() < troops


@pytest.mark.parametrize(
    ("attackers", "defenders", "win"),
    [(129, 1, 1), (2, 129, 0), (1, 500, 0), (500, 0, 1), (0, 3, 0), (10**6, 5 * 10**5, 1), (2**31 - 1, 2**31 - 1, 1)],
)
def test_lopsided_armies_stay_in_bounds(attackers: int, defenders: int, win: float) -> None:
    chance, attacker_left, defender_left = odds.look_up(odds.odds_table(), attackers, defenders)
    assert chance == pytest.approx(win, abs=1e-9)
    assert min(attackers, 1) <= attacker_left <= attackers
    assert 0 <= defender_left <= defenders


def test_a_battle_too_large_for_the_table_is_still_exact() -> None:
    exact = odds.odds_table(170, 170)
    assert odds.battle_odds(160, 140) == pytest.approx(tuple(exact[160, 140]), rel=1e-12)


def test_an_endless_chain_counts_as_one_battle() -> None:
    for attackers in (115, 122, 130, 150):
        exact = odds.route_odds(attackers, [60, 5, 70])
        together = odds._long_route_odds(attackers, [60, 5, 70], PLAIN)
        assert together.win == pytest.approx(exact.win, abs=0.03)
        assert together.troops_left == pytest.approx(exact.troops_left, abs=1.0)
    assert odds.route_odds(10**6, [10**5, 10**5]) == pytest.approx((1.0, 10**6 - 2e5 * 7161 / 8391), abs=3)


# In kernels, and errors


@entry_point
def best_target(table, troops, attackers):
    """The defenders that a blitz beats most surely, and what is left of both sides."""
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
    assert odds.odds_table(128, 128, Advantages(*([np.False_] * 4))) is table
    with pytest.raises(ValueError, match="read-only"):
        table[5, 5] = 0


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: odds.roll_outcomes(4, 2), "attack_dice=4 must be a whole number from 1 to 3"),
        (lambda: odds.roll_outcomes(3, 0), "defence_dice=0 must be a whole number from 1 to 2"),
        (lambda: odds.win_probability(0, 2), "attackers=0 must be a whole number of at least 1"),
        (lambda: odds.expected_losses(3, 0), "defenders=0 must be a whole number of at least 1"),
        (lambda: odds.route_odds(3, [1, -1]), r"defenders\[1\]=-1 must be a whole number of at least 1"),
        (lambda: odds.route_odds(3, []), "at least one territory"),
        (lambda: odds.odds_table(5, 128), "max_attackers=5 must be a whole number of at least 32"),
        (lambda: odds.outcome_distribution(2000, 2000), "attackers=2000 times defenders=2000 must be at most 1000000"),
    ],
)
def test_what_is_not_allowed_is_named(ask, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ask()


def test_troops_are_whole_numbers() -> None:
    with pytest.raises(TypeError, match=r"attackers=2\.5 must be a whole number"):
        odds.win_probability(2.5, 2)  # type: ignore[arg-type]
