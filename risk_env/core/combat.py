"""Attacks: declaration, dice, losses, capture and elimination (RULES 3.2, 3.3, 9.8, 10.4-10.6)."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ZERO, add, has
from risk_env.core.chance import below, roll
from risk_env.core.position import change_owner, holds_nothing, owner_of, set_troops, troops_on
from risk_env.core.types import (
    BLITZ,
    MAX_DICE,
    NOBODY,
    NOWHERE,
    NUM_AIRFIELDS,
    NUM_FACES,
    NUM_REWARDS,
    Attack,
    DefenderDice,
    Phase,
    Reward,
)

MAX_ATTACK_DICE = 3
MAX_DEFENCE_DICE = 2
ATTACKER = 0
DEFENDER = 1


@inlined
def most_attack_dice(game):
    """Return the maximum number of the attacker's dice: troops minus one, at most three (RULES 3.2.2)."""
    return min(MAX_ATTACK_DICE, troops_on(game, int64(game.source)) - 1)


@inlined
def most_defence_dice(game):
    return min(MAX_DEFENCE_DICE, troops_on(game, int64(game.target)))


@inlined
def battles_left(game, rules):
    """Return True if the limit of rolls per turn allows another roll (RULES 11.3)."""
    return game.battles < rules.max_battles


@kernel
def declare_attack(game, board, rules, border):
    """Begin an attack along a border (RULES 3.2.4).

    The attacker chooses the dice next, unless the rules fix the dice.
    """
    game.source = board.border_source[border]
    game.target = board.border_target[border]
    if rules.attack == Attack.CHOICE:
        game.phase = Phase.ATTACK_DICE
    elif rules.attack == Attack.MAX:
        choose_attack_dice(game, rules, most_attack_dice(game))
    else:
        begin_blitz(game)


@kernel
def play_attack_dice(game, rules, choice):
    """Play the attacker's choice of dice: one to three dice (`choice` 0 to 2), or a blitz."""
    if choice == BLITZ:
        begin_blitz(game)
    else:
        choose_attack_dice(game, rules, choice + 1)


@kernel
def choose_attack_dice(game, rules, dice):
    """Set the number of attack dice, and start the defender's choice of dice (RULES 3.2.2).

    Unless the rules allow a choice, the defender rolls the most dice.
    """
    game.chosen_dice[ATTACKER] = dice
    if rules.defender_dice == DefenderDice.CHOICE:
        game.seat = defending_seat(game, rules)
        game.phase = Phase.DEFEND
    else:
        choose_defence_dice(game, most_defence_dice(game))


@kernel
def defending_seat(game, rules):
    """Return the seat that rolls for the attacked territory (RULES 6.2).

    The owner rolls. The attacker's opponent rolls for the neutral army.
    """
    owner = owner_of(game, int64(game.target))
    return owner if owner < rules.num_players else 1 - int64(game.turn)


@kernel
def choose_defence_dice(game, dice):
    game.chosen_dice[DEFENDER] = dice
    game.seat = game.turn
    game.phase = Phase.ROLL


@kernel
def begin_blitz(game):
    """Start a blitz: both sides roll as many dice as possible until the battle ends (RULES 3.2.4)."""
    game.blitz = True
    roll_on(game)


@kernel
def roll_on(game):
    """Prepare the next roll of a blitz."""
    game.chosen_dice[ATTACKER] = most_attack_dice(game)
    choose_defence_dice(game, most_defence_dice(game))


@inlined
def may_end_within(game, rules, rolls):
    """Return True if the current blitz can end within `rolls` rolls.

    A roll costs a side at most two troops (RULES 3.2.3). A blitz also ends at the limit of rolls per turn.
    """
    most = MAX_DEFENCE_DICE * rolls
    is_close = troops_on(game, int64(game.source)) - 1 <= most or troops_on(game, int64(game.target)) <= most
    return is_close or rules.max_battles - game.battles <= rolls


@kernel
def write_roll(game, values):
    """Write the last roll into `values`, int8 (2, 9).

    The row of each side contains the dice as rolled (4), the dice as compared (4) and the losses.
    """
    for side in range(2):
        for d in range(MAX_DICE):
            values[side, d] = game.rolled[side, d]
            values[side, MAX_DICE + d] = game.settled[side, d]
        values[side, 2 * MAX_DICE] = game.losses[side]


