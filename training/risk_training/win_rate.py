"""How often a policy wins against compiled bots: many games at once, every deal from every seat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from risk_env.arena import play
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot, compiled
from risk_env.lanes import Lanes

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
    policy: Scorer | CompiledBot, rules: Rules, board: Board, opponent: str | CompiledBot, games: int, seed: int = 0
) -> WinRate:
    """Play at least `games`, whole deals, against `opponent` in all other seats; a policy does what is likeliest."""
    seats = rules.num_players
    games = -(-games // seats) * seats
    deals, places = np.divmod(np.arange(games), seats)
    line_ups = (np.arange(seats) != places[:, None]).astype(np.int64)
    player = policy if isinstance(policy, CompiledBot) else Likeliest(policy)
    results = play(rules, board, [player, opponent], games, seed, lanes=games, line_ups=line_ups, deals=deals)
    won = results["winner"] == places
    return WinRate(int(won.sum()), games, float(results["truncated"].mean()), float(results["rounds"].mean()))


class Likeliest:
    """A `Scorer` as a player (`risk_env.arena.Player`): it does what is likeliest."""

    def __init__(self, policy: Scorer) -> None:
        self.policy = policy

    def begin(self, batch: Lanes, lanes: npt.NDArray[np.int64], seats: npt.NDArray[np.int64]) -> None:
        """It keeps nothing of a game."""

    def choose(self, batch: Lanes, lanes: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        """The likeliest actions in these lanes."""
        batch.ask(lanes)
        codes, masks = np.asarray(batch.observation)[lanes], np.asarray(batch.action_mask)[lanes]
        actions[lanes] = self.policy.logits(codes, masks).argmax(1)
