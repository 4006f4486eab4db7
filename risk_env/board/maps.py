"""Maps (RULES 1.4): the class `Board`, and the reader of map files. docs/maps.md describes the format.

A map file is a TOML file. `load_map` finds the maps in the folder `map_files` by name. Both territories of a
two-way border list the border, so the reader notices a border that one side does not list. The source of a
one-way border lists the border under `one_way_to`. An error in a file raises `MapError`, which names the
file and the problem.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, lru_cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.borders import targets_of, unreachable
from risk_env.board.charts import Chart, read_charts
from risk_env.board.drawings import Drawing, read_drawing
from risk_env.board.generating.random_map import random_map
from risk_env.board.generating.spec import RandomMap, is_random, read_spec
from risk_env.board.names import in_text, key_of
from risk_env.board.toml_table import MapError, TomlTable, check_parsing_time, similar_names
from risk_env.bounded_io import composed_values, read_text, unmarked
from risk_env.core import types
from risk_env.messages import shortened, suggestion

NO_CARD = "none"  # value of `symbol` for a territory without a card
SYMBOLS = tuple(symbol.name.lower() for symbol in types.Symbol)
MISSION_KINDS = tuple(kind.name.lower() for kind in types.Mission)
OBJECTIVE_KINDS = tuple(kind.name.lower() for kind in types.Goal)
UNCOUNTED_OBJECTIVES = ("continent", "continent_in_turn")

MAX_TERRITORIES, MAX_BORDERS, MAX_CONTINENTS = types.SIZE_CLASSES[-1]  # borders are directed
MAX_BONUS = 1000
OUTSIDE = "Outside"  # continent without a bonus, for the territories outside all other continents
MAX_WILDS = 2  # RULES 2.1
MAX_COLOURS = 6  # maximum number of colours of a "destroy" entry; colour i is seat i

_FOLDER = Path(__file__).parent / "map_files"
MOST_BYTES = 1 << 18  # maximum size of a map file, in bytes
MOST_HEADERS = 2000  # maximum number of lines [table] and [[table]] in a map file
COLOUR = re.compile(r"#[0-9a-f]{6}")


@dataclass(frozen=True)
class Mission:
    """One mission card (RULES 8).

    Fields that a kind of mission does not use have their default values.
    """

    kind: str  # "continents" | "territories" | "destroy"
    continents: tuple[int, ...] = ()
    any_third: bool = False  # True: the mission also needs one more continent, which the player may choose
    territories: int = 0  # number of territories to hold
    min_troops: int = 1  # minimum number of troops on each of these territories
    target: int = -1  # seat to destroy
    # number of territories that the target must hold if the target itself has this mission (RULES 8.3)
    fallback_territories: int = 0
    extended: bool = False  # True: the mission is used only with `missions="extended"`


@dataclass(frozen=True)
class Objective:
    """One Objective of the 2008 games (RULES 9.6).

    For kinds without a count, `count` is 1. For kinds without a continent, `continent` is -1.
    """

    name: str
    kind: str  # one of OBJECTIVE_KINDS
    count: int = 1
    continent: int = -1
    major: bool = False
    basic_training: bool = False  # True: one of the Objectives of Basic Training (RULES 9.1)


@dataclass(frozen=True)
class Board:
    """A checked map. Territories and continents are numbered in the order of the file."""

    name: str
    territories: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...]  # per territory
    continents: tuple[str, ...]
    bonuses: tuple[int, ...]  # per continent
    continent_of: tuple[int, ...]  # per territory
    borders: tuple[tuple[int, int], ...]  # (source, target), sorted; both directions of a two-way border
    symbols: tuple[str | None, ...] | None  # per territory (None: no card); None: a map without symbols
    num_wilds: int
    stars: tuple[int, ...] | None  # per territory; None: a map without stars
    basic_training_cities: tuple[int, ...]  # territories with a city if `cities="fixed"`, ascending
    random_cities: int  # number of cities if `cities="random"`
    missions: tuple[Mission, ...]  # a "destroy" entry of the file makes one mission for each colour
    objectives: tuple[Objective, ...]  # minor Objectives first
    charts: tuple[Chart, ...]  # start charts of Basic Training, at most one for each number of players
    colours: tuple[str | None, ...] = field(compare=False)  # per continent, "#rrggbb"; None: automatic
    drawing: Drawing | None = field(compare=False)
    source: str = field(compare=False)  # name or path of the map, or the name of its text in `read_map`

    @property
    def num_territories(self) -> int:
        """Number of territories."""
        return len(self.territories)

    @cached_property
    def edge_index(self) -> npt.NDArray[np.int64]:
        """Sources and targets of the E borders: int64 (2, E), read-only, in the order of BORDER actions."""
        index = np.array(self.borders, np.int64).T.copy()
        index.flags.writeable = False
        return index

    @cached_property
    def names_in_text(self) -> tuple[str, ...]:
        """Name of each territory for use in texts: in double quotes if the name could be misread."""
        return tuple(map(in_text, self.territories))

    @cached_property
    def one_way_borders(self) -> tuple[tuple[int, int], ...]:
        """One-way borders (RULES 1.2) as pairs (source, target), sorted."""
        both = set(self.borders)
        return tuple((source, target) for source, target in self.borders if (target, source) not in both)

    @cached_property
    def _targets(self) -> tuple[tuple[int, ...], ...]:
        return tuple(map(tuple, targets_of(self.num_territories, self.borders)))

    @cached_property
    def _sources(self) -> tuple[tuple[int, ...], ...]:
        back = ((target, source) for source, target in self.borders)
        return tuple(map(tuple, targets_of(self.num_territories, back)))

    @cached_property
    def members_of(self) -> tuple[tuple[int, ...], ...]:
        """Territories of each continent, ascending."""
        members: list[list[int]] = [[] for _ in self.continents]
        for territory, continent in enumerate(self.continent_of):
            members[continent].append(territory)
        return tuple(map(tuple, members))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Number of each territory, by every name and alias."""
        return {name: t for t, own in enumerate(self.territories) for name in (own, *self.aliases[t])}

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {key_of(name): t for name, t in self._numbers.items()}

    def targets(self, territory: int) -> tuple[int, ...]:
        """Return the territories to which a border leads from `territory` (RULES 1.2), ascending.

        Raises MapError if the map has no such territory.
        """
        return self._targets[self._checked(territory)]

    def sources(self, territory: int) -> tuple[int, ...]:
        """Return the territories from which a border leads to `territory`, ascending.

        The sources of a territory differ from its targets only on maps with one-way borders. Raises MapError
        if the map has no such territory.
        """
        return self._sources[self._checked(territory)]

    def _checked(self, territory: int) -> int:
        if not 0 <= territory < self.num_territories:
            last = self.num_territories - 1
            raise MapError(f"territory {territory}: the map {self.name!r} has territories 0 to {last}")
        return territory

    def no_border(self, source: int, target: int) -> str:
        """Return an error message for a pair of territories without a border from `source` to `target`."""
        names = self.names_in_text[source], self.names_in_text[target]
        if (target, source) in self.borders:
            return f"the border from {names[1]} to {names[0]} is one-way"
        return f"{names[0]} does not border {names[1]}"

    def territory(self, name: str) -> int:
        """Return the number of the territory with this name or alias (RULES 1.3).

        The case of letters is ignored. Raises MapError if the map has no such territory.
        """
        number = self._by_key.get(key_of(name))
        if number is None:
            raise MapError(
                f"the map {self.name!r} has no territory {name!r}{similar_names(name, tuple(self._numbers))}"
            )
        return number

    def __repr__(self) -> str:
        sizes = f"{len(self.territories)} territories, {len(self.continents)} continents"
        return f"<Board {self.name!r}, {sizes}>"

    def _repr_svg_(self) -> str:
        """Return the map as a picture, for notebooks."""
        return import_module("risk_env.render.svg").draw_map(self)  # a higher layer, used by notebooks only

    def chart(self, num_players: int) -> Chart | None:
        """Return the start chart for `num_players` (RULES 9.1), or None if the map has no such chart."""
        return next((chart for chart in self.charts if chart.num_players == num_players), None)

    def __hash__(self) -> int:
        return hash(self.digest)  # cached, because `tables` often looks up records by map

    @cached_property
    def digest(self) -> str:
        """SHA-256 (64 hex digits) of the facts on which the course of a game depends (`_PLAYED`).

        The drawing, the colours, the aliases, the map's name and the name of the file do not change the
        digest. Start charts do not change the digest either, because a chart only sets the first position of
        a game.
        """
        facts = {name: getattr(self, name) for name in _PLAYED}
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=asdict).encode()).hexdigest()


