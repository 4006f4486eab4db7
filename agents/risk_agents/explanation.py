"""Explanations by agents that search: the plans with their estimates, and the chosen plan.

The analysis board (`risk-env serve`) shows the explanations of registered agents with a method `explain()`.
The method returns an `Explanation`, or None if there is no explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from risk_env.board.maps import OUTSIDE, Board

MOST_NAMED = 3  # maximum length of a list of territories or areas in the words of a plan


@dataclass(frozen=True)
class PlanEstimate:
    """Plan for the turn or for one decision, and the plan's estimated win probability."""

    plan: str  # name of the bot that plays the turn, or the text of an action
    games: int  # number of games played for the estimate
    chance: float  # estimated win probability of the seat, 0 to 1
    error: float  # standard error of `chance`
    captures: tuple[tuple[str, str], ...]  # source and target of each attack in one sampled game, by name
    words: str = ""  # description of the plan (`plan_words`), or "" if there is none


@dataclass(frozen=True)
class Explanation:
    """The plans that an agent considered, and the chosen plan."""

    seat: int
    round: int
    chosen: str  # name of the chosen plan
    plans: tuple[PlanEstimate, ...]  # best first
    chances: tuple[float, ...] = ()  # win probability of every seat; () if not estimated
    errors: tuple[float, ...] = ()  # standard errors of `chances`

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dict for `json.dumps`."""
        return asdict(self)


@runtime_checkable
class Explaining(Protocol):
    """Agent that can explain its choice."""

    def explain(self) -> Explanation | None:
        """Return the explanation of the last choice, or None if there is none."""


def plan_words(board: Board, drafts: Sequence[str], captures: Sequence[tuple[str, str]]) -> str:
    """Return a plan in words, such as `attack through Africa with the draft on Egypt`.

    `drafts` are the names of the territories that get troops. `captures` contains the names of the source and
    the target of each attack.
    """
    draft = f"draft on {_listed(drafts)}" if drafts else ""
    if not captures:
        return f"no attack, {draft}" if draft else "no attack"
    if len(captures) == 1:
        attack = "attack {1} from {0}".format(*captures[0])
    else:
        attack = f"attack through {_listed([_area(board, target) for _, target in captures])}"
    return f"{attack} with the {draft}" if draft else attack


def _area(board: Board, territory: str) -> str:
    """Return the name of a territory's continent, or `territory` if the territory is in no continent."""
    continent = board.continents[board.continent_of[board.territory(territory)]]
    return territory if continent == OUTSIDE else continent


def _listed(names: Sequence[str]) -> str:
    """Join the distinct names; if there are more than MOST_NAMED, end with a number such as "3 more"."""
    different = list(dict.fromkeys(names))
    if len(different) > MOST_NAMED:
        different[MOST_NAMED - 1 :] = [f"{len(different) - MOST_NAMED + 1} more"]
    *first, last = different
    return f"{', '.join(first)} and {last}" if first else last
