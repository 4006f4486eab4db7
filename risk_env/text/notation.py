"""Text forms of actions, both ways (DESIGN, Contract: words of the text forms).

An action reads as its phase asks: `attack Alaska > Kamchatka`, `dice 3`, `occupy all`, `done`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from risk_env.board.maps import Board
from risk_env.board.tables import Tables
from risk_env.core import types
from risk_env.core.types import NO_REWARD, Phase, Reward
from risk_env.text.check import (
    members,
    whole,
)

AMOUNT_WORDS = (*map(str, types.AMOUNTS), "half", "all")
WILD = "wild"
DONE = "done"
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
    """What a phase asks: the word of its answers, the block of their numbers, and whether DONE may be one."""

    word: str
    block: str
    may_stop: bool = False


QUESTIONS: dict[Phase, Question] = {
    Phase.CAPITAL: Question("capital", "TERRITORY"),
    Phase.CLAIM: Question("claim", "TERRITORY"),
    Phase.DEPLOY: Question("deploy", "TERRITORY"),
    Phase.DEPLOY_NEUTRAL: Question("deploy", "TERRITORY"),
    Phase.HEADQUARTERS: Question("headquarters", "TERRITORY"),
    Phase.TRADE: Question("card", "CARD", True),
    Phase.BONUS: Question("bonus", "TERRITORY"),
    Phase.DRAFT: Question("draft", "TERRITORY"),
    Phase.DRAFT_AMOUNT: Question("troops", "AMOUNT"),
    Phase.ATTACK: Question("attack", "BORDER", True),
    Phase.ATTACK_DICE: Question("dice", "DICE"),
    Phase.DEFEND: Question("defend", "DEFENCE"),
    Phase.REROLL: Question("reroll", "DIE", True),
    Phase.COMMANDER: Question("commander", "DIE", True),
    Phase.OCCUPY: Question("occupy", "AMOUNT", True),
    Phase.OBJECTIVE: Question("objective", "OBJECTIVE", True),
    Phase.AIRFIELD: Question("airfield", "TERRITORY"),
    Phase.FORTIFY_FROM: Question("from", "TERRITORY", True),
    Phase.FORTIFY_TO: Question("to", "TERRITORY"),
    Phase.FORTIFY_AMOUNT: Question("move", "AMOUNT", True),
}
ARGUMENTS = {
    "TERRITORY": "TERRITORY",
    "BORDER": "TERRITORY > TERRITORY",
    "DICE": "1|2|3 or blitz",
    "DEFENCE": "1|2",
    "AMOUNT": "|".join(AMOUNT_WORDS),
    "CARD": "TERRITORY|wild",
    "DIE": "1|2|3|4|5|6",
    "OBJECTIVE": "OBJECTIVE",
}
BLITZ_WORD = "blitz"


def card_text(card: int, board: Board) -> str:
    """A card by its territory's name; `num_territories` is a wild one."""
    return WILD if card == board.num_territories else board.territories[card]


def action_text(action: int, record: Any, tables: Tables, board: Board) -> str:
    """The words of an action of the record's phase, legal or not; IllegalAction if it is no answer to that phase."""
    question = QUESTIONS.get(Phase(int(record.phase)))
    if question is not None:
        number = int(action)
        if question.may_stop and number == int(tables.rules[0].done):
            return DONE
        first, size = _block(question.block, tables)
        if 0 <= number - first < size:
            return _answer_text(question, number - first, board)
    raise illegal_action(record, tables, board, action)


def parse_action(text: str, record: Any, tables: Tables, board: Board) -> int:
    """The legal action that a text means, in any case, extra blanks ignored; IllegalAction if there is none."""
    question = QUESTIONS.get(Phase(int(record.phase)))
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if question is None or not words:
        raise illegal_action(record, tables, board, text)
    try:
        action = _parse(words, question, tables, board)
    except ValueError as error:
        raise illegal_action(record, tables, board, text, str(error)) from None
    if not whole(record.legal) >> action & 1:
        raise illegal_action(record, tables, board, text)
    return action


def legal_texts(record: Any, tables: Tables, board: Board) -> list[str]:
    """The legal actions as texts, in the order of their numbers."""
    return [action_text(action, record, tables, board) for action in members(whole(record.legal))]


def illegal_action(record: Any, tables: Tables, board: Board, action: Any, problem: str = "") -> IllegalAction:
    """The error for an action (number, text or anything) that is not legal; `problem` says why where that is known."""
    phase = Phase(int(record.phase))
    shown = str(action) if isinstance(action, int | np.integer) else shortened(action)
    because = f": {problem}" if problem else ""
    legal = _legal_summary(phase, record, tables, board)
    return IllegalAction(f"{shown} is not legal in phase {phase.name}{because}; {legal}", phase.name, action)


