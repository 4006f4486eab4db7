"""Record the decisions of complete games between agents, in the order of the game numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.schema import Schema, schema_of
from risk_agents.registry import load
from risk_env.arena import Arena
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.game_vector import GameVector
from risk_env.messages import counted, shortened, suggestion
from risk_env.players import AgentFactory, Named
from risk_env.seeds import game_seed, uint64
from risk_env.start_positions import StartPositions

Array = npt.NDArray[Any]

MOST_LANES = 128
_ENDLESS = 2**62  # number of games of a recording without end
_FIRST_ROOM = 256  # initial number of rows for the decisions of a game; doubled when all rows are full


@dataclass(frozen=True)
class RecordingSpec:
    """Settings of a recording.

    In game g, a random generator with the seed (`seed`, g) draws one of `agents` for each seat.
    """

    rules: Rules
    board: Board
    agents: tuple[str, ...]  # specs (`registry.load`)
    seed: int = 0
    only: tuple[str, ...] = ()  # names of the agents whose decisions are recorded; () for all agents
    reward: str = "win"  # "win" or "placement", as for `GameBatch`
    labels: tuple[str, ...] = ()  # names of the agents in the data; () to use the specs as names

    def __post_init__(self) -> None:
        if not self.agents:
            raise ValueError("agents=(): name at least one agent")
        if self.labels and len(self.labels) != len(self.agents):
            raise ValueError(
                f"labels={shortened(self.labels)}: "
                f"{counted(len(self.labels), 'label')} for {counted(len(self.agents), 'agent')}; "
                "give one label for each agent, or no labels"
            )
        for name in self.only:
            if name not in self.names:
                hint = suggestion(name, self.names)
                raise ValueError(f"only={name!r} is not among the agents{hint}: {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the agents in the data, in the order of `agents`."""
        return self.labels or self.agents

    @cached_property
    def schema(self) -> Schema:
        """Schema of the games (`learned.schema`)."""
        return schema_of(self.rules, self.board)

    def line_up(self, game: int) -> Array:
        """Return the index in `agents` of the agent at each seat of a game, int (P,)."""
        chance = np.random.default_rng((int(uint64(self.seed)), game))
        return chance.integers(len(self.agents), size=self.rules.num_players)


class GameDecisions(NamedTuple):
    """The k recorded decisions of one game with P seats, in the order of play.

    D is the size of an observation, and n is the number of actions.
    """

    game: int
    agents: Array  # int (P,): index in `RecordingSpec.agents` of the agent at each seat
    rewards: Array  # float32 (P,): reward of each seat for the whole game
    placement: Array  # int64 (P,): place of each seat, from 1
    truncated: bool
    final_observations: Array  # int8 (P, D): observation of each seat at the end of the game
    observations: Array  # int8 (k, D): observation of the seat to act
    masks: Array  # uint8 (k, ceil(n / 8)): bit i of byte b is 1 where action 8 b + i is legal
    actions: Array  # int32 (k,): number of the chosen action
    seats: Array  # int8 (k,): seat to act
    rounds: Array  # int32 (k,): round in which the decision was made


def record(
    spec: RecordingSpec, lanes: int = MOST_LANES, first: int = 0, positions: StartPositions | None = None
) -> Iterator[GameDecisions]:
    """Yield the decisions of games `first`, `first` + 1, `first` + 2, ... without end.

    The games do not depend on `lanes`, the number of games that are played at the same time. Games begin at
    `positions`, or with the set-up if `positions` is None.
    """
    players = [load(name) for name in spec.agents]
    has_agents = any(isinstance(player, AgentFactory) for player in players)
    # With one lane, each seat needs only one instance of an agent or program
    recording = _Recording(spec, players, 1 if has_agents else lanes, first, positions)
    try:
        yield from recording.games()
    finally:
        recording.arena.close()


