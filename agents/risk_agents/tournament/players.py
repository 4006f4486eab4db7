"""The players of a job: compiled bots, agents in a process of their own (`host`), external programs."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np

from risk_agents.external import ExternalAgent, ProgramFault, is_program
from risk_agents.tournament.host import Host
from risk_agents.tournament.loading import compiled_bot
from risk_agents.tournament.results import Forfeit
from risk_agents.tournament.setting import Setting
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS
from risk_env.game import Game
from risk_env.seeds import veiled, word


class Player(Protocol):
    """Answers for one seat of one game at a time; raises Forfeit where it cannot."""

    def begin(self, seat: int, seed: int) -> None:
        """A game begins; `seed` is that of the player's own chance."""

    def choose(self, game: Game) -> int:
        """An action for the seat to decide."""

    def end(self, outcome: dict[str, Any]) -> None:
        """The game is over."""


class CompiledPlayer:
    """A compiled bot in a single game, with the same chance as in a batch."""

    def __init__(self, bot: CompiledBot) -> None:
        self.bot = bot
        self._randoms = np.zeros((1, MAX_SEATS), np.uint64)
        self._memory = np.zeros((1, MAX_SEATS, bot.memory), np.int32)
        self._lane, self._actions = np.zeros(1, np.int64), np.zeros(1, np.int64)

    def begin(self, seat: int, seed: int) -> None:
        """A game begins: the bot has forgotten all."""
        self._randoms[0, seat] = word(seed)
        self._memory[0, seat] = 0

    def choose(self, game: Game) -> int:
        """What the bot answers."""
        self._actions[0] = -1
        tables = game.tables
        try:
            self.bot.choose(
                game.records, tables.board, tables.rules, self._lane, self._randoms, self._memory, self._actions
            )
        except Exception as error:
            raise Forfeit("crash", f"{type(error).__name__}: {error}") from error
        return int(self._actions[0])

    def end(self, outcome: dict[str, Any]) -> None:
        """Nothing to do."""


class HostedPlayer:
    """An agent in a host process, which is started anew after it died."""

    def __init__(self, cast: Cast, agent: int) -> None:
        self._host = partial(cast.host, agent)

    def begin(self, seat: int, seed: int) -> None:
        """A game begins."""
        self._host().begin(seat, veiled(seed))

    def choose(self, game: Game) -> int:
        """What the agent answers."""
        return self._host().choose(game)

    def end(self, outcome: dict[str, Any]) -> None:
        """Nothing to do."""


class ProgramPlayer:
    """An external program, started anew after a fault."""

    def __init__(self, spec: str, setting: Setting) -> None:
        self._spec, self._setting = spec, setting
        self._agent: ExternalAgent | None = None

    def begin(self, seat: int, seed: int) -> None:
        """A game begins."""
        try:
            if self._agent is None:
                self._agent = ExternalAgent(self._spec, time_limit=self._setting.time_limit)
            self._agent.reset(seat, self._setting.rules, self._setting.board, veiled(seed))
        except ProgramFault as fault:
            raise self._lost(fault) from fault

    def choose(self, game: Game) -> int:
        """What the program answers."""
        from risk_agents.base import View

        if self._agent is None:
            raise Forfeit("died", "the program is not running")
        try:
            return self._agent.act(View(game, game.seat))
        except ProgramFault as fault:
            raise self._lost(fault) from fault

    def end(self, outcome: dict[str, Any]) -> None:
        """Tell the program, if it still listens."""
        if self._agent is not None and not self._agent.over(outcome):
            self.close()

    def _lost(self, fault: ProgramFault) -> Forfeit:
        self.close()
        return Forfeit(fault.kind, str(fault))

    def close(self) -> None:
        """End the program."""
        if self._agent is not None:
            self._agent.close()
            self._agent = None


class Cast:
    """The players of one process, kept from game to game."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._hosts: dict[int, Host] = {}  # of each agent: two made of one file share nothing
        self._players: dict[tuple[int, int], Player] = {}

    def player(self, agent: int, seat: int) -> Player:
        """The player for a seat of agent number `agent`."""
        if (agent, seat) not in self._players:
            self._players[agent, seat] = self._make(agent)
        return self._players[agent, seat]

    def _make(self, agent: int) -> Player:
        entrant = self.setting.entrants[agent]
        bot = compiled_bot(entrant.spec) if entrant.compiled else None  # else it is not even loaded here
        if bot is not None:
            return CompiledPlayer(bot)
        return ProgramPlayer(entrant.spec, self.setting) if is_program(entrant.spec) else HostedPlayer(self, agent)

    def host(self, agent: int) -> Host:
        """The living host of an agent."""
        if agent not in self._hosts or not self._hosts[agent].is_alive:
            setting = self.setting
            spec = setting.entrants[agent].spec
            self._hosts[agent] = Host(spec, setting.rules, setting.map_source, setting.time_limit)
        return self._hosts[agent]

    def close(self) -> None:
        """End all processes."""
        for host in self._hosts.values():
            host.close()
        for player in self._players.values():
            if isinstance(player, ProgramPlayer):
                player.close()
        self._hosts, self._players = {}, {}
