"""The games of a server in an SQLite file: what each is, and every asked action as soon as it is played."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from risk_env.untrusted import parse_json

LONGEST_NAME = 40
LONGEST_FACTS = 1 << 18  # letters of a game's facts, a position included
LONGEST_VALUE = 1 << 20  # bytes
MOST_ACTIONS = 1 << 15
_TABLES = {
    "games": "CREATE TABLE games (game TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    "actions": "CREATE TABLE actions (game TEXT NOT NULL, number INTEGER NOT NULL, action INTEGER NOT NULL, "
    "PRIMARY KEY (game, number)) WITHOUT ROWID",
}


class GameStore:
    """An open file of games. What `add_game` and `add_action` return from is kept even if the server is killed."""

    def __init__(self, path: str | Path) -> None:
        try:
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)  # one at a time
            self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            self._database.execute("PRAGMA trusted_schema=OFF")
            self._make_tables()
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
        except (sqlite3.Error, ValueError) as error:
            raise ValueError(f"games={str(path)!r} cannot be opened as a file of games: {error}") from error

    def _make_tables(self) -> None:
        """Make the tables of a new file; ValueError for others, and for views and triggers, which could do more."""
        found = dict(self._database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 10"))
        if not found:
            for statement in _TABLES.values():
                self._database.execute(statement)
        elif found != _TABLES:
            raise ValueError(f"its tables are not {' and '.join(_TABLES)}")

    def add_game(self, game: str, facts: dict[str, Any], actions: Sequence[int] = ()) -> None:
        """Keep a new game, with the actions that were played before, or nothing of it."""
        self._database.execute("BEGIN")
        with self._database:
            rows = [(game, number, action) for number, action in enumerate(actions)]
            self._database.executemany("INSERT INTO actions VALUES (?, ?, ?)", rows)
            self._database.execute("INSERT INTO games VALUES (?, ?)", (game, json.dumps(facts)))

    def add_action(self, game: str, number: int, action: int) -> None:
        """Keep the action with this number, from 0."""
        self._database.execute("INSERT INTO actions VALUES (?, ?, ?)", (game, number, action))

    def games(self, most: int) -> list[str]:
        """The newest games, the newest first."""
        listed = "SELECT game FROM games WHERE typeof(game) = 'text' AND length(game) <= ? ORDER BY rowid DESC LIMIT ?"
        return [game for (game,) in self._database.execute(listed, (LONGEST_NAME, most))]

    def load(self, game: str) -> tuple[Any, list[int]] | None:
        """The facts (any JSON value) and actions of a game, None if there is no such game; ValueError for others."""
        found = self._database.execute("SELECT facts FROM games WHERE game = ?", (game,)).fetchone()
        if found is None:
            return None
        if not isinstance(found[0], str) or len(found[0]) > LONGEST_FACTS:
            raise ValueError(f"the facts of the game are no text of at most {LONGEST_FACTS} letters")
        ordered = "SELECT action FROM actions WHERE game = ? ORDER BY number LIMIT ?"
        actions = [action for (action,) in self._database.execute(ordered, (game, MOST_ACTIONS + 1))]
        if len(actions) > MOST_ACTIONS or any(type(action) is not int for action in actions):
            raise ValueError(f"the actions of the game are not at most {MOST_ACTIONS} whole numbers")
        return parse_json(found[0]), actions

    def close(self) -> None:
        """Close the file."""
        self._database.close()
