"""Bots with a style: one compiled function plays all of them, and parameters define the style.

`holder`, `walker`, `card_killer`, `saver`, `turtle`, `leader_stopper` and `grudge` are such bots. The file of
each bot describes the bot, and sets the parameters that differ from the defaults (`Style`). The parameters
are words of the bot's memory (`CompiledBot.begins`), so all styles share the compiled code.

Bots of all styles hunt weak rivals (`hunter`). Without a hunt, they capture one territory per turn for the
card. Each further capture of a turn must be worth at least `least`. This limit does not apply if the bot is
much stronger than the strongest rival (`rush`), or has only one rival.
"""

from typing import NamedTuple

from numpy import int64

from risk_agents.scripted.board_sense import (
    NONE,
    border_action,
    card_to_trade,
    draft_amount,
    ends_of,
    is_inland,
    move_amount,
    next_attack,
    next_place,
    num_rivals,
    usual_action,
)
from risk_agents.scripted.breaker import strongest_rival
from risk_agents.scripted.claims import BORDER, CROWD, Taste, claim_by
from risk_agents.scripted.continents import (
    attack_value,
    easiest_continent,
    is_spoil,
    outnumbers,
    split_advance,
)
from risk_agents.scripted.grudges import GRUDGE_WORDS, foe, note_losses
from risk_agents.scripted.hunter import PREY, follow, next_on_hunt
from risk_env.bots import CompiledBot
from risk_env.compiler import entry_point, kernel
from risk_env.core.bits import ONE, ZERO, has, lowest, new_set
from risk_env.core.cards import hand_size, num_picked, set_troops_due
from risk_env.core.movement import movable
from risk_env.core.position import holds_continent, total_troops, troops_on
from risk_env.core.types import Deck, Phase

ENCLOSED = 1.5  # worth of a target whose neighbours all belong to the bot
EXPECTED = 5  # assumed number of troops for a place that is chosen outside the draft
UNGUARDED = -(1 << 30)  # result of `lack` for a territory without a guard
UNKNOWN = -2  # in place of a continent that has not been computed yet


class Style(NamedTuple):
    """Parameters of a style; worths are in tenths, and an ordinary territory has the worth 5."""

    border: int = BORDER  # claims: penalty for each border territory of a continent
    crowd: int = CROWD  # claims: penalty for the share of a continent that is already claimed
    gathers: int = 0  # first troops: 1 to place them like a draft, 0 to place them by `usual_action`
    home: int = 30  # worth of a territory of the continent that is easiest to complete
    spoil: int = 100  # worth of breaking a rival's continent, in percent of its bonus plus 3
    leader: int = 10  # worth of a territory of the strongest rival
    revenge: int = 0  # worth of a territory of the rival that captured the most territories from the bot
    stalk: int = 0  # drafts: worth of a neighbouring enemy territory for each card of its owner
    least: int = 200  # minimum worth of a capture after the first capture of a turn
    odds: int = 100  # an attack needs more attackers than this percentage of the defenders
    thin: int = 50  # one capture per turn below this percentage of the strongest rival's troops
    rush: int = 150  # `least` and `thin` do not apply above this percentage of the strongest rival's troops
    caution: int = 95  # hunts: expected loss of troops for 100 defenders
    guard: int = 100  # troops of a guarded border, in percent of the strongest enemy stack beside it
    everywhere: int = 0  # 1 to guard all of the bot's territories, 0 to guard only its continents
    mass: int = 1  # drafts: worth of 10 troops that are already on a territory
    keeps: int = 0  # largest hand with which a set is kept, unless the set pays for a hunt
    walks: int = 0  # 1 if all troops follow into a captured territory beside enemies
    favourite: int = 0  # number of the continent that the bot claims first, plus 1; 0 for none


# Columns of the memory: the hunted seat (`hunter.PREY`), then the style, then the grudges
(
    BORDER_PENALTY,
    CROWD_PENALTY,
    GATHERS,
    HOME,
    SPOIL,
    LEADER,
    REVENGE,
    STALK,
    LEAST,
    ODDS,
    THIN,
    RUSH,
    HUNT_CAUTION,
    GUARD,
    EVERYWHERE,
    MASS,
    KEEPS,
    WALKS,
    FAVOURITE,
) = range(1, 1 + len(Style._fields))
GRUDGES = 1 + len(Style._fields)


