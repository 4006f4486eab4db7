"""Where compiled code is kept, and what is said before anything is compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from risk_env.compiler import cache, notice

ROOT = Path(__file__).parent.parent

PROGRAM = """
import sys
import numpy as np
from risk_env.compiler import entry_point

@entry_point
def first(numbers):
    return numbers[0]

@entry_point
def second(numbers):
    return numbers[1]

print(first(np.arange(2)), second(np.arange(2)))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with two kernels of its own, in a folder of its own."""
    path = tmp_path / "kernels.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def errors_of(program: Path, code: str = "import kernels", **environment: str) -> list[str]:
    """The lines on stderr of a process that runs the program with an own cache."""
    settings = {"RISK_ENV_CACHE_DIR": str(program.parent / "cache"), "PYTHONPATH": f"{program.parent}:{ROOT}"}
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "RISK_ENV_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=usual | settings | environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 1\n"
    return done.stderr.splitlines()


def test_compiling_is_reported_in_one_line_and_loading_is_not(program: Path) -> None:
    (line,) = errors_of(program)
    assert line.startswith("risk_env: compiling kernels for the first use")
    assert line.endswith(f"(cached in {program.parent / 'cache'})")
    assert errors_of(program) == []


def test_compiling_is_reported_again_after_a_pause(program: Path) -> None:
    code = "from risk_env.compiler import notice; notice.PAUSE = 0.0; import kernels"
    assert len(errors_of(program, code)) == 2


def test_the_report_is_a_warning_that_can_be_switched_off(program: Path) -> None:
    code = "import logging; logging.getLogger('risk_env').setLevel('ERROR'); import kernels"
    assert errors_of(program, code) == []


def test_nothing_is_reported_where_nothing_is_compiled(program: Path) -> None:
    assert errors_of(program, NUMBA_DISABLE_JIT="1") == []


def test_the_rules_are_named_as_such() -> None:
    assert "compiling the rules" in notice._notice("risk_env.core.entry", None)
    assert "not cached" in notice._notice("risk_env.core.entry", None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder and an empty folder of temporary files; nothing else is set."""
    for name in ("RISK_ENV_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    cache._cache_root.cache_clear()
    yield tmp_path
    cache._cache_root.cache_clear()


def test_the_cache_is_private(home: Path) -> None:
    root = cache._cache_root()
    assert root == home / "home" / ".cache" / "risk_env"
    assert root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_in_which_others_can_write_is_not_used(home: Path, mode: int) -> None:
    open_to_others = home / "home" / ".cache" / "risk_env"
    open_to_others.mkdir(parents=True)
    open_to_others.chmod(mode)
    assert cache._cache_root() == home / f"risk_env-{os.getuid()}"


def test_a_folder_of_somebody_else_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in cache._usual_roots():
        folder.mkdir(parents=True)
    monkeypatch.setattr(cache.os, "getuid", lambda: 10**6)
    theirs = home / "risk_env-1000000"
    theirs.mkdir()
    with pytest.warns(RuntimeWarning, match="RISK_ENV_CACHE_DIR"):
        assert cache._cache_root() is None


def test_a_folder_that_the_user_chose_is_used_whoever_owns_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("RISK_ENV_CACHE_DIR", str(shared))
    assert cache._cache_root() == shared


def test_a_user_without_a_home_has_a_cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.os.path, "expanduser", os.fspath)  # as Python does for an unknown user
    assert cache._cache_root() == home / f"risk_env-{os.getuid()}"
