"""Types of arguments: equal to the types that Numba finds, for every memory layout."""

import numba
import pytest

from risk_env import Rules, load_map
from risk_env.compiler.bound import type_of
from risk_env.game_vector import GameVector


@pytest.mark.modes
def test_types_are_those_that_numba_finds():
    lanes = GameVector(Rules.preset("classic", 3), load_map("classic"), 4)
    games = lanes.records
    frozen = games.view()
    frozen.flags.writeable = False
    arguments = [
        games,
        games[::2],
        games[0:0],
        games.reshape(2, 2).T,
        frozen,
        lanes.games,
        games["troops"],
        games[0],
    ]
    arguments += [
        lanes.tables.rules,
        lanes.tables.board,
        lanes._records,
        lanes._views,
        (),
        (games, (1, 2.5, True)),
    ]
    for argument in arguments:
        assert type_of(argument) == numba.typeof(argument)
