"""A window that shows positions to people (`render_mode="human"`)."""

from typing import Any

from risk_env.board.maps import Board
from risk_env.render.rgb import draw_surface, import_pygame
from risk_env.render.scene import Scene


class Window:
    """A window: `show` draws a position, and `close` closes the window.

    `is_open` is False after the window was closed, by `close` or by the user.
    """

    def __init__(self, width: int = 1000, caption: str = "Risk"):
        self.width, self.caption = width, caption
        self.is_open = True
        self._display: Any = None

    def show(self, board: Board, scene: Scene) -> None:
        """Draw a position and handle window events. Does nothing if the window is closed."""
        if not self.is_open:
            return
        surface = draw_surface(board, scene, self.width)
        self._open(surface.get_size())
        self._display.blit(surface, (0, 0))
        import_pygame().display.flip()
        self.pump()

    def pump(self) -> None:
        """Handle window events without drawing. Call this method regularly while nothing changes."""
        pygame = import_pygame()
        if self._display is not None and any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()

    def close(self) -> None:
        """Close the window. Further calls do nothing."""
        if self._display is not None:
            import_pygame().display.quit()
            self._display = None
        self.is_open = False

    def _open(self, size: tuple[int, int]) -> None:
        """Open the display, or resize the display to the picture."""
        pygame = import_pygame()
        if self._display is None:
            pygame.display.init()
            pygame.display.set_caption(self.caption)
        if self._display is None or self._display.get_size() != size:
            self._display = pygame.display.set_mode(size)
