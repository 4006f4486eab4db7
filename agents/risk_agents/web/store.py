"""The games of a server in an SQLite file: what each is, and every asked action as soon as it is played."""

import json
import sqlite3
from pathlib import Path
from typing import Any

_CREATE = (
    "CREATE TABLE IF NOT EXISTS games (game TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS actions "
    "(game TEXT NOT NULL, number INTEGER NOT NULL, action INTEGER NOT NULL, PRIMARY KEY (game, number)) WITHOUT ROWID",
)


class GameStore:
    """An open file of games. What `add_game` and `add_action` return from is kept even if the server is killed."""

    def __init__(self, path: str | Path) -> None:
        try:
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)  # one at a time
            self._database.execute("PRAGMA trusted_schema=OFF")
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            for statement in _CREATE:
                self._database.execute(statement)
        except sqlite3.Error as error:
            raise ValueError(f"games={str(path)!r} cannot be opened as a file of games: {error}") from error

    def add_game(self, game: str, facts: dict[str, Any]) -> None:
        """Keep a new game."""
        self._database.execute("INSERT INTO games VALUES (?, ?)", (game, json.dumps(facts)))

    def add_action(self, game: str, number: int, action: int) -> None:
        """Keep the action with this number, from 0."""
        self._database.execute("INSERT INTO actions VALUES (?, ?, ?)", (game, number, action))

    def games(self, most: int) -> list[str]:
        """The newest games, the newest first."""
        rows = self._database.execute("SELECT game FROM games ORDER BY rowid DESC LIMIT ?", (most,))
        return [game for (game,) in rows]

    def load(self, game: str) -> tuple[dict[str, Any], list[int]] | None:
        """The facts and actions of a game, None if there is no such game."""
        found = self._database.execute("SELECT facts FROM games WHERE game = ?", (game,)).fetchone()
        if found is None:
            return None
        actions = self._database.execute("SELECT action FROM actions WHERE game = ? ORDER BY number", (game,))
        return json.loads(found[0]), [action for (action,) in actions]

    def close(self) -> None:
        """Close the file."""
        self._database.close()
