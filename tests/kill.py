"""Kills with no warning: `python -m tests.kill [TARGET ...] --runs N`.

A run is killed (SIGKILL) at random moments, resumed, and killed again, until it comes to its end. Then what it has
written must be whole, agree with itself, and equal what a run has written that nobody killed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MOST_KILLS = 4  # of a run


class Target(NamedTuple):
    """What is killed: `work` begins or resumes it in a folder, `check` compares what two folders hold."""

    work: Callable[[Path], None]
    check: Callable[[Path, Path], None]  # AssertionError if the first folder does not hold what the second one does


def trainer(module: str, config: Callable[[], Any], agree: Callable[[Path], None]) -> Target:
    """The runs of a trainer, which promise the same checkpoint to the bit, and files that agree with it."""

    def work(folder: Path) -> None:
        from importlib import import_module

        from risk_training.run import CHECKPOINT

        kind = import_module(module).Trainer
        is_begun = (folder / CHECKPOINT).is_file()
        (kind.resume(folder) if is_begun else kind(config(), folder)).train()

    def check(folder: Path, whole: Path) -> None:
        from risk_training.curves import read_log
        from risk_training.run import load_checkpoint
        from tests.test_run import untimed

        state = load_checkpoint(folder)
        assert read_log(folder) == state["rows"], "the log is not that of the checkpoint"
        agree(folder)
        of_folder, of_whole = (untimed({**found, "config": None}) for found in (state, load_checkpoint(whole)))
        for found in (of_folder, of_whole):
            found["trainer"].pop("best", None)  # holds times and the folder's name
        assert of_folder == of_whole, "the checkpoint is not that of a run that nobody killed"
        names = [{path.name for path in at.iterdir() if not path.name.startswith(".new-")} for at in (folder, whole)]
        assert names[0] == names[1], f"the files {names[0]} are not {names[1]}"

    return Target(work, check)


def own_policy(kind: str) -> Callable[[Path], None]:
    """That the policy of an own trainer is that of its checkpoint."""

    def agree(folder: Path) -> None:
        from tests.test_run import TRAINERS, assert_agreement

        assert_agreement(folder, TRAINERS[kind][2])

    return agree


def own_config(kind: str) -> Callable[[], Any]:
    """The short runs of the tests."""

    def config() -> Any:
        from tests.test_run import TRAINERS

        return TRAINERS[kind][1]

    return config


def sb3_config() -> Any:
    """A short run of MaskablePPO."""
    from risk_training.config import read_config
    from risk_training.sb3_trainer import Config

    evaluation = {"opponents": ["random"], "games": 4, "interval": 256}
    league = {"bots": ["grower"], "window": 1, "history": 0}
    short = {"n_timesteps": 512, "n_envs": 16, "n_steps": 8, "batch_size": 64, "n_epochs": 1, "snapshot_interval": 128}
    rest = {"checkpoint_interval": 128, "policy_kwargs": {"width": 8, "local": 4}, "options": {"max_rounds": 5}}
    path = Path(sys.modules[Config.__module__].__file__ or "").parent / "configs" / "tiny.yml"
    facts = read_config(path, evaluation=evaluation, league=league, players=3, **short, **rest)
    return Config.from_dict(facts)


def sb3_policy(folder: Path) -> None:
    """That the last policy and the best one are those of the checkpoint."""
    from risk_agents.learned.sb3_policy import read_weights
    from risk_training.run import load_checkpoint

    state = load_checkpoint(folder)["trainer"]
    weights, wanted = read_weights(folder / "last.zip"), state["policy"]
    assert weights.keys() == wanted.keys() and all((weights[name] == wanted[name]).all() for name in wanted), "last.zip"
    for name, content in state["best"][1].items():
        assert (folder / name).read_bytes() == content.tobytes(), name


OWN_TRAINERS = ("ppo", "values", "table_values", "plan_policies")  # modules of risk_training
TARGETS = {name: trainer(f"risk_training.{name}", own_config(name), own_policy(name)) for name in OWN_TRAINERS}
TARGETS["sb3"] = trainer("risk_training.sb3_trainer", sb3_config, sb3_policy)


# ------------------------------------------------------------------------------------------------ killing


def forked(work: Callable[[], None], seconds: float | None) -> bool:
    """Do some work in a process that is killed after some seconds (None: never); whether it came to its end.

    The process is a fork of this one, in which all that is needed has been imported and compiled: it begins at once.
    """
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL):
        raise AssertionError(f"it ended with status {code}")
    return code == 0


def kill_once(target: Target, folder: Path, whole: Path, duration: float, rng: random.Random) -> int:
    """Kill and resume a run in a folder until its end, and check it; how often it was killed."""
    kills = 0
    for _ in range(rng.randint(1, MOST_KILLS)):
        if forked(lambda: target.work(folder), rng.uniform(0, duration)):
            break
        kills += 1
    forked(lambda: target.work(folder), None)
    target.check(folder, whole)
    return kills


def kill(name: str, runs: int, seed: int, progress: Callable[[], None]) -> tuple[int, list[str]]:
    """Kill this number of runs of a target: how many kills, and what was wrong with which run."""
    target, rng, kills, problems = TARGETS[name], random.Random(f"{name} {seed}"), 0, list[str]()
    with tempfile.TemporaryDirectory(prefix="risk-kill-") as at:
        whole = Path(at) / "whole"
        target.work(Path(at) / "compiled")  # here: what it imports and compiles is then there in every fork
        start = time.monotonic()
        forked(lambda: target.work(whole), None)
        duration = time.monotonic() - start
        target.check(whole, whole)
        for run in range(runs):
            folder = Path(at) / "run" / "whole"  # of the same name: policies say it
            try:
                kills += kill_once(target, folder, whole, duration, rng)
            except (AssertionError, OSError, ValueError) as error:
                problems.append(f"run {run}: {error}")
            shutil.rmtree(folder.parent, ignore_errors=True)
            progress()
    return kills, problems


def main() -> int:
    """The command; status 1 if a run was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description="Kill runs at random moments.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[*TARGETS, []], help=", ".join(TARGETS))
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="of each target (default: 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="K", help="decides the moments (default: 0)")
    arguments = parser.parse_args()
    import torch
    from rich.progress import Progress

    torch.set_num_threads(1)  # forks have no other threads
    lost = 0
    with Progress() as bar:
        for name in arguments.targets or TARGETS:
            task = bar.add_task(name, total=arguments.runs)
            kills, problems = kill(name, arguments.runs, arguments.seed, lambda task=task: bar.advance(task))  # type: ignore[misc]
            bar.console.print(f"{name}: {arguments.runs} runs, {kills} kills, {len(problems)} lost", highlight=False)
            bar.console.print(*problems[:10], sep="\n", markup=False)
            lost += len(problems)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
