"""Check of a position: reasons why play cannot continue safely from a game record.

The record may contain any bytes. `check` has four levels and stops at the first level that finds a problem:

1. ranges: every number and set is in the range that the kernels accept;
2. sense: the fields agree with each other, the rules and the map;
3. decision: the recorded decision can be reached, and at least one action is legal. To check this, the
   kernels start from the first decision of the same move, such as an attack, on a copy of the record. Then
   the kernels play the choices in the record;
4. derived fields (`DERIVED`): the fields have the values that `complete` computes from the other fields.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board
from risk_env.board.rules import LAID_OUT_OBJECTIVES, Rules, is_dealt
from risk_env.board.tables import Tables
from risk_env.board.tables import tables as tables_of
from risk_env.core import entry, types
from risk_env.core.cards import FORCED_HAND, MIN_STARS, SET_CARDS
from risk_env.core.types import (
    DICE_PHASES,
    FREE,
    MOST_TROOPS,
    NO_REWARD,
    NOBODY,
    NOWHERE,
    Held,
    Phase,
    Reward,
    Trade,
)
from risk_env.public import members, members_of, words_of

CLAIM_PHASES = (Phase.CAPITAL, Phase.CLAIM)
PLAY_PHASES = tuple(Phase)[len(types.SETUP_PHASES) :]
BATTLE_PHASES = (Phase.ATTACK_DICE, Phase.DEFEND, Phase.REROLL, Phase.COMMANDER, Phase.ROLL)
AIRFIELDS = (Reward.AIRFIELD, Reward.MAJOR_AIRFIELD)

MOST_COUNTED = 2**30  # maximum number of decisions, rounds, battles or traded sets, well below 2**31

Reasons = Iterator[str]

_ASKED = "setup=claim|deal|capitals"
PHASE_NEEDS = {  # options that a phase needs
    Phase.CAPITAL: "setup=capitals",
    Phase.CLAIM: "setup=claim|capitals",
    Phase.DEPLOY: _ASKED,
    Phase.DEPLOY_NEUTRAL: f"neutral=True {_ASKED}",
    Phase.HEADQUARTERS: f"victory=headquarters {_ASKED}",
    Phase.TRADE: "deck=symbol|star",
    Phase.BONUS: "deck=symbol",
    Phase.ATTACK_DICE: "attack=choice",
    Phase.DEFEND: "defender_dice=choice attack=choice|max",
    Phase.REROLL: "card_reroll=True",
    Phase.COMMANDER: "commander=True",
    Phase.OBJECTIVE: "objectives=fixed|random",
    Phase.AIRFIELD: "rewards=True",
    Phase.DRAW: "deck=symbol|star",
}
AFTER_ATTACKS = (Phase.OBJECTIVE, Phase.AIRFIELD, *types.FORTIFY_PHASES, Phase.DRAW, Phase.OVER)
MOVE_PHASES = (*BATTLE_PHASES, Phase.OCCUPY, Phase.FORTIFY_AMOUNT)
# Fields, the options that the fields need, and the phases that use the fields. In all other games and phases,
# the fields must be empty.
_USES: tuple[tuple[str, str, Collection[Phase]], ...] = (
    ("sets_traded set_traded bonus_paid discard_wilds", "deck=symbol", PLAY_PHASES),
    ("held_at_start discard battles captured death rolled settled losses chosen_dice", "", PLAY_PHASES),
    ("shown", "card_reroll=True", {*Phase}),
    ("rerolled", "card_reroll=True", {*PLAY_PHASES} - {Phase.REROLL}),
    ("commander_used", "commander=True", {*PLAY_PHASES} - {Phase.COMMANDER}),
    ("objective_reward reward_owner airfield", "rewards=True", {*Phase}),
    ("mission", "victory=mission", {*Phase}),
    ("headquarters", "victory=headquarters", {*Phase}),
    ("capital", "capitals=True", {*Phase}),
    ("blitz", "attack=choice|blitz", (Phase.ROLL,)),
    ("in_a_row", "neutral=True", (Phase.DEPLOY,)),
    ("to_place", "", types.SETUP_PHASES),
    ("picked picked_wilds", "", (Phase.TRADE,)),
    ("bonus", "", (Phase.BONUS,)),
    ("draft_left", "", types.DRAFT_PHASES),
    ("source", "", (*MOVE_PHASES, Phase.FORTIFY_TO)),
    ("target", "", (*MOVE_PHASES, Phase.DRAFT_AMOUNT)),
    ("eliminated", "", (Phase.OCCUPY, Phase.OVER)),
    ("attacks_over", "", AFTER_ATTACKS),
    ("objective_taken", "", {*AFTER_ATTACKS} - {Phase.OBJECTIVE}),
    ("moves_left", "", types.FORTIFY_PHASES),
    ("move_begun", "", (Phase.FORTIFY_AMOUNT,)),
    ("winner truncated", "", (Phase.OVER,)),
)
USES = {field: (needs, phases) for fields, needs, phases in _USES for field in fields.split()}
FLAGS = [field for field, kind, *_ in types.game_dtype(types.SIZE_CLASSES[0]).descr if kind == "|b1"]
PLACES = ("source", "target", "headquarters", "capital", "airfield")
SETS = ("owned", "strong", "deck", "reach", "held_at_start", "discard", "picked", "shown", "bonus", "city")
DERIVED = ("owned", "strong", "deck", "deck_wilds", "headquarters_open", "trade", "seat", "reach", "legal")


def check(record: Any, tables: Tables, rules: Rules, board: Board) -> list[str]:
    """Return the reasons why play cannot continue from a game record, or [] if play can continue.

    `record` has a `game_dtype` and may contain any bytes.
    """
    raw = record.tobytes()
    games = np.frombuffer(bytearray(raw), record.dtype)
    problems = complete(games, tables, rules, board)
    if problems or games.tobytes() == raw:
        return problems
    stored, wanted = Facts(record), Facts(games[0])
    return [problem for field in DERIVED for problem in _differences(field, stored, wanted, board)]


def complete(games: Any, tables: Tables, rules: Rules, board: Board) -> list[str]:
    """Write the derived fields of the record `games[0]`, which are computed from the other fields.

    Returns the reasons why the other fields are impossible, or [].
    """
    raw, dtype = games.tobytes(), games.dtype
    is_in_range = all(limits.hold(raw) for limits in _limits(rules, board, dtype))
    if not is_in_range and (problems := list(_out_of_range(Facts(games[0]), rules, board))):
        return problems
    position = Position(games, tables, rules, board)
    if problems := [reason for find in _SENSE for reason in find(position)]:
        return problems
    derive_facts(position)
    return [*_choose_again(position), *_nothing_legal(position)]


def _differences(field: str, stored: Facts, wanted: Facts, board: Board) -> Reasons:
    """Yield a reason for each element of a derived field with a wrong value."""
    values = zip(_flat(getattr(stored, field)), _flat(getattr(wanted, field)), strict=True)
    for place, (value, right) in enumerate(values):
        if value != right and field == "legal":
            yield f"legal: wrong at actions {sorted(value ^ right)[:6]}"
        elif value != right and field in SETS:
            yield (
                f"{f'{field}[{place}]' if field == 'owned' else field}: "
                f"wrong at {_names(value ^ right, board)}"
            )
        elif value != right:
            yield f"{field} is {value}, but must be {right}"


# ------------------------------------------------------------------------------------ fields


class Facts:
    """The fields of a record as plain Python values: numbers, lists of numbers, and sets of numbers.

    A flag is a number, because a flag of an invalid record can be a byte other than 0 or 1. A field is
    converted when it is first read. Later changes of the record have no effect.
    """

    def __init__(self, record: Any) -> None:
        self.raw, self._fields = record.tobytes(), record.dtype.fields

    def __getattr__(self, name: str) -> Any:
        if name not in self._fields:
            raise AttributeError(f"a record has no field {name!r}")
        kind, start, *_ = self._fields[name]
        value = _plain(self.raw[start : start + kind.itemsize], kind)
        setattr(self, name, value)
        return value


def _fields(dtype: np.dtype[Any]) -> Mapping[str, Any]:
    """Return the type and the offset (in bytes) of each field of a record's dtype, by name."""
    return dtype.fields or {}


