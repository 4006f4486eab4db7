"""`grower`: reinforces the weakest border of its continents, or grows into the easiest continent.

`grower` attacks only with a clear majority. It captures territories of the continent that is easiest to
complete and of continents that rivals hold. It also captures enclosed enemies, and the only enemy beside a
border territory. Without such a target, `grower` captures one territory per turn to get a card, or more
against a single rival. The idea comes from the "cluster" players of published Risk programs; the
implementation is original.
"""

from numpy import int64

from risk_agents.scripted.board_sense import (
    NONE,
    STRIKE,
    best_place,
    ends_of,
    enemy_targets,
    is_inland,
    move_amount,
    next_attack,
    num_rivals,
    usual_action,
)
from risk_agents.scripted.claims import claim
from risk_agents.scripted.continents import (
    attack_value,
    easiest_continent,
    has_majority,
    is_spoil,
    split_advance,
    springboard,
    weakest_border,
)
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, kernel
from risk_env.core.movement import movable
from risk_env.core.position import troops_on
from risk_env.core.types import Phase


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    for k in range(len(lanes)):
        lane = lanes[k]
        seat = int64(games[lane].seat)
        claimed = claim(games[lane], boards[0], randoms, lane, seat)
        actions[lane] = grow(games[lane], boards[0], rules[0], seat) if claimed == NONE else claimed


@kernel
def grow(game, board, rules, seat):
    """Return the action in the current phase, except for claims."""
    phase = game.phase
    if phase == Phase.ATTACK:
        return growing_attack(game, board, rules, seat)
    if phase == Phase.DRAFT:
        return growing_place(game, board, seat)
    if phase == Phase.OCCUPY:
        return move_amount(game, rules, split_advance(game, board, seat, movable(game, rules)))
    return usual_action(game, board, rules, seat)


@kernel
def growing_place(game, board, seat):
    """Return the place to draft to: the weakest border, or else a springboard into the easiest continent.

    If neither exists, the place is the best place for STRIKE, or NONE if no territory is legal.
    """
    place = weakest_border(game, board, seat)
    if place == NONE:
        continent = easiest_continent(game, board, seat)
        if continent != NONE:
            place = springboard(game, board, seat, continent)
    return best_place(game, board, seat, STRIKE) if place == NONE else place


@kernel
def growing_attack(game, board, rules, seat):
    """Return the most valuable attack with a clear majority, or DONE if no such attack is worthwhile."""
    wanted = easiest_continent(game, board, seat)
    bold = num_rivals(game, rules, seat) == 1
    best, most = int64(rules.done), 0.0
    action = next_attack(game, rules, NONE)
    while action != NONE:
        source, target = ends_of(board, rules, action)
        if has_majority(game, board, seat, source, target):
            worth = attack_worth(game, board, seat, bold, wanted, source, target)
            value = attack_value(game, worth, source, target) if worth > 0.0 else 0.0
            if value > most:
                best, most = action, value
        action = next_attack(game, rules, action)
    return best


@kernel
def attack_worth(game, board, seat, bold, wanted, source, target):
    """Return the worth of an attack, or 0 if the attack is not worthwhile.

    An attack is worthwhile if its target is enclosed, or belongs to the wanted continent or to a continent
    that a rival holds. An attack is also worthwhile if it frees a strong source from its only enemy, or earns
    the card of this turn. Against a single rival (`bold`), any majority of more than two troops is
    worthwhile, because nobody else profits from the losses of both sides.
    """
    worth = 0.5 if bold and troops_on(game, source) > 2 + troops_on(game, target) else 0.0
    if board.continent_of[target] == wanted:
        worth += 4.0
    if is_inland(game, board, seat, target):
        worth += 3.0
    if is_spoil(game, board, target):
        worth += 5.0
    if enemy_targets(game, board, seat, source) == 1 and troops_on(game, source) > 2 * troops_on(
        game, target
    ):
        worth += 2.0
    if not game.captured:
        worth += 1.0
    return worth


BOT = CompiledBot("grower", "2", choose)
