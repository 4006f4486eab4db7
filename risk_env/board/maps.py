"""Maps: what a board is, and how its file is read and checked (RULES 1.4: a map is data).

A map is one TOML file. Every territory lists *all* its borders, so that a border forgotten on one side is
noticed. `load_map` reads a shipped map by name or any file by path; whatever is wrong with a file is a
`MapError` that says file, place and problem.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

SHIPPED = ("classic", "tiny", "big")
SYMBOLS = ("infantry", "cavalry", "artillery")
MISSION_KINDS = ("continents", "territories", "destroy")
OBJECTIVE_KINDS = (
    "continent",
    "cities",
    "enemy_capitals",
    "cities_in_turn",
    "territories_in_turn",
    "territories",
    "continents",
    "continent_in_turn",
)
UNCOUNTED_OBJECTIVES = ("continent", "continent_in_turn")
RESERVED_NAMES = ("wild", "done")

MAX_TERRITORIES = 256
MAX_BORDERS = 1024  # directed
MAX_CONTINENTS = 64
MAX_BONUS = 1000
MAX_WILDS = 2  # RULES 2.1
MAX_COLOURS = 6  # seats that a "destroy" mission can name
MAX_MISSIONS = 64
MAX_OBJECTIVES = 12  # the OBJECTIVE block of the action numbers
MAX_PIXELS = 10_000

_FOLDER = Path(__file__).parent / "map_files"
_NEEDED: Any = object()
_NAME = re.compile(r"[^\W\d_][\w'’.&()/-]*( [\w'’.&()/-]+)*")
_COLOUR = re.compile(r"#[0-9a-f]{6}")

Point = tuple[float, float]
Ring = tuple[Point, ...]


class MapError(ValueError):
    """A map that cannot be played; the message says file, place, problem and what is allowed."""


@dataclass(frozen=True)
class Mission:
    """One mission card (RULES 8); fields that its kind does not use are empty, 0 or -1."""

    kind: str  # "continents" | "territories" | "destroy"
    continents: tuple[int, ...] = ()
    any_third: bool = False  # and one more continent of the player's choice
    territories: int = 0
    min_troops: int = 1  # on each of those territories
    target: int = -1  # seat to destroy
    fallback_territories: int = 0  # instead, if the target is the holder (RULES 8.3)
    extended: bool = False


@dataclass(frozen=True)
class Objective:
    """One Objective of the 2008 games (RULES 9.6); `count` is 1 and `continent` -1 where the kind has none."""

    name: str
    kind: str  # one of OBJECTIVE_KINDS
    count: int = 1
    continent: int = -1
    major: bool = False
    basic_training: bool = False  # fixed in Basic Training (RULES 9.1)


@dataclass(frozen=True)
class Drawing:
    """How a map looks; nothing of it matters to play. Coordinates grow rightwards and downwards."""

    width: int
    height: int
    centres: tuple[Point, ...]  # per territory, where its troops stand
    labels: tuple[Point, ...]  # per territory, the middle of its name
    outlines: tuple[tuple[Ring, ...], ...]  # per territory, one closed ring or more
    wrapped: tuple[tuple[int, int], ...]  # borders drawn over the left and right edges
    routes: tuple[tuple[int, int, Ring], ...]  # sea lines with a way of their own: from, to, points


@dataclass(frozen=True)
class Board:
    """A checked map. Territories and continents are numbered in the order of the file."""

    name: str
    territories: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...]  # per territory
    continents: tuple[str, ...]
    bonuses: tuple[int, ...]  # per continent
    continent_of: tuple[int, ...]  # per territory
    borders: tuple[tuple[int, int], ...]  # directed, both ways, sorted by (source, target)
    symbols: tuple[str, ...] | None  # per territory
    num_wilds: int
    stars: tuple[int, ...] | None  # per territory
    basic_training_cities: tuple[int, ...]  # ascending
    random_cities: int
    missions: tuple[Mission, ...]  # a "destroy" entry of the file is one mission a colour
    objectives: tuple[Objective, ...]  # minor ones first
    colours: tuple[str | None, ...] = field(compare=False)  # per continent, "#rrggbb" or the renderer's own
    drawing: Drawing | None = field(compare=False)
    source: str = field(compare=False)  # what `load_map` takes to read it again

    @property
    def num_territories(self) -> int:
        """How many territories the map has."""
        return len(self.territories)

    @cached_property
    def _neighbours(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.territories]
        for source, target in self.borders:
            found[source].append(target)
        return tuple(map(tuple, found))

    @cached_property
    def _called(self) -> dict[str, int]:
        """Every name and alias with its territory."""
        return {called: t for t, name in enumerate(self.territories) for called in (name, *self.aliases[t])}

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {_key(called): t for called, t in self._called.items()}

    def neighbours(self, territory: int) -> tuple[int, ...]:
        """The territories adjacent to one (RULES 1.2), ascending."""
        if not 0 <= territory < self.num_territories:
            raise MapError(f"territory {territory}: the map {self.name!r} has 0 ... {self.num_territories - 1}")
        return self._neighbours[territory]

    def territory(self, name: str) -> int:
        """The number of a territory by its name or alias, in any case, surrounding blanks ignored (RULES 1.3)."""
        number = self._by_key.get(_key(name))
        if number is None:
            raise MapError(f"the map {self.name!r} has no territory {name!r}{_near(name, tuple(self._called))}")
        return number

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of what matters to play: not of the drawing, the aliases, the map's name or its file."""
        facts = {
            "territories": self.territories,
            "continents": self.continents,
            "bonuses": self.bonuses,
            "continent_of": self.continent_of,
            "borders": self.borders,
            "symbols": self.symbols,
            "num_wilds": self.num_wilds,
            "stars": self.stars,
            "basic_training_cities": self.basic_training_cities,
            "random_cities": self.random_cities,
            "missions": [asdict(mission) for mission in self.missions],
            "objectives": [asdict(objective) for objective in self.objectives],
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def map_names() -> tuple[str, ...]:
    """The names of the shipped maps."""
    return SHIPPED


def load_map(name_or_path: str | PathLike[str]) -> Board:
    """A shipped map by its name, or the map of a .toml file by its path."""
    if isinstance(name_or_path, str) and name_or_path in SHIPPED:
        return _shipped(name_or_path)
    if not isinstance(name_or_path, str | PathLike):
        raise MapError(f"name_or_path: {name_or_path!r} is neither a name nor a path; shipped maps: {_list(SHIPPED)}")
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and path.suffix != ".toml" and path.name == name_or_path:
        near = _near(name_or_path, SHIPPED, "")
        raise MapError(f"no map {name_or_path!r}{near}; shipped maps: {_list(SHIPPED)}; or the path of a .toml file")
    return read_map(_file_text(path), str(path))


@lru_cache
def _shipped(name: str) -> Board:
    return read_map(_file_text(_FOLDER / f"{name}.toml"), name)


def _file_text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise MapError(f"{path}: cannot be read: {error}; shipped maps: {_list(SHIPPED)}") from error


def read_map(text: str, source: str = "<text>") -> Board:
    """The map that a TOML text describes; `source` names it in messages."""
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MapError(f"{source}: not TOML: {error}") from error
    return _board(_Table(source, "", values))


# ------------------------------------------------------------------------------------------------ words


def _key(name: str) -> str:
    return name.strip().casefold()


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)


