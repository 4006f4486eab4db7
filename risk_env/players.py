"""Players of three kinds, and the rules by which names, objects, classes and functions stand for players.

A `CompiledBot` plays inside kernels. A `Policy` chooses actions for many observations at once. An `Agent`
chooses an action for one view. `find_player` finds the kind of a player.
"""

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from risk_env import bots
from risk_env.agent import Agent, CompiledAgent, View, prepares
from risk_env.arguments import FLAT, OBSERVATIONS, check_choice
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.game import Game
from risk_env.game_vector import whole_numbers
from risk_env.observations import as_floats
from risk_env.text.notation import illegal_action

MOST_BITS = 63  # maximum number of bits of an action number
FAULTS = ("crash", "died", "garbage", "illegal", "time")  # kinds of a `PlayerFault`


class PlayerFault(RuntimeError):
    """Failure of the player at `seat`, such as an exception or an illegal action.

    `reason` is the error message. `kind` is "crash" if the player raised an exception, and "illegal" if the
    action is not legal. An exception can set another kind with an attribute `kind`, one of `FAULTS`.
    For example, a program that exceeds its time limit causes a fault of kind "time".
    """

    def __init__(self, seat: int, name: str, kind: str, reason: str) -> None:
        super().__init__(f"{name} at seat {seat}: {reason}")
        self.seat, self.kind, self.reason = seat, kind, reason


class Policy:
    """A player that chooses actions for many observations at once.

    Subclasses set `name` and `version`, and override `act_batch`.

    One policy object plays at many seats in many games. A policy with a memory, such as a recurrent network,
    does not keep the memory in the object. The method `initial_state` returns an array instead, and the
    caller keeps a row of this array for each seat of each game.
    """

    name: str = "policy"
    version: str = "1"  # change the version whenever the policy's play changes
    observation: str = FLAT  # form of the observations: "flat" or "structured"

    def prepare(self, rules: Rules, board: Board) -> None:
        """Load the data for games with these rules on this map.

        Raises ValueError if the policy cannot play such games. The method may be called again, and must not
        change how the policy plays.
        """

    def initial_state(self, count: int) -> Array | None:
        """Return the state of `count` seats whose games begin: an array (count, ...).

        A policy without state returns None. A state with several parts is one array too. For example, the two
        parts of an LSTM's state can be an array (count, 2, width).
        """
        return None

    def act_batch(self, observations: Any, masks: Array, seats: Array, state: Array | None = None) -> Any:
        """Return a legal action for each of k decisions, int (k,).

        A policy with a state returns a tuple (actions, new state).

        `observations` is float32 (k, D), or, if the attribute `observation` is "structured", a dict of
        "territories" (k, T, F) and "globals" (k, G). `masks`, int8 (k, n), marks the legal actions. `seats`,
        int64 (k,), contains the deciding seats. `state` (k, ...) is passed only if `initial_state` returns a
        state.
        """
        raise TypeError(
            f"{type(self).__name__} must define act_batch(observations, masks, seats, state=None)"
        )


@dataclass(frozen=True)
class AgentFactory:
    """A function that makes agents, one for each seat of each game in progress."""

    make_agent: Callable[[], Any]
    name: str

    def make(self) -> Agent:
        """Return a new agent. Raises TypeError if `make_agent` returns a value that is not an agent."""
        made = _based(self.make_agent())
        if not isinstance(made, Agent):
            raise TypeError(f"{self.name} returned {made!r:.80}: a factory of agents must return an Agent")
        return made


Player = CompiledBot | Policy | Agent | AgentFactory
Named = str | Player | Callable[[], Agent | Policy]  # argument of `find_player`; a function must make agents

ALLOWED = (
    "a registered name (risk-env agents), a CompiledBot, a Policy, an Agent, "
    "or a class or function that makes agents"
)


def find_player(named: Any) -> Player:
    """Return the player that a name, an object, a class or a function stands for.

    The base class, `Agent` or `Policy`, decides the kind. Without such a base class, the methods decide: an
    object with `act` is an `Agent`, and an object with `act_batch` is a `Policy`. A function must make
    agents. Raises ValueError if both kinds fit, for an unknown name, and for any other value.
    """
    resolved = _registered(named) if isinstance(named, str) else named
    if isinstance(resolved, CompiledBot | AgentFactory):
        return resolved
    is_class = isinstance(resolved, type)
    if is_class or isinstance(resolved, partial) or inspect.isroutine(resolved):
        kind = _kind(resolved) if is_class else Agent
        if kind is Policy:
            return _as_policy(resolved())
        if kind is Agent:
            return AgentFactory(
                resolved, getattr(getattr(resolved, "func", resolved), "__name__", repr(resolved))
            )
    based = _based(resolved)
    if not isinstance(based, Policy | Agent):
        raise ValueError(f"player={named!r:.200}: must be {ALLOWED}")
    return based


