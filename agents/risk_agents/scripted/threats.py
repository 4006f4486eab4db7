"""Threats to a territory from its sources, and the table of battle odds that the searches use."""

import math

from numpy import int64

from risk_agents.scripted.board_sense import is_inland
from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ONE, ZERO, lowest
from risk_env.core.odds import odds_table
from risk_env.core.position import troops_on

ODDS = odds_table(48, 48)  # constant in the compiled kernels
DUE = 1  # row of the workspace with the troops that each seat is expected to get


@kernel
def largest_threat(game, board, rules, seat, territory, follow_up, work):
    """Return the number of attackers in the strongest attack that a rival can make on a territory.

    A rival's attackers include the share `follow_up` of its troops due. The result is -1 if the territory is
    inland, and 0 if the territory is not inland and no rival can attack it.
    """
    strongest = -1.0
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & ~game.owned[seat, w]
        while word != ZERO:
            source = (w << 6) + lowest(word)
            word &= word - ONE
            owner = int64(game.owner[source])
            threat = 0.0
            if 0 <= owner < rules.num_players:
                threat = troops_on(game, source) - 1.0 + follow_up * work[DUE, owner]
            strongest = max(strongest, threat)
    if strongest < 0.0 and not is_inland(game, board, seat, territory):
        return 0.0
    return strongest


@inlined
def chance_to_fall(attackers, defenders):
    """Return an estimate of the probability that a territory falls.

    The estimate is a smooth function, and close to 0.5 at 0.85 attackers per defender.
    """
    spread = (attackers - 0.85 * defenders - 0.5) / math.sqrt(attackers + defenders)
    return 0.5 + 0.5 * spread / math.sqrt(1.0 + spread * spread)
