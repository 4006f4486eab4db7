"""Sweeps over settings of a configuration (risk_training.sweep, risk_training.cli)."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from risk_env.cli import main
from risk_training import sweep
from tests.test_seeds import SMALL

MIXED = """
trials: 4
seed: 3
keys:
  learning_rate: {low: 1e-4, high: 1e-2, log: true}
  n_epochs: {low: 1, high: 4}
  policy_kwargs.net_arch: {values: [[32], [64, 64]]}
"""
GRID = "sampler: grid\nkeys: {ent_coef: {values: [0.0, 0.01]}, gamma: {values: [0.99, 1.0, 0.9]}}"


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.yml"
    path.write_text(text)
    return path


class Trainer:
    """The win rate is a function of the values. The trainer is killed in one of its trials."""

    def __init__(self, killed_in: int | None = None) -> None:
        self.killed_in, self.seen = killed_in, [(-1, {})]

    def __call__(self, number: int, values: Mapping[str, Any]) -> float | None:
        self.seen.append((number, dict(values)))
        if number == self.killed_in:
            raise KeyboardInterrupt
        return None if number == 1 else min(values.get("learning_rate", 0.001) * 90, 1)


@pytest.mark.parametrize(("text", "trials"), [(MIXED, 4), pytest.param(GRID, 6, marks=pytest.mark.long)])
def test_a_killed_sweep_has_the_same_trials_as_an_uninterrupted_one(
    text: str, trials: int, tmp_path: Path
) -> None:
    pytest.importorskip("optuna")
    found, whole = sweep.read_sweep(written(tmp_path, text)), Trainer()
    config = {"n_timesteps": 512, "device": "cpu"}
    wanted = sweep.run_sweep(found, config, tmp_path / "whole", whole)
    killed, rest = Trainer(killed_in=2), Trainer()
    with pytest.raises(KeyboardInterrupt):
        sweep.run_sweep(found, config, tmp_path / "100% ?", killed)
    again = sweep.run_sweep(found, config | {"device": "cuda"}, tmp_path / "100% ?", rest)
    assert killed.seen[-1] == rest.seen[1] == whole.seen[3]  # the interrupted trial is run again
    assert killed.seen[1:-1] + rest.seen[1:] == whole.seen[1:] and len(whole.seen) == trials + 1
    assert [trial.value for trial in again] == [trial.value for trial in wanted]
    distinct = {repr(values) for _, values in whole.seen}
    assert len(distinct) == len(whole.seen)
    with pytest.raises(
        ValueError,
        match=r"the sweep in this folder has config\.n_timesteps=512, not 900; choose another folder",
    ):
        sweep.run_sweep(found, {"n_timesteps": 900}, tmp_path / "100% ?", rest)
    sweep.write_table(found, again, tmp_path)
    rows = list(csv.DictReader((tmp_path / sweep.TABLE).open()))
    rates = [float(row["win_rate"]) for row in rows[:-1]]
    assert rates == sorted(rates, reverse=True) and rows[-1]["win_rate"] == "diverged"
    assert len(sweep.lines(found, again)) == trials and sweep.lines(found, again)[-1].startswith("trial 1: ")


def test_a_file_that_is_no_study_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    (tmp_path / sweep.STUDY).write_text("nonsense" * 100)
    with pytest.raises(ValueError, match=r"sweep.db is not the study of a sweep"):
        sweep.run_sweep(sweep.read_sweep(written(tmp_path, GRID)), {}, tmp_path, Trainer())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("keys: {}", "keys={}: must be 1 to 32 keys"),
        ("trials: 3", "keys=None: must be 1 to 32 keys"),
        ("keys: {gamma: 1}", "keys.gamma=1: must be {values: "),
        ("keys: {gamma: {values: []}}", r"keys.gamma.values=\[\]: must be a list of 1 to 100 values"),
        ("keys: {gamma: {low: 1, high: 1}}", "keys.gamma: low=1, high=1: low must be below high"),
        ("keys: {gamma: {low: 0, high: 1, log: true}}", "keys.gamma: low=0, high=1: .* above 0 with log"),
        ("keys: {gamma: {low: 0, high: 1, log: 3}}", "keys.gamma.log=3: must be true or false"),
        ("keys: {gamma: {low: 0, high: .inf}}", "keys.gamma.high=inf: must be a number"),
        ("keys: {gamma: {low: 0, high: 1, step: 2}}", "keys.gamma: 'step' is unknown"),
        ("keys: {gamma: {values: [1]}}\ntrials: 0", "trials=0: must be 1 to 10,000"),
        ("keys: {gamma: {values: [1]}}\nsampler: tip", "sampler='tip': choose one of 'tpe'"),
        ("keys: {gamma: {values: [1]}}\ntrial: 3", "sweep: 'trial' is unknown"),
        ("keys: {gamma: {low: 0, high: 1}}\nsampler: grid", "keys.gamma: sampler 'grid' needs"),
        (f"{GRID}\ntrials: 3", "trials=3: remove this key, because sampler 'grid' tries every combination"),
        ("[1, 2]", "must contain a mapping of names to values"),
    ],
)
def test_wrong_sweeps_are_refused(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^--sweep '.*sweep.yml'.*{fault}"):
        sweep.read_sweep(written(tmp_path, text))


def test_wrong_keys_are_found_before_the_first_trial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "keys: {league.floor: {values: [0.1, 7]}}")
    out = tmp_path / "runs"
    assert main([*SMALL, "--sweep", str(path), "--out", str(out)]) == 2
    assert "league.floor=7.0: must be 0 to 1" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize(
    ("keys", "changes"),
    [
        ("{gamma: {values: [0.9]}}", ["--set", "evaluation.opponents=[]"]),
        ("{evaluation.opponents: {values: [[random], []]}}", []),
    ],
)
def test_a_sweep_without_opponents_of_the_evaluation_is_refused(
    keys: str, changes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = written(tmp_path, f"keys: {keys}"), tmp_path / "runs"
    assert main([*SMALL, *changes, "--sweep", str(path), "--out", str(out)]) == 2
    assert "evaluation.opponents=[]: name at least one opponent" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.long
def test_the_runs_of_a_sweep_are_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    path = written(tmp_path, "sampler: grid\nkeys: {learning_rate: {values: [1e-3, 1e-30]}}")
    command = [*SMALL, "--sweep", str(path), "--out", str(tmp_path / "runs")]
    assert main(command) == 2 and "learning_rate=1e-30" in capsys.readouterr().err
    written(tmp_path, "sampler: grid\nkeys: {learning_rate: {values: [1e-3, 1e-5]}}")
    assert main(command) == 0
    assert (tmp_path / "runs" / sweep.PICTURE).stat().st_size > 1000
    assert capsys.readouterr().out.count("win rate") == 2
    assert main([*command, "--device", "auto"]) == 0  # nothing is left to train
    assert "done" not in capsys.readouterr().out
