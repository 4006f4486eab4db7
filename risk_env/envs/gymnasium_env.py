"""Gymnasium: the environment `risk_env/Risk-v0` for one seat of a game.

Opponents inside the environment play the other seats. `gymnasium.make_vec` makes a vector environment that
plays many games at once. `import risk_env` registers both environments.
`gymnasium.make("risk_env:risk_env/Risk-v0")` needs no import.
"""

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from risk_env.arguments import FLAT, check_choice
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import FAST, Rules, rules_from
from risk_env.envs.display import MODES, Display, draw
from risk_env.envs.macro import MoveVector, TurnVector
from risk_env.envs.registration import SpecAttribute
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.envs.spaces import observation_space
from risk_env.game import Game
from risk_env.messages import suggestion

ACTIONS, MOVES, TURNS = "actions", "moves", "turns"
# Classes of lanes. A decision of the learner is an action, a move with an amount, or a plan for a whole turn.
DECISIONS: dict[str, type[SingleSeatVector]] = {
    ACTIONS: SingleSeatVector,
    MOVES: MoveVector,
    TURNS: TurnVector,
}
FINAL_FIELDS = ("winner", "placement", "rounds", "seed")


def make_lanes(
    environment: type, num_envs: int, /, decisions: str = ACTIONS, plans: Any = None, **arguments: Any
) -> SingleSeatVector:
    """Return the lanes of an environment class, given the `arguments` of `lane_arguments`.

    `decisions` is one of DECISIONS. With `decisions="turns"`, the learner chooses among the bots in `plans`.
    """
    check_choice("decisions", decisions, DECISIONS)
    if plans is not None and decisions != TURNS:
        raise ValueError(f"plans={plans!r:.80} need decisions={TURNS!r}, not {decisions!r}")
    chosen = {} if plans is None else {"plans": plans}
    return DECISIONS[decisions](num_lanes=num_envs, **lane_arguments(environment, **arguments), **chosen)


def lane_arguments(
    environment: type,
    /,
    preset: str | Rules = "classic",
    board: Board | str = "classic",
    opponents: Any = "random",
    seat: int | None = None,
    reward: str = "win",
    observation: str = FLAT,
    opponent_order: str = "clockwise",
    illegal_action: str = "raise",
    **options: Any,
) -> dict[str, Any]:
    """Return the arguments of an environment class as arguments of lanes.

    `preset` is the name of a preset, with `options` of `Rules.preset`, or a `Rules` object. The profile is
    "fast" unless `profile` names another profile (RULES 12.1). `opponents` is one player for all other seats,
    of any kind (`players.find_player`), or a list of players. `opponent_order` seats the list "clockwise"
    from the learner, or "shuffled" for each game. With "drawn", every other seat gets a random player from
    the list. With `seat=None`, the learner has the next seat in each new game. `illegal_action="random"` is
    for learners without masks: a random legal action replaces an illegal action, and `info["replaced"]` is
    then True. docs/gymnasium.md describes the other arguments.
    """
    return {
        "rules": rules_from(preset, options, FAST, make_lanes, lane_arguments, environment),
        "board": board,
        "opponents": opponents,
        "seat": seat,
        "opponent_order": opponent_order,
        "reward": reward,
        "observation": observation,
        "illegal_action": illegal_action,
    }


