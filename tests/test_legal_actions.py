"""The list of legal actions, and heads that use it: equal results to a row of all actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.learned.layout import Layout
from risk_env.batch import GameBatch
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_training.action_heads import Inputs, action_logits, heads_of, logits_in_torch
from risk_training.legal_actions import LegalActions

BOARD = load_map("classic")
WIDTH, LOCAL = 16, 8


def masks(rows: int = 40, actions: int = 30) -> torch.Tensor:
    """Return masks bool (k, n) with at least one legal action per row."""
    found = torch.rand(rows, actions, generator=torch.Generator().manual_seed(1)) < 0.2
    found[:, 3] = True
    return found


def values(*shape: int) -> torch.Tensor:
    """Return normally distributed numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


def test_log_probabilities_and_sums_are_those_of_rows_of_all_actions() -> None:
    legal, logits = LegalActions.of(masks()), 30 * values(*masks().shape)
    whole = logits.masked_fill(~masks(), -torch.inf).log_softmax(1)
    found = legal.logprobs(logits[masks()])
    assert torch.allclose(found, whole[masks()], atol=1e-5)
    assert torch.allclose(legal.sums(found.exp()), torch.ones(len(masks())), atol=1e-5)


def test_some_decisions_are_selected_in_any_order() -> None:
    some = torch.tensor([7, 0, 39, 7])
    whole, selected = LegalActions.of(masks()), LegalActions.of(masks()[some])
    found = whole.select(some)
    assert (found.decisions == some).all()
    assert all(
        (getattr(found, name) == getattr(selected, name)).all()
        for name in ("actions", "rows", "starts", "ends")
    )


def test_legal_actions_on_another_device_keep_their_decisions() -> None:
    found = LegalActions.of(masks()).select(torch.tensor([7, 0, 39]))
    moved = found.to(torch.device("meta"))  # a device on every machine; its tensors have shapes only
    assert moved.decisions.device.type == "meta" and moved.decisions.shape == (3,)
    assert found.to(found.actions.device) is found


def test_the_place_of_an_action_is_found() -> None:
    legal, chosen = LegalActions.of(masks()), masks().int().argmax(1)
    last = masks().shape[1] - 1 - masks().flip(1).int().argmax(1)
    assert (legal.find(chosen, 30) == 0).all()
    assert (legal.actions[legal.starts + legal.find(last, 30)] == last).all()


def test_actions_are_drawn_by_their_probabilities_among_the_legal_ones() -> None:
    mask = torch.tensor([[True, False, True, True], [False, True, False, False]]).repeat(20_000, 1)
    legal = LegalActions.of(mask)
    chances = torch.tensor([0.6, 0.0, 0.1, 0.3])
    logprobs = legal.logprobs(chances.log().expand(len(mask), 4)[mask].clamp(min=-9.0))
    actions = legal.actions[legal.sample(logprobs, torch.Generator().manual_seed(3))]
    assert (actions[1::2] == 1).all()
    drawn = torch.bincount(actions[::2], minlength=4) / 20_000
    assert torch.allclose(drawn, chances, atol=0.015)


@pytest.mark.parametrize(
    ("preset", "players", "options"),
    [("classic", 2, {}), ("capital", 3, {}), ("classic", 6, {"card_reroll": True, "commander": True})],
)
def test_kernels_and_torch_agree_about_logits_and_gradients(
    preset: str, players: int, options: dict[str, Any]
) -> None:
    rules = Rules.preset(preset, players, **options, profile="fast")
    batch = GameBatch(rules, BOARD, 32, seed=1)
    batch.reset()
    chance = np.random.default_rng(0)
    for _ in range(300):
        batch.step((chance.random(batch.action_mask.shape) * batch.action_mask).argmax(1))
    layout = Layout(rules, BOARD, batch.num_actions)
    heads = heads_of(layout)
    decisions = torch.tensor([31, 4, 4, 0, 17])
    legal = LegalActions.of(torch.as_tensor(batch.action_mask > 0)).select(decisions)
    features = values(32, BOARD.num_territories, 2 * layout.own_features).relu()
    shapes = (
        (5, WIDTH),
        (5, 3, LOCAL),
        (batch.num_actions, WIDTH),
        (batch.num_actions,),
        (heads.rows[-1], LOCAL),
        (3, LOCAL),
    )
    inputs = [values(*map(int, shape)).requires_grad_() for shape in shapes]
    weights = values(len(legal.actions))
    found = [answer(heads, legal, features, Inputs(*inputs)) for answer in (action_logits, logits_in_torch)]
    assert torch.allclose(found[0], found[1], atol=1e-4)
    gradients = [torch.autograd.grad((logits * weights).sum(), inputs) for logits in found]
    assert all(
        torch.allclose(*pair, atol=1e-3) and pair[0].abs().sum() > 0 for pair in zip(*gradients, strict=True)
    )
