"""Where work runs: processes of this machine (`--workers 4`), or a Ray cluster (`ray`, `ray://HOST:PORT`).

`RayExecutor` is a `concurrent.futures` executor: whoever takes an executor runs on a cluster. Ray gives the work of a
process or machine that is lost to another; the result of a piece of work must depend on its arguments only.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

RAY = "ray"
WORKERS = "a number of processes, ray, or ray://HOST:PORT"  # what `--workers` takes
RETRIES = 3  # of work whose process or machine was lost: what ends its own process must not begin for ever
PACKAGES = ("risk_env", "risk_agents")  # which must be the same everywhere


def local_processes(workers: str) -> int | None:
    """How many processes of this machine are asked for; None for Ray. ValueError for other texts."""
    if workers == RAY or workers.startswith(f"{RAY}://"):
        return None
    if not workers.isdecimal() or int(workers) < 1:
        raise ValueError(f"workers={workers!r}: must be {WORKERS}")
    return int(workers)


@contextmanager
def ray_executor(workers: str) -> Iterator[RayExecutor]:
    """An executor on a Ray of this machine's own (`ray`; or on the cluster of RAY_ADDRESS), or on that of an address.

    ConnectionError where there is none.
    """
    executor = RayExecutor(None if workers == RAY else workers)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


class RayExecutor(Executor):
    """Ray's tasks, one processor each, as an executor."""

    def __init__(self, address: str | None = None) -> None:
        import ray

        self._ray = ray
        self._owns_session = not ray.is_initialized()
        if self._owns_session:
            _connect(ray, address)
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(run_same_version)
        self._version = version()
        self._references: dict[Future[Any], Any] = {}  # of what is running

    def size(self) -> int:
        """How many pieces of work can run at once now: machines come and go."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function somewhere."""
        reference = self._run.remote(self._version, function, args, kwargs)
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


def _connect(ray: Any, address: str | None) -> None:
    """Join a cluster, or begin one on this machine; workers find the packages where this process does."""
    path = os.pathsep.join(dict.fromkeys(str(_folder(name).parent) for name in PACKAGES))
    environment = {"env_vars": {"PYTHONPATH": path}} if address is None else {}
    try:
        ray.init(address, runtime_env=environment, include_dashboard=False, log_to_driver=False, logging_level="error")
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise ConnectionError(f"--workers {address or RAY}: no Ray cluster answers: {error}") from error


def run_same_version(wanted: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the function, if the packages of this worker are the caller's; RuntimeError otherwise."""
    if version() != wanted:
        raise RuntimeError(f"a worker has risk_env {version()}, this process {wanted}: install the same everywhere")
    return function(*args, **kwargs)


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
