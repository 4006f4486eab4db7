"""The project's own PPO: returns per seat, league games, exact resuming, and learning."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.learned.policy import Layout
from risk_agents.workers import InProcess
from risk_env.arena import CALLER
from risk_env.board.maps import load_map
from risk_env.board.tables import tables
from risk_training.config import EvaluationSettings
from risk_training.league import LeagueSettings
from risk_training.ppo import Config, Trainer, advantages
from risk_training.rollout_steps import CONTINUES, TERMINATED, TRUNCATED, Rollout
from risk_training.selfplay import potential
from risk_training.win_rate import WinRate, win_rate_by

TINY = Config(
    map="tiny",
    players=3,
    options={"max_rounds": 5},
    n_timesteps=1536,
    n_envs=16,
    n_steps=16,
    batch_size=64,
    width=8,
    local=4,
    league=LeagueSettings(bots=("grower",), window=1, history=0),
    snapshot_interval=256,
    evaluation=EvaluationSettings(opponents=("random",), games=6, interval=512),
    checkpoint_interval=256,
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
    rollout.ends[:] = chance.choice(
        [CONTINUES, TERMINATED, TRUNCATED], p=[0.8, 0.1, 0.1], size=(steps, lanes)
    )
    rollout.next_seats[:] = chance.integers(seats, size=lanes)
    rollout.next_values[:], rollout.next_potentials[:] = chance.normal(size=(2, lanes))
    return rollout


def slow_advantage(rollout: Rollout, step: int, lane: int, gamma: float, lam: float) -> float | None:
    """Return the advantage by its definition, along the seat's own decisions.

    The result is None if the following values are unknown.
    """
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
    rollout.ends[:-1], rollout.ends[-1] = CONTINUES, TERMINATED
    shaped, _ = advantages(rollout, 0.95, 1.0)
    first = rollout.potentials.copy()
    rollout.potentials[:] = 0
    plain, _ = advantages(rollout, 0.95, 1.0)
    assert np.allclose(shaped, plain - first, atol=1e-4)


def test_the_potential_is_the_share_of_territories() -> None:
    trainer = Trainer(dataclasses.replace(TINY, players=3), "unused")
    trainer.begin()
    trainer.games.collect(trainer.network, trainer.rollout)
    batch = trainer.games.batch
    shares = potential(batch.observation, trainer.board, 2.0)
    owner, seat = batch.records["owner"][:, :6], batch.seat
    held = (owner == seat[:, None]).sum(1) / (owner >= 0).sum(1)
    assert np.allclose(shares, 2 * held)
    assert not potential(batch.observation, trainer.board, 0.0).any()


def test_a_rollout_holds_the_learners_decisions_and_every_end_is_paid() -> None:
    trainer = Trainer(TINY, "unused")
    games, rollout = trainer.games, trainer.rollout
    trainer.begin()
    rewards: list[float] = []
    for _ in range(40):
        games.collect(trainer.network, rollout)
        legal, actions = rollout.legal_actions(), torch.as_tensor(rollout.actions).flatten()
        chosen = legal.find(actions, trainer.layout.num_actions)
        assert (chosen < legal.counts).all() and (legal.actions[legal.starts + chosen] == actions).all()
        assert (rollout.ends[rollout.rewards != 0] == TERMINATED).all()
        rewards += rollout.rewards[rollout.ends == TERMINATED].tolist()
    assert set(rewards) == {0.0, 1.0}
    numbers = games.arena.numbers[:, :3]
    learners = (numbers == CALLER).sum(1)
    assert set(learners) == {1, 3}
    assert (learners == np.where(games.opponent == "", 3, 1)).all()


@pytest.mark.parametrize("steps", [1, 7])
def test_what_an_actor_sends_is_what_the_learner_would_have_written(steps: int) -> None:
    config = dataclasses.replace(TINY, n_steps=steps)
    here, there = Trainer(config, "unused"), Trainer(config, "unused")
    there.network.load_arrays(here.network.arrays())
    sent = Rollout.empty(steps, config.n_envs, there.layout, keeps_features=False)
    found = Rollout.empty(steps, 3 * config.n_envs, there.layout)
    for trainer, rollout in ((here, here.rollout), (there, sent)):
        trainer.begin()
        for _ in range(3):
            trainer.games.collect(trainer.network, rollout)
    for actor in (2, 0, 1):
        found.unpack(sent.packed(), actor * config.n_envs)
    found.write_features(there.network.spec)
    for name in (
        "territory_features",
        "board_features",
        "seats",
        "actions",
        "logprobs",
        "values",
        "rewards",
        "ends",
    ):
        assert np.array_equal(getattr(found, name), np.concatenate([getattr(here.rollout, name)] * 3, 1)), (
            name
        )
    for mine, theirs in zip(here.rollout.legal, found.legal, strict=True):
        assert all(torch.equal(theirs[part], mine[part].repeat(3)) for part in (0, 1))


def test_wrong_configurations_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gama"):
        Config.from_dict({"gama": 0.9})
    with pytest.raises(ValueError, match="nothing to resume"):
        Trainer.resume(tmp_path)
    assert Config.from_dict({"league": {"bots": ["grower"]}}).league.bots == ("grower",)
    # as YAML reads them
    assert Config.from_dict({"gamma": "1e-1", "n_timesteps": "2e6"}).n_timesteps == 2_000_000
    with pytest.raises(ValueError, match=r"n_timesteps='many': must be a number"):
        Config.from_dict({"n_timesteps": "many"})


def test_intervals_of_win_rates() -> None:
    rate, low, high = WinRate(50, 100, 0.0).interval
    assert (round(rate, 3), round(low, 3), round(high, 3)) == (0.5, 0.404, 0.596)


@pytest.mark.long
def test_it_learns(tmp_path: Path) -> None:
    """An untrained policy learns to win over 80 % against `random`; the margin depends on the processor."""
    config = Config(
        players=2, options={"setup": "random"}, n_timesteps=400_000, n_envs=128, learning_rate=1e-3,
        evaluation=EvaluationSettings(opponents=()), checkpoint_interval=10**9, seed=1,
    )  # fmt: skip
    trainer = Trainer(config, tmp_path)
    rules, board = config.rules(), load_map("classic")
    before = win_rate_by(InProcess(), trainer.seating(), rules, board, "random", 40, seed=5)  # long games
    trainer.train()
    after = win_rate_by(InProcess(), trainer.seating(), rules, board, "random", 200, seed=5)
    assert before.interval[2] < 0.6
    assert after.interval[1] > 0.8
