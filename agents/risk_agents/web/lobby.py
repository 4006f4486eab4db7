"""Lobby: all games of a server. Browsers begin games, and saved games continue after a restart.

The table of a game is its `BrowserTable`, which exists while the game is open.
"""

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any

from risk_agents.registry import HUMAN
from risk_agents.rules_arguments import MAP, PRESET
from risk_agents.web.browser_request import Refused
from risk_agents.web.browser_table import (
    MOST_DECISIONS,
    RECORDED,
    BrowserTable,
    Setting,
    check_armies,
    position_of,
)
from risk_agents.web.game_store import GameStore, NotKept
from risk_agents.web.modes import MODES, agents, modes, who_cannot_play
from risk_agents.web.outlook import ending_in_words
from risk_agents.web.work import BoundedThreads
from risk_env import bots
from risk_env.board.maps import MapError, check_open_map, load_map, map_names
from risk_env.board.rules import BOOK, Rules, presets, rules_from
from risk_env.game import Game
from risk_env.messages import shortened, suggestion
from risk_env.saved_game import SavedGame
from risk_env.text.escape import for_terminal, label
from risk_env.viewer.page import static

MOST_GAMES = 200  # maximum number of open games
MOST_BYTES = 200_000_000  # maximum size of the frames of all open games, in bytes
MOST_LISTED = 30  # maximum number of games in the lobby's list
OPENERS = 2  # number of threads that begin games, and number of threads that open saved games
CLOSERS = 16  # number of threads that close games
MOST_LOOKING = 64  # maximum number of running and waiting requests for lists, and for moments of games
MOST_OPENING = 16  # maximum number of games that begin, and of saved games that are opened, at a time
LONGEST_SPEC = 200  # maximum number of characters of a player's spec
EASY = "grower"  # opponent in the first game of a new player
SEED_BITS = 48  # number of bits of a new game's seed
NO_GAME = "there is no such game: it was deleted, or the link is wrong"


