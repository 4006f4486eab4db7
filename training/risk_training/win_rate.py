"""How often a policy wins against compiled bots: many games at once, every deal from every seat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from risk_env.arena import LEARNER, Seating, play
from risk_env.batch import GameBatch
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot, compiled
from risk_env.seeds import game_seed

_Z = 1.96  # of a 95 % interval


class Scorer(Protocol):
    """A policy as it is asked here."""

    def logits(self, codes: npt.NDArray[Any], masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """float (k, n), highest for what the policy would do, of codes int8 (k, D) and masks (k, n)."""


@dataclass(frozen=True)
class WinRate:
    """Games won of games played; truncated ones count as not won."""

    wins: int
    games: int
    truncated: float  # share
    rounds: float = 0.0  # mean

    @property
    def interval(self) -> tuple[float, float, float]:
        """The rate and the ends of its 95 % interval (Wilson 1927)."""
        rate, spread = self.wins / self.games, _Z * _Z / self.games
        middle = (rate + spread / 2) / (1 + spread)
        half = _Z / (1 + spread) * np.sqrt(rate * (1 - rate) / self.games + spread / (4 * self.games))
        return rate, float(max(0.0, middle - half)), float(min(1.0, middle + half))


def check_rivals(names: Iterable[str], rules: Rules, board: Board) -> None:
    """ValueError for a scripted opponent that there is not, or that cannot play such games: before a run, not in it."""
    for name in names:
        compiled(name).check(rules, board)


def win_rate(
    policy: Scorer, rules: Rules, board: Board, opponent: str | CompiledBot, games: int, seed: int = 0
) -> WinRate:
    """Play at least `games`, whole deals, against `opponent` in all other seats; the policy does what is likeliest."""
    seats = rules.num_players
    batch = GameBatch(rules, board, -(-games // seats) * seats, autoreset=False)
    lanes = np.arange(batch.num_games)
    seating = Seating(batch, [opponent])
    seating.numbers[:, :seats] = 0
    seating.numbers[lanes, lanes % seats] = LEARNER
    batch.begin_seeded(lanes, np.array([game_seed(seed, deal) for deal in lanes // seats], np.uint64))
    seating.sit_down(lanes)
    actions = np.zeros(batch.num_games, np.int64)
    running = lanes
    while len(running):
        _decide(policy, batch, running[seating.asked(running) == LEARNER], actions)
        seating.answer(running, actions)
        batch.step_lanes(running, actions)
        running = running[batch.records["seat"][running] >= 0]
    won = seating.numbers[lanes, batch.records["winner"]] == LEARNER
    won &= batch.records["winner"] >= 0
    cut, rounds = batch.records["truncated"], batch.records["round_number"]
    return WinRate(int(won.sum()), len(won), float(cut.mean()), float(rounds.mean()))


def bot_win_rate(
    bot: CompiledBot, rules: Rules, board: Board, opponent: str | CompiledBot, games: int, seed: int = 0
) -> WinRate:
    """The same for a compiled bot."""
    seats = rules.num_players
    results = [
        play(rules, board, [bot if place == seat else opponent for place in range(seats)], -(-games // seats), seed)
        for seat in range(seats)
    ]
    won = np.concatenate([found["winner"] == seat for seat, found in enumerate(results)])
    cut, rounds = (np.concatenate([found[name] for found in results]) for name in ("truncated", "rounds"))
    return WinRate(int(won.sum()), len(won), float(cut.mean()), float(rounds.mean()))


def _decide(policy: Scorer, batch: GameBatch, lanes: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
    """The policy's likeliest actions in these lanes."""
    if len(lanes):
        batch.ask(lanes)
        actions[lanes] = policy.logits(batch.observation[lanes], batch.action_mask[lanes]).argmax(1)  # type: ignore