class RiskEnv(gymnasium.Env[Any, np.int64]):
    """One seat of a game of Risk. All other seats move inside `reset` and `step`.

    `preset`, `num_players`, `board`, `profile` and the options of RULES 13 set the rules and the map. The
    default profile is "fast" (RULES 12.1). `opponents`, `seat`, `opponent_order` and `illegal_action` set the
    players. `decisions` sets the unit of the learner's decisions: an action, a move or a turn. `positions`
    are the start positions of games. docs/gymnasium.md describes all arguments.

    Observations are float32 (D,), or a dict with `observation="structured"`. `info["action_mask"]`, int8
    (n,), marks the legal actions. `info["seat"]` is the learner's seat. At the end of an episode, info also
    contains "winner", "placement", "rounds" and "seed".

    `reset(seed=s)` begins the first game of seed `s`. A later reset without a seed begins the next game of
    this seed. `reset(options={"position": text})` continues from a position that `Game.to_text` wrote. The
    seed and the episode then determine the chance events.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012 (as Gymnasium has it)
    spec: Any = SpecAttribute()

    def __init__(self, render_mode: str | None = None, positions: Any = None, **arguments: Any) -> None:
        self.metadata = deepcopy(self.metadata)  # not shared with other environments
        self.render_mode, self._display = render_mode, Display(render_mode, self.metadata["render_fps"])
        self.lanes = make_lanes(RiskEnv, 1, **arguments)
        self.lanes.start_at(positions)
        self.lanes.autoreset = False
        self.observation_space = observation_space(self.lanes.board, self.lanes.observation_kind)
        self.action_space = gymnasium.spaces.Discrete(self.lanes.num_actions)
        self._mask = np.zeros(self.lanes.num_actions, np.int8)
        self._is_running = False
        self._is_seeded = False

    @property
    def game(self) -> Game:
        """A copy of the game with all hidden cards and the state of the random generator.

        A search in this copy would foresee the dice. Use `sample` for search. Raises ResetNeeded before
        `reset`.
        """
        self._check_begun()
        return self.lanes.batch.game(0)

    def _check_begun(self) -> None:
        if self.lanes.batch.episodes[0] < 0:
            raise gymnasium.error.ResetNeeded("no game before reset: call reset() first")

    def sample(self, seed: int) -> Game:
        """Return a copy of the game for search.

        `seed` determines future chance events, and all facts that the learner does not know.
        """
        self._check_begun()
        return self.lanes.sample(0, seed)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the mask of the legal actions, bool (n,). sb3-contrib calls this method."""
        return self._mask.astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a game, play to the learner's first decision, and return the observation and the info."""
        _check_options(options, "position")
        position = (options or {}).get("position")
        super().reset(seed=seed)
        self._is_running = False  # stays False if an error follows
        self.lanes.reset(self.np_random_seed if seed is None and not self._is_seeded else seed)
        self._is_seeded = True
        if position is not None:
            self.lanes.place(0, position)
            if self.lanes.ended[0]:
                raise ValueError(
                    "position: the learner has no decision in this game; choose another position"
                )
        self._is_running = True
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, then let all other seats play until the learner must act or the episode ends.

        Raises IllegalAction for an illegal action, unless `illegal_action` is "random". Raises ResetNeeded
        before `reset`, and after the end of an episode.
        """
        if not self._is_running:
            problem = "the episode has ended or has not begun"
            raise gymnasium.error.ResetNeeded(f"step: {problem}; call reset() first")
        self.lanes.step(np.array([action]))
        self._is_running = not self.lanes.ended[0]
        if self.render_mode == "human":
            self.render()
        terminated, truncated = bool(self.lanes.terminated[0]), bool(self.lanes.truncated[0])
        return self._observation(), float(self.lanes.reward[0]), terminated, truncated, self._info()

    def _observation(self) -> Any:
        lanes = self.lanes
        rows = lanes.observation() if self._is_running else lanes.final_observation(np.zeros(1, np.int64))
        return _rows(rows)[0]

    def _info(self) -> dict[str, Any]:
        lanes = self.lanes
        self._mask = lanes.masks()[0] if self._is_running else np.zeros(lanes.num_actions, np.int8)
        info: dict[str, Any] = {"action_mask": self._mask.copy(), "seat": int(lanes.seat[0])}
        if lanes.illegal_action == "random":
            info["replaced"] = bool(lanes.replaced[0])
        if not self._is_running:
            final = lanes.final[0]
            info.update({field: final[field].item() for field in FINAL_FIELDS})
            info["seed"] = final["seed"]  # uint64; Gymnasium's vectors would convert a Python int to int64
        return info

    def render(self) -> Any:
        """Return the board as text or as pixels, or show the board in a window and return None.

        Without a `render_mode`, warn and return None.
        """
        return self._display.render(self.game)

    def close(self) -> None:
        """Close the window and the agents that the environment has made. Repeated calls are allowed."""
        self._display.close()
        self.lanes.close()


class RiskVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` learners, one in each lane, who play one game after another.

    The other arguments have the same meaning as for `RiskEnv` (docs/gymnasium.md), except that `render_mode`
    cannot be "human". Game k of lane i has the seed `game_seed(seed, i, k)` (`risk_env.seeds`). Without start
    positions, lane 0 plays the same games as `RiskEnv`. `autoreset_mode` is a member or a value of
    Gymnasium's `AutoresetMode`:

    - `SAME_STEP`: when an episode ends, the next game begins in the same step. The observation and the info
      show the next game. `info["final_obs"]` and `info["final_info"]` show the end of the episode.
    - `NEXT_STEP`: the observation and the info show the end of the episode. The lane's next step ignores the
      action, begins the next game, and returns the reward 0.
    - `DISABLED`: the observation and the info show the end of the episode. A step raises ResetNeeded until
      the lane is reset.

    `reset(options={"reset_mask": mask})` begins the next game in the lanes that `mask`, bool (N,), marks.
    """

    metadata = {  # noqa: RUF012 (as Gymnasium has it)
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    spec: Any = SpecAttribute()

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        positions: Any = None,
        **arguments: Any,
    ) -> None:
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.num_envs, self.render_mode = num_envs, render_mode
        value = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        check_choice("autoreset_mode", value, [each.value for each in AutoresetMode])
        self.autoreset_mode = AutoresetMode(value)
        self.metadata = {**deepcopy(self.metadata), "autoreset_mode": self.autoreset_mode}
        self.lanes = make_lanes(RiskVectorEnv, num_envs, **arguments)
        self.lanes.start_at(positions)
        self.lanes.autoreset = self.autoreset_mode is AutoresetMode.SAME_STEP
        # (N,) true if the lane's game has ended and the next game has not begun
        self._is_over = np.zeros(num_envs, np.bool_)
        self.single_observation_space = observation_space(self.lanes.board, self.lanes.observation_kind)
        self.single_action_space = gymnasium.spaces.Discrete(self.lanes.num_actions)
        self._is_seeded = False
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the agents that the environment has made."""
        self.lanes.close()

    def sample(self, lane: int, seed: int) -> Game:
        """Return a copy of a lane's game for search.

        `seed` determines future chance events, and all facts that the learner does not know.
        """
        return self.lanes.sample(lane, seed)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the masks of the legal actions, bool (N, n).

        No action is legal in a lane whose episode has ended and whose next game has not begun.
        """
        return self._masks().astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the next game in every lane, or the first game of `seed`.

        `options` may contain `reset_mask`, the lanes to reset, and `positions`, the start positions of these
        and all later games (`SingleSeatVector.start_at`). Returns the observations (N, ...) and the info.
        Raises ValueError for a `seed` together with a `reset_mask` that leaves out lanes.
        """
        _check_options(options, "reset_mask", "positions")
        chosen = _lanes_of((options or {}).get("reset_mask"), self.num_envs)
        if seed is not None and chosen is not None and len(chosen) < self.num_envs:
            raise ValueError(
                "reset: a seed applies to all lanes; pass no seed if options['reset_mask'] leaves out lanes"
            )
        if options and "positions" in options:
            self.lanes.start_at(options["positions"])
        super().reset(seed=seed)
        self.lanes.reset(self.np_random_seed if seed is None and not self._is_seeded else seed, chosen)
        self._is_seeded = True
        self._is_over[slice(None) if chosen is None else chosen] = False
        return self._observation(), self._info()

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Play the learners' actions, int (N,), then let all other seats play.

        Each lane stops when the learner must act. Except with `AutoresetMode.SAME_STEP`, a lane also stops
        when the episode ends. Returns the observations, rewards float64 (N,), terminated and truncated bool
        (N,), and the info. Raises IllegalAction for an illegal action, unless `illegal_action` is "random".
        With `AutoresetMode.DISABLED`, raises ResetNeeded if the episode of a lane has ended.
        """
        lanes = self.lanes
        self._step_lanes(np.asarray(actions))
        info = self._info()
        ended = np.flatnonzero(lanes.ended)
        if len(ended) and lanes.autoreset:
            info.update(self._ends(ended))
        elif len(ended):
            final = {field: np.where(lanes.ended, lanes.final[field], 0) for field in FINAL_FIELDS}
            info.update({**final, **_marks(final, lanes.ended)})
        terminated, truncated = lanes.terminated.copy(), lanes.truncated.copy()
        return self._observation(), lanes.reward.astype(np.float64), terminated, truncated, info

    def _step_lanes(self, actions: Array) -> None:
        """Step the lanes whose game continues, and begin the next game in all other lanes (NEXT_STEP)."""
        over = np.flatnonzero(self._is_over)
        if len(over) and self.autoreset_mode is AutoresetMode.DISABLED:
            raise gymnasium.error.ResetNeeded(
                f"step: the episodes of lanes {over.tolist()} have ended; "
                "call reset(options={'reset_mask': ...}) first"
            )
        self.lanes.step(actions, np.flatnonzero(~self._is_over) if len(over) else None)
        if len(over):
            self.lanes.reset(lanes=over)
        if not self.lanes.autoreset:
            self._is_over[:] = self.lanes.ended

    def _observation(self) -> Any:
        """Return each learner's observation, (N, ...): the last one if no episode is in progress."""
        observation, over = self.lanes.observation(), np.flatnonzero(self._is_over)
        if len(over):
            last = self.lanes.final_observation(over)
            for rows, last_rows in zip(_parts(observation), _parts(last), strict=True):
                rows[over] = last_rows
        return observation

    def _masks(self) -> npt.NDArray[np.int8]:
        masks = self.lanes.masks()
        masks[self._is_over] = 0
        return masks

    def _info(self) -> dict[str, Any]:
        lanes = self.lanes
        info = {"action_mask": self._masks(), "seat": lanes.seat.copy()}
        if lanes.illegal_action == "random":
            info["replaced"] = lanes.replaced.copy()
        return {**info, **_marks(info, np.ones(self.num_envs, np.bool_))}

    def _ends(self, ended: Array) -> dict[str, Any]:
        """Return `final_obs` and `final_info` of the lanes in which an episode has ended.

        As Gymnasium requires, both consist of arrays (N, ...) and masks.
        """
        observations = np.full(self.num_envs, None, dtype=object)
        for lane, observation in zip(ended, _rows(self.lanes.final_observation(ended)), strict=True):
            observations[lane] = observation
        final: dict[str, Any] = {field: self.lanes.final[field].copy() for field in ("seat", *FINAL_FIELDS)}
        final["action_mask"] = np.zeros((self.num_envs, self.lanes.num_actions), np.int8)
        ends = {"final_obs": observations, "final_info": {**final, **_marks(final, self.lanes.ended)}}
        return {**ends, **_marks(ends, self.lanes.ended)}

    def render(self) -> tuple[Any, ...] | None:
        """Return the board of every lane as text or as pixels, or None without a `render_mode`."""
        if self.render_mode is None:
            return None
        return tuple(draw(self.lanes.batch.game(lane), self.render_mode) for lane in range(self.num_envs))


