"""Check of game reviews: are the reported turns worse than the better plans (`risk_agents.review`)?

    python -m benchmarks.review                    # 50 games of 2 to 6 bots
    python -m benchmarks.review --games 10 --workers 2
    python -m benchmarks.review --preset command_room --games 8 --rollouts 300

Every game is reviewed. Every turn that a review reports is then checked in `--rollouts` pairs of rollouts to
the end of the game. One rollout repeats the turn as it was played, and the other rollout plays the better
plan. Both rollouts have the same hidden cards and the same future dice. The samples differ from the samples
of the review. A turn is confirmed if the mean difference is above 0 at a level of 5 % (one-sided z test of
the pairs).

The games are played on two maps, with each number of players of the preset in turn. On `classic`, with the
default preset, a learned value evaluates positions. On `inner_sea`, a heuristic does. The table has a row for
each map and for each number of players:

* turns, CPU time: mean number of turns of a game, and mean CPU time of a review.
* reported, confirmed: turns that the reviews report, and turns that the check confirms.
* loss: mean loss of win probability, according to the reviews and according to the checks.

With `--record`, all results so far are stored after every game.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.registry import play_game
from risk_agents.review.recorded import recorded_turns
from risk_agents.review.reviewing import Loss, Mistake, Reviewer
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules, preset_players, presets

BOTS = ("beam", "planner", "breaker", "hunter", "grower", "turtle", "holder", "walker")
MAPS = ("classic", "inner_sea")
GAMES, ROLLOUTS = 50, 1000
LEVEL = 1.645  # quantile of the one-sided test at 5 %
PACKAGES = ("risk-env", "numpy", "numba")

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Review games, check the reported turns and print the results; if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add(
        "--games",
        type=at_least_one,
        default=GAMES,
        metavar="N",
        help="number of games (default: %(default)s)",
    )
    rollouts = "number of pairs of rollouts in a check (default: %(default)s)"
    add("--rollouts", type=at_least_one, default=ROLLOUTS, metavar="N", help=rollouts)
    preset = "preset of the games (default: %(default)s)"
    add("--preset", choices=presets(), default="classic", metavar="NAME", help=preset)
    add("--seed", type=int, default=42, help="seed of the games (default: %(default)s)")
    add("--workers", type=at_least_one, default=1, metavar="N", help="number of processes (default: 1)")
    add("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    record = heading(
        ["python", "-m", "benchmarks.review", *(sys.argv[1:] if argv is None else argv)], PACKAGES
    )
    record["games"] = []
    jobs = [
        (arguments.preset, number, arguments.seed, arguments.rollouts) for number in range(arguments.games)
    ]
    for row in results_of(jobs, arguments.workers):
        record["games"] = sorted([*record["games"], row], key=lambda entry: entry["game"])
        print(_line(row), flush=True)
        if arguments.record:
            keep("review", record, report(record))
    print(f"\n{report(record)}")


def results_of(jobs: Sequence[tuple[str, int, int, int]], workers: int) -> Iterator[Row]:
    """Yield the result of each game, as soon as the result is known."""
    if workers == 1:
        yield from (measure(*job) for job in jobs)
        return
    with ProcessPoolExecutor(workers) as pool:
        for job in as_completed([pool.submit(measure, *job) for job in jobs]):
            yield job.result()


def tables_of(preset: str) -> list[tuple[Rules, Board]]:
    """Return the rules and maps of the games: every number of players on each map."""
    return [
        (Rules.preset(preset, players, profile=FAST), load_map(name))
        for name in MAPS
        for players in preset_players(preset)
    ]


def measure(preset: str, number: int, seed: int, rollouts: int) -> Row:
    """Play and review a game, check the reported turns, and return the result."""
    rng, tables = np.random.default_rng([seed, number]), tables_of(preset)
    rules, board = tables[number % len(tables)]
    bots = [str(bot) for bot in rng.choice(BOTS, size=rules.num_players, replace=False)]
    game = play_game(rules, board, bots, seed, lane=number)
    reviewer = Reviewer(rules, board)
    reviewer.prepare()
    start = time.process_time()
    reviewed = reviewer.review(game, bots)
    spent = time.process_time() - start
    checker, checked = Reviewer(rules, board, seed=1), []
    turns, events = recorded_turns(game)
    for _ in events:  # completes the list of turns
        pass
    of_turn = {(turn.round, turn.seat): turn for turn in turns}
    for n, mistake in enumerate(reviewed.mistakes):
        turn, plan = of_turn[mistake.round, mistake.seat], checker.plan_named(mistake.plan)
        check = Loss.of(checker.differences(turn, plan, rollouts, (n,)))
        checked.append(_check(mistake, check))
    facts = {"game": number, "map": board.source, "bots": bots, "turns": len(reviewed.turns)}
    return facts | {"seconds": round(spent, 2), "checks": checked}


def _check(mistake: Mistake, check: Loss) -> Row:
    """Return a reported turn with the result of the check."""
    facts = {name: getattr(mistake, name) for name in ("round", "seat", "loss", "error", "games", "plan")}
    loss, error, games = check.rounded()
    return facts | {"checked": loss, "checked_error": error, "checked_games": games}


def is_confirmed(check: Row) -> bool:
    """Return True if the check confirms a reported turn at a level of 5 %."""
    return bool(check["checked"] > LEVEL * check["checked_error"])


def _line(row: Row) -> str:
    """Return a one-line summary of a reviewed game."""
    confirmed = sum(map(is_confirmed, row["checks"]))
    return (
        f"game {row['game']} on {row['map']}: {', '.join(row['bots'])}: {row['turns']} turns, "
        f"{row['seconds']:.1f} s, "
        f"{confirmed} of {len(row['checks'])} reported turns confirmed"
    )


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    games = record["games"]
    groups = [(name, [row for row in games if row["map"] == name]) for name in MAPS]
    counts = sorted({len(row["bots"]) for row in games})
    groups += [(f"{n} players", [row for row in games if len(row["bots"]) == n]) for n in counts]
    rows = [_cells(name, members) for name, members in [*groups, ("all", games)] if members]
    columns = [
        *("map or players", "games", "turns per game", "CPU time, s", "reported turns", "confirmed turns"),
        *("confirmed, %", "loss in reviews, %", "loss in checks, %"),
    ]
    return "\n".join(["# Reviews", "", *heading_lines(record), "", *table(columns, rows)])


def _cells(name: str, games: Sequence[Row]) -> list[str]:
    """Return the cells of a row: means over games, and means over reported turns."""
    checks = [check for row in games for check in row["checks"]]
    confirmed, most = sum(map(is_confirmed, checks)), max(len(checks), 1)
    mean = [sum(row[name] for row in games) / len(games) for name in ("turns", "seconds")]
    losses = [100 * sum(check[name] for check in checks) / most for name in ("loss", "checked")]
    return [
        name,
        str(len(games)),
        f"{mean[0]:.0f}",
        f"{mean[1]:.1f}",
        str(len(checks)),
        str(confirmed),
        f"{100 * confirmed / most:.1f}",
        f"{losses[0]:.1f}",
        f"{losses[1]:.1f}",
    ]


if __name__ == "__main__":
    main()
