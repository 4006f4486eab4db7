"""A position as an SVG document."""

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from risk_env.board.drawings import Point
from risk_env.board.maps import Board
from risk_env.render.picture import Area, Box, Lines, Picture, Shape, Text, compose, compose_map, in_order
from risk_env.render.scene import Scene

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"


def draw_svg(board: Board, scene: Scene) -> str:
    """A public position as SVG text; the same scene always gives the same text."""
    return _document(compose(board, scene))


def draw_map(board: Board) -> str:
    """A map as SVG text, all its territories free."""
    return _document(compose_map(board))


def _document(picture: Picture) -> str:
    size = f"viewBox='0 0 {_n(picture.width)} {_n(picture.height)}' width='{_n(picture.width)}'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family={quoteattr(FONT)} font-weight='bold'>"
    return "\n".join([head, *map(draw_shape, in_order(picture.shapes)), "</svg>", ""])


def draw_shape(shape: Shape) -> str:
    """A shape as an SVG element."""
    match shape:
        case Area():
            return _area(shape)
        case Lines():
            return _lines(shape)
        case Box():
            return _box(shape)
    return _text(shape)


def _area(area: Area) -> str:
    path = "".join(path_data(ring) + "Z" for ring in area.rings)
    start = f"<path d='{path}' fill='{area.fill}'"
    return f"{start}><title>{escape(area.title)}</title></path>" if area.title else f"{start}/>"


def _lines(lines: Lines) -> str:
    path = "".join(map(path_data, lines.paths))
    pen = f"stroke='{lines.colour}' stroke-width='{_n(lines.width)}' stroke-linecap='round' stroke-linejoin='round'"
    return f"<path d='{path}' fill='none' {pen}/>"


def _box(box: Box) -> str:
    corner = f"x='{_n(box.x - box.width / 2)}' y='{_n(box.y - box.height / 2)}'"
    size = f"width='{_n(box.width)}' height='{_n(box.height)}' rx='{_n(box.radius)}'"
    pen = f" stroke='{box.stroke}' stroke-width='{_n(box.pen)}'" if box.stroke else ""
    return f"<rect {corner} {size} fill='{box.fill}'{pen}/>"


def _text(text: Text) -> str:
    place = f"x='{_n(text.x)}' y='{_n(text.y + 0.36 * text.size)}' font-size='{_n(text.size)}'"
    halo = f" stroke='{text.halo}' stroke-width='2.4' paint-order='stroke' stroke-linejoin='round'" if text.halo else ""
    look = f"text-anchor='{text.anchor}' fill='{text.colour}'{halo} pointer-events='none'"
    return f"<text {place} {look}>{escape(text.text)}</text>"


def path_data(points: Iterable[Point]) -> str:
    """The attribute `d` of a path along these points."""
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(number: float) -> str:
    """A number with at most one digit after the point."""
    return f"{number:.1f}".removesuffix(".0")
