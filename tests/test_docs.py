"""Pages that tell what the code knows: none leaves out an option, an argument or a section that is cited."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from risk_env import GameBatch, Rules
from risk_env.doors.gymnasium_env import make_lanes
from risk_env.doors.seat_lanes import training_rules

ROOT = Path(__file__).parents[1]


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def rows(name: str) -> dict[str, list[str]]:
    """The cells of the rows of a page's tables, by the words in code of their first cell; earlier tables win."""
    cells = [line.strip("| ").split(" | ") for line in page(name).splitlines() if line.startswith("| `")]
    return {word: row for row in reversed(cells) for word in re.findall("`(.*?)`", row[0])}


def default_of(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_every_option_and_its_default_is_in_the_rules() -> None:
    told = rows("rules")
    for option in fields(Rules):
        assert told[option.name][2].strip("`") == default_of(option.default), option.name


@pytest.mark.parametrize(
    ("name", "function"), [("batch", GameBatch.__init__), ("gymnasium", make_lanes), ("gymnasium", training_rules)]
)
def test_every_argument_is_on_its_page(name: str, function: object) -> None:
    told = rows(name)
    for argument in inspect.signature(function).parameters.values():
        if argument.name not in ("self", "num_envs") and argument.kind is not argument.VAR_KEYWORD:
            assert argument.name in told, argument.name
            assert told[argument.name][1].strip("`") == default_of(argument.default), argument.name


def test_every_section_that_is_cited_is_there() -> None:
    there = set(re.findall(r"^#+ ([0-9.]+) ", page("rules"), re.MULTILINE))
    there |= set(re.findall(r"\*\*([0-9.]+)\*\*", page("rules")))
    sources = [path for folder in ("risk_env", "agents", "training", "docs") for path in (ROOT / folder).rglob("*.*")]
    texts = [path.read_text(encoding="utf-8") for path in sources if path.suffix in (".py", ".md", ".toml")]
    cited = {number for text in texts for number in re.findall(r"RULES ([0-9]+(?:\.[0-9]+)*)", text)}
    assert len(cited) > 60
    assert cited <= there, cited - there
