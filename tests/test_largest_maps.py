"""Bots on the smallest and the largest possible maps with six players: all workspaces are large enough.

Each size class compiles all bots, which takes minutes. With RISK_ENV_LARGE_MAPS=1 the large maps are also
played. With NUMBA_BOUNDSCHECK=1 as well, an index outside an array raises IndexError. Sizes are always
compared.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import pytest

from risk_agents.learned import beam_value_features
from risk_agents.learned.schema import schema_of
from risk_agents.learned.state_value import StateValueFile, input_columns, state_value_shapes
from risk_agents.search import evaluation, planner
from risk_agents.search.beam_value import BeamValueFile
from risk_agents.search.judges import judge_by, judge_by_beam_value, judge_heuristically
from risk_agents.search.plans import NAMES
from risk_agents.search.turn_policy import TurnPolicyFile
from risk_env import Game, Rules, arena, bots
from risk_env.board.maps import Board, read_map
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_OWNERS, SIZE_CLASSES, Phase
from risk_env.game_vector import GameVector

LARGEST = SIZE_CLASSES[-1]
# Territories and continents: the smallest map for six, edges of words and of size classes, the largest map
SMALL, LARGE = [(6, 1), (12, 6), (64, 2), (64, 16)], [(65, 17), (128, 32), (192, 64), (256, 64)]
WITH_LARGE = bool(os.environ.get("RISK_ENV_LARGE_MAPS"))


def played(small: list[tuple[int, int]], large: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the sizes that are played in this run."""
    return [*small, *large] if WITH_LARGE else small


FAST = {"setup": "random", "attack": "blitz", "defender_dice": "max"}


@cache
def ring(territories: int, continents: int) -> Board:
    """Return a map in which each territory borders the next ones on a circle.

    Every continent has some of the territories.
    """
    lines = ['name = "Ring"', "wilds = 2", "random_cities = 2"]
    for c in range(continents):
        lines += ["[[continent]]", f'name = "C{c}"', "bonus = 2"]
    # 64: the first class
    steps = [1] if territories == 64 else [step for step in (1, 2) if 2 * step < territories]
    for t in range(territories):
        near = sorted({(t + sign * step) % territories for step in steps for sign in (1, -1)})
        lines += ["[[territory]]", f'name = "T{t}"', f'continent = "C{t * continents // territories}"']
        lines += [f'symbol = "{("infantry", "cavalry", "artillery")[t % 3]}"', f"stars = {1 + t % 2}"]
        lines += [f"borders = [{', '.join(f'{chr(34)}T{n}{chr(34)}' for n in near)}]"]
    return read_map("\n".join(lines), f"ring {territories} {continents}")


def rules_for(players: int, board: Board, rounds: int = 3, **options: Any) -> Rules:
    """Return fast rules with enough troops for the map."""
    troops = -(-board.num_territories // players) + 3
    return Rules.preset("classic", players, **{**FAST, **options}, initial_troops=troops, max_rounds=rounds)


def scripted() -> list[CompiledBot]:
    """Return all registered compiled bots that were not trained for certain games only."""
    found = [bots.find(name) for name in bots.names()]
    board = ring(12, 6)
    return [bot for bot in found if isinstance(bot, CompiledBot) and plays(bot, board)]


def plays(bot: CompiledBot, board: Board) -> bool:
    try:
        bot.check(rules_for(6, board), board)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("territories", "continents"), played(SMALL, LARGE))
def test_every_bot_plays_on_maps_of_all_sizes(territories: int, continents: int) -> None:
    board, ladder = ring(territories, continents), scripted()
    for players in (2, 6):
        rules = rules_for(players, board, rounds=2 if territories > 128 else 4)
        for first in range(0, len(ladder), players):
            seated = [ladder[(first + seat) % len(ladder)] for seat in range(players)]
            results = arena.play(rules, board, seated, games=1, seed=first)
            assert results["decisions"].min() > 0


def drawn(kind: Any, shapes: dict[str, Any], rules: Rules, board: Board) -> Any:
    """Write a trained file for a map, with random weights."""
    rng = np.random.default_rng(3)
    weights = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
    file = kind(weights, schema_of(rules, board), {"name": "drawn", "plans": list(NAMES)})
    file.schema.__dict__["board"] = board  # a generated map has no file
    return file


@pytest.mark.parametrize(("territories", "continents"), played([(6, 1)], [(192, 64), (256, 64)]))
def test_beam_values_fit_every_map(territories: int, continents: int) -> None:
    """Six players share each of 64 continents: 897 features fit into the workspace."""
    board = ring(territories, continents)
    rules = rules_for(6, board)
    columns, inputs = beam_value_features.num_columns(rules, board), len(input_columns(board))
    most = beam_value_features.MOST_UNITS
    value = drawn(BeamValueFile, beam_value_features.value_shapes(columns, most, most), rules, board)
    table = drawn(StateValueFile, state_value_shapes(inputs, 16, 8), rules, board)
    policy = drawn(TurnPolicyFile, state_value_shapes(inputs, 16, 8, len(NAMES)), rules, board)
    seated = [value.bot("value", width=2), policy.bot("policy", judge=table), *["random"] * 4]
    results = arena.play(rules, board, seated, games=1, seed=1)
    assert results["decisions"][0] > 0
    lanes = GameVector(rules, board, 2, autoreset=False)
    lanes.begin([0, 1])
    for judge in (judge_by(table), judge_by_beam_value(value), judge_heuristically):
        chances = judge(lanes, np.arange(2))
        assert np.isfinite(chances).all() and (chances[:, :6] >= 0).all()


def test_work_spaces_follow_from_the_largest_map() -> None:
    owners, continents = MAX_OWNERS, LARGEST.continents
    board = ring(256, 64)
    for players in (2, 6):
        rules = rules_for(players, board, neutral=False)
        assert (
            beam_value_features.num_columns(rules, board) + beam_value_features.AT_ONCE
            <= beam_value_features.WORKSPACE[1]
        )
    assert beam_value_features.WORKSPACE[1] >= max(owners * continents, beam_value_features.MOST_UNITS)
    assert evaluation.WORKSPACE[1] >= max(owners, continents)
    assert LARGEST.territories <= planner.MOST_TERRITORIES


@pytest.mark.long
def test_games_on_the_largest_map_are_not_over_at_once() -> None:
    board = ring(256, 64)
    assert Game(rules_for(6, board), board, 1).phase in (Phase.DRAFT, Phase.TRADE)
