"""Plans: compiled bots that play whole turns, asked by their numbers within kernels (`tactician`, `plan_policy`)."""

from risk_agents.scripted import breaker, grower, hunter
from risk_agents.search import beam, planner, raider
from risk_env.compiler import kernel
from risk_env.core.step import act

BOTS = (beam.BOT, planner.BOT, breaker.BOT, hunter.BOT, grower.BOT, raider.BOT)
NUM_PLANS = len(BOTS)
BEAM, PLANNER, BREAKER, HUNTER, GROWER, RAIDER = range(NUM_PLANS)
SET_UP = BREAKER  # places the first troops, and answers in others' turns
# What a bot that follows plans remembers behind its plan's own words: in which round plus 1 it chose, the plan's number
ROUND = max(bot.memory for bot in BOTS)
NUMBER = ROUND + 1
MEMORY = NUMBER + 1


@kernel
def is_chosen(game, memory, plans):
    """Whether a plan was chosen in this turn, by what the seat remembers: int32 (MEMORY,)."""
    return memory[ROUND] == game.round_number + 1 and 0 <= memory[NUMBER] < plans


@kernel
def remember(game, memory, plan):
    """Follow a plan in this turn."""
    memory[:] = 0
    memory[ROUND] = game.round_number + 1
    memory[NUMBER] = plan


@kernel
def play_turn(plan, games, boards, rules, lane, randoms, memory, actions, last):
    """Play a turn in the lane lane[0] by a plan, until it is over or asks for more than the phase `last`."""
    turn = games[lane[0]].turn
    while games[lane[0]].turn == turn and games[lane[0]].phase <= last:
        ask(plan, games, boards, rules, lane, randoms, memory, actions)
        act(games[lane[0]], boards[0], rules[0], actions[lane[0]])


@kernel
def ask(plan, games, boards, rules, lanes, randoms, memory, actions):
    """Let a plan answer in these lanes."""
    if plan == BEAM:
        beam.choose(games, boards, rules, lanes, randoms, memory, actions)
    elif plan == PLANNER:
        planner.choose(games, boards, rules, lanes, randoms, memory, actions)
    elif plan == BREAKER:
        breaker.choose(games, boards, rules, lanes, randoms, memory, actions)
    elif plan == HUNTER:
        hunter.choose(games, boards, rules, lanes, randoms, memory, actions)
    elif plan == GROWER:
        grower.choose(games, boards, rules, lanes, randoms, memory, actions)
    else:
        raider.choose(games, boards, rules, lanes, randoms, memory, actions)
