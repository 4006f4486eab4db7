"""Game on the server, with people and agents at its seats, and the frames of every viewer.

A frame is a JSON object with the changes of the state and the events that a viewer may see.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from risk_agents.registry import HUMAN, make
from risk_agents.serving.rates import Rate
from risk_agents.web.browser_request import Refused
from risk_agents.web.composition import (
    PART_OF,
    SET_UP,
    SETTLED,
    Composition,
    settling_action,
    without_history,
)
from risk_agents.web.game_store import NotKept
from risk_agents.web.outlook import ending_in_words, goal_in_words, note_on, own_outlook, proposed_sets
from risk_agents.web.typed_answers import read_words
from risk_env.agent import Agent, CompiledAgent
from risk_env.board.rules import presets
from risk_env.core.odds import win_probability
from risk_env.core.types import NOBODY, Phase, Reward
from risk_env.game import Game
from risk_env.match import Match
from risk_env.messages import shortened
from risk_env.players import PlayerFault
from risk_env.public import SECRET_PHASES
from risk_env.saved_game import SavedGame
from risk_env.text.amounts import AMOUNT_PHASES, most_troops, room
from risk_env.text.escape import LABEL_LETTERS, is_label
from risk_env.text.notation import DECISIONS
from risk_env.viewer.frames import Frames
from risk_env.viewer.map_data import map_data
from risk_env.words.action_plan import MOST_STEPS, ActionPlan

# Maximum, minimum and default pause between two decisions of agents, in seconds
SLOWEST, FASTEST, PACE = 5.0, 0.0, 0.4
MOST_DECISIONS = 20_000  # maximum number of decisions of a game, whose frames are all kept in memory
MOST_BYTES = 16_000_000  # maximum size of a game's frames for all viewers, in bytes
MOST_TROOPS = 20_000  # maximum number of troops, on the map and to place, when a game or an analysis begins
PREPARING = "The agents are preparing. The first time, this takes up to a few minutes."
PIECE = 1 << 16  # maximum number of characters of frames in a message; a longer frame is sent alone
AGAIN = 2.0  # time between two attempts to save an action, in seconds
# `settle` lets the server make all decisions of a group (`composition.SETTLED`)
UNDO, CONFIRM, SETTLE = COMMANDS = ("undo", "confirm", "settle")
# messages to viewers about an agent's fault, by kind; for the kind "crash", viewers get the type of the error
FAILURES = {
    "died": "its program has ended",
    "garbage": "it sent an invalid answer",
    "illegal": "it chose an illegal action",
    "time": "it exceeded its time limit",
}
LATEST = 1 << 40  # latest beginning of a game, in seconds since 1970
MOST_CARDS = 20  # maximum number of cards in a set
MOST_COMPOSED = 20  # maximum number of choices per second that are composed or undone in a game
RECORDED = "recorded"  # player of each seat in a game that was played elsewhere, and is only shown


# compiled bots never wait for anything, so more threads would only delay the event loop
_COMPILED = ThreadPoolExecutor(2)
_STEPS = ThreadPoolExecutor(2)  # threads that save and play actions


@dataclass(frozen=True)
class Setting:
    """Saved game, with the names of its players and the secrets with which people play."""

    game: SavedGame  # each of its players is `human`, the spec of an agent, or `recorded`
    names: tuple[str, ...]  # (P,) name of the player at each seat
    tokens: tuple[str, ...]  # (P,) secret of each person's seat, "" for agents
    owner: str  # secret of the person who began the game
    mode: str = ""  # preset of the game, or "" for a game from a position and for a recorded game
    begun: int = 0  # time of the beginning, in seconds since 1970

    @classmethod
    def new(cls, game: SavedGame, names: Sequence[str], mode: str = "") -> Setting:
        """Return the setting of a new game, with new secrets and the current time."""
        tokens = tuple(secrets.token_urlsafe(16) if player == HUMAN else "" for player in game.players)
        return cls(game, tuple(names), tokens, secrets.token_urlsafe(16), mode, int(time.time()))

    @classmethod
    def from_dict(cls, facts: Any, actions: Sequence[int] = ()) -> Setting:
        """Return the setting that a dict from `to_dict` describes, with the actions of its game.

        Raises Refused for any other dict.
        """
        if not isinstance(facts, dict) or {name: type(value) for name, value in facts.items()} != _KINDS:
            entries = ", ".join(f"{name} ({kind.__name__})" for name, kind in _KINDS.items())
            raise Refused(f"a saved game of the server must have exactly these entries: {entries}")
        game = SavedGame.from_dict(facts["game"] | {"actions": list(actions)})
        names, tokens = facts["names"], facts["tokens"]
        if not len(names) == len(tokens) == len(game.players) or not all(
            type(token) is str for token in tokens
        ):
            raise Refused(
                f"the saved game has {len(names)} names and {len(tokens)} tokens: it must have one name and "
                f"one token, both strings, for each of {len(game.players)} seats"
            )
        if not all(map(is_label, names)):
            raise Refused(
                f"the saved game has a name that is not a valid label: 1 to {LABEL_LETTERS} printable "
                "characters, with no space at either end"
            )
        mode, begun = facts["mode"], facts["begun"]
        if not (mode == "" or mode in presets()) or not 0 <= begun < LATEST:
            raise Refused(
                f"the saved game has mode={mode[:40]!r} and begun={begun}: mode must be a preset or empty, "
                f"and begun must be from 0 to {LATEST - 1}"
            )
        return cls(game, tuple(names), tuple(tokens), facts["owner"], mode, begun)

    def is_owner(self, token: str) -> bool:
        """Return True if `token` is the secret of the person who began the game."""
        return bool(self.owner) and secrets.compare_digest(token.encode(), self.owner.encode())

    def to_dict(self) -> dict[str, Any]:
        """Return the setting as a dict for `json.dumps`, without the actions of the game."""
        return {**vars(self), "game": self.game.beginning().to_dict()}


class Answer(NamedTuple):
    """Answer of a person: a choice (action, troops, both, cards of a set, or words), or a command."""

    action: int | None = None
    troops: int | None = None
    compose: bool = False  # True if the choice waits until it is confirmed
    cards: list[int] | None = None
    command: str | None = None  # one of COMMANDS
    words: str | None = None  # typed choice, as in the terminal


# Types of an answer's entries in a browser's message
ANSWER_KINDS = {"action": int, "troops": int, "compose": bool, "cards": list, "command": str, "words": str}
# Types of the values of `Setting.to_dict`
_KINDS = {"game": dict, "names": list, "tokens": list, "owner": str, "mode": str, "begun": int}


class BrowserTable(Match):
    """A match that people play and watch in browsers.

    `keep(number, action, is_open)` saves an action before the action is played. `keep` raises NotKept if the
    action cannot be saved, or if `is_open()` is false. Before each decision, `has_no_room()` is called. The
    result is the reason why the game must stop at a size limit, or "" if the game may continue. Slow work
    runs in threads, one job at a time. The frames of the viewers change only on the event loop.
    """

    def __init__(
        self,
        setting: Setting,
        keep: Callable[[int, int, Callable[[], bool]], None],
        has_no_room: Callable[[], str] = lambda: "",
    ) -> None:
        self.setting, self.pace = setting, PACE
        self.problem = ""  # reason why the game has stopped
        self.notice = ""  # reason why the game waits
        self.viewers = 0  # number of sockets that wait for `changed`
        self.is_closed, self.is_preparing = False, False
        self._keep, self._has_no_room = keep, has_no_room
        self._set_up(setting.game.start(), _seated(setting.game))
        self._map = map_data(self.game.board)
        self._frames = {seat: Frames(self.game.tables, seat) for seat in (NOBODY, *self.people)}
        self.changed = {viewer: asyncio.Event() for viewer in self._frames}  # by viewer
        self.frames: dict[int, list[str]] = {seat: [] for seat in self._frames}  # by viewer, as JSON
        # number of actions before each frame, by viewer
        self._decisions: dict[int, list[int]] = {seat: [] for seat in self._frames}
        self._unseen: dict[int, list[str]] = {seat: [] for seat in self._frames}  # frames not yet shown
        self.bytes = 0  # size of all frames
        self.held_back: set[int] = set()  # viewers who currently get no new frames
        self._answers = [0] * self.game.num_players  # number of earlier decisions, by seat
        self._answer: asyncio.Future[int] | None = None
        self._plans = {seat: ActionPlan(seat) for seat in self.people}
        self._planned: int | None = None  # next action of the plan of the seat to act
        self._confirmed: deque[int] = deque()  # confirmed actions that are not yet played
        self._composition: Composition | None = None  # choices of the seat to act that are not confirmed
        self._composing, self._composed = asyncio.Lock(), Rate(MOST_COMPOSED, MOST_COMPOSED)
        self._settled: set[tuple[int, str]] = set()  # seats and groups of decisions that the server makes
        self._log = self.game.watched(self._watch)
        self._show()
        self._restore(setting.game.actions)
        self._question, self._outlooks = self._next_question(), self._all_outlooks()

    def _restore(self, actions: Sequence[int]) -> None:
        """Play the saved actions; raise Refused if an agent cannot play the game.

        The agents of a new game begin later, in `play`, because their preparation takes a long time.
        """
        try:
            for player in self.players:
                if isinstance(player, CompiledAgent):
                    player.bot.check(self.game.rules, self.game.board)
            if actions:
                self._begin_once()
            for action in actions:
                # `replay` lets the agents act again, so that their memories match the game
                self.replay([action])
                self._show()
        except (PlayerFault, ValueError) as error:
            self.close()
            raise Refused(f"the game cannot be played: {error}") from error

    @property
    def people(self) -> list[int]:
        """Seats that people play."""
        return [seat for seat, player in enumerate(self.setting.game.players) if player == HUMAN]

    @property
    def is_busy(self) -> bool:
        """True if the seat to act has an agent, and the game has not stopped."""
        return not self.problem and not self.game.is_over and self.players[self.game.seat] is not None

    @property
    def state(self) -> str:
        """Progress of the game, in words for the lobby."""
        if self.game.is_over or self.problem:
            return "over" if self.game.is_over else "stopped"
        if self.is_preparing:
            return "preparing"
        return f"round {self.game.round}" if self.game.round else "set-up"

    @property
    def turn(self) -> str:
        """Name of the player whose turn it is, or "" if no turn is in progress."""
        waits = self.is_preparing or self.problem or self.game.is_over or not self.game.round
        return "" if waits else self.setting.names[self.game.turn]

    def stop(self, reason: str) -> None:
        """Stop the game, and show the reason to all viewers."""
        self.problem = reason
        self._announce()

    # ------------------------------------------------------------------------------------------ playing

    async def play(self) -> None:
        """Play until the game is over or must stop; `problem` contains the reason for a stop.

        A recorded game is not continued.
        """
        try:
            await self._prepare()
            while not self.game.is_over and self.setting.game.players[self.game.seat] != RECORDED:
                self.problem = self._bound()
                if self.problem:
                    break
                await self._take(await self._decision())
        except PlayerFault as fault:
            logging.getLogger(__name__).exception("an agent has failed")
            what = FAILURES.get(fault.kind, type(fault.__cause__).__name__)
            self.problem = f"{self.setting.names[fault.seat]} failed: {what}"
        except Exception:
            logging.getLogger(__name__).exception("a game has stopped")
            self.problem = "The game was stopped by an internal error."
        self._announce()

    async def _prepare(self) -> None:
        """Let the agents compile their code before the first decision, while other games continue."""
        if all(player is None for player in self.players):
            return
        self.is_preparing, self.notice = True, PREPARING
        self._announce()
        await asyncio.get_running_loop().run_in_executor(None, self._begin_once)
        self.is_preparing, self.notice = False, ""
        self._announce()

    def _bound(self) -> str:
        """Return the reason why the game must stop at a size limit, or "" if the game may continue."""
        if len(self.game.actions) >= MOST_DECISIONS:
            return f"The game was stopped after {MOST_DECISIONS} decisions."
        if self.bytes >= MOST_BYTES:
            return f"The game was stopped: its frames take more than {MOST_BYTES} bytes."
        return self._has_no_room()

    async def _decision(self) -> int:
        """Wait for the action of the seat to act, and return it; raise PlayerFault if an agent has failed."""
        player = self.players[self.game.seat]
        if self._planned is not None:
            return self._planned
        if player is None:
            self._answer = asyncio.get_running_loop().create_future()
            return await self._answer
        threads = _COMPILED if isinstance(player, CompiledAgent) else None
        thinking = asyncio.get_running_loop().run_in_executor(threads, self.query_player)
        # a pause would reveal a hidden decision; a set-up that the server plays alone needs no pauses
        is_at_once = self.game.phase in SECRET_PHASES or self._is_set_up_settled
        pace = 0.0 if is_at_once else self.pace
        return (await asyncio.gather(thinking, asyncio.sleep(pace)))[0]

    @property
    def _is_set_up_settled(self) -> bool:
        """True in the set-up of a game with people, if the server makes the decisions of all people."""
        is_set_up = bool(self.people) and SETTLED.get(self.game.phase) == SET_UP
        return is_set_up and all((seat, SET_UP) in self._settled for seat in self.people)

    async def _take(self, action: int) -> None:
        """Save an action and play it; if the action cannot be saved, repeat the attempt until it succeeds."""
        while True:
            try:
                question = await asyncio.get_running_loop().run_in_executor(_STEPS, self._kept, action)
                break
            except NotKept as error:
                self.notice = f"The game cannot be saved now: {error}. The game continues when it is saved."
                self._announce()
                await asyncio.sleep(AGAIN)
        self._show_played(question)

    def _show_played(self, question: tuple[int, dict[str, Any] | None]) -> None:
        """Show the effects of an action, and the next decision, to the viewers."""
        self.notice, self._question = "", question
        self._outlooks = self._all_outlooks()
        self._show()
        self._announce()

    def _kept(self, action: int) -> tuple[int, dict[str, Any] | None]:
        """Save an action, play it, and return the next decision (`_next_question`).

        Raises NotKept if the action cannot be saved.
        """
        self._keep(len(self.game.actions), action, lambda: not self.is_closed)
        self.step(action)
        return self._next_question()

    def step(self, action: int | str) -> None:
        """Play an action, and make the frames that show the action."""
        self._answers[self.game.seat] += 1
        super().step(action)
        self._log.catch_up(self.game.actions)

    async def answer(self, seat: int, decision: int, answer: Answer) -> None:
        """Play or compose a person's choice, or run a command.

        A choice without `compose` is played after all composed choices.

        Raises Refused if `decision` is not the current decision of the seat, or if the choice or the command
        is not allowed. Also raises Refused if too many choices are composed or undone in a second.
        """
        self._check_current(seat, decision)
        if (answer.compose or answer.command == UNDO) and not self._composed.allows():
            raise Refused(f"at most {MOST_COMPOSED} choices per second can be composed or undone: try again")
        taking = asyncio.ensure_future(self._take_answer(seat, decision, answer))
        # reading the exception keeps asyncio from logging it
        taking.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(taking)  # the work continues if the browser disconnects

    def _check_current(self, seat: int, decision: int) -> None:
        """Raise Refused if `decision` is not the current decision of the seat."""
        waiting = 0 if self._composition is None else len(self._composition)
        is_current = seat == self.game.seat != NOBODY and decision == self._answers[seat] + waiting
        if not is_current or self._answer is None or self._answer.done():
            raise Refused("it is no longer your decision")

    async def _take_answer(self, seat: int, decision: int, answer: Answer) -> None:
        """Process an answer after all earlier answers; slow work runs in a thread."""
        async with self._composing:
            self._check_current(seat, decision)
            if answer.command is None:
                work = partial(self._choose, seat, answer)
            else:
                work = partial(self._obey, seat, answer)
            act = await asyncio.get_running_loop().run_in_executor(_STEPS, work)
            self._check_current(seat, decision)
            act()

    def _choose(self, seat: int, answer: Answer) -> Callable[[], None]:
        """Return a function that applies a choice; raise Refused if the choice is not legal.

        The method runs in a thread.
        """
        waits = self._composition is not None and len(self._composition) > 0
        if not answer.compose and not waits:
            action = self._first_action(seat, choice_of(self.game, answer))
            return partial(self._play_now, action)
        composed = Composition(self.game) if self._composition is None else copy(self._composition)
        composed.add(choice_of(composed.game, answer))
        return self._showing(seat, composed) if answer.compose else partial(self._confirm, composed)

    def _obey(self, seat: int, answer: Answer) -> Callable[[], None]:
        """Return a function that applies a command; raise Refused if the command is not allowed now.

        The method runs in a thread.
        """
        command, composed = answer.command or "", copy(self._composition)
        if answer._replace(command=None) != Answer():
            raise Refused(
                f"command={command[:20]!r} cannot be combined with compose, action, troops, cards or words"
            )
        if command == UNDO and composed is not None:
            composed.take_back()
            return self._showing(seat, composed)
        if command == CONFIRM and composed is not None and len(composed):
            return partial(self._confirm, composed)
        if command == SETTLE and self.game.phase in SETTLED:
            return partial(self._settle, seat, settling_action(self.game))
        allowed = [*((UNDO, CONFIRM) if composed else ()), *([SETTLE] if self.game.phase in SETTLED else ())]
        names = ", ".join(allowed) or "none"
        raise Refused(f"command={command[:20]!r} is not allowed in this decision; allowed: {names}")

    def _showing(self, seat: int, composed: Composition) -> Callable[[], None]:
        """Return a function that shows the next decision of a composition."""
        question = composed_question(composed, self._answers[seat])
        return partial(self._show_composition, seat, composed, question)

    def _show_composition(self, seat: int, composed: Composition, question: dict[str, Any]) -> None:
        """Show the next decision of a composition, but only to the viewers of the seat."""
        self._composition, self._question = composed, (seat, question)
        self._announce([seat])

    def _settle(self, seat: int, action: int) -> None:
        """Let the server make all decisions of the current group for a seat, and play the first action."""
        self._settled.add((seat, SETTLED[self.game.phase]))
        self._play_now(action)

    def _play_now(self, action: int) -> None:
        """Continue the game with the action of a person."""
        if self._answer is not None:
            self._answer.set_result(action)

    def _confirm(self, composed: Composition) -> None:
        """Play all choices of a composition, one action after another."""
        first, *others = composed.actions
        self._confirmed.extend(others)
        self._play_now(first)

    def _first_action(self, seat: int, choice: list[int] | str) -> int:
        """Return the first action of a choice; write the other actions into the plan of the seat.

        Raises Refused if the choice is not legal.
        """
        if not isinstance(choice, str) and len(choice) == 1:
            return choice[0]
        try:
            self._plans[seat].give(choice, self.game)
        except ValueError as error:
            raise Refused(str(error)) from error
        action = self._plans[seat].next_action(self.game)
        if action is None:
            raise Refused("the choice contains no action for this decision")
        return action

    def set_pace(self, seconds: float) -> None:
        """Set the pause between two decisions of agents, clipped to the range from FASTEST to SLOWEST.

        Raises Refused if `seconds` is NaN.
        """
        if math.isnan(seconds):
            raise Refused(f"pace={seconds}: must be a number of seconds from {FASTEST:g} to {SLOWEST:g}")
        self.pace = min(max(seconds, FASTEST), SLOWEST)

    def close(self) -> None:
        """Close the agents, and do not save any more actions."""
        self.is_closed = True
        super().close()

    # ------------------------------------------------------------------------------------------ viewers

    def _watch(self, records: Any, events: Any) -> None:
        for seat, frames in self._frames.items():
            frames.watch(records, events)
            self._unseen[seat] += (json.dumps(frame, separators=(",", ":")) for frame in frames.frames)
            frames.frames.clear()

    def _show(self) -> None:
        """Show new frames to the viewers.

        While another seat decides about a re-roll, a viewer gets no frames. The viewer gets the frames of the
        attack after this decision.
        """
        is_secret = self.game.phase == Phase.REROLL
        self.held_back = {viewer for viewer in self._unseen if is_secret and viewer != self.game.seat}
        for viewer in self._unseen.keys() - self.held_back:
            unseen = self._unseen[viewer]
            self.frames[viewer] += unseen
            self._decisions[viewer] += [len(self.game.actions)] * len(unseen)
            self.bytes += sum(map(len, unseen))
            unseen.clear()

    def _next_question(self) -> tuple[int, dict[str, Any] | None]:
        """Return the seat to act, and the decision for the page (None if no person has to act)."""
        seat, self._composition = self.game.seat, None
        self._planned = self._next_planned(seat)
        decides = seat in self._plans and self._planned is None
        return seat, question_of(self.game, self._answers[seat]) if decides else None

    def _all_outlooks(self) -> dict[int, dict[str, Any]]:
        """Return the facts about goals and values of sets for the page, by viewer."""
        ending, names = ending_in_words(self.game, self.setting.names), self.setting.names
        own = {seat: own_outlook(self.game, seat, names) for seat in self.people}
        return {NOBODY: {"ending": ending}} | {
            seat: {"ending": ending, **outlook} for seat, outlook in own.items()
        }

    def _next_planned(self, seat: int) -> int | None:
        """Return the next action of choices that the person has already made, or None."""
        if seat not in self._plans:
            return None
        if self._confirmed:
            return self._confirmed.popleft()
        if (seat, SETTLED.get(self.game.phase)) in self._settled:
            return settling_action(self.game)
        return self._plans[seat].next_action(self.game)

    def _announce(self, viewers: Sequence[int] | None = None) -> None:
        """Wake the viewers that wait for `changed`: all viewers, or only `viewers`."""
        for viewer in self._frames if viewers is None else viewers:
            self.changed[viewer].set()
            self.changed[viewer] = asyncio.Event()

    def viewer(self, token: str) -> int:
        """Return the seat of a token; raise Refused if the token is unknown.

        The result is NOBODY for a viewer without a token, and for the owner's token.
        """
        if not token or self.setting.is_owner(token):
            return NOBODY
        for seat in self.people:
            if secrets.compare_digest(token.encode(), self.setting.tokens[seat].encode()):
                return seat
        raise Refused("this link belongs to no seat of the game")

    def moment(self, viewer: int, frame: int) -> Game:
        """Return the game at the first decision after a frame of a viewer.

        Raises Refused for an unknown frame, and if the viewer may not continue from this moment. If the game
        is over or only agents play, everybody may continue. Otherwise a viewer needs a seat, and may not
        continue while another seat picks a headquarters. All facts that this viewer does not know are then
        drawn again in the result.
        """
        if not 0 <= frame < len(self._decisions[viewer]):
            raise Refused(f"frame={frame}: must be from 0 to {len(self._decisions[viewer]) - 1} in this game")
        actions = self.game.actions[: self._decisions[viewer][frame]]
        game = replace(self.setting.game.beginning(), actions=actions).replay(self.game.board)
        if self.game.is_over or not self.people:
            return game
        if viewer == NOBODY:
            raise Refused(
                "only the players of an unfinished game may continue from its moments: wait until the game "
                "is over"
            )
        if game.phase == Phase.HEADQUARTERS and game.seat != viewer:
            raise Refused("another player picks a headquarters at this moment: choose another moment")
        return game.determinize(viewer, secrets.randbits(48))

    def facts(self, viewer: int) -> dict[str, Any]:
        """Return the facts that the page of a viewer needs in addition to the frames."""
        return {
            "schema": 1,
            "map": self._map,
            "rules": self.game.rules.to_dict(),
            "names": list(self.setting.names),
            "seat": viewer,
            "start": self._frames[viewer].start,
            "chances": [],
            "secrets": {},
            "goal": goal_in_words(self.game.rules),
        }

    def outlook(self, viewer: int) -> dict[str, Any]:
        """Return the facts about goals and values of sets that the page shows to a viewer."""
        return self._outlooks[viewer]

    def question(self, viewer: int) -> dict[str, Any] | None:
        """Return the decision of the viewer, or None if another seat acts or the agents prepare."""
        seat, question = self._question
        return question if viewer == seat and not self.is_preparing else None


def _seated(saved: SavedGame) -> list[Agent | None]:
    """Return the agent of each seat, or None for people, for recorded seats and in a game that is over.

    If an agent cannot be created, raises Refused with the spec of the agent, and closes the other agents.
    """
    is_over, seated = saved.replay().is_over, list[Agent | None]()
    for seat, player in enumerate(saved.players):
        try:
            seated.append(None if is_over or player in (HUMAN, RECORDED) else make(player))
        except Exception as error:
            for agent in seated:
                if agent is not None:
                    agent.close()
            raise Refused(f"seat {seat}, {player}, cannot play: {error or type(error).__name__}") from error
    return seated


class Feed:
    """Messages for one viewer, who has already received `sent` frames."""

    def __init__(self, table: BrowserTable, viewer: int, sent: int = 0) -> None:
        self._table, self._viewer = table, viewer
        self._sent, self._told = min(max(sent, 0), len(table.frames[viewer])), ""

    def message(self) -> str:
        """Return a message with the next frames that fit, and the viewer's decision.

        The message is "" if nothing is new, or if the viewer is held back because of a hidden decision. A
        viewer who is held back still gets the first message, and the reason for a stop.
        """
        table, viewer = self._table, self._viewer
        if viewer in table.held_back and self._told and not table.problem:
            return ""  # the end of the viewer's own decision is also hidden
        frames = next_frames(table.frames[viewer], self._sent)
        more = self._sent + len(frames) < len(table.frames[viewer])
        question = None if more else table.question(viewer)
        news = {
            "more": more,
            "question": question,
            "problem": table.problem or table.notice,
            "pace": table.pace,
            "outlook": table.outlook(viewer),
        }
        told = json.dumps(news)
        if not frames and told == self._told:
            return ""
        self._sent, self._told = self._sent + len(frames), told
        return f'{{"frames":[{",".join(frames)}],{told[1:]}'


def next_frames(frames: list[str], start: int) -> list[str]:
    """Return the frames from `start` on that fit into a message, but at least one frame if any is left."""
    waiting = frames[start : start + PIECE // 2]
    count = sum(size <= PIECE for size in accumulate(map(len, waiting)))
    return waiting[: max(count, 1)]


def position_of(text: str) -> Game:
    """Return the game of a position from a browser.

    Raises ValueError if the position is invalid, and Refused if the position has too many troops.
    """
    game = Game.from_text(text)
    check_armies(game)
    return game


def check_armies(game: Game) -> None:
    """Raise Refused if a game has more troops, on the map and to place, than the server allows."""
    record = game.record
    troops = sum(int(record[field].sum()) for field in ("troops", "to_place", "draft_left"))
    if troops > MOST_TROOPS:
        raise Refused(f"{troops} troops on the map and to place: this server allows at most {MOST_TROOPS}")


def choice_of(game: Game, answer: Answer) -> list[int] | str:
    """Return a person's choice as actions or in words; raise Refused if the choice is not legal."""
    action, troops, cards = answer.action, answer.troops, answer.cards
    if answer.words is not None:
        if answer._replace(words=None, compose=False) != Answer():
            raise Refused("words cannot be combined with an action, troops or cards")
        return choice_of(game, Answer(*read_words(answer.words, game, room_at)))
    if cards is not None:
        if action is not None or troops is not None:
            raise Refused("cards cannot be combined with an action or troops")
        return _set_of(game, cards)
    if action is not None and not game.is_legal(action):
        raise Refused(f"action {action} is not legal in this decision")
    if troops is None:
        if action is None:
            raise Refused("the request has no action, troops, cards or words: send one of them")
        return [action]
    if action is None:
        return amount_words(game, troops)
    most = room_at(game, action)
    if not most:
        raise Refused("the request has both action and troops: this decision takes only one of them")
    if not 1 <= troops <= most:
        raise Refused(f"troops={troops}: must be from 1 to {most} on this territory")
    return f"{game.action_text(action)} {troops}"


