"""Victory conditions and places (RULES 6.3, 7.3, 8.2, 9.5-9.7, 11).

A game is won by domination, headquarters, missions or Objectives.
"""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ZERO, bit, popcount
from risk_env.core.draft import capitals_controlled, num_cities
from risk_env.core.position import (
    controls,
    holds_continent,
    is_alive,
    next_alive,
    num_territories,
    owner_of,
    total_troops,
    troops_on,
)
from risk_env.core.types import NOBODY, NOWHERE, NUM_OBJECTIVES, Goal, Held, Mission, Phase, Victory

OBJECTIVES_TO_WIN = 3


@kernel
def end_game(game, winner):
    """End the game: no seat has to act, and no move is in progress."""
    game.winner = winner
    game.seat = NOBODY
    game.source = NOWHERE
    game.target = NOWHERE
    game.moves_left = 0
    game.phase = Phase.OVER


@kernel
def truncate(game):
    """End the game without a winner, because the last round is over (RULES 11.2)."""
    game.truncated = True
    end_game(game, NOBODY)


@kernel
def judge_capture(game, board, rules):
    """End the game if the last capture wins the game. Return True if the game is over (RULES 3.2.7)."""
    if next_alive(game, rules, int64(game.turn)) == game.turn:
        end_game(game, int64(game.turn))
    elif rules.victory == Victory.HEADQUARTERS and headquarters_won(game, rules, int64(game.turn)):
        end_game(game, int64(game.turn))
    else:
        judge_missions(game, board, rules)
    return game.phase == Phase.OVER


@kernel
def headquarters_won(game, rules, seat):
    """Return True if `seat` has won by headquarters (RULES 7.3).

    The seat must hold its own headquarters, and as many headquarters of other seats as the rules require.
    """
    if not controls(game, seat, int64(game.headquarters[seat])):
        return False
    others = 0
    for other in range(rules.num_players):
        others += int64(other != seat and controls(game, seat, int64(game.headquarters[other])))
    return others >= rules.headquarters_to_win


@kernel
def judge_missions(game, board, rules):
    """End the game and return True if a seat has fulfilled its mission (RULES 8.2).

    The mission of the current player is checked first, then the missions of the other players clockwise.
    """
    if rules.victory != Victory.MISSION:
        return False
    players = int64(rules.num_players)
    for step in range(players):
        seat = (int64(game.turn) + step) % players
        if is_alive(game, seat) and mission_fulfilled(game, board, seat, int64(game.mission[seat])):
            end_game(game, seat)
            return True
    return False


@kernel
def mission_fulfilled(game, board, seat, mission):
    """Return True if `seat`, the holder of a mission, has fulfilled the mission (RULES 8)."""
    kind = board.mission_kind[mission]
    if kind == Mission.CONTINENTS:
        return continents_mission(game, board, seat, mission)
    if kind == Mission.TERRITORIES:
        needed, least = int64(board.mission_territories[mission]), int64(board.mission_min_troops[mission])
        return territories_with(game, board, seat, least) >= needed
    target = int64(board.mission_target[mission])
    if target == seat:
        return num_territories(game, seat) >= board.mission_fallback[mission]
    return not is_alive(game, target)


@kernel
def continents_held(game, board, seat):
    """Return the continents that `seat` holds entirely, as bits."""
    held = ZERO
    for continent in range(board.num_continents):
        if holds_continent(game, board, seat, continent):
            held |= bit(continent)
    return held


@kernel
def continents_mission(game, board, seat, mission):
    wanted = board.mission_continents[mission]
    held = continents_held(game, board, seat)
    third = not board.mission_any_third[mission] or held & ~wanted != ZERO
    return held & wanted == wanted and third


@kernel
def territories_with(game, board, seat, least):
    """Return the number of territories that `seat` holds with at least `least` troops."""
    if least <= 1:
        return num_territories(game, seat)
    total = 0
    for territory in range(board.num_territories):
        total += int64(owner_of(game, territory) == seat and troops_on(game, territory) >= least)
    return total


