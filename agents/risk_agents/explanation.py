"""What an agent that searches says of its choice: plans, their estimates, and which one it plays.

Any agent with a method `explain()` that returns an `Explanation`, or None where it has nothing to say, is shown on the
analysis board (`risk-env serve`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class PlanEstimate:
    """A plan for the turn, or for the question at hand, and how well the games went that began with it."""

    plan: str  # the name of a bot whose turn it is, or the words of an action
    games: int  # that were played
    chance: float  # mean chance to win of the seat, 0 to 1
    error: float  # standard error of it
    captures: tuple[tuple[str, str], ...]  # attacks that the plan makes first, (from, to) by name


@dataclass(frozen=True)
class Explanation:
    """What was considered."""

    seat: int
    round: int
    chosen: str  # the plan that is played
    plans: tuple[PlanEstimate, ...]  # best first
    chances: tuple[float, ...] = ()  # to win, of every seat; () where they were not estimated

    def to_dict(self) -> dict[str, Any]:
        """A dict for `json.dumps`."""
        return asdict(self)


@runtime_checkable
class Explaining(Protocol):
    """An agent that can say why it chose."""

    def explain(self) -> Explanation | None:
        """What was considered for the last choice; None where there was none."""
