"""`random`: plays uniformly random legal actions, and is the weakest bot."""

from risk_agents.scripted.board_sense import any_legal
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    for k in range(len(lanes)):
        lane = lanes[k]
        actions[lane] = any_legal(games[lane], randoms, lane, int(games[lane].seat))


BOT = CompiledBot("random", "1", choose)
