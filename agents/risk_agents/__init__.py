"""Agents for risk_env: scripted bots, search, trained policies, language models, programs and people.

The package also contains commands that use agents, such as `tournament`, `play` and `serve`.
"""

from risk_agents.registry import load, make

__all__ = ["load", "make"]
