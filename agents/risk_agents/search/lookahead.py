"""Look one turn ahead: plans play the turn in sampled games, and a value evaluates the position afterwards.

A sampled game is a copy of the game in which hidden facts and future chance are drawn again. A policy chooses
the plans that are tried. All plans play with the same random numbers. Before the second, fourth, eighth, ...
attack of a turn, the chosen plan is compared with other plans for the rest of the turn. Budgets count turns,
not time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from risk_agents.learned.state_value import evaluate_table, workspace, write_outputs
from risk_agents.scripted.board_sense import draw_word
from risk_agents.search.plans import (
    ATTACKS,
    FOR_THE_REST,
    MEMORY,
    NUMBER,
    SET_UP,
    Space,
    begin_plan,
    is_chosen,
    is_possible,
    new_space,
    plan_action,
    play_turn,
    remember,
)
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.chance import scramble
from risk_env.core.hidden import determinize
from risk_env.core.types import MAX_SEATS, Phase

UNTRIED = np.float32(-1)  # entry of `worths` for a plan that was not tried
DRAFTED, PLAYED = 0, 1  # lanes of a trial: the game after the draft, and the game after the turn
LAST_OF_DRAFT, LAST_OF_TURN = int(Phase.DRAFT_AMOUNT), int(Phase.FORTIFY_AMOUNT)


class Effort(NamedTuple):
    """Budget of the look-ahead: numbers of plans and of samples."""

    plans: int = 4  # number of plans that are tried: the plans with the highest outputs of the policy
    samples: int = 2  # number of samples for each plan when a turn begins
    rest: int = 2  # number of samples for each plan before an attack; 0 to keep the first plan of the turn


class Trial(NamedTuple):
    """Networks and workspace of trials."""

    policy: Any  # StateValue with an output for each plan
    value: Any  # StateValue
    effort: Effort
    games: Any  # records (2,)
    randoms: Any  # uint64 (2, 6)
    memory: Any  # int32 (2, 6, MEMORY)
    space: Space
    policy_work: Any  # `state_value.workspace`
    value_work: Any
    chances: Any  # float64 (6,)


@vectorized_entry_point
def choose_moves(games, boards, rules, lanes, randoms, memory, actions, networks, effort, worths):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`).

    `networks` are the policy and the value. `worths`, float32 (N or 1, plans), has a row for each lane or one
    row for all lanes. When a plan is chosen for a turn, the row gets the win probability after the turn for
    each plan that was tried, and UNTRIED for the other plans.
    """
    trial = new_trial(games, networks, effort)
    for k in range(len(lanes)):
        lane = lanes[k]
        game, seat = games[lane], int64(games[lane].seat)
        plan = SET_UP
        if game.phase >= Phase.TRADE and game.turn == seat:
            own, plan_worths = memory[lane, seat], worths[lane % len(worths)]
            if not is_chosen(game, own):
                word = draw_word(randoms, lane, seat)
                remember(game, own, best_plan(game, boards, rules, word, plan_worths, trial))
            elif game.phase == Phase.ATTACK and is_due(own, trial.effort):
                word = draw_word(randoms, lane, seat)
                change_plan(game, boards, rules, word, own, trial)
            plan = int64(own[NUMBER])
        actions[lane] = plan_action(plan, games, boards, rules, lane, randoms, memory, trial.space)


@inlined
def new_trial(games, networks, effort):
    """Return a workspace for trials in games with the dtype of `games`."""
    policy, value = networks
    randoms, memory = np.zeros((2, MAX_SEATS), np.uint64), np.zeros((2, MAX_SEATS, MEMORY), np.int32)
    works = workspace(policy), workspace(value)
    lanes = np.empty(2, games.dtype), randoms, memory
    return Trial(policy, value, effort, *lanes, new_space(games), *works, np.zeros(MAX_SEATS))


@kernel
def best_plan(game, boards, rules, word, worths, trial):
    """Try plans, write the win probability of each tried plan into `worths`, and return the best plan.

    `word` contains 64 random bits.
    """
    effort, seat = trial.effort, int64(game.turn)
    write_outputs(game, boards[0], rules[0], trial.policy, trial.policy_work)
    liked = trial.policy_work[2]
    worths[:] = UNTRIED
    tried = 0
    for _ in range(len(worths)):
        plan = highest(liked)
        liked[plan] = -np.inf
        if tried < effort.plans and is_possible(plan, game, boards[0], seat):
            begin_plan(trial.memory[DRAFTED, seat], plan)
            draft(plan, game, boards, rules, word, trial)
            worths[plan] = worth(plan, seat, boards, rules, word, effort.samples, trial)
            tried += 1
    return highest(worths)


@kernel
def is_due(memory, effort):
    """Count an attack; return True if the plan must be compared with other plans before this attack.

    The comparison is due before the second, fourth, eighth, ... attack of the turn, or never if
    `effort.rest` is 0.
    """
    memory[ATTACKS] += 1
    attacks = int64(memory[ATTACKS])
    return effort.rest > 0 and attacks > 1 and attacks & (attacks - 1) == 0


@kernel
def change_plan(game, boards, rules, word, memory, trial):
    """Change to the plan with the highest win probability for the rest of the turn."""
    present, seat = int64(memory[NUMBER]), int64(game.turn)
    trial.memory[DRAFTED, seat] = memory
    draft(present, game, boards, rules, word, trial)
    best, most = present, worth(present, seat, boards, rules, word, trial.effort.rest, trial)
    for plan in range(FOR_THE_REST):
        begin_plan(trial.memory[DRAFTED, seat], plan)
        draft(plan, game, boards, rules, word, trial)
        new_worth = worth(plan, seat, boards, rules, word, trial.effort.rest, trial)
        if new_worth > most:
            best, most = plan, new_worth
    if best != present:
        remember(game, memory, best)


@kernel
def draft(plan, game, boards, rules, word, trial):
    """Play the trades and drafts of a plan in one sampled game.

    One game is enough for all samples, because a bot sees the same facts in every sample before the first
    roll of dice.
    """
    trial.games[DRAFTED] = game
    determinize(trial.games[DRAFTED], boards[0], rules[0], int64(game.turn), word)
    trial.randoms[DRAFTED] = word
    play_turn(
        plan, trial.games, boards, rules, DRAFTED, trial.randoms, trial.memory, LAST_OF_DRAFT, trial.space
    )


@kernel
def worth(plan, seat, boards, rules, word, samples, trial):
    """Return a seat's mean win probability after a plan has finished the turn that `draft` began."""
    total = 0.0
    for _ in range(samples):
        word = scramble(word)
        trial.games[PLAYED], trial.memory[PLAYED] = trial.games[DRAFTED], trial.memory[DRAFTED]
        trial.randoms[PLAYED] = word
        if trial.games[PLAYED].phase < Phase.OVER:
            determinize(trial.games[PLAYED], boards[0], rules[0], seat, word)
        play_turn(
            plan, trial.games, boards, rules, PLAYED, trial.randoms, trial.memory, LAST_OF_TURN, trial.space
        )
        evaluate_table(trial.games[PLAYED], boards[0], rules[0], trial.value, trial.value_work, trial.chances)
        total += trial.chances[seat]
    return np.float32(total / samples)


@kernel
def highest(numbers):
    """Return the index of the highest number."""
    best = 0
    for place in range(1, len(numbers)):
        if numbers[place] > numbers[best]:
            best = place
    return best
