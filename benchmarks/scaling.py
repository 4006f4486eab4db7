"""Gain from more workers: `python -m benchmarks.scaling [--record]`.

The benchmark measures, with 1 and 2 workers of each kind and without workers:

* Games per second of a tournament between six copies of an agent.
* Decisions per second of self-play with one actor per worker, with and without learning.

It also measures:

* CPU time of the driver per game, in a tournament with thousands of simulated workers, which return results
  immediately.
* Bytes sent per game, per decision and per update of the weights.

Speeds are medians over windows, and the kinds alternate. In each round of windows, two workers are compared
with one worker of the same kind, and Ray workers with the same number of processes. Workers run only during
their own window, so Ray does not slow other kinds down.

From these results, the benchmark estimates the speed of 1, 10, 100 and 1,000 cores.
"""

from __future__ import annotations

import argparse
import dataclasses
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from functools import partial
from itertools import accumulate, pairwise
from math import comb
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.jobs import play_and_return
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.running import conduct
from risk_agents.tournament.schedule import Chunk
from risk_agents.workers import ProcessExecutor, RayExecutor, WorkExecutor, in_order, open_executor
from risk_env.board.rules import Rules
from risk_training import ppo
from risk_training.actors import Actors
from risk_training.cli import config_path
from risk_training.config import read_config
from risk_training.rollout_steps import Rollout

PACKAGES = ("risk-env", "numpy", "numba", "torch", "ray")
SEATS = 6
SIMULATED = 2048  # number of workers that return results immediately
CORES = (1, 10, 100, 1000)
NO_WORKER = "this process"
KINDS = (NO_WORKER, "1 process", "1 Ray worker", "2 processes", "2 Ray workers")
ALONE = {"2 processes": "1 process", "2 Ray workers": "1 Ray worker"}  # one worker of the same kind
PROCESSES = {"1 Ray worker": "1 process", "2 Ray workers": "2 processes"}  # the same number of processes
CHANCE = 0.05  # probability that the true median of the ratios is outside the interval
PLAYED = 4  # windows without learning have this many times the rollouts of windows with learning
RATES = {
    "games_a_second": "games per second",
    "played_a_second": "decisions played per second",
    "decisions_a_second": "decisions trained per second",
}

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    arguments = _parser().parse_args(argv)
    torch.set_num_threads(1)
    record = heading(
        ["python", "-m", "benchmarks.scaling", *(sys.argv[1:] if argv is None else argv)], PACKAGES
    )
    config = tournament(arguments.agent)
    record["rows"] = measure(arguments, config)
    record["driver"] = driver(config, arguments.simulated, max(row["us_a_piece"] for row in record["rows"]))
    record["learner"] = learner(arguments.config)
    record["expected"] = expected(record)
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('scaling', record, report(record))}")


def _parser() -> argparse.ArgumentParser:
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add(
        "--kinds",
        nargs="+",
        choices=KINDS,
        default=KINDS,
        metavar="KIND",
        help=f"kinds of workers (default: all): {', '.join(KINDS)}",
    )
    add("--agent", default="beam", help="agent in every seat of the tournaments (default: %(default)s)")
    add("--games", type=at_least_one, default=240, help="minimum number of games (default: 240)")
    add("--updates", type=at_least_one, default=4, help="number of updates per training run (default: 4)")
    add(
        "--pairs",
        type=at_least_one,
        default=6,
        help="number of rounds; each round has a window of each kind (default: %(default)s)",
    )
    add(
        "--simulated",
        type=at_least_one,
        default=240_000,
        help="number of simulated games for the driver (default: %(default)s)",
    )
    add("--config", default="selfplay_duel", help="training configuration (default: %(default)s)")
    add(
        "--envs",
        type=at_least_one,
        help="number of games per actor; more games make rollouts longer (default: as configured)",
    )
    add("--record", action="store_true", help="store the result in benchmarks/results")
    return parser


def measure(arguments: argparse.Namespace, config: TournamentConfig) -> list[Row]:
    """Measure games and decisions per second of each kind of workers.

    Each round has a window of each kind. Every second round has the reverse order of kinds.
    """
    windows: dict[str, list[Row]] = {kind: [] for kind in KINDS if kind in arguments.kinds}
    for number in range(arguments.pairs):
        for kind in list(windows)[:: -1 if number % 2 else 1]:
            print(f"round {number + 1} of {arguments.pairs}: {kind}", file=sys.stderr, flush=True)
            with workers(kind) as executor, TemporaryDirectory() as folder:
                windows[kind].append(Window(kind, executor, Path(folder), config).measure(arguments))
    return [summary(kind, windows) for kind in windows]


