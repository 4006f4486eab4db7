"""Who plays whom, and where everybody sits.

A *deal* is a game seed, starter included, and a line-up of agents. Every deal is played in several *seatings* of its
line-up: all of them with two or three players, else the rotations of a shuffled order and of its reverse. The schedule
is a pure function of its arguments, and a shorter one is the beginning of a longer one.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, permutations, repeat, starmap
from typing import NamedTuple

ALL_SEATINGS_UP_TO = 3  # players; from four on rotations of two orders


class Pairing(NamedTuple):
    """One game to be played."""

    game: int  # number in the schedule
    deal: int
    seats: tuple[int, ...]  # (P,) number of the agent at each seat


def pairings(num_agents: int, num_players: int, games: int, seed: int) -> list[Pairing]:
    """The schedule of at least `games` games, in whole deals; appearances of two agents differ by at most one."""

    def seated(deal: int, line_up: tuple[int, ...]) -> list[tuple[int, ...]]:
        return seatings(line_up, random.Random(f"seating {seed} {deal}"))

    return _whole_deals(games, starmap(seated, enumerate(line_ups(num_agents, num_players, seed))))


def duel_pairings(num_players: int, games: int, seed: int) -> list[Pairing]:
    """The schedule of a sequential test of agent 0 against agent 1: at least `games` games in whole blocks.

    A block is one deal with 0 × 1 and 1 × (P - 1), and with 1 × 1 and 0 × (P - 1), the lone agent in every seat.
    """
    seats = range(num_players)
    alone = [tuple(lone if seat == place else 1 - lone for seat in seats) for lone in (0, 1) for place in seats]
    return _whole_deals(games, repeat(list(dict.fromkeys(alone))))  # with two players these are only two seatings


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
    """Who plays in deal 0, 1, ...: who has played least, then met the others least; copies where agents are few."""
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
        keys = [(chosen.count(a), played[a], sum(met[a][b] for b in chosen), lots[a], a) for a in range(len(played))]
        chosen.append(min(keys)[-1])
        played[chosen[-1]] += 1
        yield chosen[-1]


def seatings(line_up: Sequence[int], rng: random.Random) -> list[tuple[int, ...]]:
    """The seatings of a line-up; every agent sits in every seat equally often. Equal ones (of copies) come once."""
    if len(line_up) <= ALL_SEATINGS_UP_TO:
        return sorted(set(permutations(line_up)))
    lots = [rng.random() for _ in line_up]
    order = [agent for _, agent in sorted(zip(lots, line_up, strict=True))]
    return list(dict.fromkeys((*way[k:], *way[:k]) for way in (order, order[::-1]) for k in range(len(way))))
