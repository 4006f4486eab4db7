"""Random points in a plane, and the Voronoi cells of these points, in integer arithmetic."""

from collections.abc import Iterator
from math import isqrt
from typing import NamedTuple

import numpy as np

from risk_env.board.generating.spec import RandomNumbers

SPACING = 140  # typical distance between neighbouring points, in pixels
MARGIN = SPACING  # minimum distance between the centre of a cell and the edge of the drawing, in pixels
CANDIDATES = 12  # number of candidates for a point; the candidate farthest from the earlier points is kept
FAR = 100_000  # sets the corners of the first triangle, which contains all points

Point = tuple[int, int]
Triangle = tuple[int, int, int]  # numbers of the three corner points, counterclockwise


class Side(NamedTuple):
    """A side of a cell: the number of the cell beyond the side (-1: the sea), and the two end points."""

    beyond: int
    start: Point
    end: Point

    @property
    def squared_length(self) -> int:
        """Square of the length, 0 if both end points are the same."""
        return squared_distance(self.start, self.end)


class Cells(NamedTuple):
    """Cells in a drawing of the given size. The sides of a cell form a closed ring."""

    size: tuple[int, int]
    centres: list[Point]
    sides: list[list[Side]]


def random_cells(count: int, numbers: RandomNumbers) -> Cells:
    """Return `count` random cells, surrounded by sea."""
    inner = isqrt(count * SPACING**2 * 3 // 2), isqrt(count * SPACING**2 * 2 // 3)
    centres = _spread(count, inner, numbers)
    points = centres + [point for point in _coast(inner, numbers) if point not in centres]
    size = inner[0] + 2 * MARGIN, inner[1] + 2 * MARGIN
    moved = [(x + MARGIN, y + MARGIN) for x, y in points]
    around: list[dict[int, tuple[int, Point]]] = [{} for _ in moved]
    for triangle in triangulated(moved):
        corner = _circumcentre(*(moved[number] for number in triangle))
        corner = min(max(corner[0], 0), size[0]), min(max(corner[1], 0), size[1])
        for i in range(3):
            a, b, c = triangle[i], triangle[(i + 1) % 3], triangle[(i + 2) % 3]
            around[a][b] = c, corner
    return Cells(size, moved[:count], [list(_sides(around[cell], count)) for cell in range(count)])


def _spread(count: int, inner: tuple[int, int], numbers: RandomNumbers) -> list[Point]:
    """Return random points, far from each other, in a rectangle (best-candidate algorithm)."""
    placed = np.zeros((count, 2), np.int64)
    for place in range(count):
        drawn = np.array([[numbers.below(inner[0]), numbers.below(inner[1])] for _ in range(CANDIDATES)])
        apart = (
            ((drawn[:, None] - placed[None, :place]) ** 2)
            .sum(axis=2)
            .min(axis=1, initial=np.iinfo(np.int64).max)
        )
        placed[place] = drawn[apart.argmax()]
    return [(int(x), int(y)) for x, y in placed]


def squared_distance(a: Point, b: Point) -> int:
    """Return the squared distance between two points."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def _coast(inner: tuple[int, int], numbers: RandomNumbers) -> Iterator[Point]:
    """Yield points around a rectangle. The cells of these points are sea."""
    step = SPACING * 3 // 4
    for axis in (0, 1):
        for along in range(-step, inner[axis] + step, step):
            for across in (-step, inner[1 - axis] + step):
                point = along + numbers.below(step // 2), across + numbers.below(step // 2) - step // 4
                yield point if axis == 0 else point[::-1]


def _sides(around: dict[int, tuple[int, Point]], count: int) -> Iterator[Side]:
    """Yield the sides of a cell.

    `around` maps each neighbour to the next neighbour and the corner between the two.
    """
    first = neighbour = min(around)
    corner = next(corner for beyond, corner in around.values() if beyond == first)
    while True:
        after, following = around[neighbour]
        yield Side(neighbour if neighbour < count else -1, corner, following)
        neighbour, corner = after, following
        if neighbour == first:
            return


def triangulated(points: list[Point]) -> list[Triangle]:
    """Return the Delaunay triangles of distinct points (Bowyer-Watson algorithm), in exact arithmetic.

    The points are added from left to right. A triangle is final when the circle through its corners lies to
    the left of the next point.
    """
    count = len(points)
    points = [*points, (-FAR, -FAR), (2 * FAR, -FAR), (-FAR, 2 * FAR)]
    done: list[Triangle] = []
    open_until: dict[Triangle, int] = {(count, count + 1, count + 2): 2 * FAR}  # `_right_end` of the circle
    for number in sorted(range(count), key=points.__getitem__):
        x = points[number][0]
        done += [triangle for triangle, end in open_until.items() if end < x]
        open_until = {triangle: end for triangle, end in open_until.items() if end >= x}
        reached = [t for t in open_until if _is_in_circle(points[number], *(points[corner] for corner in t))]
        sides = {(t[i], t[(i + 1) % 3]) for t in reached for i in range(3)}
        for triangle in reached:
            del open_until[triangle]
        for a, b in sides:
            if (b, a) not in sides:
                open_until[a, b, number] = _right_end(points[a], points[b], points[number])
    return sorted(triangle for triangle in (*done, *open_until) if max(triangle) < count)


def _right_end(a: Point, b: Point, c: Point) -> int:
    """Return an upper bound on the x coordinates of the circle through three points."""
    centre = _circumcentre(a, b, c)
    return centre[0] + isqrt(squared_distance(centre, a)) + 4  # more than all rounding errors together


def _is_in_circle(point: Point, a: Point, b: Point, c: Point) -> bool:
    """Return True if a point is inside the circle through three counterclockwise points."""
    ax, ay, bx, by = a[0] - point[0], a[1] - point[1], b[0] - point[0], b[1] - point[1]
    cx, cy = c[0] - point[0], c[1] - point[1]
    a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    return ax * (by * c2 - b2 * cy) - ay * (bx * c2 - b2 * cx) + a2 * (bx * cy - by * cx) > 0


def _circumcentre(a: Point, b: Point, c: Point) -> Point:
    """Return the centre of the circle through three points, rounded to whole numbers."""
    bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    divisor = 2 * (bx * cy - by * cx)
    b2, c2 = bx * bx + by * by, cx * cx + cy * cy
    x, y = cy * b2 - by * c2, bx * c2 - cx * b2
    return a[0] + (2 * x + divisor) // (2 * divisor), a[1] + (2 * y + divisor) // (2 * divisor)
