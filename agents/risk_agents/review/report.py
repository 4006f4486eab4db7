"""A review as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from risk_agents.review.reviewing import Mistake, Review
from risk_env.messages import counted

COLUMNS = ("player", "start", "luck", "choices", "end")


def lines(review: Review) -> Iterator[str]:
    """Yield the lines of a review: a table of all seats, and the turns that cost each seat most.

    The note of the review is included unless it is empty.
    """
    rows = [COLUMNS, *(_row(review, seat) for seat in range(len(review.names)))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    yield f"Review of {counted(len(review.turns), 'turn')}. Chances to win, in percent:"
    for name, *cells in rows:
        yield "  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])])
    if review.note:
        yield review.note
    for seat, name in enumerate(review.names):
        mistakes = [mistake for mistake in review.mistakes if mistake.seat == seat]
        yield ""
        yield f"{seat}: {name}: {_heading(len(mistakes))}"
        for mistake in mistakes:
            yield from _mistake(mistake)


def _row(review: Review, seat: int) -> tuple[str, ...]:
    """Return the cells of a seat's row in the table."""
    luck = math.fsum(turn.luck[seat] for turn in review.turns)
    cost = math.fsum(turn.loss for turn in review.turns if turn.seat == seat)
    start, end = review.turns[0].chances[seat], review.end[seat]
    name = f"{seat}: {review.names[seat]}"
    return name, f"{100 * start:.0f}", f"{100 * luck:+.0f}", f"{-100 * cost:+.0f}", f"{100 * end:.0f}"


def _heading(count: int) -> str:
    """Return the heading above `count` reported turns of a seat."""
    if not count:
        return "no turn cost this player much"
    return "this turn cost most" if count == 1 else f"these {count} turns cost most"


def _mistake(mistake: Mistake) -> Iterator[str]:
    """Yield the lines of a reported turn."""
    cost = f"{100 * mistake.loss:.0f} ± {100 * mistake.error:.0f} %"
    yield f"  round {mistake.round}: cost {cost} ({counted(mistake.games, 'game')})"
    yield f"    played: {mistake.played.words}"
    yield f"    better: {mistake.better.words}"