def _near(name: str, names: Sequence[str], otherwise: str | None = None) -> str:
    """What to say of a wrong name: the names near it, or all (up to eight) of those allowed."""
    keys = {_key(n): n for n in names}
    near = [keys[k] for k in difflib.get_close_matches(_key(name), keys, 3)]
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    if otherwise is not None:
        return otherwise
    return f"; there are {_list(names[:8])}{', ...' if len(names) > 8 else ''}"


# ------------------------------------------------------------------------------------------------ tables


class _Table:
    """A table of the file with its place, whose values are asked for by key and type."""

    def __init__(self, file: str, place: str, values: dict[str, Any]):
        self.file, self.place, self.values = file, place, values

    def error(self, problem: str, at: str = "") -> MapError:
        place = ", ".join(p for p in (self.place, at) if p)
        return MapError(f"{self.file}: {place}: {problem}" if place else f"{self.file}: {problem}")

    def only(self, *keys: str) -> None:
        for key in self.values:
            if key not in keys:
                raise self.error(f"unknown key {key!r}{_near(key, keys)}")

    def get(self, key: str, kind: type, words: str, default: Any = _NEEDED) -> Any:
        value = self.values.get(key, default)
        if value is _NEEDED:
            raise self.error(f"the key {key!r} ({words}) is missing")
        if value is not default and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise self.error(f"{_short(value)} is not {words}", key)
        return value

    def text(self, key: str, allowed: Sequence[str] = (), default: Any = _NEEDED) -> Any:
        value = self.get(key, str, "a text", default)
        if allowed and value is not default and value not in allowed:
            raise self.error(f"{value!r} is not one of {_list(allowed)}", key)
        return value

    def whole(self, key: str, low: int, high: int, default: Any = _NEEDED) -> Any:
        value = self.get(key, int, "a whole number", default)
        if value is not default and not low <= value <= high:
            raise self.error(f"{value} is not between {low} and {high}", key)
        return value

    def flag(self, key: str) -> bool:
        return self.get(key, bool, "true or false", False)

    def name(self, key: str = "name") -> str:
        return self.checked_name(self.text(key), key)

    def checked_name(self, name: str, at: str) -> str:
        if not _NAME.fullmatch(name) or len(name) > 60:
            allowed = "up to 60 letters, digits, single blanks and '.&()/-, a letter first"
            raise self.error(f"{_short(name)} cannot be a name: {allowed}", at)
        if _key(name) in RESERVED_NAMES:
            raise self.error(f"{name!r} has a meaning of its own in actions", at)
        return name

    def texts(self, key: str, default: Any = _NEEDED) -> tuple[str, ...]:
        values = self.get(key, list, "a list of texts", default)
        for i, value in enumerate(values, 1):
            if not isinstance(value, str):
                raise self.error(f"{_short(value)} is not a text", f"{key} {i}")
        return tuple(values)

    def table(self, key: str, default: Any = _NEEDED) -> _Table:
        values = self.get(key, dict, "a table", default)
        return _Table(self.file, self._inside(key), values)

    def tables(self, key: str, most: int) -> list[_Table]:
        values = self.get(key, list, f"a list of tables [[{key}]]", [])
        if len(values) > most:
            raise self.error(f"{len(values)} of [[{key}]]; at most {most} are allowed")
        for i, value in enumerate(values, 1):
            if not isinstance(value, dict):
                raise self.error(f"{_short(value)} is not a table", f"{key} {i}")
        return [_Table(self.file, self._inside(_place(key, i, value)), value) for i, value in enumerate(values, 1)]

    def _inside(self, place: str) -> str:
        return f"{self.place}.{place}" if self.place else place


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _place(key: str, i: int, values: dict[str, Any]) -> str:
    name = values.get("name")
    return f"{key} {name!r}" if isinstance(name, str) and len(name) <= 60 else f"{key} {i}"


