"""Actions as text: writing and reading.

The first word of an action depends on the phase: `attack Alaska > Kamchatka`, `dice 3`, `occupy all`, `done`.
"""

from typing import Any, NamedTuple

import numpy as np

from risk_env.board.action_space import AMOUNTS, BLITZ, BLOCK_OF, DEFENCE_DICE, DONE, WILD, ActionSpace
from risk_env.board.maps import Board
from risk_env.board.names import in_text, split_outside_quotes
from risk_env.board.tables import Tables
from risk_env.bounded_io import composed
from risk_env.core.types import NO_REWARD, Phase, Reward
from risk_env.messages import shortened
from risk_env.public import members

AMOUNT_WORDS = tuple(map(str, AMOUNTS))
LONGEST_TEXT = 1000  # maximum number of characters of an action
SHOWN_ACTIONS = 6  # maximum number of legal actions that a message lists


def reward_name(reward: int) -> str:
    """Return the name of a Reward (RULES 9.8), or "" for NO_REWARD. Both airfields have the same name."""
    return "" if reward == NO_REWARD else Reward(reward).name.replace("MAJOR_", "").replace("_", " ").title()


class IllegalAction(ValueError):
    """An action that the game does not allow now.

    The message names the action and the problem. `phase` and `action` are the name of the phase and the given
    action, or "" and None if they are unknown.
    """

    def __init__(self, message: str, phase: str = "", action: Any = None):
        super().__init__(message)
        self.phase = phase
        self.action = action


class Decision(NamedTuple):
    """The kind of decision in a phase."""

    word: str  # first word of the actions
    may_stop: bool = False  # True: DONE may be legal

    @property
    def block(self) -> str:
        """Block of action numbers (`ActionSpace.blocks`)."""
        return BLOCK_OF[self.word]

    @property
    def form(self) -> str:
        """Form of an action text, for error messages."""
        argument = "1|2" if self.word == "defend" else _ARGUMENTS[self.block]
        return f"{self.word} {argument}{' or done' if self.may_stop else ''}"


