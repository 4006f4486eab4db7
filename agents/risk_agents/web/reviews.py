"""Reviews of finished games, computed one at a time in a separate process.

A review can take a minute. The process is killed if a review takes too long. Before the first review with
a combination of rules and map, the process compiles the code for this combination. Requests and replies:

{"type": "prepare", "game": {...}, "names": [...]}       {"result": null}
{"type": "review", "game": {...}, "names": [...]}        {"result": {"turns": [...], ...}}
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from risk_agents.program import Program, ProgramFault, python_command, serve_lines
from risk_agents.review.reviewing import Reviewer
from risk_agents.web.browser_table import BrowserTable
from risk_agents.web.work import BoundedThreads, Refused
from risk_env.saved_game import SavedGame

MOST_WAITING = 4  # maximum number of reviews that are computed or wait
MOST_KEPT = 50  # maximum number of stored reviews
MOST_KNOWN = 1000  # maximum number of remembered combinations of rules and map
LIMIT, FIRST_LIMIT = 600.0, 1200.0  # time limits of a review and of the compilation, in seconds


class Reviews:
    """The reviews of a server's games."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._prepared: set[str] = set()  # rules and maps for which the process has compiled the code
        self._thread = BoundedThreads(1, MOST_WAITING)
        self._tasks: dict[str, asyncio.Task[dict[str, Any]]] = {}  # by the name of the game, the newest last

    async def of(self, name: str, table: BrowserTable) -> dict[str, Any]:
        """Return {"review": ...} for a game, or {"waiting": true} while the review is computed.

        The first call begins the computation. Raise Refused if the game is not over, and ValueError with the
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
        """Begin the computation. Drop the oldest finished reviews, even if nobody asked for them."""
        finished = [other for other, task in self._tasks.items() if task.done()]
        for other in finished[: max(0, len(finished) - MOST_KEPT + 1)]:
            del self._tasks[other]
        self._tasks[name] = asyncio.create_task(self._thread.run(self._compute, table))
        self._tasks[name].add_done_callback(lambda task: task.cancelled() or task.exception())

    def _compute(self, table: BrowserTable) -> dict[str, Any]:
        """Return the review of a game, computed by the process."""
        saved = replace(table.setting.game.beginning(), actions=table.game.actions)
        request = {"game": saved.to_dict(), "names": list(table.setting.names)}
        known = f"{saved.rules} {saved.map_digest}"
        try:
            program = self._running_program()
            if known not in self._prepared:
                _result(program.request({"type": "prepare", **request}, FIRST_LIMIT))
                self._prepared = {*list(self._prepared)[: MOST_KNOWN - 1], known}
            found: dict[str, Any] = _result(program.request({"type": "review", **request}, LIMIT))
        except ProgramFault as fault:
            raise ValueError(str(fault)) from fault
        return found

    def _running_program(self) -> Program:
        """Return the process; start the process if none is running."""
        if self._program is None or not self._program.is_alive:
            self._program = Program(python_command(__name__), "the review")
            self._prepared.clear()
        return self._program

    def close(self) -> None:
        """End the process."""
        self._thread.close()
        if self._program is not None:
            self._program.kill()


def _result(reply: dict[str, Any]) -> Any:
    """Return the result in a reply of the process; raise ValueError if the reply is an error."""
    if "error" in reply:
        raise ValueError(reply["error"])
    return reply["result"]


# ------------------------------------------------------------------------------------------------ the process


def serve() -> None:
    """Answer requests until the pipe is closed."""
    serve_lines(lambda request, _request: reply_to(request))


def reply_to(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request: `result`, or `error` with the reason."""
    try:
        saved = SavedGame.from_dict(request["game"])
        game = saved.replay()
        reviewer = Reviewer(game.rules, game.board)
        if request["type"] == "prepare":
            reviewer.prepare()
            return {"result": None}
        return {"result": reviewer.review(game, request["names"]).to_dict()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}