def _set_of(game: Game, cards: list[int]) -> list[int]:
    """Return the actions that trade cards; raise Refused if the cards are not a set in the hand."""
    if not 1 <= len(cards) <= MOST_CARDS or any(type(card) is not int for card in cards):
        raise Refused(f"cards={shortened(cards)}: must be a list of 1 to {MOST_CARDS} action numbers")
    if game.phase != Phase.TRADE:
        raise Refused(f"cards can be traded only in phase TRADE, but the phase is {game.phase.name}")
    done = game.tables.space.done
    names = {
        action: game.action_text(action).removeprefix("card ")
        for action in game.legal_actions().tolist()
        if action != done
    }
    named = Counter(names.get(card, "") for card in cards if card != done)
    seat, after = game.seat, without_history(game)
    for card in cards:
        if after.phase == Phase.TRADE and after.is_legal(card):
            after.step(card)
    traded = Counter(game.hand(seat)) - Counter(after.hand(seat))
    if not named or named - traded:
        raise Refused(f"cards={shortened(cards)}: these cards are not a set in your hand")
    return cards


def placeable(game: Game) -> int:
    """Return the maximum number of troops that an answer can place on one territory.

    The result is 0 if the decision is not about placing troops.
    """
    return to_place(game) if game.phase == Phase.DRAFT else min(to_place(game), MOST_STEPS)


