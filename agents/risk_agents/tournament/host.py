"""Separate process for a Python agent, so that a crash or hang of the agent does not stop the tournament.

At each decision the process receives a game record. All hidden facts in the record are drawn again, so the
agent cannot learn the real facts. Messages are lines of JSON (`program`): a request with a number, and a
reply with a result or an error.

    {"id": 7, "type": "act", "seat": 1, "record": "..."}        {"id": 7, "result": 42}

If the agent reads `view.events`, its process requests the events that the process does not know yet, at most
once per decision. In both examples, the left message goes to the process, and the right message comes from
the process:

    {"id": 7, "events": [...]}                                  {"id": 7, "wants": "events", "since": 120}
"""

import base64
import os
import random
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import risk_agents
from risk_agents.program import Program, ProgramFault, brief, python_command, serve_lines
from risk_agents.registry import file_of, is_in_file
from risk_agents.sandbox import OPEN, Sandbox, python_installation, shown_with
from risk_env.agent import CompiledAgent, View, prepares
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.compiling import compile_games
from risk_env.core.types import NOBODY, Phase
from risk_env.events import Event
from risk_env.game import Game
from risk_env.match import Match
from risk_env.players import MOST_BITS, as_action
from risk_env.text.escape import label

LOAD_LIMIT = 900.0  # time limit for a process to load or compile the installed code, in seconds
START_LIMIT = 120.0  # time limit for a process to make its agent, in seconds
# Time limit for the preparation of an agent from a file, as a multiple of the time limit for a decision
PREPARATION = 12.0
# Maximum thinking time in a rehearsal, excluding the first action in each phase, as a multiple of the time
# limit for a decision
REHEARSAL = 2.0
REHEARSED_ROUNDS = 10  # maximum number of rounds of a rehearsal
NO_DEAL = 1 << 62  # number of the deal of rehearsals, which no tournament plays
Request = Callable[[dict[str, Any]], dict[str, Any]]

_UNPREPARED: set[str] = set()  # specs whose process ended in the preparation, which later games skip


class Host:
    """Handle of an agent's process in the tournament's process.

    A `Host` starts the agent's process, sends requests, and kills the process if a reply is late. All methods
    that send requests, except `prepare`, raise ProgramFault if the agent or the process fails.
    """

    def __init__(
        self, spec: str, rules: Rules, map_source: str, time_limit: float, sandbox: Sandbox = OPEN
    ) -> None:
        self.time_limit, self._requests = time_limit, 0
        self._spec, self._prepared = spec, set[int]()  # `_prepared`: seats whose agents have prepared
        self._preparing_limit = PREPARATION * time_limit if is_in_file(spec) else LOAD_LIMIT
        shown = _shown_to(spec, map_source) if sandbox.is_closed else ()
        self._program = Program(python_command(__name__), "the agent's process", sandbox, shown)
        try:
            self._request("load", LOAD_LIMIT, rules=rules.to_dict(), map=map_source)
            value = self._request("introduce", START_LIMIT, spec=spec)
            if not (isinstance(value, list) and len(value) == 3 and isinstance(value[2], bool)):
                raise self._garbage(value, "a name, a version and a boolean")
        except ProgramFault:
            self.close()
            raise
        self.name, self.version, self.is_compiled = label(value[0]), label(value[1]), value[2]

    def prepare(self, seat: int) -> None:
        """Let the agent of a seat prepare, once.

        A fault of the agent is ignored. If the fault ends the agent's process, later games skip the
        preparation.
        """
        if self._spec in _UNPREPARED or seat in self._prepared:
            return
        self._prepared.add(seat)
        with suppress(ProgramFault):
            self._request("prepare", self._preparing_limit, seat=seat, seconds=REHEARSAL * self.time_limit)
        if not self.is_alive:
            _UNPREPARED.add(self._spec)

    def begin(self, seat: int, seed: int) -> None:
        """Tell the agent of a seat that a game begins."""
        self._request("begin", self.time_limit, seat=seat, seed=seed)

    def act(self, view: View) -> int:
        """Return the action of the agent at the view's seat."""
        record = base64.b64encode(view.game.to_record()).decode()
        value = self._request("act", self.time_limit, lambda: view.events, seat=view.seat, record=record)
        if not isinstance(value, int) or isinstance(value, bool) or value.bit_length() > MOST_BITS:
            raise self._garbage(value, "an action number")
        return value

    def _request(
        self, message: str, limit: float, history: Callable[[], Sequence[Event]] | None = None, **content: Any
    ) -> Any:
        """Send a message, and return the result in the reply.

        Before the reply, the process can request the events of `history` once. Raises ProgramFault if there
        is no valid reply within `limit` seconds, or if the agent raised an error.
        """
        self._requests += 1
        until = time.monotonic() + limit
        reply = self._program.request({"id": self._requests, "type": message, **content}, limit)
        if history is not None and reply.get("wants") == "events":
            events = [event.to_json() for event in history()[self._since(reply) :]]
            reply = self._program.request(
                {"id": self._requests, "events": events}, max(until - time.monotonic(), 0.0)
            )
        if reply.get("id") != self._requests or not isinstance(reply.get("error", ""), str):
            raise self._garbage(reply, f"the reply to request {self._requests}")
        if "error" in reply:
            raise ProgramFault("crash", reply["error"])
        return reply.get("result")

    def _since(self, reply: dict[str, Any]) -> int:
        """Return the number of events that the process knows; raise ProgramFault if `since` is not valid."""
        known = reply.get("since")
        if type(known) is not int or known < 0:
            raise self._garbage(reply, "the number of events that the process knows")
        return known

    def _garbage(self, reply: Any, expected: str) -> ProgramFault:
        return self._program.fault("garbage", f"answers {brief(reply)} instead of {expected}")

    @property
    def is_alive(self) -> bool:
        """True if the process is running."""
        return self._program.is_alive

    def close(self) -> None:
        """Kill the process."""
        self._program.kill()


