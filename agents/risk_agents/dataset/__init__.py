"""Datasets of agents' decisions for offline learning: recording, files, and the command `dataset`."""

from risk_agents.dataset.files import read_decisions

__all__ = ["read_decisions"]
