"""A position as a list of simple shapes, which `svg` and `rgb` draw.

All lengths are in the units of the map's drawing. The panels above and below the map grow with the width of
the drawing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import atan2, cos, hypot, pi, sin
from textwrap import wrap

import numpy as np

from risk_env.board.drawings import Drawing, Point, Ring
from risk_env.board.map_pictures import MapPicture
from risk_env.board.maps import Board
from risk_env.core.types import NOBODY, Held
from risk_env.render.geometry import DISC, Path, dashes, geometry_of, hatching, way
from risk_env.render.layout import drawing_of
from risk_env.render.scene import Scene, check_scene

# colours that colour-blind people can distinguish
SEATS = ("#2f7fc1", "#e0662f", "#1fa37c", "#f2d33c", "#c97bb0", "#7cc8ee")
# direction and distance of the lines on the territories of each seat, so that seats differ without colours
HATCHES = ((0, 0, 0), (1, -1, 7), (1, 0, 7), (1, 1, 7), (0, 1, 7), (1, -1, 13))
NEUTRAL, FREE = "#9aa0a6", "#f4f0e6"
WATER, PANEL, INK, PAPER, GOLD, LINE = "#cfe0ea", "#22303c", "#1d2329", "#ffffff", "#ffc928", "#54718a"
CONTINENTS = (
    "#c9a227",
    "#b5533c",
    "#3f6fa3",
    "#8a6d3b",
    "#4f8a5b",
    "#7d5ba6",
    "#3aa0a0",
    "#7a9a3a",
    "#a34f74",
)

UNIT = 1200  # width of a map for which the panels have the sizes below
HEADER, ROW, LEGEND, GOAL = 44, 48, 26, 18
LETTERS, FACE_UP_ROWS = 165, 2  # characters per line below the map; number of lines for face-up Objectives
LABEL = 12.0


@dataclass(frozen=True)
class Area:
    """Filled rings. An SVG viewer shows `title` as a tooltip."""

    rings: tuple[Ring, ...]
    fill: str
    title: str = ""


@dataclass(frozen=True)
class Lines:
    """Paths drawn with a round pen."""

    paths: tuple[Path, ...]
    colour: str
    width: float


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners and the centre `x`, `y`.

    The rectangle is a disc if `radius` is half of `width` and of `height`.
    """

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    stroke: str = ""
    pen: float = 0.0


@dataclass(frozen=True)
class Text:
    """One line of text.

    `x` is the start, middle or end of the line, depending on `anchor`. `y` is the middle of the line's
    height.
    """

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: str = "middle"  # "start" | "middle" | "end"
    halo: str = ""


@dataclass(frozen=True)
class Image:
    """An image that fills a rectangle with the upper left corner `x`, `y`."""

    x: float
    y: float
    width: float
    height: float
    picture: MapPicture


Shape = Area | Lines | Box | Text | Image


