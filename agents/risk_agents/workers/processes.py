"""Executor that runs work in processes of this machine."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Lock, Timer, get_ident
from traceback import format_exc
from typing import Any

import risk_env
from risk_agents import supervisor
from risk_agents.supervisor import end_with_parent
from risk_agents.workers.executor import LEAST_LIMIT, RETRIES, Limits, WorkExecutor, WorkLostError, say_again
from risk_agents.workers.messages import receive, send
from risk_env.children import safe_start
from risk_env.streams import prepare_streams

PATIENCE = 5.0  # time after which a process that does not end is killed, in seconds


class ProcessExecutor(WorkExecutor):
    """Executor that runs work in processes of this machine.

    Each process belongs to a thread. The thread starts a new process if the old process has ended or hangs.
    """

    def __init__(
        self, processes: int, limit: float | None = None, begin: Callable[[], object] | None = None
    ) -> None:
        """Compile the code of games, and create threads; processes start when they are needed.

        Each process calls `begin` first (default: `begin_process`). `limit` is passed to `Limits`.
        """
        self._limits = Limits(limit)
        risk_env.warmup()  # otherwise every process would compile the kernels
        self._size, self._begin = processes, begin or begin_process
        self._threads = ThreadPoolExecutor(processes)
        self._workers: dict[int, _Worker] = {}  # by thread
        self._out: set[Future[Any]] = set()
        self._lock, self._is_closed = Lock(), False

    def size(self) -> int:
        """Return the number of processes."""
        return self._size

    def allow(self, seconds: float) -> None:
        """Raise the minimum of the default time limits to `seconds` if the minimum is lower."""
        self._limits.least = max(self._limits.least, seconds)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function to the next free process, and return the future of the result."""
        return self._noted(self._threads.submit(self._run, function, args, kwargs))

    def submit_after(
        self, before: Any, function: Callable[..., Any], /, *args: Any
    ) -> Future[tuple[Any, Any]]:
        """Submit one link of a chain of work (`WorkExecutor.submit_after`).

        States pass from one process to the next through this process.
        """
        return self._noted(super().submit_after(before, function, *args))

    def _noted(self, future: Future[Any]) -> Future[Any]:
        """Record a future, so that `shutdown` waits for the future, and return the future."""
        self._out.add(future)
        future.add_done_callback(self._out.discard)
        return future

    def _run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for retries_left in reversed(range(1 + RETRIES)):
            worker, start = self._worker(), time.monotonic()
            try:
                result = worker.call((function, args, kwargs), self._limits.of(function))
            except _LostError as lost:
                self._workers.pop(get_ident()).kill()
                if retries_left and not self._is_closed:
                    say_again(str(lost))
            else:
                self._limits.ended(function, time.monotonic() - start)
                return result
        raise WorkLostError(1 + RETRIES)

    def _worker(self) -> _Worker:
        """Return the worker of this thread; start a worker if the thread has none."""
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if get_ident() not in self._workers:
                self._workers[get_ident()] = _Worker(self._begin)
            return self._workers[get_ident()]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for all work, or drop all work if `cancel_futures` is true; then end all processes."""
        if not cancel_futures:
            wait_for(list(self._out))
        with self._lock:
            self._is_closed = True
            for worker in list(self._workers.values()):
                worker.kill() if cancel_futures else worker.end()
        self._threads.shutdown(cancel_futures=True)


_Work = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class _LostError(Exception):
    """Error for a process that has ended, or that was killed because its work took too long."""


class _WorkError(Exception):
    """Error whose message is the traceback of an error that a function raised in a worker."""


class _Worker:
    """Process that calls one function after another."""

    def __init__(self, begin: Callable[[], object]) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, begin))
        with safe_start():
            self._process.start()
        theirs.close()
        self._has_begun = False
        self._exceeded = 0.0  # exceeded time limit in seconds, or 0

    def call(self, work: _Work, limit: float) -> Any:
        """Call a function in the process; return its result, or raise its error.

        Raises _LostError if the process ends or takes longer than `limit` seconds.
        """
        try:
            self._await_start()
            with self._limited(limit):
                send(self._connection, work)
                has_worked, result = receive(self._connection)
        except (EOFError, OSError) as error:
            why = f"took more than {self._exceeded:,.0f} s" if self._exceeded else "has ended"
            raise _LostError(f"a worker process {why}") from error
        if not has_worked:
            raised, traceback = result
            raise raised from _WorkError(traceback)
        return result

    def _await_start(self) -> None:
        """Wait until the process has started, which does not count towards the time limit of the work."""
        if not self._has_begun:
            with self._limited(LEAST_LIMIT):
                self._has_begun = bool(receive(self._connection))

    @contextmanager
    def _limited(self, limit: float) -> Iterator[None]:
        """Kill the process if the `with` block takes longer than `limit` seconds."""
        if limit == math.inf:
            yield
            return
        timer = Timer(limit, self._kill_late, (limit,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _kill_late(self, limit: float) -> None:
        self._exceeded = limit
        self._process.kill()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()

    def end(self) -> None:
        """Close the connection; kill the process if it does not end within PATIENCE seconds."""
        self._connection.close()
        self._process.join(PATIENCE)
        self.kill()


def serve(connection: Connection, begin: Callable[[], object]) -> None:
    """Run a worker's process: call functions until the other end is closed."""
    prepare_streams()
    begin()
    with suppress(EOFError, OSError):
        send(connection, True)
        while True:
            _call(connection)


def _call(connection: Connection) -> None:
    """Receive a function, call it, and send (True, result) or (False, (error, traceback))."""
    reply: tuple[bool, Any]
    try:
        function, args, kwargs = receive(connection)
    except (EOFError, OSError):
        raise
    except Exception as error:
        reply = False, (error, format_exc())
    else:
        try:
            reply = True, function(*args, **kwargs)
        except Exception as error:
            reply = False, (error, format_exc())
    try:
        send(connection, reply)
    except OSError:
        raise
    except Exception as error:  # the reply cannot be pickled
        send(connection, (False, (RuntimeError(f"{reply[1]!r:.200} cannot be sent: {error}"), format_exc())))


def begin_process() -> None:
    """Prepare a worker's process: use one thread, ignore Ctrl-C, and end with the parent.

    The parent handles Ctrl-C. If the parent is killed, the process is also killed (Linux).
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    if torch := sys.modules.get("torch"):  # if the main module has imported torch
        torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    end_with_parent()
    if os.getppid() != parent:
        os._exit(supervisor.ENDED)
