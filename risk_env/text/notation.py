"""Text forms of actions, both ways.

An action reads as its phase asks: `attack Alaska > Kamchatka`, `dice 3`, `occupy all`, `done`.
"""

from typing import Any, NamedTuple

import numpy as np

from risk_env.board.action_space import AMOUNTS, BLITZ, BLOCK_OF, DEFENCE_DICE, DONE, WILD, ActionSpace
from risk_env.board.maps import Board
from risk_env.board.tables import Tables
from risk_env.core.types import NO_REWARD, Phase, Reward
from risk_env.public import members
from risk_env.untrusted import composed, shortened

AMOUNT_WORDS = tuple(map(str, AMOUNTS))
LONGEST_TEXT = 1000  # characters of an action
SHOWN_ACTIONS = 6  # legal actions that a message lists


def reward_name(reward: int) -> str:
    """What a Reward of RULES 9.8 is called, both Airfields alike; nothing for none."""
    return "" if reward == NO_REWARD else Reward(reward).name.replace("MAJOR_", "").replace("_", " ").title()


class IllegalAction(ValueError):
    """An action that the game does not allow now; the message names phase, action and what is legal."""

    def __init__(self, message: str, phase: str = "", action: Any = None):
        super().__init__(message)
        self.phase = phase
        self.action = action


class Question(NamedTuple):
    """What a phase asks: the word of its answers, and whether DONE may be one."""

    word: str
    may_stop: bool = False

    @property
    def block(self) -> str:
        """The block of the answers' numbers (`ActionSpace.blocks`)."""
        return BLOCK_OF[self.word]

    @property
    def form(self) -> str:
        """How an answer is written."""
        answer = "1|2" if self.word == "defend" else _ARGUMENTS[self.block]
        return f"{self.word} {answer}{' or done' if self.may_stop else ''}"


QUESTIONS: dict[Phase, Question] = {
    Phase.CAPITAL: Question("capital"),
    Phase.CLAIM: Question("claim"),
    Phase.DEPLOY: Question("deploy"),
    Phase.DEPLOY_NEUTRAL: Question("deploy"),
    Phase.HEADQUARTERS: Question("headquarters"),
    Phase.TRADE: Question("card", may_stop=True),
    Phase.BONUS: Question("bonus"),
    Phase.DRAFT: Question("draft"),
    Phase.DRAFT_AMOUNT: Question("troops"),
    Phase.ATTACK: Question("attack", may_stop=True),
    Phase.ATTACK_DICE: Question("dice"),
    Phase.DEFEND: Question("defend"),
    Phase.REROLL: Question("reroll", may_stop=True),
    Phase.COMMANDER: Question("commander", may_stop=True),
    Phase.OCCUPY: Question("occupy", may_stop=True),
    Phase.OBJECTIVE: Question("objective", may_stop=True),
    Phase.AIRFIELD: Question("airfield"),
    Phase.FORTIFY_FROM: Question("from", may_stop=True),
    Phase.FORTIFY_TO: Question("to"),
    Phase.FORTIFY_AMOUNT: Question("move", may_stop=True),
}
_ARGUMENTS = {
    "territory": "TERRITORY",
    "border": "TERRITORY > TERRITORY",
    "dice": "1|2|3 or blitz",
    "amount": "|".join(AMOUNT_WORDS),
    "card": "TERRITORY|wild",
    "die": "1|2|3|4|5|6",
    "objective": "OBJECTIVE",
}


def card_text(card: int, board: Board) -> str:
    """A card by its territory's name; `num_territories` is a wild one."""
    return WILD if card == board.num_territories else board.territories[card]


def action_text(action: int, record: Any, tables: Tables, board: Board) -> str:
    """The words of an action of the record's phase, legal or not; IllegalAction if it is no answer to that phase."""
    text = answer_text(action, QUESTIONS.get(Phase(int(record["phase"]))), tables, board)
    if not text:
        raise illegal_action(record, tables, board, action)
    return text


