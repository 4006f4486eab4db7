"""Many games of compiled bots at once, in one `GameBatch`; each comes out exactly as if it were played alone."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.tournament.results import (
    FORFEIT,
    NOBODY,
    TRUNCATED,
    WON,
    Forfeit,
    GameResult,
    final_places,
    winner_of_forfeit,
)
from risk_agents.tournament.schedule import Pairing
from risk_agents.tournament.setting import Setting
from risk_env.arena import Seating
from risk_env.batch import GameBatch
from risk_env.bots import CompiledBot
from risk_env.core import entry
from risk_env.engine import batch_loop
from risk_env.seeds import game_seed
from risk_env.text import notation

LANES = 256
NO_ACTION = -1  # what stands where a bot has not answered
_FIRST_ROOM = 512  # actions a game that are kept before the room for them is doubled

Array = npt.NDArray[Any]


class Block:
    """Plays games between compiled bots, each lane one game after another."""

    def __init__(self, setting: Setting, bots: dict[int, CompiledBot], pairings: Sequence[Pairing]) -> None:
        self.setting, self.pairings = setting, pairings
        lanes = min(LANES, len(pairings))
        self.batch = GameBatch(setting.rules, setting.board, lanes, observation=None, mask=None, autoreset=False)
        self.seating = Seating(self.batch, tuple(bots.values()))
        records = self.batch.records
        self._seat, self._round = records["seat"], records["round_number"]
        self._number = {agent: number for number, agent in enumerate(bots)}  # of an agent among the bots
        self._game_of = np.zeros(lanes, np.int64)  # (N,) which of the pairings each lane plays
        self._actions = np.full(lanes, NO_ACTION, np.int64)
        self._kept = np.zeros((lanes, _FIRST_ROOM if setting.record else 0), np.int32)  # (N, …) actions so far
        P = setting.num_players
        self._decisions = np.zeros((lanes, P), np.int64)
        self._turns = np.zeros((lanes, P), np.int64)
        self._last_round = np.zeros((lanes, P), np.int64)  # (N, P) round in which each seat was last asked
        self._seconds = np.zeros((lanes, P))
        for number in range(len(self.seating.bots)):
            self._choose(number, self._game_of[:0])  # compiled now, it is not the bot's time

    def play(self) -> Iterator[GameResult]:
        """Play all the games; yields each when it has ended."""
        running = np.arange(self.batch.num_games)
        self._begin(running, running)
        following = len(running)
        while len(running):
            faulty = yield from self._ask(running)
            running = _without(running, faulty)
            self._keep(running)
            self.batch.step_lanes(running, self._actions)
            over = running[self.batch.game_over[running]]
            for lane in over:
                yield self._ended(int(lane))
            free = np.concatenate([faulty, over])
            again = free[: len(self.pairings) - following]
            self._begin(again, np.arange(following, following + len(again)))
            following += len(again)
            running = np.concatenate([_without(running, over), again]) if len(free) else running

    def _begin(self, lanes: Array, games: Array) -> None:
        """Begin these games (numbers of pairings) in these lanes."""
        if not len(lanes):
            return
        self._game_of[lanes] = games
        pairings = [self.pairings[game] for game in games]
        for lane, pairing in zip(lanes, pairings, strict=True):
            self.seating.numbers[lane, : len(pairing.seats)] = [self._number[agent] for agent in pairing.seats]
        seeds = np.zeros(self.batch.num_games, np.uint64)
        seeds[lanes] = [game_seed(self.setting.seed, pairing.deal) for pairing in pairings]
        self.batch.begin_seeded(lanes, seeds[lanes])
        self.seating.sit_down(lanes)
        for counts in (self._decisions, self._turns, self._seconds):
            counts[lanes] = 0
        self._last_round[lanes] = -1

    def _ask(self, running: Array) -> Generator[GameResult, None, Array]:
        """Let the bots choose in these lanes; yields the games whose bot chose nothing legal, returns their lanes."""
        self._actions[running] = NO_ACTION
        self._count(running)
        asked = self.seating.asked(running)
        for number in range(len(self.seating.bots)):
            theirs = running[asked == number]
            if len(theirs):
                self._choose(number, theirs)
        faulty = np.zeros(0, np.int64)
        while (lane := self._first_illegal(running)) != batch_loop.NO_LANE:
            yield self._forfeited(lane)
            faulty = np.append(faulty, lane)
            running = running[running != lane]
        return faulty

    def _first_illegal(self, lanes: Array) -> int:
        return int(batch_loop.first_illegal(self.batch.records, self.batch.tables.rules, lanes, self._actions))

    def _choose(self, number: int, lanes: Array) -> None:
        seats = self._seat[lanes]
        start = perf_counter()
        self.seating.choose(number, lanes, self._actions)
        self._seconds[lanes, seats] += (perf_counter() - start) / max(len(lanes), 1)

    def _count(self, lanes: Array) -> None:
        seats, rounds = self._seat[lanes], self._round[lanes]
        self._decisions[lanes, seats] += 1
        self._turns[lanes, seats] += self._last_round[lanes, seats] != rounds
        self._last_round[lanes, seats] = rounds

    def _keep(self, lanes: Array) -> None:
        """Keep the chosen actions of these lanes, if the tournament does."""
        if not self.setting.record or not len(lanes):
            return
        place = self._decisions[lanes].sum(axis=1) - 1
        if place.max() >= self._kept.shape[1]:
            self._kept = np.pad(self._kept, ((0, 0), (0, self._kept.shape[1])))
        self._kept[lanes, place] = self._actions[lanes]

    def _ended(self, lane: int) -> GameResult:
        game = self.batch.games[lane]
        ending = TRUNCATED if game.truncated else WON
        return self._result(lane, ending, int(game.winner), int(self._decisions[lane].sum()))

    def _forfeited(self, lane: int) -> GameResult:
        game, action = self.batch.games[lane], int(self._actions[lane])
        problem = notation.illegal_action(game, self.batch.tables, self.setting.board, action)
        forfeit = Forfeit("illegal", str(problem))
        forfeit.seat = int(game.seat)
        winner = winner_of_forfeit(game.death[: self.setting.num_players] == 0, forfeit.seat)
        return self._result(lane, FORFEIT, winner, int(self._decisions[lane].sum()) - 1, forfeit)

    def _result(self, lane: int, ending: str, winner: int, actions: int, forfeit: Forfeit | None = None) -> GameResult:
        game, pairing = self.batch.games[lane], self.pairings[self._game_of[lane]]
        shared = np.zeros(self.setting.num_players, np.int64)
        entry.placements(self.batch.records, lane, self.batch.tables.board, self.batch.tables.rules, shared)
        loser = NOBODY if forfeit is None else forfeit.seat
        return GameResult(
            pairing.game,
            pairing.deal,
            pairing.seats,
            starter=int(game.starter),
            ending=ending,
            winner=winner,
            places=final_places(shared.tolist(), int(self.batch.seeds[lane]), loser),
            rounds=int(game.round_number),
            decisions=tuple(self._decisions[lane].tolist()),
            turns=tuple(self._turns[lane].tolist()),
            seconds=tuple(self._seconds[lane].tolist()),
            forfeit_seat=loser,
            forfeit_kind="" if forfeit is None else forfeit.kind,
            forfeit_reason="" if forfeit is None else forfeit.reason,
            actions=tuple(self._kept[lane, :actions].tolist()) if self.setting.record else None,
        )


def _without(lanes: Array, others: Array) -> Array:
    """The lanes that are not among the others, order kept."""
    return lanes[~np.isin(lanes, others)] if len(others) else lanes
