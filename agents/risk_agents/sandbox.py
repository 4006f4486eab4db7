"""Sandboxes that restrict the processes of agents.

    sandbox(None)      OPEN: no restrictions
    sandbox("yes")     limits of files and, on Linux, of memory and processes; if possible, no access to the
                       network or to the user's files
    sandbox("strict")  as "yes", but SandboxError if bubblewrap does not work

The limits are `resource` limits and, if possible, a control group that limits the total memory. If bubblewrap
(`bwrap`) works, it builds a read-only file system with only the files that the agent needs. Bubblewrap adds a
folder for temporary files, and hides the network and other processes. Without bubblewrap, Linux may still
allow an empty network namespace. As the last step, `confine` blocks system calls and, in bubblewrap, replaces
the user root with NOBODY.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from glob import glob
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from risk_agents import confine, supervisor
from risk_env.bots import GROUP
from risk_env.compiler.cache import cache_directory, cache_key
from risk_env.core import entry

STRICT = "strict"
LEVELS = ("yes", STRICT)
MEMORY = 4 << 30  # maximum data size of a process, and maximum memory of a control group, in bytes
TEMPORARY = 256 << 20  # maximum size of the folder of temporary files in bubblewrap, in bytes
SHARED = 64 << 20  # maximum size of the shared memory in bubblewrap, in bytes
FILE_SIZE = 64 << 20  # maximum size of a file that a process writes, in bytes
OPEN_FILES = 512  # maximum number of open files
# maximum number of processes and threads of one agent; without control groups, of all agents together, in
# addition to those that already run
MORE_PROCESSES = 256
NOBODY = 65534  # user that runs the agents in bubblewrap if root runs the tournament
# Prefixes of the environment variables that a process in a sandbox gets; keys and tokens have other names
_ENVIRONMENT = ("PATH", "LANG", "LC_", "TZ", "PYTHON", "RISK_ENV_", "NUMBA_", "OMP_", "OPENBLAS_")
_SYSTEM = (  # system files that programs need
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *(
        f"{usr}/{name}"
        for usr in ("/usr", "/usr/local")
        for name in ("bin", "sbin", "lib32", "lib64", "libx32")
    ),
    *(f"{usr}/{name}" for usr in ("/usr", "/usr/local") for name in ("lib", "libexec", "share")),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
)
_INSTALLED = ("bin", "lib", "lib64", "libexec", "pyvenv.cfg")  # parts of a Python installation
_PACKAGES = ("risk_env", "risk_agents")
_HOME = "/tmp"  # home of a process in bubblewrap: a new folder for temporary files
_CACHE = f"{_HOME}/risk_env_cache"  # cache of compiled code inside the sandbox
_KERNELS = "/kernels"  # folder inside the sandbox with the files of compiled code
_SEPARATE = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
_ANY = ("true",)  # command that tests whether a process can start


class SandboxError(ValueError):
    """Error for an unknown level, or for a restriction that this machine cannot enforce.

    The message names the unknown level or the missing part.
    """


class Sandbox(NamedTuple):
    """Restrictions with which the processes of agents are started."""

    limits: dict[str, Any]  # limits that the supervisor sets
    bubblewrap: str = ""  # path of bubblewrap, or "" if bubblewrap is not used
    says: str = ""  # description of the restrictions, in one line
    is_closed: bool = True  # False for OPEN

    def command(self, command: Sequence[str], shown: Sequence[str]) -> list[str]:
        """Return the command line that runs `command` in the sandbox, with access to the paths `shown`."""
        if not self.is_closed:
            return list(command)
        walls = [self.bubblewrap, *_walls(shown), "--"] if self.bubblewrap else []
        user = NOBODY if self.bubblewrap and _is_root() else -1
        return [*walls, _PYTHON, "-I", "-S", confine.__file__, str(user), *command]

    def environment(self, environment: dict[str, str]) -> dict[str, str]:
        """Return the environment variables for a process; a sandbox keeps only the necessary variables."""
        if not self.is_closed:
            return environment
        own = {"HOME": os.path.expanduser("~")}
        if self.bubblewrap:
            own = {"HOME": _HOME, "TMPDIR": _HOME, "USER": "nobody", "RISK_ENV_CACHE_DIR": _CACHE}
        return {name: value for name, value in environment.items() if name.startswith(_ENVIRONMENT)} | own


OPEN = Sandbox({}, is_closed=False)


@cache
def sandbox(level: str | None) -> Sandbox:
    """Return the sandbox for a level in LEVELS, or OPEN for None.

    Raises SandboxError for other levels, and for "strict" if bubblewrap does not work.
    """
    if level is None:
        return OPEN
    if level not in LEVELS:
        raise SandboxError(f"sandbox={level!r}: must be None, {' or '.join(map(repr, LEVELS))}")
    limits = _limits()
    bubblewrap = shutil.which("bwrap") or ""
    closed = Sandbox(limits, bubblewrap)
    problem = _bubblewrap_problem(closed)
    if not problem:
        walls = (
            "no network, no access to your processes, no access to your files except the agent's files, "
            "write access only to temporary files"
        )
        return closed._replace(says=f"{walls} (bubblewrap); {_limits_in_words(limits)}")
    if level == STRICT:
        raise SandboxError(
            f"--sandbox={STRICT} needs bubblewrap: {problem}; "
            "--sandbox without a level enforces only the restrictions that this machine supports"
        )
    words = f"{_limits_in_words(limits)}; NOT isolated: agents can access your files and processes"
    alone = Sandbox({**limits, supervisor.NETWORK: False})
    if not _problem(alone):
        return alone._replace(says=f"no network; {words}")
    return Sandbox(limits, says=f"{words}, and the network")


def _bubblewrap_problem(closed: Sandbox) -> str:
    """Return the reason why bubblewrap cannot enforce the sandbox on this machine, or "" if there is none."""
    if not closed.bubblewrap:
        return "bwrap is not installed" if sys.platform == "linux" else "bubblewrap runs only on Linux"
    problem = _problem(closed)
    return f"bwrap does not work here (version 0.8 or newer is needed): {problem}" if problem else ""


def _problem(closed: Sandbox) -> str:
    """Return the reason why no process can start in the sandbox, or "" if a process can start."""
    lifeline = [sys.executable, "-I", "-S", supervisor.__file__]
    read_end, write_end = os.pipe()
    try:
        tried = [*lifeline, str(read_end), json.dumps(closed.limits), *closed.command(_ANY, ())]
        done = subprocess.run(
            tried, pass_fds=(read_end,), stdin=subprocess.DEVNULL, capture_output=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        os.close(read_end)
        os.close(write_end)
    told = " ".join(done.stderr.decode(errors="replace").split())[-300:]
    return (told or f"exit status {done.returncode}") if done.returncode else ""


def _limits() -> dict[str, Any]:
    """Return the limits that the supervisor sets for processes in a sandbox on this machine."""
    limits: dict[str, Any] = {"RLIMIT_FSIZE": FILE_SIZE, "RLIMIT_NOFILE": OPEN_FILES, "RLIMIT_CORE": 0}
    if sys.platform == "linux":  # macOS refuses memory limits below the address space that a process reserves
        limits["RLIMIT_DATA"] = MEMORY
        limits[supervisor.GROUPS] = supervisor.control_groups(MEMORY, MORE_PROCESSES)
        if not _has_group_limit(limits, supervisor.TASKS_FILE):
            # Linux counts all processes and threads of a user, so all agents share this limit; root has none
            limits["RLIMIT_NPROC"] = _tasks_of(NOBODY if _is_root() else os.getuid()) + MORE_PROCESSES
    return limits


def _has_group_limit(limits: dict[str, Any], *files: str) -> bool:
    """Return True if a control group limits the total of an agent's processes in one of `files`."""
    return any(name in values for values in limits.get(supervisor.GROUPS, {}).values() for name in files)


