"""Positions as text, with lines `key: value` that people can type and edit (docs/positions.md).

The module writes and reads positions. Lines with default values are left out.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, found_map
from risk_env.board.names import in_text, split_outside_quotes
from risk_env.board.rules import OPTIONS, Rules, read_option
from risk_env.board.tables import Tables, tables
from risk_env.board.toml_table import similar_names
from risk_env.bounded_io import composed, unmarked
from risk_env.core import entry, types
from risk_env.core.types import (
    DICE_PHASES,
    DRAFT_PHASES,
    FREE,
    MOST_TROOPS,
    NO_REWARD,
    NOBODY,
    Held,
    Phase,
    Reward,
)
from risk_env.messages import shortened
from risk_env.public import words_of
from risk_env.text import check as checks
from risk_env.text.check import Position
from risk_env.text.notation import WILD, card_text

HEADER = "risk_env game 1"  # the number is the version of the format
MOST_CHARACTERS = 1 << 16  # maximum size of a text, in characters
REWARDS = [reward.name.lower().replace("_", " ") for reward in Reward]


class PositionError(ValueError):
    """Error in a position or in its text. The message names the problem and, if there is one, the line."""


def to_text(record: Any, rules: Rules, board: Board) -> str:
    """Return the whole state of a game as text, with a checksum as the last line.

    The text includes hidden facts and the state of the random generator. Raises PositionError for a record
    that `check` rejects, because `from_text` would reject the text of such a record.
    """
    _refuse(checks.check(record, tables(rules, board), rules, board))
    position = Position(np.array([record], record.dtype), tables(rules, board), rules, board)
    usual = Rules().to_dict()
    options = ", ".join(f"{name}={value}" for name, value in rules.to_dict().items() if value != usual[name])
    lines = [HEADER, f"rules: {options or '-'}", f"map: {board.source} {board.digest[:16]}"]
    lines += [*_entry_lines(position), *_territory_lines(position)]
    return "\n".join([*lines, f"checksum: {_checksum(lines)}", ""])


def position_for(text: str, rules: Rules, board: Board) -> npt.NDArray[Any]:
    """Return the position in a text, game_dtype (1,), for play with `rules` on `board`.

    Raises ValueError for a text that `from_text` refuses, and if the rules in the text differ from `rules` in
    any option except `max_rounds`.
    """
    given, _, games = from_text(text, board)
    check_same_rules(given, rules)
    return games


def check_same_rules(given: Rules, rules: Rules) -> None:
    """Raise ValueError if `given` (the rules of a position) and `rules` differ, except in `max_rounds`."""
    other = [
        f"{option}={getattr(given, option)!r} instead of {getattr(rules, option)!r}"
        for option in OPTIONS
        if option != "max_rounds" and getattr(given, option) != getattr(rules, option)
    ]
    if other:
        raise ValueError(f"the rules of the position differ from the rules of this game: {', '.join(other)}")


def from_text(text: str, board: Board | None = None) -> tuple[Rules, Board, npt.NDArray[Any]]:
    """Return the rules, the map and the position in a text.

    The text comes from `to_text` or is written by hand. The position is an array, game_dtype (1,). The text
    names a shipped map or a random map (`found_map`). If `board` is given, `board` is used instead, and must
    have the digest in the text, if there is one. Raises PositionError for a wrong text and for an impossible
    position.
    """
    lines, territories = _read_lines(text)
    rules = lines["rules"].read(_rules_of)
    board = lines["map"].read(partial(_board_of, board=board))
    table = lines["rules"].read(lambda _: tables(rules, board))
    games = table.new_games(1)
    games[0] = table.rules[0].empty
    _read_territories(games, territories, rules, board)
    _read_entries(games, lines, table, rules, board)
    _refuse(checks.complete(games, table, rules, board))
    return rules, board, games


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise PositionError(f"impossible position: {'; '.join(problems)}")


# ------------------------------------------------------------------------------------ lines of a text


class Line(NamedTuple):
    """A line `key: value` of a text."""

    place: str  # place in the text, for messages
    section: str  # name in brackets before the line, empty for the lines of the game
    key: str
    value: str

    def read(self, reader: Callable[[str], Any]) -> Any:
        """Return the result of `reader` for the value. A ValueError becomes a PositionError with the line."""
        try:
            return reader(self.value)
        except ValueError as error:
            raise PositionError(f"{self.place}: {error}") from None


class Lines(dict[str, Line]):
    """The lines of the game, by key. A line that is missing from the text has an empty value."""

    def __missing__(self, key: str) -> Line:
        return Line(key, "", key, "")


def _read_lines(text: str) -> tuple[Lines, list[Line]]:
    """Return the lines of the game, and the lines of the territories.

    Raises PositionError for a wrong header, a wrong checksum or a wrong line. The checksum may be missing.
    """
    lines, territories, section = Lines(), list[Line](), ""
    for number, words in _numbered_lines(text):
        if words.startswith("[") and words.endswith("]"):
            section = words[1:-1].strip()
            continue
        key, *values = (" ".join(part.split()) for part in split_outside_quotes(words, ":", 1))
        value = "".join(values)
        line = Line(f"line {number}" if section else f"line {number}, {key.casefold()}", section, key, value)
        if not values:
            raise PositionError(f"line {number}: {shortened(words)} is neither 'key: value' nor '[section]'")
        if section:
            territories.append(line)
        elif lines.setdefault(key.casefold(), line) is not line:
            raise PositionError(
                f"line {number}: {key!r} is given twice, first in {lines[key.casefold()].place}"
            )
    return lines, territories


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines between header and checksum with their numbers, except empty lines and comments."""
    if not isinstance(text, str):
        raise PositionError(f"text: {shortened(text)} is not a string")
    if len(text) > MOST_CHARACTERS:
        raise PositionError(f"text: {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    try:
        text = composed(unmarked(text))
    except ValueError as error:
        raise PositionError(f"text: {error}") from error
    lines = enumerate(map(str.strip, text.split("\n")), 1)
    numbered = [(number, line) for number, line in lines if line and not line.startswith("#")]
    number, first = numbered[0] if numbered else (1, "")
    if " ".join(first.split()).casefold() != HEADER:
        raise PositionError(f"line {number}: expected '{HEADER}', found {shortened(first)}")
    if numbered[-1][1].casefold().startswith("checksum:"):
        number, last = numbered.pop()
        given, wanted = last.partition(":")[2].strip().casefold(), _checksum(line for _, line in numbered)
        if given != wanted:
            problem = f"checksum {shortened(given)} should be {wanted}; remove this line from an edited text"
            raise PositionError(f"line {number}: {problem}")
    return numbered[1:]


def _checksum(lines: Iterable[str]) -> str:
    """Return the CRC-32 (8 hex digits) of the lines that are not empty."""
    return f"{zlib.crc32(chr(10).join(filter(None, lines)).encode(errors='surrogatepass')):08x}"


# ------------------------------------------------------------------------------------ rules and map


def _rules_of(value: str) -> Rules:
    """Return the rules of the line `rules`.

    In a text written by hand, the line may also contain `preset=NAME` and `profile=NAME`.
    """
    options: dict[str, Any] = {}
    for name, option in map(read_option, _parts(value)):
        if name in options:
            raise ValueError(f"{name!r} is given twice")
        options[name] = option
    return Rules.preset(options.pop("preset"), **options) if "preset" in options else Rules.from_dict(options)


def _parts(value: str) -> list[str]:
    """Return the elements of a comma-separated list. A dash stands for an empty list."""
    return [] if value in ("", "-") else [part.strip() for part in split_outside_quotes(value, ",")]


def _board_of(value: str, board: Board | None) -> Board:
    """Return `board`, or, if `board` is None, the map in the value of the line `map` (default: classic).

    If the line contains a digest, the map must have this digest.
    """
    source, _, digest = value.rpartition(" ")
    if source and re.fullmatch("[0-9a-f]{16}", digest):
        return found_map(source, digest, board)
    return found_map(value or "classic", None, board)


# ------------------------------------------------------------------------------------ territories


def _territory_lines(p: Position) -> Iterator[str]:
    """Yield a section for each continent, and a line for each territory that is not free."""
    for name, members in zip(p.board.continents, p.board.members_of, strict=True):
        yield from ("", f"[{name}]")
        for t in (t for t in members if p.game.owner[t] != FREE):
            army = "neutral" if p.game.owner[t] == p.rules.num_players else f"player {p.game.owner[t]}"
            yield (
                f"{p.board.names_in_text[t]}: {army}, "
                f"{p.game.troops[t]} troop{'s' if p.game.troops[t] != 1 else ''}"
            )


_GARRISON = re.compile(
    r"(?:(?:player )?([0-9])|(neutral)) ?(?:, ?([0-9]{1,10})(?: troops?)?)?", re.IGNORECASE
)


def _read_territories(games: Any, lines: list[Line], rules: Rules, board: Board) -> None:
    """Write owners and troops into `games`, an array of one record. A territory without a line is free."""
    seen = dict[int, str]()
    owner, troops = games["owner"][0], games["troops"][0]
    for line in lines:
        territory = line._replace(value=line.key).read(board.territory)
        name, continent = board.territories[territory], board.continents[board.continent_of[territory]]
        if territory in seen:
            raise PositionError(f"{line.place}: {name} is given twice, first in {seen[territory]}")
        if line.section.casefold() not in (continent.casefold(), "territories"):
            allowed = f"allowed: [{continent}] or [territories]"
            raise PositionError(f"{line.place}: {name} is in section [{line.section}]; {allowed}")
        seen[territory] = line.place
        owner[territory], troops[territory] = line.read(partial(_garrison, rules=rules))


def _garrison(value: str, rules: Rules) -> tuple[int, int]:
    """Return the owner and troops in a text: `player 0, 3 troops`, `neutral, 2 troops` or `free`."""
    if value.casefold() == "free":
        return FREE, 0
    match = _GARRISON.fullmatch(value)
    if match is None:
        raise ValueError(
            f"{shortened(value)} is not of the form 'player 0, 3 troops', 'neutral, 2 troops' or 'free'"
        )
    seat, neutral, troops = match[1], match[2], int(match[3] or 1)
    if neutral and not rules.neutral:
        raise ValueError("neutral: the rules have no neutral army")
    if seat and int(seat) >= rules.num_players:
        raise ValueError(f"player {seat}: must be from 0 to {rules.num_players - 1}")
    if not 1 <= troops <= MOST_TROOPS:
        raise ValueError(f"{troops} troops: must be from 1 to {MOST_TROOPS}")
    return rules.num_players if neutral else int(seat), troops


# ------------------------------------------------------------------------------------ the other lines

# Keys of lines, with `= FIELDS` if the names of the fields differ from the key. A default value may depend on
# the territories and on earlier lines, but not on later lines. `{}` stands for the name of an element: each
# element has a separate line. Two fields may share a line.
_LINES = """
phase, round = round_number, starter, turn, random, decisions, winner, truncated, \
fallen = death, to place, in a row,
captured, eliminated, attacks over, held at start, mission {} = mission, headquarters {} = headquarters,
capital {} = capital, cities = city, objective {} = objective objective_reward, reward {} = reward_owner,
{} = airfield, objective taken, hand {} = hand wilds, discard = discard discard_wilds, \
picked = picked picked_wilds,
shown, bonus, sets traded, set traded, bonus paid, draft left, source, target, \
moves left, move begun, battles,
commander used, blitz, chosen dice, rerolled, rolled, settled, losses
"""


class Form(NamedTuple):
    """The text form of a kind of value.

    `write` returns the text of a value. `read` returns the value of a text, or raises ValueError.
    """

    write: Callable[[Any], str]
    read: Callable[[str], Any]


class Entry(NamedTuple):
    """A line for one field, for two fields that belong together, or for one element of the field or fields.

    `place` is the index of the element, or None.
    """

    key: str
    fields: tuple[str, ...]
    place: int | None
    form: Form
    depends: bool  # True if the default value depends on the territories and on earlier lines

    def value(self, field_of: Callable[[str], Any]) -> Any:
        """Return the value, or the list of both values of two fields.

        `field_of` returns the value of a field.
        """
        values = [
            field_of(field) if self.place is None else field_of(field)[self.place] for field in self.fields
        ]
        return values if len(values) > 1 else values[0]

    def put(self, games: Any, value: Any) -> None:
        """Write a value into `games`, an array of one record."""
        at = 0 if self.place is None else (0, self.place)
        for field, one in zip(self.fields, value if len(self.fields) > 1 else [value], strict=True):
            games[field][at] = words_of(one, games[field].shape[-1]) if isinstance(one, set) else one


def _entry_lines(p: Position) -> Iterator[str]:
    """Yield the lines of the entries whose values differ from the default values."""
    for line in _entries(p.rules, p.board):
        value = line.value(partial(getattr, p.game))
        if value != line.value(partial(_usual, p)):
            yield f"{line.key}: {line.form.write(value)}"


def _read_entries(games: Any, lines: Lines, table: Tables, rules: Rules, board: Board) -> None:
    """Write the lines of the game into `games`, an array of one record; missing lines have default values."""
    entries = {line.key.casefold(): line for line in _entries(rules, board)}
    known = ["rules", "map", *(line.key for line in entries.values())]
    for key in lines:
        if key not in entries and key not in ("rules", "map", "trade"):  # `trade`: texts before version 0.2
            hint = similar_names(key, known, f"; allowed: {', '.join(known)}")
            raise PositionError(f"{lines[key].place}: unknown key in this game{hint}")
    position: Position | None = None  # None after a change of the record
    usual: dict[str, Any] = {}  # default values of fields in the present position
    for key, line in entries.items():
        if key in lines:
            line.put(games, lines[key].read(line.form.read))
            position = None
        elif line.depends:
            if position is None:
                position, usual = Position(games, table, rules, board), {}
            for field in line.fields:
                if field not in usual:
                    usual[field] = _usual(position, field)
            value = line.value(usual.__getitem__)
            if value != line.value(partial(getattr, position.game)):
                line.put(games, value)
                position = None


@lru_cache(maxsize=64)
def _entries(rules: Rules, board: Board) -> tuple[Entry, ...]:
    """Return all entries of a game, in the order of `_LINES`."""
    names: dict[str, Sequence[str]] = {
        **dict.fromkeys(
            ("mission", "headquarters", "capital", "hand"), tuple(map(str, range(rules.num_players)))
        ),
        "objective": [in_text(goal.name) for goal in board.objectives],
        "reward_owner": REWARDS,
        "airfield": [REWARDS[reward] for reward in checks.AIRFIELDS],
    }
    entries = []
    for key, _, named in (line.partition(" = ") for line in re.split(r",\s+", _LINES.strip())):
        fields = tuple(named.split()) or (key.replace(" ", "_"),)
        form = _form_of(fields[0], rules, board)
        places = enumerate(names[fields[0]]) if "{}" in key else [(None, "")]
        depends = bool(_USUAL.keys() & fields)
        entries += [Entry(key.format(name), fields, place, form, depends) for place, name in places]
    return tuple(entries)


# ------------------------------------------------------------------------------------ default values


def _usual(p: Position, field: str) -> Any:
    """Return the default value of a field, which applies if a text has no line for the field.

    The default value may depend on the territories and on earlier lines.
    """
    return _USUAL[field](p) if field in _USUAL else getattr(p.empty, field)


def _usual_to_place(p: Position) -> list[int]:
    """Return each army's starting troops minus the troops on the board (RULES 4.2), or 0 after the set-up."""
    start = int(p.tables.rules[0].initial_troops) if p.game.round_number == 0 else 0
    left = [max(0, start - p.placed(army)) for army in p.armies]
    return left + [0] * (types.MAX_OWNERS - len(left))


def _usual_objectives(p: Position) -> list[int]:
    """Return the default state of each Objective.

    With `objectives="fixed"`, the Objectives of Basic Training are face up (RULES 9.1). All other Objectives
    are not in play.
    """
    if p.rules.objectives != "fixed":
        return list(p.empty.objective)
    face_up = p.tables.board[0].goal_fixed
    return np.where(face_up, Held.FACE_UP, Held.NOT_IN_PLAY).tolist()


def _usual_draft(p: Position) -> int:
    """Return the default draft: the number of troops due before any cards (RULES 3.1, 9.2).

    The number is 0 after a capture and outside the draft phases.
    """
    if p.phase not in DRAFT_PHASES or p.game.captured:
        return 0
    scratch = Position(p.games.copy(), p.tables, p.rules, p.board)
    checks.derive_facts(scratch)
    entry.begin_draft_of_turn(scratch.games, 0, p.tables.board, p.tables.rules)
    return int(scratch.games["draft_left"][0])


_USUAL: dict[str, Callable[[Position], Any]] = {
    "phase": lambda p: int(Phase.DRAFT),
    "round_number": lambda p: int(not p.is_setup),
    "turn": lambda p: p.game.starter,
    "death": lambda p: _deaths([seat for seat in p.seats if p.game.round_number > 0 and not p.held[seat]]),
    "to_place": _usual_to_place,
    "captured": lambda p: p.phase == Phase.OCCUPY,
    "attacks_over": lambda p: p.phase in checks.AFTER_ATTACKS and p.phase != Phase.OVER,
    "held_at_start": lambda p: set(p.own) if p.game.round_number > 0 else set(),
    "capital": lambda p: p.tables.rules[0].chart_capital.tolist(),
    "city": lambda p: set(p.board.basic_training_cities) if p.rules.cities == "fixed" else set(),
    "objective": _usual_objectives,
    "objective_taken": lambda p: p.phase == Phase.AIRFIELD,
    "sets_traded": lambda p: int(p.phase == Phase.BONUS),
    "set_traded": lambda p: p.phase == Phase.BONUS,
    "draft_left": _usual_draft,
    "moves_left": checks.most_moves,
    "battles": lambda p: int(p.game.captured or p.phase in DICE_PHASES),
    "blitz": lambda p: p.phase == Phase.ROLL and p.rules.attack == "blitz",
    "settled": lambda p: [checks.kept_dice(p, side) for side in range(2)],
}


# ------------------------------------------------------------------------------------ forms


def _form_of(field: str, rules: Rules, board: Board) -> Form:
    """Return the text form of the values of a field, or of its elements."""
    if field in _FORMS:
        return _FORMS[field](rules, board)
    if field in checks.SETS:
        return _territories(board)
    if field in checks.FLAGS:
        return _word({"yes": 1, "no": 0})
    low, high = checks.ranges(rules, board)[field]
    number = _territory(board) if field in checks.PLACES else _number(0, max(0, high))
    if field in ("chosen_dice", "rerolled", "losses"):
        return _listed(number, count=2, each="two are needed")
    if low >= 0:
        return number
    return Form(  # a dash means nobody or nowhere
        lambda value: "-" if value == NOBODY else number.write(value),
        lambda text: NOBODY if text == "-" else number.read(text),
    )


def _number(low: int, high: int) -> Form:
    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
            raise ValueError(f"{shortened(text)} is not a whole number from {low} to {high}")
        return int(text)

    return Form(str, read)


def _word(values: dict[str, Any]) -> Form:
    """Return the text form of values that have names. `values` maps each name to its value.

    A text may be in upper or lower case, and may have underscores instead of spaces.
    """
    known = {_plain(word): value for word, value in values.items()}

    def read(text: str) -> Any:
        if _plain(text) not in known:
            hint = similar_names(text, tuple(values), f"; allowed: {', '.join(values)}")
            raise ValueError(f"{shortened(text)} is unknown{hint}")
        return known[_plain(text)]

    return Form(lambda value: next(word for word, other in values.items() if other == value), read)


def _plain(word: str) -> str:
    """Return a word in lower case, with spaces instead of underscores, and one space after each comma."""
    return ", ".join(part.strip() for part in word.casefold().replace("_", " ").split(","))


def _listed(form: Form, count: int | None = None, each: str = "", distinct: bool = False) -> Form:
    """Return the text form of lists whose elements have the form `form`.

    Elements are separated by commas, and a dash stands for an empty list.

    The list must have `count` elements, unless `count` is None. The error message for any other number of
    elements ends with `each`. If `distinct` is True, no element may be named twice.
    """

    def read(text: str) -> list[Any]:
        values = [form.read(part) for part in _parts(text)]
        if distinct and len(set(values)) < len(values):
            raise ValueError(f"{shortened(text)} contains an element twice")
        if count is not None and len(values) != count:
            raise ValueError(f"number of values: {len(values)}; {each}")
        return values

    return Form(lambda values: ", ".join(map(form.write, values)) or "-", read)


def _territory(board: Board) -> Form:
    return Form(lambda value: board.names_in_text[value], board.territory)


def _territories(board: Board) -> Form:
    names = _listed(_territory(board), distinct=True)
    return Form(lambda value: names.write(sorted(value)), lambda text: set(names.read(text)))


def _cards(_: Rules, board: Board) -> Form:
    """Return the text form of cards, wild cards last.

    The value is a set of territory cards and a number of wild cards.
    """
    names = _territories(board)

    def write(value: list[Any]) -> str:
        return ", ".join([card_text(card, board) for card in sorted(value[0])] + [WILD] * value[1]) or "-"

    def read(text: str) -> list[Any]:
        named = [card for card in _parts(text) if card.casefold() != WILD]
        wilds = len(_parts(text)) - len(named)
        if wilds > board.num_wilds:
            raise ValueError(f"{wilds} wild cards: must be from 0 to {board.num_wilds}")
        return [names.read(", ".join(named)), wilds]

    return Form(write, read)


def _fallen(rules: Rules, _: Board) -> Form:
    """Return the text form of the eliminated seats, in the order of elimination.

    The value is each seat's place in this order, from 1, or 0 for living seats.
    """
    seats = _listed(_number(0, rules.num_players - 1), distinct=True)
    return Form(
        lambda deaths: seats.write(np.argsort(deaths, kind="stable")[deaths.count(0) :].tolist()),
        lambda text: _deaths(seats.read(text)),
    )


def _deaths(fallen: list[int]) -> list[int]:
    """Return each seat's place in the order of elimination, from 1, or 0 for living seats."""
    return [fallen.index(seat) + 1 if seat in fallen else 0 for seat in range(types.MAX_SEATS)]


def _to_place(rules: Rules, _: Board) -> Form:
    """Return the text form of the numbers of troops that the armies still place in the set-up."""
    armies = rules.num_players + rules.neutral
    numbers = _listed(
        _number(0, MOST_TROOPS), count=armies, each=f"one for each of {armies} armies is needed"
    )
    beyond = [0] * (types.MAX_OWNERS - armies)
    return Form(lambda value: numbers.write(value[:armies]), lambda text: numbers.read(text) + beyond)


def _objective(rules: Rules, _: Board) -> Form:
    """Return the text form of the state of an Objective (RULES 9.3).

    The text is `-`, `face up` or the holder, followed by the Reward of the Objective if there is one.
    """
    holders = {"-": int(Held.NOT_IN_PLAY), "face up": int(Held.FACE_UP)}
    holders |= {f"player {seat}": seat for seat in range(rules.num_players)}
    rewards = {"": NO_REWARD} | {f", reward {name}": reward for reward, name in enumerate(REWARDS)}
    return _word({a + b: [holder, reward] for a, holder in holders.items() for b, reward in rewards.items()})


def _read_generator(text: str) -> int:
    if not re.fullmatch("[0-9a-fA-F]{1,16}", text):
        raise ValueError(f"{shortened(text)} does not consist of 1 to 16 hexadecimal digits")
    return int(text, 16)


def _dice(_: Rules, __: Board) -> Form:
    """Return the text form of the dice of attacker and defender. In the value, 0 stands for no die."""
    face = _number(1, types.NUM_FACES + 1)

    def read(text: str) -> list[list[int]]:
        sides = [side.split() for side in text.split("|")]
        if len(sides) != 2 or any(len(side) > types.MAX_DICE for side in sides):
            form = "write the dice of both sides as in '6 5 1 | 5 5', at most four per side"
            raise ValueError(f"{shortened(text)}: {form}")
        return [[*map(face.read, side), *[0] * (types.MAX_DICE - len(side))] for side in sides]

    return Form(
        lambda value: " | ".join(" ".join(str(face) for face in side if face) for side in value).strip(), read
    )


_FORMS: dict[str, Callable[[Rules, Board], Form]] = {
    **dict.fromkeys(("hand", "discard", "picked"), _cards),
    **dict.fromkeys(("rolled", "settled"), _dice),
    "phase": lambda *_: _word({phase.name: int(phase) for phase in Phase}),
    "random": lambda *_: Form(lambda value: f"{value:016x}", _read_generator),
    "death": _fallen,
    "to_place": _to_place,
    "objective": _objective,
}
