"""Notes about language models in a tournament: exchanges, tokens, cost, time and failures (docs/llm.md)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from risk_agents.tournament.results import GameResult

Notes = Sequence[Mapping[str, Any] | None]  # notes of one game by seat; None: not a language model
MOST = 1e12  # largest number in the notes of a game
MOST_KINDS = 10  # maximum number of kinds of failures
ADDED = ("turns", "exchanges", "illegal", "fallbacks", "tokens_in", "tokens_out", "money", "seconds")
HEADING = [
    *("model", "exchanges per turn", "input tokens per game", "output tokens per game", "cost per game"),
    *("seconds per exchange", "illegal answers, %", "fallbacks per turn", "failed requests"),
]


def are_notes(facts: Any) -> bool:
    """Return True if a value from a file is valid as the notes about one language model in one game."""
    if not isinstance(facts, dict) or not isinstance(facts.get("failures"), dict):
        return False
    failures = facts["failures"]
    numbers = [*(facts.get(name, 0) for name in ADDED), *failures.values()]
    are_numbers = all(type(number) in (int, float) and 0 <= number <= MOST for number in numbers)
    return are_numbers and len(failures) <= MOST_KINDS


def model_rows(results: Sequence[GameResult], labels: Sequence[str]) -> list[list[str]]:
    """Return a table row with the columns HEADING for each language model, over all of its games."""
    totals: dict[int, Counter[str]] = {}
    failures: dict[int, Counter[str]] = {}
    for result in results:
        for agent, notes in zip(result.seats, result.notes or (), strict=False):
            if notes is not None:
                numbers = {name: notes.get(name, 0) for name in ADDED}
                totals.setdefault(agent, Counter()).update({"games": 1, **numbers})
                failures.setdefault(agent, Counter()).update(notes["failures"])
    return [_row(labels[agent], totals[agent], failures[agent]) for agent in sorted(totals)]


def _row(label: str, total: Counter[str], failures: Counter[str]) -> list[str]:
    games, turns, exchanges = (max(1, total[name]) for name in ("games", "turns", "exchanges"))
    return [
        label,
        f"{total['exchanges'] / turns:.2f}",
        f"{total['tokens_in'] / games:,.0f}",
        f"{total['tokens_out'] / games:,.0f}",
        f"{total['money'] / games:.4f}",
        f"{total['seconds'] / exchanges:.2f}",
        f"{100 * total['illegal'] / exchanges:.1f}",
        f"{total['fallbacks'] / turns:.3f}",
        ", ".join(f"{kind} {count}" for kind, count in sorted(failures.items())) or "0",
    ]
