"""Compiled bots, and players by name: the entry-point group `risk_env.agents`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from risk_env.board.maps import Board
from risk_env.board.rules import Rules, near
from risk_env.board.tables import Tables
from risk_env.bounded_io import shortened
from risk_env.core.types import MAX_SEATS
from risk_env.seeds import uint64

GROUP = "risk_env.agents"


def _plays_everything(rules: Rules, board: Board) -> None:
    pass


@dataclass(frozen=True)
class CompiledBot:
    """A bot that plays on the record array at core speed.

    `choose(games, boards, rules, lanes, randoms, memory, actions)` is a `risk_env.compiler.entry_point`: for
    each of the `lanes` (int64, k) it writes a legal action of `games[lane]`, for the seat to decide there,
    into `actions[lane]` (int64, N). `randoms[lane, seat]` (uint64, (N, 6)) is the state of the bot's own
    chance, `memory[lane, seat]` (int32, (N, 6, M)) what it may keep: `begins`, and then zeros, when a game
    begins. It may come from a checkpoint that somebody else wrote, so numbers in it are compared with their
    bounds before they index anything. It must not read what that seat cannot see.
    """

    name: str
    version: str
    choose: Callable[..., None]
    memory: int = 1  # M: int32 words for each seat
    check: Callable[[Rules, Board], None] = (
        _plays_everything  # ValueError for rules or a map that it cannot play
    )
    begins: tuple[int, ...] = ()  # the first words of its memory when a game begins


class SeatedBot:
    """A compiled bot at one seat of one game; `seed` is that of its own chance."""

    def __init__(self, bot: CompiledBot, seed: int) -> None:
        self.bot = bot
        self._actions, self._lanes = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self.memory = np.zeros((1, MAX_SEATS, bot.memory), np.int32)
        self.memory[..., : len(bot.begins)] = bot.begins
        self.randoms = np.full((1, MAX_SEATS), uint64(seed), np.uint64)

    def choose(self, game: Any) -> int:
        """Its answer to the question that a `Game` asks."""
        self._ask(game.records, game.tables, self._lanes)
        return int(self._actions[0])

    def load(self, tables: Tables) -> None:
        """Ask it nothing at all, which compiles it now, for games on these tables, rather than in a game."""
        self._ask(tables.new_games(1), tables, self._lanes[:0])

    def _ask(self, games: Any, T: Tables, lanes: Any) -> None:
        self.bot.choose(games, T.board, T.rules, lanes, self.randoms, self.memory, self._actions)


@cache
def _registered() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def names() -> tuple[str, ...]:
    """The names of all registered players, sorted."""
    return tuple(sorted(_registered()))


def find(name: str) -> Any:
    """Return the player registered with this name; raise ValueError for an unknown name.

    The player is, for example, a `CompiledBot` or a class of agents.
    """
    known = _registered()
    if name not in known:
        registered = ", ".join(names()) or "none"
        raise ValueError(
            f"agent={shortened(name)} is unknown{near(name, known)}: registered are {registered}"
        )
    return known[name].load()


def about(name: str) -> str:
    """One line about a registered player: the first of its class's or module's docstring."""
    found = find(name)
    documented = sys.modules[_registered()[name].module] if isinstance(found, CompiledBot) else found
    return (documented.__doc__ or "").strip().partition("\n")[0]


def compiled(bot: str | CompiledBot) -> CompiledBot:
    """A compiled bot by name, or the bot itself; ValueError if it is not compiled."""
    found = find(bot) if isinstance(bot, str) else bot
    if not isinstance(found, CompiledBot):
        raise ValueError(f"bot={bot!r} is not a CompiledBot: only compiled bots can play here")
    return found
