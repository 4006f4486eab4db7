"""What is wrong with a position: `check` names every way in which a game record cannot have come from play.

The record may hold any bytes: first every number is checked for its range, then, only if all are right, how the
numbers go together. Plain Python throughout; a set of territories or cards is a whole number (element t is bit t).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from risk_env.board.maps import SYMBOLS, Board
from risk_env.board.rules import LAID_OUT_OBJECTIVES, Rules
from risk_env.board.tables import Tables
from risk_env.core import types
from risk_env.core.types import FREE, NO_REWARD, NOBODY, NOWHERE, Held, Phase, Reward, Trade

SETUP_PHASES = (Phase.CAPITAL, Phase.CLAIM, Phase.DEPLOY, Phase.DEPLOY_NEUTRAL, Phase.HEADQUARTERS)
DRAFT_PHASES = (Phase.TRADE, Phase.BONUS, Phase.DRAFT, Phase.DRAFT_AMOUNT)
BATTLE_PHASES = (Phase.ATTACK_DICE, Phase.DEFEND, Phase.REROLL, Phase.COMMANDER, Phase.ROLL)
DICE_PHASES = (Phase.REROLL, Phase.COMMANDER)
GOAL_PHASES = (Phase.OBJECTIVE, Phase.AIRFIELD)
FORTIFY_PHASES = (Phase.FORTIFY_FROM, Phase.FORTIFY_TO, Phase.FORTIFY_AMOUNT)
SILENT_PHASES = (Phase.OVER, Phase.ROLL, Phase.DRAW)  # nobody is asked
AIRFIELDS = (Reward.AIRFIELD, Reward.MAJOR_AIRFIELD)
MARKS = (  # of a turn, all false in set-up
    "captured",
    "eliminated",
    "set_traded",
    "bonus_paid",
    "commander_used",
    "objective_taken",
    "attacks_over",
    "move_begun",
    "blitz",
)
MIN_DRAFT = 3  # RULES 3.1.1
FORCED_HAND = 5  # RULES 5.3, and 3.3.2: the least hand that an elimination makes trade again
MIN_STARS, MAX_STARS = 2, 10  # RULES 9.4
FACES = 6
MOST_COUNTED = 2**30  # of troops, decisions, rounds: 32 bits leave room to count on
MOST_SETS = 2**20  # the next one's troops are few beside that

Reasons = Iterator[str]
Judges = tuple[Callable[["Position"], Reasons], ...]


def check(record: Any, tables: Tables, rules: Rules, board: Board) -> list[str]:
    """Every reason why a game record (one of `game_dtype`, any bytes) is impossible; [] if it is in order.

    Reasons of range hide those about how the numbers go together, which could not be told.
    """
    return _first_reasons(record, tables, rules, board, (_RANGES, _SENSE, _LEGAL))


def check_unasked(record: Any, tables: Tables, rules: Rules, board: Board) -> list[str]:
    """The same for a record whose legal actions are not written yet; with [] it is safe to let the core write them."""
    return _first_reasons(record, tables, rules, board, (_RANGES, _SENSE))


def _first_reasons(record: Any, tables: Tables, rules: Rules, board: Board, levels: Sequence[Judges]) -> list[str]:
    """The reasons of the first level that has any."""
    position = Position(facts(record), rules, board, tables.num_actions)
    for judges in levels:
        found = [reason for judge in judges for reason in judge(position)]
        if found:
            return found
    return []


def facts(record: Any) -> SimpleNamespace:
    """The fields of a record as plain Python values; sets (words of uint64) as whole numbers."""
    names = [name for name in record.dtype.names if name != "spare"]
    game = SimpleNamespace(**{name: _plain(record[name]) for name in names})
    game.raw, game.fields = record.tobytes(), record.dtype.fields
    return game


def _plain(value: Any) -> Any:
    if value.dtype != np.uint64 or value.ndim == 0:
        return value.tolist()
    return whole(value) if value.ndim == 1 else [whole(words) for words in value]


def whole(words: Any) -> int:
    """A set of bit words (uint64, any number of them) as one whole number."""
    return int.from_bytes(np.asarray(words, "<u8").tobytes(), "little")


def members(number: int) -> list[int]:
    """The elements of a set given as a whole number, ascending."""
    return [element for element in range(number.bit_length()) if number >> element & 1]


def set_of(elements: Sequence[int]) -> int:
    """The set of some elements as a whole number."""
    return sum(1 << element for element in set(elements))


class Position:
    """A game's fields with its rules and map, and what several checks ask of them."""

    def __init__(self, game: SimpleNamespace, rules: Rules, board: Board, num_actions: int):
        self.game, self.rules, self.board, self.num_actions = game, rules, board, num_actions
        self.seats = range(rules.num_players)
        self.armies = range(rules.num_players + rules.neutral)
        self.places = range(board.num_territories)
        self.everywhere = (1 << board.num_territories) - 1
        self.symbol_deck = rules.deck == "symbol"
        self.is_setup = game.phase in SETUP_PHASES
        self.is_over = game.phase == Phase.OVER

    def held(self, army: int) -> int:
        """Territories of an army by `owner`, as a set; FREE: the free ones."""
        return self._held[army]

    @cached_property
    def _held(self) -> dict[int, int]:
        owner = self.game.owner
        return {army: set_of([t for t in self.places if owner[t] == army]) for army in (FREE, *self.armies)}

    @property
    def own(self) -> int:
        """Territories of the seat whose turn it is."""
        return self.held(self.game.turn)

    @property
    def living(self) -> list[int]:
        """The seats that are not out."""
        return [seat for seat in self.seats if self.game.death[seat] == 0]

    @property
    def most(self) -> int:
        """Troops that a territory may hold (RULES 10.3)."""
        return self.rules.max_troops or types.UNLIMITED

    @property
    def phase_name(self) -> str:
        """The phase in words."""
        return Phase(self.game.phase).name

    def name(self, territory: int) -> str:
        """The name of a territory of the map."""
        return self.board.territories[territory]

    def names(self, places: int) -> str:
        """The names of a set of territories; what lies beyond the map by its number."""
        known = [self.name(t) if t in self.places else f"number {t}" for t in members(places)]
        return ", ".join(known[:6]) + (", ..." if len(known) > 6 else "")

    def owns(self, territory: int) -> bool:
        """Whether the seat whose turn it is holds a territory."""
        return territory in self.places and self.game.owner[territory] == self.game.turn

    def stars(self, cards: int) -> int:
        """Stars on a set of territory cards (RULES 2.2)."""
        return sum((self.board.stars or ())[card] for card in members(cards))

    def hand_size(self, seat: int) -> int:
        """Cards held, wild ones included."""
        return self.game.hand[seat].bit_count() + self.game.wilds[seat]

    def holds_set(self, seat: int) -> bool:
        """Whether the hand holds a set (RULES 5.1)."""
        held = [(self.board.symbols or ())[card] for card in members(self.game.hand[seat])]
        counts = [held.count(symbol) for symbol in SYMBOLS]
        if self.game.wilds[seat]:
            return self.hand_size(seat) >= 3
        return max(counts) >= 3 or min(counts) > 0

    def joined(self, territory: int) -> int:
        """Other own territories that troops of one may fortify to, whatever room they have (RULES 3.4)."""
        if self.rules.fortify == "adjacent":
            return set_of(self.board.neighbours(territory)) & self.own
        reached, ahead = 1 << territory, [territory]
        while ahead:
            new = set_of(self.board.neighbours(ahead.pop())) & self.own & ~reached
            reached |= new
            ahead += members(new)
        return reached & ~(1 << territory)

    def with_room(self, places: int) -> int:
        """Those of a set of territories that may hold another troop (RULES 10.3)."""
        return set_of([t for t in members(places) if self.game.troops[t] < self.most])

    def reach(self) -> int:
        """What the field `reach` must hold: where the chosen troops can fortify to, else nothing."""
        if self.game.phase != Phase.FORTIFY_TO or not self.owns(self.game.source):
            return 0
        return self.with_room(self.joined(self.game.source))

    def deciding(self) -> int:
        """The seat that must decide: the turn's, in DEFEND the defender's (RULES 6.2), nobody's when all is over."""
        if self.is_over:
            return NOBODY
        if self.game.phase != Phase.DEFEND or self.game.target not in self.places:
            return self.game.turn
        owner = self.game.owner[self.game.target]
        return owner if owner in self.seats else 1 - self.game.turn

    def kept_dice(self, side: int) -> list[int]:
        """Dice of a side (0 attacker, 1 defender) after the drop and a re-roll, highest first (RULES 9.8, 10.4)."""
        dice = sorted(self.game.rolled[side], reverse=True)[: self.game.chosen_dice[side]]
        before, after = self.game.rerolled
        if side == 0 and before in dice:
            dice[dice.index(before)] = after
        dice = sorted(dice, reverse=True)
        return dice + [0] * (types.MAX_DICE - len(dice))


