"""Stand-alone script that runs an agent's command, and kills its processes when the caller ends.

    python -I -S supervisor.py LIFELINE LIMITS COMMAND ...

LIFELINE is a file descriptor: the read end of a pipe. The caller is the process that starts this script and
keeps the other end of the pipe open. The pipe closes when the caller closes it or dies, even by SIGKILL.
LIMITS is a JSON object. Its keys are `RLIMIT_*` limits, `network` (false: no network) and `groups`. The value
of `groups` contains, for each parent folder of a control group, the limits by file name.

The exit status is NOT_STARTED if the command is not found, and ENDED if the lifeline was closed. The exit
status is SETUP_FAILED if the limits cannot be set, or if the command cannot be started for another reason.
Otherwise the exit status is the status of the command, or 128 plus the number of the signal that ended the
command.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

NETWORK = "network"  # key of LIMITS; if the value is false, the command gets an empty network namespace
GROUPS = "groups"  # key of LIMITS: the value of `control_groups`
MEMORY_FILES = ("memory.limit_in_bytes", "memory.max")  # in control groups of versions 1 and 2
TASKS_FILE = "pids.max"
SETUP_FAILED = 125
NOT_STARTED = 127  # exit status if the command is not found, as in shells
ENDED = 126  # exit status if the lifeline was closed
_PATIENCE = 1.0  # maximum wait for a control group to become empty, in seconds
_TRIES, _PAUSE = 5000, 0.001  # attempts to kill all processes; seconds between two attempts
_PR_SET_PDEATHSIG = 1  # Linux: set the signal that a process gets when its parent dies
_PR_SET_CHILD_SUBREAPER = 36  # Linux: make orphaned descendants of this process its children
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def main(lifeline: int, limits: Mapping[str, Any], command: Sequence[str]) -> int:
    """Run the command with limits, and return the exit status."""
    _set_process_option(_PR_SET_CHILD_SUBREAPER, 1)
    groups = list[Path]()
    try:
        for folder, values in limits.get(GROUPS, {}).items():
            groups.append(_make_group(Path(folder), values))
        if not limits.get(NETWORK, True):
            _leave_the_network()
        child = subprocess.Popen(command, start_new_session=True, preexec_fn=lambda: _prepare(limits, groups))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        _remove_groups(groups)
        is_missing = isinstance(error, FileNotFoundError) and error.filename == command[0]
        return _refuse(NOT_STARTED if is_missing else SETUP_FAILED, error)
    _let_go_of_the_streams()
    watcher = _Watcher(lifeline, child.pid)
    watcher.start()
    status = _wait_for(child.pid)
    _end_all(child.pid)
    _remove_groups(groups)
    return ENDED if watcher.has_ended_it else status


def _refuse(status: int, error: Exception) -> int:
    print(error, file=sys.stderr)
    return status


def _prepare(limits: Mapping[str, Any], groups: Sequence[Path]) -> None:
    """Set the limits, and make the process end with the supervisor; called between fork and exec."""
    end_with_parent()
    for group in groups:
        _enter(group, os.getpid())
    for name, value in limits.items():
        if name.startswith("RLIMIT_"):
            which = getattr(resource, name)
            hard = resource.getrlimit(which)[1]
            most = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
            resource.setrlimit(which, (most, most))


def _leave_the_network() -> None:
    """Enter a new, empty network namespace; raise OSError if the system does not allow it."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare") or libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace can be created")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


# ----------------------------------------------------------------------------------- control groups


def control_groups(memory: int, tasks: int) -> dict[str, dict[str, int]]:
    """Return limits of control groups, by file name, for each folder in which such groups can be created.

    `memory` is the limit in bytes, and `tasks` is the maximum number of processes and threads. The result
    leaves out limits that this machine does not support.
    """
    found = dict[str, dict[str, int]]()
    for controller, limit in (("memory", memory), ("pids", tasks)):
        for folder in _group_folders(controller):
            values = _limit_in(folder, controller, limit)
            if values:
                found.setdefault(str(folder), {}).update(values)
                break
    return found


