"""GameVector: many games at once, with methods to begin, step and read chosen lanes."""

import os
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from risk_env.arguments import FLAT, OBSERVATIONS, check_choice, check_count
from risk_env.arrays import Array
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules, rules_from
from risk_env.board.tables import tables
from risk_env.compiler import BoundKernel
from risk_env.engine import batch_loop
from risk_env.engine.groups import Ends, Episodes, Records, Results, Views
from risk_env.engine.incremental_view import new_view_caches
from risk_env.engine.prefetch import LINE
from risk_env.engine.thread_pool import ThreadPool
from risk_env.engine.work_stealing import NOT_SHARED
from risk_env.game import Game
from risk_env.messages import shortened
from risk_env.observations import observation_size, split_view
from risk_env.seeds import uint64
from risk_env.start_positions import StartPositions, is_several, records_of
from risk_env.step_kernel import play_on
from risk_env.text import notation
from risk_env.text.check import check

Observation = Any  # int8 (N, D), or a dict of "territories" (N, T, F) and "globals" (N, G), or None
MASKS = {"bytes": batch_loop.BYTE_MASK, "bits": batch_loop.BIT_MASK, None: batch_loop.NO_MASK}
# number of words of a mask per 64 actions
WORDS_FOR_64 = {batch_loop.NO_MASK: 0, batch_loop.BIT_MASK: 1, batch_loop.BYTE_MASK: 8}
_INT64 = np.dtype(np.int64)
LEAST_LANES = 64  # minimum number of lanes per thread; with fewer lanes, threads do not save time
REWARDS = {"win": batch_loop.WIN_REWARD, "placement": batch_loop.PLACEMENT_REWARD}


def contiguous(numbers: Any) -> npt.NDArray[np.int64]:
    """Return lanes or actions for bound kernels: a contiguous array, int64 (k,).

    Raises ValueError unless `numbers` is a 1-D array of whole numbers.
    """
    is_int64 = type(numbers) is np.ndarray and numbers.dtype == _INT64  # an unpickled dtype is another object
    if is_int64 and numbers.ndim == 1 and numbers.flags.c_contiguous:
        return numbers
    numbers = np.asarray(numbers)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise ValueError(f"lanes must be a 1-D array of whole numbers, not {numbers.dtype} {numbers.shape}")
    return np.ascontiguousarray(numbers, np.int64)


def seeds_of(seeds: Any, count: int) -> npt.NDArray[np.uint64]:
    """Return seeds for kernels, uint64 (count,).

    Raises ValueError unless `seeds` are `count` non-negative whole numbers.
    """
    numbers = whole_numbers(seeds, (count,), "seeds must be")
    if numbers.dtype.kind == "i" and numbers.min(initial=0) < 0:
        raise ValueError(f"seeds contain {numbers.min()}: all must be 0 or more")
    return numbers.astype(np.uint64, copy=False)


def whole_numbers(values: Any, shape: tuple[int, ...], demand: str) -> Array:
    """Return `values` as an array of whole numbers of this shape.

    Raises ValueError for other values. The error message begins with `demand`.
    """
    numbers = np.asarray(values)
    if numbers.shape != shape or (numbers.dtype.kind not in "iu" and numbers.size):
        raise ValueError(f"{demand} whole numbers of shape {shape}, not {numbers.dtype} {numbers.shape}")
    return numbers


