"""Run each script in APART in its own environment: `python -m tests.clients [NAME ...]` (`make clients`).

The libraries pin versions that exclude each other, and are large: the environments stay in build/clients.
"""

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

from tests.clients import APART

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "clients"


def main() -> int:
    """Install and run; exit status 1 if a script fails or a library cannot be installed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.clients", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"libraries to run: {', '.join(APART)} (default: all)"
    )
    names = parser.parse_args().names or list(APART)
    if unknown := set(names) - set(APART):
        parser.error(f"NAME={min(unknown)}: choose one of {', '.join(APART)}")
    failed = [name for name in names if not runs(name)]
    print(f"{len(failed)} of {len(names)} failed: {', '.join(failed)}" if failed else "all clients run")
    return 1 if failed else 0


def runs(name: str) -> bool:
    """Return whether the library can be installed and its script succeeds."""
    print(f"== {name}: {', then '.join(map(' '.join, APART[name]))}", flush=True)
    venv.create(FOLDER / name, with_pip=True)
    python = str(FOLDER / name / "bin" / "python")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    install = (python, "-m", "pip", "install", "--quiet", "--no-compile")
    script = (python, str(Path(__file__).parent / f"with_{name}.py"))
    return all(
        subprocess.run(words, cwd=ROOT, env=environment).returncode == 0
        for words in (*((*install, *packages) for packages in APART[name]), script)
    )


if __name__ == "__main__":
    sys.exit(main())