@kernel
def roll_dice(game, board, rules):
    """Roll the chosen dice and any extra dice, and drop the lowest die for each extra die (RULES 9.8, 10.6).

    The next step is a re-roll, the commander, or the losses.
    """
    defender = owner_of(game, int64(game.target))
    attack_dice = int64(game.chosen_dice[ATTACKER])
    defence_dice = int64(game.chosen_dice[DEFENDER])
    extra_attack = int64(game.reward_owner[Reward.ATTACK_DIE.value] == game.turn)
    extra_defence = int64(game.reward_owner[Reward.DEFENSE_DIE.value] == defender)
    roll(game, attack_dice + extra_attack, defence_dice + extra_defence)
    game.battles += 1
    keep_highest(game, ATTACKER, attack_dice)
    keep_highest(game, DEFENDER, defence_dice)
    game.rerolled[0] = 0
    game.rerolled[1] = 0
    if may_reroll(game, rules):
        game.phase = Phase.REROLL
    else:
        offer_commander(game, board, rules)


@inlined
def keep_highest(game, side, dice):
    """Write a side's rolled dice into `game.settled`, highest first (RULES 3.2.3, 9.8).

    Keep only the `dice` highest dice, and set the rest to 0.
    """
    settled = game.settled[side]
    for d in range(len(settled)):
        settled[d] = game.rolled[side, d]
    sort_downwards(settled)
    for d in range(len(settled)):
        settled[d] = settled[d] if d < dice else 0


@inlined
def sort_downwards(dice):
    """Sort a few small numbers in place, highest first.

    The kernel has no branches, because a CPU cannot predict dice.
    """
    for last in range(len(dice) - 1, 0, -1):
        for d in range(last):
            higher, lower = max(dice[d], dice[d + 1]), min(dice[d], dice[d + 1])
            dice[d] = higher
            dice[d + 1] = lower


@kernel
def may_reroll(game, rules):
    """Return True if the attacker may re-roll a die (RULES 10.4).

    The attacker needs the card of the source or of the target. No re-roll is possible in a blitz.
    """
    if not rules.card_reroll or game.blitz:
        return False
    hand = game.hand[game.turn]
    return has(hand, int64(game.source)) or has(hand, int64(game.target))


@kernel
def reroll(game, board, rules, face):
    """Show a card and roll one of the attacker's dice again (RULES 10.4).

    If the attacker has the cards of both territories, the attacker shows the card of the attacking territory.
    """
    source = int64(game.source)
    held = has(game.hand[game.turn], source)
    add(game.shown, source if held else int64(game.target))
    again = below(game, NUM_FACES) + 1
    game.rerolled[0] = face
    game.rerolled[1] = again
    turn_die(game.settled[ATTACKER], face, again)
    offer_commander(game, board, rules)


@kernel
def turn_die(dice, face, other):
    """Turn one die from the face `face` to the face `other`, and sort the dice again."""
    for d in range(len(dice)):
        if dice[d] == face:
            dice[d] = other
            break
    sort_downwards(dice)


@kernel
def may_command(game, rules):
    """Return True if the commander can turn a die to 6 (RULES 10.5, 10.6).

    The commander acts at most once per turn, and never in a blitz.
    """
    if not rules.commander or game.commander_used or game.blitz:
        return False
    lowest_die = int64(game.settled[ATTACKER, int64(game.chosen_dice[ATTACKER]) - 1])
    return lowest_die < NUM_FACES


@kernel
def offer_commander(game, board, rules):
    if may_command(game, rules):
        game.phase = Phase.COMMANDER
    else:
        decide_battle(game, board, rules)


@kernel
def command(game, board, rules, face):
    """Turn one attack die from `face` to 6 (RULES 10.5)."""
    game.commander_used = True
    turn_die(game.settled[ATTACKER], face, NUM_FACES)
    decide_battle(game, board, rules)


@inlined
def airfield_reward(which):
    """Return the Reward that gives airfield `which`: 0 is minor, 1 is major."""
    return Reward.AIRFIELD.value if which == 0 else Reward.MAJOR_AIRFIELD.value


@kernel
def airfield_helps(game, board, seat, territory):
    """Return True if an airfield of `seat` helps in a battle for `territory` (RULES 9.8, 9.9).

    An airfield helps on `territory` itself, and on each territory that has a border to `territory`.
    """
    found = False
    for which in range(NUM_AIRFIELDS):
        place = int64(game.airfield[which])
        if place != NOWHERE and game.reward_owner[airfield_reward(which)] == seat:
            found |= place == territory or has(board.sources[territory], place)
    return found


