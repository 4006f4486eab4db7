"""Luck of each seat in a duel: how much dice and cards changed its win probability."""

from risk_agents.luck.meter import LuckEvent, LuckMeter, show_luck, why_unknown

__all__ = ["LuckEvent", "LuckMeter", "show_luck", "why_unknown"]
