"""Runs the command of an agent and ends it, with all that it has started, when the caller ends: a script of its own.

    python -I -S supervisor.py LIFELINE LIMITS COMMAND ...

LIFELINE is a file descriptor, the read end of a pipe that the caller keeps open: it closes when the caller closes it or
dies, by SIGKILL too. LIMITS is a JSON object of `resource` limits and `network`; SETUP_FAILED is the exit status where
they cannot be set. Otherwise the exit status is the command's, or 128 and the number of the signal that ended it.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

NETWORK = "network"  # the key of LIMITS that is no resource limit; false: the command gets a network of its own, empty
SETUP_FAILED = 125
NOT_STARTED = 127  # as shells report a command that is not found
ENDED = 126  # by the lifeline
_PATIENCE = 1.0  # seconds in which killed processes must have ended
_PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent dies
_PR_SET_CHILD_SUBREAPER = 36  # Linux: orphans below this process become its children
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def main(lifeline: int, limits: Mapping[str, float], command: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    _set_process_option(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        if not limits.get(NETWORK, True):
            _leave_the_network()
        child = subprocess.Popen(command, start_new_session=True, preexec_fn=lambda: _prepare(limits))
    except FileNotFoundError as error:
        return _refuse(NOT_STARTED, error)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return _refuse(SETUP_FAILED, error)
    _let_go_of_the_streams()
    watcher = _Watcher(lifeline, child.pid)
    watcher.start()
    status = _wait_for(child.pid)
    _end_all(child.pid)
    return ENDED if watcher.has_ended_it else status


def _refuse(status: int, error: Exception) -> int:
    print(error, file=sys.stderr)
    return status


def _prepare(limits: Mapping[str, float]) -> None:
    """Between fork and exec: the limits, and an end with the supervisor."""
    end_with_parent()
    for name, value in limits.items():
        if name != NETWORK:
            which = getattr(resource, name)
            hard = resource.getrlimit(which)[1]
            most = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
            resource.setrlimit(which, (most, most))


def _leave_the_network() -> None:
    """Enter a network namespace of its own, in which nothing can be reached; OSError if that is refused."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare") or libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def end_with_parent() -> None:
    """Have this process killed when its parent dies (Linux)."""
    _set_process_option(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _set_process_option(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _let_go_of_the_streams() -> None:
    """Leave the standard streams to the command alone: they close when it ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


class _Watcher(threading.Thread):
    """Waits until the caller closes the pipe or dies; then ends everything."""

    def __init__(self, lifeline: int, child: int) -> None:
        super().__init__(daemon=True)
        self._lifeline, self._child, self.has_ended_it = lifeline, child, False

    def run(self) -> None:
        """Wait, and end."""
        os.read(self._lifeline, 1)
        self.has_ended_it = True
        _end_all(self._child)


def _wait_for(child: int) -> int:
    """The exit status of the command; orphans that end before it are waited for too."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    """Kill the command's process group, then what is left below this process (Linux), until nothing is."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and (left := _children()):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """The children of this process, orphans that it has adopted included (Linux)."""
    found: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # of a thread that has ended
            found += map(int, path.read_text().split())
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]))