@contextmanager
def workers(kind: str) -> Iterator[WorkExecutor]:
    """Open the executor for a kind of workers in KINDS."""
    if kind == NO_WORKER:
        with open_executor("1") as executor:
            yield executor
        return
    number = int(kind.split()[0])
    made: WorkExecutor = RayExecutor(None, number) if "Ray" in kind else ProcessExecutor(number)
    with made:
        yield made


# Throughput


class Window:
    """One measurement of one kind of workers."""

    def __init__(self, kind: str, executor: WorkExecutor, folder: Path, config: TournamentConfig) -> None:
        self.kind, self.executor, self.folder, self.config = kind, executor, folder, config

    def measure(self, arguments: argparse.Namespace) -> Row:
        """Return the rates, after a warm-up of a short tournament and two updates."""
        self.games(2 * SEATS, "warm")
        trainer, updates = self.trainer(arguments), arguments.updates
        rates = {"games_a_second": self.games(arguments.games, "games")}
        trainer.games.collect(trainer.network, trainer.rollout)  # the next rollouts begin with the window
        collect = partial(trainer.games.collect, trainer.network, trainer.rollout)
        size = trainer.rollout.actions.size
        rates["played_a_second"] = size * times_a_second(collect, PLAYED * updates)
        rates["decisions_a_second"] = size * times_a_second(partial(one_update, trainer), updates)
        if isinstance(trainer.games, Actors):
            wait(trainer.games.running)
        return rates | {"workers": self.executor.size(), "us_a_piece": us_a_piece(self.executor)}

    def trainer(self, arguments: argparse.Namespace) -> ppo.Trainer:
        """Return a training run after two updates."""
        changes: Row = {"n_envs": arguments.envs} if arguments.envs else {}
        if self.kind != NO_WORKER:
            changes |= {"actors": self.executor.size(), "staleness": 1}
        trainer = run(arguments.config, self.folder, self.executor, changes)
        trainer.begin()
        for _ in range(2):
            one_update(trainer)
        return trainer

    def games(self, games: int, name: str) -> float:
        """Return the games per second of wall time in a tournament."""
        with closing(Store.create(self.folder / f"{name}.sqlite", self.config)) as store:
            start = time.perf_counter()
            conduct(store, games, executor=self.executor)
            return store.count()[0] / (time.perf_counter() - start)


def summary(kind: str, windows: Mapping[str, Sequence[Row]]) -> Row:
    """Return the medians of a kind's windows, and ratios to one worker and to as many processes."""
    row: Row = {"kind": kind, "workers": windows[kind][-1]["workers"]}
    row |= {name: median(window[name] for window in windows[kind]) for name in ("us_a_piece", *RATES)}
    if alone := windows.get(ALONE.get(kind, "")):
        row |= {f"{name}_ratio": compared(windows[kind], alone, name)["ratio"] for name in RATES}
    if processes := windows.get(PROCESSES.get(kind, "")):
        row["of_processes"] = {name: compared(windows[kind], processes, name) for name in RATES}
    return row


def compared(ones: Sequence[Row], others: Sequence[Row], name: str) -> Row:
    """Return the median over rounds of the ratio of two rates, with its confidence interval."""
    ratios = [one[name] / other[name] for one, other in zip(ones, others, strict=True)]
    low, high = interval(ratios)
    return {"ratio": median(ratios), "low": low, "high": high}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the confidence interval of the median, with a probability of error of at most CHANCE.

    The ends are values of the sample. For any distribution, each value is below the true median with
    probability 1/2. If the sample is too small for CHANCE, the ends are the lowest and the highest value.
    """
    ordered, count = sorted(values), len(values)
    tails = accumulate(comb(count, below) / 2**count for below in range(count))
    inner = max(1, sum(2 * tail <= CHANCE for tail in tails))
    return ordered[inner - 1], ordered[-inner]


def times_a_second(work: Callable[[], object], times: int) -> float:
    """Call `work` `times` times and return the calls per second of wall time."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return times / (time.perf_counter() - start)


def us_a_piece(executor: WorkExecutor, pieces: int = 500) -> float:
    """Return the CPU time of this process for an empty piece of work, in µs."""
    start = time.process_time()
    for _ in in_order(executor, abs, ((0,) for _ in range(pieces))):
        pass
    return 1e6 * (time.process_time() - start) / pieces


