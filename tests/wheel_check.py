"""Build the sdist and, from it, the wheel, and use the wheel as a new user would.

`python -m tests.wheel_check` (`make wheel-check`) takes some minutes and needs the package `build`. The wheel
is installed with its dependencies into an empty environment. It is used outside the clone, with folders
called `agents`, `training` and `benchmarks` in the current directory, without a writable home, and without
any extra; then the server is used with the extra `web`. With `--tests`, a part of the sdist's own tests also
runs from the unpacked archive, with this environment's Python.

With `--release` (`make release`), the archives and the release notes are written to dist/. The version, the
changelog, the citation and git must agree before that. Only the short commands and `twine check` are run.
"""

import argparse
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
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
GRAPH = "continent,Land,2\nterritory,Ash,Land\nterritory,Elm,Land\nborder,Ash,Elm\n"
SHORT = (
    "risk-env --version",
    "risk-env demo --help",
    "risk-env agents",
    "risk-env maps list",
    "risk-env maps import mine.csv --out imported.toml",
    "risk-env maps check imported.toml",
    "risk-env play --opponents grower --save mine.game",  # the input ends at once: the game is saved
    "risk-env tournament --agents mine.py:Mine,random --players 2 --games 4 --quiet",
)
LONG = (
    "risk-env warmup --bots",
    "risk-env benchmark random --quick --track duel --quiet",
    "risk-env demo --no-training",
)
SDIST_TESTS = ("tests/test_rules.py", "tests/test_maps.py", "tests/test_game.py", "tests/test_cli.py")


def main() -> None:
    """Build, check the archives, install, and use the wheel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", action="store_true", help="also run a part of the sdist's own tests")
    parser.add_argument("--release", action="store_true", help="write a release to dist/, after fewer checks")
    arguments = parser.parse_args()
    version = check_release() if arguments.release else ""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", str(place), str(ROOT), cwd=ROOT)
        (wheel,), (sdist,) = place.glob("*.whl"), place.glob("*.tar.gz")
        check_contents(wheel, sdist)
        python = installed(wheel, place)
        use_wheel(python, place, SHORT if arguments.release else SHORT + LONG)
        if arguments.release:
            write_release(version, (wheel, sdist), place)
        else:
            use_server(python, wheel, place)
        if arguments.tests:
            run_tests(sdist, place)


def check_release() -> str:
    """Return the version; exit with an error if the repository is not ready for its release."""
    if changed := run("git", "status", "--porcelain", cwd=ROOT):
        raise SystemExit(f"release: commit these changes first:\n{changed}")
    sources = [(ROOT / name).read_text(encoding="utf-8") for name in ("risk_env/__init__.py", "CITATION.cff")]
    version, cited = (
        re.findall('^(?:__version__ =|version:) "?([^\\s"]+)', text, re.M)[0] for text in sources
    )
    if version != cited:
        raise SystemExit(f"release: CITATION.cff has version {cited}, not {version}: run make docs")
    release_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    return version


def release_notes(changes: str, version: str) -> str:
    """Return the section of a version in the changelog; exit with an error unless it is the first and dated.

    Links to files of the repository become their paths, because other sites show the notes.
    """
    heading, _, text = changes.partition("\n## ")[2].partition("\n")
    if not re.fullmatch(re.escape(version) + r" \(\d{4}-\d\d-\d\d\)", heading):
        raise SystemExit(f"release: CHANGELOG.md begins with {heading!r}, not with '{version} (date)'")
    section = text.partition("\n## ")[0].strip()
    return f"# risk_env {heading}\n\n" + re.sub(r"\[[^]]*\]\((?!https:)([^)]*)\)", r"`\1`", section) + "\n"


def write_release(version: str, archives: tuple[Path, ...], place: Path) -> None:
    """Check the archives' metadata with twine, and write archives and release notes to dist/."""
    venv.create(place / "twine", with_pip=True)
    python = str(place / "twine" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "twine")
    print(run(python, "-m", "twine", "check", "--strict", *map(str, archives)).strip())
    DIST.mkdir(exist_ok=True)
    for path in archives:
        shutil.copy(path, DIST)
    notes = release_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    (DIST / f"risk_env-{version}.md").write_text(notes, encoding="utf-8")
    print(f"== {DIST}: {', '.join(sorted(path.name for path in DIST.glob(f'*{version}*')))}")
    if "urls" not in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]:
        print("== pyproject.toml has no [project.urls]: an index shows no address of the source")