# ------------------------------------------------------------------------------------------------ ranges


def _allowed(p: Position) -> dict[str, tuple[int, int]]:
    """The least and the greatest value of every number of a record."""
    seats, last = p.rules.num_players, p.board.num_territories - 1
    wilds = p.board.num_wilds if p.symbol_deck else 0
    many = MOST_COUNTED
    place, seat, counter, pile = (NOWHERE, last), (NOBODY, seats - 1), (0, many), (0, wilds)
    return {
        "phase": (0, max(Phase)),
        "seat": seat,
        "turn": (0, seats - 1),
        "starter": (0, seats - 1),
        "winner": seat,
        "trade": (0, max(Trade)),
        "in_a_row": (0, 1),
        "draft_left": counter,
        "sets_traded": (0, MOST_SETS),
        "round_number": (0, p.rules.max_rounds or many),
        "battles": (0, p.rules.max_battles_per_turn or many),
        "decisions": counter,
        "moves_left": (0, last + 1),
        "source": place,
        "target": place,
        "troops": (0, p.most),
        "owner": (FREE, p.armies[-1]),
        "to_place": counter,
        "headquarters": place,
        "capital": place,
        "airfield": place,
        "mission": (NOBODY, len(p.board.missions) - 1),
        "death": (0, seats - 1),
        "objective": (Held.NOT_IN_PLAY, seats - 1),
        "objective_reward": (NO_REWARD, max(Reward)),
        "reward_owner": seat,
        "wilds": pile,
        "deck_wilds": pile,
        "discard_wilds": pile,
        "picked_wilds": pile,
        "rolled": (0, FACES),
        "settled": (0, FACES + 1),
        "losses": (0, 2),
        "rerolled": (0, FACES),
        "chosen_dice": (0, 3),
    }


def _numbers(p: Position) -> Reasons:
    for field, (low, high) in _allowed(p).items():
        value = getattr(p.game, field)
        for place, number in enumerate(_flat(value)):
            if not low <= number <= high:
                yield f"{_field_text(p, field, value, place)} is {number}, must be {low} ... {high}"


def _flat(value: Any) -> list[int]:
    if not isinstance(value, list):
        return [value]
    return [number for part in value for number in _flat(part)]


