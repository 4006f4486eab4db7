"""Report of a tournament: a PNG file of plots, or an HTML file of tables and plots."""

import base64
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.exports import Grid, config_lines, grids, ordinal, remarks
from risk_agents.tournament.summary import Summary
from risk_env.text.escape import for_figure, for_html
from risk_env.whole_file import whole_file

KINDS = (".html", ".png")
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")  # Paul Tol, colour-blind safe
MOST_BARS = 60  # maximum number of bars in a histogram
WIDTH, HEIGHT = 6.4, 4.2  # size of one plot, in inches

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; \
padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; margin: .5rem 0 1.5rem; font-size: 14px; \
font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
.wide {{ overflow-x: auto; }} .plots {{ display: flex; flex-wrap: wrap; gap: 1rem; }}
img {{ max-width: 100%; width: 36rem; }}
</style></head><body><h1>{title}</h1>
{content}
</body></html>
"""


def write_report(
    config: TournamentConfig, summary: Summary, path: str | Path, more: Sequence[Grid] = ()
) -> None:
    """Write the report, in the format of the file's suffix.

    An `.html` file contains tables and plots, a `.png` file only plots. Raises ValueError for other suffixes.
    """
    path = Path(path)
    if path.suffix not in KINDS:
        raise ValueError(f"--report {path}: the name must end in {' or '.join(KINDS)}")
    with whole_file(path) as fresh:
        if path.suffix == ".png":
            fresh.write_bytes(picture(summary, list(PLOTS), columns=2))
        else:
            fresh.write_text(_page(config, summary, more), encoding="utf-8")


def _page(config: TournamentConfig, summary: Summary, more: Sequence[Grid]) -> str:
    lines = [*remarks(config, summary), *config_lines(config)]
    content = [f"<p>{for_html(line)}</p>" for line in lines]
    for title, heading, rows in [*grids(summary), *more]:
        content.append(f'<h2>{for_html(title)}</h2><div class="wide">{_table(heading, rows)}</div>')
    plots = {name: base64.b64encode(picture(summary, [name], columns=1)).decode() for name in PLOTS}
    images = (
        f'<img alt="{for_html(name)}" src="data:image/png;base64,{data}">' for name, data in plots.items()
    )
    content.append(f'<h2>Plots</h2><div class="plots">{"".join(images)}</div>')
    names = ", ".join(config.labels)
    return _PAGE.format(title=for_html(f"Risk tournament: {names}"), content="\n".join(content))


def _table(heading: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{for_html(cell)}</th>" for cell in heading)
    body = "".join("<tr>" + "".join(f"<td>{for_html(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def picture(summary: Summary, names: list[str], columns: int) -> bytes:
    """Draw the PLOTS in `names` in a grid with `columns` columns, and return the content of a PNG file."""
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
    agents = summary.agents[::-1]
    values = np.array([agent.rating.value for agent in agents])
    ends = np.array([(agent.rating.low, agent.rating.high) for agent in agents]).T
    errors = np.maximum(np.stack([values - ends[0], ends[1] - values]), 0.0)
    axes.errorbar(values, range(len(agents)), xerr=errors, fmt="o", color=COLOURS[0], capsize=4)
    axes.set_yticks(range(len(agents)), [for_figure(agent.label) for agent in agents])
    axes.set_ylim(-0.6, len(agents) - 0.4)
    axes.set_xlabel("rating (400 points: 10 to 1 to finish ahead)")
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

    Bars show the best agents, one agent for each of COLOURS. Marks show the mean of all agents.
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
    axes.errorbar(range(players), middle, yerr=np.maximum(errors, 0), fmt="k_", ms=12, capsize=3, label="all")
    axes.set_xticks(range(players), [ordinal(place + 1) for place in range(players)])
    axes.set_xlabel("place in the turn order")
    axes.set_ylabel("win %")
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])  # room for the legend
    axes.legend(fontsize=8, loc="upper center", ncols=4)
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
    "Ratings with 95 % intervals": _ratings,
    "Row finished before column, %": _payoff,
    "Win rate by turn order": _orders,
    "Length of the games": _lengths,
}
