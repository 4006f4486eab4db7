"""Review of a game: each seat's chances to win, its luck, and the turns that cost it most."""

from risk_agents.review.reviewing import Review, review

__all__ = ["Review", "review"]
