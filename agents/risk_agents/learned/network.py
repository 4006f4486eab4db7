"""The network of trained policies, compiled: it answers for one view at a time, and so the same in any company.

A trunk sees the whole board, and small heads that are the same everywhere on the map look at a territory and its
neighbours, or at both ends of a border (`learned.sight`). `network` is the same with torch, to be trained.
All numbers are float32 and added up in one order: the same bits on every machine, compiled or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.layout import Layout
from risk_agents.learned.sight import NOTHING, Sight, look_at_places, look_at_whole, sight_of
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.bits import has

Array = npt.NDArray[Any]

HEADS = ("territory", "border", "card")
BORDER = 1  # the number of the head that looks at two ends


class Network(NamedTuple):
    """Sight and weights as the kernels take them; weights float32 (inputs, outputs), biases float32 (outputs,)."""

    sight: Sight
    blocks: Array  # int64 (3, 2): first action and size of the block of each head
    trunk_1: Array
    trunk_1_bias: Array
    trunk_2: Array
    trunk_2_bias: Array
    actions: Array
    actions_bias: Array
    value: Array
    value_bias: Array
    heads_in: tuple[Array, Array, Array]  # of each of HEADS
    heads_bias: tuple[Array, Array, Array]
    heads_trunk: tuple[Array, Array, Array]
    heads_out: tuple[Array, Array, Array]


def compiled_network(layout: Layout, weights: Mapping[str, Array]) -> Network:
    """The network of some weights by their names (`Layout.shapes`)."""
    T, B = layout.territories, len(layout.sources)
    plain = {name: np.ascontiguousarray(values, np.float32) for name, values in weights.items()}
    territory, border, card = (
        [plain[f"{head}_{part}"] for part in ("in", "in_bias", "trunk", "out")] for head in HEADS
    )
    inputs, biases, trunks, outputs = zip(territory, border, card, strict=True)
    return Network(
        sight=sight_of(layout),
        blocks=np.array([[0, T], [layout.border_0, B], [layout.card_0, T]]),
        heads_in=inputs,
        heads_bias=biases,
        heads_trunk=trunks,
        heads_out=outputs,
        **{name: plain[name] for name in plain if name in Network._fields},
    )


@vectorized_entry_point
def answer_all(network, views, masks, logits, values):
    """Answer for many views at once: masks uint64 words (k, W), of views int8 (k, D); logits float32 (k, n) of what is
    legal and outputs for the values (k,) are written.
    """
    work = workspace(network)
    for k in range(len(views)):
        values[k] = answer(network, views[k], masks[k], logits[k], work)


@inlined
def workspace(network):
    """Room for one view: places (T, 2 F), the whole board (I,), both layers of the trunk (2, width), and of a head what
    all its places share and one place's own (2, local).
    """
    features = network.heads_in[0].shape[0]
    places = np.zeros((network.sight.num_territories, features), np.float32)
    whole = np.zeros(network.trunk_1.shape[0], np.float32)
    trunk = np.zeros((2, network.trunk_2.shape[1]), np.float32)
    return places, whole, trunk, np.zeros((2, network.heads_in[0].shape[1]), np.float32)


@kernel
def answer(network, view, legal, logits, work):
    """Write the logits float32 (n,); those of what is not legal mean nothing. Returns the output for the value."""
    places, whole, trunk, local = work
    look_at_places(network.sight, view, places)
    look_at_whole(network.sight, view, places, whole)
    layer(network.trunk_1, network.trunk_1_bias, whole, trunk[0])
    layer(network.trunk_2, network.trunk_2_bias, trunk[0], trunk[1])
    logits[:] = network.actions_bias
    add_product(network.actions, trunk[1], logits)
    for head in range(len(HEADS)):
        judge_block(network, head, legal, places, trunk[1], local, logits)
    return network.value_bias[0] + product(trunk[1], network.value)


@kernel
def layer(weights, bias, inputs, outputs):
    """A layer of rectified units."""
    outputs[:] = bias
    add_product(weights, inputs, outputs)
    for j in range(len(outputs)):
        outputs[j] = max(outputs[j], NOTHING)


@kernel
def judge_block(network, head, legal, places, trunk, local, logits):
    """Add what a local head says of the legal actions of its block."""
    first, count = network.blocks[head]
    known = False
    for place in range(count):
        if has(legal, first + place):
            if not known:
                local[0] = network.heads_bias[head]
                add_product(network.heads_trunk[head], trunk, local[0])
                known = True
            logits[first + place] += judged(network, head, place, places, local)


@kernel
def judged(network, head, place, places, local):
    """What a local head says of one place: a territory, a border, or the territory of a card."""
    weights, shared = network.heads_in[head], places.shape[1]
    local[1] = local[0]
    if head == BORDER:
        source, target = network.sight.borders[place]
        add_product(weights[:shared], places[source], local[1])
        add_product(weights[shared:], places[target], local[1])
    else:
        add_product(weights, places[place], local[1])
    for j in range(local.shape[1]):
        local[1, j] = max(local[1, j], NOTHING)
    return product(local[1], network.heads_out[head])


@inlined
def add_product(weights, inputs, outputs):
    """Add inputs (i,) times weights (i, j) to outputs (j,); what is 0 is passed over, much of a view is."""
    for i in range(len(inputs)):
        factor = inputs[i]
        if factor != NOTHING:
            for j in range(len(outputs)):
                outputs[j] += factor * weights[i, j]


@inlined
def product(inputs, weights):
    """The sum of inputs (i,) times weights (i, 1)."""
    total = NOTHING
    for i in range(len(inputs)):
        total += inputs[i] * weights[i, 0]
    return total
