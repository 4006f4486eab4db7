"""ONNX models as agents: they play as the exported network, in batches, and bad models are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 (after the check that onnx is installed)

from risk_agents import export, onnx_policy, registry  # noqa: E402
from risk_agents.onnx_policy import OnnxPolicy  # noqa: E402
from risk_agents.search import judges  # noqa: E402
from risk_agents.tournament import Store, conduct, make_config  # noqa: E402
from risk_env import Rules, load_map  # noqa: E402
from risk_env.arena import play  # noqa: E402
from risk_env.board.tables import tables  # noqa: E402
from risk_env.observations import observation_size  # noqa: E402

TINY, BOARD = Rules.preset("classic", 2, profile="fast", initial_troops=9), load_map("tiny")
D, N_ACTIONS = observation_size(BOARD), tables(TINY, BOARD).num_actions
WIDTH = 8


def model(nodes: Any = None, constants: Any = None, inputs: Any = None, outputs: Any = None) -> Any:
    """Return a network of two layers with random weights, or with other parts in their places."""
    rng = np.random.default_rng(0)
    weights = {
        "a": rng.normal(size=(D, WIDTH)).astype(np.float32),
        "b": rng.normal(size=(WIDTH, N_ACTIONS)).astype(np.float32),
    }
    nodes = nodes or [
        helper.make_node("MatMul", ["observation", "a"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("MatMul", ["active", "b"], ["logits"]),
    ]
    floats, rows = TensorProto.FLOAT, ["N", D]
    inputs = inputs or [helper.make_tensor_value_info("observation", floats, rows)]
    outputs = outputs or [helper.make_tensor_value_info("logits", floats, ["N", N_ACTIONS])]
    constants = constants or [numpy_helper.from_array(values, name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def saved(path: Path, made: Any) -> Path:
    path.write_bytes(made.SerializeToString())
    return path


def test_a_network_plays_its_likeliest_legal_action_alone_and_in_batches(tmp_path: Path) -> None:
    policy = registry.load(str(saved(tmp_path / "net.onnx", model())))
    assert isinstance(policy, OnnxPolicy) and policy.name == "net" and len(policy.version) == 8
    policy.prepare(TINY, BOARD)
    rng = np.random.default_rng(1)
    seen = rng.random((300, D), np.float32)  # more than one run of the model
    masks = (rng.random((300, N_ACTIONS)) < 0.3).astype(np.int8)
    masks[:, -1] = 1
    found = policy.act_batch(seen, masks, np.zeros(300, np.int64))
    first, second = (numpy_helper.to_array(each) for each in model().graph.initializer)
    logits = np.maximum(seen @ first, 0) @ second
    assert np.array_equal(found, np.where(masks > 0, logits, -np.inf).argmax(1))
    many, few = (play(TINY, BOARD, [policy, "grower"], 12, 3, lanes) for lanes in (12, 1))
    assert np.array_equal(many, few)


@pytest.mark.parametrize("is_exported", [True, False])
def test_evaluate_takes_rules_and_map_from_the_metadata_of_a_model(is_exported: bool, tmp_path: Path) -> None:
    evaluate = pytest.importorskip("risk_training.evaluate")
    made = model()
    if is_exported:
        helper.set_model_props(made, {"rules": json.dumps(TINY.to_dict()), "map": "tiny"})
    path = str(saved(tmp_path / "net.onnx", made))
    rules, board = evaluate.setting(path, evaluate._parser().parse_args([path]))
    assert (rules, board.name.lower()) == (
        (TINY, "tiny") if is_exported else (Rules.preset("classic", 3, profile="fast"), "classic")
    )


def test_evaluate_reads_the_value_of_a_tactician() -> None:
    evaluate = pytest.importorskip("risk_training.evaluate")
    arguments = evaluate._parser().parse_args([f"tactician:{judges.FILE}"])
    assert evaluate.setting(f"tactician:{judges.FILE}", arguments)[0].num_players == 6


def test_a_model_with_wrong_rules_in_its_metadata_is_refused(tmp_path: Path) -> None:
    made = model()
    helper.set_model_props(made, {"rules": "[1]", "map": "tiny"})
    with pytest.raises(ValueError, match=r"net\.onnx.*rules in the metadata"):
        _ = OnnxPolicy(saved(tmp_path / "net.onnx", made)).training_game


def test_a_tournament_plays_models_in_lanes(tmp_path: Path) -> None:
    path = saved(tmp_path / "net.onnx", model())
    config = make_config([str(path), "grower", "random"], TINY, "tiny", record=True)
    assert [entrant.compiled for entrant in config.entrants] == [True, True, True]
    store = Store.create(tmp_path / "games.sqlite", config)
    conduct(store, 12)
    results = list(store.results())
    assert len(results) == 12 and not any(result.forfeit_kind for result in results)
    assert all(sum(result.seconds) > 0 for result in results)
    store.close()


def test_a_state_value_is_not_exported(tmp_path: Path) -> None:
    path = tmp_path / "value.onnx"
    with pytest.raises(ValueError, match="a state value cannot be exported to ONNX"):
        export.main([str(judges.FILE), "--onnx", str(path)])
    assert not path.exists()


@pytest.mark.long
def test_an_exported_policy_plays_as_the_compiled_one(tmp_path: Path) -> None:
    path = tmp_path / "duelist.onnx"
    export.main(["duelist", "--onnx", str(path)])
    rules, board = Rules.preset("classic", 2, profile="fast"), load_map("classic")
    same = [play(rules, board, [agent, "grower"], 20, 5) for agent in ("duelist", registry.load(str(path)))]
    assert np.mean(same[0]["winner"] == same[1]["winner"]) > 0.9  # last digits of logits may differ
    with pytest.raises(ValueError, match="was trained for"):
        registry.load(str(path)).prepare(Rules.preset("classic", 3, profile="fast"), board)


def node(operator: str, inputs: list[str], **attributes: Any) -> list[Any]:
    """Return the nodes of a model whose first operator is another one."""
    return [
        helper.make_node(operator, inputs, ["first"], **attributes),
        helper.make_node("MatMul", ["observation", "a"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "b"], ["logits"]),
    ]


def constants(**more: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    arrays = {"a": rng.normal(size=(D, WIDTH)), "b": rng.normal(size=(WIDTH, N_ACTIONS))}
    arrays = {name: values.astype(np.float32) for name, values in arrays.items()} | more
    return [numpy_helper.from_array(np.asarray(values), name) for name, values in arrays.items()]


def external() -> Any:
    """Return a model whose weights are in another file."""
    made = model()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return made


def value(name: str, kind: int, *shape: Any) -> Any:
    return helper.make_tensor_value_info(name, kind, list(shape))


def cube() -> Any:
    """Return a model whose values grow with the third power of the number of decisions."""
    shapes = {"x": [-1, 1, 1], "y": [1, -1, 1]}
    parts = [helper.make_node("Reshape", ["observation", f"to_{name}"], [name]) for name in shapes]
    nodes = [*parts, helper.make_node("Add", ["x", "y"], ["big"]), *node("Relu", ["big"])]
    return model(nodes, constants(**{f"to_{name}": np.array(shape) for name, shape in shapes.items()}))


def sparse() -> Any:
    """Return a model with a sparse constant whose values are in another file."""
    values = TensorProto(name="v", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    values.external_data.add(key="location", value="/etc/passwd")
    index = numpy_helper.from_array(np.zeros(1, np.int64))
    return model(node("Constant", [], sparse_value=onnx.SparseTensorProto(values=values, indices=index)))


def declared() -> Any:
    """Return a model that computes the size of a value, and declares a small size in its output."""
    more = {"size": np.array([0, 0, 0, 3e7], np.float32)}
    nodes = [
        helper.make_node("Cast", ["size"], ["pads"], to=TensorProto.INT64),
        *node("Pad", ["observation", "pads"]),
    ]
    outputs = [value("first", FLOAT, "N", D), value("logits", FLOAT, "N", N_ACTIONS)]
    made = model(nodes, constants(**more), outputs=outputs)
    made.graph.value_info.append(outputs[0])
    return made


def many_dims(*sizes: int) -> Any:
    """Return a model with a constant of these dimensions."""
    made = model()
    made.graph.initializer.add(name="x", data_type=FLOAT, dims=sizes)
    return made


def squares(size: int, times: int) -> Any:
    """Return a model that multiplies large matrices of constants."""
    nodes = [helper.make_node("Add", ["column", "row"], ["0"])]
    nodes += [helper.make_node("MatMul", [f"{i}", "0"], [f"{i + 1}"]) for i in range(times)]
    column = np.ones((size, 1), np.float32)
    return model([*nodes, *node("Relu", ["0"])], constants(column=column, row=column.T))


def sums(size: int, times: int) -> Any:
    """Return a model with many large values."""
    nodes = [helper.make_node("Add", ["column", "row"], [f"{i}"]) for i in range(times)]
    column = np.ones((size, 1), np.float32)
    return model([*nodes, *node("Relu", ["0"])], constants(column=column, row=column.T))


def few_rows() -> Any:
    """Return a model that computes other logits than it declares."""
    nodes = [*node("Relu", ["a"])[:2], helper.make_node("ReduceSum", ["hidden"], ["logits"])]
    return model(nodes)


def twice() -> Any:
    """Return a model with two values of the same name."""
    return model([*node("Relu", ["a"]), helper.make_node("Relu", ["a"], ["first"])])


FLOAT, INT8 = TensorProto.FLOAT, TensorProto.INT8
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "operator": (lambda: model(node("Loop", ["a"])), "operator 'Loop' is not allowed"),
    "size": (lambda: model(node("Tile", ["a"])), "operator 'Tile' is not allowed"),
    "pad": (
        lambda: model(node("Pad", ["a", "pads"]), constants(pads=np.array([0, 0, 10**9, 10**9]))),
        "67108864 values are allowed",
    ),
    "sparse": (sparse, "must be numbers or a string; subgraphs and sparse weights"),
    "tensor": (lambda: model(node("Relu", ["a"], value=constants()[0])), "must be numbers or a string"),
    "declared": (declared, "the shape of 'first' is unknown"),
    "dims": (lambda: many_dims(*[2**62] * 9), "have shape"),
    "a large dim": (lambda: many_dims(2**62, 0), "have shape"),
    "products": (lambda: squares(2048, 4), "multiply-adds; at most"),
    "values": (lambda: sums(8000, 5), "read and write"),
    "rows": (few_rows, "logits has shape"),
    "names": (twice, "two values have the name"),
    "power": (cube, "67108864 values are allowed"),
    "domain": (lambda: model(node("Relu", ["a"], domain="evil")), "is not allowed|standard set"),
    "external": (external, "in another file"),
    "input": (lambda: model(inputs=[value("image", FLOAT, "N", D)]), "must be observation"),
    "kind": (lambda: model(inputs=[value("observation", INT8, "N", D)]), "must be observation"),
    "fixed rows": (
        lambda: model(inputs=[value("observation", FLOAT, 1, D)]),
        r"has the dimensions \[1, .*: must have 2, the first of them dynamic",
    ),
    "output": (
        lambda: model(
            [helper.make_node("MatMul", ["observation", "a"], ["x"])], outputs=[value("x", FLOAT, "N", 8)]
        ),
        r"the output logits \(float32\) or action \(int64\)",
    ),
    "shapes": (lambda: model(node("MatMul", ["a", "a"])), "do not match"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_model_is_refused(what: str, tmp_path: Path) -> None:
    make, reason = BAD[what]
    path = saved(tmp_path / "bad.onnx", make())
    with pytest.raises(ValueError, match=reason) as error:
        registry.load(str(path))
    assert "bad.onnx" in str(error.value)


def test_other_files_and_other_games_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"\x08\x08 no model")
    with pytest.raises(ValueError, match="agent="):
        registry.load(str(path))
    policy = registry.load(str(saved(path, model())))
    with pytest.raises(ValueError, match=f"observation has {D} columns, but the game"):
        policy.prepare(TINY.replace(initial_troops=None), load_map("classic"))
    path.write_bytes(
        onnx.ModelProto(graph=onnx.GraphProto(node=[onnx.NodeProto()] * 100)).SerializeToString()
    )
    with monkeypatch.context() as patch, pytest.raises(ValueError, match="at most 50 fields"):
        patch.setattr(onnx_policy, "MOST_PARTS", 50)  # empty nodes need much more memory than the file
        registry.load(str(path))
    monkeypatch.setattr(onnx_policy, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        registry.load(str(path))
