"""The columns of a tournament's file: their SQL types, and what their values may be when a file is read."""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from risk_agents.program import brief
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.results import FORFEIT, NOBODY, TRUNCATED, WON, Forfeit

MOST = (1 << 31) - 1  # of any whole number in the file

Test = Callable[[Any, TournamentConfig], bool]


class Column(NamedTuple):
    """A column: its type in SQL, and whether a value (of a list: one of its values) is what it must be, in words."""

    kind: str
    words: str
    is_right: Test


def _is_whole(value: Any, config: TournamentConfig) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _is_seat(value: Any, config: TournamentConfig) -> bool:
    return type(value) is int and NOBODY <= value < config.num_players


def _is_text(value: Any, config: TournamentConfig) -> bool:
    return isinstance(value, str)


def _is_time(value: Any, config: TournamentConfig) -> bool:
    return type(value) in (int, float) and 0 <= value < math.inf


def _is_place(value: Any, config: TournamentConfig) -> bool:
    return type(value) is int and 1 <= value <= config.num_players


def _is_agent(value: Any, config: TournamentConfig) -> bool:
    return value in config.labels


def _is_actions(value: Any, config: TournamentConfig) -> bool:
    return value is None or (isinstance(value, bytes) and len(value) % 4 == 0)


def _is_opening(value: Any, config: TournamentConfig) -> bool:
    return isinstance(value, str) and re.fullmatch("([0-9a-f]{16})?", value) is not None


def _whole(kind: str = "INTEGER NOT NULL") -> Column:
    return Column(kind, f"a whole number from 0 to {MOST}", _is_whole)


def _one_of(*words: str) -> Column:
    return Column("TEXT NOT NULL", f"one of {', '.join(map(repr, words))}", lambda value, config: value in words)


_SEAT = Column("INTEGER NOT NULL", f"a seat, or {NOBODY}", _is_seat)
COLUMNS = {
    "game": _whole("INTEGER PRIMARY KEY"),
    "deal": _whole(),
    "agents": Column("TEXT NOT NULL", "agents of this tournament", _is_agent),
    "versions": Column("TEXT NOT NULL", "texts", _is_text),
    "starter": _SEAT,
    "ending": _one_of(WON, TRUNCATED, FORFEIT),
    "winner": _SEAT,
    "places": Column("TEXT NOT NULL", "each place once", _is_place),
    "rounds": _whole(),
    "decisions": _whole("TEXT NOT NULL"),
    "turns": _whole("TEXT NOT NULL"),
    "seconds": Column("TEXT NOT NULL", "seconds", _is_time),
    "forfeit_seat": _SEAT,
    "forfeit_kind": _one_of("", *Forfeit.KINDS),
    "forfeit_reason": Column("TEXT NOT NULL", "a text", _is_text),
    "actions": Column("BLOB", "whole numbers of 32 bits", _is_actions),
    "opening": Column("TEXT NOT NULL DEFAULT ''", "16 hexadecimal digits, or nothing", _is_opening),
}
LISTS = ("agents", "versions", "places", "decisions", "turns", "seconds")  # JSON, one value a seat


def checked(name: str, value: Any, config: TournamentConfig) -> Any:
    """A value of a column as it was written, lists read; ValueError for one that was not written so."""
    column, values = COLUMNS[name], [value]
    if name in LISTS:
        value = values = json.loads(value) if isinstance(value, str) else []
        if not isinstance(values, list) or len(values) != config.num_players:
            raise ValueError(f"{name} is {brief(value)}, not a list of {config.num_players} values")
    is_right = all(column.is_right(each, config) for each in values)
    if not is_right or (name == "places" and len(set(values)) < len(values)):
        raise ValueError(f"{name} is {brief(value)}, not {column.words}")
    return value
