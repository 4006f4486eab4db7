"""Kill runs without warning: `python -m tests.kill [TARGET ...] --runs N`.

A run is killed (SIGKILL) at random moments, resumed, and killed again, until it ends. Its files must then be
complete, consistent, and equal to the files of a run that was not killed.
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

MOST_KILLS = 4  # largest number of kills of a run


class Target(NamedTuple):
    """A kind of run that is killed.

    `work` begins or resumes the run in a folder, and `check` compares the contents of two folders.
    """

    work: Callable[[Path], None]
    check: Callable[[Path, Path], None]  # raises AssertionError if the folders differ


def trainer(module: str, config: Callable[[], Any], agree: Callable[[Path], None]) -> Target:
    """Return the target for the runs of a trainer.

    Its runs promise identical checkpoints, to the bit, and files that agree with the checkpoint.
    """

    def work(folder: Path) -> None:
        from importlib import import_module

        from risk_training.run_files import CHECKPOINT

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
        of_folder, of_whole = (
            untimed({**found, "config": None}) for found in (state, load_checkpoint(whole))
        )
        for found in (of_folder, of_whole):
            found["trainer"].pop("best", None)  # holds times and the folder's name
        assert of_folder == of_whole, "the checkpoint is not that of a run that nobody killed"
        names = [
            {path.name for path in at.iterdir() if not path.name.startswith(".new-")}
            for at in (folder, whole)
        ]
        assert names[0] == names[1], f"the files {names[0]} are not {names[1]}"

    return Target(work, check)


def own_policy(kind: str) -> Callable[[Path], None]:
    """Return a check that the policy of one of the project's own trainers matches its checkpoint."""

    def agree(folder: Path) -> None:
        from tests.test_run import TRAINERS, assert_agreement

        assert_agreement(folder, TRAINERS[kind][2])

    return agree


def own_config(kind: str) -> Callable[[], Any]:
    """Return a function that returns the configuration of the short runs of the tests."""

    def config() -> Any:
        from tests.test_run import TRAINERS

        return TRAINERS[kind][1]

    return config


def sb3_config() -> Any:
    """Return the configuration of a short run of MaskablePPO."""
    from risk_training.config import read_config
    from risk_training.sb3_trainer import Config

    evaluation = {"opponents": ["random"], "games": 4, "interval": 256}
    league = {"bots": ["grower"], "window": 1, "history": 0}
    short = {
        "n_timesteps": 512,
        "n_envs": 16,
        "n_steps": 8,
        "batch_size": 64,
        "n_epochs": 1,
        "snapshot_interval": 128,
    }
    rest = {
        "checkpoint_interval": 128,
        "policy_kwargs": {"width": 8, "local": 4},
        "options": {"max_rounds": 5},
    }
    path = Path(sys.modules[Config.__module__].__file__ or "").parent / "configs" / "tiny.yml"
    facts = read_config(path, evaluation=evaluation, league=league, players=3, **short, **rest)
    return Config.from_dict(facts)


def sb3_policy(folder: Path) -> None:
    """Check that the last policy and the best one are the policies of the checkpoint."""
    from risk_agents.learned.sb3_policy import read_weights
    from risk_training.run import load_checkpoint
    from risk_training.run_files import LAST

    state = load_checkpoint(folder)["trainer"]
    weights, wanted = read_weights(folder / LAST), state["policy"]
    assert weights.keys() == wanted.keys() and all(
        (weights[name] == wanted[name]).all() for name in wanted
    ), LAST
    for name, content in state["best"][1].items():
        assert (folder / name).read_bytes() == content.tobytes(), name


OWN_TRAINERS = ("ppo", "beam_value", "state_value", "turn_policy", "imitation")  # modules of risk_training
TARGETS = {
    name: trainer(f"risk_training.{name}", own_config(name), own_policy(name)) for name in OWN_TRAINERS
}
TARGETS["sb3"] = trainer("risk_training.sb3_trainer", sb3_config, sb3_policy)


# Killing


def forked(work: Callable[[], None], seconds: float | None) -> bool:
    """Run `work` in a process that is killed after some seconds (None: never) and return True if it ended.

    The process is a fork of this one, in which everything has been imported and compiled, so that it begins
    at once.
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
    """Kill and resume a run until its end, check its folder, and return the number of kills."""
    kills = 0
    for _ in range(rng.randint(1, MOST_KILLS)):
        if forked(lambda: target.work(folder), rng.uniform(0, duration)):
            break
        kills += 1
    forked(lambda: target.work(folder), None)
    target.check(folder, whole)
    return kills


def kill(name: str, runs: int, seed: int, progress: Callable[[], None]) -> tuple[int, list[str]]:
    """Kill `runs` runs of a target and return the number of kills and the problems with runs."""
    target, rng, kills, problems = TARGETS[name], random.Random(f"{name} {seed}"), 0, list[str]()
    with tempfile.TemporaryDirectory(prefix="risk-kill-") as at:
        whole = Path(at) / "whole"
        target.work(Path(at) / "compiled")  # every fork then has the imports and compiled code
        start = time.monotonic()
        forked(lambda: target.work(whole), None)
        duration = time.monotonic() - start
        target.check(whole, whole)
        for run in range(runs):
            folder = Path(at) / "run" / "whole"  # the same name, which policies contain
            try:
                kills += kill_once(target, folder, whole, duration, rng)
            except (AssertionError, OSError, ValueError) as error:
                problems.append(f"run {run}: {error}")
            shutil.rmtree(folder.parent, ignore_errors=True)
            progress()
    return kills, problems


def main() -> int:
    """Run the command and return status 1 if a run was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description="Kill runs at random moments.")
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", choices=[*TARGETS, []], help=", ".join(TARGETS)
    )
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="runs per target (default: 20)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="K", help="seed of the moments of the kills (default: 0)"
    )
    arguments = parser.parse_args()
    import torch
    from rich.progress import Progress

    torch.set_num_threads(1)  # forks have no other threads
    lost = 0
    with Progress() as bar:
        for name in arguments.targets or TARGETS:
            task = bar.add_task(name, total=arguments.runs)
            kills, problems = kill(name, arguments.runs, arguments.seed, lambda task=task: bar.advance(task))  # type: ignore[misc]
            bar.console.print(
                f"{name}: {arguments.runs} runs, {kills} kills, {len(problems)} lost", highlight=False
            )
            bar.console.print(*problems[:10], sep="\n", markup=False)
            lost += len(problems)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
