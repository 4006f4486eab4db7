"""Untrusted words, made safe for display.

Examples are names of agents, players, maps and files, and error messages. Anybody who writes a bot, a map or
a file can choose such words. `for_terminal` makes words safe for a terminal. In a Rich table, use
`rich.text.Text(for_terminal(words))`, which ignores markup. Other functions are for labels, figures, HTML
pages and spreadsheets.
"""

import html
import unicodedata
from typing import Any

from rich.cells import cell_len

LABEL_LETTERS = 40  # maximum number of characters of a label
_FORMULA = ("=", "+", "-", "@")  # first characters of formulas in spreadsheets


def for_terminal(words: Any, keep: str = "") -> str:
    """Return words with all characters that are not printable escaped, as in `\\x1b`.

    Examples of such characters are control characters, directional controls and surrogates. Characters in
    `keep`, such as a line break, are not escaped.
    """
    text = str(words)
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1] for letter in text
    )


def padded(text: str, width: int) -> str:
    """Return a text padded with spaces to `width` terminal columns."""
    return text + " " * (width - cell_len(text))


def label(words: Any) -> str:
    """Return an agent's name as a label: printable, in NFC, with at most LABEL_LETTERS characters.

    The label of an empty name is `?`.
    """
    letters = "".join(letter for letter in str(words) if letter.isprintable()).strip()
    return unicodedata.normalize("NFC", letters[: 4 * LABEL_LETTERS])[:LABEL_LETTERS].strip() or "?"


def is_label(words: Any) -> bool:
    """Return True if `label` would leave the words unchanged.

    A label is printable and in NFC. It has 1 to LABEL_LETTERS characters, without a space at either end.
    """
    return isinstance(words, str) and label(words) == words


def for_figure(words: Any) -> str:
    """Return words as text for a Matplotlib figure.

    Matplotlib reads text between dollar signs as a formula, and hides labels that begin with an underscore.
    """
    text = for_terminal(words).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def for_html(words: Any) -> str:
    """Return words as text for HTML and SVG, between tags or in an attribute."""
    return html.escape(for_terminal(words))


def for_csv(value: Any) -> Any:
    """Return a value as a CSV cell.

    A string that a spreadsheet would read as a formula gets a leading apostrophe.
    """
    if not isinstance(value, str):
        return value
    text = for_terminal(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