class Lobby:
    """All games of a server.

    If `allow_programs` is true, agents can also be files, commands and language models. `proposed` contains
    the initial values of the form for a new game (see `proposal`).
    """

    def __init__(
        self, store: GameStore, allow_programs: bool = False, proposed: Mapping[str, Any] | None = None
    ) -> None:
        self.store, self.allow_programs = store, allow_programs
        self.proposed = proposal() if proposed is None else proposed
        self.tables: dict[str, BrowserTable] = {}  # tables of the open games, in the order of opening
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._restoring: dict[str, asyncio.Task[BrowserTable]] = {}
        self._deleted: set[str] = set()  # games that are being deleted
        self._beginning, self._opening = (BoundedThreads(OPENERS, MOST_OPENING) for _ in range(2))
        self._looking = BoundedThreads(1, MOST_LOOKING)
        self._closing = ThreadPoolExecutor(CLOSERS)

    def options(self) -> dict[str, Any]:
        """Return the choices for a new game."""
        return {
            "presets": modes(),
            "maps": {name: _title(name) for name in self.maps},
            "players": [HUMAN, *bots.names()],
            "programs": self.allow_programs,
            "proposed": self.proposed,
        }

    @property
    def maps(self) -> list[str]:
        """Names of the maps that the form for a new game offers."""
        return list(dict.fromkeys((*map_names(), self.proposed["map"])))

    async def agents(self, wish: Any) -> dict[str, Any]:
        """Return the level and technique of every registered agent, and the agents that cannot play a game.

        The request describes the game by a preset, map, number of players and options, or by a position.
        """
        if not isinstance(wish, dict):
            raise Refused(
                "the request must be a JSON object with preset, map, count and options, or position"
            )
        return await self._beginning.run(self._agents, wish)

    def _agents(self, wish: dict[str, Any]) -> dict[str, Any]:
        text, count = wish.get("position", ""), wish.get("count", 0)
        if not isinstance(text, str) or type(count) is not int:
            given = f"position={shortened(text)}, count={shortened(count)}"
            raise Refused(f"{given}: position must be a string, and count must be a whole number")
        if not text and not {"preset", "map"} <= wish.keys():
            raise Refused("the request needs preset and map, or position")
        game = position_of(text) if text else _of_preset(wish, count)
        refused = who_cannot_play(game.rules, game.board)
        return {"agents": agents(), "refused": refused, "players": game.num_players}

    async def begin(self, wish: Any) -> tuple[str, Setting]:
        """Begin a game; return the game's name and setting.

        Raises ValueError with the reason if the request is not valid, or if the game cannot begin or cannot
        be saved.
        """
        return await self._start(partial(self._setting, wish))

    async def first(self) -> tuple[str, Setting]:
        """Begin the first game of a new player; return the game's name and setting."""
        return await self._start(_first_game)

    async def again(self, name: str, token: str) -> tuple[str, Setting]:
        """Begin a game with the same players and other dice, and return the new game's name and setting.

        Raises Refused if the old game does not exist or is a recorded game. Also raises Refused unless the
        old game is over, or `token` is the secret of the person who began the old game.
        """
        table = await self.table(name)
        setting = table.setting
        if not (table.game.is_over or setting.is_owner(token)):
            raise Refused("only the person who began a game can play the game again before it is over")
        if RECORDED in setting.game.players:
            raise Refused('A recorded game has no players. Click "Play on" to choose players.')
        return await self._start(partial(_again, setting))

    async def delete(self, name: str, token: str) -> None:
        """Delete a game.

        Raises Refused if the game does not exist, or if `token` is not the secret of the person who began
        the game. Raises NotKept if the database cannot be written.
        """
        facts = await self._looking.run(self.store.facts, name)
        if facts is None or name in self._deleted:
            raise Refused(NO_GAME)
        if not Setting.from_dict(facts).is_owner(token):
            raise Refused("only the person who began a game can delete it")
        self._deleted.add(name)
        try:
            if name in self._restoring:
                await asyncio.wait([self._restoring[name]])
            if name in self.tables:
                self.tables[name].stop("The game was deleted.")
                self._end(name)
            await self._beginning.run(self.store.delete, name)
        finally:
            self._deleted.discard(name)

    async def _start(self, make_setting: Callable[[], Setting]) -> tuple[str, Setting]:
        """Begin a game with the setting that `make_setting()` returns; return the game's name and setting.

        Raises ValueError if the game cannot begin or cannot be saved.
        """
        name = secrets.token_urlsafe(8)
        table: BrowserTable = await self._beginning.run(self._begun, name, make_setting)
        self._open(name, table)  # raises Refused if there is no room; such a game is not saved
        try:
            await self._beginning.run(self.store.add_game, name, table.setting.to_dict())
        except ValueError:
            self._end(name)
            raise
        self._play(name)
        return name, table.setting

    def _begun(self, name: str, make_setting: Callable[[], Setting]) -> BrowserTable:
        """Return the table of a new game, which is not saved yet; raise Refused for too many troops."""
        table = self._new_table(name, make_setting())
        try:
            check_armies(table.game)
        except ValueError:
            table.close()
            raise
        return table

    def _setting(self, wish: Any) -> Setting:
        if not isinstance(wish, dict) or not {"preset", "map", "players"} <= wish.keys():
            raise Refused("the request must be a JSON object with preset, map and players")
        players = [self._player(player) for player in _list(wish, "players", 6)]
        position = wish.get("position", "")
        if not isinstance(position, str):
            raise Refused(f"position={shortened(position)}: must be a string")
        start = _of_position(position, len(players)) if position else _of_preset(wish, len(players))
        names = _list(wish, "names", 6) or _names(players)
        if len(names) != len(players) or any(not isinstance(name, str) for name in names):
            raise Refused(f"names={shortened(names)}: must be {len(players)} strings, one for each seat")
        mode = "" if position else wish["preset"]
        return Setting.new(SavedGame.of(start, players), [label(name) for name in names], mode)

    def _player(self, player: Any) -> str:
        if not isinstance(player, str) or len(player) > LONGEST_SPEC:
            raise Refused(
                f"player={shortened(player)}: must be a string of at most {LONGEST_SPEC} characters"
            )
        if player != HUMAN and not bots.is_registered(player) and not self.allow_programs:
            hint = suggestion(player, (HUMAN, *bots.names()))
            raise Refused(
                f"player={player!r} is not a registered agent{hint}; files, programs and language models "
                "need --allow-programs"
            )
        return player

    async def table(self, name: str) -> BrowserTable:
        """Return the table of a game; a game that is not open is opened from the store.

        Raises Refused if the game does not exist.
        """
        if name in self._deleted:
            raise Refused(NO_GAME)
        if name not in self.tables:
            if name not in self._restoring:
                self._restoring[name] = asyncio.create_task(self._restore(name))
            return await asyncio.shield(self._restoring[name])
        return self.tables[name]

    async def _restore(self, name: str) -> BrowserTable:
        """Open a saved game again, and return its table.

        The game's agents act again in all earlier decisions, which can take a long time. Other games continue
        in the meantime.
        """
        try:
            table: BrowserTable = await self._opening.run(self._restored, name)
            self._open(name, table)
            self._play(name)
            return table
        finally:
            del self._restoring[name]

    def _restored(self, name: str) -> BrowserTable:
        """Return the table of a saved game; raise Refused if the game does not exist."""
        saved = self.store.load(name)
        if saved is None:
            raise Refused(NO_GAME)
        return self._new_table(name, self._kept(*saved))

    async def moment(self, name: str, token: str, frame: int) -> tuple[BrowserTable, Game]:
        """Return the table of a game, and the game at a frame of the viewer with the token `token`.

        Raises Refused if the viewer may not continue from this moment.
        """
        table = await self.table(name)
        return table, await self._looking.run(table.moment, table.viewer(token), frame)

    def _kept(self, facts: Any, actions: list[int]) -> Setting:
        """Return the setting of a saved game.

        Raises Refused if the database names an agent or a map that a browser may not choose.
        """
        setting = Setting.from_dict(facts, actions)
        for player in setting.game.players:
            if player != RECORDED:
                self._player(player)
        _check_map(setting.game.map)
        return setting

    def add_recorded(self, saved: SavedGame) -> str:
        """Save a game that was played elsewhere, unless it is already saved, and return its name.

        Browsers can then watch the game and continue from it. Raises ValueError if browsers may not choose
        the map, or if the game has more than MOST_DECISIONS decisions.
        """
        _check_map(saved.map)
        if len(saved.actions) > MOST_DECISIONS:
            raise ValueError(
                f"the game has {len(saved.actions)} decisions; at most {MOST_DECISIONS} are allowed"
            )
        seats = len(saved.players)
        game, names = replace(saved, players=(RECORDED,) * seats), tuple(map(label, saved.players))
        setting = Setting(game, names, tokens=("",) * seats, owner="", begun=int(time.time()))
        name = f"recorded-{hashlib.sha256(json.dumps(saved.to_dict()).encode()).hexdigest()[:16]}"
        if self.store.load(name) is None:
            self.store.add_game(name, setting.to_dict(), saved.actions)
        return name

    def _new_table(self, name: str, setting: Setting) -> BrowserTable:
        return BrowserTable(setting, partial(self.store.add_action, name), lambda: self._why_stopped(name))

    def _why_stopped(self, name: str) -> str:
        """Return the reason why an open game must stop at a size limit, or "" if the game may continue.

        Other games that nobody watches are closed to make room for the game.
        """
        try:
            self._make_room(name)
        except Refused:
            return f"The game was stopped: all open games together take more than {MOST_BYTES} bytes."
        return ""

    def _open(self, name: str, table: BrowserTable) -> None:
        """Add a game to the open games; raise Refused if there is no room for the game."""
        self.tables[name] = table
        try:
            self._make_room(name)
        except Refused:
            self._end(name)
            raise

    def _play(self, name: str) -> None:
        """Start a task that plays an open game."""
        if name in self.tables:  # the game may have been closed again to make room for another game
            self._playing[name] = asyncio.get_running_loop().create_task(self._play_on(name))

    async def _play_on(self, name: str) -> None:
        """Play a game to its end, and save a sentence about the ending for the list of games."""
        table = self.tables[name]
        await table.play()
        ending = ending_in_words(table.game, table.setting.names)
        if ending and not table.is_closed:
            with suppress(NotKept):  # without a saved ending, the list shows "saved"
                await asyncio.get_running_loop().run_in_executor(None, self.store.set_ending, name, ending)

    def _end(self, name: str) -> None:
        """Close an open game.

        A thread closes the game's agents, because a program can take seconds to end.
        """
        table = self.tables.pop(name)
        table.is_closed = True  # now, because the game can be opened again before its agents have ended
        if name in self._playing:
            self._playing.pop(name).cancel()
        self._closing.submit(table.close)

    def _make_room(self, wanted: str) -> None:
        """Make room for a game by closing games that nobody watches.

        Games in which no agent is to act are closed first. A closed game is saved, and continues when
        somebody opens its page. Raises Refused if all other games are watched.
        """
        while (
            len(self.tables) > MOST_GAMES or sum(table.bytes for table in self.tables.values()) > MOST_BYTES
        ):
            unwatched = [name for name, table in self.tables.items() if name != wanted and not table.viewers]
            if not unwatched:
                raise Refused(
                    f"the server has no room: {len(self.tables) - 1} other games are watched; try again later"
                )
            self._end(min(unwatched, key=lambda name: self.tables[name].is_busy))

    async def listed(self) -> list[dict[str, Any]]:
        """Return facts about the newest games, such as `state`, for the page of the lobby."""
        return await self._looking.run(self._listed)

    def _listed(self) -> list[dict[str, Any]]:
        names, problem = self.store.games(MOST_LISTED)
        damaged = {"game": "", "names": [], "state": f"the database is damaged: {for_terminal(problem)}"}
        return [*map(self._entry, names), *([damaged] if problem else [])]

    def _entry(self, name: str) -> dict[str, Any]:
        table = self.tables.get(name)
        if table is not None:
            ending = ending_in_words(table.game, table.setting.names)
            turn = f", {table.turn}'s turn" if table.turn else ""
            return _listed_game(name, table.setting, ending or f"{table.state}{turn}")
        try:
            setting, ending = Setting.from_dict(self.store.facts(name)), self.store.ending(name)
        except ValueError as error:
            return {"game": name, "names": [], "state": for_terminal(f"damaged: {error}")}
        # the number of decisions would reveal hidden decisions
        return _listed_game(name, setting, for_terminal(ending) or "saved")

    def close(self) -> None:
        """Close all games and their agents; the games stay in the store."""
        for task in (*self._playing.values(), *self._restoring.values()):
            task.cancel()
        self._beginning.close()
        self._opening.close()
        self._looking.close()
        for name in list(self.tables):
            self._end(name)
        self._closing.shutdown()
        self.store.close()


