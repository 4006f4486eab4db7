"""The package as a new user installs it: types, extras named in time, a page that an index can show."""

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import risk_env
from tests import pythons
from tests.dockerfiles import health_code, instructions
from tests.wheel_check import release_notes

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
        ("scipy", "tournament --agents random,grower --population", "tournament"),
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


EXTRAS = "torch,sb3_contrib,stable_baselines3,tensorboard,yaml,matplotlib,scipy,optuna,ray,pyarrow,PIL"
HELP = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1].split(",")))
from risk_env.cli import COMMANDS, main
served = "serve", "mcp"  # these commands need libraries for their options
for name in [name for name in COMMANDS if name not in served]:
    try:
        status = main([name, "--help"])
    except SystemExit as ended:
        status = ended.code
    print("STATUS", name, status or 0)
"""


def test_every_other_command_starts_without_any_extra() -> None:
    """`risk-env demo --no-training` needs no extra, but its module imports modules of training."""
    call = [sys.executable, "-c", HELP, EXTRAS]
    done = subprocess.run(call, env={**os.environ, "PYTHONPATH": SEARCH}, capture_output=True, text=True)
    told = [line.split() for line in done.stdout.splitlines() if line.startswith("STATUS")]
    assert {"demo", "train", "tournament"} <= {name for _, name, _ in told}, done.stderr
    assert [name for _, name, status in told if status != "0"] == [], done.stderr


def test_the_page_of_a_package_index_needs_nothing_of_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    assert not [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")]
    assert "<img" not in text


@pytest.mark.parametrize("package", ["risk_env", "risk_agents", "risk_agents.tournament"])
def test_every_public_name_can_be_imported(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_names_of_entry_points_are_words() -> None:
    """Packaging tools warn about names with other characters, such as a colon. A dot is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = project["entry-points"]["risk_env.agents"]
    assert [name for name in named if not re.fullmatch(r"\w+(\.\w+)?", name)] == []


PLUGIN = """
from risk_env import Agent

class Second(Agent):
    "`second`: the other one."
    version = "2"

class First(Agent):
    "`first`: the usual one."
"""


def test_a_plugin_has_variants_and_names_load_no_player(tmp_path: Path) -> None:
    (tmp_path / "plugin_bots.py").write_text(PLUGIN, encoding="utf-8")
    facts = tmp_path / "plugin-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Name: plugin\nVersion: 1\n", encoding="utf-8")
    entries = {"first": "plugin_bots:First", "first.second": "plugin_bots:Second", "broken": "nowhere:BOT"}
    lines = "".join(f"{name} = {value}\n" for name, value in {**entries, "a:b": "plugin_bots:Second"}.items())
    (facts / "entry_points.txt").write_text(f"[risk_env.agents]\n{lines}", encoding="utf-8")
    code = (
        "import sys; from risk_env import bots; "
        "print(sorted({'first', 'first:second', 'tactician:quick', 'broken'} - {*bots.names()}), "
        "'a:b' in bots.names(), bots.is_registered('first:third'), bots.is_registered('first:second'), "
        "{'plugin_bots', 'risk_agents'} & {*sys.modules}, "
        "bots.find('first:second').version, bots.about('first:second'))"
    )
    search = os.pathsep.join((str(tmp_path), SEARCH))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    assert done.stdout == "[] False False True set() 2 `second`: the other one.\n", done.stderr


def test_the_version_is_set_in_one_place() -> None:
    """`tests/test_docs.py` compares CITATION.cff, `tests/test_cli.py` the command."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in facts["project"] and facts["project"]["dynamic"] == ["version"]
    assert facts["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "risk_env.__version__"}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+) ?(.*)$", changes, re.MULTILINE)
    assert headings[0][0] == risk_env.__version__
    assert all(re.fullmatch(r"|\(unreleased\)|\(\d{4}-\d\d-\d\d\)", date) for _version, date in headings)


DOCKER_WORDS = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}


def test_the_dockerfile_serves_as_a_plain_user_on_the_port_that_it_checks() -> None:
    """Nothing is built here: the instructions are read, and their programs are checked."""
    pytest.importorskip("starlette")
    from risk_agents.web.cli import _parser

    lines = instructions(ROOT / "Dockerfile")
    assert {word for word, _ in lines} == DOCKER_WORDS
    last = dict(lines)  # the last line of each instruction
    assert last["USER"] == "risk" and [word for word, _ in lines].index("USER") < len(lines) - 1
    for word, rest in lines:
        if word == "COPY" and not rest.startswith("--from"):
            assert rest == ". ."
    program, command, *options = json.loads(last["ENTRYPOINT"])
    served = _parser().parse_args(options)
    assert (program, command, served.host) == ("risk-env", "serve", "0.0.0.0")
    assert Path(served.database).parent == Path(last["VOLUME"]) and int(last["EXPOSE"]) == served.port
    assert f"http://127.0.0.1:{served.port}/" in health_code(lines)
    assert {"web"} == {*re.findall(r"\[(\w+)\]\"", " ".join(rest for _, rest in lines))}


CHANGES = """# Changelog

## 1.2.0 (2027-01-31)

### Added
* Maps ([docs](docs/maps.md#8-maps)), [a site](https://example.org).

## 1.1.0 (2027-01-01)
* Old.
"""


def test_release_notes_are_the_first_section_of_the_changelog() -> None:
    notes = release_notes(CHANGES, "1.2.0")
    wanted = "### Added\n* Maps (`docs/maps.md#8-maps`), [a site](https://example.org).\n"
    assert notes == f"# risk_env 1.2.0 (2027-01-31)\n\n{wanted}"


@pytest.mark.parametrize(
    "heading", ["1.2.0", "1.2.0 (unreleased)", "1.2.1 (2027-01-31)", "1x2.0 (2027-01-31)"]
)
def test_a_release_needs_a_dated_section_of_its_version(heading: str) -> None:
    with pytest.raises(SystemExit, match=r"CHANGELOG\.md begins with"):
        release_notes(CHANGES.replace("1.2.0 (2027-01-31)", heading), "1.2.0")


def test_the_page_of_formats_has_the_numbers_of_the_code() -> None:
    text = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (\d+) \| (.*) \|$", text, re.MULTILINE)
    numbers = {name: number for number, names in rows for name in re.findall("`(.*?)`", names)}
    assert len(numbers) > 10
    for name, number in numbers.items():
        module, _, constant = name.rpartition(".")
        assert str(getattr(importlib.import_module(module), constant)).split()[-1] == number, name


def test_runs_of_ci_in_a_row_get_the_supported_versions_by_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = pythons.tested_versions()
    monkeypatch.setattr(pythons, "interpreter", "python{}".format)
    runs = [pythons.interpreter_of_turn(turn) for turn in range(7, 7 + len(versions))]
    assert sorted(runs) == [f"python{version}" for version in versions]


def test_a_run_of_ci_without_the_version_of_its_turn_uses_the_interpreter_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pythons, "interpreter", lambda version: None)
    assert {pythons.interpreter_of_turn(turn) for turn in range(3)} == {sys.executable}
