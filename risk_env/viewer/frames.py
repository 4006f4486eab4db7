"""The history of a game as one viewer saw it, frame by frame.

Each frame contains the changes since the previous frame.
"""

from collections.abc import Callable, Iterable
from typing import Any

from risk_env.board.tables import Tables
from risk_env.core import entry
from risk_env.core.types import NOBODY, Deck, Phase
from risk_env.events import Event
from risk_env.public import hand_of, public_facts

Facts = dict[str, Any]
# function of an array of one record; returns the win probability of each seat, float (P,)
Evaluate = Callable[[Any], Iterable[float]]

_LEFT_OUT = ("schema", "num_players")  # fields of a public state that are the same in all frames


class Frames:
    """The frames of a game for one seat, or for a spectator (`seat` -1).

    After every change of the game, call `watch` with the record and the new events (`events.GameLog`). A
    frame is the pair `(changes, events)`. `start` is the state of the first frame, and `last` the state of
    the last frame. A state contains `income` (P,), and the JSON form of the `PublicState` without `schema`
    and `num_players`. The states for a seat also contain the seat's `hand`, `mission` and `own_headquarters`.
    """

    def __init__(self, tables: Tables, seat: int = NOBODY, evaluate: Evaluate | None = None) -> None:
        self.start: Facts = {}
        self.frames: list[tuple[Facts, list[Facts]]] = []
        # index of a frame, and the win probability of each seat: for the first frame, each turn and the end
        self.chances: list[tuple[int, list[float]]] = []
        self._tables, self._seat, self._evaluate = tables, seat, evaluate
        self._scratch = tables.new_games(1)
        self.last: Facts = {}

    def watch(self, records: Any, events: Iterable[Event]) -> None:
        """Add a frame if the viewer saw a change or an event."""
        seen = [event for event in events if event.only in (NOBODY, self._seat)]
        state = self._state(records)
        if state == self.last and not seen:
            return
        self.start = self.start or state
        self.frames.append((changes(self.last or state, state), [_event_facts(event) for event in seen]))
        self.last = state
        if self._evaluate and (
            len(self.frames) == 1 or any(event.kind in ("turn", "over") for event in seen)
        ):
            self.chances.append((len(self.frames) - 1, [round(float(c), 4) for c in self._evaluate(records)]))

    def _state(self, records: Any) -> Facts:
        """Return the part of a record that the viewer may see."""
        public = public_facts(records, self._tables, self._seat)
        state = {name: value for name, value in public.items() if name not in _LEFT_OUT}
        state["income"] = [
            self._income(records, seat) if lives else 0 for seat, lives in enumerate(public["alive"])
        ]
        if self._tables.rules["deck"][0] == Deck.NONE:
            state["hand_sizes"] = []
        return state if self._seat == NOBODY else state | self._own(records)

    def _own(self, records: Any) -> Facts:
        numbers = {name: int(records[field][0, self._seat]) for name, field in _OWN.items()}
        return {"hand": hand_of(records, self._seat, self._tables), **numbers}

    def _income(self, records: Any, seat: int) -> int:
        """Return the number of troops due to a seat at the start of a turn, before any cards (RULES 3.1)."""
        self._scratch[:] = records
        self._scratch["turn"] = seat
        entry.begin_draft_of_turn(self._scratch, 0, self._tables.board, self._tables.rules)
        return int(self._scratch["draft_left"][0])


_OWN = {"mission": "mission", "own_headquarters": "headquarters"}


def changes(before: Facts, after: Facts) -> Facts:
    """Return the fields of `after` that differ from `before`.

    If fewer than half of the values of a list differ, the list is given as a dict of these values, by index.
    A list whose length has changed is given as a whole.
    """
    return {name: _change(before[name], value) for name, value in after.items() if value != before[name]}


def _change(before: Any, after: Any) -> Any:
    if not isinstance(after, list) or len(before) != len(after):
        return after
    different = {k: value for k, (old, value) in enumerate(zip(before, after, strict=True)) if value != old}
    return different if 2 * len(different) < len(after) else after


def _event_facts(event: Event) -> Facts:
    """Return the JSON form of an event, without `schema` and `only`, which the page does not need."""
    return {name: value for name, value in event.to_json().items() if name not in ("schema", "only")}


def secrets_at_the_end(records: Any, num_players: int) -> Facts:
    """Return the facts that become public when the game is over: all missions.

    Before the end of the game, the result is empty.
    """
    if records["phase"][0] != Phase.OVER:
        return {}
    return {"missions": records["mission"][0, :num_players].tolist()}