def _field_text(p: Position, field: str, value: Any, place: int) -> str:
    """How a message names one number of a field."""
    if field in ("owner", "troops"):
        return f"{field} of {p.name(place) if place in p.places else f'number {place} (beyond the map)'}"
    return f"{field}[{place}]" if isinstance(value, list) else field


def _bytes(p: Position) -> Reasons:
    """True and False are single bytes 1 and 0; the spare bytes are 0."""
    for field, (kind, offset, *_) in p.game.fields.items():
        if kind == np.bool_ and p.game.raw[offset] > 1:
            yield f"{field} is neither true nor false (byte {p.game.raw[offset]})"
        if field == "spare" and any(p.game.raw[offset : offset + kind.itemsize]):
            yield "spare bytes are not 0"


def _sets(p: Position) -> Reasons:
    """No territory or card beyond the map, no action beyond the last."""
    fields = ("held_at_start", "deck", "discard", "picked", "shown", "bonus", "city", "strong", "reach")
    named = {field: getattr(p.game, field) for field in fields}
    named |= {f"hand of seat {seat}": cards for seat, cards in enumerate(p.game.hand)}
    named |= {f"owned of army {army}": places for army, places in enumerate(p.game.owned)}
    for name, number in named.items():
        if number & ~p.everywhere:
            yield f"{name}: {p.names(number & ~p.everywhere)} of a map with {len(p.places)} territories"
    if p.game.legal >> p.num_actions:
        yield f"legal: an action beyond the last of {p.num_actions}"


def _beyond(p: Position) -> Reasons:
    """What lies beyond the last seat, army, territory and objective has the value of an empty record."""
    seats, armies, places, goals = (len(p.seats), len(p.armies), len(p.places), len(p.board.objectives))
    empty = {
        "hand": (seats, 0),
        "wilds": (seats, 0),
        "headquarters": (seats, NOWHERE),
        "capital": (seats, NOWHERE),
        "mission": (seats, NOBODY),
        "death": (seats, 0),
        "to_place": (armies, 0),
        "owned": (armies, 0),
        "owner": (places, FREE),
        "troops": (places, 0),
        "objective": (goals, Held.NOT_IN_PLAY),
        "objective_reward": (goals, NO_REWARD),
    }
    for field, (first, value) in empty.items():
        for place, found in enumerate(getattr(p.game, field)[first:], first):
            if found != value:
                yield f"{field}[{place}] is {found}: beyond the last one, must be {int(value)}"


# ------------------------------------------------------------------------------------------------ board and seats


def _territories(p: Position) -> Reasons:
    """A territory is free without troops or held with at least one (RULES 3.2.6); free ones are for claims only."""
    for t in p.places:
        if (p.game.owner[t] == FREE) != (p.game.troops[t] == 0):
            yield f"{p.name(t)}: {p.game.troops[t]} troops of {_army(p, p.game.owner[t])}"
    troops = sum(p.game.troops) + sum(p.game.to_place) + p.game.draft_left
    if troops > MOST_COUNTED:
        yield f"{troops} troops in all, at most {MOST_COUNTED} can be counted"
    if p.held(FREE) and p.game.phase not in (Phase.CAPITAL, Phase.CLAIM):
        yield f"{p.names(p.held(FREE))}: free in phase {p.phase_name}"
    if not p.held(FREE) and p.game.phase in (Phase.CAPITAL, Phase.CLAIM):
        yield f"phase {p.phase_name}: no territory is free"


def _army(p: Position, owner: int) -> str:
    if owner == FREE:
        return "nobody"
    return f"seat {owner}" if owner in p.seats else "the neutral army"


def _words(p: Position) -> Reasons:
    """The derived sets say the same as owners and troops."""
    for army in p.armies:
        if p.game.owned[army] != p.held(army):
            yield f"owned[{army}] disagrees with owner at {p.names(p.game.owned[army] ^ p.held(army))}"
    strong = set_of([t for t in p.places if p.game.troops[t] > 1])
    if p.game.strong != strong:
        yield f"strong disagrees with troops at {p.names(p.game.strong ^ strong)}"
    if p.game.reach != p.reach():
        yield f"reach must be {p.names(p.reach()) or 'empty'}, is {p.names(p.game.reach) or 'empty'}"


def _the_dead(p: Position) -> Reasons:
    """The dead own nothing, the living a territory (RULES 3.3)."""
    if p.is_setup:
        if any(p.game.death):
            yield "a seat is out in set-up"
        return
    deaths = sorted(order for order in p.game.death if order)
    if deaths != list(range(1, len(deaths) + 1)):
        yield f"death {p.game.death[: len(p.seats)]}: must be 1, 2, ... in the order of falling, 0 for the living"
    if len(p.living) < 2 and not p.is_over:
        yield "only one seat lives and the game is not over"
    for seat in p.seats:
        if seat in p.living and not p.held(seat):
            yield f"seat {seat} lives and owns no territory"
        if seat not in p.living:
            yield from (f"seat {seat} is out and owns {thing}" for thing in _belongings(p, seat))


def _belongings(p: Position, seat: int) -> Reasons:
    """What a dead seat cannot own."""
    if p.held(seat):
        yield f"territories ({p.names(p.held(seat))})"
    if p.hand_size(seat):
        yield "cards"
    if seat in p.game.objective:
        yield "objectives"
    if seat in p.game.reward_owner:
        yield "rewards"


