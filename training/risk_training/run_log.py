"""The log of a run: a row an update, written with each checkpoint and told to TensorBoard; and where its time goes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from risk_training.files import replace_file

LOG = "progress.jsonl"


class RunLog:
    """Rows of numbers by name; `step` is the name of the one that counts the run's steps."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.rows: list[dict[str, Any]] = []
        self._told = 0  # rows that TensorBoard has

    def write(self, folder: Path) -> None:
        """Write all rows, and tell TensorBoard the new ones."""
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(folder / "tensorboard")) as writer:
            for row in self.rows[self._told :]:
                for name, value in row.items():
                    writer.add_scalar(name, value, row[self.step])
        self._told = len(self.rows)
        lines = "".join(json.dumps(row) + "\n" for row in self.rows)
        replace_file(folder / LOG, lambda path: path.write_text(lines))

    def restore(self, rows: list[dict[str, Any]]) -> None:
        """Go on from the rows of a checkpoint, which TensorBoard has."""
        self.rows, self._told = rows, len(rows)


@contextmanager
def timed(spent: dict[str, float], part: str) -> Iterator[None]:
    """Add the processor time of a `with` block to a part."""
    start = time.process_time()
    try:
        yield
    finally:
        spent[part] += time.process_time() - start
