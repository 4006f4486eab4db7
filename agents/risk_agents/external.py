"""External programs as agents: JSON lines over standard input and output (docs/protocol.md has the protocol).

`make("cmd:./my_bot --fast")` starts the program. No decision takes longer than the time limit: a program that is late,
exits or sends something else than an answer is killed and raises `ProgramFault`.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any

from risk_agents.base import Agent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core.types import NO_REWARD, Held, Phase

PROTOCOL = 1
PREFIX = "cmd:"
TIME_LIMIT = 10.0  # seconds a decision
START_LIMIT = 60.0  # seconds for the program to start and say hello
FAREWELL = 2.0  # seconds for the program to end after `bye`
LONGEST_LINE = 1 << 20  # bytes of an answer
_PUBLIC_FIELDS = (  # of a question, in the order of the protocol
    *("round", "turn", "starter", "owner", "troops", "alive", "hand_sizes", "sets_traded", "to_place", "draft_left"),
    *("source", "target", "dice", "captured", "battles", "moves_left", "cities", "capitals", "headquarters"),
    *("objectives", "rewards", "airfields", "deck", "discard", "discard_wilds", "shown", "shown_hands"),
    *("picked", "picked_wilds"),
)
_SAFE_INTEGER = (1 << 53) - 1  # JSON numbers that every language reads exactly
_AT_ONCE = 1 << 16  # bytes that are read
_LAST_WORDS = 300  # characters of its standard error that a fault quotes


def is_program(spec: str) -> bool:
    """Whether a spec is `cmd:` and a command line."""
    return spec.startswith(PREFIX)


class ProgramFault(RuntimeError):
    """What went wrong with an external program; `kind` is "died", "garbage", "illegal" or "time"."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class ExternalAgent(Agent):
    """A program that plays, one game after another; `close` ends it."""

    def __init__(self, spec: str, time_limit: float = TIME_LIMIT, start_limit: float = START_LIMIT) -> None:
        self.time_limit = time_limit
        self._program = Program(shlex.split(spec.removeprefix(PREFIX)))
        self._asked = 0
        self.name, self.version = self._program.name, "?"
        hello = self._exchange({"type": "hello", "protocol": PROTOCOL, "time_limit": time_limit}, start_limit)
        if hello.get("protocol") != PROTOCOL:
            raise self._fault("garbage", f"speaks protocol {hello.get('protocol')!r}, not {PROTOCOL}")
        self.name, self.version = str(hello.get("name", self.name)), str(hello.get("version", "?"))

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Tell the program that a game begins."""
        self._say({"type": "game", "seat": seat, "seed": seed & _SAFE_INTEGER, **game_facts(rules, board)})

    def act(self, view: View) -> int:
        """Ask the program; ProgramFault if it does not answer with a legal action in time."""
        self._asked += 1
        question = {"type": "act", "id": self._asked, **question_facts(view)}
        answer = self._exchange(question, self.time_limit)
        if answer.get("id") != self._asked:
            raise self._fault("garbage", f"answers id {answer.get('id')!r} to question {self._asked}")
        return self._legal(answer.get("action"), question)

    def _legal(self, action: Any, question: dict[str, Any]) -> int:
        """The number of an action that is given by number or by text."""
        if isinstance(action, str) and action in question["texts"]:
            return question["legal"][question["texts"].index(action)]
        if isinstance(action, int) and not isinstance(action, bool) and action in question["legal"]:
            return action
        few = ", ".join(map(repr, question["texts"][:6]))
        more = f", … ({len(question['legal'])} in all)" if len(question["legal"]) > 6 else ""
        raise self._fault("illegal", f"action {action!r} in {question['phase']}: legal are {few}{more}")

    def over(self, outcome: dict[str, Any]) -> bool:
        """Tell the program how the game ended; whether it still listens."""
        try:
            self._say({"type": "over", **outcome})
        except ProgramFault:
            return False
        return True

    def close(self) -> None:
        """Say goodbye and end the program."""
        self._program.close()

    def _say(self, message: dict[str, Any]) -> None:
        self._program.exchange(message, self.time_limit, listen=False)

    def _exchange(self, message: dict[str, Any], limit: float) -> dict[str, Any]:
        line = self._program.exchange(message, limit, listen=True)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._fault("garbage", f"answers {line[:80]!r} instead of a JSON object")
        return answer

    def _fault(self, kind: str, reason: str) -> ProgramFault:
        self._program.kill()
        return ProgramFault(kind, f"{self.name}: {reason}")


class Program:
    """A running program: a line to it, a line from it, and an end when that takes too long."""

    def __init__(self, command: list[str]) -> None:
        if not command:
            raise ProgramFault("died", f"{PREFIX!r} needs a command line behind it")
        self.name = os.path.basename(command[0])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the program
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, start_new_session=True
            )
        except OSError as error:
            self._errors.close()
            raise ProgramFault("died", f"{shlex.join(command)}: {error}") from error
        self._unread = b""
        self._readable = selectors.DefaultSelector()
        self._readable.register(self._stdout, selectors.EVENT_READ)

    def exchange(self, message: dict[str, Any], limit: float, listen: bool) -> bytes:
        """Send a message and, if `listen`, wait for the line that answers it; ProgramFault after `limit` seconds."""
        until = time.monotonic() + limit
        with self._deadline(limit) as late:
            try:
                self._stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
                self._stdin.flush()
                line = self._line(until) if listen else b"\n"
            except (OSError, ValueError):
                line = b""
        if late or time.monotonic() >= until:
            self.kill()
            raise ProgramFault("time", f"{self.name}: no answer within {limit:g} s")
        if not line.endswith(b"\n"):
            raise self._end(line)
        return line

    def _line(self, until: float) -> bytes:
        """The next line; what there is of it if it does not end by that time, or before the program does.

        Others may hold the program's output open when it has been killed: reading must not wait for its end.
        """
        while not (end := self._unread.find(b"\n") + 1) and len(self._unread) < LONGEST_LINE:
            is_there = self._readable.select(max(0.0, until - time.monotonic()))
            more = os.read(self._stdout.fileno(), _AT_ONCE) if is_there else b""
            if not more:
                break
            self._unread += more
        end = min(end or len(self._unread), LONGEST_LINE)
        line, self._unread = self._unread[:end], self._unread[end:]
        return line

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    @property
    def _stdout(self) -> Any:
        return self._process.stdout

    @contextmanager
    def _deadline(self, limit: float) -> Iterator[list[bool]]:
        """Kill the program after `limit` seconds: then writing blocks no longer."""
        late: list[bool] = []

        def strike() -> None:
            late.append(True)
            self.kill()

        timer = Timer(limit, strike)
        timer.daemon = True
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()

    def _end(self, line: bytes) -> ProgramFault:
        """The fault of a program that ended, or of a line that does not."""
        if len(line) >= LONGEST_LINE:
            self.kill()
            return ProgramFault("garbage", f"{self.name}: a line of more than {LONGEST_LINE} bytes")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(FAREWELL)
        self.kill()
        words = self._last_words()
        return ProgramFault(
            "died", f"{self.name}: ended with status {self._process.wait()}{': ' + words if words else ''}"
        )

    def _last_words(self) -> str:
        if self._errors.closed:
            return ""
        self._errors.seek(0)
        return " ".join(self._errors.read().decode(errors="replace").split())[-_LAST_WORDS:]

    def kill(self) -> None:
        """End the program and those it started."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def close(self) -> None:
        """Ask the program to end; kill it if it does not."""
        with suppress(OSError, ValueError), self._deadline(FAREWELL):
            self._stdin.write(b'{"type":"bye"}\n')
            self._stdin.close()
            self._process.wait()
        self.kill()
        self._process.wait()
        self._readable.close()
        self._stdout.close()
        self._errors.close()


