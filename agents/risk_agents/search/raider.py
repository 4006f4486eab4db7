"""`raider`: a variant of `breaker` that stops attacking after one capture, which earns a card.

`raider` is a plan of `strategist` and of `tactician`.
"""

from numpy import int64

from risk_agents.scripted.breaker import break_threats
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, kernel
from risk_env.core.bits import new_set
from risk_env.core.types import Phase


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    seen = new_set(games[0].strong)
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        seat = int64(game.seat)
        actions[lane] = raid(game, boards[0], rules[0], seat, memory[lane, seat], seen)


@kernel
def raid(game, board, rules, seat, memory, seen):
    """Return the action of `breaker`, or `done` instead of an attack after a capture in this turn."""
    if game.phase == Phase.ATTACK and game.captured:
        return int64(rules.done)
    return int64(break_threats(game, board, rules, seat, memory, seen))


BOT = CompiledBot("raider", "1", choose)
