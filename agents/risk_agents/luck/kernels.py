"""Kernels that replay games and add up the luck of battles and cards (see `luck`).

The luck of an event is the value of its outcome minus the mean value of all its possible outcomes. The value
is the estimated win probability of the seat whose turn it is. In this estimate, the seat may attack again.
The value of a battle in progress is the mean value of its ends if the attack continues to the end. Values
depend only on the state before the event and on the outcome. The expected luck is therefore 0 for all players
and all estimates.

An end of a battle is a number of troops left: the attacker's troops if the territory falls, otherwise the
defender's troops.
"""

from typing import Any, NamedTuple

from numpy import int64

from risk_agents.scripted.board_sense import NONE, is_inland
from risk_agents.search.evaluation import Evaluator, evaluate
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.actions import write_legal
from risk_env.core.bits import ZERO, add, has, lowest, size
from risk_env.core.cards import SET_CARDS, can_trade, count_symbol, hand_size
from risk_env.core.chance import shuffle_discards
from risk_env.core.combat import (
    ATTACKER,
    DEFENDER,
    MAX_ATTACK_DICE,
    capture,
    compare_dice,
    end_battle,
    turn_die,
)
from risk_env.core.movement import movable, move_troops
from risk_env.core.odds import dice_of
from risk_env.core.position import owner_of, set_troops, troops_on
from risk_env.core.step import apply, is_chance, is_forced, only_action, play_one_chance
from risk_env.core.types import NUM_FACES, UNLIMITED, Phase, Symbol

NOW, BEFORE, IMAGINED = 0, 1, 2  # indices in `Tools.games`: the game, and two copies of the game
RECORDS = 3
EXPECTED, HAPPENED = 0, 1  # probabilities of a battle's ends before the event, and after the event
FALLEN, HELD = 0, 1  # ends in which the territory falls, and ends in which the attack fails
MOST_LEFT = 255  # battles with a larger army have luck 0
LEAST_CHANCE = 0.02  # minimum probability of the smallest and the largest evaluated end (`likely_ends`)
MOST_STEPS = 2  # maximum number of steps between the evaluated ends of FALLEN or HELD
WILD = len(Symbol)  # kind of a wild card, after the symbols
BATTLE, DIE, CARD = 0, 1, 2  # kinds of events
ILLEGAL = -1  # returned instead of a number of events if an action is illegal


class Tools(NamedTuple):
    """Workspace and constants of the kernels."""

    games: Any  # records (RECORDS,)
    odds: Any  # float64 (4, 3, 3): `core.odds.roll_odds`
    chances: Any  # float64 (MOST_LEFT + 1, MOST_LEFT + 1): probability by troops of attacker and defender
    ends: Any  # float64 (2, 2, MOST_LEFT + 1): EXPECTED and HAPPENED, FALLEN and HELD, number of troops left
    weights: Any  # float32 (n,): weights of the value (`beam_value_features.packed`)
    work: Any  # float32 (WORKSPACE): workspace of the value


class Events(NamedTuple):
    """Events of one game; with arrays of 0 rows, no event is recorded."""

    facts: Any  # int64 (E, 5): kind, number of actions so far, seat whose turn it is, source, target
    luck: Any  # float64 (E,): luck of the seat whose turn it is


@vectorized_entry_point
def write_luck(games, boards, rules, actions, counts, tools, luck, events):
    """Write the luck of seat 0 in each game, float64 (k,), and the events of the last game.

    Game k begins with the record `games[k]`, and continues with the first `counts[k]` actions of row k of
    `actions`, int32 (k, A). Returns the number of events of the last game, or ILLEGAL.
    """
    count = 0
    for k in range(len(games)):
        tools.games[NOW] = games[k]
        luck[k] = 0.0
        count = replay(boards[0], rules[0], actions[k, : counts[k]], tools, luck[k : k + 1], events)
        if count == ILLEGAL:
            return ILLEGAL
    return count


@kernel
def replay(board, rules, actions, tools, luck, events):
    """Play the actions in the game `tools.games[NOW]`, and add up the luck of seat 0.

    Returns the number of events, or ILLEGAL if an action is not legal.
    """
    game = tools.games[NOW]
    played, count = 0, 0
    while True:
        while is_chance(game):
            count = play_event(board, rules, NONE, played, count, tools, luck, events)
        write_legal(game, board, rules)
        if game.phase == Phase.OVER or (played == len(actions) and not is_forced(game)):
            return count if played == len(actions) else ILLEGAL
        if is_forced(game):
            action = only_action(game)
        else:
            action = int64(actions[played])
            if action < 0 or action >= rules.num_actions or not has(game.legal, action):
                return ILLEGAL
            played += 1
        if game.phase == Phase.REROLL and action != rules.done:
            count = play_event(board, rules, action, played, count, tools, luck, events)
        else:
            apply(game, board, rules, action)