DECISIONS: dict[Phase, Decision] = {
    Phase.CAPITAL: Decision("capital"),
    Phase.CLAIM: Decision("claim"),
    Phase.DEPLOY: Decision("deploy"),
    Phase.DEPLOY_NEUTRAL: Decision("deploy"),
    Phase.HEADQUARTERS: Decision("headquarters"),
    Phase.TRADE: Decision("card", may_stop=True),
    Phase.BONUS: Decision("bonus"),
    Phase.DRAFT: Decision("draft"),
    Phase.DRAFT_AMOUNT: Decision("troops"),
    Phase.ATTACK: Decision("attack", may_stop=True),
    Phase.ATTACK_DICE: Decision("dice"),
    Phase.DEFEND: Decision("defend"),
    Phase.REROLL: Decision("reroll", may_stop=True),
    Phase.COMMANDER: Decision("commander", may_stop=True),
    Phase.OCCUPY: Decision("occupy", may_stop=True),
    Phase.OBJECTIVE: Decision("objective", may_stop=True),
    Phase.AIRFIELD: Decision("airfield"),
    Phase.FORTIFY_FROM: Decision("from", may_stop=True),
    Phase.FORTIFY_TO: Decision("to"),
    Phase.FORTIFY_AMOUNT: Decision("move", may_stop=True),
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
    """Return the name of a card: the name of the territory, or `wild` if `card` is `num_territories`."""
    return WILD if card == board.num_territories else board.names_in_text[card]


def action_text(action: int, record: Any, tables: Tables, board: Board) -> str:
    """Return the text of an action in the phase of `record`, legal or not.

    Raises IllegalAction if the phase has no such action.
    """
    text = action_words(action, DECISIONS.get(Phase(int(record["phase"]))), tables, board)
    if not text:
        raise illegal_action(record, tables, board, action)
    return text


def action_words(action: int, decision: Decision | None, tables: Tables, board: Board) -> str:
    """Return the text of an action in a decision, or "" if the decision has no such action."""
    if decision is None or not 0 <= action < tables.num_actions:
        return ""
    kind, arguments = tables.space.decode(action)
    if not _fits(decision, kind, arguments, board):
        return ""
    return f"{decision.word} {_argument_text(kind, arguments, board)}" if arguments else kind


def _fits(decision: Decision, kind: str, arguments: tuple[Any, ...], board: Board) -> bool:
    """Return True if an action is one of the actions of a decision, legal or not."""
    if kind == DONE:
        return decision.may_stop
    if decision.word == "defend":
        return kind == "dice" and arguments[0] in DEFENCE_DICE
    exists = kind != "objective" or arguments[0] < len(board.objectives)
    return BLOCK_OF[kind] == decision.block and exists


def parse_action(text: str, record: Any, tables: Tables, board: Board) -> int:
    """Return the legal action with this text. Case and extra spaces do not matter.

    Raises IllegalAction if no legal action has this text.
    """
    decision = DECISIONS.get(Phase(int(record["phase"])))
    words = " ".join(text.split()) if isinstance(text, str) and len(text) <= LONGEST_TEXT else ""
    if decision is None or not words:
        raise illegal_action(record, tables, board, text)
    try:
        action = _parse(composed(words), decision, tables.space)
    except ValueError as error:
        raise illegal_action(record, tables, board, text, str(error)) from None
    if action not in members(record["legal"]):
        raise illegal_action(record, tables, board, text)
    return action


def legal_texts(record: Any, tables: Tables, board: Board) -> list[str]:
    """Return the legal actions as texts, in the order of their numbers."""
    decision = DECISIONS.get(Phase(int(record["phase"])))
    return [action_words(action, decision, tables, board) for action in members(record["legal"])]


def illegal_action(
    record: Any, tables: Tables, board: Board, action: Any, problem: str = ""
) -> IllegalAction:
    """Return the error for an `action` that is not legal: a number, a text or any other value.

    `problem` is the reason, or "" if no reason is known.
    """
    phase = Phase(int(record["phase"]))
    shown = str(action) if isinstance(action, int | np.integer) else shortened(action)
    because = f": {problem}" if problem else ""
    legal = _legal_summary(phase, record, tables, board)
    return IllegalAction(f"{shown} is not legal in phase {phase.name}{because}; {legal}", phase.name, action)


def _legal_summary(phase: Phase, record: Any, tables: Tables, board: Board) -> str:
    if phase == Phase.OVER:
        return "the game is over"
    if phase not in DECISIONS:
        return "dice are rolled or a card is drawn next"
    legal = members(record["legal"])
    words = [action_text(action, record, tables, board) for action in legal[:SHOWN_ACTIONS]]
    more = f", ... ({len(legal)} in all)" if len(legal) > SHOWN_ACTIONS else ""
    return f"legal: {', '.join(words)}{more}"


def _argument_text(kind: str, arguments: tuple[Any, ...], board: Board) -> str:
    """Return the words that follow the first word of an action."""
    if kind == "objective":
        return in_text(board.objectives[arguments[0]].name)
    if kind in ("territory", "attack", "card"):
        return " > ".join(place if place == WILD else board.names_in_text[place] for place in arguments)
    return str(*arguments)


def _parse(words: str, decision: Decision, space: ActionSpace) -> int:
    """Return the number of an action of the decision. Raises ValueError, which names the problem."""
    word, _, argument = words.partition(" ")
    word = word.casefold()
    if not argument and ((word == DONE and decision.may_stop) or (word == BLITZ and decision.word == "dice")):
        return space.encode(word)
    if word != decision.word:
        raise ValueError(f"allowed: {decision.form}")
    arguments = split_outside_quotes(argument, ">", 1) if decision.block == "border" else [argument]
    if decision.block == "border" and len(arguments) < 2:
        raise ValueError("an attack must have the form 'attack SOURCE > TARGET'")
    return space.encode(word, *(text.strip() for text in arguments))
