"""Explanations by agents that search: the plans, an estimate of each plan, and the chosen plan.

The analysis board (`risk-env serve`) shows the explanations of any agent with a method `explain()`. The
method returns an `Explanation`, or None if there is no explanation.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class PlanEstimate:
    """Plan for the turn or for one decision, and the plan's estimated win probability."""

    plan: str  # name of the bot that plays the turn, or the text of an action
    games: int  # number of games played for the estimate
    chance: float  # estimated win probability of the seat, 0 to 1
    error: float  # standard error of `chance`
    captures: tuple[tuple[str, str], ...]  # names of the source and the target of the plan's first attacks


@dataclass(frozen=True)
class Explanation:
    """The plans that an agent considered, and the plan that it chose."""

    seat: int
    round: int
    chosen: str  # name of the chosen plan
    plans: tuple[PlanEstimate, ...]  # best first
    chances: tuple[float, ...] = ()  # win probability of every seat; () if not estimated

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dict for `json.dumps`."""
        return asdict(self)


@runtime_checkable
class Explaining(Protocol):
    """Agent that can explain its choice."""

    def explain(self) -> Explanation | None:
        """Return the explanation of the last choice, or None if there is none."""
