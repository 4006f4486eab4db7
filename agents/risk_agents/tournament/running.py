"""Play the games of a tournament that are not yet in its file, in one or several processes."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from risk_agents.tournament.jobs import begin_job, close_pools, play, play_and_return, play_and_store
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.schedule import Chunk, Cutter
from risk_agents.workers import ProcessExecutor, WorkExecutor, WorkInProgress
from risk_agents.workers.executor import PULSE, WorkLostError

STARTED = 60.0  # part of a chunk's time limit that is reserved for the start of agents, in seconds

Progress = Callable[[int, int], None]  # takes the number of games and the number of forfeits in the file
Verdict = Callable[[], bool]  # returns True if the games in the file are enough


def conduct(
    store: Store,
    games: int,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress = lambda games, forfeits: None,
    enough: Verdict = lambda: False,
    limit: float | None = None,
) -> None:
    """Play until at least `games` games are in the file, in whole deals, or until `enough()` is true.

    The games do not depend on `jobs` or `executor`. One job plays in this process. Several jobs play in
    processes that write into the file. `executor` can be any executor of `concurrent.futures`; this process
    then writes the games that the executor returns. The number of chunks that can be played at once is the
    result of the executor's method `size`. Without such a method, the number is `jobs`.

    Games that have ended are in the file even if an error or a signal stops the function. With `executor`,
    this holds only for the games of finished chunks. If a process takes longer than `limit` seconds for a
    chunk, the chunk begins again (`workers.executor.Limits` describes the default limit). Raises RuntimeError
    if the same chunk fails too many times.
    """
    done, config = store.finished(), store.config
    left = Cutter(
        [pairing for pairing in config.schedule(games) if pairing.game not in done], config.is_compiled
    )
    progress(*store.count())
    if not left or enough():
        return
    try:
        if executor is not None:
            _Conductor(store, left, executor, jobs, stores=False).play(progress, enough)
        elif jobs == 1:
            _play_here(store, left, progress, enough)
        else:
            with tournament_processes(jobs, limit) as processes:
                _Conductor(store, left, processes, jobs, stores=True).play(progress, enough)
    except WorkLostError as error:
        raise RuntimeError(
            f"{error}; the games in {store.path} are kept; to continue, use --resume {store.path}"
        ) from error


def _play_here(store: Store, left: Cutter, progress: Progress, enough: Verdict) -> None:
    games, forfeits = store.count()
    try:
        while chunk := left.cut():
            for result in play(store.config, chunk):
                store.add(result)
                games, forfeits = games + 1, forfeits + bool(result.forfeit_kind)
                progress(games, forfeits)
            if enough():
                return
    finally:
        close_pools()


class _Conductor:
    """Loop that submits chunks until all games are played or the games in the file are enough.

    The number of unfinished chunks is at most twice the number of chunks that can be played at once.
    """

    def __init__(self, store: Store, left: Cutter, executor: Executor, jobs: int, stores: bool) -> None:
        self.store, self.left, self.stores = store, left, stores
        self.work, self.config = (
            WorkInProgress(executor, getattr(executor, "size", lambda: jobs)),
            store.config,
        )
        self.chunks: dict[Future[Any], Chunk] = {}  # submitted chunks that have not ended
        if isinstance(executor, WorkExecutor):
            self.config = store.config if stores else executor.share(store.config)
            if not all(entrant.compiled for entrant in store.config.entrants):
                executor.allow(STARTED + store.config.num_players * store.config.game_time)
        # `share` sends the configuration to each machine only once, if the executor supports this
        self.call = (
            (play_and_store, self.config, str(store.path)) if stores else (play_and_return, self.config)
        )

    def play(self, progress: Progress, enough: Verdict) -> None:
        """Play the games that are left; call `enough` whenever chunks have ended."""
        stop, shown = False, time.monotonic()
        while True:
            while not stop and self.work.has_room() and (chunk := self.left.cut(self.work.workers)):
                self.chunks[self.work.submit(*self.call, chunk)] = chunk
            if not self.work.running:
                return progress(*self.store.count())
            done = self.work.ended()
            for future in done:
                self._take(future)
            if time.monotonic() - shown > PULSE:
                progress(*self.store.count())
                shown = time.monotonic()
            stop = stop or (bool(done) and enough())

    def _take(self, future: Future[Any]) -> None:
        """Process the result of a chunk that has ended; write the games unless the workers write them."""
        chunk, result = self.chunks.pop(future), future.result()
        if not self.stores:
            self.store.add(*result)
            result = sum(sum(game.seconds) for game in result)
        self.left.ended(chunk, result)


@contextmanager
def tournament_processes(jobs: int, limit: float | None) -> Iterator[ProcessExecutor]:
    """Start processes for games, and end all processes at the end of the context, even after an error."""
    executor = ProcessExecutor(jobs, limit, begin_job)
    try:
        yield executor
        executor.shutdown()
    finally:
        executor.shutdown(cancel_futures=True)
