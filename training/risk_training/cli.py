"""The command `risk-env train`."""

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from risk_agents.progress import progress_bar
from risk_agents.registry import UnnamedCodeError, load, load_bot
from risk_agents.rules_arguments import NAMES, add_rules_arguments, options_of
from risk_agents.workers import WorkExecutor, add_options, open_executor
from risk_agents.workers.executor import WorkLostError
from risk_env.board.rules import FAST
from risk_env.bots import CompiledBot
from risk_env.cli import command_parser
from risk_env.messages import counted
from risk_env.players import AgentFactory
from risk_env.whole_file import new_folder
from risk_training import responses, seeds, sweep
from risk_training.config import (
    TRAINERS,
    WIN_RATE,
    check_range,
    difference,
    put_value,
    read_config,
    set_value,
    shipped_configs,
)
from risk_training.run_files import CHECKPOINT

MOST_THREADS = 1024
MOST_SEEDS = 1000
SELFPLAY = "selfplay"
LEAGUES = (SELFPLAY, "sb3")  # trainers whose opponents come from a league
SET = "set a key of the configuration, as in --set learning_rate=1e-3 or --set evaluation.games=100"

RESUMED = ("steps", "against")  # options of a new run that --resume allows, besides --device
# settings for an exploiter of an agent in Python: each seat of each game needs a separate agent
IN_PYTHON = {"n_envs": 16, "n_steps": 256}
EVALUATIONS = 10  # desired minimum number of points of a gain curve, unless INTERVAL is set
INTERVAL = "evaluation.interval"

# settings that have a command-line option of the same name
SETTINGS = ("preset", "players", "map", "expert", "profile", "seed", "device")


def main(argv: Sequence[str]) -> None:
    """Run the command `train`: a new or resumed run, several seeds, a sweep, or rounds of exploiters."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    _check_options(parser, arguments)
    check_range("--threads", arguments.threads, 1, MOST_THREADS)
    if arguments.seeds is not None:
        check_range("--seeds", arguments.seeds, 1, MOST_SEEDS)
    import torch  # imported here, so that --help is fast

    torch.set_num_threads(arguments.threads)
    with open_executor(arguments.workers, arguments.chunk_limit) as executor:
        if arguments.responses is not None:
            _train_responses(arguments, executor, argv)
            return
        if arguments.sweep is not None:
            _train_sweep(arguments, executor, argv)
            return
        if arguments.seeds is not None:
            _train_seeds(arguments, executor, argv)
            return
        run = _new(arguments, executor) if arguments.resume is None else _resumed(arguments, executor)
        wanted = {name: getattr(arguments, name) for name in ("against", "steps", "device")}
        again = [f"--{name}={value}" for name, value in wanted.items() if value is not None]
        with _continued_by("--resume", str(run.folder), *again):
            _train(run)
        if arguments.against is not None:
            print(*seeds.gains(seeds.curves([run.folder]), 1 / run.config.rules().num_players), sep="\n")


def _check_options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with a message if options are missing, or are not allowed together."""
    if sum(getattr(arguments, name) is not None for name in ("config", "resume", "responses")) != 1:
        parser.error("give exactly one of --config, --resume and --responses")
    fixed = dict.fromkeys((*SETTINGS, *NAMES, "steps", "set", "out", "against", "seeds", "sweep"))
    given = [name for name in fixed if name != "device" and getattr(arguments, name) is not None]
    if arguments.resume is not None and (given := [name for name in given if name not in RESUMED]):
        name = given[0].replace("_", "-")
        parser.error(
            f"--{name} cannot change a resumed run: remove this option, or start a new run with --config"
        )
    if arguments.responses is not None and (given := [name for name in given if name != "out"]):
        name = given[0].replace("_", "-")
        parser.error(
            f"--{name} is not allowed with --responses: use exploiter_settings, value_settings and the other "
            f"settings in {arguments.responses}"
        )


@contextmanager
def _continued_by(*words: str) -> Iterator[None]:
    """If the `with` block is interrupted or loses its workers, print the command that continues its work.

    `words` are the arguments of this command.
    """
    try:
        yield
    except (KeyboardInterrupt, ConnectionError, WorkLostError):
        print(f"stopped: continue with {shlex.join(['risk-env', 'train', *words])}", file=sys.stderr)
        raise


def _with_out(argv: Sequence[str], folder: Path) -> list[str]:
    """Return the arguments of a command that continues the work in this folder."""
    named = any(word.partition("=")[0] == "--out" for word in argv)
    return [*argv, *([] if named else ["--out", str(folder)])]


