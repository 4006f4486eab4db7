"""Safe reading of untrusted files, texts and values: regular files only, with limits on size and nesting."""

import codecs
import io
import json
import math
import unicodedata
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from risk_env.messages import shortened

MOST_NESTING = 32  # maximum number of levels of arrays and objects in a JSON text
MOST_MARKS = 30  # maximum number of combining marks in a row in a text
MOST_ENTRIES = 1000  # maximum number of files in a zip archive
# The errors that `zipfile` and NumPy raise for content that is damaged or malicious.
UNREADABLE: tuple[type[Exception], ...] = (
    *(OSError, ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, SyntaxError, EOFError),
    *(MemoryError, zipfile.BadZipFile, zlib.error),
)
_OTHER_MARKS = (  # byte-order marks, longer marks first: one UTF-32 mark begins with a UTF-16 mark
    *((mark, "UTF-32") for mark in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    *((mark, "UTF-16") for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods expand without a bound


def regular_file(path: str | Path) -> Path:
    """Return the path of a regular file. Raises FileNotFoundError for any other path."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no regular file {str(path)!r}")
    return Path(path)


def read_file(path: str | Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    For any other file, raises ValueError or OSError, which names the file.
    """
    with regular_file(path).open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{str(path)!r} is larger than {most} bytes, the maximum")
    return content


def read_text(path: str | Path, most: int) -> str:
    """Return the text (`text_of`) of a file of at most `most` bytes.

    For any other file, raises ValueError or OSError, which names the file.
    """
    content = read_file(path, most)
    try:
        return text_of(content)
    except ValueError as error:
        raise ValueError(f"{str(path)!r} cannot be read as text: {error}") from None


def text_of(content: bytes) -> str:
    """Decode UTF-8 bytes, with or without a byte-order mark, to a text in Unicode's normal form NFC.

    Raises ValueError for bytes that are not UTF-8, and for texts that `composed` refuses.
    """
    for mark, name in _OTHER_MARKS:
        if content.startswith(mark):
            raise ValueError(f"the text is encoded as {name}: save it as UTF-8")
    return composed(unmarked(content.decode()))


def unmarked(text: str) -> str:
    """Return a text without a byte-order mark at the beginning."""
    return text.removeprefix("\ufeff")


def composed(text: str) -> str:
    """Return a text in Unicode's normal form NFC, so that canonically equivalent texts are equal.

    Raises ValueError for more than MOST_MARKS combining marks in a row. The time to normalize a sequence of
    marks grows with the square of its length.
    """
    if text.isascii():
        return text
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) else 0
        if marks > MOST_MARKS:
            raise ValueError(f"text has too many combining marks in a row: at most {MOST_MARKS} are allowed")
    return unicodedata.normalize("NFC", text)


def composed_values(value: Any) -> Any:
    """Return a value of nested lists and dicts, with all strings and keys in the normal form NFC."""
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, dict):
        return {composed(key): composed_values(inner) for key, inner in value.items()}
    return [composed_values(inner) for inner in value] if isinstance(value, list) else value


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises ValueError for any other text, for the words NaN, Infinity and -Infinity, and for more than
    MOST_NESTING levels. Also raises ValueError for numbers with a point or an exponent that are too large for
    a float.
    """
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    _check_nesting(value)
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{shortened(digits)} is too large for a number")
    return number


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not allowed in JSON")


def _check_nesting(value: Any) -> None:
    level = [value]
    for _ in range(MOST_NESTING):
        tables = [inner for outer in level if isinstance(outer, dict) for inner in outer.values()]
        lists = [inner for outer in level if isinstance(outer, list) for inner in outer]
        level = [inner for inner in tables + lists if isinstance(inner, dict | list)]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError(f"too many levels of arrays and objects: at most {MOST_NESTING} are allowed")


def read_zip(content: bytes, most: int, names: Collection[str] | None = None) -> dict[str, bytes]:
    """Return the files in a zip archive by name, or only the files in `names`.

    Raises ValueError if the archive is damaged, if one of `names` is missing, and if the archive has too many
    files or bytes. At most `most` bytes in total are expanded, whatever sizes the archive states.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if len(archive.filelist) > MOST_ENTRIES:
                raise ValueError(
                    f"{len(archive.filelist)} files in the archive; at most {MOST_ENTRIES} are allowed"
                )
            missing = sorted(set(names or ()) - set(archive.namelist()))
            if missing:
                raise ValueError(f"the archive does not contain {', '.join(map(repr, missing))}")
            entries = [archive.getinfo(name) for name in (archive.namelist() if names is None else names)]
            size = sum(entry.file_size for entry in entries)
            if size > most:
                raise ValueError(f"archive too large: {size} bytes when expanded; at most {most} are allowed")
            return {entry.filename: _read_entry(archive, entry) for entry in entries}
    except UNREADABLE as error:
        raise ValueError(f"zip archive refused: {error}") from error


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type not in _METHODS:
        method, allowed = entry.compress_type, "allowed: 0 (stored), 8 (deflated)"
        raise ValueError(
            f"{shortened(entry.filename)}: compression method {method} is not allowed; {allowed}"
        )
    with archive.open(entry) as file:
        content = file.read(entry.file_size)  # expands no more bytes than this size
        file.read(1)  # the checksum is compared at the end
    return content
