"""A game in words for text readers, in particular language models: reports, and plans of several actions."""

from risk_env.words.last_turns import seat_report

__all__ = ["seat_report"]
