"""What a tournament is about: its agents, rules, map, seed and limits. Small, frozen and sent to every job."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from risk_agents.tournament.schedule import Pairing, duel_pairings, fixed_pairings, pairings
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules

SCHEMA = 1
TIME_LIMIT = 10.0  # seconds a decision
GAME_TIME = 600.0  # seconds that a seat may think in a whole game: how many decisions it makes has no bound


@dataclass(frozen=True)
class Entrant:
    """An agent of the tournament: under which label it is shown, and what it is."""

    label: str
    spec: str  # what `risk_agents.make` takes
    version: str
    compiled: bool


@dataclass(frozen=True)
class TournamentConfig:
    """Everything that decides what is played. Equal settings give equal games, whatever the jobs and the machine."""

    entrants: tuple[Entrant, ...]
    rules: Rules
    map_source: str  # what `load_map` takes
    map_digest: str
    seed: int = 0
    time_limit: float = TIME_LIMIT
    record: bool = False  # keep the actions of every game
    duel: bool = False  # a sequential test of the first entrant against the second
    fresh: bool = False  # a new process for every game of an agent that has one
    game_time: float = GAME_TIME  # of a seat, where not all agents are compiled
    fixed_seats: bool = False  # agent s sits at seat s in every game

    @cached_property
    def board(self) -> Board:
        """The map; ValueError if it is no longer the one the tournament began on."""
        board = load_map(self.map_source)
        if board.digest != self.map_digest:
            raise ValueError(
                f"map {self.map_source!r} is {board.digest[:16]} now, but was {self.map_digest[:16]} in the tournament"
            )
        return board

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the agents, by number."""
        return tuple(entrant.label for entrant in self.entrants)

    @property
    def num_players(self) -> int:
        """Seats of a game."""
        return self.rules.num_players

    def schedule(self, games: int) -> list[Pairing]:
        """The games to be played: at least `games`, in whole deals."""
        if self.fixed_seats:
            return fixed_pairings(self.num_players, games)
        if self.duel:
            return duel_pairings(self.num_players, games, self.seed)
        return pairings(len(self.entrants), self.num_players, games, self.seed)

    def is_compiled(self, pairing: Pairing) -> bool:
        """Whether all agents of a game are compiled bots."""
        return all(self.entrants[agent].compiled for agent in pairing.seats)

    def to_json(self) -> str:
        """The configuration as a line of JSON."""
        facts: dict[str, Any] = {
            "schema": SCHEMA,
            "agents": [vars(entrant) for entrant in self.entrants],
            "rules": self.rules.to_dict(),
            "map": self.map_source,
            "map_digest": self.map_digest,
            "seed": self.seed,
            "time_limit": self.time_limit,
            "record": self.record,
            "duel": self.duel,
            "fresh": self.fresh,
            "game_time": self.game_time,
            "fixed_seats": self.fixed_seats,
        }
        return json.dumps(facts)

    @classmethod
    def from_json(cls, line: str) -> TournamentConfig:
        """The configuration that `to_json` wrote; ValueError for another schema."""
        facts = json.loads(line)
        if facts["schema"] != SCHEMA:
            raise ValueError(f"a tournament of schema {facts['schema']}; this version reads schema {SCHEMA}")
        return cls(
            tuple(Entrant(**entrant) for entrant in facts["agents"]),
            Rules.from_dict(facts["rules"]),
            facts["map"],
            facts["map_digest"],
            facts["seed"],
            facts["time_limit"],
            facts["record"],
            facts["duel"],
            facts.get("fresh", False),  # older files do not say
            facts.get("game_time", GAME_TIME),
            facts.get("fixed_seats", False),
        )
