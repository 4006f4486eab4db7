"""Kill the processes of a Ray when the process that started it is gone. A stand-alone script (Linux).

    python -I -S watchdog.py LIFELINE FOLDER

LIFELINE is a file descriptor: the read end of a pipe that the caller keeps open. The pipe closes when the
caller closes it or dies, even by SIGKILL. Every process of this Ray has a log file in FOLDER open, whatever
its session or group. All processes with a file open there are killed, then the folder is removed.
"""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

QUIET = 0.5  # seconds without such a process after which no further process is expected
PULSE = 0.2  # seconds between two checks
PATIENCE = 60.0  # seconds after which the script gives up on a process that cannot be killed


def main(lifeline: int, folder: str) -> None:
    """Wait until the caller is gone, then kill until no process is left."""
    caller = os.getppid()
    os.read(lifeline, 1)
    start = seen = time.monotonic()
    while (now := time.monotonic()) - seen < QUIET and now - start < PATIENCE:
        for pid in users(folder, but=caller):
            seen = now
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PULSE)
    shutil.rmtree(folder, ignore_errors=True)


def users(folder: str, but: int = 0) -> list[int]:
    """Return the processes, except one, with an open file in this folder; empty without /proc."""
    inside = os.path.join(os.path.realpath(folder), "")
    found = []
    for process in {*Path("/proc").glob("[0-9]*")} - {Path("/proc", str(but))}:
        with suppress(OSError):  # the process has ended, or belongs to another user
            if any(os.readlink(file).startswith(inside) for file in (process / "fd").iterdir()):
                found.append(int(process.name))
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