# ------------------------------------------------------------------------------------------------ board


def _board(file: _Table) -> Board:
    file.only("name", "wilds", "random_cities", "continent", "territory", "mission", "objective", "drawing")
    name = file.name()
    continents, territories = _continent_tables(file), _territory_tables(file)
    places = [t.name() for t in territories]
    aliases = tuple(_aliases(t) for t in territories)
    _check_distinct(territories, aliases)
    continent_of = tuple(_continent_of(t, continents) for t in territories)
    _check_no_empty(continents, continent_of)
    names = tuple(c.values["name"] for c in continents)
    return Board(
        name=name,
        territories=tuple(places),
        aliases=aliases,
        continents=names,
        bonuses=tuple(c.whole("bonus", 0, MAX_BONUS) for c in continents),
        continent_of=continent_of,
        borders=_borders(file, territories),
        symbols=_all_or_none(territories, "symbol", lambda t: t.text("symbol", SYMBOLS)),
        num_wilds=file.whole("wilds", 0, MAX_WILDS, MAX_WILDS),
        stars=_all_or_none(territories, "stars", lambda t: t.whole("stars", 1, 2)),
        basic_training_cities=tuple(i for i, t in enumerate(territories) if t.flag("city")),
        random_cities=file.whole("random_cities", 0, len(territories), 0),
        missions=_missions(file, names, len(territories)),
        objectives=_objectives(file, names, len(territories)),
        colours=tuple(_colour(c) for c in continents),
        drawing=_drawing(file, places),
        source=file.file,
    )


