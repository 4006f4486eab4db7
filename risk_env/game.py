"""One game of Risk, for people and scripts: legal actions, events, observations; copy, save, print."""

from __future__ import annotations

import hashlib
import json
import operator
import secrets
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, Mission, found_map, load_map
from risk_env.board.rules import BOOK, Rules, rules_from
from risk_env.board.tables import Tables, tables
from risk_env.bounded_io import parse_json
from risk_env.compiler import compiled_for
from risk_env.core import entry
from risk_env.core.observe import MOST_CODE, TERRITORY_WIDTH, num_globals
from risk_env.core.step import NO_ACTION
from risk_env.core.types import NOBODY, NOWHERE, Phase, SizeClass, board_dtype, game_dtype, rules_dtype
from risk_env.engine.step_buffer import ILLEGAL, new_step_buffer
from risk_env.events import Battle, Event, GameLog, Watch, last_battle
from risk_env.public import PHASES, PublicState, hand_of, public_state, seen_by
from risk_env.seeds import game_seed, uint64
from risk_env.text import notation, positions
from risk_env.text.check import check

if TYPE_CHECKING:
    from risk_env.viewer.replay import Replay

    Evaluate = Callable[["Game"], Iterable[float]]  # the chance to win of every seat (P,)

MAGIC = b"risk_env"
SCHEMA = 1
MOST_BYTES = 1 << 16  # of a save
_HEADER = struct.Struct("<8sHI")  # magic, schema, length of the JSON that follows
_CHECKSUM = 16  # bytes of SHA-256 at the end
_BEYOND = 2**31  # more than any action's number


class SaveError(ValueError):
    """Bytes that are not a saved game, or not one of this map; the message says why."""


class Origin(NamedTuple):
    """Origin of a game: the numbers from which its chance follows, and the text of its first position.

    `position` is "" for a set-up. It is None if the origin and the actions do not restore the game: the game
    was loaded or drawn again, or it asks forced decisions.
    """

    seed: int
    lane: int = 0
    episode: int = 0
    position: str | None = ""


@cache
def _step_kernel(sizes: SizeClass) -> Callable[..., Any]:
    """`entry.step_game` for the records of a size class."""
    games, board, rules = (np.zeros(1, dtype(sizes)) for dtype in (game_dtype, board_dtype, rules_dtype))
    return compiled_for(entry.step_game, games, 0, board, rules, 0)


