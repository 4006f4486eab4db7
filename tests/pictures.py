"""Small images for tests: PNG images of any size, and two JPEG images of 8 x 6 red pixels."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RED = (200, 30, 30)
BASELINE = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P///////////////////////////////////////////"
    "///////////////2wBDAaq0tPDS8P/////////////////////////////////////////////////////////////////////////////"
    "/wAARCAAGAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAA"
    "AAAAAAAAQP/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCQAo//2Q=="
)
PROGRESSIVE = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P///////////////////////////////////////////"
    "///////////////2wBDAaq0tPDS8P/////////////////////////////////////////////////////////////////////////////"
    "/wgARCAAGAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAH/xAAVAQEBAAAAAAAAAAAAAAAAAAABAv/aAAwDAQACEAMQAAABg"
    "K//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAEFAn//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/AX//xAAUEQEAAAAAAAA"
    "AAAAAAAAAAAAA/9oACAECAQE/AX//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAY/An//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACA"
    "EBAAE/IX//2gAMAwEAAgADAAAAEAv/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/EH//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oAC"
    "AECAQE/EH//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAE/EH//2Q=="
)


def png(width: int, height: int) -> bytes:
    """Return a PNG image of red pixels."""
    header = width.to_bytes(4) + height.to_bytes(4) + bytes((8, 2, 0, 0, 0))
    rows = (b"\0" + bytes(RED) * width) * height
    return png_of([(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")])


def png_of(chunks: list[tuple[bytes, bytes]]) -> bytes:
    """Return the content of a PNG file with these chunks and correct checksums."""
    parts = (
        len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4) for kind, data in chunks
    )
    return SIGNATURE + b"".join(parts)


def chunks_of(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG file, without their checksums."""
    at = len(SIGNATURE)
    while at < len(content):
        size = int.from_bytes(content[at : at + 4])
        yield content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        at += 12 + size
