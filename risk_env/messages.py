"""Parts of messages for people: values, errors, counts and hints."""

import difflib
from collections.abc import Iterable
from typing import Any


def shortened(value: Any) -> str:
    """Return the text of a wrong value for an error message, in at most 80 characters."""
    try:
        words = repr(value)
    except (ValueError, RecursionError):  # thousands of digits or levels
        return f"<{type(value).__name__} too large to be shown>"
    return words if len(words) <= 80 else words[:77] + "..."


def cause(error: Exception) -> str:
    """Return the type and the message of an error, for use in another error's message.

    The result is one line of at most 300 characters.
    """
    words = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return words if len(words) <= 300 else words[:297] + "..."


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 game", "0 replays" or "1,200 territories"."""
    ends_in_ies = noun.endswith("y") and noun[-2:-1] not in "aeou"
    plural = f"{noun[:-1]}ies" if ends_in_ies else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def suggestion(name: Any, names: Iterable[str]) -> str:
    """Return a hint that suggests the most similar of `names`, or "" if no name is similar."""
    text = name[:100] if isinstance(name, str) else shortened(name)
    close = difflib.get_close_matches(text, list(names), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
