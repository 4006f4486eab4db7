"""The solved duel: its rules, its record, and (long) its values against games in the core.

Tests of the kernels are `long`, because they take a minute to compile.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.records import RESULTS, table
from benchmarks.tiny import cells
from risk_agents.exact.enumeration import UNSEEN
from risk_agents.exact.graph import TINY, StateGraph
from risk_agents.exact.solution import (
    Choices,
    Solution,
    check_choices,
    choices_of,
    from_starts,
    meet,
    regrets,
    solve,
)
from risk_agents.exact.sweeps import BEST, UNIFORM, Graph
from risk_env import Agent, Game, Match, View, bots, load_map
from risk_env.agent import CompiledAgent

SAMPLES = 1000
NAMES = ("random", "attacker", "grower")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"deck": "symbol"}, "deck='symbol'"),
        ({"max_rounds": 9}, "max_rounds=9"),
        ({"max_troops": 9}, "max_troops=9"),
        ({"setup": "deal"}, "setup='deal'"),
    ],
)
def test_other_games_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        StateGraph(TINY.replace(**options))


def test_a_larger_map_is_refused() -> None:
    with pytest.raises(ValueError, match="12 territories"):
        StateGraph(TINY.replace(initial_troops=None, max_troops=8), load_map("random:3:territories=12"))


@pytest.mark.parametrize(
    ("choices", "named"),
    [
        (np.array([0, 3, 0], np.int8), r"choices\[1\]=3: must be from -2 to 2"),
        (np.array([0, 0, -3], np.int8), r"choices\[2\]=-3"),
        (np.zeros(2, np.int8), r"choices are int8 \(2,\): must be int8 \(3,\)"),
        (np.zeros(3, np.int64), "choices are int64"),
    ],
)
def test_choices_that_lead_kernels_out_of_the_graph_are_refused(choices: Any, named: str) -> None:
    number = np.array([1, 3, 2], np.uint8)
    graph = Graph(**dict.fromkeys(Graph._fields, number))
    check_choices(graph, np.array([BEST, 2, UNIFORM], np.int8))
    with pytest.raises(ValueError, match=named):
        check_choices(graph, choices)


def test_the_page_has_the_table_of_the_record() -> None:
    record = json.loads(max(RESULTS.glob("tiny-*.json")).read_text(encoding="utf-8"))
    page = (Path(__file__).parent.parent / "docs" / "tiny.md").read_text(encoding="utf-8")
    assert "\n".join(table(*cells(record["rows"]))) in page
    assert f"{record['states']:,} states" in page and record["rules"] in page
    assert record["residual"] <= 1e-6 and record["seconds_to_list"] + record["seconds_to_solve"] < 1800
    assert abs(record["solved_against_best_response"]) <= 1e-6
    assert all(row["against_best_play"] <= 0 <= row["exploitability"] for row in record["rows"])


@cache
def solved() -> tuple[Solution, dict[str, Choices]]:
    """Return the solution, and the choices of the bots without memory."""
    graph = StateGraph(TINY)
    played = choices_of(graph, [bots.compiled(name) for name in (*NAMES, "hunter")])
    return solve(graph), played


def sampled(number: int) -> list[Game]:
    """Return decisions of random games."""
    rng, found, seed = np.random.default_rng(7), list[Game](), 0
    while len(found) < number:
        game = Game(TINY, "tiny", seed=seed)
        seed += 1
        for _ in range(60):
            if game.is_over:
                break
            if rng.random() < 0.3:
                found.append(game.copy())
            game.step(int(rng.choice(game.legal_actions())))
    return found[:number]


def mean_after(game: Game, action: int, value: Any) -> float:
    """Return the mean value for the player in turn after an action, by the core's own outcomes."""
    turn = int(game.record.turn)
    total = 0.0
    outcomes: list[tuple[Any, float]] = [*game.chance_outcomes(action)] or [(None, 1.0)]
    for outcome, chance in outcomes:
        after = game.copy()
        after.step(action) if outcome is None else after.step(action, outcome)
        if after.is_over:
            total += chance * (1.0 if after.winner == turn else -1.0)
        else:
            total += chance * value(after) * (1.0 if after.record.turn == turn else -1.0)
    return total


@pytest.mark.long
def test_values_agree_with_the_core_in_sampled_states() -> None:
    solution, _ = solved()
    for game in sampled(SAMPLES):
        means = [mean_after(game, action, solution.value) for action in game.legal_actions().tolist()]
        assert solution.value(game) == pytest.approx(max(means), abs=1e-6)
        best = mean_after(game, solution.action(game), solution.value)
        assert best == pytest.approx(max(means), abs=1e-6)


@pytest.mark.long
def test_the_stored_choices_are_those_of_the_bots() -> None:
    solution, played = solved()
    assert set(played) == set(NAMES)
    for name in ("attacker", "grower"):
        bot = CompiledAgent(bots.compiled(name))
        bot.reset(0, TINY, load_map("tiny"), 1)
        for game in sampled(SAMPLES):
            stored = played[name][solution.graph.find(game)]
            assert bot.seated.choose(game) == game.legal_actions()[stored]


@pytest.mark.long
def test_the_solved_player_is_unbeaten() -> None:
    solution, played = solved()
    graph = solution.graph
    free = np.full(graph.num_states, BEST, np.int8)
    worst = meet(graph, solution.choices, free)
    reached = graph.graph().starts != UNSEEN
    for found in (worst.first, worst.second):
        assert np.abs(found.positions - solution.values.positions)[reached].max() < 1e-6
    assert from_starts(graph, worst) == pytest.approx(0.0, abs=1e-6)
    for choices in played.values():
        assert from_starts(graph, meet(graph, choices, solution.choices)) < -0.01
        assert from_starts(graph, meet(graph, choices, free)) < -0.01
        assert regrets(solution, choices).max() > 0.01
    assert regrets(solution, solution.choices).max() < 1e-6


class SolvedAgent(Agent):
    """Agent that plays best in the solved duel."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

    def act(self, view: View) -> int:
        return self.solution.action(view.game)


@pytest.mark.long
def test_games_have_the_computed_result() -> None:
    solution, played = solved()
    graph, games, won = solution.graph, 1000, 0
    for seed in range(games):
        players = [SolvedAgent(solution), CompiledAgent(bots.compiled("grower"))]
        players = players[:: -1 if seed % 2 else 1]
        match = Match(TINY, "tiny", players, seed=seed)
        match.run()
        won += 1 if match.game.winner == seed % 2 else -1
    expected = -from_starts(graph, meet(graph, played["grower"], solution.choices))
    assert won / games == pytest.approx(expected, abs=4 / games**0.5)
