"""ONNX models as policies: the spec `model.onnx` names a player that follows the model (docs/onnx.md).

A model may be untrusted. The file is read as data, and checked before onnxruntime loads the model. The checks
cover the size of the file, the inputs and outputs, the operators, and the size of every computed value. The
model runs in one thread.
"""

import hashlib
import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from risk_agents.learned.schema import Schema, schema_of
from risk_env.arrays import Array
from risk_env.board.action_space import ActionSpace
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.bounded_io import UNREADABLE, parse_json, read_file
from risk_env.messages import cause, shortened
from risk_env.observations import observation_size
from risk_env.players import Policy
from risk_env.text.escape import label

SUFFIX = ".onnx"
MOST_BYTES = 1 << 24  # maximum size of a file in bytes, and maximum number of elements in a constant
MOST_NODES = 2_000
MOST_PARTS = 1 << 18  # maximum number of protobuf fields in a file; a field takes up to 300 bytes of memory
MOST_LEVELS = 12  # maximum depth of nested protobuf messages
MOST_DIMS = 8  # maximum number of dimensions of an array
MOST_ROWS = 256  # maximum number of decisions in one run
MOST_VALUES = MOST_ROWS << 18  # maximum number of elements in an array that an operator reads or writes
MOST_VALUES_IN_ALL = 1 << 28  # maximum number of elements that all operators read and write in one run
MOST_PRODUCTS = 1 << 34  # maximum number of multiply-adds in one run
MOST_FACTS = 1 << 20  # maximum number of characters in a value of the metadata
OBSERVATION, MASK, LOGITS, ACTION = "observation", "action_mask", "logits", "action"
OPERATORS = frozenset(
    [
        "Abs",
        "Add",
        "And",
        "ArgMax",
        "BatchNormalization",
        "Cast",
        "Clip",
        "Concat",
        "Constant",
        "Div",
        "Dropout",
        "Elu",
        "Equal",
        "Erf",
        "Exp",
        "Flatten",
        "Gather",
        "Gelu",
        "Gemm",
        "Greater",
        "Identity",
        "LayerNormalization",
        "LeakyRelu",
        "Less",
        "Log",
        "LogSoftmax",
        "MatMul",
        "Max",
        "Min",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "Pad",
        "Pow",
        "ReduceMax",
        "ReduceMean",
        "ReduceSum",
        "Relu",
        "Reshape",
        "Round",
        "Selu",
        "Sigmoid",
        "Slice",
        "Softmax",
        "Softplus",
        "Split",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Tanh",
        "Transpose",
        "Unsqueeze",
        "Where",
    ]
)
_TEXT = 2  # wire type of protobuf messages and strings, which begin with their size
_FIXED_SIZES = {1: 8, 5: 4}  # size of the values of a wire type with a fixed size, in bytes


