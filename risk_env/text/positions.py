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

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, found_map
from risk_env.board.rules import Rules, read_option
from risk_env.board.tables import tables
from risk_env.board.toml_table import listed, near
from risk_env.core import entry, types
from risk_env.core.types import FREE, NO_REWARD, NOBODY, Held, Phase, Reward
from risk_env.text import check as checks
from risk_env.text.check import MOST_TROOPS, Position
from risk_env.text.notation import WILD, card_text
from risk_env.untrusted import shortened

SCHEMA = 1
HEADER = "risk_env game"
MOST_CHARACTERS = 1 << 16  # of a text


class PositionError(ValueError):
    """A text that is not a position; the message names the line, the problem and what is allowed."""


def to_text(record: Any, rules: Rules, board: Board) -> str:
    """A complete text of a game in progress (hidden facts and generator included), with a checksum as its last line.

    Raises PositionError for a record that `check` rejects: its text could not be read again.
    """
    _refuse(checks.check(record, tables(rules, board), rules, board))
    position = Position(checks.facts(record), rules, board)
    lines = [f"{HEADER} {SCHEMA}", f"rules: {_rules_text(rules)}", f"map: {board.source} {board.digest[:16]}"]
    lines += [*_entry_lines(position), *_territory_lines(position)]
    return "\n".join([*lines, f"checksum: {_checksum(lines)}", ""])


def from_text(text: str, board: Board | None = None) -> tuple[Rules, Board, npt.NDArray[Any]]:
    """Rules, map and the position (array of game_dtype, shape (1,)) of a text: of `to_text`, or written by hand.

    The text names one of the shipped maps. With `board` that map is used, whatever the text calls it; its digest must
    be that of the text. Raises PositionError for a wrong text and for an impossible position.
    """
    lines = _read_lines(text)
    with _naming(lines.line("rules")):
        rules = _rules_of(lines.line("rules").value)
    with _naming(lines.line("map")):
        board = _board_of(lines.line("map").value, board)
    with _naming(lines.line("rules")):
        table = tables(rules, board)
    game = deepcopy(checks.empty_facts(rules, board))
    game.owner, game.troops = _read_territories(lines, rules, board)
    _read_entries(game, lines, rules, board)
    games = checks.games_of(game, table)
    _refuse(checks.complete(games, table, rules, board))
    return rules, board, games


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise PositionError(f"impossible position: {'; '.join(problems)}")


# ------------------------------------------------------------------------------------------------ lines of a text


class Line(NamedTuple):
    """A line `key: value` of a text."""

    place: str  # in the text, for messages
    section: str  # in brackets before it, empty for the lines of the game
    key: str
    value: str


class Lines(NamedTuple):
    """The lines of a text: those of the game by their keys, and those of the territories."""

    game: dict[str, Line]
    territories: list[Line]

    def line(self, key: str) -> Line:
        """A line of the game, with an empty value if there is none."""
        return self.game.get(key, Line(key, "", key, ""))


@contextmanager
def _naming(line: Line) -> Iterator[None]:
    """PositionErrors that name the line, for the ValueErrors inside."""
    try:
        yield
    except ValueError as error:
        raise PositionError(f"{line.place}: {error}") from None


