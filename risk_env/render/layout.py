"""Automatic drawings for maps without a drawing.

Adjacent territories lie near each other. The automatic drawing of a map is always the same.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from risk_env.board.drawings import Drawing, discs, label_below
from risk_env.board.maps import Board

# Size, in pixels, of the drawing of a map with TERRITORIES territories.
WIDTH, HEIGHT, TERRITORIES = 1200, 760, 42
SMALLEST, LARGEST = 0.45, 2.5  # limits of the scale for maps with fewer or more territories
MARGIN = 50  # minimum distance between a centre and the edge of the drawing, in pixels
STEPS = 200  # number of iterations

Places = NDArray[np.float64]  # (T, 2)
Size = NDArray[np.float64]  # (2,) width and height


def drawing_of(board: Board) -> Drawing:
    """Return the drawing of the map, or an automatic drawing if the map has no drawing."""
    return board.drawing or automatic_drawing(board.num_territories, board.borders)


@lru_cache(maxsize=16)
def automatic_drawing(num_territories: int, borders: tuple[tuple[int, int], ...]) -> Drawing:
    """Return a drawing with a disc for each territory.

    Adjacent territories are near each other, and the lines between them avoid other discs if possible.
    """
    scale = np.clip(np.sqrt(num_territories / TERRITORIES), SMALLEST, LARGEST)
    size = np.round([scale * WIDTH, scale * HEIGHT])
    room = min(160.0, 0.8 * np.sqrt((size - 2 * MARGIN).prod() / num_territories))
    lines = np.array(sorted({(min(border), max(border)) for border in borders}))
    places = spread(fit(unfolded(steps_between(num_territories, borders)), size), room, lines, size)
    centres = tuple((float(x), float(y)) for x, y in places)
    return Drawing(
        width=int(size[0]),
        height=int(size[1]),
        centres=centres,
        labels=tuple(label_below(centre, size[1]) for centre in centres),
        outlines=discs(centres),
        wrapped=(),
        routes=(),
    )


def steps_between(num_territories: int, borders: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
    """Return the number of borders on the shortest path between any two territories, float64 (T, T).

    A path may cross one-way borders in both directions.
    """
    steps = np.full((num_territories, num_territories), np.inf)
    steps[np.diag_indices(num_territories)] = 0.0
    for source, target in borders:
        steps[source, target] = steps[target, source] = 1.0
    for middle in range(num_territories):
        np.minimum(steps, steps[:, middle, None] + steps[None, middle], out=steps)
    return steps


def unfolded(steps: NDArray[np.float64]) -> Places:
    """Return places whose distances are as close as possible to `steps` (stress majorization).

    Short distances have the greatest weight.
    """
    turn = 2 * np.pi * np.arange(len(steps)) / len(steps)
    places = len(steps) ** 0.5 * np.stack([1.5 * np.cos(turn), np.sin(turn)], axis=1)
    weight = 1 / np.where(steps > 0, steps, np.inf) ** 2
    total = weight.sum(axis=1)[:, None]
    for _ in range(STEPS):
        pull = weight * steps / np.maximum(distances(places), 1e-9)
        places = (weight @ places + pull.sum(axis=1)[:, None] * places - pull @ places) / total
    return places


def fit(places: Places, size: Size) -> Places:
    """Return the places, rotated so that the longer extent is horizontal, and stretched to the drawing."""
    centred = places - places.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ (axes * np.where(axes.sum(axis=1, keepdims=True) < 0, -1, 1)).T
    low, high = turned.min(axis=0), turned.max(axis=0)
    return MARGIN + (turned - low) / np.maximum(high - low, 1e-9) * (size - 2 * MARGIN)


def spread(places: Places, room: float, lines: NDArray[np.int64], size: Size) -> Places:
    """Return the places, pushed apart towards a distance of `room`, inside the drawing and in whole pixels.

    `lines` (L, 2) contains pairs of places that a line joins. In the first half of the steps, places are also
    pushed away from these lines.
    """
    others = 1 - np.eye(len(places))
    for step in range(STEPS):
        if step < STEPS / 2:
            places = places + (1 - 2 * step / STEPS) * push_from_lines(places, room / 2, lines)
        distance = np.maximum(distances(places), 1e-6)
        push = others * np.maximum(room - distance, 0.0) / distance
        places = places + 0.3 * (push.sum(axis=1)[:, None] * places - push @ places)
        places = np.clip(places, MARGIN, size - MARGIN)
    return np.round(places)


def push_from_lines(places: Places, room: float, lines: NDArray[np.int64]) -> Places:
    """Return the shift of each place, (T, 2), away from lines at a distance of less than `room`."""
    start, along = places[lines[:, 0]], places[lines[:, 1]] - places[lines[:, 0]]
    length = np.maximum((along**2).sum(axis=1), 1e-6)
    part = np.clip(((places[:, None] - start) * along).sum(axis=2) / length, 0.0, 1.0)  # (T, L)
    away = places[:, None] - start - part[:, :, None] * along
    distance = np.hypot(away[:, :, 0], away[:, :, 1])
    push = 0.3 * np.maximum(room - distance, 0.0) / np.maximum(distance, 1e-6)
    push[lines.T, np.arange(len(lines))] = 0.0  # the ends of a line
    return (push[:, :, None] * away).sum(axis=1)


def distances(places: Places) -> NDArray[np.float64]:
    """Return the distance between any two places, (T, T)."""
    x, y = places.T
    return np.hypot(x[:, None] - x, y[:, None] - y)
