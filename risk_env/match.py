"""Match: one game played by players of any kind, one at each seat.

match = Match("classic", "classic", ["beam", MyAgent(), None], seed=7)
while match.run() != NOBODY:                     # until a seat without a player must act
    match.play(int(match.view().legal_actions[0]))
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
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.lanes import whole_numbers
from risk_env.seeds import game_seed
from risk_env.text.notation import illegal_action

MOST_BITS = 63  # of an action


FAULTS = ("crash", "died", "garbage", "illegal", "time")  # kinds of a `PlayerFault`


class PlayerFault(RuntimeError):
    """A player gave no legal action: `seat` is the player's seat, `kind` and `reason` say what went wrong.

    `kind` is "illegal" if the action is not legal, "crash" if the player raised an exception; an exception may bring
    another kind of `FAULTS` in its attribute `kind`.
    """

    def __init__(self, seat: int, name: str, kind: str, reason: str) -> None:
        super().__init__(f"{name} at seat {seat}: {reason}")
        self.seat, self.kind, self.reason = seat, kind, reason


class MatchResult(NamedTuple):
    """The state of a match, or the outcome of a match that is over."""

    winner: int  # seat, -1 while nobody has won
    placements: tuple[int, ...]  # (P,) places from 1, equal seats share the better place (RULES 11.2)
    rounds: int
    truncated: bool  # whether `max_rounds` ended the game
    decisions: tuple[int, ...]  # (P,) actions that each player was asked for
    turns: tuple[int, ...]  # (P,) rounds in which each player was asked, set-up counting as one
    seconds: tuple[float, ...]  # (P,) that each player took


class Match:
    """One game with a player at each seat, or None at the seats that the caller plays.

    A player is an `Agent`, a `CompiledBot`, a `Policy`, or the name of a registered bot. `rules`, `board` and `seed`
    are those of `Game`; `position` is the text of a position to begin with (docs/positions.md). A player's own chance
    follows from the seed and its seat. The first call that plays prepares and resets the players, unless `begin` did.
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
    ) -> None:
        self.game = Game(rules, board, seed, lane=lane, episode=episode)
        self.lane, self.episode, self.position = lane, episode, position
        if position:
            self.game = Game.from_position(position, self.game.rules, self.game.board, self.game.seed, lane, episode)
        P = self.game.num_players
        if len(players) != P:
            raise ValueError(f"players={list(players)!r}: {len(players)} players for num_players={P}")
        self.players = tuple(None if player is None else as_agent(player) for player in players)
        seated = [player or Agent() for player in self.players]
        self._chance = chance_seeds(seated, int(game_seed(self.game.seed, lane, episode)))
        self.decisions: npt.NDArray[np.int64] = np.zeros(P, np.int64)  # (P,)
        self.turns: npt.NDArray[np.int64] = np.zeros(P, np.int64)  # (P,)
        self.seconds: npt.NDArray[np.float64] = np.zeros(P)  # (P,)
        self._last_round = [NOBODY] * P  # in which each player was asked
        self._has_begun = False

    def prepare(self) -> None:
        """Let the players compile and load what they need; PlayerFault if one cannot play this game."""
        self._tell_players(lambda player, seat: prepare(player, self.game.rules, self.game.board))

    def begin(self) -> None:
        """Reset the players for this game; PlayerFault if one cannot play it."""
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
        """Play until a seat of `until`, or one without a player, must act, or the game is over.

        Returns the seat to act, -1 when the game is over. PlayerFault names a player that gives no legal action; the
        game then stands where that player was to act.
        """
        self._begin_once()
        while not self.game.is_over and self.players[self.game.seat] is not None and self.game.seat not in until:
            self.step(self.query_player())
        return self.game.seat

    def step(self, action: int | str) -> None:
        """Play an action of the seat to act; an illegal one raises IllegalAction and changes nothing.

        All actions of the match go through this method: a subclass may keep or show them.
        """
        self.game.step(action)

    def query_player(self) -> int:
        """Ask the player of the seat to act; returns a legal action, PlayerFault if there is none."""
        self._begin_once()
        seat = self.game.seat
        player, view = self.players[seat], self.view()
        if player is None:
            raise ValueError(f"seat {seat} has no player: the caller plays its actions")
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
        """The view of a seat, by default the seat to act, with the events that it has seen."""
        game, seat = self.game, self.game.seat if seat is None else seat
        return View(game, seat, self._chance[seat], lambda of: game.events(seat=of))

    def replay(self, actions: Sequence[int]) -> set[int]:
        """Play kept actions. Each player is asked as well, so that it remembers what it knew when they were played.

        Returns the seats whose players would act otherwise now.
        """
        changed = set()
        for action in actions:
            if not self.game.is_over and self.players[self.game.seat] is not None and self.query_player() != action:
                changed.add(self.game.seat)
            self.step(action)
        return changed

    def close(self) -> None:
        """End what the players have started; afterwards the match cannot go on."""
        for player in self.players:
            close(player)

    # ------------------------------------------------------------------------------------------ the result

    @property
    def result(self) -> MatchResult:
        """The state of the match, or its outcome if it is over."""
        game, counts = self.game, (self.decisions, self.turns, self.seconds)
        places = tuple(game.placements().tolist())
        return MatchResult(
            game.winner, places, game.round, game.truncated, *(tuple(count.tolist()) for count in counts)
        )

    def _crash(self, seat: int, error: Exception) -> PlayerFault:
        """The fault of a player that raised an error."""
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
        """The policy's action for this view."""
        seen, masks = as_floats(view.codes[None], view.board), view.action_mask[None]
        actions = self.policy.act_batch(seen, masks, np.array([view.seat]))
        return int(whole_numbers(actions, (1,), f"{self.policy!r} must answer with")[0])


def as_agent(player: Any) -> Agent:
    """The agent of a registered name, a `CompiledBot`, a `Policy` or an `Agent`; ValueError for anything else."""
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
    """An agent's answer as an action number, legal or not; TypeError or ValueError if it cannot be one."""
    if isinstance(answer, bool | np.bool_) or not hasattr(answer, "__index__"):
        raise TypeError(f"act must return a whole number, one of view.legal_actions, not {answer!r:.80}")
    action = operator.index(answer)
    if action.bit_length() > MOST_BITS:
        raise ValueError(f"act returned a number of {action.bit_length()} bits")
    return action
