"""Mask a key in untrusted text: replace every recognisable substring of the key."""

import base64
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import quote

# Length of the shortest substring that is masked; a shorter key is a placeholder, and is not masked
SHORTEST = 8
MASK = "[key]"
_LETTERS = ("%%%02x", "\\u%04x", "\\x%02x", "&#%d;", "&#x%x;")  # encodings of a single letter


def masked(words: str, key: str) -> str:
    """Mask substrings of the key in a string: plain, reversed or encoded, in upper or lower case.

    Every substring with at least `SHORTEST` characters is masked.
    """
    parts, lowered = _parts(key), words.lower()
    if len(lowered) != len(words):  # a few letters change their length in lower case
        lowered = words
    pieces: list[str] = []
    end = 0
    for at in range(len(words) - SHORTEST + 1 if parts else 0):
        if lowered[at : at + SHORTEST] in parts:
            if at > end or not pieces:
                pieces += [words[end:at], MASK]
            end = at + SHORTEST
    return "".join([*pieces, words[end:]])


def masked_values(value: Any, key: str) -> Any:
    """Mask the key in all strings of a JSON value."""
    if isinstance(value, str):
        return masked(value, key)
    if isinstance(value, dict):
        return {masked(str(name), key): masked_values(inner, key) for name, inner in value.items()}
    return [masked_values(inner, key) for inner in value] if isinstance(value, list | tuple) else value


@lru_cache(maxsize=16)
def _parts(key: str) -> frozenset[str]:
    """Return the substrings of length `SHORTEST` of the key, the reversed key and their encodings.

    The set also contains each substring in lower case. If the key is shorter than `SHORTEST`, the set is
    empty.
    """
    if len(key) < SHORTEST:
        return frozenset()
    forms = [form for plain in (key, key[::-1]) for form in _encodings(plain)]
    cut = {form[at : at + SHORTEST] for form in forms for at in range(len(form) - SHORTEST + 1)}
    return frozenset(cut | {part.lower() for part in cut})


def _encodings(key: str) -> Iterator[str]:
    """Yield the key as encoded in Python, JSON, HTML, URLs, hexadecimal, and base64 at each offset."""
    data = key.encode(errors="replace")
    yield from (key, ascii(key)[1:-1], quote(key, safe=""), data.hex())
    for form in _LETTERS:
        yield "".join(form % letter for letter in data)
    for offset in range(3):
        for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
            # The first and the last base64 characters also depend on the neighbouring text
            yield encode(b"\0" * offset + data).decode().rstrip("=")[(0, 2, 3)[offset] : -1]
