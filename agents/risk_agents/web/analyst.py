"""Estimate positions in a separate process, which is killed if an estimate takes too long.

Before a browser's request, the process compiles the code that the request needs. For this purpose, the server
first sends the same request with an example position, and then a request that prepares the agent for the
rules and the map. A browser's request never takes more than LIMIT seconds.

{"type": "chances", "position": "...", "bot": "breaker", "games": 64}       {"result": [0.5, 0.25, 0.25]}
{"type": "explain", "position": "...", "agent": "strategist"}               {"result": {"plans": [...], ...}}
{"type": "prepare", "position": "...", "agent": "strategist"}               {"result": null}
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from risk_agents.explanation import Explaining
from risk_agents.program import Program, ProgramFault, python_command, serve_lines
from risk_agents.registry import make
from risk_agents.web.browser_table import position_of
from risk_agents.win_chances import chances_by_play
from risk_env import bots
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.match import Match

MOST_KNOWN = 1000  # maximum number of combinations of agent, rules and map that are remembered
LIMIT, FIRST_LIMIT = 20.0, 300.0  # time limits of a browser's request and of a compiling request, in seconds


class Analyst:
    """Handle of the process in the server; the process answers one request after another.

    An `Analyst` is not thread-safe.
    """

    def __init__(self) -> None:
        self._program: Program | None = None
        self._known: set[str] = set()  # kinds of requests for which the process has compiled code

    def request(self, request: dict[str, Any]) -> Any:
        """Return the result of a request; raise ValueError with the reason if the request fails."""
        try:
            reply = self._ready(request).request(request, LIMIT)
        except ProgramFault as fault:
            raise ValueError(str(fault)) from fault
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["result"]

    def _ready(self, request: dict[str, Any]) -> Program:
        """Return a process that has compiled the code for `request`."""
        if self._program is None or not self._program.is_alive:
            self._program = Program(python_command(__name__), "the analysis")
            self._known.clear()
        agent = request.get("agent", request.get("bot", ""))
        own = {"position": _example()} if "position" in request else {}
        self._let_compile(f"{request['type']} {agent}", request | own)
        if "position" in request:
            facts = {"type": "prepare", "position": request["position"], "agent": agent}
            self._let_compile(f"{agent} {_table_of(request['position'])}", facts)
        return self._program

    def _let_compile(self, what: str, request: dict[str, Any]) -> None:
        """Send a request that compiles code, unless the code for the kind of request `what` is compiled."""
        if self._program is not None and what not in self._known:
            self._program.request(request, FIRST_LIMIT)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(what)

    def close(self) -> None:
        """End the process."""
        if self._program is not None:
            self._program.kill()


def _table_of(position: str) -> str:
    """Return a key for the rules and the map of a position; raise ValueError if the position is invalid."""
    game = position_of(position)
    return f"{game.rules} {game.board.digest}"


@cache
def _example() -> str:
    """Return the example position of requests that compile code."""
    return Game(Rules.preset("classic", 2, setup="random", max_rounds=3), "tiny", seed=1).to_text()


# ----------------------------------------------------------------------------------------------- the process


def serve() -> None:
    """Answer requests until the pipe is closed."""
    serve_lines(lambda request, _request: reply_to(request))


def reply_to(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request: `result`, or `error` with the reason."""
    try:
        return {"result": _METHODS[request.pop("type")](**request)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def _chances(position: str, bot: str, games: int) -> list[float]:
    """Return the win probability of every seat, estimated from games in which `bot` plays all seats."""
    game = position_of(position)
    return chances_by_play(game.rules, game.board, bot, games)(game).tolist()


def _prepare(position: str, agent: str) -> None:
    """Compile the code that an agent needs for the rules and the map of a position."""
    game = position_of(position)
    make(agent).prepare(game.rules, game.board)


def _explain(position: str, agent: str) -> dict[str, Any]:
    """Return an agent's explanation of its choice for the seat to act.

    The agent sees only facts that the seat may see. Raises ValueError if the agent cannot explain its choice.
    """
    game, player = position_of(position), make(agent)
    if not isinstance(player, Explaining):
        raise ValueError(f"agent={agent!r} cannot explain its choices: it has no method explain()")
    match = Match.of(game, [player if seat == game.seat else None for seat in range(game.num_players)])
    match.begin()
    match.query_player()
    explanation = player.explain()
    if explanation is None:
        raise ValueError(f"{agent} has no explanation for this decision")
    return explanation.to_dict()


def _explaining() -> list[str]:
    """Return the registered agents that can explain their choices, and that this machine can make."""
    found = []
    for name in bots.names():
        with suppress(Exception):
            found += [name] if isinstance(make(name), Explaining) else []
    return found


_METHODS: dict[str, Callable[..., Any]] = {
    "chances": _chances,
    "explain": _explain,
    "explaining": _explaining,
    "prepare": _prepare,
}
