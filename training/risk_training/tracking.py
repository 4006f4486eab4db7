"""Trackers, which show the metrics of a run during training, in addition to the file `metrics.jsonl`."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from risk_env.bounded_io import read_text
from risk_env.whole_file import whole_file
from risk_training.config import TENSORBOARD_TRACKER, RunSettings
from risk_training.run_files import TENSORBOARD, TRACKER_ID

PROJECT = "risk_env"  # project of the runs in wandb and trackio
MOST_BYTES = 64  # largest size of the file TRACKER_ID, in bytes


class Tracker(ABC):
    """Base class of trackers, which receive the metrics of a run."""

    place: Path  # path that error messages name

    @abstractmethod
    def log(self, row: Mapping[str, Any], steps: int) -> None:
        """Record the metrics of the update that ended after this number of steps of the run."""

    def flush(self) -> None:  # noqa: B027 (a hook)
        """Write everything that is not written yet."""

    @abstractmethod
    def close(self) -> None:
        """Finish the record."""


class TensorBoard(Tracker):
    """A tracker that writes event files for TensorBoard."""

    def __init__(self, folder: Path, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.place = folder / TENSORBOARD
        self._writer = SummaryWriter(str(self.place), purge_step=steps + 1)

    def log(self, row: Mapping[str, Any], steps: int) -> None:
        """Write one scalar for each metric."""
        for name, value in row.items():
            self._writer.add_scalar(name, value, steps)

    def flush(self) -> None:
        """Write the buffered events."""
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()


class Logger(Tracker):
    """A tracker that records metrics with `wandb`, or with `trackio`, which has the same interface."""

    def __init__(self, module: str, folder: Path, config: Mapping[str, Any]) -> None:
        try:
            self._module = import_module(module)
        except ModuleNotFoundError as error:
            raise ImportError(f"tracker={module!r} is not installed: pip install {module}") from error
        self.place, number = folder / module, _id(folder / TRACKER_ID)
        options = {"id": number, "dir": str(folder)} if module == "wandb" else {}
        self._module.init(
            project=PROJECT, name=f"{folder.name}-{number}", config=dict(config), resume="allow", **options
        )

    def log(self, row: Mapping[str, Any], steps: int) -> None:
        """Record the metrics at this step."""
        self._module.log(dict(row), step=steps)

    def close(self) -> None:
        """Finish the record of the run."""
        self._module.finish()


def _id(path: Path) -> str:
    """Return the id of a run in its tracker: the content of a file, which is written when the run begins."""
    if path.is_file():
        run_id = read_text(path, MOST_BYTES).strip()
        if not run_id.isalnum() or not run_id.isascii():
            raise ValueError(f"{path} does not contain the id of a run; delete the file for a new id")
        return run_id
    with whole_file(path) as fresh:
        fresh.write_text(f"{(number := uuid.uuid4().hex[:12])}\n", encoding="ascii")
    return number


def open_tracker(config: RunSettings, folder: Path, steps: int) -> Tracker:
    """Return the tracker of the setting `tracker`.

    `steps` is the number of steps of the run so far. Raises ImportError if the tracker is not installed.
    """
    if config.tracker == TENSORBOARD_TRACKER:
        return TensorBoard(folder, steps)
    return Logger(config.tracker, folder, config.to_dict())