def _limits_in_words(limits: dict[str, Any]) -> str:
    """Describe the limits in words."""
    has_group = _has_group_limit(limits, *supervisor.MEMORY_FILES)
    extent = "per process and in total" if has_group else "per process (NOT enforced: a total limit)"
    memory = f"{MEMORY >> 30} GiB of memory {extent}" if "RLIMIT_DATA" in limits else "NO memory limit"
    words = f"{memory}, {FILE_SIZE >> 20} MiB per file, {OPEN_FILES} open files"
    if _has_group_limit(limits, supervisor.TASKS_FILE):
        return f"{words}, {MORE_PROCESSES} processes"
    shared = f"{MORE_PROCESSES} additional processes (all agents share this limit)"
    return f"{words}, {shared}" if "RLIMIT_NPROC" in limits else words


def _is_root() -> bool:
    return os.getuid() == 0


def _tasks_of(user: int) -> int:
    """Return the number of processes and threads of a user (Linux)."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            count += len(list((process / "task").iterdir())) if process.stat().st_uid == user else 0
        except OSError:
            continue
    return count


# -------------------------------------------------------------------------------------------- files


def _walls(shown: Sequence[str]) -> list[str]:
    """Return bubblewrap's arguments for a read-only file system and a writable home.

    The file system contains system files, this Python installation and the paths `shown`.
    """
    walls = [*_SEPARATE, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if _is_root():  # `confine` needs these capabilities to change the user, and drops them
        walls += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        walls += ["--unshare-user", "--disable-userns", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    walls += ["--proc", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys"]
    walls += ["--dev", "/dev", "--perms", "1777", "--size", str(SHARED), "--tmpfs", "/dev/shm"]
    walls += ["--perms", "1777", "--size", str(TEMPORARY), "--tmpfs", _HOME]
    java = glob("/etc/java*")  # Debian's Java links to its settings in /etc
    bound, cwd = (
        _outermost([*_SYSTEM, *java, *installation(sys.base_prefix), confine.__file__, *shown]),
        os.getcwd(),
    )
    parents = {str(parent): None for path in (*bound, f"{cwd}/it") for parent in reversed(Path(path).parents)}
    # Without --dir, only root could enter the parent folders
    walls += [word for parent in parents for word in ("--dir", parent)]
    for path in bound:
        is_link = path in _SYSTEM and os.path.islink(path)
        walls += ["--symlink", os.readlink(path), path] if is_link else ["--ro-bind-try", path, path]
    return [*walls, *_kernels(), "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", cwd]


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the existing paths and the targets of links among them, without paths inside other paths."""
    outermost = list[str]()
    ways = (os.path.abspath, os.path.realpath)
    for path in sorted({way(place) for place in paths if place for way in ways}):
        if os.path.exists(path) and not any(path.startswith(f"{other}/") for other in outermost):
            outermost.append(path)
    return outermost


