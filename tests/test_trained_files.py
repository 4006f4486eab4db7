"""Files of trained weights are data of strangers: whatever is in them, the worst that comes of it is a ValueError."""

import io
import json
import random
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents import registry
from risk_agents.agent_player import player_for
from risk_agents.learned import duelist
from risk_agents.search import judges, marshal
from risk_env import Rules, load_map
from risk_env.board.maps import MapError
from risk_env.doors.seat_lanes import training_rules

SHIPPED = {"policy": duelist.FILE, "value": marshal.FILE, "table value": judges.FILE}
DUEL = training_rules("classic", 2)


def content(path: Path) -> dict[str, Any]:
    """The arrays of a file."""
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def play(path: Path) -> None:
    """What naming a file in a tournament comes to: load it, and play some games with it."""
    from risk_env.arena import play

    rules, board = Rules.preset("classic", 2, max_rounds=1), load_map("classic")
    play(rules, board, [player_for(str(path), rules, board), "random"], games=2)


def refused(path: Path, match: str | None = None) -> None:
    with pytest.raises(ValueError, match=match):
        play(path)


@pytest.mark.parametrize("kind", SHIPPED)
def test_shipped_files_play(kind: str) -> None:
    play(SHIPPED[kind])


@pytest.mark.parametrize("kind", SHIPPED)
def test_weights_of_another_shape_are_refused(kind: str, tmp_path: Path) -> None:
    whole = content(SHIPPED[kind])
    for name, values in whole.items():
        if name == "facts":
            continue
        for other in (values[..., :0], values[:-1], np.resize(values, (*values.shape, 2)), values.ravel()[:1]):
            if other.shape != values.shape:
                np.savez(tmp_path / "other.npz", **{**whole, name: other})
                refused(tmp_path / "other.npz", "weights|layer")
        np.savez(tmp_path / "missing.npz", **{n: v for n, v in whole.items() if n != name})
        refused(tmp_path / "missing.npz", "weights|layer")
    np.savez(tmp_path / "more.npz", **whole, extra=np.zeros(3))
    refused(tmp_path / "more.npz", "extra")


@pytest.mark.parametrize("kind", SHIPPED)
def test_weights_that_are_no_numbers_are_refused(kind: str, tmp_path: Path) -> None:
    whole = content(SHIPPED[kind])
    name = max(whole, key=lambda n: whole[n].size)
    for wrong in (np.full(whole[name].shape, np.nan), np.full(whole[name].shape, "1"), whole[name].astype(object)):
        np.savez(tmp_path / "wrong.npz", **{**whole, name: wrong})
        refused(tmp_path / "wrong.npz", "wrong.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"made": []},
        {"schema": None},
        {"schema": {"map_source": "/dev/zero"}},
        {"schema": {"map_source": 7}},
        {"schema": {"num_actions": 1e300}},
        {"schema": {"options": {"typo": 1}}},
        {"schema": {"options": {"num_players": "two"}}},
    ],
)
def test_other_facts_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    whole = content(duelist.FILE)
    facts = json.loads(str(whole["facts"]))
    for name, value in change.items():
        facts[name] = {**facts[name], **value} if isinstance(value, dict) else value
    np.savez(tmp_path / "facts.npz", **{**whole, "facts": np.array(json.dumps(facts))})
    refused(tmp_path / "facts.npz")


def test_facts_that_nest_deep_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "deep.npz", **{**content(duelist.FILE), "facts": np.array("[" * 100_000)})
    refused(tmp_path / "deep.npz", "cannot be read")


def test_an_array_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("trunk_1.npy", header.getvalue())
    refused(tmp_path / "huge.npz", "huge.npz")


def test_what_is_no_regular_file_is_refused() -> None:
    refused(Path("/dev/zero.npz"), "regular file")
    with pytest.raises(MapError, match="regular file"):
        load_map("/dev/zero")


def test_an_archive_that_expands_to_much_more_is_refused_before(tmp_path: Path) -> None:
    """A quarter of a MB that holds 256 MB. (Sizes that lie: `test_untrusted`.)"""
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("trunk_1.npy", "w") as entry:
        for _ in range(16):
            entry.write(bytes(1 << 24))
    start = time.perf_counter()
    refused(path, "bomb.npz.*more than")
    assert time.perf_counter() - start < 1


def test_a_flipped_byte_is_a_value_error_or_plays(tmp_path: Path) -> None:
    rng, whole = random.Random(5), bytearray(marshal.FILE.read_bytes())
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 1, 8])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        (tmp_path / "damaged.npz").write_bytes(damaged[: rng.choice([len(damaged), rng.randrange(len(damaged))])])
        try:
            registry.load(str(tmp_path / "damaged.npz"))
        except ValueError as error:
            assert "damaged.npz" in str(error)
