"""Transcripts of games as JSON Lines: the exchanges with a language model, without the key."""

import json
import logging
import re
from pathlib import Path
from typing import Any

from risk_agents.llm.masking import masked_values
from risk_agents.llm.settings import Settings
from risk_env.whole_file import new_file

SCHEMA = 1
MOST_LETTERS = 100  # maximum number of characters of the file name before the suffix
_UNSAFE = re.compile(r"[^\w.-]+")
_LOGGER = logging.getLogger("risk_env")


class Transcript:
    """Transcript of one game at one seat; nothing is written unless the settings name a folder.

    If writing fails, a warning is logged, the transcript ends, and the game continues.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self._key, self._path = settings.key, Path()
        self.name = ""
        if settings.transcripts:
            called = _UNSAFE.sub("_", name).lstrip(".")[-MOST_LETTERS:]
            try:
                Path(settings.transcripts).mkdir(parents=True, exist_ok=True)
                self._path = new_file(Path(settings.transcripts) / f"{called}.jsonl")
                self.name = self._path.name
            except OSError as error:
                self._end(error)

    def write(self, kind: str, **facts: Any) -> None:
        """Write a line with `kind` and `facts`, in which the key is masked."""
        if self._path.name:
            line = json.dumps(
                masked_values({"schema": SCHEMA, "kind": kind, **facts}, self._key), default=str
            )
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            except OSError as error:
                self._end(error)

    def _end(self, error: OSError) -> None:
        """Stop writing this transcript."""
        _LOGGER.warning("risk_env: the transcript of a language model cannot be written: %s", error)
        self._path = Path()