def bot(name: str, version: str, style: Style) -> CompiledBot:
    """Return a bot with the style `style`."""
    return CompiledBot(name, version, choose, GRUDGES + GRUDGE_WORDS, begins=(0, *style))


@entry_point
def choose(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action in each lane (see `risk_env.bots.CompiledBot`)."""
    seen = new_set(games[0].strong)
    for k in range(len(lanes)):
        lane = lanes[k]
        seat = int64(games[lane].seat)
        style = memory[lane, seat]
        taste = Taste(int64(style[BORDER_PENALTY]), int64(style[CROWD_PENALTY]), int64(style[FAVOURITE]) - 1)
        action = claim_by(games[lane], boards[0], randoms, lane, seat, taste)
        if action == NONE:
            action = decide(games[lane], boards[0], rules[0], seat, style, seen)
        actions[lane] = action


@kernel
def decide(game, board, rules, seat, style, seen):
    """Return the action in the current phase, except for claims."""
    if style[REVENGE] > 0:
        note_losses(game, rules, seat, style[GRUDGES:])
    phase = game.phase
    if phase == Phase.TRADE:
        keeps = keeps_cards(game, board, rules, seat, style, seen)
        return int64(rules.done) if keeps else card_to_trade(game, board, rules, seat)
    if phase == Phase.DRAFT:
        troops = int64(game.draft_left)
        source, _ = hunted(game, board, rules, seat, style, troops, seen)
        return place(game, board, rules, seat, style, troops) if source == NONE else source
    if phase == Phase.DRAFT_AMOUNT:
        lacking = lack(game, board, seat, style, int64(game.target))
        guards = style[PREY] == 0 and lacking > 0
        return draft_amount(game, rules, lacking if guards else int64(game.draft_left))
    if phase == Phase.ATTACK:
        source, target = hunted(game, board, rules, seat, style, int64(0), seen)
        if source != NONE:
            return border_action(game, board, rules, source, target)
        return best_attack(game, board, rules, seat, style)
    if phase == Phase.OCCUPY:
        return move_amount(game, rules, advance(game, board, rules, seat, style))
    if phase == Phase.FORTIFY_TO or (phase == Phase.DEPLOY and style[GATHERS] > 0):
        return place(game, board, rules, seat, style, int64(EXPECTED))
    return usual_action(game, board, rules, seat)


@kernel
def hunted(game, board, rules, seat, style, troops, seen):
    """Return the first step of the best hunt with `troops` to draft (see `hunter.next_on_hunt`)."""
    return next_on_hunt(game, board, rules, seat, style, troops, style[HUNT_CAUTION] / 100.0, seen)


@kernel
def keeps_cards(game, board, rules, seat, style, seen):
    """Return True if the bot keeps its set, because the hand is small and the set does not pay for a hunt."""
    if rules.deck == Deck.STAR or num_picked(game) > 0 or not has(game.legal, int64(rules.done)):
        return False
    if hand_size(game, seat) > style[KEEPS]:
        return False
    troops = int64(game.draft_left) + set_troops_due(rules, int64(game.sets_traded) + 1)
    return hunted(game, board, rules, seat, style, troops, seen)[0] == NONE


@kernel
def lack(game, board, seat, style, territory):
    """Return the number of troops that a guarded territory lacks, negative for a surplus, or UNGUARDED."""
    is_own = holds_continent(game, board, seat, int64(board.continent_of[territory]))
    if style[GUARD] <= 0 or not (style[EVERYWHERE] > 0 or is_own):
        return int64(UNGUARDED)
    strongest = int64(0)
    for w in range(len(game.strong)):
        word = board.sources[territory, w] & ~game.owned[seat, w]
        while word != ZERO:
            strongest = max(strongest, troops_on(game, (w << 6) + lowest(word)))
            word &= word - ONE
    return strongest * int64(style[GUARD]) // 100 - troops_on(game, territory)


@kernel
def disliked(game, board, rules, seat, style):
    """Return the strongest rival, and the rival to take revenge on. Each of them can be NONE."""
    enemy = foe(game, rules, seat, style[GRUDGES:]) if style[REVENGE] > 0 else NONE
    return strongest_rival(game, board, rules, seat), enemy


@kernel
def place(game, board, rules, seat, style, troops):
    """Return the best legal territory for `troops`.

    Guarded territories that lack 1 to `troops` troops come first. The best of these territories lacks the
    most troops. Without such a territory, the best territory has the highest `post_worth`.
    """
    best = most_lacking(game, board, seat, style, troops)
    if best != NONE:
        return best
    wanted = easiest_continent(game, board, seat)
    leader, enemy = disliked(game, board, rules, seat, style)
    most = -1e18
    territory = next_place(game, board, NONE)
    while territory != NONE:
        worth = post_worth(game, board, rules, seat, style, territory, wanted, leader, enemy, troops)
        if worth > most:
            best, most = territory, worth
        territory = next_place(game, board, territory)
    return best


@kernel
def most_lacking(game, board, seat, style, troops):
    """Return the legal territory that lacks the most troops, at least 1 and at most `troops`, or NONE."""
    best, most = NONE, int64(0)
    territory = next_place(game, board, NONE)
    while style[GUARD] > 0 and territory != NONE:
        short = lack(game, board, seat, style, territory)
        if most < short <= troops:
            best, most = territory, short
        territory = next_place(game, board, territory)
    return best


@kernel
def post_worth(game, board, rules, seat, style, territory, wanted, leader, enemy, troops):
    """Return the worth of `troops` on a territory.

    The worth is the worth of the best capture, times a factor for the odds of the capture. Troops that are
    already on the territory add to the worth.
    """
    best, strength = 0.0, troops_on(game, territory) + troops
    for w in range(len(game.strong)):
        word = board.targets[territory, w] & ~game.owned[seat, w]
        while word != ZERO:
            target = (w << 6) + lowest(word)
            word &= word - ONE
            edge = strength - 1.2 * troops_on(game, target) - 1.0
            if edge > 0.0:
                worth = target_worth(game, board, seat, style, target, wanted, leader, enemy)
                owner = int64(game.owner[target])
                if owner < rules.num_players:
                    worth += hand_size(game, owner) * style[STALK] / 10.0
                best = max(best, worth * edge / (edge + 4.0))
    return best + style[MASS] * troops_on(game, territory) / 100.0


@kernel
def target_worth(game, board, seat, style, target, wanted, leader, enemy):
    """Return the worth of capturing a territory, without the worth of the card."""
    continent, owner = int64(board.continent_of[target]), int64(game.owner[target])
    worth = 0.5
    if is_spoil(game, board, target):
        worth += (3.0 + int64(board.continent_bonus[continent])) * style[SPOIL] / 100.0
    if continent == wanted:
        worth += style[HOME] / 10.0
    if owner == leader:
        worth += style[LEADER] / 10.0
    if owner == enemy:
        worth += style[REVENGE] / 10.0
    if is_inland(game, board, seat, target):
        worth += ENCLOSED
    return worth


@kernel
def best_attack(game, board, rules, seat, style):
    """Return the most valuable attack that the style allows, or DONE if no attack is worthwhile."""
    leader, enemy = disliked(game, board, rules, seat, style)
    own, theirs = 100 * total_troops(game, seat), total_troops(game, leader)
    rushes = num_rivals(game, rules, seat) == 1 or own > style[RUSH] * theirs
    least = 0.0 if rushes or not game.captured else style[LEAST] / 10.0
    best, most, wanted = int64(rules.done), 0.0, UNKNOWN
    if game.captured and not rushes and own < style[THIN] * theirs:
        return best
    action = next_attack(game, rules, NONE)
    while action != NONE:
        source, target = ends_of(board, rules, action)
        needed = style[ODDS] * troops_on(game, target) / 100.0
        if outnumbers(game, board, seat, source, target, needed):
            wanted = easiest_continent(game, board, seat) if wanted == UNKNOWN else wanted
            worth = target_worth(game, board, seat, style, target, wanted, leader, enemy)
            value = attack_value(game, worth, source, target)
            if worth >= least and value > most:
                best, most = action, value
        action = next_attack(game, rules, action)
    return best


@kernel
def advance(game, board, rules, seat, style):
    """Return the number of troops that follow into a captured territory.

    Outside hunts, guards stay on the source.
    """
    if 0 < style[PREY] <= rules.num_players:
        return follow(game, board, rules, seat, int64(style[PREY]) - 1)
    most = movable(game, rules)
    walks = style[WALKS] > 0 and not is_inland(game, board, seat, int64(game.target))
    wished = most if walks else split_advance(game, board, seat, most)
    return min(wished, max(-lack(game, board, seat, style, int64(game.source)), 0))
