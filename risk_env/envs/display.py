"""Display of an environment as text, as pixels or in a window, depending on `render_mode`."""

import time
from typing import Any

import gymnasium

from risk_env.arguments import check_choice
from risk_env.game import Game

MODES = ("human", "rgb_array", "ansi")


def draw(game: Game, render_mode: str) -> Any:
    """Return a game as text for people ("ansi") or as pixels, uint8 (H, W, 3) ("rgb_array").

    Only public facts are shown.
    """
    if render_mode == "ansi":
        return str(game)
    from risk_env.render import draw_rgb, scene_of

    return draw_rgb(game.board, scene_of(game))


class Display:
    """Display of an environment in a `render_mode`.

    A window shows at most `render_fps` pictures per second.
    """

    def __init__(self, render_mode: str | None, render_fps: float) -> None:
        check_choice("render_mode", render_mode, (None, *MODES))
        self.mode, self._pause = render_mode, 1 / render_fps
        self.window: Any = None
        self._next_frame = 0.0

    def render(self, game: Game) -> Any:
        """Return the board as text or as pixels, or show the board in a window and return None.

        Without a `render_mode`, warn and return None.
        """
        if self.mode == "human":
            return self._show(game)
        if self.mode is not None:
            return draw(game, self.mode)
        gymnasium.logger.warn("render() needs a render_mode: pass one when you make the environment")
        return None

    def _show(self, game: Game) -> None:
        from risk_env.render import scene_of
        from risk_env.render.window import Window

        self.window = self.window or Window()
        self.window.show(game.board, scene_of(game))
        if self.window.is_open:
            time.sleep(max(0.0, self._next_frame - time.monotonic()))
            self._next_frame = time.monotonic() + self._pause

    def close(self) -> None:
        """Close the window, if there is one. Further calls do nothing."""
        if self.window is not None:
            self.window.close()
            self.window = None

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the window, because a copy opens its own window."""
        return {**vars(self), "window": None}