def _whose_turn(p: Position) -> Reasons:
    game = p.game
    if not p.is_setup and game.turn not in p.living:
        yield f"turn {game.turn}: that seat is out"
    elif game.seat != p.deciding():
        yield f"seat {game.seat}: in phase {p.phase_name} of turn {game.turn} it must be {p.deciding()}"
    if p.rules.setup == "chart" and game.starter != 0:
        yield f"starter {game.starter}: with setup='chart' it is seat 0"


def _the_end(p: Position) -> Reasons:
    """A winner or a truncation exactly when the game is over (RULES 11)."""
    game = p.game
    decided = game.winner != NOBODY
    if p.is_over and decided == game.truncated:
        yield f"the game is over with winner {game.winner} and truncated {game.truncated}: exactly one must be"
    if not p.is_over and (decided or game.truncated):
        yield f"winner {game.winner}, truncated {game.truncated} in phase {p.phase_name}: the game is not over"
    if decided and game.winner not in p.living:
        yield f"winner {game.winner}: that seat is out"
    if game.truncated and game.round_number != p.rules.max_rounds:
        yield f"truncated in round {game.round_number}: max_rounds is {p.rules.max_rounds}"


def _legal_actions(p: Position) -> Reasons:
    """Something is legal exactly when somebody is asked."""
    if bool(p.game.legal) == (p.game.phase in SILENT_PHASES):
        yield f"phase {p.phase_name} with {'legal actions' if p.game.legal else 'no legal action'}"


# ------------------------------------------------------------------------------------------------ phase and set-up


def _phase_needs(rules: Rules) -> dict[Phase, tuple[bool, str]]:
    """Whether the rules have a phase, and the options that it needs."""
    asked = rules.setup not in ("random", "chart")
    single = rules.attack != "blitz"
    return {
        Phase.CAPITAL: (rules.setup == "capitals", "setup='capitals'"),
        Phase.CLAIM: (rules.setup in ("claim", "capitals"), "setup='claim' or 'capitals'"),
        Phase.DEPLOY: (asked, "setup='claim', 'deal' or 'capitals'"),
        Phase.DEPLOY_NEUTRAL: (rules.neutral and asked, "neutral=True with setup='deal'"),
        Phase.HEADQUARTERS: (rules.victory == "headquarters" and asked, "victory='headquarters', not setup='random'"),
        Phase.BONUS: (rules.deck == "symbol", "deck='symbol'"),
        Phase.ATTACK_DICE: (rules.attack == "choice", "attack='choice'"),
        Phase.DEFEND: (rules.defender_dice == "choice" and single, "defender_dice='choice', not attack='blitz'"),
        Phase.REROLL: (rules.card_reroll, "card_reroll=True"),
        Phase.COMMANDER: (rules.commander, "commander=True"),
        Phase.OBJECTIVE: (rules.objectives is not None, "objectives='fixed' or 'random'"),
        Phase.AIRFIELD: (rules.rewards, "rewards=True"),
    }


def _phase(p: Position) -> Reasons:
    possible, needed = _phase_needs(p.rules).get(Phase(p.game.phase), (True, ""))
    if not possible:
        yield f"phase {p.phase_name} needs {needed}"
    if p.is_setup != (p.game.round_number == 0):
        yield f"phase {p.phase_name} in round {p.game.round_number}: round 0 is set-up, and only it"


def _setup_troops(p: Position) -> Reasons:
    """In set-up every army keeps its starting troops, on the board or to be placed (RULES 4.2); after it none."""
    to_place = p.game.to_place
    if not p.is_setup:
        if any(to_place):
            yield f"to_place {to_place[: len(p.armies)]}: set-up is over"
        return
    for army in p.armies:
        placed = sum(p.game.troops[t] for t in members(p.held(army)))
        if p.rules.setup != "chart" and placed + to_place[army] != p.rules.troops_to_start():
            start = p.rules.troops_to_start()
            yield f"{_army(p, army)}: {placed} troops placed and {to_place[army]} to place, {start} to start with"


def _setup_turn(p: Position) -> Reasons:
    """Who is asked in set-up has something to do (RULES 4.4, 6.1, 7.1)."""
    game, players = p.game, p.rules.num_players
    if game.phase in (Phase.CAPITAL, Phase.CLAIM, Phase.DEPLOY) and game.to_place[game.turn] == 0:
        yield f"phase {p.phase_name}: seat {game.turn} has no troops to place"
    if game.phase in (Phase.DEPLOY_NEUTRAL, Phase.HEADQUARTERS) and any(game.to_place[:players]):
        yield f"phase {p.phase_name}: a seat has troops to place"
    if p.rules.neutral and game.phase == Phase.DEPLOY_NEUTRAL and game.to_place[players] == 0:
        yield "phase DEPLOY_NEUTRAL: the neutral army has no troops to place"
    if game.in_a_row and not (game.phase == Phase.DEPLOY and p.rules.neutral):
        yield f"in_a_row {game.in_a_row}: only in DEPLOY beside a neutral army"


def _setup_marks(p: Position) -> Reasons:
    """Nothing has happened in set-up but starting cards (RULES 11.4)."""
    if not p.is_setup:
        return
    quiet = (*MARKS, "held_at_start", "discard", "discard_wilds", "sets_traded", "battles")
    for field in quiet:
        if getattr(p.game, field):
            yield f"{field} in set-up"
    for field in ("rolled", "settled", "losses", "rerolled", "chosen_dice"):
        if any(_flat(getattr(p.game, field))):
            yield f"{field}: dice in set-up"
    if p.symbol_deck and (any(p.game.hand) or any(p.game.wilds)):
        yield "cards in a hand in set-up"


# ------------------------------------------------------------------------------------------------ cards


