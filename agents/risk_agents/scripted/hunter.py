"""`hunter`: a grower that eliminates weak rivals for their cards, along a simple route from one stack.

With escalating sets, the cards of an eliminated rival pay for the attack. Hasbro's rule books advise such
attacks, and strong programs make them. The worth of a rival grows with its number of cards and the value of
the next set. The worth decreases with the rival's number of troops (`worth_of`). A hunt begins when one
stack, with the whole draft, is expected to survive a route through territories of the rival. Other stacks
must be able to capture the rival's other territories.
"""

from numpy import int64

from risk_agents.scripted.board_sense import NONE, border_action, move_amount
from risk_agents.scripted.claims import claim
from risk_agents.scripted.continents import own_stack_near, split_advance
from risk_agents.scripted.grower import grow
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, inlined, kernel
from risk_env.core.bits import ONE, ZERO, add, clear, lowest, new_set, popcount
from risk_env.core.cards import hand_size, set_troops_due
from risk_env.core.movement import movable
from risk_env.core.position import is_alive, room, total_troops, troops_on
from risk_env.core.types import Deck, Phase

CAUTION = 0.95  # expected loss of troops per defender when a hunt begins
HUNGER = 0.2  # reduction of this expected loss during a hunt
STAR_CARD = 2  # worth of a card of the star deck, in troops
SPOILS = 8  # worth of having one rival fewer, in troops
ROUNDING = 1e-6  # larger than the rounding error of an expected loss
# Columns of the bot's memory
PREY = 0  # hunted seat plus 1, or 0 without a hunt


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    seen = new_set(games[0].strong)
    for k in range(len(lanes)):
        lane = lanes[k]
        seat = int64(games[lane].seat)
        action = claim(games[lane], boards[0], randoms, lane, seat)
        if action == NONE:
            action = hunt(games[lane], boards[0], rules[0], seat, memory[lane, seat], seen)
        actions[lane] = action if action != NONE else grow(games[lane], boards[0], rules[0], seat)


@kernel
def hunt(game, board, rules, seat, memory, seen):
    """Return the action of the hunt in the current phase, or NONE if the hunt does not decide the action."""
    phase = game.phase
    if phase == Phase.ATTACK:
        source, target = next_on_hunt(game, board, rules, seat, memory, 0, CAUTION, seen)
        return NONE if source == NONE else border_action(game, board, rules, source, target)
    if phase == Phase.DRAFT:
        return next_on_hunt(game, board, rules, seat, memory, int64(game.draft_left), CAUTION, seen)[0]
    if phase == Phase.OCCUPY and 0 < memory[PREY] <= rules.num_players:
        return move_amount(game, rules, follow(game, board, rules, seat, int64(memory[PREY]) - 1))
    return NONE


@kernel
def next_on_hunt(game, board, rules, seat, memory, extra, caution, seen):
    """Return the first step (source, target) of the best hunt with `extra` troops to draft.

    `caution` is the expected loss of troops per defender when a hunt begins. If no hunt is worthwhile, the
    step is (NONE, NONE). The hunted seat is written into the memory.
    """
    best_source, best_target, most, prey = NONE, NONE, 0.0, 0
    own = total_troops(game, seat) + extra
    for other in range(rules.num_players):
        if other == seat or not is_alive(game, other):
            continue
        cost = caution - HUNGER if memory[PREY] == other + 1 and extra == 0 else caution
        armies = total_troops(game, other)
        worth = worth_of(game, rules, other, armies)
        if worth <= most or armies * cost > own:
            continue
        source, target = route_start(game, board, rules, seat, other, extra, cost, seen)
        if source != NONE:
            best_source, best_target, most, prey = source, target, worth, other + 1
    memory[PREY] = prey
    return best_source, best_target


@kernel
def worth_of(game, rules, other, armies):
    """Return the worth of eliminating a rival, in troops, at least 0.1.

    The worth is the worth of the rival's cards, plus SPOILS, minus a third of the rival's troops (`armies`).
    """
    card = STAR_CARD if rules.deck == Deck.STAR else set_troops_due(rules, int64(game.sets_traded) + 1) / 3.0
    return max(hand_size(game, other) * card + SPOILS - armies / 3.0, 0.1)


