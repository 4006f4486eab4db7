"""Events of a game: the source of the log, the last battle, reports and replay pages.

A `GameLog` replays the history of a game on a separate record. It plays forced actions and chance results one
by one, and a blitz in one step. The log compares the records before and after each step. An event that only
one seat may see contains the number of this seat (RULES 2.4, 7.1, 8.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.action_space import DONE, Action
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core import entry
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.types import DICE_PHASES, MAX_DICE, NOBODY, NOWHERE, Held, Phase
from risk_env.messages import shortened
from risk_env.public import SECRET_PHASES, dice_of, members
from risk_env.step_kernel import play_on
from risk_env.text.notation import action_text, card_text

SCHEMA = 1
PRIVATE_PHASES = (Phase.HEADQUARTERS, *SECRET_PHASES)  # phases whose actions only the seat to act sees
KEPT_ROLLS = 32  # the event of a blitz contains at most this many first rolls, and as many last rolls
MOST_FORCED = 1000  # maximum number of forced actions in a row that get separate events

Numbers = tuple[int, ...]
Pair = tuple[int, int]
Dice = tuple[Numbers, Numbers]  # the attacker's dice and the defender's dice


class Roll(NamedTuple):
    """One roll of a blitz."""

    rolled: Dice  # dice as rolled, with extra dice (RULES 9.8)
    dice: Dice  # dice as compared, highest first (RULES 3.2.3, 10.6)
    losses: Pair  # losses of attacker and defender


class Event(NamedTuple):
    """One event of a game.

    docs/public.md lists the kinds of events, and the fields of each kind. Other fields have their default
    values. Territories, seats, Objectives and Rewards are numbers. The number of a card is the number of its
    territory, or `num_territories` for a wild card.
    """

    kind: str
    only: int = NOBODY  # the only seat that may see the event; -1: all seats
    seat: int = NOBODY  # the acting seat, or the seat that the event concerns
    forced: bool = False  # true if only one action was legal
    phase: str = ""  # phase of the decision
    text: str = ""  # text of the action
    territory: int = NOWHERE
    source: int = NOWHERE
    target: int = NOWHERE
    other: int = NOBODY  # the defender, or the eliminated seat; P for the neutral army
    number: int = 0  # count of troops, cards or rolls; number of a round, or of a mission on the map
    cards: Numbers = ()
    territories: Numbers = ()  # one per seat (capitals, headquarters), or a set of territories
    owners: Numbers = ()  # (T,) owner of each territory
    troops: Numbers = ()  # (T,) troops on each territory
    objectives: Numbers = ()
    rewards: Numbers = ()  # Rewards that came with these Objectives; -1: none
    rolled: Dice = ((), ())  # dice of the last roll, as rolled (`Roll`)
    dice: Dice = ((), ())  # dice of the last roll, as compared (`Roll`)
    losses: Pair = (0, 0)  # losses of attacker and defender, in all rolls
    left: Pair = (0, 0)  # troops on source and target after the losses
    rolls: tuple[Roll, ...] = ()  # the first and the last rolls, only for a blitz
    faces: Pair = (0, 0)  # face of a die before and after a re-roll or the commander

    def to_json(self) -> dict[str, Any]:
        """Return a dict for `json.dumps`.

        The dict contains `schema`, `kind`, `only`, and all fields that differ from their default values.
        """
        values = {
            name: value for name, value in self._asdict().items() if value != self._field_defaults.get(name)
        }
        return {"schema": SCHEMA, "only": self.only, **values}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Event:
        """Return the event from a dict that `to_json` returned.

        Raises ValueError if the dict has another schema.
        """
        if facts.get("schema") != SCHEMA:
            raise ValueError(
                f"schema={shortened(facts.get('schema'))} of an event: this version reads {SCHEMA}"
            )
        values = {name: _as_tuples(value) for name, value in facts.items() if name != "schema"}
        values["rolls"] = tuple(Roll(*roll) for roll in values.get("rolls", ()))
        return cls(**values)


def _as_tuples(value: Any) -> Any:
    """Return a value with tuples in place of all lists."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