def check_contents(wheel: Path, sdist: Path) -> None:
    """Check that the wheel holds exactly git's files of the packages, and the sdist all of git's files.

    The wheel must also hold the licence and the page for an index.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        facts = {name.partition("/")[2]: name for name in archive.namelist() if ".dist-info/" in name}
        metadata = Parser().parsestr(archive.read(facts["METADATA"]).decode())
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
    if "licenses/LICENSE" not in facts or metadata["Description-Content-Type"] != "text/markdown":
        raise SystemExit(f"wheel-check: the licence or the page is missing: {sorted(facts)}, {metadata}")


def in_wheel(name: str) -> str:
    """Return the path in the wheel of a file of the repository, or "" if no package contains it."""
    for package in PACKAGES:
        _folder, found, rest = f"/{name}".partition(f"/{package}/")
        if found:
            return f"{package}/{rest}"
    return ""


def installed(wheel: Path, place: Path) -> str:
    """Install into an empty environment, and return its Python."""
    venv.create(place / "environment", with_pip=True)
    python = str(place / "environment" / "bin" / "python")
    install(python, str(wheel))
    return python


def install(python: str, package: str) -> None:
    """Install a package with the tested versions of its dependencies."""
    run(python, "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), package)


def use_wheel(python: str, place: Path, commands: tuple[str, ...]) -> None:
    """Use the package outside the clone."""
    here = place / "elsewhere"
    for name in ("agents", "training", "benchmarks"):  # folders that belong to the user
        (here / name).mkdir(parents=True)
        (here / name / "__init__.py").touch()
    (here / "mine.py").write_text(BOT, encoding="utf-8")
    (here / "mine.csv").write_text(GRAPH, encoding="utf-8")
    seconds = seconds_to_board(Path(python).with_name("risk-env"), here, clean() | usual(place))
    print(f"== risk-env demo: the first board after {seconds:.0f} s", flush=True)
    for words in commands:
        program, *rest = shlex.split(words)
        start = time.perf_counter()
        run(str(Path(python).with_name(program)), *rest, cwd=here, **usual(place))
        print(f"== {words}: {time.perf_counter() - start:.0f} s", flush=True)
    for words, extra in EXTRA_COMMANDS.items():
        names_extra(python, words, extra, here, usual(place))
    without_home(python, here)


def seconds_to_board(program: Path, here: Path, environment: dict[str, str]) -> float:
    """Start `risk-env demo`, and return the time to its first board. Then end the demo."""
    start, command = time.perf_counter(), (str(program), "demo", "--no-training", "--out", "runs/first")
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=here, env=environment, stdout=subprocess.PIPE, **quiet) as demo:
        try:
            for line in demo.stdout or ():
                if line.startswith(b"Round "):
                    return time.perf_counter() - start
        finally:
            demo.terminate()
    raise SystemExit(f"wheel-check: risk-env demo showed no board: status {demo.returncode}")


def use_server(python: str, wheel: Path, place: Path) -> None:
    """Install the extra `web`, start `risk-env serve`, and read its first page."""
    install(python, f"{wheel}[web]")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "risk_env", "serve", "--port", str(port)]
    print("== risk-env serve", flush=True)
    with subprocess.Popen(command, cwd=place, env=clean() | usual(place)) as server:
        try:
            page = first_page(f"http://127.0.0.1:{port}/", server)
        finally:
            server.terminate()
    if "<!doctype html>" not in page.lower():
        raise SystemExit(f"wheel-check: the server's first page is {page[:200]!r}")


def first_page(url: str, server: subprocess.Popen[bytes]) -> str:
    """Return the page of an address, as soon as the server answers."""
    for _ in range(120):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read().decode()
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.5)
    raise SystemExit(f"wheel-check: no answer from {url}; exit status of the server: {server.returncode}")


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
    environment, closed = clean() | settings, subprocess.DEVNULL
    done = subprocess.run(command, cwd=cwd, env=environment, stdin=closed, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"wheel-check: {' '.join(command)}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
    return done.stdout


if __name__ == "__main__":
    main()
