"""What happened in a game, in words for people: public facts only (RULES 2.4, 7.1, 8.1).

A `Chronicle` plays the game along, forced actions one by one as well, and makes a `Note` of everything that all at the
table could see. `tell` puts notes in words and draws together what belongs together: a whole battle is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from risk_agents.human.terminal import wrapped
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.types import NO_REWARD, NOBODY, NOWHERE, Phase
from risk_env.game import Game
from risk_env.story import members
from risk_env.text.notation import reward_name

_BATTLE_GOES_ON = (Phase.ATTACK_DICE, Phase.DEFEND, Phase.REROLL, Phase.COMMANDER)


class Note(NamedTuple):
    """Something that everybody saw: `kind` says what, the rest what that kind needs."""

    kind: str
    seat: int = NOBODY  # whose doing it is
    asked: bool = True  # whether that seat was asked; forced otherwise
    source: int = NOWHERE  # territory
    target: int = NOWHERE  # territory
    number: int = 0  # troops, cards, the number of a round
    other: int = NOBODY  # seat that suffered it
    values: tuple[int, ...] = ()
    battle: Battle | None = None


class Battle(NamedTuple):
    """What rolls of one attack came to."""

    rolls: int
    lost: int
    killed: int
    is_taken: bool
    left: tuple[int, int]  # troops in source and target afterwards
    dice: tuple[tuple[int, ...], tuple[int, ...]]  # of the last roll


class Step(NamedTuple):
    """One action: the records before and after it, and whether it was asked."""

    before: Any
    after: Any
    action: int
    asked: bool
    game: Game

    @property
    def seat(self) -> int:
        """Who decided."""
        return int(self.before.seat)


class Chronicle:
    """The notes of a game from its start on."""

    def __init__(self, rules: Rules, board: Board, seed: int) -> None:
        self._game = Game(rules, board, seed, ask_forced=True)
        self.notes: list[Note] = [Note("starts", int(self._game.record.starter))]
        if self._game.round:
            self.notes.append(Note("round", number=self._game.round))
        self._play_forced()

    def add(self, action: int) -> None:
        """Note an asked action, and the forced ones behind it."""
        self._step(action, asked=True)
        self._play_forced()

    def _play_forced(self) -> None:
        while len(legal := self._game.legal_actions()) == 1:
            self._step(int(legal[0]), asked=False)

    def _step(self, action: int, asked: bool) -> None:
        before = self._game.record.copy()
        self._game.step(action)
        self.notes += notes_of(Step(before, self._game.record, action, asked, self._game))


# ------------------------------------------------------------------------------------------------ notes


def notes_of(step: Step) -> Iterator[Note]:
    """What everybody saw of an action, in the order in which it happened."""
    phase = Phase(int(step.before.phase))
    if phase in _WRITERS:
        yield from _WRITERS[phase](step)
    yield from _ends_of_players(step)
    yield from _draws(step)
    if step.after.headquarters_open and not step.before.headquarters_open:
        yield Note("opened", values=tuple(step.after.headquarters[: step.game.num_players].tolist()))
    if step.after.round_number != step.before.round_number and step.after.phase != Phase.OVER:
        yield Note("round", number=int(step.after.round_number))


def _placed(kind: str) -> Callable[[Step], Iterator[Note]]:
    """A writer for phases that put troops somewhere."""

    def write(step: Step) -> Iterator[Note]:
        gains = step.after.troops.astype(np.int64) - step.before.troops
        for territory in np.flatnonzero(gains > 0).tolist():
            yield Note(kind, step.seat, step.asked, target=territory, number=int(gains[territory]))

    return write


def _moved(kind: str) -> Callable[[Step], Iterator[Note]]:
    """A writer for phases that move troops."""

    def write(step: Step) -> Iterator[Note]:
        source, target = int(step.before.source), int(step.before.target)
        count = int(step.before.troops[source]) - int(step.after.troops[source])
        if count:
            yield Note(kind, step.seat, step.asked, source, target, count)

    return write


def _fought(step: Step) -> Iterator[Note]:
    """The battle that an action decided, if it did."""
    source, target = _place_of_battle(step)
    if source == NOWHERE or step.after.phase in _BATTLE_GOES_ON:
        return
    before, after = ([int(record.troops[t]) for t in (source, target)] for record in (step.before, step.after))
    is_taken = step.after.owner[target] != step.before.owner[target]
    kept = sum(after) if is_taken else after[0]
    rolls = max(1, int(step.after.battles) - int(step.before.battles))
    killed = before[1] if is_taken else before[1] - after[1]
    dice = _faces(step.after, ATTACKER), _faces(step.after, DEFENDER)
    yield Note(
        "battle",
        int(step.before.turn),
        True,
        source,
        target,
        after[1] if is_taken else 0,
        int(step.before.owner[target]),
        battle=Battle(rolls, before[0] - kept, killed, bool(is_taken), (after[0], after[1]), dice),
    )


def _place_of_battle(step: Step) -> tuple[int, int]:
    """Source and target of the attack that an action began or went on with."""
    if step.before.phase != Phase.ATTACK:
        return int(step.before.source), int(step.before.target)
    border = step.action - int(step.game.tables.rules[0].border_0)
    borders = step.game.board.borders
    return borders[border] if 0 <= border < len(borders) else (NOWHERE, NOWHERE)


def _faces(record: Any, side: int) -> tuple[int, ...]:
    return tuple(int(face) for face in record.settled[side] if face)


def _rerolled(step: Step) -> Iterator[Note]:
    """A die rolled again, and the card shown for it (RULES 10.4); then the battle, if that decides it."""
    if step.action != int(step.game.tables.rules[0].done):
        shown = members(step.after.shown & ~step.before.shown)
        card = shown[0] if shown else NOWHERE
        yield Note("reroll", step.seat, target=card, values=tuple(step.after.rerolled.tolist()))
    yield from _fought(step)


def _commanded(step: Step) -> Iterator[Note]:
    """A die turned to a 6 (RULES 10.5); then the battle, if that decides it."""
    if step.action != int(step.game.tables.rules[0].done):
        yield Note("commander", step.seat, values=(step.action - int(step.game.tables.rules[0].die_0) + 1,))
    yield from _fought(step)


def _traded(step: Step) -> Iterator[Note]:
    """The cards that were turned in, which all can see; not those picked for it."""
    cards = members(step.after.discard & ~step.before.discard)
    cards += [step.game.board.num_territories] * (int(step.after.discard_wilds) - int(step.before.discard_wilds))
    if cards:
        worth = int(step.after.draft_left) - int(step.before.draft_left)
        yield Note("trade", step.seat, number=worth, values=tuple(cards))


def _picked_headquarters(step: Step) -> Iterator[Note]:
    """That it was done: where is a secret (RULES 7.1)."""
    yield Note("headquarters", step.seat, step.asked)


def _took_objective(step: Step) -> Iterator[Note]:
    for number in np.flatnonzero(step.after.objective != step.before.objective).tolist():
        reward = int(step.after.objective_reward[number])
        yield Note("objective", step.seat, step.asked, values=(number, reward))


def _built_airfield(step: Step) -> Iterator[Note]:
    for number in np.flatnonzero(step.after.airfield != step.before.airfield).tolist():
        yield Note("airfield", step.seat, step.asked, target=int(step.after.airfield[number]))


_WRITERS: dict[Phase, Callable[[Step], Iterator[Note]]] = {
    Phase.CAPITAL: _placed("capital"),
    Phase.CLAIM: _placed("claim"),
    Phase.DEPLOY: _placed("deploy"),
    Phase.DEPLOY_NEUTRAL: _placed("deploy_neutral"),
    Phase.HEADQUARTERS: _picked_headquarters,
    Phase.TRADE: _traded,
    Phase.BONUS: _placed("bonus"),
    Phase.DRAFT_AMOUNT: _placed("draft"),
    Phase.ATTACK: _fought,
    Phase.ATTACK_DICE: _fought,
    Phase.DEFEND: _fought,
    Phase.REROLL: _rerolled,
    Phase.COMMANDER: _commanded,
    Phase.OCCUPY: _moved("occupy"),
    Phase.OBJECTIVE: _took_objective,
    Phase.AIRFIELD: _built_airfield,
    Phase.FORTIFY_AMOUNT: _moved("move"),
}


def _ends_of_players(step: Step) -> Iterator[Note]:
    """Who fell, and how many cards went to whom (RULES 3.3)."""
    for seat in range(step.game.num_players):
        if step.after.death[seat] and not step.before.death[seat]:
            objectives = int((step.before.objective == seat).sum())
            yield Note("out", int(step.before.turn), number=_cards(step.before, seat), other=seat, values=(objectives,))


def _draws(step: Step) -> Iterator[Note]:
    """Who drew a card; which one is a secret (RULES 2.4)."""
    if (step.after.death != step.before.death).any():
        return
    for seat in range(step.game.num_players):
        if _cards(step.after, seat) > _cards(step.before, seat):
            yield Note("draw", seat)


def _cards(record: Any, seat: int) -> int:
    return len(members(record.hand[seat])) + int(record.wilds[seat])


# ------------------------------------------------------------------------------------------------ words

# What a player who did it need not be told.
_OWN_DOING = {"capital", "claim", "deploy", "deploy_neutral", "headquarters", "bonus", "draft", "occupy", "move"}
_OWN_DOING |= {"objective", "airfield"}
_BY_ALL = {"claim", "deploy", "deploy_neutral"}  # kinds of which one line tells what several did
_LISTED = {"claim": "claimed", "deploy": "deployed to", "deploy_neutral": "deployed neutral troops to"}


class Words(NamedTuple):
    """How the table is called: names a seat (and of the neutral army), the map, and who is told (NOBODY: all)."""

    names: tuple[str, ...]
    board: Board
    viewer: int = NOBODY

    def place(self, territory: int) -> str:
        """The name of a territory, `wild` for the card that is none."""
        return "wild" if territory == self.board.num_territories else self.board.territories[territory]


def tell(notes: Sequence[Note], words: Words, width: int) -> list[str]:
    """Notes as lines: who in the first column, said once, and what."""
    lines, last, column = [], "", max(map(len, words.names)) + 2
    for group in _groups(notes, words.viewer):
        who, what = _group_in_words(group, words)
        shown = "" if who == last else who
        lines.append(wrapped(what, width, shown.ljust(column) if who else "", " " * column))
        last = who
    return lines


def _groups(notes: Sequence[Note], viewer: int) -> list[list[Note]]:
    """Notes that one line tells, without what the viewer did by himself."""
    groups: list[list[Note]] = []
    for note in notes:
        if note.kind in _OWN_DOING and note.asked and note.seat == viewer:
            continue
        if groups and _belongs(note, groups[-1][0]):
            groups[-1].append(note)
        else:
            groups.append([note])
    return groups


def _belongs(note: Note, first: Note) -> bool:
    if note.kind in _BY_ALL:
        return note.kind == first.kind
    if note.kind == "draft":
        return (note.kind, note.seat) == (first.kind, first.seat)
    if note.kind in ("battle", "occupy"):
        return first.kind == "battle" and (note.seat, note.source, note.target) == first[1:2] + first[3:5]
    return note.kind == "move" and note[:5] == first[:5]


def _group_in_words(group: list[Note], words: Words) -> tuple[str, str]:
    """Who did it, and what that was."""
    first = group[0]
    who = words.names[first.seat] if first.seat != NOBODY else ""
    if first.kind in _BY_ALL:
        return _listed(group, words)
    if first.kind == "battle":
        return who, _battle_in_words(group, words)
    if first.kind == "draft":
        return who, "placed " + ", ".join(f"{note.number} on {words.place(note.target)}" for note in group)
    if first.kind in ("move", "occupy"):
        count = sum(note.number for note in group)
        return who, f"moved {count} from {words.place(first.source)} to {words.place(first.target)}"
    return who, _SENTENCES[first.kind](first, words)


def _listed(group: list[Note], words: Words) -> tuple[str, str]:
    """`claimed Alaska`, or `claimed: grower Alaska, beam Brazil`."""
    first = group[0]
    if len({note.seat for note in group}) == 1:
        places = ", ".join(words.place(note.target) for note in group)
        return words.names[first.seat], f"{_LISTED[first.kind]} {places}"
    told = ", ".join(f"{words.names[note.seat]} {words.place(note.target)}" for note in group)
    return "", f"{_LISTED[first.kind]}: {told}"


def _battle_in_words(group: list[Note], words: Words) -> str:
    first = group[0]
    battles = [note.battle for note in group if note.battle is not None]
    last = battles[-1]
    rolls, lost, killed = (sum(getattr(battle, field) for battle in battles) for field in ("rolls", "lost", "killed"))
    told = f"attacked {words.place(first.source)} > {words.place(first.target)} ({words.names[first.other]}): "
    is_involved = words.viewer in (first.seat, first.other)
    if rolls > 1:
        told += f"{rolls} rolls, "
    elif is_involved:
        told += f"{_dice(last.dice[0])} against {_dice(last.dice[1])}, "
    told += f"lost {lost}, killed {killed}"
    if last.is_taken:
        return f"{told}, took it with {sum(note.number for note in group)}"
    return told + f"; {last.left[0]} against {last.left[1]} left" * is_involved


def _dice(faces: tuple[int, ...]) -> str:
    return " ".join(map(str, faces))


def _opened(note: Note, words: Words) -> str:
    places = (f"{words.names[seat]} {words.place(place)}" for seat, place in enumerate(note.values))
    return f"All headquarters are open now: {', '.join(places)}"


def _out(note: Note, words: Words) -> str:
    taken = [_plural(number, what) for number, what in ((note.number, "card"), (note.values[0], "Objective")) if number]
    spoils = f" and took {' and '.join(taken)}" if taken else ""
    return f"threw {words.names[note.other]} out of the game{spoils}"


def _plural(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _trade(note: Note, words: Words) -> str:
    return f"traded {', '.join(map(words.place, note.values))} for {_plural(note.number, 'troop')}"


def _objective(note: Note, words: Words) -> str:
    number, reward = note.values
    named = f" with the Reward {reward_name(reward)}" if reward != NO_REWARD else ""
    return f"took the Objective {words.board.objectives[number].name}{named}"


def _reroll(note: Note, words: Words) -> str:
    card = f"showed the card {words.place(note.target)} and " if note.target != NOWHERE else ""
    return f"{card}rolled a {note.values[0]} again: {note.values[1]}"


_SENTENCES: dict[str, Callable[[Note, Words], str]] = {
    "starts": lambda note, words: "starts" if note.seat != words.viewer else "start",
    "round": lambda note, words: f"-- Round {note.number} --",
    "capital": lambda note, words: f"put the capital in {words.place(note.target)}",
    "bonus": lambda note, words: f"got {note.number} on {words.place(note.target)} for its card",
    "headquarters": lambda note, words: "picked the headquarters in secret",
    "opened": _opened,
    "trade": _trade,
    "reroll": _reroll,
    "commander": lambda note, words: f"turned a {note.values[0]} to 6",
    "objective": _objective,
    "airfield": lambda note, words: f"built an airfield in {words.place(note.target)}",
    "draw": lambda note, words: "drew a card",
    "out": _out,
}
