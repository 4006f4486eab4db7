"""Executor that runs work on the processors of a Ray cluster."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import mkdtemp
from threading import Event, Lock, RLock, Thread
from typing import Any
from uuid import uuid4

from risk_agents.workers import watchdog
from risk_agents.workers.executor import RETRIES, Limits, WorkExecutor, WorkLostError, say_again

RAY = "ray"
PACKAGES = ("risk_env", "risk_agents", "risk_training")  # packages that must be the same on all machines
NEEDED = ("raylet", "gcs_server")  # processes that every Ray session needs
GUARDED = 1.0  # time between two checks of the processes in NEEDED, in seconds
CONTINUE = "run the command again (`tournament` and `train`: with --resume)"
WATCHED = 5.0  # maximum time between two checks for work that takes too long, in seconds
# Environment variables for a Ray session that this process starts. `_system_config` is not used, because Ray
# does not start if `_system_config` contains an option that the installed version does not know.
OWN_SETTINGS = {
    # Lifetime of idle processes, in ms (Ray's default: 1,000); the start of a new process takes 3 s
    "RAY_idle_worker_killing_time_threshold_ms": "600000",
    # Niceness of local processes (Ray's default: 15, which gives all other work on the machine priority)
    "RAY_worker_niceness": "0",
    # The following settings save time on a small machine. Event times, metrics and the history of tasks for
    # the dashboard are turned off. Reports to other machines are less frequent than Ray's defaults (100 to
    # 1,000 ms).
    "RAY_event_stats": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_raylet_report_resources_period_milliseconds": "1000",
    "RAY_gcs_pull_resource_loads_period_milliseconds": "10000",
    "RAY_object_manager_timer_freq_ms": "1000",
    "RAY_kill_idle_workers_interval_ms": "10000",
    # Keep the arrays of a rollout in a worker's heap; new memory pages for each array would take 0.7 % of the
    # worker's time
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}


@dataclass(eq=False, repr=False)
class _Piece(Future[Any]):
    """Submitted piece of work, which is also the future of its result."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]  # arguments of `_run_piece` after `name` and `attempt`
    before: _Piece | None = None  # previous piece of the chain, until this piece has ended
    following: list[_Piece] = field(default_factory=list)  # next pieces, until this piece has ended
    reference: Any = None  # Ray's reference to the result of the latest attempt
    result_to_come: Future[Any] | None = None  # future of the latest attempt; None if given up or ended
    attempt: int = 0  # number of the latest attempt
    losses: int = 0  # number of attempts whose worker was lost or hung
    submitted: float = 0.0  # time when the latest attempt was submitted to Ray
    begun: float = math.inf  # time when the latest attempt was first seen running

    def __post_init__(self) -> None:
        super().__init__()


