"""The training examples run for a moment and do what they claim."""

from pathlib import Path

import numpy as np
import pytest
import torch

from risk_agents.registry import play_game
from risk_env import GameBatch, Rules, load_map
from tests.examples import example


def test_an_own_script_trains_evaluates_and_its_model_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = example("sb3_own_script")
    monkeypatch.setattr(script, "GAME", {**script.GAME, "board": "tiny", "max_rounds": 5})
    model = script.train(0.0, "random")
    found = script.evaluate(model, "random", lanes=4, games_each=2)
    assert found.games == 8 and 0 <= found.wins <= 8
    monkeypatch.setattr(script, "MODEL", tmp_path / "model.zip")
    model.save(script.MODEL)
    rules = Rules.preset("classic", 2, attack="blitz", defender_dice="max", max_rounds=5)
    games = [play_game(rules, load_map("tiny"), [script.Mine(), "random"], seed=3) for _ in range(2)]
    assert games[0].is_over and games[0] == games[1]


def test_selfplay_learns_from_every_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    script = example("selfplay_torch")
    monkeypatch.setattr(script, "LANES", 8)
    monkeypatch.setattr(script, "STEPS", 64)
    torch.manual_seed(0)
    batch = GameBatch(script.RULES, script.BOARD, 8, seed=0)
    batch.reset()
    policy = script.ActorCritic(batch.observation.shape[1], batch.num_actions)
    data = script.collect(policy, batch)
    assert 0.8 * 8 * 64 < len(data["advantages"]) <= 8 * 64
    before = [weights.clone() for weights in policy.parameters()]
    script.learn(policy, torch.optim.Adam(policy.parameters(), 1e-3), data)
    assert not all(torch.equal(old, new) for old, new in zip(before, policy.parameters(), strict=True))
    won, truncated = script.against_random(policy, 20)
    assert 0 <= won <= 1 and 0 <= truncated <= 1


def test_a_stream_s_last_decision_gets_its_end_when_another_seat_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One lane: seats 0, 1, 0, 1; seat 0 loses in the last step, in which seat 1 wins."""
    script = example("selfplay_torch")
    monkeypatch.setattr(script, "GAMMA", 1.0)
    monkeypatch.setattr(script, "LAMBDA", 1.0)
    column = lambda *numbers: np.array(numbers, np.float32)[:, None]  # noqa: E731
    seats = np.array([[0], [1], [0], [1]])
    ends = np.array([[False], [False], [True], [True]])
    values, nothing = column(0.5, 0.25, 0.0, 0.5), column(0, 0, 0, 0)
    following = np.array([0]), np.array([9.0], np.float32)
    found, known = script.along_streams(seats, column(0, 0, -1, 1), ends, values, nothing, *following)
    assert known.all()
    assert found[:, 0].tolist() == [-1.5, 0.75, -1.0, 0.5]
