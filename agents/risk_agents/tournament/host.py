"""A process in which agents written in Python live: it may crash, hang or end, and the tournament goes on.

At each decision the process is sent a record in which everything that the seat cannot see has been drawn anew: there
is nothing in it to peek at.
"""

from __future__ import annotations

import operator
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import risk_agents
from risk_agents.base import View
from risk_agents.tournament.results import Forfeit
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.seeds import bot_seed, game_seed, veiled

START_LIMIT = 120.0  # seconds in which a process must have made its agent
REHEARSAL = 12.0  # times the time limit: what a rehearsal may take
_MOST_BITS = 63  # of an action
_MOST_LETTERS = 40  # of a name or a version
_PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent has died


class Host:
    """The near end: starts the process, sends it questions, and ends it when an answer takes too long."""

    def __init__(self, spec: str, rules: Rules, map_source: str, time_limit: float) -> None:
        self.time_limit = time_limit
        context = get_context("spawn")
        self._near, far = context.Pipe()
        self._process = context.Process(target=serve, args=(far, spec, rules, map_source), daemon=True)
        with _no_arguments():
            self._process.start()
        far.close()
        try:
            self.name, self.version, self.is_compiled = self._answer(START_LIMIT)
        except BaseException:
            self.close()
            raise

    def rehearse(self) -> None:
        """Let the agent play a turn of another game, so that what it compiles is compiled; faults do not matter."""
        with suppress(Forfeit, OSError):
            self._near.send(("rehearse", 0, None))
            self._answer(REHEARSAL * self.time_limit)

    def begin(self, seat: int, seed: int) -> None:
        """Tell the agent of a seat that a game begins."""
        self._near.send(("begin", seat, seed))
        self._answer(self.time_limit)

    def choose(self, game: Game) -> int:
        """What the agent of the seat to decide answers."""
        shown = game.determinize(game.seat, 0)
        self._near.send(("act", game.seat, shown.to_record()))
        return self._answer(self.time_limit)

    def _answer(self, limit: float) -> Any:
        try:
            if not self._near.poll(limit):
                self.close()
                raise Forfeit("time", f"no answer within {limit:g} s")
            fine, answer = self._near.recv()
        except (EOFError, OSError) as error:
            self._process.join(1.0)
            code = self._process.exitcode
            self.close()
            raise Forfeit("died", f"the agent's process ended with status {code}") from error
        if not fine:
            raise Forfeit("crash", answer)
        return answer

    @property
    def is_alive(self) -> bool:
        """Whether the process can be asked."""
        return not self._near.closed and self._process.is_alive()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._near.close()
        self._process.kill()
        self._process.join()


@contextmanager
def _no_arguments() -> Iterator[None]:
    """A process started here does not get the command line, in which `--seed` tells all dice to come."""
    arguments, sys.argv = sys.argv, sys.argv[:1]
    try:
        yield
    finally:
        sys.argv = arguments


def serve(far: Connection, spec: str, rules: Rules, map_source: str) -> None:
    """The far end: make agents of `spec`, one a seat, and answer until the pipe is closed."""
    end_with_parent()
    sys.stdout.flush()
    os.dup2(2, 1)  # what agents print, and what they start, must not get into the tables
    with suppress(EOFError, OSError):
        try:
            server = AgentServer(spec, rules, map_source)
            far.send((True, server.introduce()))
        except Exception as error:
            far.send((False, _told(error)))
            return
        while True:
            far.send(_try(server, *far.recv()))


def printable(words: Any) -> str:
    """What an agent says of itself as a short label: no brackets, which tables take for markup, nothing unprintable."""
    letters = [letter for letter in str(words) if letter.isprintable() and letter not in "[]"]
    return "".join(letters)[:_MOST_LETTERS].strip() or "?"


def end_with_parent() -> None:
    """Ctrl-C is the parent's affair; when the parent is killed, so is this process (on Linux)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _try(server: AgentServer, message: str, seat: int, content: Any) -> tuple[bool, Any]:
    """The answer to a message, or what went wrong."""
    try:
        if message == "act":
            return True, _number(server.act(seat, content))
        if message == "begin":
            server.begin(seat, content)
        else:
            server.rehearse()
        return True, None
    except Exception as error:
        return False, _told(error)


def _number(answer: Any) -> int:
    """An answer as an action, legal or not; TypeError and ValueError for what can be none."""
    if isinstance(answer, bool) or not hasattr(answer, "__index__"):
        raise TypeError(f"act must return a whole number, one of view.legal_actions, not {answer!r:.80}")
    number = operator.index(answer)
    if number.bit_length() > _MOST_BITS:
        raise ValueError(f"act returned a number of {number.bit_length()} bits")
    return number


def _told(error: Exception) -> str:
    """An exception in one line, with the place in the agent's code where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


class AgentServer:
    """The agents of one spec, one a seat, made when first needed."""

    def __init__(self, spec: str, rules: Rules, map_source: str) -> None:
        self.spec, self.rules, self.board = spec, rules, load_map(map_source)
        self._agents: dict[int, Any] = {}
        self._chance: dict[int, int] = {}  # of the agent of each seat
        _load_core(rules, self.board)

    def _agent(self, seat: int) -> Any:
        if seat not in self._agents:
            self._agents[seat] = risk_agents.make(self.spec)
        return self._agents[seat]

    def begin(self, seat: int, seed: int) -> None:
        """A game begins for the agent of a seat."""
        self._chance[seat] = seed
        self._agent(seat).reset(seat, self.rules, self.board, seed)

    def act(self, seat: int, record: bytes) -> int:
        """Its answer in the position of a record (`Game.to_record`)."""
        game = Game.from_record(self.rules, self.board, record)
        return self._agent(seat).act(View(game, seat, self._chance[seat]))

    def introduce(self) -> tuple[str, str, bool]:
        """Name and version of the agent, and whether it is a compiled bot."""
        agent = self._agent(0)
        return printable(agent.name), printable(agent.version), isinstance(agent, risk_agents.base.CompiledAgent)

    def rehearse(self) -> None:
        """Play the first turn of another game."""
        rules = _quick_start(self.rules)
        game = Game(rules, self.board, seed=0)
        seat, now = game.seat, (game.round, game.turn)
        self._agent(seat).reset(seat, rules, self.board, veiled(int(bot_seed(int(game_seed(0)), seat))))
        while not game.is_over and (game.round, game.turn) == now and game.seat == seat:
            game.step(int(self._agent(seat).act(View(game, seat))))


def _load_core(rules: Rules, board: Board) -> None:
    """Load all that a view needs, so that no agent waits for it in its own time."""
    game = Game(rules, board, seed=0)
    view = View(Game.from_record(rules, board, game.to_record()))
    str((view.observation, view.texts, view.position, view.sample(0).legal_actions()))
    game.step(int(view.legal_actions[0]))


def _quick_start(rules: Rules) -> Rules:
    """The same game without a set-up to be played."""
    try:
        return rules.replace(setup="random")
    except ValueError:
        return rules