_PLAYED = (
    *("territories", "continents", "bonuses", "continent_of", "borders", "symbols", "num_wilds", "stars"),
    *("basic_training_cities", "random_cities", "missions", "objectives"),
)


def map_names() -> tuple[str, ...]:
    """Return the names of the shipped maps, sorted: the names of the files `map_files/NAME.toml`."""
    return tuple(_shipped_files())


def load_map(name_or_path: str | PathLike[str]) -> Board:
    """Return the shipped map with this name, or the map in the map file at this path.

    The name `random:SEED:territories=60,continents=8` gives a random map. `territories` and `continents` may
    be left out. Raises MapError if there is no such map, or if the file cannot be read or contains an error.
    """
    if is_random(name_or_path):
        return _generate(read_spec(str(name_or_path)))
    if isinstance(name_or_path, str) and name_or_path in map_names():
        return _read_shipped(name_or_path)
    names = ", ".join(map_names())
    if not isinstance(name_or_path, str | PathLike):
        raise MapError(
            f"name_or_path: {shortened(name_or_path)} is neither a name nor a path; shipped maps: {names}"
        )
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and path.suffix != ".toml" and path.name == name_or_path:
        raise MapError(
            f"no map {shortened(name_or_path)}{suggestion(name_or_path, map_names())}; "
            f"allowed: {names}, random:SEED, or the path of a .toml file"
        )
    return read_map(_file_text(path), str(path), path.parent)