@lru_cache(maxsize=8)
def _plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a record's dtype without the attribute access of `np.record`."""
    return np.dtype((np.void, dtype))


def _plain(value: bytes, kind: np.dtype[Any]) -> Any:
    """Return the bytes of a field of this type as a plain Python value. An array would be slower."""
    base, shape = kind.base, kind.shape
    if base == np.uint64 and shape:  # words of sets
        size = shape[-1] * base.itemsize
        sets = [set(members_of(value[start : start + size])) for start in range(0, len(value), size)]
        return sets if len(shape) > 1 else sets[0]
    if kind == np.bool_:
        return value[0]
    numbers: Any = memoryview(value)
    return numbers.cast(base.char, shape).tolist()


def _flat(value: Any) -> list[Any]:
    return [part for element in value for part in _flat(element)] if isinstance(value, list) else [value]


@lru_cache(maxsize=64)
def empty_facts(rules: Rules, board: Board) -> Facts:
    """Return the facts of an empty record with a full deck. Callers must not change the result."""
    return Facts(tables_of(rules, board).rules[0].empty)


def _names(places: Iterable[int], board: Board) -> str:
    """Return the names of territories, in map order. Numbers beyond the map are given as numbers."""
    known = [board.territories[t] if t < board.num_territories else f"number {t}" for t in sorted(places)]
    return ", ".join(known[:6]) + (", ..." if len(known) > 6 else "") or "-"


class Position:
    """A record with all fields in range, together with the rules, the map, and methods for several checks.

    `games` is an array of one record.
    """

    def __init__(self, games: Any, tables: Tables, rules: Rules, board: Board):
        self.games, self.tables, self.rules, self.board = games, tables, rules, board
        self.game = game = Facts(games[0])
        self.empty = empty_facts(rules, board)
        self.phase = Phase(game.phase)
        self.is_setup = self.phase in types.SETUP_PHASES
        self.seats = range(rules.num_players)
        self.armies = range(rules.num_players + rules.neutral)
        self.places = range(board.num_territories)

    @cached_property
    def living(self) -> list[int]:
        """The seats that are not eliminated."""
        return [seat for seat in self.seats if self.game.death[seat] == 0]

    @cached_property
    def held(self) -> dict[int, set[int]]:
        """The territories of each owner."""
        held: dict[int, set[int]] = {army: set() for army in (FREE, *self.armies)}
        for territory, owner in zip(self.places, self.game.owner, strict=False):
            held[owner].add(territory)
        return held

    @property
    def own(self) -> set[int]:
        """The territories of the seat whose turn it is."""
        return self.held[self.game.turn]

    def army(self, owner: int) -> str:
        """Return the name of an owner for messages."""
        return {FREE: "nobody", self.rules.num_players: "the neutral army"}.get(owner, f"seat {owner}")

    def placed(self, army: int) -> int:
        """Return the number of troops of an army on the board."""
        return sum(self.game.troops[t] for t in self.held[army])

    def room(self, places: Collection[int]) -> int:
        """Return the number of troops that may be added to the territories `places` (RULES 1.5, 10.3)."""
        most = self.rules.max_troops or MOST_TROOPS
        return sum(most - self.game.troops[t] for t in places)

    def missing(self, needs: str) -> str:
        """Return the options in the text `needs` that the rules of the position do not have, as text."""
        return missing_options(self.rules, needs)


