"""Crafted trained files that state a wrong map digest or wrong sizes of their weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from risk_agents.learned.beam_value_features import num_columns, value_shapes
from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import Schema, schema_of
from risk_agents.learned.state_value import StateValueFile, input_columns, state_value_shapes
from risk_agents.learned.trained import TrainedFile
from risk_agents.search.beam_value import BeamValueFile
from risk_agents.search.plans import NAMES
from risk_agents.search.turn_policy import TurnPolicyFile
from risk_env import load_map
from risk_env.board.maps import Board
from risk_env.board.rules import Rules

KINDS: dict[str, type[TrainedFile]] = {
    "policy": PolicyFile,
    "beam value": BeamValueFile,
    "state value": StateValueFile,
    "turn policy": TurnPolicyFile,
}
DUEL = Rules.preset("classic", 2, profile="fast")
UNITS = 8  # of a hidden layer


def shapes_on(kind: str, board: Board, units: int = UNITS) -> dict[str, tuple[int, ...]]:
    """Return the shapes of small weights for duels on a map."""
    if kind == "policy":
        return Layout(DUEL, board, schema_of(DUEL, board).num_actions).all_shapes(units, units)
    if kind == "beam value":
        return value_shapes(num_columns(DUEL, board), units, units)
    outputs = 6 if kind == "state value" else len(NAMES)
    return state_value_shapes(len(input_columns(board)), units, units, outputs)


def crafted(path: Path, kind: str, named: str, digest_of: str, shaped_for: str, units: int = UNITS) -> Path:
    """Write a file that names one map, has the digest of another, and weights shaped for a third."""
    facts = schema_of(DUEL, load_map(digest_of)).to_dict() | {"map_source": named}
    facts["num_actions"] = schema_of(DUEL, load_map(shaped_for)).num_actions
    weights = {name: np.zeros(shape) for name, shape in shapes_on(kind, load_map(shaped_for), units).items()}
    KINDS[kind](weights, Schema(**facts), {"name": "crafted", "plans": list(NAMES)}).save(path)
    return path