def found_map(name: str, digest: str | None = None, board: Board | None = None) -> Board:
    """Return the map that a saved game or a text names.

    If `board` is given, the result is `board`. Otherwise `name` must name a map that untrusted users may
    choose (`check_open_map`). `digest` is the digest that the saved game or text contains, or the first 16
    hex digits of this digest. Raises MapError if there is no such map, or if the digest of the map differs
    from `digest`. Without `digest`, no digests are compared.
    """
    if board is None:
        try:
            check_open_map(name)
        except MapError as error:
            raise MapError(f"{error}; for any other map, pass the board") from None
    board = load_map(name) if board is None else board
    if digest not in (None, board.digest, board.digest[:16]):
        written = f"the saved game or text belongs to the map with digest {shortened(digest)}"
        raise MapError(f"{written}, but the map {board.source!r} has digest {board.digest[:16]}")
    return board


def check_open_map(name: Any) -> None:
    """Raise MapError unless untrusted users may choose the map with this name.

    Untrusted users may choose shipped maps, and random maps of the smallest size class. Such random maps are
    quick to make, and run the same compiled code as the classic map. Untrusted users may not name files.
    """
    if is_random(name):
        spec, most = read_spec(name), types.SIZE_CLASSES[0]
        if spec.territories > most.territories or spec.continents > most.continents:
            most_of = f"{most.territories} territories and {most.continents} continents"
            raise MapError(f"{shortened(name)}: too large; at most {most_of} are allowed")
    elif name not in map_names():
        hint, names = suggestion(name, map_names()), ", ".join(map_names())
        raise MapError(f"{shortened(name)} is not a shipped map{hint}; allowed: {names}, random:SEED")


@cache
def _shipped_files() -> dict[str, Path]:
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


@cache
def _read_shipped(name: str) -> Board:
    path = _shipped_files()[name]
    return read_map(_file_text(path), name, path.parent)


@lru_cache(maxsize=64)
def _generate(spec: RandomMap) -> Board:
    return _board(TomlTable(spec.name, "", random_map(spec)))