def to_place(game: Game) -> int:
    """Return the number of troops left to place, or 0 if the decision is not about placing troops."""
    record, seat = game.record, game.seat
    if game.phase == Phase.DRAFT:
        return int(record.draft_left)
    if game.phase in (Phase.DEPLOY, Phase.DEPLOY_NEUTRAL):
        return int(record.to_place[game.num_players if game.phase == Phase.DEPLOY_NEUTRAL else seat])
    return 0


def most_of(game: Game) -> int:
    """Return the maximum number of troops for a decision about an amount, or 0 for other decisions."""
    return most_troops(game.record, game.rules.max_troops) if game.phase in AMOUNT_PHASES else 0


def room_at(game: Game, action: int) -> int:
    """Return the maximum number of troops that an answer can place on an action's territory.

    The result is 0 if the action does not name one territory, or if the decision is not about placing troops.
    """
    kind, places = game.tables.space.decode(action)
    if kind != "territory":
        return 0
    return min(placeable(game), room(int(game.troops[places[0]]), game.rules.max_troops))


def amount_words(game: Game, troops: int) -> str:
    """Return a number of troops in words; raise Refused if the decision does not allow the number."""
    if game.phase not in AMOUNT_PHASES:
        raise Refused(f"troops={troops}: this decision takes no number of troops")
    least, most = int(not game.is_legal(game.tables.space.done)), most_of(game)
    if not least <= troops <= most:
        raise Refused(f"troops={troops}: must be from {least} to {most}")
    return f"{DECISIONS[game.phase].word} {troops}"


