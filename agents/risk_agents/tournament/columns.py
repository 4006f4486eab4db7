"""Columns of a tournament's file: their SQL types, and their allowed values."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from risk_agents.program import brief
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.results import FORFEIT, NOBODY, TRUNCATED, WON
from risk_env.bounded_io import parse_json
from risk_env.players import FAULTS

MOST = (1 << 31) - 1  # largest whole number in the file
MOST_LUCK = 1000  # largest absolute value of a seat's luck in a game

Test = Callable[[Any, TournamentConfig], bool]


class Column(NamedTuple):
    """Column: a description of its allowed values, a test of a value, and the SQL type.

    If the column contains lists, the description and the test apply to each value of a list.
    """

    words: str
    is_right: Test
    kind: str = "TEXT NOT NULL"  # SQL type


def _is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _whole(kind: str = "INTEGER NOT NULL") -> Column:
    words = "whole numbers" if kind.startswith("TEXT") else "a whole number"  # text columns contain lists
    return Column(f"{words} from 0 to {MOST}", lambda value, _: _is_whole(value, 0, MOST), kind)


def _one_of(*words: str) -> Column:
    return Column(f"one of {', '.join(map(repr, words))}", lambda value, _: value in words)


def _is_actions(value: Any, _: TournamentConfig) -> bool:
    return value is None or (isinstance(value, bytes) and len(value) % 4 == 0)


def _is_opening(value: Any, _: TournamentConfig) -> bool:
    return isinstance(value, str) and re.fullmatch("([0-9a-f]{16})?", value) is not None


def _is_luck(value: Any, _: TournamentConfig) -> bool:
    return type(value) in (int, float) and -MOST_LUCK <= value <= MOST_LUCK


_SEAT = Column(
    f"a seat, or {NOBODY}",
    lambda value, config: _is_whole(value, NOBODY, config.num_players - 1),
    "INTEGER NOT NULL",
)
COLUMNS = {
    "game": _whole("INTEGER PRIMARY KEY"),
    "deal": _whole(),
    "agents": Column("agents of this tournament", lambda value, config: value in config.labels),
    "versions": Column("strings", lambda value, _: isinstance(value, str)),
    "starter": _SEAT,
    "ending": _one_of(WON, TRUNCATED, FORFEIT),
    "winner": _SEAT,
    "places": Column(
        "the places 1, 2, ..., each once", lambda value, config: _is_whole(value, 1, config.num_players)
    ),
    "rounds": _whole(),
    "decisions": _whole("TEXT NOT NULL"),
    "turns": _whole("TEXT NOT NULL"),
    "seconds": Column(
        "numbers of seconds, 0 or more",
        lambda value, _: type(value) in (int, float) and 0 <= value < math.inf,
    ),
    "forfeit_seat": _SEAT,
    "forfeit_kind": _one_of("", *FAULTS),
    "forfeit_reason": Column("a string", lambda value, _: isinstance(value, str)),
    "actions": Column("32-bit whole numbers as bytes, or NULL", _is_actions, "BLOB"),
    "opening": Column("16 hexadecimal digits, or an empty string", _is_opening),
    "luck": Column(f"numbers from -{MOST_LUCK} to {MOST_LUCK}, or an empty string", _is_luck),
}
# JSON lists, one value per seat
LISTS = ("agents", "versions", "places", "decisions", "turns", "seconds", "luck")
OPTIONAL = ("luck",)  # lists that may be missing; the file then contains an empty string


def checked(name: str, value: Any, config: TournamentConfig) -> Any:
    """Return a value of the column `name`; a list is parsed from JSON, and a missing list is None.

    Raises ValueError if the value is not allowed.
    """
    column, values = COLUMNS[name], [value]
    if name in OPTIONAL and value == "":
        return None
    if name in LISTS:
        value = values = parse_json(value) if isinstance(value, str) else value
        if not isinstance(values, list) or len(values) != config.num_players:
            raise ValueError(f"{name} is {brief(value)}: must be a list of {config.num_players} values")
    is_right = all(column.is_right(each, config) for each in values)
    if not is_right or (name == "places" and len(set(values)) < len(values)):
        raise ValueError(f"{name} is {brief(value)}: must be {column.words}")
    return value
