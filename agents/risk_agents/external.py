"""External programs as agents: JSON lines over standard input and output (docs/protocol.md).

`make("cmd:./my_bot --fast")` starts the program. If the program exceeds a time limit, exits or sends an
invalid answer, all its processes are killed, and `ProgramFault` is raised.
"""

import os
import shlex
from collections.abc import Sequence
from typing import Any

from risk_agents.program import Program, ProgramFault, brief, check_limit
from risk_agents.protocol import PROTOCOL, Exchange, game_facts
from risk_agents.sandbox import OPEN, Sandbox, shown_to
from risk_env.agent import Agent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.events import Event
from risk_env.text.escape import label

PREFIX = "cmd:"
TIME_LIMIT = 10.0  # time limit for a decision, in seconds
START_LIMIT = 60.0  # time limit for the program to start and send `hello`, in seconds
_SAFE_INTEGER = (1 << 53) - 1  # largest integer that JSON parsers of all languages read exactly


def is_program(spec: str) -> bool:
    """Return True if a spec begins with `cmd:`, the prefix of programs."""
    return spec.startswith(PREFIX)


class ExternalAgent(Agent):
    """External program that plays one game after another, until `close` ends the program.

    `spec` is `cmd:` and a command line. `time_limit` is the limit for a decision, and `start_limit` the limit
    for the start, both in seconds. Raises ProgramFault if the program does not start in time, or does not
    speak protocol PROTOCOL.
    """

    def __init__(
        self,
        spec: str,
        time_limit: float = TIME_LIMIT,
        start_limit: float = START_LIMIT,
        sandbox: Sandbox = OPEN,
    ) -> None:
        check_limit("time_limit", time_limit)
        self.time_limit, self._requests = time_limit, 0
        command = _command(spec)
        self.name, self.version = label(os.path.basename(command[0])), "?"
        self._program = Program(command, self.name, sandbox, shown_to(command))
        hello = self._program.request(
            {"type": "hello", "protocol": PROTOCOL, "time_limit": time_limit}, start_limit
        )
        if hello.get("protocol") != PROTOCOL or isinstance(hello["protocol"], bool):
            spoken = brief(hello.get("protocol"))
            raise self._program.fault(
                "garbage", f"speaks protocol {spoken}; it must speak protocol {PROTOCOL}"
            )
        self._exchange = Exchange(hello)
        self.name, self.version = (
            label(hello.get(name, getattr(self, name))) for name in ("name", "version")
        )
        self._program.name = self.name

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Tell the program that a game begins.

        Raises ProgramFault if the message cannot be sent in time.
        """
        self._exchange.begin(seat)
        self._tell({"type": "game", "seat": seat, "seed": seed & _SAFE_INTEGER, **game_facts(rules, board)})

    def act(self, view: View) -> int:
        """Return the next action of the program's plan; if the plan has no action, request a new plan.

        Raises ProgramFault if the program does not answer with a legal action in time.
        """
        exchange = self._exchange
        action = exchange.plan.next_action(view.game)
        if action is None:
            try:
                exchange.take(self._request(exchange.request(view)), view.game)
            except ValueError as error:
                raise self._program.fault("illegal", f"in {view.phase.name}: {error}") from error
            action = exchange.plan.next_action(view.game)
        if action is None:
            raise self._program.fault(
                "illegal", f"in {view.phase.name}: the answer has no action for this decision"
            )
        return action

    def _request(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Request an action from the program, and return the reply."""
        self._requests += 1
        reply = self._program.request({"type": "act", "id": self._requests, **facts}, self.time_limit)
        if reply.get("id") != self._requests:
            raise self._program.fault(
                "garbage", f"answers request {self._requests} with id {brief(reply.get('id'))}"
            )
        return reply

    def over(self, outcome: dict[str, Any], events: Sequence[Event] = ()) -> bool:
        """Send the result and the last events to the program; return False if the program has failed."""
        try:
            self._tell({"type": "over", **outcome, **self._exchange.news(events)})
        except ProgramFault:
            return False
        return True

    @property
    def wants_events(self) -> bool:
        """True if the program requested events."""
        return self._exchange.wants_events

    def close(self) -> None:
        """Send `bye` to the program, and end the program."""
        self._program.close({"type": "bye"})

    def _tell(self, message: dict[str, Any]) -> None:
        self._program.tell(message, self.time_limit)


def _command(spec: str) -> list[str]:
    """Return the words of the command line in a spec; raise ProgramFault for an invalid command line."""
    try:
        words = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as error:
        raise ProgramFault("died", f"{spec}: {error}") from error
    if not words:
        raise ProgramFault("died", f"{spec!r}: {PREFIX!r} must be followed by a command line")
    return words