def composed_question(composed: Composition, answers: int) -> dict[str, Any]:
    """Return the next decision of a composition; a complete composition has no more legal actions."""
    decision = answers + len(composed)
    if not composed.is_complete:
        return question_of(composed.game, decision) | composed.facts
    nothing = {"legal": [], "most": 0, "placeable": 0, "left": 0}
    return {"decision": decision, "phase": "CONFIRM", "composes": True} | nothing | composed.facts


def question_of(game: Game, decision: int = 0) -> dict[str, Any]:
    """Return the decision of the seat to act, for the page.

    `decision` is the number of the seat's earlier decisions.

    In the result, `most` is the maximum number of troops that the decision allows, or 0 if the decision is
    not about an amount. `left` is the number of troops left to place, of which one answer can place at most
    `placeable` on one territory. `composes` is True if choices can wait until they are confirmed. `settles`
    is the group of decisions that the command `settle` leaves to the server, or None. For a fortify move,
    `attacks` is True if attacks follow (a Starting Maneuver, RULES 9.8).
    """
    question = {
        "decision": decision,
        "phase": game.phase.name,
        "legal": [_choice(game, action) for action in game.legal_actions().tolist()],
        "most": most_of(game),
        "source": int(game.record.source),
        "target": int(game.record.target),
        "placeable": placeable(game),
        "left": to_place(game),
        "composes": game.phase in PART_OF,
        "settles": SETTLED.get(game.phase),
        "note": note_on(game),
    }
    if game.phase == Phase.TRADE:
        question["sets"] = proposed_sets(game)
    if game.phase == Phase.FORTIFY_FROM:
        question["attacks"] = not game.record.attacks_over
    if game.phase == Phase.DEFEND:
        question["whose"] = "your" if game.owner[game.record.target] == game.seat else "the neutral"
    return question | {"composed": [], "added": {}, "complete": False, "steps": 0}