@kernel
def play_event(board, rules, action, played, count, tools, luck, events):
    """Play a chance event, add its luck, and record the event if `events` has room; return `count` + 1.

    `action` is the action that re-rolls a die, or NONE for any other event.
    """
    game = tools.games[NOW]
    tools.games[BEFORE] = tools.games[NOW]
    seat = int64(game.turn)
    if game.phase == Phase.REROLL:
        kind, event_luck = DIE, die_luck(game, board, rules, action, tools)
    elif game.phase == Phase.DRAW:
        kind, event_luck = CARD, card_luck(game, board, rules, tools)
    else:
        kind, event_luck = BATTLE, battle_luck(game, board, rules, tools)
    luck[0] += event_luck if seat == 0 else -event_luck
    if count < len(events.luck):
        before = tools.games[BEFORE]
        events.luck[count] = event_luck
        facts = (kind, played, seat, int64(before.source), int64(before.target))
        for n in range(len(facts)):
            events.facts[count, n] = facts[n]
    return count + 1


# Battles


@kernel
def battle_luck(game, board, rules, tools):
    """Play the roll or the blitz that is due, and return its luck."""
    source, target = int64(game.source), int64(game.target)
    attackers, defenders = troops_on(game, source), troops_on(game, target)
    if max(attackers, defenders) > MOST_LEFT:
        play_one_chance(game, board, rules)
        return 0.0
    clear_chances(attackers, defenders, tools.chances)
    attack_dice, defence_dice = int64(game.chosen_dice[ATTACKER]), int64(game.chosen_dice[DEFENDER])
    compared = min(attack_dice, defence_dice)
    for lost in range(compared + 1):
        chance = tools.odds[attack_dice, defence_dice, lost]
        tools.chances[attackers - compared + lost, defenders - lost] = chance
    fight_on(attackers, defenders, tools.ends[EXPECTED], tools)
    if game.blitz and rules.max_battles == UNLIMITED:
        while game.phase == Phase.ROLL:
            play_one_chance(game, board, rules)
        end_blitz(game, source, target, tools.ends[HAPPENED])
    else:
        play_one_chance(game, board, rules)
        clear_chances(attackers, defenders, tools.chances)
        tools.games[IMAGINED] = tools.games[NOW]
        add_losses(tools.games[IMAGINED], attackers, defenders, 1.0, tools.chances)
        fight_on(attackers, defenders, tools.ends[HAPPENED], tools)
    return luck_of_ends(board, rules, attackers, defenders, tools)


@kernel
def die_luck(game, board, rules, action, tools):
    """Play the action that re-rolls a die, and return the luck of the new face (RULES 10.4)."""
    attackers, defenders = troops_on(game, int64(game.source)), troops_on(game, int64(game.target))
    apply(game, board, rules, action)
    if max(attackers, defenders) > MOST_LEFT:
        return 0.0
    face = action - int64(rules.die_0) + 1
    for row in (EXPECTED, HAPPENED):
        clear_chances(attackers, defenders, tools.chances)
        for again in range(1, NUM_FACES + 1):
            chance = 1.0 / NUM_FACES
            if row == HAPPENED:
                chance = 1.0 if again == game.rerolled[1] else 0.0
            tools.games[IMAGINED] = tools.games[BEFORE]
            turn_die(tools.games[IMAGINED].settled[ATTACKER], face, again)
            add_losses(tools.games[IMAGINED], attackers, defenders, chance, tools.chances)
        fight_on(attackers, defenders, tools.ends[row], tools)
    return luck_of_ends(board, rules, attackers, defenders, tools)


@inlined
def clear_chances(attackers, defenders, chances):
    """Clear the probabilities of all army sizes that a battle can leave."""
    for a in range(attackers + 1):
        for d in range(defenders + 1):
            chances[a, d] = 0.0


@inlined
def add_losses(game, attackers, defenders, chance, chances):
    """Add `chance` to the entry of `chances` for the troops left after the current dice of `game`."""
    compare_dice(game)
    chances[attackers - int64(game.losses[ATTACKER]), defenders - int64(game.losses[DEFENDER])] += chance


@kernel
def fight_on(attackers, defenders, ends, tools):
    """Continue the battles in `tools.chances` to their ends; write the ends' probabilities into `ends`."""
    chances = tools.chances
    ends[FALLEN, : attackers + 1] = 0.0
    ends[HELD, : defenders + 1] = 0.0
    for a in range(attackers, 0, -1):
        for d in range(defenders, 0, -1):
            chance = chances[a, d]
            if a == 1:
                ends[HELD, d] = chance
            elif chance > 0.0:
                attack_dice, defence_dice, compared = dice_of(a, d)
                for lost in range(compared + 1):
                    roll = chance * tools.odds[attack_dice, defence_dice, lost]
                    chances[a - compared + lost, d - lost] += roll
        ends[FALLEN, a] = chances[a, 0]


