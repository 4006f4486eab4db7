"""Jobs of a tournament: chunks of games that any `concurrent.futures` executor can play."""

from collections.abc import Iterator
from contextlib import closing, suppress
from multiprocessing.util import Finalize
from threading import get_ident

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.players import LanePlayer, PlayerPool, lane_player
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.runner import play_compiled, play_single
from risk_agents.tournament.schedule import Chunk
from risk_agents.workers.processes import begin_process

# Pools of players by thread and configuration, at most one pool for each thread
_POOLS: dict[tuple[int, TournamentConfig], PlayerPool] = {}


def play(config: TournamentConfig, chunk: Chunk) -> Iterator[GameResult]:
    """Play the games of a chunk, and yield the result of each game when the game has ended.

    A game does not depend on the chunk that contains the game.
    """
    left = {pairing.game: pairing for pairing in chunk}
    if all(config.is_compiled(pairing) for pairing in chunk):
        with suppress(Exception):  # raised by a bot; `play_single` repeats the error and names the bot
            for result in play_compiled(config, chunk, _bots(config, chunk)):
                del left[result.game]
                yield result
    for pairing in left.values():
        yield play_single(config, pairing, pool_of(config))


def _bots(config: TournamentConfig, chunk: Chunk) -> dict[int, LanePlayer]:
    """Return the lane players of a chunk, by agent number."""
    numbers = sorted({agent for pairing in chunk for agent in pairing.seats})
    bots = {agent: lane_player(config.entrants[agent].spec) for agent in numbers}
    return {agent: bot for agent, bot in bots.items() if bot is not None}


def pool_of(config: TournamentConfig) -> PlayerPool:
    """Return the pool of players of this thread; the pool is kept from chunk to chunk."""
    key = get_ident(), config
    if key not in _POOLS:
        for other in [other for other in _POOLS if other[0] == get_ident()]:
            _POOLS.pop(other).close()
        _POOLS[key] = PlayerPool(config)
    return _POOLS[key]


def close_pools() -> None:
    """Close the players of all threads of this process."""
    while _POOLS:
        _POOLS.popitem()[1].close()


def play_and_return(config: TournamentConfig, chunk: Chunk) -> list[GameResult]:
    """Play the games of a chunk, and return their results; used if the workers do not write the file."""
    return list(play(config, chunk))


def play_and_store(config: TournamentConfig, path: str, chunk: Chunk) -> float:
    """Play a chunk, write each game into the file when the game ends, and return the thinking time.

    The thinking time is the sum over all games and seats, in seconds.
    """
    seconds = 0.0
    with closing(Store(path, config)) as store:
        for result in play(config, chunk):
            store.add(result)
            seconds += sum(result.seconds)
    return seconds


def begin_job() -> None:
    """Set up the process of a job before its first chunk."""
    begin_process()
    Finalize(None, close_pools, exitpriority=1)
