"""Results of the games of a tournament."""

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
_TIES = 0x7E  # episode number in the hash that breaks ties


@dataclass(frozen=True)
class GameResult:
    """Result of one game of P players.

    With deterministic agents, all fields except `seconds` follow from the tournament's configuration, unless
    an agent exceeded a time limit.
    """

    game: int
    deal: int
    seats: tuple[int, ...]  # (P,) number of the agent at each seat
    starter: int
    ending: str  # WON, TRUNCATED or FORFEIT
    winner: int  # seat, or NOBODY after a truncation or a forfeit that left several seats alive
    places: tuple[int, ...]  # (P,) place of each seat, from 1 to P, without ties
    rounds: int
    decisions: tuple[int, ...]  # (P,) number of decisions of each seat
    turns: tuple[int, ...]  # (P,) number of rounds in which the seat had a decision; the set-up is one round
    seconds: tuple[float, ...]  # (P,) thinking time of the agent at each seat, in seconds
    forfeit_seat: int = NOBODY
    forfeit_kind: str = ""
    forfeit_reason: str = ""
    # (P,) luck of each seat (`risk_agents.luck`); None if luck was not measured
    luck: tuple[float, ...] | None = None
    opening: str = ""  # result of `opening_of` when the first turn begins, or "" if the game ended before
    actions: tuple[int, ...] | None = None  # action numbers without forced actions; None if not kept
    # (P,) notes about the language model at each seat, None for other agents; None without language models
    notes: tuple[dict[str, Any] | None, ...] | None = None


def opening_of(game: Any, num_players: int, num_territories: int) -> str:
    """Return a digest of the owners and troops in a game record: 16 hexadecimal digits.

    Owners are numbered by their places in the turn order, so a digest does not depend on the starter's seat.
    """
    owner = game.owner[:num_territories].astype(np.int32)
    place = np.where(owner < num_players, (owner - int(game.starter)) % num_players, owner)
    words = np.concatenate([place, game.troops[:num_territories]]).astype("<i4")
    return blake2b(words.tobytes(), digest_size=8).hexdigest()


def final_places(shared: Sequence[int], chance: int, last: int = NOBODY) -> tuple[int, ...]:
    """Return places from 1 to P without ties, given places with ties (RULES 11.2).

    A hash of the game's seed `chance` breaks ties. Seat `last`, which forfeited, gets the last place; NOBODY
    means that no seat forfeited.
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

    The winner is the only other living seat. If several other seats are alive, the winner is NOBODY.
    """
    others = [seat for seat, lives in enumerate(alive) if lives and seat != loser]
    return others[0] if len(others) == 1 else NOBODY
