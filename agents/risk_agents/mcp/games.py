"""Games in which several clients and bots sit, each client known by the token of its seat.

Nothing here knows of the protocol: `server` makes tools of it.
"""

import secrets
import time
from collections.abc import Sequence
from threading import Lock
from typing import Any

from risk_agents.human.narration import Words, narrate
from risk_agents.registry import make
from risk_env import bots
from risk_env.agent import Agent
from risk_env.board.maps import Board, load_map, map_names
from risk_env.board.rules import BOOK, Rules, near, rules_from
from risk_env.core.types import NOBODY
from risk_env.match import Match, PlayerFault
from risk_env.words.plan import Plan

OPEN = "open"  # a seat for another client
MOST_GAMES = 256  # at once
MOST_OF_CLIENT = 16  # at once of one client; then its game that was used least recently ends
MOST_DECISIONS = 10_000  # of a game: its history takes about 15 MB then
IDLE = 1800.0  # seconds after which a game that nobody has used makes room for another client's
MOST_ROUNDS = 1000  # of a game
MOST_EVENTS = 200  # of one answer about the history
LONGEST_HISTORY = 1_000_000  # bytes of such an answer
_WIDTH = 400  # letters of such a line


class OpenGame(Match):
    """A match of bots and clients, the plans of the clients' seats, and its lock. `client` is who began it."""

    def __init__(
        self, rules: Rules, board: Board, players: Sequence[Agent | None], seed: int | None, client: str = ""
    ) -> None:
        super().__init__(rules, board, players, seed)
        self.plans = {seat: Plan(seat) for seat, player in enumerate(players) if player is None}
        self.client = client
        self.used = time.monotonic()  # when a client has last asked
        self.lock = Lock()

    def step(self, action: int | str) -> None:
        """Play an action; ValueError if the game has become too long."""
        if self.game.records["decisions"][0] >= MOST_DECISIONS:
            raise ValueError(f"the game has ended after {MOST_DECISIONS} decisions: begin another one with new_game")
        super().step(action)

    def play_on(self) -> None:
        """Play until a client must be asked or the game is over; ValueError if a bot fails."""
        try:
            while (seat := self.run()) != NOBODY and (action := self.plans[seat].next_action(self.game)) is not None:
                self.step(action)
        except PlayerFault as fault:
            raise ValueError(f"the game cannot go on: {fault}") from fault


class OpenGames:
    """All games of a server, by the tokens of their seats. Safe to use from several threads."""

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
        """Begin a game and play up to a client's first question; return the token of each client's seat.

        `opponents` are registered bots, or "open" for another client, clockwise from `seat`. Games of
        `client` never end another client's game in use. Raise ValueError for anything but shipped maps and
        registered names: a client must not run files of this machine.
        """
        rules = _rules(preset, len(opponents) + 1, options or {})
        P = rules.num_players
        if not 0 <= seat < P:
            raise ValueError(f"seat={seat!r} must be a whole number from 0 to {P - 1}")
        agents = {(seat + place) % P: _bot(name) for place, name in enumerate(opponents, 1) if name != OPEN}
        table = OpenGame(rules, load_shipped(board), [agents.get(s) for s in range(P)], seed, client)
        table.play_on()
        return self._add(table)

    def _add(self, table: OpenGame) -> dict[int, str]:
        """Add a game and return a token per client's seat; an unused game makes room, or raise ValueError."""
        tokens = {seat: secrets.token_urlsafe(16) for seat in table.plans}
        with self._lock:
            others = list({id(other): other for other, _ in self._seats.values()}.values())
            own = [other for other in others if other.client == table.client]
            if len(own) >= MOST_OF_CLIENT:
                self._end(min(own, key=lambda other: other.used))
            elif len(others) >= MOST_GAMES:
                oldest = min(others, key=lambda other: other.used)
                if time.monotonic() - oldest.used < IDLE:
                    raise ValueError(f"all {len(others)} games of the server are in use: try again later")
                self._end(oldest)
            self._seats |= {token: (table, seat) for seat, token in tokens.items()}
        return tokens

    def _end(self, table: OpenGame) -> None:
        self._seats = {token: found for token, found in self._seats.items() if found[0] is not table}

    def _find(self, token: str) -> tuple[OpenGame, int]:
        found = self._seats.get(token)
        if found is None:
            raise ValueError("unknown game token; start a game with new_game")
        found[0].used = time.monotonic()
        return found

    def report(self, token: str, style: str = "brief") -> str:
        """What the seat may know, in words."""
        table, seat = self._find(token)
        with table.lock:
            return table.game.report(seat, style)

    def act(self, token: str, plan: str, style: str = "brief") -> str:
        """Play a plan, and all others until a client is asked: what became of it, and the new report.

        ValueError says why it cannot be played; the game is untouched then.
        """
        table, seat = self._find(token)
        with table.lock:
            game = table.game
            if game.is_over or game.seat != seat:
                raise ValueError("the game is over" if game.is_over else f"P{game.seat} decides now; ask again later")
            table.plans[seat].give(plan, game)
            table.play_on()
            return "\n".join(filter(None, (table.plans[seat].account(game), game.report(seat, style))))

    def legal_actions(self, token: str) -> list[str]:
        """The legal actions of the seat in words, none while another decides."""
        table, seat = self._find(token)
        with table.lock:
            game = table.game
            return [game.action_text(int(a)) for a in game.legal_actions()] if game.seat == seat else []

    def history(self, token: str, since: int = 0) -> tuple[list[str], int]:
        """What the seat saw, in words, from event `since` on, and the number to ask with next time."""
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
    """The rules of a game. Every game ends, because bots may play on when all clients are out."""
    if "num_players" in options:
        raise ValueError("options has num_players: it is the number of opponents and you")
    rules = rules_from(preset, {"num_players": num_players, **options}, BOOK)
    if rules.max_rounds is None:
        return rules.replace(max_rounds=MOST_ROUNDS)
    if rules.max_rounds > MOST_ROUNDS:
        raise ValueError(f"max_rounds={rules.max_rounds} must be at most {MOST_ROUNDS} here")
    return rules


def load_shipped(name: str) -> Any:
    """A map by the name of a shipped one; ValueError for anything else, a path above all."""
    if name not in map_names():
        raise ValueError(f"board={name!r} must be one of {', '.join(map_names())}{near(name, map_names())}")
    return load_map(name)


def _bot(name: str) -> Agent:
    if name not in bots.names():
        known = (OPEN, *bots.names())
        raise ValueError(f"opponent={name!r} must be one of {', '.join(known)}{near(name, known)}")
    return make(name)
