"""Action numbers of one map with one set of rules, and the actions that the numbers stand for.

block      size   action
territory  T      territory t
border     B      attack along the directed border b, in the order of `board.borders`
dice       4      one, two, three dice, blitz
amount     17     1 2 3 4 5 6 8 10 12 15 20 25 30 40 50 half all
card       T + 1  card of territory t; the last number is a wild card
done       1      stop, or decline
die        6      a die that shows face 1 ... 6
objective  12     Objective o of the map

The block `die` is empty unless the rules have `card_reroll` or `commander`. The block `objective` is empty
unless the rules have `objectives`.
"""

import reprlib
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from risk_env.board.maps import Board
from risk_env.board.names import key_of
from risk_env.board.rules import Rules
from risk_env.core import types

SCHEMA = 1  # version of the format of `ActionSpace.to_json`
WILD, BLITZ, DONE = "wild", "blitz", "done"
HALF, ALL = "half", "all"
AMOUNTS = (*types.AMOUNTS, HALF, ALL)
FACES = tuple(range(1, types.NUM_FACES + 1))
ATTACK_DICE, DEFENCE_DICE = (1, 2, 3), (1, 2)

# Block of each kind of action: each word of docs/decisions.md, and each kind that `decode` returns.
BLOCK_OF = {
    **dict.fromkeys(
        ("territory", "capital", "claim", "deploy", "headquarters", "bonus", "draft"), "territory"
    ),
    **dict.fromkeys(("airfield", "from", "to"), "territory"),
    "attack": "border",
    **dict.fromkeys(("dice", "defend", BLITZ), "dice"),
    **dict.fromkeys(("amount", "troops", "occupy", "move"), "amount"),
    "card": "card",
    DONE: "done",
    **dict.fromkeys(("die", "reroll", "commander"), "die"),
    "objective": "objective",
}
_CHOICES: dict[str, Sequence[Any]] = {
    "dice": ATTACK_DICE,
    "defend": DEFENCE_DICE,
    **{word: AMOUNTS for word, block in BLOCK_OF.items() if block == "amount"},
    **{word: FACES for word, block in BLOCK_OF.items() if block == "die"},
}
_NUM_ARGUMENTS = {"attack": 2, DONE: 0, BLITZ: 0}  # all other kinds need one argument


class Action(NamedTuple):
    """The meaning of an action number.

    `ActionSpace.encode(kind, *arguments)` returns the number.
    """

    kind: str  # "territory", "attack", "dice", "blitz", "amount", "card", "done", "die" or "objective"
    arguments: tuple[Any, ...] = ()