class OnnxPolicy(Policy):
    """Policy that plays the output `action` of an ONNX model, or the likeliest legal action by `logits`.

    N is the number of decisions, D the size of an observation, and n the number of actions. The model must
    have the input `observation`, float32 (N, D), and may have the input `action_mask`, int8 (N, n). The model
    must have the output `logits`, float32 (N, n), or the output `action`, int64 (N,). If the model has both
    outputs, the policy plays `action`. Raises ValueError if the file is not an allowed model.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._content = read_file(self.path, MOST_BYTES)
        self.version = hashlib.sha256(self._content).hexdigest()[:8]
        try:
            self._sizes, self._facts = checked_model(self._content)
        except UNREADABLE as error:
            raise ValueError(f"agent={str(path)!r}: {error}") from error
        self.name = label(self._facts.get("name") or self.path.stem)

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxPolicy, (self.path,)  # a session cannot be pickled

    def prepare(self, rules: Rules, board: Board) -> None:
        """Load the model; raise ValueError if the model does not fit the game."""
        columns, actions = observation_size(board), tables(rules, board).num_actions
        needed = {OBSERVATION: columns, MASK: actions, LOGITS: actions}
        for name, size in self._sizes.items():
            if size not in (None, needed.get(name, size)):
                raise ValueError(
                    f"agent={str(self.path)!r}: {name} has {size} columns, but the game needs {needed[name]}"
                )
        if trained := self.training_game:
            self._check_schema(trained, rules, board)
        _ = self._session

    @property
    def training_game(self) -> tuple[Rules, str] | None:
        """Rules and map of the training games; None if the metadata does not contain both.

        Raises ValueError if the metadata is not valid.
        """
        if not {"rules", "map"} <= set(self._facts):
            return None
        try:
            return Rules.from_dict(parse_json(self._facts["rules"])), self._facts["map"]
        except UNREADABLE as error:
            raise ValueError(f"agent={str(self.path)!r}: rules in the metadata: {error}") from error

    def _check_schema(self, trained: tuple[Rules, str], rules: Rules, board: Board) -> None:
        """Raise ValueError unless the metadata of an exported model fits the game."""
        game = schema_of(rules, board)
        digest, columns = (self._facts.get(name, "") for name in ("map_digest", "columns"))
        schema = Schema(trained[1], digest, columns, game.num_actions, trained[0].to_dict())
        schema.check(game, str(self.path))
        if parse_json(self._facts.get("actions", "null")) != ActionSpace(rules, board).to_json():
            raise ValueError(
                f"agent={str(self.path)!r}: the model and the game have different action numbers; "
                "export the model again for these rules and this map"
            )

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # no log, because errors are raised
        providers = ["CPUExecutionProvider"]
        try:
            return onnxruntime.InferenceSession(self._content, options, providers=providers)
        except Exception as error:
            raise ValueError(
                f"agent={str(self.path)!r}: onnxruntime cannot load the model: {error}"
            ) from error

    def act_batch(self, observations: Array, masks: Array, seats: Array, state: Array | None = None) -> Array:
        """Return the model's action in each lane; one run computes at most MOST_ROWS actions."""
        starts = range(0, len(masks), MOST_ROWS)
        parts = [self._act(observations[k : k + MOST_ROWS], masks[k : k + MOST_ROWS]) for k in starts]
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts])

    def _act(self, observations: Array, masks: Array) -> Array:
        inputs = {OBSERVATION: observations} | ({MASK: masks} if MASK in self._sizes else {})
        wanted = ACTION if ACTION in self._sizes else LOGITS
        (output,) = self._session.run([wanted], inputs)
        if wanted == ACTION:
            return np.asarray(output)
        if output.shape != masks.shape:
            raise ValueError(f"{self.name}: logits have shape {output.shape}, but must have {masks.shape}")
        least = float(np.finfo(np.float32).min)
        finite = np.nan_to_num(output, nan=least, neginf=least)
        return np.where(masks > 0, finite, -np.inf).argmax(axis=1)


# ------------------------------------------------------------------------------------------ checks


def checked_model(content: bytes) -> tuple[dict[str, int | None], dict[str, str]]:
    """Check a model; return the numbers of columns (see `_sizes`), and the metadata.

    Raises ValueError for a model that is not allowed, and an error in UNREADABLE for damaged content.
    """
    model = parsed_model(content)
    check_graph(model.graph)
    sizes = _sizes(model.graph)
    _check_values(model, sizes)
    facts = {each.key: each.value for each in model.metadata_props}
    if any(len(text) > MOST_FACTS for text in facts.values()):
        raise ValueError(f"a value of the metadata has more than {MOST_FACTS} characters")
    return sizes, facts


def parsed_model(content: bytes) -> Any:
    """Parse the content of a file as an ONNX model.

    Raises ValueError if the content is not an ONNX model, is too large, or has parts that are not allowed.
    `check_graph` checks the operators, attributes, constants and names.
    """
    import onnx
    from google.protobuf.message import DecodeError

    check_parts(content, onnx.ModelProto.DESCRIPTOR)
    try:
        model = onnx.ModelProto.FromString(content)
    except DecodeError as error:
        raise ValueError(f"not an ONNX model: {error}") from error
    if not model.graph.node or len(model.graph.node) > MOST_NODES:
        raise ValueError(f"the model has {len(model.graph.node)} nodes; 1 to {MOST_NODES} are allowed")
    if model.functions or model.training_info or model.graph.sparse_initializer:
        raise ValueError(
            "the model has functions, training information or sparse weights, which are not allowed"
        )
    for opset in model.opset_import:
        if opset.domain not in ("", "ai.onnx"):
            told = shortened(opset.domain)
            raise ValueError(
                f"the model uses the operator set {told}: only ONNX operators (ai.onnx) are allowed"
            )
    return model


def check_parts(content: bytes, kind: Any) -> None:
    """Raise ValueError if a protobuf message of type `kind` has too many fields, or too many levels.

    A parsed field needs much more memory than its bytes in the file. The fields are therefore counted before
    the message is parsed. The function need not detect damaged content, because the parser does.
    """
    parts, todo = 0, [(0, len(content), kind, 0)]
    while todo:
        at, end, message, level = todo.pop()
        fields = {field.number: field.message_type for field in message.fields if field.message_type}
        while at < end:
            key, at = _number(content, at)
            start, at = _field(content, at, key & 7)
            parts += 1
            if parts > MOST_PARTS or level == MOST_LEVELS:
                raise ValueError(
                    f"model too large: at most {MOST_PARTS} fields and {MOST_LEVELS} levels are allowed"
                )
            if key & 7 == _TEXT and key >> 3 in fields:
                todo.append((start, min(at, end), fields[key >> 3], level + 1))


