"""Games between clients and bots; a token identifies the seat of a client.

This module does not depend on the protocol. `server` offers the methods of `OpenGames` as tools.
"""

import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from risk_agents.human.narration import Words, narrate
from risk_agents.registry import make
from risk_env import bots
from risk_env.agent import Agent
from risk_env.arguments import check_seat
from risk_env.board.maps import Board, check_open_map, load_map
from risk_env.board.rules import BOOK, Rules, rules_from
from risk_env.messages import shortened, suggestion
from risk_env.players import PlayerFault, closed_on_error
from risk_env.text_env import TextMatch

OPEN = "open"  # name of an opponent that stands for another client
MOST_GAMES = 256  # maximum number of games at once
# Maximum number of games of a client; a further game ends the client's least recently used game
MOST_OF_CLIENT = 16
MOST_DECISIONS = 10_000  # maximum number of decisions of a game; the history then takes about 15 MB
IDLE = 1800.0  # time without a request after which a new game may replace a game, in seconds
MOST_ROUNDS = 1000  # maximum number of rounds of a game
MOST_EVENTS = 200  # maximum number of events in one reply of `history`
LONGEST_HISTORY = 1_000_000  # maximum size of one reply of `history`, in bytes
_WIDTH = 400  # maximum number of characters of a line of the history


class OpenGame(TextMatch):
    """Match between bots and clients, with a lock; the client at the address `client` began the match."""

    def __init__(
        self, rules: Rules, board: Board, players: Sequence[Agent | None], seed: int | None, client: str = ""
    ) -> None:
        super().__init__(rules, board, players, seed)
        self.client = client
        self.used = time.monotonic()  # time of the last request
        self.lock = Lock()

    def step(self, action: int | str) -> None:
        """Play an action; raise ValueError after MOST_DECISIONS decisions."""
        if self.game.records["decisions"][0] >= MOST_DECISIONS:
            raise ValueError(
                f"the game has reached the limit of {MOST_DECISIONS} decisions: start another game with "
                "new_game"
            )
        super().step(action)

    def play_on(self) -> int:
        """Play until a client must act or the game is over; raise ValueError if a bot fails."""
        try:
            return super().play_on()
        except PlayerFault as fault:
            raise ValueError(f"the game cannot continue: {fault}") from fault


