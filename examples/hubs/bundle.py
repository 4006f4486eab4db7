"""Write the folder that a hub for environments needs: `python examples/hubs/bundle.py NAME` (`make hub`).

The folders beside this file are the sources of the bundles. The command copies one of these folders, writes
the version of risk-env into the copy, and adds the other files that the hub needs:

* openenv: a wheel of risk-env, and a lock file. To write the lock file, install uv: `pip install uv`.
* verifiers: no other files. The hub installs risk-env from a package index.
* kaggle: no other files. Kaggle's package and risk-env are installed separately.

docs/hubs.md explains how each bundle is checked and uploaded.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HUBS = ("kaggle", "openenv", "verifiers")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info", "build", ".venv")
PLACEHOLDER = "0.0.0"  # stands for the version in files that match TEXTS
TEXTS = ("*.toml", "*.json")


def bundle(name: str, folder: Path) -> Path:
    """Write the bundle of a hub into a new folder, and return the folder."""
    if folder.exists():
        raise SystemExit(f"bundle: {folder} exists already; delete it, or choose another folder with --out")
    uv = path_of_uv() if name == "openenv" else ""
    shutil.copytree(HERE / name, folder, ignore=LEFT_OUT)
    for path in sorted(path for pattern in TEXTS for path in folder.rglob(pattern)):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(PLACEHOLDER, version()), encoding="utf-8")
    if name == "openenv":
        add_wheel(folder / "wheels")
        lock(folder, uv)
    return folder


def version() -> str:
    """Return the version of risk-env in this clone."""
    text = (ROOT / "risk_env" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "([^"]+)"', text, re.MULTILINE)[0]


def add_wheel(folder: Path) -> None:
    """Build a wheel of risk-env into a folder."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))


def path_of_uv() -> str:
    """Return the path of uv; exit with an error, before anything is written, if uv is not installed."""
    if found := shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv"):
        return found
    raise SystemExit("bundle: the lock file needs uv: pip install uv")


def lock(folder: Path, uv: str) -> None:
    """Write the lock file `uv.lock` into a folder."""
    run(uv, "lock", "--quiet", "--project", str(folder))


def run(*command: str) -> None:
    """Run a command. If the command fails, exit with the output of its error stream."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"bundle: {' '.join(command)}: status {done.returncode}\n{done.stderr}")


def main() -> None:
    """Write the bundle that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("name", choices=HUBS, help="name of the hub")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new folder (default: build/hubs/NAME)")
    arguments = parser.parse_args()
    folder = arguments.out or ROOT / "build" / "hubs" / arguments.name
    print(f"wrote {bundle(arguments.name, folder)}; docs/hubs.md explains how to check and upload the bundle")


if __name__ == "__main__":
    main()