@kernel
def enemy_capitals(game, rules, seat):
    """Return the number of other seats' capitals that `seat` holds (RULES 9.6).

    Capitals of eliminated seats are included.
    """
    own = int64(game.capital[seat])
    return capitals_controlled(game, rules, seat) - int64(own != NOWHERE and controls(game, seat, own))


@inlined
def taken_this_turn(game, seat, w):
    """Return word `w` of the bitset of territories that `seat` took this turn and holds (RULES 9.6)."""
    return game.owned[seat, w] & ~game.held_at_start[w]


@kernel
def territories_taken(game, seat):
    total = 0
    for w in range(len(game.strong)):
        total += popcount(taken_this_turn(game, seat, w))
    return total


@kernel
def cities_taken(game, seat):
    total = 0
    for w in range(len(game.strong)):
        total += popcount(taken_this_turn(game, seat, w) & game.city[w])
    return total


@kernel
def continent_taken(game, board, seat):
    """Return True if `seat` took a whole continent this turn (RULES 9.6).

    At the start of the turn, the seat must have held no territory of the continent.
    """
    for continent in range(board.num_continents):
        before = ZERO
        for w in range(len(game.strong)):
            before |= board.continent_members[continent, w] & game.held_at_start[w]
        if before == ZERO and holds_continent(game, board, seat, continent):
            return True
    return False


@kernel
def goal_met(game, board, rules, seat, objective):
    """Return True if `seat` meets an Objective in the current position (RULES 9.6)."""
    kind = board.goal_kind[objective]
    count = int64(board.goal_count[objective])
    if kind == Goal.CONTINENT:
        return holds_continent(game, board, seat, int64(board.goal_continent[objective]))
    if kind == Goal.CITIES:
        return num_cities(game, seat) >= count
    if kind == Goal.ENEMY_CAPITALS:
        return enemy_capitals(game, rules, seat) >= count
    if kind == Goal.CITIES_IN_TURN:
        return cities_taken(game, seat) >= count
    if kind == Goal.TERRITORIES_IN_TURN:
        return territories_taken(game, seat) >= count
    if kind == Goal.TERRITORIES:
        return num_territories(game, seat) >= count
    if kind == Goal.CONTINENTS:
        return popcount(continents_held(game, board, seat)) >= count
    return continent_taken(game, board, seat)


@kernel
def objectives_met(game, board, rules):
    """Return the face-up Objectives that the current player may take, as bits (RULES 9.5)."""
    met = ZERO
    for objective in range(NUM_OBJECTIVES):
        face_up = game.objective[objective] == Held.FACE_UP
        if face_up and goal_met(game, board, rules, int64(game.turn), objective):
            met |= bit(objective)
    return met


@kernel
def objectives_won(game, rules, seat):
    """Return True if `seat` wins at the end of its turn (RULES 9.7).

    The seat needs three Objectives and its own capital.
    """
    if rules.victory != Victory.OBJECTIVES or not controls(game, seat, int64(game.capital[seat])):
        return False
    held = 0
    for objective in range(NUM_OBJECTIVES):
        held += int64(game.objective[objective] == seat)
    return held >= OBJECTIVES_TO_WIN


@kernel
def is_better(game, board, seat, other):
    """Return True if `seat` ranks above `other` (RULES 11.2).

    The winner ranks first. Living seats follow, by territories and then by troops. Eliminated seats rank
    last, in reverse order of elimination.
    """
    if seat == game.winner or other == game.winner:
        return seat == game.winner and other != game.winner
    if not is_alive(game, seat):
        return game.death[seat] > game.death[other] and not is_alive(game, other)
    if not is_alive(game, other):
        return True
    mine, others = num_territories(game, seat), num_territories(game, other)
    if mine != others:
        return mine > others
    return total_troops(game, seat) > total_troops(game, other)


@kernel
def place_of(game, board, rules, seat):
    """Return the place of a seat, from 1 (RULES 11.2).

    Tied seats share the better place.
    """
    place = 1
    for other in range(rules.num_players):
        if other != seat and is_better(game, board, other, seat):
            place += 1
    return place
