"""A game in words for readers of text, language models above all: reports, and answers of several actions."""

from risk_env.words.last_turns import seat_report

__all__ = ["seat_report"]
