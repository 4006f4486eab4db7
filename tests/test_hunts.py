"""The routes of hunts (`risk_agents.scripted.hunter`): skipping hopeless stacks changes no choice."""

import numpy as np
import pytest
from numpy import int64

from risk_agents.scripted.board_sense import NONE
from risk_agents.scripted.hunter import route_start, touches, walk_route
from risk_env import Rules, load_map
from risk_env.arena import ANY_SEAT, Arena
from risk_env.compiler import entry_point, kernel
from risk_env.core.bits import has, new_set
from risk_env.core.position import is_alive, room, troops_on
from risk_env.core.types import Phase
from risk_env.game_vector import GameVector

GAMES, PLAYERS, EXTRA = 200, 4, 6


@entry_point
def both_starts(games, boards, rules, cost, found):
    """Write the route's start and the start that a search of all stacks finds, for each game and prey."""
    seen = new_set(games[0].strong)
    for k in range(len(games)):
        game, seat = games[k], int64(games[k].turn)
        for prey in range(rules[0].num_players):
            if prey != seat and is_alive(game, prey):
                start = route_start(game, boards[0], rules[0], seat, prey, EXTRA, cost, seen)
                other = start_of_any_stack(game, boards[0], rules[0], seat, prey, cost, seen)
                found[k, prey, 0], found[k, prey, 1] = start
                found[k, prey, 2], found[k, prey, 3] = other


@kernel
def start_of_any_stack(game, board, rules, seat, prey, cost, seen):
    """Return the source and the first target of the route that leaves the most troops."""
    best_source, best_target, most = NONE, NONE, 0.0
    for source in range(board.num_territories):
        space = room(game, rules, source)
        strength = troops_on(game, source) - 1 + min(EXTRA, space)
        if not has(game.owned[seat], source) or space < 1 or strength < 2:
            continue
        if touches(game, board, source, prey):
            first, left = walk_route(game, board, seat, prey, source, float(strength), cost, seen)
            if left > most:
                best_source, best_target, most = source, first, left
    return best_source, best_target


@pytest.mark.parametrize("cost", [-0.2, 0.0, 0.4, 0.95])
def test_a_route_starts_from_the_stack_that_keeps_the_most_troops(cost: float) -> None:
    rules = Rules.preset("classic", PLAYERS, setup="deal", profile="fast")
    batch = GameVector(rules, load_map("classic"), GAMES, observation=None, mask=None, autoreset=False)
    arena = Arena(batch, ["breaker"])
    arena.numbers[:], arena.stop_at_turn[:] = 0, ANY_SEAT
    lanes = np.arange(GAMES)
    batch.begin_seeded(lanes, lanes.astype(np.uint64))
    arena.seat_players(lanes)
    while len(placing := lanes[batch.records["round_number"][lanes] == 0]):
        arena.play_on(placing)
    routes = 0
    for _ in range(60):
        found = np.full((len(lanes), PLAYERS, 4), NONE)
        both_starts(batch.records[lanes], batch.tables.board, batch.tables.rules, cost, found)
        assert np.array_equal(found[..., :2], found[..., 2:])
        routes += (found[..., 0] != NONE).sum()
        arena.play_on(lanes)
        lanes = lanes[batch.records["phase"][lanes] != Phase.OVER]
    assert routes > 20