class ActionSpace:
    """The actions of one map with one set of rules.

    `n` is the number of actions. `blocks` maps the name of each block to the block's range of action numbers.
    """

    def __init__(self, rules: Rules, board: Board) -> None:
        self.board = board
        sizes = {
            "territory": board.num_territories,
            "border": len(board.borders),
            "dice": types.NUM_DICE_ACTIONS,
            "amount": types.NUM_AMOUNTS,
            "card": board.num_territories + 1,
            "done": 1,
            "die": types.NUM_FACES if rules.card_reroll or rules.commander else 0,
            "objective": types.NUM_OBJECTIVES if rules.objectives is not None else 0,
        }
        self.n = 0
        self.blocks: dict[str, range] = {}
        for block, size in sizes.items():
            self.blocks[block] = range(self.n, self.n + size)
            self.n += size
        self._meanings = [
            self._meaning(block, index)
            for block, numbers in self.blocks.items()
            for index in range(len(numbers))
        ]

    @property
    def done(self) -> int:
        """Number of the action DONE."""
        return self.blocks["done"].start

    def decode(self, action: int) -> Action:
        """Return the meaning of an action.

        The arguments in the result are numbers. For example, an attack has the numbers of its source and its
        target. The only exceptions are the words "wild" for a wild card, and "half" and "all" for amounts.
        Raises ValueError unless `action` is a whole number from 0 to `n - 1`.
        """
        return self._meanings[_number("action", action, self.n)]

    def _meaning(self, block: str, index: int) -> Action:
        if block == "border":
            return Action("attack", self.board.borders[index])
        if block == "dice":
            return Action(BLITZ) if index == types.BLITZ else Action(block, (ATTACK_DICE[index],))
        if block == "done":
            return Action(DONE)
        if block == "card" and index == self.board.num_territories:
            return Action(block, (WILD,))
        choices = _CHOICES.get(block)
        return Action(block, (choices[index] if choices else index,))

    def encode(self, kind: str, *arguments: Any) -> int:
        """Return the number of an action.

        Examples: `encode("attack", "Alaska", "Kamchatka")`, `encode("troops", "half")`. `kind` is a word of
        docs/decisions.md or a kind that `decode` returns. Territories and Objectives are given by name or
        number. Raises ValueError for a wrong argument.
        """
        if kind not in BLOCK_OF:
            raise ValueError(f"kind={reprlib.repr(kind)}: choose one of {', '.join(BLOCK_OF)}")
        count = _NUM_ARGUMENTS.get(kind, 1)
        if len(arguments) != count:
            plural = "" if count == 1 else "s"
            raise ValueError(f"{kind!r} needs {count} argument{plural}, not {len(arguments)}")
        numbers = self.blocks[BLOCK_OF[kind]]
        if not numbers:
            allowed = ", ".join(word for word, block in BLOCK_OF.items() if self.blocks[block])
            raise ValueError(f"{kind!r} is not an action under these rules; allowed: {allowed}")
        return numbers.start + self._index(kind, arguments)

    def _index(self, kind: str, arguments: tuple[Any, ...]) -> int:
        """Return the index of an action in its block."""
        if kind in (BLITZ, DONE):
            return types.BLITZ if kind == BLITZ else 0
        if kind == "attack":
            return self._border(*arguments)
        (argument,) = arguments
        if kind == "card" and str(argument).casefold() == WILD:
            return self.board.num_territories
        if BLOCK_OF[kind] in ("territory", "card"):
            return self._territory(argument)
        if kind == "objective" and not isinstance(argument, str):
            return _number("objective", argument, types.NUM_OBJECTIVES)
        if kind == "objective":
            return _index_of(key_of(argument), tuple(goal.name for goal in self.board.objectives))
        return _index_of(argument, _CHOICES[kind])

    def _territory(self, place: Any) -> int:
        """Return the number of a territory that is given by name or number."""
        return (
            self.board.territory(place)
            if isinstance(place, str)
            else _number("territory", place, self.board.num_territories)
        )

    def _border(self, source: Any, target: Any) -> int:
        border = (self._territory(source), self._territory(target))
        number = bisect_left(self.board.borders, border)
        if self.board.borders[number : number + 1] != (border,):
            raise ValueError(self.board.no_border(*border))
        return number

    def to_json(self) -> dict[str, Any]:
        """Return the layout of the action numbers as a dict for `json.dumps`.

        The keys are "schema", "n", "blocks" and "amounts". "blocks" maps the name of each block to a list:
        the first action number of the block, and the last action number plus 1.
        """
        blocks = {block: [numbers.start, numbers.stop] for block, numbers in self.blocks.items()}
        return {"schema": SCHEMA, "n": self.n, "blocks": blocks, "amounts": list(AMOUNTS)}


def _index_of(value: Any, choices: Sequence[Any]) -> int:
    """Return the index of `value` in `choices`. The case of letters is ignored."""
    words = [str(choice).casefold() for choice in choices]
    if str(value).casefold() not in words:
        raise ValueError(f"{reprlib.repr(value)} is not one of {', '.join(map(str, choices))}")
    return words.index(str(value).casefold())


def _number(name: str, value: Any, count: int) -> int:
    """Return `value` as an int. Raises ValueError unless `value` is a whole number from 0 to `count` - 1.

    `name` is the name of the argument in the error message.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < count:
        raise ValueError(f"{name}={reprlib.repr(value)}: must be a whole number from 0 to {count - 1}")
    return int(value)
