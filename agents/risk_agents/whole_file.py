"""Files that are written as a whole, or not at all; names of new files that no other file has."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside this one, to write to in a `with` block; the file moves here in one step once it is on the disk.

    After an error, or if the process is killed, the file that was here before is still here. A device or a pipe is
    written to as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
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


def new_file(path: Path, may_rename: bool = True) -> Path:
    """Make an empty file of this name and return its path; nothing is overwritten.

    If the name is taken, the file gets -2, -3, ... before the ending; without `may_rename` it is a FileExistsError.
    """
    return _new(path, lambda fresh: os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)), may_rename)


def new_folder(path: Path) -> Path:
    """Make an empty folder of this name, or with -2, -3, ... after it, whichever nobody has; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return _new(path, os.mkdir)


def _new(path: Path, make: Callable[[Path], None], may_rename: bool = True) -> Path:
    if not may_rename:
        make(path)
        return path
    names = chain([path.name], (f"{path.stem}-{number}{path.suffix}" for number in count(2)))
    while True:
        fresh = path.with_name(next(names))
        with suppress(FileExistsError):
            make(fresh)
            return fresh


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
