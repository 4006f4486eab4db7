"""SQLite file of a server's games: facts, actions and ending of each game; actions are saved one by one."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from risk_env.bounded_io import parse_json

LONGEST_NAME = 40  # maximum number of characters of a game's name
LONGEST_FACTS = 1 << 18  # maximum number of characters of a game's facts, including its position
LONGEST_ENDING = 500  # maximum number of characters of the sentence about the ending of a game
LONGEST_VALUE = 1 << 20  # maximum size of a value, in bytes
MOST_ACTIONS = 1 << 15  # maximum number of actions of a game
MOST_BYTES = 1 << 30  # maximum size of a file to which games can be added, in bytes
WAIT = 1.0  # maximum wait for a lock of another process, in seconds
_TABLES = {
    "games": "CREATE TABLE games (game TEXT PRIMARY KEY, facts TEXT NOT NULL, "
    "ending TEXT NOT NULL DEFAULT '')",
    "actions": "CREATE TABLE actions (game TEXT NOT NULL, number INTEGER NOT NULL, action INTEGER NOT NULL, "
    "PRIMARY KEY (game, number)) WITHOUT ROWID",
}


class NotKept(ValueError):
    """Error for data that cannot be saved, for example because the disk is full or the game was closed."""


class GameStore:
    """Database of a server's games, in an SQLite file.

    After `add_game` or `add_action` has returned, the saved data survives even if the server is killed. Only
    one server at a time can use the file. The methods can be called from any thread.
    """

    def __init__(self, path: str | Path) -> None:
        self._lock, reason = Lock(), "cannot be opened as a game database"
        try:
            self._database = sqlite3.connect(
                path, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise ValueError(f"database={str(path)!r} {reason}: {error}") from error
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
            busy = "another process uses the file; stop that process, or choose another file"
            why = busy if used else error
            raise ValueError(f"database={str(path)!r} {reason}: {why}") from error

    def _make_tables(self) -> None:
        """Create the tables of a new file, or check the tables of an existing file.

        Raises ValueError for other tables, and for views and triggers, which could run other statements.
        """
        tables = dict(
            self._database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 10")
        )
        if not tables:
            for statement in _TABLES.values():
                self._database.execute(statement)
        elif tables != _TABLES:
            raise ValueError(
                f"the file must contain only the tables {' and '.join(_TABLES)}, as this version creates them"
            )

    @contextmanager
    def _used(self, error_type: type[ValueError]) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Yield the database's `execute` to one thread at a time.

        After a database error, rolls back the transaction and raises `error_type`.
        """
        with self._lock:
            try:
                yield self._database.execute
            except (sqlite3.Error, UnicodeError) as error:
                with suppress(sqlite3.Error):
                    self._database.rollback()
                raise error_type(str(error)) from error

    def add_game(self, game: str, facts: dict[str, Any], actions: Sequence[int] = ()) -> None:
        """Save a new game with its earlier actions; if this fails, save nothing and raise NotKept."""
        with self._used(NotKept) as execute:
            (pages,), (size,) = (
                execute("PRAGMA page_count").fetchone(),
                execute("PRAGMA page_size").fetchone(),
            )
            if pages * size > MOST_BYTES:
                raise NotKept(
                    f"the game database has more than {MOST_BYTES} bytes: start the server with another "
                    "--database"
                )
            execute("BEGIN")
            rows = [(game, number, action) for number, action in enumerate(actions)]
            self._database.executemany("INSERT INTO actions VALUES (?, ?, ?)", rows)
            execute("INSERT INTO games (game, facts) VALUES (?, ?)", (game, json.dumps(facts)))
            execute("COMMIT")

    def add_action(
        self, game: str, number: int, action: int, is_current: Callable[[], bool] = lambda: True
    ) -> None:
        """Save action number `number`, counted from 0.

        Raises NotKept for database errors, and if `is_current()` is false.
        """
        with self._used(NotKept) as execute:
            if not is_current():
                raise NotKept("the game was closed")
            execute("INSERT OR REPLACE INTO actions VALUES (?, ?, ?)", (game, number, action))

    def games(self, most: int) -> tuple[list[str], str]:
        """Return the names of at most `most` games, newest first, and an error message.

        The message is "" unless the file cannot be read.
        """
        listed = (
            "SELECT game FROM games WHERE typeof(game) = 'text' AND length(game) <= ? "
            "ORDER BY rowid DESC LIMIT ?"
        )
        names: list[str] = []
        try:
            with self._used(ValueError) as execute:
                names += (game for (game,) in execute(listed, (LONGEST_NAME, most)))
        except ValueError as error:
            return names, str(error)
        return names, ""

    def facts(self, game: str) -> Any:
        """Return the facts of a game, as a JSON value, or None if the game does not exist.

        Raises ValueError if the facts cannot be read.
        """
        with self._used(ValueError) as execute:
            row = execute("SELECT facts FROM games WHERE game = ?", (game,)).fetchone()
        if row is None:
            return None
        if not isinstance(row[0], str) or len(row[0]) > LONGEST_FACTS:
            raise ValueError(f"the facts of the game must be a string of at most {LONGEST_FACTS} characters")
        return parse_json(row[0])

    def set_ending(self, game: str, ending: str) -> None:
        """Save the ending of a game in words; raise NotKept if the file cannot be written."""
        with self._used(NotKept) as execute:
            execute("UPDATE games SET ending = ? WHERE game = ?", (ending[:LONGEST_ENDING], game))

    def ending(self, game: str) -> str:
        """Return the ending of a game in words, or "" if the ending is unknown."""
        with self._used(ValueError) as execute:
            row = execute("SELECT ending FROM games WHERE game = ?", (game,)).fetchone()
        is_text = row is not None and isinstance(row[0], str)
        return row[0][:LONGEST_ENDING] if is_text else ""

    def delete(self, game: str) -> None:
        """Delete a game and its actions; raise NotKept if the file cannot be written."""
        with self._used(NotKept) as execute:
            execute("BEGIN")
            execute("DELETE FROM actions WHERE game = ?", (game,))
            execute("DELETE FROM games WHERE game = ?", (game,))
            execute("COMMIT")

    def load(self, game: str) -> tuple[Any, list[int]] | None:
        """Return the facts and actions of a game, or None if the game does not exist.

        Raises ValueError if the game is damaged.
        """
        facts = self.facts(game)
        if facts is None:
            return None
        ordered = "SELECT number, action FROM actions WHERE game = ? ORDER BY number LIMIT ?"
        with self._used(ValueError) as execute:
            rows = execute(ordered, (game, MOST_ACTIONS + 1)).fetchall()
        if len(rows) > MOST_ACTIONS or any(type(action) is not int for _, action in rows):
            raise ValueError(f"the actions of the game must be at most {MOST_ACTIONS} whole numbers")
        if [number for number, _ in rows] != list(range(len(rows))):
            raise ValueError("some actions of the game are missing")
        return facts, [action for _, action in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
