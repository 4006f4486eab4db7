"""Agent for a person at a terminal: `risk_agents.make("human")`."""

from collections.abc import Callable, Sequence

from risk_agents.human.answers import understand
from risk_agents.human.narration import Words
from risk_agents.human.questions import board_lines, legal_lines, own_lines, question
from risk_agents.human.terminal import Terminal
from risk_env.agent import Agent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.types import NOBODY, Phase
from risk_env.text.notation import DECISIONS

HELP = """\
An answer is an action in words, such as `attack Alaska > Kamchatka`, or its number in the list.
You may leave out the first word and shorten names: `al > kam`.
Type amounts and dice as `3`, `half`, `all` or `blitz`.
Separate several answers on one line with `;`: `alaska; 3`.
"""
COMMANDS = {
    "help": "this help (also ?)",
    "list": "all legal actions",
    "board": "the board",
    "hand": "facts that only you know",
}
# Phases whose decisions show a hidden fact
SECRET = (Phase.TRADE, Phase.DRAFT, Phase.DRAFT_AMOUNT, Phase.HEADQUARTERS)
LONG = ("territory", "border")  # blocks of many actions, which are listed once per turn
# Phases whose decisions are short and show no hidden fact
OPEN = (Phase.CAPITAL, Phase.CLAIM, Phase.DEPLOY, Phase.DEPLOY_NEUTRAL, Phase.DEFEND)


class Desk:
    """Terminal that several people can share without seeing each other's cards."""

    def __init__(self, terminal: Terminal | None = None) -> None:
        self.terminal = Terminal() if terminal is None else terminal
        self.people = 1  # number of people who share the terminal
        self.secrets_of = NOBODY  # seat whose hidden facts are on the screen
        self._holder = NOBODY

    def hand_to(self, seat: int, names: Sequence[str], phase: Phase) -> None:
        """Ask the people to hand the keyboard to the person at `seat`.

        Decisions in the phases OPEN show no hidden facts and need no handover.
        """
        if self.people == 1:
            return
        if self.secrets_of not in (NOBODY, seat):
            self.terminal.ask(
                f"\n{names[self.secrets_of]}, press Enter to clear the screen for {names[seat]}. "
            )
            self._clear()
        if seat != self._holder and phase not in OPEN:
            self.terminal.ask(
                f"\n{names[seat]}, the keyboard is yours: press Enter when nobody else is looking. "
            )
            self._clear()
            self._holder = seat

    def _clear(self) -> None:
        self.terminal.clear()
        self.secrets_of = NOBODY


