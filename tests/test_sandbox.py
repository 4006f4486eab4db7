"""The sandbox: a program cannot escape from it, and an agent can still play in it."""

from __future__ import annotations

import json
import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from risk_agents import confine, supervisor
from risk_agents import sandbox as sandboxes
from risk_agents.program import Program, ProgramFault
from risk_agents.sandbox import SandboxError, sandbox, shown_to, shown_with
from risk_agents.tournament.host import Host
from risk_env.board.rules import Rules

ROOT = Path(__file__).parent.parent
RULES = Rules.preset("classic", num_players=2, attack="blitz", defender_dice="max", max_rounds=2)
USERS = ("root", "user")
HOME_OF_ROOT = pwd.getpwuid(0).pw_dir
INIT = "/proc/1/root"  # the root folder as the first process sees it


@pytest.fixture(params=USERS)
def strict(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[sandboxes.Sandbox]:
    """Return the strict sandbox, as started by root and by a user.

    Without such a sandbox the test is skipped.
    """
    if request.param == "root" and os.getuid():
        pytest.skip("not root")
    monkeypatch.setattr(sandboxes, "_is_root", lambda: request.param == "root")
    sandbox.cache_clear()
    try:
        yield sandbox("strict")
    except SandboxError as error:
        no_sandbox(str(error))
    finally:
        sandbox.cache_clear()


def no_sandbox(reason: str) -> Any:
    """Skip the test, or fail in CI, where the test must run."""
    return pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


def told(program: Program) -> dict[str, Any]:
    """Return the output of a program without questions, before it is ended."""
    try:
        return program.request({}, 60)
    finally:
        program.kill()


def program_of(code: str, strict: sandboxes.Sandbox) -> Program:
    """Return a program in Python in a sandbox."""
    command = [sys.executable, "-c", f"import json, os, signal, sys\n{code}"]
    return Program(command, "it", strict, shown_to(command[:1]))


def test_no_attempt_to_leave_succeeds(
    strict: sandboxes.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots, work = tmp_path / "bots", tmp_path / "work"
    bots.mkdir()
    work.mkdir()
    (bots / "escapes.py").write_bytes((ROOT / "tests" / "escapes.py").read_bytes())
    key, beside = work / "key", tmp_path / "key"
    key.write_text("1234")
    beside.write_text("1234")
    tmp_path.chmod(0o755)
    monkeypatch.chdir(work)
    monkeypatch.setenv("SECRET_KEY", "1234")
    package = Path(sandboxes.__file__).parent
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as abstract,
    ):
        name = f"risk-env-test-{os.getpid()}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        facts = {
            "host": os.getpid(),
            "port": tcp.getsockname()[1],
            "socket": name,
            "read": [
                *(str(key), str(beside), "/etc/shadow"),
                *("/proc/1/mem", "/proc/kcore", f"{INIT}/etc/shadow"),
            ],
            "write": [
                *("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/x", "/usr/x", "/dev/x"),
                *(f"{HOME_OF_ROOT}/x", str(package / "x.py"), str(bots / "x")),
            ],
        }
        command = [sys.executable, str(bots / "escapes.py"), json.dumps(facts)]
        found = told(Program(command, "it", strict, shown_to(command)))
    user, filled, capabilities = (found.pop(name) for name in ("user", "filled", "capabilities"))
    assert [path for path in facts["write"] if Path(path).name in ("x", "x.py") and Path(path).exists()] == []
    # If the clone lies in the folder of temporary files, the agent's own temporary folder hides it.
    own = f"write {package / 'x.py'}"
    allowed = {own} if package.is_relative_to("/tmp") else set()
    assert {name: got for name, got in found.items() if got is not False and name not in allowed} == {}
    assert user == sandboxes.NOBODY
    assert capabilities == 0
    for folder, most in (("/tmp", sandboxes.TEMPORARY), ("/dev/shm", sandboxes.SHARED)):
        assert 0 < filled[folder] <= most >> 20


# The first process is the largest when the limit is reached, so it is the one that the kernel ends.
LARGEST_FIRST = """
ready, begin = os.pipe()
for _ in range(3):
    if not os.fork():
        os.read(ready, 1)
        held = os.urandom(45 << 20)
        signal.pause()
held = os.urandom(120 << 20)
print("{}", flush=True)
os.write(begin, b"123")
signal.pause()
"""


def test_memory_is_bounded_in_all(strict: sandboxes.Sandbox) -> None:
    groups, name = group_with(strict, *supervisor.MEMORY_FILES)
    if not name:
        assert "NOT enforced: a total limit" in strict.says
        pytest.skip("no control group can be made here")
    limited = {**strict.limits[supervisor.GROUPS], groups: {name: 200 << 20}}
    limits = {**strict.limits, supervisor.GROUPS: limited}
    code = LARGEST_FIRST
    with pytest.raises(ProgramFault, match="ended with status 137") as fault:
        program = program_of(code, strict._replace(limits=limits))
        program.request({}, 60)
        program.request({}, 60)
    assert fault.value.kind == "died"
    assert list(Path(groups).glob(f"risk_env-{program._process.pid}")) == []


