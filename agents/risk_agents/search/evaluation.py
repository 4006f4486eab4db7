"""Evaluation of a position for a seat: the seat's share of the power on the board.

Power is counted in troops: the troops on the board, the income of the next turns, and the cards as shares of
the next set. The value of a seat is own ** k / (own ** k + sum of rival ** k over all rivals), which
resembles a win probability. With k above 1, one strong rival counts more than two rivals with half the power.
The bonus of a continent is weighted by the probability that the borders of the continent hold.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from risk_agents.learned.beam_value_features import beam_value
from risk_agents.scripted.goal_progress import goal_progress, objectives_in_reach
from risk_agents.scripted.threats import DUE, chance_to_fall, largest_threat
from risk_env.compiler import kernel
from risk_env.core.bits import ONE, ZERO, lowest, popcount
from risk_env.core.cards import hand_size, set_troops_due
from risk_env.core.draft import continent_troops, troops_due
from risk_env.core.goals import headquarters_won, mission_fulfilled
from risk_env.core.position import controls, holds_nothing, num_territories, troops_on
from risk_env.core.types import MAX_OWNERS, SIZE_CLASSES, Deck, Victory

# Indices of the weights of the evaluation, float64 (NUM_WEIGHTS,)
INCOME = 0  # number of turns of the seat's income that count
THEIR_INCOME = 1  # number of turns of a rival's income that count
CARD = 2  # worth of a card, in thirds of the next set
BACKWARD = 3  # worth of a troop in an inland territory, in troops
EXPOSED = 4  # cost of a territory of the seat that is expected to fall, in troops
FOLLOW_UP = 5  # share of a rival's income that joins an attack
SHARPNESS = 6  # the exponent k of the value
PROGRESS = 7  # share of a continent's bonus that counts without safe borders
GOAL = 8  # worth of a step towards a victory other than domination, in troops
LEAST_CHANCE = 9  # minimum probability of success of an attack that is considered
STEADY = 10  # minimum gain in value for an attack
SETS = 11  # share of the expected sets of rivals that counts as income for an attack
NUM_WEIGHTS = 12
WEIGHTS = np.array([2.5, 2.5, 1.0, 0.7, 0.8, 0.5, 2.0, 0.5, 8.0, 0.35, 0.0, 0.0])

WON = 1.0
LOST = 0.0
STAR_CARD = 2.0  # worth of a card of the star deck, in troops
DEAREST_SET = 60  # upper bound on the worth of a set, in troops
HOLDS_SET = np.array([0.0, 0.0, 0.0, 0.42, 0.82, 1.0])  # probability of a set by hand size (RULES 5.1)

# Rows of the workspace, float64, with an entry for each owner or continent; `threats.DUE` is row 1
POWER, SAFETY = 0, 2
WORKSPACE = (3, max(MAX_OWNERS, SIZE_CLASSES[-1].continents))


class Evaluator(NamedTuple):
    """Arguments that all evaluations of a decision share.

    Weights after the first NUM_WEIGHTS, if there are any, belong to a beam value
    (`learned.beam_value_features`). All weights are then float32, and `work` is the workspace of the beam
    value.
    """

    board: Any  # record of the board's tables
    rules: Any  # record of the rules
    seat: int
    weights: Any  # float64 (NUM_WEIGHTS,)
    work: Any  # float64 (WORKSPACE)


@kernel
def evaluate(game, evaluator):
    """Return the value of a position for the seat, from LOST (0) to WON (1).

    The function does not read the cards of other seats, but only the sizes of their hands.
    """
    board, rules, seat, weights, work = evaluator
    if holds_nothing(game, seat):
        return LOST
    if is_won(game, board, rules, seat):
        return WON
    heuristic = evaluate_heuristic(game, evaluator)
    if len(weights) > NUM_WEIGHTS:
        return beam_value(game, board, rules, seat, heuristic, weights, NUM_WEIGHTS, work)
    return heuristic


@kernel
def evaluate_heuristic(game, evaluator):
    """Return the seat's share of the power. The game must not be decided."""
    _board, rules, seat, weights, work = evaluator
    card = weights[CARD] * card_worth(game, rules)
    count_powers(game, card, evaluator)
    rivals = 0.0
    for other in range(rules.num_players):
        if other != seat:
            rivals += work[POWER, other] ** weights[SHARPNESS]
    own = max(own_power(game, card, evaluator), 1.0) ** weights[SHARPNESS]
    return own / (own + rivals)