def _field(content: bytes, at: int, wire: int) -> tuple[int, int]:
    """Return the start and the end of the value of a field with wire type `wire`."""
    if wire == 0:
        return at, _number(content, at)[1]
    if wire in _FIXED_SIZES:
        return at, at + _FIXED_SIZES[wire]
    if wire != _TEXT:
        raise ValueError(f"not an ONNX model: a field has the unknown wire type {wire}")
    size, at = _number(content, at)
    return at, at + size


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Return the varint at index `at` of a protobuf message, and the index after the varint."""
    number = 0
    for place, byte in enumerate(content[at : at + 10]):
        number |= (byte & 127) << 7 * place
        if byte < 128:
            return number, at + place + 1
    raise ValueError("not an ONNX model: a varint is damaged")


def check_graph(graph: Any) -> None:
    """Raise ValueError for operators, attributes, constants or names that are not allowed.

    Only the operators in OPERATORS are allowed. Subgraphs and weights in other files are not allowed.
    """
    for tensor in graph.initializer:
        _check_tensor(tensor)
    for node in graph.node:
        if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
            raise ValueError(
                f"operator {shortened(node.op_type)} is not allowed: use {', '.join(sorted(OPERATORS))}"
            )
        for attribute in node.attribute:
            _check_attribute(node.op_type, attribute)
    _check_names(graph)


def _check_attribute(operator: str, attribute: Any) -> None:
    """Raise ValueError unless an attribute is a number, a list of numbers, a string, or a constant.

    Only the operator Constant may have a constant.
    """
    kinds = attribute.AttributeType
    allowed = {
        kinds.FLOAT: "f",
        kinds.INT: "i",
        kinds.STRING: "s",
        kinds.FLOATS: "floats",
        kinds.INTS: "ints",
    }
    if operator == "Constant":
        allowed[kinds.TENSOR] = "t"
    fields = {field.name for field, _ in attribute.ListFields()} - {"name", "type", "doc_string"}
    if attribute.type not in allowed or fields - {allowed[attribute.type]}:
        raise ValueError(
            f"operator {operator}: attribute {shortened(attribute.name)} must be numbers or a string; "
            "subgraphs and sparse weights are not allowed"
        )
    if attribute.type == kinds.TENSOR:
        _check_tensor(attribute.t)


def _check_tensor(tensor: Any) -> None:
    """Raise ValueError if a constant is in another file, is too large or contains strings."""
    if tensor.data_location == tensor.EXTERNAL or tensor.external_data:
        raise ValueError(f"weights {shortened(tensor.name)} are in another file, which is not allowed")
    sizes = list(tensor.dims[: MOST_DIMS + 1])
    fits = len(sizes) <= MOST_DIMS and all(0 <= size <= MOST_BYTES for size in sizes)
    if not fits or math.prod(sizes) > MOST_BYTES:
        raise ValueError(
            f"weights {shortened(tensor.name)} have shape {shortened(sizes)}: at most {MOST_DIMS} dimensions "
            f"and {MOST_BYTES} values are allowed"
        )
    if tensor.data_type == tensor.STRING:
        raise ValueError(f"weights {shortened(tensor.name)} are strings; only numbers are allowed")


def _check_names(graph: Any) -> None:
    """Raise ValueError if two values have the same name; a constant may also be listed as an input."""
    given = {value.name for value in (*graph.input, *graph.initializer)}
    for node in graph.node:
        for name in filter(None, node.output):
            if name in given:
                raise ValueError(f"two values have the name {shortened(name)}; names must differ")
            given.add(name)


def _sizes(graph: Any) -> dict[str, int | None]:
    """Return the number of columns of each input and of the outputs `logits` and `action`, by name.

    The number is None for `action`. Raises ValueError if an input is not allowed, or if the model lacks the
    input `observation` or both outputs.
    """
    from onnx import TensorProto

    inputs = {OBSERVATION: TensorProto.FLOAT, MASK: TensorProto.INT8}
    outputs = {LOGITS: TensorProto.FLOAT, ACTION: TensorProto.INT64}
    constants = {tensor.name for tensor in graph.initializer}
    sizes: dict[str, int | None] = {}
    for value in graph.input:
        if value.name in constants:
            continue
        if value.type.tensor_type.elem_type != inputs.get(value.name):
            raise ValueError(
                f"input {shortened(value.name)}: must be {OBSERVATION} (float32) or {MASK} (int8)"
            )
        sizes[value.name] = _columns(value, 2)
    for value in graph.output:
        if value.type.tensor_type.elem_type == outputs.get(value.name):
            sizes[value.name] = _columns(value, 2 if value.name == LOGITS else 1)
    if OBSERVATION not in sizes or not sizes.keys() & {LOGITS, ACTION}:
        raise ValueError(
            f"the model needs the input {OBSERVATION} (float32), and the output {LOGITS} (float32) or "
            f"{ACTION} (int64)"
        )
    return sizes


def _columns(value: Any, rank: int) -> int | None:
    """Return the number of columns of an input or output, or None if `rank` is 1.

    Raises ValueError if the declared shape does not have `rank` dimensions, a dynamic first dimension, and,
    if `rank` is 2, a fixed second dimension.
    """
    sizes = value.type.tensor_type.shape.dim
    if len(sizes) != rank or sizes[0].HasField("dim_value"):
        given = [size.dim_value if size.HasField("dim_value") else "dynamic" for size in sizes]
        raise ValueError(
            f"{value.name} has the dimensions {shortened(given)}: must have {rank}, the first of them dynamic"
        )
    if rank == 1:
        return None
    if not sizes[1].HasField("dim_value"):
        raise ValueError(f"{value.name} has a dynamic number of columns: must be fixed")
    return int(sizes[1].dim_value)


def _check_values(model: Any, sizes: dict[str, int | None]) -> None:
    """Raise ValueError unless all shapes are known, and a run of MOST_ROWS rows stays within the limits.

    Shapes that the file declares for computed values are not trusted. These shapes are removed before shapes
    are inferred. Then the numbers of columns in `sizes`, which the file declares, must equal the inferred
    numbers.
    """
    known = _inferred(model)
    values = products = 0
    for node in model.graph.node:
        shapes = [_shape(node.op_type, name, known) for name in filter(None, (*node.input, *node.output))]
        counts = [math.prod(shape) for shape in shapes]
        values += sum(counts)
        if node.op_type in ("MatMul", "Gemm"):  # each element is a sum over one dimension of the first input
            is_turned = any(each.name == "transA" and each.i for each in node.attribute)
            products += counts[-1] * shapes[0][0 if is_turned else -1]
    if values > MOST_VALUES_IN_ALL or products > MOST_PRODUCTS:
        raise ValueError(
            f"for {MOST_ROWS} decisions, the operators read and write {values} values and perform "
            f"{products} multiply-adds; at most {MOST_VALUES_IN_ALL} values and {MOST_PRODUCTS} "
            "multiply-adds are allowed"
        )
    for name in sizes.keys() & {LOGITS, ACTION}:
        shape, wanted = known.get(name), (MOST_ROWS, sizes[name]) if name == LOGITS else (MOST_ROWS,)
        if shape != wanted:
            raise ValueError(f"{name} has shape {shape} for {MOST_ROWS} decisions, but must have {wanted}")


def _inferred(model: Any) -> dict[str, tuple[int, ...]]:
    """Return the known shapes of constants and values for a batch of MOST_ROWS rows, by name.

    The shapes of computed values are inferred only from the inputs, the constants and the operators.
    """
    import onnx

    run = onnx.ModelProto()
    run.CopyFrom(model)
    known = {tensor.name: tuple(tensor.dims) for tensor in run.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in known]
    for part in (run.graph.input, run.graph.output, run.graph.value_info):
        del part[:]
    run.graph.input.extend(inputs)
    for value in run.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = MOST_ROWS
    try:
        inferred = onnx.shape_inference.infer_shapes(run, check_type=True, strict_mode=True)
    except onnx.shape_inference.InferenceError as error:
        raise ValueError(f"the shapes of the model do not match: {cause(error)}") from error
    for value in (*inferred.graph.input, *inferred.graph.value_info):
        tensor = value.type.tensor_type
        dims = tensor.shape.dim
        is_known = tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in dims)
        if is_known and tensor.elem_type != onnx.TensorProto.STRING:
            known[value.name] = tuple(dim.dim_value for dim in dims)
    return known


def _shape(operator: str, name: str, known: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of a value; raise ValueError if the shape is unknown or too large."""
    shape = known.get(name)
    if shape is None:
        raise ValueError(f"operator {operator}: the shape of {shortened(name)} is unknown")
    fits = len(shape) <= MOST_DIMS and all(0 <= size <= MOST_VALUES for size in shape)
    if not fits or math.prod(shape) > MOST_VALUES:
        raise ValueError(
            f"operator {operator}: {shortened(name)} has shape {shape}; at most {MOST_DIMS} dimensions and "
            f"{MOST_VALUES} values are allowed"
        )
    return shape
