"""A game on the server: people and agents in its seats, and what every viewer has seen of it."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any

from risk_agents.base import Agent, CompiledAgent, View, chance_seeds, prepare
from risk_agents.registry import HUMAN, make
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, check_rules
from risk_env.core.odds import win_probability
from risk_env.core.types import NOBODY, Phase
from risk_env.events import PRIVATE_PHASES
from risk_env.game import Game
from risk_env.public import most_troops
from risk_env.seeds import game_seed
from risk_env.text.escape import is_label
from risk_env.viewer.frames import Frames
from risk_env.viewer.map_data import map_data

SLOWEST, FASTEST, PACE = 5.0, 0.0, 0.4  # seconds between two decisions of agents
MOST_DECISIONS = 20_000  # of a game: the server keeps all its frames in memory
PREPARING = "The agents are preparing. The first time, this takes up to a few minutes."
AMOUNT_PHASES = (Phase.DRAFT_AMOUNT, Phase.OCCUPY, Phase.FORTIFY_AMOUNT)
RECORDED = "recorded"  # a seat of a game that was played elsewhere: nobody decides for it any more


class Refused(ValueError):
    """What a browser asked for is not allowed; the message says why."""


_COMPILED = ThreadPoolExecutor(2)  # compiled bots compute all the time: more threads would only delay the event loop
_EXAMPLE: tuple[Any, ...] = ({}, "", 0, [], [], [], "", "", 0, 0)  # values of a setting as JSON has them
_DEFAULTS: dict[str, Any] = {"position": "", "lane": 0, "episode": 0}


@dataclass(frozen=True)
class Setting:
    """What a game is: enough, with its actions, to play it again."""

    rules: dict[str, Any]
    map: str
    seed: int
    players: tuple[str, ...]  # `human`, the spec of an agent, or `recorded`, for each seat
    names: tuple[str, ...]
    tokens: tuple[str, ...]  # a secret for each seat of a person, "" for agents
    owner: str  # the secret of who began the game
    position: str = ""  # text of the position that the game begins with, "" for a set-up
    lane: int = 0
    episode: int = 0

    @classmethod
    def new(
        cls, rules: Rules, map_name: str, players: Sequence[str], names: Sequence[str], position: str = ""
    ) -> Setting:
        """A new game with a random seed and new secrets."""
        tokens = tuple(secrets.token_urlsafe(16) if player == HUMAN else "" for player in players)
        seed, owner = secrets.randbits(48), secrets.token_urlsafe(16)
        return cls(rules.to_dict(), map_name, seed, tuple(players), tuple(names), tokens, owner, position)

    @classmethod
    def recorded(cls, game: Game, names: Sequence[str], lane: int, episode: int) -> Setting:
        """The setting of a game that was played elsewhere with the chance of its seed, `lane` and `episode`."""
        players, tokens = ((text,) * game.num_players for text in (RECORDED, ""))
        facts = (game.rules.to_dict(), game.board.source, game.seed, players, tuple(names), tokens)
        return cls(*facts, owner="", lane=lane, episode=episode)

    @classmethod
    def from_dict(cls, facts: Any) -> Setting:
        """The setting of a dict of `to_dict`; Refused for any other."""
        types = {field.name: type(example) for field, example in zip(fields(cls), _EXAMPLE, strict=True)}
        values = _DEFAULTS | facts if isinstance(facts, dict) else {}
        lists = [value for value in values.values() if isinstance(value, list)]
        if {name: type(value) for name, value in values.items()} != types or not _are_seats(values["rules"], lists):
            raise Refused("the game was not kept by this version")
        if not all(map(is_label, values["names"])):
            raise Refused("the game has a name that cannot be shown")
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """A dict for `json.dumps`."""
        return asdict(self)

    def start(self) -> Game:
        """The game before its first decision."""
        rules, board = Rules.from_dict(self.rules), load_map(self.map)
        check_rules(rules, board)
        if self.position:
            return Game.from_position(self.position, rules, board, self.seed, self.lane, self.episode)
        return Game(rules, board, self.seed, lane=self.lane, episode=self.episode)


def _are_seats(rules: dict[str, Any], lists: list[list[Any]]) -> bool:
    """Whether each of the lists holds a text for each seat."""
    return all(len(texts) == rules.get("num_players") and all(isinstance(t, str) for t in texts) for texts in lists)


class Table:
    """A game in progress. `keep(number, action)` is called before an action is played."""

    def __init__(self, setting: Setting, actions: Sequence[int], keep: Callable[[int, int], None]) -> None:
        self.setting, self.pace, self.problem = setting, PACE, ""
        self.notice = ""  # why nothing is played at the moment
        self.game = setting.start()
        self.changed, self.viewers = asyncio.Event(), 0  # sockets that wait for `changed`
        self._keep = keep
        self._seat_agents(() if self._ends_with(actions) else setting.players)
        self._frames = {seat: Frames(self.game.tables, seat) for seat in (NOBODY, *self.people)}
        self.frames: dict[int, list[str]] = {seat: [] for seat in self._frames}  # by viewer, as JSON
        self._decisions: dict[int, list[int]] = {seat: [] for seat in self._frames}  # by viewer: played before a frame
        self._log = self.game.watched(self._watch)
        self._answer: asyncio.Future[int] | None = None
        for action in actions:
            if self.game.seat in self._agents:  # asked again, an agent remembers what it knew before the server stopped
                self._ask(self.game.seat)
            self._step(action)

    def _ends_with(self, actions: Sequence[int]) -> bool:
        """Whether the game is over after these actions: no agent is needed then."""
        game = self.game.copy()
        for action in actions:
            game.step(action)
        return game.is_over

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, player in enumerate(self.setting.players) if player == HUMAN]

    @property
    def is_busy(self) -> bool:
        """Whether an agent is playing."""
        return not self.problem and self.game.seat in self._agents

    @property
    def state(self) -> str:
        """How far the game is, for the lobby."""
        if self.game.is_over or self.problem:
            return "over" if self.game.is_over else "stopped"
        if self.notice:
            return "preparing"
        return f"round {self.game.round}" if self.game.round else "set-up"

    def _seat_agents(self, players: Sequence[str]) -> None:
        self._agents: dict[int, Agent] = {
            seat: make(player) for seat, player in enumerate(players) if player not in (HUMAN, RECORDED)
        }
        idle = [self._agents.get(seat) or Agent() for seat in range(self.game.num_players)]
        self._chances = chance_seeds(idle, int(game_seed(self.game.seed)))
        for seat, agent in self._agents.items():
            agent.reset(seat, self.game.rules, self.game.board, self._chances[seat])

    # ------------------------------------------------------------------------------------------ playing

    async def play(self) -> None:
        """Play to the end; an agent that fails stops the game, and `problem` says so."""
        try:
            await self._prepare()
            while not self.game.is_over and self.setting.players[self.game.seat] != RECORDED:
                if len(self.game.actions) >= MOST_DECISIONS:
                    self.problem = f"The game is stopped after {MOST_DECISIONS} decisions."
                    break
                action = await self._decision()
                self._keep(len(self.game.actions), action)
                self._step(action)
        except Exception as error:
            logging.getLogger(__name__).exception("a game has stopped")
            self.problem = f"{self.setting.names[self.game.seat]} failed: {type(error).__name__}"
        self._announce()

    async def _prepare(self) -> None:
        """Let the agents compile what they need before the first of them is asked; other games go on meanwhile."""
        if not self._agents:
            return
        self.notice = PREPARING
        self._announce()
        await asyncio.get_running_loop().run_in_executor(None, self._prepare_agents)
        self.notice = ""
        self._announce()

    def _prepare_agents(self) -> None:
        for agent in self._agents.values():
            with suppress(Exception):  # the agent will fail again where it is asked, and the game says so
                prepare(agent, self.game.rules, self.game.board)

    async def _decision(self) -> int:
        """What the seat that is asked answers."""
        if self.game.seat in self._agents:
            threads = _COMPILED if isinstance(self._agents[self.game.seat], CompiledAgent) else None
            thinking = asyncio.get_running_loop().run_in_executor(threads, self._ask, self.game.seat)
            action, _ = await asyncio.gather(thinking, asyncio.sleep(self.pace))
            return action
        self._answer = asyncio.get_running_loop().create_future()
        return await self._answer

    def _ask(self, seat: int) -> int:
        action = int(self._agents[seat].act(View(self.game, chance=self._chances[seat])))
        if not self.game.is_legal(action):
            raise self.game._illegal(action)
        return action

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
        """How long agents wait between two decisions; Refused if it is not a number."""
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
            self._decisions[seat] += [len(self.game.actions)] * len(frames.frames)
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

    def moment(self, viewer: int, frame: int) -> Game:
        """The game at the first question after a frame of a viewer; Refused where the viewer may not go on from there.

        Of a game that is over, or that nobody plays, everything is open. While people play, a seat gets the game with
        all that it does not know drawn again, and nobody gets the moments in which another seat decides in secret.
        """
        if not 0 <= frame < len(self._decisions[viewer]):
            raise Refused(f"frame={frame} must be from 0 to {len(self._decisions[viewer]) - 1}")
        game = self.setting.start()
        for action in self.game.actions[: self._decisions[viewer][frame]]:
            game.step(action)
        if self.game.is_over or not self.people:
            return game
        if viewer == NOBODY:
            raise Refused("only its players may leave a game that is being played: wait until it is over")
        if game.phase in PRIVATE_PHASES and game.seat != viewer:
            raise Refused("another player decides in secret at this moment: choose one before or after it")
        return game.determinize(viewer, secrets.randbits(48))

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
        """What the viewer is asked; None if it is not its decision, or the agents prepare."""
        return question_of(self.game) if viewer == self.game.seat != NOBODY and not self.notice else None


def question_of(game: Game) -> dict[str, Any]:
    """What the seat to decide is asked; `most` is how many troops it can place or move, 0 where no amount is asked."""
    legal = [_choice(game, action) for action in game.legal_actions().tolist()]
    most = most_troops(game.record, game.rules.max_troops) if game.phase in AMOUNT_PHASES else 0
    return {"decision": len(game.actions), "phase": game.phase.name, "legal": legal, "most": most}


def _choice(game: Game, action: int) -> dict[str, Any]:
    """A legal action; of an attack with the chance of a blitz to take the territory."""
    kind, arguments = game.tables.space.decode(action)
    choice = {"action": action, "text": game.action_text(action), "kind": kind, "places": arguments}
    if kind == "attack":
        source, target = game.troops[list(arguments)].tolist()
        choice["chance"] = round(win_probability(source, target), 3)
    return choice