def _continent_tables(file: _Table) -> list[_Table]:
    tables = file.tables("continent", MAX_CONTINENTS)
    if not tables:
        raise file.error("no [[continent]]; at least one is needed")
    seen: dict[str, str] = {}
    for table in tables:
        table.only("name", "bonus", "colour")
        _check_new(table, "name", table.name(), seen)
    return tables


def _territory_tables(file: _Table) -> list[_Table]:
    tables = file.tables("territory", MAX_TERRITORIES)
    if len(tables) < 2:
        raise file.error(f"{len(tables)} of [[territory]]; at least 2 are needed")
    for table in tables:
        table.only("name", "aliases", "continent", "symbol", "stars", "city", "borders")
    return tables


def _aliases(table: _Table) -> tuple[str, ...]:
    return tuple(table.checked_name(a, f"aliases {i}") for i, a in enumerate(table.texts("aliases", []), 1))


def _check_new(table: _Table, at: str, name: str, seen: dict[str, str]) -> None:
    """Names are distinct whatever their case."""
    if _key(name) in seen:
        raise table.error(f"the name {name!r} is already that of {seen[_key(name)]}", at)
    seen[_key(name)] = table.place


def _check_distinct(territories: list[_Table], aliases: tuple[tuple[str, ...], ...]) -> None:
    seen: dict[str, str] = {}
    for table in territories:
        _check_new(table, "name", table.values["name"], seen)
    for table, names in zip(territories, aliases, strict=True):
        for i, alias in enumerate(names, 1):
            _check_new(table, f"aliases {i}", alias, seen)


def _number(table: _Table, at: str, what: str, name: str, names: Sequence[str]) -> int:
    """The number of an exactly written name among those known."""
    if name not in names:
        raise table.error(f"no {what} {name!r}{_near(name, names)}", at)
    return list(names).index(name)


def _continent_of(table: _Table, continents: list[_Table]) -> int:
    return _number(table, "continent", "continent", table.text("continent"), [c.values["name"] for c in continents])


def _check_no_empty(continents: list[_Table], continent_of: tuple[int, ...]) -> None:
    for c, table in enumerate(continents):
        if c not in continent_of:
            raise table.error("no territory belongs to it")


def _all_or_none(tables: list[_Table], key: str, read: Callable[[_Table], Any]) -> tuple[Any, ...] | None:
    """A key that either every territory gives or none."""
    given = [t for t in tables if key in t.values]
    if not given:
        return None
    for table in tables:
        if key not in table.values:
            raise table.error(f"the key {key!r} is missing; {given[0].place} has it, so all must")
    return tuple(read(t) for t in tables)


def _colour(table: _Table) -> str | None:
    colour = table.text("colour", default=None)
    if colour is not None and not _COLOUR.fullmatch(colour):
        raise table.error(f"{_short(colour)} is not a colour like '#8fa3c7'", "colour")
    return colour


# ------------------------------------------------------------------------------------------------ borders


def _borders(file: _Table, territories: list[_Table]) -> tuple[tuple[int, int], ...]:
    names = [t.values["name"] for t in territories]
    listed = [_listed_borders(t, names) for t in territories]
    for source, targets in enumerate(listed):
        _check_returned(territories, listed, source, targets)
    borders = tuple(sorted((s, t) for s, targets in enumerate(listed) for t in targets))
    if len(borders) > MAX_BORDERS:
        raise file.error(f"{len(borders)} borders, each way counted; at most {MAX_BORDERS} are allowed")
    _check_connected(territories, listed)
    return borders


def _listed_borders(table: _Table, names: list[str]) -> list[int]:
    listed: list[int] = []
    for i, name in enumerate(table.texts("borders"), 1):
        target, at = _number(table, f"border {i}", "territory", name, names), f"border {i}"
        if name == table.values["name"]:
            raise table.error("a territory does not border itself", at)
        if target in listed:
            raise table.error(f"{name!r} is listed twice", at)
        listed.append(target)
    return listed


def _check_returned(territories: list[_Table], listed: list[list[int]], source: int, targets: list[int]) -> None:
    """Both sides list a border."""
    for i, target in enumerate(targets, 1):
        if source not in listed[target]:
            problem = f"{territories[target].place} does not list {territories[source].values['name']!r} in return"
            raise territories[source].error(problem, f"border {i}")


