"""Pictures that lie under the drawing of a map: PNG or JPEG files in the folder of the map file."""

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from risk_env.bounded_io import read_file
from risk_env.messages import shortened

MOST_BYTES = 640 << 10  # maximum size of a file; its URL must fit into the first message of a browser game
MOST_SIDE = 10_000  # maximum width and height, in pixels
MOST_PIXELS = 1 << 24  # maximum number of pixels; a browser needs 64 MiB of memory for such an image
MOST_PARTS = 20_000  # maximum number of chunks of a PNG image, and of segments of a JPEG image
MOST_SCANS = 64  # maximum number of scans of a JPEG image; a decoder updates the whole image in each scan
MOST_NAME = 100  # maximum number of characters of a file name
SUFFIXES = (".png", ".jpg", ".jpeg")

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}  # by colour type
_PALETTE = 3  # colour type of images with a palette
_JPEG = b"\xff\xd8"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # markers of frames
_USUAL_FRAMES = (0xC0, 0xC1, 0xC2)  # baseline, extended sequential, progressive: readable in every browser
_SCAN, _END = 0xDA, 0xD9
# A marker of a segment. Other bytes after 0xFF belong to coded pixels.
_MARKER = re.compile(rb"\xff[\x02-\xcf\xd9-\xfe]")
_FILLED_MARKER = re.compile(rb"\xff+[\x02-\xcf\xd9-\xfe]")  # a marker, after any number of fill bytes 0xFF
_DAMAGED = "the image is damaged"
_AFTER_END = "content after the end of the image"


@dataclass(frozen=True)
class MapPicture:
    """A checked image. Its upper left corner is the point 0, 0."""

    media_type: str  # "image/png" | "image/jpeg"
    width: int  # in pixels
    height: int  # in pixels
    content: bytes = field(repr=False)

    @property
    def url(self) -> str:
        """The image as a `data:` URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.content).decode()}"


def read_picture(folder: Path, name: str) -> MapPicture:
    """Return the image in the file `name` of a folder.

    Raises OSError if there is no such regular file, or if the file cannot be read. Raises ValueError if the
    name is not allowed (`problem_of_file_name`), or if the file is a link out of the folder or is larger than
    MOST_BYTES. Also raises ValueError as `picture_of` does.
    """
    if problem := problem_of_file_name(name):
        raise ValueError(f"{shortened(name)} {problem}")
    path = folder / name
    try:
        place = path.resolve().parent
    except RuntimeError as error:  # Python 3.11 and 3.12
        raise ValueError(f"{shortened(name)} is a link to itself") from error
    if place != folder.resolve():
        raise ValueError(f"{shortened(name)} is a link to a file outside the folder of the map")
    return picture_of(read_file(path, MOST_BYTES))


def problem_of_file_name(name: str) -> str:
    """Return the reason why a picture of a map cannot have this file name, or "" if the name is allowed."""
    if len(name) > MOST_NAME:
        return f"has more than {MOST_NAME} characters"
    if not name.isprintable() or any(letter in name for letter in '/\\:"') or name.startswith("."):
        return "is not the name of a file in the folder of the map"
    if not name.lower().endswith(SUFFIXES):
        return f"does not end with {' or '.join(SUFFIXES)}"
    return ""


def picture_of(content: bytes) -> MapPicture:
    """Return the image in the content of a PNG or JPEG file.

    Only the structure and the size are checked; the pixels are not decoded. Raises ValueError for any other
    content, a damaged image, an unusual kind of JPEG image, and content after the end of the image. Also
    raises ValueError for an image with too many pixels, chunks, segments or scans.
    """
    if content.startswith(_PNG):
        media_type, (width, height) = "image/png", _png_size(content)
    elif content.startswith(_JPEG):
        media_type, (width, height) = "image/jpeg", _jpeg_size(content)
    else:
        raise ValueError("neither a PNG nor a JPEG image; convert the image to one of these formats")
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE and width * height <= MOST_PIXELS):
        most = f"1 to {MOST_SIDE} pixels in width and height, and at most {MOST_PIXELS} pixels in total"
        raise ValueError(f"{width} x {height} pixels: an image may have {most}")
    return MapPicture(media_type, width, height, content)


def _png_size(content: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG image.

    Raises ValueError if the image is damaged, has too many chunks, or has content after its end.
    """
    chunks = list(islice(_png_chunks(content), MOST_PARTS + 1))
    kinds = [kind for kind, _ in chunks]
    if len(chunks) > MOST_PARTS:
        raise ValueError(f"the image has more than {MOST_PARTS} chunks, the maximum")
    if kinds[0] != b"IHDR" or len(chunks[0][1]) != 13 or kinds[-1] != b"IEND" or b"IDAT" not in kinds:
        raise ValueError(_DAMAGED)
    header = chunks[0][1]
    depth, colours, compression, filtering, interlace = header[8:]
    if colours == _PALETTE and b"PLTE" not in kinds:
        raise ValueError(_DAMAGED)
    if depth not in _PNG_DEPTHS.get(colours, ()) or compression or filtering or interlace > 1:
        raise ValueError(_DAMAGED)
    return int.from_bytes(header[:4]), int.from_bytes(header[4:8])


