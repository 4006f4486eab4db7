"""Whole games per second of compiled bots: `python -m benchmarks.bots [--record]`.

Every bot plays against itself in all seats, on one thread, through `arena.play`. The rules follow the profile
"fast", except that territories are claimed with three and six players. The number of games is doubled until
the games take at least `--seconds`. Compiling is not timed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.arguments import above_zero, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_env import arena
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules

BOTS = ("random", "attacker", "grower", "hunter", "breaker", "planner", "beam")
SETUPS = {2: "deal", 3: "claim", 6: "claim"}  # set-up by number of players, the same in all records
PLAYERS = tuple(SETUPS)
PACKAGES = ("risk-env", "numpy", "numba")
FIRST_GAMES = 16
AIMS = {2: 1000, 6: 200}  # games per second of the simple bots, by number of players
SIMPLE = ("attacker", "grower")

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    parser.add_argument(
        "--bots", default=",".join(BOTS), metavar="A,B,...", help="compiled bots (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=above_zero,
        default=2.0,
        help="minimum CPU time of a measurement, in seconds (default: %(default)s)",
    )
    parser.add_argument("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.bots", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    record["rows"] = [
        measure(bot, players, arguments.seconds) for bot in arguments.bots.split(",") for players in PLAYERS
    ]
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('bots', record, report(record))}")


def measure(bot: str, players: int, seconds: float) -> Row:
    """Return the speed of games of a bot against itself, and the mean length of these games."""
    rules, board = (
        Rules.preset("classic", players, profile="fast", setup=SETUPS[players]),
        load_map("classic"),
    )
    games, spent = FIRST_GAMES, 0.0
    arena.play(rules, board, [bot] * players, 1)
    while spent < seconds:
        games *= 2
        start = time.process_time()
        results = arena.play(rules, board, [bot] * players, games)
        spent = time.process_time() - start
    return {
        "bot": bot,
        "players": players,
        "games": games,
        "games_per_second": games / spent,
        "rounds": float(results["rounds"].mean()),
        "decisions": float(results["decisions"].mean()),
    }


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    columns = ("bot", "players", "games per second", "rounds per game", "decisions per game")
    rows = [
        (
            row["bot"],
            row["players"],
            *(f"{row[name]:,.4g}" for name in ("games_per_second", "rounds", "decisions")),
        )
        for row in record["rows"]
    ]
    text = "Whole games, in which one bot plays all seats: preset `classic`, one core, seconds of CPU time."
    return "\n".join(
        ["# Bots", "", *heading_lines(record), "", text, "", *table(columns, rows), "", *aims(record["rows"])]
    )


def aims(rows: Sequence[Row]) -> list[str]:
    """Return lines that compare the speed of the simple bots with AIMS."""
    simple = [row for row in rows if row["bot"] in SIMPLE and row["players"] in AIMS]
    return [
        f"* {row['bot']}, {row['players']} players: "
        f"{row['games_per_second']:,.4g} games per second (aim: {AIMS[row['players']]:,})"
        for row in simple
    ]


if __name__ == "__main__":
    main()
