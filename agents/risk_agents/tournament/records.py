"""Games as JSON Lines: rules, map, seed and asked actions of each, enough to play it again exactly; and `replay`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.results import FORFEIT, TRUNCATED, WON, GameResult
from risk_agents.tournament.store import Store
from risk_agents.whole_file import whole_file
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.text.notation import IllegalAction
from risk_env.untrusted import parse_json, shortened

FORMAT = "risk_env game record"
SCHEMA = 1
LONGEST_LINE = 1 << 24  # bytes of a record
TYPES = {  # of the facts that a record must have
    **dict.fromkeys(("map", "map_digest", "ending"), str),
    **dict.fromkeys(("num_actions", "seed", "lane", "episode", "rounds", "winner"), int),
    "rules": dict,
    "actions": list,
}
_RESULTS = ("ending", "winner", "places", "rounds", "forfeit_seat", "forfeit_reason", "actions")  # that a record holds


class RecordError(ValueError):
    """A record that cannot be read or does not play out as it says; the message names file, line and problem."""


@dataclass(frozen=True)
class Record:
    """One recorded game."""

    line: int
    facts: dict[str, Any]
    file: str = ""

    def error(self, problem: object) -> RecordError:
        """The error to raise for this record."""
        return RecordError(f"{self.file}{', ' if self.file else ''}line {self.line}: {problem}")

    def check_types(self) -> None:
        """RecordError if a fact that is needed is missing or of another type."""
        if missing := sorted(TYPES.keys() - self.facts.keys()):
            raise self.error(f"{', '.join(missing)} missing")
        for name, kind in TYPES.items():
            if type(self.facts[name]) is not kind:
                raise self.error(f"{name} is {shortened(self.facts[name])}, must be of type {kind.__name__}")
        strange = [action for action in self.facts["actions"] if type(action) is not int]
        if strange:
            raise self.error(f"actions hold {shortened(strange[0])}, must be whole numbers")

    def start(self, board: Board | None = None) -> Game:
        """The game before its first action; RecordError if this version or map is another."""
        facts = self.facts
        try:
            board = load_map(facts["map"]) if board is None else board
            if board.digest != facts["map_digest"]:
                recorded, found = facts["map_digest"][:16], board.digest[:16]
                raise RecordError(f"recorded on map {recorded}, but {board.source!r} is map {found}")
            rules, chance = Rules.from_dict(facts["rules"]), {name: facts[name] for name in ("lane", "episode")}
            game = Game(rules, board, facts["seed"], **chance)
        except ValueError as error:
            raise self.error(error) from error
        if game.num_actions != facts["num_actions"]:
            raise self.error(f"recorded with {facts['num_actions']} actions, this version has {game.num_actions}")
        return game

    def replay(self, board: Board | None = None) -> Game:
        """The game played to its recorded end; RecordError if it goes otherwise."""
        game = self.start(board)
        for number, action in enumerate(self.facts["actions"]):
            try:
                game.step(action)
            except IllegalAction as error:
                raise self.error(f"action {number}: {error}") from error
        self._compare(game)
        return game

    def _compare(self, game: Game) -> None:
        forfeit = self.facts["ending"] == FORFEIT
        ending = TRUNCATED if game.truncated else WON
        found = {"over": game.is_over, "rounds": game.round, "winner": game.winner, "ending": ending}
        recorded = {"over": not forfeit, **{name: self.facts[name] for name in ("rounds", "winner", "ending")}}
        for name in ("over", "rounds") if forfeit else found:
            if found[name] != recorded[name]:
                raise self.error(f"{name} is {found[name]}, recorded {shortened(recorded[name])}")


def record_of(config: TournamentConfig, result: GameResult, num_actions: int) -> dict[str, Any]:
    """The line of a game whose actions were kept."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "game": result.game,
        "rules": config.rules.to_dict(),
        "map": config.map_source,
        "map_digest": config.map_digest,
        "num_actions": num_actions,
        "seed": config.seed,
        "lane": result.deal,
        "episode": 0,
        "agents": [config.labels[agent] for agent in result.seats],
        "versions": [config.entrants[agent].version for agent in result.seats],
        **{name: getattr(result, name) for name in _RESULTS},
        **({} if result.notes is None else {"models": result.notes}),
    }


def write_records(store: Store, path: str | Path) -> None:
    """Write the games of a tournament as JSON Lines, in the order of its schedule."""
    config = store.config
    if not config.record:
        raise ValueError("the tournament was begun without --record: its actions were not kept")
    num_actions = Game(config.rules, config.board, 0).num_actions
    with whole_file(Path(path)) as fresh, open(fresh, "w", encoding="utf-8") as lines:
        for result in store.results(actions=True):
            lines.write(json.dumps(record_of(config, result, num_actions)) + "\n")


def read_records(path: str | Path) -> Iterator[Record]:
    """The records of a file, one by one; RecordError for any other line."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no regular file {str(path)!r}")
    with open(path, "rb") as lines:
        for number, line in enumerate(iter(partial(lines.readline, LONGEST_LINE + 1), b""), 1):
            if line.strip():
                yield _read(Record(number, {}, str(path)), line)


def _read(place: Record, line: bytes) -> Record:
    """The record of a line; `place` says where it stands."""
    if len(line) > LONGEST_LINE:
        raise place.error(f"more than {LONGEST_LINE} bytes")
    try:
        facts = parse_json(line)
    except ValueError as error:
        raise place.error(f"not JSON: {error}") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise place.error(f"not a {FORMAT!r}")
    if facts.get("schema") != SCHEMA:
        raise place.error(f"schema {shortened(facts.get('schema'))}; this version reads schema {SCHEMA}")
    record = replace(place, facts=facts)
    record.check_types()
    return record
