"""A game at the table: people at one terminal, bots in the other seats."""

import operator
from collections.abc import Sequence

from risk_agents.base import Agent, CompiledAgent, View, chance_seeds
from risk_agents.human.human import Desk, Human
from risk_agents.human.narration import Words, narrate
from risk_agents.human.questions import board_lines, mission_in_words
from risk_agents.human.terminal import Terminal
from risk_agents.play.saved import SavedGame, SavedGameError, digest, save_game
from risk_agents.program import ProgramFault
from risk_agents.registry import HUMAN, make
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.seeds import game_seed
from risk_env.text.escape import label

YOU = "You"
LOG_LINES = 20  # that `log` shows where no number is given


class Leave(Exception):
    """The person wants to stop here."""


class BotFault(RuntimeError):
    """A bot crashed or gave no legal answer; the message names it."""


class Table:
    """A game in progress: who sits where, and who has seen which events."""

    def __init__(self, game: Game, players: Sequence[str], terminal: Terminal, path: str) -> None:
        self.game, self.players, self.terminal = game, tuple(players), terminal
        self.path = path  # the file to keep the game in
        self._own = ""  # the file that this game was kept in last, or resumed from
        desk = Desk(terminal)
        desk.people = sum(spec == HUMAN for spec in players)
        self._agents: list[Agent] = [Human(desk) if spec == HUMAN else _made(spec) for spec in players]
        self.names = (*_names(self._agents), "neutral")
        self._chances = chance_seeds(self._agents, int(game_seed(game.seed)))
        self._seen = dict.fromkeys(self.people, 0)  # how many events each person has seen
        self._watched_round = NOBODY
        for seat, agent in enumerate(self._agents):
            self._seat(seat, agent)

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, agent in enumerate(self._agents) if isinstance(agent, Human)]

    def _seat(self, seat: int, agent: Agent) -> None:
        """Begin the game for an agent; a compiled one is compiled now rather than in the middle of the game."""
        if isinstance(agent, Human):
            agent.names = self.names
            agent.commands = {
                "log": (f"what happened, the last {LOG_LINES} lines, or as many as you say", self._show_log),
                "save": ("keep the game in a file: save FILE", self._save_as),
                "quit": ("stop here; the game is kept", self._quit),
            }
        try:
            agent.reset(seat, self.game.rules, self.game.board, self._chances[seat])
        except Exception as error:
            raise ValueError(f"agent={self.players[seat]!r} cannot play this game: {error}") from error
        if isinstance(agent, CompiledAgent):
            agent.seated.load(self.game.tables)

    # ------------------------------------------------------------------------------------------ playing

    def play(self) -> None:
        """Play to the end. Leave, EOFError and KeyboardInterrupt stop in between; BotFault blames a bot."""
        while not self.game.is_over:
            seat = self.game.seat
            if isinstance(person := self._agents[seat], Human):
                person.news = self._news(seat)
            elif not self._is_anyone_in():
                self._watch()
            self.game.step(self._answer(seat))
        self._show_the_end()

    def resume(self, saved: SavedGame) -> None:
        """Play a kept game up to where it was left; the bots are asked again, so that they remember what they knew."""
        strays, self._own = set(), self.path
        for action in saved.actions:
            seat = self.game.seat
            if seat in self._seen:
                self._seen[seat] = len(self.game.events())
            elif seat != NOBODY and self._answer(seat) != action:
                strays.add(self.names[seat])
            try:
                self.game.step(action)
            except ValueError as error:
                raise SavedGameError(f"{self.path}: {error}") from error
        if digest(self.game) != saved.state:
            raise SavedGameError(f"{self.path}: this version of the program plays its actions otherwise")
        for name in sorted(strays):
            self.terminal.say(f"{name} would play otherwise now than when the game was kept.")

    def _answer(self, seat: int) -> int:
        """What the player of a seat answers; BotFault if a bot gives no legal answer."""
        agent, view = self._agents[seat], View(self.game, chance=self._chances[seat])
        if isinstance(agent, Human):
            return agent.act(view)
        try:
            action = operator.index(agent.act(view))
        except Exception as error:
            raise BotFault(f"{self._called(seat)} failed: {type(error).__name__}: {error}") from error
        if action not in view.legal_actions:
            raise BotFault(f"{self._called(seat)} gave an answer that is not legal: {self.game._illegal(action)}")
        return action

    def _called(self, seat: int) -> str:
        return f"{self.names[seat]} (agent={self.players[seat]!r}, seat {seat})"

    def _is_anyone_in(self) -> bool:
        return any(self.game.alive[seat] for seat in self.people)

    def close(self) -> None:
        """End what the bots started."""
        for agent in self._agents:
            getattr(agent, "close", lambda: None)()

    # ------------------------------------------------------------------------------------------ what is shown

    def _words(self, viewer: int) -> Words:
        return Words(self.names, self.game.board, viewer)

    def _news(self, seat: int) -> list[str]:
        """The events that the person of a seat has not seen yet, in words."""
        events = self.game.events(since=self._seen[seat])
        self._seen[seat] += len(events)
        return narrate(events, self._words(seat), self.terminal.width)

    def _watch(self) -> None:
        """No person is left in the game: ask once whether to go on, then show the standings, a line a round."""
        if self._watched_round == NOBODY:
            last = max(self.people, key=lambda seat: self._seen[seat])
            self.terminal.say("", *self._news(last), "")
            if self.terminal.ask("No person is left in the game. Enter: the bots play on; quit: stop here> ").strip():
                raise Leave
        if self._watched_round != self.game.round:
            self._watched_round = self.game.round
            armies = [
                f"{self.names[seat]} {int((self.game.owner == seat).sum())} territories, "
                f"{int(self.game.troops[self.game.owner == seat].sum())} troops"
                for seat in range(self.game.num_players)
                if self.game.alive[seat]
            ]
            self.terminal.say_wrapped("; ".join(armies), f"Round {self.game.round}: ", "    ")

    def _show_the_end(self) -> None:
        """What happened last, the board, who won, and what was hidden."""
        if self._is_anyone_in() or self._watched_round == NOBODY:
            last = max(self.people, key=lambda seat: self._seen[seat])
            self.terminal.say("", *self._news(last))
        game, view = self.game, View(self.game, self.people[0])
        drawn = board_lines(view, self._words(NOBODY), self.terminal.width, self.terminal.has_colour)
        self.terminal.say("", *drawn, "")
        for seat in range(game.num_players):
            if mission := game.mission(seat):
                card = mission_in_words(mission, game.board, self.names, seat)
                whose = "Your mission" if self.names[seat] == YOU else f"Mission of {self.names[seat]}"
                self.terminal.say_wrapped(f"{whose}: {card}", later="  ")
        self.terminal.say_wrapped(self._verdict(), later="  ")

    def _verdict(self) -> str:
        places = sorted(enumerate(self.game.placements().tolist()), key=lambda entry: entry[1])
        order = ", ".join(f"{place}. {self.names[seat]}" for seat, place in places)
        if self.game.winner == NOBODY:
            return f"The game ends after {self.game.rules.max_rounds} rounds, won by nobody: {order}."
        return f"{self.names[self.game.winner]} won in round {self.game.round}: {order}."

    # ------------------------------------------------------------------------------------------ commands

    def _show_log(self, rest: str) -> None:
        """The command `log`: the last lines of what happened in the game."""
        lines = narrate(self.game.events(), self._words(NOBODY), self.terminal.width)
        count = int(rest) if rest.isdecimal() and int(rest) else LOG_LINES
        self.terminal.say(*lines[-count:])

    def _save_as(self, rest: str) -> None:
        """The command `save FILE`: keep the game there, now and when it is left."""
        try:
            self.keep(rest or self.path)
        except (OSError, ValueError) as error:
            self.terminal.say_wrapped(f"Not saved: {error}")
            return
        self.terminal.say(f"The game is kept in {self.path}.")

    def keep(self, path: str) -> None:
        """Keep the game in this file; if that is a file of something else, in one of a similar name (`path`)."""
        self.path = self._own = str(save_game(path, self.game, self.players, is_own=path == self._own))

    def _quit(self, rest: str) -> None:
        raise Leave


def _made(spec: str) -> Agent:
    try:
        return make(spec)
    except ProgramFault as fault:
        raise ValueError(f"agent={spec!r} cannot play: {fault}") from fault


def _names(agents: Sequence[Agent]) -> list[str]:
    """What the seats are called: a person `You`, one of several `Player 0`; bots by name, with their seat if equal."""
    alone = sum(isinstance(agent, Human) for agent in agents) == 1
    names = [label(agent.name) for agent in agents]
    called = [f"{name} {seat}" if names.count(name) > 1 else name for seat, name in enumerate(names)]
    for seat, agent in enumerate(agents):
        if isinstance(agent, Human):
            called[seat] = YOU if alone else f"Player {seat}"
    return called
