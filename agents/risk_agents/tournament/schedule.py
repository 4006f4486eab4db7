"""Schedule of a tournament: the agents of each game, and their seats.

A *deal* consists of a line-up of agents and a game seed, which also determines the starter. `pairings` and
`copy_pairings` play every deal in the *seatings* of its line-up. With two or three players, every possible
seating is played. With more players, the seatings are the rotations of a shuffled order and of the reverse
order.

The schedule is a pure function of its arguments. With the same other arguments, a schedule with fewer games
is the beginning of a schedule with more games.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, count, permutations, repeat, starmap
from math import comb
from typing import NamedTuple

ALL_SEATINGS_UP_TO = 3  # largest number of players for which all seatings are played
# A game in which an agent does not play in lanes is a separate chunk. Other chunks can contain several games.
MOST_GAMES = 512  # maximum number of games in a chunk
FIRST_GAMES = 32  # with several workers, maximum while the duration of a game is not known
# Minimum and maximum duration of a chunk, in seconds. The driver needs about a millisecond for each chunk,
# and all games of a lost chunk are played again.
SHORTEST, LONGEST = 0.25, 20.0
FOR_EACH = 0.002  # minimum duration of a chunk per worker, in seconds; one driver must supply all workers
MOST_LINE_UPS = 500  # maximum number of line-ups in a tournament with copies
SHARES = 2  # a chunk contains about 1 / (SHARES * workers) of the games that are left


class Pairing(NamedTuple):
    """Scheduled game: its number, its deal, and the agent at each seat."""

    game: int  # number of the game in the schedule
    deal: int
    seats: tuple[int, ...]  # (P,) number of the agent at each seat


Chunk = tuple[Pairing, ...]
LineUp = tuple[int, ...]  # (P,) numbers of the agents, in ascending order


def pairings(num_agents: int, num_players: int, games: int, seed: int) -> list[Pairing]:
    """Return the schedule of at least `games` games, in whole deals.

    The agents appear in equally many line-ups, up to a difference of one.
    """

    def seated(deal: int, line_up: tuple[int, ...]) -> list[tuple[int, ...]]:
        return seatings(line_up, random.Random(f"seating {seed} {deal}"))

    return _whole_deals(games, starmap(seated, enumerate(line_ups(num_agents, num_players, seed))))


def duel_pairings(num_players: int, games: int) -> list[Pairing]:
    """Return the schedule of a sequential test of agent 0 against agent 1.

    The schedule has at least `games` games, in whole blocks. A block contains the games of one deal. In each
    game, one agent plays alone against P - 1 copies of the other agent. Each agent plays alone once from
    every seat.
    """
    seats = range(num_players)
    alone = [
        tuple(lone if seat == place else 1 - lone for seat in seats) for lone in (0, 1) for place in seats
    ]
    # With two players, there are only two distinct seatings
    return _whole_deals(games, repeat(list(dict.fromkeys(alone))))


def field_pairings(groups: Sequence[Sequence[int]], num_players: int, games: int, seed: int) -> list[Pairing]:
    """Return the schedule of agent 0 against opponents from groups.

    The schedule has at least `games` games, in whole deals. All opponents of a deal come from one group, and
    the `groups` take turns. Agent 0 plays each deal once from every seat.
    """
    drawn = [line_ups(len(group), num_players - 1, seed) for group in groups]

    def seated(deal: int) -> list[tuple[int, ...]]:
        group = groups[deal % len(groups)]
        others = [group[number] for number in next(drawn[deal % len(groups)])]
        return [(*others[:seat], 0, *others[seat:]) for seat in range(num_players)]

    return _whole_deals(games, map(seated, count()))


def line_ups_with_copies(num_agents: int, num_players: int) -> list[LineUp]:
    """Return all line-ups of the agents, in lexicographic order.

    Raises ValueError if there are more than MOST_LINE_UPS.
    """
    number = comb(num_agents + num_players - 1, num_players)
    if number > MOST_LINE_UPS:
        raise ValueError(
            f"{num_agents} agents have {number:,} line-ups of {num_players} players with copies; "
            f"at most {MOST_LINE_UPS} are allowed: name fewer agents"
        )
    return list(combinations_with_replacement(range(num_agents), num_players))


def copy_pairings(all_line_ups: Sequence[LineUp], games: int, seed: int) -> list[Pairing]:
    """Return the schedule of games of all line-ups (`line_ups_with_copies`).

    The schedule has at least `games` games, in whole deals. The line-ups take turns, in a new random order
    each time.
    """

    def in_turn() -> Iterator[LineUp]:
        for turn in count():
            yield from random.Random(f"copies {seed} {turn}").sample(all_line_ups, len(all_line_ups))

    def seated(deal: int, line_up: tuple[int, ...]) -> list[tuple[int, ...]]:
        return seatings(line_up, random.Random(f"seating {seed} {deal}"))

    return _whole_deals(games, starmap(seated, enumerate(in_turn())))


def fixed_pairings(num_players: int, games: int) -> list[Pairing]:
    """Return a schedule in which agent s sits at seat s of every game, and each game is a separate deal."""
    return [Pairing(game, game, tuple(range(num_players))) for game in range(games)]


def _whole_deals(games: int, deals: Iterable[list[tuple[int, ...]]]) -> list[Pairing]:
    """Return the schedule of at least `games` games, in whole deals.

    `deals` yields the seatings of deals 0, 1, ... without end.
    """
    schedule: list[Pairing] = []
    for deal, seatings_of_deal in enumerate(deals):
        if len(schedule) >= games:
            break
        schedule += [Pairing(len(schedule) + k, deal, seats) for k, seats in enumerate(seatings_of_deal)]
    return schedule


def line_ups(num_agents: int, num_players: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield the line-ups of deals 0, 1, ... without end.

    Each place of a line-up goes to the agent that has played least and is not in the line-up yet. Among such
    agents, the agent that has met the agents of the line-up least gets the place; a remaining tie is broken
    at random. If there are fewer agents than seats, agents play several seats.
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
    """Return the seatings of a line-up; over all seatings, every agent plays every seat equally often.

    If an agent occurs several times in the line-up, equal seatings are returned only once. `rng` shuffles
    line-ups of more than ALL_SEATINGS_UP_TO players.
    """
    if len(line_up) <= ALL_SEATINGS_UP_TO:
        return sorted(set(permutations(line_up)))
    lots = [rng.random() for _ in line_up]
    order = [agent for _, agent in sorted(zip(lots, line_up, strict=True))]
    return list(dict.fromkeys((*way[k:], *way[:k]) for way in (order, order[::-1]) for k in range(len(way))))


class Cutter:
    """Games that are cut into chunks when workers become free.

    Chunks become smaller towards the end, so that all workers end at nearly the same time.
    """

    def __init__(self, pairings: Sequence[Pairing], is_compiled: Callable[[Pairing], bool]) -> None:
        self._compiled = deque(pairing for pairing in pairings if is_compiled(pairing))
        self._singles = deque(pairing for pairing in pairings if not is_compiled(pairing))
        self._total = len(self._compiled)
        self._games, self._seconds = 0, 0.0  # totals of ended chunks that had more than one game

    def __bool__(self) -> bool:
        """Return True if games are left."""
        return bool(self._compiled or self._singles)

    def cut(self, workers: int = 1) -> Chunk:
        """Return the next chunk for one of `workers` workers, or an empty chunk if no games are left.

        Slow games come first: games in which at least one agent does not play in lanes.
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
        """Record that a worker needed `seconds` for a chunk; ignore chunks of one game."""
        if len(chunk) > 1:
            self._games, self._seconds = self._games + len(chunk), self._seconds + seconds
