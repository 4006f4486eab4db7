"""Rollouts: compare plans for the current turn by playing sampled games and evaluating their last positions.

A sample is a copy of the game in which hidden facts and future chance are drawn again. Each sample is played
once for every plan. A plan is a compiled bot that plays the rest of the turn. After the turn, players play
all seats. Players are compiled bots that are drawn for each sample, and are the same for every plan. A
rollout ends when a given number of further turns of the seat have begun, the seat is eliminated, or the game
is over. With TO_THE_END, a rollout ends only when the game is over. A judge evaluates the last position. Only
compiled code plays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.arena import ANY_SEAT, Arena
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS, NOBODY, Phase
from risk_env.game_vector import GameVector, whole_numbers
from risk_env.messages import shortened

MOST_ROUNDS = 200  # last round of the games if the rules set no limit; maximum of `turns`
TO_THE_END = None  # value of `turns` for rollouts to the end of the game

Array = npt.NDArray[Any]
# Takes a GameVector and lanes, int64 (k,); returns the win probability of each seat, float64 (k, 6)
Judge = Callable[[GameVector, Array], Array]


class Draft(NamedTuple):
    """Trades and drafts of a plan in a position."""

    actions: list[int]
    memory: Array  # int32 (M,): memory of the plan after these actions


class Rollouts:
    """Lanes in which rollouts are played.

    `plans` are compiled bots that can play the turn, and `players` are compiled bots that play afterwards.
    With the same samples and random generator, the results are the same for any number of `lanes`. Raises
    ValueError for fewer lanes than plans.
    """

    def __init__(
        self,
        rules: Rules,
        board: Board,
        plans: Sequence[CompiledBot],
        players: Sequence[CompiledBot],
        judge: Judge,
        lanes: int = 256,
    ) -> None:
        if lanes < len(plans):
            raise ValueError(f"lanes={lanes!r}: must be at least {len(plans)}, one for each plan")
        limited = rules.replace(max_rounds=rules.max_rounds or MOST_ROUNDS)
        self.judge, self.num_plans, self.num_players = judge, len(plans), len(players)
        self._batch = GameVector(limited, board, lanes, observation=None, mask=None, autoreset=False)
        self._arena = Arena(self._batch, [*plans, *players])

    def prepare(self) -> None:
        """Compile the plans, the players and the judge, or load them from the cache."""
        self._arena.prepare()
        self.judge(self._batch, np.zeros(0, np.int64))

    def play(
        self,
        plans: Sequence[int],
        samples: Array,
        rng: np.random.Generator,
        turns: int | None = 1,
        memories: Mapping[int, Array] | None = None,
        drafts: dict[int, Draft] | None = None,
        likely: Array | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return a seat's win probability for each plan and sample, float64 (plans, samples).

        `plans` are indices of plans. `samples`, records (samples,), are positions in a turn of the seat.
        `rng` draws the random states of the bots, and the players. `likely`, float64 (6, players), contains
        the probability of each player at each seat (default: equal probabilities). The judge evaluates a game
        when `turns` further turns of the seat have begun. 0 means the end of the current turn, and TO_THE_END
        means the end of the game. `memories` maps the index of each plan that has begun the turn to the
        memory of the plan, int32 (M,). `drafts` maps the index of a plan to the plan's draft in this
        position. These drafts are repeated, and the drafts of the other plans are added to `drafts`.
        """
        self._check(samples, plans=plans, turns=turns)
        drafts = {} if drafts is None else drafts
        seat = int(samples["turn"][0])
        seeds = rng.integers(2**63, size=len(samples)).astype(np.uint64)
        players = self._drawn(len(samples), rng, likely)
        values = np.zeros((len(plans), len(samples)))
        at_once = max(1, self._batch.num_games // len(plans))
        for first in range(0, len(samples), at_once):
            part = slice(first, first + at_once)
            lanes = self._begin(plans, samples[part], seeds[part], players[part], drafts)
            for plan, memory in (memories or {}).items():
                begun = lanes.reshape(len(plans), -1)[list(plans).index(plan)] if plan in plans else lanes[:0]
                self._arena.memory[begun, seat, : len(memory)] = memory
            self._finish_turn(lanes, seat, np.tile(players[part, seat], len(plans)))
            self._await_turns(lanes, seat, turns)
            values[:, part] = self.judge(self._batch, lanes)[:, seat].reshape(len(plans), -1)
        return values

    def ends_of_turn(self, plans: Sequence[int], samples: Array, rng: np.random.Generator) -> Array:
        """Return the games after each plan has played the turn, as records (plans, samples)."""
        self._check(samples, plans=plans)
        seeds = rng.integers(2**63, size=len(samples)).astype(np.uint64)
        players = np.full((len(samples), MAX_SEATS), self.num_plans)
        ends = np.zeros((len(plans), len(samples)), samples.dtype)
        at_once = max(1, self._batch.num_games // len(plans))
        for first in range(0, len(samples), at_once):
            part = slice(first, first + at_once)
            lanes = self._begin(plans, samples[part], seeds[part], players[part], {})
            self._finish_turn(lanes, int(samples["turn"][0]), np.tile(players[part, 0], len(plans)))
            ends[:, part] = self._batch.records[lanes].reshape(len(plans), -1)
        return ends

    def continue_games(
        self,
        games: Array,
        seat: int,
        rng: np.random.Generator,
        turns: int | None = TO_THE_END,
        likely: Array | None = None,
    ) -> npt.NDArray[np.float64]:
        """Continue games, and return each seat's win probability, float64 (games, 6).

        The games continue until `turns` further turns of `seat` have begun: 0 means that no action is played,
        and TO_THE_END means the end of the game. `rng` and `likely` have the same meaning as in `play`.
        """
        self._check(games, seat=seat, turns=turns)
        seeds = rng.integers(2**63, size=len(games)).astype(np.uint64)
        players = self._drawn(len(games), rng, likely)
        chances = np.zeros((len(games), MAX_SEATS))
        for first in range(0, len(games), self._batch.num_games):
            part = slice(first, first + self._batch.num_games)
            lanes = np.arange(len(games[part]))
            self._seat(lanes, games[part], seeds[part], players[part])
            self._await_turns(lanes, seat, turns)
            chances[part] = self.judge(self._batch, lanes)
        return chances

    def set_up(
        self,
        column: int,
        numbers: Sequence[int],
        samples: Array,
        seat: int,
        rng: np.random.Generator,
        turns: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Return a seat's win probability for each number and sample, float64 (numbers, samples).

        Each of `numbers` is 0, or the number of a territory or continent plus 1. The first of the players
        plays the seat, once with each of `numbers` in the column `column` of the player's memory. The game
        continues until the seat's first turn and `turns` further turns have begun. The players of the other
        seats are drawn.
        """
        self._check(samples, column=column, numbers=numbers, seat=seat, turns=turns)
        seeds = rng.integers(2**63, size=len(samples)).astype(np.uint64)
        players = self._drawn(len(samples), rng)
        players[:, seat] = self.num_plans
        values, choices = np.zeros((len(numbers), len(samples))), len(numbers)
        at_once = max(1, self._batch.num_games // choices)
        for first in range(0, len(samples), at_once):
            part = slice(first, first + at_once)
            lanes = np.arange(choices * len(samples[part]))
            tiled = np.tile(seeds[part], choices), np.tile(players[part], (choices, 1))
            self._seat(lanes, np.tile(samples[part], choices), *tiled)
            self._arena.memory[lanes, seat, column] = np.repeat(np.array(numbers), len(samples[part]))
            self._finish_set_up(lanes, seat)
            self._await_turns(lanes, seat, turns)
            values[:, part] = self.judge(self._batch, lanes)[:, seat].reshape(choices, -1)
        return values

    def _drawn(self, games: int, rng: np.random.Generator, likely: Array | None = None) -> Array:
        """Draw a player for each seat of `games` games, int64 (games, 6); `likely` is as in `play`."""
        if likely is None:
            return self.num_plans + rng.integers(self.num_players, size=(games, MAX_SEATS))
        drawn = rng.random((games, MAX_SEATS, 1)) > likely.cumsum(axis=1)
        return self.num_plans + np.minimum(drawn.sum(axis=2), self.num_players - 1)

    def _check(
        self,
        samples: Array,
        *,
        plans: Sequence[int] = (0,),
        column: int = 0,
        numbers: Sequence[int] = (0,),
        seat: int = 0,
        turns: int | None = TO_THE_END,
    ) -> None:
        """Raise ValueError if an argument is not allowed.

        `samples` must be records of games on this map.
        """
        batch = self._batch
        if (
            not isinstance(samples, np.ndarray)
            or samples.ndim != 1
            or not len(samples)
            or samples.dtype != batch.records.dtype
        ):
            wrong = f"{samples.shape} {samples.dtype}" if isinstance(samples, np.ndarray) else samples
            raise ValueError(f"samples={shortened(wrong)}: must be 1 or more records of games on this map")
        allowed = {
            "plans": (plans, 0, max(self.num_plans, 1)),
            "column": ([column], 0, max(self._arena.memory.shape[2], 1)),
            "numbers": (numbers, 0, batch.board.num_territories + 1),
            "seat": ([seat], 0, batch.num_players),
            "turns": ([0 if turns is TO_THE_END else turns], 0, MOST_ROUNDS + 1),
        }
        for name, (given, least, end) in allowed.items():
            is_list = name in ("plans", "numbers")
            most = batch.num_games if is_list else 1
            values = whole_numbers(list(given), (len(given),), f"{name} must be")
            if not 1 <= len(values) <= most or values.min() < least or values.max() >= end:
                wrong = shortened(values.tolist() if is_list else int(values[0]))
                allowed_count = f"1 to {most} numbers" if is_list else "a number"
                raise ValueError(f"{name}={wrong}: give {allowed_count} from {least} to {end - 1}")

    def _begin(
        self, plans: Sequence[int], samples: Array, seeds: Array, players: Array, drafts: dict[int, Draft]
    ) -> Array:
        """Load every sample once for each plan, and play the drafts; return the lanes, plan by plan."""
        lanes = np.arange(len(plans) * len(samples))
        numbers = np.tile(players, (len(plans), 1))
        numbers[:, int(samples["turn"][0])] = np.repeat(plans, len(samples))
        self._seat(lanes, np.tile(samples, len(plans)), np.tile(seeds, len(plans)), numbers)
        self._draft(plans, lanes.reshape(len(plans), -1), drafts)
        return lanes

    def _seat(self, lanes: Array, games: Array, seeds: Array, numbers: Array) -> None:
        self._batch.load_records(lanes, games)
        self._batch.seeds[lanes] = seeds
        self._arena.numbers[lanes] = numbers
        self._arena.seat_players(lanes)
        self._arena.stop_at_death[lanes] = NOBODY

    def _draft(self, plans: Sequence[int], lanes: Array, drafts: dict[int, Draft]) -> None:
        """Play the trades and drafts of each plan in `lanes`, int64 (plans, samples).

        Before the first roll of dice, a bot sees the same facts in every sample. The bot therefore acts only
        in the first sample, and its actions are repeated in the other samples.
        """
        records, arena = self._batch.records, self._arena
        first, turn = lanes[:, 0], records["turn"][lanes[0, 0]]
        is_new = np.array([plan not in drafts for plan in plans])
        made = [drafts[plan].actions if plan in drafts else [] for plan in plans]
        is_open = np.ones(len(lanes), np.bool_)
        for step in count():
            phase = records["phase"][first]
            is_open &= (
                (phase >= Phase.TRADE) & (phase <= Phase.DRAFT_AMOUNT) & (records["turn"][first] == turn)
            )
            if not is_open.any():
                break
            arena.query_players(first[is_open & is_new])
            for k in np.flatnonzero(is_open):
                if is_new[k]:
                    made[k].append(int(arena.actions[first[k]]))
                arena.actions[lanes[k]] = made[k][step]
            arena.step(lanes[is_open].ravel())
        for row, plan in enumerate(plans):
            draft = drafts.setdefault(plan, Draft(made[row], arena.memory[first[row], turn].copy()))
            arena.memory[lanes[row], turn] = draft.memory
        arena.randoms[lanes, turn] = arena.randoms[first, turn][:, None]

    def _finish_turn(self, lanes: Array, seat: int, players: Array) -> None:
        """Play each plan to the end of the turn, then give the seat to each lane's player in `players`."""
        self._arena.stop_at_turn[lanes] = ANY_SEAT
        still = lanes[
            (self._batch.records["turn"][lanes] == seat) & (self._batch.records["phase"][lanes] != Phase.OVER)
        ]
        self._arena.play_on(still)
        self._arena.seat_bots(lanes, np.full(len(lanes), seat), players)

    def _finish_set_up(self, lanes: Array, seat: int) -> None:
        """Play until the seat's first turn has begun or the game is over."""
        self._arena.stop_at_turn[lanes], self._arena.stop_at_death[lanes] = seat, seat
        while len(placing := lanes[self._batch.records["phase"][lanes] < Phase.TRADE]):
            self._arena.play_on(placing)

    def _await_turns(self, lanes: Array, seat: int, turns: int | None) -> None:
        """Play until `turns` further turns of the seat have begun, or with TO_THE_END until the game is over.

        With a number of turns, a game also stops when the seat is eliminated or the game is over.
        """
        records = self._batch.records
        if turns is TO_THE_END:
            self._arena.stop_at_turn[lanes] = NOBODY
            self._arena.play_on(lanes[records["phase"][lanes] != Phase.OVER])
            return
        self._arena.stop_at_turn[lanes], self._arena.stop_at_death[lanes] = seat, seat
        for _ in range(turns):
            is_open = (records["phase"][lanes] != Phase.OVER) & (records["death"][lanes, seat] == 0)
            self._arena.play_on(lanes[is_open])
        self._arena.stop_at_turn[lanes] = NOBODY
