"""Win probabilities of every seat, estimated from games in which a compiled bot plays all seats."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from risk_env.arena import Arena
from risk_env.arrays import Floats
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.game_vector import GameVector
from risk_env.seeds import game_seed

GAMES = 64  # default number of games for an estimate
MOST_ROUNDS = 200  # maximum number of rounds of a game if the rules set no limit


def chances_by_play(rules: Rules, board: Board, bot: str, games: int = GAMES) -> Callable[[Game], Floats]:
    """Return a function that estimates each seat's win probability in a game, float64 (P,).

    The estimate is the share of `games` games that the seat wins when `bot` continues the position at all
    seats. A game that no seat wins within `max_rounds` counts equally for all seats that are alive in the
    position. If the rules have no `max_rounds`, the limit is MOST_ROUNDS. The same position always gives the
    same estimates. The function can be the argument `evaluate` of `Game.replay`. The function raises
    ValueError for a game on another map or with another number of players.
    """
    limited = rules.replace(max_rounds=rules.max_rounds or MOST_ROUNDS)
    lanes = GameVector(limited, board, games, observation=None, mask=None, autoreset=False)
    arena, everywhere = Arena(lanes, [bot]), np.arange(games)

    def evaluate(game: Game) -> Floats:
        if game.board.digest != board.digest or game.rules.num_players != rules.num_players:
            expected = f"must be {rules.num_players} players on {board.source!r}"
            raise ValueError(f"game: {game.rules.num_players} players on {game.board.source!r}: {expected}")
        if game.is_over:
            return shares(np.array([game.winner]), game.alive)
        lanes.load_records(everywhere, np.repeat(game.records, games))
        lanes.reseed(everywhere, np.array([game_seed(game.round, lane) for lane in range(games)]))
        arena.numbers[:] = 0
        arena.seat_players(everywhere)
        arena.play_on(everywhere)
        return shares(lanes.records["winner"], game.alive)

    return evaluate


def shares(winners: npt.NDArray[np.integer], alive: npt.NDArray[np.bool_]) -> Floats:
    """Return the share of games that each seat won, float64 (P,).

    `winners` contains the winner of each game, or -1. A game without a winner counts equally for all seats
    that are True in `alive`, bool (P,).
    """
    won = np.bincount(winners[winners >= 0], minlength=len(alive))
    return (won + (len(winners) - won.sum()) * alive / alive.sum()) / len(winners)