def _registered(name: str) -> Any:
    """Return the player registered with this name. Raises ValueError for an unknown name.

    The error contains a hint if the name looks like a file or a program.
    """
    try:
        return bots.find(name)
    except ValueError as error:
        if ":" in name or "." in name:
            raise ValueError(
                f"{error}; for a file or a program, pass risk_agents.load({name!r:.200})"
            ) from None
        raise


def _kind(candidate: Any) -> type[Policy] | type[Agent] | None:
    """Return the kind of an object or a class: `Policy`, `Agent`, or None for any other kind.

    Raises ValueError if both kinds fit.
    """
    kind = candidate if isinstance(candidate, type) else type(candidate)
    is_policy, is_agent = issubclass(kind, Policy), issubclass(kind, Agent)
    if not is_policy and not is_agent:
        is_policy, is_agent = (callable(getattr(candidate, method, None)) for method in ("act_batch", "act"))
    if is_policy and is_agent:
        raise ValueError(
            f"player={candidate!r:.200} has both act and act_batch: derive the class from risk_env.Agent "
            "or from risk_env.Policy, and not from both"
        )
    return Policy if is_policy else Agent if is_agent else None


def _based(candidate: Any) -> Any:
    """Return a `Policy` or an `Agent` for an object of either kind, and any other object unchanged."""
    kind = _kind(candidate)
    if kind is Policy:
        return _as_policy(candidate)
    return candidate if kind is None or isinstance(candidate, Agent) else PlainAgent(candidate)


def _as_policy(candidate: Any) -> Policy:
    policy = candidate if isinstance(candidate, Policy) else PlainPolicy(candidate)
    check_choice(f"{policy.name}: observation", policy.observation, OBSERVATIONS)
    return policy


def as_agent(named: Any) -> Agent:
    """Return an agent for one seat, from anything that `find_player` takes."""
    player = find_player(named)
    if isinstance(player, CompiledBot):
        return CompiledAgent(player)
    if isinstance(player, Policy):
        return PolicyAgent(player)
    return player.make() if isinstance(player, AgentFactory) else player


def as_agents(named: Sequence[Any]) -> list[Agent]:
    """Return an agent for each of several seats, from anything that `find_player` takes.

    Raises ValueError as `find_player` does, and if one agent has several seats. After an error, the agents
    made so far are closed.
    """
    agents = list[Agent]()
    with closed_on_error(lambda: close_made(agents, named)):
        for player in named:
            agents.append(as_agent(player))  # the list holds the agents made before an error
        check_seats(agents)
    return agents


def check_seats(agents: Iterable[Agent | None]) -> None:
    """Raise ValueError if one agent has several seats. An agent can play only one seat of a game."""
    seen = set[int]()
    for agent in agents:
        if agent is not None:
            number = id(unwrapped(agent))
            if number in seen:
                raise one_seat(agent, "several seats")
            seen.add(number)


def unwrapped(agent: Any) -> Any:
    """Return the object inside a `PlainAgent`. Return any other object unchanged."""
    return agent.plain if isinstance(agent, PlainAgent) else agent


class Closable(Protocol):
    """Object with a method `close`."""

    def close(self) -> None:
        """Stop all processes and threads that the object has started."""


def close_all(players: Iterable[Closable]) -> None:
    """Close all players, in order. An error of one player is raised after all others are closed."""
    with ExitStack() as stack:
        for player in reversed(list(players)):
            stack.callback(player.close)


def close_made(agents: Iterable[Agent | None], named: Iterable[Any]) -> None:
    """Close the agents that `as_agent` made for the objects in `named`.

    Agents that the caller passed as objects stay open. `agents` may be shorter than `named`.
    """
    close_all(
        agent
        for agent, player in zip(agents, named, strict=False)
        if agent is not None and unwrapped(agent) is not unwrapped(player)
    )