@lru_cache(maxsize=1024)
def missing_options(rules: Rules, needs: str) -> str:
    """Return the options in the text `needs` that the rules do not have, as text.

    `needs` is a text such as `setup=claim|deal deck=symbol`.
    """
    pairs = [need.partition("=") for need in needs.split()]
    return " ".join("".join(n) for n in pairs if str(getattr(rules, n[0])) not in n[2].split("|"))


def due_trade(p: Position) -> Trade:
    """Return the reason for a trade (RULES 3.3.2, 5.3).

    A trade is obligatory with five or more cards at the start of the turn. A trade is also obligatory after
    an elimination that leads to a hand of six or more cards.
    """
    if p.rules.deck == "star" or p.phase not in (Phase.TRADE, Phase.BONUS):
        return Trade.FREE
    if p.game.captured:
        return Trade.ELIMINATION
    cards = len(p.game.hand[p.game.turn]) + p.game.wilds[p.game.turn]
    return (
        Trade.OWED
        if p.phase == Phase.TRADE and cards >= FORCED_HAND and not p.game.set_traded
        else Trade.FREE
    )


def most_moves(p: Position) -> int:
    """Return the maximum number of fortify moves that can be left in a fortify phase, or 0 in other phases.

    The number is 1, or more with a Reward or with `fortify="free"`.
    """
    if p.phase not in types.FORTIFY_PHASES:
        return 0
    if p.rules.fortify == "free" and p.game.attacks_over:
        return len(p.places)
    return 1 + (p.game.attacks_over and p.game.reward_owner[Reward.ADDITIONAL_MANEUVER] == p.game.turn)


def kept_dice(p: Position, side: int) -> list[int]:
    """Return the dice with which a side fights, highest first and padded with zeros (RULES 9.8, 10.4).

    An extra die that was dropped is not included. A re-rolled die has its new face. Side 0 is the attacker,
    side 1 the defender.
    """
    dice = sorted(p.game.rolled[side], reverse=True)[: p.game.chosen_dice[side]]
    before, after = p.game.rerolled
    if side == 0 and before in dice:
        dice[dice.index(before)] = after
    return sorted(dice, reverse=True) + [0] * (types.MAX_DICE - len(dice))


# ------------------------------------------------------------------------------------ 1. ranges


@lru_cache(maxsize=64)
def ranges(rules: Rules, board: Board) -> dict[str, tuple[Any, Any]]:
    """Return the smallest and the largest value of the elements of every field that is not derived.

    For a set, the largest value is the set of all allowed elements.
    """
    seats, last = rules.num_players, board.num_territories - 1
    limits: dict[str, tuple[Any, Any]] = {
        " ".join((*FLAGS, "in_a_row")): (0, 1),
        " ".join(("hand", *SETS[4:])): (set(), set(range(last + 1))),
        " ".join(PLACES): (NOWHERE, last),
        "winner reward_owner": (NOBODY, seats - 1),
        "turn starter death": (0, seats - 1),
        "wilds discard_wilds picked_wilds": (0, empty_facts(rules, board).deck_wilds),
        "draft_left to_place": (0, MOST_TROOPS),
        "rolled rerolled": (0, types.NUM_FACES),
        "settled": (0, types.NUM_FACES + 1),
        "losses": (0, 2),
        "chosen_dice": (0, 3),
        "phase": (0, int(max(Phase))),
        "owner": (FREE, seats - 1 + rules.neutral),
        "troops": (0, rules.max_troops or MOST_TROOPS),
        "sets_traded": (0, MOST_COUNTED),
        "round_number": (0, rules.max_rounds or MOST_COUNTED),
        "battles": (0, rules.max_battles_per_turn or MOST_COUNTED),
        "decisions": (0, MOST_COUNTED),
        "moves_left": (0, last + 1),
        "mission": (NOBODY, len(board.missions) - 1),
        "objective": (int(Held.NOT_IN_PLAY), seats - 1),
        "objective_reward": (NO_REWARD, int(max(Reward))),
        "spare": (0, 0),
    }
    return {field: ends for fields, ends in limits.items() for field in fields.split()}