def _read_lines(text: str) -> Lines:
    """Split a text into its lines; the header and the checksum, if there is one, must be right."""
    lines, section = Lines({}, []), ""
    for number, words in _numbered_lines(text):
        if words.startswith("[") and words.endswith("]"):
            section = words[1:-1].strip()
            continue
        key, colon, value = (" ".join(part.split()) for part in words.partition(":"))
        line = Line(f"line {number}" if section else f"line {number}, {key.casefold()}", section, key, value)
        if not colon:
            raise PositionError(f"line {number}: {shortened(words)} is not of the form 'key: value' nor '[section]'")
        if section:
            lines.territories.append(line)
        elif lines.game.setdefault(key.casefold(), line) is not line:
            raise PositionError(f"line {number}: {key!r} a second time, after {lines.line(key.casefold()).place}")
    return lines


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    """The lines between header and checksum with their numbers, without empty ones and comments."""
    if not isinstance(text, str):
        raise PositionError(f"text: {shortened(text)} is not a text")
    if len(text) > MOST_CHARACTERS:
        raise PositionError(f"text: {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    numbered = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    numbered = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    number, first = numbered[0] if numbered else (1, "")
    if " ".join(first.split()).casefold() != f"{HEADER} {SCHEMA}":
        raise PositionError(f"line {number}: {shortened(first)} must be '{HEADER} {SCHEMA}'")
    if numbered[-1][1].casefold().startswith("checksum:"):
        number, last = numbered.pop()
        found, wanted = last.partition(":")[2].strip().casefold(), _checksum(line for _, line in numbered)
        if found != wanted:
            problem = f"checksum {shortened(found)} must be {wanted}; leave the line out of a text edited by hand"
            raise PositionError(f"line {number}: {problem}")
    return numbered[1:]


def _checksum(lines: Iterable[str]) -> str:
    """CRC-32 (8 hex digits) of the lines that are not empty."""
    return f"{zlib.crc32(chr(10).join(filter(None, lines)).encode(errors='surrogatepass')):08x}"


def _hint(word: str, words: Iterable[str]) -> str:
    """The hint for a wrong word: similar allowed words, or all of them."""
    return near(word, tuple(words), f"; allowed: {listed(words)}")


# ------------------------------------------------------------------------------------------------ rules and map


def _rules_text(rules: Rules) -> str:
    """The options that differ from the defaults of `Rules`."""
    usual = Rules().to_dict()
    return ", ".join(f"{name}={value}" for name, value in rules.to_dict().items() if value != usual[name]) or "-"


def _rules_of(value: str) -> Rules:
    """The rules of the line `rules`; a text written by hand may begin with `preset=NAME`."""
    options: dict[str, Any] = {}
    for name, option in map(read_option, _parts(value)):
        if name in options:
            raise ValueError(f"{name!r} is given twice")
        options[name] = option
    return Rules.preset(options.pop("preset"), **options) if "preset" in options else Rules.from_dict(options)


def _parts(value: str) -> list[str]:
    """The parts of a list with commas; a dash is an empty list."""
    return [] if value in ("", "-") else [part.strip() for part in value.split(",")]


def _board_of(value: str, board: Board | None) -> Board:
    """The map of the line `map` (default classic), or the one given, of the digest that the line names."""
    source, _, digest = value.rpartition(" ")
    if source and re.fullmatch("[0-9a-f]{16}", digest):
        return found_map(source, digest, board)
    return found_map(value or "classic", None, board)


# ------------------------------------------------------------------------------------------------ territories


def _territory_lines(p: Position) -> Iterator[str]:
    """A section for each continent, a line for each territory that is held."""
    for name, members in zip(p.board.continents, p.board.members_of, strict=True):
        yield from ("", f"[{name}]")
        for t in (t for t in members if p.game.owner[t] != FREE):
            army = "neutral" if p.game.owner[t] == p.rules.num_players else f"player {p.game.owner[t]}"
            yield f"{p.names(t)}: {army}, {p.game.troops[t]} troop{'s' if p.game.troops[t] != 1 else ''}"


_GARRISON = re.compile(r"(?:(?:player )?([0-9])|(neutral)) ?(?:, ?([0-9]{1,10})(?: troops?)?)?", re.IGNORECASE)


def _read_territories(lines: Lines, rules: Rules, board: Board) -> tuple[list[int], list[int]]:
    """Owners and troops; a territory without a line is free."""
    empty, seen = checks.empty_facts(rules, board), dict[int, str]()
    owner, troops = empty.owner.copy(), empty.troops.copy()
    for line in lines.territories:
        with _naming(line):
            territory = board.territory(line.key)
            name, continent = board.territories[territory], board.continents[board.continent_of[territory]]
            if territory in seen:
                raise ValueError(f"{name} a second time, after {seen[territory]}")
            seen[territory] = line.place
            if line.section.casefold() not in (continent.casefold(), "territories"):
                allowed = f"allowed: [{continent}] or [territories]"
                raise ValueError(f"{name} stands in section [{line.section}]; {allowed}")
            owner[territory], troops[territory] = _garrison(line.value, rules)
    return owner, troops


def _garrison(value: str, rules: Rules) -> tuple[int, int]:
    """Owner and troops of `player 0, 3 troops`, `neutral, 2 troops` or `free`."""
    if value.casefold() == "free":
        return FREE, 0
    match = _GARRISON.fullmatch(value)
    if match is None:
        raise ValueError(f"{shortened(value)} must be like 'player 0, 3 troops', 'neutral, 2 troops' or 'free'")
    seat, neutral, troops = match[1], match[2], int(match[3] or 1)
    if neutral and not rules.neutral:
        raise ValueError("neutral: the rules have no neutral army")
    if seat and int(seat) >= rules.num_players:
        raise ValueError(f"player {seat}: allowed are 0 ... {rules.num_players - 1}")
    if not 1 <= troops <= MOST_TROOPS:
        raise ValueError(f"{troops} troops: allowed are 1 ... {MOST_TROOPS}")
    return rules.num_players if neutral else int(seat), troops


# ------------------------------------------------------------------------------------------------ the other lines

# Keys, and fields where their names differ, in an order in which usual values depend on earlier lines only.
# `{}` stands for the name of an element, which has its own line; two fields share a line.
_LINES = """
phase, round = round_number, starter, turn, random, decisions, winner, truncated, fallen = death, to place, in a row,
captured, eliminated, attacks over, held at start, mission {} = mission, headquarters {} = headquarters,
capital {} = capital, cities = city, objective {} = objective objective_reward, reward {} = reward_owner,
{} = airfield, objective taken, hand {} = hand wilds, discard = discard discard_wilds, picked = picked picked_wilds,
shown, bonus, sets traded, set traded, bonus paid, draft left, source, target, moves left, move begun, battles,
commander used, blitz, chosen dice, rerolled, rolled, settled, losses
"""
_NOT_USED = ("trade",)  # lines of texts before 0.2, whose values follow from others


class Form(NamedTuple):
    """A kind of value as text: `write` a value, `read` a text (ValueError if it is wrong)."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


class Entry(NamedTuple):
    """A line for one field, for two that belong together, or for one element (`place`) of them."""

    key: str
    fields: tuple[str, ...]
    place: int | None
    form: Form

    def value(self, usual: Callable[[str], Any]) -> Any:
        """The value, of two fields the list of both; `usual` gives a field's."""
        values = [usual(field) if self.place is None else usual(field)[self.place] for field in self.fields]
        return values if len(values) > 1 else values[0]

    def put(self, game: Any, value: Any) -> None:
        """Write a value into a game's facts."""
        for field, one in zip(self.fields, value if len(self.fields) > 1 else [value], strict=True):
            holder, at = (vars(game), field) if self.place is None else (getattr(game, field), self.place)
            holder[at] = one


def _entry_lines(p: Position) -> Iterator[str]:
    """The lines of the entries whose values are not the usual ones."""
    for line in _entries(p.rules, p.board):
        value = line.value(partial(getattr, p.game))
        if value != line.value(partial(_usual, p.game, p.rules, p.board)):
            yield f"{line.key}: {line.form.write(value)}"


def _read_entries(game: SimpleNamespace, lines: Lines, rules: Rules, board: Board) -> None:
    """Write the lines of the game into its facts, and usual values for those that the text does not have."""
    entries = {line.key.casefold(): line for line in _entries(rules, board)}
    known = ["rules", "map", *(line.key for line in entries.values())]
    for key in lines.game:
        if key not in entries and key not in ("rules", "map", *_NOT_USED):
            raise PositionError(f"{lines.line(key).place}: unknown in this game{_hint(key, known)}")
    for key, line in entries.items():
        given, usual = lines.line(key), partial(_usual, game, rules, board)
        with _naming(given):
            line.put(game, line.form.read(given.value) if key in lines.game else line.value(usual))


@lru_cache(maxsize=64)
def _entries(rules: Rules, board: Board) -> tuple[Entry, ...]:
    """All entries of a game, in the order of `_LINES`."""
    seats, rewards = [str(seat) for seat in range(rules.num_players)], [_reward_text(reward) for reward in Reward]
    names = dict.fromkeys(("mission", "headquarters", "capital", "hand"), seats) | {
        "objective": [goal.name for goal in board.objectives],
        "reward_owner": rewards,
        "airfield": [rewards[reward] for reward in checks.AIRFIELDS],
    }
    entries = []
    for key, _, named in (line.partition(" = ") for line in re.split(r",\s+", _LINES.strip())):
        fields = tuple(named.split()) or (key.replace(" ", "_"),)
        form = _form_of(fields[0], rules, board)
        places = enumerate(names[fields[0]]) if "{}" in key else [(None, "")]
        entries += [Entry(key.format(name), fields, place, form) for place, name in places]
    return tuple(entries)


# ------------------------------------------------------------------------------------------------ usual values


def _usual(game: SimpleNamespace, rules: Rules, board: Board, field: str) -> Any:
    """The value of a field that a text says nothing about; it may depend on the territories and on earlier lines."""
    if field not in _USUAL:
        return getattr(checks.empty_facts(rules, board), field)
    return _USUAL[field](Position(game, rules, board))


def _usual_deaths(p: Position) -> list[int]:
    """Those who own nothing after set-up are out, by number."""
    return _deaths([seat for seat in p.seats if p.game.round_number > 0 and not p.held[seat]])


def _usual_to_place(p: Position) -> list[int]:
    """The starting troops less those on the board (RULES 4.2)."""
    start = p.rules.troops_to_start() if p.game.round_number == 0 and p.rules.setup != "chart" else 0
    left = [max(0, start - p.placed(army)) for army in p.armies]
    return left + [0] * (types.MAX_OWNERS - len(left))


def _usual_objectives(p: Position) -> list[int]:
    """Those of Basic Training lie face up (RULES 9.1)."""
    fixed = [p.rules.objectives == "fixed" and goal.basic_training for goal in p.board.objectives]
    held = [int(Held.FACE_UP if face_up else Held.NOT_IN_PLAY) for face_up in fixed]
    return held + p.empty.objective[len(held) :]


def _usual_draft(p: Position) -> int:
    """The troops due before any cards (RULES 3.1, 9.2); none after an elimination or outside the draft."""
    if p.phase not in checks.DRAFT_PHASES or p.game.captured:
        return 0
    table = tables(p.rules, p.board)
    scratch = checks.games_of(p.game, table)
    checks.derive_facts(scratch[0], p)
    entry.begin_draft_of_turn(scratch, 0, table.board, table.rules)
    return int(scratch["draft_left"][0])


_USUAL: dict[str, Callable[[Position], Any]] = {
    "phase": lambda p: int(Phase.DRAFT),
    "round_number": lambda p: int(not p.is_setup),
    "turn": lambda p: p.game.starter,
    "death": _usual_deaths,
    "to_place": _usual_to_place,
    "captured": lambda p: p.phase == Phase.OCCUPY,
    "attacks_over": lambda p: p.phase in checks.AFTER_ATTACKS and p.phase != Phase.OVER,
    "held_at_start": lambda p: set(p.own) if p.game.round_number > 0 else set(),
    "capital": lambda p: tables(p.rules, p.board).rules[0].chart_capital.tolist(),
    "city": lambda p: set(p.board.basic_training_cities) if p.rules.cities == "fixed" else set(),
    "objective": _usual_objectives,
    "objective_taken": lambda p: p.phase == Phase.AIRFIELD,
    "sets_traded": lambda p: int(p.phase == Phase.BONUS),
    "set_traded": lambda p: p.phase == Phase.BONUS,
    "draft_left": _usual_draft,
    "moves_left": checks.most_moves,
    "battles": lambda p: int(p.game.captured or p.phase in checks.DICE_PHASES),
    "blitz": lambda p: p.phase == Phase.ROLL and p.rules.attack == "blitz",
    "settled": lambda p: [checks.kept_dice(p, side) for side in range(2)],
}


# ------------------------------------------------------------------------------------------------ forms


def _form_of(field: str, rules: Rules, board: Board) -> Form:
    """How the values of a field, or of its elements, are written."""
    special = {"hand": _cards, "discard": _cards, "picked": _cards, "objective": _objective}
    special |= {"death": _fallen, "to_place": _to_place}
    if field in _FORMS:
        return _FORMS[field]
    if field in special:
        return special[field](rules, board)
    if field in checks.SETS:
        return _territories(board)
    if types.game_dtype(tables(rules, board).sizes)[field] == np.bool_:
        return _FLAG
    low, high = checks.ranges(rules, board)[field]
    number = _territory(board) if field in checks.PLACES else _number(0, max(0, high))
    if field in ("chosen_dice", "rerolled", "losses"):
        return _listed(number, count=2, each="two are needed")
    return _or_dash(number) if low < 0 else number


def _number(low: int, high: int) -> Form:
    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
            raise ValueError(f"{shortened(text)} is not a whole number {low} ... {high}")
        return int(text)

    return Form(str, read)


def _word(values: dict[str, Any]) -> Form:
    """One of a few words, in any case, with blanks or underscores."""
    words = {str(value): word for word, value in values.items()}
    known = {_plain(word): value for word, value in values.items()}

    def read(text: str) -> Any:
        if _plain(text) not in known:
            raise ValueError(f"{shortened(text)} is unknown{_hint(text, values)}")
        return known[_plain(text)]

    return Form(lambda value: words[str(value)], read)


def _plain(word: str) -> str:
    """A word without the differences that do not count: capitals, underscores, blanks around commas."""
    return ", ".join(part.strip() for part in word.casefold().replace("_", " ").split(","))


def _or_dash(form: Form) -> Form:
    """The same, or a dash for nobody and nowhere."""
    return Form(
        lambda value: "-" if value == NOBODY else form.write(value),
        lambda text: NOBODY if text == "-" else form.read(text),
    )


def _listed(form: Form, count: int | None = None, each: str = "", distinct: bool = False) -> Form:
    """A list with commas, a dash for an empty one; `count` elements, `each` says what they are needed for."""

    def read(text: str) -> list[Any]:
        values = [form.read(part) for part in _parts(text)]
        if distinct and len(set(values)) < len(values):
            raise ValueError(f"{shortened(text)} names one of them twice")
        if count is not None and len(values) != count:
            raise ValueError(f"{len(values)} numbers: {each}")
        return values

    return Form(lambda values: ", ".join(map(form.write, values)) or "-", read)


def _read_generator(text: str) -> int:
    if not re.fullmatch("[0-9a-fA-F]{1,16}", text):
        raise ValueError(f"{shortened(text)} is not 1 to 16 hexadecimal digits")
    return int(text, 16)


def _read_dice(text: str) -> list[list[int]]:
    sides = [side.split() for side in text.split("|")]
    if len(sides) != 2 or any(len(side) > types.MAX_DICE for side in sides):
        raise ValueError(f"{shortened(text)} must be the dice of both sides, as in '6 5 1 | 5 5', at most four a side")
    face = _number(1, types.NUM_FACES + 1)
    return [[*map(face.read, side), *[0] * (types.MAX_DICE - len(side))] for side in sides]


def _write_dice(value: list[list[int]]) -> str:
    return " | ".join(" ".join(str(face) for face in side if face) for side in value).strip()


_FLAG = _word({"yes": 1, "no": 0})
_FORMS = {
    "phase": _word({phase.name: int(phase) for phase in Phase}),
    "random": Form(lambda value: f"{value:016x}", _read_generator),
    "rolled": Form(_write_dice, _read_dice),
    "settled": Form(_write_dice, _read_dice),
}


def _territory(board: Board) -> Form:
    return Form(lambda value: board.territories[value], board.territory)


def _territories(board: Board) -> Form:
    names = _listed(_territory(board), distinct=True)
    return Form(lambda value: names.write(sorted(value)), lambda text: set(names.read(text)))


def _cards(_: Rules, board: Board) -> Form:
    """Cards, wild ones last; the value is a set of territory cards and a number of wild ones."""
    names = _territories(board)

    def write(value: list[Any]) -> str:
        return ", ".join([card_text(card, board) for card in sorted(value[0])] + [WILD] * value[1]) or "-"

    def read(text: str) -> list[Any]:
        named = [card for card in _parts(text) if card.casefold() != WILD]
        wilds = len(_parts(text)) - len(named)
        if wilds > board.num_wilds:
            raise ValueError(f"{wilds} wild cards: allowed are 0 ... {board.num_wilds}")
        return [names.read(", ".join(named)), wilds]

    return Form(write, read)


def _fallen(rules: Rules, _: Board) -> Form:
    """The dead, first to fall first; the value is the order of falling of each seat, 0 for the living."""
    seats = _listed(_number(0, rules.num_players - 1), distinct=True)
    return Form(
        lambda deaths: seats.write(np.argsort(deaths, kind="stable")[deaths.count(0) :].tolist()),
        lambda text: _deaths(seats.read(text)),
    )


def _deaths(fallen: list[int]) -> list[int]:
    """The order of falling of each seat."""
    return [fallen.index(seat) + 1 if seat in fallen else 0 for seat in range(types.MAX_SEATS)]


def _to_place(rules: Rules, _: Board) -> Form:
    """Troops still in hand in set-up, army by army."""
    armies = rules.num_players + rules.neutral
    numbers = _listed(_number(0, MOST_TROOPS), count=armies, each=f"one for each of {armies} armies is needed")
    beyond = [0] * (types.MAX_OWNERS - armies)
    return Form(lambda value: numbers.write(value[:armies]), lambda text: numbers.read(text) + beyond)


def _reward_text(reward: int) -> str:
    """A Reward in small letters, as in `additional maneuver`."""
    return Reward(reward).name.lower().replace("_", " ")


def _objective(rules: Rules, _: Board) -> Form:
    """`face up` or the holder of an objective, and the Reward that lies with it (RULES 9.3)."""
    holders = {"-": int(Held.NOT_IN_PLAY), "face up": int(Held.FACE_UP)}
    holders |= {f"player {seat}": seat for seat in range(rules.num_players)}
    rewards = {"": NO_REWARD} | {f", reward {_reward_text(reward)}": int(reward) for reward in Reward}
    return _word({a + b: [holder, reward] for a, holder in holders.items() for b, reward in rewards.items()})
