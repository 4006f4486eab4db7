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

import difflib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, MapError, load_map, map_names
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core import entry, types
from risk_env.core.types import FREE, NO_REWARD, NOBODY, NOWHERE, Held, Phase, Reward, Trade
from risk_env.text import check as checks
from risk_env.text.check import DICE_PHASES, MOST_TROOPS, SETUP_PHASES, Position
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
    lines = [f"{HEADER} {SCHEMA}", f"rules: {_rules_text(rules)}", f"map: {board.source} {board.digest[:16]}"]
    lines += _entry_lines(checks.facts(record), rules, board)
    lines += _territory_lines(record, rules, board)
    return "\n".join([*lines, f"checksum: {_checksum(lines)}", ""])


def from_text(text: str, board: Board | None = None) -> tuple[Rules, Board, npt.NDArray[Any]]:
    """Rules, map and the position (array of game_dtype, shape (1,)) of a text: of `to_text`, or written by hand.

    The text names one of the shipped maps. With `board` that map is used, whatever the text calls it; its digest must
    be that of the text. Raises PositionError for a wrong text and for an impossible position.
    """
    lines = _read_lines(text)
    rules = _rules_of(lines)
    board = _board_of(lines, board)
    try:
        table = tables(rules, board)
    except ValueError as error:
        raise lines.error("rules", str(error)) from None
    game = deepcopy(checks.empty_facts(rules, board))
    _read_territories(game, lines, rules, board)
    _read_entries(game, lines, rules, board)
    games = checks.games_of(game, table)
    _refuse(checks.complete(games, table, rules, board))
    return rules, board, games


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise PositionError(f"impossible position: {'; '.join(problems)}")


# ------------------------------------------------------------------------------------------------ lines of a text


class Line(NamedTuple):
    """A line of a text: its number and the value after the colon."""

    number: int  # from 1
    value: str


class Lines(NamedTuple):
    """The lines of a text: `key: value` of the game, and those of the territories."""

    game: dict[str, Line]
    territories: list[tuple[str, str, Line]]  # section, name, line

    def error(self, key: str, problem: str) -> PositionError:
        """The error to raise for a line of the game."""
        where = f"line {self.game[key].number}, " if key in self.game else ""
        return PositionError(f"{where}{key}: {problem}")

    def value(self, key: str) -> str:
        """The value of a line of the game, empty without such a line."""
        return self.game[key].value if key in self.game else ""


def _fault(number: int, problem: str) -> PositionError:
    return PositionError(f"line {number}: {problem}")