def _rows(values: Any) -> list[Any]:
    """Return observations (k, ...) as a list of k observations."""
    if isinstance(values, dict):
        return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return list(values)


def _parts(values: Any) -> list[Array]:
    """Return the array or arrays of which observations (k, ...) consist, as a list."""
    return list(values.values()) if isinstance(values, dict) else [values]


def _marks(info: dict[str, Any], where: Array) -> dict[str, Array]:
    """Return Gymnasium's masks of an info: for each key, the lanes that have a value, bool (N,)."""
    return {f"_{name}": where.copy() for name in info}


def _lanes_of(reset_mask: Any, num_envs: int) -> Array | None:
    """Return the lanes that `reset_mask` marks, or None (all lanes) if `reset_mask` is None."""
    if reset_mask is None:
        return None
    mask = np.asarray(reset_mask)
    if mask.shape != (num_envs,) or mask.dtype != np.bool_:
        raise ValueError(f"options['reset_mask'] must be bool ({num_envs},), not {mask.dtype} {mask.shape}")
    if not mask.any():
        raise ValueError("options['reset_mask'] marks no lane: must contain at least one True")
    return np.flatnonzero(mask)


def _check_options(options: dict[str, Any] | None, *known: str) -> None:
    for name in options or {}:
        if name not in known:
            allowed = f"allowed: {', '.join(map(repr, known))}"
            raise ValueError(f"options[{name!r}] is unknown{suggestion(name, known)}; {allowed}")
