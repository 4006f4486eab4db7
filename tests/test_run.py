"""Runs of this project's trainers: exact resuming after a kill at any write; checkpoints of data only."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from risk_training import beam_value, imitation, ppo, state_value, turn_policy
from risk_training.config import EvaluationSettings
from risk_training.curves import read_log
from risk_training.league import LeagueSettings
from risk_training.run import (
    DivergedError,
    from_data,
    load_checkpoint,
    to_data,
)
from risk_training.run_files import (
    BEAM_VALUE_FILE,
    CHECKPOINT,
    CONFIG,
    METRICS,
    POLICY_FILE,
    STATE_VALUE_FILE,
    TENSORBOARD,
    TURN_POLICY_FILE,
)

EVALUATION = EvaluationSettings(opponents=("random",), games=4, interval=256)
PPO = ppo.Config(
    map="tiny", players=3, options={"max_rounds": 5}, n_timesteps=384, n_envs=16, n_steps=8, batch_size=64,
    width=8, local=4, league=LeagueSettings(bots=("grower",), window=1, history=0), snapshot_interval=128,
    evaluation=EVALUATION, checkpoint_interval=256, ema_decay=0.5,
)  # fmt: skip
BEAM_VALUES = beam_value.Config(
    map="tiny", players=2, options={"max_rounds": 5}, games=18, round_games=6, memory=2, bots=("grower",),
    bot_share=0.3, explore=0.1, hidden_sizes=(6, 4), minibatches=8, batch_size=64,
    evaluation=dataclasses.replace(EVALUATION, interval=12), checkpoint_interval=12,
)  # fmt: skip
STATE_VALUES = state_value.Config(
    map="tiny", players=2, options={"max_rounds": 3}, games=18, tables=(2, 3), round_games=6,
    bots=("grower", "random"), weights=(0.5, 0.5), change=0.3, share=0.5, hidden_sizes=(6, 4), n_epochs=1,
    batch_size=64, search_games=16, evaluation=dataclasses.replace(EVALUATION, games=2),
    checkpoint_interval=12,
)  # fmt: skip
TACTICIANS = dataclasses.replace(
    STATE_VALUES, map="classic", bot_share=0.4, begin_with="strategist", hidden_sizes=(256, 32),
    dangers=True,
)  # fmt: skip
TURN_POLICIES = turn_policy.Config(
    players=2, options={"max_rounds": 3}, games=12, tables=(2, 3), round_games=4, samples=1, bot_share=0.7,
    bots=("grower", "random"), hidden_sizes=(6, 4), n_epochs=1, batch_size=64,
    evaluation=dataclasses.replace(EVALUATION, games=2, interval=12), checkpoint_interval=12,
)  # fmt: skip
IMITATIONS = imitation.Config(
    map="tiny", players=3, options={"max_rounds": 5}, games=18, round_games=6, teacher="grower",
    bots=("random",), width=8, local=4, batch_size=64,
    evaluation=dataclasses.replace(EVALUATION, interval=12), checkpoint_interval=12,
)  # fmt: skip
TRAINERS = {
    "ppo": (ppo, PPO, POLICY_FILE),
    "beam_value": (beam_value, BEAM_VALUES, BEAM_VALUE_FILE),
    "state_value": (state_value, STATE_VALUES, STATE_VALUE_FILE),
    "tacticians": (state_value, TACTICIANS, STATE_VALUE_FILE),
    "turn_policy": (turn_policy, TURN_POLICIES, TURN_POLICY_FILE),
    "imitation": (imitation, IMITATIONS, POLICY_FILE),
}
TIMES = ("seconds", "cpu_seconds", "spent", "time/seconds", "time/cpu_seconds", "time/steps_a", "time/ns_")


class Killed(BaseException):
    """Raised at the moment of a simulated kill."""


class Moments:
    """Copies of a run's folder before and after every change of file names (moves and removals).

    A kill at such a moment leaves the folder in this state.
    """

    def __init__(self, folder: Path, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.copies, self.count = folder, copies, 0
        monkeypatch.setattr(os, "replace", self.watched(os.replace))
        monkeypatch.setattr(Path, "unlink", self.watched(Path.unlink))

    def watched(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def watched(path: Any, *arguments: Any, **others: Any) -> None:
            is_ours = self.folder in Path(path).parents  # Numba moves files too
            self.copy(is_ours)
            change(path, *arguments, **others)
            self.copy(is_ours)

        return watched

    def copy(self, is_ours: bool) -> None:
        if is_ours:
            shutil.copytree(self.folder, self.copies / str(self.count))
            self.count += 1


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def untimed(tree: Any) -> Any:
    """Return a tree without times, and with arrays that `==` compares."""
    if isinstance(tree, dict):
        return {name: untimed(inner) for name, inner in tree.items() if not str(name).startswith(TIMES)}
    if isinstance(tree, torch.Tensor | np.ndarray):
        return str(tree.dtype), tree.shape, np.asarray(tree).tobytes()
    return [untimed(inner) for inner in tree] if isinstance(tree, list | tuple) else tree


def weights_in(path: Path) -> dict[str, Any]:
    with np.load(path) as found:
        return {name: found[name].tobytes() for name in found.files if name != "facts"}


def assert_agreement(folder: Path, policy: str) -> None:
    """Check that policy and log agree with the checkpoint."""
    state = load_checkpoint(folder)
    assert read_log(folder) == state["rows"]
    playing = state["trainer"]["averages"] or state["trainer"]["network"]
    weights = {n.removeprefix("weights."): w.numpy().astype(np.float16) for n, w in playing.items()}
    assert weights_in(folder / policy) == {name: values.tobytes() for name, values in weights.items()}


@pytest.mark.parametrize(
    ("name", "every"), [("ppo", 4), *(pytest.param(name, 1, marks=pytest.mark.long) for name in TRAINERS)]
)
def test_a_run_killed_at_any_write_resumes_to_the_bit(
    name: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, config, policy = TRAINERS[name]
    with monkeypatch.context() as patches:
        moments = Moments(tmp_path / "whole", tmp_path, patches)
        module.Trainer(config, moments.folder).train()
    whole, files = untimed(load_checkpoint(moments.folder)), {path.name for path in moments.folder.iterdir()}
    assert moments.count > 15 and len(whole["rows"]) >= 3
    tried = range(0, moments.count, every)
    for moment in tried:
        folder = tmp_path / str(moment)
        if (folder / CHECKPOINT).is_file():
            run = module.Trainer.resume(folder)
            assert_agreement(folder, policy)
        else:
            run = module.Trainer(config, folder)
        run.train()
        assert_agreement(folder, policy)
        assert untimed(load_checkpoint(folder)) == whole, f"killed at moment {moment}"
        assert {path.name for path in folder.iterdir() if not path.name.startswith(".new-")} == files
    board = EventAccumulator(str(tmp_path / str(tried[len(tried) // 2]) / TENSORBOARD)).Reload()
    assert [event.step for event in board.Scalars("time/steps")] == [
        row["time/steps"] for row in whole["rows"]
    ]


@pytest.mark.parametrize(
    "name",
    [name if name == "ppo" else pytest.param(name, marks=pytest.mark.long) for name in TRAINERS],
)
def test_every_metric_is_explained(name: str, tmp_path: Path) -> None:
    module, config, _ = TRAINERS[name]
    module.Trainer(config, tmp_path).train()
    page = (Path(__file__).parents[1] / "docs" / "training.md").read_text()
    for metric in {metric for row in read_log(tmp_path) for metric in row}:
        for bot in ("random", "grower"):
            metric = metric.removesuffix(bot) + "NAME" * metric.endswith(bot)
        assert f"`{metric}`" in page, f"docs/training.md does not explain {metric}"


def test_data_comes_back_as_it_was(tmp_path: Path) -> None:
    records = np.zeros(3, np.dtype([("a", np.int8), ("b", [("c", np.uint64, (2, 2))], (2,))], align=True))
    records["b"]["c"] = np.arange(24, dtype=np.uint64).reshape(3, 2, 2, 2)
    state = {
        "records": records,
        "none": None,
        "pair": (1, [np.ones((0, 2), bool)]),
        "big": 2**127,
        "word": "x",
        "one": np.bool_(1),
    }
    torch.save(to_data(state), tmp_path / "state.pt")
    found = from_data(torch.load(tmp_path / "state.pt", weights_only=True))
    assert found["records"].dtype == records.dtype and (found["records"] == records).all()
    assert found["pair"][1][0].shape == (0, 2) and isinstance(found["pair"], tuple)
    assert (found["none"], found["big"], found["word"], found["one"]) == (None, 2**127, "x", True)


def test_nothing_unpickles() -> None:
    """Untrusted files are read only as data."""
    root = Path(__file__).parents[1]
    own = {
        root / "agents/risk_agents/workers/messages.py",  # to and from own processes
        root / "risk_env/compiler/kernel_files.py",  # code in a folder that only the user can write
    }
    for folder in ("risk_env", "agents", "training"):
        for path in {*(root / folder).rglob("*.py")} - own:
            source = path.read_text()
            for words in ("import pickle", "allow_pickle=True", "weights_only=False", "MaskablePPO.load("):
                assert words not in source, f"{path} holds {words}"


def test_a_link_in_a_folder_from_elsewhere_is_not_followed(tmp_path: Path) -> None:
    ppo.Trainer(PPO, tmp_path / "run").train()
    own = tmp_path / "own.txt"
    own.write_text("mine")
    for name in (CHECKPOINT, POLICY_FILE, METRICS):
        (tmp_path / "run" / f".new-{name}").symlink_to(own)
    ppo.Trainer.resume(tmp_path / "run", length=PPO.n_timesteps + 128).train()
    assert own.read_text() == "mine"


def test_a_full_disk_is_named_with_the_way_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ppo.Trainer(PPO, tmp_path / "run")
    writes = 0

    def full(descriptor: int, sync: Callable[[int], None] = os.fsync) -> None:
        nonlocal writes
        writes += 1
        if writes > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OSError, match=r"cannot be written: .*No space left.*then run risk-env train --resume"
    ):
        run.train()
    monkeypatch.undo()
    assert not list((tmp_path / "run").glob(".new-*"))
    ppo.Trainer.resume(tmp_path / "run").train()
    assert_agreement(tmp_path / "run", POLICY_FILE)


@pytest.mark.parametrize("change", ["owner", "numbers", "shape", "type", "opponent", "twice", "large"])
def test_a_made_up_checkpoint_is_refused(change: str, tmp_path: Path) -> None:
    """Games and players of a checkpoint reach compiled code, so they are checked as in other files."""
    ppo.Trainer(PPO, tmp_path).train()
    state = load_checkpoint(tmp_path)
    arrays = state["trainer"]["games"]["arrays"]
    match change:
        case "owner":
            arrays["batch._games"]["owner"][3, 2] = 100
        case "numbers":
            arrays["arena.numbers"][0, 1] = 1000
        case "shape":
            arrays["arena.memory"] = arrays["arena.memory"][:1]
        case "type":
            arrays["arena.memory"] = arrays["arena.memory"] + np.nan
        case "opponent":
            state["trainer"]["games"]["opponent"][0] = "nobody"
    refuse(tmp_path, ppo.Trainer, state, change)


def refuse(folder: Path, kind: Any, state: dict[str, Any], change: str = "") -> None:
    """Check that a run with this state as checkpoint does not resume."""
    data = to_data(state)
    if change == "twice":
        data["trainer"]["games"]["won"] = data["rows"]
    if change == "large":
        data["trainer"]["shuffle"] = torch.zeros(1).expand(10**10)
    torch.save(data, folder / CHECKPOINT)
    with pytest.raises(ValueError, match=f"{CHECKPOINT}' is not a checkpoint"):
        kind.resume(folder)


# What a crafted checkpoint holds: the place of a value, and what stands there
CRAFTED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "rows": (("rows",), [1]),
    "no rows": (("rows",), []),
    "rows of others": (("rows", -1, "time/steps"), 7),
    "nan in rows": (("rows", 0, "time/seconds"), float("nan")),
    "seconds": (("seconds",), float("nan")),
    "time back": (("cpu_seconds",), -1.0),
    "spent": (("spent",), {}),
    "more spent": (("spent", "sleep"), 1.0),
    "steps": (("steps",), -128),
    "truth": (("updates",), True),
    "large": (("steps",), 10**400),
    "width": (("config", "width"), 8000),
    "rate": (("config", "learning_rate"), 1e30),
    "setting": (("config", "extra"), 1),
    "weights": (("trainer", "network", "weights.value"), torch.full((8, 1), torch.nan)),
    "float64": (("trainer", "network", "weights.value"), torch.full((8, 1), 1e300, dtype=torch.float64)),
    "moments": (("trainer", "optimizer"), {0: {}}),
    "groups": (("trainer", "optimizer"), {"state": {}, "param_groups": []}),
    "squares": (("trainer", "optimizer", 0, "exp_avg_sq"), "negative"),
    "shuffle": (("trainer", "shuffle"), torch.zeros(3, dtype=torch.uint8)),
    "won": (("trainer", "games", "won"), [("grower", 1)]),
    "rounds": (("trainer", "games", "rounds"), [-1]),
    "chance": (("trainer", "games", "chance", "state", "inc"), -1),
    "standings": (("trainer", "games", "league", "standings"), {}),
    "points": (("trainer", "games", "league", "standings", "grower", "points"), 1e9),
    "snapshots": (("trainer", "games", "playing"), {}),
    "missing": (("trainer", "games", "draws"), None),
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crafted")
    ppo.Trainer(PPO, folder).train()
    return folder


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_checkpoint_is_refused(name: str, checkpoint: Path, tmp_path: Path) -> None:
    """Every value is compared with its declaration and with the configuration beside it."""
    (*path, last), value = CRAFTED[name]
    state = load_checkpoint(checkpoint)
    holder = reduce(getitem, path, state)
    holder[last] = -1 - holder[last] if isinstance(value, str) else value
    refuse(tmp_path, ppo.Trainer, state)


@pytest.mark.parametrize("place", [("positions",), ("ahead",)])
def test_a_crafted_checkpoint_of_values_is_refused(place: tuple[str], tmp_path: Path) -> None:
    beam_value.Trainer(BEAM_VALUES, tmp_path).train()
    state = load_checkpoint(tmp_path)
    state["trainer"][place[0]] = ["../../etc/passwd"]
    refuse(tmp_path, beam_value.Trainer, state)


@pytest.mark.parametrize("wrong", ["loss", "weights"])
def test_an_update_that_diverges_ends_the_run_and_keeps_the_checkpoint(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint, the policy and the log contain finite values only."""
    learn, run = ppo.Trainer.learn, ppo.Trainer(PPO, tmp_path)

    def diverge(self: ppo.Trainer) -> dict[str, Any]:
        metrics = learn(self)
        if self.updates == 2 and wrong == "loss":
            metrics["train/value_loss"] = float("nan")
        if self.updates == 2 and wrong == "weights":
            self.network.weights["value"].data[0] = 1e30
        return metrics

    monkeypatch.setattr(ppo.Trainer, "learn", diverge)
    words = r"update 3 \(step 384\) diverged: .*learning_rate below 0.0012.* are still from step 256"
    with pytest.raises(DivergedError, match=words):
        run.train()
    monkeypatch.undo()
    assert load_checkpoint(tmp_path)["steps"] == 256
    assert_agreement(tmp_path, POLICY_FILE)
    ppo.Trainer.resume(tmp_path).train()


def test_a_run_without_a_checkpoint_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing to resume; start a run with --config$"):
        load_checkpoint(tmp_path)
    (tmp_path / CONFIG).touch()
    with pytest.raises(ValueError, match=rf"start the run again with --config .*{CONFIG} --out {tmp_path}"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("line", ["1", "[]", '{"a": "b"}', '{"a": NaN}', "{", "[" * 99])
def test_a_log_that_somebody_else_made(line: str, tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text(f'{{"time/steps": 1}}\n{line}\n')
    with pytest.raises(ValueError, match=r"metrics.jsonl' is not the log of a training run"):
        read_log(tmp_path)
