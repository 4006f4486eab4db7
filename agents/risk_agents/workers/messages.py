"""Send values between two processes of a machine; large values use shared memory.

A pipe transfers a few kilobytes at a time, and the reader waits for the interpreter's lock before each part.
While other threads compute, the transfer of a rollout of 30 MB can take seconds. The shared memory is an open
file without a name. The system frees this file even if a process is killed.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Iterable
from itertools import accumulate
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any

IN_PIPE = 1 << 16  # maximum size of a value that goes through the pipe, in bytes
ALIGNED = 64  # alignment of arrays, in bytes


def send(connection: Connection, value: Any) -> None:
    """Send a value; `receive` returns the value at the other end."""
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(content), *(buffer.raw() for buffer in buffers)]
    if sum(map(len, parts)) <= IN_PIPE:
        connection.send((value, None))
        return
    file = _memory_file()
    try:
        _write(file, parts)
        connection.send((None, [len(part) for part in parts]))
        send_handle(connection, file, None)
    finally:
        os.close(file)


def receive(connection: Connection) -> Any:
    """Receive a value; raise EOFError or OSError if the other end is closed."""
    value, sizes = connection.recv()
    if sizes is None:
        return value
    file = recv_handle(connection)
    try:
        memory = memoryview(mmap.mmap(file, 0, access=mmap.ACCESS_COPY))
    finally:
        os.close(file)
    starts = accumulate(map(_aligned, sizes), initial=0)
    parts = [memory[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    return pickle.loads(parts[0], buffers=parts[1:])


def _memory_file() -> int:
    """Return the descriptor of a file without a name, which is in memory if the system supports this."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("risk_env")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _write(file: int, parts: Iterable[memoryview]) -> None:
    with open(file, "wb", closefd=False) as stream:
        for part in parts:
            stream.write(part)
            stream.write(bytes(_aligned(len(part)) - len(part)))


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED
