"""One seat's answer and the next seat's question, in one call: who decides, what it may do, what it sees, as arrays."""

import numpy as np
import numpy.typing as npt

from risk_env.core.bits import ONE
from risk_env.core.jit import brief_entry_point, inlined
from risk_env.core.loop import write_bytes
from risk_env.core.observe import MOST_CODE, observe
from risk_env.core.step import answer
from risk_env.core.types import NOBODY

NO_ANSWER = -2  # instead of an action
ILLEGAL = -2  # instead of a seat

_WHOLE = np.float32(MOST_CODE)


def room(size: int) -> npt.NDArray[np.uint64]:
    """Room for `ask` to work in, for views of `size` columns (uint64)."""
    return np.zeros(size // 8, np.uint64)


@brief_entry_point
def ask(games, i, boards, rules, fallen, room, action, observation, mask):
    """Play an action in game `i`, unless it is NO_ANSWER, and on to the next asked decision; write what the seat to
    decide there sees (float32, D) and may do (int8, n), and return its number.

    ILLEGAL instead, and nothing done, if the action is not legal; NOBODY when the game is over or not exactly `fallen`
    seats have fallen.
    """
    game = games[i]
    if action != NO_ANSWER and not answer(game, boards[0], rules[0], action):
        return ILLEGAL
    seat = int(game.seat)
    if seat != NOBODY:
        view = room.view(np.int8)
        observe(game, boards[0], rules[0], seat, room, view)
        write_shares(view, observation)
        write_mask(game, mask)
    return seat if count_fallen(game) == fallen else NOBODY


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
    """The legal actions as 0 or 1 each: eight at a time, then the rest."""
    rest = len(mask) & ~7
    write_bytes(game, mask[:rest].view(np.uint64))
    for action in range(rest, len(mask)):
        mask[action] = np.int8((game.legal[action >> 6] >> np.uint64(action & 63)) & ONE)