@dataclass(frozen=True)
class Picture:
    """Shapes in the order of drawing, except that all texts are drawn last."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def seat_colour(scene: Scene, seat: int) -> str:
    """Return the colour of a seat, of the neutral army or of nobody."""
    if seat == scene.num_players:
        return NEUTRAL
    return SEATS[seat % len(SEATS)] if seat >= 0 else FREE


def continent_colour(board: Board, continent: int) -> str:
    """Return the colour that the map gives a continent, or one of CONTINENTS."""
    return board.colours[continent] or CONTINENTS[continent % len(CONTINENTS)]


def compose(board: Board, scene: Scene) -> Picture:
    """Return the picture of a position. Raises ValueError if the scene does not fit the map."""
    check_scene(board, scene)
    drawing = drawing_of(board)
    unit = drawing.width / UNIT
    top = HEADER * unit
    below = [
        *_players(scene, unit, drawing.width),
        *_legend(board, scene, unit, drawing.width),
        *_signs(scene, unit),
        *_goals(board, scene, unit),
    ]
    height = (
        top + drawing.height + (ROW + LEGEND + LEGEND * bool(scene.signs) + GOAL * goal_rows(scene)) * unit
    )
    shapes = [
        Box(drawing.width / 2, height / 2, drawing.width, height, 0, PANEL),
        Box(drawing.width / 2, top + drawing.height / 2, drawing.width, drawing.height, 0, WATER),
        *(placed(shape, 0, top) for shape in _map(board, scene, drawing)),
        *_header(board, scene, unit, drawing.width),
        *(placed(shape, 0, top + drawing.height) for shape in below),
    ]
    return Picture(drawing.width, height, tuple(shapes))


def compose_map(board: Board) -> Picture:
    """Return the picture of a map without a position: free territories, and a legend of the continents."""
    free = np.full(board.num_territories, NOBODY)
    scene, drawing = Scene(free, np.zeros_like(free), 0), drawing_of(board)
    unit = drawing.width / UNIT
    height = drawing.height + LEGEND * unit
    shapes = [
        Box(drawing.width / 2, height / 2, drawing.width, height, 0, PANEL),
        Box(drawing.width / 2, drawing.height / 2, drawing.width, drawing.height, 0, WATER),
        *_map(board, scene, drawing),
        *(
            placed(shape, 0, drawing.height - ROW * unit)
            for shape in _legend(board, scene, unit, drawing.width)
        ),
    ]
    return Picture(drawing.width, height, tuple(shapes))


def in_order(shapes: Iterable[Shape]) -> list[Shape]:
    """Return the shapes in the order of drawing: texts last."""
    return sorted(shapes, key=lambda shape: isinstance(shape, Text))


def placed(shape: Shape, dx: float, dy: float, factor: float = 1.0) -> Shape:
    """Return the shape scaled from the origin by `factor`, then moved by `dx`, `dy`.

    The size of a Box, Text or Image does not change: only its place is scaled.
    """

    def put(points: Iterable[Point]) -> tuple[Point, ...]:
        return tuple((x * factor + dx, y * factor + dy) for x, y in points)

    match shape:
        case Area():
            return replace(shape, rings=tuple(map(put, shape.rings)))
        case Lines():
            return replace(shape, paths=tuple(map(put, shape.paths)), width=shape.width * factor)
    return replace(shape, x=shape.x * factor + dx, y=shape.y * factor + dy)


# ------------------------------------------------------------------------------------ the map


def _map(board: Board, scene: Scene, drawing: Drawing) -> Iterator[Shape]:
    geometry = geometry_of(board)
    if drawing.picture:
        yield Image(0, 0, drawing.width, drawing.height, drawing.picture)
    for c, paths in enumerate(geometry.outer):
        yield Lines(paths, continent_colour(board, c), 6.0)
    for t in range(board.num_territories):
        colour = seat_colour(scene, scene.owner[t])
        yield Area(drawing.outlines[t], colour, _title(board, scene, t))
        yield from _hatched(drawing.outlines[t], scene, scene.owner[t], colour)
    yield Lines(geometry.inner, INK, 1.1)
    for c, paths in enumerate(geometry.outer):
        yield Lines(paths, darker(continent_colour(board, c)), 2.2)
    yield Lines(tuple(dash for path in geometry.sea for dash in dashes(path)), LINE, 1.8)
    if geometry.arrows:
        yield Lines(tuple((*ring, ring[0]) for ring in geometry.arrows), PAPER, 3.0)
        yield Area(geometry.arrows, INK)
    if scene.attack:
        yield from _arrow(way(drawing, *scene.attack))
    for t, (x, y) in enumerate(drawing.centres):
        yield from _troops(scene, t, x, y)
    for t in range(board.num_territories):
        yield from _territory(board, scene, drawing, t)


def _hatched(rings: tuple[Ring, ...], scene: Scene, owner: int, colour: str) -> Iterator[Shape]:
    """Yield the hatching of a territory. Seat 0, the neutral army and nobody have no hatching."""
    x, y, gap = HATCHES[owner % len(HATCHES)] if 0 <= owner < scene.num_players else HATCHES[0]
    if gap:
        yield Lines(hatching(rings, (x, y), gap), darker(colour, 8), 1.2)


def _title(board: Board, scene: Scene, t: int) -> str:
    owner = scene.owner[t]
    holder = f"{scene.name(owner)}, {scene.troops[t]}" if owner >= 0 else "free"
    return f"{board.territories[t]} ({board.continents[board.continent_of[t]]}): {holder}"


def _territory(board: Board, scene: Scene, drawing: Drawing, t: int) -> Iterator[Shape]:
    """Yield the shapes of the name and the marks of one territory."""
    x, y = drawing.labels[t]
    lines = name_lines(board.territories[t])
    for i, line in enumerate(lines):
        yield Text(x, y + LABEL * (i - (len(lines) - 1) / 2), line, LABEL, INK, halo=PAPER)
    x, y = drawing.centres[t]
    label = drawing.labels[t]
    # left of the disc if the name is on the right
    across = -1 if label[0] > x + DISC and abs(label[1] - y) < DISC else 1
    free = 1 if label[1] < y - DISC else -1  # below the disc if the name is above
    yield from _marks(scene, t, (x, y), disc_width(scene.troops[t]) / 2, across, free * (DISC - 1))


def _marks(scene: Scene, t: int, centre: Point, half: float, across: int, side: float) -> Iterator[Shape]:
    """Yield the shapes of a territory's signs, such as its city, around a disc of width `2 * half`."""
    left, right, y = centre[0] - half, centre[0] + half, centre[1]
    if t in scene.cities:
        yield from _city(right + 2, y + side)
    if t in scene.airfields:
        yield from _airfield(centre[0] + across * (half + 9), y - 0.3 * side)
    for seat in (s for s, place in enumerate(scene.capitals) if place == t):
        yield from _crown(left - 4, y + side, seat_colour(scene, seat))
    for seat in (s for s, place in enumerate(scene.headquarters) if place == t):
        yield from _flag(left - 2, y + side, seat_colour(scene, seat))


