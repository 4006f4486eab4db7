"""Luck of each seat in a duel: how much dice and cards changed its win probability."""

from risk_agents.luck.meter import LuckEvent, LuckMeter

__all__ = ["LuckEvent", "LuckMeter"]
