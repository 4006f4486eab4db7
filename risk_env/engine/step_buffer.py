"""One seat's answer and the next seat's question, in one call: who decides, what it may do, what it sees, as arrays.

All that a kernel needs of one game lies on a *desk*, an array of one record: to hand an array over takes longer than to
play an action.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.compiler import brief_entry_point, direct, inlined
from risk_env.core.bits import has
from risk_env.core.observe import MOST_CODE, TERRITORY_WIDTH, num_globals, observe
from risk_env.core.step import answer
from risk_env.core.types import NOBODY, SizeClass, board_dtype, game_dtype, rules_dtype
from risk_env.engine.loop import write_bytes

NO_ANSWER = -2  # instead of an action
ILLEGAL = -2  # instead of a seat

_WHOLE = np.float32(MOST_CODE)


@cache
def desk_dtype(sizes: SizeClass) -> np.dtype[Any]:
    """What lies on a desk: one game, its map and rules, and room to work."""
    most_columns = TERRITORY_WIDTH * sizes.territories + num_globals(sizes.continents)
    fields: list[Any] = [
        ("room", np.uint64, (most_columns // 8,)),  # for the int8 codes of a view
        ("fallen", np.int64),  # how many seats had been eliminated when the last question was put
        ("game", game_dtype(sizes)),
        ("rules", rules_dtype(sizes)),
        ("board", board_dtype(sizes)),
    ]
    return np.dtype((np.record, np.dtype(fields, align=True)))


def lay(
    games: npt.NDArray[Any], rules: npt.NDArray[Any], board: npt.NDArray[Any], sizes: SizeClass
) -> npt.NDArray[Any]:
    """A desk with copies of a game, its rules and its map (arrays of one record)."""
    desk = np.zeros(1, desk_dtype(sizes))
    desk["game"], desk["rules"], desk["board"] = games, rules, board
    desk["fallen"] = np.count_nonzero(games["death"])
    return desk


@cache
def ask_kernel(sizes: SizeClass) -> Callable[..., int]:
    """`ask` for the desks of a size class."""
    sheets = np.zeros(0, np.float32), np.zeros(0, np.int8)
    return direct(ask, np.zeros(1, desk_dtype(sizes)), NO_ANSWER, *sheets)


@brief_entry_point
def ask(desks, action, observation, mask):
    """Play an action, unless it is NO_ANSWER, and on to the next asked decision; write what the seat to decide there
    sees (float32, D) and may do (int8, n), and return its number.

    ILLEGAL instead, and nothing done, if the action is not legal; NOBODY when the game is over or seats have fallen.
    """
    desk = desks[0]
    game, board, rules = desk.game, desk.board, desk.rules
    if action != NO_ANSWER and not answer(game, board, rules, action):
        return ILLEGAL
    seat = int(game.seat)
    if seat != NOBODY:
        words = desk.room[: len(observation) >> 3]
        view = words.view(np.int8)
        observe(game, board, rules, seat, words, view)
        write_shares(view, observation)
        write_mask(game, mask)
    fallen = desk.fallen
    desk.fallen = count_fallen(game)
    return seat if desk.fallen == fallen else NOBODY


@inlined
def count_fallen(game):
    """How many seats have been eliminated."""
    fallen = 0
    for seat in range(len(game.death)):
        fallen += int(game.death[seat] > 0)
    return fallen


@inlined
def write_shares(view, observation):
    """The codes of a view as shares of the highest code."""
    for column in range(len(observation)):
        observation[column] = np.float32(view[column]) / _WHOLE


@inlined
def write_mask(game, mask):
    """The legal actions as 0 or 1 each: 64 at a time, then the rest."""
    rest = len(mask) & ~63
    write_bytes(game, mask[:rest].view(np.uint64))
    for action in range(rest, len(mask)):
        mask[action] = has(game.legal, action)