def _read_lines(text: str) -> Lines:
    """Split a text into its lines; the header and the checksum, if there is one, must be right."""
    if not isinstance(text, str):
        raise PositionError(f"text: {shortened(text)} is not a text")
    if len(text) > MOST_CHARACTERS:
        raise PositionError(f"text: {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    numbered = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    numbered = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    number, first = numbered[0] if numbered else (1, "")
    if " ".join(first.split()).casefold() != f"{HEADER} {SCHEMA}":
        raise _fault(number, f"{shortened(first)} must be '{HEADER} {SCHEMA}'")
    if numbered[-1][1].casefold().startswith("checksum:"):
        number, last = numbered.pop()
        found, wanted = last.partition(":")[2].strip().casefold(), _checksum(line for _, line in numbered)
        if found != wanted:
            advice = "leave the line out of a text edited by hand"
            raise _fault(number, f"checksum {shortened(found)} must be {wanted}; {advice}")
    lines, section = Lines({}, []), ""
    for number, line in numbered[1:]:
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        else:
            _add_line(lines, section, number, line)
    return lines


def _checksum(lines: Iterable[str]) -> str:
    """CRC-32 (8 hex digits) of the lines that are not empty."""
    return f"{zlib.crc32(chr(10).join(filter(None, lines)).encode(errors='surrogatepass')):08x}"


def _add_line(lines: Lines, section: str, number: int, line: str) -> None:
    key, colon, value = line.partition(":")
    if not colon:
        raise _fault(number, f"{shortened(line)} is not of the form 'key: value' nor '[section]'")
    key, entry_line = " ".join(key.split()), Line(number, " ".join(value.split()))
    if section:
        lines.territories.append((section, key, entry_line))
    elif key.casefold() in lines.game:
        raise _fault(number, f"{key!r} a second time, after line {lines.game[key.casefold()].number}")
    else:
        lines.game[key.casefold()] = entry_line


def _plain(word: str) -> str:
    """A word without the differences that do not count: capitals, underscores, blanks around commas."""
    return ", ".join(part.strip() for part in word.casefold().replace("_", " ").split(","))


def _near(word: str, words: Iterable[str]) -> str:
    """The hint for a wrong word: similar allowed words, or all of them."""
    known = {_plain(allowed): allowed for allowed in words}
    near = [repr(known[found]) for found in difflib.get_close_matches(_plain(word), known, 3)]
    return f"did you mean {' or '.join(near)}?" if near else f"allowed: {', '.join(known.values())}"


# ------------------------------------------------------------------------------------------------ rules and map


def _rules_text(rules: Rules) -> str:
    """The options that differ from the defaults of `Rules`."""
    usual = Rules().to_dict()
    return ", ".join(f"{name}={value}" for name, value in rules.to_dict().items() if value != usual[name]) or "-"


def _rules_of(lines: Lines) -> Rules:
    """The rules of the line `rules`; a text written by hand may begin with `preset=NAME`."""
    options: dict[str, Any] = {}
    for part in _parts(lines.value("rules")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or name in options:
            problem = "is given twice" if equals else "is not of the form option=value"
            raise lines.error("rules", f"{shortened(part)} {problem}")
        number = re.fullmatch("[0-9]{1,10}", value)
        options[name] = int(value) if number else {"True": True, "False": False, "None": None}.get(value, value)
    try:
        return Rules.preset(options.pop("preset"), **options) if "preset" in options else Rules.from_dict(options)
    except (ValueError, TypeError) as error:
        raise lines.error("rules", str(error)) from None


def _parts(value: str) -> list[str]:
    """The parts of a list with commas; a dash is an empty list."""
    return [] if value in ("", "-") else [part.strip() for part in value.split(",")]


def _board_of(lines: Lines, board: Board | None) -> Board:
    """The map of the line `map` (default classic), or the one given, of the digest that the line names."""
    words = (lines.value("map") or "classic").split(" ")
    has_digest = len(words) > 1 and re.fullmatch("[0-9a-f]{16}", words[-1]) is not None
    source = " ".join(words[:-1] if has_digest else words)
    if board is None and source not in map_names():
        problem = f"{shortened(source)} is not a shipped map: {', '.join(map_names())}; pass the board of any other"
        raise lines.error("map", problem)
    board = load_map(source) if board is None else board
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
                army = "neutral" if owner[t] == rules.num_players else f"player {owner[t]}"
                yield f"{place}: {army}, {troops[t]} troop{'s' if troops[t] != 1 else ''}"


_GARRISON = re.compile(r"(?:(?:player )?([0-9])|(neutral)) ?(?:, ?([0-9]{1,10})(?: troops?)?)?", re.IGNORECASE)


def _read_territories(game: SimpleNamespace, lines: Lines, rules: Rules, board: Board) -> None:
    """Owners and troops; a territory without a line is free."""
    seen: dict[int, int] = {}
    for section, name, line in lines.territories:
        try:
            territory = board.territory(name)
        except MapError as error:
            raise _fault(line.number, str(error)) from None
        if territory in seen:
            raise _fault(line.number, f"{board.territories[territory]} a second time, after line {seen[territory]}")
        seen[territory] = line.number
        continent = board.continents[board.continent_of[territory]]
        if section.casefold() not in (continent.casefold(), "territories"):
            allowed = f"allowed: [{continent}] or [territories]"
            raise _fault(line.number, f"{board.territories[territory]} stands in section [{section}]; {allowed}")
        game.owner[territory], game.troops[territory] = _garrison(line, rules)
    game.owned = [{t for t, owner in enumerate(game.owner) if owner == army} for army in range(types.MAX_OWNERS)]


def _garrison(line: Line, rules: Rules) -> tuple[int, int]:
    """Owner and troops of `player 0, 3 troops`, `neutral, 2 troops` or `free`."""
    if line.value.casefold() == "free":
        return FREE, 0
    match = _GARRISON.fullmatch(line.value)
    if match is None:
        allowed = "'player 0, 3 troops', 'neutral, 2 troops' or 'free'"
        raise _fault(line.number, f"{shortened(line.value)} must be like {allowed}")
    seat, neutral, troops = match[1], match[2], int(match[3] or 1)
    if neutral and not rules.neutral:
        raise _fault(line.number, "neutral: the rules have no neutral army")
    if seat and int(seat) >= rules.num_players:
        raise _fault(line.number, f"player {seat}: allowed are 0 ... {rules.num_players - 1}")
    if not 1 <= troops <= MOST_TROOPS:
        raise _fault(line.number, f"{troops} troops: allowed are 1 ... {MOST_TROOPS}")
    return rules.num_players if neutral else int(seat), troops


# ------------------------------------------------------------------------------------------------ the other lines


class Form(NamedTuple):
    """A kind of value as text: `write` a value, `read` a text (ValueError if it is wrong)."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


class Entry(NamedTuple):
    """A line for one field, for two that belong together, or for one element (`place`) of them.

    `usual` gives the value where a text has no such line. It may depend on the territories and on the entries before.
    """

    key: str
    fields: tuple[str, ...]
    place: int | None
    form: Form
    usual: Callable[[SimpleNamespace], Any]

    def get(self, game: SimpleNamespace) -> Any:
        """The value in a game's facts; of two fields the list of both."""
        values = [getattr(game, field) for field in self.fields]
        values = values if self.place is None else [value[self.place] for value in values]
        return values if len(values) > 1 else values[0]

    def put(self, game: SimpleNamespace, value: Any) -> None:
        """Write what `get` gives."""
        for field, one in zip(self.fields, value if len(self.fields) > 1 else [value], strict=True):
            if self.place is None:
                setattr(game, field, one)
            else:
                getattr(game, field)[self.place] = one


def _entry_lines(game: SimpleNamespace, rules: Rules, board: Board) -> Iterator[str]:
    """The lines of the entries whose values are not the usual ones."""
    scratch = deepcopy(checks.empty_facts(rules, board))
    scratch.owner, scratch.troops, scratch.owned = game.owner, game.troops, game.owned
    for line in _entries(rules, board):
        value = line.get(game)
        if value != line.usual(scratch):
            yield f"{line.key}: {line.form.write(value)}"
        line.put(scratch, value)


def _read_entries(game: SimpleNamespace, lines: Lines, rules: Rules, board: Board) -> None:
    known = {"rules": "rules", "map": "map"} | {line.key.casefold(): line.key for line in _entries(rules, board)}
    for key in lines.game:
        if key not in known:
            raise lines.error(key, f"unknown in this game; {_near(key, known.values())}")
    for line in _entries(rules, board):
        key = line.key.casefold()
        try:
            line.put(game, line.form.read(lines.game[key].value) if key in lines.game else line.usual(game))
        except ValueError as error:
            raise lines.error(key, str(error)) from None


@lru_cache(maxsize=64)
def _entries(rules: Rules, board: Board) -> tuple[Entry, ...]:
    """All entries, in an order in which usual values depend on earlier ones only."""
    line = partial(_line, rules, board)
    return (*_turn_entries(rules, line), *_goal_entries(rules, board, line), *_other_entries(rules, board, line))


def _line(
    rules: Rules,
    board: Board,
    key: str,
    usual: Callable[[SimpleNamespace], Any] | None = None,
    fields: str = "",
    place: int | None = None,
    form: Form | None = None,
) -> Entry:
    """The entry `key`. By default its field has the same name, is empty, and determines the form."""
    named = tuple(fields.split()) or (key.replace(" ", "_"),)
    made = Entry(key, named, place, form or _form_of(named[0], rules, board), lambda game: empty)
    empty = made.get(checks.empty_facts(rules, board))
    return made if usual is None else made._replace(usual=usual)


def _form_of(field: str, rules: Rules, board: Board) -> Form:
    """How the values of a field are written."""
    if field in FORMS:
        return FORMS[field]
    if field in checks.SETS:
        return _territories(board)
    if types.game_dtype(tables(rules, board).sizes)[field] == np.bool_:
        return FLAG
    low, high = checks.ranges(rules, board)[field]
    number = _territory(board) if field in checks.PLACES else _number(0, max(0, high))
    if field in ("chosen_dice", "rerolled", "losses"):
        return _listed(number, count=2, each="two are needed")
    return _or_dash(number) if low < 0 else number


LineMaker = Callable[..., Entry]  # `_line` for some rules and a map


def _turn_entries(rules: Rules, line: LineMaker) -> list[Entry]:
    return [
        line("phase", lambda g: Phase.DRAFT),
        line("round", lambda g: int(g.phase not in SETUP_PHASES), "round_number"),
        line("starter"),
        line("turn", lambda g: int(g.starter)),
        *map(line, ("random", "decisions", "winner", "truncated")),
        line("fallen", lambda g: _usual_deaths(g, rules), "death", form=_fallen(rules)),
        line("to place", lambda g: _usual_to_place(g, rules), form=_to_place(rules)),
        line("in a row"),
        line("captured", lambda g: g.phase == Phase.OCCUPY),
        line("eliminated"),
        line("attacks over", lambda g: g.phase in checks.AFTER_ATTACKS and g.phase != Phase.OVER),
        line("held at start", lambda g: set(g.owned[g.turn]) if g.round_number > 0 else set()),
    ]


def _goal_entries(rules: Rules, board: Board, line: LineMaker) -> list[Entry]:
    seats, chart = range(rules.num_players), rules.setup == "chart"
    capitals = tables(rules, board).rules[0].chart_capital.tolist() if chart else [NOWHERE] * len(seats)
    cities = set(board.basic_training_cities) if rules.cities == "fixed" else set()

    def objective(number: int, name: str) -> Entry:
        is_fixed = rules.objectives == "fixed" and board.objectives[number].basic_training
        usual = [Held.FACE_UP if is_fixed else Held.NOT_IN_PLAY, NO_REWARD]
        return line(f"objective {name}", lambda g: usual, "objective objective_reward", number, _objective(rules))

    return [
        *(line(f"mission {s}", None, "mission", s) for s in seats),
        *(line(f"headquarters {s}", None, "headquarters", s) for s in seats),
        *(line(f"capital {s}", lambda g, s=s: capitals[s], "capital", s) for s in seats),
        line("cities", lambda g: cities, "city"),
        *(objective(number, goal.name) for number, goal in enumerate(board.objectives)),
        *(line(f"reward {_reward_text(r)}", None, "reward_owner", r) for r in Reward),
        *(line(_reward_text(r), None, "airfield", w) for w, r in enumerate(checks.AIRFIELDS)),
        line("objective taken", lambda g: g.phase == Phase.AIRFIELD),
    ]


def _other_entries(rules: Rules, board: Board, line: LineMaker) -> list[Entry]:
    """Cards, what is pending, and dice."""

    def position(game: SimpleNamespace) -> Position:
        return Position(game, rules, board)

    return [
        *(line(f"hand {s}", None, "hand wilds", s, _cards(board)) for s in range(rules.num_players)),
        line("discard", None, "discard discard_wilds", None, _cards(board)),
        line("picked", None, "picked picked_wilds", None, _cards(board)),
        *map(line, ("shown", "bonus")),
        line("sets traded", lambda g: int(g.phase == Phase.BONUS)),
        line("set traded", lambda g: g.phase == Phase.BONUS),
        line("bonus paid"),
        line("trade", lambda g: checks.due_trade(position(g))),
        line("draft left", lambda g: _usual_draft(g, rules, board)),
        *map(line, ("source", "target")),
        line("moves left", lambda g: checks.most_moves(position(g))),
        line("move begun"),
        line("battles", lambda g: int(bool(g.captured) or g.phase in DICE_PHASES)),
        line("commander used"),
        line("blitz", lambda g: g.phase == Phase.ROLL and rules.attack == "blitz"),
        *map(line, ("chosen dice", "rerolled", "rolled")),
        line("settled", lambda g: [checks.kept_dice(position(g), side) for side in range(2)]),
        line("losses"),
    ]


# ------------------------------------------------------------------------------------------------ usual values


def _usual_deaths(game: SimpleNamespace, rules: Rules) -> list[int]:
    """Those who own nothing after set-up are out, by number."""
    gone = [s for s in range(rules.num_players) if game.round_number > 0 and not game.owned[s]]
    return [gone.index(s) + 1 if s in gone else 0 for s in range(types.MAX_SEATS)]


def _usual_to_place(game: SimpleNamespace, rules: Rules) -> list[int]:
    """The starting troops less those on the board (RULES 4.2)."""
    left = [0] * types.MAX_OWNERS
    if game.round_number == 0 and rules.setup != "chart":
        for army in range(rules.num_players + rules.neutral):
            left[army] = max(0, rules.troops_to_start() - sum(game.troops[t] for t in game.owned[army]))
    return left


def _usual_draft(game: SimpleNamespace, rules: Rules, board: Board) -> int:
    """The troops due before any cards (RULES 3.1, 9.2); none after an elimination or outside the draft."""
    if game.phase not in checks.DRAFT_PHASES or game.captured:
        return 0
    table = tables(rules, board)
    scratch = checks.games_of(game, table)
    entry.begin_draft_of_turn(scratch, 0, table.board, table.rules)
    return int(scratch["draft_left"][0])


# ------------------------------------------------------------------------------------------------ forms


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
            raise ValueError(f"{shortened(text)} is unknown; {_near(text, values)}")
        return known[_plain(text)]

    return Form(lambda value: words[str(value)], read)


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


FLAG = _word({"yes": 1, "no": 0})
FORMS = {
    "phase": _word({phase.name: int(phase) for phase in Phase}),
    "trade": _word({trade.name: int(trade) for trade in Trade}),
    "random": Form(lambda value: f"{value:016x}", _read_generator),
    "rolled": Form(_write_dice, _read_dice),
    "settled": Form(_write_dice, _read_dice),
}


def _territory(board: Board) -> Form:
    return Form(lambda value: board.territories[value], board.territory)


def _territories(board: Board) -> Form:
    names = _listed(_territory(board), distinct=True)
    return Form(lambda value: names.write(sorted(value)), lambda text: set(names.read(text)))


def _cards(board: Board) -> Form:
    """Cards, wild ones last; the value is a set of territory cards and a number of wild ones."""
    names = _listed(_territory(board), distinct=True)

    def write(value: list[Any]) -> str:
        return ", ".join([card_text(card, board) for card in sorted(value[0])] + [WILD] * value[1]) or "-"

    def read(text: str) -> list[Any]:
        named = [card for card in _parts(text) if card.casefold() != WILD]
        wilds = len(_parts(text)) - len(named)
        if wilds > board.num_wilds:
            raise ValueError(f"{wilds} wild cards: allowed are 0 ... {board.num_wilds}")
        return [set(names.read(", ".join(named))), wilds]

    return Form(write, read)


def _fallen(rules: Rules) -> Form:
    """The dead, first to fall first; the value is the order of falling of each seat, 0 for the living."""
    seats = _listed(_number(0, rules.num_players - 1), distinct=True)

    def read(text: str) -> list[int]:
        fallen = seats.read(text)
        return [fallen.index(seat) + 1 if seat in fallen else 0 for seat in range(types.MAX_SEATS)]

    return Form(lambda deaths: seats.write(np.argsort(deaths, kind="stable")[deaths.count(0) :].tolist()), read)


def _to_place(rules: Rules) -> Form:
    """Troops still in hand in set-up, army by army."""
    armies = rules.num_players + rules.neutral
    numbers = _listed(_number(0, MOST_TROOPS), count=armies, each=f"one for each of {armies} armies is needed")
    beyond = [0] * (types.MAX_OWNERS - armies)
    return Form(lambda value: numbers.write(value[:armies]), lambda text: numbers.read(text) + beyond)


def _reward_text(reward: int) -> str:
    """A Reward in small letters, as in `additional maneuver`."""
    return Reward(reward).name.lower().replace("_", " ")


def _objective(rules: Rules) -> Form:
    """`face up` or the holder of an objective, and the Reward that lies with it (RULES 9.3)."""
    holders = {"-": int(Held.NOT_IN_PLAY), "face up": int(Held.FACE_UP)}
    holders |= {f"player {seat}": seat for seat in range(rules.num_players)}
    rewards = {"": NO_REWARD} | {f", reward {_reward_text(reward)}": int(reward) for reward in Reward}
    return _word({a + b: [holder, reward] for a, holder in holders.items() for b, reward in rewards.items()})
