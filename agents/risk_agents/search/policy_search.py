"""Search with a trained policy: its likeliest actions are tried out to the end of the turn, many times over.

Each try draws hidden facts and future chance again, the same for every action; the policy itself plays the rest of the
turn, and its value evaluates the position there. The action with the best mean is played, with a bonus
for actions that the policy finds likely. Own work; rollouts with a base policy are Tesauro and Galperin's (1996).
The budget is a number of tries, not a time.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from risk_agents.learned.network import answer, workspace
from risk_agents.learned.policy import PolicyFile, likeliest, observation_words, total_odds
from risk_agents.scripted.board_sense import draw_word, last_legal
from risk_env.bots import CompiledBot
from risk_env.compiler import kernel, vectorized_entry_point
from risk_env.core.bits import has
from risk_env.core.hidden import determinize
from risk_env.core.observe import observe
from risk_env.core.position import is_alive
from risk_env.core.step import act
from risk_env.core.types import Attack, DefenderDice, Phase

SAMPLE, TRIAL = 0, 1  # slots of games


class Budget(NamedTuple):
    """How much is tried."""

    candidates: int = 5  # actions at most
    tries: int = 12  # of each
    least: float = 0.01  # probability of a candidate beside the likeliest
    trust: float = 0.02  # in chances to win, for a natural unit of log-probability


BUDGET = Budget()


@vectorized_entry_point
def choose_best(games, boards, rules, lanes, randoms, actions, network, unfamiliar, budget):
    """Answer in each of the lanes with the action that did best in the tries."""
    nodes = np.empty(2, games.dtype)
    words = observation_words(network)
    space = words, words.view(np.int8), np.zeros(len(network.actions_bias), np.float32), workspace(network)
    found, scores = np.zeros(budget.candidates, np.int64), np.zeros(budget.candidates)
    for k in range(len(lanes)):
        lane = lanes[k]
        game = games[lane]
        seat = int(game.seat)
        if unfamiliar[game.phase]:
            actions[lane] = last_legal(game, rules[0])
            continue
        ask(network, game, boards[0], rules[0], space)
        count = pick_candidates(game, space[2], budget, found, scores)
        if count > 1:
            for _ in range(budget.tries):
                nodes[SAMPLE] = game
                determinize(nodes[SAMPLE], boards[0], rules[0], seat, draw_word(randoms, lane, seat))
                for c in range(count):
                    nodes[TRIAL] = nodes[SAMPLE]
                    act(nodes[TRIAL], boards[0], rules[0], found[c])
                    scores[c] += play_out(network, nodes[TRIAL], boards[0], rules[0], seat, space) / budget.tries
        actions[lane] = found[scores[:count].argmax()]


@kernel
def ask(network, game, board, rules, space):
    """The network's answer to this decision: logits into `space`; returns the chance to win of the seat to decide."""
    words, observation, logits, work = space
    observe(game, board, rules, int(game.seat), words, observation)
    output = answer(network, observation, game.legal, logits, work)
    return 1.0 / (1.0 + np.exp(-np.float64(output)))


@kernel
def pick_candidates(game, logits, budget, found, scores):
    """Write the likeliest legal actions into `found` and their bonuses into `scores`; returns their number."""
    best = likeliest(game, logits)
    total, count = total_odds(game, logits, best), 0
    for action in range(len(logits)):
        if not has(game.legal, action):
            continue
        log_probability = np.float64(logits[action]) - np.float64(logits[best]) - np.log(total)
        if action != best and log_probability < np.log(budget.least):
            continue
        score = budget.trust * log_probability
        place = min(count, len(found) - 1)
        if place < count and score <= scores[place]:
            continue
        while place > 0 and scores[place - 1] < score:
            found[place], scores[place] = found[place - 1], scores[place - 1]
            place -= 1
        found[place], scores[place] = action, score
        count = min(count + 1, len(found))
    return count


@kernel
def play_out(network, game, board, rules, seat, space):
    """Chance to win of `seat` after the rest of its turn, played by the policy.

    With two players the value is taken where the opponent first decides, with more players at the seat's next turn.
    """
    turn, away = int(game.turn), False
    while game.phase != Phase.OVER:
        chance = ask(network, game, board, rules, space)
        away |= game.turn != turn
        if not is_alive(game, seat):
            return 0.0
        if away and rules.num_players == 2:
            return chance if game.seat == seat else 1.0 - chance
        if away and game.seat == seat and game.turn == turn:
            return chance
        act(game, board, rules, likeliest(game, space[2]))
    return 1.0 if game.winner == seat else 0.0


def search_bot(path: str | Path, name: str | None = None, budget: Budget = BUDGET) -> CompiledBot:
    """The bot that searches with the policy of a file."""
    policy = PolicyFile.load(path)
    plain, trained = policy.bot(name or str(path), name), policy.schema.rules
    attack, defender_dice = Attack[trained.attack.upper()], DefenderDice[trained.defender_dice.upper()]

    def choose(games, boards, rules, lanes, randoms, memory, actions):
        known = rules.copy()  # with attacks and defences as in training
        known["attack"], known["defender_dice"] = attack, defender_dice
        choose_best(games, boards, known, lanes, randoms, actions, policy.network, policy.unfamiliar, budget)

    label = name or f"{plain.name}+search"
    return CompiledBot(label, plain.version, choose, check=plain.check)
