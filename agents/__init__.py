"""Players: random, the scripted ladder, search, trained policies, external programs, people; and the tournament."""

from agents.base import Agent, View, load, make

__all__ = ["Agent", "View", "load", "make"]
