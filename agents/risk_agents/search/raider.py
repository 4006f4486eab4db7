"""`raider`: a breaker that stops its attacks once it has earned a card; a plan of `strategist`."""

import numpy as np
from numpy import int64

from risk_agents.scripted.breaker import break_threats
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point
from risk_env.core.types import Phase


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Answer in each of the lanes (see `risk_env.bots.CompiledBot`)."""
    seen = np.zeros(games[0].strong.shape[0], np.uint64)
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        seat = int64(game.seat)
        if game.phase == Phase.ATTACK and game.captured:
            actions[lane] = int64(rules[0].done)
        else:
            actions[lane] = break_threats(game, boards[0], rules[0], seat, memory[lane, seat], seen)


BOT = CompiledBot("raider", "1", choose)
