"""Trained policies of the project's own trainer: the network in NumPy, the `.npz` file, and the agent that plays it.

`forward` is the network itself, written once for NumPy (here) and torch (`training.ppo`): a trunk sees the whole
board, and small heads that are the same everywhere on the map look at a territory and its neighbours, or at both ends
of a border.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, View
from agents.schema import Schema, answers_as_trained, schema_of
from risk_env.core.observe import GLOBAL_BLOCKS, GLOBAL_WIDTH, TERRITORY_COLUMNS, TERRITORY_WIDTH, num_globals
from risk_env.core.types import NUM_AMOUNTS, NUM_DICE_ACTIONS
from risk_env.maps import Board, load_map
from risk_env.rules import Rules

Array = npt.NDArray[Any]
Weights = Mapping[str, Any]

FORMAT = 1
ILLEGAL = -40.0  # the logit of what is not legal: next to no probability, but none of the tiny floats that are slow
_MANY = 16.0  # codes are divided by this where a count goes in as it is
_LOCAL_SCALE = 0.25  # of the sum over the neighbours


class Layout:
    """What the network needs to know of a map and its rules: columns that are ever used, borders, blocks of actions."""

    def __init__(self, rules: Rules, board: Board, num_actions: int) -> None:
        self.territories, self.num_actions = board.num_territories, num_actions
        self.sources = np.array([source for source, _ in board.borders])
        self.targets = np.array([target for _, target in board.borders])
        self.border_0 = board.num_territories
        self.card_0 = self.border_0 + len(board.borders) + NUM_DICE_ACTIONS + NUM_AMOUNTS
        self.counts, self.marks = used_columns(rules)
        self.count_columns, self.mark_columns = in_a_row(self.counts), in_a_row(self.marks)
        self.neighbours = np.zeros((board.num_territories, board.num_territories), np.float32)
        self.neighbours[self.sources, self.targets] = _LOCAL_SCALE
        self.global_counts = counted_globals(board)

    @property
    def columns(self) -> int:
        """Features of a territory by itself."""
        return 3 * len(self.counts) + len(self.marks)

    @property
    def inputs(self) -> int:
        """Features that the trunk sees."""
        return self.territories * self.columns + len(self.global_counts) + 4 * self.columns

    @cached_property
    def end_columns(self) -> tuple[int, int]:
        """Where `source` and `target` are among the features of a territory."""
        names = [TERRITORY_COLUMNS[column][0] for column in self.marks]
        first = 3 * len(self.counts)
        return first + names.index("source"), first + names.index("target")

    def shapes(self, width: int, local: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the weights, for a trunk and local heads of so many units."""
        shapes: dict[str, tuple[int, ...]] = {"trunk_1": (self.inputs, width), "trunk_2": (width, width)}
        shapes |= {"actions": (width, self.num_actions), "value": (width, 1)}
        for head, ends in (("territory", 1), ("border", 2), ("card", 1)):
            shapes[f"{head}_in"] = (2 * self.columns * ends, local)
            shapes[f"{head}_trunk"] = (width, local)
            shapes[f"{head}_out"] = (local, 1)
        return shapes


def used_columns(rules: Rules) -> tuple[list[int], list[int]]:
    """The columns of a territory that these rules ever use: those that count troops, and the others."""
    names = [name for name, _ in TERRITORY_COLUMNS]
    counts = [f"troops_{k}" for k in range(rules.num_players)] + ["troops_neutral"] * rules.neutral
    marks = ["source", "target", "own_card", "known_card", "discarded"]
    if rules.deck == "star":
        marks += ["city", "seat_of", "airfield", "taken"]
    elif rules.victory == "headquarters":
        marks += ["seat_of"]
    return [names.index(name) for name in counts], [names.index(name) for name in marks]


def in_a_row(columns: list[int]) -> list[int] | slice:
    """The same columns as a slice, which is quicker to read, where they lie side by side."""
    first, last = columns[0], columns[-1]
    return slice(first, last + 1) if columns == list(range(first, last + 1)) else columns


def counted_globals(board: Board) -> npt.NDArray[np.bool_]:
    """bool (G,): which global columns are counts (docs/observation.md)."""
    counted = np.zeros(num_globals(len(board.continents)), np.bool_)
    blocks = [("(count" in meaning, width) for _, width, meaning in GLOBAL_BLOCKS]
    counted[:GLOBAL_WIDTH] = np.repeat([is_count for is_count, _ in blocks], [width for _, width in blocks])
    return counted


def features(xp: Any, layout: Layout, codes: Any) -> tuple[Any, Any]:
    """Territory features (k, T, 2 F), a territory's own and its neighbours', and global ones (k, G), of codes float32
    (k, D).
    """
    split = TERRITORY_WIDTH * layout.territories
    board = codes[:, :split].reshape(-1, layout.territories, TERRITORY_WIDTH)
    counts, others = board[:, :, layout.count_columns], codes[:, split:]
    present = 1.0 * (counts > 0)
    own = xp.concatenate([present, xp.log1p(counts) / 2, counts / _MANY, board[:, :, layout.mark_columns]], 2)
    around = _like(xp, layout.neighbours, codes) @ own
    counted = _like(xp, layout.global_counts, codes)
    return xp.concatenate([own, around], 2), xp.where(counted, xp.log1p(others) / 2, others)


