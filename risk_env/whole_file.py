"""Write files atomically, and find new names for files."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, and move the file to `path` at the end of the `with` block.

    The file is moved after its content is on the disk. After an error, or if the process is killed, an old
    file at `path` is unchanged. If `path` is a device or a pipe, `path` itself is yielded.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    fresh = path.with_name(f".new-{path.name}")
    fresh.unlink(missing_ok=True)  # another user may have made a link with this name to any file
    try:
        yield fresh
        _sync(fresh)
        os.replace(fresh, path)
    except BaseException as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)  # free the disk space
        if isinstance(error, OSError) and error.filename == str(fresh):
            error.filename, error.filename2 = str(path), None  # the name that the user knows
        raise
    if os.name == "posix":
        _sync(path.parent)


def new_file(path: Path, may_rename: bool = True) -> Path:
    """Create an empty file, and return its path; never overwrite a file.

    If `path` exists, -2, -3, ... is added before the suffix. If `may_rename` is false, FileExistsError is
    raised instead.
    """
    return _new(
        path, lambda fresh: os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)), may_rename
    )


def named(fresh: Path, path: Path, may_rename: bool = True) -> Path:
    """Put the finished file `fresh` at `path`, and return the new path of the file; never replace a file.

    If `path` exists, -2, -3, ... is added before the suffix. If `may_rename` is false, FileExistsError is
    raised instead. If the file system has hard links, the file appears under its new name with its whole
    content, and also keeps its old name.
    """

    def place(target: Path) -> None:
        try:
            os.link(fresh, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            os.replace(fresh, target)

    return _new(path, place, may_rename)


def new_folder(path: Path) -> Path:
    """Create an empty folder, and return its path; if `path` exists, add -2, -3, ... to the name."""
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
