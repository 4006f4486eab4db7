"""Calibration of the value of `strategist` in games between bots, by number of players and rounds.

    python -m benchmarks.calibration --field kept_out:stranger-1,kept_out:stranger-2,kept_out:stranger-3
    python -m benchmarks.calibration --field walker,saver,grudge --players 5 --setup claim --games 4000

Compiled bots that are drawn from the field play every seat. At the start of each turn, the value predicts the
win probability of the seat whose turn begins. The predictions are sorted and divided into ten groups of equal
size. The mean prediction of each group is compared with the share of won games. `error` is the largest
difference among the ten groups, in percentage points. `expected error` is the mean of this largest difference
if the predictions are exact and all differences come from chance.

In the report, a *phase* is a range of rounds. Intervals are 95 % confidence intervals from a bootstrap over
games.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.hazards import GROUPS, PACKAGES, calibration
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.agent_list import split_agents
from risk_agents.learned.state_value import StateValueFile
from risk_agents.registry import load_bot
from risk_agents.search.judges import FILE
from risk_env.arena import ANY_SEAT, Arena
from risk_env.arrays import Array, Ints
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.game_vector import GameVector
from risk_env.seeds import game_seed

PLAYERS = (2, 3, 4, 5, 6)
SETUPS = ("deal", "claim")
PHASES = {"rounds 1 to 4": (1, 4), "rounds 5 to 9": (5, 9), "from round 10 on": (10, 10**9)}
WAVE = 500  # number of games that are played together
SAMPLES = 200  # number of samples of the expected error
TURN = np.dtype([("deal", np.int64), ("round", np.int64), ("predicted", np.float64), ("won", np.bool_)])


class Games(NamedTuple):
    """Kind of games: rules, map, and the bots that are drawn for the seats."""

    rules: Rules
    board: Board
    bots: Sequence[CompiledBot]


def main(argv: Sequence[str] | None = None) -> None:
    """Play the games, print the report and, if `--record` is given, store the report."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add(
        "--field", required=True, metavar="A,B,...", help="compiled bots, of which one is drawn for each seat"
    )
    add("--players", type=int, nargs="+", default=PLAYERS, help="numbers of players (default: 2 3 4 5 6)")
    setups = "set-ups (default: deal claim); claim is left out for two players (RULES 6.4)"
    add("--setup", nargs="+", choices=SETUPS, default=SETUPS, help=setups)
    games = "number of games for each number of players and set-up (default: 2000)"
    add("--games", type=at_least_one, default=2000, help=games)
    add("--seed", type=int, default=39, help="seed of all games (default: 39)")
    add("--record", action="store_true", help="store the report in benchmarks/results")
    arguments = parser.parse_args(argv)
    if 2 in arguments.players and "deal" not in arguments.setup:
        parser.error("--players 2 --setup claim: two players need --setup deal (RULES 6.4)")
    field = split_agents(arguments.field, "--field")
    bots = [load_bot(spec) for spec in field]
    command = ["python", "-m", "benchmarks.calibration", *(sys.argv[1:] if argv is None else argv)]
    board, value = load_map("classic"), StateValueFile.load(FILE)
    record = heading(command, PACKAGES) | {"field": field, "games": arguments.games, "rows": []}
    for players in arguments.players:
        for setup in (setup for setup in arguments.setup if players > 2 or setup == "deal"):
            rules = Rules.preset("classic", players, setup=setup, profile=FAST)
            value.check(rules, board, "strategist")
            turns = played(Games(rules, board, bots), value, arguments.games, arguments.seed)
            record["rows"] += rows_of(turns, players, setup, arguments.seed)
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('calibration', record, report(record))}")


def played(kind: Games, value: StateValueFile, count: int, seed: int) -> Array:
    """Play `count` games, and return their turns after the set-up, TURN (k,), with predictions of `value`."""
    waves = range(0, count, WAVE)
    return np.concatenate([wave(kind, value, range(k, min(k + WAVE, count)), seed) for k in waves])


