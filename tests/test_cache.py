"""The cache of compiled code: what lies there is run, so nobody else may be able to write there."""

import os
import subprocess
import sys
import warnings

import pytest

from risk_env.compiler import cache
from risk_env.seeds import game_seed

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and modes of files")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Home and temporary folder of a user, both empty."""
    for variable in ("RISK_ENV_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(temporary))
    cache._cache_root.cache_clear()
    yield home / ".cache" / "risk_env", temporary / f"risk_env-{os.getuid()}"
    cache._cache_root.cache_clear()


def directory():
    found = cache.cache_directory(cache._PACKAGE / "core", "risk_env.core.entry")
    return None if found is None else os.path.dirname(found)


def block(folder):
    """A file where a folder should be made: nobody, not even root, can make it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")


def test_the_home_comes_first_and_is_private(places):
    home, _ = places
    assert directory() == str(home)
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_written_is_passed_over(places):
    home, temporary = places
    block(home)
    assert directory() == str(temporary)
    assert temporary.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_is_not_used(places, mode):
    home, temporary = places
    block(home)
    temporary.mkdir()
    temporary.chmod(mode)
    with pytest.warns(RuntimeWarning, match="RISK_ENV_CACHE_DIR"):
        assert directory() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert directory() is None  # one warning is enough


def test_a_folder_of_somebody_else_is_not_used(places, monkeypatch):
    home, temporary = places
    block(home)
    temporary.mkdir(mode=0o700)
    stranger = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: stranger)
    temporary.rename(temporary.with_name(f"risk_env-{stranger}"))
    with pytest.warns(RuntimeWarning):
        assert directory() is None


def test_a_symbolic_link_is_not_followed(places, tmp_path):
    home, temporary = places
    block(home)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    temporary.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning):
        assert directory() is None


def test_a_chosen_folder_is_trusted(places, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("RISK_ENV_CACHE_DIR", str(shared))
    assert directory() == str(shared)


def test_without_any_folder_kernels_still_run(places, tmp_path):
    home, temporary = places
    block(home)
    block(temporary)
    program = "; ".join(
        [
            "import warnings, os, tempfile",
            "warnings.simplefilter('ignore')",
            "tempfile.tempdir = os.environ['AT']",
            "from risk_env.seeds import game_seed",
            "print(game_seed(1, 2, 3))",
        ]
    )
    environment = {**os.environ, "HOME": str(home), "AT": str(tmp_path / "tmp")}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) == int(game_seed(1, 2, 3))


def test_a_user_without_a_home_has_a_cache(places, monkeypatch):
    monkeypatch.setattr(cache.os.path, "expanduser", os.fspath)  # as Python does for an unknown user
    assert directory() == str(places[1])
