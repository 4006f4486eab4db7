"""The cache of compiled code: its content is executed, so no other user may be able to write to it."""

import errno
import importlib.util
import logging
import os
import random
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from risk_env.compiler import JIT_DISABLED, PLAIN, cache, notice
from risk_env.seeds import game_seed
from tests.full_disk import full_disk

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and modes of files")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return home and temporary folder of a user, both empty."""
    for variable in ("RISK_ENV_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(temporary))
    cache.cache_root.cache_clear()
    yield home / ".cache" / "risk_env", temporary / f"risk_env-{os.getuid()}"
    cache.cache_root.cache_clear()


def directory():
    found = cache.cache_directory(cache._PACKAGE / "core", "risk_env.core.entry")
    return None if found is None else os.path.dirname(found)


def block(folder):
    """Create a file where a folder is expected, so that nobody, not even root, can create the folder."""
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


# Files of compiled code

KERNELS = """
import numpy as np
from risk_env.compiler import entry_point

@entry_point
def total(numbers):
    found = numbers[0]
    for number in numbers:
        found += number
    return found
"""


@pytest.fixture
def kernels(tmp_path, monkeypatch, caplog):
    """Return a folder for compiled code, and a function that imports the kernels again.

    The function calls one kernel and returns the reports.
    """
    monkeypatch.setenv("RISK_ENV_CACHE_DIR", str(tmp_path / "compiled"))
    monkeypatch.setattr(notice, "_reported", set())
    cache.cache_root.cache_clear()
    source = tmp_path / "kernels" / "kernels.py"
    source.parent.mkdir()
    source.write_text(KERNELS)

    def call(expected=4, numbers=(1, 2)):
        notice._reported.clear()
        caplog.clear()
        spec = importlib.util.spec_from_file_location("kernels", source)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "kernels", module)
        spec.loader.exec_module(module)
        with caplog.at_level(logging.WARNING, logger="risk_env"):
            assert module.total(np.array(numbers)) == expected
        return [record.getMessage() for record in caplog.records if "compiling" not in record.getMessage()]

    yield tmp_path / "compiled", call
    cache.cache_root.cache_clear()


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def damage_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_bit(path):
    content = bytearray(path.read_bytes())
    content[random.Random(1).randrange(len(content))] ^= 4
    path.write_bytes(content)


def damage_type(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": damage_half,
    "garbage": lambda path: path.write_bytes(random.Random(0).randbytes(5000)),
    "a pickle of something else": lambda path: path.write_bytes(b"\x80\x04N."),
    "a bit": damage_bit,
    "not readable": lambda path: path.chmod(0),  # root reads it all the same
    "a folder": damage_type,
}
WITH_CHECKSUM = ("a pickle of something else", "a bit")  # is found by the checksum only


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if not (PLAIN and damage in WITH_CHECKSUM)])
def test_a_damaged_file_is_made_again_and_said(kernels, damage):
    folder, call = kernels
    assert call() == []
    assert files(folder) and call() == []
    for path in files(folder):
        DAMAGES[damage](path)
    said = call()
    if damage == "not readable" and os.getuid() == 0:
        assert said == []
        return
    assert f"compiled code in {folder} cannot be read and will be compiled again" in said[0]
    if damage != "a folder":
        assert len(said) == 1 and call() == []  # it was repaired
    else:
        assert "cannot be saved" in said[1]


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_files_or_folders_that_vanish_are_made_again(kernels):
    folder, call = kernels
    call()
    for path in files(folder):
        path.unlink()
    assert call() == [] and files(folder)
    shutil.rmtree(folder)
    cache.cache_root.cache_clear()
    assert call() == [] and files(folder)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_full_disk_is_said_once_and_leaves_no_half_files(kernels):
    folder, call = kernels
    with full_disk(1000):
        (said,) = call()
    assert f"compiled code cannot be saved in {folder}" in said and os.strerror(errno.EFBIG) in said
    assert files(folder) == []
    assert call() == [] and files(folder)


@pytest.mark.skipif(JIT_DISABLED or PLAIN, reason="nothing is compiled, or files are Numba's own")
def test_processes_that_write_at_the_same_time_keep_their_own_code(kernels):
    """Numba numbers the files of an entry point: two processes with other types gave both the number 1."""
    folder, call = kernels
    call()
    program = (
        "import numpy as np, sys; from kernels import total; print(total(np.arange(3, dtype=sys.argv[1])))"
    )
    path = os.pathsep.join([str(folder.parent / "kernels"), str(Path(__file__).parents[1])])
    for left in files(folder):
        left.unlink()

    def run(kind):
        return subprocess.run(
            [sys.executable, "-c", program, kind],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )

    for _ in range(2):  # the second time all is loaded
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(run, ("i8", "f8")))
        assert [(each.stdout.strip(), each.returncode) for each in found] == [("3", 0), ("3.0", 0)], found
    assert "compiling" not in "".join(each.stderr for each in found)
    assert len(files(folder)) == 2
