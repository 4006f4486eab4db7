"""Training with SB3: configurations, league and environments, checkpoints, policies as agents, evaluation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, fields, is_dataclass
from functools import reduce
from importlib import import_module
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
import yaml
from sb3_contrib import MaskablePPO

import risk_agents
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.sb3_policy import logits_of
from risk_agents.registry import play_game
from risk_env import Game, GameBatch, Rules, View, arena, cli, load_map
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.observations import as_floats
from risk_training.cli import config_path
from risk_training.config import TRAINERS, read_config, shipped_configs
from risk_training.curves import plot, read_log, win_rates
from risk_training.evaluate import Score, evaluate
from risk_training.league import League, LeagueSettings
from risk_training.run import load_checkpoint, to_data
from risk_training.run_files import CHECKPOINT
from risk_training.sb3_league import CompiledSlot, LeagueVecEnv
from risk_training.sb3_trainer import Config, Trainer, schedule
from risk_training.selfplay import potential

torch.set_num_threads(1)
TINY: dict[str, Any] = {
    "trainer": "sb3",
    "players": 2,
    "map": "tiny",
    "options": {"setup": "random", "max_rounds": 20},
    "n_timesteps": 768,
    "n_envs": 8,
    "n_steps": 16,
    "batch_size": 64,
    "n_epochs": 1,
    "policy_kwargs": {"width": 16, "local": 8},
    "shaping": 0.3,
    "league": {"bots": ["random", "grower"], "window": 2, "history": 1},
    "snapshot_interval": 128,
    "checkpoint_interval": 128,
    "evaluation": {"opponents": ["random"], "games": 8, "interval": 384},
}
RANDOM_DUEL = Rules.preset("classic", 2, profile="fast", setup="random")
KILLED_AT = 512
TIMES = ("time/seconds", "time/cpu_seconds", "time/steps_a", "time/ns_")
KILLED = f"""
import os, signal, sys, yaml
from risk_training.sb3_trainer import Config, Trainer
run = Trainer(Config.from_dict(yaml.safe_load(sys.stdin)), sys.argv[1])
run.train(lambda row: row["time/steps"] == {KILLED_AT} and os.kill(os.getpid(), signal.SIGKILL))
"""


def environments(**arguments: Any) -> LeagueVecEnv:
    league = League(
        LeagueSettings(**arguments.pop("league", {"bots": ("random", "grower"), "window": 2, "history": 0}))
    )
    usual = {"num_players": 2, "board": "tiny", "setup": "random", "max_rounds": 20}
    return LeagueVecEnv(league, 16, 5, **{**usual, **arguments})


def first_legal(env: Any) -> Any:
    return env.action_masks().argmax(axis=1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    run = Trainer(Config.from_dict(TINY), tmp_path_factory.mktemp("run") / "whole")
    run.train()
    return run


# --------------------------------------------------------------------------------------------- configurations


@pytest.mark.parametrize("path", shipped_configs(), ids=lambda path: Path(path).stem)
def test_shipped_configurations_are_valid(path: str) -> None:
    facts = read_config(path)
    kind = import_module(TRAINERS[facts["trainer"]]).Config
    config = kind.from_dict(facts)
    assert kind.from_dict(yaml.safe_load(yaml.safe_dump(config.to_dict()))) == config


def test_numbers_as_yaml_reads_them() -> None:
    config = Config.from_dict({"n_timesteps": "2e6", "ent_coef": "1e-3", "learning_rate": "lin_3e-4"})
    assert config.n_timesteps == 2_000_000 and config.ent_coef == 0.001
    falling = schedule("learning_rate", config.learning_rate)
    assert callable(falling) and falling(0.5) == pytest.approx(1.5e-4) and falling(-0.01) == 0.0
    assert schedule("clip_range", "0.2") == 0.2


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"n_step": 3}, "config: 'n_step' is unknown"),
        ({"n_steps": 1.5}, "n_steps=1.5: must be a whole number"),
        ({"n_envs": 0}, "n_envs=0: must be 1 to 16,384"),
        ({"gama": 0.9}, "'gama' is unknown .did you mean 'gamma'"),
        ({"gamma": 1e23}, r"gamma=1e\+23: must be 0 to 1"),
        ({"ent_coef": float("nan")}, "ent_coef=nan: must be a number"),
        ({"learning_rate": 1e30}, r"learning_rate=1e\+30: must be 1e-09 to 1"),
        ({"learning_rate": "lin_1e30"}, r"learning_rate=1e\+30: must be"),
        ({"learning_rate": "lin_nan"}, "learning_rate=nan: must be"),
        ({"seed": -1}, "seed=-1: must be 0 to 4,294,967,295"),
        ({"seed": 10**400}, "seed=.*: must be a number"),
        ({"players": 7}, "players=7: must be 2 to 6"),
        ({"options": {"num_players": 3}}, "use the setting 'players'"),
        ({"policy_kwargs": {"width": -1}}, "values must be whole numbers from 1 to 1,024"),
        ({"policy_kwargs": {"width": 8000}}, "values must be whole numbers from 1 to 1,024"),
        ({"policy": "MlpPolicy", "policy_kwargs": {"net_arch": [8000]}}, r"net_arch=\[8000\]: must be"),
        ({"policy": "MlpPolicy", "policy_kwargs": {"activation_fn": "x"}}, "MlpPolicy allows only: net_arch"),
        ({"n_envs": 1, "n_steps": 1}, "needs at least two decisions"),
        ({"evaluation": {"opponents": []}}, "evaluation.opponents=.*: must have 1 to 64 entries"),
        ({"league": {"bots": ["random", "random"]}}, "name each bot once"),
        ({"gamma": "high"}, "gamma='high': must be a number"),
        ({"learning_rate": "cos_1"}, "learning_rate='cos_1'"),
        ({"policy": "CnnPolicy"}, "policy='CnnPolicy': choose one of"),
        ({"preset": "chess"}, "chess"),
        ({"league": {"window": 0}}, "window=0"),
        ({"league": {"sharing": 1}}, "league: 'sharing' is unknown"),
        ({"evaluation": {"opponents": ["random"], "best_by": ["beam"]}}, "best_by: 'beam'"),
    ],
)
def test_wrong_settings_are_named(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Config.from_dict(facts)


def numbers_without_bounds(settings: Any, section: str = "") -> set[str]:
    found = set()
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if is_dataclass(value):
            found |= numbers_without_bounds(value, f"{entry.name}.")
        elif ("int" in str(entry.type) or "float" in str(entry.type)) and entry.metadata.get("least") is None:
            found.add(section + entry.name)
    return found


@pytest.mark.parametrize("name", TRAINERS)
def test_every_number_has_bounds(name: str) -> None:
    config = import_module(TRAINERS[name]).Config()
    schedules = {"learning_rate", "clip_range"} if name == "sb3" else set()  # numbers or texts
    assert numbers_without_bounds(config) == schedules


def test_files_that_are_no_configuration(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    found = {
        "[1, 2]": "mapping of names to values",
        "a: [": "cannot be read as YAML",
        "[" * 2000: "brackets",
        "trainer: dqn": "trainer='dqn'",
    }
    found |= {
        "trainer: sb3\nseed: 1\nseed: 2": "'seed' is given twice",
        "league: {bots: [], bots: []}": "given twice",
    }
    found |= {
        "<<: {trainer: sb3}\ntrainer: beam_value": "merges",
        "!!map x": "mapping",
        "a: *b": "not allowed",
    }
    for text, words in found.items():
        wrong.write_text(text)
        with pytest.raises(ValueError, match=words):
            read_config(wrong)
    with pytest.raises(ValueError, match="does not exist"):
        read_config(tmp_path / "none.yml")
    assert config_path("duel").is_file() and config_path("duel.yml") == config_path("duel")


# -------------------------------------------------------------------------------------------------- the games


def test_opponents_are_drawn_by_their_weights() -> None:
    lanes = SingleSeatVector(
        RANDOM_DUEL,
        "tiny",
        512,
        ["random", "attacker", "grower"],
        opponent_order="drawn",
    )
    lanes.draw_by([0.0, 1.0, 3.0])
    lanes.reset(3)
    drawn = np.bincount(lanes.arena.numbers[np.arange(512), 1 - lanes.seat], minlength=3)
    assert drawn[0] == 0 and drawn[2] / 512 == pytest.approx(0.75, abs=0.06)
    for wrong in ([1.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1.0]):
        with pytest.raises(ValueError, match="weights"):
            lanes.draw_by(wrong)


def test_lanes_go_on_from_their_state() -> None:
    made = [
        SingleSeatVector(RANDOM_DUEL, "tiny", 8, ["random", "grower"], opponent_order="drawn")
        for _ in range(2)
    ]
    one, other = made
    one.draw_by([1.0, 5.0])
    one.reset(7)
    for _ in range(30):
        one.step(one.masks().argmax(axis=1))
    other.load_state_dict(one.state_dict())
    for _ in range(60):
        for lanes in made:
            lanes.step(lanes.masks().argmax(axis=1))
        assert np.array_equal(one.observation(), other.observation()) and np.array_equal(one.seat, other.seat)


def test_the_league_is_told_every_result() -> None:
    env = environments(league={"bots": ("random", "grower"), "snapshot_share": 0.0, "horizon": 1e9})
    env.reset()
    games = wins = 0
    for _ in range(150):
        _, _, dones, infos = env.step(first_legal(env))
        games += int(dones.sum())
        wins += sum(info["winner"] == info["seat"] for info in infos if info)
    assert games == len(env.played) > 20 and wins == sum(won for _, _, won, _, _ in env.played)
    for name, standing in env.league.state_dict()["standings"].items():
        assert standing["games"] == pytest.approx(sum(played[0] == name for played in env.played), rel=1e-3)


def test_the_league_counts_places_and_not_only_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    env = environments(num_players=3, league={"bots": ("random", "grower"), "snapshot_share": 0.0})
    env.reset()
    points = list[float]()
    monkeypatch.setattr(env.league, "record", lambda name, found: points.append(found))
    lanes, numbers = env.lanes, env.lanes.arena.numbers.copy()
    for seat, places, expected in (
        (0, [1, 2, 3], [1.0, 1.0]),
        (1, [1, 2, 3], [0.0, 1.0]),
        (1, [1, 1, 3], [0.5, 1.0]),
        (2, [2, 1, 2], [0.5, 0.0]),
    ):
        lanes.final[0]["seat"], lanes.final[0]["winner"] = seat, -1
        numbers[0, :3] = 0
        lanes.truncated[0], lanes.batch.final_placement[0] = True, places
        points.clear()
        env._note(np.array([0]), numbers)
        assert points == expected


def test_the_league_of_truncated_games(monkeypatch: pytest.MonkeyPatch) -> None:
    env = environments(max_rounds=2, league={"bots": ("random",), "snapshot_share": 0.0})
    env.reset()
    points, places, truncated = list[float](), list[int](), 0
    monkeypatch.setattr(env.league, "record", lambda name, found: points.append(found))
    for _ in range(60):
        infos = [info for info in env.step(first_legal(env))[3] if "placement" in info]
        places += [info["placement"] for info in infos]
        truncated += sum(info["TimeLimit.truncated"] for info in infos)
    assert truncated > 5 and {1.0, 0.0} <= set(points)
    assert all(found == 2 - place for found, place in zip(points, places, strict=True) if found != 0.5)
    assert all(place == 1 for found, place in zip(points, places, strict=True) if found == 0.5)


def test_a_snapshot_that_takes_anothers_place_makes_no_result_of_games_under_way(finished: Trainer) -> None:
    env = environments(league={"bots": (), "window": 1, "history": 0})
    env.add_snapshot(1, finished.model.policy)
    env.reset()
    env.add_snapshot(2, finished.model.policy)
    ended = np.zeros(16, np.bool_)
    for _ in range(60):
        told = len(env.played)
        _, _, dones, _ = env.step(first_legal(env))
        assert len(env.played) - told == int((dones & ended).sum())  # nothing of a lane's first game
        ended |= dones
    assert env.played and {name for name, *_ in env.played} == {"snapshot-2"}


def test_a_compiled_snapshot_draws_actions_as_its_policy_would(finished: Trainer) -> None:
    policy, games = finished.model.policy, 4000
    slot = CompiledSlot(0)
    slot.load("snapshot-1", policy, policy.state_dict())
    batch = GameBatch(finished.rules, finished.board, games, seed=5)
    batch.reset()
    batch.records[:] = batch.records[0]
    batch.ask(np.arange(games))
    actions, randoms = np.zeros(games, np.int64), np.zeros((games, 6), np.uint64)
    randoms[:] = np.random.default_rng(1).integers(2**63, size=(games, 1))
    tables, memory = batch.tables, np.zeros((games, 6, 1), np.int32)
    slot.player.choose(batch.records, tables.board, tables.rules, np.arange(games), randoms, memory, actions)
    logits = logits_of(policy, as_floats(batch.observation[:1], batch.board), batch.action_mask[:1])[
        0
    ].astype(float)
    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    found = np.bincount(actions, minlength=len(expected)) / games
    assert (expected > 0.02).sum() >= 3 and slot.seconds > 0
    assert (abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / games) + 1e-9).all()


def test_a_rollout_is_encoded_once_and_learned_from_as_ever(finished: Trainer) -> None:
    model = finished.model
    buffer, policy = model.rollout_buffer, model.policy
    rows = np.arange(0, buffer.buffer_size * buffer.n_envs, 3)
    next(buffer.get(1))
    sample = buffer._get_samples(rows)
    actions = sample.actions.long().flatten()
    encoded = policy.evaluate_actions(sample.observations, actions, sample.action_masks)
    raw = policy.evaluate_actions(
        torch.as_tensor(as_floats(buffer.observations[rows], finished.board)), actions, sample.action_masks
    )
    for one, other in zip(encoded, raw, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("max_rounds", [3, 100])
def test_shaping_adds_nothing_over_a_whole_game_but_its_start(max_rounds: int) -> None:
    """The sum, with gamma 1, is minus the first potential, plus the last potential if rounds ran out."""
    plain = environments(max_rounds=max_rounds)
    shaped = environments(max_rounds=max_rounds, shaping=0.5)
    plain.reset()
    shaped.reset()
    gained = -shaped._potential.astype(float)
    expected = gained.copy()
    gained[:] = 0
    ends = 0
    for _ in range(120):
        actions = first_legal(plain)
        _, rewards, dones, _ = plain.step(actions)
        _, others, _, _ = shaped.step(actions)
        gained += others - rewards
        for lane in np.flatnonzero(dones):
            last = (
                potential(shaped.lanes._final_codes[[lane]], shaped.lanes.board, 0.5)[0]
                * shaped.lanes.truncated[lane]
            )
            assert gained[lane] == pytest.approx(expected[lane] + last, abs=1e-4)
            gained[lane], expected[lane] = 0.0, -shaped._potential[lane]
            ends += 1
    assert ends > 10


# ---------------------------------------------------------------------------------------------------- runs


def test_a_run_leaves_what_it_says(finished: Trainer) -> None:
    names = {path.name for path in finished.folder.iterdir()}
    assert {
        "config.yml",
        CHECKPOINT,
        "best.zip",
        "best.npz",
        "last.zip",
        "metrics.jsonl",
        "tensorboard",
    } <= names
    assert not [name for name in names if name.startswith(".new-")]
    rows = read_log(finished.folder)
    assert [row["time/steps"] for row in rows] == list(range(128, 769, 128))
    assert len(win_rates(rows)["random"]) == 2
    assert finished.env.league.snapshots[-1] == "snapshot-768"


def test_every_metric_is_explained(finished: Trainer) -> None:
    page = (Path(__file__).parents[1] / "docs" / "training.md").read_text()
    for name in {name for row in read_log(finished.folder) for name in row}:
        for bot in ("random", "grower", "latest"):
            name = name.removesuffix(f"_{bot}") + "_NAME" * name.endswith(f"_{bot}")
        name = name[:-1] + "S" if "_seat_" in name else name
        assert f"`{name}`" in page, f"docs/training.md does not explain {name}"


@pytest.mark.long
def test_a_killed_run_goes_on_as_if_nothing_had_happened(finished: Trainer, tmp_path: Path) -> None:
    """A run that is killed at the log line of step 512, before its checkpoint, resumes from step 384."""
    folder = tmp_path / "killed"
    root = Path(__file__).parents[1]
    path = os.pathsep.join(str(root / name) for name in (".", "agents", "training"))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder)],
        input=yaml.safe_dump(TINY),
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == -signal.SIGKILL
    run = Trainer.resume(folder)
    assert run.model.num_timesteps == KILLED_AT - 128
    run.train()
    mine, theirs = run.model.policy.state_dict(), finished.model.policy.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert run.env.league.state_dict() == finished.env.league.state_dict()
    assert run.best == finished.best
    rows = [
        [{k: v for k, v in row.items() if not k.startswith(TIMES)} for row in r.rows] for r in (run, finished)
    ]
    assert rows[0] == rows[1]


def test_what_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=CHECKPOINT):
        Trainer.resume(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"PK nothing")
    with pytest.raises(ValueError, match="not a checkpoint of this version"):
        Trainer.resume(tmp_path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("best",), (1.0, {"../stolen": np.zeros(3, np.uint8)})),
        (("env", "lanes", "arrays", 5), np.zeros(3, np.int32)),
        (("env", "lanes", "seed_word"), -1),
        (("env", "slots"), ["snapshot-1", None, None]),
        (("env", "played"), [("random", 9, True, False, 3)]),
        (("counters", "num_timesteps"), 10**9),
        (("random",), (0, 0, 0)),
        (("best",), (float("nan"), {})),
        (("last",), (np.zeros((8, 3), np.float32), np.zeros(8, np.bool_))),
    ],
)
def test_a_checkpoint_that_somebody_else_made(
    finished: Trainer, tmp_path: Path, place: Any, value: Any
) -> None:
    """It names no other files, and its arrays are those of the run."""
    state = load_checkpoint(finished.folder)
    *path, last = "trainer", *place
    reduce(getitem, path, state)[last] = value
    (tmp_path / "run").mkdir()
    torch.save(to_data(state), tmp_path / "run" / CHECKPOINT)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        Trainer.resume(tmp_path / "run")
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_a_finished_run_has_nothing_left_to_do(finished: Trainer) -> None:
    before = read_log(finished.folder)
    run = Trainer.resume(finished.folder)
    run.train()
    assert run.steps == 768 and read_log(finished.folder) == before


# ---------------------------------------------------------------------------------------------------- agents


def test_the_best_policy_is_an_agent(finished: Trainer) -> None:
    path = str(finished.folder / "best.zip")
    agent = risk_agents.make(path)
    assert agent.name == "whole" and len(agent.version) == 8
    rules, board = finished.rules.replace(attack="choice", defender_dice="choice"), load_map("tiny")
    game = play_game(rules, board, [path, "grower"], seed=1)
    assert game.is_over
    views = []
    other = Game(finished.rules, board, seed=3)
    while not other.is_over and len(views) < 20:
        views.append(View(other))
        other.step(int(other.legal_actions()[0]))
    agent.reset(0, finished.rules, board, 0)
    answers = [agent.act(view) for view in views]
    assert answers == answers_of(MaskablePPO.load(path).policy, views)
    assert all(action in view.legal_actions for action, view in zip(answers, views, strict=True))


def test_the_best_policy_plays_as_weights_alone(finished: Trainer) -> None:
    """`best.npz` has float16, `best.zip` float32: nearly all actions agree."""
    bots = [risk_agents.load(str(finished.folder / name)) for name in ("best.npz", "best.zip")]
    found = [
        arena.play(finished.rules, finished.board, [bot, "grower"], 40, seed=2)["decisions"] for bot in bots
    ]
    assert (found[0] == found[1]).mean() > 0.7


def test_a_policy_with_sb3s_own_network_is_read_as_data(tmp_path: Path) -> None:
    own = {"policy": "MlpPolicy", "policy_kwargs": {"net_arch": [8, 8]}, "n_timesteps": 128}
    run = Trainer(Config.from_dict(TINY | own), tmp_path)
    run.train()
    path, seen = str(tmp_path / "best.zip"), []
    game, agent = Game(run.rules, run.board, seed=3), risk_agents.make(str(tmp_path / "best.zip"))
    agent.reset(0, run.rules, run.board, 0)
    while not game.is_over and len(seen) < 20:
        seen.append(View(game))
        game.step(int(game.legal_actions()[0]))
    assert [agent.act(view) for view in seen] == answers_of(MaskablePPO.load(path).policy, seen)
    assert not (tmp_path / "best.npz").exists()
    assert cli.main(["export", path, "--npz", str(tmp_path / "best.npz")]) == cli.WRONG_INPUT


def answers_of(policy: Any, seen: list[View]) -> list[int]:
    """Return the likeliest actions of an SB3 policy."""
    observations, masks = (
        np.stack([getattr(view, name) for view in seen]) for name in ("observation", "action_mask")
    )
    return logits_of(policy, observations, masks).argmax(1).tolist()


def test_the_best_policy_is_exported(finished: Trainer, tmp_path: Path) -> None:
    """`--npz` writes the same weights as the trainer writes beside the .zip."""
    source, weights, model = str(finished.folder / "best.zip"), tmp_path / "best.npz", tmp_path / "best.onnx"
    assert cli.main(["export", source, "--npz", str(weights), "--onnx", str(model)]) == 0
    policies = [PolicyFile.load(path) for path in (finished.folder / "best.npz", weights)]
    for name, values in policies[0].weights.items():
        np.testing.assert_array_equal(policies[1].weights[name], values)
    assert policies[0].schema == policies[1].schema
    assert model.stat().st_size > 4 * sum(values.size for values in policies[0].weights.values())


def test_games_it_was_not_trained_for_are_refused(finished: Trainer) -> None:
    agent = risk_agents.make(str(finished.folder / "best.zip"))
    with pytest.raises(ValueError, match="trained for map"):
        agent.reset(0, Rules.preset("classic", 2, profile="fast"), load_map("classic"), 0)
    with pytest.raises(ValueError, match="fortify"):
        agent.reset(0, finished.rules.replace(fortify="adjacent"), load_map("tiny"), 0)


def test_other_zips_are_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.zip"
    wrong.write_bytes(b"PK")
    for path in (wrong, tmp_path / "none.zip"):
        with pytest.raises(ValueError, match="is not a policy"):
            risk_agents.make(str(path))


# ------------------------------------------------------------------------------------------------- evaluation


ONE_BY_ONE = """
from risk_env.agent import Agent
from risk_agents.registry import make
class OneByOne(Agent):
    name = "one by one"
    def __init__(self): self.inner = make({spec!r})
    def reset(self, *facts): self.inner.reset(*facts)
    def act(self, view): return self.inner.act(view)
