"""Policies over plans: one output per plan, a bot that tries the best plans, and the trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.learned.schema import schema_of
from risk_agents.learned.state_value import input_columns, state_value_shapes
from risk_agents.registry import load, play_game
from risk_agents.search.lookahead import UNTRIED
from risk_agents.search.plans import NAMES, NUMBER, ROUND
from risk_agents.search.turn_policy import TurnPolicyFile
from risk_env import Game, load_map
from risk_env.agent import CompiledAgent, View
from risk_env.arena import ANY_SEAT, Arena
from risk_env.game_vector import GameVector
from risk_training.state_value import StateNetwork
from risk_training.turn_policy import Config, Trainer, play_chunk

BOARD = load_map("classic")


def policy(players: int, plans: Any = NAMES, outputs: int = len(NAMES)) -> TurnPolicyFile:
    """A policy with random weights."""
    rng, columns = np.random.default_rng(0), len(input_columns(BOARD))
    shapes = state_value_shapes(columns, 6, 4, outputs)
    weights = {name: rng.normal(size=shape).astype(np.float32) / 4 for name, shape in shapes.items()}
    schema = schema_of(Config(players=players).rules(), BOARD)
    return TurnPolicyFile(weights, schema, {"name": "tried", "plans": list(plans) if plans else plans})


def beginnings(players: int, count: int) -> Any:
    """Return records of games in which a turn has just begun."""
    arena = Arena(
        GameVector(Config().rules_for(players), BOARD, count, 5, observation=None, mask=None), ["breaker"]
    )
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
    rules = Config().rules_for(players)
    shown = [Game.from_record(rules, BOARD, games[k : k + 1]) for k in range(len(games))]
    codes = np.stack([game.observe_codes(game.seat)[input_columns(BOARD)] for game in shown])
    network = StateNetwork(codes.shape[1], 6, 4, len(NAMES))
    network.load_state_dict(
        {f"weights.{name}": torch.as_tensor(values) for name, values in file.weights.items()}
    )
    expected = network(torch.as_tensor(codes)).detach().numpy()
    assert np.allclose(file.outputs(games, shown[0].tables), expected, atol=1e-4)


@pytest.mark.parametrize("players", [2, 6])
def test_what_is_hidden_changes_no_choice(players: int) -> None:
    file, games = policy(players), beginnings(players, 6)
    rules = Config().rules_for(players)
    for k in range(len(games)):
        game = Game.from_record(rules, BOARD, games[k : k + 1])
        other = game.determinize(game.seat, 99)
        assert np.array_equal(
            file.outputs(games[k : k + 1], game.tables), file.outputs(other.records, game.tables)
        )


def test_a_file_plays_tables_of_its_rules_and_no_others(tmp_path: Path) -> None:
    policy(6).save(tmp_path / "policy.npz")
    bot = load(str(tmp_path / "policy.npz"))
    games = [play_game(Config().rules_for(players), BOARD, [bot] * players, seed=3) for players in (2, 2, 5)]
    assert games[0].actions == games[1].actions and all(game.is_over for game in games)
    with pytest.raises(
        ValueError, match=r"turn policy .* was trained for victory='domination', not 'mission'"
    ):
        bot.check(Config(preset="secret_mission", players=3, tables=(3,)).rules_for(3), BOARD)


@pytest.mark.parametrize("plans", [None, NAMES[1:], (*NAMES[1:], NAMES[0]), (*NAMES, "another")])
def test_other_plans_are_refused(plans: Any) -> None:
    with pytest.raises(ValueError, match="turn policy 'file' has plans="):
        policy(2, plans).bot("file")


def test_plans_and_outputs_are_as_many() -> None:
    with pytest.raises(ValueError, match="output has shape"):
        policy(2, outputs=3).bot("file")


def test_memory_of_a_stranger_names_no_plan_that_there_is_not() -> None:
    rules, bot = Config().rules_for(2), policy(2).bot("file")
    games, expected = beginnings(2, 1), []
    game = Game.from_record(rules, BOARD, games)
    for number in (0, 1000, -1):
        agent = CompiledAgent(bot)
        agent.reset(game.seat, rules, BOARD, 0)
        agent.seated.memory[0, game.seat, [ROUND, NUMBER]] = game.round + 1, number
        expected.append(agent.act(View(game)))
    assert expected[1] == expected[2]


def test_trials_say_what_all_plans_are_worth() -> None:
    config = Config(tables=(3,), round_games=2, bot_share=0.3)
    trials = play_chunk(config, 3, 0, 2, policy(3).value)
    worths, again = trials.worths, play_chunk(config, 3, 0, 2, policy(3).value).worths
    assert len(worths) == len(trials.codes) > 10 and np.array_equal(worths, again)
    is_there = worths != UNTRIED
    assert (worths[is_there] >= 0).all() and (worths <= 1).all() and is_there[:, NAMES.index("beam")].all()
    assert np.nanmean(trials.gains, axis=1) == pytest.approx(0, abs=1e-6)


def test_it_learns_what_the_trials_say(tmp_path: Path) -> None:
    """Repeated training on the same trials gives the best plan by mean the highest output."""
    config = Config(tables=(3, 4), round_games=8, games=8, n_epochs=60, hidden_sizes=(32, 16), bot_share=1.0)
    run = Trainer(config, tmp_path)
    metrics = run.update()
    played = [play_chunk(config, players, 0, 4, run.policy().value) for players in config.tables]
    for part in played:
        name = f"games/gain_{part.players}"
        assert run.gain_metrics(part)[name] > metrics[name]


def test_a_judge_of_other_games_is_refused() -> None:
    with pytest.raises(ValueError, match=r"strategist.npz' was trained for map="):
        Config(map="tiny", players=2, tables=(2,)).judge_file()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"samples": 0}, "samples=0: must be 1 to 1,000"),
        ({"bot_share": 2}, "bot_share=2.0: must be 0"),
        ({"round_games": 7}, "round_games=7: must be a multiple of 5, the number of entries of tables"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Config.from_dict(settings)