@lru_cache(maxsize=64)
def _element_ranges(rules: Rules, board: Board) -> dict[str, list[tuple[Any, Any]]]:
    """Return the smallest and the largest value of each element of every field that is not derived.

    Elements beyond the last seat, army, territory and Objective must be empty.
    """
    empty = empty_facts(rules, board)
    used = {types.MAX_SEATS: rules.num_players, types.MAX_OWNERS: rules.num_players + rules.neutral}
    used |= {len(empty.owner): board.num_territories, types.NUM_OBJECTIVES: len(board.objectives)}
    elements = {}
    for field, limits in ranges(rules, board).items():
        none = _flat(getattr(empty, field))
        count = used.get(len(none), len(none))
        elements[field] = [limits if place < count else (one, one) for place, one in enumerate(none)]
    return elements


class _Limits(NamedTuple):
    """The ranges of all elements with the same type, for a check of a whole record at once."""

    kind: str  # type of the elements
    places: npt.NDArray[np.int64]  # (k,) offset of each element in the record, in units of the element's size
    low: npt.NDArray[Any]  # (k,) smallest values; for words of sets, the elements that must be present
    high: npt.NDArray[Any]  # (k,) largest values; for words of sets, the elements that may be present

    def hold(self, raw: bytes) -> bool:
        """Return True if all these elements of a record are in range. `raw` is the record as bytes."""
        values = np.frombuffer(raw, self.kind)[self.places]
        if self.kind == "<u8":
            return not ((values & ~self.high) | (self.low & ~values)).any()
        return bool(((values >= self.low) & (values <= self.high)).all())


@lru_cache(maxsize=64)
def _limits(rules: Rules, board: Board, dtype: np.dtype[Any]) -> tuple[_Limits, ...]:
    """Return the ranges in `_element_ranges` for records of this type."""
    ends_of: dict[str, list[tuple[int, Any, Any]]] = {}
    for field, elements in _element_ranges(rules, board).items():
        kind, start, *_ = _fields(dtype)[field]
        scalar = "|u1" if kind.base == np.bool_ else kind.base.str
        first, words = start // kind.base.itemsize, kind.shape[-1] if scalar == "<u8" else 1
        for place, ends in enumerate(elements):
            low, high = (words_of(end, words) if scalar == "<u8" else [end] for end in ends)
            rows = zip(range(words), low, high, strict=True)
            ends_of.setdefault(scalar, []).extend((first + place * words + k, a, b) for k, a, b in rows)
    limits = []
    for scalar, listed in ends_of.items():
        places, least, most = zip(*listed, strict=True)
        numbers = np.uint64 if scalar == "<u8" else np.int64
        limits.append(_Limits(scalar, np.array(places), np.array(least, numbers), np.array(most, numbers)))
    return tuple(limits)


def _out_of_range(game: Facts, rules: Rules, board: Board) -> Reasons:
    """Yield a reason for each element outside its range."""
    names = board.territories
    for field, limits in _element_ranges(rules, board).items():
        values = _flat(getattr(game, field))
        for place, (number, (low, high)) in enumerate(zip(values, limits, strict=True)):
            if low <= number <= high:
                continue
            name = f"{field}[{place}]" if len(values) > 1 else field
            if field in ("owner", "troops") and place < len(names):
                name = f"{field} of {names[place]}"
            if isinstance(number, set):
                yield (
                    f"{name} contains {_names(number - high, board)}: "
                    f"beyond {'the map' if high else 'the last seat'}"
                )
            else:
                yield f"{name} is {number}, but must be from {low} to {high}"


# ------------------------------------------------------------------------------------ 2. sense
#
# Each of these functions checks some of the fields, and yields a reason for each problem.


def _phase(p: Position) -> Reasons:
    """Check that the rules have the phase, and that the right fields are in use.

    Fields that the rules or the phase do not use must be empty. `source` and `target` must be set in every
    phase that uses them.
    """
    if missing := p.missing(PHASE_NEEDS.get(p.phase, "")):
        yield f"phase {p.phase.name} needs {missing}"
    if p.is_setup != (p.game.round_number == 0):
        rounds = "the set-up is round 0, and play begins in round 1"
        yield f"phase {p.phase.name} in round {p.game.round_number}: {rounds}"
    for field in ("source", "target"):
        if p.phase in USES[field][1] and getattr(p.game, field) == NOWHERE:
            yield f"{field} {NOWHERE}: phase {p.phase.name} needs a {field} territory"
    unused = _unused(p.rules, p.board, p.phase, p.games.dtype)
    if (np.frombuffer(p.game.raw, np.uint8)[unused.places] == unused.values).all():
        return
    for field, (needs, phases) in USES.items():
        value, empty = getattr(p.game, field), getattr(p.empty, field)
        if value == empty:
            continue
        shown, wanted = (_names(each, p.board) if field in SETS else each for each in (value, empty))
        if missing := p.missing(needs):
            yield f"{field} {shown}: must be {wanted} without {missing}"
        elif p.phase not in phases:
            yield f"{field} {shown} in phase {p.phase.name}: must be {wanted}"


class _Unused(NamedTuple):
    """The bytes of a record that must be the same as in an empty record."""

    places: npt.NDArray[np.int64]  # (k,) offsets of the bytes in the record
    values: npt.NDArray[np.uint8]  # (k,) values of the bytes in an empty record


@lru_cache(maxsize=1024)
def _unused(rules: Rules, board: Board, phase: Phase, dtype: np.dtype[Any]) -> _Unused:
    """Return the bytes of the fields that the rules or the phase do not use (USES)."""
    places: list[int] = []
    for field, (needs, phases) in USES.items():
        if phase not in phases or missing_options(rules, needs):
            kind, start, *_ = _fields(dtype)[field]
            places += range(start, start + kind.itemsize)
    empty = np.frombuffer(empty_facts(rules, board).raw, np.uint8)
    return _Unused(np.array(places, np.int64), empty[places])