def _choice(game: Game, action: int) -> dict[str, Any]:
    """Return a legal action for the page.

    For an attack, the result contains the probability that a blitz captures the territory, unless Rewards
    change the dice. For the choice of a territory, the result contains the maximum number of troops that one
    answer can place there.
    """
    kind, arguments = game.tables.space.decode(action)
    choice = {"action": action, "text": game.action_text(action), "kind": kind, "places": arguments}
    if kind == "attack" and not changes_dice(game, arguments[1]):
        source, target = game.troops[list(arguments)].tolist()
        choice["chance"] = round(win_probability(source, target), 3)
    if most := room_at(game, action):
        choice["room"] = most
    return choice


def changes_dice(game: Game, target: int) -> bool:
    """Return True if a Reward or an airfield changes the dice of an attack on a territory (RULES 9.8)."""
    if not game.rules.rewards:
        return False
    record, sides = game.record, (game.seat, int(game.owner[target]))
    dice = zip((Reward.ATTACK_DIE, Reward.DEFENSE_DIE), sides, strict=True)
    near = (target, *game.board.sources(target))
    fields = zip(record.airfield, (Reward.AIRFIELD, Reward.MAJOR_AIRFIELD), strict=True)
    helps = [record.reward_owner[reward] == side for reward, side in dice]
    helps += [place in near and record.reward_owner[reward] in sides for place, reward in fields]
    return any(helps)
