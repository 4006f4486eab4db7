"""Land borders, coasts, sea lines and arrows of a map, in the coordinates (pixels) of the map's drawing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from math import ceil, floor, hypot

import numpy as np

from risk_env.board.drawings import Drawing, Point, Ring
from risk_env.board.maps import Board
from risk_env.render.layout import drawing_of

Path = tuple[Point, ...]
Edge = tuple[Point, Point]

SEA = -1
DASH, GAP = 5.0, 4.0
REACH = 5.0  # length by which a sea line continues on land at each end
SHORTEST = 20.0  # minimum length of a sea line
DISC = 10.0  # radius of the disc with the troops of a territory
ARROW_LENGTH, ARROW_HALF = 13.0, 6.5  # size of the arrow of a one-way border


@dataclass(frozen=True)
class Geometry:
    """The parts of a map's drawing that are the same in every position."""

    inner: tuple[Path, ...]  # borders within a continent
    outer: tuple[tuple[Path, ...], ...]  # per continent, coasts and borders with other continents
    sea: tuple[Path, ...]  # lines of borders between territories that do not touch
    touching: frozenset[tuple[int, int]]  # pairs of territories whose areas touch
    arrows: tuple[Ring, ...]  # one for each one-way border; an arrow points to the target


def geometry_of(board: Board) -> Geometry:
    """Return the geometry of a board (cached)."""
    return _geometry(drawing_of(board), board.borders, board.one_way_borders, board.continent_of)


@lru_cache(maxsize=16)
def _geometry(
    drawing: Drawing,
    borders: tuple[tuple[int, int], ...],
    one_way: tuple[tuple[int, int], ...],
    continent_of: tuple[int, ...],
) -> Geometry:
    beyond = _beyond(drawing)
    touching = frozenset((t, u) for (t, _), u in beyond.items() if u != SEA)
    inner: list[Path] = []
    outer: list[list[Path]] = [[] for _ in range(max(continent_of) + 1)]
    for t, rings in enumerate(drawing.outlines):
        home = continent_of[t]
        for ring in rings:
            sides = [beyond[t, edge] for edge in _edges(ring)]
            outer[home] += _runs(ring, [u == SEA or continent_of[u] != home for u in sides])
            inner += _runs(ring, [u > t and continent_of[u] == home for u in sides])
    common: dict[tuple[int, int], list[Edge]] = {way: [] for way in one_way}
    for (t, edge), u in beyond.items():
        if (t, u) in common:
            common[t, u].append(edge)
    apart = [(s, t) for s, t in borders if (s < t or (s, t) in common) and (s, t) not in touching]
    sea = [path for s, t in apart for path in _crossing(drawing, s, t)]
    arrows = [_arrow(drawing, s, t, edges) for (s, t), edges in common.items()]
    return Geometry(tuple(inner), tuple(map(tuple, outer)), tuple(sea), touching, tuple(arrows))


def _edges(ring: Ring) -> Iterator[Edge]:
    return zip(ring, (*ring[1:], ring[0]), strict=True)


def _beyond(drawing: Drawing) -> dict[tuple[int, Edge], int]:
    """Return the territory on the other side of each edge of each territory, or `SEA`."""
    edges = [(t, edge) for t, rings in enumerate(drawing.outlines) for ring in rings for edge in _edges(ring)]
    sides: dict[Edge, list[int]] = defaultdict(list)
    for t, (a, b) in edges:
        sides[min(a, b), max(a, b)].append(t)
    return {(t, (a, b)): next((u for u in sides[min(a, b), max(a, b)] if u != t), SEA) for t, (a, b) in edges}


def _runs(ring: Ring, wanted: list[bool]) -> list[Path]:
    """Return the longest paths of consecutive wanted edges around a ring."""
    if all(wanted):
        return [(*ring, ring[0])]
    start, size = wanted.index(False), len(ring)
    edges = ((start + i) % size for i in range(size))  # indices of the points where the edges begin
    runs = [list(run) for is_wanted, run in groupby(edges, wanted.__getitem__) if is_wanted]
    return [tuple(ring[i] for i in (*run, (run[-1] + 1) % size)) for run in runs]


def _crossing(drawing: Drawing, source: int, target: int) -> list[Path]:
    """Return the sea line of a border, from the source to the target.

    The result has one path, or two paths if the line crosses the left and right edges of the map.
    """
    if (source, target) in drawing.wrapped or (target, source) in drawing.wrapped:
        return around(drawing, source, target)
    for one, other, points in drawing.routes:
        if {one, other} == {source, target}:
            return [points if one == source else points[::-1]]
    a, b = _nearest(drawing, source, target)
    length = hypot(b[0] - a[0], b[1] - a[1])
    if length < 1e-9:
        a, b, length = drawing.centres[source], drawing.centres[target], 1.0
    reach = max(REACH, (SHORTEST - length) / 2) / length
    step = ((b[0] - a[0]) * reach, (b[1] - a[1]) * reach)
    return [((a[0] - step[0], a[1] - step[1]), (b[0] + step[0], b[1] + step[1]))]


