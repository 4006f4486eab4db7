"""Kill a tournament at random moments, resume and compare: `python -m tests.kill_tournaments --runs 200`.

Every run is a process that continues the same file until it is killed by SIGKILL. The last one plays to the
end. No game in the file may be lost or altered, and the results must equal those of a tournament that was not
killed. After that, another tournament begins with the remaining kills.
"""

import argparse
import os
import random
import signal
import sqlite3
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.results_store import Store

ROOT = Path(__file__).parent.parent
AGENTS = ",".join(f"{ROOT / 'tests' / 'players.py'}:{name}" for name in ("FIRST", "BOLD", "LAZY"))
LONGEST = 3.0  # seconds until a kill


def arguments(out: Path, games: int, jobs: int) -> list[str]:
    """Return the arguments of `risk-env tournament` that begin or resume the tournament."""
    own = ["--agents", AGENTS, "--players", "2", "--max-rounds", "12", "--save", os.devnull]
    place = ["--resume", str(out)] if out.exists() else ["--out", str(out)]
    extent = ["--games", str(games), "--workers", str(jobs), "--quiet"]
    return [*own, *place, *extent]


def rows(out: Path) -> dict[int, tuple]:
    """Return the games of a file by number, without the times."""
    store = Store.open(out)
    found = {row["game"]: tuple(map(str, (row | {"seconds": ()}).values())) for row in store.rows()}
    store.close()
    return found


def killed(out: Path, games: int, jobs: int, seconds: float, plays: bool = False) -> bool:
    """Play on for some seconds, then kill the process, and return True if it was still running.

    With `plays`, the seconds count from the first written game. The process is a fork of this one, in which
    everything has been imported and compiled, so that it begins at once.
    """
    before = written(out)
    child = os.fork()
    if child == 0:
        _play_and_exit(arguments(out, games, jobs))
    while plays and written(out) == before:
        if has_ended(child):
            return False
        time.sleep(0.005)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if has_ended(child):
            return False
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _play_and_exit(words: list[str]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        tournament(words)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def has_ended(child: int) -> bool:
    """Return True if a process has ended, or raise AssertionError if it failed."""
    found, status = os.waitpid(child, os.WNOHANG)
    if status:
        raise AssertionError(f"exit status {os.waitstatus_to_exitcode(status)}")
    return found == child


def written(out: Path) -> int:
    """Return the number of games in a file."""
    if not _has_begun(out):
        return 0
    with closing(sqlite3.connect(out, timeout=5)) as database:
        return database.execute("SELECT count(*) FROM games").fetchone()[0]


def _has_begun(out: Path) -> bool:
    """Return True if a file has content: an empty one only keeps its name until the tournament is written."""
    return out.exists() and out.stat().st_size > 0


def check(out: Path, before: dict[int, tuple]) -> dict[int, tuple]:
    """Return the games in the file, or raise AssertionError if an earlier game is lost or altered."""
    try:
        now = rows(out)
    except FileNotFoundError:
        now = {}
    lost = [number for number in before if now.get(number) != before[number]]
    if lost:
        raise AssertionError(f"games {lost[:5]} are lost or altered")
    return now


def moment(rng: random.Random) -> tuple[float, bool]:
    """Return when to kill: at any time, including the start, or soon after the first written game."""
    return rng.choice(
        ((rng.uniform(0, LONGEST), False), (rng.uniform(0, 2), True), (rng.uniform(0, 0.2), True))
    )


def kill_runs(runs: int, games: int, jobs: int, seed: int, say: Callable[[str], object] = print) -> int:
    """Kill tournaments `runs` times in all and return the number of games that they played."""
    rng, kills, played = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.sqlite")
        tournament(arguments(whole, games, 1))  # every fork then has the imports and compiled code
        expected = rows(whole)
        while kills < runs:
            out, before = Path(folder, f"killed-{kills}.sqlite"), {}
            while kills < runs and killed(out, games, jobs, *moment(rng)):
                kills += 1
                time.sleep(0.2)  # until its jobs have ended
                if not _has_begun(out):
                    out.unlink(missing_ok=True)
                before = check(out, before)
                say(f"kill {kills}: {len(before)} games are there")
            killed(out, games, jobs, 1e4)
            if check(out, before) != expected:
                raise AssertionError("the results are not those of a tournament that nobody killed")
            played += len(expected)
    return played


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill_tournaments", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="number of kills (default: 20)")
    parser.add_argument(
        "--games", type=int, default=5_000, metavar="N", help="games per tournament (default: 5,000)"
    )
    parser.add_argument(
        "--jobs", type=int, default=2, metavar="N", help="processes per tournament (default: 2)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments of the kills (default: 0)")
    given = parser.parse_args()
    played = kill_runs(given.runs, given.games, given.jobs, given.seed)
    print(f"{given.runs} kills, {played} games: none lost, none altered, results as without a kill")


if __name__ == "__main__":
    main()