def _territories(p: Position) -> Reasons:
    """Check that free territories have no troops, and that other territories have troops (RULES 3.2.6).

    Territories may be free only in the claim phases.
    """
    for t in p.places:
        if (p.game.owner[t] == FREE) != (p.game.troops[t] == 0):
            has = f"{p.game.troops[t]} troops of {p.army(p.game.owner[t])}"
            yield f"{p.board.territories[t]}: {has}; free territories have no troops, all others at least one"
    if p.held[FREE] and p.phase not in CLAIM_PHASES:
        allowed = f"only {' and '.join(phase.name for phase in CLAIM_PHASES)} allow free territories"
        yield f"{_names(p.held[FREE], p.board)}: free in phase {p.phase.name}; {allowed}"


def _seats(p: Position) -> Reasons:
    """Check that eliminated seats own nothing, and living seats own a territory after set-up (RULES 3.3).

    The seat whose turn it is must be alive.
    """
    deaths = sorted(order for order in p.game.death if order)
    if deaths != list(range(1, len(deaths) + 1)):
        yield (
            f"death {p.game.death[: len(p.seats)]}: "
            "must be 1, 2, ... in the order of elimination, and 0 for living seats"
        )
    if len(p.living) < 2 and p.phase != Phase.OVER:
        yield f"number of living seats: {len(p.living)}, but the game is not over"
    if p.game.turn not in p.living:
        yield f"turn {p.game.turn}: seat {p.game.turn} is eliminated"
    for seat in p.seats:
        things = {"territories": p.held[seat], "objectives": seat in p.game.objective}
        things |= {"cards": p.game.hand[seat] or p.game.wilds[seat], "rewards": seat in p.game.reward_owner}
        if seat not in p.living:
            owns = [thing for thing, is_owned in things.items() if is_owned]
            yield from (f"seat {seat} is eliminated, but owns {thing}" for thing in owns)
        elif not p.held[seat] and not p.is_setup:
            yield f"seat {seat} is alive, but owns no territory"


def _the_end(p: Position) -> Reasons:
    """Check that there is a winner or a truncation exactly when the game is over (RULES 11)."""
    decided, truncated = p.game.winner != NOBODY, p.game.truncated
    if p.phase == Phase.OVER and decided == truncated:
        ended = f"the game is over with winner {p.game.winner} and truncated {truncated}"
        yield f"{ended}: either a winner or a truncation is needed"
    if decided and p.game.winner not in p.living:
        yield f"winner {p.game.winner}: seat {p.game.winner} is eliminated"
    if truncated and p.game.round_number != p.rules.max_rounds:
        yield f"truncated in round {p.game.round_number}: max_rounds is {p.rules.max_rounds}"


def _setup(p: Position) -> Reasons:
    """Check that every army has its starting troops, on the board or still to be placed (RULES 4.2).

    There must be room for the troops still to be placed.
    """
    if not p.is_setup:
        return
    start, to_place = p.rules.troops_to_start(p.board.num_territories), p.game.to_place
    if sum(to_place) > MOST_TROOPS:
        yield f"to_place {to_place}: {sum(to_place)} troops in all; at most {MOST_TROOPS} are allowed"
    for army in p.armies:
        if p.placed(army) + to_place[army] != start:
            yield (
                f"{p.army(army)}: {p.placed(army)} troops placed and {to_place[army]} to place, but "
                f"each army starts with {start}"
            )
        if not p.held[FREE] and to_place[army] > p.room(p.held[army]):
            yield f"{p.army(army)}: {to_place[army]} troops to place, but room for {p.room(p.held[army])}"
    due = {Phase.DEPLOY: p.game.turn, Phase.DEPLOY_NEUTRAL: len(p.seats)}.get(p.phase)
    if due is not None and to_place[due] == 0:
        yield f"phase {p.phase.name}: {p.army(due)} has no troops to place"
    if p.phase not in (*CLAIM_PHASES, Phase.DEPLOY) and any(to_place[: len(p.seats)]):
        yield f"phase {p.phase.name}: a seat has troops to place"


def _claims(p: Position) -> Reasons:
    """Check that the seats have claimed territories one after another, with one troop on each (RULES 4.3).

    The starter claims first.
    """
    if p.phase not in CLAIM_PHASES:
        return
    claims = len(p.places) - len(p.held[FREE])
    *claimed, turn = [(p.game.starter + number) % len(p.seats) for number in range(claims + 1)]
    if p.game.turn != turn:
        yield (
            f"turn {p.game.turn}: seat {p.game.starter} claims first, so after {claims} claims "
            f"it is the turn of seat {turn}"
        )
    for seat in p.seats:
        if len(p.held[seat]) != claimed.count(seat):
            yield (
                f"seat {seat} has {len(p.held[seat])} territories, "
                f"but has made {claimed.count(seat)} of {claims} claims"
            )
    if crowded := [t for t in p.places if p.game.troops[t] > 1]:
        yield f"{_names(crowded, p.board)}: more than one troop in phase {p.phase.name}"


