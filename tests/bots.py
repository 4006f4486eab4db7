"""Players for tests of the environments: a compiled bot, and a policy that depends on all of its input."""

from __future__ import annotations

from typing import Any

import numpy as np

from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point
from risk_env.core.bits import nth, size
from risk_env.core.chance import mix
from risk_env.game import Game
from risk_env.observations import COUNT_DIVISOR
from risk_env.players import Policy


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose a legal action uniformly at random."""
    for k in range(len(lanes)):
        game = games[lanes[k]]
        seat = int(game.seat)
        randoms[lanes[k], seat] = mix(randoms[lanes[k], seat], np.uint64(0), np.uint64(0))
        chance = int(randoms[lanes[k], seat] >> np.uint64(32))
        actions[lanes[k]] = nth(game.legal, chance % size(game.legal))


COIN = CompiledBot("coin", "1", choose)


def pick(observation: Any, mask: Any) -> int:
    """Return a legal action that depends on every number of a flat observation."""
    legal = np.flatnonzero(mask)
    codes = np.rint(np.asarray(observation, np.float64) * COUNT_DIVISOR)
    return int(legal[int(codes @ np.arange(1, len(codes) + 1)) % len(legal)])


class Picker(Policy):
    """The function `pick` as a policy that counts its inferences and records lanes and seats."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.seats: set[int] = set()

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        """Return the pick of every lane."""
        self.calls.append(len(seats))
        self.seats.update(seats.tolist())
        return np.array(
            [pick(observation, mask) for observation, mask in zip(observations, masks, strict=True)]
        )


def play_until(game: Game, seat: int) -> None:
    """Let `pick` play the other seats until `seat` is to act, is dead, or the game is over."""
    while not game.is_over and game.alive[seat] and game.seat != seat:
        game.step(pick(game.observe(game.seat), game.action_mask()))


def spoil(value: Any) -> None:
    """Overwrite all arrays in a value that an environment returned, and empty its dicts and lists."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        spoil(value.tolist())
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        value[...] = 1 - value if value.dtype == np.int8 else ~value if value.dtype == np.bool_ else 7
    elif isinstance(value, dict):
        spoil([*value.values()])
        value.clear()
    elif isinstance(value, list | tuple):
        for part in value:
            spoil(part)
        if isinstance(value, list):
            value.clear()
