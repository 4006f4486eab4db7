"""Convert typed answers to legal actions.

An answer is the text of an action in upper or lower case, or the beginning of a name. An answer can also be a
number from a list, or a number of troops.
"""

from collections.abc import Sequence
from typing import NamedTuple

from risk_env.agent import View
from risk_env.board.action_space import ALL, DONE, HALF
from risk_env.board.names import read_arrows, split_outside_quotes
from risk_env.bounded_io import composed
from risk_env.core.types import Phase
from risk_env.messages import counted
from risk_env.text.amounts import first_amount, most_troops, room
from risk_env.text.notation import DECISIONS, Decision

# blocks of actions that are shown with numbers; in other blocks, a number is itself an answer
NUMBERED = ("territory", "border", "card", "objective")
_NOT, _BEGINS, _IS = range(3)  # grades of a match: none, beginning of the name, whole name


class Understood(NamedTuple):
    """Action that an answer means, and the parts of the answer that belong to later decisions."""

    action: int
    then: tuple[str, ...] = ()


def argument_of(text: str, decision: Decision) -> str:
    """Return the text of a legal action without the word that names the decision.

    The text `done` is returned unchanged.
    """
    return text.removeprefix(f"{decision.word} ")


def understand(answer: str, view: View, listed: Sequence[str]) -> Understood:
    """Return the legal action that an answer means, and the parts of the answer for later decisions.

    `listed` contains the actions that were shown, numbered from 1. Raises ValueError if no single action
    fits.
    """
    decision = DECISIONS[view.phase]
    words = " ".join(read_arrows(composed(answer)).split())
    if decision.block in NUMBERED and words.isdecimal():
        return Understood(_from_list(int(words), view, listed))
    if words.casefold() == DONE and DONE in view.texts:
        return Understood(_number(DONE, view))
    word, _, rest = words.partition(" ")
    said = rest if word.casefold() == decision.word else words  # the first word may be left out
    if decision.block == "amount" and (said.isdecimal() or said.casefold() == HALF):
        return _amount(int(said) if said.isdecimal() else max(1, movable(view) // 2), view)
    fitting, then = _fitting(said, decision, view), tuple[str, ...]()
    if not fitting and view.phase == Phase.DRAFT:
        said, then = _split_amount(said)
        fitting = _fitting(said, decision, view) if then else []
    if len(fitting) == 1:
        return Understood(_number(fitting[0], view), then if _takes_amount(fitting[0], view) else ())
    if fitting:
        raise ValueError(f"{said!r} could be {' or '.join(argument_of(text, decision) for text in fitting)}")
    raise ValueError(_problem(said, decision, view))


def _split_amount(said: str) -> tuple[str, tuple[str, ...]]:
    """Split an answer such as `ven 5` into a territory and a number of troops, which may be missing."""
    place, _, number = said.rpartition(" ")
    is_amount = number.isdecimal() or number.casefold() in (ALL, HALF)
    return (place, (number,)) if place and is_amount else (said, ())


def _takes_amount(text: str, view: View) -> bool:
    """Return True if the action `text` drafts to a territory on which several troops can be placed."""
    if view.phase != Phase.DRAFT:
        return False
    t = view.board.territory(argument_of(text, DECISIONS[view.phase]))
    return min(view.public.draft_left, room(int(view.public.troops[t]), view.rules.max_troops)) > 1


def _problem(said: str, decision: Decision, view: View) -> str:
    """Return the reason why no legal action matches the answer `said`."""
    if said.casefold() == DONE:
        return f"{DONE!r} is not legal here"
    if decision.block == "border":
        return _no_attack(said, view)
    if decision.block == "territory" and ">" in said:
        return "no attack is possible now: answer with one territory"
    if decision.block == "territory":
        return f"{view.board.territories[view.board.territory(said)]} is not legal here"
    return f"{said!r} is not one of {', '.join(argument_of(text, decision) for text in view.texts)}"


def _no_attack(said: str, view: View) -> str:
    sides = split_outside_quotes(said, ">", 1)
    if len(sides) < 2:
        return "write an attack as SOURCE > TARGET"
    territories = [_territories_named(name.strip(), view) for name in sides]
    for name, places in zip(sides, territories, strict=True):
        if not places:
            view.board.territory(name.strip())  # raises an error that names the unknown territory
    for name, places in zip(sides, territories, strict=True):
        if len(places) > 1:
            candidates = " or ".join(view.board.territories[t] for t in places)
            return f"{name.strip()!r} could be {candidates}"
    (a,), (b,) = territories
    if b not in view.board.targets(a):
        return view.board.no_border(a, b)
    way = f"{view.board.names_in_text[a]} > {view.board.names_in_text[b]}"
    return (
        f"{way} is not legal: an attack goes from a territory of yours, with two or more troops, to a "
        "territory of another owner"
    )


def _territories_named(name: str, view: View) -> list[int]:
    """Return the territories called `name`, or else the territories whose names begin with `name`."""
    fits = [_fit(name, place, view) for place in view.board.territories]
    best = max(fits)
    return [t for t, fit in enumerate(fits) if fit == best] if best > _NOT else []


def _number(text: str, view: View) -> int:
    return int(view.legal_actions[view.texts.index(text)])


def _from_list(number: int, view: View, listed: Sequence[str]) -> int:
    if not listed:
        raise ValueError(f"{number} is not the number of an action, because no list was shown")
    if not 1 <= number <= len(listed):
        raise ValueError(f"{number} is not in the list: choose 1 to {len(listed)}")
    text = listed[number - 1]
    if text not in view.texts:
        raise ValueError(f"{number} was {text!r}, which is no longer legal")
    return _number(text, view)


def _fitting(said: str, decision: Decision, view: View) -> list[str]:
    grades = {text: _grade(said, argument_of(text, decision), view) for text in view.texts if text != DONE}
    best = max(grades.values(), default=_NOT)
    return [text for text, grade in grades.items() if grade == best] if best > _NOT else []


def _grade(said: str, argument: str, view: View) -> int:
    """Return the grade of the match between words and an action (for an attack, the lower of two grades)."""
    parts, names = (split_outside_quotes(text, ">") for text in (said, argument))
    if len(parts) != len(names):
        return _NOT
    return min(_fit(part.strip(), name.strip(), view) for part, name in zip(parts, names, strict=True))


def _fit(part: str, name: str, view: View) -> int:
    """Return the grade of the match between words and a name; aliases of a territory match too."""
    board = view.board
    called = [name]
    if name in board.names_in_text:
        t = board.names_in_text.index(name)
        called += [board.territories[t], *board.aliases[t]]
    key = part.casefold()
    if not key:
        return _NOT
    return max(_IS if key == one.casefold() else _BEGINS * one.casefold().startswith(key) for one in called)


# ------------------------------------------------------------------------------------------ amounts


def movable(view: View) -> int:
    """Return the number of troops that can be placed or moved (docs/decisions.md)."""
    return most_troops(view.public, view.rules.max_troops)


def _amount(wanted: int, view: View) -> Understood:
    """Return the action for `wanted` troops, and further answers if several actions are needed.

    Raises ValueError if that number of troops is not allowed.
    """
    total = movable(view)
    if not 1 <= wanted <= total:
        raise ValueError(f"{counted(wanted, 'troop')}: choose 1 to {total}")
    first, left = first_amount(wanted, total)
    again = (str(left),) if left else ()
    if left and view.phase == Phase.DRAFT_AMOUNT:
        again = (view.board.names_in_text[view.public.target], *again)
    return Understood(_number(f"{DECISIONS[view.phase].word} {first}", view), again)
