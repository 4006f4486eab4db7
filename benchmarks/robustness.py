"""Win rates of an agent against bots of each style, compared with the win rate against known bots.

    python -m benchmarks.robustness beam --games 300
    python -m benchmarks.robustness strategist --players 5 --setups deal --games 100 --out games

Each style belongs to a scripted bot that no rollout, plan or training of this project uses. In the games of a
style, this bot plays all other seats. In the games of the known bots, all other players are drawn from KNOWN.
The gap of a style is the win rate against the known bots minus the win rate against the style. If the largest
gap is small, the agent depends little on the opponents of its training.

The agent plays every deal from every seat. The games use the profile "fast". Confidence intervals are
clustered by deals and openings. The interval of a gap combines two intervals (MOVER, Donner and Zou 2012).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents import kept_out
from risk_agents.agent_list import labelled, split_agents
from risk_agents.rules_arguments import MAP, PRESET
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.exports import percent
from risk_agents.tournament.jobs import close_pools
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.running import conduct
from risk_agents.tournament.summary import Estimate, Games
from risk_env.board.rules import FAST, Rules

STYLES = (
    *("walker", "saver", "leader_stopper", "grudge"),
    *(f"kept_out:{name}" for name in kept_out.STRANGERS),
)
KNOWN = ("grower", "hunter", "breaker", "planner", "beam")
PLAYERS, SETUPS = "3,5,6", "deal,claim"
TESTED = "tested"  # label of the agent in the file of the games
KNOWN_BOTS = "known bots"  # label of the known bots in the report
PACKAGES = ("risk-env", "numpy", "numba")


class Row(NamedTuple):
    """Result of the agent against one group of opponents."""

    opponents: str
    games: int
    won: Estimate
    gap: Estimate | None  # None for the known bots


class TableRows(NamedTuple):
    """Results of the agent for one number of players and one set-up."""

    players: int
    setup: str
    rows: list[Row]


def main(argv: Sequence[str] | None = None) -> None:
    """Play the games, print the report and, if `--record` is given, store the report."""
    arguments = _parser().parse_args(argv)
    command = ["python", "-m", "benchmarks.robustness", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    record["agent"] = arguments.agent
    print("\n".join([f"# Robustness of {arguments.agent}", "", *heading_lines(record)]))
    tables = []
    for rules in _rules_of(arguments):
        tables.append(TableRows(rules.num_players, rules.setup, _played(arguments, rules)))
        print("\n".join(section(tables[-1])), flush=True)
    print(f"\n{largest_gap(tables)}")
    if arguments.record:
        record["tables"] = [_facts(each) for each in tables]
        print(f"\nrecorded in {keep('robustness', record, report(record, tables))}")


def _facts(played: TableRows) -> dict[str, Any]:
    """Return the rows of a table as JSON values."""
    rows = [
        {**row._asdict(), "won": vars(row.won), "gap": None if row.gap is None else vars(row.gap)}
        for row in played.rows
    ]
    return {**played._asdict(), "rows": rows}


def _parser() -> argparse.ArgumentParser:
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add("agent", help="agent to measure: a name, or any other spec")
    styles = "bots, one for each style (default: %(default)s)"
    add("--styles", default=",".join(STYLES), metavar="A,B,...", help=styles)
    add(
        "--known",
        default=",".join(KNOWN),
        metavar="A,B,...",
        help="bots that play as the known bots (default: %(default)s)",
    )
    add("--players", default=PLAYERS, metavar="N,...", help="numbers of players (default: %(default)s)")
    add("--setups", default=SETUPS, metavar="NAME,...", help="set-ups (default: %(default)s)")
    add("--preset", default=PRESET, metavar="NAME", help="preset of the rules (default: %(default)s)")
    add("--map", default=MAP, metavar="NAME", help="name or file of the map (default: %(default)s)")
    add(
        "--games",
        type=at_least_one,
        default=300,
        metavar="N",
        help="number of games per group of opponents (default: 300)",
    )
    add("--seed", type=int, default=39, help="seed of all deals (default: %(default)s)")
    add("--workers", type=at_least_one, default=1, metavar="N", help="number of processes (default: 1)")
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="folder for the files of the games; games that are already there are not played again (default: "
        "a temporary folder)",
    )
    add("--record", action="store_true", help="store the report in benchmarks/results")
    return parser


def _rules_of(arguments: argparse.Namespace) -> list[Rules]:
    """Return the rules of each table. Raises ValueError for a wrong number of players or a wrong set-up."""
    numbers = split_agents(arguments.players, "--players")
    if not all(number.isdecimal() for number in numbers):
        raise ValueError(f"--players {arguments.players}: give numbers of players, as in 3,5,6")
    return [
        Rules.preset(arguments.preset, int(number), profile=FAST, setup=setup)
        for number in numbers
        for setup in split_agents(arguments.setups, "--setups")
    ]


def _played(arguments: argparse.Namespace, rules: Rules) -> list[Row]:
    """Play the games with these rules, and return a row for each group of opponents."""
    styles, known = (split_agents(getattr(arguments, name), f"--{name}") for name in ("styles", "known"))
    config = configured(arguments.agent, styles, known, rules, arguments.map, arguments.seed)
    deals = -(-arguments.games // rules.num_players)
    with _store(arguments.out, config) as store:
        try:
            conduct(store, deals * rules.num_players * len(config.groups), arguments.workers)
        finally:
            close_pools()
        return rows(store, [*styles, KNOWN_BOTS])


def configured(
    agent: str, styles: Sequence[str], known: Sequence[str], rules: Rules, map_source: str, seed: int
) -> TournamentConfig:
    """Return the configuration of a tournament: a group for each style, and a group for the known bots."""
    own = f"{TESTED}={labelled(agent).spec}"
    first = 1 + len(styles)
    groups = (*((number,) for number in range(1, first)), tuple(range(first, first + len(known))))
    return make_config([own, *styles, *known], rules, map_source, seed=seed, groups=groups)


@contextmanager
def _store(folder: Path | None, config: TournamentConfig) -> Iterator[Store]:
    """Open or create the file of the games in `folder`, or in a temporary folder if `folder` is None."""
    with TemporaryDirectory() as temporary:
        path = (folder or Path(temporary)) / f"{config.num_players}-{config.rules.setup}.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        store = Store.open(path) if path.exists() else Store.create(path, config)
        try:
            if store.config != config:
                raise ValueError(
                    f"{path} holds games of another agent, preset, seed, map or list of bots: choose another "
                    "--out"
                )
            yield store
        finally:
            store.close()


def rows(store: Store, names: Sequence[str]) -> list[Row]:
    """Return a row for each group of opponents. The last group consists of the known bots."""
    results = list(store.results())
    groups = []
    for group, name in enumerate(names):
        own = [result for result in results if result.deal % len(names) == group]
        games = Games(own, len(store.config.entrants))
        won = games.rate(games.won, games.seats, games.num_agents, store.config.seed)[0]
        groups.append((name, len(own), won))
    *others, (name, count, known) = groups
    return [*(Row(*row, gap(known, row[2])) for row in others), Row(name, count, known, None)]


def gap(known: Estimate, style: Estimate) -> Estimate:
    """Return the difference of two independent win rates, with its 95 % confidence interval."""
    value = known.value - style.value
    low = value - ((known.value - known.low) ** 2 + (style.high - style.value) ** 2) ** 0.5
    high = value + ((known.high - known.value) ** 2 + (style.value - style.low) ** 2) ** 0.5
    return Estimate(value, low, high)


def section(played: TableRows) -> list[str]:
    """Return the rows of a table as lines of Markdown."""
    even = 100.0 / played.players
    lines = [
        (
            row.opponents,
            f"{row.games:,}",
            percent(row.won),
            f"{100.0 * row.won.value / even:.2f}",
            "" if row.gap is None else percent(row.gap),
        )
        for row in played.rows
    ]
    title = f"## {played.players} players, set-up {played.setup} (even share {even:.1f} %)"
    return ["", title, "", *table(("opponents", "games", "won, %", "won / even share", "gap, points"), lines)]


def largest_gap(tables: Sequence[TableRows]) -> str:
    """Return a line that names the largest gap of all tables."""
    gaps = [(row.gap.value, row.opponents, each, row.gap) for each in tables for row in each.rows if row.gap]
    _, name, where, gap = max(gaps, key=lambda entry: entry[0])
    return f"Largest gap: {percent(gap)} points, {name}, {where.players} players, set-up {where.setup}."


def report(record: dict[str, Any], tables: Sequence[TableRows]) -> str:
    """Return the record as Markdown."""
    lines = [f"# Robustness of {record['agent']}", "", *heading_lines(record)]
    return "\n".join([*lines, *(line for each in tables for line in section(each)), "", largest_gap(tables)])


if __name__ == "__main__":
    main()