@kernel
def route_start(game, board, rules, seat, prey, extra, cost, seen):
    """Return the source and the first target of the best route through the prey's territories.

    The best route leaves the most troops. If no route succeeds (`walk_route`), the result is (NONE, NONE).
    """
    best_source, best_target, most = NONE, NONE, 0.0
    costs_troops = cost >= 0.0  # only then does every step of a route cost troops
    least = least_loss(game, board, seat, prey, cost) if costs_troops else 0.0
    for w in range(len(game.strong)):
        sources = game.owned[seat, w]
        while sources != ZERO:
            source = (w << 6) + lowest(sources)
            sources &= sources - ONE
            strength = troops_on(game, source) - 1 + min(extra, room(game, rules, source))
            full = extra > 0 and room(game, rules, source) < 1
            if full or strength < 2 or (costs_troops and strength <= max(least, most)):
                continue
            if not touches(game, board, source, prey):
                continue
            first, left = walk_route(game, board, seat, prey, source, float(strength), cost, seen)
            if left > most:
                best_source, best_target, most = source, first, left
    return best_source, best_target


@kernel
def least_loss(game, board, seat, prey, cost):
    """Return a lower bound on the expected loss of a stack on a successful route; `cost` is at least 0.

    Such a route leads through all territories of the prey that no stack of the seat can capture alone.
    """
    loss = -ROUNDING
    for w in range(len(game.strong)):
        word = game.owned[prey, w]
        while word != ZERO:
            territory = (w << 6) + lowest(word)
            word &= word - ONE
            if not can_take(game, board, seat, territory, NONE):
                loss += 1.0 + cost * troops_on(game, territory)
    return loss


@inlined
def touches(game, board, territory, owner):
    """Return True if `territory` can attack a territory of `owner`."""
    word = ZERO
    for w in range(len(game.strong)):
        word |= board.targets[territory, w] & game.owned[owner, w]
    return word != ZERO


@kernel
def walk_route(game, board, seat, prey, source, strength, cost, seen):
    """Simulate a route through the prey's territories; return the first target and the troops left.

    The number of troops left is negative if the route fails. A route fails if the stack is expected to lose
    a battle, or if the seat's other stacks cannot capture the territories outside the route.
    """
    clear(seen)
    first, here = NONE, source
    while True:
        following = next_on_route(game, board, prey, here, seen)
        if following == NONE:
            break
        strength -= 1.0 + cost * troops_on(game, following)
        if strength < 0.0:
            return first, -1.0
        add(seen, following)
        first = following if first == NONE else first
        here = following
    if others_take_the_rest(game, board, seat, prey, source, seen):
        return first, strength + 1.0
    return first, -1.0


@kernel
def next_on_route(game, board, prey, here, seen):
    """Return the prey's unseen territory next to `here` with the fewest further targets, or NONE."""
    best, fewest = NONE, 1 << 30
    for w in range(len(seen)):
        word = board.targets[here, w] & game.owned[prey, w] & ~seen[w]
        while word != ZERO:
            territory = (w << 6) + lowest(word)
            word &= word - ONE
            ways = 0
            for v in range(len(seen)):
                ways += popcount(board.targets[territory, v] & game.owned[prey, v] & ~seen[v])
            if ways < fewest:
                best, fewest = territory, ways
    return best


@kernel
def others_take_the_rest(game, board, seat, prey, source, seen):
    """Return True if the seat's other stacks can capture the prey's territories outside the route."""
    for w in range(len(seen)):
        word = game.owned[prey, w] & ~seen[w]
        while word != ZERO:
            territory = (w << 6) + lowest(word)
            word &= word - ONE
            if not can_take(game, board, seat, territory, source):
                return False
    return True


@kernel
def can_take(game, board, seat, territory, but):
    """Return True if a stack of the seat, other than the stack on `but`, can capture a territory alone."""
    return own_stack_near(game, board, seat, territory, but) >= 1.5 * troops_on(game, territory) + 1.0


@kernel
def follow(game, board, rules, seat, prey):
    """Return the number of troops that follow into a captured territory.

    All troops follow if the captured territory can attack the prey, and none if only the source can attack
    the prey. Otherwise the number is the same as for `grower`.
    """
    if touches(game, board, int64(game.target), prey):
        return movable(game, rules)
    if touches(game, board, int64(game.source), prey):
        return 0
    return split_advance(game, board, seat, movable(game, rules))


BOT = CompiledBot("hunter", "2", choose)
