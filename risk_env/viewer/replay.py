"""Replays: the history of a game as one HTML file, for browsers without a network and for notebooks."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.types import NOBODY
from risk_env.viewer.frames import Frames
from risk_env.viewer.map_data import map_data
from risk_env.viewer.page import HEIGHT, replay_page

SCHEMA = 1


@dataclass(frozen=True)
class Replay:
    """The history of a game for one viewer.

    `facts` is the content of the page, as values for `json.dumps`.
    """

    title: str
    facts: dict[str, Any]

    def to_html(self) -> str:
        """Return the page: one HTML document that needs no other files."""
        return replay_page(self.title, self.facts)

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def board(self, *others: "Replay") -> Any:
        """Return an anywidget for notebooks that shows this replay, alone or beside another replay.

        Raises ImportError if anywidget is not installed, and ValueError for more than one other replay.
        """
        from risk_env.viewer.widget import ReplayBoard

        replays = (self, *others)
        return ReplayBoard([one.to_html() for one in replays], [one.title for one in replays])

    def __repr__(self) -> str:
        return f"<Replay {self.title!r}, {len(self.facts['frames'])} frames>"

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks. A saved notebook contains the whole page."""
        frame = (
            f'srcdoc="{html.escape(self.to_html())}" title="{html.escape(self.title)}" '
            'sandbox="allow-scripts"'
        )
        return f'<iframe {frame} width="100%" height="{HEIGHT}" style="border: 0"></iframe>'


def make_replay(
    rules: Rules, board: Board, frames: Frames, names: Sequence[str], seat: int, secrets: dict[str, Any]
) -> Replay:
    """Return the replay of the game in `frames`, as `seat` saw it (-1: as a spectator saw it)."""
    names = seat_names(names, rules.num_players)
    facts = {
        "schema": SCHEMA,
        "map": map_data(board),
        "rules": rules.to_dict(),
        "names": names,
        "seat": seat,
        "start": frames.start,
        "frames": frames.frames,
        "chances": frames.chances,
        "secrets": secrets,
    }
    whose = "" if seat == NOBODY else f", as {names[seat]} saw it"
    return Replay(f"Risk: {', '.join(names)}{whose}", facts)


def seat_names(names: Sequence[str], num_players: int) -> list[str]:
    """Return the names of the seats. Raises ValueError unless `names` is empty or has one name per seat."""
    if len(names) not in (0, num_players):
        raise ValueError(
            f"names={list(names)!r}: {len(names)} names for num_players={num_players}; "
            "give no names, or one name for each player"
        )
    return [str(name) for name in names] or [f"Player {seat}" for seat in range(num_players)]
