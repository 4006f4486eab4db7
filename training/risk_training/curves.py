"""Learning curves from the logs of training runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LOGS = ("metrics.jsonl", "progress.jsonl")  # of either trainer
STEPS = ("time/steps", "decisions")
WIN_RATES = ("eval/win_rate_", "win_rate/")
LOWS = ("eval/low_", "win_rate_low/")
HIGHS = ("eval/high_", "win_rate_high/")
GAMES = ("games/win_rate",)

Row = Mapping[str, Any]


def read_log(folder: str | Path) -> list[Row]:
    """The lines of a run's log, oldest first."""
    for name in LOGS:
        path = Path(folder) / name
        if path.is_file():
            return [json.loads(line) for line in path.read_text().splitlines()]
    raise ValueError(f"run {str(folder)!r} has no {' or '.join(LOGS)}")


def steps_of(row: Row) -> int:
    """The learner's decisions up to a line."""
    return int(next(row[name] for name in STEPS if name in row))


def win_rates(rows: Sequence[Row]) -> dict[str, list[tuple[int, float, float, float]]]:
    """Of each opponent in the evaluations: steps, win rate and the ends of its interval."""
    found: dict[str, list[tuple[int, float, float, float]]] = {}
    for row in rows:
        for prefix, low, high in zip(WIN_RATES, LOWS, HIGHS, strict=True):
            for name in row:
                if name.startswith(prefix):
                    rival = name.removeprefix(prefix)
                    found.setdefault(rival, []).append((steps_of(row), row[name], row[low + rival], row[high + rival]))
    return found


def plot(folders: Sequence[str | Path], path: str | Path) -> None:
    """Draw the evaluations of runs, a panel a run, win rates with their intervals over the learner's decisions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4 * len(folders)), layout="constrained")
    panels = figure.subplots(len(folders), squeeze=False)[:, 0]
    for folder, panel in zip(folders, panels, strict=True):
        rows = read_log(folder)
        for rival, points in win_rates(rows).items():
            steps, rates, lows, highs = zip(*points, strict=True)
            (line,) = panel.plot(steps, rates, marker=".", label=f"against {rival}")
            panel.fill_between(steps, lows, highs, alpha=0.2, color=line.get_color())
        _draw_games(panel, rows)
        panel.set(title=str(folder), xlabel="decisions of the learner", ylabel="win rate", ylim=(0, 1))
        panel.grid(alpha=0.3)
        if panel.get_legend_handles_labels()[0]:
            panel.legend()
    figure.savefig(path, dpi=120)


def _draw_games(panel: Any, rows: Sequence[Row]) -> None:
    """The games of training, whose opponents change."""
    for name in GAMES:
        points = [(steps_of(row), row[name]) for row in rows if name in row]
        if points:
            panel.plot(*zip(*points, strict=True), color="grey", linewidth=0.8, label="in training")