def _file_text(path: Path) -> str:
    """Return the text of a map file.

    Raises MapError unless `path` is a regular text file (no device, no pipe) of at most MOST_BYTES bytes.
    """
    try:
        return read_text(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise MapError(f"{path}: cannot be read: {error}; shipped maps: {', '.join(map_names())}") from error


def read_map(text: str, source: str = "<text>", folder: Path | None = None) -> Board:
    """Return the map in a TOML text. `source` names the text in error messages.

    `folder` is the folder with the picture of the map. Without a folder, a map with a picture is refused.

    Raises MapError if the text contains an error, or has more than MOST_BYTES bytes or MOST_HEADERS table
    headers. Also raises MapError for a key with more than eight dots, which can take seconds to read.
    """
    size = len(text.encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        raise MapError(f"{source}: {size} bytes; at most {MOST_BYTES} are allowed")
    text = unmarked(text)
    check_parsing_time(text, MOST_HEADERS, source)
    try:
        values = composed_values(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise MapError(f"{source}: cannot be read as TOML: {error}") from error
    return _board(TomlTable(source, "", values), folder)


# ------------------------------------------------------------------------------------ board


def _board(file: TomlTable, folder: Path | None = None) -> Board:
    file.only(
        "name", "wilds", "random_cities", "continent", "territory", "mission", "objective", "chart", "drawing"
    )
    continents, territories = _continent_tables(file), _territory_tables(file)
    continents += _outside_tables(file, continents, territories)
    names, places = tuple(c.values["name"] for c in continents), [t.values["name"] for t in territories]
    return Board(
        name=file.name(),
        territories=tuple(places),
        aliases=_aliases(territories),
        continents=names,
        bonuses=tuple(c.whole("bonus", 0, MAX_BONUS) for c in continents),
        continent_of=_continent_of(territories, continents, names),
        borders=_borders(file, territories),
        symbols=_symbols(file, territories),
        num_wilds=file.whole("wilds", 0, MAX_WILDS, MAX_WILDS),
        stars=_all_or_none(territories, "stars", lambda t: t.whole("stars", 1, 2)),
        basic_training_cities=tuple(i for i, t in enumerate(territories) if t.flag("city")),
        random_cities=file.whole("random_cities", 0, len(territories), 0),
        missions=_missions(file, names, len(territories)),
        objectives=_objectives(file, names, len(territories)),
        charts=read_charts(file, places),
        colours=tuple(_colour(c) for c in continents),
        drawing=read_drawing(file, places, folder),
        source=file.file,
    )


def _continent_tables(file: TomlTable) -> list[TomlTable]:
    tables = file.tables("continent", MAX_CONTINENTS)
    if not tables:
        raise file.error("the file has no [[continent]] table; at least one is needed")
    seen: dict[str, str] = {}
    for table in tables:
        table.only("name", "bonus", "colour")
        table.check_new("name", table.name(), seen)
    return tables


def _outside_tables(
    file: TomlTable, continents: list[TomlTable], territories: list[TomlTable]
) -> list[TomlTable]:
    """Return a list with the continent OUTSIDE for the territories that are in no continent of the file.

    The list is empty if there are no such territories. Raises MapError if the map cannot have this continent.
    """
    outside = [t for t in territories if "continent" not in t.values]
    if not outside:
        return []
    _refuse_counted_continents(file, outside[0])
    table = TomlTable(file.file, f"continent {OUTSIDE!r}", {"name": OUTSIDE, "bonus": 0})
    problem = f"{outside[0].place} has no continent, so the map needs this additional continent"
    if len(continents) == MAX_CONTINENTS:
        raise table.error(f"{problem}, but the file already has the maximum of {MAX_CONTINENTS} continents")
    for other in continents:
        if key_of(other.values["name"]) == key_of(OUTSIDE):
            raise table.error(f"{problem}, but the name {OUTSIDE!r} is already used by {other.place}")
    return [table]


def _refuse_counted_continents(file: TomlTable, outside: TomlTable) -> None:
    """Raise MapError for goals that would count the territories outside all continents as a continent."""
    for table in file.tables("mission", types.MAX_MISSIONS):
        if table.values.get("any_third") is True:
            problem = f"{outside.place} is in no continent, so no mission may have any_third"
            raise table.error(problem, "any_third")
    for table in file.tables("objective", types.NUM_OBJECTIVES):
        if table.values.get("kind") in ("continents", "continent_in_turn"):
            problem = f"{outside.place} is in no continent, so no Objective may count continents"
            raise table.error(problem, "kind")


def _territory_tables(file: TomlTable) -> list[TomlTable]:
    tables = file.tables("territory", MAX_TERRITORIES)
    if len(tables) < 2:
        raise file.error(f"number of [[territory]] tables: {len(tables)}; must be at least 2")
    for table in tables:
        table.only("name", "aliases", "continent", "symbol", "stars", "city", "borders", "one_way_to")
        table.name()
    return tables


def _aliases(territories: list[TomlTable]) -> tuple[tuple[str, ...], ...]:
    """Return the aliases of each territory. Raises MapError if a name or an alias is used twice."""
    seen: dict[str, str] = {}
    for table in territories:
        table.check_new("name", table.values["name"], seen)
    given = [[(f"aliases {i}", a) for i, a in enumerate(t.texts("aliases", []), 1)] for t in territories]
    for table, aliases in zip(territories, given, strict=True):
        for at, alias in aliases:
            table.check_new(at, table.checked_name(alias, at), seen)
    return tuple(tuple(alias for _, alias in aliases) for aliases in given)


def _continent_of(
    territories: list[TomlTable], continents: list[TomlTable], names: tuple[str, ...]
) -> tuple[int, ...]:
    """Return the continent of each territory. Raises MapError for unknown continents and for empty ones."""
    named = [(t, t.text("continent", default=OUTSIDE)) for t in territories]
    numbers = tuple(t.number_of("continent", name, names, "continent") for t, name in named)
    for c, table in enumerate(continents):
        if c not in numbers:
            raise table.error("no territory belongs to this continent")
    return numbers


def _symbols(file: TomlTable, territories: list[TomlTable]) -> tuple[str | None, ...] | None:
    """Return the symbol of each territory's card (None: no card), or None if the map has no symbols."""
    words = _all_or_none(territories, "symbol", lambda t: t.text("symbol", (*SYMBOLS, NO_CARD)))
    symbols = None if words is None else tuple(None if word == NO_CARD else word for word in words)
    if symbols is not None and not any(symbols):
        raise file.error(f"the symbol of every territory is {NO_CARD!r}; at least one territory needs a card")
    return symbols


def _all_or_none(
    tables: list[TomlTable], key: str, read: Callable[[TomlTable], Any]
) -> tuple[Any, ...] | None:
    """Return the value of a key for each territory, or None if no territory has the key.

    Raises MapError if only some territories have the key.
    """
    given = [t for t in tables if key in t.values]
    if not given:
        return None
    for table in tables:
        if key not in table.values:
            raise table.error(
                f"the key {key!r} is missing; {given[0].place} has this key, so every territory needs it"
            )
    return tuple(read(t) for t in tables)


def _colour(table: TomlTable) -> str | None:
    colour = table.text("colour", default=None)
    if colour is not None and not COLOUR.fullmatch(colour):
        raise table.error(f"{shortened(colour)} is not a colour of the form '#8fa3c7' (lower case)", "colour")
    return colour


# ------------------------------------------------------------------------------------ borders


def _borders(file: TomlTable, territories: list[TomlTable]) -> tuple[tuple[int, int], ...]:
    """Return the directed borders, sorted.

    Raises MapError if the borders are wrong or too many, or do not connect all territories.
    """
    names = [t.values["name"] for t in territories]
    listed = [_listed_borders(t, names) for t in territories]
    _check_returns(territories, listed)
    targets = [two_way + one_way for two_way, one_way in listed]
    borders = tuple(sorted((s, t) for s, listed_targets in enumerate(targets) for t in listed_targets))
    if len(borders) > MAX_BORDERS:
        raise file.error(
            f"{len(borders)} borders (a two-way border counts as two); at most {MAX_BORDERS} are allowed"
        )
    _check_connected(territories, borders)
    return borders


def _listed_borders(table: TomlTable, names: list[str]) -> tuple[list[int], list[int]]:
    """Return the targets of the two-way borders and of the one-way borders that a territory lists."""
    two_way, one_way = table.texts("borders"), table.texts("one_way_to", [])
    places = [f"border {i}" for i in range(1, len(two_way) + 1)]
    places += [f"one_way_to {i}" for i in range(1, len(one_way) + 1)]
    targets: list[int] = []
    for at, name in zip(places, two_way + one_way, strict=True):
        target = table.number_of("territory", name, names, at)
        if name == table.values["name"]:
            raise table.error("a territory does not border itself", at)
        if target in targets:
            raise table.error(f"{name!r} is listed twice", at)
        targets.append(target)
    return targets[: len(two_way)], targets[len(two_way) :]


def _check_returns(territories: list[TomlTable], listed: list[tuple[list[int], list[int]]]) -> None:
    """Raise MapError unless both sides list a two-way border, and only the source lists a one-way border."""
    for source, table in enumerate(territories):
        two_way, one_way = listed[source]
        name = table.values["name"]
        for i, target in enumerate(two_way, 1):
            if source not in listed[target][0]:
                problem = f"{territories[target].place} does not list {name!r} in borders"
                raise table.error(f"{problem}; one-way borders are listed in one_way_to", f"border {i}")
        for i, target in enumerate(one_way, 1):
            if source in listed[target][1]:
                problem = f"{territories[target].place} lists {name!r} in return"
                hint = "both territories list a two-way border in borders"
                raise table.error(f"{problem}; {hint}", f"one_way_to {i}")


def _check_connected(territories: list[TomlTable], borders: tuple[tuple[int, int], ...]) -> None:
    """Raise MapError unless chains of borders lead from every territory to every other territory."""
    first = territories[0].place
    not_reached, not_reaching = unreachable(len(territories), borders)
    ways = ((not_reached, "to this territory from"), (not_reaching, "from this territory to"))
    for apart, way in ways:
        if apart:
            problem = f"no chain of borders leads {way} {first}"
            demand = "every territory must reach every other territory"
            raise territories[apart[0]].error(f"{problem}: {demand}", "borders")


# ------------------------------------------------------------------------------------ missions


def _missions(file: TomlTable, continents: tuple[str, ...], territories: int) -> tuple[Mission, ...]:
    tables = file.tables("mission", types.MAX_MISSIONS)
    missions = tuple(m for table in tables for m in _mission(table, continents, territories))
    if len(missions) > types.MAX_MISSIONS:
        raise file.error(
            f"{len(missions)} missions (a destroy entry makes one mission for each colour); "
            f"at most {types.MAX_MISSIONS} are allowed"
        )
    return missions


def _mission(table: TomlTable, continents: tuple[str, ...], territories: int) -> list[Mission]:
    kind, extended = table.text("kind", MISSION_KINDS), table.flag("extended")
    if kind == "destroy":  # one mission for each colour; colour i is seat i (RULES 8.1)
        table.only("kind", "extended", "colours", "fallback_territories")
        fallback = table.whole("fallback_territories", 1, territories)
        seats = range(table.whole("colours", 1, MAX_COLOURS))
        return [
            Mission(kind, target=seat, fallback_territories=fallback, extended=extended) for seat in seats
        ]
    if kind == "continents":
        table.only("kind", "extended", "continents", "any_third")
        return [
            Mission(kind, _mission_continents(table, continents), table.flag("any_third"), extended=extended)
        ]
    table.only("kind", "extended", "territories", "min_troops")
    count, troops = table.whole("territories", 1, territories), table.whole("min_troops", 1, 1000, 1)
    return [Mission(kind, territories=count, min_troops=troops, extended=extended)]


def _mission_continents(table: TomlTable, continents: tuple[str, ...]) -> tuple[int, ...]:
    names = table.texts("continents")
    numbers = tuple(
        table.number_of("continent", n, continents, f"continents {i}") for i, n in enumerate(names, 1)
    )
    if not numbers or len(set(numbers)) < len(numbers):
        raise table.error(
            f"{shortened(list(names))}: must name at least one continent, and no continent twice",
            "continents",
        )
    if table.flag("any_third") and len(numbers) == len(continents):
        raise table.error("the map has no continents besides those that the mission names", "any_third")
    return numbers


# ------------------------------------------------------------------------------------ objectives


def _objectives(file: TomlTable, continents: tuple[str, ...], territories: int) -> tuple[Objective, ...]:
    tables = file.tables("objective", types.NUM_OBJECTIVES)
    objectives = tuple(_objective(table, continents, territories) for table in tables)
    seen: dict[str, str] = {}
    for i, table in enumerate(tables):
        table.check_new("name", objectives[i].name, seen)
        if i and objectives[i - 1].major and not objectives[i].major:
            raise table.error("minor Objective after a major one: minor Objectives must come first", "major")
    return objectives


def _objective(table: TomlTable, continents: tuple[str, ...], territories: int) -> Objective:
    kind = table.text("kind", OBJECTIVE_KINDS)
    number, count = -1, 1
    keys = ["name", "kind", "major", "basic_training"]
    if kind == "continent":
        keys.append("continent")
        number = table.number_of("continent", table.text("continent"), continents, "continent")
    if kind not in UNCOUNTED_OBJECTIVES:
        keys.append("count")
        most = {"continents": len(continents), "enemy_capitals": MAX_COLOURS - 1}.get(kind, territories)
        count = table.whole("count", 1, most)
    table.only(*keys)
    name, flags = table.name(), map(table.flag, ("major", "basic_training"))
    return Objective(name, kind, count, number, *flags)
