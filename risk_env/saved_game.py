"""SavedGame: a game in a form for files, databases and messages.

The saved actions restore the game, including future dice:

    saved = SavedGame.of(game, ["human", "beam", "random"])
    text = json.dumps(saved.to_dict())
    match = SavedGame.from_dict(json.loads(text)).match([None, "beam", "random"])  # continues the game
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.board.toml_table import similar_names
from risk_env.game import Game, SavedGameError
from risk_env.match import Match
from risk_env.messages import counted, shortened
from risk_env.players import close_made, closed_on_error

FORMAT = "risk_env game"
SCHEMA = 1
_KINDS: dict[str, type] = {  # types of the values of `SavedGame.to_dict`
    "format": str,
    "schema": int,
    "rules": dict,
    "map": str,
    "map_digest": str,
    "num_actions": int,
    "seed": int,
    "lane": int,
    "episode": int,
    "position": str,
    "players": list,
    "actions": list,
    "state": str,
}
_ITEMS: dict[str, type] = {"players": str, "actions": int}  # types of the list entries


@dataclass(frozen=True)
class SavedGame:
    """A game, saved as its beginning and its actions.

    The game can be restored only on the same map, and only by a version that numbers actions in the same way.
    Otherwise `replay` and `match` raise SavedGameError.
    """

    rules: Rules
    map: str  # argument of `load_map`
    map_digest: str
    num_actions: int
    seed: int
    players: tuple[str, ...]  # (P,) spec or name of the player at each seat
    lane: int = 0
    episode: int = 0
    position: str = ""  # text of the position that the game began with, "" for a set-up
    actions: tuple[int, ...] = ()
    state: str = ""  # `state_digest` after the actions, "" if unknown
    place: str = field(default="", compare=False)  # place from which the game was read, for error messages

    @classmethod
    def of(cls, game: Game, players: Sequence[str]) -> SavedGame:
        """Return the saved form of a game, with all its actions.

        `players` are the specs or names of the players, one for each seat. Raises ValueError for another
        number of players, and if the actions do not restore the game.
        """
        seed, lane, episode, position = game.origin
        if position is None:
            raise ValueError(
                f"game={game!r} cannot be restored from its actions: save it with to_bytes() or to_text()"
            )
        if len(players) != game.num_players:
            problem = f"{counted(len(players), 'player')}, but the game has {game.num_players} seats"
            raise ValueError(f"players={shortened(list(players))}: {problem}")
        saved = cls(
            game.rules,
            game.board.source,
            game.board.digest,
            game.num_actions,
            seed,
            tuple(players),
            lane=lane,
            episode=episode,
            position=position,
            actions=game.actions,
        )
        return replace(saved, state=state_digest(saved.replay(game.board)))

    @classmethod
    def from_dict(cls, facts: Any, place: str = "") -> SavedGame:
        """Return the game from a dict that `to_dict` returned. Raises SavedGameError for any other value.

        `place` is the place from which the dict was read, for error messages.
        """
        with _errors(place):
            _check_facts(facts)
            lists = {name: tuple(facts[name]) for name in _ITEMS}
            values = {name: facts[name] for name in _KINDS if name not in ("format", "schema")} | lists
            values["rules"] = Rules.from_dict(facts["rules"])
            saved = cls(**values, place=place)
            if len(saved.players) != saved.rules.num_players:
                given, seats = counted(len(saved.players), "player"), saved.rules.num_players
                problem = f"{given}, but the rules have {seats} seats"
                raise ValueError(f"players={shortened(list(saved.players))}: {problem}")
        return saved

    def to_dict(self) -> dict[str, Any]:
        """Return the game as a dict for `json.dumps`."""
        values = {"rules": self.rules.to_dict()} | {name: list(getattr(self, name)) for name in _ITEMS}
        facts = {"format": FORMAT, "schema": SCHEMA} | {
            each.name: getattr(self, each.name) for each in fields(self)
        }
        return {name: value for name, value in (facts | values).items() if name != "place"}

    def beginning(self) -> SavedGame:
        """Return the game without its actions."""
        return replace(self, actions=(), state="")

    def start(self, board: Board | None = None) -> Game:
        """Return the game before its first action. `board` is the map, if the map is already loaded.

        Raises SavedGameError for another map or another number of actions.
        """
        with _errors(self.place):
            board = load_map(self.map) if board is None else board
            if board.digest != self.map_digest:
                saved, loaded = self.map_digest[:16], board.digest[:16]
                written = f"saved on the map with digest {shortened(saved)}"
                raise ValueError(f"{written}, but {board.source!r} has digest {loaded}")
            lane, episode, position = self.lane, self.episode, self.position or None
            game = Game(self.rules, board, self.seed, lane=lane, episode=episode, position=position)
            if game.num_actions != self.num_actions:
                raise ValueError(
                    f"saved with an action space of {self.num_actions} actions, but this version has "
                    f"{game.num_actions}: open the game with the version that saved it"
                )
        return game

    def replay(self, board: Board | None = None) -> Game:
        """Return the game after all saved actions.

        Raises SavedGameError if the actions are not legal or do not lead to the saved `state`.
        """
        game = self.start(board)
        self._play(game.step)
        self.check_end(game)
        return game

    def match(self, players: Sequence[Any], board: Board | None = None) -> Match:
        """Return a match that continues the game after all saved actions.

        The players are called again for their earlier decisions, so that they remember the game. After an
        error, the players that were made for the match are closed.
        """
        match = Match.of(self.start(board), players)
        with closed_on_error(lambda: close_made(match.players, players)):
            self._play(lambda action: match.replay([action]))
            self.check_end(match.game)
        return match

    def _play(self, step: Callable[[int], Any]) -> None:
        """Pass every action to `step`. Raises SavedGameError with the number of an illegal action."""
        for number, action in enumerate(self.actions):
            with _errors(self.place, f"action {number}: "):
                step(action)

    def check_end(self, game: Game) -> None:
        """Raise SavedGameError unless `game`, after all actions, is in the saved state."""
        if self.state not in ("", state_digest(game)):
            reasons = "the saved game was changed, or another version wrote it"
            with _errors(self.place):
                raise ValueError(f"the actions lead to another state: {reasons}")


def state_digest(game: Game) -> str:
    """Return a digest of the state of a game, including future dice."""
    return hashlib.sha256(game.to_record()).hexdigest()[:32]


@contextmanager
def _errors(place: str, what: str = "") -> Iterator[None]:
    """Turn a ValueError into a SavedGameError that names the place of the saved game."""
    try:
        yield
    except ValueError as error:
        raise SavedGameError(f"{place}: {what}{error}" if place else f"{what}{error}") from error


def _check_facts(facts: Any) -> None:
    """Raise ValueError unless a value has the form of `SavedGame.to_dict`."""
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f"not a saved game: must be a dict with format={FORMAT!r}")
    if facts.get("schema") != SCHEMA:
        raise ValueError(f"schema {shortened(facts.get('schema'))}; this version reads schema {SCHEMA}")
    if missing := sorted(_KINDS.keys() - facts.keys()):
        raise ValueError(f"missing keys: {', '.join(missing)}")
    if strange := sorted(facts.keys() - _KINDS.keys(), key=str):
        hint = similar_names(str(strange[0])[:80], tuple(_KINDS))
        raise ValueError(f"key {shortened(strange[0])} is unknown{hint}")
    for name, kind in _KINDS.items():
        if type(facts[name]) is not kind:
            raise ValueError(f"{name} is {shortened(facts[name])}, but must be of type {kind.__name__}")
    for name, kind in _ITEMS.items():
        for item in facts[name]:
            if type(item) is not kind:
                raise ValueError(
                    f"{name} has {shortened(item)}, but every value must be of type {kind.__name__}"
                )
