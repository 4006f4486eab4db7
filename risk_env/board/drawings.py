"""The drawing of a map: the table `[drawing]` of the map file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from pathlib import Path
from typing import Any

from risk_env.board.map_pictures import MapPicture, read_picture
from risk_env.board.toml_table import TomlTable
from risk_env.messages import shortened

MAX_PIXELS = 10_000  # maximum width and height
MAX_ROUTES = 1024
LARGEST_DISC = 34.0  # maximum radius of a disc, in pixels
# Distance in pixels. Centres that are closer than CLOSEST do not make the discs smaller.
CLOSEST = 10.0
DISC_POINTS = 24  # number of points of a disc's outline

Point = tuple[float, float]
Ring = tuple[Point, ...]


@dataclass(frozen=True)
class Drawing:
    """The drawing of a map. Games do not depend on the drawing.

    Coordinates are in pixels: x grows to the right, and y grows downwards.
    """

    width: int
    height: int
    centres: tuple[Point, ...]  # per territory, centre of the disc that shows the troops
    labels: tuple[Point, ...]  # per territory, centre of the name
    outlines: tuple[tuple[Ring, ...], ...]  # per territory, one or more closed rings
    wrapped: tuple[tuple[int, int], ...]  # borders drawn across the left and right edges of the map
    routes: tuple[tuple[int, int, Ring], ...]  # lines across the sea: the two territories, and the points
    picture: MapPicture | None = None  # image under the drawing, stretched to `width` and `height`


def read_drawing(file: TomlTable, names: list[str], folder: Path | None) -> Drawing | None:
    """Return the drawing of a map whose territories are `names`, or None if the map has no drawing.

    `folder` is the folder of the map file and of the picture. Without a folder, a drawing with a picture is
    refused. Raises MapError if the drawing contains an error.
    """
    if "drawing" not in file.values:
        return None
    table = file.table("drawing")
    table.only("width", "height", "centres", "labels", "outlines", "wrapped", "route", "picture")
    size = table.whole("width", 1, MAX_PIXELS), table.whole("height", 1, MAX_PIXELS)
    centres = _per_territory(table.table("centres"), names, lambda t, n: _point(t, n, size))
    if "outlines" in table.values:
        outlines = _per_territory(table.table("outlines"), names, lambda t, n: _rings(t, n, size))
    else:
        outlines = discs(centres)
    labels, below = table.table("labels", {}), tuple(label_below(c, size[1]) for c in centres)
    return Drawing(
        *size,
        centres=centres,
        labels=_per_territory(labels, names, lambda t, n: _point(t, n, size), below),
        outlines=outlines,
        wrapped=_wrapped(table, names),
        routes=tuple(_route(route, names, size) for route in table.tables("route", MAX_ROUTES)),
        picture=_picture(table, folder),
    )


def _picture(table: TomlTable, folder: Path | None) -> MapPicture | None:
    name = table.text("picture", default=None)
    if name is None:
        return None
    if folder is None:
        raise table.error(
            f"{shortened(name)}: the folder of the picture is unknown; load the map from a file", "picture"
        )
    try:
        return read_picture(folder, name)
    except (OSError, ValueError) as error:
        raise table.error(f"{shortened(name)} cannot be used: {error}", "picture") from None


def discs(centres: Sequence[Point]) -> tuple[tuple[Ring, ...], ...]:
    """Return a disc around each centre. Discs overlap only if centres are closer than CLOSEST."""
    radius = min(LARGEST_DISC, 0.42 * nearest_distance(centres))
    return tuple((disc(x, y, radius),) for x, y in centres)


def nearest_distance(centres: Sequence[Point]) -> float:
    """Return the smallest distance between two centres, but at least CLOSEST."""
    distances = (hypot(a[0] - b[0], a[1] - b[1]) for i, a in enumerate(centres) for b in centres[:i])
    return max(CLOSEST, min(distances, default=CLOSEST))


def disc(x: float, y: float, radius: float) -> Ring:
    """Return the outline of a disc with centre `x`, `y`."""
    turns = [2 * pi * i / DISC_POINTS for i in range(DISC_POINTS)]
    return tuple((x + radius * cos(turn), y + radius * sin(turn)) for turn in turns)


def label_below(centre: Point, height: float) -> Point:
    """Return the point for a name below the disc with centre `centre`, on a map of height `height`."""
    return centre[0], min(centre[1] + 22.0, height - 8.0)


def _per_territory(
    table: TomlTable,
    names: list[str],
    read: Callable[[TomlTable, str], Any],
    default: Sequence[Any] | None = None,
) -> tuple[Any, ...]:
    for key in table.values:
        table.number_of("territory", key, names)
    if default is None:
        return tuple(read(table, name) for name in names)
    return tuple(read(table, n) if n in table.values else default[t] for t, n in enumerate(names))


def _coordinates(table: TomlTable, at: str, values: Any, most: Sequence[int]) -> list[float]:
    """Return the coordinates in a list x, y, x, y, ... as floats.

    Raises MapError for any other value, and for a point outside the drawing.
    """
    if not isinstance(values, list) or len(values) % 2:
        raise table.error(f"{shortened(values)} is not a list of pairs x, y", at)
    for i, value in enumerate(values):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= most[i % 2]:
            raise table.error(f"{shortened(value)} is not a number between 0 and {most[i % 2]}", at)
    return [float(value) for value in values]


def _point(table: TomlTable, name: str, size: tuple[int, int]) -> Point:
    values = _coordinates(table, name, table.get(name, list, "a pair x, y"), size)
    if len(values) != 2:
        raise table.error(f"{len(values)} numbers; a point consists of two numbers, x and y", name)
    return values[0], values[1]


def _rings(table: TomlTable, name: str, size: tuple[int, int]) -> tuple[Ring, ...]:
    rings = table.get(name, list, "a list of rings, each a list x, y, x, y, ...")
    if not rings:
        raise table.error("the list of rings is empty; at least one ring is needed", name)
    return tuple(_ring(table, f"{name}, ring {i}", ring, size) for i, ring in enumerate(rings, 1))


def _ring(table: TomlTable, at: str, ring: Any, size: tuple[int, int]) -> Ring:
    values = _coordinates(table, at, ring, size)
    if len(values) < 6:
        raise table.error(f"number of points: {len(values) // 2}; a ring needs at least 3", at)
    return tuple(zip(values[::2], values[1::2], strict=True))


def _wrapped(table: TomlTable, names: list[str]) -> tuple[tuple[int, int], ...]:
    pairs = table.get("wrapped", list, "a list of pairs of territories", [])
    return tuple(_pair(table, f"wrapped {i}", pair, names) for i, pair in enumerate(pairs, 1))


def _route(table: TomlTable, names: list[str], size: tuple[int, int]) -> tuple[int, int, Ring]:
    table.only("between", "points")
    one, other = _pair(table, "between", table.get("between", list, "a pair of territories"), names)
    values = _coordinates(table, "points", table.get("points", list, "a list x, y, x, y, ..."), size)
    if len(values) < 4:
        raise table.error(f"number of points: {len(values) // 2}; a route needs at least 2", "points")
    return one, other, tuple(zip(values[::2], values[1::2], strict=True))


def _pair(table: TomlTable, at: str, pair: Any, names: list[str]) -> tuple[int, int]:
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(n, str) for n in pair):
        raise table.error(f"{shortened(pair)} is not a pair of territories", at)
    one, other = (table.number_of("territory", n, names, at) for n in pair)
    return one, other
