"""Read and write files of saved games: JSON Lines with one `SavedGame` per line.

A tournament adds a `result` to each line.
"""

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from risk_env.bounded_io import parse_json
from risk_env.game import SavedGameError
from risk_env.messages import shortened
from risk_env.saved_game import SavedGame
from risk_env.whole_file import new_file, whole_file

LONGEST_LINE = 1 << 24  # maximum length of a line, in bytes
SQLITE = b"SQLite format 3\0"  # first bytes of an SQLite file


def save_game(path: str | Path, saved: SavedGame, is_own: bool = False) -> Path:
    """Write a game to a file atomically, and return the file's path.

    An existing file is replaced only if `is_own` is true, which means that the file contains this game.
    Otherwise, if a file of this name exists, -2, -3, ... is added to the name of the new file.
    """
    path = Path(path) if is_own else new_file(Path(path))
    try:
        with whole_file(path) as fresh:
            fresh.write_text(json.dumps(saved.to_dict()) + "\n", encoding="utf-8")
    except BaseException:
        if not is_own:
            path.unlink(missing_ok=True)
        raise
    return path


def load_game(path: str | Path) -> SavedGame:
    """Read a file with a single game.

    Raises FileNotFoundError if `path` is not a regular file, and SavedGameError if the file does not contain
    exactly one saved game.
    """
    games = [saved for saved, _ in islice(read_games(path), 2)]
    if len(games) != 1:
        raise SavedGameError(
            f"{path}: contains {'several games' if games else 'no saved game'}; must contain exactly one game"
        )
    return games[0]


def read_games(path: str | Path) -> Iterator[tuple[SavedGame, dict[str, Any]]]:
    """Yield each game of a file, and the result of the game, or {} if the game has no result.

    Raises FileNotFoundError if `path` is not a regular file, and SavedGameError if a line is not a saved
    game.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no regular file {str(path)!r}")
    with open(path, "rb") as lines:
        if lines.read(len(SQLITE)) == SQLITE:
            raise SavedGameError(
                f"{path} is an SQLite file: give a file of saved games, from `tournament --save` or `play`"
            )
        lines.seek(0)
        for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE + 1), b""), 1):
            if line.strip():
                yield read_game(line, f"{path}, line {number}")


def read_game(line: bytes, place: str) -> tuple[SavedGame, dict[str, Any]]:
    """Read the game and the result of a line; raise SavedGameError if the line is not a saved game.

    `place` states the file and the line number for error messages.
    """
    if len(line) > LONGEST_LINE:
        raise SavedGameError(f"{place}: line too long: a saved game has at most {LONGEST_LINE} bytes")
    try:
        facts = parse_json(line)
    except ValueError as error:
        raise SavedGameError(f"{place}: not a saved game, or damaged: {error}") from error
    result = facts.pop("result", {}) if isinstance(facts, dict) else {}
    if not isinstance(result, dict):
        raise SavedGameError(f"{place}: result is {shortened(result)}, but must be of type dict")
    return SavedGame.from_dict(facts, place), result
