"""Tables of a map file (TOML), with methods that read and check the value of a key.

Every error names the file and the problem. Errors below the top level also name the place in the file.
"""

import difflib
import re
from collections.abc import Sequence
from typing import Any

from risk_env.board.names import MAX_NAME, key_of, problem_of
from risk_env.messages import shortened

_REQUIRED: Any = object()
# A string, or a comment. A string without an end extends to the end of its line or of the text. The
# quantifiers are possessive, so that the time for any text is proportional to its length.
_STRING_OR_COMMENT = re.compile(
    r'''"""(?:[^"\\]|\\.?|"(?!""))*+"{0,5}|"(?:[^"\\\n]|\\[^\n]?)*+"?|#[^\n]*'''
    r"""|'{3}(?:[^']|'(?!''))*+'{0,5}|'[^'\n]*+'?""",
    re.DOTALL,
)
# A key with more than eight dots, in a text with a letter in place of each string. The time to read a key
# grows with the square of the number of dots.
_LONG_KEY = re.compile(r"(?:\.[ \t]*[\w-]+[ \t]*){9}")


class MapError(ValueError):
    """Error in a map, in the name of a map or in the name of a territory."""


def check_parsing_time(text: str, most_headers: int, source: str) -> None:
    """Raise MapError, which names the `source` of the text, for TOML that can take seconds to parse.

    A text may have at most `most_headers` lines [table] and [[table]], and keys with at most eight dots.
    """
    bare = _STRING_OR_COMMENT.sub(lambda match: "" if match[0].startswith("#") else "s", text)
    if _LONG_KEY.search(bare):
        raise MapError(f"{source}: a key has more than eight dots; at most eight are allowed")
    headers = depth = 0  # depth: number of open brackets at the beginning of the line
    for line in bare.split("\n"):
        headers += not depth and line.lstrip(" \t").startswith("[")
        depth = max(0, depth + sum(map(line.count, "[{")) - sum(map(line.count, "]}")))
    if headers > most_headers:
        raise MapError(f"{source}: {headers} table headers; at most {most_headers} are allowed")


