"""The games of a server in an SQLite file: what each is, and every asked action as soon as it is played."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from risk_env.untrusted import parse_json

LONGEST_NAME = 40
LONGEST_FACTS = 1 << 18  # letters of a game's facts, a position included
LONGEST_VALUE = 1 << 20  # bytes
MOST_ACTIONS = 1 << 15
MOST_BYTES = 1 << 30  # of the file: it takes no new games beyond this size
WAIT = 1.0  # seconds for a lock of another process
_TABLES = {
    "games": "CREATE TABLE games (game TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    "actions": "CREATE TABLE actions (game TEXT NOT NULL, number INTEGER NOT NULL, action INTEGER NOT NULL, "
    "PRIMARY KEY (game, number)) WITHOUT ROWID",
}


class NotKept(ValueError):
    """The file cannot be written at the moment: the disk is full, or the file is locked or gone."""


class GameStore:
    """An open file of games. What `add_game` and `add_action` return from is kept even if the server is killed.

    The file belongs to one server at a time. Any thread may call the methods.
    """

    def __init__(self, path: str | Path) -> None:
        self._lock, reason = Lock(), "cannot be opened as a file of games"
        try:
            self._database = sqlite3.connect(path, WAIT, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise ValueError(f"games={str(path)!r} {reason}: {error}") from error
        try:
            self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            self._database.execute("PRAGMA trusted_schema=OFF")
            self._database.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._make_tables()
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
        except (sqlite3.Error, ValueError) as error:
            self._database.close()
            used = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            why = "another server or program uses it; close that one, or name another file" if used else error
            raise ValueError(f"games={str(path)!r} {reason}: {why}") from error

    def _make_tables(self) -> None:
        """Make the tables of a new file; ValueError for others, and for views and triggers, which could do more."""
        found = dict(self._database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 10"))
        if not found:
            for statement in _TABLES.values():
                self._database.execute(statement)
        elif found != _TABLES:
            raise ValueError(f"its tables are not {' and '.join(_TABLES)}")

    @contextmanager
    def _used(self, error_type: type[ValueError]) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """The database for one thread at a time; its errors become errors of `error_type`, and nothing is half done."""
        with self._lock:
            try:
                yield self._database.execute
            except (sqlite3.Error, UnicodeError) as error:
                with suppress(sqlite3.Error):
                    self._database.rollback()
                raise error_type(str(error)) from error

    def add_game(self, game: str, facts: dict[str, Any], actions: Sequence[int] = ()) -> None:
        """Keep a new game, with the actions that were played before, or nothing of it; NotKept says why."""
        with self._used(NotKept) as execute:
            (pages,), (size,) = execute("PRAGMA page_count").fetchone(), execute("PRAGMA page_size").fetchone()
            if pages * size > MOST_BYTES:
                raise NotKept(f"the file of games has more than {MOST_BYTES} bytes: begin another one")
            execute("BEGIN")
            rows = [(game, number, action) for number, action in enumerate(actions)]
            self._database.executemany("INSERT INTO actions VALUES (?, ?, ?)", rows)
            execute("INSERT INTO games VALUES (?, ?)", (game, json.dumps(facts)))
            execute("COMMIT")

    def add_action(self, game: str, number: int, action: int, is_current: Callable[[], bool] = lambda: True) -> None:
        """Keep the action with this number, from 0; NotKept says why not, also where `is_current` is no longer true."""
        with self._used(NotKept) as execute:
            if not is_current():
                raise NotKept("the game was closed")
            execute("INSERT OR REPLACE INTO actions VALUES (?, ?, ?)", (game, number, action))

    def games(self, most: int) -> tuple[list[str], str]:
        """The newest games, the newest first, and why there are no more if the file is damaged."""
        listed = "SELECT game FROM games WHERE typeof(game) = 'text' AND length(game) <= ? ORDER BY rowid DESC LIMIT ?"
        found: list[str] = []
        try:
            with self._used(ValueError) as execute:
                found += (game for (game,) in execute(listed, (LONGEST_NAME, most)))
        except ValueError as error:
            return found, str(error)
        return found, ""

    def facts(self, game: str) -> Any:
        """The facts (any JSON value) of a game, None if there is no such game."""
        with self._used(ValueError) as execute:
            found = execute("SELECT facts FROM games WHERE game = ?", (game,)).fetchone()
        if found is None:
            return None
        if not isinstance(found[0], str) or len(found[0]) > LONGEST_FACTS:
            raise ValueError(f"the facts of the game are no text of at most {LONGEST_FACTS} letters")
        return parse_json(found[0])

    def load(self, game: str) -> tuple[Any, list[int]] | None:
        """The facts and actions of a game, None if there is no such game; ValueError for a damaged one."""
        facts = self.facts(game)
        if facts is None:
            return None
        ordered = "SELECT number, action FROM actions WHERE game = ? ORDER BY number LIMIT ?"
        with self._used(ValueError) as execute:
            rows = execute(ordered, (game, MOST_ACTIONS + 1)).fetchall()
        if len(rows) > MOST_ACTIONS or any(type(action) is not int for _, action in rows):
            raise ValueError(f"the actions of the game are not at most {MOST_ACTIONS} whole numbers")
        if [number for number, _ in rows] != list(range(len(rows))):
            raise ValueError("some actions of the game are missing")
        return facts, [action for _, action in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
