"""Agents: the interface of a player (`Agent`), and the facts that a player sees (`View`).

`CompiledAgent` lets a compiled bot play single games. The bot draws the same random numbers, and plays the
same games, as in a batch.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, Mission
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables, tables
from risk_env.bots import CompiledBot, SeatedBot
from risk_env.core.entry import determinize_game
from risk_env.core.types import Phase
from risk_env.events import Event
from risk_env.game import Game
from risk_env.public import PublicState
from risk_env.seeds import bot_seed, game_seed, hashed_seed, uint64
from risk_env.text import notation

History = Callable[[int], Sequence[Event]]  # function from a seat to the events that the seat has seen

_BLIND_SEED = 0  # seed of the redrawn hidden facts of a view; any number would be correct
_WORD = 2**32 - 1  # largest 32-bit word of a seed sequence


class View:
    """The facts that a seat sees when it decides.

    A view is made from a copy of the game in which all facts that the seat does not know are redrawn. `seat`
    is by default the seat to act. `chance` is part of the seed of `rng`. `history` is a function from a seat
    to the events that the seat has seen. By default, the events come from `game`.
    """

    def __init__(
        self, game: Game, seat: int | None = None, chance: int = 0, history: History | None = None
    ) -> None:
        self.seat = game.seat if seat is None else seat
        self._history = partial(_events_of, game) if history is None else history
        self._game = game.determinize(self.seat, _BLIND_SEED)
        self._chance = chance

    @property
    def game(self) -> Game:
        """A game without history that agrees with all facts that the seat knows. Do not step this game."""
        return self._game

    @property
    def events(self) -> Sequence[Event]:
        """The events that the seat has seen so far."""
        return self._history(self.seat)

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
        """The phase, which is the kind of decision (docs/decisions.md)."""
        return self._game.phase

    @cached_property
    def observation(self) -> npt.NDArray[np.float32]:
        """The observation of the seat, float32 (D,), as returned by `Game.observe`."""
        return self._game.observe(self.seat)

    @cached_property
    def codes(self) -> npt.NDArray[np.int8]:
        """The observation of the seat as the codes of `GameBatch`, int8 (D,)."""
        return self._game.observe_codes(self.seat)

    @cached_property
    def action_mask(self) -> npt.NDArray[np.int8]:
        """The action mask, int8 (n,): 1 for each legal action."""
        return self._game.action_mask()

    @cached_property
    def legal_actions(self) -> npt.NDArray[np.int64]:
        """The legal actions, int64 (k,), ascending."""
        return self._game.legal_actions()

    @cached_property
    def texts(self) -> list[str]:
        """The legal actions in words, in the order of `legal_actions`."""
        return notation.legal_texts(self._game.record, self._game.tables, self._game.board)

    @cached_property
    def public(self) -> PublicState:
        """The public facts, and the decision that this seat sees."""
        return self._game.public(self.seat)

    @property
    def hand(self) -> tuple[str, ...]:
        """The names of the seat's own cards. A wild card is named `wild`."""
        return self._game.hand(self.seat)

    @property
    def mission(self) -> Mission | None:
        """The seat's own mission, or None if the game has no missions (RULES 8)."""
        return self._game.mission(self.seat)

    @property
    def headquarters(self) -> str | None:
        """The seat's own headquarters, or None if the seat has no headquarters (RULES 7)."""
        return self._game.headquarters(self.seat)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The agent's random generator for this decision, reproducible and independent of the dice."""
        seen = hashlib.blake2b(self._game.to_record(), digest_size=8).digest()
        return _generator([int(uint64(self._chance)), self.seat, int.from_bytes(seen, "little")])

    def sample(self, seed: int) -> Game:
        """Return a copy of the game in which all facts that the seat does not know are redrawn.

        `seed` determines these facts, and future dice and cards.
        """
        return self._game.determinize(self.seat, seed)

    def samples(self, seeds: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """Return game records (k,), one for each of k seeds. Unknown facts are redrawn as in `sample`.

        `GameVector.load_records` loads the records into a batch.
        """
        return samples_of(self._game.records, self.seat, self._game.tables, seeds)


def samples_of(
    games: npt.NDArray[Any], seat: int, table: Tables, seeds: npt.NDArray[np.integer]
) -> npt.NDArray[Any]:
    """Return k copies of the record in `games` (1,), one for each seed.

    In each copy, future chance and all facts that `seat` does not know are redrawn.
    """
    samples = np.repeat(games, len(seeds))
    for row, seed in enumerate(seeds.tolist()):
        determinize_game(samples, row, table.board, table.rules, seat, game_seed(seed, seat))
    return samples


def _generator(numbers: Sequence[int]) -> np.random.Generator:
    """Return the generator `np.random.default_rng(numbers)` in half the time.

    `numbers` must be from 0 to 2**64 - 1. NumPy takes longer to convert a list than to seed the generator. As
    in NumPy, a number below 2**32 becomes one word.
    """
    words = [word for number in numbers for word in (number & _WORD, number >> 32)[: 1 + (number > _WORD)]]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(np.array(words, np.uint32))))


def _events_of(game: Game, seat: int) -> Sequence[Event]:
    return game.events(seat=seat)


class Agent:
    """A player of one seat. Subclasses set `name` and `version`, and override `act`."""

    name: str = "agent"
    version: str = "1"  # change the version whenever the agent's play changes

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile and load code and data for games with these rules on this map.

        The method is called before the agent's time is measured. It must not change how the agent plays.
        """

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Begin a game and forget the previous game. `seed` is for the agent's own random numbers."""
        self.seat, self.rules, self.board, self.seed = seat, rules, board, seed

    def act(self, view: View) -> int:
        """Return one of `view.legal_actions`."""
        raise TypeError(
            f"{type(self).__name__} must define act(view), which returns one of view.legal_actions"
        )

    def close(self) -> None:
        """Stop everything that the agent has started, such as a process. The agent cannot play afterwards."""


class CompiledAgent(Agent):
    """A compiled bot at a seat of a single game."""

    def __init__(self, bot: CompiledBot) -> None:
        self.bot, self.name, self.version = bot, bot.name, bot.version

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile the bot. Raises ValueError if the bot cannot play with these rules or on this map."""
        self.bot.check(rules, board)
        SeatedBot(self.bot, seed=0).load(tables(rules, board))

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Begin a game. Raises ValueError if the bot cannot play with these rules or on this map."""
        self.bot.check(rules, board)
        super().reset(seat, rules, board, seed)
        self.seated = SeatedBot(self.bot, seed)

    def act(self, view: View) -> int:
        """Return the bot's action."""
        return self.seated.choose(view._game)


def prepares(player: Any, base: type[Any] = Agent) -> bool:
    """Return True if the player overrides the method `prepare` of the base class."""
    return getattr(player.prepare, "__func__", player.prepare) is not base.prepare


def chance_seed(agent: Agent, seed: int) -> int:
    """Return the seed of an agent, given the seed of its seat.

    The seed is hashed, so that agents cannot find the seed of the game. Compiled bots get the seed of the
    seat unchanged.
    """
    return seed if isinstance(agent, CompiledAgent) else hashed_seed(seed)


def chance_seeds(agents: Sequence[Agent], seed: int) -> list[int]:
    """Return the seed of each agent's random numbers in the game with this seed."""
    return [chance_seed(agent, int(bot_seed(seed, seat))) for seat, agent in enumerate(agents)]
