"""Players for the tests of the tournament: compiled ones, good and bad, and one in Python."""

from risk_env.agent import Agent
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point
from risk_env.core.bits import has
from risk_env.core.types import Phase


@entry_point
def choose_first(games, boards, rules, lanes, randoms, memory, actions):
    """Choose the first legal action."""
    for k in range(len(lanes)):
        action = 0
        while not has(games[lanes[k]].legal, action):
            action += 1
        actions[lanes[k]] = action


@entry_point
def choose_bold(games, boards, rules, lanes, randoms, memory, actions):
    """Attack with any majority and move all troops, or else choose a random legal action."""
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        seat = int(game.seat)
        actions[lane] = -1
        if game.phase == Phase.ATTACK:
            for border in range(boards[0].num_borders):
                troops = int(game.troops[boards[0].border_source[border]])
                fits = troops > int(game.troops[boards[0].border_target[border]])
                if fits and has(game.legal, int(rules[0].border_0) + border):
                    actions[lane] = int(rules[0].border_0) + border
            if actions[lane] == -1 and has(game.legal, int(rules[0].done)):
                actions[lane] = int(rules[0].done)
        everything = int(rules[0].card_0) - 1
        if actions[lane] == -1 and has(game.legal, everything):
            actions[lane] = everything
        while actions[lane] == -1:
            randoms[lane, seat] = randoms[lane, seat] * 6364136223846793005 + 1442695040888963407
            action = int(randoms[lane, seat] >> 33) % int(rules[0].num_actions)
            if has(game.legal, action):
                actions[lane] = action


@entry_point
def choose_nothing(games, boards, rules, lanes, randoms, memory, actions):
    """Choose no action from the second round on."""
    for k in range(len(lanes)):
        if games[lanes[k]].round_number < 2:
            action = 0
            while not has(games[lanes[k]].legal, action):
                action += 1
            actions[lanes[k]] = action


FIRST = CompiledBot("first", "1", choose_first)
BOLD = CompiledBot("bold", "1", choose_bold)
LAZY = CompiledBot("lazy", "1", choose_nothing)


class Good(Agent):
    """An agent that chooses the first legal action, like FIRST."""

    name = "good"
    version = "1"

    def act(self, view):
        return int(view.legal_actions[0])
