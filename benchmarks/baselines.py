"""Train baselines with several seeds and a fixed budget, and measure them against fixed opponents.

    python -m benchmarks.baselines --record                     # the table of docs/baselines.md
    python -m benchmarks.baselines --methods sb3 --players 2,3  # a part of the table

A *cell* is a method with a number of players. The command trains a run for each cell and seed, with the
configurations in `benchmarks/baseline_configs`. It then measures the weights at the end of each run. All
cells get their first seed before any cell gets a second seed. If the command is interrupted, run it again to
continue; finished runs and finished measurements are kept. A cell is recorded with its finished seeds.

The trained agent plays every seat equally often, and one opponent plays all other seats. The table shows
percentages of games won: the interquartile mean over seeds, and over seeds and opponents in the column "all".
Intervals are 95 % confidence intervals from a bootstrap over seeds, stratified by opponent (Agarwal et al.
2021).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arguments import above_zero, at_least_one, documented_parser
from benchmarks.records import RESULTS, heading, heading_lines, keep, table
from risk_env import cli
from risk_env.board.maps import load_map
from risk_env.board.rules import FAST, Rules
from risk_env.bots import CompiledBot
from risk_env.whole_file import whole_file

CONFIGS = Path(__file__).parent / "baseline_configs"
OPPONENTS = ("random", "grower", "breaker", "beam")
GAMES = 120  # games against each opponent; a multiple of every number of players
MEASURE_SEED = 77  # seed of the deals of all measurements
CURVE_POINTS = 4  # number of evaluations during a run (`state_value`: none)
SCORE = "score.json"
PACKAGES = ("risk-env", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")


@dataclass(frozen=True)
class Method:
    """A method of the table: title, unit of the budget, and budget by number of players."""

    title: str
    unit: str
    budgets: dict[int, int]


METHODS = {
    "sb3": Method("MaskablePPO", "decisions", dict.fromkeys((2, 3, 4, 6), 200_000)),
    "selfplay": Method("own PPO", "decisions", dict.fromkeys((2, 3, 4, 6), 200_000)),
    "state_value": Method("TD values", "games", {2: 4800, 3: 2000, 4: 2000, 6: 1200}),
    "imitation": Method("imitation of `beam`", "games", {2: 1600, 3: 600, 4: 500, 6: 400}),
}
PLAYERS = (2, 3, 4, 6)


@dataclass(frozen=True)
class Job:
    """A run: a method, a number of players and a seed."""

    method: str
    players: int
    seed: int
    map: str
    steps: int
    folder: Path

    @property
    def rules(self) -> Rules:
        """Rules of all games of the run."""
        return Rules.preset("classic", self.players, profile=FAST)


def main(argv: Sequence[str] | None = None) -> None:
    """Train and measure the unfinished runs, print the table and, if `--record` is given, store the table."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    names, players = ",".join(METHODS), ",".join(map(str, PLAYERS))
    add("--methods", default=names, metavar="A,B,...", help="methods to train (default: %(default)s)")
    add("--players", default=players, metavar="N,M,...", help="numbers of players (default: %(default)s)")
    add("--seeds", type=at_least_one, default=5, metavar="N", help="number of seeds (default: %(default)s)")
    add("--games", type=at_least_one, default=GAMES, metavar="N", help="games per opponent (default: 120)")
    add("--map", default="classic", help="map of all games (default: classic)")
    add("--share", type=above_zero, default=1.0, metavar="X", help="factor for training budgets (default: 1)")
    add("--out", default="runs/baselines", metavar="FOLDER", help="folder of the runs (default: %(default)s)")
    add("--only-report", action="store_true", help="train and measure nothing; report the finished runs")
    add("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    methods = _chosen("--methods", arguments.methods, METHODS)
    counts = [int(text) for text in _chosen("--players", arguments.players, [*map(str, PLAYERS)])]
    found = list(jobs(methods, counts, arguments))
    if not arguments.only_report:
        _make(found, arguments.games)
    command = ["python", "-m", "benchmarks.baselines", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES) | summary(found, arguments.games)
    print(report(record))
    if arguments.record:
        path = keep("baselines", record, report(record), RESULTS)
        draw(record, path.with_suffix(".png"))
        print(f"\nrecorded in {path}")


def _chosen(option: str, text: str, allowed: Any) -> list[str]:
    """Return the names in `text`, or raise ValueError if a name is not allowed."""
    names = text.split(",")
    for name in names:
        if name not in allowed:
            raise ValueError(f"{option} {name!r}: choose from {', '.join(allowed)}")
    return names


def jobs(methods: Sequence[str], counts: Sequence[int], arguments: Any) -> Iterator[Job]:
    """Yield the runs of the table, seed by seed."""
    for seed in range(arguments.seeds):
        for players in counts:
            for method in methods:
                steps = max(1, round(arguments.share * METHODS[method].budgets[players]))
                folder = Path(arguments.out, f"{method}-{players}", f"seed-{seed}")
                yield Job(method, players, seed, arguments.map, steps, folder)


def _make(found: Sequence[Job], games: int) -> None:
    """Train and measure the runs that are not finished."""
    for number, job in enumerate(found, 1):
        start = time.process_time()
        train(job)
        measure(job, games)
        spent = time.process_time() - start
        print(f"{number} of {len(found)} runs: {job.folder}, {spent:.0f} s of CPU time", flush=True)


# --------------------------------------------------------------------------------------------------- one run


def train(job: Job) -> None:
    """Train the run to its end with `risk-env train`; a finished run is kept.

    Raises RuntimeError if the command fails.
    """
    if is_trained(job):
        return
    several = max(1, job.steps // CURVE_POINTS)
    settings = {"evaluation.opponents": "[grower]", "evaluation.games": 60, "evaluation.interval": several}
    if job.method == "state_value":  # its evaluations play `strategist`, which is slow
        settings = {"evaluation.opponents": "[]", "tables": f"[{job.players}]"}
    if METHODS[job.method].unit == "decisions":
        settings["checkpoint_interval"] = several
    command = ["train", "--config", str(CONFIGS / f"{job.method}.yml"), "--players", str(job.players)]
    command += ["--map", job.map, "--steps", str(job.steps), "--seed", str(job.seed)]
    command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    if cli.main([*command, "--seeds", "1", "--out", str(job.folder.parent)]):
        raise RuntimeError(f"risk-env {' '.join(command)} failed")


def is_trained(job: Job) -> bool:
    """Return True if the run's log shows at least the job's number of steps."""
    return log_of(job)[-1]["time/steps"] >= job.steps if log_of(job) else False


def log_of(job: Job) -> Sequence[Any]:
    """Return the lines of the run's log, or an empty list if the run has not begun."""
    from risk_training.curves import read_log
    from risk_training.run_files import METRICS

    return read_log(job.folder) if (job.folder / METRICS).is_file() else []


def measure(job: Job, games: int) -> None:
    """Play the games against the opponents that the file SCORE does not contain yet."""
    from risk_training.win_rate import play_deals, summarise

    scores = scores_of(job, games)
    player, board = None, load_map(job.map)
    for opponent in OPPONENTS:
        if opponent in scores["wins"]:
            continue
        player = player or final_player(job)
        deals = range(-(-games // job.players))
        played = summarise(play_deals(player, job.rules, board, opponent, deals, MEASURE_SEED), job.players)
        scores["wins"][opponent], scores["played"] = played.wins, played.games
        with whole_file(job.folder / SCORE) as fresh:
            fresh.write_text(json.dumps(scores) + "\n", encoding="utf-8")


def scores_of(job: Job, games: int) -> dict[str, Any]:
    """Return the content of SCORE, or no wins if SCORE is missing or has another number of games."""
    path = job.folder / SCORE
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found if found.get("games") == games else {"games": games, "wins": {}}


def final_player(job: Job) -> CompiledBot:
    """Return the player with the weights at the end of the run."""
    from risk_agents.learned.policy import PolicyFile
    from risk_agents.learned.sb3_policy import own_network
    from risk_agents.learned.state_value import StateValueFile
    from risk_agents.search.tactician import judged_by
    from risk_training.run_files import LAST, POLICY_FILE, STATE_VALUE_FILE

    if job.method == "state_value":
        return judged_by(StateValueFile.load(job.folder / STATE_VALUE_FILE), "baseline")
    if job.method == "sb3":
        return own_network(job.folder / LAST).bot("baseline")
    return PolicyFile.load(job.folder / POLICY_FILE).bot("baseline")


# ------------------------------------------------------------------------------------------------ the report


def summary(found: Sequence[Job], games: int) -> dict[str, Any]:
    """Return the entries of the record that follow the heading; each cell with a finished run has a row."""
    cells: dict[tuple[str, int], list[Job]] = {}
    for job in found:
        cells.setdefault((job.method, job.players), []).append(job)
    rows = [row for group in cells.values() if (row := row_of(group, games))]
    hours = sum(seconds for row in rows for seconds in row["cpu_seconds"]) / 3600
    wanted = 1 + max(job.seed for job in found)
    return {"map": found[0].map, "games": games, "seeds": wanted, "cpu_hours": hours, "rows": rows}


def row_of(group: Sequence[Job], games: int) -> dict[str, Any] | None:
    """Return the row of a cell from its finished runs, or None if no run is finished.

    `rates` has one list for each finished run, with the win rates against OPPONENTS in order.
    """
    from risk_training.seeds import interquartile_interval

    done = [job for job in group if len(scores_of(job, games)["wins"]) == len(OPPONENTS)]
    if not done:
        return None
    scores = [scores_of(job, games) for job in done]
    rates = np.array([[score["wins"][name] / score["played"] for name in OPPONENTS] for score in scores])
    single = {name: interquartile_interval(rates[:, k, None]) for k, name in enumerate(OPPONENTS)}
    return {
        "method": group[0].method,
        "players": group[0].players,
        "budget": group[0].steps,
        "unit": METHODS[group[0].method].unit,
        "seeds": [job.seed for job in done],
        "cpu_seconds": [training_seconds(job) for job in done],
        "rates": rates.tolist(),
        "intervals": single | {"all": interquartile_interval(rates)},
        "curve": curve_of(done),
    }


def training_seconds(job: Job) -> float:
    """Return the CPU time of a run in seconds, without its evaluations."""
    row = log_of(job)[-1]
    return float(row["time/cpu_seconds"] - 1e-9 * row["time/ns_evaluation"] * row["time/steps"])


def curve_of(done: Sequence[Job]) -> list[tuple[int, float]]:
    """Return the number of steps and the interquartile mean of the win rates, for each evaluation."""
    from risk_training.seeds import curves

    found = curves([job.folder for job in done])
    return [(point.steps, point.rate) for points in found.values() for point in points]


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw the learning curves of all cells: win rates against `grower` over the share of the budget."""
    from matplotlib.figure import Figure

    counts = sorted({row["players"] for row in record["rows"]})
    figure = Figure(figsize=(2.6 * len(counts) + 1, 3), layout="constrained")
    panels = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    for count, panel in zip(counts, panels, strict=True):
        for row in record["rows"]:
            if row["players"] == count and row["curve"]:
                steps, rates = np.array(row["curve"]).T
                title = METHODS[row["method"]].title.replace("`", "")
                panel.plot(100 * steps / row["budget"], 100 * rates, marker=".", label=title)
        panel.set(title=f"{count} players", xlabel="budget, %", ylim=(0, 60))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("games won against grower, %")
    panels[-1].legend(fontsize="small", loc="upper right")
    figure.savefig(path, dpi=120)


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    facts = [
        f"* profile `fast`, map `{record['map']}`; {record['games']} games against each opponent",
        f"* CPU time of the training of all runs: {record['cpu_hours']:.1f} hours, without evaluations",
    ]
    title = "# Baselines with several seeds"
    return "\n".join([title, "", *heading_lines(record), *facts, "", *table(*cells(record))])


def cells(record: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the cells of the table, ordered by method and number of players."""
    order = {name: k for k, name in enumerate(METHODS)}
    rows = sorted(record["rows"], key=lambda row: (order[row["method"]], row["players"]))
    names = ["method", "players", "budget", "seeds", "CPU time, s", *OPPONENTS, "all"]
    return names, [
        [
            METHODS[row["method"]].title,
            str(row["players"]),
            f"{row['budget']:,} {row['unit']}",
            str(len(row["seeds"])),
            f"{np.mean(row['cpu_seconds']):.0f}",
            *(_interval(row["intervals"][name], len(row["seeds"])) for name in (*OPPONENTS, "all")),
        ]
        for row in rows
    ]


def _interval(found: Sequence[float], seeds: int) -> str:
    """Format a rate in percent. With several seeds, add the confidence interval of the rate."""
    rate, low, high = (100 * part for part in found)
    return f"{rate:.0f} [{low:.0f}, {high:.0f}]" if seeds > 1 else f"{rate:.0f}"


if __name__ == "__main__":
    main()
