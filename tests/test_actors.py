"""Actors: the run equals the run in one process, wherever the actors play.

Also staleness, resuming, and the devices of networks.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.workers import WorkExecutor
from risk_env.cli import main
from risk_training import beam_value, ppo, state_value
from risk_training.actors import Actors
from risk_training.config import AUTO, BFLOAT16, FLOAT32
from risk_training.devices import find_device, find_precision, mixed
from risk_training.legal_actions import LegalActions
from risk_training.run import load_checkpoint
from risk_training.torch_network import Network
from tests.test_run import BEAM_VALUES, PPO, STATE_VALUES, TACTICIANS, Killed, one_thread, untimed

__all__ = ["one_thread"]  # a fixture of all tests here
TWO = dataclasses.replace(PPO, actors=2, staleness=1)


class Threads(WorkExecutor):
    """Three threads that share only their inputs."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(3)

    def size(self) -> int:
        return 3

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.pool.submit(function, *args, **kwargs)


class Distant(ppo.Trainer):
    """The trainer with its games in an actor."""

    def _new_games(self) -> Actors:
        return Actors(self.config, self.executor)


def learned(trainer: Any) -> Any:
    """Train, and return the log without times, the weights and the optimizer."""
    trainer.train()
    rows = [
        {name: value for name, value in row.items() if name != "actors/staleness"} for row in trainer.rows
    ]
    return untimed(rows), untimed(trainer.network.state_dict()), untimed(trainer.optimizer.state_dict())


@pytest.mark.long
def test_one_actor_without_staleness_is_the_run_in_this_process(tmp_path: Path) -> None:
    near = learned(ppo.Trainer(PPO, tmp_path / "near"))
    assert learned(Distant(PPO, tmp_path / "far")) == near
    assert learned(Distant(PPO, tmp_path / "threads", Threads())) == near


@pytest.mark.long
def test_the_run_does_not_depend_on_where_actors_play(tmp_path: Path) -> None:
    runs = [
        ppo.Trainer(TWO, tmp_path / name, executor)
        for name, executor in (("here", None), ("there", Threads()))
    ]
    assert learned(runs[0]) == learned(runs[1])
    assert [row["actors/staleness"] for row in runs[0].rows] == [0, 1]
    assert [row["time/steps"] for row in runs[0].rows] == [256, 512]
    fresh = ppo.Trainer(dataclasses.replace(TWO, staleness=0), tmp_path / "fresh")
    assert learned(fresh) != learned(runs[0])
    assert [row["actors/staleness"] for row in fresh.rows] == [0, 0]


@pytest.mark.long
def test_stale_rollouts_were_played_by_the_weights_before(tmp_path: Path) -> None:
    trainer = ppo.Trainer(TWO, tmp_path)
    trainer.begin()
    before = trainer.network.arrays()
    trainer.games.collect(trainer.network, trainer.rollout)
    trainer.learn()
    assert not np.array_equal(trainer.network.arrays()["value"], before["value"])
    trainer.games.collect(trainer.network, trainer.rollout)
    trainer.rollout.write_features(trainer.network.spec)
    legal, played = LegalActions(*trainer.rollout.legal[0]), trainer.rollout.values[0]
    assert np.allclose(values_of(trainer, before, legal), played, atol=1e-6)
    assert not np.allclose(values_of(trainer, trainer.network.arrays(), legal), played, atol=1e-6)


def values_of(trainer: ppo.Trainer, weights: Any, legal: LegalActions) -> Any:
    """Return the values of the first decisions in a rollout with these weights."""
    network = Network(trainer.layout, trainer.config.width, trainer.config.local)
    network.load_arrays(weights)
    features = trainer.rollout.territory_features[0], trainer.rollout.board_features[0]
    with torch.no_grad():
        return network.legal_logits(*map(torch.as_tensor, features), legal)[1].sigmoid().numpy()


@pytest.mark.long
def test_rounds_of_values_are_played_ahead(tmp_path: Path) -> None:
    stale = dataclasses.replace(BEAM_VALUES, staleness=1, checkpoint_interval=1)
    for module, config in ((beam_value, stale), (state_value, STATE_VALUES)):
        name = module.__name__
        here = learned(module.Trainer(config, tmp_path / name / "here"))
        assert learned(module.Trainer(config, tmp_path / name / "there", Threads())) == here
    rows = beam_value.Trainer.resume(tmp_path / beam_value.__name__ / "here").rows
    assert [row["actors/staleness"] for row in rows] == [0, 1, 1]

    def kill(row: Any) -> None:
        if row["time/steps"] == 12:
            raise Killed

    with pytest.raises(Killed):
        beam_value.Trainer(stale, tmp_path / "killed").train(kill)
    beam_value.Trainer.resume(tmp_path / "killed", executor=Threads()).train()
    whole, resumed = (load_checkpoint(tmp_path / name) for name in (f"{beam_value.__name__}/here", "killed"))
    assert untimed(whole) == untimed(resumed)