def _nearest(drawing: Drawing, source: int, target: int) -> tuple[Point, Point]:
    """Return the nearest pair of outline points: one of the source and one of the target.

    If several pairs have the same distance, return the first pair.
    """
    one, other = (np.array([p for ring in drawing.outlines[t] for p in ring]) for t in (source, target))
    distance = np.hypot(*(one[:, None] - other[None]).transpose(2, 0, 1))
    i, j = np.unravel_index(int(distance.argmin()), distance.shape)
    return (float(one[i][0]), float(one[i][1])), (float(other[j][0]), float(other[j][1]))


def _arrow(drawing: Drawing, source: int, target: int, edges: list[Edge]) -> Ring:
    """Return the arrow of a one-way border.

    The arrow lies across a common edge of the two areas. If the areas have no common edge, the arrow lies at
    the end of the sea line.
    """
    start, end = drawing.centres[source], drawing.centres[target]
    if edges:
        middle = between(start, end, 0.5)
        places = (between(a, b, 0.5) for a, b in edges)
        place = min(places, key=lambda point: hypot(point[0] - middle[0], point[1] - middle[1]))
        return arrow_head(place, (end[0] - start[0], end[1] - start[1]), ARROW_LENGTH / 2)
    a, b = _crossing(drawing, source, target)[-1][-2:]
    is_wrapped = b == end  # the line ends in the middle of the disc
    return arrow_head(b, (b[0] - a[0], b[1] - a[1]), -DISC - 3 if is_wrapped else -REACH)


def arrow_head(place: Point, direction: Point, ahead: float) -> Ring:
    """Return a triangle that points in `direction`. The tip is `ahead` pixels from `place`."""
    length = max(hypot(*direction), 1e-9)
    x, y = direction[0] / length, direction[1] / length
    tip = place[0] + ahead * x, place[1] + ahead * y
    neck = tip[0] - ARROW_LENGTH * x, tip[1] - ARROW_LENGTH * y
    sides = ((neck[0] - turn * y, neck[1] + turn * x) for turn in (ARROW_HALF, -ARROW_HALF))
    return (tip, *sides)


def around(drawing: Drawing, source: int, target: int) -> list[Path]:
    """Return a line between two territories across the left and right edges of the map, in two parts."""
    a, b = drawing.centres[source], drawing.centres[target]
    height = (a[1] + b[1]) / 2
    edges = (0.0, float(drawing.width)) if a[0] <= b[0] else (float(drawing.width), 0.0)
    return [(a, (edges[0], height)), ((edges[1], height), b)]


def way(drawing: Drawing, source: int, target: int) -> list[Path]:
    """Return the line of an attack, from centre to centre."""
    if (source, target) in drawing.wrapped or (target, source) in drawing.wrapped:
        return around(drawing, source, target)
    return [(drawing.centres[source], drawing.centres[target])]


def dashes(path: Path) -> list[Path]:
    """Return a path as dashes. Every straight part of the path begins and ends with a whole dash."""
    parts: list[Path] = []
    for a, b in pairwise(path):
        count = max(1, round((hypot(b[0] - a[0], b[1] - a[1]) + GAP) / (DASH + GAP)))
        dash = DASH / (count * DASH + (count - 1) * GAP)
        step = dash * (DASH + GAP) / DASH
        parts += [(between(a, b, i * step), between(a, b, i * step + dash)) for i in range(count)]
    return parts


def between(a: Point, b: Point, part: float) -> Point:
    """Return the point at `part` (0 ... 1) of the line from `a` to `b`."""
    return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part


@lru_cache(maxsize=4096)
def hatching(rings: tuple[Ring, ...], slope: tuple[int, int], gap: float) -> tuple[Path, ...]:
    """Return parallel lines inside rings, in the direction (x, y) of `slope`, `gap` apart."""
    length = hypot(*slope)
    along, across = (slope[0] / length, slope[1] / length), (-slope[1] / length, slope[0] / length)
    turned = [[(_dot(point, along), _dot(point, across)) for point in ring] for ring in rings]
    heights = [v for ring in turned for _, v in ring]
    paths = []
    for number in range(ceil(min(heights) / gap), floor(max(heights) / gap) + 1):
        ends = iter(_intersections(turned, number * gap + 1e-6))  # the shift avoids lines through corners
        for start, end in zip(ends, ends, strict=False):
            paths.append(tuple(_turned_back(u, number * gap, along, across) for u in (start, end)))
    return tuple(paths)


def _intersections(rings: Iterable[Sequence[Point]], height: float) -> list[float]:
    """Return the x coordinates, ascending, at which rings cross a horizontal line: an even number."""
    return sorted(
        a[0] + (height - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
        for ring in rings
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)
        if (a[1] > height) != (b[1] > height)
    )


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1]


def _turned_back(u: float, v: float, along: Point, across: Point) -> Point:
    return u * along[0] + v * across[0], u * along[1] + v * across[1]
