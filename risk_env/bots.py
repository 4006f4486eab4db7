"""Compiled bots, and the players that are registered by name in the entry-point group `risk_env.agents`.

A registered player may have variants: a mapping `variants` from names to other players. `NAME:VARIANT` is
the name of a variant, such as `tactician:quick`.
"""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from risk_env.board.maps import Board
from risk_env.board.rules import Rules, suggestion
from risk_env.board.tables import Tables
from risk_env.bounded_io import shortened
from risk_env.core.types import MAX_SEATS
from risk_env.seeds import uint64

GROUP = "risk_env.agents"
VARIANT = ":"  # separates the name of a registered player from the name of its variant


def _plays_everything(rules: Rules, board: Board) -> None:
    pass


@dataclass(frozen=True)
class CompiledBot:
    """A bot whose compiled code plays on the array of game records.

    `choose(games, boards, rules, lanes, randoms, memory, actions)` is a `risk_env.compiler.entry_point`. For
    each of the `lanes` (int64, (k,)), it writes a legal action of the seat to act in `games[lane]` into
    `actions[lane]` (int64, (N,)). `choose` must not read facts that this seat cannot see.

    `randoms[lane, seat]` (uint64, (N, 6)) is the state of the bot's own random generator.
    `memory[lane, seat]` (int32, (N, 6, M)) is the memory of the bot. When a game begins, the memory holds
    `begins`, followed by zeros.

    The memory may come from a checkpoint that somebody else wrote. The bot must therefore check the bounds of
    numbers in its memory before using them as an index.
    """

    name: str
    version: str
    choose: Callable[..., None]
    memory: int = 1  # M: number of int32 words for each seat
    check: Callable[[Rules, Board], None] = (
        _plays_everything  # raises ValueError for rules or a map that the bot cannot play
    )
    begins: tuple[int, ...] = ()  # first words of the memory when a game begins
    variants: Mapping[str, "CompiledBot"] = field(default_factory=dict, compare=False)


class SeatedBot:
    """A compiled bot at one seat of one game. `seed` is the first state of the bot's own random generator."""

    def __init__(self, bot: CompiledBot, seed: int) -> None:
        self.bot = bot
        self._actions, self._lanes = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self.memory = np.zeros((1, MAX_SEATS, bot.memory), np.int32)
        self.memory[..., : len(bot.begins)] = bot.begins
        self.randoms = np.full((1, MAX_SEATS), uint64(seed), np.uint64)

    def choose(self, game: Any) -> int:
        """Return the bot's action for the decision of a `Game`."""
        self._call(game.records, game.tables, self._lanes)
        return int(self._actions[0])

    def load(self, tables: Tables) -> None:
        """Compile the bot for games with these tables, by a call without lanes."""
        self._call(tables.new_games(1), tables, self._lanes[:0])

    def _call(self, games: Any, T: Tables, lanes: Any) -> None:
        self.bot.choose(games, T.board, T.rules, lanes, self.randoms, self.memory, self._actions)


@cache
def _registered() -> dict[str, EntryPoint]:
    """Return the entry points by name. A name with VARIANT cannot be found, and is left out."""
    return {entry.name: entry for entry in entry_points(group=GROUP) if VARIANT not in entry.name}


@cache
def names() -> tuple[str, ...]:
    """Return the names of all registered players and of their variants, sorted.

    The function loads all players. A player that cannot be loaded is listed without variants. `find` then
    raises the error.
    """
    variants = [f"{name}{VARIANT}{variant}" for name in _registered() for variant in _variants_of(name)]
    return tuple(sorted([*_registered(), *variants]))


def is_registered(name: str) -> bool:
    """Return whether a name is registered. A player is loaded only for the name of a variant."""
    base, separator, variant = name.partition(VARIANT)
    return base in _registered() and (not separator or variant in _variants_of(base))


def _variants_of(name: str) -> Mapping[str, Any]:
    """Return the variants of a registered player. A player that cannot be loaded has none."""
    with suppress(Exception):
        return _variants(_registered()[name].load())
    return {}


def find(name: str) -> Any:
    """Return the player that is registered with this name, such as a `CompiledBot` or a class of agents.

    The name may be the name of a variant (`NAME:VARIANT`). Raises ValueError for an unknown name.
    """
    known, (base, separator, variant) = _registered(), name.partition(VARIANT)
    if base not in known:
        registered = ", ".join(sorted(known)) or "none"
        raise ValueError(
            f"agent={shortened(name)} is unknown{suggestion(name, known)}; registered: {registered}"
        )
    found = known[base].load()
    if not separator:
        return found
    variants = _variants(found)
    if variant not in variants:
        allowed = ", ".join(f"{base}{VARIANT}{each}" for each in variants) or "none"
        raise ValueError(f"agent={shortened(name)} is unknown; variants of {base}: {allowed}")
    return variants[variant]


def _variants(player: Any) -> Mapping[str, Any]:
    found = getattr(player, "variants", None)
    return found if isinstance(found, Mapping) else {}


def about(name: str) -> str:
    """Return one line about a registered player: the first line of its docstring.

    For a `CompiledBot`, this is the docstring of its module.
    """
    found = find(name)
    entry = _registered()[name.partition(VARIANT)[0]]
    documented = sys.modules[entry.module] if isinstance(found, CompiledBot) else found
    return (documented.__doc__ or "").strip().partition("\n")[0]


def compiled(bot: str | CompiledBot) -> CompiledBot:
    """Return a compiled bot, given its name or the bot itself. Raises ValueError for any other player."""
    found = find(bot) if isinstance(bot, str) else bot
    if not isinstance(found, CompiledBot):
        raise ValueError(f"bot={bot!r} is not a CompiledBot: pass a CompiledBot or the name of one")
    return found
