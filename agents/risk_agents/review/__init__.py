"""Review of a game: chances to win and luck of each seat, and the most costly turns of each seat."""

from risk_agents.review.reviewing import Review, review

__all__ = ["Review", "review"]
