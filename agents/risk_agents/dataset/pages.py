"""Read the sizes in Parquet page headers before pyarrow expands a page, because a header may claim any size.

A header is a struct in Thrift's compact protocol. Field 2 is the expanded size of the page, and field 3 is
the stored size. All other fields are skipped.
"""

from collections.abc import Iterator
from typing import BinaryIO

MOST_HEADER = 1 << 16  # maximum size of a header, in bytes
_MOST_NESTING = 8
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12
_EXPANDED, _STORED = 2, 3  # fields of a page header
_MOST_BYTES_OF_A_NUMBER = 10


def expanded_sizes(file: BinaryIO, first: int, end: int) -> Iterator[int]:
    """Yield the expanded size, in bytes, of each page from byte `first` up to `end`.

    Raises ValueError for an invalid page.
    """
    at = first
    while at < end:
        file.seek(at)
        header = _Header(file.read(min(MOST_HEADER, end - at)))
        sizes = header.struct()
        if not (_EXPANDED in sizes and _STORED in sizes and min(sizes.values()) >= 0):
            raise ValueError(
                "a page header lacks the stored or the expanded size, or contains a negative number"
            )
        yield sizes[_EXPANDED]
        at += header.at + sizes[_STORED]
    if at != end:
        raise ValueError("a page is longer than its column")


class _Header:
    """Sequential reader of a page header."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def _take(self, count: int) -> bytes:
        taken = self._data[self.at : self.at + count]
        if len(taken) != count:
            raise ValueError("a page header ends too early")
        self.at += count
        return taken

    def _number(self) -> int:
        """Read an unsigned integer with seven bits per byte (varint)."""
        number = 0
        for place in range(_MOST_BYTES_OF_A_NUMBER):
            byte = self._take(1)[0]
            number |= (byte & 127) << 7 * place
            if byte < 128:
                return number
        raise ValueError("a varint has too many bytes")

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def struct(self, level: int = 0) -> dict[int, int]:
        """Read a struct, and return its integers of 16 bits or more by field number; skip other fields."""
        if level > _MOST_NESTING:
            raise ValueError("a page header is nested too deeply")
        field, numbers = 0, dict[int, int]()
        while kind := self._take(1)[0]:
            field = field + (kind >> 4) if kind >> 4 else self._signed()
            number = self._value(kind & 15, level)
            if number is not None:
                numbers[field] = number
        return numbers

    def _value(self, kind: int, level: int) -> int | None:
        """Read a value of type `kind`; return an integer of 16 bits or more, and None for other values."""
        if _BYTE < kind <= _I64:
            return self._signed()
        if kind in (_LIST, _SET):
            sizes = self._take(1)[0]
            count = sizes >> 4 if sizes >> 4 < 15 else self._number()
            if count > MOST_HEADER:
                raise ValueError("a list in a page header is too long")
            for _ in range(count):
                self._value(sizes & 15, level + 1)
        elif kind == _STRUCT:
            self.struct(level + 1)
        elif kind not in (_TRUE, _FALSE):
            sizes_of = {_BYTE: 1, _DOUBLE: 8}
            if kind not in (_BINARY, *sizes_of):
                raise ValueError(f"a page header has a value of the unknown type {kind}")
            self._take(self._number() if kind == _BINARY else sizes_of[kind])
        return None
