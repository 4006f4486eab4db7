"""Match: play one game between agents, compiled bots, policies and the caller.

match = Match("classic", "classic", ["beam", MyAgent(), None], seed=7)
while match.run() != NOBODY:  # runs until a seat without a player must act
    match.step(int(match.view().legal_actions[0]))
print(match.result)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from risk_env.agent import Agent, View, chance_seeds
from risk_env.board.maps import Board
from risk_env.board.rules import BOOK, Rules, rules_from
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.messages import counted, shortened
from risk_env.players import Named, as_agents, close_all, fault_of, query_agent
from risk_env.seeds import game_seed


class MatchResult(NamedTuple):
    """The current standings of a match, or the final result if the game is over."""

    winner: int  # seat of the winner, -1 while nobody has won
    placements: tuple[int, ...]  # (P,) places from 1; tied seats share the better place (RULES 11.2)
    rounds: int  # number of rounds begun
    truncated: bool  # true if `max_rounds` ended the game
    decisions: tuple[int, ...]  # (P,) number of decisions of each player
    turns: tuple[int, ...]  # (P,) number of rounds in which each player decided; the set-up is one round
    seconds: tuple[float, ...]  # (P,) thinking time of each player in seconds


class Match:
    """One game with a player at each seat.

    A player is an `Agent`, a `CompiledBot`, a `Policy`, a registered name, or a class or function that makes
    agents (`players.find_player`). The caller plays each seat whose player is None.

    All other arguments have the same meaning as for `Game`. The random numbers of a player depend on the seed
    of the game and on the player's seat.

    The first call of `run` or `query_player` also prepares and resets the players, unless `begin` was called
    before.
    """

    def __init__(
        self,
        rules: Rules | str,
        board: Board | str,
        players: Sequence[Named | None],
        seed: int | None = None,
        *,
        lane: int = 0,
        episode: int = 0,
        position: str | None = None,
        **options: Any,
    ) -> None:
        rules = rules_from(rules, options, BOOK, Match)
        self._set_up(Game(rules, board, seed, lane=lane, episode=episode, position=position), players)

    @classmethod
    def of(cls, game: Game, players: Sequence[Named | None]) -> Self:
        """Return a match that continues `game`. The match steps `game` itself, not a copy."""
        match = cls.__new__(cls)
        match._set_up(game, players)
        return match

    def _set_up(self, game: Game, players: Sequence[Named | None]) -> None:
        """Seat the players."""
        self.game = game
        P = self.game.num_players
        if len(players) != P:
            raise ValueError(
                f"players={shortened(list(players))}: "
                f"{counted(len(players), 'player')}, but the game has {P} seats"
            )
        agents = iter(as_agents([player for player in players if player is not None]))
        self.players = tuple(None if player is None else next(agents) for player in players)
        seated = [Agent() if player is None else player for player in self.players]
        self._chance = chance_seeds(seated, int(game_seed(*game.origin[:3])))
        self.decisions: npt.NDArray[np.int64] = np.zeros(P, np.int64)  # (P,)
        self.turns: npt.NDArray[np.int64] = np.zeros(P, np.int64)  # (P,)
        self.seconds: npt.NDArray[np.float64] = np.zeros(P)  # (P,)
        self._last_round = [NOBODY] * P  # round of each player's last decision
        self._has_begun = False

    def prepare(self) -> None:
        """Let the players compile and load code. Raises PlayerFault if a player raises an error."""
        self._tell_players(lambda player, seat: player.prepare(self.game.rules, self.game.board))

    def begin(self) -> None:
        """Reset the players for this game. Raises PlayerFault if a player raises an error."""
        self._has_begun = True
        game = self.game
        self._tell_players(
            lambda player, seat: player.reset(seat, game.rules, game.board, self._chance[seat])
        )

    def _tell_players(self, tell: Callable[[Agent, int], None]) -> None:
        for seat, player in enumerate(self.players):
            if player is not None:
                try:
                    tell(player, seat)
                except Exception as error:
                    raise fault_of(player, seat, error) from error

    def _begin_once(self) -> None:
        if not self._has_begun:
            self.prepare()
            self.begin()

    # ------------------------------------------------------------------------------------------ playing

    def run(self, until: Collection[int] = (), rounds: int | None = None) -> int:
        """Play until the game is over, or until a seat without a player or a seat in `until` must act.

        With `rounds`, the match also stops after the round with this number. Returns the seat to act, or -1
        if the game is over. Raises PlayerFault if a player cannot begin the game, or does not return a
        legal action. In the second case, this player's seat is still the seat to act.
        """
        self._begin_once()
        game = self.game
        while (
            not game.is_over
            and self.players[game.seat] is not None
            and game.seat not in until
            and (rounds is None or game.round <= rounds)
        ):
            self.step(self.query_player())
        return game.seat

    def step(self, action: int | str) -> None:
        """Play an action of the seat to act.

        An illegal action raises IllegalAction and changes nothing. Every action of the match passes through
        this method. Subclasses can override it to record or display actions.
        """
        self.game.step(action)

    def query_player(self) -> int:
        """Return a legal action of the player at the seat to act.

        Raises PlayerFault if the player does not return a legal action, and ValueError if the seat has no
        player.
        """
        self._begin_once()
        seat = self.game.seat
        player, view = self.players[seat], self.view()
        if player is None:
            raise ValueError(f"seat {seat} has no player: call step() with an action")
        self._count(seat)
        start = perf_counter()
        try:
            return query_agent(player, view, self.game)
        finally:
            self.seconds[seat] += perf_counter() - start

    def view(self, seat: int | None = None) -> View:
        """Return the view of `seat` (default: the seat to act), with the events that the seat has seen."""
        game, seat = self.game, self.game.seat if seat is None else seat
        return View(game, seat, self._chance[seat])

    def replay(self, actions: Sequence[int]) -> set[int]:
        """Play recorded actions, and return the seats whose players chose a different action.

        The players are called for each of their decisions, so that their memories match the game. The actions
        of the players are compared with the recorded actions, but not played.
        """
        changed = set()
        for action in actions:
            if (
                not self.game.is_over
                and self.players[self.game.seat] is not None
                and self.query_player() != action
            ):
                changed.add(self.game.seat)
            self.step(action)
        return changed

    def close(self) -> None:
        """Close the players. The match cannot continue afterwards."""
        close_all(player for player in self.players if player is not None)

    # ------------------------------------------------------------------------------------------ the result

    @property
    def result(self) -> MatchResult:
        """The current standings, or the final result if the game is over."""
        game, counts = self.game, (self.decisions, self.turns, self.seconds)
        places = tuple(game.placements().tolist())
        return MatchResult(
            game.winner, places, game.round, game.truncated, *(tuple(count.tolist()) for count in counts)
        )

    def _count(self, seat: int) -> None:
        self.decisions[seat] += 1
        self.turns[seat] += self._last_round[seat] != self.game.round
        self._last_round[seat] = self.game.round
