"""Convert trained files to ONNX models.

The modules `learned.compiled_network` and `learned.beam_value_features` define the networks.

The ONNX model of a policy also encodes the observation (`learned.features`), so the model reads the
observations of an environment. The ONNX model and the compiled network compute sums in different orders, so
the last digits of logits may differ.
"""

import json
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from risk_agents.learned.compiled_network import BORDER, HEADS, Network
from risk_agents.learned.features import FeatureSpec
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.trained import TrainedFile
from risk_agents.onnx_policy import ACTION, LOGITS, MASK, OBSERVATION
from risk_agents.search.beam_value import BeamValueFile
from risk_env.arrays import Array
from risk_env.board.action_space import ActionSpace
from risk_env.core.observe import MOST_CODE, TERRITORY_WIDTH
from risk_env.network_features import COUNT_KINDS, NEIGHBOUR_SCALE
from risk_env.observations import observation_scales

OPSET, IR_VERSION = 17, 8  # read by onnxruntime 1.14 and later
ROWS = "N"  # name of the first dimension, the number of decisions


class Graph:
    """Nodes and constants of a graph under construction; each value is represented by its name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, *inputs: str | Array, **attributes: Any) -> str:
        """Add a node, and return the name of its output; arrays among the inputs become constants."""
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [output], **attributes))
        return output

    def layer(self, inputs: str, weights: Array, bias: Array) -> str:
        """Add a fully connected layer with rectified linear units (ReLU); return the name of its output."""
        return self.add("Relu", self.add("Add", self.add("MatMul", inputs, weights), bias))

    def name(self, value: str, name: str) -> None:
        """Make `value` an output of the graph, with the name `name`."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def _constant(self, values: Array) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def model_of(trained: TrainedFile) -> onnx.ModelProto:
    """Return the ONNX model of a policy or a beam value.

    Raises ValueError for weights that do not fit their schema, and for other kinds of files.
    """
    if isinstance(trained, PolicyFile):
        return policy_model(trained)
    if isinstance(trained, BeamValueFile):
        return value_model(trained)
    raise ValueError(f"a {trained.KIND} cannot be exported to ONNX: give a policy or a beam value")


def policy_model(policy: PolicyFile) -> onnx.ModelProto:
    """Return the ONNX model of a policy.

    N is the number of decisions, D the size of an observation, and n the number of actions. The inputs are
    `observation`, float32 (N, D), and `action_mask`, int8 (N, n), as environments return them. The outputs
    are `logits`, float32 (N, n), with -inf for illegal actions, and `action`, int64 (N,), the actions that
    the compiled policy plays.
    """
    network, graph = policy.network, Graph()
    spec, n = network.spec, policy.layout.num_actions
    D = TERRITORY_WIDTH * spec.num_territories + len(spec.global_values)
    codes = graph.add("Round", graph.add("Div", OBSERVATION, observation_scales(policy.schema.board)))
    codes = graph.add("Cast", codes, to=TensorProto.INT64)
    features = _territory_features(graph, spec, codes)
    trunk = graph.layer(_board_features(graph, spec, codes, features), network.trunk_1, network.trunk_1_bias)
    trunk = graph.layer(trunk, network.trunk_2, network.trunk_2_bias)
    logits = graph.add("Add", graph.add("MatMul", trunk, network.actions), network.actions_bias)
    for head in range(len(HEADS)):
        logits = graph.add("Add", logits, _head(graph, network, head, features, trunk))
    legal = graph.add("Cast", MASK, to=TensorProto.BOOL)
    _name_outputs(graph, policy, codes, logits, legal)
    inputs = [_value(OBSERVATION, TensorProto.FLOAT, D), _value(MASK, TensorProto.INT8, n)]
    outputs = [_value(LOGITS, TensorProto.FLOAT, n), _value(ACTION, TensorProto.INT64)]
    return _model(graph, inputs, outputs, policy)


def value_model(value: BeamValueFile) -> onnx.ModelProto:
    """Return the ONNX model of a beam value.

    The input is `features`, float32 (N, columns), as `search.beam_value.encode_positions` writes them. The
    output is `value`, float32 (N,), the win probability of the seat that the features describe.
    """
    weights, graph = value.arrays, Graph()
    hidden = graph.layer("features", weights["first"], weights["first_bias"])
    hidden = graph.layer(hidden, weights["second"], weights["second_bias"])
    correction = graph.add("Add", graph.add("MatMul", hidden, weights["output"]), weights["output_bias"])
    columns = len(weights["first"])
    heuristic = graph.add("Gather", "features", np.array([columns - 1]), axis=1)
    log_odds = graph.add("Add", graph.add("Mul", heuristic, weights["trust"]), correction)
    graph.name(graph.add("Squeeze", graph.add("Sigmoid", log_odds), np.array([1])), "value")
    inputs, outputs = [_value("features", TensorProto.FLOAT, columns)], [_value("value", TensorProto.FLOAT)]
    return _model(graph, inputs, outputs, value)


# ----------------------------------------------------------------------------------------- features


