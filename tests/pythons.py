"""Run the quick tests on every Python version that the package is tested with: `python -m tests.pythons`.

The classifiers in pyproject.toml name the versions. An interpreter is found as `python3.X` on the path, or
in the folder of pyenv. Each version gets an environment of its own, build/python3.X, with the core and
pytest only. There, `make quick` runs the tests without compiling, and a short program then compiles and
plays games.

The exit status is 0 only if every version was found and passed.

Each CI run runs all tests on one version. `--turn N` prints the interpreter for commit N. Consecutive commits
get the versions by turns. If the version is not found, the interpreter of this program is printed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.dependency_check import USE
from tests.wheel_check import ROOT, clean

CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")
MISSING, PASSED, FAILED = "not found", "passed", "FAILED"


def main() -> int:
    """Test each version, print one line for each, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.pythons",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("versions", nargs="*", metavar="3.X", help="versions to test (default: all)")
    parser.add_argument(
        "--turn", type=int, metavar="N", help="print the interpreter for commit N in CI, and stop"
    )
    arguments = parser.parse_args()
    if arguments.turn is not None:
        print(interpreter_of_turn(arguments.turn))
        return 0
    wanted = arguments.versions or tested_versions()
    if unknown := sorted({*wanted} - {*tested_versions()}):
        parser.error(f"{', '.join(unknown)}: allowed: {', '.join(tested_versions())}")
    results = {version: result(version) for version in wanted}
    for version, told in results.items():
        print(f"== Python {version}: {told}")
    return int(any(told != PASSED for told in results.values()))


def tested_versions() -> list[str]:
    """Return the Python versions that the classifiers name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [found[1] for line in project["classifiers"] if (found := CLASSIFIER.fullmatch(line))]


def interpreter_of_turn(turn: int) -> str:
    """Return the path of the interpreter with which CI tests commit number `turn`."""
    versions = tested_versions()
    return interpreter(versions[turn % len(versions)]) or sys.executable


def result(version: str) -> str:
    """Test one version; return PASSED, FAILED or MISSING."""
    python = interpreter(version)
    if python is None:
        return MISSING
    place = ROOT / "build" / f"python{version}"
    print(f"== Python {version}: {python}", flush=True)
    command = ["make", "quick", f"PYTHON={python}", f"VENV={place}", "ARGS="]
    quick = subprocess.run(command, cwd=ROOT, env=clean())
    return PASSED if quick.returncode == 0 and compiles(place / "bin" / "python") else FAILED


def interpreter(version: str) -> str | None:
    """Return the path of an interpreter of a version, or None."""
    return next((path for path in candidates(version) if runs(path, version)), None)


def candidates(version: str) -> Iterator[str]:
    """Yield paths where an interpreter of a version may be."""
    if found := shutil.which(f"python{version}"):
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python{version}")), reverse=True)


def runs(python: str, version: str) -> bool:
    """Return whether a path is an interpreter of a version. A shim of pyenv may start nothing."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() == version


def compiles(python: Path) -> bool:
    """Return whether games can be compiled and played, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        settings = clean() | {"RISK_ENV_CACHE_DIR": folder}
        done = subprocess.run([python, "-W", "ignore", "-c", USE], cwd=folder, env=settings)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