def _troops(scene: Scene, t: int, x: float, y: float) -> Iterator[Shape]:
    """Yield the shapes of a disc with the number of troops. A free territory has no disc."""
    if scene.owner[t] < 0:
        return
    yield Box(x, y, disc_width(scene.troops[t]), 2 * DISC, DISC, INK, PAPER, 1.5)
    yield Text(x, y, short_number(scene.troops[t]), 13.0, PAPER)


def disc_width(troops: int) -> float:
    """Return the width of a disc that shows the number `troops`."""
    return 2 * DISC + 6.0 * max(0, len(short_number(troops)) - 2)


def short_number(troops: int) -> str:
    """Return a number in at most five characters: 9999, 12k, 999k, 1M, 2147M."""
    if troops < 10_000:
        return str(troops)
    return f"{troops // 1000}k" if troops < 1_000_000 else f"{troops // 1_000_000}M"


def name_lines(name: str) -> list[str]:
    """Return a name in one line, or a long name of several words in two lines of similar length."""
    words = name.split(" ")
    if len(name) <= 9 or len(words) == 1:
        return [name]
    halves = [[" ".join(words[:k]), " ".join(words[k:])] for k in range(1, len(words))]
    return min(halves, key=lambda lines: max(map(len, lines)))


def _city(x: float, y: float) -> Iterator[Shape]:
    """Yield the shapes of a city: a star with a rim."""
    yield Area((star(x, y, 7.5),), INK)
    yield Area((star(x, y, 5.5),), GOLD)


def star(x: float, y: float, radius: float) -> Ring:
    """Return a five-pointed star, the sign of a city."""
    turns = [(pi * i / 5 - pi / 2, radius if i % 2 == 0 else radius * 0.45) for i in range(10)]
    return tuple((x + r * cos(a), y + r * sin(a)) for a, r in turns)


def _crown(x: float, y: float, colour: str) -> Iterator[Shape]:
    """Yield the shapes of a capital, in the colour of the seat that placed the capital."""
    ring = ((-7, 5), (-7, -5), (-3.5, 0), (0, -6), (3.5, 0), (7, -5), (7, 5))
    points = tuple((x + dx, y + dy) for dx, dy in ring)
    yield Lines(((*points, points[0]),), PAPER, 4.0)
    yield Area((points,), colour)
    yield Lines(((*points, points[0]),), INK, 1.5)


def _flag(x: float, y: float, colour: str) -> Iterator[Shape]:
    """Yield the shapes of a headquarters, in the colour of the seat that placed the headquarters."""
    cloth = ((x, y - 10), (x - 12, y - 6), (x, y - 2))
    paths = ((*cloth, cloth[0]), ((x, y - 11), (x, y + 5)))
    yield Lines(paths, PAPER, 4.0)
    yield Area((cloth,), colour)
    yield Lines(paths, INK, 1.5)


def _airfield(x: float, y: float) -> Iterator[Shape]:
    """Yield the shapes of an airfield: an airplane seen from above."""
    half = ((0, -7), (1.4, -2), (7, 1.5), (7, 3), (1.4, 1.8), (1, 5), (3, 7))
    ring = (*half, *((-dx, dy) for dx, dy in reversed(half[1:])))
    points = tuple((x + dx, y + dy) for dx, dy in ring)
    yield Lines(((*points, points[0]),), INK, 3.0)
    yield Area((points,), PAPER)


