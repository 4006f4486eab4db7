"""Names of maps, territories, continents and Objectives: checks, and the form of names in action texts.

A text contains a plain name unchanged, and any other name in double quotes: `attack "A > B" > Kamchatka`.
"""

import re
import unicodedata

from risk_env.bounded_io import composed

RESERVED_NAMES = ("wild", "done")  # words of the action texts
MAX_NAME = 60  # maximum number of characters of a name
QUOTE = '"'

_PLAIN = re.compile(r"(?=.*[^\W\d_])[^\W_][\w'’.&()/-]*( [\w'’.&()/-]+)*(?<!\.)")
_ARROW = re.compile(r'("[^"]*")|->|→')
# Characters without a visible shape, such as Hangul fillers and variation selectors.
_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_WHITE = re.compile(r"^\s|\s$|\s\s|[^\S ]")


def problem_of(name: str) -> str:
    """Return the reason why `name` is not allowed as a name, or "" if it is allowed."""
    if not 0 < len(name) <= MAX_NAME:
        return f"a name must have 1 to {MAX_NAME} characters"
    if QUOTE in name:
        return "a name must not contain double quotes"
    if _WHITE.search(name):
        return "a name must have single spaces between words, and no other white space"
    hidden = any(unicodedata.category(letter).startswith(("C", "Z")) for letter in name.replace(" ", ""))
    if hidden or _INVISIBLE.search(name):
        return "a name must not contain invisible characters"
    if any(unicodedata.category(letter).startswith("M") for letter in _without_marks(name)):
        return "a name must not contain combining marks without a letter"
    if key_of(name) in RESERVED_NAMES:
        return "the word is reserved for action texts"
    return ""


def in_text(name: str) -> str:
    """Return a name for use in a text: unchanged, or in double quotes if the name could be misread."""
    return name if _PLAIN.fullmatch(_without_marks(name)) else f"{QUOTE}{name}{QUOTE}"


def split_outside_quotes(text: str, separator: str, most: int = 0) -> list[str]:
    """Split a text at each separator outside double quotes, at most `most` times (0: no limit)."""
    if QUOTE not in text:
        return text.split(separator, most or -1)
    parts: list[str] = []
    start = 0
    for match in re.finditer(rf'"[^"]*"|({re.escape(separator)})', text):
        if match[1] is not None and (not most or len(parts) < most):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def read_arrows(text: str) -> str:
    """Return the text with `>` in place of every arrow `->` or `→` outside double quotes."""
    return _ARROW.sub(lambda match: match[1] or ">", text)


def key_of(name: str) -> str:
    """Return a key that is the same for all spellings of a name.

    Spellings differ in upper and lower case, and in double quotes around the name.
    """
    return composed(name).strip().strip(QUOTE).casefold()


def _without_marks(name: str) -> str:
    """Return a name without the combining marks after letters, such as the vowel signs of Hindi and Thai."""
    plain = ""
    for letter in name:
        if not (unicodedata.category(letter) in ("Mn", "Mc") and plain[-1:].isalnum()):
            plain += letter
    return plain
