"""What the process of an agent may touch: nothing is forbidden (OPEN), or as much as this machine can forbid.

    sandbox("yes")     limits of memory, processes and files everywhere; no network and no files of yours where possible
    sandbox("strict")  all of it, or SandboxError

Limits are `resource` limits. Bubblewrap (`bwrap`), where it is installed and works, hides the network, the processes
and the files of the user, and makes all others read-only; without it Linux may still allow an empty network.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from risk_agents import supervisor
from risk_env.compiler.cache import cache_directory, cache_key
from risk_env.core import entry

STRICT = "strict"
LEVELS = ("yes", STRICT)
MEMORY = 4 << 30  # bytes of data a process
FILE_SIZE = 64 << 20  # bytes of a file that a process writes
OPEN_FILES = 512
MORE_PROCESSES = 256  # and threads, more than the user has when the sandbox is made
# The environment variables that a process in a sandbox gets begin so: no keys, no tokens.
_ENVIRONMENT = ("PATH", "LANG", "LC_", "TZ", "PYTHONPATH", "PYTHONHASHSEED", "RISK_ENV_", "NUMBA_", "OMP_", "OPENBLAS_")
_HIDDEN = ("/home", "/root", "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/srv")
_HOME = "/tmp"  # of a process in bubblewrap, where this is an empty folder of its own
_CACHE = f"{_HOME}/risk_env_cache"  # of compiled code, there
_ANY = ("true",)  # the command that tries whether a process can be started


class SandboxError(ValueError):
    """What was asked for cannot be enforced on this machine; the message says what is missing."""


class Sandbox(NamedTuple):
    """How the processes of agents are started."""

    limits: dict[str, float]  # what the supervisor sets
    bubblewrap: str = ""  # path of the program, "" without it
    says: str = ""  # what is enforced, in a line
    is_closed: bool = True

    def command(self, command: Sequence[str], folders: Sequence[str]) -> list[str]:
        """The command line that runs a command, which may read these folders."""
        if not self.bubblewrap:
            return list(command)
        return [self.bubblewrap, *_walls(folders), "--", *command]

    def environment(self, environment: dict[str, str]) -> dict[str, str]:
        """The environment variables that it gets: in a sandbox, only what it needs."""
        if not self.is_closed:
            return environment
        home = {"HOME": _HOME, "RISK_ENV_CACHE_DIR": _CACHE} if self.bubblewrap else {"HOME": os.path.expanduser("~")}
        return {name: value for name, value in environment.items() if name.startswith(_ENVIRONMENT)} | home


OPEN = Sandbox({}, is_closed=False)


@cache
def sandbox(level: str | None) -> Sandbox:
    """The sandbox of a level of LEVELS, None for OPEN; SandboxError if "strict" is not possible here."""
    if level is None:
        return OPEN
    if level not in LEVELS:
        raise SandboxError(f"--sandbox={level}: must be {' or '.join(LEVELS)}")
    limits = _limits()
    bubblewrap = shutil.which("bwrap") or ""
    closed = Sandbox(limits, bubblewrap)
    if bubblewrap and _works(closed):
        walls = "no network, no processes or files of yours, all else read-only"
        return closed._replace(says=f"{walls} (bubblewrap); {_limits_in_words(limits)}")
    if level == STRICT:
        reason = "does not work here" if bubblewrap else "is not installed"
        raise SandboxError(f"--sandbox={STRICT} needs bubblewrap, and bwrap {reason}; --sandbox enforces what it can")
    words = f"{_limits_in_words(limits)}; NOT enforced: your files and processes can be reached"
    alone = Sandbox({**limits, supervisor.NETWORK: False})
    if _works(alone):
        return alone._replace(says=f"no network; {words}")
    return Sandbox(limits, says=f"{words}, and the network")


def _works(closed: Sandbox) -> bool:
    """Whether a process can be started in a sandbox here."""
    lifeline = [sys.executable, "-I", "-S", supervisor.__file__]
    read_end, write_end = os.pipe()
    try:
        tried = [*lifeline, str(read_end), json.dumps(closed.limits), *closed.command(_ANY, ())]
        done = subprocess.run(tried, pass_fds=(read_end,), capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        os.close(read_end)
        os.close(write_end)
    return done.returncode == 0


def _limits() -> dict[str, float]:
    """The `resource` limits of this machine's processes in a sandbox."""
    memory = "RLIMIT_DATA" if sys.platform == "linux" else "RLIMIT_AS"
    limits = {memory: MEMORY, "RLIMIT_FSIZE": FILE_SIZE, "RLIMIT_NOFILE": OPEN_FILES, "RLIMIT_CORE": 0}
    if sys.platform == "linux" and os.getuid():  # Linux does not count root's
        limits["RLIMIT_NPROC"] = _tasks_of_user() + MORE_PROCESSES
    return dict(limits)


def _limits_in_words(limits: dict[str, float]) -> str:
    words = f"{MEMORY >> 30} GiB a process, {FILE_SIZE >> 20} MiB a file, {OPEN_FILES} open files"
    return f"{words}, {MORE_PROCESSES} more processes" if "RLIMIT_NPROC" in limits else words


def _tasks_of_user() -> int:
    """Processes and threads that this user has now (Linux)."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            count += len(list((process / "task").iterdir())) if process.stat().st_uid == os.getuid() else 0
        except OSError:
            continue
    return count


def _walls(folders: Sequence[str]) -> list[str]:
    """The arguments of bubblewrap: all is read-only, what is the user's is hidden but for these folders."""
    walls = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    home = os.path.expanduser("~")
    for hidden in (*_HIDDEN, *((home,) if home != "/" else ())):
        walls += ["--tmpfs", os.path.realpath(hidden)] if os.path.isdir(hidden) else []
    shown = (*folders, *{str(file.parents[2]) for file in _compiled_code()})
    for folder in dict.fromkeys(shown):
        walls += ["--ro-bind-try", folder, folder]
    for file in _compiled_code():  # Numba uses a folder of its cache only if it can write there
        walls += ["--symlink", str(file), f"{_CACHE}/{file.relative_to(file.parents[2])}"]
    return [*walls, "--dir", os.getcwd(), "--chdir", os.getcwd()]


@cache
def _compiled_code() -> list[Path]:
    """The files of the compiled rules and bots of this version."""
    agents = Path(__file__).parent
    folders = [Path(entry.__file__).parent, *(agents / name for name in ("scripted", "search", "learned"))]
    place = cache_directory(folders[0], entry.__name__)
    keys = {cache_key(folder) for folder in folders}
    found = [file for key in keys for file in Path(place).parent.glob(f"*-{key}/*/*")] if place else []
    return [file for file in found if file.is_file()]


def folders_of(command: Sequence[str]) -> list[str]:
    """The folders that a command line names: those of its files, and the installation of its program."""
    program = shutil.which(command[0]) or command[0]
    words = (program, os.path.realpath(program), *command[1:])
    files = [Path(word).absolute() for word in words if os.path.exists(word)]
    folders = [path if path.is_dir() else path.parent for path in files]
    return [str(folder.parent if folder.name == "bin" and folder.parent.name else folder) for folder in folders]
