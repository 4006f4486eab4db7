"""Schema of trained weights: map, rules, number of actions and observation columns of the training games.

A policy or a beam value refuses games that differ from its schema in anything except FREE_OPTIONS. Networks
for any number of players allow more differences (`learned.state_value`).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board, load_map
from risk_env.board.rules import OPTIONS, Rules
from risk_env.board.tables import tables
from risk_env.core.observe import CONTINENT_COLUMNS, GLOBAL_BLOCKS, TERRITORY_COLUMNS, TERRITORY_WIDTH
from risk_env.core.types import Phase
from risk_env.messages import shortened
from risk_env.observations import is_count

# Options that may differ between the training games and the games to play
FREE_OPTIONS = ("attack", "defender_dice", "max_rounds")


@dataclass(frozen=True)
class Schema:
    """Facts about a network's training games, on which the meaning of the network's weights depends."""

    map_source: str
    map_digest: str
    columns: str  # hash of the columns of the observation
    num_actions: int
    options: Mapping[str, Any]  # options of the rules

    @cached_property
    def rules(self) -> Rules:
        """Rules of the training games."""
        return Rules.from_dict(dict(self.options))

    @cached_property
    def board(self) -> Board:
        """Map of the training games; raises ValueError if the map has changed.

        The shapes of the weights are computed from this map, so its digest must be the digest in the file.
        """
        board = load_map(self.map_source)
        other = differences(_facts(self), _facts(schema_of(self.rules, board)))
        if other:
            raise ValueError(
                f"the file does not fit its map {shortened(self.map_source)}: the file has {other}"
            )
        return board

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as a dict for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the schema that a dict from `to_dict` describes."""
        return cls(**facts)

    def check_types(self) -> None:
        """Check the types of facts that were read from a file.

        Raises ValueError or TypeError if a fact has the wrong type, or if the rules are not valid.
        """
        texts = (self.map_source, self.map_digest, self.columns)
        if not all(isinstance(text, str) for text in texts) or type(self.num_actions) is not int:
            raise ValueError(
                f"schema: map_source, map_digest and columns are {shortened(texts)}, and num_actions is "
                f"{shortened(self.num_actions)}: must be strings and a whole number"
            )
        Rules.from_dict(dict(self.options))

    def check(self, game: Self, source: str) -> None:
        """Raise ValueError if weights with this schema cannot play games with the schema `game`.

        The message names the weights by `source`, and lists all differences.
        """
        if other := self.differences(game):
            raise ValueError(f"{source!r} was trained for {other}")

    def differences(self, game: Self) -> str:
        """Describe all differences between these games and the games of schema `game`; return "" if none."""
        trained, now = _facts(self), _facts(game)
        names = shortened(self.map_source), shortened(game.map_source)
        if trained["map"] != now["map"] and names[0] != names[1] and max(map(len, names)) <= 16:
            trained["map"], now["map"] = self.map_source, game.map_source
        return differences(trained, now)


def _facts(schema: Schema) -> dict[str, Any]:
    """Return the facts that must be equal in training and play, by name."""
    facts: dict[str, Any] = {
        "map": schema.map_digest,
        "columns": schema.columns,
        "actions": schema.num_actions,
    }
    return facts | {name: getattr(schema.rules, name) for name in OPTIONS if name not in FREE_OPTIONS}


def differences(trained: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Describe each fact that differs; return "" if no fact differs."""
    pairs = [(name, known, now[name]) for name, known in trained.items() if known != now[name]]
    return "; ".join(f"{name}={_shown(known)}, not {_shown(other)}" for name, known, other in pairs)


def _shown(fact: Any) -> str:
    """Format a fact for a message; show only the first 16 characters of a string."""
    return repr(fact[:16]) if isinstance(fact, str) else repr(fact)


def schema_of(rules: Rules, board: Board) -> Schema:
    """Return the schema of games with these rules on this map."""
    return Schema(board.source, board.digest, _columns(), tables(rules, board).num_actions, rules.to_dict())


def _columns() -> str:
    """Return a hash of the observation columns: their names, sizes, order, and which of them are counts."""
    columns: list[tuple[Any, ...]] = [*TERRITORY_COLUMNS, *GLOBAL_BLOCKS, *CONTINENT_COLUMNS]
    described = [(name, *size, is_count(meaning)) for name, *size, meaning in columns]
    return hashlib.sha256(repr(described).encode()).hexdigest()[:16]


def unfamiliar_columns(trained: Rules, board: Board) -> npt.NDArray[np.int64]:
    """Return the columns of a flat observation that mark the phases of `unfamiliar_phases`, int64 (k,)."""
    names = [name for name, *_ in GLOBAL_BLOCKS]
    before = sum(width for _, width, _ in GLOBAL_BLOCKS[: names.index("phase")])
    first = TERRITORY_WIDTH * board.num_territories + before
    return first + np.flatnonzero(unfamiliar_phases(trained))


def unfamiliar_phases(trained: Rules) -> npt.NDArray[np.bool_]:
    """Return a mask of the dice phases that never occurred in training, bool (phases,).

    In these phases, a policy plays the last legal action. For an attacker, this is a blitz or, if a blitz is
    not allowed, the largest number of dice.
    """
    unfamiliar = np.zeros(len(Phase), np.bool_)
    unfamiliar[Phase.ATTACK_DICE], unfamiliar[Phase.DEFEND] = (
        trained.attack != "choice",
        trained.defender_dice != "choice",
    )
    return unfamiliar
