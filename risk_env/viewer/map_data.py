"""Data from which a browser draws a map: paths, places and names, as values for `json.dumps`."""

from dataclasses import asdict
from typing import Any

from risk_env.board.maps import Board
from risk_env.core.types import Reward
from risk_env.render.geometry import dashes, geometry_of
from risk_env.render.layout import drawing_of
from risk_env.render.picture import FREE, NEUTRAL, SEATS, SIGNS, continent_colour, darker, name_lines
from risk_env.render.svg import draw_shape, path_data
from risk_env.text.notation import reward_name


def map_data(board: Board) -> dict[str, Any]:
    """Return all data of a map that do not depend on the position."""
    drawing, geometry = drawing_of(board), geometry_of(board)
    return {
        "name": board.name,
        "width": drawing.width,
        "height": drawing.height,
        "picture": drawing.picture and drawing.picture.url,
        "territories": list(board.territories),
        "continent_of": list(board.continent_of),
        "symbols": board.symbols and list(board.symbols),
        "stars": board.stars and list(board.stars),
        "areas": ["".join(path_data(ring) + "Z" for ring in rings) for rings in drawing.outlines],
        "centres": [list(centre) for centre in drawing.centres],
        "labels": [
            [*place, name_lines(name)] for place, name in zip(drawing.labels, board.territories, strict=True)
        ],
        "wrapped": [list(pair) for pair in drawing.wrapped],
        "inner": "".join(map(path_data, geometry.inner)),
        "sea": "".join(path_data(dash) for path in geometry.sea for dash in dashes(path)),
        "one_way": "".join(path_data(ring) + "Z" for ring in geometry.arrows),
        "continents": [
            {
                "name": name,
                "bonus": board.bonuses[c],
                "colour": continent_colour(board, c),
                "edge": darker(continent_colour(board, c)),
                "path": "".join(map(path_data, geometry.outer[c])),
            }
            for c, name in enumerate(board.continents)
        ],
        "missions": [asdict(mission) for mission in board.missions],
        "objectives": [objective.name for objective in board.objectives],
        "rewards": [reward_name(reward) for reward in Reward],
        "colours": {"seats": list(SEATS), "neutral": NEUTRAL, "free": FREE},
    }


def sign_symbols() -> str:
    """Return the signs of cities, capitals, headquarters and airfields as SVG symbols.

    `currentColor` stands for the colour of the seat.
    """
    symbols = (
        f"<symbol id='sign-{name}' viewBox='-14 -14 28 28'>{''.join(map(draw_shape, shapes))}</symbol>"
        for name, shapes in SIGNS.items()
    )
    return f"<svg class='symbols' aria-hidden='true'><defs>{''.join(symbols)}</defs></svg>"
