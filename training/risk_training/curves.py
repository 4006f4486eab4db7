"""Learning curves from the logs of training runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from risk_env.bounded_io import parse_json, read_file
from risk_training.config import WIN_RATE
from risk_training.declared import ROWS, check_declared
from risk_training.run_files import METRICS

Row = Mapping[str, Any]
MOST_BYTES = 1 << 30  # largest size of a log, in bytes


def read_log(folder: str | Path) -> list[Row]:
    """Return the rows of a run's log, oldest first, or raise ValueError if there is no valid log."""
    path = Path(folder) / METRICS
    if not path.is_file():
        raise ValueError(f"run {str(folder)!r} has no {METRICS}: give the folder of a training run")
    try:
        rows = [parse_json(line) for line in read_file(path, MOST_BYTES).splitlines()]
        check_declared(METRICS, rows, ROWS)
        return rows
    except (ValueError, OSError) as error:
        raise ValueError(f"{str(path)!r} is not the log of a training run: {error}") from error


def win_rates(rows: Sequence[Row]) -> dict[str, list[tuple[int, float, float, float]]]:
    """Return the learning curve against each opponent.

    A point consists of the steps, the win rate and the bounds of its 95 % confidence interval.
    """
    curves: dict[str, list[tuple[int, float, float, float]]] = {}
    for row in rows:
        for rival in (name.removeprefix(WIN_RATE) for name in row if name.startswith(WIN_RATE)):
            interval = (row[f"eval/{part}_{rival}"] for part in ("win_rate", "low", "high"))
            curves.setdefault(rival, []).append((row["time/steps"], *interval))  # type: ignore[arg-type]
    return curves


def plot(folders: Sequence[str | Path], path: str | Path) -> None:
    """Draw the win rates of runs over the steps, with confidence intervals, to `path`: one panel per run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4 * len(folders)), layout="constrained")
    panels = figure.subplots(len(folders), squeeze=False)[:, 0]
    for folder, panel in zip(folders, panels, strict=True):
        rows = read_log(folder)
        for rival, points in win_rates(rows).items():
            steps, rates, lows, highs = zip(*points, strict=True)
            (line,) = panel.plot(steps, rates, marker=".", label=f"against {rival}")
            panel.fill_between(steps, lows, highs, alpha=0.2, color=line.get_color())
        training = [(row["time/steps"], row["games/win_rate"]) for row in rows if "games/win_rate" in row]
        if training:  # win rate against the changing opponents of training
            panel.plot(*zip(*training, strict=True), color="grey", linewidth=0.8, label="in training")
        panel.set(title=str(folder), xlabel="steps", ylabel="win rate", ylim=(0, 1))
        panel.grid(alpha=0.3)
        if panel.get_legend_handles_labels()[0]:
            panel.legend()
    figure.savefig(path, dpi=120)
