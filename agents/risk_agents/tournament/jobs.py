"""The work of a tournament in pieces that any `concurrent.futures` executor can do."""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from multiprocessing.util import Finalize
from threading import get_ident

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.loading import compiled_bot
from risk_agents.tournament.players import PlayerPool
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.runner import play_compiled, play_single
from risk_agents.tournament.schedule import Pairing
from risk_agents.tournament.store import Store
from risk_agents.workers import begin_process
from risk_env.bots import CompiledBot

LEAST_GAMES, MOST_GAMES = 32, 512  # in a chunk of compiled bots; a game with any other agent is a chunk of its own
PIECES = 4  # for each of several jobs

_POOLS: dict[tuple[int, TournamentConfig], PlayerPool] = {}  # of each thread of this process, at most one a thread

Chunk = tuple[Pairing, ...]


def chunks(config: TournamentConfig, pairings: Sequence[Pairing], jobs: int) -> list[Chunk]:
    """The games in pieces: compiled ones together, the others one by one.

    Each of several jobs gets PIECES, unless these would be smaller than LEAST_GAMES: not all games take equally long,
    and a piece costs as much as some games.
    """
    compiled = [pairing for pairing in pairings if config.is_compiled(pairing)]
    singles = [(pairing,) for pairing in pairings if not config.is_compiled(pairing)]
    for_each_job = -(-len(compiled) // jobs)
    size = for_each_job if jobs == 1 else max(-(-for_each_job // PIECES), min(LEAST_GAMES, for_each_job))
    size = max(1, min(MOST_GAMES, size))
    return [tuple(compiled[k : k + size]) for k in range(0, len(compiled), size)] + singles


def play(config: TournamentConfig, chunk: Chunk) -> Iterator[GameResult]:
    """Play the games of a chunk; yields each when it has ended. The games do not depend on the chunk."""
    left = {pairing.game: pairing for pairing in chunk}
    if all(config.is_compiled(pairing) for pairing in chunk):
        with suppress(Exception):  # of a bot; played alone, the game shows whose fault it is
            for result in play_compiled(config, chunk, _bots(config, chunk)):
                del left[result.game]
                yield result
    for pairing in left.values():
        yield play_single(config, pairing, pool_of(config))


def _bots(config: TournamentConfig, chunk: Chunk) -> dict[int, CompiledBot]:
    """The compiled bots of a chunk by the numbers of their agents."""
    numbers = sorted({agent for pairing in chunk for agent in pairing.seats})
    bots = {agent: compiled_bot(config.entrants[agent].spec) for agent in numbers}
    return {agent: bot for agent, bot in bots.items() if bot is not None}


def pool_of(config: TournamentConfig) -> PlayerPool:
    """The players of this thread, kept from chunk to chunk."""
    key = get_ident(), config
    if key not in _POOLS:
        for other in [other for other in _POOLS if other[0] == get_ident()]:
            _POOLS.pop(other).close()
        _POOLS[key] = PlayerPool(config)
    return _POOLS[key]


def close_pools() -> None:
    """End the players of this process."""
    while _POOLS:
        _POOLS.popitem()[1].close()


def play_and_return(config: TournamentConfig, chunk: Chunk) -> list[GameResult]:
    """The games of a chunk, for an executor that returns what it did."""
    return list(play(config, chunk))


def play_and_store(config: TournamentConfig, path: str, chunk: Chunk) -> int:
    """Play a chunk and write each game into the file as it ends; how many there were."""
    with closing(Store(path, config)) as store:
        for result in play(config, chunk):
            store.add(result)
    return len(chunk)


def begin_job() -> None:
    """What a job's process does first."""
    begin_process()
    Finalize(None, close_pools, exitpriority=1)
