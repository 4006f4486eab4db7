"""Files of a run: each is written beside its place and moved there, so that there is always a whole one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` write a file to another path, then put it in the place of `path` at once."""
    fresh = path.with_name(f"new-{path.name}")
    write(fresh)
    os.replace(fresh, path)
