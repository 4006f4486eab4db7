"""A game that can be continued, as a file: JSON of its rules, map, seed, players and asked actions.

The actions are enough to restore the game, its future dice, and the memory of the bots, which are asked again.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from risk_agents.tournament.records import Record
from risk_agents.whole_file import new_file, whole_file
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.untrusted import parse_json, read_file, shortened

FORMAT = "risk_env game in progress"
SCHEMA = 1
MOST_BYTES = 1 << 24  # of a file


class SavedGameError(ValueError):
    """A file that is not a kept game, or one that this version cannot continue; the message names file and problem."""


class SavedGame(NamedTuple):
    """What a file holds."""

    start: Game  # before its first action
    players: tuple[str, ...]  # a spec a seat
    actions: tuple[int, ...]
    state: str  # `digest` of the game after them


def digest(game: Game) -> str:
    """The state of a game, dice to come included, in few letters."""
    return hashlib.sha256(game.to_record()).hexdigest()[:32]


def save_game(path: str | Path, game: Game, players: Sequence[str], is_own: bool = False) -> Path:
    """Write the file completely or not at all, and return its path.

    An existing file is replaced only if `is_own`, that is, if it holds this game. Otherwise -2, -3, ... is added
    to the name.
    """
    path = Path(path) if is_own else new_file(Path(path))
    try:
        with whole_file(path) as fresh:
            fresh.write_text(_text(game, players), encoding="utf-8")
    except BaseException:
        if not is_own:
            path.unlink(missing_ok=True)
        raise
    return path


def _text(game: Game, players: Sequence[str]) -> str:
    """Return the content of a file."""
    actions = game.actions
    facts: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "rules": game.rules.to_dict(),
        "map": game.board.source,
        "map_digest": game.board.digest,
        "num_actions": game.num_actions,
        "seed": game.seed,
        "lane": 0,
        "episode": 0,
        "players": list(players),
        "state": digest(played(Game(game.rules, game.board, game.seed), actions)),
        "actions": list(actions),
    }
    return json.dumps({**facts, "checksum": _checksum(facts)}) + "\n"


def played(game: Game, actions: Sequence[int]) -> Game:
    """The game after these actions."""
    for action in actions:
        game.step(action)
    return game


def _checksum(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def is_saved_game(path: Path) -> bool:
    """Whether a file begins as one of `save_game`."""
    with open(path, "rb") as file:
        return FORMAT.encode() in file.read(200)


def load_game(path: str | Path) -> SavedGame:
    """Read what `save_game` wrote; SavedGameError if it is damaged, or of another version or map."""
    try:
        facts = _checked(read_file(path, MOST_BYTES))
        record = Record(1, {**facts, "ending": "", "rounds": 0, "winner": NOBODY})
        record.check_types()
        start, players = record.start(), facts.get("players")
        if not isinstance(players, list) or not all(isinstance(player, str) for player in players):
            raise ValueError("players must be a list of texts")
        if len(players) != start.num_players:
            raise ValueError(f"{len(players)} players for {start.num_players} seats")
        return SavedGame(start, tuple(players), tuple(facts["actions"]), str(facts.get("state")))
    except ValueError as error:
        raise SavedGameError(f"{path}: {error}") from error


def _checked(data: bytes) -> dict[str, Any]:
    """The facts of a file, if it is whole."""
    try:
        facts = parse_json(data)
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        known = FORMAT.encode() in data[:200]
        raise ValueError("a damaged kept game: it cannot be read to its end" if known else "not a kept game")
    if facts.get("schema") != SCHEMA:
        raise ValueError(f"kept in format {shortened(facts.get('schema'))}; this version reads format {SCHEMA}")
    checksum = facts.pop("checksum", None)
    if checksum != _checksum(facts):
        raise ValueError("a damaged kept game: the checksum does not match")
    return facts