class OpenGames:
    """All games of a server, by the tokens of their seats; thread-safe."""

    def __init__(self) -> None:
        self._seats: dict[str, tuple[OpenGame, int]] = {}
        self._lock = Lock()

    def begin(
        self,
        preset: str,
        opponents: Sequence[str],
        seat: int = 0,
        board: str = "classic",
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        client: str = "",
    ) -> dict[int, str]:
        """Start a game and play up to a client's first decision; return the token of each client's seat.

        `opponents` are registered bots, or "open" for another client, clockwise from `seat`. A new game never
        ends a game that another client began and still uses. Clients must not read or run files on this
        machine. The method therefore raises ValueError for maps that clients may not choose
        (`check_open_map`), and for bots that are not registered.
        """
        rules = _rules(preset, len(opponents) + 1, options or {})
        P = rules.num_players
        check_seat(seat, P)
        agents = {(seat + place) % P: _bot(name) for place, name in enumerate(opponents, 1) if name != OPEN}
        table = OpenGame(rules, load_open_map(board), [agents.get(s) for s in range(P)], seed, client)
        with closed_on_error(table.close):
            table.play_on()
            return self._add(table)

    def _add(self, table: OpenGame) -> dict[int, str]:
        """Add a game, and return a token for each client's seat.

        If there are too many games, the game that `_game_to_end` returns ends. Raises ValueError if all games
        are in use.
        """
        tokens = {seat: secrets.token_urlsafe(16) for seat in table.plans}
        with self._lock:
            ended = self._game_to_end(table.client)
            self._seats = {token: entry for token, entry in self._seats.items() if entry[0] is not ended}
            self._seats |= {token: (table, seat) for seat, token in tokens.items()}
        if ended is not None:
            # an error of a bot in the ended game must not reach this client
            with ended.lock, suppress(Exception):
                ended.close()
        return tokens

    def _game_to_end(self, client: str) -> OpenGame | None:
        """Return the game that must end before `client` can begin another game, or None.

        Raises ValueError if all games are in use.
        """
        others = list({id(other): other for other, _ in self._seats.values()}.values())
        own = [other for other in others if other.client == client]
        if len(own) >= MOST_OF_CLIENT:
            return min(own, key=lambda other: other.used)
        if len(others) < MOST_GAMES:
            return None
        oldest = min(others, key=lambda other: other.used)
        if time.monotonic() - oldest.used < IDLE:
            raise ValueError(f"all {len(others)} games of the server are in use: try again later")
        return oldest

    def _find(self, token: str) -> tuple[OpenGame, int]:
        entry = self._seats.get(token)
        if entry is None:
            raise ValueError("unknown game token; start a game with new_game")
        entry[0].used = time.monotonic()
        return entry

    def report(self, token: str, style: str = "brief") -> str:
        """Return a report of the facts that the token's seat may know, in words."""
        table, seat = self._find(token)
        with table.lock:
            return table.report(seat, style)

    def act(self, token: str, plan: str, style: str = "brief") -> str:
        """Play a plan, then let bots play until a client must act; return an account and a new report.

        The account states which actions of the plan were played. Raises ValueError if the plan cannot be
        played or the seat is not to act; the game then does not change. Also raises ValueError if a bot
        fails, and after MOST_DECISIONS decisions.
        """
        table, seat = self._find(token)
        with table.lock:
            self._find(token)  # the game may have ended while this thread waited for the lock
            game = table.game
            if game.is_over or game.seat != seat:
                raise ValueError(
                    "the game is over: start another game with new_game"
                    if game.is_over
                    else f"P{game.seat} decides now; ask again later"
                )
            table.plans[seat].give(plan, game)
            table.play_on()
            return "\n".join(filter(None, (table.plans[seat].account(game), table.report(seat, style))))

    def legal_actions(self, token: str) -> list[str]:
        """Return the legal actions of the token's seat in words, or [] if this seat is not to act."""
        table, seat = self._find(token)
        with table.lock:
            game = table.game
            return [game.action_text(int(a)) for a in game.legal_actions()] if game.seat == seat else []

    def history(self, token: str, since: int = 0) -> tuple[list[str], int]:
        """Return the events that the token's seat saw, in words, and the event number for the next call.

        The first event has the number `since`. A reply has at most MOST_EVENTS events, and at most
        LONGEST_HISTORY bytes if the reply has more than one event.
        """
        table, seat = self._find(token)
        with table.lock:
            game = table.game
            events = game.events(max(0, since), seat)[:MOST_EVENTS]
        names = (*(f"P{s}" if s != seat else "You" for s in range(game.num_players)), "neutral")
        words = Words(names, game.board, seat)
        lines = narrate(events, words, _WIDTH)
        while len(events) > 1 and len("\n".join(lines).encode()) > LONGEST_HISTORY:
            events = events[: len(events) // 2]
            lines = narrate(events, words, _WIDTH)
        return lines, max(0, since) + len(events)


def _rules(preset: str, num_players: int, options: dict[str, Any]) -> Rules:
    """Return the rules of a game, with a limit on the number of rounds.

    The limit is necessary because bots can play on without clients.
    """
    if "num_players" in options:
        raise ValueError("options must not contain num_players, which is the number of opponents plus 1")
    rules = rules_from(preset, {"num_players": num_players, **options}, BOOK)
    if rules.max_rounds is None:
        return rules.replace(max_rounds=MOST_ROUNDS)
    if rules.max_rounds > MOST_ROUNDS:
        raise ValueError(f"max_rounds={rules.max_rounds}: must be at most {MOST_ROUNDS} on this server")
    return rules


def load_open_map(name: str) -> Any:
    """Return a map that clients may choose (`check_open_map`), by name; raise MapError for other maps."""
    check_open_map(name)
    return load_map(name)


def _bot(name: str) -> Agent:
    if not bots.is_registered(name):
        known = (OPEN, *bots.names())
        raise ValueError(
            f"opponent={shortened(name)}: choose one of {', '.join(known)}{suggestion(name, known)}"
        )
    return make(name)