def _cards(p: Position) -> Reasons:
    """Every territory card is in the deck, the discard pile or a hand, or laid out for headquarters (RULES 2, 7.1)."""
    out = set_of([t for t in p.game.headquarters if t != NOWHERE])
    seen = out
    for pile in (p.game.deck, p.game.discard, *p.game.hand):
        if pile & seen:
            yield f"cards in two places, or of headquarters: {p.names(pile & seen)}"
        seen |= pile
    if seen != p.everywhere:
        yield f"cards that are nowhere: {p.names(p.everywhere & ~seen)}"
    wilds = p.game.deck_wilds + p.game.discard_wilds + sum(p.game.wilds)
    wanted = p.board.num_wilds if p.symbol_deck else 0
    if wilds != wanted:
        yield f"{wilds} wild cards, the deck has {wanted}"


def _picked(p: Position) -> Reasons:
    """Cards are picked of the hand, in TRADE (RULES 5.1, 9.4)."""
    game = p.game
    if (game.picked or game.picked_wilds) and game.phase != Phase.TRADE:
        yield f"picked cards in phase {p.phase_name}"
    if game.picked & ~game.hand[game.turn]:
        yield f"picked cards that seat {game.turn} does not hold: {p.names(game.picked & ~game.hand[game.turn])}"
    if game.picked_wilds > game.wilds[game.turn]:
        yield f"{game.picked_wilds} wild cards picked, seat {game.turn} holds {game.wilds[game.turn]}"
    if p.symbol_deck and game.picked.bit_count() + game.picked_wilds > 2:
        yield "three cards or more picked and not traded"
    if not p.symbol_deck and p.stars(game.picked) > MAX_STARS:
        yield f"{p.stars(game.picked)} stars picked, at most {MAX_STARS}"


def _shown(p: Position) -> Reasons:
    """Cards shown by re-rolls are in hands or discarded (RULES 2.4, 10.4)."""
    if p.game.shown and not p.rules.card_reroll:
        yield "shown cards without card_reroll"
    if p.game.shown & p.game.deck:
        yield f"shown cards in the deck: {p.names(p.game.shown & p.game.deck)}"


def _trade(p: Position) -> Reasons:
    """TRADE is asked of a hand that can trade; the reason of the trade fits it (RULES 3.3.2, 5.3)."""
    game = p.game
    hand = p.hand_size(game.turn)
    if game.trade != Trade.FREE and (not p.symbol_deck or game.phase not in (Phase.TRADE, Phase.BONUS)):
        yield f"trade {Trade(game.trade).name} in phase {p.phase_name} with deck={p.rules.deck!r}"
    if game.phase in (Phase.TRADE, Phase.BONUS) and (game.trade == Trade.ELIMINATION) != game.captured:
        yield f"trade {Trade(game.trade).name}: captured is {game.captured}"
    if game.phase == Phase.BONUS and game.trade == Trade.OWED:
        yield "trade OWED in phase BONUS: a set was traded"
    if game.phase != Phase.TRADE:
        return
    if p.symbol_deck and not p.holds_set(game.turn):
        yield f"phase TRADE: seat {game.turn} holds no set"
    if not p.symbol_deck and p.stars(game.hand[game.turn]) < MIN_STARS:
        yield f"phase TRADE: seat {game.turn} holds fewer than two stars"
    if game.trade != Trade.FREE and hand < FORCED_HAND:
        yield f"trade {Trade(game.trade).name}: with {hand} cards no set is owed"
    owed = p.symbol_deck and hand >= FORCED_HAND and not game.set_traded
    if not game.captured and owed != (game.trade == Trade.OWED):
        yield f"trade {Trade(game.trade).name}: {hand} cards, set_traded {game.set_traded} at the start of the turn"


def _traded(p: Position) -> Reasons:
    """What follows a traded set (RULES 5.3, 5.4)."""
    game = p.game
    if not p.symbol_deck and (game.set_traded or game.sets_traded or game.discard_wilds):
        yield "traded sets with the star deck"
    if game.bonus_paid and not game.set_traded:
        yield "bonus_paid: no set was traded this turn"
    if game.set_traded and game.sets_traded == 0:
        yield "set_traded: sets_traded is 0"
    if bool(game.bonus) != (game.phase == Phase.BONUS):
        yield f"bonus {p.names(game.bonus) or 'of no territory'} in phase {p.phase_name}"
    if game.phase == Phase.BONUS and not game.set_traded:
        yield "phase BONUS: no set was traded this turn"
    if game.bonus & ~(p.with_room(p.own) & game.discard) or game.bonus.bit_count() > 3:
        yield f"bonus {p.names(game.bonus)}: must be own territories with room whose cards were traded"


# ------------------------------------------------------------------------------------------------ pending numbers


def _draft(p: Position) -> Reasons:
    """Troops are left to place in the draft, and only there (RULES 3.1.4)."""
    game = p.game
    if game.phase not in DRAFT_PHASES:
        if game.draft_left:
            yield f"draft_left {game.draft_left} in phase {p.phase_name}"
        return
    least = 1
    if game.phase == Phase.TRADE:
        least = 0 if game.trade == Trade.ELIMINATION else MIN_DRAFT
    if game.draft_left < least:
        yield f"draft_left {game.draft_left} in phase {p.phase_name}: at least {least}"
    if game.captured and not p.symbol_deck:
        yield f"captured in phase {p.phase_name}: the star deck has no draft in the middle of a turn"


