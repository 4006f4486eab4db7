"""Kernels that Python code calls for one game of an array.

`games` is an array of `game_dtype`. `boards` and `rules` are arrays with one record each. An array and an
index are faster to pass than a record.
"""

from risk_env.compiler import entry_point
from risk_env.core import hidden
from risk_env.core.actions import write_legal
from risk_env.core.chance import mix
from risk_env.core.combat import ATTACKER, DEFENDER, may_end_within, write_roll
from risk_env.core.draft import begin_draft
from risk_env.core.goals import place_of
from risk_env.core.observe import observe
from risk_env.core.setup import set_up
from risk_env.core.step import NO_ACTION, act_if_legal, apply, is_chance, play_one_chance, resume
from risk_env.core.types import Phase


@entry_point
def seed_of(seed, lane, episode):
    """Return the seed of game number `episode` of a lane. All arguments and the result are uint64."""
    return mix(seed, lane, episode)


@entry_point
def set_up_game(games, i, boards, rules, seed):
    """Set up game `i`, with `seed` (uint64) as the state of the generator.

    The kernel plays no actions and writes no legal actions.
    """
    set_up(games, i, boards[0], rules[0], seed)


@entry_point
def step_game(games, i, boards, rules, action):
    """Play an action in game `i`, then continue to the next decision or the end of the game.

    If the action is not legal, do nothing and return False. NO_ACTION continues from any position.
    """
    if action != NO_ACTION:
        return act_if_legal(games[i], boards[0], rules[0], action)
    resume(games[i], boards[0], rules[0])
    return True


@entry_point
def apply_action(games, i, boards, rules, action):
    """Play one legal action in game `i`, without the chance events and forced actions that follow.

    Then write the legal actions. No action is legal if a chance event is next.
    """
    apply(games[i], boards[0], rules[0], action)
    write_legal(games[i], boards[0], rules[0])


@entry_point
def play_chance_once(games, i, boards, rules):
    """Play one chance event in game `i`, and return True. If no chance event is due, return False."""
    if not is_chance(games[i]):
        return False
    play_one_chance(games[i], boards[0], rules[0])
    write_legal(games[i], boards[0], rules[0])
    return True


@entry_point
def play_blitz(games, i, boards, rules, rolls, totals):
    """Play the rolls of a blitz in game `i` until the blitz is decided.

    `totals`, int64 (3,), gets the number of rolls, the attacker's losses and the defender's losses. `rolls`,
    int8 (2K, 2, 9), gets the first K rolls, and then the last K rolls as a ring buffer. Each entry has, for
    both sides, the dice as rolled (4), the dice as compared (4) and the losses.
    """
    game = games[i]
    kept = len(rolls) // 2
    for k in range(len(totals)):
        totals[k] = 0
    while game.blitz and game.phase == Phase.ROLL:
        number = totals[0]
        is_kept = number < kept or may_end_within(game, rules[0], kept)
        play_one_chance(game, boards[0], rules[0])
        if is_kept:
            write_roll(game, rolls[number if number < kept else kept + number % kept])
        totals[0] += 1
        totals[1] += game.losses[ATTACKER]
        totals[2] += game.losses[DEFENDER]
    write_legal(game, boards[0], rules[0])


@entry_point
def hide_decision(games, i, boards, rules, seat):
    """Hide a secret decision of another seat in game `i` from `seat`.

    The kernel changes the record, so pass a copy of the game.
    """
    hidden.hide_decision(games[i], boards[0], rules[0], seat)


@entry_point
def placements(games, i, boards, rules, places):
    """Write the place of every seat of game `i`, from 1, into `places`, int (P,)."""
    for seat in range(len(places)):
        places[seat] = place_of(games[i], boards[0], rules[0], seat)


@entry_point
def observe_game(games, i, boards, rules, seat, words, observation):
    """Write the observation of `seat` in game `i`.

    `observation` is int8 (D,). `words` is the same memory as uint64 (D / 8,).
    """
    observe(games[i], boards[0], rules[0], seat, words, observation)


@entry_point
def determinize_game(games, i, boards, rules, seat, seed):
    """Redraw all facts of game `i` that `seat` does not know.

    The generator continues from `seed` (uint64).
    """
    hidden.determinize(games[i], boards[0], rules[0], seat, seed)


@entry_point
def write_legal_actions(games, i, boards, rules):
    """Write the legal actions of game `i`, for example after a position is loaded."""
    write_legal(games[i], boards[0], rules[0])


@entry_point
def begin_draft_of_turn(games, i, boards, rules):
    """Begin the draft of the current turn in game `i`.

    The kernel computes the troops due. If a trade is possible, the phase TRADE comes first.
    """
    begin_draft(games[i], boards[0], rules[0])
