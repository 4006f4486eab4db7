"""Reports that compare the current armies with the armies at the end of a seat's last turn."""

from collections.abc import Sequence
from typing import Any

from risk_env.public import members
from risk_env.words.report import Armies, Reader, write_report


def armies_of(game: Any) -> Armies:
    """Return the current armies of a game."""
    return Armies(game.owner.tolist(), game.troops.tolist(), game.alive.tolist())


class LastTurns:
    """The armies at the end of each seat's last turn, from a replay of the game's actions.

    `game` is the game before its first decision. `catch_up` continues the replay.
    """

    def __init__(self, game: Any) -> None:
        self._game, self._played = game, 0
        self._ended: dict[int, Armies] = {}  # armies by seat

    def catch_up(self, actions: Sequence[int]) -> None:
        """Play those of `actions` that are new. `actions` are all actions so far, except forced actions."""
        for action in actions[self._played :]:
            turn, round_number = self._game.turn, self._game.round
            self._game.step(action)
            if round_number and self._game.turn != turn:
                self._ended[turn] = armies_of(self._game)
        self._played = len(actions)

    def before(self, seat: int) -> Armies | None:
        """Return the armies at the end of the seat's last turn, or None if the seat has had no turn."""
        return self._ended.get(seat)


def seat_report(game: Any, seat: int, style: str = "brief") -> str:
    """Return a report of the facts that a seat may know (docs/llm.md).

    If the seat must act, the report also contains the legal actions. `style` is "brief" or "full". The game's
    history is replayed to find the changes since the seat's last turn. A `TextMatch` tracks these changes
    without a replay.
    """
    last_turns = LastTurns(game.beginning())
    last_turns.catch_up(game.actions)
    return report_since(game, seat, last_turns.before(seat), style)


def report_since(game: Any, seat: int, before: Armies | None, style: str = "brief") -> str:
    """Return the report for a seat, with the changes since `before` (`armies_of`) unless `before` is None."""
    reader = Reader(seat, game.hand(seat), game.mission(seat), game.headquarters(seat))
    legal = members(game.records["legal"][0]) if seat == game.seat else []
    return write_report(game.public(seat), legal, game.tables, game.rules, reader, style, before)