class Human(Agent):
    """Agent that asks a person; without `desk`, the person is alone at the program's own terminal."""

    name = "human"
    version = "1"

    def __init__(self, desk: Desk | None = None) -> None:
        self.desk = Desk() if desk is None else desk
        self.names: tuple[str, ...] = ()  # names of all seats and the neutral army, if known
        # Additional commands by name: help text, and function that receives the rest of the line
        self.commands: dict[str, tuple[str, Callable[[str], None]]] = {}
        self.news: list[str] = []  # lines to show before the next decision

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Prepare for a new game."""
        super().reset(seat, rules, board, seed)
        default = (
            *(f"Player {other}" if other != seat else "You" for other in range(rules.num_players)),
            "neutral",
        )
        self._words = Words(self.names or default, board, seat)
        self._lists: dict[Phase, list[str]] = {}  # actions that were shown this turn, by phase
        self._waiting: list[str] = []  # answers to later decisions
        self._greeted: tuple[int, Phase | None] | None = None

    def act(self, view: View) -> int:
        """Ask until the person gives a legal answer; raise EOFError at the end of the input."""
        self.desk.hand_to(self.seat, self._words.names, view.phase)
        has_news = self._say_news()
        self._greet(view)
        if not self._waiting:
            self._ask(view, has_news)
        while True:
            answer = self._waiting.pop(0) if self._waiting else self._next_answer(view)
            try:
                understood = understand(answer, view, self._lists.get(view.phase, ()))
            except ValueError as error:
                self._refuse(error)
                continue
            self._waiting[:0] = understood.then
            return understood.action

    # --------------------------------------------------------------------------------------- asking

    def _greet(self, view: View) -> None:
        """Show the board when the person's turn or a phase of the set-up begins.

        If the person is alone at the terminal, also show the facts that only the person knows.
        """
        now = view.public.round, view.phase if view.public.round == 0 else None
        if view.public.turn != view.seat or self._greeted == now:
            return
        self._greeted = now
        self._waiting.clear()
        self._lists.clear()
        self._show_board(view)
        if self.desk.people == 1:
            self._show_own(view)
        self.desk.terminal.say()

    def _say_news(self) -> bool:
        """Show the events since the person's last decision; return True if there are any."""
        lines, self.news = self.news, []
        if lines:
            self.desk.terminal.say("", *lines)
        return bool(lines)

    def _ask(self, view: View, has_news: bool) -> None:
        """Show the decision, and the legal actions that were not yet shown in this turn."""
        if not has_news:
            self.desk.terminal.say()
        self.desk.terminal.say_wrapped(question(view, self._words))
        if view.phase in SECRET or (view.rules.card_reroll and view.phase not in OPEN):  # reveals a card
            self.desk.secrets_of = self.seat
        shown = self._lists.setdefault(view.phase, []) if DECISIONS[view.phase].block in LONG else []
        new = [text for text in view.texts if text not in shown]
        if new:
            self._lists[view.phase] = shown + new
            self._say_legal(view, new)

    def _say_legal(self, view: View, shown: Sequence[str]) -> None:
        """Show some of the legal actions with their numbers."""
        numbers = {text: number for number, text in enumerate(self._lists[view.phase], 1) if text in shown}
        self.desk.terminal.say(*legal_lines(view, self._words, numbers, self.desk.terminal.width))

    def _show_board(self, view: View) -> None:
        terminal = self.desk.terminal
        terminal.say("", *board_lines(view, self._words, terminal.width, terminal.has_colour))

    def _show_own(self, view: View) -> None:
        self.desk.terminal.say(*own_lines(view, self._words, self.desk.terminal.width))

    # ------------------------------------------------------------------------------------ listening

    def _next_answer(self, view: View) -> str:
        """Return the next answer that is not a command; keep the other answers on the same line for later."""
        while True:
            who = "" if self.desk.people == 1 else f"{self._words.names[self.seat]}, "
            line = self.desk.terminal.ask(f"{who}{DECISIONS[view.phase].word}> ").strip()
            word, _, rest = line.partition(" ")
            if not line:
                self.desk.terminal.say("Type an answer, or ? for help.")
            elif not self._obey(word.casefold(), rest.strip(), view):
                first, *self._waiting = [part.strip() for part in line.split(";") if part.strip()] or [""]
                return first

    def _obey(self, word: str, rest: str, view: View) -> bool:
        """Run a command; return False if the word is not a command."""
        if word in self.commands:
            self.commands[word][1](rest)
        elif word in ("help", "?") and not rest:
            self._help(view)
        elif word == "list" and not rest:
            self._lists[view.phase] = list(view.texts)  # new numbers
            self._say_legal(view, view.texts)
        elif word == "board" and not rest:
            self._show_board(view)
        elif word == "hand" and not rest:
            self.desk.secrets_of = self.seat
            self._show_own(view)
        else:
            return False
        return True

    def _help(self, view: View) -> None:
        terminal = self.desk.terminal
        terminal.say_wrapped(" ".join(HELP.split()))
        commands = COMMANDS | {name: text for name, (text, _) in self.commands.items()}
        for name, text in commands.items():
            terminal.say_wrapped(f"{name:<12}{text}", "  ", " " * 14)
        terminal.say_wrapped(question(view, self._words))

    def _refuse(self, error: ValueError) -> None:
        """Report an invalid answer, and discard the answers that wait for later decisions."""
        skipped = f" (dropped: {'; '.join(self._waiting)})" if self._waiting else ""
        self._waiting.clear()
        wrong = f"{error}{skipped}".removesuffix("?").removesuffix(".")
        self.desk.terminal.say_wrapped(f"{wrong}. `list` shows all legal actions; ? shows help.")
