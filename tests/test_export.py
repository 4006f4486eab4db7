"""`risk-env export`: a model in onnxruntime gives the answers of the compiled network."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from risk_agents.export import SHIPPED
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import schema_of
from risk_agents.onnx_model import metadata
from risk_agents.registry import play_game
from risk_agents.search.beam_value import BeamValueFile, encode_positions
from risk_agents.search.evaluation import WEIGHTS
from risk_env import ActionSpace, Game, GameBatch, Rules, load_map
from risk_env.cli import WRONG_INPUT, main
from risk_env.core.types import Phase
from risk_env.observations import as_floats
from tests.pages import code_of, page, run_code
from tests.test_policy import GAMES, network

LANES, LOOKS = 500, 4  # 2,000 positions of each game, 10,000 in all
CLOSE = 1e-3  # sums of float32 in another order


def positions(rules: Rules, board: str, look: Callable[[GameBatch], None]) -> None:
    """Call `look` at moments of random games."""
    batch, chance = GameBatch(rules, board, LANES, seed=1), np.random.default_rng(0)
    batch.reset()
    for step in range(LOOKS * 200):
        if step % 200 == 199:
            look(batch)
        batch.step((chance.random(batch.action_mask.shape) * batch.action_mask).argmax(1))


def session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)


def exported(source: str | Path, folder: Path) -> Any:
    out = folder / "model.onnx"
    assert main(["export", str(source), "--onnx", str(out)]) == 0
    return session(out)


def compare(policy: PolicyFile, model: Any, batch: GameBatch) -> None:
    """Check that model and compiled network answer alike, except for ties within rounding."""
    observation = as_floats(batch.observation, batch.board)
    mask = np.ascontiguousarray(batch.action_mask)
    logits, actions = model.run(None, {"observation": observation, "action_mask": mask})
    expected = policy.logits(batch.observation, mask)
    assert np.array_equal(np.isfinite(logits), mask == 1)
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=CLOSE)
    asked = ~policy.unfamiliar[batch.records["phase"]]
    second, best = np.sort(expected, 1)[:, -2:].T
    clear = asked & (best - second > 2 * CLOSE)
    assert clear.mean() > 0.9 * asked.mean()
    assert np.array_equal(actions[clear], expected.argmax(1)[clear])
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(1)
    assert np.array_equal(actions[~asked], last[~asked])


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_a_policy_answers_as_compiled(
    preset: str, players: int, options: dict[str, Any], tmp_path: Path
) -> None:
    trained = Rules.preset(preset, players, **options, profile="fast")
    weights = {name: values.astype(np.float16) for name, values in network(trained).arrays().items()}
    policy = PolicyFile(weights, schema_of(trained, load_map("classic")), {"name": "novice", "version": "7"})
    policy.save(tmp_path / "policy.npz")
    model, loaded = exported(tmp_path / "policy.npz", tmp_path), PolicyFile.load(tmp_path / "policy.npz")
    # questions that never came up in training
    asking = trained.replace(attack="choice", defender_dice="choice")
    phases = set()
    positions(
        asking,
        "classic",
        lambda batch: (compare(loaded, model, batch), phases.update(batch.records["phase"])),
    )
    assert {Phase.ATTACK, Phase.ATTACK_DICE, Phase.DEFEND, Phase.OCCUPY} <= phases


def test_the_shipped_policy_plays_a_game_as_compiled(tmp_path: Path) -> None:
    model, rules = exported("duelist", tmp_path), Rules.preset("classic", 2, profile="fast")
    game = Game(rules, "classic", seed=5)
    while not game.is_over:
        observation, mask = game.observe(game.seat)[None], game.action_mask()[None]
        (action,) = model.run(["action"], {"observation": observation, "action_mask": mask})[0]
        game.step(int(action))
    assert game == play_game(rules, load_map("classic"), ["duelist", "duelist"], seed=5)


def test_a_value_answers_as_in_the_network_that_was_trained(tmp_path: Path) -> None:
    model, value = exported("marshal", tmp_path), BeamValueFile.load(SHIPPED["marshal"])
    weights, rules = value.arrays, Rules.preset("classic", 2, setup="random", profile="fast")

    def look(batch: GameBatch) -> None:
        lanes = np.flatnonzero(np.isin(batch.records["phase"], (Phase.ATTACK, Phase.FORTIFY_FROM)))
        features = np.zeros((len(lanes), len(weights["first"])), np.float32)
        T, moved, seats = batch.tables, np.zeros(len(lanes), np.bool_), batch.seat[lanes]
        encode_positions(
            batch.records, T.board, T.rules, lanes, seats, moved, WEIGHTS.astype(np.float32), features
        )
        hidden = (features @ weights["first"] + weights["first_bias"]).clip(0)
        hidden = (hidden @ weights["second"] + weights["second_bias"]).clip(0)
        odds = (
            weights["trust"] * features[:, -1] + (hidden @ weights["output"] + weights["output_bias"])[:, 0]
        )
        (found,) = model.run(None, {"features": features})
        np.testing.assert_allclose(found, 1 / (1 + np.exp(-odds)), atol=1e-5)

    positions(rules, "classic", look)


def test_a_model_says_what_its_numbers_depend_on(tmp_path: Path) -> None:
    facts = exported("duelist", tmp_path).get_modelmeta().custom_metadata_map
    policy = PolicyFile.load(SHIPPED["duelist"])
    assert facts == metadata(policy)
    rules = Rules.from_dict(json.loads(facts["rules"]))
    assert json.loads(facts["actions"]) == ActionSpace(rules, load_map(facts["map"])).to_json()
    assert (facts["kind"], facts["name"]) == ("policy", "duelist")


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", "duelist", "--onnx", "duelist.onnx"]) == 0
    names = run_code(code_of(page("onnx")))
    assert names["game"].is_over and names["space"].n == names["game"].num_actions


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["README.md", "--onnx", "x.onnx"], "policy='README.md': must be"),
        (["none.npz", "--onnx", "x.onnx"], "none.npz"),
        (["duelist"], "--onnx FILE or --npz FILE"),
        (["duelist", "--onnx", "x.npz"], "must end in .onnx"),
        (["duelist", "--onnx", "missing/x.onnx"], "a folder that exists"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["export", *arguments])
    except SystemExit as stopped:
        status = stopped.code
    assert status == WRONG_INPUT
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
