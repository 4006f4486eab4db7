"""The public facts of a game (RULES 2.4, 7.1, 8.1), as an immutable object with a JSON form.

Agents, programs, pictures and browser games read a `PublicState`. Only this module makes a `PublicState` from
a game's record. A `PublicState` contains no hidden cards, no missions, no secret headquarters, and no facts
that depend on these. Only the deciding seat sees the cards that it picks, and a decision that it has only
because of its hand (`seen_by`).
"""

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from risk_env.arrays import Ints
from risk_env.board.tables import Tables
from risk_env.core import entry
from risk_env.core.cards import set_troops_due
from risk_env.core.combat import ATTACKER
from risk_env.core.types import DICE_PHASES, NOBODY, NOWHERE, Deck, Phase, SizeClass, game_dtype
from risk_env.messages import shortened

SCHEMA = 1
PHASES = tuple(Phase)  # by number; much faster than Phase(number)
ROLLED_PHASES = (*DICE_PHASES, Phase.OCCUPY)  # phases in which the dice of the last roll are shown

SECRET_PHASES = (Phase.TRADE, Phase.REROLL)  # phases that depend on the cards in a hand
# phases in which other seats may see a different decision (`seen_by`)
_SECRET = frozenset(map(int, (*SECRET_PHASES, Phase.DRAFT)))

_EMPTY: Any = ()  # default value of arrays
# the kernel of the rules as a plain Python function
_set_troops_due = getattr(set_troops_due, "py_func", set_troops_due)


@dataclass(frozen=True, eq=False)
class PublicState:
    """The public facts of a position with T territories and P players.

    Arrays are read-only. Seats are 0 ... P - 1, P stands for the neutral army, and -1 stands for nobody or
    nowhere. Only the first three fields are required.
    """

    owner: Ints  # (T,) owner of each territory: a seat, P for the neutral army, -1 for nobody
    troops: Ints  # (T,) number of troops on each territory
    num_players: int  # P

    phase: Phase = Phase.OVER  # phase that the seat or the spectator may see (docs/public.md)
    seat: int = NOBODY  # seat to act, -1 when the game is over
    turn: int = NOBODY  # seat whose turn it is
    round: int = 0  # 0 in set-up, then from 1
    starter: int = NOBODY
    alive: npt.NDArray[np.bool_] = _EMPTY  # (P,) false for eliminated seats; empty if all seats are alive
    winner: int = NOBODY
    truncated: bool = False  # true if `max_rounds` ended the game (RULES 11.2)

    hand_sizes: Ints = _EMPTY  # (P,) number of cards in each hand, or empty if unknown
    sets_traded: int = 0  # number of sets that all players have traded
    next_set: int = 0  # number of troops for the next set (RULES 5.2), only with the symbol deck
    deck: int = 0  # number of cards in the deck
    discard: tuple[int, ...] = ()  # territories of the cards on the discard pile
    discard_wilds: int = 0
    shown: tuple[int, ...] = ()  # territories whose cards a re-roll has shown (RULES 10.4)
    shown_hands: tuple[int, ...] = ()  # seat that holds each shown card, -1 for the discard pile
    picked: tuple[int, ...] = ()  # territories of the cards picked for a set; only for the seat that picks
    picked_wilds: int = 0

    to_place: tuple[int, ...] = ()  # set-up troops not yet placed: (P,), or (P + 1,) with a neutral army
    draft_left: int = 0  # troops still to be placed in this draft
    source: int = NOWHERE  # attacking territory, or territory that troops leave
    target: int = NOWHERE  # territory attacked, moved to or drafted to
    chosen_dice: int = 0  # number of dice that the attacker declared last
    # in ROLLED_PHASES: the attacker's and the defender's dice of the last roll, highest first
    dice: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    captured: bool = False  # true if a territory was captured this turn
    battles: int = 0  # number of rolls made this turn
    moves_left: int = 0  # number of fortify moves left

    cities: tuple[int, ...] = ()  # territories with a city
    airfields: tuple[int, ...] = ()  # territories with an airfield
    capitals: Ints = _EMPTY  # (P,) territory of each seat's capital, or -1
    headquarters: Ints = _EMPTY  # (P,) territory of each seat's headquarters, -1 if not public (RULES 7.1)
    objectives: Ints = _EMPTY  # (12,) seat that holds each Objective; -1: face up; -2: not in play
    objective_rewards: tuple[int, ...] = ()  # (12,) Reward that belongs to each Objective, or -1
    rewards: tuple[int, ...] = ()  # (8,) seat that owns each Reward, or -1

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = np.array(getattr(self, name), np.bool_ if name == "alive" else np.int64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, PublicState) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # not hashable, like arrays

    def to_json(self) -> dict[str, Any]:
        """Return a dict for `json.dumps`: "schema" and all fields. The phase is given by its name."""
        lists = {name: list(getattr(self, name)) for name in _TUPLES}
        lists |= {name: getattr(self, name).tolist() for name in _ARRAYS} | {
            "dice": list(map(list, self.dice))
        }
        return {"schema": SCHEMA, **vars(self), **lists, "phase": self.phase.name}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """Return the state from a dict that `to_json` returned.

        Raises ValueError if the dict has another schema, other fields or an unknown phase.
        """
        if facts.get("schema") != SCHEMA:
            raise ValueError(
                f"schema={shortened(facts.get('schema'))} of a public state: this version reads {SCHEMA}"
            )
        if wrong := {"schema", *_NAMES} ^ set(facts):
            raise ValueError(
                f"a public state has the fields {', '.join(_NAMES)}; missing or unknown: "
                f"{shortened(sorted(wrong, key=str))}"
            )
        if facts["phase"] not in Phase.__members__:
            raise ValueError(
                f"phase={shortened(facts['phase'])}: choose one of {', '.join(Phase.__members__)}"
            )
        return cls._of_facts(facts)

    @classmethod
    def _of_facts(cls, facts: Mapping[str, Any]) -> Self:
        values: dict[str, Any] = {name: facts[name] for name in _NAMES}
        values |= {name: tuple(values[name]) for name in _TUPLES}
        return cls(**values | {"phase": Phase[facts["phase"]], "dice": tuple(map(tuple, facts["dice"]))})


