"""The course of a turn: its phases in order (RULES 3, 3.2.7, 9.5, 11.2; docs/decisions.md)."""

from numpy import int64

from risk_env.compiler import inlined, kernel
from risk_env.core.bits import ZERO, bit
from risk_env.core.cards import ELIMINATION_HAND, hand_size
from risk_env.core.chance import draw_card
from risk_env.core.combat import airfield_reward, end_battle, lose_reward
from risk_env.core.draft import anywhere_to_draft, begin_draft
from risk_env.core.goals import (
    end_game,
    judge_capture,
    judge_missions,
    objectives_met,
    objectives_won,
    truncate,
)
from risk_env.core.movement import begin_fortify, end_move, movable
from risk_env.core.position import is_alive
from risk_env.core.types import NO_REWARD, NOWHERE, NUM_AIRFIELDS, Deck, Phase, Reward, Trade


@kernel
def begin_turn(game, board, rules, seat):
    """Begin a seat's turn with the draft."""
    game.turn = seat
    game.seat = seat
    clear_turn(game)
    for w in range(len(game.held_at_start)):
        game.held_at_start[w] = game.owned[seat, w]
    begin_draft(game, board, rules)
    continue_draft(game, board, rules)


@kernel
def clear_turn(game):
    """Clear the counts and flags of the previous turn."""
    game.battles = 0
    game.trade = Trade.FREE
    game.source = NOWHERE
    game.target = NOWHERE
    game.captured = False
    game.eliminated = False
    game.set_traded = False
    game.bonus_paid = False
    game.commander_used = False
    game.objective_taken = False
    game.attacks_over = False


@kernel
def continue_draft(game, board, rules):
    """End the draft if no troops are left, or no territory has room (RULES 3.1.4, 10.3)."""
    if game.phase == Phase.DRAFT and (game.draft_left == 0 or not anywhere_to_draft(game, rules)):
        game.draft_left = 0
        after_draft(game, board, rules)


@kernel
def after_draft(game, board, rules):
    """Check missions, then continue with a Starting Maneuver (RULES 9.8) or the attacks."""
    if judge_missions(game, board, rules):
        return
    if game.reward_owner[Reward.STARTING_MANEUVER.value] == game.turn:
        game.moves_left = 1
        game.phase = Phase.FORTIFY_FROM
    else:
        game.phase = Phase.ATTACK


@kernel
def after_battle(game, board, rules):
    """Continue with the occupation if the last roll captured a territory (RULES 3.2.7)."""
    if game.phase == Phase.OCCUPY and not judge_capture(game, board, rules):
        continue_occupation(game, board, rules)


@kernel
def continue_occupation(game, board, rules):
    """End the occupation if no more troops can move."""
    if movable(game, rules) == 0:
        after_occupation(game, board, rules)


@kernel
def after_occupation(game, board, rules):
    """Continue after an occupation (RULES 3.2.7, 3.3.2).

    Missions are checked first. Then the player makes the trades that an elimination forces, or attacks again.
    """
    if judge_missions(game, board, rules):
        return
    end_battle(game)
    if (
        game.eliminated
        and rules.deck == Deck.SYMBOL
        and hand_size(game, int64(game.turn)) >= ELIMINATION_HAND
    ):
        game.trade = Trade.ELIMINATION
        game.phase = Phase.TRADE
    game.eliminated = False


@kernel
def end_attacks(game, board, rules):
    """End the attacks (RULES 3, 9.5).

    The player may get a card (symbol deck) or an Objective (star deck). Then the fortify moves follow.
    """
    game.attacks_over = True
    if rules.deck == Deck.SYMBOL and game.captured:
        game.phase = Phase.DRAW
    elif objectives_met(game, board, rules) != ZERO:
        game.phase = Phase.OBJECTIVE
    else:
        begin_fortify(game, board, rules)


@kernel
def take_objective(game, board, rules, objective):
    """Take an Objective that is met, with its Reward (RULES 9.5, 9.8)."""
    game.objective[objective] = game.turn
    game.objective_taken = True
    reward = int64(game.objective_reward[objective])
    if reward != NO_REWARD:
        game.reward_owner[reward] = game.turn
    if reward != Reward.AIRFIELD and reward != Reward.MAJOR_AIRFIELD:
        begin_fortify(game, board, rules)
    elif can_place_airfield(game):
        game.phase = Phase.AIRFIELD
    else:
        lose_reward(game, reward)
        begin_fortify(game, board, rules)


@inlined
def airfield_places(game, w):
    """Return word `w` of the bitset of territories on which a new airfield may stand (RULES 9.8).

    These are the current player's territories without an airfield of that player.
    """
    word = game.owned[game.turn, w]
    for which in range(NUM_AIRFIELDS):
        place = int64(game.airfield[which])
        if place != NOWHERE and place >> 6 == w and game.reward_owner[airfield_reward(which)] == game.turn:
            word &= ~bit(place)
    return word


@kernel
def can_place_airfield(game):
    places = ZERO
    for w in range(len(game.strong)):
        places |= airfield_places(game, w)
    return places != ZERO


@kernel
def place_airfield(game, board, rules, territory):
    """Place the airfield of the latest Reward (RULES 9.8)."""
    for which in range(NUM_AIRFIELDS):
        if game.reward_owner[airfield_reward(which)] == game.turn and game.airfield[which] == NOWHERE:
            game.airfield[which] = territory
    begin_fortify(game, board, rules)


@kernel
def after_move(game, board, rules):
    """Check missions, then continue with another move, the attacks or the end of the turn."""
    end_move(game)
    if not judge_missions(game, board, rules) and game.moves_left == 0:
        end_fortify(game, board, rules)


@kernel
def end_fortify(game, board, rules):
    """End the fortify moves (RULES 9.5).

    After a Starting Maneuver, the attacks follow. Otherwise the turn ends. With the star deck, a card that is
    due is drawn first.
    """
    game.moves_left = 0
    if not game.attacks_over:
        game.phase = Phase.ATTACK
    elif rules.deck == Deck.STAR and star_card_due(game):
        game.phase = Phase.DRAW
    else:
        end_turn(game, board, rules)


@kernel
def star_card_due(game):
    """Return True if the turn earned a card (RULES 9.5, 9.8).

    A card is due after a capture without an Objective, or with the Reward Guaranteed Card.
    """
    guaranteed = game.reward_owner[Reward.GUARANTEED_CARD.value] == game.turn
    return guaranteed or (game.captured and not game.objective_taken)


@kernel
def draw_due_card(game, board, rules):
    """Draw the card that the turn earned (RULES 3).

    A card of the symbol deck is drawn before the fortify moves, a card of the star deck after them.
    """
    draw_card(game, int64(game.turn))
    if rules.deck == Deck.SYMBOL:
        begin_fortify(game, board, rules)
    else:
        end_turn(game, board, rules)


@kernel
def end_turn(game, board, rules):
    """End the game if the player wins by Objectives, otherwise pass the turn on (RULES 9.7, 11.2).

    The next living seat gets the turn. A round ends when the turn reaches or skips the seat of the starter.
    After the last round, the game is truncated.
    """
    if objectives_won(game, rules, int64(game.turn)):
        end_game(game, int64(game.turn))
        return
    players = int64(rules.num_players)
    seat = (int64(game.turn) + 1) % players
    while not is_alive(game, seat) and seat != game.starter:
        seat = (seat + 1) % players
    if seat == game.starter:
        if game.round_number >= rules.max_rounds:
            truncate(game)
            return
        game.round_number += 1
        while not is_alive(game, seat):
            seat = (seat + 1) % players
    begin_turn(game, board, rules, seat)
