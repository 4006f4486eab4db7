"""Luck of each seat in a duel: how much dice and cards changed its win probability."""

from risk_agents.luck.meter import PLAYERS, LuckEvent, LuckMeter, show_luck, why_unknown

__all__ = ["PLAYERS", "LuckEvent", "LuckMeter", "show_luck", "why_unknown"]