@pytest.mark.long
def test_games_of_the_tactician_are_the_same_wherever_they_are_played(tmp_path: Path) -> None:
    found = []
    for judge in (None, "strategist"):
        config, folder = dataclasses.replace(TACTICIANS, judge=judge), tmp_path / str(judge)
        found.append(learned(state_value.Trainer(config, folder / "here")))
        assert learned(state_value.Trainer(config, folder / "there", Threads())) == found[-1]
    by_itself, by_file = (rows for rows, *_ in found)
    # it begins as that file, and goes on otherwise
    assert by_itself[0] == by_file[0] and by_itself[1] != by_file[1]


@pytest.mark.long
@pytest.mark.parametrize("staleness", [0, 1])
def test_a_killed_run_with_actors_resumes_to_the_bit(staleness: int, tmp_path: Path) -> None:
    config = dataclasses.replace(TWO, n_timesteps=1280, checkpoint_interval=256, staleness=staleness)
    ppo.Trainer(config, tmp_path / "whole").train()

    def kill(row: Any) -> None:
        if row["time/steps"] == 1024:
            raise Killed

    with pytest.raises(Killed):
        ppo.Trainer(config, tmp_path / "killed").train(kill)
    assert load_checkpoint(tmp_path / "killed")["steps"] == 768
    ppo.Trainer.resume(tmp_path / "killed", executor=Threads()).train()
    whole, resumed = (untimed(load_checkpoint(tmp_path / name)) for name in ("whole", "killed"))
    assert whole == resumed


def test_positions_of_a_checkpoint_are_checked_before_an_actor_plays_them(tmp_path: Path) -> None:
    trainer = ppo.Trainer(TWO, tmp_path)
    trainer.begin()
    trainer.games.collect(trainer.network, trainer.rollout)
    state = deepcopy(trainer.games.state_dict())
    actors = Actors(TWO, Threads())
    actors.load_state_dict(state)
    actors.collect(trainer.network, trainer.rollout)
    state["states"][1]["arrays"]["batch._games"]["troops"][3] = -5
    actors.load_state_dict(state)
    with pytest.raises(ValueError, match="lane 3: an impossible position"):
        actors.collect(trainer.network, trainer.rollout)


def test_workers_without_actors_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["--config", "selfplay_demo", "--out", str(tmp_path / "run"), "--steps", "1"]
    assert main(["train", *arguments, "--workers", "two"]) == 2
    assert "workers='two'" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"actors=1, staleness=0: .* --workers must be 1"):
        ppo.Trainer(PPO, tmp_path, Threads())
    for wrong in ({"actors": 0}, {"staleness": 2}, {"precision": "int8"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            dataclasses.replace(PPO, **wrong)


# ---------------------------------------------------------------------------------------------------- devices


def test_devices_are_found_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_device("cuda:1") == torch.device("cuda:1") and find_device("cpu") == torch.device("cpu")
    for wrong in ("gpu", "cuda:", "cuda:x", "cpu:0", "mps:1", ""):
        with pytest.raises(ValueError, match="must be auto, cpu, cuda, cuda:N or mps"):
            find_device(wrong)
    with pytest.raises(ValueError, match=r"device='cuda:2': torch .* finds 2 GPUs of this kind"):
        find_device("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_device("auto") == torch.device("cuda")


def test_a_gpu_that_is_not_there_is_an_error_before_anything_is_written(tmp_path: Path, capsys: Any) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    arguments = ["train", "--config", "selfplay_demo", "--device", "cuda", "--out", str(tmp_path / "run")]
    assert main(arguments) == 2 and not (tmp_path / "run").exists()
    assert "device='cuda': torch" in capsys.readouterr().err


def test_a_run_goes_on_on_another_device(tmp_path: Path) -> None:
    config = dataclasses.replace(PPO, device="auto")
    ppo.Trainer(config, tmp_path).train()
    assert ppo.Trainer.resume(tmp_path, length=512, device="cpu").config.device == "cpu"


def test_precision() -> None:
    cpu = torch.device("cpu")
    assert find_precision(FLOAT32, cpu) == FLOAT32 and find_precision(BFLOAT16, cpu) == BFLOAT16
    assert (
        find_precision(AUTO, cpu) in (FLOAT32, BFLOAT16)
        and find_precision(AUTO, torch.device("mps")) == FLOAT32
    )
    ones = torch.ones(2, 2)
    with mixed(BFLOAT16, cpu):
        assert (ones @ ones).dtype == torch.bfloat16
    with mixed(FLOAT32, cpu):
        assert (ones @ ones).dtype == torch.float32


@pytest.mark.parametrize(
    ("module", "config"),
    [
        (ppo, PPO),
        pytest.param(beam_value, BEAM_VALUES, marks=pytest.mark.long),
        pytest.param(state_value, STATE_VALUES, marks=pytest.mark.long),
    ],
)
def test_learning_in_bfloat16(module: Any, config: Any, tmp_path: Path) -> None:
    rows = []
    for precision in (FLOAT32, BFLOAT16):
        trainer = module.Trainer(dataclasses.replace(config, precision=precision), tmp_path / precision)
        trainer.train()
        assert all(weights.dtype == torch.float32 for weights in trainer.network.parameters())
        rows.append(trainer.rows[0]["train/value_loss"])
    assert rows[0] != rows[1] and rows[0] == pytest.approx(rows[1], rel=0.05)
