"""Luck of each seat in a duel: the change of the seat's win probability by dice and cards."""

from risk_agents.luck.meter import LuckEvent, LuckMeter

__all__ = ["LuckEvent", "LuckMeter"]