class _Runs:
    """The runs that `responses.run_rounds` trains, with the arguments of the command line."""

    def __init__(self, arguments: argparse.Namespace, executor: WorkExecutor) -> None:
        self._arguments, self._executor = arguments, executor

    def config(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the settings of a run (`responses.Runs`)."""
        return _settings(_with(self._arguments, config=name, values=values))[1]

    def train(self, name: str, values: Mapping[str, Any], folder: Path, against: str | None = None) -> None:
        """Train a run to its end, or continue the run in the folder (`responses.Runs`)."""
        own = _with(self._arguments, config=name, values=values, out=str(folder), against=against)
        _train(_begun_or_continued(own, self._executor))


def _train_responses(arguments: argparse.Namespace, executor: WorkExecutor, argv: Sequence[str]) -> None:
    """Run rounds of exploiters, or continue earlier rounds, and print a line for each round.

    `argv` are the arguments of the command.
    """
    settings = responses.read_responses(arguments.responses)
    load_bot(settings.agent)  # raises ValueError now if the file names an agent that is not compiled
    folder = Path(arguments.out) if arguments.out else _fresh_folder(Path(arguments.responses))
    with _continued_by(*_with_out(argv, folder)):
        rounds = responses.run_rounds(settings, folder, _Runs(arguments, executor))
    print(*responses.lines(settings, rounds), sep="\n")
    print(f"rounds of exploiters: {folder / responses.SUMMARY}")


def _train_sweep(arguments: argparse.Namespace, executor: WorkExecutor, argv: Sequence[str]) -> None:
    """Train the trials of a sweep, or continue an earlier sweep, and print a line for each trial.

    `argv` are the arguments of the command.
    """
    wanted = sweep.read_sweep(arguments.sweep)
    for values in wanted.extremes():  # raises now rather than in a later trial
        if not _settings(_with(arguments, values=values))[1].evaluation.opponents:
            raise ValueError(
                f"--sweep {str(arguments.sweep)!r}: evaluation.opponents=[]: name at least one opponent, "
                "because the result of a trial is a win rate"
            )
    config = _settings(arguments)[1].to_dict() | {"runs": arguments.seeds or 1}
    folder = Path(arguments.out) if arguments.out else _fresh_folder(config_path(arguments.config))

    def run_trial(number: int, values: Mapping[str, Any]) -> float | None:
        return _train_trial(_with(arguments, values=values, out=str(folder / f"trial-{number}")), executor)

    with _continued_by(*_with_out(argv, folder)):
        trials = sweep.run_sweep(wanted, config, folder, run_trial)
    sweep.write_table(wanted, trials, folder)
    sweep.draw(wanted, trials, folder)
    print(*sweep.lines(wanted, trials), sep="\n")
    print(f"{counted(len(trials), 'trial')}: {folder / sweep.PICTURE}, {folder / sweep.TABLE}")


def _train_trial(arguments: argparse.Namespace, executor: WorkExecutor) -> float | None:
    """Train the runs of a trial, and return the mean of the last win rates against all opponents.

    Returns None if a run diverges.
    """
    from risk_training.run import DivergedError

    try:
        if arguments.seeds is not None:
            curves = _train_seeds(arguments, executor, None)
        else:
            run = _begun_or_continued(arguments, executor)
            _train(run)
            curves = seeds.curves([run.folder])
    except DivergedError as error:
        print(error, file=sys.stderr)
        return None
    return float(np.mean([points[-1].rate for points in curves.values()]))


def _with(arguments: argparse.Namespace, **changes: Any) -> argparse.Namespace:
    """Return a copy of the arguments with these changes."""
    return argparse.Namespace(**vars(arguments) | changes)


def _train_seeds(
    arguments: argparse.Namespace, executor: WorkExecutor, argv: Sequence[str] | None
) -> dict[str, list[seeds.Point]]:
    """Train a run for each seed, or continue earlier runs, and return the learning curves.

    Writes the curves to files, and prints win rates or gains. `argv` are the arguments of the command, or
    None for the runs of a trial.
    """
    config = _settings(arguments)[1]
    path = config_path(arguments.config)
    folder = Path(arguments.out) if arguments.out else _fresh_folder(path)
    folders = [seeds.folder_of(folder, config.seed + number) for number in range(arguments.seeds)]
    with nullcontext() if argv is None else _continued_by(*_with_out(argv, folder)):
        for number, one in enumerate(folders):
            own = _with(arguments, seed=config.seed + number, out=str(one))
            _train(_begun_or_continued(own, executor))
    curves = seeds.curves(folders)
    seeds.write(curves, folder)
    seeds.draw(curves, folder, str(folder))
    told = seeds.lines if arguments.against is None else seeds.gains
    print(*told(curves, 1 / config.rules().num_players), sep="\n")
    print(
        f"mean curves of {counted(len(folders), 'run')}: {folder / seeds.PICTURE}, {folder / seeds.SUMMARY}"
    )
    return curves


def _begun_or_continued(arguments: argparse.Namespace, executor: WorkExecutor) -> Any:
    """Return the run in the folder `--out`: a new run, or the run of the checkpoint in this folder.

    Raises ValueError if the run of the checkpoint has other settings. The device, the length and, for an
    exploiter, the settings of the evaluations may differ.
    """
    from risk_training.run import load_checkpoint

    folder = Path(arguments.out)
    if not (folder / CHECKPOINT).exists():
        return _new(arguments, executor)
    trainer, config = _settings(arguments)
    there, wanted = load_checkpoint(folder)["config"], config.to_dict()
    # The evaluation interval of an exploiter depends on the run's length. The opponent is also in `league`.
    free = ("device", trainer.Config.LENGTH, *(() if arguments.against is None else ("evaluation",)))
    for name in sorted(there.keys() | wanted.keys()):
        if name not in free and there.get(name) != wanted.get(name):
            raise ValueError(
                f"--out {arguments.out}: the run in this folder has "
                f"{difference(name, there.get(name), wanted.get(name))}; choose another folder"
            )
    return trainer.Trainer.resume(folder, config.length, executor, arguments.device, _named(arguments))


def _named(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the spec of --against, if given. Only the agent of this spec may run code of its own."""
    return () if arguments.against is None else (arguments.against,)


def _train(run: Any) -> None:
    """Train the run to its end, and print the command that evaluates the run."""
    unit = "games" if run.config.LENGTH == "games" else "steps"
    print(
        f"run {run.folder}: {run.config.TRAINER}, {run.config.length:,} {unit}, "
        f"{run.precision} on {run.device}"
    )
    if getattr(getattr(run, "games", None), "are_in_python", False):
        bots, games = ", ".join(run.config.league.bots), run.config.n_envs
        print(
            f"not all opponents are compiled ({bots}): training is slow, with {counted(games, 'game')} at "
            "a time"
        )
    if run.steps >= run.config.length:
        print(f"the run is complete after {run.steps:,} {unit}; set a larger --steps to extend the run")
    with training_bar(run.config.length, run.steps, unit) as show:
        run.train(show)
    if run.seconds > 0:
        rate = run.steps / run.seconds
        print(f"{run.steps:,} {unit} in {run.seconds:,.0f} s, including evaluations: {rate:,.0f} per second")
    print(f"done: evaluate the run with risk-env evaluate --run {run.folder}")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("train")
    parser.epilog = "configurations: " + ", ".join(Path(path).name for path in shipped_configs())
    add = parser.add_argument
    add(
        "--config",
        metavar="FILE",
        help="configuration: a file (.yml), or the name of a shipped configuration",
    )
    usual = "default of the trainer"
    add_rules_arguments(parser, FAST, players=usual, otherwise="value of the configuration")
    add("--set", action="append", metavar="KEY=VALUE", help=f"{SET}; may be repeated")
    add(
        "--steps",
        type=float,
        metavar="N",
        help="length of the run in decisions or games; overrides the configuration",
    )
    add("--seed", type=int, help="seed of the run; overrides the configuration")
    _add_several(parser)
    add("--device", help="device of the network: auto, cpu, cuda, cuda:N or mps; overrides the configuration")
    add("--threads", type=int, default=1, metavar="N", help="number of PyTorch threads (default: 1)")
    add_options(parser)
    parser.set_defaults(values={})  # values of a trial of a sweep
    add(
        "--out",
        metavar="FOLDER",
        help="folder of the run, or of all runs of --seeds, --sweep or --responses (default: a new folder "
        "runs/NAME-TIME)",
    )
    add("--resume", metavar="FOLDER", help="continue the run in this folder; --steps sets a new length")
    return parser


def _add_several(parser: argparse.ArgumentParser) -> None:
    """Add the options for several runs, for an exploiter and for rounds of exploiters."""
    add = parser.add_argument
    add(
        "--seeds",
        type=int,
        metavar="N",
        help="train N runs with consecutive seeds in one folder, or continue these runs; print win rates and "
        "draw learning curves",
    )
    add(
        "--sweep",
        metavar="FILE",
        help="train runs with different values of the keys that FILE (.yml) lists, or continue the sweep",
    )
    add(
        "--against",
        metavar="AGENT",
        help="train an exploiter, which plays one seat against AGENT in all other seats, and print the "
        "exploiter's gain. With --resume: let the run start AGENT, if AGENT is a program, a language model "
        "or a Python file",
    )
    add(
        "--responses",
        metavar="FILE",
        help="train an agent against its exploiters, round after round, with the settings in FILE (.yml), or "
        "continue the rounds",
    )


def _new(arguments: argparse.Namespace, executor: WorkExecutor) -> Any:
    """Return a new run."""
    path = config_path(arguments.config)
    if arguments.out and (Path(arguments.out) / CHECKPOINT).exists():
        there = f"the folder already has a run; continue it with --resume {arguments.out}"
        raise ValueError(f"--out {arguments.out}: {there}")
    trainer, config = _settings(arguments)
    folder = Path(arguments.out) if arguments.out else _fresh_folder(path)
    try:
        return trainer.Trainer(config, folder, executor, _named(arguments))
    except UnnamedCodeError as error:
        raise ValueError(
            f"--config {arguments.config}: {error}; give a registered name or a trained file (.npz), or name "
            "the agent with --against"
        ) from error


def _settings(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Return the trainer's module, and the settings of `--config` with the changes from the command line."""
    facts = read_config(config_path(arguments.config))
    trainer = import_module(TRAINERS[facts["trainer"]])
    config = trainer.Config.from_dict(changed(facts, arguments, trainer.Config.LENGTH))
    most = max(1, config.length // EVALUATIONS)
    given = [*arguments.values, *(text.partition("=")[0].strip() for text in arguments.set or ())]
    if arguments.against is not None and INTERVAL not in given and config.evaluation.interval > most:
        config = replace(config, evaluation=replace(config.evaluation, interval=most))
    return trainer, config


def _fresh_folder(path: Path) -> Path:
    """Create and return a new folder for runs of the configuration in a file."""
    return new_folder(Path(time.strftime(f"runs/{path.stem}-%Y%m%d-%H%M%S")))


def changed(facts: Mapping[str, Any], arguments: argparse.Namespace, length: str) -> dict[str, Any]:
    """Return the settings of a configuration file, with the changes from the command line.

    `length` is the name of the setting that `--steps` overrides.
    """
    given = {name: getattr(arguments, name) for name in SETTINGS} | {length: arguments.steps}
    settings = {**facts, **{name: value for name, value in given.items() if value is not None}}
    options, own = options_of(vars(arguments)), facts.get("options") or {}
    if options and isinstance(own, Mapping):
        settings["options"] = {**own, **options}
    if arguments.against is not None:
        settings |= _against(settings, arguments.against)
    for text in arguments.set or ():
        set_value(settings, text)
    for key, value in arguments.values.items():
        put_value(settings, key, value, "--sweep: key")
    return settings


def _against(facts: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """Return the settings that change for an exploiter, whose games are all against one agent."""
    league, evaluation = (facts.get(name) or {} for name in ("league", "evaluation"))
    if (
        facts["trainer"] not in LEAGUES
        or not isinstance(league, Mapping)
        or not isinstance(evaluation, Mapping)
    ):
        raise ValueError(
            f"--against {agent}: needs a configuration of trainer {' or '.join(LEAGUES)}, in which "
            f"`league` and `evaluation` are sections; the trainer is {facts['trainer']!r}"
        )
    settings: dict[str, Any] = {
        "league": {**league, "bots": [agent], "snapshot_share": 0.0},
        "evaluation": {**evaluation, "opponents": [agent]},
    }
    player = load(agent)
    if not isinstance(player, CompiledBot):
        if facts["trainer"] != SELFPLAY:
            raise ValueError(
                f"--against {agent}: the agent is not compiled, and the checkpoints of trainer "
                f"{facts['trainer']!r} need compiled bots; use a configuration of trainer {SELFPLAY}"
            )
        settings |= IN_PYTHON if isinstance(player, AgentFactory) else {}
    return settings | ({"league_share": 1.0} if facts["trainer"] == SELFPLAY else {})


def _resumed(arguments: argparse.Namespace, executor: WorkExecutor) -> Any:
    """Return the run of `--resume`, in the state of its checkpoint."""
    from risk_training.run import load_checkpoint

    folder = Path(arguments.resume)
    trainer = import_module(TRAINERS[load_checkpoint(folder)["config"]["trainer"]])
    run = trainer.Trainer.resume(folder, arguments.steps, executor, arguments.device, _named(arguments))
    if arguments.against is not None and run.config.evaluation.opponents != (arguments.against,):
        there = ", ".join(run.config.evaluation.opponents) or "no agent"
        raise ValueError(
            f"--against {arguments.against}: the evaluations of the run in {folder} are against {there}; "
            "start a new run with --config"
        )
    return run


def config_path(name: str) -> Path:
    """Return the path of a configuration, given a path or the name of a shipped configuration."""
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
