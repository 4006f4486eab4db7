"""Progress of a seat towards a special victory, for `search.evaluation` and `learned.beam_value_features`."""

from numpy import int64

from risk_env.compiler import kernel
from risk_env.core.bits import ZERO, bit, common, size
from risk_env.core.goals import objectives_met
from risk_env.core.position import controls, num_territories
from risk_env.core.types import NUM_OBJECTIVES, Mission, Victory


@kernel
def goal_progress(game, board, rules, seat):
    """Return the seat's progress towards its special victory, or 0 for domination (RULES 7.3, 8, 9.7)."""
    if rules.victory == Victory.DOMINATION:
        return 0.0
    if rules.victory == Victory.HEADQUARTERS:
        return headquarters_progress(game, rules, seat)
    if rules.victory == Victory.OBJECTIVES:
        capital = int64(controls(game, seat, int64(game.capital[seat])))
        return 2.0 * objectives_in_reach(game, board, rules, seat) + 2.0 * capital
    return mission_progress(game, board, seat, int64(game.mission[seat]))


@kernel
def headquarters_progress(game, rules, seat):
    """Return the number of headquarters that the seat holds, or 0 while headquarters are secret.

    The seat's own headquarters counts twice.
    """
    if not game.headquarters_open:
        return 0.0
    held = 0.0
    for other in range(rules.num_players):
        if controls(game, seat, int64(game.headquarters[other])):
            held += 2.0 if other == seat else 1.0
    return held


@kernel
def mission_progress(game, board, seat, mission):
    """Return the seat's progress in its mission, which is about 3 shortly before the mission is fulfilled."""
    kind = board.mission_kind[mission]
    target = int64(board.mission_target[mission])
    if kind == Mission.DESTROY and target != seat:
        return 3.0 - 3.0 * num_territories(game, target) / board.num_territories
    if kind == Mission.CONTINENTS:
        return continents_progress(game, board, seat, board.mission_continents[mission])
    needed = (
        board.mission_territories[mission] if kind == Mission.TERRITORIES else board.mission_fallback[mission]
    )
    return 3.0 * num_territories(game, seat) / max(int64(needed), 1)


@kernel
def continents_progress(game, board, seat, wanted):
    """Return 3 times the seat's share of the territories of the `wanted` continents, a bitset."""
    own, members = 0, 0
    for continent in range(board.num_continents):
        if wanted & bit(continent) == ZERO:
            continue
        own += common(board.continent_members[continent], game.owned[seat])
        members += size(board.continent_members[continent])
    return 3.0 * own / max(members, 1)


@kernel
def objectives_in_reach(game, board, rules, seat):
    """Return the number of objectives that the seat holds, plus 1 if it can take one now (RULES 9.5)."""
    held = int64(0)
    for objective in range(NUM_OBJECTIVES):
        held += int64(game.objective[objective] == seat)
    if game.turn == seat and not game.attacks_over and objectives_met(game, board, rules) != ZERO:
        held += 1
    return held
