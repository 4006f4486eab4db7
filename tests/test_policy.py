"""Policy files: compiled and torch networks agree, play legally, and are refused for other games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import risk_agents
from risk_agents.learned.features import encode, feature_spec
from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import Schema, schema_of
from risk_agents.registry import play_game
from risk_env import arena
from risk_env.agent import View
from risk_env.batch import GameBatch
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.core.observe import COLUMN, TERRITORY_WIDTH
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_env.network_features import COUNT_SCALE, NEIGHBOUR_SCALE
from risk_env.observations import counted_globals
from risk_training.torch_network import ILLEGAL, Network

BOARD = load_map("classic")
GAMES = [
    ("classic", 2, {}),
    ("two_player", 2, {}),
    ("capital", 3, {}),
    ("classic", 6, {"card_reroll": True, "commander": True}),
    ("command_room", 4, {}),
]


def network(rules: Rules, seed: int = 0) -> Network:
    """Return a network with random weights that affect its output."""
    torch.manual_seed(seed)
    found = Network(Layout(rules, BOARD, Game(rules, BOARD, seed=0).num_actions), width=16, local=8)
    for weights in found.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return found


def saved(rules: Rules, path: Path, seed: int = 0) -> str:
    """Write a policy file with random weights."""
    PolicyFile(
        network(rules, seed).arrays(), schema_of(rules, BOARD), {"name": "novice", "version": "7"}
    ).save(path)
    return str(path)


def batch_of_observations(rules: Rules) -> tuple[Any, Any]:
    """Return observations and masks of many phases."""
    batch = GameBatch(rules, BOARD, 64, seed=1)
    batch.reset()
    chance = np.random.default_rng(0)
    for _ in range(700):
        batch.step((chance.random(batch.action_mask.shape) * batch.action_mask).argmax(1))
    return batch.observation, batch.action_mask


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_features_follow_from_the_observation(preset: str, players: int, options: dict[str, Any]) -> None:
    rules = Rules.preset(preset, players, **options, profile="fast")
    observations, _ = batch_of_observations(rules)
    layout = Layout(rules, BOARD, 1)
    territory_features, board_features = layout.empty_features(len(observations))
    encode(feature_spec(layout), observations, territory_features, board_features)
    for observation, features, board in zip(
        observations.astype(float), territory_features, board_features, strict=True
    ):
        territories = observation[: TERRITORY_WIDTH * BOARD.num_territories].reshape(-1, TERRITORY_WIDTH)
        troops, marks = territories[:, layout.count_columns], territories[:, layout.mark_columns]
        own = np.concatenate([troops > 0, np.log1p(troops) / 2, troops / COUNT_SCALE, marks], 1)
        near = [NEIGHBOUR_SCALE * own[list(BOARD.targets(t))].sum(0) for t in range(BOARD.num_territories)]
        assert np.allclose(features, np.concatenate([own, near], 1), atol=1e-4)
        others = observation[TERRITORY_WIDTH * BOARD.num_territories :]
        others = np.where(counted_globals(BOARD), np.log1p(others) / 2, others)
        ends = [features[territories[:, name] > 0].sum(0) for name in (COLUMN.source, COLUMN.target)]
        assert np.allclose(board, np.concatenate([own.ravel(), others, *ends]), atol=1e-4)


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_compiled_and_torch_agree_and_only_legal_actions_are_likely(
    preset: str, players: int, options: dict[str, Any], tmp_path: Path
) -> None:
    rules = Rules.preset(preset, players, **options, profile="fast")
    observations, masks = batch_of_observations(rules)
    trained = network(rules)
    with torch.no_grad():
        logits, values = (found.numpy() for found in trained(observations, torch.as_tensor(masks)))
    policy = PolicyFile(trained.arrays(), schema_of(rules, BOARD), {})
    legal = masks > 0
    assert np.allclose(policy.logits_and_values(observations, masks)[0][legal], logits[legal], atol=1e-3)
    assert np.allclose(policy.logits_and_values(observations, masks)[1], values, atol=1e-3)
    assert (policy.logits(observations, masks)[~legal] == -np.inf).all()
    assert (logits[~legal] == ILLEGAL).all()
    policy.save(tmp_path / "kept.npz")
    again = PolicyFile.load(tmp_path / "kept.npz")
    assert np.allclose(again.logits(observations, masks)[legal], logits[legal], atol=0.1)


def test_all_weights_are_used() -> None:
    rules = Rules.preset("classic", 3, profile="fast")
    trained = network(rules)
    observations, masks = batch_of_observations(rules)
    logits, values = trained(observations, torch.as_tensor(masks))
    (logits.square().mean() + values.square().mean()).backward()
    assert all(weights.grad is not None and weights.grad.abs().sum() > 0 for weights in trained.parameters())


@pytest.mark.parametrize("attack", ["choice", "max", "blitz"])
def test_a_policy_plays_whole_games_however_attacks_are_asked(attack: str, tmp_path: Path) -> None:
    file = saved(Rules.preset("classic", 2, profile="fast"), tmp_path / "novice.npz")
    rules = Rules.preset("classic", 2, attack=attack, defender_dice="choice", max_rounds=4)
    game = play_game(rules, BOARD, [file, file], seed=3)
    assert game.is_over
    assert game.actions == play_game(rules, BOARD, [file, file], seed=3).actions


def test_a_policy_trained_on_blitzes_answers_dice_with_a_blitz_and_the_most_dice(tmp_path: Path) -> None:
    agent = risk_agents.make(saved(Rules.preset("classic", 2, profile="fast"), tmp_path / "novice.npz"))
    rules = Rules.preset("classic", 2, defender_dice="choice", max_rounds=6)
    asked, chance = set(), np.random.default_rng(0)
    for seed in range(6):
        agent.reset(0, rules, BOARD, 0)
        game = Game(rules, BOARD, seed)
        while not game.is_over:
            action = int(chance.choice(game.legal_actions()))
            if game.seat == 0:
                action = agent.act(View(game))
                if game.phase in (Phase.ATTACK_DICE, Phase.DEFEND):
                    asked.add(game.phase)
                    assert action == game.legal_actions()[-1]
            game.step(action)
    assert asked == {Phase.ATTACK_DICE, Phase.DEFEND}


def test_a_policy_plays_in_a_batch_as_by_itself(tmp_path: Path) -> None:
    rules = Rules.preset("classic", 2, max_rounds=5, profile="fast")
    bots = [risk_agents.load(saved(rules, tmp_path / f"{seed}.npz", seed)) for seed in range(2)]
    results = arena.play(rules, BOARD, bots, games=6, seed=4)
    for lane, result in enumerate(results):
        game = play_game(rules, BOARD, bots, seed=4, lane=lane)
        assert (game.winner, len(game.actions)) == (result["winner"], result["decisions"])


def test_other_columns_are_refused() -> None:
    schema = schema_of(Rules.preset("classic", 2, profile="fast"), BOARD)
    Schema.from_dict(schema.to_dict()).check(schema, "the same")
    with pytest.raises(ValueError, match="columns='other'"):
        Schema.from_dict(schema.to_dict() | {"columns": "other"}).check(schema, "a strange file")


def test_other_rules_maps_and_files_are_refused_by_name(tmp_path: Path) -> None:
    file = saved(Rules.preset("classic", 2, profile="fast"), tmp_path / "novice.npz")
    agent = risk_agents.make(file)
    assert (agent.name, agent.version) == ("novice", "7")
    with pytest.raises(ValueError, match=r"num_players=2, not 3"):
        agent.reset(0, Rules.preset("classic", 3, profile="fast"), BOARD, 0)
    with pytest.raises(ValueError, match=r"fortify='connected', not 'free'"):
        agent.reset(0, Rules.preset("classic", 2, fortify="free", profile="fast"), BOARD, 0)
    with pytest.raises(ValueError, match="map="):
        agent.reset(0, Rules.preset("classic", 2, profile="fast"), load_map("big"), 0)
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    for name in ("broken.npz", "missing.npz"):
        with pytest.raises(ValueError, match=name):
            risk_agents.make(str(tmp_path / name))
