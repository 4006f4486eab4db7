"""Answers in words, as in the terminal: `ven 5`, `al > kam`, `14`, `done`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from risk_agents.human.answers import NUMBERED, understand
from risk_agents.web.browser_request import Refused
from risk_env.agent import View
from risk_env.board.action_space import ALL, HALF
from risk_env.game import Game
from risk_env.text.amounts import AMOUNT_PHASES
from risk_env.text.notation import DECISIONS

LONGEST = 200  # maximum number of characters of an answer in words


class Typed(NamedTuple):
    """Meaning of an answer in words: an action, a number of troops, or both."""

    action: int | None
    troops: int | None = None


def read_words(words: str, game: Game, room_at: Callable[[Game, int], int]) -> Typed:
    """Return the meaning of an answer in words; raise Refused with the reason if the answer is not legal.

    `room_at` returns the maximum number of troops that an answer can place on the territory of an action.
    """
    if len(words) > LONGEST:
        raise Refused(f"the answer has {len(words)} characters; at most {LONGEST} are allowed")
    if not words.strip():
        raise Refused("the answer is empty: type an action")
    if DECISIONS[game.phase].block in NUMBERED and words.strip().isdecimal():
        raise Refused(f"{words.strip()} is a number, but this page has no numbered list: type a name")
    try:
        action, then = understand(words, View(game), ())
    except ValueError as error:
        raise Refused(str(error)) from error
    if not then:
        return Typed(action)
    if game.phase in AMOUNT_PHASES:  # several actions together place or move the number of troops
        return Typed(None, int(game.action_text(action).rpartition(" ")[2]) + int(then[-1]))
    return Typed(action, _number(then[0], room_at(game, action)))


def _number(amount: str, most: int) -> int:
    """Return the number of troops for an amount, which is a number, `half` or `all`."""
    return {ALL: most, HALF: max(1, most // 2)}.get(amount.casefold()) or int(amount)
