"""The own trainer: returns of each seat, the league's games, resuming to the bit, and that it learns."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.learned.policy import Layout
from risk_env.arena import CALLER
from risk_env.board.maps import load_map
from risk_env.board.tables import tables
from risk_training.league import LeagueSettings
from risk_training.ppo import (
    CHECKPOINT,
    GOES_ON,
    POLICY,
    TERMINATED,
    TRUNCATED,
    Config,
    Rollout,
    Trainer,
    advantages,
    potential,
)
from risk_training.run_log import LOG
from risk_training.win_rate import WinRate, win_rate

TINY = Config(
    map="tiny",
    players=3,
    options={"max_rounds": 5},
    decisions=1536,
    games=16,
    steps=16,
    minibatch=64,
    width=8,
    local=4,
    league=LeagueSettings(bots=("grower",), window=1, history=0),
    snapshot_every=256,
    evaluate_every=512,
    evaluate_games=6,
    checkpoint_every=256,
)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def made_up_rollout(chance: np.random.Generator, steps: int, lanes: int, seats: int) -> Rollout:
    rules = TINY.rules()
    board = load_map(TINY.map)
    rollout = Rollout.empty(steps, lanes, Layout(rules, board, tables(rules, board).num_actions))
    for name in ("values", "rewards", "last_values", "potentials", "last_potentials"):
        getattr(rollout, name)[:] = chance.normal(size=(steps, lanes))
    rollout.seats[:] = chance.integers(seats, size=(steps, lanes))
    rollout.ends[:] = chance.choice([GOES_ON, TERMINATED, TRUNCATED], p=[0.8, 0.1, 0.1], size=(steps, lanes))
    rollout.next_seats[:] = chance.integers(seats, size=lanes)
    rollout.next_values[:], rollout.next_potentials[:] = chance.normal(size=(2, lanes))
    return rollout


def slow_advantage(rollout: Rollout, step: int, lane: int, gamma: float, lam: float) -> float | None:
    """By the definition: along the seat's own decisions, None where what follows is not known."""
    seat, end = rollout.seats[step, lane], rollout.ends[step, lane]
    later = [t for t in range(step + 1, len(rollout.seats)) if rollout.seats[t, lane] == seat]
    reward, beyond = rollout.rewards[step, lane] - rollout.potentials[step, lane], 0.0
    if end == TERMINATED:
        target = reward
    elif end == TRUNCATED:
        target = reward + gamma * (rollout.last_values[step, lane] + rollout.last_potentials[step, lane])
    elif later:
        target = reward + gamma * (rollout.values[later[0], lane] + rollout.potentials[later[0], lane])
        beyond = slow_advantage(rollout, later[0], lane, gamma, lam) or 0.0
    elif rollout.next_seats[lane] == seat:
        target = reward + gamma * (rollout.next_values[lane] + rollout.next_potentials[lane])
    else:
        return None
    return target - rollout.values[step, lane] + gamma * lam * beyond


def test_advantages_follow_each_seat() -> None:
    chance = np.random.default_rng(0)
    rollout = made_up_rollout(chance, 24, 12, 3)
    found, known = advantages(rollout, 0.9, 0.8)
    slow = [[slow_advantage(rollout, t, lane, 0.9, 0.8) for lane in range(12)] for t in range(24)]
    assert known.tolist() == [[value is not None for value in row] for row in slow]
    assert np.allclose(found[known], [value for row in slow for value in row if value is not None], atol=1e-5)
    assert 0 < known.sum() < known.size


def test_shaping_changes_a_return_by_nothing_but_the_first_potential() -> None:
    chance = np.random.default_rng(1)
    rollout = made_up_rollout(chance, 30, 5, 1)
    rollout.values[:] = rollout.last_values[:] = 0
    rollout.ends[:-1], rollout.ends[-1] = GOES_ON, TERMINATED
    shaped, _ = advantages(rollout, 0.95, 1.0)
    first = rollout.potentials.copy()
    rollout.potentials[:] = 0
    plain, _ = advantages(rollout, 0.95, 1.0)
    assert np.allclose(shaped, plain - first, atol=1e-4)


