"""Runs that begin with the weights of a trained file (risk_training.first_weights)."""

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.learned.trained import facts_of, kind_in
from risk_training.config import TRAINERS
from risk_training.first_weights import SHIPPED, path_of

SMALL: dict[str, dict[str, Any]] = {
    "selfplay": {"width": 16, "local": 8, "n_envs": 4, "n_steps": 8},
    "beam_value": {"hidden_sizes": (6, 4)},
    "state_value": {"hidden_sizes": (6, 4), "tables": (2,), "round_games": 4},
    "turn_policy": {"hidden_sizes": (6, 4), "tables": (2,), "round_games": 4, "map": "classic"},
    "imitation": {"width": 16, "local": 8},
    "sb3": {"policy_kwargs": {"width": 16, "local": 8}, "n_envs": 4, "n_steps": 8},
    "sb3 MlpPolicy": {"policy": "MlpPolicy", "policy_kwargs": {"net_arch": [8]}, "n_envs": 4, "n_steps": 8},
}


def new_run(trainer: str, folder: Path, **changes: Any) -> Any:
    module = import_module(TRAINERS[trainer.partition(" ")[0]])
    evaluation = dataclasses.replace(module.Config().evaluation, opponents=("random",))
    facts = {"map": "tiny", "players": 2, **SMALL[trainer], "evaluation": evaluation, **changes}
    if trainer.startswith("sb3"):  # all opponents are snapshots
        facts["league"] = dataclasses.replace(module.Config().league, bots=(), snapshot_share=1.0)
    return module.Trainer(module.Config(**facts), folder)


def saved(run: Any, trainer: str) -> Path:
    """Write the policy of a run to a file."""
    if trainer.startswith("sb3"):
        path = run.folder / "last.zip"
        path.write_bytes(run._zip())
    else:
        path = run.folder / "file.npz"
        run.policy().save(path)
    return path


@pytest.mark.parametrize("trainer", SMALL)
def test_a_run_of_every_trainer_begins_with_the_weights_of_a_file(trainer: str, tmp_path: Path) -> None:
    first = new_run(trainer, tmp_path, seed=1)
    path = str(saved(first, trainer))
    run = new_run(trainer, tmp_path, seed=2, begin_with=path)
    names = list(first.weights())
    assert not all(torch.equal(run.weights()[name], first.weights()[name]) for name in names)
    run.load_first_weights(path)
    for name in names:
        assert np.allclose(run.weights()[name].detach(), first.weights()[name].detach(), rtol=1e-3, atol=1e-6)
    if trainer.startswith("sb3"):  # the first snapshot is the learner at the beginning
        (snapshot,) = run.env.weights.values()
        assert all(torch.equal(snapshot[name], values) for name, values in run.weights().items())
    with pytest.raises(ValueError, match="fortify"):
        new_run(trainer, tmp_path, options={"fortify": "adjacent"}).load_first_weights(path)
    small = SMALL[trainer]
    larger = {"hidden_sizes": (7, 4)} if "hidden_sizes" in small else {"width": 24}
    if "policy_kwargs" in small:
        larger = {"policy_kwargs": {"net_arch": [9]} if "policy" in small else {"width": 24, "local": 8}}
    with pytest.raises(ValueError, match=r"shape of the weights '.*': .*; set the same inputs and layer"):
        new_run(trainer, tmp_path, **larger).load_first_weights(path)


def test_no_trainer_is_left_out() -> None:
    assert {name.partition(" ")[0] for name in SMALL} == TRAINERS.keys()


def test_the_weights_of_shipped_agents_can_be_named() -> None:
    for kind, agent in SHIPPED:
        assert kind_in(facts_of(path_of(kind, agent))) == kind
    assert path_of("policy", "marshal") == "marshal" and path_of("policy", "a.npz") == "a.npz"