def _first_game() -> Setting:
    """Return the setting of a first game: few troops on a small map, against an easy agent."""
    players = [HUMAN, EASY]
    start = _of_position(static("first_game.txt", "risk_agents.web"), len(players))
    return Setting.new(SavedGame.of(start, players), _names(players), "classic")


def _again(setting: Setting) -> Setting:
    """Return the setting of a new game with the same rules, map and players, but new dice and secrets."""
    game = setting.game
    seed, position = secrets.randbits(SEED_BITS), game.position or None
    start = Game(game.rules, game.map, seed, position=position)
    return Setting.new(SavedGame.of(start, game.players), setting.names, setting.mode)


def _listed_game(name: str, setting: Setting, state: str) -> dict[str, Any]:
    """Return the facts about a game for the list of the lobby."""
    mode = MODES[setting.mode].title if setting.mode else "From a position"
    if RECORDED in setting.game.players:
        mode = "Recorded"
    return {"game": name, "names": list(setting.names), "state": state, "mode": mode, "begun": setting.begun}


@cache
def _title(map_name: str) -> str:
    """Return the name and the size of a map for the form."""
    board = load_map(map_name)
    return f"{for_terminal(board.name)}, {board.num_territories} territories"


def proposal(
    preset: str = PRESET, map_name: str = MAP, rules: Rules | None = None, **options: Any
) -> dict[str, Any]:
    """Return the initial values of the form for a new game.

    `options` are the options of `Rules.preset` with which `rules` were made; new games of this preset begin
    with these options.
    """
    rules = Rules.preset(preset, profile=BOOK) if rules is None else rules
    return {
        "preset": preset,
        "map": map_name,
        "players": rules.num_players,
        "attack": rules.attack,
        "defender_dice": rules.defender_dice,
        "setup": rules.setup,
        "options": options,
    }


