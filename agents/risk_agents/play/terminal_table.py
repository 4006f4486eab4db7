"""Match between people at one terminal, with bots at the remaining seats."""

from collections.abc import Sequence

from risk_agents.agent_list import labelled
from risk_agents.game_files import save_game
from risk_agents.human.human import Desk, Human
from risk_agents.human.narration import Words, narrate
from risk_agents.human.questions import board_lines, mission_in_words
from risk_agents.human.terminal import Terminal
from risk_agents.program import ProgramFault
from risk_agents.registry import HUMAN, make
from risk_env.agent import Agent
from risk_env.core.types import NOBODY
from risk_env.game import Game, SavedGameError
from risk_env.match import Match
from risk_env.players import PlayerFault
from risk_env.saved_game import SavedGame
from risk_env.text.escape import label

YOU = "You"
LOG_LINES = 20  # default number of lines that the command `log` shows


class Leave(Exception):
    """Exception that stops the game when a person quits."""


class TerminalTable(Match):
    """Match at a terminal, which shows each person the events since the person's last decision."""

    def __init__(self, game: Game, specs: Sequence[str], terminal: Terminal, path: str) -> None:
        self.specs, self.terminal = tuple(specs), terminal
        self.path = path  # file in which the game is saved
        self._own = ""  # file in which this game was last saved, or from which it was resumed
        desk = Desk(terminal)
        named = [labelled(spec) for spec in specs]
        desk.people = sum(agent.spec == HUMAN for agent in named)
        seated: list[Agent] = [Human(desk) if agent.spec == HUMAN else _made(agent.spec) for agent in named]
        self._people = {seat: agent for seat, agent in enumerate(seated) if isinstance(agent, Human)}
        self.names = (*_names(seated, [agent.label for agent in named]), "neutral")
        self._set_up(game, [None if seat in self._people else agent for seat, agent in enumerate(seated)])
        self._seen = dict.fromkeys(self._people, 0)  # number of events that each person has seen
        self._watched_round = NOBODY
        self._is_live = False  # True if actions are played live, False while they are replayed
        self._begin()

    @property
    def people(self) -> list[int]:
        """Seats that people play."""
        return list(self._people)

    def _begin(self) -> None:
        """Let the bots compile their code, and begin the game."""
        try:
            self.prepare()
            self.begin()
        except PlayerFault as fault:
            raise ValueError(
                f"agent={self.specs[fault.seat]!r} cannot play this game: {fault.reason}"
            ) from fault
        for seat, person in self._people.items():
            person.names = self.names
            person.commands = {
                "log": (f"the last {LOG_LINES} lines of the log; log N shows N lines", self._show_log),
                "save": ("save the game in a file: save FILE", self._save_as),
                "quit": ("stop here; the game is saved", self._quit),
            }
            person.reset(seat, self.game.rules, self.game.board, 0)

    # ------------------------------------------------------------------------------------------ playing

    def play(self) -> None:
        """Play to the end, and show the result.

        Raises Leave, EOFError or KeyboardInterrupt when a person stops the game, and PlayerFault if a bot
        fails.
        """
        self._is_live = True
        self._watch()
        while (seat := self.run()) != NOBODY:
            person = self._people[seat]
            person.news = self._news(seat)
            self.step(person.act(self.view()))
        self._show_the_end()

    def step(self, action: int | str) -> None:
        """Play an action; if no person is left in the game, show the standings of each round."""
        super().step(action)
        if self._is_live:
            self._watch()

    def resume(self, saved: SavedGame) -> None:
        """Play all actions of a saved game.

        The bots act again, so that their memories match the game. If a bot now chooses different actions,
        the name of the bot is shown. Raises SavedGameError if the saved game cannot be played.
        """
        changed, self._own = set(), self.path
        for action in saved.actions:
            if self.game.seat in self._seen:
                self._seen[self.game.seat] = len(self.game.events())
            try:
                changed |= self.replay([action])
            except ValueError as error:
                raise SavedGameError(f"{self.path}: {error}") from error
        saved.check_end(self.game)
        for name in sorted(self.names[seat] for seat in changed):
            self.terminal.say(f"{name} no longer chooses the actions in the saved game.")

    def _is_anyone_in(self) -> bool:
        return any(self.game.alive[seat] for seat in self.people)

    # ------------------------------------------------------------------------------------------ what is shown

    def _words(self, viewer: int) -> Words:
        return Words(self.names, self.game.board, viewer)

    def _news(self, seat: int) -> list[str]:
        """Return the events that the person at a seat has not seen yet, in words."""
        events = self.game.events(since=self._seen[seat])
        self._seen[seat] += len(events)
        return narrate(events, self._words(seat), self.terminal.width)

    def _watch(self) -> None:
        """If no person is left, ask once whether to continue, then show the standings of each round."""
        if self.game.is_over or self._is_anyone_in():
            return
        if self._watched_round == NOBODY:
            last = max(self.people, key=lambda seat: self._seen[seat])
            self.terminal.say("", *self._news(last), "")
            if self.terminal.ask(
                "No person is left in the game. Enter: the bots play on; quit: stop here> "
            ).strip():
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
        """Show the last events, the board, the missions, and the result."""
        if self._is_anyone_in() or self._watched_round == NOBODY:
            last = max(self.people, key=lambda seat: self._seen[seat])
            self.terminal.say("", *self._news(last))
        game, view = self.game, self.view(self.people[0])
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
            return f"The game ends after {self.game.rules.max_rounds} rounds without a winner: {order}."
        return f"{self.names[self.game.winner]} won in round {self.game.round}: {order}."

    # ------------------------------------------------------------------------------------------ commands

    def _show_log(self, rest: str) -> None:
        """Run the command `log`: show the last events of the game."""
        lines = narrate(self.game.events(), self._words(NOBODY), self.terminal.width)
        count = int(rest) if rest.isdecimal() and int(rest) else LOG_LINES
        self.terminal.say(*lines[-count:])

    def _save_as(self, rest: str) -> None:
        """Run the command `save FILE`: save the game in FILE, now and when the person quits."""
        try:
            self.keep(rest or self.path)
        except (OSError, ValueError) as error:
            self.terminal.say_wrapped(f"Not saved: {error}")
            return
        self.terminal.say(f"The game is saved in {self.path}.")

    def keep(self, path: str) -> None:
        """Save the game in `path`, or under a new name if `path` exists and is not this game's current file.

        The attribute `path` of the table is set to the name of the file.
        """
        saved = SavedGame.of(self.game, self.specs)
        self.path = self._own = str(save_game(path, saved, is_own=path == self._own))

    def _quit(self, rest: str) -> None:
        raise Leave


def _made(spec: str) -> Agent:
    try:
        return make(spec)
    except ProgramFault as fault:
        raise ValueError(f"agent={spec!r} cannot play: {fault}") from fault


def _names(agents: Sequence[Agent], labels: Sequence[str | None]) -> list[str]:
    """Return the name of each seat: the label, `You` or `Player 0` for a person, or the name of the bot.

    The number of the seat is added to names that are equal.
    """
    alone = sum(isinstance(agent, Human) for agent in agents) == 1
    names = [label(given or agent.name) for agent, given in zip(agents, labels, strict=True)]
    called = [f"{name} {seat}" if names.count(name) > 1 else name for seat, name in enumerate(names)]
    for seat, agent in enumerate(agents):
        if isinstance(agent, Human) and not labels[seat]:
            called[seat] = YOU if alone else f"Player {seat}"
    return called
