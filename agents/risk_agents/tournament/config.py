"""Configuration of a tournament, such as its agents, rules, map and seed.

A configuration is small and frozen, and is sent to every job.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from risk_agents.program import brief, check_limit
from risk_agents.tournament.schedule import (
    Pairing,
    copy_pairings,
    duel_pairings,
    field_pairings,
    fixed_pairings,
    line_ups_with_copies,
    pairings,
)
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.bounded_io import parse_json
from risk_env.text.escape import LABEL_LETTERS, for_terminal, is_label

if TYPE_CHECKING:
    from risk_agents.luck import LuckMeter

SCHEMA = 1
TIME_LIMIT = 10.0  # time limit for a decision, in seconds
GAME_TIME = 600.0  # time limit for all decisions of a seat in a game, in seconds


@dataclass(frozen=True)
class Entrant:
    """Agent of a tournament, with the label that tables show."""

    label: str
    spec: str  # argument of `risk_agents.make`
    version: str
    compiled: bool  # True for compiled bots and ONNX models, which play many games at once in lanes


@dataclass(frozen=True)
class TournamentConfig:
    """All facts that determine the games of a tournament.

    With deterministic agents that keep the time limits, equal configurations give equal games on any machine
    and with any number of jobs.
    """

    entrants: tuple[Entrant, ...]
    rules: Rules
    map_source: str  # argument of `load_map`
    map_digest: str
    seed: int = 0
    time_limit: float = TIME_LIMIT  # in seconds
    record: bool = False  # True to keep the actions of every game
    duel: bool = False  # True for a sequential test of the first entrant against the second entrant
    fresh: bool = False  # True to start new processes of agents for every game
    game_time: float = GAME_TIME  # in seconds; not used in games whose agents all play in lanes
    fixed_seats: bool = False  # True to seat agent s at seat s in every game
    luck: bool = False  # True to measure the luck of each seat
    copies: bool = False  # True to play all line-ups, including line-ups with copies of an agent
    # Groups of opponents of agent 0, which plays every deal from every seat (`schedule.field_pairings`)
    groups: tuple[tuple[int, ...], ...] = ()
    # Sandbox level of agents' processes (`risk_agents.sandbox`); chosen for each run, not saved
    sandbox: str | None = None

    @cached_property
    def board(self) -> Board:
        """Map of the tournament; raises ValueError if the map has changed since the tournament began."""
        board = load_map(self.map_source)
        if board.digest != self.map_digest:
            raise ValueError(
                f"map {self.map_source!r} has digest {board.digest[:16]} now, "
                f"but had {self.map_digest[:16]} when the tournament began: restore the map, or start a new "
                "tournament"
            )
        return board

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the agents, by number."""
        return tuple(entrant.label for entrant in self.entrants)

    @property
    def num_players(self) -> int:
        """Number of seats in a game."""
        return self.rules.num_players

    def schedule(self, games: int) -> list[Pairing]:
        """Return the pairings of at least `games` games, in whole deals."""
        if self.fixed_seats:
            return fixed_pairings(self.num_players, games)
        if self.groups:
            return field_pairings(self.groups, self.num_players, games, self.seed)
        if self.duel:
            return duel_pairings(self.num_players, games)
        if self.copies:
            line_ups = line_ups_with_copies(len(self.entrants), self.num_players)
            return copy_pairings(line_ups, games, self.seed)
        return pairings(len(self.entrants), self.num_players, games, self.seed)

    def is_compiled(self, pairing: Pairing) -> bool:
        """Return True if all agents of a game play in lanes (`Entrant.compiled`)."""
        return all(self.entrants[agent].compiled for agent in pairing.seats)

    def luck_meter(self) -> LuckMeter | None:
        """Return a meter for the luck of the games, or None if the tournament does not measure luck.

        Raises ValueError if the luck of games with these rules on this map is unknown.
        """
        if not self.luck:
            return None
        from risk_agents.luck import LuckMeter  # slow import that few tournaments need

        return LuckMeter(self.rules, self.board)

    def to_json(self) -> str:
        """Return the configuration as a line of JSON."""
        facts: dict[str, Any] = {
            "schema": SCHEMA,
            "agents": [vars(entrant) for entrant in self.entrants],
            "rules": self.rules.to_dict(),
            "map": self.map_source,
            "map_digest": self.map_digest,
            **{name: getattr(self, name) for name in _SETTINGS},
        }
        return json.dumps(facts)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Return the configuration that a line from `to_json` describes.

        Raises ValueError if the schema is not SCHEMA, or if a value is missing or not allowed.
        """
        facts = parse_json(line)
        if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
            schema = facts.get("schema") if isinstance(facts, dict) else None
            raise ValueError(f"schema is {schema!r:.40}; this version reads tournaments of schema {SCHEMA}")
        for name, kind in _KINDS.items():
            if name not in facts or type(facts[name]) not in kind:
                given = f"{name}={brief(facts[name])}" if name in facts else f"no {name}"
                raise ValueError(f"the configuration has {given}: {name} must be of type {kind[-1].__name__}")
        facts["groups"] = _groups(facts["groups"], len(facts["agents"]))
        check_limit("time_limit", facts["time_limit"])
        check_limit("game_time", facts["game_time"])
        agents, rules = _entrants(facts["agents"]), Rules.from_dict(facts["rules"])
        if facts["duel"] and len(agents) != 2:
            raise ValueError(f"a duel needs 2 agents, but the configuration has {len(agents)}")
        if facts["fixed_seats"] and len(agents) != rules.num_players:
            raise ValueError(
                f"fixed_seats needs {rules.num_players} agents, one for each seat, but the configuration has "
                f"{len(agents)}"
            )
        settings = {name: facts[name] for name in _SETTINGS}
        return cls(agents, rules, facts["map"], facts["map_digest"], **settings)


_FLAGS = ("record", "duel", "fresh", "fixed_seats", "luck", "copies")
_SETTINGS = ("seed", "time_limit", "game_time", *_FLAGS, "groups")
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("agents", "groups"), (list,)),
    "rules": (dict,),
    **dict.fromkeys(("map", "map_digest"), (str,)),
    "seed": (int,),
    **dict.fromkeys(("time_limit", "game_time"), (int, float)),
    **dict.fromkeys(_FLAGS, (bool,)),
}
_ENTRANT = {"label": str, "spec": str, "version": str, "compiled": bool}


def _groups(facts: list[Any], num_agents: int) -> tuple[tuple[int, ...], ...]:
    """Return the groups of opponents; raise ValueError unless each group is a list of agents 1, 2, ..."""
    for group in facts:
        if not isinstance(group, list) or not group:
            raise ValueError(
                f"the configuration has the group {brief(group)}: must be a list of one or more agents"
            )
        if not all(type(agent) is int and 0 < agent < num_agents for agent in group):
            raise ValueError(
                f"the configuration has the group {brief(group)}: each agent must be a whole number above "
                f"0 and below {num_agents}, the number of agents"
            )
    return tuple(map(tuple, facts))


def _entrants(facts: list[Any]) -> tuple[Entrant, ...]:
    """Return the agents of a configuration; raise ValueError if an agent is invalid or a label repeats."""
    for agent in facts:
        if not isinstance(agent, dict) or {name: type(value) for name, value in agent.items()} != _ENTRANT:
            raise ValueError(
                "each agent of the configuration must have exactly these keys: the strings `label`, `spec` "
                "and `version`, and the boolean `compiled`"
            )
        if not is_label(agent["label"]):
            raise ValueError(
                f"label {for_terminal(agent['label'])[:80]!r} of an agent: must be 1 to {LABEL_LETTERS} "
                "printable characters, with no space at either end"
            )
    labels = [agent["label"] for agent in facts]
    if not facts or len(set(labels)) < len(facts):
        raise ValueError(f"labels={brief(labels)}: must be one or more agents, each with a different label")
    return tuple(Entrant(**agent) for agent in facts)
