"""Report of a tournament: plots as a PNG file, or plots, tables and the list of games as one HTML file."""

import base64
import io
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from risk_agents.table_page import Heading, fact_list, linked_cell, number_cell, page, table, text_cell
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.exports import Grid, config_lines, grids, ordinal, remarks
from risk_agents.tournament.results import NOBODY, GameResult
from risk_agents.tournament.summary import Estimate, Summary
from risk_env import __version__
from risk_env.messages import counted
from risk_env.text.escape import for_figure, for_html
from risk_env.whole_file import whole_file

KINDS = (".html", ".png")
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")  # Paul Tol, colour-blind safe
MOST_BARS = 60  # maximum number of bars in a histogram
WIDTH, HEIGHT = 6.4, 4.2  # size of one plot, in inches
MOST_LISTED = 1000  # the report lists this many games from the start, and later games with a replay
_DARK_INK, _DARK_PAPER = "#e6e8eb", "#16181c"
_DARK: Any = {  # settings of matplotlib
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "legend.facecolor"), _DARK_PAPER),
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"),
        _DARK_INK,
    ),
}


@dataclass(frozen=True)
class Played:
    """The games of a report, their replays, and the command that plays the games."""

    results: Sequence[GameResult] = ()
    replays: Mapping[int, Path] = field(default_factory=dict)  # page of the replay by number of the game
    command: str = ""  # command line that plays these games


def write_report(
    config: TournamentConfig,
    summary: Summary,
    path: str | Path,
    more: Sequence[Grid] = (),
    played: Played = Played(),  # frozen
) -> None:
    """Write the report in the format that the suffix of `path` selects.

    An `.html` file contains tables, plots and the games of `played`. A `.png` file contains only plots.
    Raises ValueError for any other suffix.
    """
    path = Path(path)
    if path.suffix not in KINDS:
        raise ValueError(f"--report {path}: the name must end in {' or '.join(KINDS)}")
    with whole_file(path) as fresh:
        if path.suffix == ".png":
            fresh.write_bytes(picture(summary, list(PLOTS), columns=2))
        else:
            content = "\n".join(_content(config, summary, more, played, path.absolute().parent))
            title = f"Risk tournament: {', '.join(config.labels)}"
            fresh.write_text(page(title, content), encoding="utf-8")


def _content(
    config: TournamentConfig, summary: Summary, more: Sequence[Grid], played: Played, folder: Path
) -> Iterator[str]:
    """Yield the parts of the page, as HTML."""
    yield from (f"<p>{for_html(line)}</p>" for line in remarks(config, summary))
    for title, heading, rows in [*grids(summary), *more]:
        yield f"<h2>{for_html(title)}</h2>{_grid(title, heading, rows)}"
    yield f'<h2>Plots</h2><div class="plots">{"".join(_image(summary, name) for name in PLOTS)}</div>'
    yield f'<h2>Configuration</h2><dl class="facts">{fact_list(_facts(config, played))}</dl>'
    if played.results:
        yield _games(config, played, folder)


def _facts(config: TournamentConfig, played: Played) -> list[tuple[str, str]]:
    """Return facts about the configuration and the origin of the report, as HTML."""
    games, rules = config_lines(config)
    facts = [
        ("date", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())),
        ("version", f"risk_env {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"),
        ("command", f"<code>{for_html(played.command)}</code>" if played.command else ""),
        ("games", for_html(games)),
        ("rules", for_html(rules.removeprefix("rules: "))),
    ]
    return facts


def _grid(title: str, heading: list[str], rows: list[list[str]]) -> str:
    """Return a sortable table, as HTML.

    A column is sorted numerically if each of its cells begins with a number or is empty.
    """
    columns = list(zip(*rows, strict=True))
    kinds = ["number" if all(map(_is_number, filter(None, column))) else "text" for column in columns]
    cells = {"text": text_cell, "number": _number}
    shown = [[cells[kind](cell) for kind, cell in zip(kinds, row, strict=True)] for row in rows]
    return table(title, list(zip(heading, kinds, strict=True)), shown)


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        return bool(np.isfinite(float(cell.split()[0])))
    return False


