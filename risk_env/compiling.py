"""Compile ahead of time what the first use would compile: the rules and the registered bots.

Several processes can share the work, part by part; later processes find the code on disk (`compiler.cache`).
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import perf_counter

import numpy as np

from risk_env import arena, bots, risk_v0
from risk_env.batch import GameBatch
from risk_env.board.rules import Rules
from risk_env.children import safe_start
from risk_env.game import Game
from risk_env.lanes import LEAST_LANES


def compile_games() -> None:
    """Compile what a single game needs."""
    game = Game(seed=0)
    game.step(int(game.legal_actions()[0]))
    game.placements()
    game.observe(game.seat)
    game.determinize(game.seat, seed=0)
    Game.from_bytes(game.to_bytes())
    Game.from_text(Game(Rules.preset("classic", setup="random"), seed=0).to_text(), ask_forced=True)
    str(game.last_battle)  # writes the log


def compile_batches() -> None:
    """Compile what a batch of games needs, with one thread and with several."""
    batch = GameBatch(num_games=2 * LEAST_LANES, threads=2)
    _observation, mask, _seat = batch.reset()
    batch.step(np.asarray(mask).argmax(axis=1))
    batch.finish(batch.seat[:0])
    arena.Arena(batch, ()).play_on(np.arange(1))  # every seat is the caller's: nothing is played


def compile_doors() -> None:
    """Compile what the PettingZoo environment needs in addition."""
    env = risk_v0.raw_env()
    env.reset(seed=0)
    env.step(int(env.unwrapped.game.legal_actions()[0]))
    env.last()


RULES: dict[str, Callable[[], None]] = {"games": compile_games, "batches": compile_batches, "doors": compile_doors}


def bot_names() -> list[str]:
    """The names of the registered compiled bots."""
    return [name for name in bots.names() if isinstance(bots.find(name), bots.CompiledBot)]


def compile_part(part: str) -> float:
    """Compile a part of the rules, or the bot of that name; returns the seconds that it took."""
    start = perf_counter()
    if part in RULES:
        RULES[part]()
    else:
        bots.SeatedBot(bots.compiled(part), seed=0).load(Game(seed=0).tables)
    return perf_counter() - start


def compile_parts(parts: Iterable[str], jobs: int = 1) -> Iterator[tuple[str, float]]:
    """Compile these parts, with `jobs` processes; yields each part and its seconds when it is done."""
    if jobs == 1:
        for part in parts:
            yield part, compile_part(part)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        with safe_start():
            part_of = {pool.submit(compile_part, part): part for part in parts}
        for done in as_completed(part_of):
            yield part_of[done], done.result()