SIGNS: dict[str, tuple[Shape, ...]] = {  # around the origin; a seat's colour is "currentColor"
    "city": tuple(_city(0, 0)),
    "capital": tuple(_crown(0, 0, "currentColor")),
    "headquarters": tuple(_flag(4, 3, "currentColor")),
    "airfield": tuple(_airfield(0, 0)),
}


def _arrow(paths: list[Path]) -> Iterator[Shape]:
    """Yield the shapes of an attack: a red arrow that ends before the defender's disc."""
    (a, b), first = paths[-1], paths[:-1]
    length = max(hypot(b[0] - a[0], b[1] - a[1]), 1.0)
    angle = atan2(b[1] - a[1], b[0] - a[0])
    end = max(0.0, length - DISC - 3)
    tip, neck = _along(a, angle, end), _along(a, angle, max(0.0, end - 13))
    head = (tip, *(_along(neck, angle + turn, 9) for turn in (pi / 2, -pi / 2)))
    for colour, pen in ((PAPER, 8.0), ("#c3202f", 5.0)):
        yield Lines((*first, (a, neck)), colour, pen)
        yield Lines(((*head, head[0]),), colour, pen / 2)
        yield Area((head,), colour)


def _along(start: Point, angle: float, length: float) -> Point:
    return start[0] + length * cos(angle), start[1] + length * sin(angle)


def darker(colour: str, tenths: int = 6) -> str:
    """Return a colour with `tenths` tenths of the brightness of `colour`."""
    return "#" + "".join(f"{int(colour[i : i + 2], 16) * tenths // 10:02x}" for i in (1, 3, 5))


# ------------------------------------------------------------------------------------ the panels


def _header(board: Board, scene: Scene, unit: float, width: float) -> Iterator[Shape]:
    """Yield the shapes of the panel above the map: the status of the game, and the dice."""
    y = HEADER / 2 * unit
    shown = scene.winner if scene.winner >= 0 else scene.turn
    if shown >= 0:
        yield Box(26 * unit, y, 24 * unit, 24 * unit, 12 * unit, seat_colour(scene, shown), PAPER, 2 * unit)
    yield Text(48 * unit, y, scene.status(board), 18 * unit, PAPER, "start")
    if any(scene.dice):
        yield from _dice(scene, unit, width)


def _dice(scene: Scene, unit: float, width: float) -> Iterator[Shape]:
    """Yield the shapes of the last roll, on the right: the attacker's dice red, the defender's dice white."""
    attacker, defender = scene.dice
    x = width
    for dice, gap, fill, ink in ((defender, 22, PAPER, INK), (attacker, 46, "#c3202f", PAPER)):
        x -= (gap + 34 * (len(dice) - 1)) * unit
        for i, face in enumerate(dice):
            yield from _die(x + 34 * i * unit, HEADER / 2 * unit, face, unit, fill, ink)


def _die(x: float, y: float, face: int, unit: float, fill: str, ink: str) -> Iterator[Shape]:
    """Yield the shapes of a die. A 7 (RULES 9.9) is shown as a number."""
    yield Box(x, y, 28 * unit, 28 * unit, 6 * unit, fill)
    if face > 6:
        yield Text(x, y, str(face), 20 * unit, ink)
        return
    for column, row in pips(face):
        yield Box(x + 8 * column * unit, y + 8 * row * unit, 5.6 * unit, 5.6 * unit, 2.8 * unit, ink)


