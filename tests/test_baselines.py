"""The table of baselines: runs, measurements, continuing and numbers (benchmarks.baselines)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import baselines
from risk_env import cli
from risk_training import seeds

SMALL = {
    "selfplay": "trainer: selfplay\nn_envs: 8\nn_steps: 8\nleague: {bots: [random]}\n",
    "imitation": "trainer: imitation\nteacher: grower\nround_games: 4\n",
}

SHARED = "batch_size: 32\nwidth: 8\nlocal: 4\noptions: {max_rounds: 5}\n"


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Use small configurations and opponents, and return a list that gets the arguments of every training."""
    for name, text in SMALL.items():
        (tmp_path / f"{name}.yml").write_text(text + SHARED)
    monkeypatch.setattr(baselines, "CONFIGS", tmp_path)
    monkeypatch.setattr(baselines, "OPPONENTS", ("random", "grower"))
    methods = {"selfplay": ("own PPO", "decisions", {2: 64}), "imitation": ("imitation", "games", {2: 8})}
    monkeypatch.setattr(
        baselines, "METHODS", {name: baselines.Method(*facts) for name, facts in methods.items()}
    )
    calls: list[list[str]] = []
    train = cli.main

    def watched(argv: list[str]) -> Any:
        calls.append(argv)
        return train(argv)

    monkeypatch.setattr(cli, "main", watched)
    return calls


def test_finished_runs_are_kept_and_the_record_has_every_cell(
    trained: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "RESULTS", tmp_path / "results")
    command = ["--players", "2", "--map", "tiny", "--games", "4", "--out", str(tmp_path / "runs"), "--record"]
    command += ["--methods", "selfplay,imitation"]
    baselines.main([*command, "--seeds", "1"])
    assert len(trained) == 2
    baselines.main([*command, "--seeds", "2"])
    assert [argv[argv.index("--seed") + 1] for argv in trained] == ["0", "0", "1", "1"]
    score = tmp_path / "runs" / "selfplay-2" / "seed-1" / baselines.SCORE
    measured = json.loads(score.read_text())
    score.write_text(json.dumps(measured | {"wins": {"random": measured["wins"]["random"]}}))
    baselines.main([*command, "--seeds", "2"])
    assert len(trained) == 4 and json.loads(score.read_text()) == measured
    (path,) = (tmp_path / "results").glob("baselines-*.json")
    record = json.loads(path.read_text())
    assert [(row["method"], row["players"], row["seeds"]) for row in record["rows"]] == [
        ("selfplay", 2, [0, 1]),
        ("imitation", 2, [0, 1]),
    ]
    for row in record["rows"]:
        assert np.shape(row["rates"]) == (2, 2) and {len(row["cpu_seconds"]), len(row["seeds"])} == {2}
        for rate, low, high in row["intervals"].values():
            assert 0 <= low <= rate <= high <= 1
        assert row["intervals"]["all"][0] == pytest.approx(seeds.interquartile_mean(np.ravel(row["rates"])))
        assert [steps for steps, _ in row["curve"]][-1] >= row["budget"]
    assert path.with_suffix(".md").read_text().count("\n| ") == 4  # heading, rule and two rows


def test_an_unfinished_run_is_left_out(trained: list[list[str]], tmp_path: Path) -> None:
    names = ["--methods", "imitation", "--players", "2", "--map", "tiny", "--games", "4"]
    names += ["--out", str(tmp_path / "runs")]
    baselines.main([*names, "--seeds", "1"])
    found = baselines.row_of(jobs_of(tmp_path / "runs", 3), 4)
    assert found is not None and found["seeds"] == [0]
    assert baselines.row_of(jobs_of(tmp_path / "runs", 3), 6) is None  # measured with another number of games


def jobs_of(folder: Path, count: int) -> list[baselines.Job]:
    return [
        baselines.Job("imitation", 2, seed, "tiny", 8, folder / "imitation-2" / f"seed-{seed}")
        for seed in range(count)
    ]


def test_wrong_names_are_refused() -> None:
    with pytest.raises(ValueError, match="--methods 'sb4': choose from sb3, selfplay"):
        baselines.main(["--methods", "sb4"])
    with pytest.raises(ValueError, match="--players '5': choose from 2, 3, 4, 6"):
        baselines.main(["--players", "5"])


def test_the_interval_is_stratified_by_opponent() -> None:
    spread = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert seeds.interquartile_interval(spread) == (
        0.5,
        0.5,
        0.5,
    )  # no spread over seeds, whatever the opponent
    rate, low, high = seeds.interquartile_interval(np.array([[0.1], [0.2], [0.3], [0.4], [0.9]]))
    assert rate == pytest.approx(0.3) and 0.1 <= low < rate < high <= 0.9
