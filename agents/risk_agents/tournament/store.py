"""The games of a tournament in an SQLite file, one row each, written when the game ends.

 setting, one row         games, one row each
 | setting | arguments |   | game | deal | agents | versions | starter | ending | winner | places | ... | actions |

Agents, versions, places, decisions, turns and seconds are JSON lists, one value a seat; `actions` (if kept) is int32.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.results import GameResult

COLUMNS = {
    "game": "INTEGER PRIMARY KEY",
    "deal": "INTEGER NOT NULL",
    "agents": "TEXT NOT NULL",
    "versions": "TEXT NOT NULL",
    "starter": "INTEGER NOT NULL",
    "ending": "TEXT NOT NULL",
    "winner": "INTEGER NOT NULL",
    "places": "TEXT NOT NULL",
    "rounds": "INTEGER NOT NULL",
    "decisions": "TEXT NOT NULL",
    "turns": "TEXT NOT NULL",
    "seconds": "TEXT NOT NULL",
    "forfeit_seat": "INTEGER NOT NULL",
    "forfeit_kind": "TEXT NOT NULL",
    "forfeit_reason": "TEXT NOT NULL",
    "actions": "BLOB",
}
LISTS = ("agents", "versions", "places", "decisions", "turns", "seconds")
PATIENCE = 60.0  # seconds to wait while another job writes
_INSERT = f"INSERT OR IGNORE INTO games VALUES ({', '.join('?' * len(COLUMNS))})"
_CREATE_NOTES = "CREATE TABLE IF NOT EXISTS notes (game INTEGER PRIMARY KEY, notes TEXT NOT NULL)"
_CREATE = f"CREATE TABLE games ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})"


class Store:
    """An open file of games. Several processes may write into the same file."""

    def __init__(self, path: str | Path, config: TournamentConfig, arguments: Mapping[str, Any] | None = None) -> None:
        self.path, self.config = Path(path), config
        self.arguments = dict(arguments or {})  # of the command line that began it
        self._database = _connect(self.path)

    @classmethod
    def create(cls, path: str | Path, config: TournamentConfig, arguments: Mapping[str, Any] | None = None) -> Store:
        """A new file; FileExistsError if there is one."""
        path = Path(path)
        if path.exists():
            raise FileExistsError(f"{path} exists: go on with it by --resume, or name another file by --out")
        with _connect(path) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE setting (setting TEXT NOT NULL, arguments TEXT NOT NULL)")
            database.execute(_CREATE)
            lines = (config.to_json(), json.dumps(dict(arguments or {})))
            database.execute("INSERT INTO setting VALUES (?, ?)", lines)
        database.close()
        return cls(path, config, arguments)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """A file that is there, with its configuration; ValueError if it holds no tournament."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"no tournament at {path}")
        try:
            with closing(_connect(Path(path))) as database:
                ((config, arguments),) = database.execute("SELECT setting, arguments FROM setting")
        except (sqlite3.DatabaseError, ValueError) as error:
            raise ValueError(f"{path} holds no tournament: {error}") from error
        return cls(path, TournamentConfig.from_json(config), json.loads(arguments))

    def add(self, result: GameResult) -> None:
        """Write a game; it is on disk when this returns. A game that is there already stays as it is."""
        with self._database:
            self._database.execute(_INSERT, self._row(result))
            if result.notes is not None:
                self._add_notes(result)

    def _row(self, result: GameResult) -> tuple[Any, ...]:
        entrants = [self.config.entrants[agent] for agent in result.seats]
        actions = None if result.actions is None else np.array(result.actions, np.int32).tobytes()
        values = {
            **vars(result),
            "agents": [entrant.label for entrant in entrants],
            "versions": [entrant.version for entrant in entrants],
            "seconds": [round(seconds, 6) for seconds in result.seconds],
            "actions": actions,
        }
        return tuple(json.dumps(values[name]) if name in LISTS else values[name] for name in COLUMNS)

    def _add_notes(self, result: GameResult) -> None:
        """Write what language models did, in a table that only tournaments with models have."""
        self._database.execute(_CREATE_NOTES)
        self._database.execute("INSERT OR IGNORE INTO notes VALUES (?, ?)", (result.game, json.dumps(result.notes)))

    def _notes(self) -> dict[int, Any]:
        """The notes of every game that has any."""
        if not self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchone():
            return {}
        return {game: json.loads(notes) for game, notes in self._database.execute("SELECT game, notes FROM notes")}

    def finished(self) -> set[int]:
        """Numbers of the games that are there."""
        return {game for (game,) in self._database.execute("SELECT game FROM games")}

    def count(self) -> tuple[int, int]:
        """How many games are there, and how many of them were forfeited."""
        ((games, forfeits),) = self._database.execute("SELECT count(*), count(nullif(forfeit_kind, '')) FROM games")
        return games, forfeits

    def results(self, actions: bool = False) -> Iterator[GameResult]:
        """All games in the order of the schedule, with their actions if wished."""
        names = [name for name in COLUMNS if name not in ("versions", *(() if actions else ("actions",)))]
        notes = self._notes()
        return (self._result(row, notes.get(row["game"])) for row in self.rows(names))

    def rows(self, names: Iterable[str] = COLUMNS) -> Iterator[dict[str, Any]]:
        """The games in the order of the schedule, as dictionaries of these columns."""
        names = tuple(names)
        for row in self._database.execute(f"SELECT {', '.join(names)} FROM games ORDER BY game"):
            yield {name: json.loads(value) if name in LISTS else value for name, value in zip(names, row, strict=True)}

    def _result(self, row: dict[str, Any], notes: list[Any] | None) -> GameResult:
        numbers = {label: agent for agent, label in enumerate(self.config.labels)}
        actions = row.pop("actions", None)
        values: dict[str, Any] = {name: tuple(row[name]) if name in LISTS else row[name] for name in row}
        seats = tuple(numbers[label] for label in values.pop("agents"))
        return GameResult(
            seats=seats,
            actions=None if actions is None else tuple(np.frombuffer(actions, np.int32).tolist()),
            notes=None if notes is None else tuple(notes),
            **values,
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=PATIENCE)
    database.execute("PRAGMA synchronous=NORMAL")
    return database
