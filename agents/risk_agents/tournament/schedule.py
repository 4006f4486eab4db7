"""Who plays whom, and where everybody sits.

A *deal* is a game seed, starter included, and a line-up of agents. Every deal is played in several *seatings*
of its line-up: all of them with two or three players, else the rotations of a shuffled order and of its
reverse. The schedule is a pure function of its arguments, and a shorter one is the beginning of a longer one.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, permutations, repeat, starmap
from typing import NamedTuple

ALL_SEATINGS_UP_TO = 3  # players; from four on rotations of two orders
MOST_GAMES = 512  # in a chunk of compiled bots; a game with any other agent is a chunk of its own
FIRST_GAMES = 32  # at most, in chunks that are cut before it is known how long a game takes
SHORTEST, LONGEST = 0.25, 20.0  # seconds of a chunk: it costs the driver about a millisecond, and may be lost
FOR_EACH = 0.002  # seconds of a chunk for each worker, so that one driver hands out those of all
SHARES = 2  # of the games that are left, for each worker


class Pairing(NamedTuple):
    """One game to be played."""

    game: int  # number in the schedule
    deal: int
    seats: tuple[int, ...]  # (P,) number of the agent at each seat


Chunk = tuple[Pairing, ...]


def pairings(num_agents: int, num_players: int, games: int, seed: int) -> list[Pairing]:
    """The schedule of at least `games` games, in whole deals.

    Appearances of two agents differ by at most one.
    """

    def seated(deal: int, line_up: tuple[int, ...]) -> list[tuple[int, ...]]:
        return seatings(line_up, random.Random(f"seating {seed} {deal}"))

    return _whole_deals(games, starmap(seated, enumerate(line_ups(num_agents, num_players, seed))))


def duel_pairings(num_players: int, games: int, seed: int) -> list[Pairing]:
    """The schedule of a sequential test of agent 0 against agent 1: at least `games` games in whole blocks.

    A block is one deal with 0 × 1 and 1 × (P - 1), and with 1 × 1 and 0 × (P - 1), the lone agent in every
    seat.
    """
    seats = range(num_players)
    alone = [
        tuple(lone if seat == place else 1 - lone for seat in seats) for lone in (0, 1) for place in seats
    ]
    # with two players these are only two seatings
    return _whole_deals(games, repeat(list(dict.fromkeys(alone))))


def fixed_pairings(num_players: int, games: int) -> list[Pairing]:
    """A schedule in which agent s sits at seat s of every game, each of a deal of its own."""
    return [Pairing(game, game, tuple(range(num_players))) for game in range(games)]


def _whole_deals(games: int, deals: Iterable[list[tuple[int, ...]]]) -> list[Pairing]:
    """The schedule of at least `games` games; `deals` are the seatings of deal 0, 1, ..., without end."""
    schedule: list[Pairing] = []
    for deal, seatings_of_deal in enumerate(deals):
        if len(schedule) >= games:
            break
        schedule += [Pairing(len(schedule) + k, deal, seats) for k, seats in enumerate(seatings_of_deal)]
    return schedule


def line_ups(num_agents: int, num_players: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Who plays in deal 0, 1, ...: who has played least, then met the others least.

    Copies where agents are few.
    """
    played = [0] * num_agents
    met = [[0] * num_agents for _ in range(num_agents)]
    for deal in count():
        line_up = tuple(_draw(num_players, played, met, random.Random(f"line-up {seed} {deal}")))
        for agent in line_up:
            for other in line_up:
                met[agent][other] += 1
        yield line_up


def _draw(num_players: int, played: list[int], met: list[list[int]], rng: random.Random) -> Iterator[int]:
    chosen: list[int] = []
    for _ in range(num_players):
        lots = [rng.random() for _ in played]
        keys = [
            (chosen.count(a), played[a], sum(met[a][b] for b in chosen), lots[a], a)
            for a in range(len(played))
        ]
        chosen.append(min(keys)[-1])
        played[chosen[-1]] += 1
        yield chosen[-1]


def seatings(line_up: Sequence[int], rng: random.Random) -> list[tuple[int, ...]]:
    """The seatings of a line-up; every agent sits in every seat equally often.

    Equal ones (of copies) come once.
    """
    if len(line_up) <= ALL_SEATINGS_UP_TO:
        return sorted(set(permutations(line_up)))
    lots = [rng.random() for _ in line_up]
    order = [agent for _, agent in sorted(zip(lots, line_up, strict=True))]
    return list(dict.fromkeys((*way[k:], *way[:k]) for way in (order, order[::-1]) for k in range(len(way))))


class Cutter:
    """Cuts games into chunks as workers become free.

    Chunks become smaller towards the end, so that all workers end at the same time.
    """

    def __init__(self, pairings: Sequence[Pairing], is_compiled: Callable[[Pairing], bool]) -> None:
        self._compiled = deque(pairing for pairing in pairings if is_compiled(pairing))
        self._singles = deque(pairing for pairing in pairings if not is_compiled(pairing))
        self._total = len(self._compiled)
        self._games, self._seconds = 0, 0.0  # of compiled bots, in chunks that have ended

    def __bool__(self) -> bool:
        """Whether games are left."""
        return bool(self._compiled or self._singles)

    def cut(self, workers: int = 1) -> Chunk:
        """The next chunk for one of several workers, or nothing where no games are left.

        Slow games come first.
        """
        if self._singles:
            return (self._singles.popleft(),)
        count = MOST_GAMES if workers == 1 else self._share(workers)
        return tuple(self._compiled.popleft() for _ in range(min(count, len(self._compiled))))

    def _share(self, workers: int) -> int:
        share = -(-len(self._compiled) // (SHARES * workers))
        if not self._seconds:
            return min(share, FIRST_GAMES)
        games_a_second = self._games / self._seconds
        shortest = min(int(max(SHORTEST, FOR_EACH * workers) * games_a_second), -(-self._total // workers))
        return max(1, min(max(share, shortest), int(LONGEST * games_a_second), MOST_GAMES))

    def ended(self, chunk: Chunk, seconds: float) -> None:
        """A chunk has taken a worker that long."""
        if len(chunk) > 1:
            self._games, self._seconds = self._games + len(chunk), self._seconds + seconds
