"""Compiled policy network, which processes one observation at a time.

Results do not depend on the batch. The inputs of the trunk are the features of the board
(`learned.features`). Three local heads score the actions of territories, borders and cards. The inputs of a
local head are the output of the trunk, and the features of a territory or of both ends of a border. A head
has the same weights everywhere on the map. `risk_training.torch_network` is the same network in PyTorch. All
numbers are float32 and are added in a fixed order, so results have the same bits on every machine, compiled
or not.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from risk_agents.learned.features import NOTHING, FeatureSpec, encode_board, encode_territories, feature_spec
from risk_agents.learned.layout import Layout
from risk_env.arrays import Array
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.bits import has

HEADS = ("territory", "border", "card")
BORDER = 1  # index in HEADS of the head whose inputs are two territories


class Network(NamedTuple):
    """Features and weights as arrays for the kernels.

    Weights are float32 (inputs, outputs), biases are float32 (outputs,).
    """

    spec: FeatureSpec
    blocks: Array  # int64 (3, 2): first action and size of the block of each head
    trunk_1: Array
    trunk_1_bias: Array
    trunk_2: Array
    trunk_2_bias: Array
    actions: Array
    actions_bias: Array
    value: Array
    value_bias: Array
    heads_in: tuple[Array, Array, Array]  # one array for each of HEADS
    heads_bias: tuple[Array, Array, Array]
    heads_trunk: tuple[Array, Array, Array]
    heads_out: tuple[Array, Array, Array]


def compiled_network(layout: Layout, weights: Mapping[str, Array]) -> Network:
    """Return the network for a layout; `weights` has the keys of `Layout.all_shapes`."""
    T, B = layout.territories, len(layout.borders)
    plain = {name: np.ascontiguousarray(values, np.float32) for name, values in weights.items()}
    territory, border, card = (
        [plain[f"{head}_{part}"] for part in ("in", "in_bias", "trunk", "out")] for head in HEADS
    )
    inputs, biases, trunks, outputs = zip(territory, border, card, strict=True)
    return Network(
        spec=feature_spec(layout),
        blocks=np.array([[0, T], [layout.border_0, B], [layout.card_0, T]]),
        heads_in=inputs,
        heads_bias=biases,
        heads_trunk=trunks,
        heads_out=outputs,
        **{name: plain[name] for name in plain if name in Network._fields},
    )


@vectorized_entry_point
def forward_all(network, observations, masks, logits, values):
    """Write the logits, float32 (k, n), and the values before the sigmoid, float32 (k,), of observations.

    `observations` are int8 (k, D). `masks`, uint64 (k, W), contain the legal actions as bits. The logits of
    illegal actions are meaningless.
    """
    work = workspace(network)
    for k in range(len(observations)):
        values[k] = forward(network, observations[k], masks[k], logits[k], work)


@inlined
def workspace(network):
    """Return the float32 arrays in which one observation is processed.

    * features of the territories (T, 2 F)
    * features of the board (I,)
    * both layers of the trunk (2, width)
    * two rows for the hidden layer of a head (2, local): the part from the trunk, and the sum
    """
    width = network.heads_in[0].shape[0]
    territory_features = np.zeros((network.spec.num_territories, width), np.float32)
    board_features = np.zeros(network.trunk_1.shape[0], np.float32)
    trunk = np.zeros((2, network.trunk_2.shape[1]), np.float32)
    return territory_features, board_features, trunk, np.zeros((2, network.heads_in[0].shape[1]), np.float32)


@kernel
def forward(network, observation, legal, logits, work):
    """Write the logits, float32 (n,), and return the value before the sigmoid.

    The logits of illegal actions are meaningless.
    """
    territory_features, board_features, trunk, local = work
    encode_territories(network.spec, observation, territory_features)
    encode_board(network.spec, observation, territory_features, board_features)
    layer(network.trunk_1, network.trunk_1_bias, board_features, trunk[0])
    layer(network.trunk_2, network.trunk_2_bias, trunk[0], trunk[1])
    logits[:] = network.actions_bias
    add_product(network.actions, trunk[1], logits)
    for head in range(len(HEADS)):
        add_head(network, head, legal, territory_features, trunk[1], local, logits)
    return network.value_bias[0] + product(trunk[1], network.value)


@kernel
def layer(weights, bias, inputs, outputs):
    """Write the outputs of a layer with rectified linear units (ReLU)."""
    outputs[:] = bias
    add_product(weights, inputs, outputs)
    for j in range(len(outputs)):
        outputs[j] = max(outputs[j], NOTHING)


@kernel
def add_head(network, head, legal, territory_features, trunk, local, logits):
    """Add the outputs of a local head to the logits of the legal actions of its block."""
    first, count = network.blocks[head]
    known = False
    for index in range(count):
        if has(legal, first + index):
            if not known:
                local[0] = network.heads_bias[head]
                add_product(network.heads_trunk[head], trunk, local[0])
                known = True
            logits[first + index] += head_output(network, head, index, territory_features, local)


@kernel
def head_output(network, head, index, features, local):
    """Return the output of a local head for one action of its block.

    `index` is the index of a territory, of a border, or of a card's territory.
    """
    weights, width = network.heads_in[head], features.shape[1]
    local[1] = local[0]
    if head == BORDER:
        source, target = network.spec.borders[index]
        add_product(weights[:width], features[source], local[1])
        add_product(weights[width:], features[target], local[1])
    else:
        add_product(weights, features[index], local[1])
    for j in range(local.shape[1]):
        local[1, j] = max(local[1, j], NOTHING)
    return product(local[1], network.heads_out[head])


@inlined
def add_product(weights, inputs, outputs):
    """Add the product of inputs (i,) and weights (i, j) to outputs (j,); skip inputs that are 0."""
    for i in range(len(inputs)):
        factor = inputs[i]
        if factor != NOTHING:
            for j in range(len(outputs)):
                outputs[j] += factor * weights[i, j]


@inlined
def product(inputs, weights):
    """Return the dot product of inputs (i,) and weights (i, 1)."""
    total = NOTHING
    for i in range(len(inputs)):
        total += inputs[i] * weights[i, 0]
    return total
