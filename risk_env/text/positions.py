"""Text forms of positions, both ways.

A position is a text of lines `key: value` that people can type and edit; what has its usual value is left out:

    risk_env game 1
    rules: num_players=3, fortify=adjacent
    map: classic 93b1...
    phase: ATTACK
    turn: 1

    [North America]
    Alaska: player 0, 3 troops
    ...
    checksum: 1234abcd
"""

from __future__ import annotations

import difflib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, MapError, load_map
from risk_env.board.rules import OPTIONS, Rules
from risk_env.board.tables import Tables, tables
from risk_env.core import entry, types
from risk_env.core.types import FREE, NO_REWARD, NOBODY, NOWHERE, Held, Phase, Reward, Trade
from risk_env.text.check import (
    AIRFIELDS,
    DICE_PHASES,
    DRAFT_PHASES,
    FORCED_HAND,
    FORTIFY_PHASES,
    GOAL_PHASES,
    MIN_DRAFT,
    SETUP_PHASES,
    Position,
    check,
    check_unasked,
    facts,
    members,
    most_moves,
    set_of,
    whole,
)
from risk_env.text.notation import WILD, shortened

SCHEMA = 1
HEADER = "risk_env game"


class PositionError(ValueError):
    """A text that is no position; the message names the line, the problem and what is allowed."""


def to_text(record: Any, rules: Rules, board: Board) -> str:
    """A complete text of a game in progress (hidden facts and generator included), with a checksum as its last line.

    Raises PositionError for a record that `check` finds fault with: its text could not be read again.
    """
    table = tables(rules, board)
    problems = check(record, table, rules, board)
    if problems:
        raise PositionError(f"an impossible position has no text: {'; '.join(problems)}")
    lines = [f"{HEADER} {SCHEMA}", f"rules: {_rules_text(rules)}", f"map: {board.source} {board.digest[:16]}"]
    lines += _entry_lines(record, table, rules, board)
    lines += _territory_lines(record, rules, board)
    return "\n".join([*lines, f"checksum: {_checksum(lines)}", ""])


def from_text(text: str, board: Board | None = None) -> tuple[Rules, Board, npt.NDArray[Any]]:
    """Rules, map and the position (array of game_dtype, shape (1,)) of a text: of `to_text`, or written by hand.

    With `board` that map is taken, not the one that the text names; their digests must agree all the same. Raises
    PositionError for a wrong text and for an impossible position.
    """
    lines = _read_lines(text)
    rules = _rules_of(lines)
    board = _board_of(lines, board)
    try:
        table = tables(rules, board)
    except ValueError as error:
        raise lines.error("rules", str(error)) from None
    games = _blank(table, rules, board)
    _read_territories(games[0], lines, rules, board)
    _read_entries(games[0], lines, rules, board)
    _derive(games[0], rules, board)
    _refuse(check_unasked(games[0], table, rules, board))
    entry.write_legal_actions(games, 0, table.board, table.rules)
    _refuse(check(games[0], table, rules, board))
    return rules, board, games


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise PositionError(f"impossible position: {'; '.join(problems)}")


# ------------------------------------------------------------------------------------------------ lines of a text


class Line(NamedTuple):
    """Where a line stands and what it says after the colon."""

    number: int  # in the text, from 1
    value: str


class Lines:
    """The lines of a text: `key: value` of the game, and those of the territories, section by section."""

    def __init__(self) -> None:
        self.game: dict[str, Line] = {}
        self.territories: list[tuple[str, str, Line]] = []  # section, name, line

    def error(self, key: str, problem: str) -> PositionError:
        """The error of a line of the game."""
        place = f"line {self.game[key].number}, {key}" if key in self.game else key
        return PositionError(f"{place}: {problem}")

    def take(self, key: str) -> str | None:
        """The value of a line, once."""
        line = self.game.get(key)
        return None if line is None else line.value


def _fault(number: int, problem: str) -> PositionError:
    return PositionError(f"line {number}: {problem}")