def _cards(p: Position) -> Reasons:
    """Check that no territory card is in two places (RULES 2, 7.1).

    The card of a headquarters must be in no place. The full deck must have all cards of the position. Shown
    cards must be in a hand or on the discard pile. With the symbol deck, hands are empty in the set-up.
    """
    seen = set(p.game.headquarters) - {NOWHERE}
    for pile in (p.game.discard, *p.game.hand):
        if pile & seen:
            problem = "cards in two places, or cards of headquarters in a hand or on the discard pile"
            yield f"{problem}: {_names(pile & seen, p.board)}"
        if pile - p.empty.deck:
            yield f"cards that the deck does not have: {_names(pile - p.empty.deck, p.board)}"
        seen |= pile
    wilds = p.game.discard_wilds + sum(p.game.wilds)
    if wilds > p.empty.deck_wilds:
        found = f"{wilds} wild cards in hands and on the discard pile"
        yield f"{found}, but the game has only {p.empty.deck_wilds}"
    if p.game.shown - seen:
        shown = _names(p.game.shown - seen, p.board)
        yield f"shown cards that are neither in a hand nor on the discard pile: {shown}"
    if p.is_setup and p.rules.deck == "symbol" and (any(p.game.hand) or any(p.game.wilds)):
        yield "a hand has cards in the set-up: all hands must be empty"


def _trade(p: Position) -> Reasons:
    """Check the stars of a trade (RULES 9.4), and the territories of a set's bonus (RULES 5.4)."""
    hand, bonus = p.game.hand[p.game.turn], p.game.bonus
    stars = sum((p.board.stars or ())[card] for card in hand) if p.rules.deck == "star" else MIN_STARS
    if p.phase == Phase.TRADE and stars < MIN_STARS:
        yield f"phase TRADE: seat {p.game.turn} holds {stars} stars, but needs at least {MIN_STARS}"
    roomy = {t for t in p.own & p.game.discard if p.room([t])}
    if bonus - roomy or len(bonus) > SET_CARDS:
        needs = f"must be at most {SET_CARDS} territories of seat {p.game.turn} with room"
        yield f"bonus {_names(bonus, p.board)}: {needs}, and their cards must be on the discard pile"


def _turn(p: Position) -> Reasons:
    """Check the facts about this turn, and the pending moves and troops (RULES 3; docs/decisions.md)."""
    game, own, held = p.game, p.own, p.game.held_at_start
    if held - own:
        lost = _names(held - own, p.board)
        yield f"held_at_start {lost}: seat {game.turn} no longer holds these territories"
    elif not p.is_setup and game.captured == (held == own):
        more = f"{len(own - held)} territories more than at the turn's start"
        yield f"captured {game.captured}, but seat {game.turn} holds {more}"
    if (game.captured or p.phase in DICE_PHASES) and game.battles == 0:
        yield "battles 0: dice were rolled this turn, so battles must be at least 1"
    if p.phase in (Phase.BONUS, Phase.DRAFT, Phase.DRAFT_AMOUNT) and game.draft_left == 0:
        yield f"draft_left 0 in phase {p.phase.name}: must be at least 1"
    if p.phase in types.FORTIFY_PHASES and not 1 <= game.moves_left <= most_moves(p):
        yield f"moves_left {game.moves_left} in phase {p.phase.name}: must be from 1 to {most_moves(p)}"
    maneuver = p.phase in types.FORTIFY_PHASES and game.reward_owner[Reward.STARTING_MANEUVER] == game.turn
    if p.phase in AFTER_ATTACKS and not (game.attacks_over or maneuver or p.phase == Phase.OVER):
        yield f"attacks_over {game.attacks_over} in phase {p.phase.name}: must be 1"


def _occupation(p: Position) -> Reasons:
    """Check that troops can follow into a territory captured this turn (RULES 3.2.5)."""
    source, target = p.game.source, p.game.target
    if p.phase != Phase.OCCUPY or NOWHERE in (source, target):
        return
    way = f"{p.board.territories[source]} > {p.board.territories[target]}"
    if not p.game.captured or target not in p.board.targets(source):
        yield f"phase OCCUPY: {p.board.territories[target]} was not captured this turn along {way}"
    if not {source, target} <= p.own or p.game.troops[source] < 2 or not p.room([target]):
        yield f"phase OCCUPY: seat {p.game.turn} cannot move troops along {way}"


def _dice(p: Position) -> Reasons:
    """Check the last roll (RULES 3.2.2, 9.8, 10.4-10.6).

    In REROLL and COMMANDER, the dice must also agree with the choices of both sides.
    """
    game, hand, sides = p.game, p.game.hand[p.game.turn], ("attacker", "defender")
    for field in ("rolled", "settled"):
        for whose, dice in zip(sides, getattr(game, field), strict=True):
            if 0 in dice[: sum(face > 0 for face in dice)]:
                yield f"the {whose}'s {field} dice {dice}: a 0 (no die) must not precede a face"
    if p.phase not in DICE_PHASES or NOWHERE in (game.source, game.target):
        return
    rewards = (game.reward_owner[Reward.ATTACK_DIE], game.reward_owner[Reward.DEFENSE_DIE])
    for side, owner in enumerate((game.turn, game.owner[game.target])):
        count = sum(face > 0 for face in game.rolled[side])
        due = game.chosen_dice[side] + (rewards[side] == owner)
        if count != due:
            yield f"the {sides[side]} rolled {count} dice, but must roll {due}"
        if game.settled[side] != kept_dice(p, side):
            yield f"the {sides[side]}'s settled dice {game.settled[side]}: must be {kept_dice(p, side)}"
    if p.phase == Phase.REROLL and not hand & {game.source, game.target}:
        yield f"phase REROLL: seat {game.turn} holds neither the source's card nor the target's card"