def answer_text(action: int, question: Question | None, tables: Tables, board: Board) -> str:
    """The words of an action as an answer to a question, "" if it is none."""
    if question is None or not 0 <= action < tables.num_actions:
        return ""
    kind, arguments = tables.space.decode(action)
    if not _answers(question, kind, arguments, board):
        return ""
    return f"{question.word} {_argument_text(kind, arguments, board)}" if arguments else kind


def _answers(question: Question, kind: str, arguments: tuple[Any, ...], board: Board) -> bool:
    """Whether an action is one of the answers to a question, legal or not."""
    if kind == DONE:
        return question.may_stop
    if question.word == "defend":
        return kind == "dice" and arguments[0] in DEFENCE_DICE
    exists = kind != "objective" or arguments[0] < len(board.objectives)
    return BLOCK_OF[kind] == question.block and exists


def parse_action(text: str, record: Any, tables: Tables, board: Board) -> int:
    """The legal action that a text means, in any case, extra blanks ignored; IllegalAction if there is none."""
    question = QUESTIONS.get(Phase(int(record["phase"])))
    words = " ".join(text.split()) if isinstance(text, str) and len(text) <= LONGEST_TEXT else ""
    if question is None or not words:
        raise illegal_action(record, tables, board, text)
    try:
        action = _parse(composed(words), question, tables.space)
    except ValueError as error:
        raise illegal_action(record, tables, board, text, str(error)) from None
    if action not in members(record["legal"]):
        raise illegal_action(record, tables, board, text)
    return action


def legal_texts(record: Any, tables: Tables, board: Board) -> list[str]:
    """The legal actions as texts, in the order of their numbers."""
    question = QUESTIONS.get(Phase(int(record["phase"])))
    return [answer_text(action, question, tables, board) for action in members(record["legal"])]


def illegal_action(record: Any, tables: Tables, board: Board, action: Any, problem: str = "") -> IllegalAction:
    """The error for an action (number, text or anything) that is not legal; `problem` says why where that is known."""
    phase = Phase(int(record["phase"]))
    shown = str(action) if isinstance(action, int | np.integer) else shortened(action)
    because = f": {problem}" if problem else ""
    legal = _legal_summary(phase, record, tables, board)
    return IllegalAction(f"{shown} is not legal in phase {phase.name}{because}; {legal}", phase.name, action)


def _legal_summary(phase: Phase, record: Any, tables: Tables, board: Board) -> str:
    if phase == Phase.OVER:
        return "the game is over"
    if phase not in QUESTIONS:
        return "chance is next"
    legal = members(record["legal"])
    words = [action_text(action, record, tables, board) for action in legal[:SHOWN_ACTIONS]]
    more = f", ... ({len(legal)} in all)" if len(legal) > SHOWN_ACTIONS else ""
    return f"legal: {', '.join(words)}{more}"


def _argument_text(kind: str, arguments: tuple[Any, ...], board: Board) -> str:
    """What follows the word of an action."""
    if kind == "objective":
        return board.objectives[arguments[0]].name
    if kind in ("territory", "attack", "card"):
        return " > ".join(place if place == WILD else board.territories[place] for place in arguments)
    return str(*arguments)


def _parse(words: str, question: Question, space: ActionSpace) -> int:
    """The number of an answer to the question; a ValueError says what is wrong."""
    word, _, argument = words.partition(" ")
    word = word.casefold()
    if not argument and ((word == DONE and question.may_stop) or (word == BLITZ and question.word == "dice")):
        return space.encode(word)
    if word != question.word:
        raise ValueError(f"it asks for {question.form}")
    if question.block == "border" and ">" not in argument:
        raise ValueError("an attack is written as attack SOURCE > TARGET")
    arguments = argument.split(">", 1) if question.block == "border" else (argument,)
    return space.encode(word, *(text.strip() for text in arguments))
