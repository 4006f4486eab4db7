"""Recorded decisions: whole games in order, legal, the same whatever the lanes; files that are read back or refused."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from risk_agents.dataset import read_decisions
from risk_agents.dataset.files import facts_of, first_games, write_parquet
from risk_agents.dataset.recorder import Plan, record
from risk_agents.learned.schema import Schema
from risk_env import Rules, load_map
from risk_env.cli import main
from risk_env.lanes import Lanes
from risk_env.seeds import game_seed
from tests.examples import example

pa = pytest.importorskip("pyarrow", reason="the extra 'data' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
RULES = Rules.preset("classic", 3, attack="blitz", defender_dice="max", max_rounds=8)
TINY = load_map("tiny")


def a_plan(**options) -> Plan:
    return Plan(RULES, TINY, ("grower", "random", "attacker"), **{"seed": 5, **options})


def test_games_are_the_same_whatever_the_lanes():
    one, many = (list(islice(record(a_plan(), lanes), 12)) for lanes in (1, 7))
    assert [game.game for game in many] == list(range(12))
    for left, right in zip(one, many, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def test_the_actions_play_the_game_again():
    lanes = Lanes(RULES, TINY, 1)
    for found in islice(record(a_plan()), 3):
        lanes.begin_seeded(np.arange(1), np.array([game_seed(5, found.game)]))
        game = lanes.game(0)
        for row, action in enumerate(found.actions):
            assert game.seat == found.seats[row] and game.round == found.rounds[row]
            mask = np.unpackbits(found.masks[row], bitorder="little")[: len(game.action_mask())]
            assert np.array_equal(mask, game.action_mask())
            assert np.array_equal(found.observations[row] / np.float32(127), game.observe(game.seat))
            game.step(int(action))
        assert game.is_over
        assert found.truncated == (game.winner is None)
        assert found.truncated or found.rewards.argmax() == game.winner == found.placement.argmin()


def test_only_the_wanted_agents_decisions_are_recorded():
    everything, some = (next(iter(record(a_plan(only=only)))) for only in ((), ("grower",)))
    theirs = everything.agents[everything.seats] == 0
    assert 0 < theirs.sum() < len(theirs)
    assert np.array_equal(some.actions, everything.actions[theirs])
    with pytest.raises(ValueError, match="only='beam' does not play: grower, random, attacker do"):
        a_plan(only=("beam",))
    with pytest.raises(ValueError, match="name at least one"):
        Plan(RULES, TINY, ())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dataset") / "decisions.parquet"
    write_parquet(path, a_plan(), first_games(record(a_plan()), 1500, lambda written: None))
    return path


def test_a_file_is_read_back(recorded: Path):
    facts, columns = read_decisions(recorded)
    assert facts == facts_of(a_plan())
    assert Schema.from_dict(facts["schema"]) == a_plan().schema
    games = list(first_games(record(a_plan()), 1500, lambda written: None))
    assert len(columns["action"]) == sum(len(game.actions) for game in games) >= 1500
    assert np.array_equal(columns["observation"], np.concatenate([game.observations for game in games]))
    assert np.array_equal(columns["action"], np.concatenate([game.actions for game in games]))
    assert columns["mask"].shape == (len(columns["action"]), facts["schema"]["num_actions"])
    assert np.array_equal(columns["agent"], np.concatenate([game.agents[game.seats] for game in games]))


@pytest.mark.parametrize("fault", ["facts", "format", "columns", "action", "null", "cut", "text", "folder"])
def test_another_file_is_a_value_error_with_its_name(recorded: Path, tmp_path: Path, fault: str):
    path, table = tmp_path / "other.parquet", pq.read_table(recorded)
    content = recorded.read_bytes()
    facts = table.schema.metadata[b"risk_env"]
    changed = {
        "facts": lambda: table.replace_schema_metadata({}),
        "format": lambda: table.replace_schema_metadata({"risk_env": facts.replace(b'"format": 1', b'"format": 2')}),
        "columns": lambda: table.drop(["reward"]),
        "action": lambda: _with_actions(table, pa.array([999] * len(table), pa.int32())),
        "null": lambda: _with_actions(table, pa.array([None] * len(table), pa.int32())),
    }
    if fault in changed:
        pq.write_table(changed[fault](), path)
    elif fault == "folder":
        path.mkdir()
    else:
        path.write_bytes(content[:-100] if fault == "cut" else b"no table")
    with pytest.raises((ValueError, OSError), match=r"other\.parquet"):
        read_decisions(path)


def _with_actions(table, actions):
    return table.set_column(table.schema.get_field_index("action"), "action", actions)


def test_the_command_writes_a_file_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "games.parquet"
    arguments = ["random,grower", "--map", "tiny", "--players", "2", "--decisions", "300", "--out", str(out)]
    assert main(["dataset", *arguments]) == 0
    facts, columns = read_decisions(out)
    assert facts["agents"] == ["random", "grower"] and len(columns["action"]) >= 300
    assert f"{len(columns['action']):,} decisions" in capsys.readouterr().out
    before = out.read_bytes()
    assert main(["dataset", *arguments[:-1], str(tmp_path / "games.csv")]) == 2
    assert "must be a name that ends in .parquet" in capsys.readouterr().err
    assert main(["dataset", "nobody", *arguments[1:]]) == 2
    assert out.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["games.parquet"]


def test_a_minari_dataset_has_an_episode_for_each_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    arguments = ["grower", "--map", "tiny", "--players", "2", "--decisions", "100", "--out", "minari:tiny/grower-v0"]
    assert main(["dataset", *arguments]) == 0
    found = minari.load_dataset("tiny/grower-v0")
    assert found.total_steps >= 100
    for episode in found:
        k = len(episode.actions)
        assert episode.observations.dtype == np.int8 and len(episode.observations) == k + 1
        assert episode.infos["action_mask"][np.arange(k), episode.actions].all()
        assert (episode.terminations | episode.truncations).tolist() == [False] * (k - 1) + [True]
        assert not episode.rewards[:-1].any()
    assert main(["dataset", *arguments]) == 2
    assert "exists" in capsys.readouterr().err


def test_an_imitator_learns_to_agree(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = example("imitate")
    facts, columns = read_decisions(recorded)
    rows = np.flatnonzero(columns["agent"] == 0)
    network = script.new_network(Schema.from_dict(facts["schema"]))
    before = script.agreement(network, columns, rows)
    monkeypatch.setattr(script, "BATCH", 32)
    script.learn(network, columns, rows)
    assert script.agreement(network, columns, rows) > before + 0.1
    monkeypatch.setattr(script, "EPOCHS", 1)
    script.main(str(recorded), str(tmp_path / "imitator.npz"))
    assert main(["evaluate", str(tmp_path / "imitator.npz"), "--against", "random", "--games", "3"]) == 0