def _png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the data of each chunk, up to the end of the content."""
    at = len(_PNG)
    while at < len(content) or at == len(_PNG):
        size, kind = int.from_bytes(content[at : at + 4]), content[at + 4 : at + 8]
        data, end = content[at + 8 : at + 8 + size], at + 12 + size
        if end > len(content) or zlib.crc32(kind + data) != int.from_bytes(content[end - 4 : end]):
            raise ValueError(_DAMAGED)
        if kind == b"IEND" and end < len(content):
            raise ValueError(_AFTER_END)
        yield kind, data
        at = end


def _jpeg_size(content: bytes) -> tuple[int, int]:
    """Return the width and height of a JPEG image.

    Raises ValueError if the image is damaged, has too many segments or scans, or has content after its end.
    Also raises ValueError as `_frame_size` does.
    """
    at, size, scans = len(_JPEG), None, 0
    for _ in range(MOST_PARTS):
        kind, data, at = _jpeg_segment(content, at)
        if kind == _END:
            if size is None or scans == 0:
                raise ValueError(_DAMAGED)
            if at < len(content):
                raise ValueError(_AFTER_END)
            return size
        if kind in _FRAMES:
            if size is not None:
                raise ValueError(_DAMAGED)
            size = _frame_size(kind, data)
        elif kind == _SCAN:
            scans += 1
            if scans > MOST_SCANS:
                raise ValueError(f"the image has more than {MOST_SCANS} scans, the maximum")
            at = _end_of_scan(content, at)
    raise ValueError(f"the image has more than {MOST_PARTS} segments, the maximum")


def _jpeg_segment(content: bytes, at: int) -> tuple[int, bytes, int]:
    """Return the kind and the data of the segment at the offset `at`, and the offset of the segment's end."""
    marker = _FILLED_MARKER.match(content, at)
    if marker is None:
        raise ValueError(_DAMAGED)
    kind, at = content[marker.end() - 1], marker.end()
    if kind == _END:
        return kind, b"", at
    end = at + int.from_bytes(content[at : at + 2])
    if end < at + 2 or end > len(content):
        raise ValueError(_DAMAGED)
    return kind, content[at + 2 : end], end


def _end_of_scan(content: bytes, at: int) -> int:
    """Return the offset of the first marker after the coded pixels that begin at the offset `at`."""
    marker = _MARKER.search(content, at)
    if marker is None:
        raise ValueError(_DAMAGED)
    return marker.start()


def _frame_size(kind: int, data: bytes) -> tuple[int, int]:
    """Return the width and height in the segment of a frame.

    The data of the segment begin with the precision, the height, the width and the number of components.
    Raises ValueError for an unusual kind of JPEG image.
    """
    if kind not in _USUAL_FRAMES or len(data) < 6 or data[0] != 8 or data[5] not in (1, 3):
        raise ValueError(
            "an unusual kind of JPEG image; save the image as a baseline or progressive JPEG, "
            "in grey or RGB, with 8 bits per channel"
        )
    return int.from_bytes(data[3:5]), int.from_bytes(data[1:3])