def _check_connected(territories: list[_Table], listed: list[list[int]]) -> None:
    reached, todo = {0}, [0]
    while todo:
        for target in listed[todo.pop()]:
            if target not in reached:
                reached.add(target)
                todo.append(target)
    for t, table in enumerate(territories):
        if t not in reached:
            problem = f"no chain of borders joins it to {territories[0].place}: the map must be in one piece"
            raise table.error(problem, "borders")


# ------------------------------------------------------------------------------------------------ missions


def _missions(file: _Table, continents: tuple[str, ...], territories: int) -> tuple[Mission, ...]:
    tables = file.tables("mission", MAX_MISSIONS)
    missions = tuple(m for table in tables for m in _mission(table, continents, territories))
    if len(missions) > MAX_MISSIONS:
        raise file.error(f"{len(missions)} missions, one a colour to destroy; at most {MAX_MISSIONS} are allowed")
    return missions


def _mission(table: _Table, continents: tuple[str, ...], territories: int) -> list[Mission]:
    kind = table.text("kind", MISSION_KINDS)
    if kind == "destroy":
        return _destroy_missions(table, territories)
    extended = table.flag("extended")
    if kind == "continents":
        table.only("kind", "extended", "continents", "any_third")
        return [Mission(kind, _mission_continents(table, continents), table.flag("any_third"), extended=extended)]
    table.only("kind", "extended", "territories", "min_troops")
    count, troops = table.whole("territories", 1, territories), table.whole("min_troops", 1, 1000, 1)
    return [Mission(kind, territories=count, min_troops=troops, extended=extended)]


def _destroy_missions(table: _Table, territories: int) -> list[Mission]:
    """One mission for each colour; colour i is seat i (RULES 8.1)."""
    table.only("kind", "extended", "colours", "fallback_territories")
    fallback = table.whole("fallback_territories", 1, territories)
    extended = table.flag("extended")
    return [
        Mission("destroy", target=seat, fallback_territories=fallback, extended=extended)
        for seat in range(table.whole("colours", 1, MAX_COLOURS))
    ]


def _mission_continents(table: _Table, continents: tuple[str, ...]) -> tuple[int, ...]:
    names = table.texts("continents")
    numbers = tuple(_number(table, f"continents {i}", "continent", n, continents) for i, n in enumerate(names, 1))
    if not numbers or len(set(numbers)) < len(numbers):
        raise table.error(f"{_short(list(names))}: one continent or more, each once", "continents")
    if table.flag("any_third") and len(numbers) == len(continents):
        raise table.error("the map has no further continent than those named", "any_third")
    return numbers


# ------------------------------------------------------------------------------------------------ objectives


def _objectives(file: _Table, continents: tuple[str, ...], territories: int) -> tuple[Objective, ...]:
    tables = file.tables("objective", MAX_OBJECTIVES)
    objectives = tuple(_objective(table, continents, territories) for table in tables)
    seen: dict[str, str] = {}
    for i, table in enumerate(tables):
        _check_new(table, "name", objectives[i].name, seen)
        if i and objectives[i - 1].major and not objectives[i].major:
            raise table.error("a minor objective after a major one: the minor ones come first", "major")
    return objectives


def _objective(table: _Table, continents: tuple[str, ...], territories: int) -> Objective:
    kind = table.text("kind", OBJECTIVE_KINDS)
    number, count = -1, 1
    keys = ["name", "kind", "major", "basic_training"]
    if kind == "continent":
        keys.append("continent")
        number = _number(table, "continent", "continent", table.text("continent"), continents)
    if kind not in UNCOUNTED_OBJECTIVES:
        keys.append("count")
        count = table.whole("count", 1, _most(kind, len(continents), territories))
    table.only(*keys)
    return Objective(_objective_name(table), kind, count, number, table.flag("major"), table.flag("basic_training"))


def _objective_name(table: _Table) -> str:
    """Unlike a territory's, an objective's name may begin with a number: "8 cities"."""
    name = table.text("name")
    if not _NAME.fullmatch(re.sub(r"^\d+ ", "", name)) or len(name) > 60:
        raise table.error(f"{_short(name)} cannot be a name: a number, letters, single blanks", "name")
    if _key(name) in RESERVED_NAMES:
        raise table.error(f"{name!r} has a meaning of its own in actions", "name")
    return name


