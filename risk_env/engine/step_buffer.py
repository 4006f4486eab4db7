"""A kernel that plays one action and writes the next decision: seat, legal actions and observation.

A *step buffer*, an array of one record, contains all data of one game that the kernel needs. The overhead of
more array arguments would take longer than the step itself.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.compiler import brief_entry_point, compiled_for, inlined
from risk_env.core.bits import popcount
from risk_env.core.observe import TERRITORY_WIDTH, num_globals, observe
from risk_env.core.step import NO_ACTION, act_if_legal
from risk_env.core.types import NOBODY, SizeClass, board_dtype, game_dtype, rules_dtype
from risk_env.engine.batch_loop import write_bytes
from risk_env.engine.vectors import seats_marked

MASK_ROWS = 32  # number of rows that `new_masks` allocates at once

Mask = npt.NDArray[np.int8]
ILLEGAL = -2  # returned in place of a seat: the action is not legal


@cache
def step_buffer_dtype(sizes: SizeClass) -> np.dtype[Any]:
    """Return the dtype of one game, its map and rules, and working memory."""
    most_columns = TERRITORY_WIDTH * sizes.territories + num_globals(sizes.continents)
    fields: list[Any] = [
        ("room", np.uint64, (most_columns // 8,)),  # working memory for the int8 codes of an observation
        ("scales", np.float32, (most_columns,)),  # factor of each column's code
        ("fallen", np.int64),  # number of seats that were already eliminated at the last decision
        ("game", game_dtype(sizes)),
        ("rules", rules_dtype(sizes)),
        ("board", board_dtype(sizes)),
    ]
    return np.dtype((np.record, np.dtype(fields, align=True)))


def new_step_buffer(
    games: npt.NDArray[Any],
    rules: npt.NDArray[Any],
    board: npt.NDArray[Any],
    sizes: SizeClass,
    scales: npt.NDArray[np.float32],
) -> npt.NDArray[Any]:
    """Return a step buffer with copies of a game, its rules and its map (arrays of one record).

    An observation is the product of its codes and `scales`, float32 (D,).
    """
    buffer = np.zeros(1, step_buffer_dtype(sizes))
    buffer["game"], buffer["rules"], buffer["board"] = games, rules, board
    buffer["scales"][0, : len(scales)] = scales
    buffer["fallen"] = np.count_nonzero(games["death"])
    return buffer


@cache
def decision_kernel(sizes: SizeClass) -> Callable[..., int]:
    """Return `next_decision`, compiled for the step buffers of a size class."""
    outputs = np.zeros(0, np.float32), np.zeros(0, np.int8)
    return compiled_for(next_decision, np.zeros(1, step_buffer_dtype(sizes)), NO_ACTION, *outputs)


def new_masks(num_actions: int) -> Iterator[tuple[Mask, Mask, Mask]]:
    """Return an iterator that allocates memory for masks, and yields one tuple for each decision.

    The tuple contains a row and its two masks, int8 (n,): a writable mask and a read-only mask. The kernel
    writes both masks into the row. `MASK_ROWS` rows are one array, because a view takes much less time than a
    new array. Keeping one mask therefore prevents the memory of all these rows from being freed.
    """
    return chain.from_iterable(_mask_blocks(num_actions))


def _mask_blocks(num_actions: int) -> Iterator[Iterator[tuple[Mask, Mask, Mask]]]:
    width = -(-num_actions // 64) * 64
    while True:
        rows = np.empty((MASK_ROWS, 2 * width), np.int8)
        read_only = rows[:, width : width + num_actions]
        read_only.setflags(write=False)
        yield zip(rows, rows[:, :num_actions], read_only)  # strict=True is slow


@brief_entry_point
def next_decision(buffers, action, observation, masks):
    """Play an action, unless it is NO_ACTION, and continue to the next decision.

    Write the observation, float32 (D,), of the seat that must act next, and return this seat. Write the mask
    of the seat twice, into `masks`, a row of `new_masks`. If the action is not legal, do nothing and return
    ILLEGAL. If the game is over or the action has eliminated a seat, return NOBODY.
    """
    buffer = buffers[0]
    game, board, rules = buffer.game, buffer.board, buffer.rules
    if action != NO_ACTION and not act_if_legal(game, board, rules, action):
        return ILLEGAL
    seat = int(game.seat)
    if seat != NOBODY:
        words = buffer.room[: len(observation) >> 3]
        codes = words.view(np.int8)
        observe(game, board, rules, seat, words, codes)
        write_floats(codes, buffer.scales, observation)
        half = len(masks) >> 1
        write_bytes(game, masks[:half].view(np.uint64))
        write_bytes(game, masks[half:].view(np.uint64))
    fallen = buffer.fallen
    buffer.fallen = popcount(seats_marked(game.death))
    return seat if buffer.fallen == fallen else NOBODY


@inlined
def write_floats(codes, scales, observation):
    """Write the product of each code and the scale of its column."""
    for column in range(len(observation)):
        observation[column] = np.float32(codes[column]) * scales[column]
