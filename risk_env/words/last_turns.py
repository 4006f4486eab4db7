"""The armies at the end of each seat's last turn, for the comparison in a report."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Armies(NamedTuple):
    """Owners and troops at some moment, and the seats that were in the game.

    An owner is a seat, or -1 if the territory is free.
    """

    owner: list[int]  # (T,)
    troops: list[int]  # (T,)
    alive: list[bool]  # (P,)


def armies_of(game: Any) -> Armies:
    """Return the current armies of a game."""
    return Armies(game.owner.tolist(), game.troops.tolist(), game.alive.tolist())


class LastTurns:
    """Replay of a game's history, on a game at its start, up to the last call of `catch_up`."""

    def __init__(self, game: Any) -> None:
        self._game, self._played = game, 0
        self._ended: dict[int, Armies] = {}  # armies by seat

    def catch_up(self, actions: Sequence[int]) -> None:
        """Play the actions that have not been played yet. Forced actions are not listed."""
        for action in actions[self._played :]:
            turn, round_number = self._game.turn, self._game.round
            self._game.step(action)
            if round_number and self._game.turn != turn:
                self._ended[turn] = armies_of(self._game)
        self._played = len(actions)

    def before(self, seat: int) -> Armies | None:
        """Return the armies when this seat's last turn ended, or None if it has had no turn."""
        return self._ended.get(seat)
