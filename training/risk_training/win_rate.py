"""Win rate of a player against one opponent in all other seats. Every deal is played from every seat."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from risk_agents.registry import load_opponent
from risk_agents.workers import InProcess, WorkExecutor, in_order
from risk_env.arena import play
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.players import Named

Seating = Callable[[], Named]

GAMES_AT_ONCE = 48  # games that a worker plays at once
_Z = 1.96  # normal quantile of a 95 % confidence interval


@dataclass(frozen=True)
class WinRate:
    """Win rate of a player: numbers of games won and played, and statistics of these games.

    A truncated game counts as not won. Statistics that are not computed keep their defaults.
    """

    wins: int
    games: int
    truncated: float  # share of truncated games
    rounds: float = 0.0  # mean number of rounds
    by_seat: tuple[float, ...] = ()  # (P,): win rate by seat
    mean_place: float = 0.0  # mean place of the player; the first place is 1 (RULES 11.2)

    @property
    def interval(self) -> tuple[float, float, float]:
        """Win rate, and the ends of the 95 % confidence interval (Wilson 1927)."""
        rate, spread = self.wins / self.games, _Z * _Z / self.games
        middle = (rate + spread / 2) / (1 + spread)
        half = _Z / (1 + spread) * np.sqrt(rate * (1 - rate) / self.games + spread / (4 * self.games))
        return rate, float(max(0.0, middle - half)), float(min(1.0, middle + half))


def win_rate_by(
    executor: WorkExecutor,
    seating: Seating,
    rules: Rules,
    board: Board,
    opponent: str,
    games: int,
    seed: int = 0,
    named: Sequence[str] = (),
) -> WinRate:
    """Return the win rate in at least `games` games, played in whole deals by an executor.

    `seating` is the factory of the player in the form that the executor takes (`WorkExecutor.share`).
    `opponent` and `named` are arguments of `registry.load_opponent`.
    """
    deals = -(-games // rules.num_players)
    size = deals if isinstance(executor, InProcess) else -(-GAMES_AT_ONCE // rules.num_players)
    firsts = range(0, deals, size)
    pieces = ((seating, rules, board, opponent, range(k, min(k + size, deals)), seed, named) for k in firsts)
    return summarise(np.concatenate(list(in_order(executor, _play_part, pieces))), rules.num_players)


def _play_part(
    seating: Seating,
    rules: Rules,
    board: Board,
    opponent: str,
    deals: range,
    seed: int,
    named: Sequence[str],
) -> Array:
    return play_deals(seating(), rules, board, load_opponent(opponent, named), deals, seed)


def play_deals(
    player: Named,
    rules: Rules,
    board: Board,
    opponent: Named,
    deals: range,
    seed: int = 0,
    lanes: int | None = None,
) -> Array:
    """Play these deals, and return one row of results per game.

    `lanes` games are played at a time (None: all games). Each deal has one row for each seat of the player,
    in the order of the seats.
    """
    seats = rules.num_players
    games = len(deals) * seats
    places = np.arange(games) % seats
    line_ups = (np.arange(seats) != places[:, None]).astype(np.int64)
    players = [player, opponent]
    return play(
        rules, board, players, games, seed, lanes or games, line_ups=line_ups, deals=np.repeat(deals, seats)
    )


def summarise(results: Array, seats: int) -> WinRate:
    """Return the win rate, given the results of whole deals."""
    won = results["winner"] == np.arange(len(results)) % seats
    truncated, rounds = float(results["truncated"].mean()), float(results["rounds"].mean())
    return WinRate(
        int(won.sum()), len(won), truncated, rounds, tuple(won.reshape(-1, seats).mean(axis=0).tolist())
    )