def wave(kind: Games, value: StateValueFile, games: range, seed: int) -> Array:
    """Play the games with these numbers together, and return their turns."""
    lanes: Ints = np.arange(len(games))
    batch = GameVector(kind.rules, kind.board, len(games), observation=None, mask=None, autoreset=False)
    arena = Arena(batch, list(kind.bots))
    arena.stop_at_turn[:] = ANY_SEAT
    chance = np.random.default_rng([seed, games.start])
    arena.numbers[:] = chance.integers(len(kind.bots), size=(len(games), MAX_SEATS))
    batch.begin_seeded(lanes, np.array([game_seed(seed, game) for game in games], np.uint64))
    arena.seat_players(lanes)
    pieces = []
    while len(lanes):
        arena.play_on(lanes)
        lanes = lanes[batch.records["phase"][lanes] != Phase.OVER]
        records = batch.records[lanes]
        begun = records[records["round_number"] > 0]  # after the set-up
        turns = np.zeros(len(begun), TURN)
        turns["deal"], turns["round"] = lanes[records["round_number"] > 0], begun["round_number"]
        seats = begun["seat"].astype(np.int64)
        turns["predicted"] = value.chances(begun, batch.tables)[np.arange(len(begun)), seats]
        pieces.append((turns, seats))
    turns, seats = (np.concatenate(part) for part in zip(*pieces, strict=True))
    turns["won"] = batch.records["winner"][turns["deal"]] == seats
    turns["deal"] += games.start
    return turns


def rows_of(turns: Array, players: int, setup: str, seed: int) -> list[dict[str, Any]]:
    """Return the calibration and the expected error of all turns and of each entry of PHASES."""
    parts = {"all turns": turns}
    for name, (first, last) in PHASES.items():
        parts[name] = turns[(turns["round"] >= first) & (turns["round"] <= last)]
    return [
        {
            "players": players,
            "setup": setup,
            "phase": name,
            "turns": len(part),
            "groups": calibration(part, seed),
            "expected_error": expected_error(part, seed),
        }
        for name, part in parts.items()
        if len(part)
    ]


def expected_error(turns: Array, seed: int) -> float:
    """Return the largest error that chance alone produces, as a mean over SAMPLES bootstrap samples.

    The mean difference of the group is subtracted from each difference between result and prediction, as if
    the mean prediction of the group were exact. Each sample draws whole games.
    """
    groups = np.array_split(np.argsort(turns["predicted"], kind="stable"), GROUPS)
    _, game_of = np.unique(turns["deal"], return_inverse=True)
    count = game_of.max() + 1
    chance, errors = np.random.default_rng(seed), np.zeros(SAMPLES)
    weights = chance.multinomial(count, np.full(count, 1 / count), size=SAMPLES)
    for group in groups:
        differences = turns["won"][group] - turns["predicted"][group]
        sums = np.bincount(game_of[group], differences - differences.mean(), count)
        counts = np.bincount(game_of[group], minlength=count)
        means = weights @ sums / np.maximum(weights @ counts, 1)
        errors = np.maximum(errors, np.abs(means))
    return float(errors.mean())


def error_of(row: dict[str, Any]) -> float:
    """Return the largest difference between mean prediction and share of won games, over a row's groups."""
    return max(abs(group["predicted"] - group["won"][0]) for group in row["groups"])


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown: the largest errors, then the groups of all turns."""
    errors = [
        (
            row["players"],
            row["setup"],
            row["phase"],
            f"{row['turns']:,}",
            f"{100 * error_of(row):.1f}",
            f"{100 * row['expected_error']:.1f}",
        )
        for row in record["rows"]
    ]
    groups = [
        (row["players"], row["setup"], *map(cell, row["groups"]))
        for row in record["rows"]
        if row["phase"] == "all turns"
    ]
    titles = ("players", "set-up")
    return "\n".join(
        [
            *("# Calibration of the value of strategist", "", *heading_lines(record), ""),
            *table((*titles, "phase", "turns", "error", "expected error"), errors),
            *(
                "",
                "Mean prediction and share of won games (with its interval) in each group, in percent:",
                "",
            ),
            *table((*titles, *map(str, range(1, GROUPS + 1))), groups),
        ]
    )


def cell(group: dict[str, Any]) -> str:
    """Format a group's mean prediction, share of won games and confidence interval, in percent."""
    won, low, high = (100 * part for part in group["won"])
    return f"{100 * group['predicted']:.1f}: {won:.1f} [{low:.1f}, {high:.1f}]"


if __name__ == "__main__":
    main()
