"""The armies on the board when each seat's last turn ended: what a report compares the present ones with."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Armies(NamedTuple):
    """Who held what at some moment: seat (-1 free) and troops of each territory, and which seats were in the game."""

    owner: list[int]  # (T,)
    troops: list[int]  # (T,)
    alive: list[bool]  # (P,)


def armies_of(game: Any) -> Armies:
    """The armies of a game now."""
    return Armies(game.owner.tolist(), game.troops.tolist(), game.alive.tolist())


class LastTurns:
    """Plays a game's history again, on a game at its start, up to the last `catch_up`."""

    def __init__(self, game: Any) -> None:
        self._game, self._played = game, 0
        self._ended: dict[int, Armies] = {}  # by seat

    def catch_up(self, actions: Sequence[int]) -> None:
        """Play the asked actions that have not been played."""
        for action in actions[self._played :]:
            turn, round_number = self._game.turn, self._game.round
            self._game.step(action)
            if round_number and self._game.turn != turn:
                self._ended[turn] = armies_of(self._game)
        self._played = len(actions)

    def before(self, seat: int) -> Armies | None:
        """The armies when this seat's last turn ended, None if it has had none."""
        return self._ended.get(seat)
