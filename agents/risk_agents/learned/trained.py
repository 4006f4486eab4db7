"""Files of trained weights (`.npz`), which contain weights, a schema and training facts, but no pickles."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np

from risk_agents.learned.schema import Schema, schema_of
from risk_env.arrays import Array, read_npz
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.bounded_io import UNREADABLE, parse_json
from risk_env.messages import shortened

Weights = Mapping[str, Any]

FORMAT = 1
POLICY, BEAM_VALUE, STATE_VALUE, TURN_POLICY = "policy", "beam value", "state value", "turn policy"
MOST_BYTES = 1 << 25  # maximum total size of the arrays of a file, in bytes
MOST_WEIGHT = 65504  # the largest float16; files store weights as float16


class TrainedFile(ABC):
    """Trained weights, the schema of the training games, and facts about the training (`made`)."""

    KIND: ClassVar[str]

    def __init__(self, weights: Weights, schema: Schema, made: Mapping[str, Any]) -> None:
        self.weights, self.schema, self.made = dict(weights), schema, dict(made)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a file; raise ValueError if the file cannot be read, is of another kind or is not valid."""
        weights, facts = _read(path)
        if kind_in(facts) != cls.KIND:
            raise ValueError(f"file {str(path)!r} contains a {kind_in(facts)}, but must contain a {cls.KIND}")
        trained = cls(weights, Schema.from_dict(facts["schema"]), facts["made"])
        try:
            _ = trained.arrays
        except ValueError as error:
            raise ValueError(f"file {str(path)!r}: {error}") from error
        return trained

    @abstractmethod
    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """Return a bot that plays with these weights; `source` names the weights in errors."""

    @classmethod
    def load_bot(cls, path: str | Path, name: str | None = None) -> CompiledBot:
        """Return the bot that plays with the weights in a file."""
        return cls.load(path).bot(name or str(path), name)

    def bot_of(
        self, choose: Callable[..., None], source: str, name: str | None, memory: int = 1
    ) -> CompiledBot:
        """Return a bot that chooses actions with `choose` in games that fit the schema."""

        version = str(self.made.get("version", "1"))
        check = partial(self.check, source=source)
        return CompiledBot(name or str(self.made.get("name", source)), version, choose, memory, check)

    def check(self, rules: Rules, board: Board, source: str) -> None:
        """Raise ValueError if the weights were trained for other games.

        The message names the weights by `source`.
        """
        self.schema.check(schema_of(rules, board), source)

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight by name, for the schema's map.

        Raises ValueError if the weights do not give the sizes of the layers, or if a size is not allowed.
        """

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """Weights by name as float32; raises ValueError for invalid shapes or numbers."""
        shapes, given = self.shapes(), {name: np.shape(values) for name, values in self.weights.items()}
        wrong = sorted(name for name in {*given, *shapes} if given.get(name) != shapes.get(name))
        if wrong:
            told = ", ".join(
                f"{name} has shape {given.get(name)}, but must have {shapes.get(name)}" for name in wrong[:3]
            )
            raise ValueError(f"the weights of the {self.KIND} do not match its schema: {told}")
        check_numbers(self.weights)
        return {name: np.ascontiguousarray(values, np.float32) for name, values in self.weights.items()}

    def size_of(self, name: str, most: int) -> int:
        """Return the number of outputs of a layer; raise ValueError unless the number is from 1 to `most`."""
        shape = np.shape(self.weights.get(name, ()))
        if len(shape) != 2 or not 0 < shape[1] <= most:
            raise ValueError(
                f"layer {name!r} of the {self.KIND} has shape {shape}, but must have two axes and 1 to "
                f"{most} outputs"
            )
        return shape[1]

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the weights (as float16), the schema and the facts to a path or an open file."""
        facts = {"format": FORMAT, "kind": self.KIND, "schema": self.schema.to_dict(), "made": self.made}
        check_numbers(self.weights)
        weights: dict[str, Any] = {
            name: np.asarray(values, np.float16) for name, values in self.weights.items()
        }
        np.savez_compressed(path, facts=np.array(json.dumps(facts)), **weights)


def kind_in(facts: Mapping[str, Any]) -> str:
    """Return the kind of a file, such as POLICY or BEAM_VALUE."""
    return str(facts["kind"])


def facts_of(path: str | Path) -> dict[str, Any]:
    """Return the facts in a file; raise ValueError if the file cannot be read."""
    return _read(path)[1]


def _read(path: str | Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the weights (float32) and the facts of a file.

    Raises ValueError, which names the file, if the file is defective.
    """
    try:
        arrays = read_npz(path, MOST_BYTES, "fU")
        facts = parse_json(str(arrays.pop("facts")[()]))
        _check_facts(facts)
        check_numbers(arrays)
    except UNREADABLE as error:
        raise ValueError(f"trained file {str(path)!r} cannot be read: {error}") from error
    return {name: values.astype(np.float32) for name, values in arrays.items()}, facts


def check_numbers(weights: Weights) -> None:
    """Raise ValueError unless all weights are real numbers from -MOST_WEIGHT to MOST_WEIGHT.

    With such weights, the sums in a network stay finite in float32 for all allowed layer sizes.
    """
    for name, values in weights.items():
        numbers = np.asarray(values)
        if numbers.dtype.kind != "f" or not (np.abs(numbers) <= MOST_WEIGHT).all():
            raise ValueError(
                f"weights {shortened(name)}: must be floats from -{MOST_WEIGHT} to {MOST_WEIGHT}"
            )


def _check_facts(facts: Any) -> None:
    """Raise ValueError, KeyError or TypeError if facts have another format or wrong types."""
    if facts["format"] != FORMAT:
        raise ValueError(f"format is {shortened(facts['format'])}; this version reads format {FORMAT}")
    if facts["kind"] not in (POLICY, BEAM_VALUE, STATE_VALUE, TURN_POLICY):
        raise ValueError(
            f"kind is {shortened(facts['kind'])}, but must be policy, beam value, state value or turn policy"
        )
    for name in ("made", "schema"):
        if not isinstance(facts[name], dict):
            raise ValueError(f"{name} is {shortened(facts[name])}, but must be of type dict")
    Schema.from_dict(facts["schema"]).check_types()