class _Recording:
    """Games in progress, one per lane, and the decisions that were recorded in these games."""

    def __init__(
        self,
        spec: RecordingSpec,
        players: Sequence[Named],
        lanes: int,
        first: int,
        positions: StartPositions | None,
    ) -> None:
        self.spec, self.first, self.positions = spec, first, positions
        self.batch = GameVector(spec.rules, spec.board, lanes, spec.seed, autoreset=False, reward=spec.reward)
        self.arena = Arena(self.batch, players, on_actions=self._write)
        self.is_recorded = np.array([not spec.only or name in spec.only for name in spec.names])
        self.count = np.zeros(lanes, np.int64)  # number of recorded decisions of each lane's game
        D, width = self.batch.observation.shape[1], -(-self.batch.num_actions // 8)
        self.columns = {
            "observations": np.zeros((lanes, _FIRST_ROOM, D), np.int8),
            "masks": np.zeros((lanes, _FIRST_ROOM, width), np.uint8),
            "actions": np.zeros((lanes, _FIRST_ROOM), np.int32),
            "seats": np.zeros((lanes, _FIRST_ROOM), np.int8),
            "rounds": np.zeros((lanes, _FIRST_ROOM), np.int32),
        }

    def games(self) -> Iterator[GameDecisions]:
        """Yield games in the order of their numbers; a finished game waits for all games before it."""
        waiting: dict[int, GameDecisions] = {}
        due = self.first
        for lanes, numbers in self.arena.run_games(_ENDLESS, self._begin):
            self.batch.finish(lanes)
            for lane, number in zip(lanes.tolist(), (self.first + numbers).tolist(), strict=True):
                waiting[number] = self._decisions(lane, number)
            while due in waiting:
                yield waiting.pop(due)
                due += 1

    def _begin(self, lanes: Array, numbers: Array) -> None:
        """Begin the game `first + numbers[k]` in lane `lanes[k]`, for each k."""
        numbers = self.first + numbers
        for lane, number in zip(lanes.tolist(), numbers.tolist(), strict=True):
            self.arena.numbers[lane, : self.spec.rules.num_players] = self.spec.line_up(number)
        seeds = [game_seed(self.spec.seed, number) for number in numbers.tolist()]
        self.batch.begin_seeded(lanes, np.array(seeds, np.uint64))
        self.batch.begin_at(lanes, self.positions, numbers)
        self.arena.seat_players(lanes)
        self.count[lanes] = 0

    def _decisions(self, lane: int, number: int) -> GameDecisions:
        """Return the recorded decisions of a game that has just ended."""
        batch, P = self.batch, self.spec.rules.num_players
        return GameDecisions(
            number,
            self.arena.numbers[lane, :P].copy(),
            batch.reward[lane].copy(),
            batch.final_placement[lane].copy(),
            bool(batch.truncated[lane].any()),
            batch.final_observation[lane].copy(),
            **{name: column[lane, : self.count[lane]].copy() for name, column in self.columns.items()},
        )

    def _write(self, lanes: Array) -> None:
        """Record the current decisions of `lanes`, before the arena plays the actions."""
        batch = self.batch
        lanes = lanes[self.is_recorded[self.arena.players_to_act(lanes)]]
        if not len(lanes):
            return
        batch.ask(lanes)
        at = lanes, self.count[lanes]
        self._make_room(int(at[1].max()))
        self.columns["observations"][at] = batch.observation[lanes]
        self.columns["masks"][at] = np.packbits(
            np.asarray(batch.action_mask)[lanes] > 0, axis=1, bitorder="little"
        )
        self.columns["actions"][at] = self.arena.actions[lanes]
        self.columns["seats"][at] = batch.seat[lanes]
        self.columns["rounds"][at] = batch.records["round_number"][lanes]
        self.count[lanes] += 1

    def _make_room(self, row: int) -> None:
        """Double the number of rows of all columns if row `row` does not exist."""
        room = self.columns["actions"].shape[1]
        if row >= room:
            for name, column in self.columns.items():
                self.columns[name] = np.concatenate([column, np.zeros_like(column)], axis=1)
