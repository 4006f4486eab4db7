"""The policy's outputs for the legal actions only, and their gradients, compiled for the processor.

An action's logit is its own output of the trunk and, for actions of a local head, what the head makes of the features
of one or two territories. About nine of 300 actions are legal, and most features are 0: both are skipped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from risk_env.arrays import Array
from risk_env.compiler import inlined, unordered_entry_point
from risk_training.legal_actions import LegalActions

Tensor = torch.Tensor

NOTHING, ONCE = np.float32(0), np.float32(1)
NONE = -1


class Heads(NamedTuple):
    """The local head of each action."""

    numbers: Array  # int64 (n,): which head, or NONE
    rows: Array  # int64 (n,): where the head's weights begin among those of all heads
    ends: Array  # int64 (n, 2): the territories whose features it takes, NONE where it takes one


class ActionHeads(torch.autograd.Function):
    """Logits (m,) of the legal actions of k decisions.

    Inputs: territory features (any, T, 2 F), the trunk (k, width), its part in the hidden layers of the h heads
    (k, h, local); the weights of the actions' own outputs (n, width) and their bias (n,), of the features in the hidden
    layers, those of all heads in one (rows, local), and of the heads' outputs (h, local).
    """

    @staticmethod
    def forward(ctx: Any, heads: Heads, legal: LegalActions, features: Tensor, *inputs: Tensor) -> Tensor:  # type: ignore[override]
        ctx.known = heads, *_arrays(legal.starts, legal.ends, legal.decisions, legal.actions, features)
        logits = features.new_empty(len(legal.actions))
        hidden = features.new_zeros((len(logits), inputs[1].shape[2]))
        ctx.save_for_backward(*inputs, hidden)
        write_logits(*ctx.known, *_arrays(*inputs, hidden, logits))
        return logits

    @staticmethod
    def backward(ctx: Any, gradients: Tensor) -> Any:  # type: ignore[override]
        *inputs, hidden = ctx.saved_tensors
        found = [torch.zeros_like(part) for part in inputs]
        trunk, _, columns, _, _, outputs = inputs
        add_gradients(*ctx.known, *_arrays(trunk, columns, outputs, hidden, gradients.contiguous(), *found))
        return None, None, None, *found


def _arrays(*tensors: Tensor) -> list[Array]:
    return [tensor.detach().numpy() for tensor in tensors]


@unordered_entry_point
def write_logits(
    heads, starts, ends, decisions, actions, features, trunk, shared, columns, bias, inputs, outputs, hidden, logits
):
    """Write the logits (m,), and the units of the hidden layers (m, local)."""
    for k in range(len(starts)):
        for m in range(starts[k], ends[k]):
            action = actions[m]
            logits[m] = bias[action] + product(trunk[k], columns[action])
            head = heads.numbers[action]
            if head != NONE:
                hidden[m] = shared[k, head]
                row = heads.rows[action]
                for end in heads.ends[action]:
                    if end != NONE:
                        add_products(hidden[m], features[decisions[k], end], inputs, row)
                        row += features.shape[2]
                rectify(hidden[m])
                logits[m] += product(hidden[m], outputs[head])


@unordered_entry_point
def add_gradients(
    heads, starts, ends, decisions, actions, features, trunk, columns, outputs, hidden, gradients,
    of_trunk, of_shared, of_columns, of_bias, of_inputs, of_outputs
):
    """Add the gradients of all inputs of `write_logits`, of those of the logits (m,)."""
    units = np.zeros(hidden.shape[1], np.float32)
    for k in range(len(starts)):
        for m in range(starts[k], ends[k]):
            action, gradient = actions[m], gradients[m]
            of_bias[action] += gradient
            add_multiple(of_trunk[k], gradient, columns[action])
            add_multiple(of_columns[action], gradient, trunk[k])
            head = heads.numbers[action]
            if head != NONE:
                add_multiple(of_outputs[head], gradient, hidden[m])
                for j in range(len(units)):
                    units[j] = gradient * outputs[head, j] if hidden[m, j] > NOTHING else NOTHING
                add_multiple(of_shared[k, head], ONCE, units)
                row = heads.rows[action]
                for end in heads.ends[action]:
                    if end != NONE:
                        add_outer(of_inputs, row, features[decisions[k], end], units)
                        row += features.shape[2]


@inlined
def product(left, right):
    """The sum of products."""
    total = NOTHING
    for j in range(len(left)):
        total += left[j] * right[j]
    return total


@inlined
def add_products(sums, factors, weights, first):
    """Add factors (i,) times weights (i, j), from row `first` on, to sums (j,)."""
    for i in range(len(factors)):
        if factors[i] != NOTHING:
            add_multiple(sums, factors[i], weights[first + i])


@inlined
def add_outer(sums, first, factors, numbers):
    """Add factors (i,) times numbers (j,) to sums (i, j), from row `first` on."""
    for i in range(len(factors)):
        if factors[i] != NOTHING:
            add_multiple(sums[first + i], factors[i], numbers)


@inlined
def add_multiple(sums, factor, numbers):
    """Add numbers times a factor to sums."""
    for j in range(len(sums)):
        sums[j] += factor * numbers[j]


@inlined
def rectify(units):
    """Replace what is below 0 by 0."""
    for j in range(len(units)):
        units[j] = max(units[j], NOTHING)
