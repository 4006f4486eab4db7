"""First rows of the leaderboard: the shipped agents on the tracks of `risk-env benchmark`.

    python -m benchmarks.leaderboard results/ --record

The command plays every agent of AGENTS whose result file is not yet in the folder, and prints the scores.
With `--check`, all games are played again and compared with the files. With `--record`, the headers of the
files are stored in `benchmarks/results`. For each agent and each track in SHOWN, the longest game that the
agent won in at most MOST_ACTIONS actions, if any, is stored too. `make docs` makes the page
docs/leaderboard.html from this record.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.arguments import documented_parser
from benchmarks.records import RESULTS, heading, heading_lines, keep, table
from risk_agents.benchmark import cli
from risk_agents.benchmark.leaderboard import LeaderboardEntry
from risk_agents.benchmark.result_file import SUFFIX, RecordedGame, header_of, read_recorded, read_results
from risk_agents.benchmark.scoring import TrackScore
from risk_agents.benchmark.tracks import ALL, names
from risk_agents.benchmark.verification import verify
from risk_agents.game_files import read_games
from risk_agents.tournament.results import NOBODY
from risk_agents.workers import WorkExecutor, open_executor
from risk_env.messages import counted
from risk_env.whole_file import whole_file

NAME = "leaderboard"  # name of the record
PACKAGES = ("risk-env", "numpy", "numba")
CODE = "part of risk_env"
SCRIPT, SEARCH = "scripted", "search over one turn"
SHOWN = ("duel", "six")  # tracks with replays
MOST_ACTIONS = 1500  # maximum number of actions in a game with a replay


class Measured(NamedTuple):
    """Agent of the leaderboard, the tracks that the agent plays, and the description of the agent."""

    agent: str
    method: str
    budget: str = "no training"
    tracks: str = ALL  # value of `--track`
    quick: bool = True

    @property
    def file(self) -> str:
        """Name of the result file."""
        return f"{self.agent.replace(':', '-')}{SUFFIX}"


AGENTS = (
    Measured("random", "uniformly random legal actions"),
    Measured("attacker", SCRIPT),
    Measured("grower", SCRIPT),
    Measured("hunter", SCRIPT),
    Measured("breaker", SCRIPT),
    Measured("evolved:1", SCRIPT, "11 generations of a search over 18 parameters"),
    Measured("planner", SEARCH),
    Measured("beam", SEARCH, "weights tuned against the scripted bots"),
    Measured("tactician", f"{SEARCH}, learned policy and value", "2,000 and 15,000 games"),
    Measured("duelist", "policy network", "6,029,312 decisions", quick=False),
    Measured("marshal", f"{SEARCH}, learned value", "24,000 games", quick=False),
    Measured("strategist", "Monte Carlo search, learned value", "300,000 games", "duel,three,six"),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Play the missing games, print the scores and, if `--record` is given, store the record."""
    parser = documented_parser(__doc__)
    parser.add_argument("folder", type=Path, help="folder for the result files")
    parser.add_argument("--workers", default="1", help="number of worker processes (default: 1)")
    parser.add_argument("--check", action="store_true", help="play all games again, and compare the results")
    parser.add_argument("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.leaderboard", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for measured in AGENTS:
        if not (arguments.folder / measured.file).exists():
            cli.main(_command(measured, arguments.folder, arguments.workers))
    paths = [arguments.folder / measured.file for measured in AGENTS]
    with open_executor(arguments.workers) as executor:
        record["rows"] = [_row(path, executor if arguments.check else None) for path in paths]
    print(report(record))
    if arguments.record:
        path = keep(NAME, record, report(record), RESULTS)
        with whole_file(path.with_suffix(SUFFIX)) as fresh:
            fresh.write_text("".join(map(_line, shown_games(paths))), encoding="utf-8")


def _command(measured: Measured, folder: Path, workers: str) -> list[str]:
    """Return the arguments of `risk-env benchmark`."""
    words = ["--method", measured.method, "--budget", measured.budget, "--code", CODE]
    words += ["--track", measured.tracks, "--workers", workers, "--out", str(folder / measured.file)]
    return [measured.agent, *words, *["--quick"] * measured.quick]


def _row(path: Path, executor: WorkExecutor | None) -> dict[str, Any]:
    """Return the row of a result file in the record. If there is an executor, verify the file."""
    verified = None if executor is None else verify(path, executor).agent_played
    return {"file": path.name, "verified": verified, "header": dict(read_results(path)[0].facts)}


def shown_games(paths: Sequence[Path]) -> Iterator[tuple[str, RecordedGame]]:
    """Yield the longest game that the agent won, for each file and each track in SHOWN, with the file's name.

    Games with more than MOST_ACTIONS actions are left out.
    """
    for path in paths:
        longest: dict[str, RecordedGame] = {}
        for game in read_recorded(path):
            result, track = game.result, game.track.name
            is_won = result.winner != NOBODY and result.seats[result.winner] == 0
            is_longest = track not in longest or result.rounds > longest[track].result.rounds
            if track in SHOWN and is_won and is_longest and len(game.saved.actions) <= MOST_ACTIONS:
                longest[track] = game
        yield from ((path.name, game) for game in longest.values())


def _line(shown: tuple[str, RecordedGame]) -> str:
    """Return a game as a line of JSON. The key `result` names the result file and the page of the replay."""
    file, game = shown
    title = f"{game.track.title}, {counted(game.result.rounds, 'round')}"
    facts = {"file": file, "page": f"{Path(file).stem}-{game.track.title}.html", "title": title}
    return json.dumps(game.saved.to_dict() | {"result": facts}) + "\n"


# ------------------------------------------------------------------------------------- the page in the docs


def entries(record: dict[str, Any], folder: str) -> list[LeaderboardEntry]:
    """Return the rows of a record for the page; `folder` is the address of the folder with the replays.

    The record contains the name of its file under the key `file`.
    """
    shown = [facts for _, facts in read_games(RESULTS / f"{record['file']}{SUFFIX}")]
    found = []
    for row in record["rows"]:
        header = header_of(row["header"])
        scores = {each["name"]: TrackScore.from_dict(each["score"]) for each in row["header"]["tracks"]}
        links = [(f"{folder}/{each['page']}", each["title"]) for each in shown if each["file"] == row["file"]]
        found.append(LeaderboardEntry(row["file"], header, scores, links, row["verified"]))
    return found


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    cells = []
    for row in record["rows"]:
        facts = row["header"]
        scores = {each["name"]: each["score"] for each in facts["tracks"]}
        rates = (_rate(scores[name]["score"]) if name in scores else "" for name in names())
        part = "quick" if facts["quick"] else "all"
        cells.append([f"`{facts['agent']['name']}`", facts["agent"]["version"], part, *rates])
    columns = ["agent", "version", "games (all or quick)", *names()]
    return "\n".join(["# Leaderboard", "", *heading_lines(record), "", *table(columns, cells)])


def _rate(rate: Sequence[float]) -> str:
    value, low, high = rate
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"


if __name__ == "__main__":
    main()
