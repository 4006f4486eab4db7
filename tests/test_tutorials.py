"""Tutorials run as for a reader: in one folder, files are written, then code and commands run in order."""

import re
import shlex
from pathlib import Path

import pytest

from risk_env.cli import main

pytest.importorskip("sb3_contrib")

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\w+\.py)\n")  # the first line of a file that the reader writes
NOT_RUN = (
    "examples/",  # tests/test_examples.py runs these
    "my_model.py:Mine,random,grower",  # starts torch in many processes; the tutorial of bots has a tournament
)
SHORTER = {  # what takes long is run with these numbers instead
    "first_game": {"game.round <= 30": "game.round <= 1"},
    "bot": {
        "--games 60": "--games 6",
        "--games 90": "--games 12",
        "--games 100": "--games 2",
        "--games 200": "--games 4",
    },
    "train": {
        "400_000": "1",
        "500_000": "16_385",
        "--games 200": "--games 2",
        "--games 100": "--games 2",
        ",grower --players 2 --games 40": ",grower --players 2 --games 2",
    },
    "selfplay": {"range(40)": "range(2)", "200": "20"},
    "sb3": {
        "500_000": "1",
        "RiskVecEnv(64": "RiskVecEnv(8",
        "n_steps=128": "n_steps=16",
        "batch_size=1024": "batch_size=128",
        "100, 4": "4, 1",
        "--games 100": "--games 2",
    },
}


def shortened(name: str) -> str:
    """Return the page with small numbers in place of large ones."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for long, short in SHORTER[name].items():
        assert long in text, long
        text = text.replace(long, short)
    return text


LONG = ("bot", "sb3", "train")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=pytest.mark.long) if path.stem in LONG else path.stem
        for path in sorted(FOLDER.glob("*.md"))
    ],
)
def test_a_tutorial_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, code in BLOCK.findall(shortened(name)):
        if language == "sh":
            run_commands(code)
        elif written := FILE.match(code):
            Path(written[1]).write_text(code, encoding="utf-8")
        else:
            exec(code, names)


def run_commands(code: str) -> None:
    """Run the `risk-env` commands of a block."""
    for line in code.splitlines():
        if not any(words in line for words in NOT_RUN):
            program, *arguments = shlex.split(line, comments=True)
            assert program == "risk-env" and main(arguments) == 0, line
