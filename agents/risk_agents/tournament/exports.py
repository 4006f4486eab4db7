"""Export a tournament as CSV (one row per game), JSON (configuration and summary) and terminal tables."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from math import isnan
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from risk_agents.tournament.columns import COLUMNS, LISTS
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.model_notes import HEADING, model_rows
from risk_agents.tournament.ratings import FEW_CLUSTERS
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.summary import AgentSummary, Estimate, Summary
from risk_env.messages import counted
from risk_env.text.escape import for_csv, for_terminal
from risk_env.whole_file import whole_file


def write_csv(store: Store, path: str | Path) -> None:
    """Write the games as CSV, one row per game.

    A list becomes one column per seat, such as `agents_0`, `agents_1`, ...
    """
    names = [name for name in COLUMNS if name != "actions"]
    seats = range(store.config.num_players)
    missing = [""] * len(seats)
    columns = ([f"{name}_{seat}" for seat in seats] if name in LISTS else [name] for name in names)
    with whole_file(Path(path)) as fresh, open(fresh, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(chain.from_iterable(columns))
        for row in store.rows(names):
            values = ((row[name] or missing) if name in LISTS else [row[name]] for name in names)
            writer.writerow(map(for_csv, chain.from_iterable(values)))


def write_json(
    config: TournamentConfig, summary: Summary, path: str | Path, more: Mapping[str, Any] | None = None
) -> None:
    """Write the configuration, the summary and the facts in `more` as JSON."""
    facts = {"setting": json.loads(config.to_json()), "summary": asdict(summary), **(more or {})}
    with whole_file(Path(path)) as fresh:
        fresh.write_text(json.dumps(_without_nan(facts), indent=1) + "\n", encoding="utf-8")


def _without_nan(value: Any) -> Any:
    """Replace NaN, which marks the ends of a missing interval, with None, because JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and isnan(value) else value


# ------------------------------------------------------------------------------------------------ tables


def percent(estimate: Estimate) -> str:
    """Format a rate and its confidence interval in percent."""
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def plain(estimate: Estimate, digits: int = 0) -> str:
    """Format a number and its confidence interval, which may be missing."""
    if isnan(estimate.low):
        return f"{estimate.value:.{digits}f} [no interval]"
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def ordinal(place: int) -> str:
    """Format a place as an ordinal number: 1st, 2nd, 3rd, 4th, 5th, 6th."""
    return f"{place}{('st', 'nd', 'rd')[place - 1] if place <= 3 else 'th'}"


Grid = tuple[str, list[str], list[list[str]]]  # title, heading and rows, for the terminal and the report


def grids(summary: Summary) -> list[Grid]:
    """Return the tables of a summary."""
    places = [f"{ordinal(k)} %" for k in range(1, len(summary.seat_win_rate) + 1)]
    counts = ["mean place", "games", "decisions", "ms per turn", "forfeits"]
    is_adjusted = summary.agents[0].adjusted is not None
    rates = ["win %", "win % without luck"] if is_adjusted else ["win %"]
    heading = ["agent", "version", "rating", *rates, *places, *counts]
    title, rows = (
        "Agents (95 % confidence intervals, clustered by deals and openings)",
        [_agent_row(agent) for agent in summary.agents],
    )
    labels = [agent.label for agent in summary.agents]
    ahead = [["" if cell is None else percent(cell) for cell in row] for row in summary.ahead]
    payoffs = [[label, *row] for label, row in zip(labels, ahead, strict=True)]
    seats = [
        ["by turn order, the starter first", *map(percent, summary.order_win_rate)],
        ["by seat, seat 0 first", *map(percent, summary.seat_win_rate)],
    ]
    return [
        (title, heading, rows),
        (
            "Payoff matrix: % of games in which the row's agent finished before the column's agent",
            ["", *labels],
            payoffs,
        ),
        ("Seat bias: win %", ["", *(str(k + 1) for k in range(len(summary.seat_win_rate)))], seats),
    ]


