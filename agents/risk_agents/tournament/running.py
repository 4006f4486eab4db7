"""Plays the games of a tournament that are not yet in its file, on as many processes as wished."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any

import risk_env
from risk_agents.tournament.jobs import Chunk, begin_job, chunks, close_pools, play, play_and_return, play_and_store
from risk_agents.tournament.store import Store
from risk_agents.workers import PULSE, WorkExecutor, WorkInProgress

Progress = Callable[[int, int], None]  # games in the file, forfeits among them
Verdict = Callable[[], bool]  # whether the games in the file are enough


def _quiet(games: int, forfeits: int) -> None:
    pass


def _never() -> bool:
    return False


def conduct(
    store: Store,
    games: int,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress = _quiet,
    enough: Verdict = _never,
) -> None:
    """Play on until at least `games` games are in the file, in whole deals, or until `enough()`.

    The games are the same whatever `jobs`. With one job they are played in this process, else in processes of their own
    that write into the file themselves; an `executor` of the caller's (any `concurrent.futures.Executor`) returns
    its games to this process instead (with a method `size`, as many chunks at once as it says). Whatever stops this, a
    game that has ended is in the file.
    """
    done = store.finished()
    size = getattr(executor, "size", lambda: jobs)
    left = [pairing for pairing in store.config.schedule(games) if pairing.game not in done]
    pieces = chunks(store.config, left, size())
    progress(*store.count())
    if not left or enough():
        return
    if executor is not None:
        _hand_out(store, pieces, executor, size, progress, enough, stores=False)
    elif jobs == 1:
        _play_here(store, pieces, progress, enough)
    else:
        risk_env.warmup()  # so that the jobs find everything compiled
        with _processes(min(jobs, len(pieces)), store) as pool:
            _hand_out(store, pieces, pool, size, progress, enough, stores=True)


def _play_here(store: Store, pieces: Sequence[Chunk], progress: Progress, enough: Verdict) -> None:
    games, forfeits = store.count()
    try:
        for piece in pieces:
            for result in play(store.config, piece):
                store.add(result)
                games, forfeits = games + 1, forfeits + bool(result.forfeit_kind)
                progress(games, forfeits)
            if enough():
                return
    finally:
        close_pools()


def _hand_out(
    store: Store,
    pieces: Sequence[Chunk],
    executor: Executor,
    size: Callable[[], int],
    progress: Progress,
    enough: Verdict,
    stores: bool,
) -> None:
    """Keep twice as many chunks with the executor as can run at once, until all are played or it is enough."""
    waiting, work, stop = iter(pieces), WorkInProgress(executor, size), False
    submit = _submitter(executor, store, work, stores)
    shown = time.monotonic()
    while True:
        while not stop and work.has_room() and (piece := next(waiting, None)):
            submit(piece)
        if not work.running:
            return progress(*store.count())
        done = work.ended()
        for future in done:
            games = future.result()
            if not stores:
                store.add(*games)
        if time.monotonic() - shown > PULSE:
            progress(*store.count())
            shown = time.monotonic()
        stop = stop or (bool(done) and enough())


def _submitter(executor: Executor, store: Store, work: WorkInProgress, stores: bool) -> Callable[[Chunk], Any]:
    """What hands a chunk to the executor; the configuration goes to each machine once, where that is possible."""
    if stores:
        return lambda piece: work.submit(play_and_store, store.config, str(store.path), piece)
    config = executor.share(store.config) if isinstance(executor, WorkExecutor) else store.config
    return lambda piece: work.submit(play_and_return, config, piece)


@contextmanager
def _processes(jobs: int, store: Store) -> Iterator[Executor]:
    """A pool of processes, all of which have ended when this is left, however it is left."""
    before = set(active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=begin_job)
    try:
        yield pool
        pool.shutdown()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "a job's process was ended, from outside or by a compiled bot; "
            f"all games that had ended are in {store.path}, --resume goes on"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - before:
            child.kill()
