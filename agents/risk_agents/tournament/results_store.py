"""SQLite file of a tournament, with a row for each game that has ended.

    setting, one row:          setting, arguments
    games, one row per game:   game, deal, agents, versions, starter, ... (`columns.COLUMNS`)
    notes (optional):          game, notes: one row per game in which a language model has played

Agents, versions, places, decisions, turns and seconds are JSON lists with one value per seat. `luck` is also
such a list, or an empty string if luck was not measured. `actions` contains int32 numbers, or is NULL if
actions are not kept.
"""

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from risk_agents.program import brief
from risk_agents.tournament.columns import COLUMNS, LISTS, OPTIONAL, checked
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.model_notes import are_notes
from risk_agents.tournament.results import GameResult
from risk_env.bounded_io import parse_json
from risk_env.whole_file import named

LONGEST_VALUE = 1 << 26  # maximum size of a value, in bytes
PATIENCE = 60.0  # maximum wait while another job writes, in seconds
SYNCHRONISED = 1.0  # minimum time between two checkpoints, which write games to the disk, in seconds
_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)  # temporary errors
_INSERT = f"INSERT OR IGNORE INTO games VALUES ({', '.join('?' * len(COLUMNS))})"
_DEFINED = [f"{name} {column.kind}" for name, column in COLUMNS.items()]
_TABLES = {
    "setting": "CREATE TABLE setting (setting TEXT NOT NULL, arguments TEXT NOT NULL)",
    "games": f"CREATE TABLE games ({', '.join(_DEFINED)})",
}
_NOTES = {"notes": "CREATE TABLE notes (game INTEGER PRIMARY KEY, notes TEXT NOT NULL)"}  # only with models


class StoreError(ValueError):
    """Error for a file that is not a tournament file, or that was altered or damaged.

    The message names the file and the problem.
    """


