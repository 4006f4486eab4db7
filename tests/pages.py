"""The pages of `docs/`, and the Python code on them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def page(name: str) -> str:
    """Return the text of a page of `docs/`."""
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def code_of(text: str, word: str = "") -> list[str]:
    """Return the blocks of Python code in a text that contain a word."""
    return [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if word in code]


def run_code(blocks: Iterable[str], **names: Any) -> dict[str, Any]:
    """Run blocks of code one after another, beginning with these names; return all names."""
    for code in blocks:
        exec(code, names)
    return names
