"""Install the package with the lowest or the newest dependencies that it allows, and use its core.

`python -m tests.dependency_check lowest` (`make lowest`) installs each dependency of the core in the first
version of its bound in pyproject.toml. `newest` ignores constraints.txt. It installs nothing if this
environment, in which all tests run, has these versions already. The check runs in an empty environment with
an empty cache of compiled code.
"""

import argparse
import json
import re
import sys
import tempfile
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.wheel_check import ROOT, run

USE = """
import numpy
from pettingzoo.test import api_test
from risk_env import arena, load_map, risk_v0, Rules

api_test(risk_v0.env(board="tiny"), num_cycles=60)
rules = Rules.preset("classic", 2, setup="random", max_rounds=20)
found = arena.play(rules, load_map("tiny"), ["random", "random"], 4)
assert (found["decisions"] > 20).all(), found
print("numpy", numpy.__version__)
"""


def main() -> None:
    """Install the dependencies and use the core."""
    parser = argparse.ArgumentParser(prog="python -m tests.dependency_check", description=__doc__)
    parser.add_argument("which", choices=("lowest", "newest"))
    which = parser.parse_args().which
    wanted = lowest() if which == "lowest" else newest()
    if not wanted:
        print("== newest dependencies: those of this environment")
        return
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", "--no-compile", *wanted, "-e", str(ROOT))
        words = run(python, "-W", "ignore", "-c", USE, cwd=Path(folder), RISK_ENV_CACHE_DIR=folder)
        print(f"== {which} dependencies: {' '.join(wanted)} {words.splitlines()[-1]}")


def lowest() -> list[str]:
    """Return the core's dependencies in their lowest allowed versions: numba==0.62, ..."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [re.sub(r">=([\d.]+).*", r"==\1", dependency) for dependency in dependencies]


def newest() -> list[str]:
    """Return the core's dependencies that pip would install in other versions: numba==0.68.1, ..."""
    options = ("--quiet", "--dry-run", "--ignore-installed", "--report", "-")
    found = json.loads(run(sys.executable, "-m", "pip", "install", *options, "-e", str(ROOT)))["install"]
    named = [
        (each["metadata"]["name"], each["metadata"]["version"]) for each in found if not each["is_direct"]
    ]
    return [f"{name}=={latest}" for name, latest in named if latest != installed(name)]


def installed(name: str) -> str:
    """Return the version of a package in this environment, or "" if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
