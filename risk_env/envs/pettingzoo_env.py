"""PettingZoo: an AEC environment for every preset, with one agent for each seat (docs/pettingzoo.md).

`env` is `raw_env` in the wrapper of PettingZoo that detects calls in the wrong order. In both environments,
an illegal action raises IllegalAction and changes nothing. Dicts and lists that `env` returns are copies. The
masks in `infos` are read-only.
"""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
from gymnasium import spaces
from numpy import empty
from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from pettingzoo.utils.wrappers.order_enforcing import AECOrderEnforcingIterable

from risk_env.arguments import FLAT, OBSERVATIONS, check_choice
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules, rules_from
from risk_env.board.tables import tables
from risk_env.core.observe import MOST_CODE
from risk_env.core.step import NO_ACTION
from risk_env.core.types import NOBODY
from risk_env.engine.step_buffer import Mask, decision_kernel, new_masks
from risk_env.envs.display import MODES, Display
from risk_env.envs.spaces import observation_space
from risk_env.game import Game
from risk_env.game_vector import REWARDS
from risk_env.observations import observation_scales, observation_size, split_view

_FLOAT32 = np.dtype(np.float32)  # dtype of observations

Observation = dict[str, Any]


def env(
    preset: str | Rules = "classic",
    num_players: int | None = None,
    board: str | Board = "classic",
    render_mode: str | None = None,
    reward: str = "win",
    observation: str = FLAT,
    **options: Any,
) -> OrderedEnv:
    """Return a `raw_env` with these arguments, wrapped in `OrderedEnv`."""
    return OrderedEnv(raw_env(preset, num_players, board, render_mode, reward, observation, **options))