class Store:
    """Connection to a tournament file; several processes may write into the same file."""

    def __init__(
        self, path: str | Path, config: TournamentConfig, arguments: Mapping[str, Any] | None = None
    ) -> None:
        self.path, self.config = Path(path), config
        self.arguments = dict(arguments or {})  # arguments of the command line that began the tournament
        self._synchronised = 0.0  # time of the last checkpoint
        with _reading(self.path):
            self._database = _connect(self.path)

    @classmethod
    def create(
        cls,
        path: str | Path,
        config: TournamentConfig,
        arguments: Mapping[str, Any] | None = None,
        may_rename: bool = False,
    ) -> Self:
        """Create a file atomically, and return its store.

        If the file exists and `may_rename` is true, -2, -3, ... is added to the name of the new file. If
        `may_rename` is false, FileExistsError is raised instead.
        """
        lines = config.to_json(), json.dumps(dict(arguments or {}))
        try:
            with _writing(Path(path), "no tournament was started"):
                path = _begun(Path(path), may_rename, *lines)
        except FileExistsError:
            raise FileExistsError(f"{path} exists: continue with --resume, or choose another --out") from None
        return cls(path, config, arguments)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an existing file, and read its configuration.

        Raises FileNotFoundError if `path` is not a regular file, and StoreError if the file is not a
        tournament file.
        """
        if not Path(path).is_file():
            raise FileNotFoundError(f"there is no tournament file {str(path)!r}")
        with _reading(path), closing(_connect(Path(path))) as database:
            _check_tables(database)
            rows = database.execute("SELECT setting, arguments FROM setting LIMIT 2").fetchall()
            if len(rows) != 1 or not all(isinstance(value, str) for value in rows[0]):
                raise ValueError("the table 'setting' must have one row of two strings")
            arguments = parse_json(rows[0][1])
            if not isinstance(arguments, dict):
                kind = type(arguments).__name__
                raise ValueError(f"the arguments in the table 'setting' must be a JSON object, not {kind}")
            config = TournamentConfig.from_json(rows[0][0])
        return cls(path, config, arguments)

    def add(self, *results: GameResult) -> None:
        """Write games into the file; games that are already in the file do not change.

        The games survive a crash of this process. A power failure can lose the games since the last
        checkpoint (SYNCHRONISED).
        """
        with _writing(self.path):
            with self._database:
                self._database.executemany(_INSERT, map(self._row, results))
                for result in results:
                    if result.notes is not None:
                        self._add_notes(result)
            if time.monotonic() - self._synchronised > SYNCHRONISED:
                self._database.execute("PRAGMA wal_checkpoint")
                self._synchronised = time.monotonic()

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
        missing = {name for name in OPTIONAL if values[name] is None}
        texts = {name: "" if name in missing else json.dumps(values[name]) for name in LISTS}
        return tuple(texts.get(name, values[name]) for name in COLUMNS)

    def _add_notes(self, result: GameResult) -> None:
        """Write the notes about language models into the table `notes`; create the table if necessary."""
        self._database.execute(_NOTES["notes"].replace("TABLE", "TABLE IF NOT EXISTS", 1))
        self._database.execute(
            "INSERT OR IGNORE INTO notes VALUES (?, ?)", (result.game, json.dumps(result.notes))
        )

    def _notes(self) -> dict[int, Any]:
        """Return the notes of every game that has notes, by game number."""
        if not self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchone():
            return {}
        with _reading(self.path):
            rows = self._database.execute("SELECT game, notes FROM notes").fetchall()
            return {game: _checked_notes(parse_json(notes), self.config) for game, notes in rows}

    def finished(self) -> set[int]:
        """Return the numbers of the games in the file."""
        with _reading(self.path):
            return {game for (game,) in self._database.execute("SELECT game FROM games")}

    def count(self) -> tuple[int, int]:
        """Return the number of games in the file, and the number of forfeited games among them."""
        with _reading(self.path):
            ((games, forfeits),) = self._database.execute(
                "SELECT count(*), count(nullif(forfeit_kind, '')) FROM games"
            )
        return games, forfeits

    def results(self, actions: bool = False) -> Iterator[GameResult]:
        """Return an iterator over the results of all games, in the order of the schedule.

        The results contain actions only if `actions` is true. Raises StoreError if a value in the file is not
        allowed.
        """
        names = [name for name in COLUMNS if name not in ("versions", *(() if actions else ("actions",)))]
        notes = self._notes()
        return (self._result(row, notes.get(row["game"])) for row in self.rows(names))

    def rows(self, names: Iterable[str] = COLUMNS) -> Iterator[dict[str, Any]]:
        """Yield the columns `names` of each game as a dict, in the order of the schedule.

        Raises StoreError if a value in the file is not allowed.
        """
        names = tuple(names)
        with _reading(self.path):
            for row in self._database.execute(f"SELECT {', '.join(names)} FROM games ORDER BY game"):
                yield {
                    name: checked(name, value, self.config) for name, value in zip(names, row, strict=True)
                }

    def _result(self, row: dict[str, Any], notes: list[Any] | None) -> GameResult:
        numbers = {label: agent for agent, label in enumerate(self.config.labels)}
        actions = row.pop("actions", None)
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
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


def _checked_notes(notes: Any, config: TournamentConfig) -> list[Any]:
    """Return notes from a file; raise ValueError unless each seat has valid notes or None."""
    is_list = isinstance(notes, list) and len(notes) == config.num_players
    if not is_list or not all(one is None or are_notes(one) for one in notes):
        raise ValueError(f"notes={brief(notes)}: must be a list with valid notes or null for each seat")
    return notes


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Convert reading errors to StoreError, and temporary errors to OSError, inside the context."""
    try:
        yield
    except StoreError:
        raise
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING:
            raise OSError(
                f"{path} cannot be read: {error} (is the disk full, or is another process using the file?)"
            ) from error
        raise StoreError(f"{path} is not a readable tournament file: {error}") from error
    except (sqlite3.Error, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise StoreError(f"{path} is not a readable tournament file: {error}") from error


@contextmanager
def _writing(path: Path, otherwise: str = "") -> Iterator[None]:
    """Convert writing errors to OSError inside the context.

    The message ends with `otherwise`. If `otherwise` is empty, the message ends with the option that
    continues the tournament.
    """
    try:
        yield
    except sqlite3.Error as error:
        go_on = f"earlier games are saved; when the file is writable again, continue with --resume {path}"
        raise OSError(f"{path} cannot be written: {error}; {otherwise or go_on}") from error


def _begun(path: Path, may_rename: bool, *lines: str) -> Path:
    """Create a file with the tables and the configuration, and return the file's path.

    The file is created in a temporary folder, which also contains SQLite's temporary files.
    """
    with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
        begun = Path(folder, "begun")
        with closing(_connect(begun)) as database:
            with database:
                for statement in _TABLES.values():
                    database.execute(statement)
                database.execute("INSERT INTO setting VALUES (?, ?)", lines)
            database.execute("PRAGMA journal_mode=WAL")  # last, so that no content stays in a log file
        if os.listdir(folder) != [begun.name]:
            raise sqlite3.OperationalError("SQLite left other files beside the new file")
        return named(begun, path, may_rename)


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=PATIENCE)
    try:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        database.close()
        raise
    return database


def _check_tables(database: sqlite3.Connection) -> None:
    """Raise ValueError unless the file contains exactly the tables that this module creates.

    Other objects, such as views and triggers, could run statements of their own.
    """
    tables = dict(database.execute("SELECT name, sql FROM sqlite_master LIMIT 10"))
    if tables not in (_TABLES, _TABLES | _NOTES):
        raise ValueError(
            f"the file must contain only the tables {', '.join(_TABLES)} and, optionally, notes, as this "
            "version creates them"
        )
