"""What was asked and answered in one game, as JSON Lines; the key is in none of them."""

import json
import re
from pathlib import Path
from typing import Any

from risk_agents.llm.settings import Settings

SCHEMA = 1
_UNSAFE = re.compile(r"[^\w.-]+")


class Transcript:
    """A file of one game at one seat; nothing is written if the settings name no folder."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings = settings
        self.name = f"{_UNSAFE.sub('_', name).lstrip('.')}.jsonl" if settings.transcripts else ""
        self._path = Path(settings.transcripts) / self.name
        if self.name:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("", encoding="utf-8")

    def write(self, kind: str, **facts: Any) -> None:
        """Add a line."""
        if self.name:
            line = json.dumps({"schema": SCHEMA, "kind": kind, **facts}, default=str)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(self._settings.without_key(line) + "\n")
