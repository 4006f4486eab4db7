"""Playing strength by CPU time of training: `python -m research.learning_curve [--record]`.

A run of a trainer for several numbers of players begins with random weights. After given numbers of games,
the agent of the run plays duels against `beam`, and one seat of six against the five bots of FIELD. The agent
plays as in the evaluations of the run. Territories are dealt, and every deal is played from every seat. For
comparison, the bots of FIELD play the same six-player deals, and the best of these bots is shown.

`--record` stores data and picture in research. `--draw DATA` only draws a picture of stored data.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.arguments import at_least_one
from benchmarks.records import heading, heading_lines, keep
from benchmarks.records import table as markdown_table
from benchmarks.strength import win_rate_in_field
from risk_env.board.maps import load_map
from risk_env.board.rules import FAST, Rules
from risk_env.bots import compiled
from risk_training.cli import config_path
from risk_training.config import TRAINERS, EvaluationSettings, read_config
from risk_training.run import Run
from risk_training.win_rate import WinRate

PACKAGES = ("risk-env", "numpy", "numba", "torch")
AT = "0,2000,6000,14000"
FIELD = ("breaker", "hunter", "beam", "planner", "grower")
TABLES = {"duel": (2, ("beam",)), "six": (6, FIELD)}  # measurements: number of players, opponents
TITLES = {"duel": "2 players, against beam", "six": f"6 players, against {', '.join(FIELD)}"}
SEED = 77
LANES = 48
BOARD = load_map("classic")

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Train and measure, or draw recorded data."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "--config",
        default="state_value",
        help="configuration for several numbers of players (default: %(default)s)",
    )
    add(
        "--at",
        default=AT,
        metavar="N,...",
        help="numbers of training games before the measurements (default: %(default)s)",
    )
    add("--games", type=at_least_one, default=240, metavar="N", help="games per win rate (default: 240)")
    add("--record", action="store_true", help="store data and picture in research")
    add("--draw", type=Path, metavar="DATA", help="draw a picture next to stored data, and train nothing")
    arguments = parser.parse_args(argv)
    if arguments.draw:
        draw(json.loads(arguments.draw.read_text(encoding="utf-8")), arguments.draw.with_suffix(".png"))
        return
    command = ["python", "-m", "research.learning_curve", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        record["rows"] = learning_rows(
            arguments.config, moments(arguments.at), arguments.games, Path(folder) / "run"
        )
    record["best_script"] = best_script(arguments.games)
    print(report(record))
    if arguments.record:
        path = keep(f"learning-{Path(arguments.config).stem}", record, report(record), Path(__file__).parent)
        draw(record, path.with_suffix(".png"))
        print(f"\nrecorded in {path}")


def moments(text: str) -> list[int]:
    """Return the numbers of games in the option `--at`.

    Raises ValueError unless the numbers are at least 0 and in ascending order.
    """
    numbers = [int(part) for part in text.split(",")]
    if numbers != sorted(set(numbers)) or numbers[0] < 0:
        raise ValueError(f"--at {text}: must be numbers of games, at least 0, in ascending order")
    return numbers


def learning_rows(config: str, at: Sequence[int], games: int, folder: Path) -> list[Row]:
    """Train in `folder` for `at[-1]` games; return a row for each number in `at` and each entry of TABLES."""
    facts = read_config(config_path(config))
    trainer = import_module(TRAINERS[facts["trainer"]])
    settings = trainer.Config.from_dict(facts | {"games": at[-1] or 1})
    run = trainer.Trainer(replace(settings, evaluation=EvaluationSettings(opponents=())), folder)
    run.begin()
    rows = measured(run, 0, 0.0, games) if 0 in at else []
    spent = 0.0  # CPU seconds of measurements within the run

    def progress(metrics: Row) -> None:
        nonlocal spent
        before, now = (rows[-1]["games"] if rows else -1), metrics["time/steps"]
        if any(before < moment <= now for moment in at):
            start = time.process_time()
            rows.extend(measured(run, now, metrics["time/cpu_seconds"] - spent, games))
            spent += time.process_time() - start

    if at[-1]:
        run.train(progress)
    return rows


def measured(run: Run, learned: int, seconds: float, games: int) -> list[Row]:
    """Return a run's win rate for each entry of TABLES, after `learned` games and `seconds` of CPU time."""
    rows = []
    for table, (players, field) in TABLES.items():
        result = win_rate_in_field(
            run.seating()(), field, Rules.preset("classic", players, profile=FAST), BOARD, games, SEED, LANES
        )
        rows.append({"table": table, "games": learned, "seconds": round(seconds, 2), **facts_of(result)})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def facts_of(win_rate: WinRate) -> Row:
    """Return a win rate with its 95 % confidence interval."""
    return {"played": win_rate.games, **dict(zip(("won", "low", "high"), win_rate.interval, strict=True))}


def best_script(games: int) -> Row:
    """Return the bot of FIELD with the highest win rate as one of six players, and this win rate."""
    rules = Rules.preset("classic", 6, profile=FAST)
    win_rates = {
        name: win_rate_in_field(compiled(name), FIELD, rules, BOARD, games, SEED, LANES) for name in FIELD
    }
    best = max(win_rates, key=lambda name: win_rates[name].wins)
    return {"name": best, **facts_of(win_rates[best])}


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    columns = ("games of training", "CPU time of training, s", *TITLES.values())
    cells = {(row["games"], row["table"]): cell(row) for row in record["rows"]}
    seconds = {row["games"]: row["seconds"] for row in record["rows"]}
    lines = [
        (f"{games:,}", spent, *(cells[games, name] for name in TABLES)) for games, spent in seconds.items()
    ]
    best = record["best_script"]
    lines.append((f"{best['name']}, the best script", "", "", cell(best)))
    text = "Games won in percent, with 95 % confidence intervals."
    return "\n".join(
        ["# Learning curve", "", *heading_lines(record), "", text, "", *markdown_table(columns, lines)]
    )


def cell(row: Row) -> str:
    """Return a win rate in percent with its confidence interval."""
    return f"{100 * row['won']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw win rates over minutes of learning, one panel for each entry of TABLES."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    for panel, (table, title) in zip(figure.subplots(1, 2), TITLES.items(), strict=True):
        rows = [row for row in record["rows"] if row["table"] == table]
        minutes, won, low, high = ([row[name] for row in rows] for name in ("seconds", "won", "low", "high"))
        minutes = [seconds / 60 for seconds in minutes]
        (line,) = panel.plot(minutes, won, marker="o", label="learner")
        panel.fill_between(minutes, low, high, alpha=0.2, color=line.get_color())
        players, field = TABLES[table]
        panel.axhline(1 / players, color="grey", linestyle=":", label="even share")
        if len(field) > 1:
            best = record["best_script"]
            panel.axhline(
                best["won"], color="black", linestyle="--", label=f"{best['name']} instead of the learner"
            )
        panel.set(title=title, xlabel="minutes on one core", ylabel="games won", ylim=(0, 0.8))
        panel.title.set_fontsize("small")
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