def test_the_potential_is_the_share_of_territories() -> None:
    trainer = Trainer(dataclasses.replace(TINY, players=3), "unused")
    trainer.arena.begin(trainer.arena.lanes)
    trainer.arena.settle(trainer.network)
    trainer.arena.collect(trainer.network, trainer.rollout)
    batch = trainer.arena.batch
    shares = potential(batch.observation, trainer.board, 2.0)
    owner, seat = batch.records["owner"][:, :6], batch.seat
    held = (owner == seat[:, None]).sum(1) / (owner >= 0).sum(1)
    assert np.allclose(shares, 2 * held)
    assert not potential(batch.observation, trainer.board, 0.0).any()


def test_a_rollout_holds_the_learners_decisions_and_every_end_is_paid() -> None:
    trainer = Trainer(TINY, "unused")
    arena, rollout = trainer.arena, trainer.rollout
    arena.begin(arena.lanes)
    arena.settle(trainer.network)
    rewards: list[float] = []
    for _ in range(40):
        arena.collect(trainer.network, rollout)
        chosen = np.take_along_axis(rollout.masks, rollout.actions[:, :, None], 2)
        assert (chosen == 1).all()
        assert (rollout.ends[rollout.rewards != 0] == TERMINATED).all()
        rewards += rollout.rewards[rollout.ends == TERMINATED].tolist()
    assert set(rewards) == {0.0, 1.0}
    numbers = arena.table.numbers[:, :3]
    learners = (numbers == CALLER).sum(1)
    assert set(learners) == {1, 3}
    assert (learners == np.where(arena.opponent == "", 3, 1)).all()


def lines(folder: Path) -> list[dict[str, Any]]:
    """The log without the times."""
    rows = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return [{name: value for name, value in row.items() if "seconds" not in name and "ns/" not in name} for row in rows]


class Killed(Exception):
    """What the test does to a run."""


def test_a_killed_run_resumes_to_the_bit(tmp_path: Path) -> None:
    Trainer(TINY, tmp_path / "whole").train()

    def kill(trainer: Trainer) -> None:
        if trainer.updates == 4:
            raise Killed

    with pytest.raises(Killed):
        Trainer(TINY, tmp_path / "cut").train(kill)
    assert len(lines(tmp_path / "cut")) == 4
    Trainer.resume(tmp_path / "cut").train()
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")
    states = [torch.load(tmp_path / name / CHECKPOINT, weights_only=False) for name in ("whole", "cut")]
    for name, weights in states[0]["network"].items():
        assert torch.equal(weights, states[1]["network"][name])
    assert states[0]["arena"]["arrays"] == states[1]["arena"]["arrays"]
    assert (tmp_path / "cut" / POLICY).is_file()


def test_wrong_configurations_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gama"):
        Config.from_dict({"gama": 0.9})
    with pytest.raises(ValueError, match="nothing to resume"):
        Trainer.resume(tmp_path)
    assert Config.from_dict({"league": {"bots": ["grower"]}}).league.bots == ("grower",)
    assert Config.from_dict({"gamma": "1e-1", "decisions": "2e6"}).decisions == 2_000_000  # as YAML reads them
    with pytest.raises(ValueError, match=r"config\.decisions='many' must be a number"):
        Config.from_dict({"decisions": "many"})


def test_intervals_of_win_rates() -> None:
    rate, low, high = WinRate(50, 100, 0.0).interval
    assert (round(rate, 3), round(low, 3), round(high, 3)) == (0.5, 0.404, 0.596)


@pytest.mark.slow
def test_it_learns(tmp_path: Path) -> None:
    """From nothing to more than nine of ten games against `random`, in a two-player duel."""
    config = Config(
        options={"setup": "random"}, decisions=400_000, games=128, minibatch=1024, learning_rate=1e-3,
        evaluate_every=10**9, checkpoint_every=10**9, seed=1,
    )  # fmt: skip
    trainer = Trainer(config, tmp_path)
    rules, board = config.rules(), load_map("classic")
    before = win_rate(trainer.policy(), rules, board, "random", 40, seed=5)  # long games
    trainer.train()
    after = win_rate(trainer.policy(), rules, board, "random", 400, seed=5)
    assert before.interval[2] < 0.6
    assert after.interval[1] > 0.9
