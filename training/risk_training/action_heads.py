"""Logits of the legal actions, and their gradients.

A linear layer on the trunk has one output for each action. The logit of an action is this output; if the
action has a local head, the output of the head is added. The head reads the features of one or two
territories. On the CPU, compiled kernels compute the logits and the gradients. The kernels skip features that
are 0, because most features are 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from risk_agents.learned.layout import Layout
from risk_env.arrays import Array
from risk_env.compiler import inlined, unordered_entry_point
from risk_training.devices import CPU
from risk_training.legal_actions import LegalActions

Tensor = torch.Tensor

NOTHING, ONCE = np.float32(0), np.float32(1)
NONE = -1


class Heads(NamedTuple):
    """The local heads, their actions, and the territories that each action reads.

    The heads have the order of `risk_agents.learned.compiled_network.HEADS`.
    """

    numbers: Array  # int64 (n,): head of each action, or NONE
    ends: Array  # int64 (n, 2): territories that each action reads, NONE in unused places
    rows: Array  # int64 (h + 1,): head k has the rows `rows[k]:rows[k + 1]` of `Inputs.hidden`


class Inputs(NamedTuple):
    """The float32 inputs of the logits, as tensors or arrays, or the gradients of these inputs."""

    trunk: Any  # (k, width): outputs of the trunk
    shared: Any  # (k, h, local): contribution of the trunk to the hidden layers of the h heads
    columns: Any  # (n, width): weights of the linear layer on the trunk, by action
    bias: Any  # (n,): biases of this layer
    hidden: Any  # (rows, local): weights of the features in the hidden layers, all heads concatenated
    outputs: Any  # (h, local): output weights of the heads


class Listed(NamedTuple):
    """The fields of `LegalActions` that the kernels read, as int64 arrays."""

    starts: Array
    ends: Array
    decisions: Array
    actions: Array


def heads_of(layout: Layout) -> Heads:
    """Return the local heads of a layout."""
    territories = np.arange(layout.territories)[:, None]
    blocks = (0, territories), (layout.border_0, layout.borders), (layout.card_0, territories)
    numbers, ends = np.full(layout.num_actions, NONE), np.full((layout.num_actions, 2), NONE)
    for head, (first, places) in enumerate(blocks):
        numbers[first : first + len(places)] = head
        ends[first : first + len(places), : places.shape[1]] = places
    sizes = [2 * layout.own_features * places.shape[1] for _, places in blocks]
    return Heads(numbers, ends, np.cumsum([0, *sizes]))


def action_logits(heads: Heads, legal: LegalActions, features: Tensor, inputs: Inputs) -> Tensor:
    """Return the logits float32 (m,) of the legal actions of k decisions.

    `features` are features of territories, shape (decisions, T, 2 F). If the tensors are on the CPU, the
    compiled kernels compute the logits.
    """
    if features.device.type == CPU:
        logits: Tensor = _Compiled.apply(
            heads, legal, features, *(part.float().contiguous() for part in inputs)
        )
        return logits
    return logits_in_torch(heads, legal, features, inputs)


def logits_in_torch(heads: Heads, legal: LegalActions, features: Tensor, inputs: Inputs) -> Tensor:
    """Return the same logits as `action_logits`, computed with PyTorch on any device."""
    numbers, ends = (torch.as_tensor(part, device=features.device) for part in (heads.numbers, heads.ends))
    logits = (inputs.trunk @ inputs.columns.T + inputs.bias)[legal.rows, legal.actions].float()
    for head, outputs in enumerate(inputs.outputs):
        at = torch.where(numbers[legal.actions] == head)[0]
        weights, rows = inputs.hidden[heads.rows[head] : heads.rows[head + 1]], legal.rows[at]
        places = ends[legal.actions[at], : len(weights) // features.shape[2]]
        taken = features[legal.decisions[rows, None], places].flatten(1)
        units = (inputs.shared[rows, head] + taken @ weights).relu()
        logits = logits.index_add(0, at, (units @ outputs).float())
    return logits


class _Compiled(torch.autograd.Function):
    """The computation of `logits_in_torch` as an autograd function that calls the compiled kernels."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, heads: Heads, legal: LegalActions, features: Tensor, *inputs: Tensor
    ) -> Tensor:
        listed = Listed(*_arrays(legal.starts, legal.ends, legal.decisions, legal.actions))
        ctx.known = heads, listed, features.numpy()
        logits = features.new_empty(len(legal.actions))
        units = features.new_zeros((len(logits), inputs[1].shape[2]))
        ctx.save_for_backward(*inputs, units)
        write_logits(*ctx.known, Inputs(*_arrays(*inputs)), *_arrays(units, logits))
        return logits

    @staticmethod
    def backward(ctx: Any, gradients: Tensor) -> Any:  # type: ignore[override]
        *inputs, units = ctx.saved_tensors
        input_gradients = [torch.zeros_like(part) for part in inputs]
        groups = Inputs(*_arrays(*inputs)), Inputs(*_arrays(*input_gradients))
        add_gradients(*ctx.known, *groups, *_arrays(units, gradients.contiguous()))
        return None, None, None, *input_gradients


