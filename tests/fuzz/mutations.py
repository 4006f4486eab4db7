"""Mutations of inputs by an attacker who knows their format: of bytes, lines, words and JSON values."""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Sequence
from typing import Any

# Values that have the wrong type, are too large or too deep, or look like something else
NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    256,
    2**15,
    2**31 - 1,
    2**31,
    2**32,
    2**63,
    2**64,
    -(2**63),
    10**40,
    10**400,
)
WORDS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1e999",
        "nan",
        "None",
        "True",
        "wild",
        "done",
        "classic",
        "tiny",
        "random",
        "/dev/zero",
    ),
    *(
        "../../etc/passwd",
        "a\0b",
        "\ud800",
        "é",
        "\u202e",
        "x" * 300,
        "'",
        '"',
        "\n",
        "[/red]",
        "\x1b[2J",
        "%s",
        "{}",
    ),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        *NUMBERS,
        *WORDS,
        0.5,
        -0.0,
        1e308,
        float("nan"),
        float("inf"),
        [],
        {},
        [[]],
        {"": None},
    ),
    *([0] * 7, [None], ["a", 1], {"num_players": 3}),
)
TOKENS = (
    *(*WORDS, *map(str, NUMBERS), "0x" + "f" * 5000, "[" * 200, "{" * 2000, "a." * 500),
    *("=", ":", ",", ">", "#", "&a", "*a", "1:1:1", "2020-99-99", "!!int"),
)


def change_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a few flipped, removed, repeated or inserted."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(changed) + 1)
        size = rng.choice((1, 1, 2, 4, 16, 64))
        match rng.randrange(5):
            case 0:
                changed[at : at + size] = b""
            case 1:
                changed[at:at] = changed[at : at + size] * rng.choice((1, 2, 30))
            case 2:
                changed[at:at] = rng.randbytes(size)
            case 3:
                changed[at : at + 4] = rng.choice(NUMBERS[:14]).to_bytes(9, "little", signed=True)[:4]
            case _:
                for place in range(at, min(at + 1, len(changed))):
                    changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def change_text(text: str, rng: random.Random, between: str = "\n") -> str:
    """Return the text with some parts removed, repeated or swapped, or with a word replaced."""
    parts = text.split(between)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        match rng.randrange(6):
            case 0 if len(parts) > 1:
                del parts[at]
            case 1:
                parts[at:at] = parts[other : other + 3] * rng.choice((1, 1, 20))
            case 2:
                parts[at], parts[other] = parts[other], parts[at]
            case _:
                parts[at] = change_word(parts[at], rng)
    return between.join(parts)


def change_word(line: str, rng: random.Random) -> str:
    """Return the line with one word replaced, or with a token inserted."""
    words = line.split(" ")
    at = rng.randrange(len(words))
    if rng.random() < 0.7:
        words[at] = rng.choice(TOKENS)
        return " ".join(words)
    place = rng.randrange(len(line) + 1)
    return line[:place] + rng.choice(TOKENS) + line[place + rng.randrange(3) :]


def change_value(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with some inner values replaced, removed, repeated or swapped."""
    changed = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        holders = _holders(changed)
        if not holders:
            return rng.choice(VALUES)
        _change_in(rng.choice(holders), rng)
    return changed


def _holders(value: Any) -> list[Any]:
    """Return the lists and objects in a value that are not empty.

    Of long lists, only the first 50 items are searched.
    """
    found, todo = [], [value]
    while todo:
        holder = todo.pop()
        if isinstance(holder, dict | list) and holder:
            found.append(holder)
            todo += list(holder.values() if isinstance(holder, dict) else holder[:50])
    return found


def _change_in(holder: Any, rng: random.Random) -> None:
    keys: Sequence[Any] = list(holder) if isinstance(holder, dict) else range(len(holder))
    key, other = rng.choice(keys), rng.choice(keys)
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1:
            holder[key] = holder[other]
        case 2 if isinstance(holder, list):
            holder[key:key] = holder[:100] * rng.choice((1, 1, 10))
        case 2:
            holder[rng.choice(WORDS)] = holder[key]
        case 3 if type(holder[key]) is int:
            holder[key] += rng.choice((-2, -1, 1, 2, 100))
        case 4:
            for _ in range(rng.choice((1, 5, 40, rng.randrange(900, 1000)))):
                holder[key] = [holder[key]]
        case _:
            holder[key] = copy.deepcopy(rng.choice(VALUES))


def as_json(value: Any, **form: Any) -> bytes:
    """Return a value as JSON, however deep it is."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        return json.dumps(value, **form).encode()
    finally:
        sys.setrecursionlimit(before)
