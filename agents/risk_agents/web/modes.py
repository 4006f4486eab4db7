"""Choices in the lobby: presets with their set-ups, and agents with their levels and techniques."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from risk_agents.registry import make
from risk_env import bots
from risk_env.agent import Agent, CompiledAgent
from risk_env.board.maps import Board
from risk_env.board.rules import BOOK, Rules, preset_players, presets

SETUPS = ("claim", "deal", "random")  # set-ups that the form for a new game offers


class Mode(NamedTuple):
    """Title and description of a preset."""

    title: str
    words: str
    # Median number of rounds in 200 games of four `breaker` bots (`two_player`: two bots), profile "fast"
    rounds: int


MODES = {
    "world_domination": Mode(
        "World Domination", "Conquer the world. Older rules: fortifying troops cross one border.", 16
    ),
    "classic": Mode(
        "Classic", "Conquer the world. Fortifying troops cross any number of your territories.", 15
    ),
    "two_player": Mode("Duel with a neutral army", "Two players, and a neutral army that only defends.", 10),
    "capital": Mode("Capital", "Everybody hides a headquarters. Take all of them.", 12),
    "secret_mission": Mode("Secret Mission", "Everybody has a secret mission. Shorter than a conquest.", 11),
    "basic_training": Mode("Basic Training", "Three fixed Objectives win. A short game to learn with.", 15),
    "command_room": Mode("Command Room", "Three Objectives with Rewards win. Capitals and cities count.", 14),
    "world_conquest": Mode(
        "World Conquest", "Conquer the world with capitals, cities and cards with stars.", 14
    ),
}
# Levels of agents, from the ladder (docs/ladder.md)
LEVELS = {
    "random": "harmless",
    **dict.fromkeys(("attacker", "grower"), "easy"),
    **dict.fromkeys(("hunter", "breaker", "planner"), "medium"),
    **dict.fromkeys(("walker", "grudge", "leader_stopper", "turtle"), "medium"),
    **dict.fromkeys(("holder", "saver", "card_killer"), "medium"),
    **dict.fromkeys((f"evolved:{number}" for number in range(1, 8)), "hard"),
    **dict.fromkeys(("beam", "duelist", "tactician", "tactician:quick"), "hard"),
    **dict.fromkeys(("marshal", "strategist", "strategist:long"), "very hard"),
}


@cache
def modes() -> dict[str, Any]:
    """Return facts about each preset, by name of the preset.

    The facts are the fields of `Mode`, the numbers of players, and the set-ups by number of players.
    """
    return {name: _mode(name) for name in presets()}


def _mode(name: str) -> dict[str, Any]:
    players = list(preset_players(name))
    return {
        **MODES[name]._asdict(),
        "players": players,
        "setups": {count: _setups(name, count) for count in players},
    }


def _setups(name: str, players: int) -> list[str]:
    """Return the set-ups of a preset for a number of players, the default set-up first."""
    own = Rules.preset(name, players, profile=BOOK).setup
    setups = [own]
    for setup in SETUPS if own in SETUPS else ():
        try:
            Rules.preset(name, players, profile=BOOK, setup=setup)
        except ValueError:
            continue
        setups += [setup] if setup != own else []
    return setups


@cache
def agents() -> dict[str, dict[str, str]]:
    """Return the level ("" if unknown) and the technique of every registered agent, by name."""
    return {
        name: {"level": LEVELS.get(name, ""), "technique": bots.about(name).partition(": ")[2].strip()}
        for name in bots.names()
    }


@cache
def _made(name: str) -> Agent | None:
    """Return a registered agent, or None if the agent cannot be created on this machine."""
    try:
        return make(name)
    except Exception:
        return None


def who_cannot_play(rules: Rules, board: Board) -> list[str]:
    """Return the names of the registered agents that cannot play with these rules on this map."""
    return [name for name in bots.names() if not _can_play(_made(name), rules, board)]


def _can_play(agent: Agent | None, rules: Rules, board: Board) -> bool:
    """Return True if an agent can play; an agent that is not compiled is checked when the game begins."""
    if isinstance(agent, CompiledAgent):
        try:
            agent.bot.check(rules, board)
        except ValueError:
            return False
    return agent is not None
