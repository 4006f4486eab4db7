"""Games as JSON Lines: rules, map, seed and asked actions of each, enough to play it again exactly; and `replay`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.results import FORFEIT, TRUNCATED, WON, GameResult
from risk_agents.tournament.store import Store
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.text.notation import IllegalAction

FORMAT = "risk_env game record"
SCHEMA = 1
NEEDED = {
    "rules",
    "map",
    "map_digest",
    "num_actions",
    "seed",
    "lane",
    "episode",
    "actions",
    "ending",
    "rounds",
    "winner",
}


class RecordError(ValueError):
    """A record that cannot be read or does not play out as it says; the message names line and problem."""


@dataclass(frozen=True)
class Record:
    """One recorded game."""

    line: int
    facts: dict[str, Any]

    def start(self, board: Board | None = None) -> Game:
        """The game before its first action; RecordError if this version or map is another."""
        facts = self.facts
        board = load_map(facts["map"]) if board is None else board
        if board.digest != facts["map_digest"]:
            recorded, found = facts["map_digest"][:16], board.digest[:16]
            raise RecordError(f"line {self.line}: recorded on map {recorded}, but {board.source!r} is map {found}")
        game = Game(Rules.from_dict(facts["rules"]), board, facts["seed"], lane=facts["lane"], episode=facts["episode"])
        if game.num_actions != facts["num_actions"]:
            raise RecordError(
                f"line {self.line}: recorded with {facts['num_actions']} actions, this version has {game.num_actions}"
            )
        return game

    def replay(self, board: Board | None = None) -> Game:
        """The game played to its recorded end; RecordError if it goes otherwise."""
        game = self.start(board)
        for number, action in enumerate(self.facts["actions"]):
            try:
                game.step(action)
            except IllegalAction as error:
                raise RecordError(f"line {self.line}: action {number}: {error}") from error
        self._compare(game)
        return game

    def _compare(self, game: Game) -> None:
        forfeit = self.facts["ending"] == FORFEIT
        ending = TRUNCATED if game.truncated else WON
        found = {"over": game.is_over, "rounds": game.round, "winner": game.winner, "ending": ending}
        recorded = {"over": not forfeit, **{name: self.facts[name] for name in ("rounds", "winner", "ending")}}
        for name in ("over", "rounds") if forfeit else found:
            if found[name] != recorded[name]:
                raise RecordError(f"line {self.line}: {name} is {found[name]}, recorded {recorded[name]}")


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
        "ending": result.ending,
        "winner": result.winner,
        "places": result.places,
        "rounds": result.rounds,
        "forfeit_seat": result.forfeit_seat,
        "forfeit_reason": result.forfeit_reason,
        "actions": result.actions,
        **({} if result.notes is None else {"models": result.notes}),
    }


def write_records(store: Store, path: str | Path) -> int:
    """Write the games of a tournament as JSON Lines, in the order of its schedule; how many."""
    config = store.config
    if not config.record:
        raise ValueError("the tournament was begun without --record: its actions were not kept")
    num_actions = Game(config.rules, config.board, 0).num_actions
    count = 0
    with open(path, "w", encoding="utf-8") as lines:
        for result in store.results(actions=True):
            lines.write(json.dumps(record_of(config, result, num_actions)) + "\n")
            count += 1
    return count


def read_records(path: str | Path) -> Iterator[Record]:
    """The records of a file, one by one; RecordError for a line that is none."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _read(number, line)


def _read(number: int, line: str) -> Record:
    try:
        facts = json.loads(line)
    except ValueError as error:
        raise RecordError(f"line {number}: not JSON: {error}") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise RecordError(f"line {number}: not a {FORMAT!r}")
    if facts.get("schema") != SCHEMA:
        raise RecordError(f"line {number}: schema {facts.get('schema')!r}; this version reads schema {SCHEMA}")
    if missing := sorted(NEEDED - facts.keys()):
        raise RecordError(f"line {number}: {', '.join(missing)} missing")
    return Record(number, facts)
