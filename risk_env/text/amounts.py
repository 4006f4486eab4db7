"""Numbers of troops as legal amounts: how many can be placed or moved, and the amount to choose first."""

from typing import Any

from risk_env.board.action_space import ALL, AMOUNTS, HALF
from risk_env.core.types import MOST_TROOPS, Phase
from risk_env.text.notation import DECISIONS

AMOUNT_PHASES = tuple(phase for phase, decision in DECISIONS.items() if decision.block == "amount")
_NUMBERS = tuple(amount for amount in AMOUNTS if isinstance(amount, int))


def most_troops(position: Any, max_troops: int | None) -> int:
    """Return the number of troops that can be placed or moved if an amount is due (docs/decisions.md).

    `position` is a PublicState, a game's record, or anything else with `phase`, `source`, `target` and the
    like.
    """
    is_draft = position.phase == Phase.DRAFT_AMOUNT
    most = int(position.draft_left if is_draft else position.troops[position.source] - 1)
    return min(most, room(int(position.troops[position.target]), max_troops))


def room(troops: int, max_troops: int | None) -> int:
    """Return the number of additional troops that a territory with `troops` may hold (RULES 1.5, 10.3)."""
    return (max_troops or MOST_TROOPS) - troops


def first_amount(wanted: int, most: int) -> tuple[str, int]:
    """Return the legal amount to choose first, and the number of troops that then remain.

    `wanted` of `most` troops are to be placed or moved. A number of `most` or more means all troops. Raises
    ValueError for a number below 1.
    """
    if wanted < 1:
        raise ValueError(f"troops={wanted}: must be at least 1")
    if wanted >= most:
        return ALL, 0
    if wanted == most // 2 and wanted not in _NUMBERS:
        return HALF, 0
    first = max(number for number in _NUMBERS if number <= wanted)
    return str(first), wanted - first
