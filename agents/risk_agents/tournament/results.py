"""Result of a game of a tournament."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from risk_env.seeds import game_seed

WON = "won"
TRUNCATED = "truncated"  # ended by max_rounds (RULES 11.2), without a winner
FORFEIT = "forfeit"
NOBODY = -1
_TIES = 0x7E  # episode number in the hash that breaks ties between shared places


@dataclass(frozen=True)
class GameResult:
    """Result of one game of P players.

    All fields except `seconds` follow from the tournament's seed, unless an agent ran out of time.
    """

    game: int
    deal: int
    seats: tuple[int, ...]  # (P,) number of the agent at each seat
    starter: int
    ending: str  # WON, TRUNCATED or FORFEIT
    winner: int  # seat; NOBODY after a truncation, or after a forfeit that left several seats alive
    places: tuple[int, ...]  # (P,) place of each seat, from 1 to P, without ties
    rounds: int
    decisions: tuple[int, ...]  # (P,) number of decisions of each seat, without forced ones
    turns: tuple[int, ...]  # (P,) number of rounds in which the seat had a decision; set-up is one round
    seconds: tuple[float, ...]  # (P,) thinking time of the agent at each seat
    forfeit_seat: int = NOBODY
    forfeit_kind: str = ""
    forfeit_reason: str = ""
    # (P,) luck of each seat (`risk_agents.luck`); None if it was not measured
    luck: tuple[float, ...] | None = None
    opening: str = ""  # `opening_of` the game when the first turn begins; "" if not known
    actions: tuple[int, ...] | None = None  # actions without forced ones, if the tournament keeps them
    # (P,) notes about each language model, and None at the seats of other agents; None without models
    notes: tuple[dict[str, Any] | None, ...] | None = None


def opening_of(game: Any, num_players: int, num_territories: int) -> str:
    """Return a digest of the owners and troops in a game record: 16 hexadecimal digits.

    Owners are numbered by their place in the turn order, so that equal positions at other seats agree.
    """
    owner = game.owner[:num_territories].astype(np.int32)
    place = np.where(owner < num_players, (owner - int(game.starter)) % num_players, owner)
    words = np.concatenate([place, game.troops[:num_territories]]).astype("<i4")
    return blake2b(words.tobytes(), digest_size=8).hexdigest()


def final_places(shared: Sequence[int], chance: int, last: int = NOBODY) -> tuple[int, ...]:
    """Return places from 1 to P without ties, from places that seats may share (RULES 11.2).

    A hash of the game's seed, `chance`, breaks ties. Seat `last`, which forfeited, gets the last place.
    """
    seats = range(len(shared))
    order = sorted(
        seats, key=lambda seat: (seat == last, int(shared[seat]), int(game_seed(chance, seat, _TIES)))
    )
    places = np.empty(len(shared), int)
    places[order] = np.arange(1, len(shared) + 1)
    return tuple(places.tolist())


def winner_of_forfeit(alive: Sequence[bool], loser: int) -> int:
    """Return the winner after a forfeit of seat `loser` (RULES 11.1).

    The winner is the only other seat that is still alive. If several others are alive, return NOBODY.
    """
    others = [seat for seat, lives in enumerate(alive) if lives and seat != loser]
    return others[0] if len(others) == 1 else NOBODY