class Game:
    """A game in progress.

    `rules` are `Rules`, or the name of a preset with `options` as for `Rules.preset`: `Game("classic",
    num_players=4, setup="deal")`. `board` is a `Board` or an argument of `load_map`, `seed` any whole number
    (None: a random one). Chance depends on `seed`, `lane` and `episode` only. A decision with a single legal
    action is played at once, unless `ask_forced` is set. `position` is the text of a position to begin with
    (docs/positions.md), with the same rules and map. One thread at a time may use a game.
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
        self._start: bytes | None = None  # the record this history begins with; None: the set-up of `_chance`
        self._chance = game_seed(seed, lane, episode)
        self.origin = Origin(int(seed), lane, episode, None if ask_forced else position or "")
        self._actions: list[int] = []
        self._game_log: GameLog | None = None
        if position is None:
            self._set_up()
        else:
            self._begin_with(position)

    def _begin_with(self, text: str) -> None:
        """Take the position of a text, and play on to the first question."""
        self._games = positions.position_for(text, self.rules, self.board)
        self._games["random"] = self._chance
        self._begin_history()
        self._play_on()

    def _set_up(self) -> None:
        """The set-up of this game's chance, played on to the first question."""
        entry.set_up_game(self._games, 0, self._tables.board, self._tables.rules, self._chance)
        if self._ask_forced:
            entry.write_legal_actions(self._games, 0, self._tables.board, self._tables.rules)
        else:
            self._play_on()

    # ------------------------------------------------------------------------------------------ the state

    @property
    def record(self) -> Any:
        """The game's record (`core.types.game_dtype`); to be read, not written."""
        return self._games[0]

    def _number_in(self, field: str) -> int:
        """A number of the record; far quicker than an attribute of `record`."""
        number: int = self._games[field].item()
        return number

    @property
    def records(self) -> Any:
        """The record as an array of one, the form that kernels and compiled bots take.

        To be read, not written.
        """
        return self._games

    @property
    def tables(self) -> Tables:
        """The records of map and rules, as the kernels read them."""
        return self._tables

    @property
    def num_players(self) -> int:
        """P: how many seats there are."""
        return self.rules.num_players

    @property
    def num_actions(self) -> int:
        """How many action numbers there are on this map with these rules."""
        return self._tables.num_actions

    @property
    def seed(self) -> int:
        """The seed that the game began with."""
        return self.origin.seed

    @property
    def seat(self) -> int:
        """The seat to decide, -1 when the game is over."""
        return self._number_in("seat")

    @property
    def turn(self) -> int:
        """The seat whose turn it is; `seat` differs from it only while a defender chooses dice."""
        return self._number_in("turn")

    @property
    def phase(self) -> Phase:
        """What is asked (docs/decisions.md)."""
        return PHASES[self._number_in("phase")]

    @property
    def round(self) -> int:
        """The round: 0 in set-up, then from 1."""
        return self._number_in("round_number")

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self._number_in("phase") == Phase.OVER

    @property
    def truncated(self) -> bool:
        """Whether the game ended by `max_rounds` (RULES 11.2)."""
        return bool(self._number_in("truncated"))

    @property
    def winner(self) -> int:
        """The seat that won, -1 while the game is open and after a truncation."""
        return self._number_in("winner")

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """bool (P,): which seats are still in the game."""
        return self._games["death"][0, : self.num_players] == 0

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """int (T,): seat that holds each territory, -1 free, `num_players` the neutral army.

        A read-only copy.
        """
        return self._copied("owner")

    @property
    def troops(self) -> npt.NDArray[np.int64]:
        """int (T,): troops on each territory. A read-only copy."""
        return self._copied("troops")

    def _copied(self, field: str) -> npt.NDArray[np.int64]:
        values = self._games[field][0, : self.board.num_territories].astype(np.int64)
        values.flags.writeable = False
        return values

    def returns(self) -> npt.NDArray[np.float64]:
        """float (P,): 1 for the winner.

        -1 / (P - 1) for the dead and for all who lost to a winner; else 0.
        """
        values = np.where(self.alive, 0.0, -1.0 / (self.num_players - 1))
        if self.winner != NOBODY:
            values[:] = -1.0 / (self.num_players - 1)
            values[self.winner] = 1.0
        return values

    def placements(self) -> npt.NDArray[np.int64]:
        """int (P,): the place of each seat, from 1 (RULES 11.2); equal ones share the better place."""
        places = np.zeros(self.num_players, np.int64)
        entry.placements(self._games, 0, self._tables.board, self._tables.rules, places)
        return places

    # --------------------------------------------------------------------------------------- the hidden facts

    def hand(self, seat: int) -> tuple[str, ...]:
        """The cards of a seat by name, in map order; `wild` for a wild card."""
        self._check_seat(seat)
        return tuple(
            notation.card_text(card, self.board) for card in hand_of(self._games, seat, self._tables)
        )

    def mission(self, seat: int) -> Mission | None:
        """The secret mission of a seat, None where the game has none (RULES 8)."""
        self._check_seat(seat)
        number = int(self._games["mission"][0, seat])
        return None if number == NOBODY else self.board.missions[number]

    def headquarters(self, seat: int) -> str | None:
        """The headquarters of a seat, None if it has not picked one (RULES 7)."""
        self._check_seat(seat)
        place = int(self._games["headquarters"][0, seat])
        return None if place == NOWHERE else self.board.territories[place]

    def _check_seat(self, seat: int) -> None:
        if (
            isinstance(seat, bool)
            or not isinstance(seat, int | np.integer)
            or not 0 <= seat < self.num_players
        ):
            raise ValueError(f"seat={seat!r} must be a whole number from 0 to {self.num_players - 1}")

    # ------------------------------------------------------------------------------------------ playing

    def legal_actions(self) -> npt.NDArray[np.int64]:
        """int (k,): the legal actions, ascending; none when the game is over."""
        return np.flatnonzero(self.action_mask())

    def action_mask(self) -> npt.NDArray[np.int8]:
        """int8 (n,): 1 for each legal action."""
        legal = self._games["legal"][0].view(np.uint8)
        return np.unpackbits(legal, bitorder="little", count=self.num_actions).view(np.int8)

    def is_legal(self, action: int) -> bool:
        """Whether an action, given by its number, is legal."""
        legal = self._games["legal"][0].view(np.uint8)
        return 0 <= action < self.num_actions and bool(legal[action // 8] >> action % 8 & 1)

    def step(self, action: int | str) -> None:
        """Play an action, by number or as text; an illegal one raises IllegalAction and changes nothing."""
        number = action if type(action) is int and 0 <= action < _BEYOND else self._number(action)
        if self._ask_forced:
            if not self.is_legal(number):
                raise self._illegal(action)
            self.record.decisions += 1
            entry.apply_action(self._games, 0, self._tables.board, self._tables.rules, number)
            self._play_chance()
        elif not _step_kernel(self._tables.sizes)(
            self._games, 0, self._tables.board, self._tables.rules, number
        ):
            raise self._illegal(action)
        self._actions.append(number)

    def _play_chance(self) -> None:
        while entry.play_chance_once(self._games, 0, self._tables.board, self._tables.rules):
            pass

    def new_step_buffer(self) -> npt.NDArray[Any]:
        """A step buffer with this game (`engine.step_buffer`).

        The record moves into it, and leaves any earlier one.
        """
        buffer = new_step_buffer(self._games, self._tables.rules, self._tables.board, self._tables.sizes)
        self._games = buffer["game"]
        return buffer

    def step_in(
        self, buffer: npt.NDArray[Any], kernel: Callable[..., int], action: Any, observation: Any, mask: Any
    ) -> int:
        """`step` in the game's step buffer, by a kernel that also writes the next question.

        What the kernel returns.
        """
        number = action if type(action) is int and 0 <= action < _BEYOND else self._number(action)
        found = kernel(buffer, number, observation, mask)
        if found == ILLEGAL:
            raise self._illegal(action)
        self._actions.append(number)
        return found

    def _number(self, action: Any) -> int:
        """The number of an action, legal or not; -1 for one that no kernel could read."""
        if isinstance(action, str):
            return self.parse_action(action)
        if isinstance(action, bool) or not hasattr(action, "__index__"):
            raise self._illegal(action)
        try:
            number = operator.index(action)
        except TypeError:  # an array of more than one, or not of whole numbers
            raise self._illegal(action) from None
        return number if 0 <= number < _BEYOND else -1

    def _illegal(self, action: Any) -> notation.IllegalAction:
        """The error that says what is legal instead, to be raised."""
        return notation.illegal_action(self.record, self._tables, self.board, action)

    def action_text(self, action: int) -> str:
        """An action of the phase at hand in words, as `attack Alaska > Kamchatka`."""
        return notation.action_text(action, self.record, self._tables, self.board)

    def parse_action(self, text: str) -> int:
        """The number of a legal action in words; IllegalAction otherwise."""
        return notation.parse_action(text, self.record, self._tables, self.board)

    @property
    def actions(self) -> tuple[int, ...]:
        """The asked actions so far; of a loaded game, since it was loaded."""
        return tuple(self._actions)

    # ------------------------------------------------------------------------------------------ what happened

    def events(self, since: int = 0, seat: int | None = None) -> list[Event]:
        """What happened so far: what everybody saw and, with `seat`, what this seat alone saw.

        `since` is the number of events to leave out. The history of a loaded game begins where it was loaded.
        """
        if seat is not None:
            self._check_seat(seat)
        return self._history().seen_by(NOBODY if seat is None else int(seat))[since:]

    @property
    def last_battle(self) -> Battle | None:
        """The last roll of this history, None before the first."""
        return last_battle(self._history().events, self.board)

    @property
    def log(self) -> list[str]:
        """Every action and chance result so far as text (docs/decisions.md).

        Of a loaded game, since it was loaded.
        """
        return self._history().lines()

    def _history(self) -> GameLog:
        """The history up to now. It is found only when it is asked for: playing costs nothing."""
        if self._game_log is None:
            self._game_log = self._new_log(None)
        self._game_log.catch_up(self._actions)
        return self._game_log

    def _new_log(self, watch: Watch | None) -> GameLog:
        return GameLog(self.rules, self.board, self._start, self._chance, self._ask_forced, watch)

    def watched(self, watch: Watch) -> GameLog:
        """The history played again: `watch` gets every record and its new events (`GameLog`).

        `catch_up(game.actions)` of the log goes on with what has been played since.
        """
        log = self._new_log(watch)
        log.catch_up(self._actions)
        return log

    # --------------------------------------------------------------------------------------- what may be seen

    def public(self, seat: int | None = None) -> PublicState:
        """Return the public facts; with `seat`, also a question that only this seat sees."""
        if seat is not None:
            self._check_seat(seat)
        return public_state(self._games, self._tables, NOBODY if seat is None else int(seat))

    def observe(self, seat: int, observation: str = "flat") -> Any:
        """What a seat may see: float32 (D,), the int8 codes of `GameBatch` divided by 127.

        `observation="structured"` gives {"territories": (T, F), "globals": (G,)} (columns:
        docs/observation.md).
        """
        values = self.observe_codes(seat).astype(np.float32) / MOST_CODE
        if observation not in ("flat", "structured"):
            raise ValueError(f"observation={observation!r} must be 'flat' or 'structured'")
        return values if observation == "flat" else split_view(values, self.board)

    def observe_codes(self, seat: int) -> npt.NDArray[np.int8]:
        """What a seat may see, as the int8 (D,) codes of the core."""
        self._check_seat(seat)
        view = np.zeros(observation_size(self.board), np.int8)
        words = view.view(np.uint64)
        games = seen_by(self._games, self._tables, seat)
        entry.observe_game(games, 0, self._tables.board, self._tables.rules, seat, words, view)
        return view

    def determinize(self, seat: int, seed: int) -> Game:
        """Return a copy with all that `seat` does not know, future chance included, redrawn from `seed`."""
        self._check_seat(seat)
        other = self._fork()
        other.origin = Origin(int(seed), position=None)
        entry.determinize_game(
            other._games, 0, self._tables.board, self._tables.rules, seat, game_seed(seed, seat)
        )
        other._chance = uint64(0)
        if seat != other.seat:  # the roll may be hidden from this seat, or the decision forced
            other._play_on()
        other._begin_history()
        return other

    # --------------------------------------------------------------------------------------- copy, save, load

    def copy(self) -> Game:
        """An independent copy, history included."""
        other = self._fork()
        other._start, other._chance, other._actions = self._start, self._chance, self._actions.copy()
        return other

    def beginning(self) -> Game:
        """The game as it was when its history began: before the first of `actions`."""
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
        """Whether the same rules are played on the same map in the same state, future chance included.

        How the state came about does not count: neither the seed nor the history, which a text does not have.
        """
        if not isinstance(other, Game):
            return NotImplemented
        mine, theirs = ((g.rules, g.board.digest, g._ask_forced, g.to_record()) for g in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]  # games change

    def _fork(self) -> Game:
        other = Game.__new__(Game)
        other.rules, other.board, other.origin = self.rules, self.board, self.origin
        other._tables, other._ask_forced = self._tables, self._ask_forced
        other._games = _records_of(self._games.tobytes(), self._games.dtype)
        other._game_log = None
        return other

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

        A record is an array of one (`core.types.game_dtype`), or the bytes of `to_record`, of which only the
        length is checked. The game's history begins here.
        """
        game = cls.__new__(cls)
        game.rules, game.board, game.origin = rules, board, Origin(int(seed), position=None)
        game._tables, game._ask_forced = tables(rules, board), ask_forced
        data, dtype = games if isinstance(games, bytes) else games.tobytes(), game_dtype(game._tables.sizes)
        if len(data) != dtype.itemsize:
            raise SaveError(f"the record has {len(data)} bytes, a game of this map {dtype.itemsize}")
        game._games = _records_of(data, dtype)
        game._chance = uint64(0)
        game._begin_history()
        return game

    def to_bytes(self) -> bytes:
        """The whole state (not the history), with format, rules, map and a checksum."""
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
        """The game that `to_bytes` wrote. `board` is its map, needed unless that is a shipped one.

        SaveError names what is wrong: any bytes are refused, or give a game that can be played.
        """
        facts, state = _unpack(data)
        try:
            rules = Rules.from_dict(facts["rules"])
            board = found_map(facts["map"], facts["digest"], board)
            game = cls.from_record(rules, board, state, int(facts["seed"]), bool(facts["ask_forced"]))
            if problems := check(game.record, game.tables, rules, board):
                raise SaveError(f"an impossible position: {'; '.join(problems[:3])}")
            return game._play_on()
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise (
                error if isinstance(error, SaveError) else SaveError(f"not a saved game: {error}")
            ) from error

    def to_record(self) -> bytes:
        """Return the bare record, for `from_record` in a process with the same rules and the same map."""
        return self._games.tobytes()

    def to_text(self) -> str:
        """The whole state as lines to read and edit."""
        return positions.to_text(self.record, self.rules, self.board)

    @classmethod
    def from_text(cls, text: str, ask_forced: bool = False, board: Board | None = None) -> Game:
        """The game of a text of `to_text`, or one written by hand; PositionError names line and problem.

        `board` is its map, needed unless that is a shipped one. A decision with a single legal action is
        played at once, unless `ask_forced`.
        """
        rules, board, games = positions.from_text(text, board)
        return cls.from_record(rules, board, games, 0, ask_forced)._play_on()

    def _play_on(self) -> Game:
        """Play chance and, unless `ask_forced`, forced decisions up to the next question.

        Returns the game.
        """
        if self._ask_forced:
            self._play_chance()
        else:
            _step_kernel(self._tables.sizes)(
                self._games, 0, self._tables.board, self._tables.rules, NO_ACTION
            )
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.rules, self.board, self.to_record(), self.seed, self._ask_forced)
        return _restore, (state, self.origin, self._start, int(self._chance), tuple(self._actions))

    # ------------------------------------------------------------------------------------------ for people

    def replay(
        self, names: Sequence[str] = (), seat: int | None = None, evaluate: Evaluate | None = None
    ) -> Replay:
        """Return the history as a page for a browser or a notebook.

        The page shows public facts, and those of `seat` if it is given. `evaluate` gets the game at the start
        of every turn and returns the chance to win of every seat (P,). With `seat`, what this seat did not
        know is drawn again before (`determinize`).
        """
        from risk_env.viewer.frames import Frames, secrets_at_the_end
        from risk_env.viewer.replay import make_replay

        if seat is not None:
            self._check_seat(seat)
        viewer = NOBODY if seat is None else int(seat)
        frames = Frames(self._tables, viewer, evaluate and self._evaluation(evaluate, seat))
        self.watched(frames.watch)
        secrets = secrets_at_the_end(self._games, self.num_players) if seat is None else {}
        return make_replay(self.rules, self.board, frames, names, viewer, secrets)

    def _evaluation(self, evaluate: Evaluate, seat: int | None) -> Callable[[Any], Iterable[float]]:
        """`evaluate` as a function of the record of a game (an array of one)."""

        def of_record(records: Any) -> Iterable[float]:
            game = Game.from_record(self.rules, self.board, records, self.seed)._play_on()
            return evaluate(game if seat is None else game.determinize(seat, self.seed))

        return of_record

    def _repr_svg_(self) -> str:
        """The board as a picture, for notebooks; public facts only."""
        from risk_env.render import draw_svg, scene_of

        return draw_svg(self.board, scene_of(self))

    def __str__(self) -> str:
        """The board for people, public facts only."""
        from risk_env.render import draw_ansi, scene_of

        return draw_ansi(self.board, scene_of(self), colour=False)

    def __repr__(self) -> str:
        state = "over" if self.is_over else f"seat {self.seat} to decide in {self.phase.name}"
        return f"<Game on {self.board.name!r}, {self.num_players} players, round {self.round}, {state}>"


def observation_size(board: Board) -> int:
    """D: how many numbers a flat observation on this map has."""
    return TERRITORY_WIDTH * board.num_territories + num_globals(len(board.continents))


def game_by_chance(rules: Rules, board: Board, chance: np.uint64) -> Game:
    """Return the game of a lane with this seed (`GameVector.seeds`), with its history from the set-up on."""
    game = Game(rules, board, seed=0)
    game._chance = chance
    game._set_up()
    return game


def as_floats(codes: npt.NDArray[Any], board: Board, observation: str = "flat") -> Any:
    """Convert observations int8 (k, D) to new float32 arrays for learners, with values from 0 to 1.

    `observation` is "flat", for (k, D), or "structured", for {"territories": (k, T, F), "globals": (k, G)}.
    """
    values = np.divide(codes, np.float32(MOST_CODE), dtype=np.float32)
    if observation == "flat":
        return values
    return {name: np.ascontiguousarray(part) for name, part in split_view(values, board).items()}


def split_view(values: npt.NDArray[Any], board: Board) -> dict[str, npt.NDArray[Any]]:
    """Split flat observations (..., D) into {"territories": (..., T, F), "globals": (..., G)}.

    The parts are views of the observations where possible.
    """
    border = TERRITORY_WIDTH * board.num_territories
    territories = values[..., :border].reshape(*values.shape[:-1], -1, TERRITORY_WIDTH)
    return {"territories": territories, "globals": values[..., border:]}


def _records_of(data: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Writable records of these bytes; NumPy's own copy of records goes field by field, far slower."""
    return np.frombuffer(bytearray(data), dtype)


def _unpack(data: bytes) -> tuple[Mapping[str, Any], bytes]:
    """The header's facts and the state of a saved game, checked as bytes."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SaveError(f"not a saved game: {type(data).__name__} instead of bytes")
    if len(data) > MOST_BYTES:
        raise SaveError(f"not a saved game: {len(data)} bytes, at most {MOST_BYTES}")
    data = bytes(data)
    if len(data) < _HEADER.size + _CHECKSUM or not data.startswith(MAGIC):
        raise SaveError("not a saved game: it does not begin as one")
    _, schema, length = _HEADER.unpack_from(data)
    if schema != SCHEMA:
        raise SaveError(f"saved in format {schema}; this version reads format {SCHEMA}")
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if hashlib.sha256(body).digest()[:_CHECKSUM] != checksum:
        raise SaveError("a damaged saved game: the checksum does not match")
    try:
        facts = parse_json(body[_HEADER.size : _HEADER.size + length])
    except ValueError as error:
        raise SaveError(f"not a saved game: {error}") from error
    if not isinstance(facts, dict):
        raise SaveError("not a saved game: its header is no table")
    return facts, body[_HEADER.size + length :]


def _restore(
    state: tuple[Any, ...], origin: Origin, start: bytes | None, chance: int, actions: tuple[int, ...]
) -> Game:
    """A pickled game with its history. A pickle is trusted: the position is not checked."""
    game = Game.from_record(*state)
    game.origin, game._start, game._chance, game._actions = origin, start, uint64(chance), list(actions)
    return game