class RayExecutor(WorkExecutor):
    """Executor that runs each piece of work as a Ray task on one processor."""

    def __init__(
        self, address: str | None = None, processors: int | None = None, limit: float | None = None
    ) -> None:
        """Join a Ray cluster, or start a Ray session on this machine.

        If this process is already connected to Ray, the connection is used. Otherwise the process joins the
        cluster at `address`, or the cluster of the environment variable RAY_ADDRESS. If neither is set, a new
        session starts with `processors` processors (default: all). `limit` is passed to `Limits`.
        """
        self._limits = Limits(limit)
        import ray

        self._ray = ray
        self._owns_session = not ray.is_initialized()
        self._own = _connect(ray, address, processors) if self._owns_session else None
        self._loss: ConnectionError | None = None  # set once Ray itself is lost
        # `_begin_again` retries, not Ray, because Ray would keep all previous results of a chain
        self._run = ray.remote(num_cpus=1, max_retries=0)(_run_piece)
        exceptions = ray.exceptions
        self._losses = (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
            exceptions.OutOfMemoryError,
        )
        self._running = _Running()
        self._version = version()
        self._numbers = count()
        self._trying = RLock()  # held while work is submitted to Ray
        self._lock = Lock()  # protects data that Ray's threads change; not held during calls to Ray
        self._out: dict[int, _Piece] = {}
        self._lost: SimpleQueue[_Piece | None] = SimpleQueue()  # lost pieces; None after shutdown
        self._processors = self._count_processors()
        self._closing = Event()
        self._watcher, self._guard = (
            Thread(target=work, daemon=True) for work in (self._watch, self._look_after_ray)
        )
        self._watcher.start()
        self._guard.start()

    def size(self) -> int:
        """Return the number of pieces of work that can run at once, which changes with the cluster."""
        return self._processors if self._own else self._count_processors()

    def _count_processors(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def share(self, value: Any) -> Any:
        """Put a value into Ray's object store, and return Ray's reference to the value.

        Raises ConnectionError if Ray is lost, and an error of Ray for other problems.
        """
        try:
            return self._ray.put(value)
        except Exception as error:
            self._find_loss()
            raise self._loss or error from error

    def allow(self, seconds: float) -> None:
        """Raise the minimum of the default time limits to `seconds` if the minimum is lower."""
        self._limits.least = max(self._limits.least, seconds)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function to any machine of the cluster, and return the future of the result."""
        return self._begin(_Piece(next(self._numbers), function, self._sent(function, args, kwargs)))

    def submit_after(
        self, before: Any, function: Callable[..., Any], /, *args: Any
    ) -> Future[tuple[Any, Any]]:
        """Submit one link of a chain of work (`WorkExecutor.submit_after`).

        The worker takes the state from the previous link's result in the object store.
        """
        if not isinstance(before, _Piece):
            return self.submit(function, before, *args)
        sent = self._sent(function, (_StateBefore(), *args), {})
        return self._begin(_Piece(next(self._numbers), function, sent, before))

    def _sent(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Return `_Piece.arguments`: the version, the pickled work, and arguments in the object store."""
        shared = [argument for argument in args if isinstance(argument, self._ray.ObjectRef)]
        places = [
            _Shared(shared.index(argument)) if isinstance(argument, self._ray.ObjectRef) else argument
            for argument in args
        ]
        return self._version, self._ray.cloudpickle.dumps((function, places, kwargs)), *shared

    def _begin(self, piece: _Piece) -> _Piece:
        """Register a piece, and submit it to Ray."""
        with self._trying:
            self._out[piece.number] = piece
            if piece.before and not piece.before.done():
                piece.before.following.append(piece)
            self._try(piece)
        return piece

    def _try(self, piece: _Piece, again: bool = False) -> None:
        """Submit a piece to Ray; the piece ends with an error if Ray does not accept it."""
        piece.attempt, piece.begun, piece.submitted = piece.attempt + 1, math.inf, time.monotonic()
        if self._loss:
            self._end(piece, self._loss)
            return
        try:
            if again and piece.before and piece.before.done():  # the state may be lost in the cluster
                piece.before.reference = self.share(piece.before.result())
            before = [piece.before.reference] if piece.before else []
            piece.reference = self._run.remote(
                self._running.name, _attempt_name(piece), *piece.arguments, *before
            )
            future = piece.reference.future()
        except Exception as error:
            self._end(piece, error)
            return
        piece.result_to_come = future
        future.add_done_callback(partial(self._look, piece))

    def _look(self, piece: _Piece, future: Future[Any]) -> None:
        """Handle the end of an attempt at a piece."""
        with self._lock:
            if piece.result_to_come is not future:
                return  # the attempt was given up, or another call has handled it
            if (error := future.exception()) and piece.before:
                if not piece.before.done():
                    return  # the error may come from the previous piece
                error = piece.before.exception() or error
            piece.result_to_come = None
        if isinstance(getattr(error, "cause", error), self._losses):  # over `ray://` the loss is a cause
            self._lost.put(piece)
        else:
            self._end(piece, error, None if error else future.result())

    def _end(self, piece: _Piece, error: BaseException | None, result: Any = None) -> None:
        """End a piece with an error or a result; no other thread may still handle the piece."""
        piece.before = None
        if error:
            piece.set_exception(error)
        else:
            begun = piece.submitted if piece.begun == math.inf else piece.begun
            self._limits.ended(piece.function, time.monotonic() - begun)
            piece.set_result(result)
        del self._out[piece.number]
        for following in piece.following:
            if error and self._give_up(following):
                self._end(following, error)
            elif (future := following.result_to_come) and future.done():
                self._look(following, future)
        piece.following = []

    def _watch(self) -> None:
        """Restart pieces that were lost or take too long, until `shutdown`; runs in a thread."""
        while True:
            try:
                piece = self._lost.get(timeout=min(WATCHED, self._limits.shortest() / 4))
            except Empty:
                self._find_late()
                continue
            if piece is None:
                return
            self._begin_again(piece, "a Ray worker, or its machine, was lost")
            del piece  # also frees the result of the piece

    def _look_after_ray(self) -> None:
        """End all work when Ray itself is lost; runs in a thread without calls to Ray, which would block."""
        while not self._closing.wait(GUARDED):
            self._find_loss()

    def _find_loss(self) -> None:
        """End all work if a necessary process of this program's own Ray session has ended."""
        part = self._own and self._own.lost_part()
        if self._loss or not part:
            return
        self._loss = ConnectionError(
            f"the Ray session on this machine was lost: the process {part} has ended; {CONTINUE}"
        )
        with self._trying:
            for piece in list(self._out.values()):
                if self._give_up(piece):
                    self._end(piece, self._loss)

    def _find_late(self) -> None:
        """Restart pieces that take too long."""
        begun, pieces = self._running.begun(), list(self._out.values())
        self._running.keep(set(map(_attempt_name, pieces)))
        for piece in pieces:
            if _attempt_name(piece) in begun:
                piece.begun = time.monotonic()
            limit = self._limits.of(piece.function)
            if time.monotonic() - piece.begun > limit and self._give_up(piece):
                self._cancel(piece)
                self._begin_again(piece, f"a Ray worker took more than {limit:,.0f} s")

    def _cancel(self, piece: _Piece) -> None:
        """Kill the worker of a piece; the worker may already have ended or be lost."""
        with suppress(Exception):
            self._ray.cancel(piece.reference, force=True)

    def _give_up(self, piece: _Piece) -> bool:
        """Ignore the result of the latest attempt at a piece; return False if the attempt has ended."""
        with self._lock:
            future, piece.result_to_come = piece.result_to_come, None
        return future is not None

    def _begin_again(self, piece: _Piece, why: str) -> None:
        """Restart a piece whose attempt was lost or given up, and the pieces that wait for the piece's state.

        After RETRIES retries, the piece ends with WorkLostError.
        """
        piece.losses += 1
        if piece.losses > RETRIES:
            self._end(piece, WorkLostError(1 + RETRIES))
            return
        say_again(why)
        with self._trying:
            for late in [piece, *self._give_up_after(piece)]:
                self._try(late, again=True)

    def _give_up_after(self, piece: _Piece) -> list[_Piece]:
        """Give up the attempts at all pieces that wait for a piece's state; return these pieces in order."""
        given_up = [following for following in piece.following if self._give_up(following)]
        return [late for following in given_up for late in (following, *self._give_up_after(following))]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the connection and the session that this executor began.

        All work is cancelled if `cancel_futures` is true. Otherwise, the method first waits for all work if
        `wait` is true.
        """
        pieces = list(self._out.values())
        if wait and not cancel_futures:
            wait_for(pieces)
        self._closing.set()
        self._lost.put(None)
        if not self._loss:  # after a loss, calls to Ray block for a minute
            self._leave(pieces if cancel_futures else [])
        if self._owns_session:
            self._ray.shutdown()
        if self._own:
            self._own.close()

    def _leave(self, pieces: Sequence[_Piece]) -> None:
        """Cancel `pieces`, and remove the keys of all attempts."""
        self._watcher.join()
        for piece in pieces:
            self._give_up(piece)
        for piece in pieces:
            self._cancel(piece)
            piece.cancel()
        self._running.forget()


class _Running:
    """Record of the attempts that have begun: each attempt's worker writes a key to Ray's key-value store.

    A Ray actor for this record would need one percent of a processor even when idle. This process removes the
    keys a few seconds later. Workers do not remove keys, because they would have to wait for Ray's answer.
    """

    def __init__(self) -> None:
        self.name, self._keys = uuid4().hex, set[bytes]()

    def begun(self) -> set[str]:
        """Return the attempts that have begun since the last call."""
        before, self._keys = self._keys, set(_store("list", self.name) or ())
        return set(map(_attempt_of, self._keys - before))

    def keep(self, out: set[str]) -> None:
        """Remove the keys of all known attempts except those in `out`."""
        for key in self._keys:
            if _attempt_of(key) not in out:
                _store("del", key)

    def forget(self) -> None:
        """Remove all keys of this record from Ray's key-value store."""
        _store("del", self.name, del_by_prefix=True)


def _store(call: str, *args: Any, **options: Any) -> Any:
    """Call Ray's key-value store; return None if the call fails, for example while Ray's server restarts."""
    from ray.experimental import internal_kv

    with suppress(Exception):
        return getattr(internal_kv, f"_internal_kv_{call}")(*args, **options)


def _attempt_name(piece: _Piece) -> str:
    return f"{piece.number}.{piece.attempt}"


def _attempt_of(key: bytes) -> str:
    return key.decode().split(":")[1]


def _run_piece(name: str, attempt: str, wanted: str, work: bytes, *shared: Any) -> Any:
    """Run a piece of work in a worker; first write the key of the attempt to the record `name`."""
    _store("put", f"{name}:{attempt}:{uuid4().hex}", "")
    return run_same_version(wanted, work, *shared)


class OwnRay:
    """Ray session that this process starts, and that ends with this process, even after SIGKILL."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.folder = mkdtemp(prefix="ray-", dir=os.environ.get("RAY_TMPDIR", "/tmp"))  # a short path
        read_end, self._lifeline = os.pipe()
        try:
            command = [sys.executable, "-I", "-S", watchdog.__file__, str(read_end), self.folder]
            null = subprocess.DEVNULL
            self._watchdog = subprocess.Popen(
                command, stdin=null, stdout=null, stderr=null, pass_fds=(read_end,), start_new_session=True
            )
        finally:
            os.close(read_end)

    def lost_part(self) -> str | None:
        """Return the name of a necessary process that has ended, or None."""
        node = self._ray._private.worker._global_node
        ended = [name for name, _ in node.dead_processes()] if node else []
        return next((name for name in NEEDED if name in ended), None)

    def close(self) -> None:
        """Let the watchdog kill the remaining processes of the session."""
        os.close(self._lifeline)
        self._watchdog.wait()


def _connect(ray: Any, address: str | None, processors: int | None) -> OwnRay | None:
    """Join a cluster, or start a cluster on this machine; return the session if this process started it.

    Without `address`, workers import the packages from the same folders as this process. Raises
    ConnectionError if no cluster answers, or if Ray does not start on this machine.
    """
    path = os.pathsep.join(dict.fromkeys(str(_folder(name).parent) for name in PACKAGES))
    options: dict[str, Any] = {
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": "critical",
    }
    variables = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    is_own = address is None and "RAY_ADDRESS" not in os.environ
    if address is None:
        options["num_cpus"] = processors
    own = OwnRay(ray) if is_own else None
    if own:
        # Without "local", Ray would join a running session
        address, options["_temp_dir"] = "local", own.folder
    elif address is None:
        options["runtime_env"] = {"env_vars": variables}
    try:
        # The first processes of Ray start now, and also inherit these variables
        with patched_environment(OWN_SETTINGS | variables if is_own else {}):
            ray.init(address, **options)
        ray._private.worker._worker_logs_enabled = False  # otherwise Ray prints the logs of lost processes
    except Exception as error:  # Ray raises many kinds of errors
        if own:
            own.close()
        if is_own:
            raise ConnectionError(f"--workers {RAY}: Ray does not start on this machine: {error}") from error
        given = address or f"{RAY} with RAY_ADDRESS={os.environ['RAY_ADDRESS']}"
        hint = "check that RAY_AUTH_MODE and the token are the same on both sides"
        raise ConnectionError(f"--workers {given}: no Ray cluster answers: {error} ({hint})") from error
    return own


@contextmanager
def patched_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in a `with` block; child processes inherit the variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@dataclass(frozen=True)
class _Shared:
    """Placeholder for an argument that Ray sends separately."""

    number: int

    def value(self, shared: Sequence[Any]) -> Any:
        """Return the argument that this placeholder replaces; Ray sent the arguments `shared` separately."""
        return shared[self.number]


class _StateBefore:
    """Placeholder for the state in the previous piece's result.

    Ray passes this result as the last argument that is not in the pickled work.
    """

    def value(self, shared: Sequence[Any]) -> Any:
        """Return the state; `shared` contains the arguments that Ray sent outside the pickled work."""
        return shared[-1][1]


def run_same_version(wanted: str, work: bytes, *shared: Any) -> Any:
    """Call a function if this worker has the same version of the packages as the driver.

    Raises RuntimeError otherwise. `wanted` is the driver's version. `work` contains the pickled function and
    arguments, and is unpickled only after the check. `shared` are the arguments that Ray sends separately.
    """
    if version() != wanted:
        raise RuntimeError(
            f"a worker has risk_env {version()}, but the driver has {wanted}: install the same version on "
            "all machines"
        )
    import ray

    function, args, kwargs = ray.cloudpickle.loads(work)
    places = (_Shared, _StateBefore)
    return function(
        *(argument.value(shared) if isinstance(argument, places) else argument for argument in args), **kwargs
    )


@cache
def version() -> str:
    """Return the version and a digest of the packages' source code, as one string."""
    digest = hashlib.sha256()
    for name in PACKAGES:
        folder = _folder(name)
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{name}/{path.relative_to(folder).as_posix()}".encode())
            digest.update(path.read_bytes())
    return f"{import_module('risk_env').__version__} ({digest.hexdigest()[:12]})"


def _folder(package: str) -> Path:
    """Return the folder with the source of a package."""
    return Path(str(import_module(package).__file__)).parent
