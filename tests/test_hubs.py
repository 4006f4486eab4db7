"""Bundles of `examples/hubs`: tests that need none of the hubs' packages.

`make clients` runs the checks of the hubs.
"""

import importlib.util
import json
import random
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import risk_env
from tests.dockerfiles import health_code, instructions

HUBS = Path(__file__).parent.parent / "examples" / "hubs"


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def hubs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module `bundle.py`, without calls of pip and uv."""
    found = module(HUBS / "bundle.py")
    monkeypatch.setattr(found, "add_wheel", lambda folder: None)
    monkeypatch.setattr(found, "lock", lambda folder, uv: None)
    monkeypatch.setattr(found, "path_of_uv", lambda: "uv")
    return found


@pytest.mark.parametrize("name", ["kaggle", "openenv", "verifiers"])
def test_a_bundle_is_filled_in_and_valid(name: str, hubs: ModuleType, tmp_path: Path) -> None:
    folder = hubs.bundle(name, tmp_path / name)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in paths} >= {".py", ".json" if name == "kaggle" else ".toml"}
    for path in paths:
        if path.suffix == ".toml":
            project = tomllib.loads(path.read_text())["project"]
            needed = [each for each in project["dependencies"] if each.startswith("risk-env")]
            assert project["version"] == risk_env.__version__ and risk_env.__version__ in needed[0]
        elif path.suffix == ".json":
            assert json.loads(path.read_text())["version"] == risk_env.__version__
        elif path.suffix == ".py":
            compile(path.read_text(), str(path), "exec")
    with pytest.raises(SystemExit, match="exists already"):
        hubs.bundle(name, folder)


def test_without_uv_no_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = module(HUBS / "bundle.py")
    monkeypatch.setattr(found.shutil, "which", lambda name, path=None: None)
    with pytest.raises(SystemExit, match="pip install uv"):
        found.bundle("openenv", tmp_path / "openenv")
    assert not [*tmp_path.iterdir()]


def test_openenvs_container_starts_the_server_of_the_bundle_as_a_plain_user() -> None:
    """Nothing is built here: the instructions are compared with the files of the bundle."""
    folder = HUBS / "openenv"
    lines = instructions(folder / "server" / "Dockerfile")
    last, words = dict(lines), [word for word, _ in lines]
    assert set(words) == {*("FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "CMD")}
    assert last["USER"] == "risk" and words.index("USER") < words.index("CMD")
    copied, warmed, synced = (
        next(number for number, (_, rest) in enumerate(lines) if part in rest)
        for part in ("--chown=risk . .", "risk-env warmup", "uv sync --frozen")
    )
    assert copied < synced < warmed and words.index("USER") < warmed  # the cache is in the user's home
    program, *options = json.loads(last["CMD"])
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert program in project["scripts"]
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert given == {"--host": "0.0.0.0", "--port": last["EXPOSE"]}
    source = (folder / "server" / "app.py").read_text()
    assert all(f'add("{name}"' in source or f'add_argument("{name}"' in source for name in given)
    assert f"http://127.0.0.1:{last['EXPOSE']}/health" in health_code(lines)
    for text in ((folder / "openenv.yaml").read_text(), (folder / "README.md").read_text()):
        assert re.search(rf"^(app_)?port: {last['EXPOSE']}$", text, re.MULTILINE)


def test_kaggles_bundle_knows_all_maps() -> None:
    specification = json.loads((HUBS / "kaggle" / "risk" / "risk.json").read_text())
    maps = (path.stem for path in (Path(risk_env.__file__).parent / "board" / "map_files").glob("*.toml"))
    assert specification["configuration"]["board"]["enum"] == sorted(maps)


@pytest.mark.parametrize("fault", [None, "INVALID", "TIMEOUT"])
def test_kaggles_interpreter_plays_a_game_from_its_states_alone(fault: str | None) -> None:
    kaggle = module(HUBS / "kaggle" / "risk" / "risk.py")
    settings = SimpleNamespace(board="tiny", maxRounds=2, seed=3)
    state = [
        SimpleNamespace(status="INACTIVE", action=None, reward=0, info={}, observation=SimpleNamespace())
        for _ in range(3)
    ]
    state, chance = kaggle.interpreter(state, environment(settings, done=True)), random.Random(1)
    for number in range(1000):
        (seat,) = [seat for seat, agent in enumerate(state) if agent.status == "ACTIVE"]
        acting: Any = state[seat]
        assert len(acting.observation.legal) == len(acting.observation.texts) > 0
        acting.action = chance.choice(acting.observation.legal)
        if fault and number == 20:
            acting.action, acting.status = 10**6, "ACTIVE" if fault == "INVALID" else fault
        state = kaggle.interpreter(state, environment(settings, done=False))
        if all(agent.status != "ACTIVE" for agent in state):
            break
    if fault:
        assert [agent.status for agent in state].count("DONE") == 2 and state[seat].status == fault
        assert [agent.reward for agent in state if agent.status == "DONE"] == [0.5, 0.5]
    else:
        assert {agent.status for agent in state} == {"DONE"} and state[0].observation.public["round"] >= 2
    assert "<svg" in kaggle.html_renderer(environment(settings, done=True))
    assert "Ash" in kaggle.renderer(state, None)


def environment(settings: SimpleNamespace, done: bool) -> SimpleNamespace:
    return SimpleNamespace(done=done, configuration=settings)


def test_bundle_needs_a_known_name(hubs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bundle.py", "moon"])
    with pytest.raises(SystemExit):
        hubs.main()