def _legal_summary(phase: Phase, record: Any, tables: Tables, board: Board) -> str:
    if phase == Phase.OVER:
        return "the game is over"
    if phase not in QUESTIONS:
        return "chance is next"
    legal = members(whole(record.legal))
    words = [action_text(action, record, tables, board) for action in legal[:SHOWN_ACTIONS]]
    more = f", ... ({len(legal)} in all)" if len(legal) > SHOWN_ACTIONS else ""
    return f"legal: {', '.join(words)}{more}"


def shortened(value: Any) -> str:
    """A wrong value for a message, cut to fit."""
    words = repr(value)
    return words if len(words) <= 80 else words[:77] + "..."


def _block(block: str, tables: Tables) -> tuple[int, int]:
    """First action of a block and how many there are (docs/decisions.md)."""
    rules, map_ = tables.rules[0], tables.board[0]
    places = int(map_.num_territories)
    first, size = {
        "TERRITORY": (0, places),
        "BORDER": (rules.border_0, map_.num_borders),
        "DICE": (rules.dice_0, types.NUM_DICE_ACTIONS),
        "DEFENCE": (rules.dice_0, 2),
        "AMOUNT": (rules.amount_0, types.NUM_AMOUNTS),
        "CARD": (rules.card_0, places + 1),
        "DIE": (rules.die_0, types.NUM_FACES),
        "OBJECTIVE": (rules.objective_0, map_.num_objectives),
    }[block]
    return int(first), int(size)


def _answer_text(question: Question, number: int, board: Board) -> str:
    """The words of answer `number` of the question's block."""
    if question.block == "DICE" and number == types.BLITZ:
        return BLITZ_WORD
    return f"{question.word} {_argument_text(question.block, number, board)}"


def _argument_text(block: str, number: int, board: Board) -> str:
    if block == "BORDER":
        source, target = board.borders[number]
        return f"{board.territories[source]} > {board.territories[target]}"
    if block == "AMOUNT":
        return AMOUNT_WORDS[number]
    if block == "OBJECTIVE":
        return board.objectives[number].name
    if block in ("TERRITORY", "CARD"):
        return card_text(number, board)
    return str(number + 1)


def _parse(words: str, question: Question, tables: Tables, board: Board) -> int:
    """The number of an answer to the question; a ValueError says what is wrong."""
    word, _, argument = words.partition(" ")
    word = word.casefold()
    if word == DONE and not argument and question.may_stop:
        return int(tables.rules[0].done)
    first, _ = _block(question.block, tables)
    if word == BLITZ_WORD and not argument and question.block == "DICE":
        return first + types.BLITZ
    if word != question.word:
        raise ValueError(f"it asks for {_asked(question)}")
    return first + _argument(argument, question, board)


def _asked(question: Question) -> str:
    return f"{question.word} {ARGUMENTS[question.block]}{' or done' if question.may_stop else ''}"


def _argument(argument: str, question: Question, board: Board) -> int:
    """The number within the block of what follows the word."""
    if question.block == "BORDER":
        return _border(argument, board)
    if question.block == "CARD" and argument.casefold() == WILD:
        return board.num_territories
    if question.block in ("TERRITORY", "CARD"):
        return board.territory(argument)
    choices = {
        "AMOUNT": AMOUNT_WORDS,
        "OBJECTIVE": tuple(objective.name.casefold() for objective in board.objectives),
        "DIE": ("1", "2", "3", "4", "5", "6"),
        "DEFENCE": ("1", "2"),
    }.get(question.block, ("1", "2", "3"))
    if argument.casefold() not in choices:
        raise ValueError(f"{shortened(argument)} is not one of {' '.join(_choices_text(question, choices, board))}")
    return choices.index(argument.casefold())


def _choices_text(question: Question, choices: Sequence[str], board: Board) -> Sequence[str]:
    if question.block == "OBJECTIVE":
        return [repr(objective.name) for objective in board.objectives]
    return choices


def _border(argument: str, board: Board) -> int:
    """The number of the directed border of `SOURCE > TARGET`."""
    source, arrow, target = argument.partition(">")
    if not arrow:
        raise ValueError("an attack is written as attack SOURCE > TARGET")
    border = (board.territory(source.strip()), board.territory(target.strip()))
    number = bisect_left(board.borders, border)
    if board.borders[number : number + 1] != (border,):
        raise ValueError(f"{board.territories[border[0]]} does not border {board.territories[border[1]]}")
    return number
