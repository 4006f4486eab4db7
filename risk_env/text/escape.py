"""Words from outside (names of agents, players, maps, files; reasons; errors) as they may be shown.

Whoever writes a bot, a map or a file chooses them. `for_terminal` makes them safe for a terminal; for a rich table use
`rich.text.Text(for_terminal(words))`, which reads no markup; the others are for pictures, pages and spreadsheets.
"""

import html
import unicodedata
from typing import Any

from rich.cells import cell_len

LABEL_LETTERS = 40
_FORMULA = ("=", "+", "-", "@")  # what a spreadsheet takes for the beginning of a formula


def for_terminal(words: Any, keep: str = "") -> str:
    """Text without control characters, escape sequences, directional controls or surrogates: they become `\\x1b` etc.

    The letters of `keep`, such as a line break, stay.
    """
    text = str(words)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1] for letter in text)


def padded(text: str, width: int) -> str:
    """Pad a text with spaces to this number of terminal columns."""
    return text + " " * (width - cell_len(text))


def label(words: Any) -> str:
    """Return an agent's name as a label: printable, NFC, at most LABEL_LETTERS characters, `?` if empty."""
    letters = "".join(letter for letter in str(words) if letter.isprintable()).strip()
    return unicodedata.normalize("NFC", letters[: 4 * LABEL_LETTERS])[:LABEL_LETTERS].strip() or "?"


def is_label(words: Any) -> bool:
    """Whether words are what `label` makes of them: printable, 1 to LABEL_LETTERS letters, no space at the ends."""
    return isinstance(words, str) and label(words) == words


def for_figure(words: Any) -> str:
    """Text for matplotlib, which reads formulas between dollars and hides labels that begin with an underscore."""
    text = for_terminal(words).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def for_html(words: Any) -> str:
    """Text for HTML and SVG, between tags or in an attribute."""
    return html.escape(for_terminal(words))


def for_csv(value: Any) -> Any:
    """A cell of a table: text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = for_terminal(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
