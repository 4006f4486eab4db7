"""risk_env: the board game Risk as an exact and fast environment for reinforcement learning.

The package is for people who train and compare agents. It is unofficial and not affiliated with Hasbro.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from risk_env.envs.registration import register

if TYPE_CHECKING:
    from risk_env.agent import Agent, View
    from risk_env.batch import GameBatch
    from risk_env.board.action_space import ActionSpace
    from risk_env.board.importing.reader import import_map
    from risk_env.board.maps import Board, MapError, load_map, map_names
    from risk_env.board.rules import Rules, presets
    from risk_env.bots import CompiledBot
    from risk_env.core.odds import BattleOdds, battle_odds, win_probability
    from risk_env.core.types import Phase
    from risk_env.events import Event
    from risk_env.game import Game, SavedGameError
    from risk_env.match import Match, MatchResult
    from risk_env.network_features import features
    from risk_env.players import PlayerFault, Policy
    from risk_env.public import PublicState
    from risk_env.saved_game import SavedGame
    from risk_env.text.notation import IllegalAction
    from risk_env.text.positions import PositionError

__version__ = "1.0.0"  # the version is defined only here (docs/stability.md)

# The module of each public name. A module is imported when one of its names is used for the first time.
_HOMES = {
    "ActionSpace": "board.action_space",
    "Agent": "agent",
    "BattleOdds": "core.odds",
    "Board": "board.maps",
    "CompiledBot": "bots",
    "Event": "events",
    "Game": "game",
    "GameBatch": "batch",
    "IllegalAction": "text.notation",
    "MapError": "board.maps",
    "Match": "match",
    "MatchResult": "match",
    "Phase": "core.types",
    "PlayerFault": "players",
    "Policy": "players",
    "PositionError": "text.positions",
    "PublicState": "public",
    "Rules": "board.rules",
    "SavedGame": "saved_game",
    "SavedGameError": "game",
    "View": "agent",
    "battle_odds": "core.odds",
    "features": "network_features",
    "import_map": "board.importing.reader",
    "load_map": "board.maps",
    "map_names": "board.maps",
    "presets": "board.rules",
    "win_probability": "core.odds",
}
__all__ = [
    "ActionSpace",
    "Agent",
    "BattleOdds",
    "Board",
    "CompiledBot",
    "Event",
    "Game",
    "GameBatch",
    "IllegalAction",
    "MapError",
    "Match",
    "MatchResult",
    "Phase",
    "PlayerFault",
    "Policy",
    "PositionError",
    "PublicState",
    "Rules",
    "SavedGame",
    "SavedGameError",
    "View",
    "battle_odds",
    "features",
    "import_map",
    "load_map",
    "map_names",
    "presets",
    "warmup",
    "win_probability",
]

register()  # registers "risk_env/Risk-v0" with Gymnasium and "risk_env/risk_v0" with PettingZoo


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'risk_env' has no attribute {name!r}")
    return getattr(import_module(f"risk_env.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def warmup() -> None:
    """Compile the code of games, batches and environments, or load the code from the cache.

    Afterwards, games and batches of all presets on the map "classic" start without delay.
    """
    from risk_env.compiling import RULES, compile_part

    for part in RULES:
        compile_part(part)
