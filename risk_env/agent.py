"""Agents: the interface of a player, and what it sees.

An agent is an instance of `Agent`, one per seat and game; `registry` finds it by name. A compiled bot plays through
`CompiledAgent` with the same chance, and so the same game, as in a batch.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, Mission
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.bots import CompiledBot, SeatedBot
from risk_env.core.entry import determinize_game
from risk_env.core.types import Phase
from risk_env.events import Event
from risk_env.game import Game
from risk_env.public import PublicState
from risk_env.seeds import bot_seed, game_seed, veiled, word
from risk_env.text import notation

History = Callable[[int], Sequence[Event]]  # what a seat has seen

_BLIND_SEED = 0  # of hidden facts that are drawn again: any number


class View:
    """The game as a seat sees it when it decides: a copy in which all hidden facts are drawn again.

    `chance` is the seed of `rng`, the agent's own random numbers; `history` gives the events that a seat has seen.
    """

    def __init__(self, game: Game, seat: int | None = None, chance: int = 0, history: History | None = None) -> None:
        self.seat = game.seat if seat is None else seat
        self._history = history
        self._game = game.determinize(self.seat, _BLIND_SEED)
        self._chance = chance

    @property
    def game(self) -> Game:
        """A game that could be the real one, without its history; to be read, not played."""
        return self._game

    @property
    def events(self) -> Sequence[Event]:
        """The events that the seat has seen so far; none where the caller keeps no history."""
        return self._history(self.seat) if self._history is not None else ()

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._game.rules

    @property
    def board(self) -> Board:
        """The map."""
        return self._game.board

    @property
    def phase(self) -> Phase:
        """The kind of decision that is asked (docs/decisions.md)."""
        return self._game.phase

    @cached_property
    def observation(self) -> npt.NDArray[np.float32]:
        """float32 (D,): the seat's view, as `Game.observe`."""
        return self._game.observe(self.seat)

    @cached_property
    def codes(self) -> npt.NDArray[np.int8]:
        """int8 (D,): the same view as the codes of `GameBatch`."""
        return self._game.observe_codes(self.seat)

    @cached_property
    def action_mask(self) -> npt.NDArray[np.int8]:
        """int8 (n,): 1 for each legal action."""
        return self._game.action_mask()

    @cached_property
    def legal_actions(self) -> npt.NDArray[np.int64]:
        """int64 (k,): the legal actions, ascending."""
        return self._game.legal_actions()

    @cached_property
    def texts(self) -> list[str]:
        """The legal actions in words, in the order of `legal_actions`."""
        return notation.legal_texts(self._game.record, self._game.tables, self._game.board)

    @cached_property
    def position(self) -> PublicState:
        """The facts that all at the table may see, and the seat's own question."""
        return self._game.public(self.seat)

    @property
    def hand(self) -> tuple[str, ...]:
        """The seat's own cards by name; `wild` for a wild card."""
        return self._game.hand(self.seat)

    @property
    def mission(self) -> Mission | None:
        """The seat's own mission, None where the game has none (RULES 8)."""
        return self._game.mission(self.seat)

    @property
    def headquarters(self) -> str | None:
        """The seat's own headquarters, None where there are none (RULES 7)."""
        return self._game.headquarters(self.seat)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The agent's own generator for this decision: the same in the same game, independent of the dice."""
        seen = hashlib.blake2b(self._game.to_record(), digest_size=8).digest()
        return np.random.default_rng([int(word(self._chance)), self.seat, int.from_bytes(seen, "little")])

    def sample(self, seed: int) -> Game:
        """A game consistent with what the seat knows: hidden facts and future chance are drawn again."""
        return self._game.determinize(self.seat, seed)

    def samples(self, seeds: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """The records of `sample(seed)` for many seeds, (k,): for lanes of games that are played on."""
        games, T = np.repeat(self._game.records, len(seeds)), self._game.tables
        for row, seed in enumerate(seeds.tolist()):
            determinize_game(games, row, T.board, T.rules, self.seat, game_seed(seed, self.seat))
        return games


class Agent:
    """A player of one seat. Subclasses set `name` and `version`, and answer in `act`."""

    name: str = "agent"
    version: str = "1"  # changes when its play does

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile and load what games by these rules on this map need. No clock runs; play stays the same."""

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """A game begins; `seed` is that of the agent's own chance (`chance_seeds`)."""
        self.seat, self.rules, self.board, self.seed = seat, rules, board, seed

    def act(self, view: View) -> int:
        """A legal action for the view's question."""
        raise TypeError(f"{type(self).__name__} must define act(view), which returns one of view.legal_actions")

    def close(self) -> None:
        """End what the agent has started, such as a process. The agent plays no more."""


class CompiledAgent(Agent):
    """A compiled bot at a seat of a single game."""

    def __init__(self, bot: CompiledBot) -> None:
        self.bot, self.name, self.version = bot, bot.name, bot.version

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile the bot; ValueError if the bot cannot play such games."""
        self.bot.check(rules, board)
        SeatedBot(self.bot, seed=0).load(tables(rules, board))

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """A game begins: nothing remembered, chance from `seed`; ValueError if the bot cannot play such games."""
        self.bot.check(rules, board)
        super().reset(seat, rules, board, seed)
        self.seated = SeatedBot(self.bot, seed)

    def act(self, view: View) -> int:
        """The bot's answer."""
        return self.seated.choose(view._game)


def prepares(agent: Any) -> bool:
    """Return whether an agent has a method `prepare` of its own. A class that is no `Agent` may lack the method."""
    return getattr(type(agent), "prepare", Agent.prepare) is not Agent.prepare


def prepare(agent: Any, rules: Rules, board: Board) -> None:
    """Let an agent prepare for games by these rules on this map (`Agent.prepare`), before any clock starts."""
    if prepares(agent):
        agent.prepare(rules, board)


def close(agent: Any) -> None:
    """End what an agent has started. A class that is no `Agent` may lack the method."""
    if hasattr(agent, "close"):
        agent.close()


def chance_seed(agent: Agent, seed: int) -> int:
    """The seed of an agent's random numbers, from that of its seat; only a compiled bot's reveals the game's."""
    return seed if isinstance(agent, CompiledAgent) else veiled(seed)


def chance_seeds(agents: Sequence[Agent], seed: int) -> list[int]:
    """The seed of each agent's own chance in the game of a seed."""
    return [chance_seed(agent, int(bot_seed(seed, seat))) for seat, agent in enumerate(agents)]
