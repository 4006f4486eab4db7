"""Terminal at which a person reads and types, or streams that replace the terminal."""

import os
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import TextIO

NARROWEST, WIDEST = 40, 120  # minimum and maximum number of columns in a line
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # clears the screen and its scrollback
_PAGE = 40  # number of empty lines if the screen cannot be cleared


class Terminal:
    """Input and output of lines; the default streams are the program's standard streams."""

    def __init__(self, source: TextIO | None = None, target: TextIO | None = None) -> None:
        self._source, self._target = source, target
        if self._is_typed():
            with suppress(ImportError):
                import readline  # noqa: F401  # lets `input` recall lines

    @property
    def target(self) -> TextIO:
        """Stream to which lines are written."""
        return self._target or sys.stdout

    @property
    def source(self) -> TextIO:
        """Stream from which answers are read."""
        return self._source or sys.stdin

    @property
    def width(self) -> int:
        """Number of columns of a line."""
        return min(max(shutil.get_terminal_size((100, 24)).columns, NARROWEST), WIDEST)

    @property
    def has_colour(self) -> bool:
        """True if output may have colours: `target` is a terminal, and NO_COLOR is not set."""
        return self.target.isatty() and not os.environ.get("NO_COLOR")

    def _is_typed(self) -> bool:
        """Return True if a person types at the program's own terminal."""
        return self._source is None and self._target is None and sys.stdin.isatty() and sys.stdout.isatty()

    def say(self, *lines: str) -> None:
        """Write lines unchanged; without arguments, write an empty line."""
        print(*lines, sep="\n", file=self.target, flush=True)

    def say_wrapped(self, text: str, indent: str = "", later: str | None = None) -> None:
        """Write a wrapped paragraph; lines after the first line begin with `later` (default: `indent`)."""
        self.say(wrapped(text, self.width, indent, indent if later is None else later))

    def ask(self, prompt: str) -> str:
        """Write the prompt, and return the next line of input; raise EOFError at the end of the input.

        If the line was not typed at a terminal, it is also written after the prompt.
        """
        if self._is_typed():
            try:
                return input(prompt)
            except EOFError:
                self.say()  # Ctrl-D leaves the cursor in the line of the prompt
                raise
        print(prompt, end="", file=self.target, flush=True)
        line = self.source.readline()
        if not line:
            self.say()
            raise EOFError
        if not self.source.isatty():
            self.say(line.rstrip("\n"))
        return line.rstrip("\n")

    def clear(self) -> None:
        """Clear the screen, or scroll the text out of sight."""
        self.say(_CLEAR if self.target.isatty() else "\n" * _PAGE)


def wrapped(text: str, width: int, indent: str = "", later: str = "") -> str:
    """Wrap a paragraph at `width` columns; words are not broken."""
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
