"""Pictures of presets for the lobby: a typical position of a preset on a map, as a small SVG document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import atan2, degrees
from typing import NamedTuple

import numpy as np

from risk_env.arrays import Array
from risk_env.board.drawings import Drawing, Point
from risk_env.board.maps import Board
from risk_env.core.types import NOBODY
from risk_env.render.geometry import dashes, geometry_of
from risk_env.render.layout import drawing_of, steps_between
from risk_env.render.picture import GOLD, INK, LINE, NEUTRAL, PAPER, SEATS, SIGNS, WATER
from risk_env.render.svg import draw_shape, path_data

SIGN = 3.4  # size of a sign, relative to its size on a board
UNIT = 1200  # width of a drawing on which signs have the size SIGN
MOST_CITIES = 5
DARK_WATER, DARK_LINE = "#1d3443", "#86a5bb"  # water and sea lines for pages with a dark theme
STYLE = (
    f"<style>.water{{fill:{WATER}}}.sea{{stroke:{LINE}}}@media(prefers-color-scheme:dark)"
    f"{{.water{{fill:{DARK_WATER}}}.sea{{stroke:{DARK_LINE}}}}}</style>"
)


class Look(NamedTuple):
    """A typical position of a preset."""

    seats: int  # number of players
    sign: str = ""  # sign of each player at the place where the player began: `headquarters` or `capital`
    cities: bool = False
    airfield: bool = False
    neutral: bool = False  # True if a neutral army also holds territories
    move: int = 0  # number of borders that the fortifying move of the first player crosses
    targets: int = 0  # number of marked continents


LOOKS = {
    "world_domination": Look(3, move=1),
    "classic": Look(4, move=4),
    "two_player": Look(2, neutral=True),
    "capital": Look(4, sign="headquarters"),
    "secret_mission": Look(3, targets=2),
    "basic_training": Look(3, cities=True, targets=1),
    "command_room": Look(4, sign="capital", cities=True, airfield=True),
    "world_conquest": Look(5, sign="capital", cities=True),
}


@lru_cache(maxsize=64)
def mode_picture(preset: str, board: Board) -> str:
    """Return the picture of a preset on a map, as an SVG document."""
    look, drawing = LOOKS[preset], drawing_of(board)
    steps = steps_between(board.num_territories, board.borders)
    starts = _starts(steps, look.seats + look.neutral)
    owner = _owners(steps[starts])
    size = f"viewBox='0 0 {drawing.width} {drawing.height}'"
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' {size}>", STYLE]
    parts += [f"<rect class='water' width='{drawing.width}' height='{drawing.height}'/>"]
    colours = [_colour(look, seat) for seat in owner]
    parts += _land(board, drawing, colours, look.targets)
    scale = SIGN * drawing.width / UNIT
    signs = _signs(look, board, starts)
    parts += [_sign(name, drawing.centres[t], colour, scale) for name, t, colour in signs]
    if look.move:
        way = _longest_way(board, [t for t, seat in enumerate(owner) if seat == 0], look.move)
        parts.append(_arrow([drawing.centres[t] for t in way], scale))
    return "".join([*parts, "</svg>"])


def _starts(steps: Array, count: int) -> list[int]:
    """Return up to `count` territories that are far from each other.

    `steps`, (T, T), contains the distances between territories, in borders.
    """
    starts = [int(steps.max(axis=0).argmax())]
    while len(starts) < min(count, len(steps)):
        starts.append(int(steps[starts].min(axis=0).argmax()))
    return starts


def _owners(steps: Array) -> list[int]:
    """Return the owner of each territory.

    The territories of an owner are near the owner's start. All owners have equally many territories, up to a
    difference of one. `steps`, (starts, T), contains the distances from the starts, in borders.
    """
    owner = np.full(steps.shape[1], NOBODY)
    for turn in range(len(owner)):
        seat = turn % len(steps)
        owner[np.where(owner == NOBODY, np.minimum(steps[seat], len(owner)), np.inf).argmin()] = seat
    return list(map(int, owner))


def _colour(look: Look, seat: int) -> str:
    """Return the colour of a player, or of the neutral army, which comes after the players."""
    return NEUTRAL if seat == look.seats else SEATS[seat]


def _land(board: Board, drawing: Drawing, colours: Sequence[str], targets: int) -> Iterator[str]:
    """Yield SVG elements for the sea lines, the territories, the borders and the continents.

    The outlines of the `targets` largest continents are gold.
    """
    geometry = geometry_of(board)
    sea = "".join(path_data(dash) for path in geometry.sea for dash in dashes(path))
    yield f"<path class='sea' d='{sea}' fill='none' stroke-width='3'/>"
    for colour in dict.fromkeys(colours):
        rings = [r for t, of_t in enumerate(colours) if of_t == colour for r in drawing.outlines[t]]
        yield f"<path d='{''.join(path_data(ring) + 'Z' for ring in rings)}' fill='{colour}'/>"
    inner = "".join(map(path_data, geometry.inner))
    yield f"<path d='{inner}' fill='none' stroke='{INK}' stroke-width='1.5'/>"
    sizes = [len(members) for members in board.members_of]
    largest = sorted(range(len(sizes)), key=lambda c: -sizes[c])[:targets]
    for c in sorted(range(len(geometry.outer)), key=lambda c: c in largest):
        pen = f"stroke='{GOLD}' stroke-width='16'" if c in largest else f"stroke='{INK}' stroke-width='3'"
        yield f"<path d='{''.join(map(path_data, geometry.outer[c]))}' fill='none' {pen}/>"


def _signs(look: Look, board: Board, starts: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """Yield the signs of a position: name, territory, colour."""
    free = [t for t in range(board.num_territories) if t not in starts]
    cities = board.basic_training_cities or free[1 :: max(2, len(free) // MOST_CITIES)]
    if look.cities:
        yield from (("city", t, PAPER) for t in cities)
    if look.airfield:
        yield from (("airfield", t, PAPER) for t in free[:1])
    if look.sign:
        yield from ((look.sign, t, _colour(look, seat)) for seat, t in enumerate(starts))


def _sign(name: str, place: Point, colour: str, scale: float) -> str:
    """Return a sign at a place, as an SVG element."""
    shapes = "".join(map(draw_shape, SIGNS[name]))
    x, y = place
    return f"<g transform='translate({x:.0f} {y:.0f}) scale({scale:.2f})' color='{colour}'>{shapes}</g>"


def _longest_way(board: Board, own: Sequence[int], most: int) -> list[int]:
    """Return the longest of the shortest land paths between two of the territories `own`.

    A path stays in `own`, and crosses at most `most` borders.
    """
    touching, longest = geometry_of(board).touching, list[int]()
    for start in own:
        ways = {start: [start]}
        for here in (queue := [start]):
            for t in own:
                if t not in ways and (here, t) in touching:
                    ways[t] = [*ways[here], t]
                    queue.append(t)
        longest = max(longest, *(way for way in ways.values() if len(way) <= most + 1), key=len)
    return longest


def _arrow(places: Sequence[Point], scale: float) -> str:
    """Return an arrow through places, as SVG elements, or "" for fewer than two places."""
    if len(places) < 2:
        return ""
    (x0, y0), (x, y) = places[-2:]
    head = f"<path d='M6 0L-6 -7L-6 7Z' transform='translate({x:.0f} {y:.0f}) scale({scale:.2f}) "
    head += f"rotate({degrees(atan2(y - y0, x - x0)):.0f})' fill='{INK}' stroke='{PAPER}' stroke-width='1'/>"
    pens = ((PAPER, 6 * scale), (INK, 4 * scale))
    way = f"<path d='{path_data(places)}' fill='none' stroke-linejoin='round' "
    return "".join(f"{way}stroke='{colour}' stroke-width='{pen:.0f}'/>" for colour, pen in pens) + head
