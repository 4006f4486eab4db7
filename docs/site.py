"""Build the documentation site in build/site: `python docs/site.py` (make site). Warnings are errors.

The site has the pages of the repository at the same paths, so that links work in both. On the first page, a
playable replay replaces the picture of a replay. The replays of the leaderboard are written too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from risk_agents.game_files import read_games
from risk_env import Match, Rules

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "build" / "site-source"  # `docs_dir` of mkdocs.yml
PAGES = ("*.md", "docs/**/*.md", "docs/**/*.png", "docs/**/*.svg", "docs/**/*.css", "examples/*.py")
PAGES += (
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "benchmarks/results/*.png",
    "research/*.md",
    "research/*.json",
    "research/*.png",
)
PAGES += ("docs/leaderboard.html",)
REPLAY = "docs/replay.html"
SHOWN = "benchmarks/results/leaderboard-*.jsonl"  # games with replays; only the newest file is read
LEADERBOARD_REPLAYS = "docs/leaderboard-replays"
PLAYERS, SEED = ("grower", "breaker", "attacker"), 3
PICTURE = re.compile(r"^.*\(docs/pictures/replay\.png\).*$", re.MULTILINE)
FRAME = f'<iframe src="{REPLAY}" title="A replay" width="100%" height="740" style="border: 0"></iframe>'


def main() -> int:
    """Copy the pages and build the site; return the exit status."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path in files():
        copy = SOURCE / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    write_replay(SOURCE / REPLAY)
    write_leaderboard_replays(SOURCE / LEADERBOARD_REPLAYS)
    show_replay(SOURCE / "README.md")
    return subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=ROOT
    ).returncode


def files() -> list[Path]:
    """Return the files of the repository that belong to the site."""
    return sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})


def write_replay(path: Path) -> None:
    """Play a game between three bots and write the replay."""
    rules = Rules.preset("classic", len(PLAYERS), profile="fast")
    match = Match(rules, "classic", PLAYERS, SEED)
    match.run()
    match.game.replay(PLAYERS).save(path)


def write_leaderboard_replays(folder: Path) -> None:
    """Write the replays to which docs/leaderboard.html links."""
    folder.mkdir(parents=True)
    for game, facts in read_games(max(ROOT.glob(SHOWN))):
        game.replay().replay(game.players).save(folder / facts["page"])


def show_replay(page: Path) -> None:
    """Replace the picture of a replay with a frame that shows the replay."""
    text, count = PICTURE.subn(FRAME, page.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(
            f"{page.name} shows docs/pictures/replay.png {count} times: it must show the picture exactly once"
        )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