def _shown_to(spec: str, map_source: str) -> list[str]:
    """Return the paths that the process of an agent must be able to read in a sandbox."""
    own = shown_with(file_of(spec)) if is_in_file(spec) else file_of(spec)
    files = [map_source] if Path(map_source).is_file() else []
    return [*python_installation(), *files, *([own] if own else [])]


# ---------------------------------------------------------------------------------------- the agent's process


def serve() -> None:
    """Reply to messages in the agent's process until the pipe is closed."""
    serve_lines(AgentServer().reply)


class AgentServer:
    """Agents of one spec, one agent for each seat; an agent is made when it is first needed."""

    spec: str  # set by `introduce`

    def __init__(self) -> None:
        self._has_rehearsed = False
        self._agents: dict[int, Any] = {}
        self._chance: dict[int, int] = {}  # seed of each seat's agent
        self._events: dict[int, list[Event]] = {}  # events that this process knows, by seat

    def reply(self, content: dict[str, Any], request: Request) -> dict[str, Any]:
        """Return the reply to a message: the result or the error of the method that the message names."""
        number, message = content.pop("id"), content.pop("type")
        self._request = lambda wish: request({"id": number, **wish})
        try:
            return {"id": number, "result": getattr(self, message)(**content)}
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)  # the last frame raised the error
            where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
            return {"id": number, "error": f"{type(error).__name__}: {error}{where}"}

    def load(self, rules: dict[str, Any], map: str) -> None:
        """Load and compile the code that views need, so compilation costs the agents no thinking time."""
        self.rules, self.board = Rules.from_dict(rules), load_map(map)
        compile_games(self.rules, self.board)
        view = Match(self.rules, self.board, [None] * self.rules.num_players, seed=0).view()
        str(
            (
                view.observation,
                view.codes,
                view.texts,
                view.public,
                view.hand,
                view.rng,
                view.samples(np.arange(2)),
            )
        )

    def _agent(self, seat: int) -> Any:
        if seat not in self._agents:
            self._agents[seat] = risk_agents.make(self.spec)
        return self._agents[seat]

    def begin(self, seat: int, seed: int) -> None:
        """Reset the agent of a seat for a new game."""
        self._chance[seat], self._events[seat] = seed, []
        self._agent(seat).reset(seat, self.rules, self.board, seed)

    def act(self, seat: int, record: str) -> int:
        """Return the action of a seat's agent in the position of a record (`Game.to_record`, in base64)."""
        game = Game.from_record(self.rules, self.board, base64.b64decode(record))
        return as_action(self._agent(seat).act(View(game, seat, self._chance[seat], cache(self._history))))

    def _history(self, seat: int) -> list[Event]:
        """Return the events that a seat has seen; request the events that this process does not know yet."""
        known = self._events[seat]
        news = self._request({"wants": "events", "since": len(known)})["events"]
        known += map(Event.from_json, news)
        return known

    def introduce(self, spec: str) -> tuple[str, str, bool]:
        """Make an agent of a spec; return its name, its version, and True if it is a compiled bot."""
        self.spec = spec
        agent = self._agent(0)
        return label(agent.name), label(agent.version), isinstance(agent, CompiledAgent)

    def prepare(self, seat: int, seconds: float) -> None:
        """Let the agent of a seat prepare.

        If the agent has no method `prepare`, another agent of the same spec plays a rehearsal, once.
        """
        with _global_chance_kept():
            agent = self._agent(seat)
            if prepares(agent):
                agent.prepare(self.rules, self.board)
            elif not self._has_rehearsed:
                self._has_rehearsed = True
                self._rehearse(risk_agents.make(self.spec), seconds)

    def _rehearse(self, agent: Any, seconds: float) -> None:
        """Let the agent play a game with the same rules and map; the other seats choose at random.

        The rehearsal ends when the game is over, or when the agent has thought for `seconds`, is eliminated,
        or has played REHEARSED_ROUNDS rounds. The time of the agent's first action in each phase is not
        counted, because this action can compile code.
        """
        game, chance = Game(self.rules, self.board, seed=0, lane=NO_DEAL), np.random.default_rng(0)
        seat, known = game.seat, set[Phase]()
        match = Match.of(game, [agent if other == seat else None for other in range(game.num_players)])
        match.begin()
        while (
            match.run(until={seat}) != NOBODY
            and game.alive[seat]
            and game.round <= REHEARSED_ROUNDS
            and seconds > 0
        ):
            if game.seat != seat:
                match.step(int(chance.choice(game.legal_actions())))
                continue
            phase, before = game.phase, match.seconds[seat]
            match.step(match.query_player())
            seconds -= (match.seconds[seat] - before) * (phase in known)
            known.add(phase)


@contextmanager
def _global_chance_kept() -> Iterator[None]:
    """Restore the global random generators of Python and NumPy at the end of the context."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