class raw_env(pettingzoo.AECEnv[str, Observation, int | None]):
    """A game of Risk as an AEC environment. Agent `player_0` has seat 0, and so on.

    `preset` is a `Rules` object or the name of a preset. With a name, `num_players` (None: 3, or 2 for
    `two_player`) and `options` are passed to `Rules.preset`. The profile is "fast" unless `profile` names
    another profile (RULES 12.1). `board` is a `Board` or an argument of `load_map`. `reward` is `"win"` or
    `"placement"`.

    An agent observes a dict of "observation" and "action_mask", int8 (n,). With `observation="flat"`, the
    observation is float32 (D,). With `observation="structured"`, the observation is a dict of float32 arrays:
    "territories" (T, F) and "globals" (G,).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as in PettingZoo)
        "name": "risk_v0",
        "render_modes": list(MODES),
        "is_parallelizable": False,
        "render_fps": 10,
    }

    def __init__(
        self,
        preset: str | Rules = "classic",
        num_players: int | None = None,
        board: str | Board = "classic",
        render_mode: str | None = None,
        reward: str = "win",
        observation: str = FLAT,
        **options: Any,
    ) -> None:
        super().__init__()
        check_choice("reward", reward, REWARDS)
        check_choice("observation", observation, OBSERVATIONS)
        self.metadata = deepcopy(type(self).metadata)  # not shared with other environments
        self.render_mode, self._display = render_mode, Display(render_mode, self.metadata["render_fps"])
        players = {} if num_players is None else {"num_players": num_players}
        self.rules = rules_from(preset, {**players, **options}, FAST, raw_env)
        self.board = board if isinstance(board, Board) else load_map(board)
        self._reward, self._kind = reward, observation
        self._size, self._num_actions = (
            observation_size(self.board),
            tables(self.rules, self.board).num_actions,
        )
        self._seed, self._episode = secrets.randbits(63), -1
        self._game: Game | None = None
        self._ending = True  # true if an agent that has ended must step next, or if no agent is left
        self._is_shown = render_mode == "human"
        self._kernel: Any = None  # the compiled function `next_decision` (`engine.step_buffer`)
        self._buffer: Any = None  # the step buffer of the kernel
        self._new_masks: Any = None  # the iterator of memory for masks (`engine.step_buffer.new_masks`)
        # observation and mask of the agent to act, until a caller gets them
        self._unseen: tuple[npt.NDArray[np.float32], Mask] | None = None
        # the mask of every agent that does not act next
        self._nothing = np.zeros(self._num_actions, np.int8)
        self._nothing.setflags(write=False)
        self._make_agents()

    def _make_agents(self) -> None:
        """Make the possible agents, and the spaces of each agent. `agents` is empty before `reset`."""
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self.agents: list[str] = []
        self.agent_selection = ""
        self._to_act: Any = None  # the agent to act, or None
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.observation_spaces = {agent: self._new_observation_space() for agent in self.possible_agents}
        highest = np.tile(MOST_CODE * observation_scales(self.board), self.rules.num_players)
        self.state_space = spaces.Box(np.zeros_like(highest), highest)

    def _new_observation_space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self._num_actions,), np.int8)
        return spaces.Dict({"observation": observation_space(self.board, self._kind), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, the same object every time."""
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
        """The game with all hidden cards and the state of the random generator.

        Inspect or copy this game, but do not step it. A search in a copy would foresee the dice. Use `sample`
        for search. Raises RuntimeError before `reset`.
        """
        if self._game is None:
            raise RuntimeError("no game before reset: call reset() first")
        return self._game

    def sample(self, seed: int) -> Game:
        """Return a copy of the game for search.

        `seed` determines future chance events, and all facts that the selected agent does not know.
        """
        game = self.game
        return game.determinize(self.possible_agents.index(self.agent_selection), seed)

    # -------------------------------------------------------------------------------- beginning

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the first episode of `seed`. Without a seed, begin the next episode of the last seed.

        Without an earlier seed, the seed is random. `options={"position": text}` begins at a position that
        `Game.to_text` wrote. The seed and the episode then determine the chance events. Other options are
        ignored.
        """
        seed, episode = (self._seed, self._episode + 1) if seed is None else (seed, 0)
        self._begin(self._new_game((options or {}).get("position"), seed, episode))
        self._seed, self._episode = seed, episode
        if self._is_shown:
            self.render()

    def _new_game(self, position: str | None, seed: int, episode: int) -> Game:
        game = Game(self.rules, self.board, seed, episode=episode, position=position)
        if game.is_over:
            raise ValueError("position: the game is over; give a position before the end of a game")
        return game

    def _begin(self, game: Game) -> None:
        """Begin an episode of `game` with all living agents. The seat to act in `game` acts first."""
        self._game = game
        self._use_buffer_of(game)
        self.agents = [agent for agent, lives in zip(self.possible_agents, game.alive, strict=True) if lives]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {
            agent: {"action_mask": self._nothing} for agent in self.agents
        }
        self._skip_agent_selection = None
        self._ending = False
        self._to_act = self.agent_selection = self.possible_agents[game.seat]
        view, (row, mask, shared) = empty(self._size, _FLOAT32), next(self._new_masks)
        self._put(self._kernel(self._buffer, NO_ACTION, view, row), view, mask, shared)

    def _use_buffer_of(self, game: Game) -> None:
        self._buffer, self._kernel = game.new_step_buffer(), decision_kernel(game.tables.sizes)
        self._new_masks = new_masks(self._num_actions)

    # -------------------------------------------------------------------------------- playing

    def step(self, action: int | None) -> None:
        """Play a legal action of the selected agent, or None for an agent that has ended.

        An illegal action raises IllegalAction and changes nothing. Raises RuntimeError if no agent is left.
        """
        # Remove an agent that has ended. When all such agents are removed, a game that is not over continues.
        if self._ending:
            if not self.agents:
                raise RuntimeError("no agent is left to step: call reset() first")
            self._was_dead_step(action)
            self._ending = (
                not self.agents or any(self.terminations.values()) or any(self.truncations.values())
            )
        else:
            view, (row, mask, shared) = empty(self._size, _FLOAT32), next(self._new_masks)
            game: Any = self._game  # not None after `reset`
            self._put(game.step_in(self._buffer, self._kernel, action, view, row), view, mask, shared)
        if self._is_shown:
            self.render()

    def _put(self, seat: int, view: npt.NDArray[np.float32], mask: Mask, shared: Mask) -> None:
        """Make `seat` the seat to act. NOBODY means that agents have ended and must leave first.

        `mask` goes into the agent's observation, and `shared` into the agent's info. Copies of the info
        contain the same array, so the copies can be compared with ==. For this reason, `shared` is read-only.
        """
        if seat == NOBODY:
            self._end_agents(view, mask, shared)
            return
        agent = self.possible_agents[seat]
        if agent != self._to_act:
            self.infos[self._to_act] = {"action_mask": self._nothing}
            self._to_act = self.agent_selection = agent
        self._unseen = view, mask
        self.infos[agent] = {"action_mask": shared}

    def _end_agents(self, view: npt.NDArray[np.float32], mask: Mask, shared: Mask) -> None:
        """End the agents of eliminated seats, or all agents if the game is over."""
        game = self.game
        if game.is_over:
            self._to_act = None
        else:
            self._put(game.seat, view, mask, shared)
        places = game.placements().tolist()
        for seat, lives in enumerate(game.alive.tolist()):
            if self.possible_agents[seat] in self.rewards and (game.is_over or not lives):
                self._end_agent(seat, places[seat], truncated=lives and game.truncated)
        self._ending = True
        self._deads_step_first()

    def _end_agent(self, seat: int, place: int, truncated: bool) -> None:
        agent = self.possible_agents[seat]
        self.terminations[agent], self.truncations[agent] = not truncated, truncated
        self.rewards[agent] = 0.0 if truncated else self._reward_of(seat, place)
        self._cumulative_rewards[agent] += self.rewards[agent]
        ends = {"winner": self.game.winner, "placement": place, "rounds": self.game.round}
        self.infos[agent] = {"action_mask": self._nothing, **ends}

    def _reward_of(self, seat: int, place: int) -> float:
        """Return the reward of a seat whose agent is terminated, not truncated.

        With `reward="win"`, the reward is 1 for the winner, and -1 / (P - 1) for any other seat. With
        `reward="placement"`, rewards go from 1 (first place) to -1 (last place) in equal steps.
        """
        others = self.rules.num_players - 1
        if self._reward == "placement":
            return (others + 2.0 - 2.0 * place) / others
        return 1.0 if seat == self.game.winner else -1.0 / others

    def agent_iter(self, max_iter: int = 2**63) -> AgentIterable:
        """Return an iterable of the selected agents, one for each step.

        The iterable ends after `max_iter` steps, or when no agent is left.
        """
        return AgentIterable(self, max_iter)

    # -------------------------------------------------------------------------------- observing

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated and info of the selected agent.

        The reward is the sum of the rewards since the agent's last action.
        """
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent].copy(),
        )

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent. The mask is all zero unless the agent is to act."""
        if agent == self._to_act:
            view, mask = self._unseen or self._observe_again()
            self._unseen = None  # the caller may change these arrays
            return {
                "observation": view if self._kind == FLAT else split_view(view, self.board),
                "action_mask": mask,
            }
        game = self.game
        check_choice("agent", agent, self.possible_agents)
        view = game.observe(self.possible_agents.index(agent), self._kind)
        return {"observation": view, "action_mask": np.zeros(self._num_actions, np.int8)}

    def _observe_again(self) -> tuple[npt.NDArray[np.float32], Mask]:
        """Return, in new arrays, the observation and the mask of the agent to act."""
        view, (row, mask, _) = empty(self._size, _FLOAT32), next(self._new_masks)
        self._kernel(self._buffer, NO_ACTION, view, row)
        return view, mask

    def state(self) -> npt.NDArray[np.float32]:
        """Return the flat observations of all seats, one after another, float32 (P * D,)."""
        return np.concatenate([self.game.observe(seat) for seat in range(self.rules.num_players)])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or as pixels, uint8 (H, W, 3), or show the board in a window.

        If a window shows the board, the result is None. Without a `render_mode`, warn and return None. Only
        public facts are shown.
        """
        return self._display.render(self.game)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._display.close()

    # -------------------------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the kernel, the step buffer and the memory for masks."""
        return {**self.__dict__, "_kernel": None, "_buffer": None, "_new_masks": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._nothing.setflags(write=False)  # copies are writeable
        if self._game is not None:
            for info in self.infos.values():
                info["action_mask"].setflags(write=False)
            self._use_buffer_of(self._game)

    def __deepcopy__(self, memo: dict[int, Any]) -> raw_env:
        memo[id(self.board)], memo[id(self.rules)] = self.board, self.rules
        other = raw_env.__new__(raw_env)
        memo[id(self)] = other
        other.__setstate__(deepcopy(self.__getstate__(), memo))
        return other

    def __copy__(self) -> raw_env:
        """Return a deep copy, because two environments cannot share a game."""
        return deepcopy(self)


class AgentIterable(AECIterable[str, Observation, "int | None"]):
    """The agents of `agent_iter`, from a generator several times as fast as PettingZoo's iterator."""

    def __iter__(self) -> Any:
        env, left = self.env, self.max_iter
        while left > 0 and env.agents:
            left -= 1
            yield env.agent_selection


class OrderedAgentIterable(AECOrderEnforcingIterable[str, Observation, "int | None"]):
    """`AgentIterable` of an `OrderedEnv`.

    Raises AssertionError if the next agent is requested before `step` or `reset` is called.
    """

    def __iter__(self) -> Any:
        wrapper = self.env
        for agent in AgentIterable(wrapper.env, self.max_iter):
            if not wrapper._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            wrapper._has_updated = False
            yield agent


class OrderedEnv(OrderEnforcingWrapper[str, Observation, int | None]):
    """PettingZoo's wrapper that detects calls in the wrong order.

    For speed, `last`, `step` and `agent_iter` bypass the wrapper after a reset. Returned lists and dicts are
    copies.
    """

    env: raw_env

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated and info of the selected agent.

        See `raw_env.last`.
        """
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def step(self, action: int | None) -> None:
        """Play an action of the selected agent (`raw_env.step`)."""
        env = self.env
        if self._has_reset and env.agents:
            self._has_updated = True
            env.step(action)
        else:
            super().step(action)

    def agent_iter(self, max_iter: int = 2**63) -> OrderedAgentIterable:
        """Return an iterable of the selected agents (`raw_env.agent_iter`)."""
        super().agent_iter(max_iter)  # raises before `reset`
        return OrderedAgentIterable(self, max_iter)

    @property
    def metadata(self) -> dict[str, Any]:
        """Name, render modes and frames per second of the environment."""
        return deepcopy(self.env.metadata)

    @property
    def action_spaces(self) -> dict[str, spaces.Space[Any]]:
        """Action space of each agent."""
        return {**self.env.action_spaces}

    @property
    def observation_spaces(self) -> dict[str, spaces.Space[Any]]:
        """Observation space of each agent."""
        return {**self.env.observation_spaces}

    @property
    def possible_agents(self) -> list[str]:
        """Agents of all seats."""
        return [*self.env.possible_agents]

    @property
    def agents(self) -> list[str]:
        """Agents that have not left the game."""
        return [*(self.env.agents if self._has_reset else self.__getattr__("agents"))]

    @property
    def rewards(self) -> dict[str, float]:
        """Reward of each agent for the last step."""
        return {**self.__getattr__("rewards")}

    @property
    def terminations(self) -> dict[str, bool]:
        """Termination flag of each agent: True if the agent was eliminated or the game has a winner."""
        return {**self.__getattr__("terminations")}

    @property
    def truncations(self) -> dict[str, bool]:
        """Truncation flag of each agent: True if `max_rounds` has ended the game of a living agent."""
        return {**self.__getattr__("truncations")}

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Info of each agent."""
        return {agent: info.copy() for agent, info in self.__getattr__("infos").items()}

    @property
    def agent_selection(self) -> str:
        """Agent that acts next."""
        return self.env.agent_selection if self._has_reset else self.__getattr__("agent_selection")

    def __str__(self) -> str:
        return str(self.env)

    def __copy__(self) -> OrderedEnv:
        return deepcopy(self)
