"""Estimates of a position from a process of its own, which is killed if an estimate takes too long.

A new process first answers a sample question of each kind, which compiles its code. A browser's questions
have a time limit of LIMIT seconds.

{"type": "chances", "position": "...", "bot": "breaker", "games": 64}       {"answer": [0.5, 0.25, 0.25]}
{"type": "explain", "position": "...", "agent": "search"}                   {"answer": {"plans": [...], ...}}
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from risk_agents.explanation import Explaining
from risk_agents.program import Program, ProgramFault, python_command, serve_lines
from risk_agents.registry import make
from risk_agents.rollouts import chances_by_play
from risk_agents.web.table import position_of
from risk_env import bots
from risk_env.agent import View, chance_seed
from risk_env.board.rules import Rules
from risk_env.game import Game

LIMIT, FIRST_LIMIT = 20.0, 300.0  # seconds per answer; seconds for the sample question


class Analyst:
    """The near end: one process, which answers one question after another. One thread at a time may ask."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._known: set[str] = set()  # kinds of questions that the process has answered

    def ask(self, question: dict[str, Any]) -> Any:
        """The answer; ValueError says why there is none."""
        try:
            reply = self._ready(question).ask(question, LIMIT)
        except ProgramFault as fault:
            raise ValueError(str(fault)) from fault
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["answer"]

    def _ready(self, question: dict[str, Any]) -> Program:
        """Start a process that has compiled the code for this kind of question."""
        if self._program is None or not self._program.is_alive:
            self._program = Program(python_command(__name__), "the analysis")
            self._known.clear()
        kind = f"{question['type']} {question.get('agent', '')}"
        if kind not in self._known:
            own = {"position": _example()} if "position" in question else {}
            self._program.ask(question | own, FIRST_LIMIT)
            self._known.add(kind)
        return self._program

    def close(self) -> None:
        """End the process."""
        if self._program is not None:
            self._program.kill()


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


def _explain(position: str, agent: str) -> dict[str, Any]:
    """What an agent says of its choice for the seat that is asked; it sees what that seat may see."""
    game, player = position_of(position), make(agent)
    if not isinstance(player, Explaining):
        raise ValueError(f"agent={agent!r} has no method explain()")
    seed = chance_seed(player, 0)
    player.reset(game.seat, game.rules, game.board, seed)
    player.act(View(game, chance=seed))
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


_ANSWERS: dict[str, Callable[..., Any]] = {"chances": _chances, "explain": _explain, "explaining": _explaining}
