"""The command `train` (`risk-env train --help`)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from risk_env.cli import command_parser
from risk_training.config import Sb3Config, read_config, shipped_configs, write_config

CONFIG, CHECKPOINT = "config.yml", "checkpoint.pt"
Show = Callable[[int, Mapping[str, Any], str], None]  # told steps made, numbers by name, and how win rates begin
STEPS = {"sb3": "n_timesteps", "selfplay": "decisions", "value": "games"}  # how each trainer calls the length of a run


def main(argv: Sequence[str]) -> None:
    """The command `train`: begin a run or go on with one."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if (arguments.config is None) == (arguments.resume is None):
        parser.error("one of --config and --resume is needed")
    if arguments.resume is not None:
        _check_resume(parser, arguments)
    _set_threads(arguments.threads)
    folder, facts = _resumed(arguments) if arguments.resume else _begun(arguments)
    trainer = facts["trainer"]
    print(f"run {folder}: {trainer}, {facts[STEPS[trainer]]:,.0f} {'games' if trainer == 'value' else 'steps'}")
    train = {"sb3": _train_sb3, "selfplay": _train_selfplay, "value": _train_value}[trainer]
    train(facts, folder, arguments)
    print(f"done: risk-env evaluate --run {folder}")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("train")
    parser.epilog = "configurations: " + ", ".join(Path(path).name for path in shipped_configs())
    add = parser.add_argument
    add("--config", metavar="FILE", help="what to train and how (.yml); a name finds one that comes with the project")
    add("--preset", help="the rules, in place of the configuration's")
    add("--players", type=int, metavar="N", help="seats, in place of the configuration's")
    add("--map", help="name or file of the map, in place of the configuration's")
    add("--steps", type=float, metavar="N", help="decisions of the learner, or games, in place of the configuration's")
    add("--seed", type=int, help="in place of the configuration's")
    add("--device", help="cpu, cuda or auto, in place of the configuration's")
    add("--threads", type=int, default=1, metavar="N", help="of torch, and of a value's games (default: 1)")
    add("--out", metavar="FOLDER", help="of the run (default: a new runs/NAME-<time>)")
    add("--resume", metavar="FOLDER", help="go on with the run of this folder; --steps N makes it longer")
    return parser


def _check_resume(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    fixed = ("preset", "players", "map", "seed", "device", "out")
    given = [name for name in fixed if getattr(arguments, name) is not None]
    if given:
        parser.error(f"--{given[0]} is part of what the resumed run was begun with; begin a new run by --config")


def _set_threads(threads: int) -> None:
    import torch

    if threads < 1:
        raise ValueError(f"--threads {threads}: must be at least 1")
    torch.set_num_threads(threads)


def _begun(arguments: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    """The folder and the names and values of a new run."""
    path = config_path(arguments.config)
    folder = Path(arguments.out or time.strftime(f"runs/{path.stem}-%Y%m%d-%H%M%S"))
    if (folder / CHECKPOINT).exists():
        raise ValueError(f"--out {folder}: there is a run already; go on with it by --resume {folder}")
    facts = read_config(path)
    changes = {name: getattr(arguments, name) for name in ("preset", "players", "map", "seed", "device")}
    changes[STEPS[facts["trainer"]]] = None if arguments.steps is None else int(arguments.steps)
    facts = read_config(path, **changes)
    folder.mkdir(parents=True, exist_ok=True)
    write_config(facts, folder / CONFIG)
    return folder, _with_length(facts)


def _resumed(arguments: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    """The folder and the names and values of a run that was begun."""
    folder = Path(arguments.resume)
    if not (folder / CHECKPOINT).is_file():
        raise ValueError(f"--resume {folder}: there is no {CHECKPOINT} in it")
    facts = read_config(folder / CONFIG)
    steps = None if arguments.steps is None else int(arguments.steps)
    facts = read_config(folder / CONFIG, **{STEPS[facts["trainer"]]: steps})
    return folder, _with_length(facts)


def _with_length(facts: dict[str, Any]) -> dict[str, Any]:
    """The names and values with a whole number of steps, the trainer's own default where the file has none."""
    name = STEPS[facts["trainer"]]
    if name not in facts:
        facts = facts | {name: _default_length(facts["trainer"])}
    return facts | {name: int(float(facts[name]))}


def _default_length(trainer: str) -> int:
    if trainer == "sb3":
        return Sb3Config().n_timesteps
    if trainer == "value":
        from risk_training import values

        return values.Config().games
    from risk_training import ppo

    return ppo.Config().decisions


def config_path(name: str) -> Path:
    """The file of a configuration: a path, or the name of one that comes with the project."""
    path = Path(name)
    shipped = Path(__file__).parent / "configs" / path.with_suffix(".yml").name
    return shipped if not path.exists() and path.parent == Path() and shipped.exists() else path


def _train_sb3(facts: Mapping[str, Any], folder: Path, arguments: argparse.Namespace) -> None:
    from risk_training.sb3_trainer import Run

    if arguments.resume:
        run = Run.resume(folder, facts["n_timesteps"])
    else:
        run = Run(Sb3Config.from_dict(facts), folder)
    with _progress_bar(run.config.n_timesteps, run.model.num_timesteps) as show:
        run.train(lambda row: show(int(row["time/steps"]), row, "eval/win_rate_"))


def _train_selfplay(facts: Mapping[str, Any], folder: Path, arguments: argparse.Namespace) -> None:
    from risk_training.ppo import Config, Trainer

    if arguments.resume:
        trainer = Trainer.resume(folder, facts["decisions"])
    else:
        trainer = Trainer(Config.from_dict(facts), folder)
    with _progress_bar(trainer.config.decisions, trainer.decisions) as show:
        trainer.train(lambda now: show(now.decisions, now.log.rows[-1], "win_rate/"))


def _train_value(facts: Mapping[str, Any], folder: Path, arguments: argparse.Namespace) -> None:
    from risk_training.values import Config, Trainer

    if arguments.resume:
        trainer = Trainer.resume(folder, facts["games"], arguments.threads)
    else:
        trainer = Trainer(Config.from_dict(facts), folder, arguments.threads)
    with _progress_bar(trainer.config.games, trainer.games, " games") as show:
        trainer.train(lambda now: show(now.games, now.log.rows[-1], "win_rate/"))


@contextmanager
def _progress_bar(total: int, done: int, unit: str = " steps") -> Iterator[Show]:
    """Shows the steps made, and the latest evaluation's win rates."""
    with tqdm(total=total, initial=done, unit=unit, unit_scale=True, dynamic_ncols=True) as bar:

        def show(steps: int, row: Mapping[str, Any], prefix: str) -> None:
            rates = {
                name.removeprefix(prefix): f"{value:.0%}" for name, value in row.items() if name.startswith(prefix)
            }
            if rates:
                bar.set_postfix(rates, refresh=False)
            bar.update(steps - bar.n)

        yield show