def _read_lines(text: str) -> Lines:
    """Split a text into its lines; header and checksum, if there is one, must be right."""
    if not isinstance(text, str):
        raise PositionError(f"text: {shortened(text)} is not a text")
    numbered = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    numbered = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    _check_header(numbered)
    if numbered[-1][1].casefold().startswith("checksum:"):
        _check_checksum(numbered)
        numbered.pop()
    lines, section = Lines(), ""
    for number, line in numbered[1:]:
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        else:
            _add_line(lines, section, number, line)
    return lines


def _check_header(numbered: Sequence[tuple[int, str]]) -> None:
    wanted = f"{HEADER} {SCHEMA}"
    number, first = numbered[0] if numbered else (1, "")
    if " ".join(first.split()).casefold() != wanted:
        raise _fault(number, f"{shortened(first)} must be {wanted!r}")


def _checksum(lines: Iterable[str]) -> str:
    """CRC-32 (8 hex digits) of the lines that say something."""
    told = "\n".join(line for line in lines if line)
    return f"{zlib.crc32(told.encode(errors='surrogatepass')):08x}"


def _check_checksum(numbered: Sequence[tuple[int, str]]) -> None:
    number, last = numbered[-1]
    found = last.partition(":")[2].strip().casefold()
    wanted = _checksum(line for _, line in numbered[:-1])
    if found != wanted:
        raise _fault(
            number, f"checksum {shortened(found)} must be {wanted}; leave the line out of a text edited by hand"
        )


def _add_line(lines: Lines, section: str, number: int, line: str) -> None:
    key, colon, value = line.partition(":")
    if not colon:
        raise _fault(number, f"{shortened(line)} is not of the form 'key: value' nor '[section]'")
    key, said = " ".join(key.split()), Line(number, " ".join(value.split()))
    if section:
        lines.territories.append((section, key, said))
    elif key.casefold() in lines.game:
        raise _fault(number, f"{key!r} a second time, after line {lines.game[key.casefold()].number}")
    else:
        lines.game[key.casefold()] = said


def _near(word: str, words: Iterable[str]) -> str:
    """What to say of a wrong word: those near it, or all."""
    known = list(words)
    near = difflib.get_close_matches(word, known, 3)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"allowed: {', '.join(known)}"


# ------------------------------------------------------------------------------------------------ rules and map


def _rules_text(rules: Rules) -> str:
    """The options that differ from the defaults of `Rules`."""
    usual = Rules()
    chosen = [f"{name}={getattr(rules, name)}" for name in OPTIONS if getattr(rules, name) != getattr(usual, name)]
    return ", ".join(chosen) or "-"


def _rules_of(lines: Lines) -> Rules:
    """The rules of the line `rules`; a text by hand may begin with `preset=NAME`."""
    options: dict[str, Any] = {}
    for part in _parts(lines.take("rules") or ""):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or name in options:
            problem = "is given twice" if equals else "is not of the form option=value"
            raise lines.error("rules", f"{shortened(part)} {problem}")
        options[name] = _option_value(value)
    try:
        return Rules.preset(options.pop("preset"), **options) if "preset" in options else Rules.from_dict(options)
    except (ValueError, TypeError) as error:
        raise lines.error("rules", str(error)) from None


def _option_value(word: str) -> Any:
    if re.fullmatch("[0-9]{1,10}", word):
        return int(word)
    return {"True": True, "False": False, "None": None}.get(word, word)


def _parts(value: str) -> list[str]:
    """The parts of a list with commas; a dash is an empty list."""
    return [] if value in ("", "-") else [part.strip() for part in value.split(",")]


def _board_of(lines: Lines, board: Board | None) -> Board:
    """The map of the line `map` (default classic), or the one given, of the digest that the line names."""
    words = (lines.take("map") or "classic").split(" ")
    has_digest = len(words) > 1 and re.fullmatch("[0-9a-f]{16}", words[-1]) is not None
    source = " ".join(words[:-1] if has_digest else words)
    if board is None:
        try:
            board = load_map(source)
        except MapError as error:
            raise lines.error("map", str(error)) from None
    if has_digest and words[-1] != board.digest[:16]:
        problem = f"the text was written for digest {words[-1]}, the map {board.source!r} has {board.digest[:16]}"
        raise lines.error("map", problem)
    return board