def tournament(agent: str) -> TournamentConfig:
    """Return the configuration of a tournament of six copies of an agent, with the rules of the ladder."""
    rules = Rules.preset("classic", SEATS, profile="fast")
    return make_config([f"{agent}{number}={agent}" for number in range(SEATS)], rules)


def run(
    name: str, folder: Path, executor: WorkExecutor | None = None, changes: Row | None = None
) -> ppo.Trainer:
    """Return a training run with a named configuration and some changes."""
    return ppo.Trainer(
        ppo.Config.from_dict(read_config(config_path(name)) | (changes or {})), folder, executor
    )


def one_update(trainer: ppo.Trainer) -> None:
    """Play a rollout and learn from it."""
    trainer.games.collect(trainer.network, trainer.rollout)
    trainer.learn()


# The driver


class Simulated(WorkExecutor):
    """Workers that immediately return copies of one game.

    `seconds` is the CPU time of the simulation itself, and `pieces` the number of pieces of work.
    """

    def __init__(self, game: GameResult) -> None:
        self.game, self.seconds, self.pieces = game, 0.0, 0

    def size(self) -> int:
        """Return the number of workers."""
        return SIMULATED

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the games of the chunk.

        The driver pickles the input and unpickles the result, as with real workers.
        """
        config, chunk = args
        pickle.dumps((function, config, chunk))
        start, future = time.process_time(), Future[Any]()
        returned = pickle.dumps([self.copy(pairing) for pairing in chunk])
        self.seconds += time.process_time() - start
        self.pieces += 1
        future.set_result(pickle.loads(returned))
        return future

    def share(self, value: Any) -> str:
        """Return a name that stands for the value."""
        return "shared"

    def copy(self, pairing: Any) -> GameResult:
        """Return the game with the numbers and seats of a pairing."""
        return dataclasses.replace(self.game, game=pairing.game, deal=pairing.deal, seats=pairing.seats)


def driver(config: TournamentConfig, games: int, us_for_a_piece: float) -> Row:
    """Return the driver's CPU time per game, including a share of the cost per chunk, and bytes per game."""
    chunk: Chunk = tuple(config.schedule(1))
    results = play_and_return(config, chunk)
    start = time.process_time()
    results = play_and_return(config, chunk)
    core_seconds = (time.process_time() - start) / len(results)
    simulated = Simulated(results[0])
    with (
        TemporaryDirectory() as folder,
        closing(Store.create(Path(folder) / "games.sqlite", config)) as store,
    ):
        start = time.process_time()
        conduct(store, games, executor=simulated)
        played = store.count()[0]
        us = 1e6 * (time.process_time() - start - simulated.seconds) + us_for_a_piece * simulated.pieces
    return {
        "games": games,
        "simulated_workers": SIMULATED,
        "games_a_piece": played / simulated.pieces,
        "us_a_game": us / played,
        "core_seconds_a_game": core_seconds,
        "bytes_out_a_game": len(pickle.dumps((play_and_return, chunk))) / len(chunk),
        "bytes_back_a_game": len(pickle.dumps(results)) / len(results),
    }


def learner(name: str) -> Row:
    """Return the CPU times of the actor and the learner per decision, and the numbers of bytes sent."""
    with TemporaryDirectory() as folder:
        trainer = run(name, Path(folder))
        trainer.begin()
        one_update(trainer)
        config, rollout = trainer.config, trainer.rollout
        sent = Rollout.empty(config.n_steps, config.n_envs, trainer.layout, keeps_features=False)
        size, times = rollout.actions.size, [time.process_time()]
        trainer.games.collect(trainer.network, sent)
        times.append(time.process_time())
        pickled = pickle.dumps(sent.packed())
        times.append(time.process_time())
        rollout.clear()
        rollout.unpack(pickle.loads(pickled), 0)
        times.append(time.process_time())
        rollout.write_features(trainer.network.spec)
        trainer.learn()
        times.append(time.process_time())
    play, pack, unpack, learn = (1e6 * (end - begin) / size for begin, end in pairwise(times))
    return {
        "us_play": play,
        "us_pack": pack,
        "us_unpack": unpack,
        "us_learn": learn,
        "bytes_a_decision": len(pickled) / size,
        "bytes_a_weight_update": len(pickle.dumps(trainer.network.arrays())),
        "bytes_of_an_actors_games": len(pickle.dumps(trainer.games.game_state())),
        "decisions_a_rollout": size,
    }


# The report


