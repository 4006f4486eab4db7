"""Builds the documentation site into build/site: `python docs/site.py` (make site). Warnings are errors.

The pages are those of the repository, at the same paths, so that a link works there as here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "build" / "site-source"  # `docs_dir` of mkdocs.yml
PAGES = ("*.md", "docs/**/*.md", "docs/**/*.png", "docs/**/*.css", "examples/*.py")
PAGES += ("training/README.md", "benchmarks/README.md", "benchmarks/results/*.md")


def main() -> int:
    """Copy the pages and build; the exit status."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path in sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        copy = SOURCE / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