@kernel
def is_won(game, board, rules, seat):
    """Return True if the seat has won, or wins at the end of its turn (RULES 6.3, 7.3, 8.2, 9.7)."""
    rivals = int64(0)
    for other in range(rules.num_players):
        rivals += int64(other != seat and not holds_nothing(game, other))
    if rivals == 0:
        return True
    if rules.victory == Victory.HEADQUARTERS:
        return game.headquarters_open and headquarters_won(game, rules, seat)
    if rules.victory == Victory.MISSION:
        return mission_fulfilled(game, board, seat, int64(game.mission[seat]))
    if rules.victory == Victory.OBJECTIVES and controls(game, seat, int64(game.capital[seat])):
        return objectives_in_reach(game, board, rules, seat) >= 3
    return False


@kernel
def card_worth(game, rules):
    """Return the worth of a card in troops: a third of the worth of the next set (at most DEAREST_SET).

    A card of the star deck is worth STAR_CARD. In games without cards, the worth is 0 (RULES 2.5, 5.2, 9.4).
    """
    if rules.deck == Deck.NONE:
        return 0.0
    if rules.deck == Deck.STAR:
        return STAR_CARD
    return min(set_troops_due(rules, int64(game.sets_traded) + 1), DEAREST_SET) / 3.0


@kernel
def count_powers(game, card, evaluator):
    """Write the troops due to every seat, the seat's troops, and the rivals' power into the workspace.

    The troops due to a rival include a share of the rival's expected set (`weights[SETS]`).
    """
    board, rules, seat, weights, work = evaluator
    for owner in range(MAX_OWNERS):
        work[POWER, owner] = 0.0
        work[DUE, owner] = 0.0
    for territory in range(board.num_territories):
        work[POWER, int64(game.owner[territory])] += troops_on(game, territory)
    for other in range(rules.num_players):
        if holds_nothing(game, other):
            continue
        work[DUE, other] = troops_due(game, board, rules, other)
        if other != seat:
            hand = hand_size(game, other)
            work[POWER, other] += weights[THEIR_INCOME] * work[DUE, other] + card * hand
            work[DUE, other] += weights[SETS] * expected_set(game, rules, hand)


@kernel
def expected_set(game, rules, hand):
    """Return the expected troops from a rival's next trade, given the size of its hand (RULES 5.2, 9.4)."""
    if rules.deck == Deck.STAR:
        return STAR_CARD * hand if hand > 1 else 0.0
    return HOLDS_SET[min(hand, len(HOLDS_SET) - 1)] * 3.0 * card_worth(game, rules)


@kernel
def own_power(game, card, evaluator):
    """Return the seat's own power: troops that can fight, safe income, cards, progress towards victory."""
    board, rules, seat, weights, work = evaluator
    lost, backward = scan_borders(game, evaluator)
    income = max(3.0, num_territories(game, seat) / 3.0)
    if rules.deck == Deck.STAR:
        income = max(income, work[DUE, seat] - continent_troops(game, board, seat))
    income += safe_continents(game, board, seat, weights, work)
    cards = hand_size(game, seat) + int64(game.captured)
    power = work[POWER, seat] - (1.0 - weights[BACKWARD]) * backward - weights[EXPOSED] * lost
    power += weights[INCOME] * income + card * cards
    if rules.victory != Victory.DOMINATION:
        power += weights[GOAL] * goal_progress(game, board, rules, seat)
    return power


@kernel
def scan_borders(game, evaluator):
    """Return the expected number of territories that fall, and the number of inland troops that can move.

    The function also writes the safety of each continent's borders into the workspace.
    """
    board, rules, seat, weights, work = evaluator
    for continent in range(board.num_continents):
        work[SAFETY, continent] = 1.0
    lost, backward = 0.0, 0.0
    for w in range(len(game.strong)):
        own = game.owned[seat, w]
        while own != ZERO:
            territory = (w << 6) + lowest(own)
            own &= own - ONE
            threat = largest_threat(game, board, rules, seat, territory, weights[FOLLOW_UP], work)
            if threat > 0.0:
                falls = chance_to_fall(threat, float(troops_on(game, territory)))
                lost += falls
                work[SAFETY, int64(board.continent_of[territory])] *= 1.0 - falls
            elif threat < 0.0:
                backward += troops_on(game, territory) - 1.0
    return lost, backward


@kernel
def safe_continents(game, board, seat, weights, work):
    """Return the sum of the bonuses of the seat's continents, weighted by the safety of their borders.

    For a continent that the seat holds in part, a part of the bonus is added.
    """
    total = 0.0
    for continent in range(board.num_continents):
        own, members = 0, 0
        for w in range(len(game.strong)):
            own += popcount(board.continent_members[continent, w] & game.owned[seat, w])
            members += popcount(board.continent_members[continent, w])
        bonus = float(board.continent_bonus[continent])
        if own == members:
            total += bonus * (weights[PROGRESS] + (1.0 - weights[PROGRESS]) * work[SAFETY, continent])
        elif own > 0:
            share = own / members
            total += bonus * weights[PROGRESS] * share * share * share
    return total
