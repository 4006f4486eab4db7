"""Child processes do not import from the working folder, which may have files named like Python's modules."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from risk_agents.program import Program, ProgramFault
from risk_agents.tournament.results import FORFEIT
from risk_agents.tournament.results_store import Store
from risk_agents.web.analyst import Analyst
from risk_agents.workers.processes import ProcessExecutor
from risk_env import compiling
from risk_env.board.rules import Rules
from risk_env.children import environment_of_programs, safe_start
from risk_env.game import Game

ROOT = Path(__file__).parent.parent
NAMES = (
    "random",
    "json",
    "numpy",
    "site",
    "sitecustomize",
    "usercustomize",
    "os",
    "multiprocessing",
    "pickle",
    "risk_env",
)
COMMAND = "import sys\nfrom risk_env.cli import main\nif __name__ == '__main__':\n    sys.exit(main())"
BOTS = (
    f"{ROOT / 'examples' / 'bot.py'}:Borderer,"
    f"cmd:{shlex.quote(sys.executable)} {ROOT / 'examples' / 'bot_stdlib.py'}"
)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a working folder in which every file would break a process that imports it."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(
            "raise SystemExit(f'imported from the working folder: {__file__}')"
        )
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", ["", *(path for path in sys.path if path)])
    return folder


def called(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command `risk-env` as its script does, from a file outside the working folder."""
    script.write_text(COMMAND)
    search = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": search}
    return subprocess.run(
        [sys.executable, str(script), *arguments], env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "more",
    [
        pytest.param((), marks=pytest.mark.long),
        pytest.param(("--workers", "2"), marks=pytest.mark.long),
        ("--sandbox",),
    ],
    ids=["here", "jobs", "sandbox"],
)
def test_a_tournament_plays_in_a_hostile_folder(hostile: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    options = ("--players", "2", "--games", "3", "--max-rounds", "2", "--out", str(tmp_path / "games.sqlite"))
    found = called(tmp_path / "command.py", "tournament", "--agents", f"random,{BOTS}", *options, *more)
    assert found.returncode == 0, found.stderr
    assert "working folder" not in found.stdout + found.stderr
    store = Store.open(tmp_path / "games.sqlite")
    assert [result.forfeit_reason for result in store.results() if result.ending == FORFEIT] == []
    store.close()


def test_workers_start_in_a_hostile_folder(hostile: Path) -> None:
    with ProcessExecutor(1) as workers:
        assert workers.submit(os.getpid).result(120) != os.getpid()


def test_the_analysis_answers_in_a_hostile_folder(hostile: Path) -> None:
    position, analyst = Game(Rules.preset("classic", 2, setup="deal"), "tiny", seed=1).to_text(), Analyst()
    try:
        assert (
            len(analyst.request({"type": "chances", "position": position, "bot": "random", "games": 2})) == 2
        )
    finally:
        analyst.close()


def test_processes_that_compile_start_in_a_hostile_folder(hostile: Path) -> None:
    assert {part for part, _ in compiling.compile_parts([["random", "attacker"]], jobs=2)} == {
        "random",
        "attacker",
    }


def test_a_safe_start_is_not_handed_on_to_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with safe_start():
        assert os.environ["PYTHONSAFEPATH"]
        assert "PYTHONSAFEPATH" not in environment_of_programs()
    assert "PYTHONSAFEPATH" not in os.environ
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # the user's own
    with safe_start():
        assert environment_of_programs()["PYTHONSAFEPATH"] == "1"


# ------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    "variable", ["LC_ALL=C", "PYTHONIOENCODING=ascii", "LC_ALL=en_US.ISO-8859-1", "PYTHONUTF8=0"]
)
def test_a_program_in_python_may_print_any_letter(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(*variable.split("="))
    program = Program([sys.executable, "-c", 'print(\'{"name": "ü"}\', flush=True)'], "it")
    try:
        assert program.request({}, 20) == {"name": "ü"}
    except ProgramFault as fault:
        pytest.fail(str(fault))
    finally:
        program.kill()
