"""Ends the processes of a Ray when the process that has begun it is gone: a script of its own (Linux).

    python -I -S watchdog.py LIFELINE FOLDER

LIFELINE is a file descriptor, the read end of a pipe that the caller keeps open: it closes when the caller closes it or
dies, by SIGKILL too. Every process of this Ray writes a log in FOLDER, in whatever session or group it is: whoever has
a file open there is killed. Then the folder is removed.
"""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

QUIET = 0.5  # seconds without any such process, after which none is being started any more
PULSE = 0.2  # seconds between two looks
PATIENCE = 60.0  # seconds after which a process that cannot be killed is left


def main(lifeline: int, folder: str) -> None:
    """Wait until the caller is gone, then kill until nothing is left."""
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
    """The processes but for one that have a file of this folder open; none where the system does not tell."""
    inside = os.path.join(os.path.realpath(folder), "")
    found = []
    for process in {*Path("/proc").glob("[0-9]*")} - {Path("/proc", str(but))}:
        with suppress(OSError):  # it has ended, or is another user's
            if any(os.readlink(file).startswith(inside) for file in (process / "fd").iterdir()):
                found.append(int(process.name))
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
