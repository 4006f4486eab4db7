"""Edits of a position on the analysis board: owner and troops of a territory, cards of a seat, and the turn.

An edit changes lines of the position's text (docs/positions.md). `Game.from_text` then checks the position.
After an edit, the current part of the turn begins again: the draft, the attacks or the fortification.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from risk_agents.web.browser_request import Refused
from risk_env.board.names import in_text
from risk_env.core.types import NOBODY, Phase
from risk_env.game import Game
from risk_env.text.positions import HEADER, PositionError


class Part(NamedTuple):
    """Part of a turn: words for the page, and phases with which it can begin, the preferred phase first."""

    words: str
    phases: tuple[str, ...]


PARTS = {
    "draft": Part("draft", ("trade", "draft")),
    "attack": Part("attacks", ("attack",)),
    "fortify": Part("fortifying", ("fortify_from",)),
}
EDITS = ({"territory", "owner", "troops"}, {"seat", "cards"}, {"seat", "part"})
FIELDS = {"territory": int, "owner": int, "troops": int, "seat": int, "cards": str, "part": str}
LONGEST_CARDS = 2000  # maximum number of characters of the field `cards`
# Keys of the lines that an edit keeps. All other lines belong to a decision or to the turn so far.
_KEPT = (
    *("rules", "map", "round", "starter", "random", "decisions", "fallen", "hand", "discard", "sets traded"),
    *("mission", "headquarters", "capital", "cities", "objective", "reward", "airfield", "major airfield"),
)
_DROPPED = ("objective taken",)


def edited(game: Game, edit: dict[str, Any]) -> Game:
    """Return a game at the edited position; raise Refused if the edit or the edited position is not valid.

    `edit` has the fields of one of `EDITS`, with values of the types in `FIELDS`.
    """
    if set(edit) not in EDITS:
        allowed = "; ".join(", ".join(name for name in FIELDS if name in fields) for fields in EDITS)
        given = ", ".join(sorted(edit)) or "nothing"
        raise Refused(f"the edit has {given}; it must have one of these sets of fields: {allowed}")
    if game.is_over or not game.round:
        raise Refused("only positions between the set-up and the end of a game can be edited")
    lines, places = _lines(game)
    turn, part = game.turn, part_of(game.phase)
    if "territory" in edit:
        place = edit["territory"]
        if not 0 <= place < game.board.num_territories:
            raise Refused(f"territory={place}: must be from 0 to {game.board.num_territories - 1}")
        places[place] = _place(game, place, edit["owner"], edit["troops"])
        lines.pop("fallen", None)  # without this line, the players without territories are eliminated
    elif "cards" in edit:
        lines[f"hand {edit['seat']}"] = _cards(edit["cards"])
    else:
        turn, part = edit["seat"], edit["part"]
        if part not in PARTS:
            raise Refused(f"part={part[:20]!r}: choose one of {', '.join(PARTS)}")
    lines["turn"] = str(turn)
    return _read(lines, places, part)


def _cards(words: str) -> str:
    """Return the names of cards on one line, or "-" without cards; raise Refused if `words` is too long."""
    if len(words) > LONGEST_CARDS:
        raise Refused(f"cards has {len(words)} characters; at most {LONGEST_CARDS} are allowed")
    return " ".join(words.split()) or "-"


def part_of(phase: Phase) -> str:
    """Return the part of the turn to which a phase belongs."""
    if phase in (Phase.FORTIFY_FROM, Phase.FORTIFY_TO, Phase.FORTIFY_AMOUNT):
        return "fortify"
    return "draft" if phase < Phase.ATTACK else "attack"


def _lines(game: Game) -> tuple[dict[str, str], list[str]]:
    """Return the lines of a position that an edit keeps, by key, and the line of each territory."""
    head, _, _ = game.to_text().partition("\n[")
    lines = {}
    for line in head.splitlines()[1:]:
        key, _, value = line.partition(": ")
        if key not in _DROPPED and key.startswith(_KEPT):
            lines[key] = value
    territories = range(game.board.num_territories)
    return lines, [_place(game, t, int(game.owner[t]), int(game.troops[t])) for t in territories]


def _place(game: Game, territory: int, owner: int, troops: int) -> str:
    """Return the line of a territory."""
    holder = "neutral" if owner == game.num_players else f"player {owner}"
    words = "free" if owner == NOBODY else f"{holder}, {troops}"
    return f"{in_text(game.board.territories[territory])}: {words}"


def _read(lines: dict[str, str], places: list[str], part: str) -> Game:
    """Return the game that the lines describe, in the first possible phase of `part`.

    Raises Refused if no phase of `part` is possible.
    """
    problem = ""
    for phase in PARTS[part].phases:
        head = [f"{key}: {value}" for key, value in (lines | {"phase": phase}).items()]
        try:
            return Game.from_text("\n".join([HEADER, *head, "[territories]", *places, ""]))
        except PositionError as error:
            problem = str(error)
    raise Refused(re.sub(r"^line \d+(, |: )", "", problem))  # the person does not see the numbered lines