_NAMES = tuple(field.name for field in fields(PublicState))
_ARRAYS = ("owner", "troops", "alive", "hand_sizes", "capitals", "headquarters", "objectives")
_TUPLES = tuple(field.name for field in fields(PublicState) if field.type == tuple[int, ...])
_SAME = (  # fields of a record that `_reader` reads under the same name
    *(
        "owner",
        "troops",
        "phase",
        "seat",
        "turn",
        "starter",
        "winner",
        "truncated",
        "wilds",
        "hand",
        "sets_traded",
    ),
    *(
        "deck",
        "deck_wilds",
        "discard",
        "discard_wilds",
        "shown",
        "picked",
        "picked_wilds",
        "to_place",
        "draft_left",
    ),
    *(
        "source",
        "target",
        "chosen_dice",
        "captured",
        "battles",
        "moves_left",
        "headquarters",
        "headquarters_open",
    ),
)
_READ = dict(zip(_SAME, _SAME, strict=True)) | {
    "round_number": "round",
    "death": "alive",
    "city": "cities",
    "airfield": "airfields",
    "capital": "capitals",
    "objective": "objectives",
    "objective_reward": "objective_rewards",
    "reward_owner": "rewards",
}
# codes of `struct`, by NumPy's types
_CODES = {"u8": "Q", "i4": "i", "i2": "h", "u1": "B", "i1": "b", "b1": "?"}
# positions of the set bits of each byte value
_PLACES = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]
_ORDER: dict[str, Any] = dict.fromkeys(("schema", *_NAMES))  # order of public facts


def seen_by(games: Any, tables: Tables, seat: int = NOBODY) -> Any:
    """Return a game, an array of one record, with the decision that `seat` sees (NOBODY: a spectator).

    If another seat has a decision only because of its hand, the result is a copy that hides the decision. The
    copy shows no optional trade, and before a re-roll it shows no dice (`core.hidden.hide_decision`).
    """
    if games["phase"].item() not in _SECRET or games["seat"].item() == seat:
        return games
    seen = np.frombuffer(bytearray(games.tobytes()), games.dtype)  # much faster than copying records
    entry.hide_decision(seen, 0, tables.board, tables.rules, seat)
    return seen


def public_state(games: Any, tables: Tables, seat: int = NOBODY) -> PublicState:
    """Return the public facts of a game, an array of one record, with the decision that `seat` sees."""
    return PublicState._of_facts(public_facts(games, tables, seat))