def _number(cell: str) -> str:
    """Return a cell with a number and, in small letters, the confidence interval after the number."""
    if not cell:
        return number_cell(None)
    number, _, interval = cell.partition(" ")
    small = f' <span class="interval">{for_html(interval)}</span>' if interval else ""
    return number_cell(float(number), for_html(number) + small)


# ------------------------------------------------------------------------------------------------ games


def _games(config: TournamentConfig, played: Played, folder: Path) -> str:
    """Return a table of the first MOST_LISTED games and of all other games with a replay, as HTML."""
    results = played.results
    listed = [game for k, game in enumerate(results) if k < MOST_LISTED or game.game in played.replays]
    has_luck = all(game.luck is not None for game in results)
    text, number = "text", "number"
    seats = [(f"seat {seat}", text) for seat in range(config.num_players)]
    luck = [("luck of seat 0, %", number)] if has_luck else []
    heading: Heading = [
        *(("game", number), ("deal", number), *seats, ("winner", text), ("rounds", number), ("end", text)),
        *(*luck, ("replay", text)),
    ]
    rows = [_game(config, game, has_luck, played.replays, folder) for game in listed]
    note = f"Listed: {len(listed)} of {counted(len(results), 'game')}, {len(played.replays)} with a replay."
    return f'<section class="games"><h2>Games</h2><p>{note}</p>{table("Games", heading, rows)}</section>'


def _game(
    config: TournamentConfig, game: GameResult, has_luck: bool, replays: Mapping[int, Path], folder: Path
) -> list[str]:
    labels = [config.labels[agent] for agent in game.seats]
    winner = "nobody" if game.winner == NOBODY else f"{labels[game.winner]} (seat {game.winner})"
    counts = [number_cell(count, str(count)) for count in (game.game, game.deal, game.rounds)]
    luck = [number_cell(100 * game.luck[0], f"{100 * game.luck[0]:+.1f}")] if has_luck and game.luck else []
    link = text_cell("")
    if game.game in replays:
        address = Path(os.path.relpath(replays[game.game].absolute(), folder)).as_posix()
        link = linked_cell(quote(address), f"game {game.game}")
    return [
        *counts[:2],
        *map(text_cell, labels),
        text_cell(winner),
        counts[2],
        text_cell(game.ending),
        *luck,
        link,
    ]


# ------------------------------------------------------------------------------------------------ plots


def _image(summary: Summary, name: str) -> str:
    """Return a plot as HTML, with a version for the browser's dark mode."""
    light, dark = (
        f"data:image/png;base64,{base64.b64encode(picture(summary, [name], 1, is_dark)).decode()}"
        for is_dark in (False, True)
    )
    return (
        f'<picture><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
        f'<img alt="{for_html(name)}" src="{light}"></picture>'
    )


def picture(summary: Summary, names: list[str], columns: int, is_dark: bool = False) -> bytes:
    """Draw the plots `names` in a grid with `columns` columns, and return the content of a PNG file."""
    from matplotlib import rc_context

    with rc_context(_DARK if is_dark else {}):
        return _drawn(summary, names, columns)


def _drawn(summary: Summary, names: list[str], columns: int) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = -(-len(names) // columns)
    tall = max(1.0, len(summary.agents) / 10)
    figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows * tall), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    for place, name in enumerate(names):
        axes = figure.add_subplot(rows, columns, place + 1)
        axes.set_axisbelow(True)
        PLOTS[name](axes, summary)
        axes.set_title(name, fontsize=11)
    data = io.BytesIO()
    figure.savefig(data, format="png")
    return data.getvalue()


def _ratings(axes: Any, summary: Summary) -> None:
    _estimates(axes, [agent.rating for agent in summary.agents])
    _name_rows(axes, summary)
    axes.set_xlabel("rating (a difference of 400 points: odds of 10 to 1)")


