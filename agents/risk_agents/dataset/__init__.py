"""Decisions of agents' games as data to learn from: recording, files, the command `dataset`."""

from risk_agents.dataset.files import read_decisions

__all__ = ["read_decisions"]