def _check_map(name: Any) -> None:
    """Raise Refused unless a browser may choose the map `name`."""
    try:
        check_open_map(name)
    except MapError as error:
        raise Refused(f"map={error}") from None


def _of_preset(wish: dict[str, Any], num_players: int) -> Game:
    """Return a new game with the rules and the map of a browser's request.

    Raises ValueError if the preset, the map or an option is not valid.
    """
    if wish["preset"] not in presets():
        shown = shortened(wish["preset"])
        raise Refused(f"preset={shown} is not known{suggestion(shown, presets())}")
    _check_map(wish["map"])
    options = wish.get("options", {})
    if not isinstance(options, dict):
        raise Refused(f"options={shortened(options)}: must be a JSON object")
    rules = rules_from(wish["preset"], {"num_players": num_players, **options}, BOOK)
    return Game(rules, wish["map"], secrets.randbits(SEED_BITS))


def _of_position(text: str, num_players: int) -> Game:
    """Return a game that begins with a position (docs/positions.md).

    Raises ValueError, which names the line and the problem, if the position is invalid.
    """
    game = position_of(text)
    if game.num_players != num_players:
        raise Refused(f"the position has {game.num_players} players, but the request has {num_players}")
    if game.is_over:
        raise Refused("the game of the position is over: give a position before the end of a game")
    return Game(game.rules, game.board, secrets.randbits(SEED_BITS), position=text)


def _list(wish: dict[str, Any], name: str, most: int) -> list[Any]:
    value = wish.get(name, [])
    if not isinstance(value, list) or len(value) > most:
        raise Refused(f"{name}={shortened(value)}: must be a list of at most {most} entries")
    return value


def _names(players: list[str]) -> list[str]:
    """Return a name for each seat: `Player` and the number of the seat for people, the spec for agents.

    If a name occurs several times, the number of the seat is added.
    """
    names = [f"Player {seat}" if player == HUMAN else player for seat, player in enumerate(players)]
    return [f"{name} {seat}" if names.count(name) > 1 else name for seat, name in enumerate(names)]
