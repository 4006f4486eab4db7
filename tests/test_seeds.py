"""Runs with several seeds, and best responses to an agent (risk_training.seeds, risk_training.cli)."""

import json
from pathlib import Path

import numpy as np
import pytest

from risk_env.cli import main
from risk_training import cli, seeds

SETTINGS = {
    "n_envs": 16, "n_steps": 16, "snapshot_interval": 256, "checkpoint_interval": 256,
    "evaluation.games": 4, "evaluation.interval": 256,
}  # fmt: skip
SMALL = ["train", "--config", "selfplay_demo", "--map", "tiny", "--steps", "512"]
SMALL += [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end() -> None:
    assert seeds.interquartile_mean(np.array([0.0, 0.4, 0.5, 0.6, 1.0])) == pytest.approx(0.5)
    assert seeds.interquartile_mean(np.array([[0.9, 0.1, 0.2], [0.0, 1.0, 1.0]])) == pytest.approx(
        [0.4, 2 / 3]
    )
    point = seeds._point(100, [0.2, 0.3, 0.4, 0.5, 0.9])
    assert point.low <= point.rate <= point.high and point.low < point.high
    assert seeds._point(100, [0.25]) == seeds.Point(100, (0.25,), 0.25, 0.25, 0.25)


@pytest.mark.long
def test_seeds_are_trained_continued_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "runs"
    command = [*SMALL, "--against", "grower", "--seed", "3", "--out", str(folder)]
    assert main([*command, "--seeds", "1"]) == 0
    first = (folder / "seed-3" / "metrics.jsonl").read_text()
    capsys.readouterr()
    assert main([*command, "--seeds", "2"]) == 0
    assert (folder / "seed-3" / "metrics.jsonl").read_text() == first  # a complete run is kept
    said = capsys.readouterr().out
    assert "the run is complete" in said and "after 512 steps, 2 runs; even share 50.0 %" in said
    assert (folder / seeds.PICTURE).stat().st_size > 1000
    found = json.loads((folder / seeds.SUMMARY).read_text())
    assert [*found] == ["grower"] and [point["steps"] for point in found["grower"]] == [256, 512]
    assert [len(point["rates"]) for point in found["grower"]] == [2, 2]
    assert main([*command, "--seeds", "2", "--set", "learning_rate=0.5"]) == 2
    assert "the run there has learning_rate=" in capsys.readouterr().err


@pytest.mark.parametrize("config", ["selfplay_three", "three"])
def test_a_best_response_meets_one_agent_only(config: str) -> None:
    arguments = cli._parser().parse_args(["--config", config, "--against", "hunter"])
    settings = cli._settings(arguments)[1]
    assert settings.league.bots == settings.evaluation.opponents == ("hunter",)
    assert settings.league.snapshot_share == 0 and getattr(settings, "league_share", 1) == 1
    assert settings.evaluation.games == (300 if config == "selfplay_three" else 200)


def test_a_best_response_needs_a_league(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "--config", "beam_value", "--against", "grower", "--out", str(tmp_path / "run")]
    assert main(command) == 2
    assert "trainer 'beam_value' has no opponents" in capsys.readouterr().err
    for agent in ("strategist", "examples/bot.py:Borderer"):  # agents in Python
        assert main(["train", "--config", "tiny", "--against", agent, "--out", str(tmp_path / "run")]) == 2
        assert f"--against {agent}: must be a compiled bot" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["train", "--resume", str(tmp_path), "--seeds", "2"])
    assert "--seeds is part of the settings of the run" in capsys.readouterr().err
