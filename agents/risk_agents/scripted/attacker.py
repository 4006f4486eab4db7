"""`attacker`: drafts to the territory with the most enemy neighbours, and attacks weaker neighbours.

In its drafts and attacks, `attacker` ignores continents and defence. Many published ladders of bots begin
with such a bot.
"""

from numpy import int64

from risk_agents.scripted.board_sense import (
    NONE,
    STRIKE,
    best_place,
    ends_of,
    enemy_targets,
    move_amount,
    next_attack,
    usual_action,
)
from risk_agents.scripted.claims import claim
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, kernel
from risk_env.core.movement import movable
from risk_env.core.position import troops_on
from risk_env.core.types import Phase


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    for k in range(len(lanes)):
        lane = lanes[k]
        seat = int64(games[lane].seat)
        claimed = claim(games[lane], boards[0], randoms, lane, seat)
        actions[lane] = decide(games[lane], boards[0], rules[0], seat) if claimed == NONE else claimed


@kernel
def decide(game, board, rules, seat):
    """Return the action in the current phase, except for claims."""
    phase = game.phase
    if phase == Phase.ATTACK:
        return boldest_attack(game, board, rules)
    if phase == Phase.DRAFT or phase == Phase.FORTIFY_TO:
        return best_place(game, board, seat, STRIKE)
    if phase == Phase.OCCUPY:
        return move_amount(game, rules, advance(game, board, rules, seat))
    return usual_action(game, board, rules, seat)


@kernel
def boldest_attack(game, board, rules):
    """Return the attack with the largest majority, or DONE if no source has more troops than its target."""
    best, most = int64(rules.done), 0
    action = next_attack(game, rules, NONE)
    while action != NONE:
        source, target = ends_of(board, rules, action)
        majority = troops_on(game, source) - troops_on(game, target)
        if majority > most:
            best, most = action, majority
        action = next_attack(game, rules, action)
    return best


@kernel
def advance(game, board, rules, seat):
    """Return the number of troops that follow into a captured territory: all or none.

    All troops follow if the captured territory has at least as many enemy targets as the source, and at least
    one.
    """
    ahead = enemy_targets(game, board, seat, int64(game.target))
    behind = enemy_targets(game, board, seat, int64(game.source))
    return movable(game, rules) if ahead >= behind and ahead > 0 else 0


BOT = CompiledBot("attacker", "2", choose)