def _places(p: Position) -> Reasons:
    """`source` and `target` are what the phase works on, else NOWHERE."""
    game = p.game
    if p.is_over:
        return
    with_source = (*BATTLE_PHASES, Phase.OCCUPY, Phase.FORTIFY_TO, Phase.FORTIFY_AMOUNT)
    with_target = (*BATTLE_PHASES, Phase.OCCUPY, Phase.DRAFT_AMOUNT, Phase.FORTIFY_AMOUNT)
    for field, phases in (("source", with_source), ("target", with_target)):
        if (getattr(game, field) != NOWHERE) != (game.phase in phases):
            word = "needs one" if game.phase in phases else "has none"
            yield f"{field} {getattr(game, field)}: phase {p.phase_name} {word}"
    if game.source != NOWHERE and not (p.owns(game.source) and game.troops[game.source] >= 2):
        yield f"source {p.name(game.source)}: must be seat {game.turn}'s, with two troops"
    if game.target != NOWHERE and p.owns(game.target) == (game.phase in BATTLE_PHASES):
        yield f"target {p.name(game.target)}: is {_army(p, game.owner[game.target])}'s in phase {p.phase_name}"
    if game.target != NOWHERE and game.phase not in BATTLE_PHASES and game.troops[game.target] >= p.most:
        yield f"target {p.name(game.target)}: no room for another troop"
    if NOWHERE not in (game.source, game.target):
        yield from _way(p)


def _way(p: Position) -> Reasons:
    """Attacks and occupations cross a border, fortify moves go as far as the rules let them (RULES 3.2.1, 3.4)."""
    game = p.game
    if game.phase == Phase.FORTIFY_AMOUNT:
        joined = p.joined(game.source) if p.owns(game.source) else 0
    else:
        joined = set_of(p.board.neighbours(game.source))
    if not joined >> game.target & 1:
        yield f"{p.name(game.source)} > {p.name(game.target)}: not joined"


def _battle(p: Position) -> Reasons:
    """The attack under way (RULES 3.2.2, 11.3)."""
    game = p.game
    rolling = game.phase == Phase.ROLL
    if (game.blitz and (not rolling or p.rules.attack == "max")) or (rolling and not _may_be_single(p)):
        yield f"blitz {game.blitz} in phase {p.phase_name} with attack={p.rules.attack!r}"
    limit = p.rules.max_battles_per_turn or types.UNLIMITED
    if game.phase in (Phase.ATTACK_DICE, Phase.DEFEND, Phase.ROLL) and game.battles >= limit:
        yield f"battles {game.battles}: max_battles_per_turn is {limit}"
    if (game.captured or game.phase in DICE_PHASES) and game.battles == 0:
        yield "battles 0: there was a roll this turn"
    if game.phase == Phase.OCCUPY and not game.captured:
        yield "phase OCCUPY: nothing was captured"
    if game.eliminated and not (game.captured and game.phase in (Phase.OCCUPY, Phase.OVER)):
        yield f"eliminated in phase {p.phase_name}: only during the capture that did it"


def _may_be_single(p: Position) -> bool:
    """Whether a roll may stand by itself, or is part of a blitz as it says."""
    return p.game.blitz or p.rules.attack != "blitz"


def _dice(p: Position) -> Reasons:
    """The last roll, whoever made it (RULES 3.2.2, 9.8, 10.4)."""
    game = p.game
    for side, (name, most) in enumerate((("attacker", 3), ("defender", 2))):
        rolled, settled = game.rolled[side], game.settled[side]
        count = sum(face > 0 for face in rolled)
        if 0 in rolled[:count] or count > most + p.rules.rewards:
            yield f"the {name}'s rolled dice {rolled}"
        if settled != sorted(settled, reverse=True) or any(settled[most:]) or max(settled[p.rules.rewards :]) > FACES:
            yield f"the {name}'s settled dice {settled}"
        if game.chosen_dice[side] > most:
            yield f"the {name}'s chosen_dice {game.chosen_dice[side]}, at most {most}"
    if sum(game.losses) > 2:
        yield f"losses {game.losses}: at most 2 together"
    if (game.rerolled[0] == 0) != (game.rerolled[1] == 0) or (any(game.rerolled) and not p.rules.card_reroll):
        yield f"rerolled {game.rerolled}"


def _chosen(p: Position) -> Reasons:
    """The dice chosen for the battle under way (RULES 3.2.2)."""
    game = p.game
    chosen_by = {Phase.DEFEND: 1, Phase.ROLL: 2, Phase.REROLL: 2, Phase.COMMANDER: 2}.get(Phase(game.phase), 0)
    if chosen_by == 0 or NOWHERE in (game.source, game.target):
        return
    limits = (min(3, game.troops[game.source] - 1), min(2, game.troops[game.target]))
    for side in range(chosen_by):
        if not 1 <= game.chosen_dice[side] <= limits[side]:
            yield f"chosen_dice {game.chosen_dice}: must be 1 ... {limits[side]} for side {side}"


def _open_dice(p: Position) -> Reasons:
    """In REROLL and COMMANDER the dice lie open (RULES 10.4-10.6)."""
    game = p.game
    if game.phase not in DICE_PHASES or NOWHERE in (game.source, game.target):
        return
    extra = (game.reward_owner[Reward.ATTACK_DIE], game.reward_owner[Reward.DEFENSE_DIE])
    owners = (game.turn, game.owner[game.target])
    for side in range(2):
        count = sum(face > 0 for face in game.rolled[side])
        if count != game.chosen_dice[side] + (extra[side] == owners[side]):
            yield f"{count} dice of side {side} rolled, {game.chosen_dice[side]} chosen"
        if game.settled[side] != p.kept_dice(side):
            yield f"settled dice {game.settled[side]} of side {side}: must be {p.kept_dice(side)}"
    if game.phase == Phase.REROLL and any(game.rerolled):
        yield "phase REROLL: a die was re-rolled already"
    if game.phase == Phase.REROLL and not game.hand[game.turn] & (1 << game.source | 1 << game.target):
        yield f"phase REROLL: seat {game.turn} holds no card of the battle"
    if game.phase == Phase.COMMANDER and game.commander_used:
        yield "phase COMMANDER: used this turn"
    if game.phase == Phase.COMMANDER and min(game.settled[0][: game.chosen_dice[0]], default=FACES) == FACES:
        yield "phase COMMANDER: no die shows less than 6"