# ------------------------------------------------------------------------------------------------ what is sent


def game_facts(rules: Rules, board: Board) -> dict[str, Any]:
    """Rules, map and numbering of actions: what a program gets when a game begins."""
    space = tables(rules, board).space
    return {
        "num_players": rules.num_players,
        "rules": rules.to_dict(),
        "map": {
            "name": board.name,
            "digest": board.digest,
            "territories": board.territories,
            "continents": board.continents,
            "bonuses": board.bonuses,
            "continent_of": board.continent_of,
            "borders": board.borders,
            "symbols": board.symbols,
            "stars": board.stars,
            "objectives": [objective.name for objective in board.objectives],
        },
        "actions": {block: numbers.start for block, numbers in space.blocks.items()} | {"end": space.n},
    }


def question_facts(view: View) -> dict[str, Any]:
    """A question: what is legal, and what the seat may see."""
    return {
        "seat": view.seat,
        "phase": view.phase.name,
        "legal": [int(action) for action in view.legal_actions],
        "texts": list(view.texts),
        **_public_facts(view),
        "hand": list(view.hand),
        "mission": None if view.mission is None else vars(view.mission),
    }


def _public_facts(view: View) -> dict[str, Any]:
    """The public state in the form and order of the protocol, with the seat's own headquarters."""
    facts, rules = view.position.to_json(), view.rules
    attacker, defender = facts["dice"] if view.phase in (Phase.REROLL, Phase.COMMANDER) else ([], [])
    facts["dice"] = {"attacker": attacker, "defender": defender, "chosen": facts["chosen_dice"]}
    facts["capitals"] = facts["capitals"] if rules.capitals else []
    facts["headquarters"] = _headquarters(view) if rules.victory == "headquarters" else []
    facts["objectives"] = _objectives(view)
    facts["rewards"] = facts["rewards"] if rules.rewards else []
    return {name: facts[name] for name in _PUBLIC_FIELDS}


def _headquarters(view: View) -> list[int]:
    """Territory of each seat's headquarters, -1 where it is not public or not picked (RULES 7.1)."""
    places = view.position.headquarters.tolist()
    if view.headquarters is not None:
        places[view.seat] = view.board.territory(view.headquarters)
    return places


def _objectives(view: View) -> list[dict[str, Any]]:
    """The Objectives in play: name, holder (-1 face up) and Reward (RULES 9.5)."""
    holders, rewards = view.position.objectives.tolist(), view.position.objective_rewards
    return [
        {"name": goal.name, "holder": holder, "reward": None if reward == NO_REWARD else reward}
        for goal, holder, reward in zip(view.board.objectives, holders, rewards, strict=False)
        if holder != Held.NOT_IN_PLAY
    ]
