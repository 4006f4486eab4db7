"""Whole games between compiled bots, many lanes at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.batch import GameBatch, is_in_one_piece
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot, compiled
from risk_env.compiler import BoundKernel
from risk_env.core.types import MAX_SEATS
from risk_env.engine import batch_loop

LEARNER = -1  # instead of a bot's number: the seat is not a bot's
MAX_LANES = 1024

Array = npt.NDArray[Any]


class Seating:
    """Which bot plays which seat in each lane of a batch; bots answer for their seats."""

    def __init__(self, batch: GameBatch, bots: Sequence[str | CompiledBot]) -> None:
        self.batch = batch
        self.bots = tuple(compiled(bot) for bot in bots)
        for bot in self.bots:
            bot.check(batch.rules, batch.board)
        N = batch.num_games
        self.numbers = np.full((N, MAX_SEATS), LEARNER, np.int64)  # (N, 6) number of the bot, or LEARNER
        self.randoms = np.zeros((N, MAX_SEATS), np.uint64)
        self.memory = np.zeros((N, MAX_SEATS, max((bot.memory for bot in self.bots), default=1)), np.int32)
        self._choosers = [BoundKernel(bot.choose) for bot in self.bots]

    def sit_down(self, lanes: Array) -> None:
        """The games of these lanes have begun: every bot's chance and memory with them."""
        batch_loop.seed_bots(self.batch.seeds, lanes, self.randoms)
        self.memory[lanes] = 0

    def asked(self, lanes: Array) -> Array:
        """int64 (k,): number of the bot that is to decide in each of these lanes, LEARNER where none is."""
        seats = self.batch.records["seat"][lanes]
        return np.where(seats >= 0, self.numbers[lanes, seats], LEARNER)

    def choose(self, number: int, lanes: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        """Let a bot choose in these lanes (k) into `actions` (N,), both in one piece."""
        T = self.batch.tables
        self._choosers[number](self.batch.records, T.board, T.rules, lanes, self.randoms, self.memory, actions)

    def answer(self, lanes: Array, actions: Array) -> Array:
        """Let the bots choose in these lanes (into actions int64, N, in one piece); the lanes in which one did."""
        if not is_in_one_piece(actions):
            raise ValueError("actions must be an array of int64 (N,) in one piece: the bots write into it")
        asked = self.asked(lanes)
        for number in range(len(self.bots)):
            theirs = lanes[asked == number]
            if len(theirs):
                self.choose(number, theirs, actions)
        return lanes[asked != LEARNER]


def result_dtype(num_players: int) -> np.dtype[Any]:
    """One game's result: its seed, winner (-1 none), places, rounds, asked decisions, whether it was truncated."""
    return np.dtype(
        [
            ("seed", np.uint64),
            ("winner", np.int8),
            ("placement", np.int8, (num_players,)),
            ("rounds", np.int32),
            ("decisions", np.int32),
            ("truncated", np.bool_),
        ]
    )


def play(
    rules: Rules,
    board: Board,
    bots: Sequence[str | CompiledBot],
    games: int,
    seed: int = 0,
    lanes: int = MAX_LANES,
    progress: Callable[[int], None] | None = None,
) -> Array:
    """Play whole games between compiled bots, bot s at seat s; game g has the seed `mix(seed, g, 0)`, whatever `lanes`.

    Returns a structured array (`result_dtype`), a row a game. `progress` is called with the number of games that ended.
    """
    if len(bots) != rules.num_players:
        raise ValueError(f"bots={list(bots)!r}: {len(bots)} bots for num_players={rules.num_players}")
    batch = GameBatch(rules, board, min(lanes, games), seed, observation=None, mask=None, autoreset=False)
    seating = Seating(batch, bots)
    seating.numbers[:, : len(bots)] = np.arange(len(bots))
    results = np.zeros(games, result_dtype(len(bots)))
    batch_loop.write_seeds(batch.seed_word, np.arange(games), np.zeros(games, np.int64), results["seed"])
    _play_all(batch, seating, results, progress or (lambda ended: None))
    return results


def _play_all(batch: GameBatch, seating: Seating, results: Array, progress: Callable[[int], None]) -> None:
    """Every lane takes the next game when its own has ended."""
    actions = np.zeros(batch.num_games, np.int64)
    game_of = np.arange(batch.num_games)
    running = np.arange(batch.num_games)
    following = len(running)
    _begin(batch, seating, running, results["seed"][game_of])
    while len(running):
        batch.step_lanes(seating.answer(running, actions), actions)
        ended = running[batch.game_over[running]]
        if not len(ended):
            continue
        _note(batch, ended, results, game_of[ended])
        progress(len(ended))
        again = ended[: len(results) - following]
        game_of[again] = np.arange(following, following + len(again))
        following += len(again)
        _begin(batch, seating, again, results["seed"][game_of[again]])
        running = np.setdiff1d(running, ended[len(again) :], assume_unique=True)


def _begin(batch: GameBatch, seating: Seating, lanes: Array, seeds: Array) -> None:
    batch.begin_seeded(lanes, seeds)
    seating.sit_down(lanes)


def _note(batch: GameBatch, lanes: Array, results: Array, games: Array) -> None:
    batch.finish(lanes)
    results["winner"][games] = batch.records["winner"][lanes]
    results["placement"][games] = batch.final_placement[lanes]
    results["rounds"][games] = batch.final_rounds[lanes]
    results["decisions"][games] = batch.records["decisions"][lanes]
    results["truncated"][games] = batch.records["truncated"][lanes]