def group_with(sandbox: sandboxes.Sandbox, *files: str) -> tuple[str, str]:
    """Return the parent folder of the control groups that have one of these files, and the file's name."""
    groups = sandbox.limits[supervisor.GROUPS]
    return next(((at, name) for at, values in groups.items() for name in values if name in files), ("", ""))


FORKS = """
count = 0
try:
    while count < 2000:
        if not os.fork():
            signal.pause()
        count += 1
except OSError:
    pass
print(json.dumps({"count": count}), flush=True)
signal.pause()
"""


def test_an_agent_that_forks_without_end_leaves_the_processes_of_others(strict: sandboxes.Sandbox) -> None:
    """Each agent has a limit of its own, where control groups can be made."""
    folder, _ = group_with(strict, supervisor.TASKS_FILE)
    if not folder:
        assert "all agents share this limit" in strict.says
        pytest.skip("no control group can be made here")
    programs = [program_of(FORKS, strict) for _ in range(2)]
    try:
        counts = [program.request({}, 60)["count"] for program in programs]
    finally:
        for program in programs:
            program.kill()
    assert "RLIMIT_NPROC" not in strict.limits
    assert all(200 < count < sandboxes.MORE_PROCESSES for count in counts)


BOT = """
import os
import helper
from risk_env.agent import Agent

class Bot(Agent):
    version = helper.VERSION
    name = "-".join(path for path in {paths!r} if os.path.exists(path)) or "nothing"

    def act(self, view):
        return view.legal_actions[0]
"""


def test_an_agent_sees_its_own_folder_and_no_other(
    strict: sandboxes.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots, work = tmp_path / "bots", tmp_path / "work"
    bots.mkdir()
    work.mkdir()
    (work / "key").write_text("1234")
    (bots / "helper.py").write_text("VERSION = '7'")
    (bots / "bot.py").write_text(
        BOT.format(paths=[str(work / "key"), str(ROOT / "pyproject.toml"), str(ROOT / ".git")])
    )
    monkeypatch.chdir(work)
    host = Host(f"{bots / 'bot.py'}:Bot", RULES, "tiny", 30.0, strict)
    host.close()
    assert (host.name, host.version) == ("nothing", "7")


def test_a_folder_that_is_not_the_agents_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots, work = tmp_path / "bots", tmp_path / "work"
    for folder in (bots, work / "deep"):
        folder.mkdir(parents=True)
    monkeypatch.chdir(work / "deep")
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    assert shown_with(bots / "bot.py") == str(bots)
    assert shown_with(bots) == str(bots)
    for folder in (work / "deep", work, tmp_path, tmp_path / "home", Path("/")):
        assert shown_with(folder / "bot.py") == str(folder / "bot.py")
    assert shown_with(work) == ""


def test_a_shown_program_is_shown_without_its_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("bin", "lib", "keys"):
        (home / name).mkdir(parents=True)
    (home / "bin" / "bot").touch(mode=0o755)
    assert shown_to([str(home / "bin" / "bot")]) == [str(home / "bin"), str(home / "lib")] * 2


WITHOUT_PRCTL = """
import sys, types
from risk_agents import confine
sys.platform = "darwin"  # the C library of macOS has no prctl
confine._libc = types.SimpleNamespace()
sys.exit(confine.main(-1, ["echo", "played"]))
"""


def test_an_agent_starts_in_a_sandbox_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PRCTL], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "played\n"), done.stderr
    monkeypatch.setattr(sys, "platform", "darwin")
    limits = sandboxes._limits()
    # macOS refuses limits below the current address space, which is larger than MEMORY
    assert limits == {"RLIMIT_FSIZE": 64 << 20, "RLIMIT_NOFILE": 512, "RLIMIT_CORE": 0}
    assert sandboxes._limits_in_words(limits) == "NO memory limit, 64 MiB per file, 512 open files"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_forbids_what_it_names_and_nothing_else(machine: str) -> None:
    column = 0 if machine == "x86_64" else 1
    for numbers in confine.FORBIDDEN.values():
        assert run_filter(confine.program(machine), machine, numbers[column]) == 0x50001
    harmless = (0, 1, 59, 221, 231) if column == 0 else (63, 64, 93, 222)  # read, write, execve, ...
    for number in harmless:
        assert run_filter(confine.program(machine), machine, number) == 0x7FFF0000
    clone = 56 if column == 0 else 220
    assert run_filter(confine.program(machine), machine, clone, 0x3D0F00) == 0x7FFF0000  # a thread
    assert run_filter(confine.program(machine), machine, clone, 0x10000011) == 0x50001
    assert run_filter(confine.program(machine), machine, 435) == 0x50026  # ENOSYS
    other = "aarch64" if column == 0 else "x86_64"
    assert run_filter(confine.program(machine), other, 0) == 0x50001


def run_filter(steps: list[tuple[int, int, int, int]], machine: str, number: int, argument: int = 0) -> int:
    """Return the kernel's result for a system call, by the few instructions of BPF that the filter uses."""
    data = {0: number, 4: confine._COLUMNS[machine][0], 16: argument}
    place, held = 0, 0
    while True:
        operation, yes, no, value = steps[place]
        place += 1
        if operation == 0x20:
            held = data[value]
        elif operation == 0x06:
            return value
        else:
            is_true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[operation]
            place += yes if is_true else no
