"""Standard streams for commands: closed streams discard output, and any text can be written."""

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO


class _Forgiving(io.RawIOBase):
    """A writer to a file descriptor. Data that cannot be written (full disk, no reader) is dropped."""

    def __init__(self, number: int) -> None:
        self._number = number

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._number

    def isatty(self) -> bool:
        """Return True if the descriptor is a terminal."""
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        """Write all data, or drop the rest."""
        rest = memoryview(data)
        with suppress(OSError):
            while rest:
                rest = rest[os.write(self._number, rest) :]
        return len(data)


def prepare_streams() -> None:
    """Replace closed standard streams with the null device, and make all standard streams accept any text.

    Data that cannot be written to standard error is dropped. A full disk under standard output remains an
    error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    sys.stdin = _usable(sys.stdin, 0, "r")
    sys.stdout = _usable(sys.stdout, 1, "w")
    errors = _usable(sys.stderr, 2, "w")
    if type(errors) is io.TextIOWrapper and not isinstance(getattr(errors.buffer, "raw", None), _Forgiving):
        buffer = io.BufferedWriter(_Forgiving(errors.fileno()), 1)
        errors = io.TextIOWrapper(
            buffer, errors.encoding, "backslashreplace", line_buffering=True, write_through=True
        )
    sys.stderr = errors


def _usable(stream: TextIO | None, number: int, mode: str) -> Any:
    """Return the stream, or a new stream for None, with an error handler that accepts every character."""
    if stream is None:
        return open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def give_up_output() -> None:
    """Discard buffered and further output, because standard output can no longer be written to."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