def _agent_row(agent: AgentSummary) -> list[str]:
    return [
        agent.label,
        agent.version,
        plain(agent.rating),
        percent(agent.win_rate),
        *([] if agent.adjusted is None else [percent(agent.adjusted)]),
        *(f"{100 * share:.1f}" for share in agent.places),
        plain(agent.mean_place, 2),
        str(agent.games),
        f"{agent.decisions:.0f}",
        f"{agent.ms_a_turn:.3g}",
        str(agent.forfeits),
    ]


def model_grids(config: TournamentConfig, results: Sequence[GameResult]) -> list[Grid]:
    """Return a list with the table about the language models, or [] if no language model played."""
    rows = model_rows(results, config.labels)
    return [("Language models", HEADING, rows)] if rows else []


def rich_tables(summary: Summary, more: Sequence[Grid] = ()) -> Iterator[Table]:
    """Yield the tables of a summary and the tables `more`, for a terminal."""
    for title, heading, rows in [*grids(summary), *more]:
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for k, column in enumerate(heading):
            table.add_column(
                Text(for_terminal(column)), justify="left" if k == 0 else "right", no_wrap=k == 0
            )
        for row in rows:
            table.add_row(*(Text(for_terminal(cell)) for cell in row))
        yield table


def remarks(config: TournamentConfig, summary: Summary) -> list[str]:
    """Return lines about the games, such as the numbers of games and rounds, and warnings."""
    mean, median, late = summary.rounds
    deals = counted(summary.deals, "deal")
    deals += f", {counted(summary.openings, 'opening')}" if summary.openings else ""
    return [
        f"{counted(summary.games, 'game')}, {deals}: {summary.won} won, {summary.truncated} truncated "
        f"(no winner; max_rounds={config.rules.max_rounds}), {summary.forfeited} forfeited",
        f"rounds: mean {mean:.1f}, median {median:.0f}, 90 % of games within {late:.0f}",
        *_luck(summary),
        *_bounds(summary),
        *_doubts(summary),
        *summary.forfeits,
    ]


def _luck(summary: Summary) -> Iterator[str]:
    """Yield a line about the precision of win rates without luck, if the luck is known."""
    if summary.luck_gain is not None:
        yield (
            "win rates without the luck of dice and cards: for the same precision, plain win rates need "
            f"about {summary.luck_gain:.1f} times as many games"
        )


def _bounds(summary: Summary) -> Iterator[str]:
    """Yield a line for each agent that finished ahead of, or behind, all other agents in every game.

    The rating of such an agent is only a bound, which no confidence interval shows.
    """
    for agent, row in zip(summary.agents, summary.ahead, strict=True):
        shares = {cell.value for cell in row if cell is not None}
        if shares in ({1.0}, {0.0}):
            side, bound = ("ahead of", "at least") if shares == {1.0} else ("behind", "at most")
            yield (
                f"{agent.label} finished {side} all other agents in every game: "
                f"the true rating is {bound} the rating shown"
            )


def _doubts(summary: Summary) -> Iterator[str]:
    """Yield a warning if there are too few deals or openings for the bootstrap."""
    for number, what in ((summary.deals, "deals"), (summary.openings or FEW_CLUSTERS, "openings")):
        if number < FEW_CLUSTERS:
            yield f"fewer than {FEW_CLUSTERS} {what}: the intervals are too narrow"


def config_lines(config: TournamentConfig) -> list[str]:
    """Return two lines about the configuration: the settings of the games, and the options of the rules."""
    rules: dict[str, Any] = config.rules.to_dict()
    return [
        f"map {config.map_source}, seed {config.seed}, {config.time_limit:g} s per decision"
        + (", new processes for every game" if config.fresh else "")
        + (", the same seats in every game" if config.fixed_seats else ""),
        "rules: " + ", ".join(f"{name}={value}" for name, value in rules.items()),
    ]
