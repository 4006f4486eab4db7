"""Missions and Objectives of a random map, scaled from the classic map."""

from typing import Any

from risk_env.board.generating.spec import CLASSIC_TERRITORIES

MOST_PAIRS = 4


def missions(territories: int, continents: list[str], sizes: list[int]) -> list[dict[str, Any]]:
    """Return the missions: pairs of continents, numbers of territories, and seats to destroy."""
    by_size = sorted(range(len(continents)), key=lambda c: (-sizes[c], c))
    pairs = list(zip(by_size, reversed(by_size), strict=True))[: min(MOST_PAIRS, len(continents) // 2)]
    many = share(24, territories)
    return [
        *({"kind": "continents", "continents": [continents[a], continents[b]]} for a, b in pairs),
        {"kind": "territories", "territories": many},
        {"kind": "territories", "territories": share(18, territories), "min_troops": 2},
        {"kind": "destroy", "colours": 6, "fallback_territories": many},
    ]


def objectives(territories: int, continents: list[str], bonuses: list[int]) -> list[dict[str, Any]]:
    """Return the Objectives, minor Objectives first (RULES 9.6)."""
    best = sorted(range(len(continents)), key=lambda c: (-bonuses[c], c))[:3]
    cities = share(8, territories)
    minor = [
        *({"name": continents[c], "kind": "continent", "continent": continents[c]} for c in best),
        _counted(cities, "cities", "cities"),
        _counted(1, "enemy capital", "enemy_capitals"),
        _counted(share(4, territories), "new cities in one turn", "cities_in_turn"),
    ]
    major = [
        _counted(share(10, territories), "new territories in one turn", "territories_in_turn"),
        _counted(2, "enemy capitals", "enemy_capitals"),
        _counted(share(18, territories), "territories", "territories"),
        {"name": "an entire continent in one turn", "kind": "continent_in_turn"},
        _counted(max(cities + 1, share(11, territories)), "cities", "cities"),
    ]
    if len(continents) > 1:
        major.append(_counted(2, "complete continents", "continents"))
    return [*minor, *({**objective, "major": True} for objective in major)]


def share(of_classic: int, territories: int) -> int:
    """Return `of_classic`, a number for the classic map, scaled to `territories` territories; at least 1."""
    return max(1, of_classic * territories // CLASSIC_TERRITORIES)


def _counted(count: int, words: str, kind: str) -> dict[str, Any]:
    return {"name": f"{count} {words}", "kind": kind, "count": count}
