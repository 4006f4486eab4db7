"""Requests of browsers: a check of their entries, and the error for a request that is not allowed."""

from __future__ import annotations

from typing import Any

from risk_env.board.toml_table import similar_names
from risk_env.messages import shortened


class Refused(ValueError):
    """Error for a browser's request that is not allowed; the message states the reason."""


def checked_wish(
    wish: Any, needed: dict[str, type], optional: dict[str, type] | None = None
) -> dict[str, Any]:
    """Return a browser's request after a check of its entries.

    `needed` and `optional` contain the type of each entry. Raises Refused unless the request is a JSON object
    with all needed entries, no unknown entries, and values of these types.
    """
    types = needed | (optional or {})
    if not isinstance(wish, dict) or not needed.keys() <= wish.keys():
        raise Refused(f"the request must be a JSON object with these entries: {', '.join(needed) or 'none'}")
    if strange := sorted(wish.keys() - types.keys()):
        similar = similar_names(strange[0][:80], tuple(types))
        raise Refused(f"entry {shortened(strange[0])} is unknown{similar}")
    for name, value in wish.items():
        if type(value) is not types[name]:
            raise Refused(f"{name} must be of type {types[name].__name__}, not {type(value).__name__}")
    return wish