# ------------------------------------------------------------------------------------------------ course of the turn


def _turn_marks(p: Position) -> Reasons:
    """What happened this turn, and what cannot have yet (docs/decisions.md)."""
    game = p.game
    if p.is_setup:
        return
    over = game.phase in (*GOAL_PHASES, Phase.DRAW) or (game.phase in FORTIFY_PHASES and not _is_starting_maneuver(p))
    if not p.is_over and game.attacks_over != over:
        yield f"attacks_over {game.attacks_over} in phase {p.phase_name}"
    early = game.phase in DRAFT_PHASES or (game.phase in FORTIFY_PHASES and not game.attacks_over)
    if early and not game.captured and (game.battles or game.commander_used):
        yield f"battles in phase {p.phase_name} before the attacks"
    if game.phase in FORTIFY_PHASES and not game.attacks_over and game.captured:
        yield "captured before the attacks"
    if game.commander_used and not p.rules.commander:
        yield "commander_used without commander"
    if game.objective_taken and (not game.attacks_over or game.turn not in game.objective):
        yield f"objective_taken in phase {p.phase_name}: seat {game.turn} cannot have taken one this turn"
    if game.phase in GOAL_PHASES and game.objective_taken != (game.phase == Phase.AIRFIELD):
        yield f"objective_taken {game.objective_taken} in phase {p.phase_name}"


def _draw(p: Position) -> Reasons:
    """A card is drawn for a capture, for the star deck without an Objective, or for a Reward (RULES 3, 9.5, 9.8)."""
    game = p.game
    guaranteed = not p.symbol_deck and game.reward_owner[Reward.GUARANTEED_CARD] == game.turn
    if game.phase == Phase.DRAW and not guaranteed and (game.objective_taken or not game.captured):
        yield f"phase DRAW: captured {game.captured}, objective_taken {game.objective_taken} earn no card"


def _is_starting_maneuver(p: Position) -> bool:
    return not p.game.attacks_over and p.game.reward_owner[Reward.STARTING_MANEUVER] == p.game.turn


def _start_of_turn(p: Position) -> Reasons:
    """Own territories of the start of the turn are held still, and others exactly after a capture (RULES 9.6)."""
    held = p.game.held_at_start
    if p.is_setup:
        return
    if held & ~p.own:
        yield f"held_at_start {p.names(held & ~p.own)}: not seat {p.game.turn}'s any more"
    elif p.game.captured == (held == p.own):
        yield f"captured {p.game.captured}: {(p.own & ~held).bit_count()} territories more than at the turn's start"


def _moves(p: Position) -> Reasons:
    """Fortify moves (RULES 3.4, 9.8)."""
    game = p.game
    fortifying = game.phase in FORTIFY_PHASES
    most = len(p.places) if p.rules.fortify == "free" else 2
    if not p.is_over:
        most = most_moves(p) if fortifying else 0
    if not fortifying <= game.moves_left <= most:
        yield f"moves_left {game.moves_left} in phase {p.phase_name}: must be {int(fortifying)} ... {most}"
    if game.move_begun and game.phase != Phase.FORTIFY_AMOUNT:
        yield f"move_begun in phase {p.phase_name}"


def most_moves(p: Position) -> int:
    """Moves that the fortify phases of this turn began with: one, more by a Reward or with `fortify="free"`."""
    if not p.game.attacks_over:
        return 1
    if p.rules.fortify == "free":
        return len(p.places)
    return 2 if p.game.reward_owner[Reward.ADDITIONAL_MANEUVER] == p.game.turn else 1


# ------------------------------------------------------------------------------------------------ goals


def _missions(p: Position) -> Reasons:
    """Everybody has a mission of one's own, of those that are dealt (RULES 8.1)."""
    dealt = p.game.mission[: len(p.seats)]
    if p.rules.victory != "mission":
        if any(mission != NOBODY for mission in dealt):
            yield f"mission {dealt} without victory='mission'"
        return
    if len(set(dealt)) < len(dealt):
        yield f"mission {dealt}: two seats have the same"
    for seat, mission in enumerate(dealt):
        if mission == NOBODY or not _is_dealt(p, mission):
            dealt_ones = ", ".join(str(m) for m in range(len(p.board.missions)) if _is_dealt(p, m))
            yield f"mission {mission} of seat {seat}: not one that is dealt, which are {dealt_ones}"


def _is_dealt(p: Position, number: int) -> bool:
    mission = p.board.missions[number]
    named = mission.kind != "destroy" or mission.target in p.seats
    return named and (p.rules.missions == "extended" or not mission.extended)


def _headquarters(p: Position) -> Reasons:
    yield from _chosen_places(p, "headquarters", p.rules.victory == "headquarters", Phase.HEADQUARTERS)
    chosen = p.rules.victory == "headquarters" and NOWHERE not in p.game.headquarters[: len(p.seats)]
    if p.game.headquarters_open != chosen:
        yield f"headquarters_open {p.game.headquarters_open}: they are public when all are chosen, and only then"


