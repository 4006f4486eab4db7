"""Recorded decisions: whole games in order, legal, independent of the number of lanes.

Files are read back or refused.
"""

import contextlib
import io
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from risk_agents.dataset import read_decisions
from risk_agents.dataset.files import facts_of, first_games, write_parquet
from risk_agents.dataset.pages import expanded_sizes
from risk_agents.dataset.recorder import RecordingSpec, record
from risk_agents.learned.schema import Schema
from risk_env import Rules, load_map
from risk_env.cli import main
from risk_env.game_vector import GameVector
from risk_env.observations import as_floats
from risk_env.seeds import game_seed
from tests.examples import example

pa = pytest.importorskip("pyarrow", reason="the extra 'data' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
RULES = Rules.preset("classic", 3, attack="blitz", defender_dice="max", max_rounds=8)
TINY = load_map("tiny")


def a_spec(**options) -> RecordingSpec:
    return RecordingSpec(RULES, TINY, ("grower", "random", "attacker"), **{"seed": 5, **options})


def test_games_are_the_same_whatever_the_lanes():
    one, many = (list(islice(record(a_spec(), lanes), 12)) for lanes in (1, 7))
    assert [game.game for game in many] == list(range(12))
    for left, right in zip(one, many, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def test_the_actions_play_the_game_again():
    lanes = GameVector(RULES, TINY, 1)
    for found in islice(record(a_spec()), 3):
        lanes.begin_seeded(np.arange(1), np.array([game_seed(5, found.game)]))
        game = lanes.game(0)
        for row, action in enumerate(found.actions):
            assert game.seat == found.seats[row] and game.round == found.rounds[row]
            mask = np.unpackbits(found.masks[row], bitorder="little")[: len(game.action_mask())]
            assert np.array_equal(mask, game.action_mask())
            assert np.array_equal(as_floats(found.observations[row], TINY), game.observe(game.seat))
            game.step(int(action))
        assert game.is_over
        assert found.truncated == (game.winner is None)
        assert found.truncated or found.rewards.argmax() == game.winner == found.placement.argmin()


@pytest.mark.parametrize("labels", [("one",), ("one", "two", "three", "four")])
def test_every_agent_has_a_label_or_none_has(labels):
    with pytest.raises(
        ValueError, match=rf"labels=.*: {len(labels)} label{'s' * (len(labels) > 1)} for 3 agents"
    ):
        a_spec(labels=labels)
    assert a_spec(labels=("one", "two", "three")).names == ("one", "two", "three")


def test_only_the_wanted_agents_decisions_are_recorded():
    everything, some = (next(iter(record(a_spec(only=only)))) for only in ((), ("grower",)))
    theirs = everything.agents[everything.seats] == 0
    assert 0 < theirs.sum() < len(theirs)
    assert np.array_equal(some.actions, everything.actions[theirs])
    with pytest.raises(ValueError, match="only='beam' is not among the agents: grower, random, attacker"):
        a_spec(only=("beam",))
    with pytest.raises(ValueError, match="name at least one"):
        RecordingSpec(RULES, TINY, ())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dataset") / "decisions.parquet"
    write_parquet(path, a_spec(), first_games(record(a_spec()), 1500, lambda written: None))
    return path


def test_a_file_is_read_back(recorded: Path):
    facts, columns = read_decisions(recorded)
    assert facts == facts_of(a_spec())
    assert Schema.from_dict(facts["schema"]) == a_spec().schema
    games = list(first_games(record(a_spec()), 1500, lambda written: None))
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
        "format": lambda: table.replace_schema_metadata(
            {"risk_env": facts.replace(b'"format": 1', b'"format": 2')}
        ),
        "columns": lambda: table.drop(["reward"]),
        "action": lambda: _with_actions(table, pa.array([999] * len(table), pa.int32())),
        "null": lambda: _with_actions(table, pa.array([None] * len(table), pa.int32())),
    }
    if fault in changed:
        pq.write_table(changed[fault](), path, use_dictionary=False)
    elif fault == "folder":
        path.mkdir()
    else:
        path.write_bytes(content[:-100] if fault == "cut" else b"no table")
    with pytest.raises((ValueError, OSError), match=r"other\.parquet"):
        read_decisions(path)


IMPOSSIBLE = [
    *[("reward", value) for value in (float("nan"), float("inf"), 2.0, -1.5)],
    *[("seat", value) for value in (-1, 3, 100)],
    *[("placement", value) for value in (0, -3, 4)],
    *[("agent", value) for value in (-1, 3)],
    *[("game", -1), ("round", -1), ("action", -1), ("action", 2**31 - 1)],
]


@pytest.mark.parametrize(("column", "value"), IMPOSSIBLE)
def test_an_impossible_value_is_refused(recorded: Path, tmp_path: Path, column: str, value: float):
    table, path = pq.read_table(recorded), tmp_path / "other.parquet"
    place = table.schema.get_field_index(column)
    values = [*table[column].to_pylist()[:-1], value]
    table = table.set_column(
        place, table.schema.field(place), pa.array(values, table.schema.field(place).type)
    )
    pq.write_table(table, path, use_dictionary=False)
    with pytest.raises(ValueError, match=rf"other\.parquet.*{column}"):
        read_decisions(path)


@pytest.mark.parametrize("column", ["observation", "mask"])
def test_bytes_that_are_no_codes_or_no_actions_are_refused(recorded: Path, tmp_path: Path, column: str):
    table, path = pq.read_table(recorded), tmp_path / "other.parquet"
    place = table.schema.get_field_index(column)
    values = table[column].to_pylist()
    values[0] = b"\xff" * len(values[0])
    table = table.set_column(
        place, table.schema.field(place), pa.array(values, table.schema.field(place).type)
    )
    pq.write_table(table, path, use_dictionary=False)
    with pytest.raises(ValueError, match=rf"other\.parquet.*{column}"):
        read_decisions(path)


@pytest.mark.parametrize(
    "change",
    [
        {"agents": "grower"},
        {"agents": [1]},
        {"agents": []},
        {"seed": 0.5},
        {"reward": 7},
        {"only": None},
        {"version": {}},
    ],
)
def test_impossible_facts_are_refused(recorded: Path, tmp_path: Path, change: dict):
    table, path = pq.read_table(recorded), tmp_path / "other.parquet"
    facts = json.loads(table.schema.metadata[b"risk_env"])
    facts["schema"] |= {name: change[name] for name in change if name in facts["schema"]}
    facts |= {name: change[name] for name in change if name in facts}
    pq.write_table(table.replace_schema_metadata({"risk_env": json.dumps(facts)}), path, use_dictionary=False)
    with pytest.raises(ValueError, match=r"other\.parquet"):
        read_decisions(path)


@pytest.mark.parametrize(
    "options", [{"compression": "zstd"}, {"compression": "none", "use_dictionary": True}]
)
def test_a_small_file_of_very_many_rows_is_refused_before_it_is_expanded(
    recorded: Path, tmp_path: Path, options: dict
):
    """A bomb can have a correct footer: equal rows compress to a thousandth, or are stored once."""
    table, path = pq.read_table(recorded).slice(0, 1), tmp_path / "bomb.parquet"
    rows = table.take(pa.array(np.zeros(100_000, np.int64)))
    pq.write_table(rows, path, **{"use_dictionary": False, **options})
    assert path.stat().st_size < 1 << 20 < rows.nbytes / 10
    with pytest.raises(
        ValueError, match=r"bomb\.parquet.*(may expand to|pages exceed|does not have the encoding)"
    ):
        read_decisions(path)


def test_a_page_that_claims_to_be_large_is_refused_before_it_is_expanded(recorded: Path, tmp_path: Path):
    """The page header, not the footer, determines the allocated memory: here 2 GiB."""
    data, path = bytearray(recorded.read_bytes()), tmp_path / "bomb.parquet"
    with pq.ParquetFile(recorded) as file:
        column = file.metadata.row_group(0).column(8)
        first, last = column.data_page_offset, column.data_page_offset + column.total_compressed_size
    with recorded.open("rb") as file:
        assert sum(expanded_sizes(file, first, last)) <= column.total_uncompressed_size
    at = first + 3  # after two fields' marks and the kind of the page: the expanded size, five bytes at most
    assert data[first] == data[first + 2] == 0x15
    size = next(k for k in range(5) if data[at + k] < 128) + 1
    largest = {2: 1 << 13, 3: 1 << 20, 4: 1 << 27, 5: 1 << 31}[size] - 1
    number, spread = 2 * largest, bytearray()
    for k in range(size):
        spread.append((number >> 7 * k & 127) | (128 if k < size - 1 else 0))
    data[at : at + size] = spread
    path.write_bytes(data)
    with path.open("rb") as file:
        assert next(expanded_sizes(file, first, last)) == largest
    with pytest.raises(ValueError, match=r"bomb\.parquet"):
        read_decisions(path)


@pytest.mark.parametrize(
    "data", [b"", b"\x15", b"\x15" * 99, b"\xff" * 99, b"\x1c" * 99, b"\x19\xfc" + b"\xff" * 20, bytes(9)]
)
def test_headers_of_pages_that_are_none(data: bytes):
    with pytest.raises(ValueError, match=r".") if data else contextlib.nullcontext():
        list(expanded_sizes(io.BytesIO(data), 0, len(data)))


def _with_actions(table, actions):
    return table.set_column(table.schema.get_field_index("action"), "action", actions)


def test_the_command_writes_a_file_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "games.parquet"
    who = ["--agents", "one=random,grower", "--only", "one", "--map", "tiny", "--players", "2"]
    arguments = [*who, "--decisions", "100", "--out", str(out)]
    assert main(["dataset", *arguments]) == 0
    facts, columns = read_decisions(out)
    assert facts["agents"] == ["one", "grower"] and facts["only"] == ["one"] and len(columns["action"]) >= 100
    assert f"{len(columns['action']):,} decisions" in capsys.readouterr().out
    before = out.read_bytes()
    assert main(["dataset", *arguments[:-1], str(tmp_path / "games.csv")]) == 2
    assert "must be a name that ends in .parquet" in capsys.readouterr().err
    assert main(["dataset", *arguments, "--agents", "nobody", "--only", "nobody"]) == 2
    assert out.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["games.parquet"]


def test_a_minari_dataset_has_an_episode_for_each_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    who = ["--agents", "grower", "--map", "tiny", "--players", "2"]
    arguments = [*who, "--decisions", "100", "--out", "minari:tiny/grower-v0"]
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
    assert main(["evaluate", str(tmp_path / "imitator.npz"), "--opponents", "random", "--games", "3"]) == 0
