"""Files that are written as a whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside this one, to write to in a `with` block; the file moves here in one step once it is on the disk.

    After an error, or if the process is killed, the file that was here before is still here.
    """
    fresh = path.with_name(f".new-{path.name}")
    fresh.unlink(missing_ok=True)  # in a folder from elsewhere it could be a link to any file
    try:
        yield fresh
        _sync(fresh)
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)  # it takes room
        raise
    if os.name == "posix":
        _sync(path.parent)


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
