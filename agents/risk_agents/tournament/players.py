"""The players of a job: compiled bots, agents in a process of their own (`host`), external programs."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from risk_agents.external import ExternalAgent, is_program
from risk_agents.llm.agent import ModelAgent, is_model
from risk_agents.program import ProgramFault
from risk_agents.sandbox import sandbox
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.host import Host
from risk_agents.tournament.loading import compiled_bot
from risk_agents.tournament.results import Forfeit
from risk_env.agent import History, View
from risk_env.bots import CompiledBot
from risk_env.game import Game
from risk_env.seeds import veiled


class SinglePlayer(Protocol):
    """Answers for one seat of one game at a time; raises Forfeit where it cannot."""

    def begin(self, seat: int, seed: int) -> None:
        """A game begins; `seed` is that of the player's own chance."""

    def choose(self, game: Game, history: History) -> int:
        """An action for the seat to decide; `history` gives the events that a seat has seen."""

    def end(self, outcome: dict[str, Any], history: History) -> None:
        """The game is over."""


class HostedPlayer:
    """An agent in a host process, which is started again after it died."""

    def __init__(self, pool: PlayerPool, agent: int) -> None:
        self._host = partial(pool.host, agent)

    def begin(self, seat: int, seed: int) -> None:
        """A game begins."""
        self._host().begin(seat, veiled(seed))

    def choose(self, game: Game, history: History) -> int:
        """What the agent answers."""
        return self._host().choose(game)

    def end(self, outcome: dict[str, Any], history: History) -> None:
        """Nothing to do."""


class AskedPlayer:
    """An external program, started again after a fault; or a language model, which runs no code of its own."""

    def __init__(self, spec: str, config: TournamentConfig) -> None:
        self._spec, self._config = spec, config
        self._agent: ExternalAgent | ModelAgent | None = ModelAgent(spec) if is_model(spec) else None

    def begin(self, seat: int, seed: int) -> None:
        """A game begins."""
        try:
            if self._agent is None:
                walls = sandbox(self._config.sandbox)
                self._agent = ExternalAgent(self._spec, self._config.time_limit, sandbox=walls)
            self._agent.reset(seat, self._config.rules, self._config.board, veiled(seed))
        except ProgramFault as fault:
            raise self._lost(fault) from fault

    def choose(self, game: Game, history: History) -> int:
        """What it answers."""
        if self._agent is None:
            raise Forfeit("died", "the program is not running")
        try:
            return self._agent.act(View(game, game.seat, history=history))
        except ProgramFault as fault:
            raise self._lost(fault) from fault

    def end(self, outcome: dict[str, Any], history: History) -> None:
        """Tell it, if it still listens."""
        if isinstance(self._agent, ExternalAgent):
            if not self._agent.over(outcome, history(outcome["seat"]) if self._agent.wants_events else ()):
                self.close()
        elif self._agent is not None:
            self._agent.over(outcome)

    def _lost(self, fault: ProgramFault) -> Forfeit:
        self.close()
        return Forfeit(fault.kind, str(fault))

    def close(self) -> None:
        """End a program."""
        if isinstance(self._agent, ExternalAgent):
            self._agent.close()
            self._agent = None

    def notes(self) -> dict[str, Any] | None:
        """What a model did in the game that has ended."""
        return self._agent.notes() if isinstance(self._agent, ModelAgent) else None


class PlayerPool:
    """The players of one process, kept from game to game."""

    def __init__(self, config: TournamentConfig) -> None:
        self.config = config
        self._hosts: dict[int, Host] = {}  # of each agent: two made of one file share nothing
        self._players: dict[tuple[int, int], CompiledBot | SinglePlayer] = {}

    def player(self, agent: int, seat: int) -> CompiledBot | SinglePlayer:
        """The player for a seat of agent number `agent`."""
        if (agent, seat) not in self._players:
            self._players[agent, seat] = self._make(agent)
        return self._players[agent, seat]

    def _make(self, agent: int) -> CompiledBot | SinglePlayer:
        entrant = self.config.entrants[agent]
        bot = compiled_bot(entrant.spec) if entrant.compiled else None  # else it is not even loaded here
        if bot is not None:
            return bot
        is_asked = is_program(entrant.spec) or is_model(entrant.spec)
        return AskedPlayer(entrant.spec, self.config) if is_asked else HostedPlayer(self, agent)

    def host(self, agent: int) -> Host:
        """Return the running host of an agent, which has prepared."""
        if agent not in self._hosts or not self._hosts[agent].is_alive:
            self._hosts[agent] = self._started(agent)
            self._hosts[agent].prepare()
            if not self._hosts[agent].is_alive:
                self._hosts[agent] = self._started(agent)
        return self._hosts[agent]

    def _started(self, agent: int) -> Host:
        """Start a new host of an agent."""
        config, spec = self.config, self.config.entrants[agent].spec
        return Host(spec, config.rules, config.map_source, config.time_limit, sandbox(config.sandbox))

    def close(self) -> None:
        """End all processes."""
        for host in self._hosts.values():
            host.close()
        for player in self._players.values():
            if isinstance(player, AskedPlayer):
                player.close()
        self._hosts, self._players = {}, {}
