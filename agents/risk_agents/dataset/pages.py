"""Sizes in the headers of Parquet's pages, read before pyarrow expands a page: a header may claim any size.

A header is a struct of Thrift's compact protocol. Its fields 2 and 3 are the sizes of the page, expanded and as stored;
everything else is skipped.
"""

from collections.abc import Iterator
from typing import BinaryIO

MOST_HEADER = 1 << 16  # bytes
_MOST_NESTING = 8
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12
_EXPANDED, _STORED = 2, 3  # fields of a page's header
_MOST_BYTES_OF_A_NUMBER = 10


def expanded_sizes(file: BinaryIO, first: int, end: int) -> Iterator[int]:
    """Bytes of each page between two places of a file when it is expanded; ValueError for anything but pages."""
    at = first
    while at < end:
        file.seek(at)
        header = _Header(file.read(min(MOST_HEADER, end - at)))
        sizes = header.struct()
        if not (_EXPANDED in sizes and _STORED in sizes and min(sizes.values()) >= 0):
            raise ValueError("a page without sizes")
        yield sizes[_EXPANDED]
        at += header.at + sizes[_STORED]
    if at != end:
        raise ValueError("a page that goes beyond its column")


class _Header:
    """Bytes that are read one value after another."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def _take(self, count: int) -> bytes:
        found = self._data[self.at : self.at + count]
        if len(found) != count:
            raise ValueError("a header of a page that does not end")
        self.at += count
        return found

    def _number(self) -> int:
        """A number without a sign, seven bits a byte."""
        number = 0
        for place in range(_MOST_BYTES_OF_A_NUMBER):
            byte = self._take(1)[0]
            number |= (byte & 127) << 7 * place
            if byte < 128:
                return number
        raise ValueError("a number without an end")

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def struct(self, level: int = 0) -> dict[int, int]:
        """The whole numbers in a struct, by field; the other fields are skipped."""
        if level > _MOST_NESTING:
            raise ValueError("too many levels")
        field, numbers = 0, dict[int, int]()
        while kind := self._take(1)[0]:
            field = field + (kind >> 4) if kind >> 4 else self._signed()
            number = self._value(kind & 15, level)
            if number is not None:
                numbers[field] = number
        return numbers

    def _value(self, kind: int, level: int) -> int | None:
        """A value of a kind: a whole number, or None for one that is skipped."""
        if _BYTE < kind <= _I64:
            return self._signed()
        if kind in (_LIST, _SET):
            sizes = self._take(1)[0]
            count = sizes >> 4 if sizes >> 4 < 15 else self._number()
            if count > MOST_HEADER:
                raise ValueError("a list that is too long")
            for _ in range(count):
                self._value(sizes & 15, level + 1)
        elif kind == _STRUCT:
            self.struct(level + 1)
        elif kind not in (_TRUE, _FALSE):
            sizes_of = {_BYTE: 1, _DOUBLE: 8}
            if kind not in (_BINARY, *sizes_of):
                raise ValueError(f"a header of a page with a value of kind {kind}")
            self._take(self._number() if kind == _BINARY else sizes_of[kind])
        return None
