"""Start positions for the games of a batch.

The positions are checked once, and kept as records for the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_env.messages import shortened
from risk_env.text import positions as texts
from risk_env.text.check import check

Position = Any  # str (`Game.to_text`), bytes (`Game.to_bytes`), a `Game`, or a record (`Game.record`)
MOST_POSITIONS = 1 << 17


class StartPositions:
    """Start positions for the games of a batch or an environment.

    Game number g begins at position g modulo the number of positions. With a `share` below 1, only this share
    of the games begins at a position, and these games use the positions in turn. The other games begin with
    the set-up. The positions serve games with the same rules, except `max_rounds`, on the same map.
    """

    def __init__(self, records: Array, rules: Rules, board: Board, share: float = 1.0) -> None:
        self.records, self.rules, self.board, self.share = records, rules, board, share

    @classmethod
    def of(cls, positions: Any, rules: Rules, board: Board, name: str = "positions") -> StartPositions:
        """Return the start positions for a list of positions, or for one position.

        A `StartPositions` object is returned unchanged. Raises ValueError, which names the position and the
        problem, if play cannot continue from a position with these rules on this map.
        """
        if isinstance(positions, StartPositions):
            positions.check(rules, board, name)
            return positions
        listed = positions if is_several(positions) else [positions]
        if not 1 <= len(listed) <= MOST_POSITIONS:
            raise ValueError(f"{name}: {len(listed)} positions; 1 to {MOST_POSITIONS} are allowed")
        places = [f"{name}[{number}]" for number in range(len(listed))]
        return cls(records_of(listed, places, rules, board, is_open=True), rules, board)

    def check(self, rules: Rules, board: Board, name: str = "positions") -> None:
        """Raise ValueError if the positions do not fit games with these rules on this map.

        The error message begins with `name`. Kernels do not check records, so a record of another map or
        other rules could make a kernel read and write outside its arrays.
        """
        if rules is self.rules and board is self.board:
            return
        try:
            check_same_game(self.rules, self.board, rules, board)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error

    def choose(self, games: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return a mask of the `games`, int64 (k,), that begin at a position, and these games' records."""
        before, after = np.floor(games * self.share), np.floor((games + 1) * self.share)
        chosen = after > before
        return chosen, self.records[before[chosen].astype(np.int64) % len(self.records)]


def is_several(positions: Any) -> bool:
    """Return True for a list of positions, False for a single position."""
    if isinstance(positions, np.ndarray):
        return positions.ndim > 0
    return isinstance(positions, Sequence) and not isinstance(positions, str | bytes)


def records_of(
    positions: Sequence[Position], places: Sequence[str], rules: Rules, board: Board, is_open: bool = False
) -> Array:
    """Return positions as an array of records (K,). Chance events and forced actions may still be due.

    Texts, bytes and records are checked. The state of a `Game` is not checked. With `is_open`, a position of
    a game that is over raises ValueError. The message of a ValueError begins with the entry of `places` for
    the wrong position.
    """
    records = tables(rules, board).new_games(len(positions))
    known: dict[str | bytes, Array] = {}
    for number, (position, place) in enumerate(zip(positions, places, strict=True)):
        try:
            if isinstance(position, str | bytes):
                if position not in known:
                    known[position] = _record_of(position, rules, board)
                records[number] = known[position]
            else:
                records[number] = _record_of(position, rules, board)
            if is_open:
                check_open(records[number])
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    return records


def check_open(record: Any) -> None:
    """Raise ValueError if the game of a record is over."""
    if record["phase"] == Phase.OVER:
        raise ValueError("the game is over: give a position before the end of a game")


def check_same_game(known: Rules, on: Board, rules: Rules, board: Board) -> None:
    """Raise ValueError unless a game with rules `known` on map `on` can continue with `rules` on `board`."""
    if on.digest != board.digest:
        raise ValueError(f"the game is on map {on.source!r}, not on {board.source!r}")
    texts.check_same_rules(known, rules)


def _record_of(position: Position, rules: Rules, board: Board) -> Any:
    """Return the record of a position.

    Raises ValueError if the position does not fit the rules or the map.
    """
    if isinstance(position, str):
        return texts.position_for(position, rules, board)[0]
    if isinstance(position, bytes):
        position = Game.from_bytes(position, board)
    if isinstance(position, Game):
        check_same_game(position.rules, position.board, rules, board)
        return position.records[0]
    return _checked_record(position, rules, board)


def _checked_record(position: Any, rules: Rules, board: Board) -> Any:
    """Check a record, and return it. Raises ValueError for other values and for impossible positions."""
    table = tables(rules, board)
    dtype = table.new_games(1).dtype
    if not isinstance(position, np.void | np.ndarray) or position.size != 1 or position.dtype != dtype:
        kind = shortened(position) if not isinstance(position, np.void | np.ndarray) else position.dtype.name
        raise ValueError(
            f"{kind} is not a position: pass a text, bytes, a Game or a record of a game on this map"
        )
    record = np.array([position], dtype).reshape(-1)[0]
    if problems := check(record, table, rules, board):
        raise ValueError(f"impossible position: {'; '.join(problems[:3])}")
    return record
