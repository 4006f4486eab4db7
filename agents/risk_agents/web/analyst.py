"""Estimates of a position from a process of its own, which is killed if an estimate takes too long.

A process first compiles what a question needs, by the agent, rules and map of the question and by a question
of our own; a browser's question never gets more than LIMIT seconds.

{"type": "chances", "position": "...", "bot": "breaker", "games": 64}       {"answer": [0.5, 0.25, 0.25]}
{"type": "explain", "position": "...", "agent": "strategist"}               {"answer": {"plans": [...], ...}}
{"type": "prepare", "position": "...", "agent": "strategist"}               {"answer": null}
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

MOST_KNOWN = 1000  # agents, rules and maps that are remembered
LIMIT, FIRST_LIMIT = 20.0, 300.0  # seconds for an answer; for our own question while code is compiled


class Analyst:
    """The near end: one process, which answers one question after another. One thread at a time may ask."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._known: set[str] = set()  # what the process has compiled code for

    def request(self, question: dict[str, Any]) -> Any:
        """The answer; ValueError says why there is none."""
        try:
            reply = self._ready(question).request(question, LIMIT)
        except ProgramFault as fault:
            raise ValueError(str(fault)) from fault
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["answer"]

    def _ready(self, question: dict[str, Any]) -> Program:
        """A process that has compiled what this question needs."""
        if self._program is None or not self._program.is_alive:
            self._program = Program(python_command(__name__), "the analysis")
            self._known.clear()
        agent = question.get("agent", question.get("bot", ""))
        own = {"position": _example()} if "position" in question else {}
        self._let_compile(f"{question['type']} {agent}", question | own)
        if "position" in question:
            facts = {"type": "prepare", "position": question["position"], "agent": agent}
            self._let_compile(f"{agent} {_table_of(question['position'])}", facts)
        return self._program

    def _let_compile(self, what: str, question: dict[str, Any]) -> None:
        """Ask a question for which code may be compiled, unless that has been done."""
        if self._program is not None and what not in self._known:
            self._program.request(question, FIRST_LIMIT)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(what)

    def close(self) -> None:
        """End the process."""
        if self._program is not None:
            self._program.kill()


def _table_of(position: str) -> str:
    """Rules and map of a position, as a text; ValueError says what is wrong with the position."""
    game = position_of(position)
    return f"{game.rules} {game.board.digest}"


@cache
def _example() -> str:
    """The position of the sample questions."""
    return Game(Rules.preset("classic", 2, setup="random", max_rounds=3), "tiny", seed=1).to_text()


# ------------------------------------------------------------------------------------------------ the far end


def serve() -> None:
    """Answer until the pipe is closed."""
    serve_lines(lambda question, _request: answer_to(question))


def answer_to(question: dict[str, Any]) -> dict[str, Any]:
    """The message that answers a question: `answer`, or `error` with the reason why there is none."""
    try:
        return {"answer": _ANSWERS[question.pop("type")](**question)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def _chances(position: str, bot: str, games: int) -> list[float]:
    """The chance to win of every seat when a compiled bot plays on in all seats."""
    game = position_of(position)
    return chances_by_play(game.rules, game.board, bot, games)(game).tolist()


def _prepare(position: str, agent: str) -> None:
    """Compile what an agent needs for the rules and the map of a position; nothing is played."""
    game = position_of(position)
    make(agent).prepare(game.rules, game.board)


def _explain(position: str, agent: str) -> dict[str, Any]:
    """What an agent says of its choice for the seat that is asked; it sees what that seat may see."""
    game, player = position_of(position), make(agent)
    if not isinstance(player, Explaining):
        raise ValueError(f"agent={agent!r} has no method explain()")
    match = Match.of(game, [player if seat == game.seat else None for seat in range(game.num_players)])
    match.begin()
    match.query_player()
    explanation = player.explain()
    if explanation is None:
        raise ValueError(f"{agent} has nothing to say about this question")
    return explanation.to_dict()


def _explaining() -> list[str]:
    """The registered agents that explain their choices; those that cannot be made here do not."""
    found = []
    for name in bots.names():
        with suppress(Exception):
            found += [name] if isinstance(make(name), Explaining) else []
    return found


_ANSWERS: dict[str, Callable[..., Any]] = {
    "chances": _chances,
    "explain": _explain,
    "explaining": _explaining,
    "prepare": _prepare,
}
