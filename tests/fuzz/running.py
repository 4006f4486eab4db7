"""Run targets in a child process with bounded time and memory, and store inputs that break a target.

Input `number` of a target follows from the seed and the number alone. The child writes every input into a
shared file before it reads the input. If the child dies, the parent finds the guilty input in that file, and
starts another child after it.
"""

from __future__ import annotations

import hashlib
import mmap
import multiprocessing
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIME_LIMIT = 1.0  # CPU seconds for one input
MEMORY_LIMIT = 200 << 20  # bytes by which one input may raise the child's peak memory
ADDRESS_SPACE = 4 << 30  # bytes that the child may allocate in all after its start
PATIENCE = 60.0  # seconds without a report after which a child counts as hanging
STARTING = 600.0  # seconds for imports, compilation and good inputs
WARM_UP = 5.0  # seconds for inputs that are not counted
REPORTS = 0.5  # seconds between two reports of a child
LONGEST = 8 << 20  # largest size of an input in bytes
REGRESSIONS = Path(__file__).parent / "regressions"
_HEAD = struct.Struct("<qq")  # number and length of the input in the shared file


@dataclass
class Finding:
    """An input that broke a target."""

    target: str
    number: int
    problem: str
    data: bytes

    def keep(self, folder: Path = REGRESSIONS) -> Path:
        """Write the input to a file, which `tests/test_fuzz.py` reads from then on."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.target}-{hashlib.sha256(self.data).hexdigest()[:12]}"
        path.write_bytes(self.data)
        return path


@dataclass
class Tally:
    """Counts of the results for the inputs of a target."""

    inputs: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by class of the error, number of inputs
    slowest: float = 0.0  # CPU seconds
    growth: int = 0  # bytes by which the worst input raised the peak memory
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.refused += other.refused
        self.slowest, self.growth = max(self.slowest, other.slowest), max(self.growth, other.growth)
        self.findings += other.findings


def one_input(target: Any, seeds: Any, name: str, seed: int, number: int) -> bytes:
    """Return input `number` of a target."""
    rng = random.Random(f"{name} {seed} {number}")
    return target.change(rng.choice(seeds), rng)[:LONGEST]


# In the child


def _peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def read_one(target: Any, data: bytes) -> tuple[str, str]:
    """Read an input and return ("accepted", ""), ("refused", class of the error) or ("broke", traceback)."""
    try:
        target.read(data)
    except target.errors as error:
        return "refused", type(error).__name__
    except BaseException:
        return "broke", traceback.format_exc()
    return "accepted", ""


def _tried(target: Any, name: str, number: int, data: bytes, tally: Tally) -> None:
    """Read an input and count the result."""
    start, before = time.process_time(), _peak()
    signal.setitimer(signal.ITIMER_PROF, 2 * TIME_LIMIT)  # its signal ends the child in any case
    outcome, what = read_one(target, data)
    signal.setitimer(signal.ITIMER_PROF, 0)
    seconds, growth = time.process_time() - start, _peak() - before
    tally.inputs += 1
    tally.accepted += outcome == "accepted"
    tally.refused[what] += outcome == "refused"
    tally.slowest, tally.growth = max(tally.slowest, seconds), max(tally.growth, growth)
    if seconds > TIME_LIMIT:
        outcome, what = "broke", f"{seconds:.1f} s"
    if growth > MEMORY_LIMIT:
        outcome, what = "broke", f"{growth >> 20} MiB more memory"
    if outcome == "broke":
        tally.findings.append(Finding(name, number, what, data))


def _warm_up(target: Any, seeds: Any, name: str, seed: int) -> None:
    """Read inputs until some are accepted, so that one-time compilation and loading count for no input.

    Raises RuntimeError if none is accepted and the target should accept some: then its good inputs are out of
    date, and it tests nothing.
    """
    accepted, outcomes, until = 0, Counter[tuple[str, str]](), time.monotonic() + WARM_UP
    for number in range(-1, -300, -1):
        outcome = read_one(target, one_input(target, seeds, name, seed, number))
        outcomes[outcome] += 1
        accepted += outcome[0] == "accepted"
        if accepted > 20 or (accepted and time.monotonic() > until):
            return
    if not accepted and target.accepts:
        raise RuntimeError(f"target {name!r} accepts no input: {outcomes.most_common(3)}")


def work(pipe: Any, shared_path: str, name: str, seed: int) -> None:
    """Run the child: read inputs by number as long as the parent requests it, and report regularly."""
    from tests.fuzz.targets import named

    target = named()[name]
    seeds = target.make()
    _warm_up(target, seeds, name, seed)
    used = (
        int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE if sys.platform == "linux" else 0
    )
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send(None)
    with open(shared_path, "r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
        while (job := pipe.recv()) is not None:
            numbers, skipped = job
            tally, last = Tally(), time.monotonic()
            for number in numbers:
                if number not in skipped:
                    data = one_input(target, seeds, name, seed, number)
                    shared[: _HEAD.size + len(data)] = _HEAD.pack(number, len(data)) + data
                    _tried(target, name, number, data, tally)
                if time.monotonic() - last > REPORTS:
                    break
            pipe.send((tally, number + 1))


# In the parent


class Child:
    """A child process for one target, started again after it has died."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        handle, self._shared = tempfile.mkstemp(prefix="risk-fuzz-")
        os.truncate(handle, _HEAD.size + LONGEST)
        os.close(handle)
        self._process: Any = None

    def ask(self, numbers: range, skipped: set[int]) -> tuple[Tally, int] | Finding:
        """Let the child read inputs for a while.

        Return the tally and the next number, or the input that ended the child.
        """
        if self._process is None:
            self._start()
        self._pipe.send((numbers, skipped))
        try:
            if self._pipe.poll(PATIENCE):
                return self._pipe.recv()
            problem = f"no answer for {PATIENCE:g} s"
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            problem = (
                f"more than {2 * TIME_LIMIT:g} s" if code == -signal.SIGPROF else f"ended with status {code}"
            )
        self._end()
        content = Path(self._shared).read_bytes()
        number, length = _HEAD.unpack_from(content)
        return Finding(self.name, number, problem, content[_HEAD.size : _HEAD.size + length])

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, self._shared, self.name, self.seed), daemon=True
        )
        self._process.start()
        theirs.close()
        if not self._pipe.poll(STARTING):
            raise RuntimeError(f"target {self.name!r} did not start within {STARTING:g} s")
        try:
            self._pipe.recv()
        except EOFError as error:
            raise RuntimeError(f"target {self.name!r} did not start: its error is above") from error

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()
        self._process = None

    def close(self) -> None:
        """End the child and remove the shared file."""
        if self._process is not None:
            self._end()
        os.unlink(self._shared)


def fuzz(name: str, inputs: int, seconds: float, seed: int, progress: Callable[[Tally], None]) -> Tally:
    """Read at most `inputs` inputs of a target, for at most `seconds`."""
    child, tally, skipped, number = Child(name, seed), Tally(), set[int](), 0
    try:
        until = None
        while number < inputs and (until is None or time.monotonic() < until):
            found = child.ask(range(number, inputs), skipped)
            until = time.monotonic() + seconds if until is None else until
            if isinstance(found, Finding):
                skipped.add(found.number)
                tally.add(Tally(inputs=1, findings=[found]))
            else:
                done, number = found
                tally.add(done)
            progress(tally)
    finally:
        child.close()
    return tally


def regressions(folder: Path = REGRESSIONS) -> Iterator[tuple[str, Path]]:
    """Yield target and file of each input that once broke a target."""
    for path in sorted(folder.glob("*-*")):
        yield path.name.partition("-")[0], path
