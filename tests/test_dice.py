"""Dice: exact counts of every pairing, and battle odds equal to the Markov chain (RULES 3.2.3)."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from risk_env import Game, GameBatch, Rules, load_map
from risk_env.board.tables import tables
from risk_env.compiler import entry_point
from risk_env.core.chance import write_dice
from risk_env.core.combat import ATTACKER, DEFENDER, compare_dice, keep_highest
from risk_env.core.types import Phase
from tests.positions import position

# (attack dice, defence dice): outcomes in which the defender loses 0, 1, 2 troops
KNOWN = {
    (1, 1): (21, 15, 0),
    (1, 2): (161, 55, 0),
    (2, 1): (91, 125, 0),
    (2, 2): (581, 420, 295),
    (3, 1): (441, 855, 0),
    (3, 2): (2275, 2611, 2890),
}
SIGMAS = 4.5


@entry_point
def losses(games, attack_dice, defence_dice, outcome):
    """Return the defender's losses for one outcome of the dice."""
    game = games[0]
    rest = write_dice(game.rolled[ATTACKER], attack_dice, outcome)
    write_dice(game.rolled[DEFENDER], defence_dice, rest)
    keep_highest(game, ATTACKER, attack_dice)
    keep_highest(game, DEFENDER, defence_dice)
    compare_dice(game)
    return int(game.losses[DEFENDER]), int(game.losses[ATTACKER])


@pytest.mark.modes
@pytest.mark.parametrize("pairing", KNOWN)
def test_every_outcome_is_counted(pairing: tuple[int, int]) -> None:
    games = tables(Rules(), load_map("tiny")).new_games(1)
    counts = [0, 0, 0]
    for outcome in range(6 ** sum(pairing)):
        defender, attacker = losses(games, *pairing, outcome)
        assert defender + attacker == min(pairing)
        counts[defender] += 1
    assert tuple(counts) == KNOWN[pairing]


@cache
def roll_chances(attack: int, defence: int) -> dict[int, float]:
    """Return the probability of each number of defender losses, by enumeration."""
    counts: dict[int, int] = {}
    for faces in product(range(1, 7), repeat=attack + defence):
        mine, theirs = sorted(faces[:attack])[::-1], sorted(faces[attack:])[::-1]
        lost = sum(a > d for a, d in zip(mine, theirs, strict=False))
        counts[lost] = counts.get(lost, 0) + 1
    return {lost: count / 6 ** (attack + defence) for lost, count in counts.items()}


@cache
def conquest_chance(attackers: int, defenders: int) -> float:
    """Return the probability that a blitz takes the territory, by the exact Markov chain."""
    if defenders <= 0:
        return 1.0
    if attackers <= 1:
        return 0.0
    attack, defence = min(3, attackers - 1), min(2, defenders)
    return sum(
        chance * conquest_chance(attackers - (min(attack, defence) - lost), defenders - lost)
        for lost, chance in roll_chances(attack, defence).items()
    )


def lanes_at_attack(attackers: int, defenders: int, lanes: int) -> tuple[GameBatch, int]:
    """Return lanes with one position and their own random numbers, and an attack with given dice."""
    rules = Rules.preset("classic", 2, setup="random", attack="blitz", defender_dice="max")
    game = Game(rules, "tiny", seed=5)
    while game.phase != Phase.ATTACK:
        game.step(int(game.legal_actions()[0]))
    border = int(game.legal_actions()[0])
    source, target = game.board.borders[border - game.board.num_territories]
    batch = GameBatch(
        rules, "tiny", lanes, seed=attackers * 1000 + defenders, autoreset=False, observation=None
    )
    batch.reset()
    chance = batch.games.random.copy()
    batch.games[:] = game.record
    batch.games.random = chance
    batch.games.troops[:, source], batch.games.troops[:, target] = attackers, defenders
    return batch, border


@pytest.mark.parametrize("attackers", [2, 3, 4, 7, 12, 30])
@pytest.mark.parametrize("defenders", [1, 2, 3, 7, 12, 25])
def test_blitz_conquers_as_often_as_the_chain_says(attackers: int, defenders: int) -> None:
    lanes = 4000
    batch, border = lanes_at_attack(attackers, defenders, lanes)
    target = batch.board.borders[border - batch.board.num_territories][1]
    seat = int(batch.games.turn[0])
    batch.step(np.full(lanes, border))
    conquered = np.mean(batch.games.owner[:, target] == seat)
    exact = conquest_chance(attackers, defenders)
    assert abs(conquered - exact) <= SIGMAS * math.sqrt(exact * (1 - exact) / lanes) + 1e-9


def test_two_hundred_thousand_rolls_of_a_game() -> None:
    """Through the public API: three dice against two."""
    rules = "preset=classic, num_players=2, attack=max, defender_dice=max"
    game = position(rules, "Ash 262144, Birch", "Cedar 262144, rest", map="tiny")
    counts, rolls = [0, 0, 0], 200_000
    border, target = game.parse_action("attack Ash > Cedar"), game.board.territory("Cedar")
    before = int(game.record.troops[target])
    for _ in range(rolls):
        game.step(border)
        after = int(game.record.troops[target])
        counts[before - after] += 1
        before = after
    for count, known in zip(counts, KNOWN[3, 2], strict=True):
        exact = known / 7776
        assert abs(count / rolls - exact) <= SIGMAS * math.sqrt(exact * (1 - exact) / rolls)
