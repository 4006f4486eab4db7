"""A game in words, in particular for language models: reports, and plans of several actions."""

from risk_env.words.last_turns import seat_report

__all__ = ["seat_report"]
