"""Estimate positions in a separate process, which is killed if an estimate takes too long.

Before a browser's request, the process compiles the code that the request needs. To start the compilation,
the server first sends the same request with an example position. The server then sends a request that
prepares the agent for the rules and the map. After this, a browser's request may take at most LIMIT seconds.
Requests and replies:

{"type": "chances", "position": "...", "bot": "breaker", "games": 64}       {"result": [0.5, 0.25, 0.25]}
{"type": "explain", "position": "...", "agent": "strategist"}               {"result": {"plans": [...], ...}}
{"type": "explaining"}                                                      {"result": ["strategist", ...]}
{"type": "prepare", "position": "...", "agent": "strategist"}               {"result": null}
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

from risk_agents.explanation import Explaining
from risk_agents.registry import make
from risk_agents.web.browser_table import position_of
from risk_agents.web.work_process import Methods, WorkProcess, serve_methods
from risk_agents.win_chances import chances_by_play
from risk_env import bots
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.match import Match

LIMIT, FIRST_LIMIT = 20.0, 300.0  # time limits of a browser's request and of a compiling request, in seconds


class Analyst:
    """Handle of the analysis process, which answers one request after another.

    An `Analyst` is not thread-safe.
    """

    def __init__(self) -> None:
        self._process = WorkProcess(__name__, "the analysis")

    def request(self, request: dict[str, Any]) -> Any:
        """Return the result of a request; raise ValueError with the reason if the request fails."""
        self._compile(request)
        return self._process.request(request, LIMIT)

    def _compile(self, request: dict[str, Any]) -> None:
        """Let the process compile the code for a request, first for the example position."""
        agent = request.get("agent", request.get("bot", ""))
        own = {"position": _example()} if "position" in request else {}
        self._process.compile_once(f"{request['type']} {agent}", request | own, FIRST_LIMIT)
        if "position" in request:
            facts = {"type": "prepare", "position": request["position"], "agent": agent}
            self._process.compile_once(f"{agent} {_table_of(request['position'])}", facts, FIRST_LIMIT)

    def close(self) -> None:
        """End the process."""
        self._process.close()


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
    serve_methods(METHODS)


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
        raise ValueError(f"agent={agent!r} has no explanation for this decision")
    return explanation.to_dict()


def _explaining() -> list[str]:
    """Return the names of the registered agents that can be created here and can explain their choices."""
    names = []
    for name in bots.names():
        with suppress(Exception):
            names += [name] if isinstance(make(name), Explaining) else []
    return names


METHODS: Methods = {
    "chances": _chances,
    "explain": _explain,
    "explaining": _explaining,
    "prepare": _prepare,
}