def _rates(axes: Any, summary: Summary) -> None:
    """Plot win rates and, if they are known, win rates without luck."""
    plain = [_percent(agent.win_rate) for agent in summary.agents]
    adjusted = [_percent(agent.adjusted) for agent in summary.agents if agent.adjusted is not None]
    if adjusted:
        _estimates(axes, plain, label="win %", shift=0.15)
        _estimates(axes, adjusted, label="win % without luck", colour=COLOURS[1], shift=-0.15)
        axes.legend(fontsize=8)
    else:
        _estimates(axes, plain)
    _name_rows(axes, summary)
    axes.set_xlim(0, 100)
    axes.set_xlabel("win %")


def _percent(rate: Estimate) -> Estimate:
    return Estimate(100 * rate.value, 100 * rate.low, 100 * rate.high)


def _estimates(
    axes: Any, estimates: Sequence[Estimate], label: str = "", colour: str = COLOURS[0], shift: float = 0.0
) -> None:
    """Plot one number and its confidence interval per row, the first number at the top."""
    values = np.array([estimate.value for estimate in estimates])
    errors = [(estimate.value - estimate.low, estimate.high - estimate.value) for estimate in estimates]
    rows = np.arange(len(estimates))[::-1] + shift
    ends = np.maximum(np.array(errors).T, 0.0)
    axes.errorbar(values, rows, xerr=ends, fmt="o", color=colour, capsize=4, label=label)


def _name_rows(axes: Any, summary: Summary) -> None:
    labels = [for_figure(agent.label) for agent in summary.agents[::-1]]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)
    axes.grid(axis="x", alpha=0.3)


def _payoff(axes: Any, summary: Summary) -> None:
    labels = [for_figure(agent.label) for agent in summary.agents]
    values = np.array(
        [[np.nan if cell is None else 100 * cell.value for cell in row] for row in summary.ahead]
    )
    axes.imshow(values, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    size = 9 if len(labels) <= 8 else 6
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        ink = "white" if abs(value - 50) > 35 else "black"
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=ink, fontsize=size)
    axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
    axes.set_yticks(range(len(labels)), labels)


def _orders(axes: Any, summary: Summary) -> None:
    """Plot win rates by place in the turn order.

    Bars show the agents with the best ratings, at most one agent for each of COLOURS. Marks show the mean of
    all agents.
    """
    players = len(summary.order_win_rate)
    agents = summary.agents[: len(COLOURS)]
    width = 0.8 / len(agents)
    for k, agent in enumerate(agents):
        places = np.arange(players) + (k - (len(agents) - 1) / 2) * width
        rates = [100 * rate for rate in agent.win_rate_by_order]
        axes.bar(places, rates, width, color=COLOURS[k], label=for_figure(agent.label))
    every = summary.order_win_rate
    middle = np.array([100 * rate.value for rate in every])
    errors = np.array([(100 * (rate.value - rate.low), 100 * (rate.high - rate.value)) for rate in every]).T
    marks = {"color": axes.xaxis.label.get_color(), "ms": 12, "capsize": 3, "label": "all"}
    axes.errorbar(range(players), middle, yerr=np.maximum(errors, 0), fmt="_", **marks)
    axes.set_xticks(range(players), [ordinal(place + 1) for place in range(players)])
    axes.set_xlabel("place in the turn order")
    axes.set_ylabel("win %")
    axes.set_ylim(0, 100)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4)
    axes.grid(axis="y", alpha=0.3)


def _lengths(axes: Any, summary: Summary) -> None:
    longest = max(summary.lengths)
    width = -(-(longest + 1) // MOST_BARS)
    axes.hist(summary.lengths, bins=np.arange(0, longest + width + 1, width) - 0.5, color=COLOURS[0])
    mean, median, _ = summary.rounds
    axes.axvline(mean, color=COLOURS[1], label=f"mean {mean:.1f}")
    axes.axvline(median, color=COLOURS[2], linestyle="--", label=f"median {median:.0f}")
    axes.set_xlabel("rounds")
    axes.set_ylabel("games")
    axes.legend(fontsize=8)


PLOTS: dict[str, Callable[[Any, Summary], None]] = {
    "Ratings with 95 % confidence intervals": _ratings,
    "Win rates with 95 % confidence intervals": _rates,
    "Games in which the row's agent finished before the column's agent, %": _payoff,
    "Win rate by turn order": _orders,
    "Length of the games": _lengths,
}
