"""What all at the table may see of a game (RULES 2.4, 7.1, 8.1), as one frozen value with a JSON form.

Agents, programs, pictures and pages read a `PublicState`; only here is one made from a game's record. Cards in hands,
missions and headquarters that are not open yet are not in it, nor anything that depends on them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from risk_env.arrays import Ints
from risk_env.board.tables import Tables
from risk_env.core.cards import set_troops_due
from risk_env.core.combat import ATTACKER
from risk_env.core.types import DICE_PHASES, NOBODY, NOWHERE, Deck, Phase

SCHEMA = 1
ROLLED_PHASES = (*DICE_PHASES, Phase.OCCUPY)  # those in which the dice lie on the table

_EMPTY: Any = ()  # an array that is not given
_set_troops_due = getattr(set_troops_due, "py_func", set_troops_due)  # the rules' own function, called from Python


@dataclass(frozen=True, eq=False)
class PublicState:
    """A public position of T territories and P players. Arrays are read-only; -1 is nobody or nowhere.

    Seats are 0 ... P - 1; P owns the territories of the neutral army. Only the first three fields must be given.
    """

    owner: Ints  # (T,) seat, -1 free
    troops: Ints  # (T,)
    num_players: int

    phase: Phase = Phase.OVER  # what is asked (docs/decisions.md)
    seat: int = NOBODY  # who is asked, -1 when the game is over
    turn: int = NOBODY  # whose turn it is
    round: int = 0  # 0 in set-up, then from 1
    starter: int = NOBODY
    alive: npt.NDArray[np.bool_] = _EMPTY  # (P,), or empty: all are
    winner: int = NOBODY
    truncated: bool = False  # whether the game ended by `max_rounds` (RULES 11.2)

    hand_sizes: Ints = _EMPTY  # (P,) number of cards, or empty: not shown
    sets_traded: int = 0  # by all players
    next_set: int = 0  # troops for the next set (RULES 5.2), 0 with the star deck
    deck: int = 0  # number of cards in it
    discard: tuple[int, ...] = ()  # territories of the cards on the discard pile
    discard_wilds: int = 0
    shown: tuple[int, ...] = ()  # territories whose cards a re-roll has shown (RULES 10.4)
    shown_hands: tuple[int, ...] = ()  # seat that holds each of these cards, -1 for the discard pile
    picked: tuple[int, ...] = ()  # territories of the cards laid out for a set
    picked_wilds: int = 0

    to_place: tuple[int, ...] = ()  # (P,), or (P + 1,) with a neutral army: set-up troops not yet placed
    draft_left: int = 0  # troops still to be placed in this draft
    source: int = NOWHERE  # territory that attacks, or that troops leave
    target: int = NOWHERE  # territory attacked, moved to or drafted to
    chosen_dice: int = 0  # that the attacker declared last
    dice: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # attacker's and defender's on the table, highest first
    captured: bool = False  # whether a territory fell this turn
    battles: int = 0  # rolls made this turn
    moves_left: int = 0  # fortify moves

    cities: tuple[int, ...] = ()  # territories
    airfields: tuple[int, ...] = ()  # territories
    capitals: Ints = _EMPTY  # (P,) territory
    headquarters: Ints = _EMPTY  # (P,) territory, -1 while it is not public (RULES 7.1)
    objectives: Ints = _EMPTY  # (12,) seat that holds each, -1 face up, -2 not in play
    objective_rewards: tuple[int, ...] = ()  # (12,) Reward that came with each Objective
    rewards: tuple[int, ...] = ()  # (8,) seat that owns each Reward

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = np.array(getattr(self, name), np.bool_ if name == "alive" else np.int64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, PublicState) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as arrays

    def to_json(self) -> dict[str, Any]:
        """A dict for `json.dumps`: the schema and the fields by name, the phase by its name."""
        return _as_json(vars(self) | {name: getattr(self, name).tolist() for name in _ARRAYS})

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """The state of a dict of `to_json`; ValueError if it is of another schema or has other fields."""
        if facts.get("schema") != SCHEMA:
            raise ValueError(f"schema={facts.get('schema')!r} of a public state: this version reads {SCHEMA}")
        if wrong := {"schema", *_NAMES} ^ set(facts):
            raise ValueError(f"a public state has the fields {', '.join(_NAMES)}; missing or unknown: {sorted(wrong)}")
        if facts["phase"] not in Phase.__members__:
            raise ValueError(f"phase={facts['phase']!r} must be one of {', '.join(Phase.__members__)}")
        values: dict[str, Any] = {name: facts[name] for name in _NAMES}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        attacker, defender = facts["dice"]
        return cls(**values | {"phase": Phase[facts["phase"]], "dice": (tuple(attacker), tuple(defender))})


_NAMES = tuple(field.name for field in fields(PublicState))
_ARRAYS = ("owner", "troops", "alive", "hand_sizes", "capitals", "headquarters", "objectives")
_TUPLES = (
    *("discard", "shown", "shown_hands", "picked", "to_place", "cities", "airfields"),
    *("objective_rewards", "rewards"),
)
_PLACES = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]  # of the bits in each byte


def fields_of(games: Any) -> dict[str, Any]:
    """The fields of a record, an array of one, by name: numbers as Python's, arrays read-only copies.

    All at once is far quicker than one by one.
    """
    return dict(zip(games.dtype.names, np.frombuffer(games.tobytes(), games.dtype).item(), strict=True))


def public_state(games: Any, tables: Tables) -> PublicState:
    """The public facts of a game, an array of one record (`core.types.game_dtype`)."""
    return PublicState(**_public_values(games, tables))


def public_facts(games: Any, tables: Tables) -> dict[str, Any]:
    """What `public_state(games, tables).to_json()` is, without arrays on the way: in a fraction of the time."""
    return _as_json(_public_values(games, tables))


def _public_values(games: Any, tables: Tables) -> dict[str, Any]:
    """The fields of the public state in their order, as plain values: lists for arrays."""
    rules, territories = tables.rules, tables.board["num_territories"].item()
    players, armies = rules["num_players"].item(), rules["num_armies"].item()
    game = fields_of(games)
    phase, shown = Phase(game["phase"]), tuple(members(game["shown"]))
    sizes = map(_size, game["hand"][:players])
    values = game | {
        "owner": game["owner"][:territories].tolist(),
        "troops": game["troops"][:territories].tolist(),
        "num_players": players,
        "phase": phase,
        "round": game["round_number"],
        "alive": [died == 0 for died in game["death"][:players].tolist()],
        "hand_sizes": [size + wilds for size, wilds in zip(sizes, game["wilds"].tolist(), strict=False)],
        "next_set": _next_set(rules["deck"].item(), rules["set_values"].item(), game["sets_traded"]),
        "deck": _size(game["deck"]) + game["deck_wilds"],
        "discard": tuple(members(game["discard"])),
        "shown": shown,
        "shown_hands": tuple(_holder(game["hand"], card) for card in shown),
        "picked": tuple(members(game["picked"])),
        "to_place": tuple(game["to_place"][:armies].tolist()),
        "chosen_dice": int(game["chosen_dice"][ATTACKER]),
        "dice": dice_of(game["settled"]) if phase in ROLLED_PHASES else ((), ()),
        "cities": tuple(members(game["city"])),
        "airfields": tuple(place for place in game["airfield"].tolist() if place != NOWHERE),
        "capitals": game["capital"][:players].tolist(),
        "headquarters": game["headquarters"][:players].tolist() if game["headquarters_open"] else [NOWHERE] * players,
        "objectives": game["objective"].tolist(),
        "objective_rewards": tuple(game["objective_reward"].tolist()),
        "rewards": tuple(game["reward_owner"].tolist()),
    }
    return {name: values[name] for name in _NAMES}


def _as_json(values: dict[str, Any]) -> dict[str, Any]:
    """The JSON form of the fields of a state, arrays as lists."""
    lists = {name: list(values[name]) for name in _TUPLES}
    dice = [list(side) for side in values["dice"]]
    return {"schema": SCHEMA, **values, **lists, "phase": values["phase"].name, "dice": dice}


@lru_cache(maxsize=1024)
def _next_set(deck: int, set_values: int, sets_traded: int) -> int:
    """Troops for the next set (RULES 5.2), 0 with the star deck."""
    rules = SimpleNamespace(set_values=set_values)  # all that the rules' function reads
    return int(_set_troops_due(rules, sets_traded + 1)) if deck == Deck.SYMBOL else 0


def most_troops(state: PublicState, max_troops: int | None) -> int:
    """How many troops can be placed or moved where an amount is asked for (docs/decisions.md)."""
    most = state.draft_left if state.phase == Phase.DRAFT_AMOUNT else int(state.troops[state.source]) - 1
    return most if max_troops is None else min(most, max_troops - int(state.troops[state.target]))


def _holder(hands: npt.NDArray[np.uint64], card: int) -> int:
    """The seat that holds a territory's card, -1 where it lies on the discard pile."""
    return next((seat for seat, hand in enumerate(hands) if card in members(hand)), NOBODY)


def dice_of(dice: npt.NDArray[np.int8]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The faces of both sides of a (2, 4) array of dice, without the places that are empty (0)."""
    attacker, defender = (tuple(face for face in side if face) for side in dice.tolist())
    return attacker, defender


def _size(words: npt.NDArray[np.uint64]) -> int:
    """How many elements a set of bit words has."""
    return int.from_bytes(words.tobytes()).bit_count()


def members(words: npt.NDArray[np.uint64]) -> list[int]:
    """The elements of a set of bit words, ascending."""
    return [8 * place + bit for place, byte in enumerate(words.tobytes()) if byte for bit in _PLACES[byte]]


def words_of(elements: Iterable[int], words: int) -> npt.NDArray[np.uint64]:
    """A set as bit words, uint64 (words,)."""
    flags = np.zeros(64 * words, np.bool_)
    flags[list(elements)] = True
    return np.packbits(flags, bitorder="little").view("<u8")
