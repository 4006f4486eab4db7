"""Files of trained weights (`.npz`): weights, what they were trained for, and how. Only data, nothing pickled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
import numpy.typing as npt

from risk_agents.learned.schema import Schema

Array = npt.NDArray[Any]
Weights = Mapping[str, Any]

FORMAT = 1
POLICY, VALUE = "policy", "value"


class TrainedFile:
    """Trained weights, the schema of the games they were trained for, and how they were made."""

    KIND: ClassVar[str]

    def __init__(self, weights: Weights, schema: Schema, made: Mapping[str, Any]) -> None:
        self.weights, self.schema, self.made = dict(weights), schema, dict(made)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The content of a file; ValueError if it cannot be read, or is of another kind."""
        weights, facts = _read(path)
        if kind_in(facts) != cls.KIND:
            raise ValueError(f"file {str(path)!r} holds a {kind_in(facts)}, not a {cls.KIND}")
        return cls(weights, Schema.from_dict(facts["schema"]), facts["made"])

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the file, to a path or an open file; weights as float16."""
        facts = {"format": FORMAT, "kind": self.KIND, "schema": self.schema.to_dict(), "made": self.made}
        weights: dict[str, Any] = {name: np.asarray(values, np.float16) for name, values in self.weights.items()}
        np.savez_compressed(path, facts=np.array(json.dumps(facts)), **weights)


def kind_in(facts: Mapping[str, Any]) -> str:
    """POLICY or VALUE; the first policy files have no kind."""
    return str(facts.get("kind", POLICY))


def facts_of(path: str | Path) -> dict[str, Any]:
    """The facts in a file; ValueError if it cannot be read."""
    return _read(path)[1]


def schema_in(path: str | Path) -> Schema:
    """The schema in a file; ValueError if it cannot be read."""
    return Schema.from_dict(facts_of(path)["schema"])


def _read(path: str | Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """Weights as float32, and facts."""
    try:
        with np.load(path, allow_pickle=False) as found:
            facts = json.loads(str(found["facts"]))
            weights = {name: found[name].astype(np.float32) for name in found.files if name != "facts"}
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"policy file {str(path)!r} cannot be read: {error}") from error
    if facts["format"] != FORMAT:
        raise ValueError(f"policy file {str(path)!r} has format {facts['format']}; this version reads {FORMAT}")
    return weights, facts
