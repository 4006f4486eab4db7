"""Players: random, the scripted ladder, search, trained policies, external programs, people.

And the tournament.
"""

from risk_agents.registry import load, make

__all__ = ["load", "make"]
