"""Build the sdist and, from it, the wheel, and use the wheel as a new user would.

`python -m tests.wheel_check` (`make wheel-check`) takes some minutes and needs the package `build`. The wheel
is installed with its dependencies into an empty environment. It is used outside the clone, with folders
called `agents`, `training` and `benchmarks` in the current directory, without a writable home, and without
any extra. With `--tests`, a part of the sdist's own tests also runs from the unpacked archive, with this
environment's Python.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("risk_agents", "risk_env", "risk_training")
EXTRA_COMMANDS = {
    "train --config tiny": "train",
    "tournament --agents random --against random --report report.html": "tournament",
}
BOT = '''
from risk_env import Agent, View


class Mine(Agent):
    """The first legal action."""

    name, version = "mine", "1"

    def act(self, view: View) -> int:
        return int(view.legal_actions[0])
'''
SDIST_TESTS = ("tests/test_rules.py", "tests/test_maps.py", "tests/test_game.py", "tests/test_cli.py")


def main() -> None:
    """Build, check the archives, install, and use the wheel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", action="store_true", help="also run a part of the sdist's own tests")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", str(place), str(ROOT), cwd=ROOT)
        (wheel,), (sdist,) = place.glob("*.whl"), place.glob("*.tar.gz")
        check_contents(wheel, sdist)
        use_wheel(wheel, place)
        if arguments.tests:
            run_tests(sdist, place)


def check_contents(wheel: Path, sdist: Path) -> None:
    """Check that the wheel holds exactly git's files of the packages, and the sdist all of git's files."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    known = run("git", "ls-files", cwd=ROOT).splitlines()
    wanted = set(filter(None, map(in_wheel, known)))
    missing = [name for name in known if name not in held and not name.startswith(".git")] + sorted(
        wanted - names
    )
    if names != wanted or missing:
        raise SystemExit(
            f"wheel-check: in the wheel by mistake: {sorted(names - wanted)}; left out: {missing}"
        )


def in_wheel(name: str) -> str:
    """Return the path in the wheel of a file of the repository, or "" if no package contains it."""
    for package in PACKAGES:
        _folder, found, rest = f"/{name}".partition(f"/{package}/")
        if found:
            return f"{package}/{rest}"
    return ""


def use_wheel(wheel: Path, place: Path) -> None:
    """Install into an empty environment, and use the wheel outside the clone."""
    venv.create(place / "environment", with_pip=True)
    python = str(place / "environment" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel))
    here = place / "elsewhere"
    for name in ("agents", "training", "benchmarks"):  # folders that belong to the user
        (here / name).mkdir(parents=True)
        (here / name / "__init__.py").touch()
    (here / "mine.py").write_text(BOT, encoding="utf-8")
    for words in commands():
        print(f"== {' '.join(words)}", flush=True)
        run(python, *words, cwd=here, **usual(place))
    for words, extra in EXTRA_COMMANDS.items():
        names_extra(python, words, extra, here, usual(place))
    without_home(python, here)


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the commands that run outside the clone."""
    yield (
        "-c",
        "import risk_env, risk_agents; print(risk_env.__version__, risk_env.Game('classic', seed=1).seat)",
    )
    program = ("-m", "risk_env")
    yield (*program, "agents")
    yield (
        *program,
        "tournament",
        "--agents",
        "mine.py:Mine,random",
        "--players",
        "2",
        "--games",
        "4",
        "--quiet",
    )
    yield (*program, "warmup", "--bots")
    yield (*program, "demo", "--no-training")


def usual(place: Path) -> dict[str, str]:
    """Return settings with an empty, writable home."""
    (place / "home").mkdir(exist_ok=True)
    return {"HOME": str(place / "home")}


def names_extra(python: str, words: str, extra: str, here: Path, settings: dict[str, str]) -> None:
    """Check that a command whose extra is missing says so before it does any work."""
    done = subprocess.run(
        [python, "-m", "risk_env", *words.split()],
        cwd=here,
        env=clean() | settings,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0 or f"risk-env[{extra}]" not in done.stderr:
        raise SystemExit(f"wheel-check: {words} without the extra {extra!r} says: {done.stderr}")
    print(f"== {words}: {done.stderr.strip()}")


def without_home(python: str, here: Path) -> None:
    """Play a game with neither a writable home nor, unless this is root, a writable current folder."""
    settings = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/nonexistent"}
    here.chmod(0o555)
    print("== A game without a home", flush=True)
    run(python, "-c", "import risk_env; print(risk_env.Game('classic', seed=1).seat)", cwd=here, **settings)
    here.chmod(0o755)


def run_tests(sdist: Path, place: Path) -> None:
    """Run a part of the tests from the unpacked sdist alone."""
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    (root,) = (place / "unpacked").iterdir()
    print(f"== Tests of {root.name}", flush=True)
    search = os.pathsep.join(str(root / folder) for folder in (".", "agents", "training"))
    print(run(sys.executable, "-m", "pytest", "-q", "-x", *SDIST_TESTS, cwd=root, PYTHONPATH=search)[-200:])


def clean() -> dict[str, str]:
    """Return this environment's variables without those that would show the clone to Python."""
    return {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RISK_ENV_CACHE_DIR")
    }


def run(*command: str, cwd: Path | None = None, **settings: str) -> str:
    """Run a command that must succeed and return its output."""
    done = subprocess.run(command, cwd=cwd, env=clean() | settings, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"wheel-check: {' '.join(command)}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
    return done.stdout


if __name__ == "__main__":
    main()
