"""Policies and agents at seats in the lanes of an arena.

Compiled bots need no `Seated` object, because the arena calls their compiled code.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import numpy as np

from risk_env.agent import Agent, View, chance_seed
from risk_env.arrays import Array, Numbers
from risk_env.events import Event
from risk_env.game import Game, game_by_chance
from risk_env.game_vector import GameVector
from risk_env.players import (
    AgentFactory,
    Policy,
    close_all,
    closed_on_error,
    fault_of,
    new_state,
    one_seat,
    query_agent,
    query_policy,
    unwrapped,
)
from risk_env.seeds import bot_seed


class SeatedArena(Protocol):
    """The attributes of an `Arena` that a seated player uses."""

    batch: GameVector
    tally: Any  # `arena.TallyBook`
    actions: Numbers  # (N,)


class Seated(ABC):
    """A player at its seats in the lanes of an arena, with the methods that the loop of the arena calls."""

    name: str
    keeps_memory = False  # true if the player keeps a memory of its games in its own objects

    def begin(self, arena: SeatedArena, lanes: Numbers, seats: Numbers) -> None:  # noqa: B027 (a hook)
        """Begin games in these lanes, int64 (k,), in which the player has these seats, int64 (k,)."""

    @abstractmethod
    def choose(self, arena: SeatedArena, lanes: Numbers) -> None:
        """Write an action for the seat to act in each of these lanes, int64 (k,), into `arena.actions`."""

    def close(self) -> None:  # noqa: B027 (a hook)
        """Stop everything that the player has started, such as processes."""


class PolicySeats(Seated):
    """A `Policy` at its seats. A policy with a state has one state for each lane and seat."""

    def __init__(self, policy: Policy, batch: GameVector) -> None:
        mask = batch.action_mask
        if not isinstance(batch.observation, np.ndarray) or mask is None or mask.dtype != np.int8:
            raise ValueError(f"policy {policy.name} needs a batch with observation='flat' and mask='bytes'")
        policy.prepare(batch.rules, batch.board)
        self.policy, self.name = policy, policy.name
        first = new_state(policy, 1)
        self.keeps_memory = first is not None
        shape = batch.num_games, batch.num_players
        self._state = None if first is None else np.zeros((*shape, *first.shape[1:]), first.dtype)

    def begin(self, arena: SeatedArena, lanes: Numbers, seats: Numbers) -> None:
        """Give these seats a new state."""
        if self._state is not None and len(lanes):
            self._state[lanes, seats] = new_state(self.policy, len(lanes))

    def choose(self, arena: SeatedArena, lanes: Numbers) -> None:
        """Let the policy choose actions for all these lanes at once."""
        batch = arena.batch
        batch.ask(lanes)
        codes, masks = np.asarray(batch.observation)[lanes], np.asarray(batch.action_mask)[lanes]
        seats = batch.seat[lanes]
        state = None if self._state is None else self._state[lanes, seats]
        arena.actions[lanes], after = query_policy(self.policy, codes, batch.board, masks, seats, state)
        if self._state is not None:
            self._state[lanes, seats] = after


class AgentSeats(Seated):
    """Agents at their seats.

    An agent that the caller passed as an object plays one seat of a single lane. With a factory, each of the
    player's seats in each lane has a separate agent. This agent is made and prepared when the seat's first
    game begins.
    """

    keeps_memory = True

    def __init__(self, player: Agent | AgentFactory, batch: GameVector) -> None:
        if isinstance(player, Agent) and batch.num_games > 1:
            raise one_seat(player, f"{batch.num_games} games at once")
        self.name, self._player = player.name, player
        self._is_prepared = False  # true if the caller's agent is prepared
        self._agents: dict[tuple[int, int], Agent] = {}  # by lane and seat
        self._chance: dict[tuple[int, int], int] = {}
        self._starts: dict[int, Array] = {}  # by lane: first record of the game
        self._games: dict[int, Game] = {}  # by lane: the game so far, replayed for `view.events`

    def begin(self, arena: SeatedArena, lanes: Numbers, seats: Numbers) -> None:
        """Reset the agents of these seats for new games.

        Raises PlayerFault if an agent raises an error, and ValueError for one agent at several seats.
        """
        batch = arena.batch
        if isinstance(self._player, Agent):
            if len(seats) > 1:
                raise one_seat(self._player, f"seats {', '.join(map(str, seats.tolist()))}")
            self._agents.clear()
        self._seat_new(batch, zip(lanes.tolist(), seats.tolist(), strict=True))
        for lane, seat in zip(lanes.tolist(), seats.tolist(), strict=True):
            agent = self._agents[lane, seat]
            self._chance[lane, seat] = chance_seed(agent, int(bot_seed(int(batch.seeds[lane]), seat)))
            self._starts[lane] = batch.records[lane : lane + 1].copy()
            self._games.pop(lane, None)
            with _faults(agent, seat):
                agent.reset(seat, batch.rules, batch.board, self._chance[lane, seat])

    def _seat_new(self, batch: GameVector, places: Iterable[tuple[int, int]]) -> None:
        """Give an agent to each pair (lane, seat) in `places` that has no agent yet.

        Raises ValueError if the factory returns an agent that already has a seat.
        """
        free = [place for place in places if place not in self._agents]
        if not free:
            return
        taken = {id(unwrapped(agent)) for agent in self._agents.values()}
        for lane, seat in free:
            self._agents[lane, seat] = agent = self._new(batch, seat, taken)
            taken.add(id(unwrapped(agent)))

    def _new(self, batch: GameVector, seat: int, taken: set[int]) -> Agent:
        """Return the prepared agent of a new seat. `taken` are the ids of other seats' agents."""
        if isinstance(self._player, Agent):
            if not self._is_prepared:
                with _faults(self._player, seat):
                    self._player.prepare(batch.rules, batch.board)
                self._is_prepared = True
            return self._player
        agent = self._player.make()
        if id(unwrapped(agent)) in taken:
            raise one_seat(agent, "several seats")
        with closed_on_error(agent.close), _faults(agent, seat):
            agent.prepare(batch.rules, batch.board)
        return agent

    def choose(self, arena: SeatedArena, lanes: Numbers) -> None:
        """Let the agent of the seat to act choose an action in each of these lanes.

        Raises PlayerFault if an agent does not return a legal action.
        """
        for lane in lanes.tolist():
            game = arena.batch.game(lane)
            key = lane, game.seat
            view = View(game, chance=self._chance[key], history=partial(self._events, arena, lane))
            arena.actions[lane] = query_agent(self._agents[key], view, game)

    def _events(self, arena: SeatedArena, lane: int, seat: int) -> list[Event]:
        """Return the events that a seat has seen in the game of a lane."""
        if lane not in self._games:
            self._games[lane] = self._beginning(arena.batch, lane)
        game, first = self._games[lane], int(self._starts[lane]["decisions"][0])
        for action in arena.tally.actions(lane, first + len(game.actions)):
            game.step(action)
        if game.to_record() != arena.batch.records[lane].tobytes():
            raise ValueError(
                f"lane {lane}: view.events needs a game whose actions were all played by the arena"
            )
        return game.events(seat=seat)

    def _beginning(self, batch: GameVector, lane: int) -> Game:
        """Return the game of a lane at its beginning.

        The events of the game include the events of the set-up, unless the game began with a position.
        """
        set_up = game_by_chance(batch.rules, batch.board, batch.seeds[lane])
        if set_up.to_record() == self._starts[lane].tobytes():
            return set_up
        return Game.from_record(batch.rules, batch.board, self._starts[lane])

    def close(self) -> None:
        """Close the agents that the factory has made."""
        made = list(self._agents.values()) if isinstance(self._player, AgentFactory) else []
        self._agents.clear()
        close_all(made)


@contextmanager
def _faults(agent: Agent, seat: int) -> Iterator[None]:
    """Turn an error of an agent into a PlayerFault."""
    try:
        yield
    except Exception as error:
        raise fault_of(agent, seat, error) from error


def seat_player(player: Policy | Agent | AgentFactory, batch: GameVector) -> Seated:
    """Return the `Seated` object for a policy or an agent in the lanes of a batch."""
    return PolicySeats(player, batch) if isinstance(player, Policy) else AgentSeats(player, batch)