def _missions(p: Position) -> Reasons:
    """Check that the seats have different missions, all of which the rules deal (RULES 8.1)."""
    dealt = [number for number, mission in enumerate(p.board.missions) if is_dealt(mission, p.rules)]
    given = p.game.mission[: len(p.seats)] if p.rules.victory == "mission" else []
    if len(set(given)) < len(given):
        yield f"mission {given}: two seats have the same mission"
    for seat, mission in enumerate(given):
        if mission not in dealt:
            yield f"mission {mission} of seat {seat}: the rules deal missions {', '.join(map(str, dealt))}"


def _chosen_places(p: Position) -> Reasons:
    """Check that headquarters and capitals are chosen in the order of play (RULES 7.1, 9.3).

    Each seat has a different territory, which belongs to the seat in set-up.
    """
    uses = {"headquarters": p.rules.victory == "headquarters", "capital": p.rules.capitals}
    for field, phase in (("headquarters", Phase.HEADQUARTERS), ("capital", Phase.CAPITAL)):
        places = getattr(p.game, field)[: len(p.seats)]
        chosen = [place for place in places if place != NOWHERE]
        if len(set(chosen)) < len(chosen):
            yield f"{field} at {_names(chosen, p.board)}: two seats have the same territory"
        for seat, place in enumerate(places):
            before = (seat - p.game.starter) % len(p.seats) < (p.game.turn - p.game.starter) % len(p.seats)
            due = before if p.phase == phase else phase == Phase.CAPITAL or not p.is_setup
            if uses[field] and (place != NOWHERE) != due:
                yield f"{field} of seat {seat}: {'missing' if due else 'cannot be chosen yet'}"
            if place != NOWHERE and p.is_setup and (owner := p.game.owner[place]) != seat:
                holder = f"{p.board.territories[place]} belongs to {p.army(owner)}"
                yield f"{field} of seat {seat}: {holder} in the set-up"


def _layout(p: Position) -> Reasons:
    """Check that the numbers of cities and Objectives in play agree with the rules (RULES 9.1, 9.3)."""
    goals = [held for held in p.game.objective if held != Held.NOT_IN_PLAY]
    fixed_goals = [goal for goal in p.board.objectives if goal.basic_training]
    cities = {"fixed": len(p.board.basic_training_cities), "random": p.board.random_cities, None: 0}
    objectives = {"fixed": len(fixed_goals), "random": 2 * LAID_OUT_OBJECTIVES, None: 0}
    pairs = {
        "city": (p.game.city, cities[p.rules.cities]),
        "objective": (goals, objectives[p.rules.objectives]),
    }
    for field, (laid, due) in pairs.items():
        if len(laid) != due:
            yield f"{field}: {len(laid)} in play, but there must be {due}"


def _rewards(p: Position) -> Reasons:
    """Check that each Reward lies on at most one Objective and has a possible owner (RULES 3.3.3, 9.8).

    The owner is the seat that holds the Objective, or nobody.
    """
    given = [reward for reward in p.game.objective_reward if reward != NO_REWARD]
    if len(set(given)) < len(given):
        yield f"objective_reward {p.game.objective_reward}: a Reward lies on two Objectives"
    holder = dict(zip(p.game.objective_reward, p.game.objective, strict=True))
    for reward, owner in enumerate(p.game.reward_owner):
        if owner not in (NOBODY, holder.get(reward)):
            problem = f"seat {owner} does not hold the Objective of the Reward"
            yield f"reward {Reward(reward).name} of seat {owner}: {problem}"


def _airfields(p: Position) -> Reasons:
    """Check the airfields (RULES 9.8).

    While a seat owns the Reward of an airfield, the airfield stands on a territory of this seat. In phase
    AIRFIELD, however, the seat whose turn it is must still place exactly one airfield.
    """
    owners = [p.game.reward_owner[reward] for reward in AIRFIELDS]
    for place, owner, reward in zip(p.game.airfield, owners, AIRFIELDS, strict=True):
        if place != NOWHERE and (owner == NOBODY or p.game.owner[place] != owner):
            yield (
                f"airfield on {p.board.territories[place]}: not on a territory of the owner of {reward.name}"
            )
        if place == NOWHERE and owner not in (NOBODY, p.game.turn):
            yield f"reward {reward.name} of seat {owner}: the airfield stands on no territory"
    unplaced = sum(place == NOWHERE != owner for place, owner in zip(p.game.airfield, owners, strict=True))
    if unplaced != (p.phase == Phase.AIRFIELD):
        needed = int(p.phase == Phase.AIRFIELD)
        yield f"{unplaced} airfields to be placed in phase {p.phase.name}, but there must be {needed}"
    if owners[0] == owners[1] and p.game.airfield[0] == p.game.airfield[1] != NOWHERE:
        yield f"airfield: both airfields of one owner stand on {p.board.territories[p.game.airfield[0]]}"


_SENSE = (
    *(_phase, _territories, _seats, _the_end, _setup, _claims, _cards, _trade, _turn, _occupation, _dice),
    *(_missions, _chosen_places, _layout, _rewards, _airfields),
)


