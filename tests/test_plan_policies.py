"""Policies over plans: one output a plan, the bot that follows the best, and their trainer."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents import base
from risk_agents.learned.schema import schema_of
from risk_agents.learned.table_value import input_columns, table_value_shapes
from risk_agents.registry import load, play_game
from risk_agents.scripted import grower
from risk_agents.search.plan_policy import PLANS, PlanPolicyFile
from risk_env import Game, load_map
from risk_env.arena import ANY_SEAT, Arena
from risk_env.core.types import Phase
from risk_env.lanes import Lanes
from risk_training.plan_policies import Config, Table
from risk_training.table_values import TableNetwork

BOARD = load_map("classic")
NAMES = ["breaker", "hunter", "grower", "raider"]


def policy(players: int, favourite: str | None = None, names: Any = NAMES, plans: int = len(NAMES)) -> PlanPolicyFile:
    """A policy with random weights, or one that always follows its favourite."""
    rng, columns = np.random.default_rng(0), len(input_columns(BOARD))
    shapes = table_value_shapes(columns, 6, 4, plans)
    weights = {name: rng.normal(size=shape).astype(np.float32) / 4 for name, shape in shapes.items()}
    if favourite is not None:
        weights["output_bias"][names.index(favourite)] = 1000
    schema = schema_of(Config(players=players).rules(), BOARD)
    return PlanPolicyFile(weights, schema, {"name": "tried", "config": {"plans": names}})


def beginnings(players: int, count: int) -> Any:
    """Records of games in which a turn has just begun."""
    arena = Arena(Lanes(Config().table(players), BOARD, count, 5, observation=None, mask=None), ["breaker"])
    arena.numbers[:] = 0
    lanes = np.arange(count)
    arena.batch.begin(lanes)
    arena.seat_players(lanes)
    arena.stop_at_turn[:] = ANY_SEAT
    records = arena.batch.records
    while (records["round_number"] == 0).any():  # set-up
        arena.play_on(lanes[records["round_number"] == 0])
    return records.copy()


@pytest.mark.parametrize("players", [2, 6])
def test_compiled_and_torch_agree(players: int) -> None:
    file, games = policy(players), beginnings(players, 5)
    rules = Config().table(players)
    shown = [Game.from_record(rules, BOARD, games[k : k + 1]) for k in range(len(games))]
    codes = np.stack([game.observe_codes(game.seat)[input_columns(BOARD)] for game in shown])
    network = TableNetwork(codes.shape[1], 6, 4, len(NAMES))
    network.load_state_dict({f"weights.{name}": torch.as_tensor(values) for name, values in file.weights.items()})
    expected = network(torch.as_tensor(codes)).detach().numpy()
    assert np.allclose(file.outputs(games, shown[0].tables), expected, atol=1e-4)


def test_it_plays_the_turns_of_the_best_plan() -> None:
    rules = Config().table(3)
    for name in ("hunter", "grower"):
        bot = policy(3, name).bot("file")
        follower, alone = base.CompiledAgent(bot), base.CompiledAgent(PLANS[name])
        follower.reset(0, rules, BOARD, 0)
        game, asked = Game(rules, BOARD, seed=4), 0
        others = base.CompiledAgent(grower.BOT)
        others.reset(1, rules, BOARD, 0)
        turn = None
        while asked < 60 and not game.is_over:
            if game.seat != 0:
                game.step(others.act(base.View(game)))
                continue
            if (game.round, game.turn) != turn:
                turn = game.round, game.turn
                alone.reset(0, rules, BOARD, 0)
            action = follower.act(base.View(game))
            if game.phase >= Phase.TRADE:
                asked += 1
                assert action == alone.act(base.View(game))
            game.step(action)


@pytest.mark.parametrize("players", [2, 6])
def test_what_is_hidden_changes_no_choice(players: int) -> None:
    file, games = policy(players), beginnings(players, 6)
    rules = Config().table(players)
    for k in range(len(games)):
        game = Game.from_record(rules, BOARD, games[k : k + 1])
        other = game.determinize(game.seat, 99)
        assert np.array_equal(file.outputs(games[k : k + 1], game.tables), file.outputs(other.records, game.tables))


def test_a_file_plays_tables_of_its_rules_and_no_others(tmp_path: Path) -> None:
    policy(6).save(tmp_path / "policy.npz")
    bot = load(str(tmp_path / "policy.npz"))
    games = [play_game(Config().table(players), BOARD, [bot] * players, seed=3) for players in (2, 2, 5)]
    assert games[0].actions == games[1].actions and all(game.is_over for game in games)
    with pytest.raises(ValueError, match=r"plan policy .* was trained for victory='domination', not 'mission'"):
        bot.check(Config(preset="secret_mission", players=3, tables=(3,)).table(3), BOARD)


@pytest.mark.parametrize(
    "names", [None, "breaker", ["breaker", "nobody"], ["grower", "hunter"], ["breaker", "breaker"], ["breaker", []]]
)
def test_plans_that_are_none_are_refused(names: Any) -> None:
    with pytest.raises(ValueError, match="must be different ones of beam, planner"):
        policy(2, names=names).bot("file")


def test_plans_and_outputs_are_as_many() -> None:
    with pytest.raises(ValueError, match="output has shape"):
        policy(2, plans=3).bot("file")


def test_memory_of_a_stranger_names_no_plan_that_there_is_not() -> None:
    rules, bot = Config().table(2), policy(2, "grower").bot("file")
    games, expected = beginnings(2, 1), []
    game = Game.from_record(rules, BOARD, games)
    for number in (0, 1000, -1):
        agent = base.CompiledAgent(bot)
        agent.reset(game.seat, rules, BOARD, 0)
        agent.seated.memory[0, game.seat, -2:] = game.round + 1, number
        expected.append(agent.act(base.View(game)))
    assert expected[1] == expected[2]


def test_gains_are_those_of_the_plans() -> None:
    config = Config(tables=(3,), round_games=4, plans=("breaker", "grower"), turns=1)
    games = beginnings(3, 4)
    tables = [Table(config, 3, BOARD, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    gains = [table.tried(games) for table in tables]
    assert gains[0].shape == (4, 2) and np.allclose(gains[0].sum(1), 0, atol=1e-6)
    assert np.array_equal(gains[0], gains[1]) and not np.array_equal(gains[0], gains[2])
    now = dataclasses.replace(config, turns=0)
    assert not np.array_equal(Table(now, 3, BOARD, np.random.default_rng(1)).tried(games), gains[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"plans": ["grower"]}, "'breaker' among them"),
        ({"plans": ["breaker", "nobody"]}, "must be names of beam, planner"),
        ({"turns": -1}, "turns=-1 must be at least 0"),
        ({"explore": 2}, "explore=2.0 must be 0"),
        ({"round_games": 7}, "round_games=7 must be a multiple of the 5 tables"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Config.from_dict(settings)