def _territory_features(graph: Graph, spec: FeatureSpec, codes: str) -> str:
    """Add the features of all T territories, float32 (N, T, 2 F).

    The first F features describe the territory. The other F features are the scaled sums of the features of
    all neighbours.
    """
    T = spec.num_territories
    columns = graph.add("Slice", codes, np.array([0]), np.array([TERRITORY_WIDTH * T]), np.array([1]))
    columns = graph.add("Reshape", columns, np.array([-1, T, TERRITORY_WIDTH]))
    counts = graph.add("Gather", columns, spec.count_columns, axis=2)
    marks = graph.add("Gather", columns, spec.mark_columns, axis=2)
    kinds = [graph.add("Gather", values, counts, axis=0) for values in spec.count_values.T]
    own = graph.add("Concat", *kinds, graph.add("Cast", marks, to=TensorProto.FLOAT), axis=2)
    neighbours = np.zeros((T, T), np.float32)
    neighbours[spec.borders[:, 0], spec.borders[:, 1]] = NEIGHBOUR_SCALE
    return graph.add("Concat", own, graph.add("MatMul", neighbours, own), axis=2)


def _board_features(graph: Graph, spec: FeatureSpec, codes: str, features: str) -> str:
    """Add the features of the board, float32 (N, I) (see `learned.features.encode_board`)."""
    T, G = spec.num_territories, len(spec.global_values)
    width = len(COUNT_KINDS) * len(spec.count_columns) + len(spec.mark_columns)
    own = graph.add("Slice", features, np.array([0]), np.array([width]), np.array([2]))
    first = TERRITORY_WIDTH * T
    columns = graph.add("Slice", codes, np.array([first]), np.array([first + G]), np.array([1]))
    rows = graph.add("Add", columns, np.arange(G) * (MOST_CODE + 1))
    parts = [graph.add("Reshape", own, np.array([-1, T * width]))]
    parts.append(graph.add("Gather", spec.global_values.ravel(), rows, axis=0))
    for end in spec.ends:
        marks = graph.add("Gather", features, np.array([end]), axis=2)  # (N, T, 1)
        is_end = graph.add("Cast", graph.add("Cast", marks, to=TensorProto.BOOL), to=TensorProto.FLOAT)
        there = graph.add("MatMul", graph.add("Transpose", is_end, perm=[0, 2, 1]), features)
        parts.append(graph.add("Squeeze", there, np.array([1])))
    return graph.add("Concat", *parts, axis=1)


# ------------------------------------------------------------------------------------------ answers


def _head(graph: Graph, network: Network, head: int, features: str, trunk: str) -> str:
    """Add the outputs of a local head as logits, float32 (N, n), with 0 outside the head's block."""
    if head == BORDER:
        ends = [graph.add("Gather", features, territories, axis=1) for territories in network.spec.borders.T]
        features = graph.add("Concat", *ends, axis=2)
    shared = graph.add("Add", graph.add("MatMul", trunk, network.heads_trunk[head]), network.heads_bias[head])
    local = graph.add("MatMul", features, network.heads_in[head])
    hidden = graph.add("Relu", graph.add("Add", local, graph.add("Unsqueeze", shared, np.array([1]))))
    outputs = graph.add("Squeeze", graph.add("MatMul", hidden, network.heads_out[head]), np.array([2]))
    first, count = network.blocks[head]
    return graph.add("Pad", outputs, np.array([0, first, 0, len(network.actions_bias) - first - count]))


def _name_outputs(graph: Graph, policy: PolicyFile, codes: str, logits: str, legal: str) -> None:
    """Add the outputs of the model: masked logits, and the most likely action.

    In phases that never occurred in training, the action is the last legal action.
    """
    graph.name(graph.add("Where", legal, logits, _float(-np.inf)), LOGITS)
    first = TERRITORY_WIDTH * policy.layout.territories  # the first global columns encode the phase
    phases = graph.add("Gather", codes, first + np.flatnonzero(policy.unfamiliar), axis=1)
    unfamiliar = graph.add(
        "Cast", graph.add("ReduceSum", phases, np.array([1]), keepdims=1), to=TensorProto.BOOL
    )
    order = np.arange(policy.layout.num_actions, dtype=np.float32)[None]
    scores = graph.add("Where", legal, graph.add("Where", unfamiliar, order, logits), _float(-np.inf))
    graph.name(graph.add("ArgMax", scores, axis=1, keepdims=0), ACTION)


# ----------------------------------------------------------------------------------------- the file


def _model(graph: Graph, inputs: list[Any], outputs: list[Any], trained: TrainedFile) -> onnx.ModelProto:
    """Return a checked model with the metadata of a trained file."""
    body = helper.make_graph(graph.nodes, trained.KIND, inputs, outputs, graph.constants)
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(body, opset_imports=opset, ir_version=IR_VERSION, producer_name="risk_env")
    helper.set_model_props(model, metadata(trained))
    onnx.checker.check_model(model, full_check=True)
    return model


def metadata(trained: TrainedFile) -> dict[str, str]:
    """Return the metadata for the model of a trained file, as strings by name (docs/onnx.md)."""
    schema = trained.schema
    actions = ActionSpace(schema.rules, schema.board).to_json()
    texts = {name: str(trained.made.get(name, "")) for name in ("name", "version")}
    texts |= {"kind": trained.KIND, "map": schema.map_source, "map_digest": schema.map_digest}
    texts |= {"rules": json.dumps(dict(schema.options)), "actions": json.dumps(actions)}
    return texts | {"columns": schema.columns}


def _value(name: str, kind: int, *shape: int) -> Any:
    return helper.make_tensor_value_info(name, kind, [ROWS, *shape])


def _float(value: float) -> Array:
    return np.array(value, np.float32)