def public_facts(games: Any, tables: Tables, seat: int = NOBODY) -> dict[str, Any]:
    """Return `public_state(games, tables, seat).to_json()`, much faster because no arrays are made."""
    games = seen_by(games, tables, seat)
    rules, territories = tables.rules, tables.board["num_territories"].item()
    players, armies = rules["num_players"].item(), rules["num_armies"].item()
    game = _reader(tables.sizes, territories, players, armies)(games)
    phase, shown = PHASES[game["phase"]], members_of(game["shown"])
    facts = _ORDER | game
    facts |= {
        "schema": SCHEMA,
        "num_players": players,
        "phase": phase.name,
        "alive": [died == 0 for died in game["alive"]],
        "hand_sizes": [_size(hand) + wilds for hand, wilds in zip(game["hand"], game["wilds"], strict=True)],
        "next_set": (
            troops_for_set(rules["set_values"].item(), game["sets_traded"] + 1)
            if rules["deck"].item() == Deck.SYMBOL
            else 0
        ),
        "deck": _size(game["deck"]) + game["deck_wilds"],
        "discard": members_of(game["discard"]),
        "shown": shown,
        "shown_hands": [_holder(game["hand"], card) for card in shown],
        "picked": members_of(game["picked"]),
        "chosen_dice": game["chosen_dice"][ATTACKER],
        "dice": list(map(list, dice_of(games["settled"][0]))) if phase in ROLLED_PHASES else [[], []],
        "cities": members_of(game["cities"]),
        "airfields": [place for place in game["airfields"] if place != NOWHERE],
        "headquarters": game["headquarters"] if game["headquarters_open"] else [NOWHERE] * players,
    }
    del facts["hand"], facts["wilds"], facts["deck_wilds"], facts["headquarters_open"]
    return facts


@lru_cache(maxsize=1024)
def _reader(
    sizes: SizeClass, num_territories: int, num_players: int, num_armies: int
) -> Callable[[Any], dict[str, Any]]:
    """Return a function that reads one record (a structured array of length 1) in one `struct` call.

    One call is much faster than reading field by field. The function returns a dict of values: numbers, lists
    of the lengths that the map and the rules need, and the bytes of bitsets.
    """
    lengths = dict.fromkeys(("owner", "troops"), num_territories) | {"to_place": num_armies}
    lengths |= dict.fromkeys(("hand", "wilds", "headquarters", "capital", "death"), num_players)
    form, places, read = "=", dict[str, int | slice](), 0
    fields: Any = game_dtype(sizes).fields
    for name, (field, _) in fields.items():
        is_set, shape = field.base == np.uint64 and field.ndim > 0, field.shape
        code, shape = (f"{8 * shape[-1]}s", shape[:-1]) if is_set else (_CODES[field.base.str[1:]], shape)
        whole = math.prod(shape)
        count = lengths.get(name, whole) if name in _READ else 0
        form += code * count + "x" * (whole - count) * struct.calcsize(f"={code}")
        places[name] = slice(read, read + count) if shape else read
        read += count
    unpack, pick = struct.Struct(form).unpack, itemgetter(*(places[name] for name in _READ))
    return lambda games: dict(zip(_READ.values(), pick(list(unpack(games.tobytes()))), strict=True))


@lru_cache(maxsize=1024)
def troops_for_set(set_values: int, number: int) -> int:
    """Return the number of troops for set number `number`, from 1, with the symbol deck (RULES 5.2)."""
    rules = SimpleNamespace(set_values=set_values)  # the only option that the function reads
    return int(_set_troops_due(rules, number))


def hand_of(games: Any, seat: int, tables: Tables) -> list[int]:
    """Return the cards of a seat, from an array of one record.

    Territory cards are ascending. Each wild card has the number `num_territories`.
    """
    wild = tables.board["num_territories"].item()
    return members(games["hand"][0, seat]) + [wild] * games["wilds"].item(0, seat)


def _holder(hands: Sequence[bytes], card: int) -> int:
    """Return the seat that holds a territory's card, or -1 if the card is on the discard pile."""
    return next((seat for seat, hand in enumerate(hands) if card in members_of(hand)), NOBODY)


def dice_of(dice: npt.NDArray[np.int8]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the attacker's and the defender's dice of an array (2, 4), without the empty places (0)."""
    attacker, defender = (tuple(face for face in side if face) for side in dice.tolist())
    return attacker, defender


def _size(elements: bytes) -> int:
    """Return the number of elements of a bitset, given as bytes."""
    return int.from_bytes(elements).bit_count()


def members(words: npt.NDArray[np.uint64]) -> list[int]:
    """Return the elements of a bitset, ascending."""
    return members_of(words.tobytes())


def members_of(elements: bytes) -> list[int]:
    """Return the elements of a bitset, given as bytes, ascending."""
    if not any(elements):
        return []
    return [8 * place + bit for place, byte in enumerate(elements) if byte for bit in _PLACES[byte]]


def words_of(elements: Iterable[int], words: int) -> npt.NDArray[np.uint64]:
    """Return the numbers in `elements` as a bitset, uint64 (words,)."""
    flags = np.zeros(64 * words, np.bool_)
    flags[list(elements)] = True
    return np.packbits(flags, bitorder="little").view("<u8")