@inlined
def end_blitz(game, source, target, ends):
    """Write the end of a blitz that was just played into `ends`, with probability 1."""
    ends[:] = 0.0
    if owner_of(game, target) == game.turn:
        ends[FALLEN, troops_on(game, source) + troops_on(game, target)] = 1.0
    else:
        ends[HELD, troops_on(game, target)] = 1.0


@kernel
def luck_of_ends(board, rules, attackers, defenders, tools):
    """Return the mean value of the ends after the event minus the mean value before the event.

    At most MOST_STEPS + 1 likely ends of FALLEN and of HELD are evaluated. Values between these ends are
    interpolated. Any other end gets the value of the nearest evaluated end. The choice of the evaluated ends
    depends only on the probabilities before the event.
    """
    total = 0.0
    for side in (FALLEN, HELD):
        expected, happened = tools.ends[EXPECTED, side], tools.ends[HAPPENED, side]
        most = attackers if side == FALLEN else defenders
        low, high = likely_ends(expected, most)
        step = -(-(high - low) // MOST_STEPS) if high > low else 1
        at, value = low, value_of_end(board, rules, side, low, tools)
        for left in range(1, low + 1):
            total += (happened[left] - expected[left]) * value
        while at < high:
            following = min(at + step, high)
            slope = (value_of_end(board, rules, side, following, tools) - value) / (following - at)
            for left in range(at + 1, following + 1):
                total += (happened[left] - expected[left]) * (value + slope * (left - at))
            at, value = following, value + slope * (following - at)
        for left in range(high + 1, most + 1):
            total += (happened[left] - expected[left]) * value
    return total


@kernel
def likely_ends(chances, most):
    """Return the smallest and the largest number of troops left whose probability is at least LEAST_CHANCE.

    If no number of troops is that likely, return the likeliest number twice.
    """
    mode, low, high = most, most, 0
    for left in range(1, most + 1):
        mode = left if chances[left] > chances[mode] else mode
        if chances[left] >= LEAST_CHANCE:
            low, high = min(low, left), left
    return (low, high) if high > 0 else (mode, mode)


@kernel
def value_of_end(board, rules, side, left, tools):
    """Return the win probability of the seat whose turn it is if the battle left `left` troops.

    After a capture, all movable troops occupy the territory, unless only the source has enemy neighbours.
    """
    tools.games[IMAGINED] = tools.games[BEFORE]
    game = tools.games[IMAGINED]
    source, target, seat = int64(game.source), int64(game.target), int64(game.turn)
    if side == HELD:
        set_troops(game, source, 1)
        set_troops(game, target, left)
    else:
        set_troops(game, source, left)
        set_troops(game, target, 0)
        game.chosen_dice[ATTACKER] = min(MAX_ATTACK_DICE, left - 1)
        capture(game, rules)
        if not is_inland(game, board, seat, target) or is_inland(game, board, seat, source):
            move_troops(game, movable(game, rules))
    end_battle(game)
    return evaluate(game, Evaluator(board, rules, seat, tools.weights, tools.work))


# Cards


@kernel
def card_luck(game, board, rules, tools):
    """Draw the card that is due, and return its luck.

    Only the symbol of the card matters. The luck is 0 if the card cannot complete a set, or if the hand
    already contains a set.
    """
    before, seat = tools.games[BEFORE], int64(game.turn)
    play_one_chance(game, board, rules)
    if hand_size(before, seat) < SET_CARDS - 1 or can_trade(before, board, rules, seat):
        return 0.0
    if size(before.deck) + int64(before.deck_wilds) == 0:
        shuffle_discards(before)
    total = size(before.deck) + int64(before.deck_wilds)
    mean, happened = 0.0, 0.0
    for kind in range(WILD + 1):
        left = cards_left(before, board, kind)
        if left > 0:
            value = value_of_card(board, rules, seat, kind, tools)
            mean += left / total * value
            if num_held(game, board, seat, kind) > num_held(before, board, seat, kind):
                happened = value
    return happened - mean


@inlined
def cards_left(game, board, kind):
    """Return the number of cards of a symbol, or of wild cards, in the deck."""
    return int64(game.deck_wilds) if kind == WILD else count_symbol(game.deck, board, kind)


@inlined
def num_held(game, board, seat, kind):
    """Return the number of cards of a symbol, or of wild cards, in the hand of `seat`."""
    return int64(game.wilds[seat]) if kind == WILD else count_symbol(game.hand[seat], board, kind)


@kernel
def value_of_card(board, rules, seat, kind, tools):
    """Return the win probability of a seat if the seat drew a card of `kind`."""
    tools.games[IMAGINED] = tools.games[BEFORE]
    game = tools.games[IMAGINED]
    if kind == WILD:
        game.wilds[seat] += 1
    else:
        for w in range(len(game.deck)):
            cards = game.deck[w] & board.symbol_cards[kind, w]
            if cards != ZERO:
                add(game.hand[seat], (w << 6) + lowest(cards))
                break
    game.captured = False
    end_battle(game)
    return evaluate(game, Evaluator(board, rules, seat, tools.weights, tools.work))
