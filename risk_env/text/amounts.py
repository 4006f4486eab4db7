"""Amounts of troops: the maximum number of troops to place or move, and the amount to choose first."""

from typing import Any

from risk_env.board.action_space import ALL, AMOUNTS, HALF
from risk_env.core.types import MOST_TROOPS, Phase
from risk_env.text.notation import DECISIONS

AMOUNT_PHASES = tuple(phase for phase, decision in DECISIONS.items() if decision.block == "amount")
_NUMBERS = tuple(amount for amount in AMOUNTS if isinstance(amount, int))


def most_troops(position: Any, max_troops: int | None) -> int:
    """Return the maximum number of troops that can be placed or moved in a decision about an amount.

    `position` is a PublicState, a game record, or any other object with the attributes `phase`, `source`,
    `target`, `troops` and `draft_left` (docs/decisions.md). `max_troops` is the option of the rules.
    """
    is_draft = position.phase == Phase.DRAFT_AMOUNT
    most = int(position.draft_left if is_draft else position.troops[position.source] - 1)
    return min(most, room(int(position.troops[position.target]), max_troops))


def room(troops: int, max_troops: int | None) -> int:
    """Return the number of troops that may be added to a territory with `troops` troops (RULES 1.5, 10.3)."""
    return (max_troops or MOST_TROOPS) - troops


def first_amount(wanted: int, most: int) -> tuple[str, int]:
    """Return the legal amount to choose first, as text, and the number of troops still wanted afterwards.

    The player wants to place or move `wanted` of `most` troops. If `wanted` is `most` or more, the amount is
    "all". Raises ValueError if `wanted` is below 1.
    """
    if wanted < 1:
        raise ValueError(f"wanted={wanted}: must be at least 1")
    if wanted >= most:
        return ALL, 0
    if wanted == most // 2 and wanted not in _NUMBERS:
        return HALF, 0
    first = max(number for number in _NUMBERS if number <= wanted)
    return str(first), wanted - first
