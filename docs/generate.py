"""Writes docs/observation.md from the code that writes observations: `python docs/generate.py` (make docs)."""

from __future__ import annotations

from pathlib import Path

from risk_env import load_map
from risk_env.core.observe import (
    CONTINENT_COLUMNS,
    GLOBAL_BLOCKS,
    GLOBAL_WIDTH,
    MOST_CODE,
    TERRITORY_COLUMNS,
    TERRITORY_WIDTH,
    num_globals,
)
from risk_env.core.types import Phase
from risk_env.game import count_codes

PAGE = Path(__file__).parent / "observation.md"
INTRODUCTION = f"""# Observation

What one seat may see, and nothing else: everything public, the own cards and the own mission. Written by
`risk_env/core/observe.py`; this page is generated from it (`make docs`; a test checks that it is up to date).

Players are counted from the observing seat: player 0 is the seat itself, player 1 the next clockwise, and so on,
mission targets included; so one policy plays every seat. `GameBatch` gives int8 codes 0 ... {MOST_CODE}; everything
else gives the same codes divided by {MOST_CODE} as float32. *Count* means `encode_count`, below.

`"flat"`: one vector of D = {TERRITORY_WIDTH} T + G numbers, territory after territory, then the globals.
`"structured"`: `territories` (T, {TERRITORY_WIDTH}) and `globals` (G,).
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, _sizes(), _territories(), _globals(), _continents(), _phases(), _codes()]
    return "\n".join(parts)


def _sizes() -> str:
    rows = []
    for name in ("tiny", "classic", "big"):
        board = load_map(name)
        T, G = board.num_territories, num_globals(len(board.continents))
        rows.append((name, T, G, TERRITORY_WIDTH * T + G))
    return _table("Sizes", ("map", "T", "G", "D"), rows)


def _territories() -> str:
    rows = [(column, f"`{name}`", words) for column, (name, words) in enumerate(TERRITORY_COLUMNS)]
    return _table("Of each territory", ("column", "name", "meaning"), rows)


def _globals() -> str:
    rows, first = [], 0
    for name, width, words in GLOBAL_BLOCKS:
        columns = str(first) if width == 1 else f"{first}–{first + width - 1}"
        rows.append((columns, f"`{name}`", words))
        first += width
    return _table("Globals", ("columns", "name", "meaning"), rows)


def _continents() -> str:
    width = len(CONTINENT_COLUMNS)
    rows = [
        (f"{GLOBAL_WIDTH} + {width} c + {k}", f"`{name}`", words) for k, (name, words) in enumerate(CONTINENT_COLUMNS)
    ]
    title = "Of each continent c (in the globals, after the rest; zeros fill up to a multiple of 8)"
    return _table(title, ("column", "name", "meaning"), rows)


def _phases() -> str:
    rows = [(int(phase), f"`{phase.name}`") for phase in Phase if phase < Phase.OVER]
    return _table("Phases (docs/decisions.md), in the order of the one-hot", ("number", "phase"), rows)


def _codes() -> str:
    rows = [(code, least) for code, least in count_codes() if code <= 32 or code % 4 == 0]
    kept = [row for row in rows if row[0] in (0, 1, 2, 31, 32) or row[0] > 32]
    note = "A count from `least` on has this code, up to the next; itself to 32, then four codes a doubling.\n"
    return _table("encode_count", ("code", "least count"), kept) + "\n" + note


def _table(title: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} written")
