"""`breaker`: a hunter that stops the strongest rival, breaks continents and keeps its own borders.

`breaker` breaks a rival's continent where one of its own stacks is stronger than the border, and reinforces
outnumbered borders of its own continents. Against several rivals, `breaker` captures only valuable
territories after the first capture of a turn. If it then has fewer than half as many troops as the strongest
rival, `breaker` stops after the first capture. The ideas come from threat-based players in the literature;
the implementation is original.
"""

from numpy import int64

from risk_agents.scripted.board_sense import (
    NONE,
    ends_of,
    enemy_troops_near,
    is_inland,
    next_attack,
    num_rivals,
)
from risk_agents.scripted.claims import claim
from risk_agents.scripted.continents import attack_value, easiest_continent, has_majority, is_spoil
from risk_agents.scripted.grower import grow
from risk_agents.scripted.hunter import hunt
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest, new_set
from risk_env.core.draft import troops_due
from risk_env.core.position import holds_continent, is_alive, total_troops, troops_on
from risk_env.core.types import Phase


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    seen = new_set(games[0].strong)
    for k in range(len(lanes)):
        lane = lanes[k]
        seat = int64(games[lane].seat)
        action = claim(games[lane], boards[0], randoms, lane, seat)
        if action == NONE:
            action = break_threats(games[lane], boards[0], rules[0], seat, memory[lane, seat], seen)
        actions[lane] = action


@kernel
def break_threats(game, board, rules, seat, memory, seen):
    """Return the action in the current phase: the action of `hunt` or `grow`, or a response to threats."""
    action = hunt(game, board, rules, seat, memory, seen)
    if action != NONE:
        return action
    if game.phase == Phase.ATTACK:
        return best_attack(game, board, rules, seat)
    if game.phase == Phase.DRAFT:
        return place_by_threat(game, board, rules, seat)
    return grow(game, board, rules, seat)


@kernel
def strongest_rival(game, board, rules, seat):
    """Return the rival with the most troops, including two turns of income."""
    best, most = NONE, -1
    for other in range(rules.num_players):
        if other != seat and is_alive(game, other):
            power = total_troops(game, other) + 2 * troops_due(game, board, rules, other)
            if power > most:
                best, most = other, power
    return best


@kernel
def place_by_threat(game, board, rules, seat):
    """Return the legal territory where the draft has the greatest worth.

    A draft can break a rival's continent, complete a continent, or hold a threatened border.
    """
    wanted = easiest_continent(game, board, seat)
    leader = strongest_rival(game, board, rules, seat)
    best, most = NONE, -1e9
    for territory in range(board.num_territories):
        if has(game.legal, territory):
            worth = threat_worth(game, board, seat, territory, wanted, leader)
            if worth > most:
                best, most = territory, worth
    return best


@kernel
def threat_worth(game, board, seat, territory, wanted, leader):
    """Return the worth of drafting all troops to a territory, for its best capture and its defence."""
    worth, strength = 0.0, troops_on(game, territory) + int64(game.draft_left)
    for w in range(len(game.strong)):
        word = board.targets[territory, w] & ~game.owned[seat, w]
        while word != ZERO:
            target = (w << 6) + lowest(word)
            word &= word - ONE
            edge = strength - 1.2 * troops_on(game, target) - 1.0
            if edge > 0.0:
                value = target_worth(game, board, seat, wanted, leader, target)
                worth = max(worth, value * edge / (edge + 4.0))
    if holds_continent(game, board, seat, int64(board.continent_of[territory])):
        threat = enemy_troops_near(game, board, seat, territory) - troops_on(game, territory)
        if threat > 0:
            worth += 0.4 * int64(board.continent_bonus[int64(board.continent_of[territory])])
    return worth + 0.01 * troops_on(game, territory)


@kernel
def target_worth(game, board, seat, wanted, leader, target):
    """Return the worth of capturing a territory, without the worth of the card."""
    continent = int64(board.continent_of[target])
    worth = 0.5
    if is_spoil(game, board, target):
        worth += 3.0 + int64(board.continent_bonus[continent])
    if continent == wanted:
        worth += 3.0
    if game.owner[target] == leader:
        worth += 1.0
    if is_inland(game, board, seat, target):
        worth += 1.5
    return worth


@kernel
def best_attack(game, board, rules, seat):
    """Return the most valuable attack with a majority, or DONE if no such attack is worthwhile."""
    wanted = easiest_continent(game, board, seat)
    leader = strongest_rival(game, board, rules, seat)
    bold = num_rivals(game, rules, seat) == 1
    thin = game.captured and not bold and is_thin(game, board, rules, seat, leader)
    best, most = int64(rules.done), 0.0
    action = next_attack(game, rules, NONE)
    while action != NONE:
        source, target = ends_of(board, rules, action)
        worth = target_worth(game, board, seat, wanted, leader, target)
        is_wanted = bold or not game.captured or (worth >= 3.0 and not thin)
        if is_wanted and has_majority(game, board, seat, source, target):
            value = attack_value(game, worth, source, target)
            if value > most:
                best, most = action, value
        action = next_attack(game, rules, action)
    return best


@kernel
def is_thin(game, board, rules, seat, leader):
    """Return True if the seat has fewer than half as many troops as `leader` has with its next draft."""
    power = total_troops(game, leader) + troops_due(game, board, rules, leader)
    return 2 * total_troops(game, seat) < power


BOT = CompiledBot("breaker", "2", choose)
