"""The command `risk-env train`."""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from risk_agents.progress import progress_bar
from risk_agents.rules_arguments import NAMES, add_rules_arguments, options_of
from risk_agents.workers import WorkExecutor, add_options, open_executor
from risk_agents.workers.executor import WorkLostError
from risk_env.board.rules import FAST
from risk_env.cli import command_parser
from risk_env.whole_file import new_folder
from risk_training.config import (
    TRAINERS,
    WIN_RATE,
    check_range,
    read_config,
    set_value,
    shipped_configs,
)
from risk_training.run_files import CHECKPOINT

MOST_THREADS = 1024
SET = "set any key of the configuration, as in --set learning_rate=1e-3 or --set evaluation.games=100"

# settings that have arguments of their own
SETTINGS = ("preset", "players", "map", "expert", "profile", "seed", "device")


def main(argv: Sequence[str]) -> None:
    """Run the command `train`: start a new run, or resume a run."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if (arguments.config is None) == (arguments.resume is None):
        parser.error("add either --config or --resume")
    fixed = dict.fromkeys((*SETTINGS, *NAMES, "set", "out"))
    given = [name for name in fixed if name != "device" and getattr(arguments, name) is not None]
    if arguments.resume is not None and given:
        name = given[0].replace("_", "-")
        parser.error(f"--{name} is part of the settings of the run; start a new run with --config")
    check_range("--threads", arguments.threads, 1, MOST_THREADS)
    import torch  # imported here, so that --help is fast

    torch.set_num_threads(arguments.threads)
    with open_executor(arguments.workers, arguments.chunk_limit) as executor:
        _train(_resumed(arguments, executor) if arguments.resume else _new(arguments, executor))


def _train(run: Any) -> None:
    """Train to the end of the run, and print how to continue or evaluate it."""
    unit = "games" if run.config.LENGTH == "games" else "steps"
    print(
        f"run {run.folder}: {run.config.TRAINER}, {run.config.length:,} {unit}, "
        f"{run.precision} on {run.device}"
    )
    if run.steps >= run.config.length:
        print(f"the run is complete after {run.steps:,} {unit}; --steps N makes it longer")
    try:
        with training_bar(run.config.length, run.steps, unit) as show:
            run.train(show)
    except (KeyboardInterrupt, ConnectionError, WorkLostError):
        print(f"stopped: continue with risk-env train --resume {run.folder}", file=sys.stderr)
        raise
    print(f"done: risk-env evaluate --run {run.folder}")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("train")
    parser.epilog = "configurations: " + ", ".join(Path(path).name for path in shipped_configs())
    add = parser.add_argument
    add(
        "--config",
        metavar="FILE",
        help="configuration: a file (.yml), or the name of a shipped configuration",
    )
    add_rules_arguments(parser, FAST, otherwise="value of the configuration")
    add("--set", action="append", metavar="KEY=VALUE", help=f"{SET}; may be repeated")
    add(
        "--steps",
        type=float,
        metavar="N",
        help="length of the run in decisions or games; overrides the configuration",
    )
    add("--seed", type=int, help="seed of the run; overrides the configuration")
    add("--device", help="device of the network: auto, cpu, cuda, cuda:N or mps; overrides the configuration")
    add("--threads", type=int, default=1, metavar="N", help="number of PyTorch threads (default: 1)")
    add_options(parser)
    add("--out", metavar="FOLDER", help="folder of the run (default: a new runs/NAME-<time>)")
    add("--resume", metavar="FOLDER", help="continue the run of this folder; --steps N makes it longer")
    return parser


def _new(arguments: argparse.Namespace, executor: WorkExecutor) -> Any:
    """Return a new run."""
    path = config_path(arguments.config)
    if arguments.out and (Path(arguments.out) / CHECKPOINT).exists():
        there = f"the folder already has a run; continue it with --resume {arguments.out}"
        raise ValueError(f"--out {arguments.out}: {there}")
    facts = read_config(path)
    trainer = import_module(TRAINERS[facts["trainer"]])
    facts = changed(facts, arguments, trainer.Config.LENGTH)
    config, fresh = trainer.Config.from_dict(facts), Path(time.strftime(f"runs/{path.stem}-%Y%m%d-%H%M%S"))
    return trainer.Trainer(config, Path(arguments.out) if arguments.out else new_folder(fresh), executor)


def changed(facts: Mapping[str, Any], arguments: argparse.Namespace, length: str) -> dict[str, Any]:
    """Return the names and values of a configuration, overridden by values of the command line.

    `length` is the name of the setting that `--steps` overrides.
    """
    given = {name: getattr(arguments, name) for name in SETTINGS} | {length: arguments.steps}
    found = {**facts, **{name: value for name, value in given.items() if value is not None}}
    options, own = options_of(vars(arguments)), facts.get("options") or {}
    if options and isinstance(own, Mapping):
        found["options"] = {**own, **options}
    for text in arguments.set or ():
        set_value(found, text)
    return found


def _resumed(arguments: argparse.Namespace, executor: WorkExecutor) -> Any:
    """Return the run in a folder, to be continued."""
    from risk_training.run import load_checkpoint

    folder = Path(arguments.resume)
    trainer = import_module(TRAINERS[load_checkpoint(folder)["config"]["trainer"]])
    return trainer.Trainer.resume(folder, arguments.steps, executor, arguments.device)


def config_path(name: str) -> Path:
    """Return the file of a configuration, given its path, or the name of a configuration of the project."""
    path = Path(name)
    shipped = Path(__file__).parent / "configs" / path.with_suffix(".yml").name
    return shipped if not path.exists() and path.parent == Path() and shipped.exists() else path


@contextmanager
def training_bar(total: int, done: int, unit: str) -> Iterator[Any]:
    """Show a progress bar with the steps and the win rates of the latest evaluation.

    Yields a function that takes a line of metrics and updates the bar.
    """
    with progress_bar(unit, total, Console(stderr=True)) as bar:
        bar(done, "")

        def show(row: Mapping[str, Any]) -> None:
            rates = [f"{bot} {rate:.0%}" for bot, rate in win_rates(row).items()]
            bar(row["time/steps"], ", ".join(rates))

        yield show


def win_rates(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the win rate against each opponent in a line of metrics."""
    return {name.removeprefix(WIN_RATE): rate for name, rate in row.items() if name.startswith(WIN_RATE)}
