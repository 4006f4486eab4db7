"""GameBatch: many games at once, with arrays of actions, observations and rewards."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from risk_env import arena
from risk_env.arrays import Array
from risk_env.compiler import BoundKernel
from risk_env.engine import batch_loop
from risk_env.engine.work_stealing import NOT_SHARED
from risk_env.game_vector import GameVector, Observation
from risk_env.seeds import uint64


class GameBatch(GameVector):
    """`num_games` games (lanes) that are stepped together. docs/batch.md describes the arguments.

    Game k of lane i has the seed `game_seed(seed, i, k)` (`risk_env.seeds`), for any number of lanes and
    threads. `reset` and `step` return buffers of the batch, which are valid until the next call of either
    method: copy values that you keep. Observations are read-only, because a step writes only the changes. Up
    to `threads` threads share the lanes of a step. Before these threads sleep, they wait in a spin loop for
    at least 200 µs, and longer if a step takes longer.

    GameBatch is not thread-safe: use one batch per thread. `step` and `reset` raise RuntimeError if another
    thread is inside one of these methods.
    """

    def _make_buffers(self) -> None:
        super()._make_buffers()
        self._actions = np.zeros(self.num_games, np.int64)  # actions of the current step
        self._busy = [False]  # true if a thread is inside `step` or `reset`
        self._full_step: tuple[Any, Any] = (None, None)  # settings of the full step, and its kernel

    def reset(self, seed: int | None = None) -> tuple[Observation, Array | None, Array]:
        """Begin the next game in every lane, or, with `seed`, the first game of this seed.

        Returns the observation, the mask and the seat to act of each lane.
        """
        if self._busy[0]:
            raise _torn()
        self._busy[0] = True
        try:
            if seed is not None:
                self.seed_word = uint64(seed)
                self.episodes[:] = -1
            self._begin(self._all)
            for result in (self.reward, self.terminated, self.truncated, self.game_over):
                result[:] = 0
            self.ask(self._all)
        finally:
            self._busy[0] = False
        return self.observation, self.action_mask, self.seat

    def step(self, actions: Array) -> tuple[Observation, Array | None, Array, Array, Array, Array]:
        """Play an action, int (N,), in every lane.

        Returns observation, mask, seat, reward, terminated and truncated. Reward, float32 (N, P), and
        terminated and truncated, bool (N, P), belong to this step. The episode of a seat ends when the seat
        is eliminated or the game ends. An illegal action raises IllegalAction, and no lane is stepped.

        In lanes with `game_over`, the `final_*` arrays describe the end of the game. With `autoreset`,
        observation, mask, seat, episodes, seeds and records then belong to the next game. Without
        `autoreset`, a game that is over stays over: no action is legal, the seat is -1, and the given action
        is ignored. See docs/batch.md.
        """
        if self._busy[0]:
            raise _torn()
        self._busy[0] = True
        try:
            self._actions[:] = self.as_actions(actions)
            settings, step = self._full_step
            if settings != (self.autoreset, self.seed_word):
                step = self._bind_full_step()
            legal = step(NOT_SHARED) if self._pool is None else self._pool.repeat(step, self.num_games)
            if not legal:
                self._check_legal(self._actions, self._all)
        finally:
            self._busy[0] = False
        return self.observation, self.action_mask, self.seat, self.reward, self.terminated, self.truncated

    def _bind_full_step(self) -> Callable[..., bool]:
        """Bind the kernel of a full step to `autoreset` and the seed, keep the kernel, and return it."""
        arguments = self._step_arguments(is_full_step=True)
        step = BoundKernel(batch_loop.step_lanes, *arguments, self._all, self._actions)
        self._full_step = ((self.autoreset, self.seed_word), step)
        return step

    def play(self, players: Sequence[Any], games: int = 1000, seed: int = 0) -> Array:
        """Play whole games between players, one player per seat, and return the results (`arena.play`)."""
        return arena.play(self.rules, self.board, players, games, seed, lanes=self.num_games)


def _torn() -> RuntimeError:
    return RuntimeError(
        "another thread is stepping or resetting this batch: GameBatch is not thread-safe; "
        "use one batch per thread"
    )
