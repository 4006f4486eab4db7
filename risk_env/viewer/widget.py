"""Boards in notebooks that play replays, by anywidget: one game, or two games side by side."""

from typing import TYPE_CHECKING, Any

from risk_env.viewer.page import static

if TYPE_CHECKING:
    from risk_env.viewer.replay import Replay

try:
    from anywidget import AnyWidget
    from traitlets import Int, List, Unicode
except ImportError as error:
    raise ImportError("boards in notebooks need anywidget: pip install 'risk-env[notebook]'") from error

MOST = 2  # replays side by side


class ReplayBoard(AnyWidget):
    """A board in a notebook. `turn` is the number of the turn that all replays show, and can be set."""

    _esm = static("widget.js")
    pages = List(Unicode()).tag(sync=True)
    titles = List(Unicode()).tag(sync=True)
    turn = Int(0, min=0).tag(sync=True)

    def __init__(self, *replays: "Replay", **options: Any) -> None:
        if not 1 <= len(replays) <= MOST:
            raise ValueError(f"replays={len(replays)}: a board shows 1 to {MOST} replays")
        pages = [replay.to_html() for replay in replays]
        super().__init__(pages=pages, titles=[replay.title for replay in replays], **options)

    def __repr__(self) -> str:
        return f"<ReplayBoard of {len(self.pages)} replays, turn {self.turn}>"
