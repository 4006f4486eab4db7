"""Configuration of a tournament: its agents, rules, map, seed and limits.

A configuration is small and frozen. It is sent to every job.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from risk_agents.program import check_limit
from risk_agents.tournament.schedule import Pairing, duel_pairings, field_pairings, fixed_pairings, pairings
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.text.escape import for_terminal, is_label

SCHEMA = 1
TIME_LIMIT = 10.0  # seconds per decision
GAME_TIME = 600.0  # seconds that a seat may think in a whole game, which can have any number of decisions


@dataclass(frozen=True)
class Entrant:
    """An agent of the tournament: the label that tables show, and how to make the agent."""

    label: str
    spec: str  # argument of `risk_agents.make`
    version: str
    compiled: bool  # the agent plays in lanes of a process: a compiled bot or an ONNX model


@dataclass(frozen=True)
class TournamentConfig:
    """Everything that decides which games are played.

    Equal configurations give equal games on any machine and with any number of jobs.
    """

    entrants: tuple[Entrant, ...]
    rules: Rules
    map_source: str  # argument of `load_map`
    map_digest: str
    seed: int = 0
    time_limit: float = TIME_LIMIT
    record: bool = False  # keep the actions of every game
    duel: bool = False  # a sequential test of the first entrant against the second
    fresh: bool = False  # start a new process for every game of an agent that runs in a process
    game_time: float = GAME_TIME  # thinking time of a seat, in games that are not between compiled bots only
    fixed_seats: bool = False  # agent s sits at seat s in every game
    luck: bool = False  # measure the luck of each seat in games whose rules `risk_agents.luck` knows
    # groups of opponents of agent 0, which plays every deal from every seat (`schedule.field_pairings`)
    groups: tuple[tuple[int, ...], ...] = ()
    # sandbox level of agents' processes (`risk_agents.sandbox`); chosen for each run, not saved
    sandbox: str | None = None

    @cached_property
    def board(self) -> Board:
        """Map of the tournament; raises ValueError if the map has changed since the tournament began."""
        board = load_map(self.map_source)
        if board.digest != self.map_digest:
            raise ValueError(
                f"map {self.map_source!r} has digest {board.digest[:16]} now, "
                f"but had {self.map_digest[:16]} when the tournament began"
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
        """Return the games to be played: at least `games`, in whole deals."""
        if self.fixed_seats:
            return fixed_pairings(self.num_players, games)
        if self.groups:
            return field_pairings(self.groups, self.num_players, games, self.seed)
        if self.duel:
            return duel_pairings(self.num_players, games)
        return pairings(len(self.entrants), self.num_players, games, self.seed)

    def is_compiled(self, pairing: Pairing) -> bool:
        """Return whether all agents of a game are compiled bots."""
        return all(self.entrants[agent].compiled for agent in pairing.seats)

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
        """Return the configuration that `to_json` wrote.

        Raise ValueError if the schema is not SCHEMA, or if a value is missing or not allowed.
        """
        facts = json.loads(line)
        if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
            schema = facts.get("schema") if isinstance(facts, dict) else None
            raise ValueError(f"a tournament of schema {schema!r:.40}; this version reads schema {SCHEMA}")
        facts = {**_ADDED, **facts}
        for name, kind in _KINDS.items():
            if name not in facts or type(facts[name]) not in kind:
                raise ValueError(f"the configuration has no valid {name!r}")
        facts["groups"] = _groups(facts["groups"], len(facts["agents"]))
        check_limit("time_limit", facts["time_limit"])
        check_limit("game_time", facts["game_time"])
        agents, rules = _entrants(facts["agents"]), Rules.from_dict(facts["rules"])
        if (facts["duel"] and len(agents) != 2) or (
            facts["fixed_seats"] and len(agents) != rules.num_players
        ):
            raise ValueError(f"the configuration has {len(agents)} agents, which its schedule cannot seat")
        settings = {name: facts[name] for name in _SETTINGS}
        return cls(agents, rules, facts["map"], facts["map_digest"], **settings)


_SETTINGS = ("seed", "time_limit", "record", "duel", "fresh", "game_time", "fixed_seats", "luck", "groups")
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("agents", "groups"), (list,)),
    "rules": (dict,),
    **dict.fromkeys(("map", "map_digest"), (str,)),
    "seed": (int,),
    **dict.fromkeys(("time_limit", "game_time"), (int, float)),
    **dict.fromkeys(("record", "duel", "fresh", "fixed_seats", "luck"), (bool,)),
}
_ADDED: dict[str, Any] = {
    "fresh": False,
    "game_time": GAME_TIME,
    "fixed_seats": False,
    "luck": False,
    "groups": [],
}  # missing in older files
_ENTRANT = {"label": str, "spec": str, "version": str, "compiled": bool}


def _groups(facts: list[Any], num_agents: int) -> tuple[tuple[int, ...], ...]:
    """Return the groups of opponents; raise ValueError unless each is a list of agents other than agent 0."""
    for group in facts:
        if not isinstance(group, list) or not group:
            raise ValueError("the configuration's groups must be lists of agents")
        if not all(type(agent) is int and 0 < agent < num_agents for agent in group):
            raise ValueError(f"the configuration's groups may hold the agents 1 to {num_agents - 1} only")
    return tuple(map(tuple, facts))


def _entrants(facts: list[Any]) -> tuple[Entrant, ...]:
    """Return the agents of a configuration; raise ValueError if one is invalid or two share a label."""
    for agent in facts:
        if not isinstance(agent, dict) or {name: type(value) for name, value in agent.items()} != _ENTRANT:
            raise ValueError(
                "each agent of the configuration must have `label`, `spec`, `version` and `compiled`"
            )
        if not is_label(agent["label"]):
            raise ValueError(f"{for_terminal(agent['label'])[:80]!r} cannot be the label of an agent")
    if not facts or len({agent["label"] for agent in facts}) < len(facts):
        raise ValueError("the configuration must have agents, each with a different label")
    return tuple(Entrant(**agent) for agent in facts)