def expected(record: Row) -> list[Row]:
    """Return the estimated games and decisions per second for each number of cores in CORES."""
    games, learning = record["driver"], record["learner"]
    fed, learned = 1e6 / games["us_a_game"], 1e6 / (learning["us_learn"] + learning["us_unpack"])
    played = 1e6 / (learning["us_play"] + learning["us_pack"])
    alone = 1e6 / (learning["us_play"] + learning["us_learn"])
    rows = []
    for cores in CORES:
        row = {"cores": cores, "games_a_second": min(cores / games["core_seconds_a_game"], fed)}
        row["games_sent"] = row["games_a_second"] * (games["bytes_out_a_game"] + games["bytes_back_a_game"])
        row["decisions_a_second"] = alone if cores == 1 else min((cores - 1) * played, learned)
        row["decisions_sent"] = 0 if cores == 1 else row["decisions_a_second"] * learning["bytes_a_decision"]
        rows.append(row)
    return rows


def report(record: Row) -> str:
    """Return the record as Markdown."""
    parts = (_measured(record["rows"]), _of_the_driver(record["driver"]), _of_the_learner(record["learner"]))
    lines = ["# Many processes and machines", "", *heading_lines(record)]
    for part in (*parts, _expected(record["expected"])):
        lines += ["", *part]
    return "\n".join(lines)


def _of_the_driver(row: Row) -> list[str]:
    cores = 1e6 * row["core_seconds_a_game"] / row["us_a_game"]
    return [
        f"A game takes {row['us_a_game']:,.0f} µs of CPU time in the driver (the main process) "
        f"and {row['core_seconds_a_game']:.2f} s in a worker. "
        f"Therefore one driver can supply {cores:,.0f} cores. "
        f"The driver was measured with {row['simulated_workers']:,} simulated workers that return results "
        f"immediately, and chunks of {row['games_a_piece']:.0f} games. "
        f"A game sends {row['bytes_out_a_game']:,.0f} bytes to a worker and returns "
        f"{row['bytes_back_a_game']:,.0f} bytes."
    ]


def _of_the_learner(row: Row) -> list[str]:
    actors = (row["us_play"] + row["us_pack"]) / (row["us_learn"] + row["us_unpack"])
    return [
        f"An actor takes {row['us_play']:.1f} µs to play a decision and {row['us_pack']:.1f} µs to send it. "
        f"The learner takes {row['us_unpack']:.1f} µs to receive the decision "
        f"and {row['us_learn']:.1f} µs to learn from it. "
        f"Therefore a learner on one core needs {actors:.1f} actors. "
        f"A decision has {row['bytes_a_decision']:,.0f} bytes, the weights have "
        f"{row['bytes_a_weight_update']:,} bytes, and the games of an actor have "
        f"{row['bytes_of_an_actors_games']:,} bytes. "
        f"For every rollout of {row['decisions_a_rollout']:,} decisions, the learner sends weights and games "
        "to an actor, and the actor returns the games."
    ]


def _measured(rows: Sequence[Row]) -> list[str]:
    cells = [
        (row["kind"], *(_with_ratio(row, name) for name in RATES), f"{row['us_a_piece']:,.0f}")
        for row in rows
    ]
    lines = table(("workers (× one worker)", *RATES.values(), "CPU time of the driver per chunk, µs"), cells)
    compared = [
        (row["kind"], *map(_with_interval, row["of_processes"].values()))
        for row in rows
        if "of_processes" in row
    ]
    return (
        [*lines, "", *table(("ratio to the same number of processes", *RATES.values()), compared)]
        if compared
        else lines
    )


def _with_interval(row: Row) -> str:
    return f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def _with_ratio(row: Row, name: str) -> str:
    rate = f"{row[name]:,.1f}" if name == "games_a_second" else f"{row[name]:,.0f}"
    return f"{rate} (× {row[f'{name}_ratio']:.2f})" if f"{name}_ratio" in row else rate


def _expected(rows: Sequence[Row]) -> list[str]:
    cells = [
        (
            f"{row['cores']:,}",
            f"{row['games_a_second']:,.1f}",
            f"{row['games_sent'] / 1e6:,.2f}",
            f"{row['decisions_a_second']:,.0f}",
            f"{row['decisions_sent'] / 1e6:,.0f}",
        )
        for row in rows
    ]
    columns = (
        "cores",
        "games per second",
        "MB per second sent for games",
        "decisions trained per second, with one learner",
        "MB per second sent for decisions",
    )
    return table(columns, cells)


if __name__ == "__main__":
    main()