def _limit_in(folder: Path, controller: str, limit: int) -> dict[str, int]:
    """Return the limit by file name for a control group in this folder, or {} if no group can be created."""
    for left in folder.glob("risk_env-*"):  # left by a supervisor that was killed
        if not Path("/proc", left.name.rpartition("-")[2]).exists():
            with suppress(OSError):
                left.rmdir()
    for name in MEMORY_FILES if controller == "memory" else (TASKS_FILE,):
        with suppress(OSError):
            _try_group(_make_group(folder, {name: limit}))
            return {name: limit}
    return {}


def _try_group(group: Path) -> None:
    """Move a process into a new control group, and remove the group; raise OSError if this fails."""
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE
        ) as process:
            _enter(group, process.pid)
            process.communicate(b"\n")
    finally:
        _remove_groups([group])


def _group_folders(
    controller: str, groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> Iterator[Path]:
    """Yield folders in which it may be possible to create control groups with a controller.

    The control groups may have version 1 or 2.
    """
    with suppress(OSError):
        for line in groups.read_text().splitlines():
            number, controllers, path = line.split(":", 2)
            own = root / path.lstrip("/")
            if controller in controllers.split(","):
                yield root / controller / path.lstrip("/")
            elif number == "0":
                folders = dict.fromkeys((own, own.parent))
                yield from (folder for folder in folders if _has(controller, folder))


def _has(controller: str, folder: Path) -> bool:
    """Return True if control groups in a folder of version 2 have this controller."""
    try:
        return controller in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _make_group(folder: Path, values: Mapping[str, int]) -> Path:
    """Create a control group, and write its limits; raise OSError if the system does not allow it."""
    group = folder / f"risk_env-{os.getpid()}"
    group.mkdir()
    try:
        for name, value in values.items():
            (group / name).write_text(str(value))  # the system refuses names that it does not know
    except OSError:
        group.rmdir()
        raise
    return group


def _enter(group: Path, process: int) -> None:
    """Move a process into a control group."""
    (group / "cgroup.procs").write_text(str(process))


def _remove_groups(groups: Sequence[Path]) -> None:
    """Remove control groups when their processes have ended; give up after _PATIENCE."""
    until = time.monotonic() + _PATIENCE
    for group in groups:
        while group.is_dir() and time.monotonic() < until:
            try:
                group.rmdir()
            except OSError:
                time.sleep(0.01)


# ---------------------------------------------------------------------------------- end of processes


def end_with_parent() -> None:
    """Make the system kill this process when its parent dies (Linux)."""
    _set_process_option(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _set_process_option(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _let_go_of_the_streams() -> None:
    """Replace this process's standard streams, so that only the command keeps the caller's pipes open."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


class _Watcher(threading.Thread):
    """Thread that waits until the caller closes the pipe or dies, and then kills the command."""

    def __init__(self, lifeline: int, child: int) -> None:
        super().__init__(daemon=True)
        self._lifeline, self._child, self.has_ended_it = lifeline, child, False

    def run(self) -> None:
        """Wait for the end of the pipe, and kill the command and its children."""
        os.read(self._lifeline, 1)
        self.has_ended_it = True
        _end_all(self._child)


def _wait_for(child: int) -> int:
    """Wait for the command, and return its exit status; reap orphans that end before the command.

    If the watcher has reaped the command, the result is ENDED.
    """
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return ENDED
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    """Kill the command's process group, then all remaining descendants of this process (Linux).

    The number of attempts is limited, not the time: a machine that stalls would use up a time limit.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    for _ in range(_TRIES):
        if not _reap():
            return
        for pid in _children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _reap() -> bool:
    """Reap all children that have ended, and return True if any children are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    """Return the children of this process, including adopted orphans (Linux).

    The list can be incomplete while children end.
    """
    children: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            children += map(int, path.read_text().split())
    return children


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]))