def pips(face: int) -> list[tuple[int, int]]:
    """Return the pips of a face. Each pip is a pair (column, row) of the numbers -1, 0 and 1."""
    corners = [(-1, -1), (1, 1), (1, -1), (-1, 1)]
    middle = [(0, 0)] if face % 2 else []
    sides = [(-1, 0), (1, 0)] if face == 6 else []
    return middle + corners[: face // 2 * 2 if face < 6 else 4] + sides


def _players(scene: Scene, unit: float, width: float) -> Iterator[Shape]:
    """Yield the shapes of the panel below the map: a cell for each army."""
    armies = scene.armies()
    cell = width / max(len(armies), 3)
    for i, seat in enumerate(armies):
        yield from _player(scene, seat, cell * i, cell, unit)


def _player(scene: Scene, seat: int, x: float, cell: float, unit: float) -> Iterator[Shape]:
    y = ROW / 2 * unit
    if seat == (scene.turn if scene.winner < 0 else scene.winner):
        yield Box(x + cell / 2, y, cell - 6 * unit, (ROW - 6) * unit, 8 * unit, "#3d5163", GOLD, 2 * unit)
    lives = seat == scene.num_players or scene.lives(seat)
    colour = seat_colour(scene, seat) if lives else "#5a636b"
    yield Box(x + 28 * unit, y, 28 * unit, 28 * unit, 6 * unit, colour)
    yield Text(x + 28 * unit, y, "N" if seat == scene.num_players else str(seat), 17 * unit, INK)
    ink = PAPER if lives else "#97a3ad"
    yield Text(
        x + 50 * unit,
        y - 9 * unit,
        shortened(scene.name(seat), cell / unit - 60, 8.5),
        15 * unit,
        ink,
        "start",
    )
    words = _holdings(scene, seat, lives)
    size = min(11.0, (cell / unit - 58) / (0.53 * len(words)))
    yield Text(x + 50 * unit, y + 10 * unit, words, size * unit, ink, "start")


def shortened(name: str, room: float, letter: float) -> str:
    """Return a name shortened to the width `room`, for characters of the width `letter`."""
    most = max(3, int(room / letter))
    return name if len(name) <= most else name[: most - 1] + "…"


def _holdings(scene: Scene, seat: int, lives: bool) -> str:
    """Return public facts of a seat in words: numbers of territories, troops and cards."""
    if not lives:
        return "out"
    held = scene.held_by(seat)
    troops = sum(scene.troops[t] for t in held)
    words = [f"{len(held)} terr.", f"{short_number(troops)} troop{'s' if troops != 1 else ''}"]
    if seat < len(scene.hand_sizes):
        words.append(f"{scene.hand_sizes[seat]} card{'s' if scene.hand_sizes[seat] != 1 else ''}")
    return "  ".join(words)


def _legend(board: Board, scene: Scene, unit: float, width: float) -> Iterator[Shape]:
    """Yield the shapes of the legend of the continents, with their bonuses.

    A continent that one seat holds entirely is marked with the colour of this seat.
    """
    cell = width / max(len(board.continents), 6)
    y = (ROW + LEGEND / 2 - 2) * unit
    for c, name in enumerate(board.continents):
        x, holder = cell * c + 20 * unit, scene.holder(board, c)
        yield Box(x, y, 14 * unit, 14 * unit, 3 * unit, continent_colour(board, c), PAPER, unit)
        text = f"{shortened(name, cell / unit - 56, 6.6)} +{board.bonuses[c]}"
        yield Text(x + 12 * unit, y, text, 12 * unit, PAPER, "start")
        if holder >= 0:
            yield Box(x, y, 9 * unit, 9 * unit, 4.5 * unit, seat_colour(scene, holder), INK, unit)


def _signs(scene: Scene, unit: float) -> Iterator[Shape]:
    """Yield the shapes of the legend of the signs that the map can show in this game."""
    x, y, grey = 20.0, ROW + 1.5 * LEGEND - 2, seat_colour(scene, scene.num_players)
    drawn = {
        "city": (Area((star(0, 0, 7.5),), GOLD),),
        "capital": tuple(_crown(0, 0, grey)),
        "headquarters": tuple(_flag(4, 3, grey)),
        "airfield": tuple(_airfield(0, 0)),
    }
    for sign in scene.signs:
        yield from (placed(shape, x * unit, y * unit, unit) for shape in drawn[sign])
        yield Text((x + 14) * unit, y * unit, sign, 12 * unit, PAPER, "start")
        x += 44 + 7.0 * len(sign)


def goal_rows(scene: Scene) -> int:
    """Return the number of lines for Objectives and Rewards.

    The number is constant during a game, so all pictures of the game have the same size.
    """
    are_in_play = (scene.objectives != Held.NOT_IN_PLAY).any()  # RULES 9.3
    return FACE_UP_ROWS + scene.num_players if are_in_play else 0


def _goals(board: Board, scene: Scene, unit: float) -> Iterator[Shape]:
    """Yield the lines of text with the Objectives and Rewards, below everything else."""
    lines = [line for whose, names in scene.goals(board) for line in wrap(f"{whose}: {names}", LETTERS)]
    first = ROW + LEGEND + LEGEND * bool(scene.signs)
    for i, line in enumerate(lines[: goal_rows(scene)]):
        yield Text(10 * unit, (first + GOAL * (i + 0.4)) * unit, line, 12 * unit, PAPER, "start")