@contextmanager
def closed_on_error(close: Callable[[], None]) -> Iterator[None]:
    """Call `close` if the `with` block raises an error. An error of `close` does not replace this error."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            close()
        raise


def one_seat(agent: Agent, places: str) -> ValueError:
    """Return the error for one agent at several seats. `places` describes the seats or games."""
    return ValueError(
        f"player={agent!r:.200} ({agent.name}) is one object for {places}: "
        "an agent plays one seat of one game at a time. Pass the agent's class, or a function that makes a "
        "new agent in each call."
    )


class PlainAgent(Agent):
    """Wrapper for an object with a method `act` whose class is not derived from `Agent`."""

    def __init__(self, plain: Any) -> None:
        self.plain, self.name = plain, type(plain).__name__
        _take_over(self, plain, ("name", "version", "prepare", "reset", "act", "close"))


class PlainPolicy(Policy):
    """Wrapper for an object with a method `act_batch` whose class is not derived from `Policy`."""

    def __init__(self, plain: Any) -> None:
        self.name = type(plain).__name__
        _take_over(self, plain, ("name", "version", "observation", "prepare", "initial_state", "act_batch"))


def _take_over(player: Any, plain: Any, names: Iterable[str]) -> None:
    """Copy the attributes with these names from a plain object to a player, if the object has them."""
    for name in names:
        if hasattr(plain, name):
            setattr(player, name, getattr(plain, name))


class PolicyAgent(Agent):
    """A `Policy` as the player of one seat."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name, self.version = policy, policy.name, policy.version
        if prepares(policy, Policy):  # otherwise a tournament would play a rehearsal with this policy
            self.prepare = policy.prepare  # type: ignore[method-assign]

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Begin a game with a new state. Raises ValueError if the policy cannot play such games."""
        super().reset(seat, rules, board, seed)
        self.policy.prepare(rules, board)
        self.state = new_state(self.policy, 1)

    def act(self, view: View) -> int:
        """Return the policy's action for this view."""
        seats = np.array([view.seat])
        masks = view.action_mask[None]
        actions, self.state = query_policy(
            self.policy, view.codes[None], view.board, masks, seats, self.state
        )
        return int(actions[0])


def new_state(policy: Policy, count: int) -> Array | None:
    """Return the state of `count` seats whose games begin, or None for a policy without state.

    Raises ValueError if the state is not an array (count, ...).
    """
    initial = policy.initial_state(count)
    if initial is None:
        return None
    state = np.array(initial)  # a copy: the policy may return the same array again
    if state.shape[:1] != (count,):
        raise ValueError(
            f"{policy.name}: initial_state({count}) returned shape {state.shape}, not ({count}, ...)"
        )
    return state


def query_policy(
    policy: Policy, codes: Array, board: Board, masks: Array, seats: Array, state: Array | None
) -> tuple[Array, Array | None]:
    """Return a policy's actions, int (k,), and the new state.

    `codes` are the observations, int8 (k, D). `state` is None for a policy without state. Raises ValueError
    for an action that is not legal, and for a new state of another shape.
    """
    seen = as_floats(codes, board, policy.observation)
    if state is None:
        actions, after = policy.act_batch(seen, masks, seats), None
    else:
        returned = policy.act_batch(seen, masks, seats, state)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise ValueError(f"{policy.name} has an initial_state: act_batch must return (actions, state)")
        actions, after = returned[0], np.asarray(returned[1])
        if after.shape != state.shape:
            raise ValueError(
                f"{policy.name} returned a state of shape {after.shape} instead of {state.shape}"
            )
    return _legal(policy, actions, masks), after


def _legal(policy: Policy, actions: Any, masks: Array) -> Array:
    """Return the actions of a policy as an array.

    Raises ValueError for another shape or type, and for an action that its mask does not allow.
    """
    actions = whole_numbers(actions, (len(masks),), f"{policy.name}: act_batch must return")
    inside = (actions >= 0) & (actions < masks.shape[1])
    legal = inside & (masks[np.arange(len(masks)), np.where(inside, actions, 0)] > 0)
    if not legal.all():
        k = int(legal.argmin())
        legal_actions = np.flatnonzero(masks[k])
        raise ValueError(f"{policy.name} returned {actions[k]}, which is not legal; legal: {legal_actions}")
    return actions


def query_agent(agent: Agent, view: View, game: Game) -> int:
    """Return a legal action of an agent. Raises PlayerFault if the agent does not return a legal action."""
    try:
        action = as_action(agent.act(view))
    except Exception as error:
        raise fault_of(agent, view.seat, error) from error
    if not game.is_legal(action):
        illegal = illegal_action(game.record, game.tables, game.board, action)
        raise PlayerFault(view.seat, agent.name, "illegal", str(illegal))
    return action


def fault_of(agent: Agent, seat: int, error: Exception) -> PlayerFault:
    """Return the PlayerFault for an error that an agent raised."""
    kind = getattr(error, "kind", None)
    if kind in FAULTS:
        return PlayerFault(seat, agent.name, str(kind), str(error))
    return PlayerFault(seat, agent.name, "crash", f"{type(error).__name__}: {error}")


def as_action(value: Any) -> int:
    """Convert a value that `act` returned to an action number, legal or not.

    Raises TypeError for a value that is not a whole number, and ValueError for a number with too many bits.
    """
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"act must return a whole number, one of view.legal_actions, not {value!r:.80}")
    action = operator.index(value)
    if action.bit_length() > MOST_BITS:
        raise ValueError(
            f"act returned a number of {action.bit_length()} bits: at most {MOST_BITS} bits are allowed"
        )
    return action
