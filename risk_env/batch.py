"""GameBatch: many games at core speed, arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.compiler import BoundKernel
from risk_env.core.observe import TERRITORY_WIDTH
from risk_env.engine import loop
from risk_env.engine.prefetch import LINE
from risk_env.engine.thread_pool import NO_OTHERS, Crew
from risk_env.game import Game, observation_size
from risk_env.seeds import word
from risk_env.text import notation

Array = npt.NDArray[Any]
Observation = Any  # int8 (N, D), or {"territories": int8 (N, T, F), "globals": int8 (N, G)}, or None
OBSERVATIONS = ("flat", "structured", None)
MASKS = {"bytes": loop.BYTE_MASK, "bits": loop.BIT_MASK, None: loop.NO_MASK}
_INT64 = np.dtype(np.int64)
LEAST_LANES = 64  # of a thread; with fewer it takes longer to hand them out
REWARDS = {"win": loop.WIN_REWARD, "placement": loop.PLACEMENT_REWARD}


def in_one_piece(numbers: Any) -> npt.NDArray[np.int64]:
    """Lanes or actions as prepared calls take them: int64 (k,), in one piece; ValueError for what is no such row."""
    if is_in_one_piece(numbers):
        return numbers
    numbers = np.asarray(numbers)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise ValueError(f"lanes and actions must be whole numbers in a row, not {numbers.dtype} {numbers.shape}")
    return np.ascontiguousarray(numbers, np.int64)


def is_in_one_piece(numbers: Any) -> bool:
    """Whether these are int64 (k,), in one piece."""
    is_int64 = type(numbers) is np.ndarray and numbers.dtype == _INT64  # of a pickled array it is another object
    return is_int64 and numbers.ndim == 1 and numbers.flags.c_contiguous


class GameBatch:
    """`num_games` games (lanes) in step.

    Lane i plays the games `mix(seed, i, 0)`, `mix(seed, i, 1)`, ... whatever the batch's size or threads. All that
    `reset` and `step` return are buffers of the batch, lent until the next step: copy what you keep. Observations
    are read-only, since a step writes only what it changes. `threads` share the lanes of a step; those that help stay
    awake after one, for about as long as it took.
    """

    def __init__(
        self,
        rules: Rules | str = "classic",
        board: Board | str = "classic",
        num_games: int = 1024,
        seed: int = 0,
        *,
        threads: int = 1,
        autoreset: bool = True,
        observation: str | None = "flat",
        mask: str | None = "bytes",
        reward: str = "win",
    ) -> None:
        self.rules = Rules.preset(rules) if isinstance(rules, str) else rules
        self.board = board if isinstance(board, Board) else load_map(board)
        _check_count("num_games", num_games)
        _check_count("threads", threads)
        _check_choice("observation", observation, OBSERVATIONS)
        _check_choice("mask", mask, MASKS)
        _check_choice("reward", reward, REWARDS)
        self.num_games, self.num_players = num_games, self.rules.num_players
        self.autoreset = autoreset
        self._outputs = {"observation": observation, "mask": mask, "reward": reward}
        self.tables = tables(self.rules, self.board)
        self.num_actions = self.tables.num_actions
        self.seed_word, self._mask_kind, self._reward_kind = word(seed), MASKS[mask], REWARDS[reward]
        self._observation = observation
        self._all = np.arange(num_games)
        self._threads = threads
        self._shares = self._parts(self._all)
        self._crew = Crew(len(self._shares)) if len(self._shares) > 1 else None
        self._make_buffers()
        self._prepare()

    def _make_buffers(self) -> None:
        N, P = self.num_games, self.num_players
        D = observation_size(self.board) if self._observation else 0
        self._games = self.tables.new_games(N)
        self.episodes = np.full(N, -1, np.int64)  # (N,) number of each lane's game
        self.seeds = np.zeros(N, np.uint64)  # (N,) seed of each lane's game
        self._view = _on_lines((N, D), np.int8)
        self._final_view = np.zeros((N, P, D), np.int8)
        words = {loop.NO_MASK: 0, loop.BIT_MASK: 1, loop.BYTE_MASK: 8}[self._mask_kind]  # for 64 actions
        self._mask = _on_lines((N, words * -(-self.num_actions // 64)), np.uint64)
        self.seat = np.zeros(N, np.int64)
        self._actions = np.zeros(N, np.int64)  # of a step under way
        self.reward = np.zeros((N, P), np.float32)
        self.terminated = np.zeros((N, P), np.bool_)
        self.truncated = np.zeros((N, P), np.bool_)
        self.game_over = np.zeros(N, np.bool_)  # (N,) whether the game is over (with `autoreset`: by the last step)
        self.final_placement = np.zeros((N, P), np.int64)  # (N, P) places, where game_over
        self.final_rounds = np.zeros(N, np.int64)  # (N,) rounds, where game_over
        lent = self._view.view()
        lent.flags.writeable = False
        self.observation = self._shaped(lent)
        self.final_observation = self._shaped(self._final_view)  # (N, P, ...) each seat's view at the end, if game_over
        self.action_mask = self._mask_seen()
        self._shown = self.tables.new_shown(N)
        views = (self._shown, self._view.view(np.uint64), self._view)
        self._pay = (self._reward_kind, self.reward, self.terminated, self.truncated, self.game_over)
        self._ends = (self.final_placement, self.final_rounds, self._final_view.view(np.uint64), self._final_view)
        self._questions = (self._mask_kind, self._mask, *views, self.seat)

    def _prepare(self) -> None:
        """The calls by which play goes on; that of a whole step is made anew when what it is done with changes."""
        records = (self._games, self.tables.board, self.tables.rules)
        self._first_illegal = BoundKernel(loop.first_illegal, self._games, self.tables.rules)
        self._play = BoundKernel(loop.step_lanes, *self._step_arguments(goes_on=False))
        self._ask = BoundKernel(loop.write_questions, *records, *self._questions)
        self._whole_step: tuple[Any, Any] = (None, None)

    @property
    def games(self) -> np.recarray[Any, Any]:
        """The record array itself (`core.types.game_dtype`), (N,)."""
        return self._games.view(np.recarray)

    @property
    def records(self) -> Array:
        """The same memory as kernels take it."""
        return self._games

    def game(self, lane: int) -> Game:
        """A `Game` in the state of a lane, to look at or to play on by itself."""
        return Game.from_record(self.rules, self.board, self._games[lane : lane + 1])

    def _shaped(self, view: Array) -> Observation:
        if self._observation is None:
            return None
        if self._observation == "flat":
            return view
        split = TERRITORY_WIDTH * self.board.num_territories
        territories = view[..., :split].reshape(*view.shape[:-1], -1, TERRITORY_WIDTH)
        return {"territories": territories, "globals": view[..., split:]}

    def _mask_seen(self) -> Array | None:
        if self._mask_kind == loop.BYTE_MASK:
            return self._mask.view(np.int8)[:, : self.num_actions]
        return self._mask if self._mask_kind == loop.BIT_MASK else None

    def reset(self, seed: int | None = None) -> tuple[Observation, Array | None, Array]:
        """Begin every lane's next game, or with `seed` its first: observation, mask and seat of each to decide."""
        if seed is not None:
            self.seed_word = word(seed)
            self.episodes[:] = -1
        self.begin(self._all)
        for brought in (self.reward, self.terminated, self.truncated, self.game_over):
            brought[:] = 0
        self.ask(self._all)
        return self.observation, self.action_mask, self.seat

    def step(self, actions: Array) -> tuple[Observation, Array | None, Array, Array, Array, Array]:
        """Play one action in every lane (int, N): observation, mask, seat, reward, terminated, truncated.

        Reward, terminated and truncated are (N, P), and tell of this step: a seat ends when it dies, or with the game.
        Where `game_over`, the final fields hold the end and, with `autoreset`, observation, mask, seat, episodes, seeds
        and records are the next game's. Without it a game that is over stays over: its mask is empty, its seat -1, its
        action ignored. One illegal action raises IllegalAction and no lane is stepped. docs/batch.md tells the rest.
        """
        self._actions[:] = self.as_actions(actions)
        step = self._step_of_all()
        legal = step(*NO_OTHERS) if self._crew is None else self._crew.repeat(step, self.num_games)
        if not legal:
            self.check_legal(self._actions, self._all)
        return self.observation, self.action_mask, self.seat, self.reward, self.terminated, self.truncated

    def as_actions(self, actions: Any) -> npt.NDArray[np.int64]:
        """Whole numbers of shape (N,) as int64; ValueError for anything else."""
        if type(actions) is np.ndarray and actions.dtype is _INT64 and actions.shape == self._all.shape:
            return actions
        actions = np.asarray(actions)
        if actions.shape != (self.num_games,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be whole numbers of shape ({self.num_games},), not {actions.dtype} {actions.shape}"
            )
        return actions.astype(np.int64, copy=False)

    def check_legal(self, actions: Array, lanes: Array) -> None:
        """IllegalAction if that of one of these lanes is not legal (int, N and k)."""
        lane = self._first_illegal(in_one_piece(lanes), in_one_piece(actions))
        if lane != loop.NO_LANE:
            self._refuse(lane, int(actions[lane]))

    def _refuse(self, lane: int, action: int) -> None:
        if self.episodes[lane] < 0:
            raise ValueError("step before reset: call reset() first")
        error = notation.illegal_action(self._games[lane], self.tables, self.board, action)
        error.args = (f"lane {lane}: {error}",)
        raise error

    # ------------------------------------------------------------ the parts, for those who drive lanes themselves

    def begin(self, lanes: Array) -> None:
        """Begin the next game of these lanes (int64, k)."""
        self.episodes[lanes] += 1
        loop.write_seeds(self.seed_word, lanes, self.episodes, self.seeds)
        self.begin_seeded(lanes, self.seeds[lanes])

    def begin_seeded(self, lanes: Array, seeds: Array) -> None:
        """Begin a game in each of these lanes with chance from its seed (uint64, k)."""
        self.seeds[lanes] = seeds
        loop.start_lanes(self._games, self.tables.board, self.tables.rules, lanes, self.seeds)

    def step_lanes(self, lanes: Array, actions: Array) -> None:
        """Play a legal action (actions int, N) in these lanes; write reward, terminated, truncated, game_over."""
        self._share(in_one_piece(lanes), self._step_share, in_one_piece(actions))

    def finish(self, lanes: Array) -> None:
        """Keep the end of these lanes' games and, with `autoreset`, begin their next."""
        loop.write_final(self._games, self.tables.board, self.tables.rules, lanes, *self._ends)
        if self.autoreset:
            self.begin(lanes)

    def ask(self, lanes: Array) -> None:
        """Write observation, mask and seat of these lanes."""
        self._share(in_one_piece(lanes), self._ask)

    def _step_share(self, lanes: Array, actions: Array) -> None:
        self._play(lanes, actions, *NO_OTHERS)

    def _step_arguments(self, goes_on: bool) -> tuple[Any, ...]:
        """What `loop.step_lanes` takes before it comes to lanes."""
        played = (self._games, self.tables.board, self.tables.rules, *self._pay)
        begins = (self.autoreset, self.seed_word, self.episodes, self.seeds)
        return (*played, goes_on, *self._ends, *begins, *self._questions)

    def _step_of_all(self) -> Callable[..., bool]:
        """A whole step as it is repeated, but for the threads: the same object until what it is done with changes."""
        orders = (self.autoreset, self.seed_word)
        if self._whole_step[0] != orders:
            arguments = self._step_arguments(goes_on=True)
            self._whole_step = (orders, BoundKernel(loop.step_lanes, *arguments, self._all, self._actions))
        return self._whole_step[1]

    def _share(self, lanes: Array, work: Any, *arguments: Any) -> None:
        """Do some work for these lanes, each thread a part of them if they are many."""
        if self._crew is None:
            work(lanes, *arguments)
        else:
            self._crew.share(work, self._shares if lanes is self._all else self._parts(lanes), *arguments)

    def _parts(self, lanes: Array) -> list[Array]:
        """The lanes of each thread."""
        return np.array_split(lanes, max(1, min(self._threads, len(lanes) // LEAST_LANES)))

    def play(self, bots: Sequence[Any], games: int = 1000, seed: int = 0) -> Array:
        """Play whole games between compiled bots (names or `CompiledBot`s, one a seat): `arena.play`."""
        from risk_env import arena

        return arena.play(self.rules, self.board, bots, games, seed, lanes=min(self.num_games, games))

    # ------------------------------------------------------------------------------------------ copies

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles go on by themselves: made anew, and filled with the state."""
        arguments = (self.rules, self.board, self.num_games, int(self.seed_word))
        options = {"threads": self._threads, "autoreset": self.autoreset, **self._outputs}
        return _restored, (arguments, options, [read(self).copy() for read in _STATE])


_STATE = [
    attrgetter(name)
    for name in (
        *("records", "episodes", "seeds", "reward", "terminated", "truncated"),
        *("game_over", "final_placement", "final_rounds", "_final_view", "_view", "_shown", "_mask", "seat"),
    )
]


def _restored(arguments: tuple[Any, ...], options: dict[str, Any], state: list[Array]) -> GameBatch:
    batch = GameBatch(*arguments, **options)
    for read, values in zip(_STATE, state, strict=True):
        read(batch)[...] = values
    return batch


def _on_lines(shape: tuple[int, int], dtype: Any) -> Array:
    """Zeros that begin where a line of the processor's caches does: vectors of rows of whole lines never span two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + LINE, np.int8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(shape)


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1")


def _check_choice(name: str, value: Any, choices: Any) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")