def _like(xp: Any, array: Array, other: Any) -> Any:
    """A constant as what the network computes with."""
    return array if xp is np else xp.as_tensor(array, device=other.device)


def forward(xp: Any, weights: Weights, layout: Layout, codes: Any, masks: Any) -> tuple[Any, Any]:
    """Logits (k, n), ILLEGAL where not legal, and values (k,), of codes float32 (k, D) and masks bool (k, n)."""
    local, others = features(xp, layout, codes)
    trunk = trunk_of(weights, trunk_inputs(xp, layout, local, others))
    logits = trunk @ weights["actions"] + weights["actions_bias"]
    T, first, cards = layout.territories, layout.border_0, layout.card_0
    borders = len(layout.sources)
    rows, places = xp.where(masks[:, :T])
    logits[rows, places] += head(weights, "territory", local[rows, places], trunk, rows)
    rows, places = xp.where(masks[:, first : first + borders])
    ends = [local[rows, _like(xp, end, codes)[places]] for end in (layout.sources, layout.targets)]
    logits[rows, first + places] += head(weights, "border", xp.concatenate(ends, 1), trunk, rows)
    rows, places = xp.where(masks[:, cards : cards + T])
    logits[rows, cards + places] += head(weights, "card", local[rows, places], trunk, rows)
    values = (trunk @ weights["value"] + weights["value_bias"])[:, 0]
    return xp.where(masks, logits, _like(xp, np.array(ILLEGAL, np.float32), codes)), values


def trunk_inputs(xp: Any, layout: Layout, local: Any, others: Any) -> Any:
    """What the trunk sees: every territory, the globals, and the two ends of the move under way once more."""
    own = local[:, :, : layout.columns]
    ends = [(own[:, :, end : end + 1] * local).sum(1) for end in layout.end_columns]
    return xp.concatenate([own.reshape(len(own), -1), others, *ends], 1)


def trunk_of(weights: Weights, inputs: Any) -> Any:
    """Two layers over the whole view."""
    hidden = (inputs @ weights["trunk_1"] + weights["trunk_1_bias"]).clip(0)
    return (hidden @ weights["trunk_2"] + weights["trunk_2_bias"]).clip(0)


def head(weights: Weights, name: str, places: Any, trunk: Any, rows: Any) -> Any:
    """What a local head adds to the logits of the legal actions of its block: (m,) of places (m, ...) in rows (m,)."""
    whole = trunk @ weights[f"{name}_trunk"] + weights[f"{name}_in_bias"]
    hidden = (places @ weights[f"{name}_in"] + whole[rows]).clip(0)
    return (hidden @ weights[f"{name}_out"])[:, 0]


class PolicyFile:
    """A trained policy: weights, what they were trained for, and how."""

    def __init__(self, weights: Weights, schema: Schema, made: Mapping[str, Any]) -> None:
        self.weights, self.schema, self.made = dict(weights), schema, dict(made)

    @classmethod
    def load(cls, path: str | Path) -> PolicyFile:
        """The policy of a file; ValueError if it is none."""
        try:
            with np.load(path, allow_pickle=False) as found:
                facts = json.loads(str(found["facts"]))
                weights = {name: found[name].astype(np.float32) for name in found.files if name != "facts"}
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"policy file {str(path)!r} cannot be read: {error}") from error
        if facts["format"] != FORMAT:
            raise ValueError(f"policy file {str(path)!r} has format {facts['format']}; this version reads {FORMAT}")
        return cls(weights, Schema.from_dict(facts["schema"]), facts["made"])

    def save(self, path: str | Path) -> None:
        """Write the file; weights as float16."""
        facts = {"format": FORMAT, "schema": self.schema.to_dict(), "made": self.made}
        weights: dict[str, Any] = {name: np.asarray(values, np.float16) for name, values in self.weights.items()}
        np.savez_compressed(path, facts=np.array(json.dumps(facts)), **weights)

    @cached_property
    def layout(self) -> Layout:
        """The layout of the network."""
        rules, board = self.schema.rules, load_map(self.schema.map_source)
        return Layout(rules, board, self.schema.num_actions)

    def logits(self, codes: Array, masks: Array) -> Array:
        """float32 (k, n) of codes (k, D) and masks (k, n); ILLEGAL where not legal."""
        return forward(np, self.weights, self.layout, codes.astype(np.float32), masks > 0)[0]


class PolicyAgent(Agent):
    """Plays the likeliest action of a policy file, in the games that the file was trained for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.policy = PolicyFile.load(path)
        self.name = str(self.policy.made.get("name", self.path.stem))
        self.version = str(self.policy.made.get("version", "1"))

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """A game begins; ValueError if the policy was trained for another."""
        super().reset(seat, rules, board, seed)
        self.policy.schema.check(schema_of(rules, board), str(self.path))

    def act(self, view: View) -> int:
        """The likeliest legal action."""
        return self.act_batch([view])[0]

    def act_batch(self, views: list[View]) -> list[int]:
        """The same for many views in one inference."""
        codes = np.stack([view.codes for view in views])
        masks = np.stack([view.action_mask for view in views])
        likeliest = self.policy.logits(codes, masks).argmax(1)
        return [
            answers_as_trained(self.policy.schema.rules, view, int(action))
            for view, action in zip(views, likeliest, strict=True)
        ]
