"""A game on the server: people and agents in its seats, and what every viewer has seen of it."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from risk_agents.base import Agent, View, chance_seeds
from risk_agents.registry import HUMAN, make
from risk_agents.scripted.odds import win_probability
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, check_rules
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.seeds import game_seed
from risk_env.viewer.frames import Frames
from risk_env.viewer.map_data import map_data

SLOWEST, FASTEST, PACE = 5.0, 0.0, 0.4  # seconds between two decisions of agents


class Refused(ValueError):
    """What a browser asked for is not allowed; the message says why."""


_EXAMPLE: tuple[Any, ...] = ({}, "", 0, [], [], [], "", "")  # values of a setting as JSON has them


@dataclass(frozen=True)
class Setting:
    """What a game is: enough, with its actions, to play it again."""

    rules: dict[str, Any]
    map: str
    seed: int
    players: tuple[str, ...]  # `human`, or the spec of an agent, for each seat
    names: tuple[str, ...]
    tokens: tuple[str, ...]  # a secret for each seat of a person, "" for agents
    owner: str  # the secret of who began the game
    position: str = ""  # text of the position that the game begins with, "" for a set-up

    @classmethod
    def new(
        cls, rules: Rules, map_name: str, players: Sequence[str], names: Sequence[str], position: str = ""
    ) -> Setting:
        """A new game with a random seed and new secrets."""
        tokens = tuple(secrets.token_urlsafe(16) if player == HUMAN else "" for player in players)
        seed, owner = secrets.randbits(48), secrets.token_urlsafe(16)
        return cls(rules.to_dict(), map_name, seed, tuple(players), tuple(names), tokens, owner, position)

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Setting:
        """The setting of a dict of `to_dict`; Refused for any other."""
        types = {field.name: type(example) for field, example in zip(fields(cls), _EXAMPLE, strict=True)}
        if not isinstance(facts, dict) or {name: type(value) for name, value in facts.items()} != types:
            raise Refused("the game was not kept by this version")
        values: dict[str, Any] = {
            name: tuple(map(str, value)) if isinstance(value, list) else value for name, value in facts.items()
        }
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """A dict for `json.dumps`."""
        return asdict(self)


class Table:
    """A game in progress. `keep(number, action)` is called before an action is played."""

    def __init__(self, setting: Setting, actions: Sequence[int], keep: Callable[[int, int], None]) -> None:
        self.setting, self.pace, self.problem = setting, PACE, ""
        rules, board = Rules.from_dict(setting.rules), load_map(setting.map)
        check_rules(rules, board)
        self.game = (
            Game.from_position(setting.position, rules, board, setting.seed)
            if setting.position
            else Game(rules, board, setting.seed)
        )
        self.changed = asyncio.Event()
        self._keep = keep
        self._seat_agents()
        self._frames = {seat: Frames(self.game.tables, seat) for seat in (NOBODY, *self.people)}
        self.frames: dict[int, list[str]] = {seat: [] for seat in self._frames}  # by viewer, as JSON
        self._log = self.game.watched(self._watch)
        self._answer: asyncio.Future[int] | None = None
        for action in actions:
            self._ask_again()
            self._step(action)

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, player in enumerate(self.setting.players) if player == HUMAN]

    def _seat_agents(self) -> None:
        self._agents: dict[int, Agent] = {
            seat: make(player) for seat, player in enumerate(self.setting.players) if player != HUMAN
        }
        idle = [self._agents.get(seat) or Agent() for seat in range(self.game.num_players)]
        self._chances = chance_seeds(idle, int(game_seed(self.game.seed)))
        for seat, agent in self._agents.items():
            agent.reset(seat, self.game.rules, self.game.board, self._chances[seat])

    # ------------------------------------------------------------------------------------------ playing

    async def play(self) -> None:
        """Play to the end; an agent that fails stops the game, and `problem` says so."""
        try:
            while not self.game.is_over:
                if self.game.seat in self._agents:
                    action = await asyncio.to_thread(self._ask, self.game.seat)
                    await asyncio.sleep(self.pace)
                else:
                    self._answer = asyncio.get_running_loop().create_future()
                    action = await self._answer
                self._keep(len(self.game.actions), action)
                self._step(action)
        except Exception as error:
            logging.getLogger(__name__).exception("a game has stopped")
            self.problem = f"{self.setting.names[self.game.seat]} failed: {type(error).__name__}"
        self._announce()

    def _ask(self, seat: int) -> int:
        action = int(self._agents[seat].act(View(self.game, chance=self._chances[seat])))
        if action not in self.game.legal_actions():
            raise self.game._illegal(action)
        return action

    def _ask_again(self) -> None:
        """Ask an agent what it was asked before the server stopped, so that it remembers what it knew."""
        if self.game.seat in self._agents:
            self._ask(self.game.seat)

    def _step(self, action: int) -> None:
        self.game.step(action)
        self._log.catch_up(self.game.actions)
        self._announce()

    def answer(self, seat: int, decision: int, action: int) -> None:
        """A person's answer; Refused unless this seat was asked this decision and the action is legal."""
        if seat != self.game.seat or decision != len(self.game.actions) or self._answer is None or self._answer.done():
            raise Refused("it is not your decision any more")
        if action not in self.game.legal_actions():
            raise Refused(f"action {action} is not legal")
        self._answer.set_result(action)

    def set_pace(self, seconds: float) -> None:
        """How long agents wait between two decisions; Refused for what is no number."""
        if math.isnan(seconds):
            raise Refused("the pace must be a number of seconds")
        self.pace = min(max(seconds, FASTEST), SLOWEST)

    def close(self) -> None:
        """End what the agents started."""
        for agent in self._agents.values():
            getattr(agent, "close", lambda: None)()

    # ------------------------------------------------------------------------------------------ what is seen

    def _watch(self, records: Any, events: Any) -> None:
        for seat, frames in self._frames.items():
            frames.watch(records, events)
            self.frames[seat] += (json.dumps(frame, separators=(",", ":")) for frame in frames.frames)
            frames.frames.clear()

    def _announce(self) -> None:
        """Wake all who wait for `changed`."""
        self.changed.set()
        self.changed = asyncio.Event()

    def viewer(self, token: str) -> int:
        """The seat of a token, or NOBODY for a viewer without one; Refused if there is no such token."""
        if not token or secrets.compare_digest(token.encode(), self.setting.owner.encode()):
            return NOBODY
        for seat in self.people:
            if secrets.compare_digest(token.encode(), self.setting.tokens[seat].encode()):
                return seat
        raise Refused("this link belongs to no seat of the game")

    def facts(self, viewer: int) -> dict[str, Any]:
        """What a page needs besides the frames."""
        return {
            "schema": 1,
            "map": map_data(self.game.board),
            "rules": self.game.rules.to_dict(),
            "names": list(self.setting.names),
            "seat": viewer,
            "start": self._frames[viewer].start,
            "chances": [],
            "secrets": {},
        }

    def question(self, viewer: int) -> dict[str, Any] | None:
        """What the viewer is asked, None if it is not its decision."""
        if viewer == NOBODY or viewer != self.game.seat:
            return None
        legal = [self._choice(action) for action in self.game.legal_actions().tolist()]
        return {"decision": len(self.game.actions), "phase": self.game.phase.name, "legal": legal}

    def _choice(self, action: int) -> dict[str, Any]:
        """A legal action; of an attack with the chance of a blitz to take the territory."""
        kind, arguments = self.game.tables.space.decode(action)
        choice = {"action": action, "text": self.game.action_text(action), "kind": kind, "places": arguments}
        if kind == "attack":
            source, target = self.game.troops[list(arguments)].tolist()
            choice["chance"] = round(win_probability(source, target), 3)
        return choice
