"""Match: play one game between agents, compiled bots, policies and the caller.

match = Match("classic", "classic", ["beam", MyAgent(), None], seed=7)
while match.run() != NOBODY:                     # runs until a seat without a player must act
    match.step(int(match.view().legal_actions[0]))
print(match.result)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env import bots
from risk_env.agent import Agent, CompiledAgent, View, chance_seeds, close, prepare
from risk_env.arena import Policy, as_floats
from risk_env.board.maps import Board
from risk_env.board.rules import BOOK, Rules, rules_from
from risk_env.bots import CompiledBot
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.lanes import whole_numbers
from risk_env.seeds import game_seed
from risk_env.text.notation import illegal_action

MOST_BITS = 63  # most bits of an action number
FAULTS = ("crash", "died", "garbage", "illegal", "time")  # kinds of a `PlayerFault`


class PlayerFault(RuntimeError):
    """A player at `seat` did not return a legal action; `reason` is the error message.

    `kind` is "crash" if the player raised an exception, and "illegal" if the action is not legal. If the exception
    has an attribute `kind` with a value of `FAULTS`, this value is used instead, such as "time" for a program.
    """

    def __init__(self, seat: int, name: str, kind: str, reason: str) -> None:
        super().__init__(f"{name} at seat {seat}: {reason}")
        self.seat, self.kind, self.reason = seat, kind, reason


class MatchResult(NamedTuple):
    """The current standings of a match, or the final result if the match is over."""

    winner: int  # seat of the winner, -1 while nobody has won
    placements: tuple[int, ...]  # (P,) places from 1; equal seats share the better place (RULES 11.2)
    rounds: int  # number of rounds begun
    truncated: bool  # whether `max_rounds` ended the game
    decisions: tuple[int, ...]  # (P,) number of decisions of each player
    turns: tuple[int, ...]  # (P,) rounds with a decision of each player; the set-up is one round
    seconds: tuple[float, ...]  # (P,) thinking time of each player


class Match:
    """One game with a player at each seat.

    A player is an `Agent`, a `CompiledBot`, a `Policy`, the name of a registered bot, or None if the caller
    plays the seat. `rules`, `board`, `seed` and `options` have the same meaning as for `Game`. `position` is the text
    of a position to begin with (docs/positions.md). The random numbers of a player follow from the seed and the
    player's seat.

    The first call that plays also prepares and resets the players, unless `begin` was called before.
    """

    def __init__(
        self,
        rules: Rules | str,
        board: Board | str,
        players: Sequence[str | CompiledBot | Agent | Policy | None],
        seed: int | None = None,
        *,
        lane: int = 0,
        episode: int = 0,
        position: str = "",
        **options: Any,
    ) -> None:
        self.game = Game(rules_from(rules, options, BOOK, Match), board, seed, lane=lane, episode=episode)
        self.lane, self.episode, self.position = lane, episode, position
        if position:
            self.game = Game.from_position(position, self.game.rules, self.game.board, self.game.seed, lane, episode)
        P = self.game.num_players
        if len(players) != P:
            raise ValueError(f"players={list(players)!r}: {len(players)} players, but the game has {P} seats")
        self.players = tuple(None if player is None else as_agent(player) for player in players)
        seated = [player or Agent() for player in self.players]
        self._chance = chance_seeds(seated, int(game_seed(self.game.seed, lane, episode)))
        self.decisions: npt.NDArray[np.int64] = np.zeros(P, np.int64)  # (P,)
        self.turns: npt.NDArray[np.int64] = np.zeros(P, np.int64)  # (P,)
        self.seconds: npt.NDArray[np.float64] = np.zeros(P)  # (P,)
        self._last_round = [NOBODY] * P  # round of each player's last decision
        self._has_begun = False

    def prepare(self) -> None:
        """Let the players compile and load code; raise PlayerFault if a player cannot play this game."""
        self._tell_players(lambda player, seat: prepare(player, self.game.rules, self.game.board))

    def begin(self) -> None:
        """Reset the players for this game; raise PlayerFault if a player cannot play this game."""
        self._has_begun = True
        game = self.game
        self._tell_players(lambda player, seat: player.reset(seat, game.rules, game.board, self._chance[seat]))

    def _tell_players(self, tell: Callable[[Agent, int], None]) -> None:
        for seat, player in enumerate(self.players):
            if player is not None:
                try:
                    tell(player, seat)
                except Exception as error:
                    raise self._crash(seat, error) from error

    def _begin_once(self) -> None:
        if not self._has_begun:
            self.prepare()
            self.begin()

    # ------------------------------------------------------------------------------------------ playing

    def run(self, until: Collection[int] = ()) -> int:
        """Play until the game is over, or until a seat without a player or a seat in `until` must act.

        Return the seat to act, or -1 if the game is over. Raise PlayerFault if a player does not return a
        legal action; that player's seat is then still to act.
        """
        self._begin_once()
        while not self.game.is_over and self.players[self.game.seat] is not None and self.game.seat not in until:
            self.step(self.query_player())
        return self.game.seat

    def step(self, action: int | str) -> None:
        """Play an action of the seat to act; an illegal action raises IllegalAction and changes nothing.

        Every action of the match passes through this method, so subclasses can record or display actions
        here.
        """
        self.game.step(action)

    def query_player(self) -> int:
        """Ask the player of the seat to act; return a legal action or raise PlayerFault."""
        self._begin_once()
        seat = self.game.seat
        player, view = self.players[seat], self.view()
        if player is None:
            raise ValueError(f"seat {seat} has no player: call step() with an action")
        self._count(seat)
        start = perf_counter()
        try:
            action = as_action(player.act(view))
        except Exception as error:
            raise self._crash(seat, error) from error
        finally:
            self.seconds[seat] += perf_counter() - start
        if not self.game.is_legal(action):
            illegal = illegal_action(self.game.record, self.game.tables, self.game.board, action)
            raise PlayerFault(seat, player.name, "illegal", str(illegal))
        return action

    def view(self, seat: int | None = None) -> View:
        """Return the view of a seat, with the events that this seat has seen. Default: the seat to act."""
        game, seat = self.game, self.game.seat if seat is None else seat
        return View(game, seat, self._chance[seat], lambda of: game.events(seat=of))

    def replay(self, actions: Sequence[int]) -> set[int]:
        """Play recorded actions. Players are asked as well, so that their memories match the game.

        Return the seats whose players would now choose another action.
        """
        changed = set()
        for action in actions:
            if not self.game.is_over and self.players[self.game.seat] is not None and self.query_player() != action:
                changed.add(self.game.seat)
            self.step(action)
        return changed

    def close(self) -> None:
        """Close the players; the match cannot continue afterwards."""
        for player in self.players:
            close(player)

    # ------------------------------------------------------------------------------------------ the result

    @property
    def result(self) -> MatchResult:
        """The current standings, or the final result if the match is over."""
        game, counts = self.game, (self.decisions, self.turns, self.seconds)
        places = tuple(game.placements().tolist())
        return MatchResult(
            game.winner, places, game.round, game.truncated, *(tuple(count.tolist()) for count in counts)
        )

    def _crash(self, seat: int, error: Exception) -> PlayerFault:
        """Return the PlayerFault for an error of a player."""
        name, kind = getattr(self.players[seat], "name", ""), getattr(error, "kind", None)
        if kind in FAULTS:
            return PlayerFault(seat, name, str(kind), str(error))
        return PlayerFault(seat, name, "crash", f"{type(error).__name__}: {error}")

    def _count(self, seat: int) -> None:
        self.decisions[seat] += 1
        self.turns[seat] += self._last_round[seat] != self.game.round
        self._last_round[seat] = self.game.round


class PolicyAgent(Agent):
    """A `Policy` as the player of one seat."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.name = str(getattr(policy, "name", type(policy).__name__))

    def act(self, view: View) -> int:
        """Return the policy's action for this view."""
        seen, masks = as_floats(view.codes[None], view.board), view.action_mask[None]
        actions = self.policy.act_batch(seen, masks, np.array([view.seat]))
        return int(whole_numbers(actions, (1,), f"{self.policy!r} must answer with")[0])


def as_agent(player: Any) -> Agent:
    """Return the agent for a registered name, `CompiledBot`, `Policy` or `Agent`; else raise ValueError."""
    found = bots.find(player) if isinstance(player, str) else player
    if isinstance(found, CompiledBot):
        return CompiledAgent(found)
    if isinstance(found, type):
        found = found()
    if isinstance(found, Agent) or (callable(getattr(found, "act", None)) and callable(getattr(found, "reset", None))):
        return found
    if isinstance(found, Policy):
        return PolicyAgent(found)
    raise ValueError(f"player={player!r} must be a bot's name, a CompiledBot, a Policy or an Agent")


def as_action(answer: Any) -> int:
    """Convert an answer to an action number, legal or not; raise TypeError or ValueError if this fails."""
    if isinstance(answer, bool | np.bool_) or not hasattr(answer, "__index__"):
        raise TypeError(f"act must return a whole number, one of view.legal_actions, not {answer!r:.80}")
    action = operator.index(answer)
    if action.bit_length() > MOST_BITS:
        raise ValueError(f"act returned a number of {action.bit_length()} bits: at most {MOST_BITS} bits")
    return action