def _arrays(*tensors: Tensor) -> list[Array]:
    return [tensor.detach().numpy() for tensor in tensors]


@unordered_entry_point
def write_logits(heads, legal, features, inputs, units, logits):
    """Write the logits into `logits` (m,), and the heads' hidden activations into `units` (m, local)."""
    places = np.zeros(features.shape[2], np.int64)
    for k in range(len(legal.starts)):
        for m in range(legal.starts[k], legal.ends[k]):
            action = legal.actions[m]
            logits[m] = inputs.bias[action] + product(inputs.trunk[k], inputs.columns[action])
            head = heads.numbers[action]
            if head != NONE:
                units[m] = inputs.shared[k, head]
                row = heads.rows[head]
                for end in heads.ends[action]:
                    if end != NONE:
                        add_products(units[m], features[legal.decisions[k], end], inputs.hidden, row, places)
                        row += features.shape[2]
                rectify(units[m])
                logits[m] += product(units[m], inputs.outputs[head])


@unordered_entry_point
def add_gradients(heads, legal, features, inputs, input_gradients, units, gradients):
    """Add the gradients of the inputs to `input_gradients`.

    `units` (m, local) are the activations from `write_logits`, and `gradients` (m,) are the gradients of the
    logits.
    """
    slopes, places = np.zeros(units.shape[1], np.float32), np.zeros(features.shape[2], np.int64)
    for k in range(len(legal.starts)):
        for m in range(legal.starts[k], legal.ends[k]):
            action, gradient = legal.actions[m], gradients[m]
            input_gradients.bias[action] += gradient
            add_multiple(input_gradients.trunk[k], gradient, inputs.columns[action])
            add_multiple(input_gradients.columns[action], gradient, inputs.trunk[k])
            head = heads.numbers[action]
            if head != NONE:
                add_multiple(input_gradients.outputs[head], gradient, units[m])
                for j in range(len(slopes)):
                    slopes[j] = gradient * inputs.outputs[head, j] if units[m, j] > NOTHING else NOTHING
                add_multiple(input_gradients.shared[k, head], ONCE, slopes)
                row = heads.rows[head]
                for end in heads.ends[action]:
                    if end != NONE:
                        add_outer(
                            input_gradients.hidden, row, features[legal.decisions[k], end], slopes, places
                        )
                        row += features.shape[2]


@inlined
def product(left, right):
    """Return the dot product of two vectors."""
    total = NOTHING
    for j in range(len(left)):
        total += left[j] * right[j]
    return total


@inlined
def add_products(sums, factors, weights, first, places):
    """Add rows of `weights` (rows, j), multiplied by `factors` (i,), to `sums` (j,).

    The first factor belongs to row `first`. Nonzero factors are processed in pairs.
    """
    count = find_nonzero(factors, places)
    for k in range(0, count - 1, 2):
        one, two = weights[first + places[k]], weights[first + places[k + 1]]
        factor_one, factor_two = factors[places[k]], factors[places[k + 1]]
        for j in range(len(sums)):
            sums[j] += factor_one * one[j] + factor_two * two[j]
    if count % 2:
        add_multiple(sums, factors[places[count - 1]], weights[first + places[count - 1]])


@inlined
def add_outer(sums, first, factors, numbers, places):
    """Add the outer product of `factors` (i,) and `numbers` (j,) to `sums` (rows, j).

    The first factor belongs to row `first`.
    """
    for k in range(find_nonzero(factors, places)):
        add_multiple(sums[first + places[k]], factors[places[k]], numbers)


@inlined
def find_nonzero(numbers, places):
    """Write the positions of the nonzero numbers into `places`, and return the number of positions.

    The loop has no branches, because the processor would often mispredict them.
    """
    count = 0
    for i in range(len(numbers)):
        places[count] = i
        count += numbers[i] != NOTHING
    return count


@inlined
def add_multiple(sums, factor, numbers):
    """Add `factor` times `numbers` to `sums`."""
    for j in range(len(sums)):
        sums[j] += factor * numbers[j]


@inlined
def rectify(units):
    """Replace negative values by 0."""
    for j in range(len(units)):
        units[j] = max(units[j], NOTHING)
