"""One game of Risk, for people and scripts.

A `Game` offers legal actions, events and observations. It can be copied, saved and printed.
"""

from __future__ import annotations

import hashlib
import json
import operator
import secrets
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.arguments import FLAT, OBSERVATIONS, check_choice, check_seat
from risk_env.board.maps import Board, Mission, found_map, load_map
from risk_env.board.rules import BOOK, Rules, rules_from
from risk_env.board.tables import Tables, tables
from risk_env.bounded_io import parse_json
from risk_env.chance_outcomes import Outcome, play_outcomes
from risk_env.core import entry
from risk_env.core.types import NOBODY, NOWHERE, Phase, game_dtype
from risk_env.engine.step_buffer import ILLEGAL, new_step_buffer
from risk_env.events import Battle, Event, GameLog, Watch, last_battle
from risk_env.observations import as_floats, observation_scales, observation_size
from risk_env.public import PHASES, PublicState, hand_of, public_state, seen_by
from risk_env.seeds import game_seed, uint64
from risk_env.step_kernel import play_on, step_kernel
from risk_env.text import notation, positions
from risk_env.text.check import check

if TYPE_CHECKING:
    from risk_env.viewer.replay import Replay

    Evaluate = Callable[["Game"], Iterable[float]]  # returns the win probability of each seat, (P,)

MAGIC = b"risk_env"
SCHEMA = 1
MOST_BYTES = 1 << 16  # maximum size of a saved game, in bytes
_HEADER = struct.Struct("<8sHI")  # magic, schema, length of the JSON that follows
_CHECKSUM = 16  # number of SHA-256 bytes at the end
_BEYOND = 2**31  # larger than the number of any action


class SavedGameError(ValueError):
    """Error in a saved game: damaged data, or a game that this version cannot continue.

    The message names the problem and, for a game from a file, the place in the file.
    """


class Origin(NamedTuple):
    """Origin of a game: its seed, lane and episode, and the text of its first position.

    `position` is "" for a game that began with the set-up. `position` is None if the origin and the actions
    cannot restore the game. This is the case for loaded games, for games with redrawn hidden facts or chance,
    and for games after a step with given outcomes. `position` is also None for the game of a lane
    (`game_by_chance`) and for games with `ask_forced`.
    """

    seed: int
    lane: int = 0
    episode: int = 0
    position: str | None = ""


