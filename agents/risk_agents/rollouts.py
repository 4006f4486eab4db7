"""The chance to win of every seat, by playing a position on many times with a compiled bot in all seats."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from risk_env.arena import Arena
from risk_env.arrays import Floats
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.lanes import Lanes
from risk_env.seeds import game_seed

GAMES = 64
MOST_ROUNDS = 200  # where the rules set no limit


def chances_by_play(rules: Rules, board: Board, bot: str, games: int = GAMES) -> Callable[[Game], Floats]:
    """A function of a game that returns float64 (P,): the share of `games` that each seat wins when `bot` plays on.

    A game that no seat wins within `max_rounds` counts equally for all that are alive. The same position always gives
    the same chances. `Game.replay` takes the function as `evaluate`.
    """
    limited = rules.replace(max_rounds=rules.max_rounds or MOST_ROUNDS)
    lanes = Lanes(limited, board, games, observation=None, mask=None, autoreset=False)
    arena, everywhere = Arena(lanes, [bot]), np.arange(games)

    def evaluate(game: Game) -> Floats:
        if game.board.digest != board.digest or game.rules.num_players != rules.num_players:
            expected = f"must be {rules.num_players} players on {board.source!r}"
            raise ValueError(f"game: {game.rules.num_players} players on {game.board.source!r}: {expected}")
        if game.is_over:
            return shares(np.array([game.winner]), game.alive)
        lanes.records[:] = game.records
        lanes.seeds[:] = [game_seed(game.round, lane) for lane in range(games)]
        lanes.records["random"] = lanes.seeds
        arena.numbers[:] = 0
        arena.seat_players(everywhere)
        arena.play_on(everywhere)
        return shares(lanes.records["winner"], game.alive)

    return evaluate


def shares(winners: npt.NDArray[np.integer], alive: npt.NDArray[np.bool_]) -> Floats:
    """The share of games that each seat won; those that nobody won (-1) count equally for all that are alive."""
    won = np.bincount(winners[winners >= 0], minlength=len(alive))
    return (won + (len(winners) - won.sum()) * alive / alive.sum()) / len(winners)
