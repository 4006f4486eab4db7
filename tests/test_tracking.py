"""Trackers of training runs: wandb and trackio, in the place of TensorBoard (risk_training.tracking)."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from risk_training.config import RunSettings
from risk_training.ppo import Config
from risk_training.run_files import TRACKER_ID
from risk_training.tracking import open_tracker


def settings(tracker: str) -> RunSettings:
    return Config.from_dict({"tracker": tracker, "map": "tiny"})


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_a_resumed_run_continues_its_record(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    module = ModuleType(name)
    module.init = lambda **options: calls.append(options)  # type: ignore[attr-defined]
    module.log = lambda row, step: calls.append((row, step))  # type: ignore[attr-defined]
    module.finish = lambda: calls.append("finish")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, module)
    for steps in (64, 128):  # the second tracker is of the resumed run
        tracker = open_tracker(settings(name), tmp_path, steps)
        tracker.log({"train/value_loss": 0.5}, steps)
        tracker.flush()
        tracker.close()
    first, second = calls[0], calls[3]
    assert calls[1:3] == [({"train/value_loss": 0.5}, 64), "finish"] and calls[4][1] == 128
    assert first == second and first["resume"] == "allow" and first["config"]["map"] == "tiny"
    assert first["name"].startswith(f"{tmp_path.name}-") and ("id" in first) == (name == "wandb")
    (tmp_path / TRACKER_ID).write_text("../../other")
    with pytest.raises(ValueError, match="tracker_id does not contain the id of a run"):
        open_tracker(settings(name), tmp_path, 0)


def test_a_tracker_that_is_missing_or_unknown_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(ImportError, match="tracker='trackio' is not installed: pip install trackio"):
        open_tracker(settings("trackio"), tmp_path, 0)
    with pytest.raises(ValueError, match="tracker='mlflow': choose one of 'tensorboard', 'wandb', 'trackio'"):
        settings("mlflow")
