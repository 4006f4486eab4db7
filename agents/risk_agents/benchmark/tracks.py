"""Tracks: fixed sets of games that measure agents, each in a file `tracks/NAME-VERSION.toml`.

A track fixes the rules, the maps, the deals, the opponents and the time limits. A training track also limits
the number of decisions on which an agent was trained. A released file never changes: a new version of a track
is a new file.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from risk_agents.registry import KEPT_OUT
from risk_agents.tournament.config import Entrant, TournamentConfig
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.bounded_io import read_file
from risk_env.match import Match
from risk_env.messages import shortened, suggestion

FOLDER = Path(__file__).parent / "tracks"
MOST_BYTES = 1 << 16  # maximum size of a track file, in bytes
ALL = "all"
ORDER = (
    *("duel", "three", "six", "claim", "mission", "capital", "command_room", "new_maps"),
    *("train_duel", "train_three"),
)
PLAYED_ROUNDS = 20  # number of rounds whose actions `play_digest` hashes


@dataclass(frozen=True)
class Opponent:
    """Opponent of a track."""

    agent: str  # argument of `risk_agents.load`
    version: str
    play: str  # `play_digest` of the opponent on the track
    kept_out: bool  # True if agents may not be trained against this opponent

    @property
    def label(self) -> str:
        """Name of the opponent in tables and files."""
        return self.agent.removeprefix(KEPT_OUT)


@dataclass(frozen=True)
class Track:
    """Track, as its file describes it."""

    name: str
    version: int
    about: str
    rules: Rules
    maps: tuple[tuple[str, str], ...]  # name and digest of each map; each map has the same number of deals
    seed: int
    deals: int  # number of deals on each map
    quick_deals: int  # number of deals on each map with `--quick`
    time_limit: float  # time limit for one decision, in seconds
    game_time: float  # time limit for all decisions of a seat in one game, in seconds
    opponents: tuple[Opponent, ...]
    digest: str  # SHA-256 of the file
    training_decisions: int | None  # maximum number of decisions in the training of an agent; None: no limit

    @property
    def title(self) -> str:
        """Name and version of the track, such as `duel-1`."""
        return f"{self.name}-{self.version}"

    @property
    def even_share(self) -> float:
        """Even share of the wins: 1 / P with P players."""
        return 1.0 / self.rules.num_players

    @cached_property
    def boards(self) -> tuple[Board, ...]:
        """Maps of the track; raises ValueError if a map has changed since the release."""
        boards = tuple(load_map(name) for name, _ in self.maps)
        for board, (name, digest) in zip(boards, self.maps, strict=True):
            if board.digest != digest:
                raise ValueError(
                    f"track {self.title}: map {name} has digest {board.digest[:16]}, but the track was "
                    f"released with {digest[:16]}"
                )
        return boards

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """Opponents of the track as entrants of a tournament."""
        return tuple(Entrant(each.label, each.agent, each.version, True) for each in self.opponents)

    def games(self, quick: bool) -> int:
        """Return the number of games on each map."""
        return (self.quick_deals if quick else self.deals) * self.rules.num_players

    def check_training(self, decisions: str) -> None:
        """Raise ValueError unless an agent that was trained on this number of decisions may play the track.

        `decisions` is the text of `--decisions`, or "" if the option is not given.
        """
        most = self.training_decisions
        if most is not None and not (re.fullmatch("[0-9]{1,15}", decisions) and int(decisions) <= most):
            raise ValueError(
                f"track {self.title}: decisions={shortened(decisions)} must be the number of decisions in "
                f"the training of the agent, from 0 to {most} (--decisions N)"
            )

    def configs(self, entrants: Sequence[Entrant]) -> list[TournamentConfig]:
        """Return a configuration for each map; the first of the `entrants` is the measured agent."""
        groups = [
            tuple(number for number, each in enumerate(self.opponents, 1) if each.kept_out == is_kept_out)
            for is_kept_out in (False, True)
        ]
        return [
            TournamentConfig(
                tuple(entrants),
                self.rules,
                name,
                board.digest,
                seed=self.seed + number,
                time_limit=self.time_limit,
                game_time=self.game_time,
                record=True,
                groups=tuple(group for group in groups if group),
            )
            for number, ((name, _), board) in enumerate(zip(self.maps, self.boards, strict=True))
        ]


def names() -> tuple[str, ...]:
    """Return the names of all tracks, in the order of the documentation."""
    track_names = {path.stem.rpartition("-")[0] for path in FOLDER.glob("*.toml")}
    return tuple(
        sorted(track_names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    )


def find(name: str, version: int | None = None) -> Track:
    """Return a track (default: its newest version); raise ValueError if the track does not exist."""
    paths = [path for path in FOLDER.glob("*.toml") if path.stem.rpartition("-")[0] == name]
    versions = {int(path.stem.rpartition("-")[2]): path for path in paths}
    if not versions:
        hint = suggestion(str(name)[:80], names())
        raise ValueError(f"track={shortened(name)} is unknown{hint}; allowed: {', '.join(names())}")
    version = max(versions) if version is None else version
    if version not in versions:
        raise ValueError(f"track {name} has no version {shortened(version)}; allowed: {sorted(versions)}")
    return read_track(versions[version])


@cache
def read_track(path: Path) -> Track:
    """Read a track file; raise ValueError if the rules differ from the rules of the track's release."""
    content = read_file(path, MOST_BYTES)
    facts: dict[str, Any] = tomllib.loads(content.decode())
    options = facts.get("options", {})
    rules = Rules.preset(facts["preset"], facts["players"], profile=facts["profile"], **options)
    if rules_digest(rules) != facts["rules_digest"]:
        raise ValueError(f"{path.name}: the rules differ from the rules of the release: {rules!r}")
    maps = tuple((each["name"], each["digest"]) for each in facts["maps"])
    opponents = tuple(Opponent(**each) for each in facts["opponents"])
    same = ("name", "version", "about", "seed", "deals", "quick_deals", "time_limit", "game_time")
    values = {name: facts[name] for name in same}
    digest = hashlib.sha256(content).hexdigest()
    most = facts.get("training_decisions")
    return Track(
        rules=rules, maps=maps, opponents=opponents, digest=digest, training_decisions=most, **values
    )


def rules_digest(rules: Rules) -> str:
    """Return a digest of all options of the rules: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(rules.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


def play_digest(bot: CompiledBot, track: Track) -> str:
    """Return a digest of a bot's play: 16 hexadecimal digits.

    On each map, the bot plays all seats in the first rounds of the first deal.
    """
    players, digest = [bot] * track.rules.num_players, hashlib.sha256()
    for number, board in enumerate(track.boards):
        match = Match(track.rules, board, players, track.seed + number)
        match.run(rounds=PLAYED_ROUNDS)
        digest.update(np.array(match.game.actions, "<i4").tobytes())
    return digest.hexdigest()[:16]