def _capitals(p: Position) -> Reasons:
    yield from _chosen_places(p, "capital", p.rules.capitals, Phase.CAPITAL)


def _chosen_places(p: Position, field: str, used: bool, phase: Phase) -> Reasons:
    """Headquarters and capitals: one for each seat, chosen in turn order in set-up (RULES 7.1, 9.3)."""
    places = getattr(p.game, field)[: len(p.seats)]
    chosen = [place for place in places if place != NOWHERE]
    if len(set(chosen)) < len(chosen):
        yield f"{field} at {', '.join(map(p.name, chosen))}: two on one territory"
    for seat, place in enumerate(places):
        before = (seat - p.game.starter) % len(p.seats) < (p.game.turn - p.game.starter) % len(p.seats)
        due = used and (before if p.game.phase == phase else phase == Phase.CAPITAL or not p.is_setup)
        if (place != NOWHERE) != due:
            yield f"{field} of seat {seat}: {'missing' if due else 'not chosen yet, or not in these rules'}"
        if place != NOWHERE and p.is_setup and p.game.owner[place] != seat:
            yield f"{field} of seat {seat}: {p.name(place)} is {_army(p, p.game.owner[place])}'s in set-up"


def _cities(p: Position) -> Reasons:
    """The cities that the rules lay out (RULES 9.1, 9.3)."""
    fixed = set_of(p.board.basic_training_cities)
    if p.rules.cities == "fixed" and p.game.city != fixed:
        yield f"city: other than the fixed ones at {p.names(p.game.city ^ fixed)}"
    count = {None: 0, "fixed": fixed.bit_count(), "random": p.board.random_cities}[p.rules.cities]
    if p.game.city.bit_count() != count:
        yield f"city: {p.game.city.bit_count()} cities, there must be {count}"


def _objectives(p: Position) -> Reasons:
    """The objectives in play and the Rewards that come with them (RULES 9.1, 9.3)."""
    goals = p.board.objectives
    laid = [o for o in range(len(goals)) if p.game.objective[o] != Held.NOT_IN_PLAY]
    fixed = [o for o, goal in enumerate(goals) if goal.basic_training]
    if p.rules.objectives != "random":
        if laid != (fixed if p.rules.objectives == "fixed" else []):
            yield f"objective: {laid} in play with objectives={p.rules.objectives!r}"
    else:
        for major in (False, True):
            count = sum(bool(goals[o].major) == major for o in laid)
            if count != LAID_OUT_OBJECTIVES:
                yield f"objective: {count} {'major' if major else 'minor'} ones in play, there must be 4"
    yield from _laid_rewards(p, laid)


def _laid_rewards(p: Position, laid: list[int]) -> Reasons:
    """With Rewards the four minor ones lie on minor objectives, the four major ones on major ones (RULES 9.3)."""
    for o, reward in enumerate(p.game.objective_reward[: len(p.board.objectives)]):
        due = p.rules.rewards and o in laid
        fits = reward != NO_REWARD and (reward >= len(Reward) // 2) == p.board.objectives[o].major
        if due != (reward != NO_REWARD) or (due and not fits):
            yield f"objective_reward {reward} of {p.board.objectives[o].name}"
    given = [reward for reward in p.game.objective_reward if reward != NO_REWARD]
    if len(set(given)) < len(given):
        yield f"objective_reward {p.game.objective_reward}: a Reward lies on two objectives"


def _rewards(p: Position) -> Reasons:
    """A Reward belongs to the seat that took its objective, or to nobody (RULES 3.3.3, 9.8)."""
    holder = dict(zip(p.game.objective_reward, p.game.objective, strict=True))
    for reward, owner in enumerate(p.game.reward_owner):
        if owner != NOBODY and holder.get(reward) != owner:
            yield f"reward {Reward(reward).name} of seat {owner}: that seat does not hold its objective"


def _airfields(p: Position) -> Reasons:
    """An airfield stands on its owner's territory exactly while its Reward is owned, or is being placed (RULES 9.8)."""
    unplaced = 0
    for which, reward in enumerate(AIRFIELDS):
        place, owner = p.game.airfield[which], p.game.reward_owner[reward]
        if place == NOWHERE:
            unplaced += owner != NOBODY
            if owner not in (NOBODY, p.game.turn):
                yield f"reward {reward.name} of seat {owner}: no airfield stands"
        elif owner == NOBODY or p.game.owner[place] != owner:
            yield f"airfield on {p.name(place)}: not on a territory of the owner of {reward.name}"
    if unplaced != (p.game.phase == Phase.AIRFIELD):
        yield f"{unplaced} airfields to be placed in phase {p.phase_name}"
    places = [place for place in p.game.airfield if place != NOWHERE]
    owners = {p.game.reward_owner[reward] for reward in AIRFIELDS}
    if len(places) == 2 and len(owners) == 1 and places[0] == places[1]:
        yield f"airfield: two of one owner on {p.name(places[0])}"


_RANGES: Judges = (_numbers, _bytes, _sets, _beyond)
_SENSE: Judges = (
    *(_territories, _words, _the_dead, _whose_turn, _the_end),
    *(_phase, _setup_troops, _setup_turn, _setup_marks),
    *(_cards, _picked, _shown, _trade, _traded),
    *(_draft, _places, _battle, _dice, _chosen, _open_dice),
    *(_turn_marks, _draw, _start_of_turn, _moves),
    *(_missions, _headquarters, _capitals, _cities, _objectives, _rewards, _airfields),
)
_LEGAL: Judges = (_legal_actions,)