def _most(kind: str, continents: int, territories: int) -> int:
    """The greatest number that an objective of a kind can ask for."""
    return {"continents": continents, "enemy_capitals": MAX_COLOURS - 1}.get(kind, territories)


# ------------------------------------------------------------------------------------------------ drawing


def _drawing(file: _Table, names: list[str]) -> Drawing | None:
    if "drawing" not in file.values:
        return None
    table = file.table("drawing")
    table.only("width", "height", "centres", "labels", "outlines", "wrapped", "route")
    size = table.whole("width", 1, MAX_PIXELS), table.whole("height", 1, MAX_PIXELS)
    outlines = _per_territory(table.table("outlines"), names, lambda t, n: _rings(t, n, size))
    centres = _per_territory(table.table("centres"), names, lambda t, n: _point(t, n, size))
    labels = table.table("labels", {})
    return Drawing(
        *size,
        centres=centres,
        labels=_per_territory(labels, names, lambda t, n: _point(t, n, size), centres),
        outlines=outlines,
        wrapped=_wrapped(table, names),
        routes=tuple(_route(route, names, size) for route in table.tables("route", MAX_BORDERS)),
    )


def _per_territory(
    table: _Table, names: list[str], read: Callable[[_Table, str], Any], default: Sequence[Any] | None = None
) -> tuple[Any, ...]:
    for key in table.values:
        _number(table, "", "territory", key, names)
    if default is None:
        return tuple(read(table, name) for name in names)
    return tuple(read(table, n) if n in table.values else default[t] for t, n in enumerate(names))


def _numbers(table: _Table, at: str, values: Any, most: Sequence[int]) -> list[float]:
    """A list x, y, x, y ... inside the picture."""
    if not isinstance(values, list) or len(values) % 2:
        raise table.error(f"{_short(values)} is not a list of pairs x, y", at)
    for i, value in enumerate(values):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 <= value <= most[i % 2]:
            raise table.error(f"{_short(value)} is not a number between 0 and {most[i % 2]}", at)
    return [float(value) for value in values]


def _point(table: _Table, name: str, size: tuple[int, int]) -> Point:
    values = _numbers(table, name, table.get(name, list, "a pair x, y"), size)
    if len(values) != 2:
        raise table.error(f"{len(values)} numbers; a point has two", name)
    return values[0], values[1]


def _rings(table: _Table, name: str, size: tuple[int, int]) -> tuple[Ring, ...]:
    rings = table.get(name, list, "a list of rings, each x, y, x, y, ...")
    if not rings:
        raise table.error("no ring; at least one is needed", name)
    return tuple(_ring(table, f"{name}, ring {i}", ring, size) for i, ring in enumerate(rings, 1))


def _ring(table: _Table, at: str, ring: Any, size: tuple[int, int]) -> Ring:
    values = _numbers(table, at, ring, size)
    if len(values) < 6:
        raise table.error(f"{len(values) // 2} points; a ring has three or more", at)
    return tuple(zip(values[::2], values[1::2], strict=True))


def _wrapped(table: _Table, names: list[str]) -> tuple[tuple[int, int], ...]:
    pairs = table.get("wrapped", list, "a list of pairs of territories", [])
    return tuple(_pair(table, f"wrapped {i}", pair, names) for i, pair in enumerate(pairs, 1))


def _route(table: _Table, names: list[str], size: tuple[int, int]) -> tuple[int, int, Ring]:
    table.only("between", "points")
    one, other = _pair(table, "between", table.get("between", list, "a pair of territories"), names)
    values = _numbers(table, "points", table.get("points", list, "a list x, y, x, y, ..."), size)
    if len(values) < 4:
        raise table.error(f"{len(values) // 2} points; a route has two or more", "points")
    return one, other, tuple(zip(values[::2], values[1::2], strict=True))


def _pair(table: _Table, at: str, pair: Any, names: list[str]) -> tuple[int, int]:
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(n, str) for n in pair):
        raise table.error(f"{_short(pair)} is not a pair of territories", at)
    one, other = (_number(table, at, "territory", n, names) for n in pair)
    return one, other
