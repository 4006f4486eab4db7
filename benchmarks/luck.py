"""Luck in duels: bias, variance and cost of win rates without luck (`risk_agents.luck`).

    python -m benchmarks.luck                                        # the pairs of docs/benchmark.md
    python -m benchmarks.luck --pairs grower-breaker --games 10000

Two agents play each deal from both seats. The table shows for each pair:

* won, without luck: the win rate of the first agent, and the win rate without luck.
* luck ± error: the first agent's mean luck per game, and the standard error over deals. The mean should be
  within about two errors of 0.
* gain: the variance of a deal's result divided by the variance without luck, with a 95 % confidence interval
  (bootstrap over deals). For the same precision, a plain win rate needs this many times as many games.
* CPU time: time to measure the luck of a game.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.luck import LuckMeter
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.jobs import play
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results import GameResult
from risk_env.arrays import Floats
from risk_env.board.rules import FAST, Rules
from risk_env.seeds import game_seed

PAIRS = (
    "grower-breaker",
    "attacker-breaker",
    "evolved:1-breaker",
    "planner-breaker",
    "beam-planner",
    "beam-marshal",
)
GAMES = 2000
MOST_AT_ONCE = 512  # maximum number of games in a chunk
SAMPLES = 1000  # number of bootstrap samples
PACKAGES = ("risk-env", "numpy", "numba")

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    pairs = ",".join(PAIRS)
    add("--pairs", default=pairs, metavar="A-B,C-D,...", help="pairs of agents (default: %(default)s)")
    add("--games", type=at_least_one, default=GAMES, help="number of games per pair (default: %(default)s)")
    attack = "option `attack` of the rules: blitz, max or choice (default: %(default)s)"
    add("--attack", default="blitz", help=attack)
    add("--seed", type=int, default=40, help="seed of all deals (default: %(default)s)")
    add("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.luck", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    rules = Rules.preset("classic", 2, profile=FAST, attack=arguments.attack)
    record["rows"] = []
    for pair in arguments.pairs.split(","):
        record["rows"].append(measure(pair, rules, arguments.games, arguments.seed))
        print(*table(*_cells(record["rows"][-1:])), sep="\n", flush=True)
    print(f"\n{report(record)}")
    if arguments.record:
        print(f"\nrecorded in {keep('luck', record, report(record))}")


def measure(pair: str, rules: Rules, games: int, seed: int) -> Row:
    """Play the games of a pair, and return the row of the pair."""
    first, _, second = pair.partition("-")
    config = make_config([first, second], rules, duel=True, record=True, seed=seed)
    results = played(config, games)
    meter = LuckMeter(config.rules, config.board)
    meter.prepare()
    seeds = [game_seed(seed, result.deal) for result in results]
    start = time.process_time()
    luck = meter.luck(meter.begun(seeds), [result.actions or () for result in results])
    spent = time.process_time() - start
    own = np.array([result.seats.index(0) for result in results])
    won = np.array([result.winner for result in results]) == own
    lucky = luck[np.arange(len(own)), own]
    plain, mean_luck = of_deals(won.astype(float)), of_deals(lucky)
    lost = of_deals((np.array([result.winner for result in results]) == 1 - own).astype(float))
    score = plain - lost
    low, high = interval(score, score - 2.0 * mean_luck, seed)
    return {
        "pair": pair,
        "games": len(results),
        "win": float(plain.mean()),
        "adjusted": float((plain - mean_luck).mean()),
        "luck": float(mean_luck.mean()),
        "error": float(mean_luck.std(ddof=1) / np.sqrt(len(mean_luck))),
        "gain": float(score.var() / (score - 2.0 * mean_luck).var()),
        "gain_low": low,
        "gain_high": high,
        "ms": 1000.0 * spent / len(results),
    }


def played(config: TournamentConfig, games: int) -> list[GameResult]:
    """Play whole deals, at least `games` games, and return the results in the order of the schedule."""
    schedule = config.schedule(games)
    chunks = (schedule[first : first + MOST_AT_ONCE] for first in range(0, len(schedule), MOST_AT_ONCE))
    results = [result for chunk in chunks for result in play(config, tuple(chunk))]
    return sorted(results, key=lambda result: result.game)


def of_deals(values: Floats) -> Floats:
    """Return the mean value of the two games of each deal."""
    return values.reshape(-1, 2).mean(axis=1)


def interval(plain: Floats, adjusted: Floats, seed: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of the ratio of variances, from a bootstrap over deals."""
    chance, gains = np.random.default_rng(seed), []
    for _ in range(SAMPLES):
        drawn = chance.integers(len(plain), size=len(plain))
        gains.append(plain[drawn].var() / adjusted[drawn].var())
    low, high = np.quantile(gains, (0.025, 0.975))
    return float(low), float(high)


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    return "\n".join(["# Luck in duels", "", *heading_lines(record), "", *table(*_cells(record["rows"]))])


def _cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the cells of the table."""
    heading_cells = ["pair", "games", "won, %", "without luck, %", "luck ± error, %", "gain", "CPU time, ms"]
    return heading_cells, [
        [
            row["pair"],
            f"{row['games']:,}",
            f"{100 * row['win']:.1f}",
            f"{100 * row['adjusted']:.1f}",
            f"{100 * row['luck']:+.2f} ± {100 * row['error']:.2f}",
            f"{row['gain']:.2f} [{row['gain_low']:.2f}, {row['gain_high']:.2f}]",
            f"{row['ms']:.2f}",
        ]
        for row in rows
    ]


if __name__ == "__main__":
    main()
