"""Runs with several seeds, and best responses to an agent (risk_training.seeds, risk_training.cli)."""

import json
import shlex
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_env.cli import main
from risk_training import cli, seeds
from risk_training.config import TRAINERS
from risk_training.curves import read_log

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
    point = seeds._point(100, [(rate, 0, 1) for rate in (0.2, 0.3, 0.4, 0.5, 0.9)])
    assert point.low <= point.rate <= point.high and 0 < point.low < point.high < 1
    assert seeds._point(100, [(0.25, 0.1, 0.4)]) == seeds.Point(100, (0.25,), 0.25, 0.1, 0.4)


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
    assert "the run in this folder has learning_rate=" in capsys.readouterr().err


def test_an_interrupted_command_names_the_command_that_continues_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def continued(*options: str) -> Any:
        with pytest.raises(KeyboardInterrupt):
            cli.main([*SMALL[1:], *options])
        said = capsys.readouterr().err.partition("stopped: continue with risk-env train ")[2]
        assert said.count("stopped") == 0
        return cli._parser().parse_args(shlex.split(said))

    monkeypatch.setattr(cli, "_train", interrupt)
    monkeypatch.setattr(cli, "_begun_or_continued", interrupt)
    (tmp_path / "my bot.py").write_text(AGENT)
    one = continued("--against", "my bot.py:Counts", "--out", "the run")
    assert (one.resume, one.against, one.config) == ("the run", "my bot.py:Counts", None)
    several = continued("--seeds", "2", "--set", "seed=5")
    assert several.seeds == 2 and several.set[-1] == "seed=5" and Path(several.out).is_dir()
    assert continued("--seeds", "2", "--out=there").out == "there"
    (tmp_path / "sweep.yml").write_text("sampler: grid\nkeys: {learning_rate: {values: [0.1, 0.2]}}")
    assert Path(continued("--sweep", "sweep.yml", "--seeds", "2").out).is_dir()


@pytest.mark.parametrize("config", ["selfplay_three", "three"])
def test_a_best_response_meets_one_agent_only(config: str) -> None:
    arguments = cli._parser().parse_args(["--config", config, "--against", "hunter"])
    settings = cli._settings(arguments)[1]
    assert settings.league.bots == settings.evaluation.opponents == ("hunter",)
    assert settings.league.snapshot_share == 0 and getattr(settings, "league_share", 1) == 1
    assert settings.evaluation.games == (300 if config == "selfplay_three" else 200)


AGENT = """
from risk_env import Agent

class Counts(Agent):
    def reset(self, seat, rules, board, seed):
        super().reset(seat, rules, board, seed)
        self.decisions = 0

    def act(self, view):
        self.decisions += 1  # a memory that no checkpoint contains
        return int(view.legal_actions[self.decisions % len(view.legal_actions)])
"""


def test_a_best_response_to_an_agent_in_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bot.py").write_text(AGENT)
    folder, spec = tmp_path / "run", f"{tmp_path}/bot.py:Counts"
    command = [*SMALL, "--players", "3", "--against", spec, "--set", "n_envs=4", "--out", str(folder)]
    assert main([*command, "--set", "n_steps=64"]) == 0
    said = capsys.readouterr().out
    for steps in (256, 512):  # the gain curve
        assert f"after {steps} steps, 1 run; even share 33.3 %, gain " in said
    assert "training is slow, with 4 games at a time" in said
    row = read_log(folder)[-1]
    assert row[f"games/win_rate_{spec}"] >= 0 and row["games/rounds"] > 0

    resume = ["train", "--resume", str(folder), "--steps", "768"]
    assert main(resume) == 2
    error = capsys.readouterr().err
    assert f"was not named explicitly. If you trust this agent, add --against {spec}" in error
    assert main([*resume, "--against", spec]) == 0
    assert "after 768 steps" in capsys.readouterr().out and read_log(folder)[-1]["time/steps"] == 768


@pytest.mark.long
@pytest.mark.parametrize("agent", ["strategist", "cmd:{python} examples/bot_stdlib.py"])
def test_best_responses_to_agents_of_other_kinds(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = agent.format(python=sys.executable)
    command = [*SMALL, "--map", "classic", "--steps", "64", "--against", spec, "--out", str(tmp_path / "run")]
    assert main([*command, "--max-rounds", "3", "--set", "n_envs=2", "--set", "evaluation.games=2"]) == 0
    assert f"{spec}: win rate" in capsys.readouterr().out


def test_a_best_response_has_a_curve_of_ten_points() -> None:
    arguments = ["--config", "selfplay_three", "--steps", "1e6", "--against", "strategist"]
    settings = cli._settings(cli._parser().parse_args(arguments))[1]
    assert settings.evaluation.interval == 100_000 and (settings.n_envs, settings.n_steps) == (16, 256)
    chosen = cli._parser().parse_args([*arguments, "--set", "evaluation.interval=5e5", "--set", "n_envs=8"])
    settings = cli._settings(chosen)[1]
    assert settings.evaluation.interval == 500_000 and settings.n_envs == 8


def test_agents_in_python_have_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bot.py").write_text(AGENT)
    command = [*SMALL, "--against", f"{tmp_path}/bot.py:Counts", "--out", str(tmp_path / "run")]
    for setting, message in {
        "n_envs=129": "n_envs=129: must be 1 to 128, because '",
        "actors=2": "is not a compiled bot",
    }.items():
        assert main([*command, "--set", setting]) == 2
        assert message in capsys.readouterr().err
    file = tmp_path / "config.yml"
    file.write_text(f"trainer: selfplay\nmap: tiny\nleague: {{bots: ['{tmp_path}/other.py:Counts']}}\n")
    (tmp_path / "other.py").write_text("raise SystemExit('this code ran')")
    assert main(["train", "--config", str(file), "--out", str(tmp_path / "run")]) == 2
    assert "other.py:Counts' is a program, a language model or a Python file, but was not named" in (
        capsys.readouterr().err
    )


def test_a_best_response_needs_a_league(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "--config", "beam_value", "--against", "grower", "--out", str(tmp_path / "run")]
    assert main(command) == 2
    assert "the trainer is 'beam_value'" in capsys.readouterr().err
    for agent in ("strategist", "examples/bot.py:Borderer"):  # agents in Python
        assert main(["train", "--config", "tiny", "--against", agent, "--out", str(tmp_path / "run")]) == 2
        assert f"--against {agent}: the agent is not compiled" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["train", "--resume", str(tmp_path), "--seeds", "2"])
    assert "--seeds cannot change a resumed run" in capsys.readouterr().err


def test_a_best_response_of_any_trainer_is_resumed_with_the_name_of_its_agent(tmp_path: Path) -> None:
    command = ["train", "--config", "tiny", "--against", "grower", "--out", str(tmp_path / "run")]
    small = [
        "--set",
        "n_envs=2",
        "--set",
        "n_steps=16",
        "--set",
        "batch_size=32",
        "--set",
        "evaluation.games=2",
    ]
    assert main([*command, *small, "--steps", "32"]) == 0
    assert main(["train", "--resume", str(tmp_path / "run"), "--against", "grower", "--steps", "64"]) == 0
    for path in TRAINERS.values():
        assert "named" in signature(import_module(path).Trainer).parameters
