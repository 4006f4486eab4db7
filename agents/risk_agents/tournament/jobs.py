"""The work of a tournament in pieces that any `concurrent.futures` executor can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from multiprocessing.util import Finalize

from risk_agents.tournament.block import Block
from risk_agents.tournament.host import end_with_parent
from risk_agents.tournament.loading import compiled_bot
from risk_agents.tournament.match import play_single
from risk_agents.tournament.players import Cast
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.schedule import Pairing
from risk_agents.tournament.setting import Setting
from risk_agents.tournament.store import Store
from risk_env.bots import CompiledBot

MOST_GAMES = 512  # in a chunk of compiled bots; a game with any other agent is a chunk of its own

_CASTS: dict[Setting, Cast] = {}  # of this process, at most one

Chunk = tuple[Pairing, ...]


def chunks(setting: Setting, pairings: Sequence[Pairing], jobs: int) -> list[Chunk]:
    """The games in pieces: compiled ones together, the others one by one."""
    compiled = [pairing for pairing in pairings if setting.is_compiled(pairing)]
    singles = [(pairing,) for pairing in pairings if not setting.is_compiled(pairing)]
    size = max(1, min(MOST_GAMES, -(-len(compiled) // jobs)))
    return [tuple(compiled[k : k + size]) for k in range(0, len(compiled), size)] + singles


def play(setting: Setting, chunk: Chunk) -> Iterator[GameResult]:
    """Play the games of a chunk; yields each when it has ended. The games do not depend on the chunk."""
    left = {pairing.game: pairing for pairing in chunk}
    if all(setting.is_compiled(pairing) for pairing in chunk):
        with suppress(Exception):  # of a bot; played alone, the game shows whose fault it is
            for result in Block(setting, _bots(setting, chunk), chunk).play():
                del left[result.game]
                yield result
    for pairing in left.values():
        yield play_single(setting, pairing, cast_of(setting))


def _bots(setting: Setting, chunk: Chunk) -> dict[int, CompiledBot]:
    """The compiled bots of a chunk by the numbers of their agents."""
    numbers = sorted({agent for pairing in chunk for agent in pairing.seats})
    bots = {agent: compiled_bot(setting.entrants[agent].spec) for agent in numbers}
    return {agent: bot for agent, bot in bots.items() if bot is not None}


def cast_of(setting: Setting) -> Cast:
    """The players of this process, kept from chunk to chunk."""
    if setting not in _CASTS:
        close_casts()
        _CASTS[setting] = Cast(setting)
    return _CASTS[setting]


def close_casts() -> None:
    """End the players of this process."""
    while _CASTS:
        _CASTS.popitem()[1].close()


def play_and_return(setting: Setting, chunk: Chunk) -> list[GameResult]:
    """The games of a chunk, for an executor that returns what it did."""
    return list(play(setting, chunk))


def play_and_store(setting: Setting, path: str, chunk: Chunk) -> int:
    """Play a chunk and write each game into the file as it ends; how many there were."""
    with closing(Store(path, setting)) as store:
        for result in play(setting, chunk):
            store.add(result)
    return len(chunk)


def begin_job() -> None:
    """What a job's process does first."""
    end_with_parent()
    Finalize(None, close_casts, exitpriority=1)
