"""A position as an array of pixels, drawn by pygame-ce without a display."""

import io
import os
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk_env.board.map_pictures import MapPicture
from risk_env.board.maps import Board
from risk_env.render.picture import Area, Box, Image, Lines, Shape, Text, compose, in_order
from risk_env.render.scene import Scene

FINER = 2  # shapes are drawn larger by this factor, then smoothed
HALO = ((-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1))


def import_pygame() -> Any:
    """Return the module pygame. Raises ImportError, which names the extra to install."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise ImportError("drawing pixels needs pygame-ce: pip install 'risk-env[render]'") from error
    return pygame


def draw_rgb(board: Board, scene: Scene, width: int = 1000) -> NDArray[np.uint8]:
    """Return a public position as pixels, uint8 (H, width, 3). H depends on the map and the rules.

    Raises ValueError unless `width` is 100 to 8000, and ImportError if pygame-ce is not installed.
    """
    pixels = import_pygame().surfarray.array3d(draw_surface(board, scene, width))
    return np.ascontiguousarray(pixels.transpose(1, 0, 2), dtype=np.uint8)


def draw_surface(board: Board, scene: Scene, width: int = 1000) -> Any:
    """Return a public position as a pygame Surface. Raises as `draw_rgb` does."""
    if not 100 <= width <= 8000:
        raise ValueError(f"width={width}: must be 100 to 8000 pixels")
    pygame = import_pygame()
    picture = compose(board, scene)
    scale = width / picture.width
    size = (width, round(picture.height * scale))
    fine = pygame.Surface((size[0] * FINER, size[1] * FINER), depth=32)
    for shape in in_order(picture.shapes):
        _draw_shape(pygame, fine, shape, scale * FINER)
    return pygame.transform.smoothscale(fine, size)


def _draw_shape(pygame: Any, surface: Any, shape: Shape, scale: float) -> None:
    match shape:
        case Area(rings, fill):
            for ring in rings:
                pygame.draw.polygon(surface, fill, [(x * scale, y * scale) for x, y in ring])
        case Lines():
            _draw_lines(pygame, surface, shape, scale)
        case Box():  # half of the stroke lies inside the box and half outside, as in SVG
            if shape.stroke:
                _fill_box(pygame, surface, shape, shape.stroke, shape.pen / 2, scale)
            _fill_box(pygame, surface, shape, shape.fill, -shape.pen / 2, scale)
        case Image():
            _draw_image(pygame, surface, shape, scale)
        case Text():
            _draw_text(pygame, surface, shape, scale)


def _draw_lines(pygame: Any, surface: Any, lines: Lines, scale: float) -> None:
    """Draw each segment as a thick line, and each joint as a disc."""
    width = max(1, round(lines.width * scale))
    for path in lines.paths:
        points = [(x * scale, y * scale) for x, y in path]
        pygame.draw.lines(surface, lines.colour, False, points, width)
        if width > 2:
            for point in points:
                pygame.draw.circle(surface, lines.colour, point, width / 2)


def _fill_box(pygame: Any, surface: Any, box: Box, colour: str, more: float, scale: float) -> None:
    left, top = (box.x - box.width / 2 - more) * scale, (box.y - box.height / 2 - more) * scale
    rect = (
        round(left),
        round(top),
        round((box.width + 2 * more) * scale),
        round((box.height + 2 * more) * scale),
    )
    pygame.draw.rect(
        surface, colour, rect, border_radius=round((box.radius + more) * scale) if box.radius else 0
    )


def _draw_image(pygame: Any, surface: Any, image: Image, scale: float) -> None:
    size = round(image.width * scale), round(image.height * scale)
    surface.blit(scaled(image.picture, size), (round(image.x * scale), round(image.y * scale)))


@lru_cache(maxsize=4)
def scaled(picture: MapPicture, size: tuple[int, int]) -> Any:
    """Return an image as a pygame Surface of the size `size` (width, height).

    If the image cannot be decoded, the Surface is transparent.
    """
    pygame = import_pygame()
    try:
        decoded = pygame.image.load(io.BytesIO(picture.content))
    except pygame.error:
        return pygame.Surface(size, pygame.SRCALPHA, 32)
    whole = pygame.Surface(decoded.get_size(), pygame.SRCALPHA, 32)
    whole.blit(decoded, (0, 0))
    return pygame.transform.smoothscale(whole, size)


@lru_cache(maxsize=64)
def _font(size: int) -> Any:
    pygame = import_pygame()
    pygame.font.init()
    return pygame.font.Font(None, size)


def _draw_text(pygame: Any, surface: Any, text: Text, scale: float) -> None:
    font = _font(max(8, round(text.size * scale * 1.45)))
    ink = font.render(text.text, True, text.colour)
    part = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
    x, y = round(text.x * scale - ink.get_width() * part), round(text.y * scale - ink.get_height() / 2)
    if text.halo:
        glow = font.render(text.text, True, text.halo)
        glow.set_alpha(150)
        for dx, dy in HALO:
            surface.blit(glow, (x + dx * FINER, y + dy * FINER))
    surface.blit(ink, (x, y))
