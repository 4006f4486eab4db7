"""Describe the events of a game (`risk_env.events`) in words; the rolls of an attack share a line."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from risk_agents.human.terminal import wrapped
from risk_env.board.maps import Board
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.types import NO_REWARD, NOBODY
from risk_env.events import Event
from risk_env.messages import counted
from risk_env.text.escape import padded
from risk_env.text.notation import card_text, reward_name

# Kinds of events that are not shown to the player who chose them
_OWN_ACTIONS = (
    *("capital", "claim", "deploy", "deploy_neutral", "pick"),
    *("bonus", "draft", "occupy", "objective", "airfield", "move"),
)
_LISTED = {  # kinds of events that share one line for several players
    "claim": "claimed",
    "deploy": "deployed to",
    "deploy_neutral": "deployed neutral troops to",
}


class Words(NamedTuple):
    """Names of the seats and the neutral army, the map, and the seat of the reader (NOBODY: no seat)."""

    names: tuple[str, ...]
    board: Board
    viewer: int = NOBODY

    def place(self, territory: int) -> str:
        """Return the name of a territory."""
        return self.board.territories[territory]

    def cards(self, cards: Sequence[int]) -> str:
        """Return the names of cards."""
        return ", ".join(card_text(card, self.board) for card in cards)


def narrate(events: Sequence[Event], words: Words, width: int) -> list[str]:
    """Return lines that describe events, wrapped at `width` columns.

    A line about one player begins with the player's name, unless the line above has the same name. Lines
    about several players or none begin with the events.
    """
    lines, last, column = [], "", max(map(cell_len, words.names)) + 2
    for group in _groups(events, words.viewer):
        who, what = _sentence(group, words)
        shown = "" if who == last else who
        lines.append(wrapped(what, width, padded(shown, column) if who else "", " " * column))
        last = who
    return lines


def _groups(events: Sequence[Event], viewer: int) -> list[list[Event]]:
    """Return the events of each line. Leave out the viewer's own choices, and kinds that have no sentence."""
    groups: list[list[Event]] = []
    for event in events:
        if event.kind not in _SENTENCES:
            continue
        if event.kind in _OWN_ACTIONS and not event.forced and event.seat == viewer:
            continue
        if groups and _joins(event, groups[-1][0]):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _joins(event: Event, first: Event) -> bool:
    """Return True if an event belongs on the line that begins with the event `first`."""
    if event.kind in _LISTED:
        return event.kind == first.kind
    if event.kind == "draft":
        return (event.kind, event.seat) == (first.kind, first.seat)
    is_same_way = (event.seat, event.source, event.target) == (first.seat, first.source, first.target)
    if event.kind in ("battle", "capture", "occupy"):
        return first.kind == "battle" and is_same_way
    return event.kind == first.kind == "move" and is_same_way and event.forced == first.forced


def _sentence(group: list[Event], words: Words) -> tuple[str, str]:
    """Return the player's name, or "" for a line about several players or none, and the events in words."""
    first = group[0]
    if len({event.seat for event in group}) > 1:
        places = ", ".join(f"{words.names[event.seat]} {words.place(event.territory)}" for event in group)
        return "", f"{_LISTED[first.kind]}: {places}"
    return words.names[first.seat] if first.seat != NOBODY else "", _SENTENCES[first.kind](group, words)


def _placed(group: list[Event], words: Words) -> str:
    return f"{_LISTED[group[0].kind]} {', '.join(words.place(event.territory) for event in group)}"


def _moved(group: list[Event], words: Words) -> str:
    count = sum(event.number for event in group)
    return f"moved {count} from {words.place(group[0].source)} to {words.place(group[0].target)}"


def _fought(group: list[Event], words: Words) -> str:
    """Describe all rolls of an attack, and the occupation of the territory.

    The dice are shown if the attack was a single roll, and the viewer was the attacker or the defender.
    """
    battles = [event for event in group if event.kind == "battle"]
    first, last = battles[0], battles[-1]
    lost, killed = (sum(event.losses[side] for event in battles) for side in (ATTACKER, DEFENDER))
    text = (
        f"attacked {words.place(first.source)} > {words.place(first.target)} ({words.names[first.other]}): "
    )
    is_involved = words.viewer in (first.seat, first.other)
    if (rolls := sum(event.number for event in battles)) > 1:
        text += f"{rolls} rolls, "
    elif is_involved:
        text += f"{_dice(last.dice[ATTACKER])} against {_dice(last.dice[DEFENDER])}, "
    text += f"lost {lost}, killed {killed}"
    if not last.left[DEFENDER]:
        return f"{text}, took it with {sum(event.number for event in group)}"
    return text + f"; {last.left[ATTACKER]} against {last.left[DEFENDER]} left" * is_involved


def _dice(faces: Sequence[int]) -> str:
    return " ".join(map(str, faces))


def _revealed(group: list[Event], words: Words) -> str:
    places = (f"{words.names[seat]} {words.place(place)}" for seat, place in enumerate(group[0].territories))
    return f"All headquarters are open now: {', '.join(places)}"


def _eliminated(group: list[Event], words: Words) -> str:
    (event,) = group
    counts = ((event.number, "card"), (len(event.objectives), "Objective"))
    taken = " and ".join(counted(number, what) for number, what in counts if number)
    return f"eliminated {words.names[event.other]}{f' and took {taken}' if taken else ''}"


def _handed_over(group: list[Event], words: Words) -> str:
    return f"got {words.cards(group[0].cards)} from {words.names[group[0].other]}"


def _took_objective(group: list[Event], words: Words) -> str:
    (number,), (reward,) = group[0].objectives, group[0].rewards
    named = f" with the Reward {reward_name(reward)}" if reward != NO_REWARD else ""
    return f"took the Objective {words.board.objectives[number].name}{named}"


def _bonus(event: Event, words: Words) -> str:
    return f"got {counted(event.number, 'troop')} on {words.place(event.territory)} for the traded card"


def _rerolled(group: list[Event], words: Words) -> str:
    card = f"showed the card {words.cards(group[0].cards)} and " if group[0].cards else ""
    return f"{card}rolled a {group[0].faces[0]} again: {group[0].faces[-1]}"


_SENTENCES: dict[str, Callable[[list[Event], Words], str]] = {
    "starter": lambda group, words: "starts" if group[0].seat != words.viewer else "start",
    "round": lambda group, words: f"-- Round {group[0].number} --",
    "capital": lambda group, words: f"put the capital in {words.place(group[0].territory)}",
    "claim": _placed,
    "deploy": _placed,
    "deploy_neutral": _placed,
    "bonus": lambda group, words: _bonus(group[0], words),
    "pick": lambda group, words: "picked the headquarters in secret",
    "reveal": _revealed,
    "trade": lambda group, words: (
        f"traded {words.cards(group[0].cards)} for {counted(group[0].number, 'troop')}"
    ),
    "draft": lambda group, words: (
        "placed " + ", ".join(f"{e.number} on {words.place(e.territory)}" for e in group)
    ),
    "reroll": _rerolled,
    "commander": lambda group, words: f"turned a die from {group[0].faces[0]} to 6",
    "battle": _fought,
    "capture": _moved,
    "occupy": _moved,
    "elimination": _eliminated,
    "handed_over": _handed_over,
    "shuffle": lambda group, words: (
        f"-- {counted(group[0].number, 'discarded card')} shuffled into the deck --"
    ),
    "objective": _took_objective,
    "airfield": lambda group, words: f"built an airfield in {words.place(group[0].territory)}",
    "draw": lambda group, words: "drew a card",
    "move": _moved,
}