# ------------------------------------------------------------------------------------------------ territories


def _territory_lines(record: Any, rules: Rules, board: Board) -> Iterator[str]:
    """A section for each continent, a line for each territory that is held."""
    owner, troops = record.owner.tolist(), record.troops.tolist()
    for continent, name in enumerate(board.continents):
        yield from ("", f"[{name}]")
        for t, place in enumerate(board.territories):
            if board.continent_of[t] == continent and owner[t] != FREE:
                yield f"{place}: {_garrison_text(owner[t], troops[t], rules)}"


def _garrison_text(owner: int, troops: int, rules: Rules) -> str:
    army = "neutral" if owner == rules.num_players else f"player {owner}"
    return f"{army}, {troops} troop{'s' if troops != 1 else ''}"


_GARRISON = re.compile(r"(?:(?:player )?([0-9])|(neutral)) ?(?:, ?([0-9]{1,10})(?: troops?)?)?", re.IGNORECASE)


def _read_territories(record: Any, lines: Lines, rules: Rules, board: Board) -> None:
    """Owners and troops; a territory without a line is free."""
    seen: dict[int, int] = {}
    for section, name, line in lines.territories:
        territory = _place(name, board, line.number)
        if territory in seen:
            raise _fault(line.number, f"{board.territories[territory]} a second time, after line {seen[territory]}")
        seen[territory] = line.number
        _check_section(section, territory, board, line.number)
        owner, troops = _garrison(line, rules)
        record.owner[territory], record.troops[territory] = owner, troops
    for army in range(rules.num_players + rules.neutral):
        _put_set(record.owned[army], set_of(np.flatnonzero(record.owner == army).tolist()))
    _put_set(record.strong, set_of(np.flatnonzero(record.troops > 1).tolist()))


def _place(name: str, board: Board, number: int) -> int:
    try:
        return board.territory(name)
    except MapError as error:
        raise _fault(number, str(error)) from None


def _check_section(section: str, territory: int, board: Board, number: int) -> None:
    """The continent of the territory, or the word `territories` for any."""
    continent = board.continents[board.continent_of[territory]]
    if section.casefold() not in (continent.casefold(), "territories"):
        name = board.territories[territory]
        raise _fault(number, f"{name} stands in section [{section}]; allowed: [{continent}] or [territories]")


def _garrison(line: Line, rules: Rules) -> tuple[int, int]:
    """Owner and troops of `player 0, 3 troops`, `neutral, 2 troops` or `free`."""
    if line.value.casefold() == "free":
        return FREE, 0
    match = _GARRISON.fullmatch(line.value)
    if match is None:
        allowed = "'player 0, 3 troops', 'neutral, 2 troops' or 'free'"
        raise _fault(line.number, f"{shortened(line.value)} must be like {allowed}")
    seat, neutral, troops = match.groups()
    if neutral and not rules.neutral:
        raise _fault(line.number, "neutral: the rules have no neutral army")
    if seat and int(seat) >= rules.num_players:
        raise _fault(line.number, f"player {seat}: allowed are 0 ... {rules.num_players - 1}")
    count = int(troops or 1)
    if not 1 <= count <= types.UNLIMITED:
        raise _fault(line.number, f"{count} troops: allowed are 1 ... {types.UNLIMITED}")
    return rules.num_players if neutral else int(seat), count


def _put_set(words: Any, number: int) -> None:
    """Write a set given as a whole number into bit words."""
    words[:] = np.frombuffer(number.to_bytes(8 * len(words), "little"), "<u8")


# ------------------------------------------------------------------------------------------------ the other lines


