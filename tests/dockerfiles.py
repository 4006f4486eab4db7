"""Dockerfiles as lists of instructions."""

import json
import re
from pathlib import Path


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile: word and rest, without comments."""
    text = re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8"))
    lines = [line.partition(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in lines]


def health_code(lines: list[tuple[str, str]]) -> str:
    """Return the Python code of the health check."""
    python, option, code = json.loads(dict(lines)["HEALTHCHECK"].partition("CMD ")[2])
    assert (python, option) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")
    return code
