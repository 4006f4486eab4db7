"""`random`: any legal action, each as likely. The floor of the ladder, and a poor player: its games hardly ever end."""

from agents.board_sense import any_legal
from risk_env.core.jit import entry_point
from risk_env.opponents import CompiledBot


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Answer in each of the lanes (see `risk_env.opponents.CompiledBot`)."""
    for k in range(len(lanes)):
        lane = lanes[k]
        actions[lane] = any_legal(games[lane], randoms, lane, int(games[lane].seat))


BOT = CompiledBot("random", "1", choose)
