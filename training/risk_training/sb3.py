"""Stable-Baselines3 and sb3-contrib: many seats as one native `VecEnv`, and policies as opponents."""

import secrets
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Dict, Discrete
from stable_baselines3.common.vec_env import VecEnv

from risk_env.arguments import FLAT, STRUCTURED, check_choice
from risk_env.arrays import Array
from risk_env.envs.display import draw
from risk_env.envs.gymnasium_env import FINAL_FIELDS, make_lanes
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.envs.spaces import observation_space
from risk_env.messages import shortened
from risk_env.players import Policy

Indices = None | int | Iterable[int]


class RiskVecEnv(VecEnv):
    """`num_envs` environments as one `VecEnv`: the learner plays one seat of each game.

    Opponents inside the environments play the other seats.

    `RiskVecEnv` takes the arguments of `risk_env.envs.gymnasium_env.RiskEnv` (docs/gymnasium.md), except that
    `render_mode` is "rgb_array" or None.

    Game k of environment i has the seed `game_seed(seed, i, k)` (`risk_env.seeds`). If `seed` is None, the
    operating system chooses a seed. `seed(s)` takes effect at the next `reset`, as in other SB3 environments.

    Observations are float32 (N, D), or a dict with `observation="structured"`. Masks are available through
    `env_method("action_masks")`. The arrays that `reset` and `step` return are never overwritten. If a game
    has ended, the observation is the first observation of the next game. The info then contains
    `terminal_observation`, `TimeLimit.truncated`, `winner`, `placement`, `rounds`, `seat` and `seed`.
    """

    def __init__(
        self,
        num_envs: int = 64,
        seed: int | None = None,
        render_mode: str | None = None,
        positions: Any = None,
        **arguments: Any,
    ) -> None:
        check_choice("render_mode", render_mode, (None, "rgb_array"))
        self.lanes: SingleSeatVector = make_lanes(RiskVecEnv, num_envs, **arguments)
        self.lanes.start_at(positions)
        self._first_seed: int | None = secrets.randbits(64) if seed is None else seed
        self._render_mode = render_mode
        self._actions = np.zeros(num_envs, np.int64)
        space = observation_space(self.lanes.board, self.lanes.observation_kind)
        super().__init__(num_envs, space, Discrete(self.lanes.num_actions))  # last: reads render_mode

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the legal actions of every environment, bool (N, n)."""
        return self.lanes.masks().view(np.bool_)

    def reset(self) -> Any:
        """Begin the next game of every environment, or the first game of a new seed; return observations."""
        if "positions" in self._options[0]:
            self.lanes.start_at(self._options[0]["positions"])
        self.lanes.reset(self._seeds[0] if self._seeds[0] is not None else self._first_seed)
        self._first_seed = None
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"seat": int(seat)} for seat in self.lanes.seat]
        return self.lanes.observation()

    def step_async(self, actions: Array) -> None:
        """Store the actions, integers (N,), for `step_wait`."""
        self._actions = np.array(actions)

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions and the opponents' decisions until the learner must decide in every environment.

        Returns observations, rewards, dones and infos.
        """
        lanes = self.lanes
        lanes.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if lanes.illegal_action == "random":
            infos = [{"replaced": replaced} for replaced in lanes.replaced.tolist()]
        ended = np.flatnonzero(lanes.ended)
        if len(ended):
            self._write_ends(ended, infos)
        return lanes.observation(), lanes.reward.copy(), lanes.ended.copy(), infos

    def _write_ends(self, ended: Array, infos: list[dict[str, Any]]) -> None:
        observations = self.lanes.final_observation(ended)
        for k, lane in enumerate(ended):
            final = self.lanes.final[lane]
            infos[lane].update({field: final[field].item() for field in ("seat", *FINAL_FIELDS)})
            infos[lane]["terminal_observation"] = _row(observations, k)
            infos[lane]["TimeLimit.truncated"] = bool(self.lanes.truncated[lane])
            self.reset_infos[lane] = {"seat": int(self.lanes.seat[lane])}

    def close(self) -> None:
        """Close the agents that the environments have created."""
        self.lanes.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of each environment: action_masks, game, render_mode, sample or seat."""
        read: dict[str, Callable[[int], Any]] = {
            "action_masks": lambda index: lambda: self.action_masks()[index],
            "game": self.lanes.batch.game,
            "render_mode": lambda index: self._render_mode,
            "sample": lambda index: partial(self.lanes.sample, index),
            "seat": lambda index: int(self.lanes.seat[index]),
        }
        if attr_name not in read:
            raise AttributeError(
                f"the environments have no attribute {attr_name!r}; allowed: {', '.join(read)}"
            )
        return [read[attr_name](index) for index in self._get_indices(indices)]

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Set the options of the next `reset`: `{"positions": ...}`, the same for all environments.

        All later games begin at these positions (`SingleSeatVector.start_at`). Raises ValueError for any
        other option, or if the options of the environments differ.
        """
        listed = options if isinstance(options, list) else [options or {}]
        given = listed[0] if listed else {}
        if any(one != given for one in listed) or not given.keys() <= {"positions"}:
            allowed = "{'positions': [...]}, the same for all environments"
            raise ValueError(f"options={shortened(options)}: must be {allowed}")
        super().set_options(options)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Raise AttributeError, because the environments have no attribute that can be set."""
        raise AttributeError(
            f"attribute {attr_name!r} cannot be set: make a new RiskVecEnv with other arguments"
        )

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call a method of each environment and return the results.

        The only method is `action_masks`, which returns bool (n,). Any other method raises AttributeError.
        """
        if method_name != "action_masks" or args or kwargs:
            known = "'action_masks' without arguments"
            raise AttributeError(
                f"the environments have no method {method_name!r} of that form; allowed: {known}"
            )
        masks = self.action_masks()
        return [masks[index] for index in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False for each environment, because a single environment is never wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Array | None]:
        """Return each board as pixels, uint8 (H, W, 3), with `render_mode="rgb_array"`.

        Without a `render_mode`, warn and return None for each environment.
        """
        if self.render_mode is None:
            warnings.warn(
                "get_images() without a render_mode: make RiskVecEnv(render_mode='rgb_array')", stacklevel=2
            )
            return [None] * self.num_envs
        return [draw(self.lanes.batch.game(lane), self.render_mode) for lane in range(self.num_envs)]


class ModelPolicy(Policy):
    """A trained model (MaskablePPO, or its policy) as a player.

    A single inference decides in all games that wait for the model.
    """

    name = "model"

    def __init__(self, model: Any, deterministic: bool = False) -> None:
        self.model, self.deterministic = model, deterministic
        self.observation = STRUCTURED if isinstance(model.observation_space, Dict) else FLAT

    def act_batch(self, observations: Any, masks: Array, seats: Array, state: Array | None = None) -> Array:
        """Return the model's actions, int64 (k,)."""
        legal = masks.astype(np.bool_)
        actions, _ = self.model.predict(observations, deterministic=self.deterministic, action_masks=legal)
        return np.asarray(actions, np.int64)


def _row(values: Any, k: int) -> Any:
    """Return a copy of observation k of a batch."""
    return (
        {name: value[k].copy() for name, value in values.items()}
        if isinstance(values, dict)
        else values[k].copy()
    )