@kernel
def add_airfields(game, board):
    """Add one to the highest die of each side whose airfield helps (RULES 9.8)."""
    target = int64(game.target)
    if airfield_helps(game, board, int64(game.turn), target):
        game.settled[ATTACKER, 0] += 1
    if airfield_helps(game, board, owner_of(game, target), target):
        game.settled[DEFENDER, 0] += 1


@kernel
def decide_battle(game, board, rules):
    """Compare the dice, and remove the losses (RULES 3.2.3).

    Then capture the territory, or continue or end the attack.
    """
    if rules.rewards:
        add_airfields(game, board)
    compare_dice(game)
    source, target = int64(game.source), int64(game.target)
    set_troops(game, source, troops_on(game, source) - int64(game.losses[ATTACKER]))
    set_troops(game, target, troops_on(game, target) - int64(game.losses[DEFENDER]))
    if troops_on(game, target) == 0:
        capture(game, rules)
    elif game.blitz and troops_on(game, source) > 1 and battles_left(game, rules):
        roll_on(game)
    else:
        end_battle(game)


@kernel
def compare_dice(game):
    """Compare the highest dice, then the second-highest; ties go to the defender (RULES 3.2.3)."""
    attacker_loses = 0
    defender_loses = 0
    for d in range(MAX_DEFENCE_DICE):
        attack, defence = int64(game.settled[ATTACKER, d]), int64(game.settled[DEFENDER, d])
        if attack > 0 and defence > 0:
            wins = int64(attack > defence)
            defender_loses += wins
            attacker_loses += 1 - wins
    game.losses[ATTACKER] = attacker_loses
    game.losses[DEFENDER] = defender_loses


@inlined
def end_battle(game):
    """Clear the attack, so that the attacker can choose the next attack."""
    game.blitz = False
    game.source = NOWHERE
    game.target = NOWHERE
    game.phase = Phase.ATTACK


@kernel
def capture(game, rules):
    """Capture the attacked territory (RULES 3.2.5, 3.3.1).

    One troop for each chosen attack die moves in. A seat that has lost its last territory is eliminated.
    """
    source, target = int64(game.source), int64(game.target)
    moving = int64(game.chosen_dice[ATTACKER])
    loser = owner_of(game, target)
    change_owner(game, target, int64(game.turn))
    set_troops(game, source, troops_on(game, source) - moving)
    set_troops(game, target, moving)
    game.blitz = False
    game.captured = True
    game.eliminated = False
    game.phase = Phase.OCCUPY
    destroy_airfields(game, target)
    if loser < rules.num_players and holds_nothing(game, loser):
        eliminate(game, loser)


@inlined
def destroy_airfields(game, territory):
    """Remove each airfield on a lost territory, with the Reward that gave the airfield (RULES 9.8).

    The owner keeps the Objective that came with the airfield.
    """
    for which in range(NUM_AIRFIELDS):
        if game.airfield[which] == territory:
            lose_reward(game, airfield_reward(which))


@kernel
def eliminate(game, loser):
    """Eliminate a seat (RULES 3.3).

    The eliminator gets the loser's cards and Objectives. The loser's Rewards are lost.
    """
    last = 0
    for seat in range(len(game.death)):
        last = max(last, int64(game.death[seat]))
    game.death[loser] = last + 1
    game.eliminated = True
    hand_over_cards(game, loser)
    hand_over_objectives(game, loser)
    for reward in range(NUM_REWARDS):
        if game.reward_owner[reward] == loser:
            lose_reward(game, reward)


@kernel
def hand_over_cards(game, loser):
    seat = int64(game.turn)
    for w in range(len(game.picked)):
        game.hand[seat, w] |= game.hand[loser, w]
        game.hand[loser, w] = ZERO
    game.wilds[seat] += game.wilds[loser]
    game.wilds[loser] = 0


@kernel
def hand_over_objectives(game, loser):
    for objective in range(len(game.objective)):
        if game.objective[objective] == loser:
            game.objective[objective] = game.turn


@kernel
def lose_reward(game, reward):
    game.reward_owner[reward] = NOBODY
    for which in range(NUM_AIRFIELDS):
        if airfield_reward(which) == reward:
            game.airfield[which] = NOWHERE
