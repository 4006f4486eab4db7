"""Ahead-of-time compilation of the code that the first use would compile.

This is the code of the rules and of the registered players. Several processes can share the work.
Later processes load the code from disk (`compiler.cache`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import numpy as np

from risk_env import arena, bots
from risk_env.batch import GameBatch
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules, preset_players, presets
from risk_env.children import safe_start
from risk_env.core import entry
from risk_env.core.types import NOBODY
from risk_env.events import new_rolls
from risk_env.game import Game
from risk_env.game_vector import LEAST_LANES
from risk_env.players import as_agent


def compile_games(rules: Rules | None = None, board: Board | str = "classic") -> None:
    """Compile the code of a single game. All rules, and all maps of a size class, share this code."""
    game = Game(rules or Rules.preset("classic", setup="random"), board, seed=0)
    Game.from_text(game.to_text(), game.board, ask_forced=True)
    game.step(int(game.legal_actions()[0]))
    game.placements()
    game.observe(game.seat)
    game.determinize(game.seat, seed=0)
    Game.from_bytes(game.to_bytes(), game.board)
    str(game.last_battle)  # writes the log
    seen, T = game.records.copy(), game.tables
    entry.play_blitz(seen, 0, T.board, T.rules, *new_rolls())  # plays nothing, because there is no blitz
    entry.hide_decision(seen, 0, T.board, T.rules, NOBODY)


def compile_batches() -> None:
    """Compile the code of a batch of games, with one thread and with several."""
    batch = GameBatch(num_games=2 * LEAST_LANES, threads=2)
    _observation, mask, _seat = batch.reset()
    batch.step(np.asarray(mask).argmax(axis=1))
    batch.finish(batch.seat[:0])
    arena.Arena(batch, (), counts=True).prepare()


def compile_envs() -> None:
    """Compile the additional code of the PettingZoo environment."""
    from risk_env import risk_v0  # not needed in the processes of agents

    env = risk_v0.raw_env()
    env.reset(seed=0)
    env.step(int(env.unwrapped.game.legal_actions()[0]))
    env.last()


RULES: dict[str, Callable[[], None]] = {
    "games": compile_games,
    "batches": compile_batches,
    "envs": compile_envs,
}


def compile_player(player: Any) -> None:
    """Compile a compiled bot, or let an agent or a policy prepare for every preset that it plays."""
    if isinstance(player, bots.CompiledBot):
        bots.SeatedBot(player, seed=0).load(Game(seed=0).tables)
        return
    agent, board = as_agent(player), load_map("classic")
    for preset in presets():
        for players in preset_players(preset):
            with suppress(ValueError):  # raised if the agent does not play such games
                agent.prepare(Rules.preset(preset, players), board)


def compile_part(part: str) -> float:
    """Compile a part of the rules, or the player with this name, and return the time in seconds."""
    start = perf_counter()
    if part in RULES:
        RULES[part]()
    else:
        compile_player(bots.find(part))
    return perf_counter() - start


def compile_parts(stages: Sequence[Iterable[str]], jobs: int = 1) -> Iterator[tuple[str, float]]:
    """Compile the parts, one stage after another, in `jobs` processes.

    Yields each part and its compilation time in seconds. Players that run the same code, such as `tactician`
    and `tactician:quick`, are compiled by one process.
    """
    groups = [_grouped(stage) for stage in stages]
    if jobs == 1:
        for parts in (parts for stage in groups for parts in stage):
            yield from _compile_all(parts)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            for stage in groups:
                with safe_start():
                    work = [pool.submit(_compiled_all, parts) for parts in stage]
                for done in as_completed(work):
                    yield from done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _grouped(stage: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the parts of a stage in groups that compile the same code."""
    groups: dict[str, list[str]] = {}
    for part in stage:
        groups.setdefault(_code_of(part), []).append(part)
    return list(map(tuple, groups.values()))


def _code_of(part: str) -> str:
    """Return the module of a compiled bot's entry point; for other parts, the name without a variant."""
    player = None if part in RULES else bots.find(part)
    name = part.partition(":")[0]
    return getattr(player.choose, "__module__", name) if isinstance(player, bots.CompiledBot) else name


def _compile_all(parts: Iterable[str]) -> Iterator[tuple[str, float]]:
    for part in parts:
        yield part, compile_part(part)


def _compiled_all(parts: Iterable[str]) -> list[tuple[str, float]]:
    return list(_compile_all(parts))


def stages(with_players: bool) -> list[list[str]]:
    """Return the parts to compile, by stage. Players in Python come last, because some use compiled bots."""
    if not with_players:
        return [list(RULES)]
    compiled = [name for name in bots.names() if isinstance(bots.find(name), bots.CompiledBot)]
    return [[*RULES, *compiled], [name for name in bots.names() if name not in compiled]]
