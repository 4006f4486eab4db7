"""Reviews of finished games, computed one at a time in a separate process.

A review can take a minute. The process is killed if a review takes too long. Before the first review with
a combination of rules and map, the process compiles the code for this combination. Requests and replies:

{"type": "prepare", "game": {...}}                       {"result": null}
{"type": "review", "game": {...}, "names": [...]}        {"result": {"turns": [...], ...}}
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from risk_agents.review.reviewing import Reviewer, review
from risk_agents.web.browser_request import Refused
from risk_agents.web.browser_table import BrowserTable
from risk_agents.web.work import BoundedThreads
from risk_agents.web.work_process import Methods, WorkProcess, serve_methods
from risk_env.saved_game import SavedGame

MOST_WAITING = 4  # maximum number of reviews that are computed or wait
MOST_KEPT = 50  # maximum number of stored reviews
LIMIT, FIRST_LIMIT = 600.0, 1200.0  # time limits of a review and of the compilation, in seconds


class Reviews:
    """The reviews of a server's games."""

    def __init__(self) -> None:
        self._process = WorkProcess(__name__, "the review")
        self._thread = BoundedThreads(1, MOST_WAITING)
        self._tasks: dict[str, asyncio.Task[dict[str, Any]]] = {}  # by the name of the game, the newest last

    async def of(self, name: str, table: BrowserTable) -> dict[str, Any]:
        """Return {"review": ...} for a game, or {"waiting": true} while the review is computed.

        The first call begins the computation. Raises Refused if the game is not over, and ValueError with the
        reason if the computation failed.
        """
        if not table.game.is_over:
            raise Refused("a game can be reviewed only when it is over: play the game to the end first")
        if name not in self._tasks:
            self._begin(name, table)
        task = self._tasks[name]
        if not task.done():
            return {"waiting": True}
        if task.cancelled() or task.exception() is not None:
            del self._tasks[name]  # the next call begins again
        return {"review": task.result()}

    def _begin(self, name: str, table: BrowserTable) -> None:
        """Begin the computation of a review, and drop the oldest finished reviews beyond MOST_KEPT."""
        finished = [other for other, task in self._tasks.items() if task.done()]
        for other in finished[: max(0, len(finished) - MOST_KEPT + 1)]:
            del self._tasks[other]
        self._tasks[name] = asyncio.create_task(self._thread.run(self._compute, table))
        self._tasks[name].add_done_callback(lambda task: task.cancelled() or task.exception())

    def _compute(self, table: BrowserTable) -> dict[str, Any]:
        """Return the review of a game, computed by the process."""
        saved = replace(table.setting.game.beginning(), actions=table.game.actions)
        request = {"game": saved.to_dict()}
        known = f"{saved.rules} {saved.map_digest}"
        self._process.compile_once(known, {"type": "prepare", **request}, FIRST_LIMIT)
        names = list(table.setting.names)
        review: dict[str, Any] = self._process.request({"type": "review", "names": names, **request}, LIMIT)
        return review

    def close(self) -> None:
        """Cancel the waiting reviews, and end the process."""
        self._thread.close()
        self._process.close()


# ------------------------------------------------------------------------------------------------ the process


def serve() -> None:
    """Answer requests until the pipe is closed."""
    serve_methods(METHODS)


def _prepare(game: dict[str, Any]) -> None:
    """Compile the code that reviews need for the rules and the map of a game."""
    replayed = SavedGame.from_dict(game).replay()
    Reviewer(replayed.rules, replayed.board).prepare()


def _review(game: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the review of a game."""
    return review(SavedGame.from_dict(game).replay(), names).to_dict()


METHODS: Methods = {"prepare": _prepare, "review": _review}
