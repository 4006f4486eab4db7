"""The package as a new user installs it: types, extras named in time, a page that an index can show."""

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SEARCH = os.pathsep.join(str(ROOT / folder) for folder in (".", "agents", "training"))


# Libraries behind the package, whose types no signature of it has: to read them takes four fifths of the
# time.
UNREAD = "[mypy]\n[mypy-matplotlib.*,numba.*,rich.*,torch.*]\nfollow_imports = skip\n"


def errors_of(*programs: Path) -> list[str]:
    """Return the errors of `mypy --strict` in programs that use the installed package with its py.typed."""
    folder = programs[0].parent
    (folder / "mypy.ini").write_text(UNREAD, encoding="utf-8")
    strict = ["--strict", "--no-error-summary", "--config-file", "mypy.ini", "--cache-dir", "."]
    command = [sys.executable, "-m", "mypy", *strict, *map(str, programs)]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": SEARCH}, capture_output=True, text=True
    )
    return done.stdout.splitlines()


@pytest.mark.long
def test_a_client_is_typed_and_a_wrong_one_is_found(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    text = (ROOT / "tests" / "typed_client.py").read_text(encoding="utf-8")
    client, wrong = tmp_path / "client.py", tmp_path / "wrong.py"
    client.write_text(text, encoding="utf-8")
    wrong.write_text(text.replace("seed=7", "seed='seven'"), encoding="utf-8")
    errors = [line for line in errors_of(client, wrong) if ": error: " in line]
    assert len(errors) == 1, errors
    assert "wrong.py" in errors[0] and '"Game" has incompatible type "str"' in errors[0]


WITHOUT = """
import sys
import tomllib
sys.modules[sys.argv[1]] = None
from risk_env.cli import main
sys.exit(main(sys.argv[2:]))
"""
TOURNAMENT = "tournament --agents random,grower --players 2 --games 4 --report report.html"


@pytest.mark.parametrize(
    ("module", "command", "extra"),
    [
        ("torch", "train --config tiny --out run", "train"),
        ("torch", "demo --out run", "train"),
        ("yaml", "train --config tiny --out run", "train"),
        ("sb3_contrib", "train --config duel --out run", "train"),
        ("matplotlib", TOURNAMENT, "tournament"),
        ("matplotlib", "evaluate --run nowhere --plot curves.png", "tournament"),
    ],
)
def test_a_missing_extra_is_named_before_work_begins(
    module: str, command: str, extra: str, tmp_path: Path
) -> None:
    call = [sys.executable, "-c", WITHOUT, module, *command.split()]
    done = subprocess.run(
        call, cwd=tmp_path, env={**os.environ, "PYTHONPATH": SEARCH}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.endswith(f"pip install 'risk-env[{extra}]'\n"), done.stderr
    assert done.stdout == "" and not [*tmp_path.iterdir()]


def test_the_page_of_a_package_index_needs_nothing_of_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    assert not [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")]
    assert "<img" not in text


@pytest.mark.parametrize("package", ["risk_env", "risk_agents", "risk_agents.tournament"])
def test_every_public_name_can_be_imported(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []
