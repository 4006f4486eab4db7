"""Where work runs: in this process, in processes of this machine (`--workers 4`), or on a Ray cluster (`ray`, `ray://HOST:PORT`).

    with open_executor(workers) as executor:
        for result in in_order(executor, function, pieces):  # function(*piece) of each piece
            ...

All three are `concurrent.futures` executors. What a process or a machine that is lost was doing begins again elsewhere;
the result of a piece of work must depend on its arguments only.
"""

from __future__ import annotations

import hashlib
import math
import os
import signal
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing import active_children, get_context
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, get_ident
from typing import Any

import risk_env
from risk_agents import supervisor
from risk_agents.supervisor import end_with_parent

RAY = "ray"
WORKERS = "a number of processes, ray, or ray://HOST:PORT"  # what `--workers` takes
RETRIES = 3  # of work whose process or machine was lost: what ends its own process must not begin for ever
PACKAGES = ("risk_env", "risk_agents", "risk_training")  # which must be the same everywhere
PULSE = 0.25  # seconds between two looks at who could work now


def local_processes(workers: str) -> int | None:
    """How many processes of this machine are asked for; None for Ray. ValueError for other texts."""
    if workers == RAY or workers.startswith(f"{RAY}://"):
        return None
    if not workers.isdecimal() or int(workers) < 1:
        raise ValueError(f"workers={workers!r}: must be {WORKERS}")
    return int(workers)


@contextmanager
def open_executor(workers: str) -> Iterator[WorkExecutor]:
    """The executor that `--workers` asks for; work that is left is dropped at the end of the `with` block.

    `ray` is a Ray of this machine's own, or the cluster of RAY_ADDRESS. ValueError for other texts, ImportError
    without Ray, ConnectionError where no cluster answers.
    """
    executor = _executor(workers)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _executor(workers: str) -> WorkExecutor:
    processes = local_processes(workers)
    if processes is None:
        return RayExecutor(None if workers == RAY else workers)
    return InProcess() if processes == 1 else ProcessExecutor(processes)


def in_order(executor: WorkExecutor, function: Callable[..., Any], pieces: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """`function(*piece)` of each piece, in their order; twice as many are running or waiting as can run at once."""
    following, results, work = iter(pieces), deque[Future[Any]](), WorkInProgress(executor, executor.size)
    while True:
        while work.has_room() and (piece := next(following, None)) is not None:
            results.append(work.submit(function, *piece))
        while results and results[0].done():
            yield results.popleft().result()
        if not work.running:
            return
        work.ended()


class WorkInProgress:
    """Pieces of work that an executor is doing or has waiting: at most twice as many as it can do at once.

    What a piece costs does not depend on how many there are.
    """

    def __init__(self, executor: Executor, size: Callable[[], int]) -> None:
        self.running = 0
        self._executor, self._size = executor, size
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self._most, self._asked = 0, -math.inf  # when `size` was called

    def has_room(self) -> bool:
        """Whether there is room for another piece; who has joined or left is noticed within a PULSE."""
        if time.monotonic() - self._asked > PULSE:
            self._most, self._asked = 2 * self._size(), time.monotonic()
        return self.running < self._most

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Hand a piece to the executor."""
        future = self._executor.submit(function, *args)
        self.running += 1
        future.add_done_callback(self._ended.put)
        return future

    def ended(self) -> list[Future[Any]]:
        """The pieces that have ended since the last call; without any, waits for one, but not longer than a PULSE."""
        found = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=PULSE))
            while True:
                found.append(self._ended.get_nowait())
        self.running -= len(found)
        return found


class WorkExecutor(Executor, ABC):
    """An executor that says how much it can do, and takes what many pieces of work need."""

    @abstractmethod
    def size(self) -> int:
        """How many pieces of work can run at once now."""

    def share(self, value: Any) -> Any:
        """What stands for the value among the arguments of `submit`: Ray sends it to each machine once."""
        return value


class InProcess(WorkExecutor):
    """This process, which does each piece of work when it is submitted."""

    def size(self) -> int:
        """One."""
        return 1

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class ProcessExecutor(WorkExecutor):
    """Processes of this machine. Each belongs to a thread, which starts another one where it was ended from outside."""

    def __init__(self, processes: int) -> None:
        risk_env.warmup()  # so that the processes find everything compiled
        self._size = processes
        self._before = set(active_children())
        self._threads = ThreadPoolExecutor(processes)
        self._pools: dict[int, ProcessPoolExecutor] = {}  # of one process each, by thread
        self._lock, self._is_closed = Lock(), False

    def size(self) -> int:
        """The number of processes."""
        return self._size

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function in the next process that is free."""
        return self._threads.submit(self._run, function, args, kwargs)

    def _run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for _ in range(1 + RETRIES):
            try:
                return self._begin(function, args, kwargs).result()
            except BrokenProcessPool:
                self._pools.pop(get_ident()).shutdown(wait=False)
        raise RuntimeError(f"the same work ended the process of a worker {1 + RETRIES} times")

    def _begin(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Future[Any]:
        """Hand the work to the process of this thread, which is started where there is none."""
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if get_ident() not in self._pools:
                pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin_process)
                self._pools[get_ident()] = pool
            return self._pools[get_ident()].submit(function, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what is running, or drop it with `cancel_futures`; all processes have ended afterwards."""
        if not cancel_futures:
            self._threads.shutdown()
        with self._lock:
            self._is_closed = True
            for child in set(active_children()) - self._before:
                child.kill()
        self._threads.shutdown(cancel_futures=True)
        for pool in self._pools.values():
            pool.shutdown()


def begin_process() -> None:
    """What a worker's process does first. Its parent handles Ctrl-C; when the parent is killed, so is it (Linux)."""
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    end_with_parent()
    if os.getppid() != parent:
        os._exit(supervisor.ENDED)


class RayExecutor(WorkExecutor):
    """Ray's tasks, one processor each, as an executor."""

    def __init__(self, address: str | None = None, processors: int | None = None) -> None:
        """Join the cluster of an address, or begin one with that many processors of this machine (None: all)."""
        import ray

        self._ray = ray
        self._owns_session = not ray.is_initialized()
        if self._owns_session:
            _connect(ray, address, processors)
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(run_same_version)
        self._version = version()
        self._references: dict[Future[Any], Any] = {}  # of what is running

    def size(self) -> int:
        """How many pieces of work can run at once now: machines come and go."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def share(self, value: Any) -> Any:
        """The value in Ray's object store."""
        return self._ray.put(value)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function somewhere."""
        shared = [found for found in args if isinstance(found, self._ray.ObjectRef)]
        places = [_Shared(shared.index(found)) if isinstance(found, self._ray.ObjectRef) else found for found in args]
        work = self._ray.cloudpickle.dumps((function, places, kwargs))
        reference = self._run.remote(self._version, work, *shared)
        future: Future[Any] = reference.future()
        self._references[future] = reference
        future.add_done_callback(lambda done: self._references.pop(done, None))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what is running, or cancel it; leave the cluster, or end one's own."""
        for future, reference in list(self._references.items()):
            if cancel_futures:
                self._ray.cancel(reference, force=True)
            elif wait:
                future.exception()
        if self._owns_session:
            self._ray.shutdown()


def _connect(ray: Any, address: str | None, processors: int | None) -> None:
    """Join a cluster, or begin one on this machine; workers find the packages where this process does."""
    path = os.pathsep.join(dict.fromkeys(str(_folder(name).parent) for name in PACKAGES))
    options = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
    if address is None:
        options |= {"runtime_env": {"env_vars": {"PYTHONPATH": path}}, "num_cpus": processors}
    try:
        ray.init(address, **options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise ConnectionError(f"--workers {address or RAY}: no Ray cluster answers: {error}") from error


@dataclass(frozen=True)
class _Shared:
    """The place of a value that Ray sends apart."""

    number: int


def run_same_version(wanted: str, work: bytes, *shared: Any) -> Any:
    """Call a function with its arguments, if the packages of this worker are the caller's; RuntimeError otherwise.

    `work` is both as Ray sends them, read only after that.
    """
    if version() != wanted:
        raise RuntimeError(f"a worker has risk_env {version()}, this process {wanted}: install the same everywhere")
    import ray

    function, args, kwargs = ray.cloudpickle.loads(work)
    return function(*(shared[found.number] if isinstance(found, _Shared) else found for found in args), **kwargs)


@cache
def version() -> str:
    """Version and digest of the source of the packages: equal where the same code is installed."""
    digest = hashlib.sha256()
    for name in PACKAGES:
        folder = _folder(name)
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{name}/{path.relative_to(folder).as_posix()}".encode())
            digest.update(path.read_bytes())
    return f"{import_module('risk_env').__version__} ({digest.hexdigest()[:12]})"


def _folder(package: str) -> Path:
    """Where a package's source is."""
    return Path(str(import_module(package).__file__)).parent
