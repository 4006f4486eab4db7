"""Review of a game: chances and luck of each seat, and the turns that cost each seat most."""

from risk_agents.review.reviewing import Review, review

__all__ = ["Review", "review"]
