"""Run work in this process, in processes of this machine, or on a Ray cluster.

    with open_executor(workers) as executor:
        for result in in_order(executor, function, pieces):  # function(*piece) for each piece
            ...

`workers` is the value of `--workers`, such as `1`, `4`, `ray` or `ray://HOST:PORT`. All three kinds of
executors are `concurrent.futures` executors. If a process or a machine is lost or hangs, its work starts
again elsewhere. The result of a piece of work must therefore depend only on the arguments of the piece.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager

from risk_agents.workers.cluster import RAY, RayExecutor
from risk_agents.workers.executor import (
    LEAST_LIMIT,
    LONGER,
    InProcess,
    Limits,
    WorkExecutor,
    WorkInProgress,
    in_order,
)
from risk_agents.workers.processes import ProcessExecutor

__all__ = [
    "RAY", "WORKERS", "InProcess", "ProcessExecutor", "RayExecutor", "WorkExecutor", "WorkInProgress",
    "add_options", "in_order", "local_processes", "open_executor",
]  # fmt: skip

WORKERS = "a number of processes, ray, or ray://HOST:PORT"  # allowed values of `--workers`


def local_processes(workers: str) -> int | None:
    """Return the number of local processes that `workers` names, or None for Ray.

    Raises ValueError for other values.
    """
    if workers == RAY or workers.startswith(f"{RAY}://"):
        return None
    if not workers.isdecimal() or int(workers) < 1:
        raise ValueError(f"workers={workers!r}: must be {WORKERS}; the smallest number is 1")
    return int(workers)


def add_options(parser: ArgumentParser, note: str = "") -> None:
    """Add the arguments `--workers` and `--chunk-limit`.

    `note` is a remark that follows the default in the help of `--workers`.
    """
    where = f"workers for the games: {WORKERS} (default: 1{note})"
    parser.add_argument("--workers", default="1", metavar="N", help=where)
    limit = (
        "with several workers: time limit for a chunk of games, in seconds (default: "
        f"{LONGER} times the longest chunk so far, at least {LEAST_LIMIT:g}). A late chunk starts again"
    )
    parser.add_argument("--chunk-limit", type=_seconds, metavar="S", help=limit)


def _seconds(text: str) -> float:
    try:
        return Limits(float(text)).shortest()
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: must be a finite number of seconds above 0") from None


@contextmanager
def open_executor(workers: str, limit: float | None = None) -> Iterator[WorkExecutor]:
    """Open the executor for a value of `--workers`; the end of the `with` block drops unfinished work.

    `ray` is the cluster of RAY_ADDRESS, or else a new Ray session on this machine. A piece of work that takes
    longer than `limit` seconds starts again elsewhere; `executor.Limits` describes the default limit. If
    `workers` is `1`, there is no limit, and `limit` is ignored.

    Raises ValueError if `workers` or `limit` is not allowed, ImportError if Ray is not installed, and
    ConnectionError if no cluster answers or Ray does not start.
    """
    executor = _executor(workers, limit)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _executor(workers: str, limit: float | None) -> WorkExecutor:
    processes = local_processes(workers)
    if processes is None:
        return RayExecutor(None if workers == RAY else workers, limit=limit)
    return InProcess() if processes == 1 else ProcessExecutor(processes, limit)
