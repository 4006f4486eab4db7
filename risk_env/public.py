"""What all at the table may see of a game (RULES 2.4, 7.1, 8.1), as one frozen value with a JSON form.

Agents, programs, pictures and pages read a `PublicState`; only here is one made from a game's record. Cards in hands,
missions and headquarters that are not open yet are not in it, nor anything that depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.board.tables import Tables
from risk_env.core.cards import set_troops_due
from risk_env.core.combat import ATTACKER
from risk_env.core.types import NOBODY, NOWHERE, Deck, Phase

SCHEMA = 1
BATTLE_PHASES = (Phase.ATTACK_DICE, Phase.DEFEND, Phase.REROLL, Phase.COMMANDER, Phase.OCCUPY)
ROLLED_PHASES = (Phase.REROLL, Phase.COMMANDER, Phase.OCCUPY)  # those in which the dice lie on the table

Ints = npt.NDArray[np.int64]
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
    dice: tuple[tuple[int, ...], ...] = ()  # the attacker's and the defender's on the table, highest first
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
        """A dict of plain values for `json.dumps`: the fields by name, the phase by its name, and the schema."""
        values = {name: getattr(self, name) for name in _NAMES}
        values |= {name: values[name].tolist() for name in _ARRAYS}
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        dice = [list(side) for side in self.dice]
        return {"schema": SCHEMA, **values, **lists, "phase": self.phase.name, "dice": dice}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> PublicState:
        """The state of a dict of `to_json`; ValueError if it is of another schema or has other fields."""
        if facts.get("schema") != SCHEMA:
            raise ValueError(f"schema={facts.get('schema')!r} of a public state: this version reads {SCHEMA}")
        if wrong := {"schema", *_NAMES} ^ set(facts):
            raise ValueError(f"a public state has the fields {', '.join(_NAMES)}; missing or unknown: {sorted(wrong)}")
        if facts["phase"] not in Phase.__members__:
            raise ValueError(f"phase={facts['phase']!r} must be one of {', '.join(Phase.__members__)}")
        values: dict[str, Any] = {name: facts[name] for name in _NAMES}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        dice = tuple(tuple(side) for side in facts["dice"])
        return cls(**values | {"phase": Phase[facts["phase"]], "dice": dice})


_NAMES = tuple(field.name for field in fields(PublicState))
_ARRAYS = ("owner", "troops", "alive", "hand_sizes", "capitals", "headquarters", "objectives")


def public_state(record: Any, tables: Tables) -> PublicState:
    """The public facts of a game record (`core.types.game_dtype`)."""
    rules, territories = tables.rules[0], int(tables.board[0].num_territories)
    players, phase = int(rules.num_players), Phase(int(record.phase))
    return PublicState(
        owner=record.owner[:territories],
        troops=record.troops[:territories],
        num_players=players,
        phase=phase,
        seat=int(record.seat),
        turn=int(record.turn),
        round=int(record.round_number),
        starter=int(record.starter),
        alive=record.death[:players] == 0,
        winner=int(record.winner),
        truncated=bool(record.truncated),
        to_place=tuple(record.to_place[: int(rules.num_armies)].tolist()),
        captured=bool(record.captured),
        battles=int(record.battles),
        moves_left=int(record.moves_left),
        **_cards(record, rules, players),
        **_move(record, phase),
        **_goals(record, players),
    )


def _cards(record: Any, rules: Any, players: int) -> dict[str, Any]:
    """Hands by size, piles, and the cards that all know (RULES 2.4, 10.4)."""
    is_symbol, shown = rules.deck == Deck.SYMBOL, members(record.shown)
    return {
        "hand_sizes": np.bitwise_count(record.hand[:players]).sum(axis=1) + record.wilds[:players],
        "sets_traded": int(record.sets_traded),
        "next_set": int(_set_troops_due(rules, int(record.sets_traded) + 1)) if is_symbol else 0,
        "deck": int(np.bitwise_count(record.deck).sum()) + int(record.deck_wilds),
        "discard": tuple(members(record.discard)),
        "discard_wilds": int(record.discard_wilds),
        "shown": tuple(shown),
        "shown_hands": tuple(_holder(record, card) for card in shown),
        "picked": tuple(members(record.picked)),
        "picked_wilds": int(record.picked_wilds),
    }


def _holder(record: Any, card: int) -> int:
    """The seat that holds a territory's card, -1 where it lies on the discard pile."""
    return next((seat for seat, hand in enumerate(record.hand) if card in members(hand)), NOBODY)


def _move(record: Any, phase: Phase) -> dict[str, Any]:
    """The placement, attack or move under way."""
    return {
        "draft_left": int(record.draft_left),
        "source": int(record.source),
        "target": int(record.target),
        "chosen_dice": int(record.chosen_dice[ATTACKER]),
        "dice": dice_of(record.settled) if phase in ROLLED_PHASES else (),
    }


def _goals(record: Any, players: int) -> dict[str, Any]:
    """What is played for (RULES 7, 9)."""
    opened = record.headquarters[:players] if record.headquarters_open else np.full(players, NOWHERE)
    return {
        "cities": tuple(members(record.city)),
        "airfields": tuple(place for place in record.airfield.tolist() if place != NOWHERE),
        "capitals": record.capital[:players],
        "headquarters": opened,
        "objectives": record.objective,
        "objective_rewards": tuple(record.objective_reward.tolist()),
        "rewards": tuple(record.reward_owner.tolist()),
    }


def dice_of(dice: npt.NDArray[np.int8]) -> tuple[tuple[int, ...], ...]:
    """The faces of both sides of a (2, 4) array of dice, without the places that are empty (0)."""
    return tuple(tuple(face for face in side if face) for side in dice.tolist())


def members(words: npt.NDArray[np.uint64]) -> list[int]:
    """The elements of a set of bit words, ascending."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()
