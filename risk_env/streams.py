"""Standard streams that end no command: closed ones are discarded, letters that cannot be printed are spelled out."""

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO


class _Forgiving(io.RawIOBase):
    """Writes to a file descriptor; what cannot be written, because a disk is full or nobody reads, is dropped."""

    def __init__(self, number: int) -> None:
        self._number = number

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """The file descriptor."""
        return self._number

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        """Write all of it, or drop the rest."""
        rest = memoryview(data)
        with suppress(OSError):
            while rest:
                rest = rest[os.write(self._number, rest) :]
        return len(data)


def prepare_streams() -> None:
    """Make the standard streams of a command fit for anything: closed ones are opened on nothing.

    What cannot be written to standard error is dropped. A full disk under standard output stays an error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    sys.stdin = _usable(sys.stdin, 0, "r")
    sys.stdout = _usable(sys.stdout, 1, "w")
    errors = _usable(sys.stderr, 2, "w")
    if type(errors) is io.TextIOWrapper and not isinstance(getattr(errors.buffer, "raw", None), _Forgiving):
        buffer = io.BufferedWriter(_Forgiving(errors.fileno()), 1)
        errors = io.TextIOWrapper(buffer, errors.encoding, "backslashreplace", line_buffering=True, write_through=True)
    sys.stderr = errors


def _usable(stream: TextIO | None, number: int, mode: str) -> Any:
    """A stream that there is, and that reads and writes every letter in some form."""
    if stream is None:
        return open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def give_up_output() -> None:
    """Discard what standard output still holds and will get: it is full, or nobody reads it."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
