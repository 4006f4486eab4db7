"""Compiled bots, and the players that are registered by name in the entry-point group `risk_env.agents`.

A player may have variants, such as `tactician:quick`. The entry point of a variant joins both names with a
dot (`tactician.quick`), because names of entry points must not contain colons.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.core.types import MAX_SEATS
from risk_env.messages import shortened, suggestion
from risk_env.seeds import uint64

GROUP = "risk_env.agents"
VARIANT = ":"  # separates the name of a registered player from the name of its variant


def _plays_everything(rules: Rules, board: Board) -> None:
    pass


@dataclass(frozen=True)
class CompiledBot:
    """A bot whose compiled code reads game records and writes actions.

    `choose(games, boards, rules, lanes, randoms, memory, actions)` is a `risk_env.compiler.entry_point`.
    `games` (N,), `boards` (1,) and `rules` (1,) are arrays of records (`core.types`). For each of the `lanes`
    (int64, (k,)), `choose` writes a legal action of the seat to act in `games[lane]` into `actions[lane]`
    (int64, (N,)). `choose` must not read facts that this seat cannot see.

    `randoms[lane, seat]` (uint64, (N, 6)) is the state of the bot's own random generator.
    `memory[lane, seat]` (int32, (N, 6, M)) is the memory of the bot. When a game begins, the memory holds
    `begins`, followed by zeros.

    The memory may come from a checkpoint that somebody else wrote. The bot must therefore check the bounds of
    numbers in its memory before it uses them as indices.
    """

    name: str
    version: str
    choose: Callable[..., None]
    memory: int = 1  # M: number of int32 words for each seat
    check: Callable[[Rules, Board], None] = (
        _plays_everything  # raises ValueError for rules or a map that the bot cannot play
    )
    begins: tuple[int, ...] = ()  # first words of the memory when a game begins

    def knows(self, rules: Rules, board: Board) -> bool:
        """Return True if the bot can play games with these rules on this map."""
        try:
            self.check(rules, board)
        except ValueError:
            return False
        return True


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
        """Compile the bot for games with these tables, by calling the bot with no lanes."""
        self._call(tables.new_games(1), tables, self._lanes[:0])

    def _call(self, games: Any, T: Tables, lanes: Any) -> None:
        self.bot.choose(games, T.board, T.rules, lanes, self.randoms, self.memory, self._actions)


@cache
def _registered() -> dict[str, EntryPoint]:
    """Return the entry points, keyed by the names of their players.

    Entry points with VARIANT in their own names are left out.
    """
    entries = (entry for entry in entry_points(group=GROUP) if VARIANT not in entry.name)
    return {entry.name.replace(".", VARIANT, 1): entry for entry in entries}


def names() -> tuple[str, ...]:
    """Return the names of all registered players, sorted. The function loads no player."""
    return tuple(sorted(_registered()))


def is_registered(name: str) -> bool:
    """Return True if a player is registered with this name. The function loads no player."""
    return name in _registered()


def find(name: str) -> Any:
    """Return the player that is registered with this name, such as a `CompiledBot` or a class of agents.

    The name may be the name of a variant (`NAME:VARIANT`). Raises ValueError for an unknown name.
    """
    known, (base, separator, _) = _registered(), name.partition(VARIANT)
    if name in known:
        return known[name].load()
    if separator and base in known:
        allowed = ", ".join(each for each in names() if each.startswith(base + VARIANT)) or "none"
        raise ValueError(f"agent={shortened(name)} is unknown; variants of {base}: {allowed}")
    registered = ", ".join(names()) or "none"
    hint = suggestion(name, known)
    if isinstance(name, str) and name.endswith(".py"):
        hint = ": add the name of a class, as in my_bot.py:MyBot"
    raise ValueError(f"agent={shortened(name)} is unknown{hint}; registered: {registered}")


def about(name: str) -> str:
    """Return one line about a registered player: the first line of its docstring, or "" without a docstring.

    For a `CompiledBot`, the docstring of its module is used. Raises ValueError for an unknown name.
    """
    player = find(name)
    entry = _registered()[name]
    documented = sys.modules[entry.module] if isinstance(player, CompiledBot) else player
    return (documented.__doc__ or "").strip().partition("\n")[0]


def compiled(bot: str | CompiledBot) -> CompiledBot:
    """Return a compiled bot, given its name or the bot itself. Raises ValueError for any other player."""
    player = find(bot) if isinstance(bot, str) else bot
    if not isinstance(player, CompiledBot):
        raise ValueError(f"bot={bot!r} is not a CompiledBot: pass a CompiledBot or the name of one")
    return player
