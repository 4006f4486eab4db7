"""Stand-alone script (Linux) that kills the processes of a Ray session when the session's owner has ended.

    python -I -S watchdog.py LIFELINE FOLDER

LIFELINE is a file descriptor: the read end of a pipe. The owner of the session is the process that starts
this script and keeps the other end of the pipe open. The pipe closes when the owner closes it or dies, even
by SIGKILL. Every process of the Ray session has an open log file in FOLDER. All processes with an open file
in FOLDER, except the owner, are killed. Then FOLDER is removed.
"""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

QUIET = 0.5  # time without a process of the session after which FOLDER is removed, in seconds
PULSE = 0.2  # time between two checks, in seconds
PATIENCE = 60.0  # time after which the script ends even if a process cannot be killed, in seconds


def main(lifeline: int, folder: str) -> None:
    """Wait until the pipe closes, kill processes until none is left, and remove the folder."""
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
    """Return the IDs of all processes, except `but`, with an open file in `folder`, or [] without /proc."""
    inside = os.path.join(os.path.realpath(folder), "")
    users = []
    for process in {*Path("/proc").glob("[0-9]*")} - {Path("/proc", str(but))}:
        with suppress(OSError):  # the process has ended, or belongs to another user
            if any(os.readlink(file).startswith(inside) for file in (process / "fd").iterdir()):
                users.append(int(process.name))
    return users


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
