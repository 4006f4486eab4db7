"""Process of an agent that exchanges lines of JSON with the caller, within limits of time and size.

The process cannot block the caller. A line that is late, too long, or not a JSON object raises
`ProgramFault`. While the caller waits, the standard error of the process is read. The last bytes are kept to
explain a fault. A supervisor (`supervisor`) ends the process and its children when the `Program` is closed or
the caller dies.
"""

import json
import os
import reprlib
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import risk_env
from risk_agents import supervisor
from risk_agents.sandbox import OPEN, Sandbox
from risk_env.bounded_io import parse_json
from risk_env.children import environment_of_programs
from risk_env.streams import prepare_streams
from risk_env.text.escape import for_terminal

LONGEST_LINE = 1 << 20  # maximum length of a reply, in bytes
LONGEST_LIMIT = 1e6  # largest time limit, in seconds (eleven days)
SHOW_ERRORS = "RISK_ENV_SHOW_STDERR"  # environment variable; if set, the process's standard error is shown
KEPT_ERRORS = 1 << 13  # maximum number of bytes that are kept from the end of standard error
FAREWELL = 2.0  # maximum wait for the process to end on its own, in seconds
# maximum number of characters that a fault quotes from each end of the kept part of standard error
_QUOTED = 200
_AT_ONCE = 1 << 16  # maximum size of one read, in bytes
_MOST_READS = 64  # maximum number of reads from the pipe of a process that has ended

LONGEST_BRIEF = 400  # maximum length of an untrusted value in a message, in characters

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 80


class ProgramFault(RuntimeError):
    """Error of an agent's process; `kind` is one of `risk_env.players.FAULTS`, such as "time"."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(for_terminal(reason))
        self.kind = kind


def brief(value: Any) -> str:
    """Format an untrusted value of any size or depth as a text of at most LONGEST_BRIEF characters."""
    text = for_terminal(_brief.repr(value))
    return text if len(text) <= LONGEST_BRIEF else f"{text[: LONGEST_BRIEF - 3]}..."


def check_limit(name: str, seconds: float) -> None:
    """Raise ValueError unless `seconds` is above 0 and at most LONGEST_LIMIT."""
    if not 0 < seconds <= LONGEST_LIMIT:
        raise ValueError(f"{name}={seconds!r}: must be more than 0 and at most {LONGEST_LIMIT:,.0f} seconds")


class Program:
    """Running process that exchanges lines with the caller, and is killed if a reply is late."""

    def __init__(
        self,
        command: Sequence[str],
        name: str,
        sandbox: Sandbox = OPEN,
        shown: Sequence[str] = (),
    ) -> None:
        """Start a command.

        `name` is the agent's name in the messages of faults. `shown` lists paths that the command can read in
        a sandbox. Raises ProgramFault if the process cannot be started.
        """
        self.name = name
        read_end, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*_SUPERVISOR, str(read_end), json.dumps(sandbox.limits), *sandbox.command(command, shown)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=(read_end,),
                env=sandbox.environment(environment_of_programs()),
            )
        except (OSError, ValueError) as error:
            os.close(self._lifeline)
            raise ProgramFault("died", f"{name}: {error}") from error
        finally:
            os.close(read_end)
        process: Any = self._process  # its streams are pipes
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._unread, self._errors = b"", b""
        self._streams = select.poll()
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        for stream in (self._stdout, self._stderr):
            self._streams.register(stream, select.POLLIN)

    def tell(self, message: dict[str, Any], limit: float) -> None:
        """Send a message that has no reply.

        Raises ProgramFault if the process ends, or if the message cannot be sent within `limit` seconds.
        """
        self._send(message, time.monotonic() + limit, limit)

    def request(self, message: dict[str, Any], limit: float) -> dict[str, Any]:
        """Send a message, and return the reply, a JSON object.

        Raises ProgramFault if there is no valid reply within `limit` seconds.
        """
        until = time.monotonic() + limit
        self._send(message, until, limit)
        while (end := self._unread.find(b"\n") + 1) == 0:
            self._wait(until, limit)
        line, self._unread = self._unread[:end], self._unread[end:]
        return self._read(line)

    def _read(self, line: bytes) -> dict[str, Any]:
        try:
            reply = parse_json(line.decode())
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise self.fault("garbage", f"answers {line[:80]!r} instead of a JSON object")
        return reply

    def _send(self, message: dict[str, Any], until: float, limit: float) -> None:
        unsent = memoryview(_encode(message).encode() + b"\n")
        while unsent:
            try:
                unsent = unsent[os.write(self._stdin.fileno(), unsent) :]
            except BlockingIOError:
                self._wait(until, limit, writes=True)
            except (OSError, ValueError) as error:
                raise self._ended() from error

    def _wait(self, until: float, limit: float, writes: bool = False) -> None:
        """Wait until the process has sent data or, if `writes` is true, can take data; keep the sent data."""
        left = until - time.monotonic()
        if left <= 0:
            raise self.fault("time", f"{'message not read' if writes else 'no answer'} within {limit:g} s")
        if writes:
            self._streams.register(self._stdin, select.POLLOUT)
        try:
            ready = [stream for stream, _ in self._streams.poll(1000 * left)]
        finally:
            if writes:
                self._streams.unregister(self._stdin)
        if self._stderr.fileno() in ready and not self._keep_errors():
            self._streams.unregister(self._stderr)
        if self._stdout.fileno() in ready:
            self._keep_reply()

    def _keep_reply(self) -> None:
        more = os.read(self._stdout.fileno(), _AT_ONCE)
        if not more:
            raise self._ended()
        self._unread += more
        if len(self._unread) > LONGEST_LINE:
            raise self.fault("garbage", f"sends more than {LONGEST_LINE} bytes at once")

    def _keep_errors(self) -> bool:
        """Read standard error without waiting, and keep its last bytes; return False at its end."""
        try:
            more = os.read(self._stderr.fileno(), _AT_ONCE)
        except (OSError, ValueError):
            return False
        self._errors = (self._errors + more)[-KEPT_ERRORS:]
        if more and os.environ.get(SHOW_ERRORS):
            sys.stderr.write(for_terminal(more.decode(errors="replace"), keep="\n"))
        return bool(more)

    def _ended(self) -> ProgramFault:
        """Kill a process that ended or closed its streams; return a fault that quotes its last errors."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(FAREWELL)
        for _ in range(_MOST_READS):
            if not self._keep_errors():
                break
        self.kill()
        words = " ".join(self._errors.decode(errors="replace").split())
        if len(words) > 2 * _QUOTED:  # the problem may come before a long trace, or after it
            words = f"{words[:_QUOTED]} ... {words[-_QUOTED:]}"
        status = self._process.returncode
        ended = "closed its streams" if status == supervisor.ENDED else f"ended with status {status}"
        return ProgramFault("died", f"{self.name}: {ended}{': ' + words if words else ''}")

    def fault(self, kind: str, reason: str) -> ProgramFault:
        """Kill the process, and return the fault to raise."""
        self.kill()
        return ProgramFault(kind, f"{self.name}: {reason}")

    @property
    def is_alive(self) -> bool:
        """True if the process is running."""
        return self._lifeline >= 0 and self._process.poll() is None

    def kill(self) -> None:
        """Kill the process and its children, and close all streams."""
        if self._lifeline < 0:
            return
        os.close(self._lifeline)
        self._lifeline = -1
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:  # the supervisor was stopped
            self._process.kill()
            self._process.wait()
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()

    def close(self, farewell: dict[str, Any]) -> None:
        """Send the message `farewell`, wait up to FAREWELL seconds for the process to end, and kill it."""
        with suppress(ProgramFault):
            if self.is_alive:
                self.tell(farewell, FAREWELL)
                self._stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(FAREWELL)
        self.kill()