class TomlTable:
    """A table of a file, with the table's place in the file.

    Methods that read a key raise MapError for a value that is not allowed. They also raise MapError for a
    missing key without a default.
    """

    def __init__(self, file: str, place: str, values: dict[str, Any]):
        self.file, self.place, self.values = file, place, values

    def error(self, problem: str, at: str = "") -> MapError:
        """Return a MapError that names the file, this table, and the place `at` in the table."""
        place = ", ".join(p for p in (self.place, at) if p)
        return MapError(f"{self.file}: {place}: {problem}" if place else f"{self.file}: {problem}")

    def only(self, *keys: str) -> None:
        """Raise MapError if the table has a key that is not in `keys`."""
        for key in self.values:
            if key not in keys:
                raise self.error(f"unknown key {shortened(key)}{similar_names(key, keys)}")

    def get(self, key: str, kind: type, words: str, default: Any = _REQUIRED) -> Any:
        """Return the value of a key, or `default` if the key is missing.

        The value must have the type `kind`. `words` names the type in messages.
        """
        value = self.values.get(key, default)
        if value is _REQUIRED:
            raise self.error(f"the key {key!r} ({words}) is missing")
        if value is not default and (
            not isinstance(value, kind) or (kind is int and isinstance(value, bool))
        ):
            raise self.error(f"{shortened(value)} is not {words}", key)
        return value

    def text(self, key: str, allowed: Sequence[str] = (), default: Any = _REQUIRED) -> Any:
        """Return the string at a key. Unless `allowed` is empty, the string must be one of `allowed`."""
        value = self.get(key, str, "a string", default)
        if allowed and value is not default and value not in allowed:
            raise self.error(f"{shortened(value)} is not one of {', '.join(allowed)}", key)
        return value

    def whole(self, key: str, low: int, high: int, default: Any = _REQUIRED) -> Any:
        """Return the whole number at a key. The number must be from `low` to `high`."""
        value = self.get(key, int, "a whole number", default)
        if value is not default and not low <= value <= high:
            raise self.error(f"{shortened(value)} is not between {low} and {high}", key)
        return value

    def flag(self, key: str) -> bool:
        """Return the boolean at a key, or False if the key is missing."""
        return self.get(key, bool, "true or false", False)

    def name(self) -> str:
        """Return the value of the key `name`, checked by `checked_name`."""
        return self.checked_name(self.text("name"), "name")

    def checked_name(self, name: str, at: str) -> str:
        """Return `name` unchanged. Raises MapError if `name` is not allowed as a name."""
        if problem := problem_of(name):
            raise self.error(f"{shortened(name)} cannot be a name: {problem}", at)
        return name

    def check_new(self, at: str, name: str, seen: dict[str, str]) -> None:
        """Add a name to `seen`. Raises MapError if `seen` already contains the name in any spelling.

        `seen` maps the key (`key_of`) of each name to the place that uses the name.
        """
        if key_of(name) in seen:
            raise self.error(f"the name {name!r} is already used by {seen[key_of(name)]}", at)
        seen[key_of(name)] = self.place

    def texts(self, key: str, default: Any = _REQUIRED) -> tuple[str, ...]:
        """Return the list of strings at a key, as a tuple."""
        values = self.get(key, list, "a list of strings", default)
        for i, value in enumerate(values, 1):
            if not isinstance(value, str):
                raise self.error(f"{shortened(value)} is not a string", f"{key} {i}")
        return tuple(values)

    def table(self, key: str, default: Any = _REQUIRED) -> "TomlTable":
        """Return the inner table at a key."""
        values = self.get(key, dict, "a table", default)
        return TomlTable(self.file, self._inside(key), values)

    def tables(self, key: str, most: int) -> "list[TomlTable]":
        """Return the inner tables in the list at a key, or an empty list if the key is missing.

        Also raises MapError if the list has more than `most` tables.
        """
        header = f"[[{self._inside(key)}]]"
        values = self.get(key, list, f"a list of tables {header}", [])
        if len(values) > most:
            raise self.error(f"number of {header} tables: {len(values)}; must be at most {most}")
        for i, value in enumerate(values, 1):
            if not isinstance(value, dict):
                raise self.error(f"{shortened(value)} is not a table", f"{key} {i}")
        return [
            TomlTable(self.file, self._inside(_place(key, i, value)), value)
            for i, value in enumerate(values, 1)
        ]

    def number_of(self, what: str, name: str, names: Sequence[str], at: str = "") -> int:
        """Return the index of `name` in `names`. Raises MapError unless `names` contains exactly this name.

        `what` is the kind of thing that has the name, for example "territory". Messages contain `what`.
        """
        if name not in names:
            raise self.error(f"no {what} {shortened(name)}{similar_names(name, names)}", at)
        return list(names).index(name)

    def _inside(self, place: str) -> str:
        return f"{self.place}.{place}" if self.place else place


def _place(key: str, i: int, values: dict[str, Any]) -> str:
    name = values.get("name")
    return f"{key} {name!r}" if isinstance(name, str) and len(name) <= MAX_NAME else f"{key} {i}"


def similar_names(name: str, names: Sequence[str], otherwise: str | None = None) -> str:
    """Return a hint for an unknown name.

    The hint lists up to three similar names. If no name is similar, the hint is `otherwise`, or up to eight
    of the allowed names if `otherwise` is None.
    """
    keys = {key_of(n): n for n in names}
    similar = [keys[k] for k in difflib.get_close_matches(key_of(name), keys, 3)]
    if similar:
        return f"; did you mean {' or '.join(map(repr, similar))}?"
    if otherwise is not None:
        return otherwise
    return f"; allowed: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"
