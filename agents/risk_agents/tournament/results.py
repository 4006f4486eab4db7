"""The result of a game of a tournament."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from risk_env.seeds import game_seed

WON = "won"
TRUNCATED = "truncated"  # by max_rounds (RULES 11.2): no win for anybody
FORFEIT = "forfeit"
NOBODY = -1
_TIES = 0x7E  # the episode number under which shared places are drawn for


@dataclass(frozen=True)
class GameResult:
    """One game of P players.

    All but `seconds` follows from the tournament's seed, unless an agent ran out of time.
    """

    game: int
    deal: int
    seats: tuple[int, ...]  # (P,) number of the agent at each seat
    starter: int
    ending: str  # WON, TRUNCATED or FORFEIT
    winner: int  # seat, NOBODY after a truncation or a forfeit that left more than one other
    places: tuple[int, ...]  # (P,) place of each seat, 1 … P, no two alike
    rounds: int
    decisions: tuple[int, ...]  # (P,) asked decisions
    turns: tuple[int, ...]  # (P,) rounds in which the seat was asked anything, set-up counting as one
    seconds: tuple[float, ...]  # (P,) time the agent took for them
    forfeit_seat: int = NOBODY
    forfeit_kind: str = ""
    forfeit_reason: str = ""
    opening: str = ""  # `opening_of` the first turn's beginning; "" if it is not known
    actions: tuple[int, ...] | None = None  # the asked actions, if the tournament keeps them
    notes: tuple[dict[str, Any] | None, ...] | None = (
        None  # (P,) what each language model did, None if there is none
    )


def opening_of(game: Any, num_players: int, num_territories: int) -> str:
    """A digest, 16 hexadecimal digits, of owners and troops of a game record.

    Owners by their place in turn order.
    """
    owner = game.owner[:num_territories].astype(np.int32)
    place = np.where(owner < num_players, (owner - int(game.starter)) % num_players, owner)
    words = np.concatenate([place, game.troops[:num_territories]]).astype("<i4")
    return blake2b(words.tobytes(), digest_size=8).hexdigest()


def final_places(shared: Sequence[int], chance: int, last: int = NOBODY) -> tuple[int, ...]:
    """Return places 1 … P, from places that equal seats share (RULES 11.2).

    A hash of the game's seed breaks ties. Seat `last`, one that forfeited, comes behind all others.
    """
    seats = range(len(shared))
    order = sorted(
        seats, key=lambda seat: (seat == last, int(shared[seat]), int(game_seed(chance, seat, _TIES)))
    )
    places = np.empty(len(shared), int)
    places[order] = np.arange(1, len(shared) + 1)
    return tuple(places.tolist())


def winner_of_forfeit(alive: Sequence[bool], loser: int) -> int:
    """Return the other seat that still lives (RULES 11.1), NOBODY if there are several.

    The only one that lives has outlasted all others.
    """
    others = [seat for seat, lives in enumerate(alive) if lives and seat != loser]
    return others[0] if len(others) == 1 else NOBODY