def python_command(module: str) -> tuple[str, ...]:
    """Return the command that runs the function `serve` of a module in a new process.

    The import path of the new process begins with the standard library. The paths in `_import_path` follow.
    """
    start = f"import sys; sys.path += {_import_path()!r}; from {module} import serve; serve()"
    return sys.executable, "-I", "-X", "utf8", "-c", start


def _import_path() -> list[str]:
    """Return this process's import path, with the folders that contain the project's packages.

    The working directory is left out unless it contains these packages.
    """
    here = os.path.realpath(os.getcwd())
    paths = [os.path.abspath(path) for path in sys.path if path and os.path.realpath(path) != here]
    packages = [str(Path(file).resolve().parents[1]) for file in (risk_env.__file__, supervisor.__file__)]
    return list(dict.fromkeys([*paths, *packages]))


Message = dict[str, Any]


def serve_lines(reply_to: Callable[[Message, Callable[[Message], Message]], Message]) -> None:
    """Reply to each message until the pipe is closed, in the process that a `Program` started.

    `reply_to(message, request)` returns the reply to a message. `reply_to` may call `request`, which sends a
    message to the caller, and returns the caller's reply.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # output of agents and their children must not mix with the replies
    prepare_streams()

    def send(message: Message) -> None:
        replies.write(json.dumps(message).encode() + b"\n")
        replies.flush()

    def request(message: Message) -> Message:
        send(message)
        reply: Message = json.loads(requests.readline())
        return reply

    with suppress(BrokenPipeError):
        for line in requests:
            send(reply_to(json.loads(line), request))


_SUPERVISOR = (sys.executable, "-I", "-S", str(Path(supervisor.__file__).resolve()))