# ------------------------------------------------------------------------------------ 3. decision


def derive_facts(p: Position) -> None:
    """Write the derived fields that do not depend on the decision."""
    game = p.games.view(_plain_dtype(p.games.dtype))[0]
    words = len(game["strong"])
    is_owned = np.zeros((len(game["owned"]), 64 * words), np.bool_)
    owners = np.array(p.game.owner[: len(p.places)])
    is_owned[p.armies, : len(p.places)] = owners == np.array(p.armies)[:, None]
    game["owned"] = np.packbits(is_owned, axis=1, bitorder="little").view("<u8")
    game["strong"] = words_of((t for t in p.places if p.game.troops[t] > 1), words)
    places = set(p.game.headquarters) - {NOWHERE}
    game["deck"] = words_of(p.empty.deck.difference(places, p.game.discard, *p.game.hand), words)
    game["deck_wilds"] = p.empty.deck_wilds - p.game.discard_wilds - sum(p.game.wilds)
    game["headquarters_open"] = len(places) == len(p.seats)
    game["trade"] = due_trade(p)
    game["seat"] = NOBODY if p.phase == Phase.OVER else p.game.turn
    game["reach"] = 0


def _choices(p: Position) -> list[tuple[Phase, int]]:
    """Return the phase and the action of each earlier choice in the current move."""
    game, way, numbers = p.game, (p.game.source, p.game.target), p.tables.rules[0]
    if p.phase == Phase.TRADE:
        cards = [*sorted(game.picked), *[len(p.places)] * game.picked_wilds]
        return [(Phase.TRADE, int(numbers.card_0) + card) for card in cards]
    if p.phase == Phase.DRAFT_AMOUNT:
        return [(Phase.DRAFT, game.target)]
    if p.phase in types.FORTIFY_PHASES:
        return [(Phase.FORTIFY_FROM, game.source), (Phase.FORTIFY_TO, game.target)][
            : p.phase - Phase.FORTIFY_FROM
        ]
    if p.phase not in BATTLE_PHASES:
        return []
    border = int(numbers.border_0) + p.board.borders.index(way) if way in p.board.borders else -1
    is_blitz = game.blitz and game.troops[game.source] > types.BLITZ - 1
    first, (attack, defence) = int(numbers.dice_0) - 1, game.chosen_dice
    dice = [
        (Phase.ATTACK_DICE, first + (types.BLITZ + 1 if is_blitz else attack)),
        (Phase.DEFEND, first + defence),
    ]
    return [(Phase.ATTACK, border), *dice][: p.phase - Phase.ATTACK]


def _choose_again(p: Position) -> Reasons:
    """Play from the first decision of the move to the current decision.

    Copy the fields that the kernels derive during these decisions into the record. Yield a reason if a
    decision or an action is impossible.
    """
    choices, board, rules = _choices(p), p.tables.board, p.tables.rules
    if not choices:
        return
    scratch = np.frombuffer(bytearray(p.games.tobytes()), p.games.dtype)
    first = scratch.view(_plain_dtype(scratch.dtype))
    for field in ("source", "target", "picked", "picked_wilds", "blitz", "move_begun"):
        first[field] = getattr(rules[0].empty, field)
    scratch["phase"] = choices[0][0]
    scratch["battles"] -= p.phase in DICE_PHASES
    entry.write_legal_actions(scratch, 0, board, rules)
    for phase, action in choices:
        if scratch["phase"][0] != phase:
            continue  # the rules, or the choices so far, leave no such decision
        if action not in members(scratch[0].legal):
            yield _no_way(p, phase)
            return
        entry.apply_action(scratch, 0, board, rules, action)
    chosen = scratch[0].chosen_dice.tolist()
    if (
        scratch["phase"][0] != (Phase.ROLL if p.phase in DICE_PHASES else p.phase)
        or chosen != p.game.chosen_dice
    ):
        yield _no_way(p, choices[-1][0])
    p.games["seat"], p.games["reach"] = scratch["seat"], scratch["reach"]


def _nothing_legal(p: Position) -> Reasons:
    """Write the legal actions of the decision. Yield a reason if no action is legal.

    Also yield a reason if no card is legal in TRADE, or no die in COMMANDER.
    """
    entry.write_legal_actions(p.games, 0, p.tables.board, p.tables.rules)
    legal, done = members(p.games[0].legal), [int(p.tables.rules[0].done)]
    if not legal and p.phase not in (Phase.OVER, Phase.ROLL, Phase.DRAW):
        yield f"phase {p.phase.name}: no action is legal"
    missing = {Phase.TRADE: f"seat {p.game.turn} holds no set", Phase.COMMANDER: "no die shows less than 6"}
    if legal == done and p.phase in missing and not (p.game.picked or p.game.picked_wilds):
        yield f"phase {p.phase.name}: {missing[p.phase]}"


def _no_way(p: Position, phase: Phase) -> str:
    """Return the message for a decision that cannot follow from the choices in the record."""
    way = " > ".join(
        p.board.territories[place] for place in (p.game.source, p.game.target) if place != NOWHERE
    )
    picked = f"picked {_names(p.game.picked, p.board)} and {p.game.picked_wilds} wild cards"
    chosen = picked if p.phase == Phase.TRADE else f"{way}, chosen_dice {p.game.chosen_dice}"
    return f"phase {p.phase.name}: {chosen}: this choice is not legal in {phase.name}"
