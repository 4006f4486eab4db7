"""Players of a job: lane players, agents in separate processes, external programs and language models.

Lane players are compiled bots and ONNX models, which play many games at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from risk_agents.external import ExternalAgent, is_program
from risk_agents.llm.agent import ModelAgent, is_model
from risk_agents.onnx_policy import OnnxPolicy
from risk_agents.program import ProgramFault
from risk_agents.registry import KEPT_OUT, POLICY_FILES, is_in_file, load
from risk_agents.sandbox import sandbox
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.host import Host
from risk_env import bots
from risk_env.agent import Agent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.events import Event
from risk_env.players import Policy

LanePlayer = CompiledBot | Policy  # player that plays many games at once, in the lanes of an `Arena`


def compiled_bot(spec: str) -> CompiledBot | None:
    """Return the compiled bot of a spec, or None if the spec names another kind of player."""
    player = lane_player(spec)
    return player if isinstance(player, CompiledBot) else None


@cache
def lane_player(spec: str) -> LanePlayer | None:
    """Return the player of a spec if the player is a compiled bot or an ONNX model, otherwise None.

    A Python file is loaded in this process. Programs and language models are not loaded.
    """
    is_named = spec.startswith(KEPT_OUT) or bots.is_registered(spec)
    may_be_compiled = is_named or is_in_file(spec) or spec.endswith(POLICY_FILES)
    if not may_be_compiled or is_program(spec) or is_model(spec):
        return None
    player = load(spec)
    return player if isinstance(player, CompiledBot | OnnxPolicy) else None


def is_queried(spec: str) -> bool:
    """Return True if a spec names a program or a language model."""
    return is_program(spec) or is_model(spec)


class HostedAgent(Agent):
    """Agent in a separate process (`host`); if the process dies, a new process is started."""

    def __init__(self, pool: PlayerPool, number: int, seat: int) -> None:
        self._host = partial(pool.host, number, seat)

    def prepare(self, rules: Rules, board: Board) -> None:
        """Start the process if it is not running, and let the agent prepare in the process."""
        self._host()

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Reset the agent for a new game."""
        self._host().begin(seat, seed)

    def act(self, view: View) -> int:
        """Return the action of the agent in the process."""
        return self._host().act(view)


class QueriedAgent(Agent):
    """External program or language model.

    A program is started again after a fault. A language model has no process.
    """

    def __init__(self, spec: str, config: TournamentConfig) -> None:
        self._spec, self._config = spec, config
        self._agent: ExternalAgent | ModelAgent | None = ModelAgent(spec) if is_model(spec) else None

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Reset the program or the model for a new game; a program that is not running is started."""
        with self._closed_at_a_fault():
            if self._agent is None:
                walls = sandbox(self._config.sandbox)
                self._agent = ExternalAgent(self._spec, self._config.time_limit, sandbox=walls)
            self._agent.reset(seat, rules, board, seed)

    def act(self, view: View) -> int:
        """Return the action of the program or the model."""
        if self._agent is None:
            raise ProgramFault("died", "the program is not running")
        with self._closed_at_a_fault():
            return self._agent.act(view)

    def over(self, outcome: dict[str, Any], events: Callable[[], Sequence[Event]]) -> None:
        """Send the outcome of the game to the program or the model, unless the program is not running.

        A program that requested events also gets the last events, which `events()` returns.
        """
        if isinstance(self._agent, ExternalAgent):
            if not self._agent.over(outcome, events() if self._agent.wants_events else ()):
                self.close()
        elif self._agent is not None:
            self._agent.over(outcome)

    @contextmanager
    def _closed_at_a_fault(self) -> Iterator[None]:
        try:
            yield
        except ProgramFault:
            self.close()
            raise

    def close(self) -> None:
        """End the program, if a program is running."""
        if isinstance(self._agent, ExternalAgent):
            self._agent.close()
            self._agent = None

    def notes(self) -> dict[str, Any] | None:
        """Return the notes of a model about the game that has ended, or None for a program."""
        return self._agent.notes() if isinstance(self._agent, ModelAgent) else None


class PlayerPool:
    """Players of one thread; the pool keeps players and their processes from game to game."""

    def __init__(self, config: TournamentConfig) -> None:
        self.config = config
        self._hosts: dict[int, Host] = {}  # by agent; two agents of the same file have two processes
        # By agent, and by seat or copy (`_player`)
        self._players: dict[tuple[int, int], LanePlayer | Agent] = {}

    def players(self, agents: Sequence[int]) -> list[LanePlayer | Agent]:
        """Return the player of each seat; `agents` contains the number of each seat's agent.

        In different games, a program can play different seats in the same process. If a program plays several
        seats of one game, each of these seats has a separate process.
        """
        return [self._player(agent, seat, agents[:seat].count(agent)) for seat, agent in enumerate(agents)]

    def _player(self, agent: int, seat: int, copy: int) -> LanePlayer | Agent:
        """Return the player for a seat; `copy` is the number of earlier seats with the same agent."""
        key = (agent, copy if is_queried(self.config.entrants[agent].spec) else seat)
        if key not in self._players:
            self._players[key] = self._make(agent, seat)
        return self._players[key]

    def _make(self, agent: int, seat: int) -> LanePlayer | Agent:
        entrant = self.config.entrants[agent]
        bot = lane_player(entrant.spec) if entrant.compiled else None  # other agents are not loaded here
        if bot is not None:
            return bot
        return (
            QueriedAgent(entrant.spec, self.config)
            if is_queried(entrant.spec)
            else HostedAgent(self, agent, seat)
        )

    def host(self, agent: int, seat: int) -> Host:
        """Let the agent prepare for `seat`, and return the agent's running host."""
        if agent not in self._hosts or not self._hosts[agent].is_alive:
            self._hosts[agent] = self._started(agent)
        self._hosts[agent].prepare(seat)
        if not self._hosts[agent].is_alive:
            self._hosts[agent] = self._started(agent)
        return self._hosts[agent]

    def _started(self, agent: int) -> Host:
        """Start a new host for an agent."""
        config, spec = self.config, self.config.entrants[agent].spec
        return Host(spec, config.rules, config.map_source, config.time_limit, sandbox(config.sandbox))

    def close(self) -> None:
        """End all processes."""
        for host in self._hosts.values():
            host.close()
        for player in self._players.values():
            if isinstance(player, QueriedAgent):
                player.close()
        self._hosts, self._players = {}, {}
