"""Where a person reads and types: the terminal, or streams in its place."""

import os
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import TextIO

NARROWEST, WIDEST = 60, 120  # columns that are written
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # the screen and what was scrolled out of it
_PAGE = 40  # empty lines where nothing can be cleared


class Terminal:
    """Lines out, lines in. Without streams it is the program's own input and output."""

    def __init__(self, source: TextIO | None = None, target: TextIO | None = None) -> None:
        self._source, self._target = source, target
        if self._is_typed():
            with suppress(ImportError):
                import readline  # noqa: F401  # lets `input` recall lines

    @property
    def target(self) -> TextIO:
        """Where lines go."""
        return self._target or sys.stdout

    @property
    def source(self) -> TextIO:
        """Where answers come from."""
        return self._source or sys.stdin

    @property
    def width(self) -> int:
        """Columns to write in."""
        return min(max(shutil.get_terminal_size((100, 24)).columns, NARROWEST), WIDEST)

    @property
    def has_colour(self) -> bool:
        """Whether colours may be written: on a screen, unless NO_COLOR says no."""
        return self.target.isatty() and not os.environ.get("NO_COLOR")

    def _is_typed(self) -> bool:
        """Whether somebody types at the program's own input."""
        return self._source is None and self._target is None and sys.stdin.isatty() and sys.stdout.isatty()

    def say(self, *lines: str) -> None:
        """Write lines as they are; an empty one if there are none."""
        print(*lines, sep="\n", file=self.target, flush=True)

    def say_wrapped(self, text: str, indent: str = "", later: str | None = None) -> None:
        """Write one paragraph in the width; lines but the first begin with `later` (None: `indent`)."""
        self.say(wrapped(text, self.width, indent, indent if later is None else later))

    def ask(self, prompt: str) -> str:
        """The next line; EOFError if there is none. A line that nobody typed here is written behind the prompt."""
        if self._is_typed():
            try:
                return input(prompt)
            except EOFError:
                self.say()  # Ctrl-D leaves the cursor behind the prompt
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
        """Take what was written out of sight."""
        self.say(_CLEAR if self.target.isatty() else "\n" * _PAGE)


def wrapped(text: str, width: int, indent: str = "", later: str = "") -> str:
    """A paragraph in lines of at most `width`."""
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )
