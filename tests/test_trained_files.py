"""Files of trained weights are untrusted data: any invalid content raises a ValueError."""

import io
import json
import random
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents import export, registry
from risk_agents.learned import duelist
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.state_value import StateValueFile
from risk_agents.search import judges, marshal, strategist, tactician
from risk_agents.search.turn_policy import TurnPolicyFile
from risk_env import Game, Rules, load_map
from risk_env.board.maps import MapError
from risk_env.board.tables import tables as tables_of
from risk_env.cli import main
from risk_env.core.types import game_dtype
from tests.crafted import KINDS, crafted

SHIPPED = {
    "policy": duelist.FILE,
    "beam value": marshal.FILE,
    "state value": judges.FILE,
    "turn policy": tactician.FILE,
}
DUEL = Rules.preset("classic", 2, profile="fast")


def content(path: Path) -> dict[str, Any]:
    """Return the arrays of a file."""
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def play(path: Path) -> None:
    """Load a file as a tournament does, and play some games with it."""
    from risk_env.arena import play

    rules, board = Rules.preset("classic", 2, max_rounds=1), load_map("classic")
    play(rules, board, [registry.load(str(path)), "random"], games=2)


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
        for other in (
            values[..., :0],
            values[:-1],
            np.resize(values, (*values.shape, 2)),
            values.ravel()[:1],
        ):
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
    for wrong in (
        np.full(whole[name].shape, np.nan),
        np.full(whole[name].shape, "1"),
        whole[name].astype(object),
    ):
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
    """The archive of a quarter of a MB expands to 256 MB. (`test_bounded_io` covers false sizes.)"""
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("trunk_1.npy", "w") as entry,
    ):
        for _ in range(16):
            entry.write(bytes(1 << 24))
    start = time.perf_counter()
    refused(path, "bomb.npz.*too large")
    assert time.perf_counter() - start < 20


def test_a_flipped_byte_is_a_value_error_or_plays(tmp_path: Path) -> None:
    rng, whole = random.Random(5), bytearray(marshal.FILE.read_bytes())
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 1, 8])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        (tmp_path / "damaged.npz").write_bytes(
            damaged[: rng.choice([len(damaged), rng.randrange(len(damaged))])]
        )
        try:
            registry.load(str(tmp_path / "damaged.npz"))
        except ValueError as error:
            assert "damaged.npz" in str(error)


# ------------------------------------------------------------------------------------------- maps and numbers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("named", "digest_of"), [("tiny", "classic"), ("classic", "tiny"), ("tiny", "tiny")])
def test_the_map_of_a_file_is_the_one_with_its_digest(
    kind: str, named: str, digest_of: str, tmp_path: Path
) -> None:
    """Weights with the shapes of one map and the digest of another would make kernels leave their arrays."""
    for shaped_for in ("tiny", "classic"):
        path = crafted(tmp_path / "crafted.npz", kind, named, digest_of, shaped_for)
        if named == digest_of == shaped_for:
            KINDS[kind].load(path)
            continue
        match = "map=" if named != digest_of else "weights|layer|actions="
        with pytest.raises(ValueError, match=match):
            KINDS[kind].load(path)
        with pytest.raises(ValueError, match=r"crafted\.npz"):
            registry.make(str(path))
        with pytest.raises(ValueError, match=r"crafted\.npz"):
            strategist.with_value(str(path))
        with pytest.raises(ValueError, match=r"crafted\.npz"):
            export.read(str(path))


def test_crafted_files_do_not_reach_a_tournament_or_a_trainer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files name the map `tiny`, which the weights fit, but have the digest of the games' map."""
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        path = crafted(tmp_path / "crafted.npz", kind, "tiny", "classic", "tiny")
        assert main(["tournament", "--agents", f"{path},random", "--players", "2", "--games", "2"]) == 2
        assert "crafted.npz" in capsys.readouterr().err


def test_a_judge_of_a_trainer_is_read_by_the_same_rule(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from risk_training.turn_policy import Config

    path = crafted(tmp_path / "crafted.npz", "state value", "tiny", "classic", "tiny")
    with pytest.raises(ValueError, match=r"crafted\.npz.*map="):
        Config(judge=str(path)).judge_file()


def test_an_sb3_policy_is_read_by_the_same_rule(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from risk_agents.learned.sb3_policy import load_zip
    from tests.fuzz.targets import sb3_zip, zip_of

    facts, weights = sb3_zip()
    (tmp_path / "whole.zip").write_bytes(zip_of(facts, weights))
    load_zip(str(tmp_path / "whole.zip"))
    schema = facts["schema"] | {"map_source": "tiny"}
    (tmp_path / "other.zip").write_bytes(zip_of(facts | {"schema": schema}, weights))
    with pytest.raises(ValueError, match=r"other\.zip.*map="):
        load_zip(str(tmp_path / "other.zip"))


@pytest.mark.parametrize("number", [1e300, -1e300, 65536.0, 1e39, np.inf, np.nan])
@pytest.mark.parametrize("kind", SHIPPED)
def test_weights_are_finite_as_kernels_read_them(kind: str, number: float, tmp_path: Path) -> None:
    """A float64 of 1e300 is finite, but it is infinite as float32.

    Numbers too large for float16 overflow in sums.
    """
    whole = content(SHIPPED[kind])
    name = max(whole, key=lambda n: whole[n].size)
    wrong = whole[name].astype(np.float64)
    wrong.flat[7] = number
    np.savez(tmp_path / "wrong.npz", **{**whole, name: wrong})
    refused(tmp_path / "wrong.npz", rf"wrong\.npz.*{name}")
    file = KINDS[kind].load(SHIPPED[kind])
    file.weights[name] = wrong
    with pytest.raises(ValueError, match=name):
        file.save(tmp_path / "saved.npz")
    assert not (tmp_path / "saved.npz").exists()


def test_a_policy_checks_what_it_is_asked() -> None:
    policy = PolicyFile.load(duelist.FILE)
    D, n = policy.layout.observation_columns, policy.layout.num_actions
    codes, masks = np.zeros((2, D), np.int8), np.ones((2, n), np.int8)
    assert policy.logits(codes, masks).shape == (2, n)
    for wrong in (masks[:, :-1], masks[:1], masks[0], np.ones((2, n + 1))):
        with pytest.raises(ValueError, match="masks have shape"):
            policy.logits(codes, wrong)
    for wrong in (codes[:, :-1], codes.astype(float), codes[0], codes - 1, np.zeros((2, D + 8), np.int8)):
        with pytest.raises(ValueError, match="observations have"):
            policy.logits_and_values(wrong, masks)


@pytest.mark.long
def test_values_check_records_and_tables() -> None:
    value, policy = StateValueFile.load(judges.FILE), TurnPolicyFile.load(tactician.FILE)
    classic, tiny = Game(DUEL, "classic", 1), Game(DUEL, "tiny", 1)
    tables_of_big = tables_of(DUEL, load_map("big"))
    for ask in (value.chances, policy.outputs):
        assert len(ask(classic.records, classic.tables)) == 1
        for records, tables in (
            (tiny.records, tiny.tables),
            (classic.records[:, None], classic.tables),
            (np.zeros(3), classic.tables),
            (np.zeros(1, game_dtype(tables_of_big.sizes)), classic.tables),
        ):
            with pytest.raises(ValueError, match=r"tables are|records have"):
                ask(records, tables)
    with pytest.raises(ValueError, match="width=17: must be from 1 to 16"):
        marshal.VALUE.bot("wide", width=17)