class Battle(NamedTuple):
    """One roll of a battle.

    `attacker_rolled` and `defender_rolled` are in the order of the roll. `attacker_dice` and `defender_dice`
    are the dice as compared, highest first.
    """

    source: str
    target: str
    attacker_rolled: tuple[int, ...]
    defender_rolled: tuple[int, ...]
    attacker_dice: tuple[int, ...]  # after drop, re-roll, commander and airfield (RULES 9.9, 10.6)
    defender_dice: tuple[int, ...]
    attacker_losses: int
    defender_losses: int


def last_battle(events: Sequence[Event], board: Board) -> Battle | None:
    """Return the last decided roll, or None before the first decided roll."""
    for event in reversed(events):
        if event.kind == "battle":
            source, target = (board.territories[t] for t in (event.source, event.target))
            losses = event.rolls[-1].losses if event.rolls else event.losses
            return Battle(source, target, *event.rolled, *event.dice, *losses)
    return None


Watch = Callable[[Any, Sequence[Event]], None]


class GameLog:
    """The events and the log lines of a game, from the start of the history up to the last `catch_up`.

    The history begins with the record `start`. With `start=None`, the history begins with the set-up, and
    `chance` is the state of the generator. `watch` is called with an array of one record and the new
    events, at the start and after every change. A log with a `watch` keeps no events itself.
    """

    def __init__(
        self,
        rules: Rules,
        board: Board,
        start: bytes | None,
        chance: np.uint64,
        ask_forced: bool,
        watch: Watch | None = None,
    ) -> None:
        self.events: list[Event] = []
        self._watch = watch
        self._lines: list[str] = []
        self._lined = 0  # number of events that `_lines` already contains
        # by seat: the events that the seat saw, and the number of events examined
        self._seen_by: dict[int, tuple[list[Event], int]] = {}
        self._board, self._tables, self._ask_forced = board, tables(rules, board), ask_forced
        self._games = self._tables.new_games(1)
        self._played = 0
        # events held back until the next action, because their timing would reveal a hidden fact
        self._held: list[Event] = []
        self._rolls, self._totals = new_rolls()
        if start is None:
            entry.set_up_game(self._games, 0, self._tables.board, self._tables.rules, chance)
            entry.write_legal_actions(self._games, 0, self._tables.board, self._tables.rules)
            self._add(setup_events(self._look(), rules, board))
        else:
            self._games.view(np.uint8)[:] = np.frombuffer(start, np.uint8)
            self._look()
            self._add([])
        self._play_chance()
        self._play_forced()

    def catch_up(self, actions: Sequence[int]) -> None:
        """Play the actions that the log has not played yet. `actions` are all actions of the game so far."""
        for action in actions[self._played :]:
            self._act(action, forced=False)
            self._play_forced()
        self._played = len(actions)

    def seen_by(self, seat: int) -> list[Event]:
        """Return the events that this seat saw. With NOBODY, return the events that all seats saw."""
        seen, known = self._seen_by.get(seat, ([], 0))
        seen += [event for event in self.events[known:] if event.only in (NOBODY, seat)]
        self._seen_by[seat] = seen, len(self.events)
        return seen

    def lines(self) -> list[str]:
        """Return the lines of the log (docs/decisions.md)."""
        self._lines += log_lines(self.events[self._lined :], self._board)
        self._lined = len(self.events)
        return list(self._lines)

    def _play_forced(self) -> None:
        """Play forced actions up to the next decision."""
        played = 0
        while not self._ask_forced and len(legal := members(self._record.legal)) == 1:
            if played == MOST_FORCED:
                self._skip_forced()
                return
            self._act(legal[0], forced=True)
            played += 1

    def _skip_forced(self) -> None:
        """Play the rest of a long run of forced actions in one step, and record one event `skipped`."""
        before = self._record
        play_on(self._games, 0, self._tables)
        self._add([Event("skipped"), *_course(before, self._look())])

    def _act(self, action: int, forced: bool) -> None:
        text = action_text(action, self._games[0], self._tables, self._board)
        before = self._record
        entry.apply_action(self._games, 0, self._tables.board, self._tables.rules, action)
        step = Step(before, self._look(), self._tables.space.decode(action), forced, self._board)
        self._add(action_events(step, text), forced)
        self._play_chance()

    def _play_chance(self) -> None:
        """Play chance results until a seat must act or the game is over."""
        while self._record.phase > Phase.OVER:
            before = self._record
            if before.phase == Phase.ROLL and before.blitz:
                tables = self._tables
                entry.play_blitz(self._games, 0, tables.board, tables.rules, self._rolls, self._totals)
                after = self._look()
                self._add([*_battle(before, after, self._board, *self._blitz()), *_course(before, after)])
            else:
                entry.play_chance_once(self._games, 0, self._tables.board, self._tables.rules)
                self._add(chance_events(before, self._look(), self._board))

    def _blitz(self) -> tuple[int, Pair, tuple[Roll, ...]]:
        """Return the number of rolls, the losses, and the first and last rolls of the blitz just played."""
        number, *losses = self._totals.tolist()
        places = [place if place < KEPT_ROLLS else KEPT_ROLLS + place % KEPT_ROLLS for place in _kept(number)]
        kept = tuple(_roll(self._rolls[place]) for place in places)
        return number, (losses[ATTACKER], losses[DEFENDER]), kept

    def _look(self) -> Any:
        """Keep the current record for later comparison, and return it.

        The fields of the record are attributes of the result. Reading all fields at once is much faster than
        reading each field separately.
        """
        games: Any = self._games
        values = np.frombuffer(games.tobytes(), games.dtype).item()
        self._record = SimpleNamespace(**dict(zip(games.dtype.names, values, strict=True)))
        return self._record

    def _add(self, events: list[Event], forced: bool = False) -> None:
        """Add events, after the events that were held back.

        A roll is held back while a re-roll is being decided. A draft to the only possible territory is held
        back until the amount is given. Otherwise the times of these events would reveal whether the seat had
        a hidden decision.
        """
        events, self._held = [*self._held, *events], []
        if self._record.phase == Phase.REROLL or (forced and self._record.phase == Phase.DRAFT_AMOUNT):
            events, self._held = [], events
        if self._watch is None:
            self.events += events
        else:
            self._watch(self._games, events)


