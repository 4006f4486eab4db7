"""Start positions of training games, from a file or a folder of position texts and saved games."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from risk_agents.game_files import read_games
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bounded_io import read_text, regular_file
from risk_env.core.types import Phase
from risk_env.saved_game import SavedGame
from risk_env.start_positions import MOST_POSITIONS, StartPositions, check_open
from risk_env.text.positions import HEADER, check_same_rules, from_text
from risk_training.config import PositionSettings, RunSettings

MOST_FILES = 10_000  # maximum number of files in a folder
MOST_BYTES = 1 << 26  # maximum size of a file, in bytes


class FoundPosition(NamedTuple):
    """A position in a file."""

    place: str  # file and number of the position, for error messages
    rules: Rules
    record: Any  # array of one record

    def check(self, rules: Rules) -> None:
        """Raise ValueError unless the position has these rules and its game is not over."""
        try:
            check_same_rules(self.rules, rules)
            check_open(self.record[0])
        except ValueError as error:
            raise ValueError(f"{self.place}: {error}") from error


def start_positions(config: RunSettings, board: Board, players: int | None = None) -> StartPositions | None:
    """Return the start positions of a configuration, or None if all games begin with the set-up.

    With `players`, only the positions with this number of players are used. Raises ValueError if a
    position cannot be used, or if there are no positions. The message names the file and the problem.
    """
    if not config.positions.path:
        return None
    rules = config.rules() if players is None else config.rules_for(players)
    return _read(config.positions, rules, board, players is not None)


@lru_cache(maxsize=16)
def _read(settings: PositionSettings, rules: Rules, board: Board, selects: bool) -> StartPositions:
    states = list(islice(_positions(settings, board), MOST_POSITIONS + 1))
    if len(states) > MOST_POSITIONS:
        raise ValueError(f"positions.path={settings.path!r} has more than {MOST_POSITIONS} positions")
    if selects:
        states = [each for each in states if each.rules.num_players == rules.num_players]
    if not states:
        told = f"positions.path={settings.path!r} has no position of {rules.num_players} players"
        raise ValueError(f"{told} in phase {settings.phase!r}, rounds {list(settings.rounds)}")
    for each in states:
        each.check(rules)
    records = np.concatenate([each.record for each in states])
    return StartPositions(records, rules, board, settings.share)


def _positions(settings: PositionSettings, board: Board) -> Iterator[FoundPosition]:
    """Yield the positions of a file, or of all files in a folder in the order of file names."""
    path = Path(settings.path)
    files = sorted(islice(path.iterdir(), MOST_FILES + 1)) if path.is_dir() else [path]
    if len(files) > MOST_FILES:
        raise ValueError(f"positions.path={settings.path!r} has more than {MOST_FILES} files")
    for file in files:
        try:
            if _has_replays(file):
                yield from _from_replays(file, settings, board)
            else:
                yield from _from_texts(file, board)
        except OSError as error:
            raise ValueError(f"positions.path: {error}") from error


def _has_replays(path: Path) -> bool:
    """Return True if a file contains saved games: such a file begins with "{".

    Raises ValueError if the file has more than MOST_BYTES bytes.
    """
    if regular_file(path).stat().st_size > MOST_BYTES:
        raise ValueError(f"{str(path)!r} has more than {MOST_BYTES} bytes")
    with path.open("rb") as file:
        while (first := file.read(1)).isspace():
            pass
    return first == b"{"


def _from_texts(path: Path, board: Board) -> Iterator[FoundPosition]:
    """Yield the positions of a text file. Each position begins with the line HEADER."""
    before, *texts = read_text(path, MOST_BYTES).split(HEADER)
    if before.strip() or not texts:
        raise ValueError(f"{path}: a position must begin with the line {HEADER!r}")
    for number, text in enumerate(texts, 1):
        place = f"{path}, position {number}"
        try:
            rules, _, record = from_text(HEADER + text, board)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
        yield FoundPosition(place, rules, record)


def _from_replays(path: Path, settings: PositionSettings, board: Board) -> Iterator[FoundPosition]:
    """Yield the states of saved games that the phase and the rounds of the settings select."""
    for number, (saved, _) in enumerate(read_games(path), 1):
        for record in _moments(saved, settings, board):
            yield FoundPosition(f"{path}, game {number}", saved.rules, record)


def _moments(saved: SavedGame, settings: PositionSettings, board: Board) -> Iterator[Any]:
    """Yield the record at the first decision of the phase in each turn, for the rounds of the settings."""
    phase, (first, last) = Phase[settings.phase.upper()], settings.rounds
    game, turn = saved.start(board), None
    for number, action in enumerate([*saved.actions, None]):
        now = game.round, game.turn
        if game.phase == phase and now != turn and first <= game.round <= last:
            turn = now
            yield game.records.copy()
        if action is not None:
            try:
                game.step(action)
            except ValueError as error:
                raise ValueError(f"{saved.place}: action {number}: {error}") from error