class Game:
    """A game in progress.

    `rules` is a `Rules` object, or the name of a preset. With a name, `options` are passed to `Rules.preset`,
    as in `Game("classic", num_players=4, setup="deal")`. `board` is a `Board` or an argument of `load_map`.

    `seed` is any whole number. None chooses a random seed. Chance depends on `seed`, `lane` and `episode`
    only.

    If only one action is legal, this action is forced. The game plays forced actions itself, unless
    `ask_forced` is set. `position` is the text of a position to begin with (docs/positions.md). The position
    must have the same map, and the same rules except `max_rounds`.

    A game is not thread-safe: use it in one thread at a time.
    """

    def __init__(
        self,
        rules: Rules | str = "classic",
        board: Board | str = "classic",
        seed: int | None = None,
        *,
        lane: int = 0,
        episode: int = 0,
        ask_forced: bool = False,
        position: str | None = None,
        **options: Any,
    ) -> None:
        self.rules = rules_from(rules, options, BOOK, Game)
        self.board = board if isinstance(board, Board) else load_map(board)
        seed = secrets.randbits(64) if seed is None else seed
        self._tables = tables(self.rules, self.board)
        self._games = self._tables.new_games(1)
        self._ask_forced = ask_forced
        self._start: bytes | None = None  # first record of the history, None for the set-up from `_chance`
        self._chance = game_seed(seed, lane, episode)
        self.origin = Origin(int(seed), lane, episode, None if ask_forced else position or "")
        self._actions: list[int] = []
        self._game_log: GameLog | None = None
        if position is None:
            self._set_up()
        else:
            self._begin_with(position)

    def _begin_with(self, text: str) -> None:
        """Load the position in a position text, and play on to the first decision."""
        self._games = positions.position_for(text, self.rules, self.board)
        self._games["random"] = self._chance
        self._begin_history()
        self._play_on()

    def _set_up(self) -> None:
        """Set up the game with `_chance` as the state of the generator, and play on to the first decision."""
        entry.set_up_game(self._games, 0, self._tables.board, self._tables.rules, self._chance)
        if self._ask_forced:
            entry.write_legal_actions(self._games, 0, self._tables.board, self._tables.rules)
        else:
            self._play_on()

    # ------------------------------------------------------------------------------------------ the state

    @property
    def record(self) -> Any:
        """The record of the game (`core.types.game_dtype`). Read it, but do not write to it."""
        return self._games[0]

    def _number_in(self, field: str) -> int:
        """Return the number in a field of the record. This is much faster than an attribute of `record`."""
        number: int = self._games[field].item()
        return number

    @property
    def records(self) -> Any:
        """The record as an array of shape (1,), for kernels and compiled bots.

        Read it, but do not write to it.
        """
        return self._games

    @property
    def tables(self) -> Tables:
        """The records of the map and the rules that the kernels read."""
        return self._tables

    @property
    def num_players(self) -> int:
        """Number of seats P."""
        return self.rules.num_players

    @property
    def num_actions(self) -> int:
        """Number of actions n on this map with these rules."""
        return self._tables.num_actions

    @property
    def seed(self) -> int:
        """The seed of the game."""
        return self.origin.seed

    @property
    def seat(self) -> int:
        """The seat to act, or -1 if the game is over."""
        return self._number_in("seat")

    @property
    def turn(self) -> int:
        """The seat whose turn it is. `seat` differs while a defender chooses dice, and after the game."""
        return self._number_in("turn")

    @property
    def phase(self) -> Phase:
        """The phase, which is the kind of decision (docs/decisions.md)."""
        return PHASES[self._number_in("phase")]

    @property
    def round(self) -> int:
        """The number of the round: 0 during set-up, then from 1."""
        return self._number_in("round_number")

    @property
    def is_over(self) -> bool:
        """True if the game has ended."""
        return self._number_in("phase") == Phase.OVER

    @property
    def truncated(self) -> bool:
        """True if `max_rounds` ended the game (RULES 11.2)."""
        return bool(self._number_in("truncated"))

    @property
    def winner(self) -> int:
        """The seat that won, or -1 while the game is in progress and after a truncation."""
        return self._number_in("winner")

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """True for each seat that is still in the game, bool (P,)."""
        return self._games["death"][0, : self.num_players] == 0

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """Owner of each territory, int64 (T,), as a read-only copy.

        The owner is a seat, -1 for a free territory, or `num_players` for the neutral army.
        """
        return self._copied("owner")

    @property
    def troops(self) -> npt.NDArray[np.int64]:
        """Number of troops on each territory, int64 (T,), as a read-only copy."""
        return self._copied("troops")

    def _copied(self, field: str) -> npt.NDArray[np.int64]:
        values = self._games[field][0, : self.board.num_territories].astype(np.int64)
        values.flags.writeable = False
        return values

    def returns(self) -> npt.NDArray[np.float64]:
        """Return the final reward of each seat, float64 (P,).

        The winner gets 1. Eliminated seats get -1 / (P - 1), as do all other losers when a seat has won. The
        remaining seats get 0.
        """
        values = np.where(self.alive, 0.0, -1.0 / (self.num_players - 1))
        if self.winner != NOBODY:
            values[:] = -1.0 / (self.num_players - 1)
            values[self.winner] = 1.0
        return values

    def placements(self) -> npt.NDArray[np.int64]:
        """Return the place of each seat, int64 (P,), from 1 (RULES 11.2).

        Tied seats share the better place.
        """
        places = np.zeros(self.num_players, np.int64)
        entry.placements(self._games, 0, self._tables.board, self._tables.rules, places)
        return places

    # --------------------------------------------------------------------------------------- the hidden facts

    def hand(self, seat: int) -> tuple[str, ...]:
        """Return the names of a seat's cards in map order. A wild card is named `wild`."""
        self._check_seat(seat)
        return tuple(
            notation.card_text(card, self.board) for card in hand_of(self._games, seat, self._tables)
        )

    def mission(self, seat: int) -> Mission | None:
        """Return the secret mission of a seat, or None if the game has no missions (RULES 8)."""
        self._check_seat(seat)
        number = int(self._games["mission"][0, seat])
        return None if number == NOBODY else self.board.missions[number]

    def headquarters(self, seat: int) -> str | None:
        """Return the headquarters of a seat, or None if the seat has no headquarters (RULES 7)."""
        self._check_seat(seat)
        place = int(self._games["headquarters"][0, seat])
        return None if place == NOWHERE else self.board.territories[place]

    def _check_seat(self, seat: int) -> None:
        check_seat(seat, self.num_players)

    # ------------------------------------------------------------------------------------------ playing

    def legal_actions(self) -> npt.NDArray[np.int64]:
        """Return the legal actions, int64 (k,), ascending. The array is empty if the game is over."""
        return np.flatnonzero(self.action_mask())

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Return the action mask, int8 (n,): 1 for each legal action, 0 for the others."""
        legal = self._games["legal"][0].view(np.uint8)
        return np.unpackbits(legal, bitorder="little", count=self.num_actions).view(np.int8)

    def is_legal(self, action: int) -> bool:
        """Return True if an action, given by its number, is legal."""
        legal = self._games["legal"][0].view(np.uint8)
        return 0 <= action < self.num_actions and bool(legal[action // 8] >> action % 8 & 1)

    def step(self, action: int | str, outcome: Outcome | Sequence[Outcome] | None = None) -> None:
        """Play an action, given by its number or in words.

        `outcome`, from `chance_outcomes`, is the outcome of the chance event after the action. A sequence of
        outcomes decides several events. The game's own generator decides all further events. After a step
        with outcomes, the history begins again with the new state.

        An illegal action raises IllegalAction. An outcome that cannot occur raises ValueError. After either
        error, the game is unchanged.
        """
        if outcome is not None and (taken := _listed(outcome)):
            self._step_to(action, taken)
            return
        number = action if type(action) is int and 0 <= action < _BEYOND else self._number(action)
        if self._ask_forced:
            if not self.is_legal(number):
                raise self._illegal(action)
            self.record.decisions += 1
            entry.apply_action(self._games, 0, self._tables.board, self._tables.rules, number)
            self._play_chance()
        elif not step_kernel(self._tables.sizes)(
            self._games, 0, self._tables.board, self._tables.rules, number
        ):
            raise self._illegal(action)
        self._actions.append(number)

    def chance_outcomes(
        self, action: int | str, taken: Outcome | Sequence[Outcome] = ()
    ) -> list[tuple[Outcome, float]]:
        """Return the outcomes of the chance event after an action, each with its probability.

        The events are a roll, a whole blitz, a re-rolled die and a card. `taken` are outcomes of earlier
        events after the same action, if several events follow one another. The list is empty if no chance
        event follows. `step(action, outcome)` plays one of the outcomes.
        """
        return play_outcomes(
            self._scratch(), self._tables, self._legal(action), _listed(taken), self._ask_forced
        )

    def _step_to(self, action: int | str, taken: Sequence[Outcome]) -> None:
        """Play an action and the outcomes of the chance events after it."""
        number, games = self._legal(action), self._scratch()
        play_outcomes(games, self._tables, number, taken, self._ask_forced)
        games["random"] = self._games["random"]
        games["decisions"] += 1
        self._games[0] = games[0]
        self._play_on()
        self._begin_anew(self.seed)

    def _scratch(self) -> npt.NDArray[Any]:
        """Return a copy of the record, an array of shape (1,)."""
        return _records_of(self._games.tobytes(), self._games.dtype)

    def _legal(self, action: Any) -> int:
        """Return the number of a legal action. Raises IllegalAction for any other action."""
        number = self._number(action)
        if not self.is_legal(number):
            raise self._illegal(action)
        return number

    def _play_chance(self) -> None:
        while entry.play_chance_once(self._games, 0, self._tables.board, self._tables.rules):
            pass

    def new_step_buffer(self) -> npt.NDArray[Any]:
        """Return a new step buffer that contains this game (`engine.step_buffer`).

        After this call, the game's record is in the new buffer, and earlier step buffers are no longer used.
        """
        board, rules, sizes, _ = self._tables
        buffer = new_step_buffer(self._games, rules, board, sizes, observation_scales(self.board))
        self._games = buffer["game"]
        return buffer

    def step_in(
        self, buffer: npt.NDArray[Any], kernel: Callable[..., int], action: Any, observation: Any, masks: Any
    ) -> int:
        """Play an action as `step` does, with a kernel that also writes the next decision.

        `buffer` is the step buffer of this game. The kernel writes the decision into `observation` and
        `masks` (`engine.step_buffer`). Returns the result of the kernel.
        """
        number = action if type(action) is int and 0 <= action < _BEYOND else self._number(action)
        status = kernel(buffer, number, observation, masks)
        if status == ILLEGAL:
            raise self._illegal(action)
        self._actions.append(number)
        return status

    def _number(self, action: Any) -> int:
        """Return the number of an action, legal or not, or -1 for a number outside the kernels' range.

        Raises IllegalAction for a text that is not a legal action, and for a value that is neither a text nor
        a whole number.
        """
        if isinstance(action, str):
            return self.parse_action(action)
        if isinstance(action, bool) or not hasattr(action, "__index__"):
            raise self._illegal(action)
        try:
            number = operator.index(action)
        except TypeError:  # an array with several entries, or not of whole numbers
            raise self._illegal(action) from None
        return number if 0 <= number < _BEYOND else -1

    def _illegal(self, action: Any) -> notation.IllegalAction:
        """Return the error for an illegal action, which names the first legal actions."""
        return notation.illegal_action(self.record, self._tables, self.board, action)

    def action_text(self, action: int) -> str:
        """Return an action of the current phase in words, such as `attack Alaska > Kamchatka`."""
        return notation.action_text(action, self.record, self._tables, self.board)

    def parse_action(self, text: str) -> int:
        """Return the number of a legal action given in words. Raises IllegalAction for any other text."""
        return notation.parse_action(text, self.record, self._tables, self.board)

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions chosen so far, without forced actions that the game played itself.

        For a loaded game, the actions begin at the loaded state.
        """
        return tuple(self._actions)

    # ------------------------------------------------------------------------------------------ what happened

    def events(self, since: int = 0, seat: int | None = None) -> list[Event]:
        """Return the events so far: the public events and, with `seat`, the events that only this seat saw.

        The first `since` events are left out. The history of a loaded game begins at the loaded state.
        """
        if seat is not None:
            self._check_seat(seat)
        return self._history().seen_by(NOBODY if seat is None else int(seat))[since:]

    @property
    def last_battle(self) -> Battle | None:
        """The last decided roll of the history, or None before the first decided roll."""
        return last_battle(self._history().events, self.board)

    @property
    def log(self) -> list[str]:
        """Lines of text for the actions and chance results so far (docs/decisions.md).

        The log of a loaded game begins at the loaded state.
        """
        return self._history().lines()

    def _history(self) -> GameLog:
        """Return the history so far.

        The history is computed from the actions only when it is needed, so that `step` stays fast.
        """
        if self._game_log is None:
            self._game_log = self._new_log(None)
        self._game_log.catch_up(self._actions)
        return self._game_log

    def _new_log(self, watch: Watch | None) -> GameLog:
        return GameLog(self.rules, self.board, self._start, self._chance, self._ask_forced, watch)

    def watched(self, watch: Watch) -> GameLog:
        """Replay the history and return its log. `watch` gets each record with the new events (`GameLog`).

        To add actions that are played later, call `log.catch_up(game.actions)`.
        """
        log = self._new_log(watch)
        log.catch_up(self._actions)
        return log

    # --------------------------------------------------------------------------------------- what may be seen

    def public(self, seat: int | None = None) -> PublicState:
        """Return the public facts and, with `seat`, also a decision that only this seat can see."""
        if seat is not None:
            self._check_seat(seat)
        return public_state(self._games, self._tables, NOBODY if seat is None else int(seat))

    def observe(self, seat: int, observation: str = FLAT) -> Any:
        """Return the observation of a seat as scaled codes, float32 (D,).

        With `observation="structured"`, return a dict of "territories" (T, F) and "globals" (G,) instead.
        docs/observation.md describes the columns.
        """
        check_choice("observation", observation, OBSERVATIONS)
        return as_floats(self.observe_codes(seat), self.board, observation)

    def observe_codes(self, seat: int) -> npt.NDArray[np.int8]:
        """Return the observation of a seat as codes, int8 (D,)."""
        self._check_seat(seat)
        view = np.zeros(observation_size(self.board), np.int8)
        words = view.view(np.uint64)
        games = seen_by(self._games, self._tables, seat)
        entry.observe_game(games, 0, self._tables.board, self._tables.rules, seat, words, view)
        return view

    def determinize(self, seat: int, seed: int) -> Game:
        """Return a copy in which everything that `seat` does not know is redrawn from `seed`.

        Future chance events are redrawn too.
        """
        self._check_seat(seat)
        other = self._fork()
        entry.determinize_game(
            other._games, 0, self._tables.board, self._tables.rules, seat, game_seed(seed, seat)
        )
        if seat != other.seat:  # the roll may be hidden from this seat, or the decision forced
            other._play_on()
        other._begin_anew(seed)
        return other

    def reseed(self, seed: int) -> Game:
        """Return a copy of the game in which `seed` determines future dice and cards.

        Hidden facts stay as they are. `determinize` also redraws hidden facts. The history of the copy begins
        with this state.
        """
        other = self._fork()
        other._games["random"] = game_seed(seed)
        other._begin_anew(seed)
        return other

    # --------------------------------------------------------------------------------------- copy, save, load

    def copy(self) -> Game:
        """Return an independent copy, including the history."""
        other = self._fork()
        other._start, other._chance, other._actions = self._start, self._chance, self._actions.copy()
        return other

    def beginning(self) -> Game:
        """Return a copy of the game as it was when its history began, before the first of `actions`."""
        other = self.copy()
        other._actions = []
        if self._start is None:
            other._set_up()
            return other
        other._games.view(np.uint8)[:] = np.frombuffer(self._start, np.uint8)
        return other._play_on()

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        """Return True if two games have the same rules, the same map and the same state.

        The state includes future chance. Drawings of maps are not compared. Seed and history are not compared
        either, because the text of a game does not contain them. The option `ask_forced` must be the same.
        """
        if not isinstance(other, Game):
            return NotImplemented
        mine, theirs = ((g.rules, g.board.digest, g._ask_forced, g.to_record()) for g in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]  # games are mutable

    def _fork(self) -> Game:
        other = Game.__new__(Game)
        other.rules, other.board, other.origin = self.rules, self.board, self.origin
        other._tables, other._ask_forced = self._tables, self._ask_forced
        other._games = self._scratch()
        other._game_log = None
        return other

    def _begin_anew(self, seed: int) -> None:
        """Begin a new history with the current state. No origin can restore this state."""
        self.origin, self._chance = Origin(int(seed), position=None), uint64(0)
        self._begin_history()

    def _begin_history(self) -> None:
        self._start = self._games.tobytes()
        self._actions = []
        self._game_log = None

    @classmethod
    def from_record(
        cls,
        rules: Rules,
        board: Board,
        games: npt.NDArray[Any] | bytes,
        seed: int = 0,
        ask_forced: bool = False,
    ) -> Game:
        """Return a game in the state of a record.

        `games` is an array of one record (`core.types.game_dtype`), or the bytes from `to_record`. Raises
        SavedGameError for a record of another length. Nothing else in the record is checked. The history of
        the game begins with this state.
        """
        game = cls.__new__(cls)
        game.rules, game.board = rules, board
        game._tables, game._ask_forced = tables(rules, board), ask_forced
        data, dtype = games if isinstance(games, bytes) else games.tobytes(), game_dtype(game._tables.sizes)
        if len(data) != dtype.itemsize:
            raise SavedGameError(
                f"not a saved game of this map: {len(data)} bytes instead of {dtype.itemsize}"
            )
        game._games = _records_of(data, dtype)
        game._begin_anew(seed)
        return game

    def to_bytes(self) -> bytes:
        """Return the game as bytes, with a checksum.

        The bytes contain the state, the rules, the seed, and the name and the digest of the map. They contain
        neither the map itself nor the history.
        """
        facts = {
            "rules": self.rules.to_dict(),
            "map": self.board.source,
            "digest": self.board.digest,
            "seed": self.seed,
            "ask_forced": self._ask_forced,
        }
        header = json.dumps(facts, sort_keys=True).encode()
        body = _HEADER.pack(MAGIC, SCHEMA, len(header)) + header + self._games.tobytes()
        return body + hashlib.sha256(body).digest()[:_CHECKSUM]

    @classmethod
    def from_bytes(cls, data: bytes, board: Board | None = None) -> Game:
        """Return the game from the bytes that `to_bytes` returned.

        `board` is the map of the game, and is needed unless the game is on a shipped map or a small random
        map (`maps.check_open_map`). Raises SavedGameError, which names the problem, if the bytes are not a
        valid saved game. Bytes from an untrusted source are safe: they are rejected, or give a game that can
        be played.
        """
        facts, state = _unpack(data)
        try:
            rules = Rules.from_dict(facts["rules"])
            board = found_map(facts["map"], facts["digest"], board)
            game = cls.from_record(rules, board, state, int(facts["seed"]), bool(facts["ask_forced"]))
            if problems := check(game.record, game.tables, rules, board):
                raise SavedGameError(f"not a saved game: an impossible position: {'; '.join(problems[:3])}")
            return game._play_on()
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise (
                error if isinstance(error, SavedGameError) else SavedGameError(f"not a saved game: {error}")
            ) from error

    def to_record(self) -> bytes:
        """Return the bytes of the record, for `from_record` with the same rules and the same map."""
        return self._games.tobytes()

    def to_text(self) -> str:
        """Return the whole state as text, which people can read and edit (docs/positions.md)."""
        return positions.to_text(self.record, self.rules, self.board)

    @classmethod
    def from_text(cls, text: str, board: Board | None = None, ask_forced: bool = False) -> Game:
        """Return the game from a text that `to_text` returned, or that was written by hand.

        `board` is the map of the game, and is needed unless the game is on a shipped map or a small random
        map (`maps.check_open_map`). Forced actions are played at once, unless `ask_forced` is set. Raises
        PositionError, which names the problem, if the text is not a valid position.
        """
        rules, board, games = positions.from_text(text, board)
        return cls.from_record(rules, board, games, 0, ask_forced)._play_on()

    def _play_on(self) -> Game:
        """Play chance events and forced actions up to the next decision, and return the game itself.

        With `ask_forced`, forced actions are not played.
        """
        if self._ask_forced:
            self._play_chance()
        else:
            play_on(self._games, 0, self._tables)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.rules, self.board, self.to_record(), self.seed, self._ask_forced)
        return _restore, (state, self.origin, self._start, int(self._chance), tuple(self._actions))

    # ------------------------------------------------------------------------------------------ for people

    def replay(
        self, names: Sequence[str] = (), seat: int | None = None, evaluate: Evaluate | None = None
    ) -> Replay:
        """Return the history as a page for a browser or a notebook.

        `names` are the names of the players. The page shows the public facts, and the missions if the game is
        over. With `seat`, the page shows the facts that this seat knows instead.

        `evaluate` gets a game, and returns the win probability of each seat, (P,). The function is called for
        the first frame, at the start of every turn and at the end. With `seat`, the hidden facts of the game
        are redrawn (`determinize`).
        """
        from risk_env.viewer.frames import Frames, secrets_at_the_end
        from risk_env.viewer.replay import make_replay

        if seat is not None:
            self._check_seat(seat)
        viewer = NOBODY if seat is None else int(seat)
        evaluation = None if evaluate is None else self._evaluation(evaluate, seat)
        frames = Frames(self._tables, viewer, evaluation)
        self.watched(frames.watch)
        secrets = secrets_at_the_end(self._games, self.num_players) if seat is None else {}
        return make_replay(self.rules, self.board, frames, names, viewer, secrets)

    def _evaluation(self, evaluate: Evaluate, seat: int | None) -> Callable[[Any], Iterable[float]]:
        """Return `evaluate` as a function of a game's record, an array of shape (1,)."""

        def of_record(records: Any) -> Iterable[float]:
            game = Game.from_record(self.rules, self.board, records, self.seed)._play_on()
            return evaluate(game if seat is None else game.determinize(seat, self.seed))

        return of_record

    def _repr_svg_(self) -> str:
        """Return a picture of the board for notebooks, with public facts only."""
        from risk_env.render import draw_svg, scene_of

        return draw_svg(self.board, scene_of(self))

    def __str__(self) -> str:
        """Return the board as text, with public facts only."""
        from risk_env.render import draw_ansi, scene_of

        return draw_ansi(self.board, scene_of(self), colour=False)

    def __repr__(self) -> str:
        state = "over" if self.is_over else f"seat {self.seat} to decide in {self.phase.name}"
        return f"<Game on {self.board.name!r}, {self.num_players} players, round {self.round}, {state}>"


