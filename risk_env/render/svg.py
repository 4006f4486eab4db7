"""A position as an SVG document."""

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from risk_env.board.drawings import Point
from risk_env.board.maps import Board
from risk_env.render.picture import Area, Box, Image, Lines, Picture, Shape, compose, compose_map, in_order
from risk_env.render.scene import Scene

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"


def draw_svg(board: Board, scene: Scene) -> str:
    """Return a public position as SVG text. The same scene always gives the same text."""
    return _document(compose(board, scene))


def draw_map(board: Board) -> str:
    """Return a map as SVG text, with all territories free."""
    return _document(compose_map(board))


def _document(picture: Picture) -> str:
    size = f"viewBox='0 0 {_n(picture.width)} {_n(picture.height)}' width='{_n(picture.width)}'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family={quoteattr(FONT)} font-weight='bold'>"
    return "\n".join([head, *map(draw_shape, in_order(picture.shapes)), "</svg>", ""])


def draw_shape(shape: Shape) -> str:
    """Return a shape as an SVG element."""
    match shape:
        case Area(rings, fill, title):
            path = "".join(path_data(ring) + "Z" for ring in rings)
            start = f"<path d='{path}' fill='{fill}'"
            return f"{start}><title>{escape(title)}</title></path>" if title else f"{start}/>"
        case Lines(paths, colour, width):
            pen = (
                f"stroke='{colour}' stroke-width='{_n(width)}' stroke-linecap='round' stroke-linejoin='round'"
            )
            return f"<path d='{''.join(map(path_data, paths))}' fill='none' {pen}/>"
        case Box(x, y, width, height):
            corner = f"x='{_n(x - width / 2)}' y='{_n(y - height / 2)}'"
            size = f"width='{_n(width)}' height='{_n(height)}' rx='{_n(shape.radius)}'"
            pen = f" stroke='{shape.stroke}' stroke-width='{_n(shape.pen)}'" if shape.stroke else ""
            return f"<rect {corner} {size} fill='{shape.fill}'{pen}/>"
        case Image(x, y, width, height, picture):
            corner, size = f"x='{_n(x)}' y='{_n(y)}'", f"width='{_n(width)}' height='{_n(height)}'"
            return f"<image {corner} {size} preserveAspectRatio='none' href='{picture.url}'/>"
    place = f"x='{_n(shape.x)}' y='{_n(shape.y + 0.36 * shape.size)}' font-size='{_n(shape.size)}'"
    halo = f" stroke='{shape.halo}' stroke-width='2.4' paint-order='stroke' stroke-linejoin='round'"
    look = (
        f"text-anchor='{shape.anchor}' fill='{shape.colour}'{halo if shape.halo else ''} "
        "pointer-events='none'"
    )
    return f"<text {place} {look}>{escape(shape.text)}</text>"


def path_data(points: Iterable[Point]) -> str:
    """Return the value of the attribute `d` for a path along these points."""
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(number: float) -> str:
    """Return a number with at most one digit after the point."""
    return f"{number:.1f}".removesuffix(".0")
