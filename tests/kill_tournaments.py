"""`python -m tests.kill_tournaments --runs 200`: kill a tournament at random moments, go on, and compare.

Every run is a process that plays on the same file until it is killed by SIGKILL; the last plays to the end. No game
that was in the file may be lost or altered, and the results must be those of a tournament that nobody killed. When
that is shown, another tournament begins with the kills that are left.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from risk_agents.tournament.store import Store

ROOT = Path(__file__).parent.parent
AGENTS = ",".join(f"{ROOT / 'tests' / 'players.py'}:{name}" for name in ("FIRST", "BOLD", "LAZY"))
LONGEST = 6.0  # seconds until a kill


def command(out: Path, games: int, jobs: int) -> list[str]:
    """The command line that begins the tournament, or goes on with it."""
    own = ["--agents", AGENTS, "--players", "2", "--max-rounds", "12", "--record", os.devnull]
    place = ["--resume", str(out)] if out.exists() else ["--out", str(out)]
    extent = ["--games", str(games), "--jobs", str(jobs), "--quiet"]
    return [sys.executable, "-m", "risk_env", "tournament", *own, *place, *extent]


def rows(out: Path) -> dict[int, tuple]:
    """The games of a file by number, without what depends on the clock."""
    store = Store.open(out)
    found = {row["game"]: tuple(map(str, (row | {"seconds": ()}).values())) for row in store.rows()}
    store.close()
    return found


def killed(out: Path, games: int, jobs: int, seconds: float, plays: bool = False) -> bool:
    """Play on for some seconds, with `plays` from the first game written; whether the process had to be killed."""
    before = written(out)
    process = subprocess.Popen(command(out, games, jobs), cwd=ROOT, stdout=subprocess.DEVNULL)
    while plays and written(out) == before and process.poll() is None:
        time.sleep(0.01)
    try:
        if process.wait(seconds):
            raise AssertionError(f"exit status {process.returncode}")
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


def written(out: Path) -> int:
    """How many games are in a file."""
    if not out.exists():
        return 0
    with closing(sqlite3.connect(out, timeout=5)) as database:
        return database.execute("SELECT count(*) FROM games").fetchone()[0]


def check(out: Path, before: dict[int, tuple]) -> dict[int, tuple]:
    """The games that are there now; AssertionError if one that was there is not, or is another."""
    try:
        now = rows(out)
    except FileNotFoundError:
        now = {}
    lost = [number for number in before if now.get(number) != before[number]]
    if lost:
        raise AssertionError(f"games {lost[:5]} are lost or altered")
    return now


def moment(rng: random.Random) -> tuple[float, bool]:
    """When to kill: at any time, the start included, or soon after the first game was written."""
    return rng.choice(((rng.uniform(0, LONGEST), False), (rng.uniform(0, 2), True), (rng.uniform(0, 0.2), True)))


def kill_runs(runs: int, games: int, jobs: int, seed: int, say: Callable[[str], object] = print) -> int:
    """Kill this number of runs of tournaments; returns how many games they played."""
    rng, kills, played = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.sqlite")
        killed(whole, games, jobs, 1e4)
        expected = rows(whole)
        while kills < runs:
            out, before = Path(folder, f"killed-{kills}.sqlite"), {}
            while kills < runs and killed(out, games, jobs, *moment(rng)):
                kills += 1
                time.sleep(0.2)  # until its jobs have ended
                before = check(out, before)
                say(f"kill {kills}: {len(before)} games are there")
            killed(out, games, jobs, 1e4)
            if check(out, before) != expected:
                raise AssertionError("the results are not those of a tournament that nobody killed")
            played += len(expected)
    return played


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill_tournaments", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="kills (default: 20)")
    parser.add_argument("--games", type=int, default=20_000, metavar="N", help="of a tournament (default: 20,000)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes of a tournament (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="decides the moments (default: 0)")
    arguments = parser.parse_args()
    played = kill_runs(arguments.runs, arguments.games, arguments.jobs, arguments.seed)
    print(f"{arguments.runs} kills, {played} games: none lost, none altered, results as without a kill")


if __name__ == "__main__":
    main()