def _listed(outcome: Outcome | Sequence[Outcome]) -> list[Outcome]:
    """Return one outcome, or several, as a list. Raises ValueError for an entry that is not an `Outcome`."""
    listed = [outcome] if isinstance(outcome, Outcome) else list(outcome)
    if strange := [each for each in listed if not isinstance(each, Outcome)]:
        raise ValueError(f"{strange[0]!r:.80} is not an outcome: pass outcomes from chance_outcomes(action)")
    return listed


def game_by_chance(rules: Rules, board: Board, chance: np.uint64) -> Game:
    """Return the game of a lane, given `chance`, the entry of the lane in `GameVector.seeds`.

    The history begins with the set-up. `chance` is not the seed of a `Game`, so the game cannot be restored
    from its origin (`Origin`).
    """
    game = Game.from_record(rules, board, tables(rules, board).new_games(1))
    game._start, game._chance = None, chance
    game._set_up()
    return game


def _records_of(data: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return writable records from bytes.

    This is much faster than a copy of records by NumPy, which copies one field after another.
    """
    return np.frombuffer(bytearray(data), dtype)


def _unpack(data: bytes) -> tuple[Mapping[str, Any], bytes]:
    """Return the facts in the header and the state of a saved game.

    Raises SavedGameError for damaged bytes, and for a value that is not bytes.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SavedGameError(f"not a saved game: {type(data).__name__} instead of bytes")
    if len(data) > MOST_BYTES:
        raise SavedGameError(f"not a saved game: {len(data)} bytes; at most {MOST_BYTES} are allowed")
    data = bytes(data)
    if len(data) < _HEADER.size + _CHECKSUM or not data.startswith(MAGIC):
        raise SavedGameError("not a saved game: too short, or a bad magic number")
    _, schema, length = _HEADER.unpack_from(data)
    if schema != SCHEMA:
        raise SavedGameError(f"saved in format {schema}: this version reads format {SCHEMA}")
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if hashlib.sha256(body).digest()[:_CHECKSUM] != checksum:
        raise SavedGameError("not a saved game, or a damaged one: the checksum does not match")
    try:
        facts = parse_json(body[_HEADER.size : _HEADER.size + length])
    except ValueError as error:
        raise SavedGameError(f"not a saved game: {error}") from error
    if not isinstance(facts, dict):
        raise SavedGameError("not a saved game: the header is not a JSON object")
    if missing := [key for key in ("rules", "map", "digest", "seed", "ask_forced") if key not in facts]:
        raise SavedGameError(f"not a saved game: the header lacks {', '.join(missing)}")
    return facts, body[_HEADER.size + length :]


def _restore(
    state: tuple[Any, ...], origin: Origin, start: bytes | None, chance: int, actions: tuple[int, ...]
) -> Game:
    """Return a pickled game with its history. A pickle is trusted, so the position is not checked."""
    game = Game.from_record(*state)
    game.origin, game._start, game._chance, game._actions = origin, start, uint64(chance), list(actions)
    return game