def _kept(number: int) -> list[int]:
    """Return the indices of the kept rolls in a blitz of `number` rolls."""
    return [place for place in range(number) if not KEPT_ROLLS <= place < number - KEPT_ROLLS]


def new_rolls() -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Return empty arrays for the kept rolls, the count and the losses of a blitz (`entry.play_blitz`)."""
    return np.zeros((2 * KEPT_ROLLS, 2, 2 * MAX_DICE + 1), np.int8), np.zeros(3, np.int64)


def _roll(values: npt.NDArray[np.int8]) -> Roll:
    """Return one entry of the array `rolls` of `entry.play_blitz` as a `Roll`."""
    attacker, defender = values[:, -1].tolist()
    return Roll(dice_of(values[:, :MAX_DICE]), dice_of(values[:, MAX_DICE:-1]), (attacker, defender))


# ------------------------------------------------------------------------------------ from records


def setup_events(record: Any, rules: Rules, board: Board) -> list[Event]:
    """Return the events of the chance results of a set-up, in the order of RULES 11.4.

    The events of the first turn follow if this turn begins at once.
    """
    players = rules.num_players
    events = [Event("starter", seat=int(record.starter))]
    if rules.victory == "mission":
        events += [Event("mission", only=s, seat=s, number=int(record.mission[s])) for s in range(players)]
    if rules.cities == "random":
        events.append(Event("cities", territories=tuple(members(record.city))))
    if rules.objectives == "random":
        laid = tuple(
            number for number, state in enumerate(record.objective.tolist()) if state != Held.NOT_IN_PLAY
        )
        events.append(
            Event("objectives", objectives=laid, rewards=tuple(record.objective_reward[list(laid)].tolist()))
        )
    owners, troops = (
        tuple(field[: board.num_territories].tolist()) for field in (record.owner, record.troops)
    )
    if rules.setup == "deal":
        events.append(Event("deal", owners=owners))
    if rules.setup == "random":
        events.append(Event("setup", owners=owners, troops=troops))
        if rules.capitals:
            events.append(Event("capitals", territories=tuple(record.capital[:players].tolist())))
        if rules.victory == "headquarters":
            events.append(Event("headquarters", territories=tuple(record.headquarters[:players].tolist())))
    for place in range(players):
        seat = (int(record.starter) + place) % players
        if cards := members(record.hand[seat]):  # cards with which the seat starts (RULES 9.1, 9.3)
            events.append(Event("dealt", seat=seat, number=len(cards)))
            events += [Event("card", only=seat, seat=seat, cards=(card,)) for card in cards]
    return events + (_turn_begins(record, is_new_round=True) if record.round_number else [])


class Step(NamedTuple):
    """An action, the record before the action, and the record after the action but before chance events."""

    before: Any
    after: Any
    action: Action
    forced: bool
    board: Board

    @property
    def seat(self) -> int:
        """The seat that acted."""
        return int(self.before.seat)


def action_events(step: Step, text: str) -> list[Event]:
    """Return the events of an action. `text` is the action in words."""
    phase = Phase(int(step.before.phase))
    only = step.seat if phase in PRIVATE_PHASES else NOBODY
    events = [Event("action", only=only, seat=step.seat, forced=step.forced, phase=phase.name, text=text)]
    if phase in _EFFECTS:
        events += _EFFECTS[phase](step)
    return events + _course(step.before, step.after)


def chance_events(before: Any, after: Any, board: Board) -> list[Event]:
    """Return the events of one roll or one drawn card, given the records before and after.

    The battle follows the roll, unless a decision about dice comes first. If the deck was empty, a shuffle
    precedes the card. The last events are those that follow without an action (`_course`).
    """
    seat = int(before.turn)
    if before.phase == Phase.ROLL:
        source, target = int(before.source), int(before.target)
        roll = Event("roll", seat=seat, source=source, target=target, rolled=dice_of(after.rolled))
        events = [roll, *_battle(before, after, board)]
    else:
        events = _shuffled(before, after)
        if drawn := _new_cards(before, after, seat, board):
            events += [Event("draw", seat=seat), Event("card", only=seat, seat=seat, cards=drawn)]
    return events + _course(before, after)


def _new_cards(before: Any, after: Any, seat: int, board: Board) -> Numbers:
    """Return the cards that a seat got between two records."""
    wilds = int(after.wilds[seat]) - int(before.wilds[seat])
    return (*members(after.hand[seat] & ~before.hand[seat]), *[board.num_territories] * wilds)


def _shuffled(before: Any, after: Any) -> list[Event]:
    """Return a `shuffle` event if the discard pile became the deck (RULES 2.4)."""
    number = len(members(before.discard)) + int(before.discard_wilds)
    is_shuffled = number > len(members(after.discard)) + int(after.discard_wilds)
    return [Event("shuffle", number=number)] if is_shuffled else []


def _placed(kind: str) -> Callable[[Step], Iterator[Event]]:
    """Return a function that yields the event of a placement: troops, a capital or an airfield.

    The territory comes from the action or, for an amount, from the decision. The event's `number` is the
    number of troops.
    """

    def write(step: Step) -> Iterator[Event]:
        territory = int(step.before.target) if step.action.kind == "amount" else step.action.arguments[0]
        number = int(step.after.troops[territory]) - int(step.before.troops[territory])
        yield Event(kind, seat=step.seat, forced=step.forced, territory=territory, number=number)

    return write


def _moved(kind: str) -> Callable[[Step], Iterator[Event]]:
    """Return a function that yields the event of a move of troops, or nothing if no troops moved."""

    def write(step: Step) -> Iterator[Event]:
        source, target = int(step.before.source), int(step.before.target)
        number = int(step.before.troops[source]) - int(step.after.troops[source])
        if number:
            yield Event(kind, seat=step.seat, forced=step.forced, source=source, target=target, number=number)

    return write


def _traded(step: Step) -> Iterator[Event]:
    """Yield the event of a trade if the action completes the trade (RULES 5, 9.4).

    The event contains the traded cards and the number of troops added to the draft.
    """
    cards = members(step.after.discard & ~step.before.discard)
    cards += [step.board.num_territories] * (int(step.after.discard_wilds) - int(step.before.discard_wilds))
    if cards:
        number = max(0, int(step.after.draft_left) - int(step.before.draft_left))
        yield Event("trade", seat=step.seat, cards=tuple(cards), number=number)


def _rerolled(step: Step) -> Iterator[Event]:
    """Yield the event of a re-rolled die, if any, and the events of a decided battle (RULES 10.4)."""
    if step.action.kind != DONE:
        cards = tuple(members(step.after.shown & ~step.before.shown))
        before, again = step.after.rerolled.tolist()
        yield Event("reroll", seat=step.seat, cards=cards, faces=(before, again))
    yield from _battle(step.before, step.after, step.board)


def _commanded(step: Step) -> Iterator[Event]:
    """Yield the event of a die turned to a 6, if any, and the events of the decided battle (RULES 10.5)."""
    if step.action.kind != DONE:
        yield Event("commander", seat=step.seat, faces=(step.action.arguments[0], 6))
    yield from _battle(step.before, step.after, step.board)


def _battle(
    before: Any,
    after: Any,
    board: Board,
    number: int = 1,
    losses: Pair | None = None,
    rolls: tuple[Roll, ...] = (),
) -> Iterator[Event]:
    """Yield the events of a decided roll or blitz, and of the consequences (RULES 3.2.3, 3.2.5, 3.3)."""
    if after.phase in DICE_PHASES:
        return
    seat, source, target = int(before.turn), int(before.source), int(before.target)
    losses = losses or (int(after.losses[ATTACKER]), int(after.losses[DEFENDER]))
    battle = Event(
        "battle",
        seat=seat,
        other=int(before.owner[target]),
        source=source,
        target=target,
        number=number,
        rolled=dice_of(after.rolled),
        dice=dice_of(after.settled),
        losses=losses,
        left=(int(before.troops[source]) - losses[ATTACKER], int(before.troops[target]) - losses[DEFENDER]),
        rolls=rolls,
    )
    yield battle
    if not battle.left[DEFENDER]:
        moved = int(after.troops[target])
        yield Event("capture", seat=seat, other=battle.other, source=source, target=target, number=moved)
    for other in np.flatnonzero(after.death != before.death).tolist():
        yield from _elimination(before, after, other, board)


def _elimination(before: Any, after: Any, other: int, board: Board) -> Iterator[Event]:
    """Yield the events of an elimination. Only two seats know the cards that change hands (RULES 3.3)."""
    seat, objectives = int(before.turn), tuple(np.flatnonzero(before.objective == other).tolist())
    cards = _new_cards(before, after, seat, board)
    yield Event("elimination", seat=seat, other=other, number=len(cards), objectives=objectives)
    if cards:
        yield Event("handed_over", only=seat, seat=seat, other=other, cards=cards)


def _took_objective(step: Step) -> Iterator[Event]:
    if step.action.kind != DONE:
        (number,) = step.action.arguments
        reward = int(step.after.objective_reward[number])
        yield Event("objective", seat=step.seat, objectives=(number,), rewards=(reward,))


_EFFECTS: dict[Phase, Callable[[Step], Iterator[Event]]] = {
    Phase.CAPITAL: _placed("capital"),
    Phase.CLAIM: _placed("claim"),
    Phase.DEPLOY: _placed("deploy"),
    Phase.DEPLOY_NEUTRAL: _placed("deploy_neutral"),
    # The territory is secret until all seats have chosen (RULES 7.1).
    Phase.HEADQUARTERS: lambda step: iter([Event("pick", seat=step.seat, forced=step.forced)]),
    Phase.TRADE: _traded,
    Phase.BONUS: _placed("bonus"),
    Phase.DRAFT_AMOUNT: _placed("draft"),
    Phase.REROLL: _rerolled,
    Phase.COMMANDER: _commanded,
    Phase.OCCUPY: _moved("occupy"),
    Phase.OBJECTIVE: _took_objective,
    Phase.AIRFIELD: _placed("airfield"),  # places no troops
    Phase.FORTIFY_AMOUNT: _moved("move"),
}


def _course(before: Any, after: Any) -> list[Event]:
    """Return events that follow without an action: `reveal`, `turn_end`, `round`, `turn` and `over`."""
    events = []
    if after.headquarters_open and not before.headquarters_open:
        places = after.headquarters[: np.count_nonzero(after.headquarters != NOWHERE)]
        events.append(Event("reveal", territories=tuple(places.tolist())))
    if after.phase == Phase.OVER:
        events.append(Event("over", seat=int(after.winner)))
    elif after.round_number != before.round_number or (after.turn != before.turn and after.round_number):
        if before.round_number:
            events.append(Event("turn_end", seat=int(before.turn)))
        events += _turn_begins(after, after.round_number != before.round_number)
    return events


def _turn_begins(record: Any, is_new_round: bool) -> list[Event]:
    new_round = [Event("round", number=int(record.round_number))] if is_new_round else []
    return [*new_round, Event("turn", seat=int(record.turn))]


# ------------------------------------------------------------------------------------ the log


def log_lines(events: Iterable[Event], board: Board) -> list[str]:
    """Return the lines of the log for these events (docs/decisions.md). Some kinds of events have no line."""
    lines: list[str] = []
    for kind, group in groupby(events, attrgetter("kind")):
        if kind == "mission":
            lines.append(f"chance: missions {_numbers(event.number for event in group)}")
        elif kind == "action":
            lines += [f"{event.seat}: {event.text}{' (forced)' * event.forced}" for event in group]
        elif kind == "battle":
            lines += [line for event in group for line in _blitz_lines(event)]
        elif kind in _CHANCE_LINES:
            lines += [f"chance: {_CHANCE_LINES[kind](event, board)}" for event in group]
    return lines


def _blitz_lines(event: Event) -> list[str]:
    """Return the log lines of a blitz. Other battles have no such lines."""
    lines = [f"chance: roll {_dice(roll.rolled)}" for roll in event.rolls]
    if left_out := event.number - len(lines) if lines else 0:
        told = zip(event.losses, *(roll.losses for roll in event.rolls), strict=True)
        lost = _numbers(total - sum(others) for total, *others in told)
        lines.insert(KEPT_ROLLS, f"chance: {left_out} more rolls, losses {lost}")
    return lines


def _dice(rolled: Dice) -> str:
    return f"{_numbers(rolled[ATTACKER])} | {_numbers(rolled[DEFENDER])}"


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


def _pairs(one: Iterable[int], mark: str, other: Iterable[int]) -> str:
    return " ".join(f"{a}{mark}{b}" for a, b in zip(one, other, strict=True))


_CHANCE_LINES: dict[str, Callable[[Event, Board], str]] = {
    "starter": lambda event, board: f"starter {event.seat}",
    "cities": lambda event, board: f"cities {_numbers(event.territories)}",
    "objectives": lambda event, board: f"objectives {_pairs(event.objectives, '=', event.rewards)}",
    "deal": lambda event, board: f"deal {_numbers(event.owners)}",
    "setup": lambda event, board: f"setup {_pairs(event.owners, ':', event.troops)}",
    "capitals": lambda event, board: f"capitals {_numbers(event.territories)}",
    "headquarters": lambda event, board: f"headquarters {_numbers(event.territories)}",
    "card": lambda event, board: f"card {event.seat} {card_text(event.cards[0], board)}",
    "roll": lambda event, board: f"roll {_dice(event.rolled)}",
    "reroll": lambda event, board: f"reroll {event.faces[-1]}",
}
