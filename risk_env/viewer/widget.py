"""Boards that play replays in notebooks, with anywidget: one game, or two games side by side."""

from collections.abc import Sequence

from risk_env.viewer.page import HEIGHT, static

try:
    from anywidget import AnyWidget
    from traitlets import Int, List, Unicode
except ImportError as error:
    raise ImportError("boards in notebooks need anywidget: pip install 'risk-env[notebook]'") from error

MOST = 2  # maximum number of replays side by side


class ReplayBoard(AnyWidget):
    """A board in a notebook. All replays show turn number `turn`, or the end of a shorter game.

    `turn` can be set.
    """

    _esm = static("widget.js")
    pages = List(Unicode()).tag(sync=True)
    titles = List(Unicode()).tag(sync=True)
    turn = Int(0, min=0).tag(sync=True)
    height = Int(HEIGHT).tag(sync=True)

    def __init__(self, pages: Sequence[str], titles: Sequence[str]) -> None:
        """Show the `pages` of 1 or 2 replays (`Replay.to_html`). Raises ValueError for any other number."""
        if not 1 <= len(pages) <= MOST:
            raise ValueError(f"{len(pages)} replays: a board shows 1 to {MOST}")
        super().__init__(pages=list(pages), titles=list(titles))

    def __repr__(self) -> str:
        return f"<ReplayBoard of {len(self.pages)} replays, turn {self.turn}>"
