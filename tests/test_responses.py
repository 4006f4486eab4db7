"""Rounds of best responses (risk_training.responses), and averaged weights."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents import registry
from risk_env.board.maps import load_map
from risk_env.board.rules import FAST, Rules
from risk_env.cli import main
from risk_env.players import AgentFactory
from risk_training import ppo, responses, state_value
from risk_training.responses import Responses, run_rounds
from risk_training.run import load_checkpoint
from tests.test_run import PPO

FACTS = {"time/steps": 1, "time/updates": 1, "time/seconds": 1.0}


class FakeRuns:
    """Runs that train nothing: the exploiter of round k wins the share `rates[k - 1]`."""

    def __init__(self, rates: Sequence[float]) -> None:
        self.rates, self.trained = list(rates), list[tuple[str, dict[str, Any], str | None]]()

    def config(self, name: str, values: Mapping[str, Any]) -> Any:
        made = ppo.Config if name == "selfplay_three" else state_value.Config
        return made.from_dict({"players": 3} | dict(values))

    def train(self, name: str, values: Mapping[str, Any], folder: Path, against: str | None = None) -> None:
        self.config(name, {key: value for key, value in values.items() if "." not in key})  # valid settings
        self.trained.append((name, dict(values), against))
        folder.mkdir(parents=True)
        rate = self.rates.pop(0) if against else 0.0
        found = {f"eval/{part}_{against}": rate for part in ("win_rate", "low", "high")}
        (folder / "metrics.jsonl").write_text(json.dumps(FACTS | found) + "\n")


def test_an_exploiter_that_gains_joins_the_bots(tmp_path: Path) -> None:
    runs = FakeRuns([0.7, 0.5, 0.35])
    settings = Responses(seed=4, least_gain=5, value_settings={"games": 50})
    found = run_rounds(settings, tmp_path, runs)
    assert [round(one.gain, 1) for one in found] == [36.7, 16.7, 1.7]  # the last gain is below 5 points
    names = [(name, against) for name, _, against in runs.trained]
    values = [f"tactician:{tmp_path}/round-{number}/value/state_value.npz" for number in (1, 2)]
    assert names == [
        *[("selfplay_three", "tactician"), ("state_value_selfplay", None)],
        *[("selfplay_three", values[0]), ("state_value_selfplay", None)],
        ("selfplay_three", values[1]),
    ]
    last = runs.trained[3][1]
    exploiters = [f"{tmp_path}/round-{number}/exploiter/policy.npz" for number in (1, 2)]
    assert last["bots"] == [*state_value.Config().bots, *exploiters]
    assert last["weights"][-2:] == [0.15, 0.15] and sum(last["weights"]) == pytest.approx(1)
    assert last["begin_with"] == f"{tmp_path}/round-1/value/state_value.npz"
    assert last["games"] == 50 and last["seed"] == 6
    stored = json.loads((tmp_path / responses.SUMMARY).read_text())
    assert [one["agent"] for one in stored] == ["tactician", *values]
    assert "a gain below 5 points ends the rounds" in responses.lines(settings, found)[-1]


def test_the_last_round_trains_no_value(tmp_path: Path) -> None:
    runs = FakeRuns([0.9])
    found = run_rounds(Responses(rounds=1), tmp_path, runs)
    assert len(found) == len(runs.trained) == 1
    assert "stopped after 1 round, the maximum" in responses.lines(Responses(rounds=1), found)[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rounds: 0", "responses.rounds=0"),
        ("exploiter: state_value", "exploiter='state_value' has trainer 'state_value'"),
        ("agents: tactician", "unknown"),
        ("exploiter_settings: {n_timesteps: -1}", "n_timesteps=-1"),
    ],
)
def test_wrong_settings_are_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "responses.yml"
    path.write_text(text)
    assert main(["train", "--responses", str(path), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


def test_arguments_of_one_run_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--responses", "responses.yml", "--players", "3"])
    assert "--players is not allowed with --responses: use exploiter_settings" in capsys.readouterr().err


@pytest.mark.long
def test_rounds_are_trained_and_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "responses.yml", tmp_path / "out"
    path.write_text(
        "{agent: grower, rounds: 2, games: 6, least_gain: 0, "
        "exploiter_settings: {n_timesteps: 512, n_envs: 16, n_steps: 16}, "
        "value_settings: {games: 10, round_games: 10, tables: [2, 3]}}"
    )
    command = ["train", "--responses", str(path), "--out", str(folder)]
    assert main(command) == 0
    said = capsys.readouterr().out
    if "round 2" in said:  # the exploiter of round 1 has won at least a third of six games
        bots = load_checkpoint(folder / "round-1" / "value")["config"]["bots"]
        assert bots[-1] == str(folder / "round-1" / "exploiter" / "policy.npz")
    first = (folder / responses.SUMMARY).read_text()
    assert main(command) == 0
    assert "the run is complete" in capsys.readouterr().out
    assert (folder / responses.SUMMARY).read_text() == first


def test_bots_of_configurations_run_no_other_code(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text("raise SystemExit('this code ran')")
    for spec in (f"{file}:Bot", "cmd:true", "llm:model", "human", "strategist"):
        with pytest.raises(ValueError, match="is not a compiled bot"):
            registry.load_bot(spec)
    for spec in (f"{file}:Bot", "cmd:true", "llm:model"):
        with pytest.raises(registry.UnnamedCodeError, match="was not named explicitly"):
            registry.load_opponent(spec, ["cmd:false"])
    assert isinstance(registry.load_opponent("cmd:true", ["cmd:true"]), AgentFactory)
    value = Path(registry.__file__).parent / "learned" / "policies" / "strategist.npz"
    bot = registry.load_bot(f"tactician:{value}")
    assert bot.name == f"tactician:{value}"
    assert bot.knows(Rules.preset("classic", 5, profile=FAST), load_map("classic"))
    assert not bot.knows(Rules.preset("classic", 3, profile=FAST), load_map("tiny"))


def test_the_average_of_the_weights_plays(tmp_path: Path) -> None:
    trainer = ppo.Trainer(PPO, tmp_path)
    assert trainer.config.ema_decay == 0.5
    name, values = next(iter(trainer.network.weights.items()))
    first = values.detach().clone()
    trainer.average_weights()
    with np.errstate(all="raise"):
        values.data += 1
        trainer.average_weights()
    assert trainer.arrays()[name] == pytest.approx((first + 0.5).numpy())
