"""What the first use would compile, compiled ahead of it: the rules, and the registered bots.

The work is cut into parts that know nothing of each other, so that several processes can share it. What they compile is
kept on disk (`core.jit`) and found there by every later process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from risk_env import arena, bots, risk_v0
from risk_env.batch import LEAST_LANES, GameBatch
from risk_env.board.rules import Rules
from risk_env.game import Game


def compile_games() -> None:
    """Compile what a single game needs."""
    game = Game(seed=0)
    game.step(int(game.legal_actions()[0]))
    game.placements()
    game.observe(game.seat)
    game.determinize(game.seat, seed=0)
    Game.from_bytes(game.to_bytes())
    drafting = Game(Rules.preset("classic", setup="random"), seed=0)
    Game.from_text(drafting.to_text())
    str(game.last_battle)  # tells the log


def compile_batches() -> None:
    """Compile what a batch of games needs, one that threads share too."""
    batch = GameBatch(num_games=2 * LEAST_LANES, threads=2)
    _observation, mask, _seat = batch.reset()
    batch.step(np.asarray(mask).argmax(axis=1))
    batch.finish(batch.seat[:0])


def compile_doors() -> None:
    """Compile what the PettingZoo environment needs beyond that."""
    env = risk_v0.raw_env()
    env.reset(seed=0)
    env.step(int(env.unwrapped.game.legal_actions()[0]))
    env.last()


def compile_bot(bot: bots.CompiledBot) -> None:
    """Compile a bot: it is asked in no lane at all, which is enough."""
    batch = GameBatch(num_games=1, observation=None, mask=None)
    T, no_lanes = batch.tables, np.arange(0)
    seating = arena.Seating(batch, ())
    memory = np.zeros((*seating.randoms.shape, bot.memory), np.int32)
    bot.choose(batch.records, T.board, T.rules, no_lanes, seating.randoms, memory, np.zeros(1, np.int64))


RULES: dict[str, Callable[[], None]] = {"games": compile_games, "batches": compile_batches, "doors": compile_doors}


def bot_names() -> list[str]:
    """The registered bots that are compiled."""
    return [name for name in bots.names() if isinstance(bots.find(name), bots.CompiledBot)]


def compile_part(part: str) -> float:
    """Compile a part of the rules, or the bot of that name; the seconds that took."""
    start = perf_counter()
    if part in RULES:
        RULES[part]()
    else:
        compile_bot(bots.compiled(part))
    return perf_counter() - start


def compile_parts(parts: Iterable[str], jobs: int = 1) -> Iterator[tuple[str, float]]:
    """Compile these parts, with several processes if `jobs` is more than 1; each with its seconds when it is done."""
    if jobs == 1:
        for part in parts:
            yield part, compile_part(part)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        part_of = {pool.submit(compile_part, part): part for part in parts}
        for done in as_completed(part_of):
            yield part_of[done], done.result()
