"""Policy files: the network is the same in NumPy and torch, plays legally, and is refused where it does not belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents
from agents.base import View, play_game
from agents.policy import ILLEGAL, Layout, PolicyAgent, PolicyFile
from agents.schema import schema_of
from risk_env.batch import GameBatch
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_env.lanes import training_rules
from risk_env.maps import load_map
from risk_env.rules import Rules
from training.ppo import Network

BOARD = load_map("classic")
GAMES = [
    ("classic", 2, {}),
    ("two_player", 2, {}),
    ("capital", 3, {}),
    ("classic", 6, {"card_reroll": True, "commander": True}),
    ("command_room", 4, {}),
]


def network(rules: Rules, seed: int = 0) -> Network:
    """A network of random weights that matter."""
    torch.manual_seed(seed)
    found = Network(Layout(rules, BOARD, Game(rules, BOARD, seed=0).num_actions), width=16, local=8)
    for weights in found.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return found


def saved(rules: Rules, path: Path, seed: int = 0) -> str:
    """A policy file of random weights."""
    PolicyFile(network(rules, seed).arrays(), schema_of(rules, BOARD), {"name": "novice", "version": "7"}).save(path)
    return str(path)


def batch_of_views(rules: Rules) -> tuple[Any, Any]:
    """Views and masks of many phases."""
    batch = GameBatch(rules, BOARD, 64, seed=1)
    batch.reset()
    chance = np.random.default_rng(0)
    for _ in range(700):
        batch.step((chance.random(batch.action_mask.shape) * batch.action_mask).argmax(1))
    return batch.observation, batch.action_mask


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_numpy_and_torch_agree_and_only_legal_actions_are_likely(
    preset: str, players: int, options: dict[str, Any], tmp_path: Path
) -> None:
    rules = training_rules(preset, players, **options)
    codes, masks = batch_of_views(rules)
    trained = network(rules)
    with torch.no_grad():
        logits, _ = trained(torch.as_tensor(codes), torch.as_tensor(masks))
    policy = PolicyFile(trained.arrays(), schema_of(rules, BOARD), {})
    assert np.allclose(policy.logits(codes, masks), logits.numpy(), atol=1e-4)
    assert (policy.logits(codes, masks)[masks == 0] == ILLEGAL).all()
    assert (policy.logits(codes, masks)[masks > 0] != ILLEGAL).all()
    policy.save(tmp_path / "kept.npz")
    again = PolicyFile.load(tmp_path / "kept.npz")
    assert np.allclose(again.logits(codes, masks), logits.numpy(), atol=0.1)


def test_all_weights_are_used() -> None:
    rules = training_rules("classic", 3)
    trained = network(rules)
    codes, masks = batch_of_views(rules)
    logits, values = trained(torch.as_tensor(codes), torch.as_tensor(masks))
    (logits.square().mean() + values.square().mean()).backward()
    assert all(weights.grad is not None and weights.grad.abs().sum() > 0 for weights in trained.parameters())


@pytest.mark.parametrize("attack", ["choice", "max", "blitz"])
def test_a_policy_plays_whole_games_however_attacks_are_asked(attack: str, tmp_path: Path) -> None:
    file = saved(training_rules("classic", 2), tmp_path / "novice.npz")
    rules = Rules.preset("classic", 2, attack=attack, defender_dice="choice", max_rounds=4)
    game = play_game(rules, BOARD, [file, file], seed=3)
    assert game.is_over
    assert game.actions == play_game(rules, BOARD, [file, file], seed=3).actions


def test_a_policy_trained_on_blitzes_answers_dice_with_a_blitz_and_the_most_dice(tmp_path: Path) -> None:
    agent = PolicyAgent(saved(training_rules("classic", 2), tmp_path / "novice.npz"))
    rules = Rules.preset("classic", 2, defender_dice="choice", max_rounds=6)
    agent.reset(0, rules, BOARD, 0)
    game, asked, chance = Game(rules, BOARD, seed=1), set(), np.random.default_rng(0)
    while not game.is_over:
        action = int(chance.choice(game.legal_actions()))
        if game.seat == 0:
            action = agent.act(View(game))
            if game.phase in (Phase.ATTACK_DICE, Phase.DEFEND):
                asked.add(game.phase)
                assert action == game.legal_actions()[-1]
        game.step(action)
    assert asked == {Phase.ATTACK_DICE, Phase.DEFEND}


def test_many_views_at_once_are_answered_as_one_by_one(tmp_path: Path) -> None:
    agent = PolicyAgent(saved(training_rules("classic", 2), tmp_path / "novice.npz"))
    agent.reset(0, training_rules("classic", 2), BOARD, 0)
    views = [View(Game(training_rules("classic", 2), BOARD, seed=seed)) for seed in range(9)]
    assert agent.act_batch(views) == [agent.act(view) for view in views]


def test_other_rules_maps_and_files_are_refused_by_name(tmp_path: Path) -> None:
    file = saved(training_rules("classic", 2), tmp_path / "novice.npz")
    agent = agents.make(file)
    assert (agent.name, agent.version) == ("novice", "7")
    with pytest.raises(ValueError, match=r"num_players=2, not 3"):
        agent.reset(0, training_rules("classic", 3), BOARD, 0)
    with pytest.raises(ValueError, match=r"fortify='connected', not 'free'"):
        agent.reset(0, training_rules("classic", 2, fortify="free"), BOARD, 0)
    with pytest.raises(ValueError, match="map="):
        agent.reset(0, training_rules("classic", 2), load_map("big"), 0)
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    for name in ("broken.npz", "missing.npz"):
        with pytest.raises(ValueError, match=name):
            agents.make(str(tmp_path / name))