"""


@pytest.mark.parametrize("attack", ["blitz", "choice"])
@pytest.mark.parametrize("who", ["grower", "best.zip"])
def test_batches_play_the_games_that_agents_play(
    who: str, attack: str, finished: Trainer, tmp_path: Path
) -> None:
    spec = str(finished.folder / who) if who.endswith(".zip") else who
    alone = tmp_path / "alone.py"
    alone.write_text(ONE_BY_ONE.format(spec=spec))
    rules = finished.rules.replace(attack=attack, defender_dice="choice" if attack == "choice" else "max")
    for opponent in ("random", "grower"):
        batched = evaluate(spec, opponent, rules, finished.board, games=12, seed=4)
        single = evaluate(f"{alone}:OneByOne", opponent, rules, finished.board, games=12, seed=4)
        assert asdict(batched) == asdict(single) and isinstance(batched, Score)
        assert batched.low <= batched.win_rate <= batched.high and batched.games == 12


def test_a_policy_meets_itself_in_batches(finished: Trainer) -> None:
    spec = str(finished.folder / "best.zip")
    score = evaluate(spec, spec, finished.rules, finished.board, games=20, seed=1)
    assert score.wins / 20 == pytest.approx((1 - score.truncated) / 2)  # both seats of the same deals


# ----------------------------------------------------------------------------------------------- command line


def test_the_command_line_trains_resumes_and_evaluates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, folder = tmp_path / "tiny.yml", tmp_path / "run"
    config.write_text(yaml.safe_dump(TINY))
    assert (
        cli.main(["train", "--config", str(config), "--out", str(folder), "--steps", "128", "--seed", "3"])
        == 0
    )
    assert cli.main(["train", "--config", str(config), "--out", str(folder)]) == cli.WRONG_INPUT
    assert "--resume" in capsys.readouterr().err
    assert cli.main(["train", "--resume", str(folder), "--steps", "256"]) == 0
    assert [row["time/steps"] for row in read_log(folder)] == [128, 256]
    scores, curves = tmp_path / "scores.json", tmp_path / "curves.png"
    command = ["evaluate", "--run", str(folder), "--opponents", "random,grower", "--games", "6"]
    assert cli.main([*command, "--json", str(scores), "--plot", str(curves)]) == 0
    assert [score["opponent"] for score in json.loads(scores.read_text())["scores"]] == ["random", "grower"]
    assert curves.read_bytes().startswith(b"\x89PNG")
    plot([folder, folder], tmp_path / "two.svg")


def test_the_own_trainers_run_goes_on_for_as_long_as_asked_and_plays(tmp_path: Path) -> None:
    config, folder = tmp_path / "own.yml", tmp_path / "run"
    facts = {
        "trainer": "selfplay",
        "map": "tiny",
        "players": 2,
        "n_envs": 8,
        "n_steps": 8,
        "evaluation": {"games": 2},
    }
    config.write_text(yaml.safe_dump(facts))
    assert cli.main(["train", "--config", str(config), "--out", str(folder), "--steps", "64"]) == 0
    assert cli.main(["train", "--resume", str(folder), "--steps", "192"]) == 0
    assert [row["time/steps"] for row in read_log(folder)] == [64, 128, 192]
    scores = tmp_path / "scores.json"
    command = ["evaluate", "--opponents", "random", "--games", "4", "--json", str(scores)]
    for who in (["--run", str(folder)], [str(folder / "policy.npz")]):
        assert cli.main([*command, *who]) == 0
        (score,) = json.loads(scores.read_text())["scores"]
        assert score["games"] == 4


@pytest.mark.parametrize(
    "argv",
    [
        ["train"],
        ["train", "--config", "duel", "--resume", "x"],
        ["train", "--resume", "x", "--seed", "1"],
        ["evaluate"],
        ["evaluate", "grower", "--plot", "x.png"],
    ],
)
def test_commands_that_do_not_fit_together(argv: list[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(argv)


def test_wrong_input_is_the_callers(tmp_path: Path) -> None:
    assert cli.main(["train", "--resume", str(tmp_path)]) == cli.WRONG_INPUT
    assert cli.main(["train", "--config", str(tmp_path / "none.yml")]) == cli.WRONG_INPUT
    assert cli.main(["evaluate", "nobody", "--games", "2"]) == cli.WRONG_INPUT
    assert cli.main(["evaluate", "grower", "--games", "0"]) == cli.WRONG_INPUT
