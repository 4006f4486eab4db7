"""The start charts of Basic Training (RULES 9.1), read from `map_files/basic_training.toml`.

The charts are the project's own: the printed ones are pictures that the text of the books does not carry.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CHART_FILE = Path(__file__).parent / "map_files" / "basic_training.toml"


@dataclass(frozen=True)
class Chart:
    """Where everybody starts, for one map and number of players P. Seat 0 starts the game."""

    owner: tuple[int, ...]  # (T,) seat of each territory
    troops: tuple[int, ...]  # (T,) troops of each territory
    capitals: tuple[int, ...]  # (P,) territory of each seat's capital
    cards: tuple[int, ...]  # (P,) cards each seat starts with, drawn after set-up


def load_chart(board: Any, num_players: int) -> Chart:
    """The chart of a map for 3, 4 or 5 players (RULES 9.1).

    `board` is a map as `load_map` returns it; one with other territories than the chart's is a ValueError.
    """
    charts = _charts()["players"]
    if str(num_players) not in charts:
        raise ValueError(f"num_players={num_players!r} has no start chart: allowed are {', '.join(charts)}")
    seats = charts[str(num_players)]
    _check_territories(board, seats)
    owner, troops = [-1] * len(board.territories), [0] * len(board.territories)
    for seat, start in enumerate(seats):
        for name, count in start["troops"].items():
            territory = board.territory(name)
            owner[territory], troops[territory] = seat, count
    capitals = tuple(board.territory(start["capital"]) for start in seats)
    return Chart(tuple(owner), tuple(troops), capitals, tuple(start["cards"] for start in seats))


@cache
def _charts() -> dict[str, Any]:
    return tomllib.loads(CHART_FILE.read_text(encoding="utf-8"))


def _check_territories(board: Any, seats: list[dict[str, Any]]) -> None:
    """The chart must name every territory of the map, and no other."""
    charted = {name for start in seats for name in start["troops"]}
    odd = sorted(charted.symmetric_difference(board.territories))
    if odd:
        raise ValueError(
            f"setup='chart': the start charts of {CHART_FILE.name} do not fit map {board.name!r} "
            f"({len(board.territories)} territories, {len(odd)} names differ, {odd[0]!r} first)"
        )
