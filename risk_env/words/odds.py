"""The chance that a blitz with plain dice takes a territory (RULES 3.2.3, 3.2.4), for reports."""

from functools import cache
from itertools import product

from risk_env.core.combat import MAX_ATTACK_DICE, MAX_DEFENCE_DICE
from risk_env.core.types import NUM_FACES

LARGEST = 64  # troops a side that are worked out; larger armies are scaled down to it


@cache
def roll_chances(attack_dice: int, defence_dice: int) -> tuple[float, ...]:
    """The chances that the defender loses 0, 1, ... troops in one roll."""
    compared = min(attack_dice, defence_dice)
    counts = [0] * (compared + 1)
    for dice in product(range(1, NUM_FACES + 1), repeat=attack_dice + defence_dice):
        attack, defence = (sorted(side, reverse=True) for side in (dice[:attack_dice], dice[attack_dice:]))
        counts[sum(a > d for a, d in zip(attack, defence, strict=False))] += 1
    return tuple(count / sum(counts) for count in counts)


@cache
def _chances() -> list[list[float]]:
    """The chance of every blitz, by attackers and defenders, `LARGEST` at most."""
    table = [[1.0] + [0.0] * LARGEST for _ in range(LARGEST + 1)]
    for attackers in range(2, LARGEST + 1):
        for defenders in range(1, LARGEST + 1):
            rolled = min(MAX_ATTACK_DICE, attackers - 1), min(MAX_DEFENCE_DICE, defenders)
            for killed, chance in enumerate(roll_chances(*rolled)):
                left = attackers - (min(rolled) - killed)
                table[attackers][defenders] += chance * table[left][defenders - killed]
    return table


def win_chance(attackers: int, defenders: int) -> float:
    """The chance that `attackers`, all troops on a territory, take one that `defenders` hold.

    Exact up to `LARGEST` troops a side; beyond, the chance of armies of the same proportion.
    """
    larger = max(attackers, defenders)
    if larger > LARGEST:
        attackers, defenders = (-(-side * LARGEST // larger) for side in (attackers, defenders))
    return _chances()[attackers][defenders]
