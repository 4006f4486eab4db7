"""Training runs of one configuration with different seeds, and the mean learning curves of these runs.

A single run says little: two runs of one configuration can differ more than two algorithms. The win rate of
several runs is the interquartile mean of the runs' win rates. The confidence interval of this mean comes from
a bootstrap over the runs (Agarwal et al. 2021).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from risk_env.arrays import Floats
from risk_env.messages import counted
from risk_env.whole_file import whole_file
from risk_training.curves import read_log, win_rates

SUMMARY, PICTURE = "seeds.json", "curves.png"
TRIMMED = 0.25  # share of the values that the interquartile mean leaves out at each end
SAMPLES = 2000  # number of bootstrap samples
LEVEL = 0.95  # confidence level


@dataclass(frozen=True)
class Point:
    """The evaluations of several runs against one opponent, after the same number of steps."""

    steps: int
    rates: tuple[float, ...]  # (S,) win rate of each run
    rate: float  # interquartile mean of `rates`
    # bounds of the 95 % confidence interval: over the runs or, with a single run, over its evaluation games
    low: float
    high: float


def folder_of(folder: Path, seed: int) -> Path:
    """Return the folder of the run with `seed`."""
    return folder / f"seed-{seed}"


def curves(folders: Sequence[Path]) -> dict[str, list[Point]]:
    """Return the learning curve against each opponent, from the evaluations that all runs have in common."""
    runs = [
        {
            rival: {steps: interval for steps, *interval in points}
            for rival, points in win_rates(read_log(one)).items()
        }
        for one in folders
    ]
    by_rival = {}
    for rival in runs[0]:
        common = set.intersection(*(set(run.get(rival, ())) for run in runs))
        by_rival[rival] = [_point(steps, [run[rival][steps] for run in runs]) for steps in sorted(common)]
    return by_rival


def _point(steps: int, found: Sequence[Sequence[float]]) -> Point:
    """Return the point for the win rates of the runs, each with the bounds of its own interval."""
    rates = tuple(rate for rate, *_ in found)
    if len(found) == 1:
        return Point(steps, rates, *found[0])
    return Point(steps, rates, *interquartile_interval(np.array(rates)[:, None]))


def interquartile_interval(values: Floats) -> tuple[float, float, float]:
    """Return the interquartile mean of values (S, M), and the ends of its 95 % confidence interval.

    The interval comes from a bootstrap over the S runs. The runs are drawn separately for each of the M
    opponents (stratified bootstrap, Agarwal et al. 2021).
    """
    S, M = values.shape
    drawn = np.random.default_rng(0).integers(S, size=(SAMPLES, S, M))
    samples = interquartile_mean(values[drawn, np.arange(M)].reshape(SAMPLES, S * M))
    low, high = np.quantile(samples, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(interquartile_mean(values.ravel())), float(low), float(high)


def interquartile_mean(values: Floats) -> Floats:
    """Return the interquartile mean of `values` (..., S) over the last axis, float (...).

    The lowest and the highest quarter of the values are left out. A quarter is rounded down to whole values.
    """
    left_out = int(TRIMMED * values.shape[-1])
    return np.sort(values, axis=-1)[..., left_out : values.shape[-1] - left_out].mean(axis=-1)


def write(by_rival: dict[str, list[Point]], folder: Path) -> None:
    """Write the curves to SUMMARY in `folder`."""
    facts = {rival: [asdict(point) for point in points] for rival, points in by_rival.items()}
    with whole_file(folder / SUMMARY) as fresh:
        fresh.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def draw(by_rival: dict[str, list[Point]], folder: Path, title: str) -> None:
    """Draw the curves to PICTURE in `folder`: interquartile means, intervals and a thin line for each run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    panel = figure.subplots()
    for rival, points in by_rival.items():
        steps = [point.steps for point in points]
        (line,) = panel.plot(steps, [point.rate for point in points], marker=".", label=f"against {rival}")
        panel.fill_between(
            steps, [point.low for point in points], [point.high for point in points],
            alpha=0.2, color=line.get_color(),
        )  # fmt: skip
        for rates in zip(*(point.rates for point in points), strict=True):
            panel.plot(steps, rates, color=line.get_color(), linewidth=0.5, alpha=0.5)
    panel.set(title=title, xlabel="steps", ylabel="win rate", ylim=(0, 1))
    panel.grid(alpha=0.3)
    if by_rival:
        panel.legend()
    figure.savefig(folder / PICTURE, dpi=120)


def lines(by_rival: dict[str, list[Point]], even: float) -> list[str]:
    """Return a line for each opponent: the last win rate, and the gain over `even`, the even share."""
    return [_line(rival, last, even) for rival, points in by_rival.items() for last in points[-1:]]


def gains(by_rival: dict[str, list[Point]], even: float) -> list[str]:
    """Return the gain curve against each opponent: a line for each evaluation (`lines`)."""
    return [_line(rival, point, even) for rival, points in by_rival.items() for point in points]


def _line(rival: str, point: Point, even: float) -> str:
    rate, low, high = (100 * part for part in (point.rate, point.low, point.high))
    return (
        f"{rival}: win rate {rate:.1f} % [{low:.1f}, {high:.1f}] after {point.steps:,} steps, "
        f"{counted(len(point.rates), 'run')}; "
        f"even share {100 * even:.1f} %, gain {100 * (point.rate - even):+.1f} points"
    )
