"""One action: the effect in each phase, and the chance events and forced actions that follow."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.actions import amount_of, write_legal
from risk_env.core.bits import has, nth, size
from risk_env.core.cards import pick_card, place_bonus, stop_trading
from risk_env.core.combat import (
    choose_defence_dice,
    command,
    decide_battle,
    declare_attack,
    offer_commander,
    play_attack_dice,
    reroll,
    roll_dice,
)
from risk_env.core.draft import draftable, place_troops
from risk_env.core.movement import begin_fortify, choose_source, choose_target, fortify, movable, move_troops
from risk_env.core.setup import claim, deploy, deploy_neutral, place_headquarters, set_up
from risk_env.core.turn import (
    after_battle,
    after_move,
    after_occupation,
    continue_draft,
    continue_occupation,
    draw_due_card,
    end_attacks,
    end_fortify,
    place_airfield,
    take_objective,
)
from risk_env.core.types import Phase

NO_ACTION = -2  # stands for no action: play only chance events and forced actions


@kernel
def start(games, i, board, rules, seed):
    """Set up game `i`, and play to the first decision."""
    set_up(games, i, board, rules, seed)
    resume(games[i], board, rules)


@kernel
def resume(game, board, rules):
    """Play from any position to the next decision or the end of the game."""
    play_chance(game, board, rules)
    write_legal(game, board, rules)
    if is_forced(game):
        act(game, board, rules, only_action(game))


@kernel
def act(game, board, rules, action):
    """Play a legal action, then chance events and forced actions to the next decision or the game's end."""
    while True:
        apply(game, board, rules, action)
        play_chance(game, board, rules)
        write_legal(game, board, rules)
        if not is_forced(game):
            return
        action = only_action(game)


@inlined
def act_if_legal(game, board, rules, action):
    """Call `act` if `action`, which may be any number, is a legal action.

    Return False if the action is not legal.
    """
    if action < 0 or action >= rules.num_actions or not has(game.legal, action):
        return False
    game.decisions += 1
    act(game, board, rules, action)
    return True


@inlined
def is_forced(game):
    """Return True if exactly one action is legal."""
    return size(game.legal) == 1


@inlined
def only_action(game):
    return nth(game.legal, 0)


@inlined
def is_chance(game):
    return game.phase > Phase.OVER


@inlined
def play_chance(game, board, rules):
    """Play chance events until a seat has to act or the game is over."""
    while is_chance(game):
        play_one_chance(game, board, rules)


@kernel
def play_one_chance(game, board, rules):
    """Play one chance event: one roll or one card."""
    if game.phase == Phase.ROLL:
        roll_dice(game, board, rules)
        after_battle(game, board, rules)
    else:
        draw_due_card(game, board, rules)


@kernel
def apply(game, board, rules, action):
    """Play one action in the current phase."""
    phase = game.phase
    if phase == Phase.ATTACK:
        if action == rules.done:
            end_attacks(game, board, rules)
        else:
            declare_attack(game, board, rules, action - int64(rules.border_0))
    elif phase == Phase.ATTACK_DICE:
        play_attack_dice(game, rules, action - int64(rules.dice_0))
    elif phase == Phase.DEFEND:
        choose_defence_dice(game, action - int64(rules.dice_0) + 1)
    elif phase == Phase.DRAFT:
        game.target = action
        game.phase = Phase.DRAFT_AMOUNT
    elif phase == Phase.DRAFT_AMOUNT:
        place_troops(game, rules, chosen_amount(rules, action, draftable(game, rules, int64(game.target))))
        continue_draft(game, board, rules)
    elif phase == Phase.OCCUPY:
        apply_occupy(game, board, rules, action)
    elif phase == Phase.TRADE:
        apply_trade(game, board, rules, action)
    elif phase == Phase.REROLL or phase == Phase.COMMANDER:
        apply_die(game, board, rules, action)
    elif phase >= Phase.FORTIFY_FROM:
        apply_fortify(game, board, rules, action)
    else:
        apply_setup_or_variant(game, board, rules, action)


@inlined
def chosen_amount(rules, action, most):
    """Return the number of troops for an AMOUNT action. `most` is the number of available troops."""
    return amount_of(rules, action - int64(rules.amount_0), most)


@kernel
def apply_occupy(game, board, rules, action):
    """Move more troops into the captured territory, or stop (RULES 3.2.5)."""
    if action == rules.done:
        after_occupation(game, board, rules)
    else:
        move_troops(game, chosen_amount(rules, action, movable(game, rules)))
        continue_occupation(game, board, rules)


@kernel
def apply_trade(game, board, rules, action):
    """Pick a card for a trade, or stop trading (RULES 5.3, 9.4)."""
    if action != rules.done:
        pick_card(game, board, rules, action - int64(rules.card_0))
    else:
        stop_trading(game, board)
    continue_draft(game, board, rules)


@kernel
def apply_die(game, board, rules, action):
    """Re-roll or turn a die, or keep the dice (RULES 10.4, 10.5)."""
    face = action - int64(rules.die_0) + 1
    if game.phase == Phase.REROLL:
        if action == rules.done:
            offer_commander(game, board, rules)
        else:
            reroll(game, board, rules, face)
    elif action == rules.done:
        decide_battle(game, board, rules)
    else:
        command(game, board, rules, face)
    after_battle(game, board, rules)


@kernel
def apply_fortify(game, board, rules, action):
    """Choose the source, the target or the amount of a fortify move (RULES 3.4)."""
    if game.phase == Phase.FORTIFY_TO:
        choose_target(game, action)
    elif game.phase == Phase.FORTIFY_FROM:
        if action == rules.done:
            end_fortify(game, board, rules)
        else:
            choose_source(game, board, rules, action)
    elif action == rules.done or fortify(game, rules, chosen_amount(rules, action, movable(game, rules))):
        after_move(game, board, rules)


@kernel
def apply_setup_or_variant(game, board, rules, action):
    """Play an action of a set-up phase, or of BONUS, AIRFIELD or OBJECTIVE."""
    phase = game.phase
    if phase == Phase.CLAIM or phase == Phase.CAPITAL:
        claim(game, board, rules, action)
    elif phase == Phase.DEPLOY:
        deploy(game, board, rules, action)
    elif phase == Phase.DEPLOY_NEUTRAL:
        deploy_neutral(game, board, rules, action)
    elif phase == Phase.HEADQUARTERS:
        place_headquarters(game, board, rules, action)
    elif phase == Phase.BONUS:
        place_bonus(game, board, rules, action)
        continue_draft(game, board, rules)
    elif phase == Phase.AIRFIELD:
        place_airfield(game, board, rules, action)
    elif action == rules.done:
        begin_fortify(game, board, rules)
    else:
        take_objective(game, board, rules, action - int64(rules.objective_0))
