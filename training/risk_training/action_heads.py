"""The policy's outputs for the legal actions only, and their gradients.

An action's logit is its own output of the trunk and, for actions of a local head, what the head makes of the features
of one or two territories. On the processor both are computed by kernels, which skip features of 0, most of them.
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
    """The local heads, in the order of `risk_agents.learned.network.HEADS`: which actions and territories they take."""

    numbers: Array  # int64 (n,): the head of each action, or NONE
    ends: Array  # int64 (n, 2): the territories whose features it takes; NONE for the second where it takes one
    rows: Array  # int64 (h + 1,): where each head's weights begin among those of all hidden layers, and where they end


def heads_of(layout: Layout) -> Heads:
    """The local heads of a layout."""
    territories = np.arange(layout.territories)[:, None]
    borders = np.stack([layout.sources, layout.targets], 1)
    blocks = (0, territories), (layout.border_0, borders), (layout.card_0, territories)
    numbers, ends = np.full(layout.num_actions, NONE), np.full((layout.num_actions, 2), NONE)
    for head, (first, places) in enumerate(blocks):
        numbers[first : first + len(places)] = head
        ends[first : first + len(places), : places.shape[1]] = places
    sizes = [2 * layout.own_features * places.shape[1] for _, places in blocks]
    return Heads(numbers, ends, np.cumsum([0, *sizes]))


def action_logits(heads: Heads, legal: LegalActions, features: Tensor, *inputs: Tensor) -> Tensor:
    """Logits float32 (m,) of the legal actions of k decisions.

    Features are of territories, (any, T, 2 F). Inputs are the trunk (k, width), its part in the hidden layers of the h
    heads (k, h, local); the weights of the actions' own outputs (n, width) and their bias (n,); of the features in the
    hidden layers, those of all heads in one (rows, local); and of the heads' outputs (h, local).
    """
    if features.device.type == CPU:
        found: Tensor = _Compiled.apply(heads, legal, features, *(part.float().contiguous() for part in inputs))
        return found
    return logits_in_torch(heads, legal, features, *inputs)


def logits_in_torch(
    heads: Heads, legal: LegalActions, features: Tensor, trunk: Tensor, shared: Tensor, columns: Tensor, bias: Tensor,
    inputs: Tensor, outputs: Tensor,
) -> Tensor:  # fmt: skip
    """The same on any device."""
    numbers, ends = (torch.as_tensor(part, device=features.device) for part in (heads.numbers, heads.ends))
    logits = (trunk @ columns.T + bias)[legal.rows, legal.actions].float()
    for head in range(len(outputs)):
        at = torch.where(numbers[legal.actions] == head)[0]
        weights, rows = inputs[heads.rows[head] : heads.rows[head + 1]], legal.rows[at]
        places = ends[legal.actions[at], : len(weights) // features.shape[2]]
        taken = features[legal.decisions[rows, None], places].flatten(1)
        hidden = (shared[rows, head] + taken @ weights).relu()
        logits = logits.index_add(0, at, (hidden @ outputs[head]).float())
    return logits


class _Compiled(torch.autograd.Function):
    """`logits_in_torch`, by kernels."""

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
    places = np.zeros(features.shape[2], np.int64)
    for k in range(len(starts)):
        for m in range(starts[k], ends[k]):
            action = actions[m]
            logits[m] = bias[action] + product(trunk[k], columns[action])
            head = heads.numbers[action]
            if head != NONE:
                hidden[m] = shared[k, head]
                row = heads.rows[head]
                for end in heads.ends[action]:
                    if end != NONE:
                        add_products(hidden[m], features[decisions[k], end], inputs, row, places)
                        row += features.shape[2]
                rectify(hidden[m])
                logits[m] += product(hidden[m], outputs[head])


@unordered_entry_point
def add_gradients(
    heads, starts, ends, decisions, actions, features, trunk, columns, outputs, hidden, gradients,
    of_trunk, of_shared, of_columns, of_bias, of_inputs, of_outputs,
):  # fmt: skip
    """Add the gradients of all inputs of `write_logits`, of those of the logits (m,)."""
    units, places = np.zeros(hidden.shape[1], np.float32), np.zeros(features.shape[2], np.int64)
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
                row = heads.rows[head]
                for end in heads.ends[action]:
                    if end != NONE:
                        add_outer(of_inputs, row, features[decisions[k], end], units, places)
                        row += features.shape[2]


@inlined
def product(left, right):
    """The sum of products."""
    total = NOTHING
    for j in range(len(left)):
        total += left[j] * right[j]
    return total


@inlined
def add_products(sums, factors, weights, first, places):
    """Add factors (i,) times weights (i, j), from row `first` on, to sums (j,), in pairs."""
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
    """Add factors (i,) times numbers (j,) to sums (i, j), from row `first` on."""
    for k in range(find_nonzero(factors, places)):
        add_multiple(sums[first + places[k]], factors[places[k]], numbers)


@inlined
def find_nonzero(numbers, places):
    """Write where numbers are not 0, and return how many are; without branches, which would be guessed wrong."""
    count = 0
    for i in range(len(numbers)):
        places[count] = i
        count += numbers[i] != NOTHING
    return count


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