class FixedArrays:
    """An object whose arrays in FIXED cannot be replaced, because kernels are bound to these arrays."""

    FIXED: ClassVar[frozenset[str]]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute. Raises AttributeError if it is an array in FIXED that is already set."""
        if name in self.FIXED and vars(self).get(name, value) is not value:
            raise AttributeError(
                f"{name} cannot be replaced: write into the array, as in {name}[lanes] = values"
            )
        object.__setattr__(self, name, value)


class GameVector(FixedArrays):
    """`num_games` games (lanes). The caller begins, steps, reads and finishes any of the lanes.

    The arguments are those of `GameBatch` (docs/batch.md).

    Game k of lane i has the seed `game_seed(seed, i, k)` (`risk_env.seeds`), for any number of lanes and
    threads. The results of a lane stay in buffers until the lane's next step. `GameBatch` steps all lanes
    together. An `arena.Arena` plays the lanes with its players.
    """

    FIXED = frozenset(
        (
            "episodes",
            "seeds",
            "seat",
            "reward",
            "terminated",
            "truncated",
            "game_over",
            "final_placement",
            "final_rounds",
        )
        + ("observation", "final_observation", "action_mask")
    )

    def __init__(
        self,
        rules: Rules | str = "classic",
        board: Board | str = "classic",
        num_games: int = 1024,
        seed: int = 0,
        *,
        threads: int = 1,
        autoreset: bool = True,
        observation: str | None = FLAT,
        mask: str | None = "bytes",
        reward: str = "win",
        **options: Any,
    ) -> None:
        self.rules = rules_from(rules, options, FAST, GameVector)
        self.board = board if isinstance(board, Board) else load_map(board)
        check_count("num_games", num_games)
        check_count("threads", threads)
        check_choice("observation", observation, (*OBSERVATIONS, None))
        check_choice("mask", mask, MASKS)
        check_choice("reward", reward, REWARDS)
        self.num_games, self.num_players = num_games, self.rules.num_players
        self.autoreset = autoreset
        self._outputs = {"observation": observation, "mask": mask, "reward": reward}
        self.tables = tables(self.rules, self.board)
        self.num_actions = self.tables.num_actions
        self.seed_word, self._mask_kind, self._reward_kind = uint64(seed), MASKS[mask], REWARDS[reward]
        self._observation = observation
        check_memory("num_games", num_games, self._bytes_of_a_game())
        self._all = np.arange(num_games)
        self._marks, self._stamp = np.zeros(num_games, np.int64), 0  # to find lanes that are listed twice
        self._threads = threads
        self._shares = self._parts(self._all)
        self._pool = ThreadPool(len(self._shares)) if len(self._shares) > 1 else None
        self._make_buffers()
        self._bind_kernels()

    def _bytes_of_a_game(self) -> int:
        D = observation_size(self.board) if self._observation else 0
        mask = 8 * WORDS_FOR_64[self._mask_kind] * -(-self.num_actions // 64)
        records = self.tables.new_games(1).nbytes + new_view_caches(1, self.tables.sizes).nbytes
        return records + D * (1 + self.num_players) + mask + 32 * (1 + self.num_players)

    def _make_buffers(self) -> None:
        N, P = self.num_games, self.num_players
        D = observation_size(self.board) if self._observation else 0
        self._games = self.tables.new_games(N)
        self.episodes = np.full(N, -1, np.int64)  # (N,) number of each lane's game
        self.seeds = np.zeros(N, np.uint64)  # (N,) seed of each lane's game
        self._codes = _aligned((N, D), np.int8)
        self._final_codes = np.zeros((N, P, D), np.int8)
        self._mask = _aligned((N, WORDS_FOR_64[self._mask_kind] * -(-self.num_actions // 64)), np.uint64)
        self.seat = np.zeros(N, np.int64)
        self.reward = np.zeros((N, P), np.float32)
        self.terminated = np.zeros((N, P), np.bool_)
        self.truncated = np.zeros((N, P), np.bool_)
        # (N,) true if the game is over (with `autoreset`: ended by the last step)
        self.game_over = np.zeros(N, np.bool_)
        self.final_placement = np.zeros((N, P), np.int64)  # (N, P) places, valid if game_over
        self.final_rounds = np.zeros(N, np.int64)  # (N,) rounds, valid if game_over
        lent = self._codes.view()
        lent.flags.writeable = False
        self.observation = self._shaped(lent)
        # (N, P, ...) last observations, valid if game_over
        self.final_observation = self._shaped(self._final_codes)
        self.action_mask = self._lent_mask()
        self._view_caches = new_view_caches(N, self.tables.sizes)

    def _bind_kernels(self) -> None:
        """Group the buffers, and bind the kernels for the parts of a step to the groups."""
        words, final_words = self._codes.view(np.uint64), self._final_codes.view(np.uint64)
        self._records = Records(self._games, self.tables.board, self.tables.rules)
        self._results = Results(
            self._reward_kind, self.reward, self.terminated, self.truncated, self.game_over
        )
        self._ends = Ends(self.final_placement, self.final_rounds, final_words)
        self._views = Views(self._mask_kind, self._mask, self._view_caches, words, self.seat)
        self._first_wrong = BoundKernel(batch_loop.first_wrong, self._games, self._marks)
        self._first_illegal = BoundKernel(batch_loop.first_illegal, self._games, self.tables.rules)
        self._step_some = BoundKernel(batch_loop.step_lanes, *self._step_arguments(is_full_step=False))
        self._write_final = BoundKernel(batch_loop.write_final, self._records, self._ends)
        self._write_views = BoundKernel(batch_loop.write_views, self._records, self._views)

    @property
    def games(self) -> np.recarray[Any, Any]:
        """The records of all games (`core.types.game_dtype`), a record array (N,)."""
        return self._games.view(np.recarray)

    @property
    def records(self) -> Array:
        """The records of all games as a plain structured array (N,), for kernels."""
        return self._games

    def game(self, lane: int) -> Game:
        """Return a `Game` with a copy of a lane's state."""
        lane = self.as_lane(lane)
        return Game.from_record(self.rules, self.board, self._games[lane : lane + 1])

    def check_records(self) -> None:
        """Raise ValueError if play cannot continue from one of the records.

        Call this method after the records have been read from a file, because kernels do not check records.
        A lane whose first game has not begun is accepted.
        """
        not_begun = self.tables.new_games(1).tobytes()
        for lane, record in enumerate(self.games):
            if record.tobytes() != not_begun and (
                problems := check(record, self.tables, self.rules, self.board)
            ):
                raise ValueError(f"lane {lane}: an impossible position: {'; '.join(problems[:3])}")

    def _shaped(self, codes: Array) -> Observation:
        if self._observation is None:
            return None
        return codes if self._observation == FLAT else split_view(codes, self.board)

    def _lent_mask(self) -> Array | None:
        if self._mask_kind == batch_loop.BYTE_MASK:
            return self._mask.view(np.int8)[:, : self.num_actions]
        return self._mask if self._mask_kind == batch_loop.BIT_MASK else None

    def as_actions(self, actions: Any) -> npt.NDArray[np.int64]:
        """Return `actions`, whole numbers (N,), as int64. Raises ValueError for other values."""
        if type(actions) is np.ndarray and actions.dtype is _INT64 and actions.shape == self._all.shape:
            return actions
        return whole_numbers(actions, self._all.shape, "actions must be").astype(np.int64, copy=False)

    def as_lanes(self, lanes: Any, are_begun: bool = False) -> npt.NDArray[np.int64]:
        """Return lanes for kernels, int64 (k,). Raises ValueError for invalid and duplicate lanes.

        With `are_begun`, each lane must have a game. Every public method that takes lanes checks the lanes
        with this method.
        """
        if lanes is self._all and not are_begun:
            return lanes
        lanes = contiguous(lanes)
        self._stamp += 1
        wrong = self._first_wrong(lanes, self._stamp, are_begun)
        if wrong != batch_loop.NO_LANE:
            raise ValueError(self._problem(lanes, wrong))
        return lanes

    def as_lane(self, lane: Any) -> int:
        """Return a lane of the batch as an int. Raises ValueError for any other value."""
        is_number = isinstance(lane, int | np.integer) and not isinstance(lane, bool)
        if not is_number or not 0 <= lane < self.num_games:
            raise ValueError(f"lane={shortened(lane)}: must be a whole number from 0 to {self.num_games - 1}")
        return int(lane)

    def _problem(self, lanes: Array, number: int) -> str:
        """Return the error message for the first invalid lane."""
        lane = int(lanes[number])
        if not 0 <= lane < self.num_games:
            return f"lanes contain {lane}: the batch has lanes 0 to {self.num_games - 1}"
        if lane in lanes[:number]:
            return f"lanes contain {lane} twice: name each lane at most once"
        return f"lane {lane} has no game: call reset(), begin() or begin_seeded() first"

    def check_legal(self, actions: Array, lanes: Array) -> None:
        """Raise IllegalAction unless `actions[lane]` is legal in each of `lanes`, int (k,).

        `actions` is int (N,). A lane whose game is over needs no action. Raises ValueError for a lane without
        a game.
        """
        self._check_legal(contiguous(self.as_actions(actions)), self.as_lanes(lanes))

    def _check_legal(self, actions: Array, lanes: Array) -> None:
        lane = self._first_illegal(lanes, actions)
        if lane == batch_loop.NO_LANE:
            return
        if not self._games["legal"][lane].any():
            raise ValueError(f"lane {lane} has no game: call reset() first")
        error = notation.illegal_action(self._games[lane], self.tables, self.board, int(actions[lane]))
        error.args = (f"lane {lane}: {error}",)
        raise error

    def begin(self, lanes: Array) -> None:
        """Begin the next game in each of these lanes, int (k,)."""
        self._begin(self.as_lanes(lanes))

    def _begin(self, lanes: Array) -> None:
        self.episodes[lanes] += 1
        batch_loop.write_seeds(self.seed_word, lanes, self.episodes, self.seeds)
        self._start(lanes)

    def begin_seeded(self, lanes: Array, seeds: Array) -> None:
        """Begin a game in each of these lanes, int (k,). `seeds`, uint64 (k,), are the seeds of the games."""
        lanes = self.as_lanes(lanes)
        self.seeds[lanes] = seeds_of(seeds, len(lanes))
        self._start(lanes)

    def _start(self, lanes: Array) -> None:
        """Begin a game in each of these lanes. The attribute `seeds` contains the seeds of the games."""
        batch_loop.start_lanes(self._games, self.tables.board, self.tables.rules, lanes, self.seeds)

    def load(self, lanes: Array, positions: Any, *, reseed: bool = False) -> None:
        """Begin the next game in each of these lanes, int (k,), at a position.

        `positions` is a list with one position for each lane, or one position for all lanes. A position is a
        text (`Game.to_text`), bytes (`Game.to_bytes`), a `Game`, or a record (`Game.record`). The position
        must have the map of the batch, and the same rules except `max_rounds`. The position determines future
        dice and cards. With `reseed`, the seed of the lane's game determines future dice and cards instead.
        Call `ask` afterwards to write observation, mask and seat.

        Raises ValueError for a wrong number of positions, and for a position from which play cannot continue.
        The batch is then unchanged. The state of a `Game` is not checked.
        """
        lanes = self.as_lanes(lanes)
        listed = positions if is_several(positions) else [positions] * len(lanes)
        if len(listed) != len(lanes):
            raise ValueError(
                f"positions: {len(listed)} positions for {len(lanes)} lanes; "
                "pass one position, or one position per lane"
            )
        places = [f"lane {lane}" for lane in lanes]
        records = records_of(listed, places, self.rules, self.board)
        self.episodes[lanes] += 1
        batch_loop.write_seeds(self.seed_word, lanes, self.episodes, self.seeds)
        self._place(lanes, records, reseed)
        for result in (self.reward, self.terminated, self.truncated):
            result[lanes] = 0
        self.game_over[lanes] = self._games["seat"][lanes] < 0

    def load_records(self, lanes: Array, records: Array) -> None:
        """Copy the game records `records` (k,) into these lanes, int (k,). The records are not checked.

        Searches use this method for thousands of copies of a game. The records determine future dice and
        cards. Use `load` for records of unknown origin.
        """
        lanes = self.as_lanes(lanes)
        if records.dtype != self._games.dtype or records.shape != lanes.shape:
            raise ValueError(
                f"records: an array of shape {lanes.shape} with the batch's record dtype is needed, not "
                f"shape {records.shape} and dtype {shortened(records.dtype)}"
            )
        self._games[lanes] = records

    def reseed(self, lanes: Array, seeds: Array) -> None:
        """Let `seeds`, uint64 (k,), determine future dice and cards in these lanes, int (k,).

        Hidden facts stay as they are (`Game.reseed`).
        """
        lanes = self.as_lanes(lanes)
        self.seeds[lanes] = seeds_of(seeds, len(lanes))
        self._games["random"][lanes] = self.seeds[lanes]

    def begin_at(self, lanes: Array, positions: StartPositions | None, games: Array) -> None:
        """Move the new games in these lanes, int (k,), to their start positions.

        `games`, int (k,), are the numbers of the games. A game for which `positions` has no start position
        does not change. The seeds of the lanes determine future dice and cards. Raises ValueError for
        positions of games with other rules or on another map.
        """
        lanes = self.as_lanes(lanes)
        if positions is not None and len(lanes):
            positions.check(self.rules, self.board)
            chosen, records = positions.choose(whole_numbers(games, lanes.shape, "games must be"))
            self._place(lanes[chosen], records, reseed=True)

    def _place(self, lanes: Array, records: Array, reseed: bool) -> None:
        """Write records into these lanes, and play each game on to its next decision."""
        self._games[lanes] = records
        if reseed:
            self._games["random"][lanes] = self.seeds[lanes]
        for lane in lanes.tolist():
            play_on(self._games, lane, self.tables)

    def step_lanes(self, lanes: Array, actions: Array) -> None:
        """Play the action `actions[lane]` in each of these lanes, int (k,).

        `actions` is int (N,). Writes reward, terminated, truncated and game_over. If an action is not legal,
        raises IllegalAction and steps no lane.
        """
        lanes, actions = self.as_lanes(lanes), contiguous(self.as_actions(actions))
        self._check_legal(actions, lanes)
        self._share(lanes, self._step_some, actions, NOT_SHARED)

    def finish(self, lanes: Array) -> None:
        """Write the `final_*` arrays of these lanes. With `autoreset`, also begin the next games.

        A game that is not over is abandoned if the next game begins (docs/batch.md).
        """
        lanes = self.as_lanes(lanes)
        self._write_final(lanes)
        if self.autoreset:
            self._begin(lanes)

    def ask(self, lanes: Array) -> None:
        """Write the observation, the mask and the seat to act of each of these lanes."""
        self._share(self.as_lanes(lanes), self._write_views)

    def _step_arguments(self, is_full_step: bool) -> tuple[Any, ...]:
        """Return the arguments of `batch_loop.step_lanes` that precede `lanes`."""
        episodes = Episodes(self.autoreset, self.seed_word, self.episodes, self.seeds)
        return self._records, self._results, self._ends, episodes, self._views, is_full_step

    def _share(self, lanes: Array, work: Any, *arguments: Any) -> None:
        """Call `work(lanes, *arguments)`. If there are many lanes, threads share the lanes."""
        if self._pool is None:
            work(lanes, *arguments)
        else:
            self._pool.share(work, self._shares if lanes is self._all else self._parts(lanes), *arguments)

    def _parts(self, lanes: Array) -> list[Array]:
        return np.array_split(lanes, max(1, min(self._threads, len(lanes) // LEAST_LANES)))

    # -------------------------------------------------------------------------------- copies

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function and its arguments for a copy or pickle: new lanes with the same state."""
        arguments = (self.rules, self.board, self.num_games, int(self.seed_word))
        options = {"threads": self._threads, "autoreset": self.autoreset, **self._outputs}
        return _restored, (arguments, options, [read(self).copy() for read in _STATE], type(self))


_STATE = [
    attrgetter(name)
    for name in (
        *("records", "episodes", "seeds", "reward", "terminated", "truncated"),
        *(
            "game_over",
            "final_placement",
            "final_rounds",
            "_final_codes",
            "_codes",
            "_view_caches",
            "_mask",
            "seat",
        ),
    )
]


def _restored(
    arguments: tuple[Any, ...], options: dict[str, Any], state: list[Array], kind: type[GameVector]
) -> GameVector:
    lanes = kind(*arguments, **options)
    for read, values in zip(_STATE, state, strict=True):
        read(lanes)[...] = values
    return lanes


def _aligned(shape: tuple[int, int], dtype: Any) -> Array:
    """Return an array of zeros that begins at a cache line.

    If the rows consist of whole cache lines, a vector in a row never spans two cache lines.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + LINE, np.int8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(shape)


def restore(name: str, array: Array, values: Any) -> None:
    """Copy values that were read from a file into an array. Raises ValueError for another shape or dtype."""
    if not isinstance(values, np.ndarray) or values.shape != array.shape or values.dtype != array.dtype:
        given = f"{values.dtype.name} {values.shape}" if isinstance(values, np.ndarray) else shortened(values)
        raise ValueError(f"{name}: {given} instead of {array.dtype.name} {array.shape}")
    array[...] = values


def check_memory(name: str, count: int, bytes_each: int, advises: bool = True) -> None:
    """Raise ValueError if `count` elements need more memory than this machine has.

    `name` is the name of the argument that gives `count`. If `advises` is True, the message states the
    highest possible count.
    """
    needed, present = int(count) * bytes_each, _memory()
    if needed > present:
        advice = f": use at most {name}={present // bytes_each}" * advises
        raise ValueError(
            f"{name}={count} needs about {needed / 2**30:,.1f} GiB of memory, but this machine has "
            f"{present / 2**30:,.1f} GiB{advice}"
        )


def _memory() -> int:
    """Return the size of this machine's memory in bytes, or 2**63 if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63