def installation(prefix: str) -> list[str]:
    """Return the existing parts of an installation, such as Python, in the folder `prefix`."""
    return [path for name in _INSTALLED if os.path.exists(path := os.path.join(prefix, name))]


def shown_with(path: str | Path) -> str:
    """Return the path that a sandbox shows for a bot's file: the file's folder, or only the file.

    A folder is shared if it is or contains the working directory, the home folder or the folder of temporary
    files. If the folder is shared, only the file is shown. If `path` itself is a shared folder, return "".
    """
    file = Path(path).absolute()
    folder = file if file.is_dir() else file.parent
    real = folder.resolve()
    others = [
        Path(place).resolve() for place in (os.getcwd(), os.path.expanduser("~"), tempfile.gettempdir())
    ]
    if not any(place.is_relative_to(real) for place in others):
        return str(folder)
    return "" if file.is_dir() else str(file)


@cache
def python_installation() -> list[str]:
    """Return the paths of this Python installation, its packages and the registered agents."""
    sites = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    roots = {point.module.partition(".")[0] for point in entry_points(group=GROUP)}
    packages = [place for name in sorted({*_PACKAGES, *roots}) for place in _places_of(name)]
    return [*installation(sys.prefix), *installation(sys.base_prefix), *sites, *packages]


def _places_of(package: str) -> list[str]:
    """Return the folders, or the file, of a package or module."""
    spec = find_spec(package)
    if spec is None:
        return []
    return list(spec.submodule_search_locations or [spec.origin or ""])


def _kernels() -> list[str]:
    """Return bubblewrap's arguments that show the compiled code in folders that Numba considers writable."""
    files, folders = _compiled_code(), dict[Path, str]()
    walls, parents = list[str](), dict[str, None]()
    for file in files:
        place = folders.setdefault(file.parent, f"{_KERNELS}/{len(folders)}")
        name = file.relative_to(file.parents[2])
        parents |= dict.fromkeys((_CACHE, f"{_CACHE}/{name.parts[0]}", f"{_CACHE}/{name.parent}"))
        walls += ["--symlink", f"{place}/{file.name}", f"{_CACHE}/{name}"]
    own = [word for parent in parents for word in ("--perms", "0777", "--dir", parent)]
    binds = [word for folder, place in folders.items() for word in ("--ro-bind", str(folder), place)]
    return [*own, "--dir", _KERNELS, *binds, *walls]


@cache
def _compiled_code() -> list[Path]:
    """Return the files that contain this version's compiled code of the rules and bots."""
    agents = Path(__file__).parent
    folders = [Path(entry.__file__).parent, *(agents / name for name in ("scripted", "search", "learned"))]
    place = cache_directory(folders[0], entry.__name__)
    keys = {cache_key(folder) for folder in folders}
    files = [file for key in keys for file in Path(place).parent.glob(f"*-{key}/*/*")] if place else []
    return [file for file in files if file.is_file()]


def shown_to(command: Sequence[str]) -> list[str]:
    """Return the paths that a command needs.

    For a program in a folder `bin`, these are the paths of its installation. For any other program, and for
    each argument that is an existing path, the path comes from `shown_with`.
    """
    program = shutil.which(command[0]) or command[0]
    shown = list[str]()
    for path in (os.path.abspath(program), os.path.realpath(program)):
        is_installed = os.path.basename(os.path.dirname(path)) == "bin"
        shown += installation(os.path.dirname(os.path.dirname(path))) if is_installed else [shown_with(path)]
    return [*shown, *(shown_with(word) for word in command[1:] if os.path.exists(word))]


_PYTHON = os.path.realpath(sys.executable)
