"""Games that begin at positions: in lanes of a batch, in environments, and in the games of trainers."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pickle
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

from risk_env import Game, GameBatch, Rules, SavedGame, load_map
from risk_env.bots import compiled
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.game_vector import GameVector
from risk_env.start_positions import StartPositions
from risk_training import position_files
from risk_training.config import TRAINERS, PositionSettings
from risk_training.position_files import start_positions
from risk_training.sb3 import RiskVecEnv
from tests.pages import code_of, page, run_code

RULES = Rules.preset("classic", 3, profile="fast")
BOARD = load_map("tiny")
GAME = {"preset": RULES, "board": "tiny", "opponents": "random", "seat": 0}


def played(decisions: int, seed: int = 9) -> Game:
    """Return a game after some random decisions."""
    game, chance = Game(RULES, BOARD, seed=seed), np.random.default_rng(seed)
    for _ in range(decisions):
        game.step(int(chance.choice(game.legal_actions())))
    return game


def late(number: int) -> str:
    """Return the text of a position in round 50 + `number`, in which seat 0 begins its turn."""
    return f"""risk_env game 1
rules: preset=classic, num_players=3, profile=fast
map: tiny
round: {50 + number}

[territories]
Ash: player 0, 9 troops
Birch: player 0
Cedar: player 1, 4
Dune: player 1, 2
Ember: player 2, 3
Flint: player 2, 3
"""


LATE = [late(number) for number in range(3)]


def test_lanes_begin_at_texts_bytes_games_and_records() -> None:
    game, batch = played(30), GameBatch(RULES, BOARD, 5, seed=3)
    batch.reset()
    batch.load([4, 1, 2, 0], [game.to_text(), game.to_bytes(), game, game.record])
    batch.load([3], game)
    batch.ask(np.arange(5))
    assert batch.seat.tolist() == [game.seat] * 5
    assert all(batch.game(lane) == game for lane in range(5))
    assert (batch.observation == game.observe_codes(game.seat)).all()
    assert (batch.action_mask == game.action_mask()).all()
    assert batch.episodes.tolist() == [1] * 5
    action = int(game.legal_actions()[-1])
    batch.step(np.full(5, action))
    game.step(action)
    assert batch.game(2) == game


def test_chance_is_that_of_the_position_or_of_the_lane() -> None:
    batch = GameBatch(RULES, BOARD, 2, seed=3)
    batch.load([0, 1], late(0), reseed=True)
    for lane in range(2):
        assert batch.game(lane) == Game(RULES, BOARD, seed=3, lane=lane, position=late(0))
    batch.load([0, 1], late(0))
    assert batch.game(0) == batch.game(1) == Game.from_text(late(0))


def test_a_game_that_is_over_is_loaded_as_over() -> None:
    batch = GameBatch(RULES, BOARD, 2, seed=3)
    batch.reset()
    game = played(30)
    while not game.is_over:
        game.step(int(game.legal_actions()[0]))
    batch.load([1], game)
    batch.ask([1])
    assert batch.game_over.tolist() == [False, True] and batch.seat[1] == -1
    with pytest.raises(ValueError, match="the game is over"):
        RiskVecEnv(2, positions=[game], **GAME)


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("x", "expected 'risk_env game 1'"),
        (b"y", "bad magic number"),
        (3, "3 is not a position: pass a text, bytes, a Game or a record"),
        (np.zeros(1), "float64 is not a position"),
        (Game(RULES.replace(fortify="adjacent"), "tiny", seed=1), "fortify='adjacent' instead of"),
        (Game(RULES, "inner_sea", seed=1), "on map 'inner_sea', not on 'tiny'"),
        (GameBatch(RULES, BOARD, 1).records[0], "impossible position"),
    ],
)
def test_a_wrong_position_is_refused_with_its_lane_and_changes_nothing(bad: Any, fault: str) -> None:
    batch = GameBatch(RULES, BOARD, 4, seed=3)
    batch.reset()
    before = batch.records.tobytes(), batch.episodes.tolist(), batch.seeds.tolist()
    with pytest.raises(ValueError, match=rf"^lane 3: .*{fault}"):
        batch.load([1, 3], [played(3), bad])
    with pytest.raises(ValueError, match="1 positions for 2 lanes"):
        batch.load([1, 3], [played(3)])
    assert before == (batch.records.tobytes(), batch.episodes.tolist(), batch.seeds.tolist())


@pytest.mark.parametrize(("players", "name"), [(6, "classic"), (3, "classic"), (2, "tiny")])
def test_checked_positions_of_other_games_are_refused(players: int, name: str) -> None:
    """Their records have the dtype of the batch, but seats and territories that its arrays do not have."""
    rules, board = Rules.preset("classic", players, profile="fast"), load_map(name)
    others = StartPositions.of(Game(rules, board, seed=1), rules, board)
    env: Any = gymnasium.make_vec("risk_env/Risk-v0", num_envs=2, **GAME)
    env.reset(seed=1)
    before = env.lanes.batch.records.tobytes()
    with pytest.raises(ValueError, match=r"^positions: .*(num_players=|map 'classic', not on 'tiny')"):
        env.reset(options={"positions": others})
    assert env.lanes.batch.records.tobytes() == before
    for make in (partial(RiskVecEnv, 2), partial(gymnasium.make, "risk_env/Risk-v0")):
        with pytest.raises(ValueError, match=r"^positions: "):
            make(**GAME, positions=others)


def rounds_of(lanes: SingleSeatVector) -> list[int]:
    return lanes.batch.records["round_number"].tolist()


def test_every_game_of_a_vector_environment_begins_at_the_next_position() -> None:
    envs: Any = gymnasium.make_vec("risk_env/Risk-v0", num_envs=4, **GAME)
    envs.reset(seed=1, options={"positions": LATE})
    assert rounds_of(envs.lanes) == [50, 51, 52, 50]
    envs.reset()
    assert rounds_of(envs.lanes) == [51, 52, 50, 51]
    copied = pickle.loads(pickle.dumps(envs.lanes))
    copied.reset()
    assert rounds_of(copied) == [52, 50, 51, 52]
    envs.reset(options={"reset_mask": np.array([True, False, False, False]), "positions": None})
    assert rounds_of(envs.lanes) == [0, 52, 50, 51]
    with pytest.raises(ValueError, match=r"positions\[1\]: line 1"):
        envs.reset(options={"positions": [LATE[0], "nonsense"]})
    assert rounds_of(envs.lanes) == [0, 52, 50, 51]
    with pytest.raises(ValueError, match="allowed: 'reset_mask', 'positions'"):
        envs.reset(options={"position": LATE[0]})


def test_the_code_of_the_page_runs() -> None:
    (code,) = code_of(page("gymnasium"), "endgames")
    names = run_code([code], gymnasium=gymnasium, rng=np.random.default_rng(0))
    assert (names["envs"].lanes.batch.records["decisions"] >= 200).all()


def test_later_games_of_a_vec_env_begin_at_positions_too() -> None:
    env = RiskVecEnv(2, seed=1, **GAME)
    env.set_options({"positions": LATE})
    env.reset()
    assert rounds_of(env.lanes) == [50, 51]
    ended = np.zeros(2, np.bool_)
    while not ended.any():
        actions = env.action_masks().argmax(axis=1)
        ended = env.step(actions)[2]
    for lane in np.flatnonzero(ended):
        assert rounds_of(env.lanes)[lane] in (50, 51, 52)
    with pytest.raises(ValueError, match="must be"):
        env.set_options([{"positions": LATE}, {}])
    env.close()


class Begun(Exception):
    """Raised when the games of a trainer have begun; the argument is the list of their rounds."""


@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_games_of_a_trainer_begin_at_its_positions(
    trainer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_at = GameVector.begin_at

    def watched(batch: GameVector, lanes: Any, *arguments: Any) -> None:
        begin_at(batch, lanes, *arguments)
        raise Begun(batch.records["round_number"][lanes].tolist())

    monkeypatch.setattr(GameVector, "begin_at", watched)
    (tmp_path / "late.txt").write_text("".join(LATE))
    module = importlib.import_module(TRAINERS[trainer])
    facts = {"players": 3, "map": "tiny", "positions": {"path": str(tmp_path)}}
    own = {"n_envs": 4} if trainer in ("sb3", "selfplay") else {"round_games": 4}
    own |= {"tables": [3]} if trainer in ("state_value", "turn_policy") else {}
    config = module.Config.from_dict(facts | own)
    begin = {
        "sb3": lambda: module.make_environments(dataclasses.replace(config, policy="MlpPolicy")).reset(),
        "selfplay": lambda: module.SelfPlay(config, BOARD).begin(np.arange(4)),
        "beam_value": lambda: module.play_chunk(config, 0, 4, None),
        "state_value": lambda: module.play_chunk(config, 3, 0, 4),
        "turn_policy": lambda: module.play_chunk(config, 3, 0, 4, None),
        "imitation": lambda: module.Trainer(config, tmp_path).update(),
    }
    if trainer == "turn_policy":  # its value knows the map classic only
        plain = SimpleNamespace(bot=compiled("random"), value=None)
        monkeypatch.setattr(module.Config, "judge_file", lambda config: plain)
        monkeypatch.setattr(module, "Recorder", lambda *arguments: plain)
    with pytest.raises(Begun) as begun:
        begin[trainer]()
    assert begun.value.args[0][:4] == [50, 51, 52, 50]


def settings_of(path: Path, **facts: Any) -> Any:
    config = importlib.import_module("risk_training.ppo").Config(players=3, map="tiny")
    return dataclasses.replace(config, positions=PositionSettings(path=str(path), **facts))


def test_positions_are_taken_from_saved_games_by_phase_and_round(tmp_path: Path) -> None:
    game = played(150)
    saved = SavedGame.of(game, ["a", "b", "c"])
    (tmp_path / "game.jsonl").write_text(json.dumps(saved.to_dict()) + "\n")
    found = start_positions(settings_of(tmp_path, phase="attack", rounds=(1, 2), share=0.5), BOARD)
    assert found is not None
    assert len(found.records) >= 3
    assert {int(number) for number in found.records["round_number"]} == {1, 2}
    chosen, records = found.choose(np.arange(8))
    assert chosen.sum() == len(records) == 4
    with pytest.raises(ValueError, match=r"no position of 3 players in phase 'attack', rounds \[90, 91\]"):
        start_positions(settings_of(tmp_path, phase="attack", rounds=(90, 91)), BOARD)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "a position must begin with the line"),
        (LATE[0] + LATE[1].replace("Ash", "Oz"), r"late.txt, position 2: line \d+: "),
        (
            LATE[0].replace("fast", "book"),
            r"late.txt, position 1: the rules of the position differ from the rules ",
        ),
        ("{}", "late.txt, line 1: not a saved game"),
    ],
)
def test_a_wrong_file_of_positions_is_named(content: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "late.txt").write_text(content)
    with pytest.raises(ValueError, match=fault):
        start_positions(settings_of(tmp_path / "late.txt"), BOARD)
    with pytest.raises(ValueError, match=r"positions.path: .*there is no regular file"):
        start_positions(settings_of(tmp_path / "none.txt"), BOARD)


@pytest.mark.parametrize(
    "content", [LATE[0], json.dumps(SavedGame.of(played(150), ["a", "b", "c"]).to_dict())]
)
def test_a_large_file_of_positions_is_refused(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late.txt").write_text(f" \n{content}")
    assert start_positions(settings_of(tmp_path), BOARD) is not None
    monkeypatch.setattr(position_files, "MOST_BYTES", len(content))
    with pytest.raises(ValueError, match=r"late.txt' has more than \d+ bytes"):
        start_positions(settings_of(tmp_path / "late.txt"), BOARD)
