"""Checks of arguments that several interfaces share.

Errors name the argument, the value and the allowed values.
"""

from typing import Any

import numpy as np

from risk_env.messages import shortened, suggestion

FLAT, STRUCTURED = OBSERVATIONS = ("flat", "structured")  # forms of an observation (docs/observation.md)


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise ValueError, which lists `choices`, unless `value` is one of `choices`."""
    if value not in choices:
        hint = suggestion(value, [choice for choice in choices if isinstance(choice, str)])
        raise ValueError(f"{name}={shortened(value)}: choose one of {', '.join(map(repr, choices))}{hint}")


def check_count(name: str, value: Any) -> None:
    """Raise ValueError, which names the argument, unless `value` is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}={shortened(value)}: must be a whole number of at least 1")


def check_seat(seat: Any, num_players: int, or_none: bool = False) -> None:
    """Raise ValueError unless `seat` is the number of a seat.

    With `or_none`, `seat` may be None, which means the next seat in each new game.
    """
    if or_none and seat is None:
        return
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < num_players:
        allowed = f"{'None (each seat in turn) or ' * or_none}a whole number from 0 to {num_players - 1}"
        raise ValueError(f"seat={shortened(seat)}: must be {allowed}")
