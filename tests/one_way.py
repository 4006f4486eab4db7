"""Maps with one-way borders, made from the shipped maps."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from risk_env.board import maps
from risk_env.board.borders import unreachable
from risk_env.board.maps import Board, load_map, read_map

FOLDER = Path(maps.__file__).parent / "map_files"
RING = ("Ash", "Birch"), ("Birch", "Ember"), ("Ember", "Dune"), ("Dune", "Cedar"), ("Cedar", "Ash")
SHARE = 0.5  # share of the borders of a random map that lose one direction


def one_way_text(name: str, ways: Iterable[tuple[str, str]]) -> str:
    """Return the text of a shipped map. Each border of `ways`, (source, target), becomes one-way."""
    kept = set(ways)
    head, *blocks = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").split("[[territory]]\n")
    return "[[territory]]\n".join([head, *(_changed(block, kept) for block in blocks)])


def _changed(block: str, kept: set[tuple[str, str]]) -> str:
    territory = re.search('name = "(.*?)"', block)[1]
    (statement,) = re.findall(r"^borders = \[.*?\]\n", block, re.MULTILINE | re.DOTALL)
    targets = tomllib.loads(statement)["borders"]
    one_way = [target for target in targets if (territory, target) in kept]
    two_way = [t for t in targets if t not in one_way and (t, territory) not in kept]
    lists = f"borders = {json.dumps(two_way)}\n" + f"one_way_to = {json.dumps(one_way)}\n" * bool(one_way)
    return block.replace(statement, lists)


def one_way_map(name: str, *ways: tuple[str, str]) -> Board:
    """Return a shipped map with these borders made one-way."""
    return read_map(one_way_text(name, ways), f"one-way {name}")


@cache
def random_one_way_map(name: str, seed: int = 0) -> Board:
    """Return a shipped map in which about half of the borders are one-way, in random directions."""
    board, rng = load_map(name), random.Random(seed)
    borders, ways = set(board.borders), []
    pairs = [(s, t) for s, t in board.borders if s < t]
    for pair in rng.sample(pairs, round(SHARE * len(pairs))):
        back = rng.choice([pair, pair[::-1]])
        if unreachable(board.num_territories, borders - {back}) == ([], []):
            borders.remove(back)
            ways.append((board.territories[back[1]], board.territories[back[0]]))
    return one_way_map(name, *ways)


@cache
def ring() -> Board:
    """Return the map `tiny` with five of seven borders one-way: Ash > Birch > Ember > Dune > Cedar > Ash."""
    return one_way_map("tiny", *RING)