class Form(NamedTuple):
    """A kind of value as text: `write` a value, `read` a text (ValueError if it is wrong)."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


class Entry(NamedTuple):
    """A line of the text that tells one field, or one place of it; `usual` is its value if there is no such line."""

    key: str
    get: Callable[[Any], Any]
    put: Callable[[Any, Any], None]
    form: Form
    usual: Callable[[Any], Any]


def _entry_lines(record: Any, table: Tables, rules: Rules, board: Board) -> Iterator[str]:
    """The lines whose values are not the usual ones of what the lines before them say."""
    scratch = _blank(table, rules, board)[0]
    for field in ("owner", "troops", "owned", "strong"):
        scratch[field] = record[field]
    for line in _entries(rules, board):
        value = line.get(record)
        if value != line.usual(scratch):
            yield f"{line.key}: {line.form.write(value)}"
        line.put(scratch, value)


def _read_entries(record: Any, lines: Lines, rules: Rules, board: Board) -> None:
    known = {"rules": "rules", "map": "map"} | {e.key.casefold(): e.key for e in _entries(rules, board)}
    for key in lines.game:
        if key not in known:
            raise lines.error(key, f"unknown in this game; {_near(key, known.values())}")
    for told in _entries(rules, board):
        value = lines.take(told.key.casefold())
        try:
            told.put(record, told.usual(record) if value is None else told.form.read(value))
        except ValueError as error:
            raise lines.error(told.key.casefold(), str(error)) from None


@lru_cache(maxsize=64)
def _entries(rules: Rules, board: Board) -> tuple[Entry, ...]:
    """The lines beside those of the territories, in an order in which usual values rest on earlier lines only."""
    return (
        *_turn_entries(rules, board),
        *_goal_entries(rules, board),
        *_card_entries(rules, board),
        *_pending_entries(rules, board),
        *_dice_entries(rules, board),
    )


def _turn_entries(rules: Rules, board: Board) -> list[Entry]:
    seat = _number_form(0, rules.num_players - 1)
    someone = _or_dash(seat, NOBODY)
    return [
        _number("phase", "phase", PHASE, Phase.DRAFT),
        _number("round", "round_number", COUNTER, lambda g: int(Phase(g.phase) not in SETUP_PHASES)),
        _number("starter", "starter", seat, 0),
        _number("turn", "turn", seat, lambda g: int(g.starter)),
        _number("random", "random", GENERATOR, 0),
        _number("decisions", "decisions", COUNTER, 0),
        _number("winner", "winner", someone, NOBODY),
        _flag("truncated", lambda g: False),
        _fallen(rules),
        _to_place(rules, board),
        _number("in a row", "in_a_row", _number_form(0, 1), 0),
        _flag("captured", lambda g: g.phase == Phase.OCCUPY),
        _flag("eliminated", lambda g: False),
        _flag("attacks over", lambda g: g.phase in (*GOAL_PHASES, *FORTIFY_PHASES, Phase.DRAW)),
        _territories("held at start", lambda g: g.held_at_start, board, _usual_start),
    ]


def _goal_entries(rules: Rules, board: Board) -> list[Entry]:
    mission = _or_dash(_number_form(0, max(0, len(board.missions) - 1)), NOBODY)
    place = _or_dash(_territory_form(board), NOWHERE)
    seat = _or_dash(_number_form(0, rules.num_players - 1), NOBODY)
    fixed = set_of(board.basic_training_cities) if rules.cities == "fixed" else 0
    capitals = _usual_capitals(rules, board)
    seats = range(rules.num_players)
    return [
        *(_place_of("mission", s, mission, NOBODY, f"mission {s}") for s in seats),
        *(_place_of("headquarters", s, place, NOWHERE, f"headquarters {s}") for s in seats),
        *(_place_of("capital", s, place, capitals[s], f"capital {s}") for s in seats),
        _territories("cities", lambda g: g.city, board, lambda g: fixed),
        *(_objective(number, rules, board) for number in range(len(board.objectives))),
        *(_place_of("reward_owner", r, seat, NOBODY, f"reward {_reward_text(r)}") for r in Reward),
        *(_place_of("airfield", w, place, NOWHERE, _reward_text(r)) for w, r in enumerate(AIRFIELDS)),
        _flag("objective taken", lambda g: g.phase == Phase.AIRFIELD),
    ]


def _card_entries(rules: Rules, board: Board) -> list[Entry]:
    return [
        *(_hand(seat, board) for seat in range(rules.num_players)),
        _pile("discard", board),
        _pile("picked", board),
        _territories("shown", lambda g: g.shown, board, lambda g: 0),
        _territories("bonus", lambda g: g.bonus, board, lambda g: 0),
        _number("sets traded", "sets_traded", COUNTER, lambda g: int(g.phase == Phase.BONUS)),
        _flag("set traded", lambda g: g.phase == Phase.BONUS),
        _flag("bonus paid", lambda g: False),
        _number("trade", "trade", TRADE, lambda g: _usual_trade(g, rules)),
    ]


def _pending_entries(rules: Rules, board: Board) -> list[Entry]:
    place = _or_dash(_territory_form(board), NOWHERE)
    return [
        _number("draft left", "draft_left", COUNTER, lambda g: _usual_draft(g, rules, board)),
        _number("source", "source", place, NOWHERE),
        _number("target", "target", place, NOWHERE),
        _number("moves left", "moves_left", _number_form(0, board.num_territories), _usual_moves(rules, board)),
        _flag("move begun", lambda g: False),
    ]


def _dice_entries(rules: Rules, board: Board) -> list[Entry]:
    return [
        _number("battles", "battles", COUNTER, lambda g: int(bool(g.captured) or g.phase in DICE_PHASES)),
        _flag("commander used", lambda g: False),
        _flag("blitz", lambda g: g.phase == Phase.ROLL and rules.attack == "blitz"),
        _pair("chosen dice", "chosen_dice", 3),
        _pair("rerolled", "rerolled", types.NUM_FACES),
        _dice("rolled", lambda g: ((), ())),
        _dice("settled", lambda g: _usual_settled(g, rules, board)),
        _pair("losses", "losses", 2),
    ]


# ------------------------------------------------------------------------------------------------ forms


def _number_form(low: int, high: int) -> Form:
    """A whole number within limits."""

    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
            raise ValueError(f"{shortened(text)} is not a whole number {low} ... {high}")
        return int(text)

    return Form(str, read)


def _or_dash(form: Form, nothing: int) -> Form:
    """The same, or a dash for nothing."""
    return Form(
        lambda value: "-" if value == nothing else form.write(value),
        lambda text: nothing if text == "-" else form.read(text),
    )


def _word_form(words: dict[str, int]) -> Form:
    """One of a few words, in any case, with blanks or underscores."""
    texts = {number: word for word, number in words.items()}

    def read(text: str) -> int:
        word = text.upper().replace(" ", "_")
        if word not in words:
            raise ValueError(f"{shortened(text)} is unknown; {_near(word, words)}")
        return words[word]

    return Form(lambda value: texts[value], read)


def _territory_form(board: Board) -> Form:
    return Form(lambda value: board.territories[value], board.territory)


def _list_form(read_one: Callable[[str], int], write_one: Callable[[int], str]) -> Form:
    """A list with commas, a dash for an empty one; the value is a tuple of numbers."""
    return Form(
        lambda value: ", ".join(map(write_one, value)) or "-",
        lambda text: tuple(map(read_one, _parts(text))),
    )


COUNTER = _number_form(0, types.UNLIMITED)
PHASE = _word_form({phase.name: int(phase) for phase in Phase})
TRADE = _word_form({trade.name: int(trade) for trade in Trade})


def _read_generator(text: str) -> int:
    if not re.fullmatch("[0-9a-fA-F]{1,16}", text):
        raise ValueError(f"{shortened(text)} is not 1 to 16 hexadecimal digits")
    return int(text, 16)


GENERATOR = Form(lambda value: f"{value:016x}", _read_generator)


def _read_flag(text: str) -> bool:
    if text.casefold() not in ("yes", "no"):
        raise ValueError(f"{shortened(text)} is not yes or no")
    return text.casefold() == "yes"


FLAG = Form(lambda value: "yes" if value else "no", _read_flag)


def _read_dice(text: str) -> tuple[tuple[int, ...], ...]:
    sides = [side.split() for side in text.split("|")]
    if len(sides) != 2 or any(len(side) > types.MAX_DICE for side in sides):
        raise ValueError(f"{shortened(text)} must be the dice of both sides, as in '6 5 1 | 5 5', at most four a side")
    face = _number_form(1, types.NUM_FACES + 1)
    return tuple(tuple(map(face.read, side)) for side in sides)


DICE = Form(lambda value: " | ".join(" ".join(map(str, side)) for side in value).strip(), _read_dice)


# ------------------------------------------------------------------------------------------------ entries


def _number(key: str, field: str, form: Form, usual: Any) -> Entry:
    """A line for a field of one number; `usual` a number or a function of the record."""
    asked = usual if callable(usual) else lambda game: int(usual)
    return Entry(key, lambda game: int(game[field]), lambda game, value: _set(game, field, value), form, asked)


def _set(game: Any, field: str, value: Any) -> None:
    game[field] = value


def _set_place(game: Any, field: str, place: int, value: int) -> None:
    game[field][place] = value


def _flag(key: str, usual: Callable[[Any], Any]) -> Entry:
    """A line yes or no, for the field of the same words."""
    field = key.replace(" ", "_")
    return Entry(
        key,
        lambda game: bool(game[field]),
        lambda game, value: _set(game, field, value),
        FLAG,
        lambda game: bool(usual(game)),
    )


def _place_of(field: str, place: int, form: Form, usual: int, key: str) -> Entry:
    """A line for one place of a field."""
    return Entry(
        key,
        lambda game: int(game[field][place]),
        lambda game, value: _set_place(game, field, place, value),
        form,
        lambda game: int(usual),
    )


def _territories(key: str, words: Callable[[Any], Any], board: Board, usual: Callable[[Any], int]) -> Entry:
    """A line for a set of territories."""
    names = _list_form(board.territory, lambda t: board.territories[t])
    form = Form(lambda value: names.write(members(value)), lambda text: set_of(_distinct(names.read(text), text)))
    return Entry(key, lambda game: whole(words(game)), lambda game, value: _put_set(words(game), value), form, usual)


def _distinct(elements: tuple[int, ...], text: str) -> tuple[int, ...]:
    if len(set(elements)) < len(elements):
        raise ValueError(f"{shortened(text)} names one of them twice")
    return elements


def _card_form(board: Board) -> Form:
    """Cards, wild ones last; the value is a set of territory cards and a number of wild ones."""

    def write(value: tuple[int, int]) -> str:
        cards, wilds = value
        return ", ".join([*(board.territories[t] for t in members(cards)), *[WILD] * wilds]) or "-"

    def read(text: str) -> tuple[int, int]:
        cards = _parts(text)
        named = [card for card in cards if card.casefold() != WILD]
        wilds = len(cards) - len(named)
        if wilds > board.num_wilds:
            raise ValueError(f"{wilds} wild cards: allowed are 0 ... {board.num_wilds}")
        return set_of(_distinct(tuple(map(board.territory, named)), text)), wilds

    return Form(write, read)


def _hand(seat: int, board: Board) -> Entry:
    def put(game: Any, value: tuple[int, int]) -> None:
        _put_set(game.hand[seat], value[0])
        game.wilds[seat] = value[1]

    def get(game: Any) -> tuple[int, int]:
        return whole(game.hand[seat]), int(game.wilds[seat])

    return Entry(f"hand {seat}", get, put, _card_form(board), lambda game: (0, 0))


def _pile(field: str, board: Board) -> Entry:
    """A line for cards kept in `field` and, the wild ones, in `field`_wilds."""

    def put(game: Any, value: tuple[int, int]) -> None:
        _put_set(game[field], value[0])
        game[f"{field}_wilds"] = value[1]

    def get(game: Any) -> tuple[int, int]:
        return whole(game[field]), int(game[f"{field}_wilds"])

    return Entry(field, get, put, _card_form(board), lambda game: (0, 0))


def _fallen(rules: Rules) -> Entry:
    """The dead, first to fall first; usually those who own nothing after set-up, by number."""
    seat = _number_form(0, rules.num_players - 1)
    seats = range(rules.num_players)

    def get(game: Any) -> tuple[int, ...]:
        return tuple(sorted((s for s in seats if game.death[s] > 0), key=lambda s: int(game.death[s])))

    def put(game: Any, value: tuple[int, ...]) -> None:
        game.death[:] = 0
        for order, fallen in enumerate(_distinct(value, f"fallen {value}"), 1):
            game.death[fallen] = order

    def usual(game: Any) -> tuple[int, ...]:
        return tuple(s for s in seats if game.round_number > 0 and not whole(game.owned[s]))

    return Entry("fallen", get, put, _list_form(seat.read, str), usual)


def _to_place(rules: Rules, board: Board) -> Entry:
    """Troops still in hand in set-up, army by army; usually the starting troops less those on the board (RULES 4.2)."""
    armies = rules.num_players + rules.neutral

    def put(game: Any, value: tuple[int, ...]) -> None:
        if len(value) != armies:
            raise ValueError(f"{len(value)} numbers: one for each of {armies} armies is needed")
        game.to_place[:armies] = value

    def usual(game: Any) -> tuple[int, ...]:
        if game.round_number > 0 or rules.setup == "chart":
            return (0,) * armies
        placed = [int(game.troops[game.owner == army].sum(dtype=np.int64)) for army in range(armies)]
        return tuple(max(0, rules.troops_to_start() - troops) for troops in placed)

    form = _list_form(COUNTER.read, str)
    return Entry("to place", lambda game: tuple(game.to_place[:armies].tolist()), put, form, usual)


def _pair(key: str, field: str, most: int) -> Entry:
    """A line for two numbers, usually 0: attacker's and defender's, or before and after."""
    number = _number_form(0, most)

    def put(game: Any, value: tuple[int, ...]) -> None:
        if len(value) != 2:
            raise ValueError(f"{len(value)} numbers: two are needed")
        game[field][:] = value

    form = _list_form(number.read, str)
    return Entry(key, lambda game: tuple(game[field].tolist()), put, form, lambda game: (0, 0))


def _dice(field: str, usual: Callable[[Any], Any]) -> Entry:
    """A line for the dice of both sides."""

    def get(game: Any) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(face for face in side if face) for side in game[field].tolist())

    def put(game: Any, value: tuple[tuple[int, ...], ...]) -> None:
        game[field][:] = [[*side, *[0] * (types.MAX_DICE - len(side))] for side in value]

    return Entry(field, get, put, DICE, usual)


def _reward_text(reward: int) -> str:
    """A Reward in small letters, as in `additional maneuver`."""
    return Reward(reward).name.lower().replace("_", " ")


def _objective(number: int, rules: Rules, board: Board) -> Entry:
    """A line for an objective: `face up` or its holder, and the Reward that lies with it (RULES 9.3)."""
    laid = rules.objectives == "fixed" and board.objectives[number].basic_training
    usual = (int(Held.FACE_UP if laid else Held.NOT_IN_PLAY), NO_REWARD)

    def get(game: Any) -> tuple[int, int]:
        return int(game.objective[number]), int(game.objective_reward[number])

    def put(game: Any, value: tuple[int, int]) -> None:
        game.objective[number], game.objective_reward[number] = value

    form = _objective_form(rules)
    return Entry(f"objective {board.objectives[number].name}", get, put, form, lambda game: usual)


def _objective_form(rules: Rules) -> Form:
    holders = {"-": int(Held.NOT_IN_PLAY), "face up": int(Held.FACE_UP)}
    holders |= {f"player {seat}": seat for seat in range(rules.num_players)}
    rewards = {f"reward {_reward_text(reward)}": int(reward) for reward in Reward}
    words = {number: word for word, number in holders.items()}

    def write(value: tuple[int, int]) -> str:
        holder, reward = value
        return words[holder] + (f", reward {_reward_text(reward)}" if reward != NO_REWARD else "")

    def read(text: str) -> tuple[int, int]:
        holder, comma, reward = (part.strip() for part in text.casefold().partition(","))
        if holder not in holders or (comma and reward not in rewards):
            known = ", ".join([*holders, *rewards])
            raise ValueError(
                f"{shortened(text)} must be a holder and perhaps, after a comma, a reward; allowed: {known}"
            )
        return holders[holder], rewards[reward] if comma else NO_REWARD

    return Form(write, read)


# ------------------------------------------------------------------------------------------------ usual values


def _position(game: Any, rules: Rules, board: Board) -> Position:
    return Position(facts(game), rules, board, 0)


def _usual_start(game: Any) -> int:
    """The own territories (RULES 9.6); none in set-up."""
    own = whole(game.owned[game.turn])
    return own if game.round_number > 0 else 0


def _usual_capitals(rules: Rules, board: Board) -> list[int]:
    """Those of the start chart (RULES 9.1)."""
    if rules.setup != "chart":
        return [NOWHERE] * rules.num_players
    return tables(rules, board).rules[0].chart_capital[: rules.num_players].tolist()


def _usual_trade(game: Any, rules: Rules) -> Trade:
    """A set is owed with five cards at the start of the turn, and after an elimination (RULES 5.3, 3.3.2)."""
    if rules.deck == "star" or game.phase not in (Phase.TRADE, Phase.BONUS):
        return Trade.FREE
    if game.captured:
        return Trade.ELIMINATION
    hand = whole(game.hand[game.turn]).bit_count() + int(game.wilds[game.turn])
    owed = game.phase == Phase.TRADE and hand >= FORCED_HAND and not game.set_traded
    return Trade.OWED if owed else Trade.FREE


def _usual_draft(game: Any, rules: Rules, board: Board) -> int:
    """The troops due before any cards (RULES 3.1, 9.2); none after an elimination or outside the draft."""
    if game.phase not in DRAFT_PHASES or game.captured:
        return 0
    p = _position(game, rules, board)
    places = p.own.bit_count() + (p.own & p.game.city).bit_count()
    capitals = sum(capital != NOWHERE and p.owns(capital) for capital in p.game.capital)
    rewards = 2 * (p.game.reward_owner[Reward.TWO_TROOPS] == p.game.turn)
    return max(MIN_DRAFT, places // 3) + _continent_bonus(p) + capitals + rewards


def _continent_bonus(p: Position) -> int:
    """Bonus of the continents held entirely (RULES 3.1.2)."""
    missing = {p.board.continent_of[t] for t in members(p.everywhere & ~p.own)}
    return sum(bonus for continent, bonus in enumerate(p.board.bonuses) if continent not in missing)


def _usual_moves(rules: Rules, board: Board) -> Callable[[Any], int]:
    """All the moves of the fortify phases."""
    return lambda game: most_moves(_position(game, rules, board)) if game.phase in FORTIFY_PHASES else 0


def _usual_settled(game: Any, rules: Rules, board: Board) -> tuple[tuple[int, ...], ...]:
    """The rolled dice after drop and re-roll."""
    position = _position(game, rules, board)
    return tuple(tuple(face for face in position.kept_dice(side) if face) for side in range(2))


# ------------------------------------------------------------------------------------------------ records


def _blank(table: Tables, rules: Rules, board: Board) -> Any:
    """A record (array of shape (1,)) of an empty board, as set-up begins with."""
    games = table.new_games(1)
    game = games[0]
    for field in ("owner", "headquarters", "capital", "airfield", "mission", "objective_reward", "reward_owner"):
        game[field][:] = NOWHERE
    for field in ("source", "target", "seat", "winner"):
        game[field] = NOWHERE
    game.objective[:] = Held.NOT_IN_PLAY
    return games


def _derive(game: Any, rules: Rules, board: Board) -> None:
    """The fields that follow from others: the deck, who decides, whether headquarters are public, where to move to."""
    laid = [int(place) for place in game.headquarters if place != NOWHERE]
    held = set_of(laid) | whole(game.discard)
    for hand in game.hand:
        held |= whole(hand)
    _put_set(game.deck, ((1 << board.num_territories) - 1) & ~held)
    wilds = board.num_wilds if rules.deck == "symbol" else 0
    game.deck_wilds = max(0, wilds - int(game.discard_wilds) - int(game.wilds.sum()))
    game.headquarters_open = len(laid) == rules.num_players
    position = _position(game, rules, board)
    game.seat = max(NOBODY, position.deciding())
    _put_set(game.reach, position.reach())
