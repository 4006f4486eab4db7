"""Cache files of compiled code. If a file cannot be read, the code is compiled again.

A file contains the code of one entry point for one list of argument types: a checksum, then a pickle. The
checksum detects truncated and damaged files. A cryptographic signature is not necessary. Only this user can
write to a default folder, and a folder that the user has chosen is trusted (`cache.cache_root`). In plain
mode (`mode.PLAIN`), Numba writes the files, without a checksum.
"""

import glob
import hashlib
import os
import pickle
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from risk_env.compiler.mode import PLAIN
from risk_env.compiler.notice import report_once

if not PLAIN:
    from numba.core.serialize import dumps

_CHECKSUM = hashlib.sha256().digest_size


class KernelFiles:
    """The cache files of one entry point.

    These files replace Numba's index, which is not safe for concurrent writers.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = Path(folder), name

    def load(self, key: Any) -> Any:
        """Return the code that was saved under `key`, or None if no code was saved.

        Raises ValueError if the file is damaged.
        """
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(content[_CHECKSUM:]).digest() != content[:_CHECKSUM]:
            raise ValueError("wrong checksum")
        kept, data = pickle.loads(content[_CHECKSUM:])
        return data if kept == key else None

    def save(self, key: Any, data: Any) -> None:
        """Save the code under `key`. The file is replaced atomically."""
        content, path = dumps((key, data)), self._path(key)
        fresh = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
        try:
            fresh.write_bytes(hashlib.sha256(content).digest() + content)
            os.replace(fresh, path)
        finally:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all files of the entry point."""
        for path in self._folder.glob(f"{glob.escape(self._name)}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"


class GuardedCache:
    """Numba's cache of an entry point. Errors of the cache files are reported once and not raised."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        """Return the compiled code from the disk, or None if there is no file for the argument types.

        If a file cannot be read, return None, and remove all files of the entry point.
        """
        try:
            return self._cache.load_overload(*arguments)
        except Exception as error:  # a damaged pickle can raise any exception
            report_once(f"compiled code in {self._root} cannot be read and will be compiled again", error)
            with suppress(Exception):
                self._cache.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Write compiled code to the disk. An OSError is reported, not raised."""
        try:
            self._cache.save_overload(*arguments)
        except OSError as error:
            report_once(
                f"compiled code cannot be saved in {self._root}: every process compiles it again", error
            )

    @property
    def _root(self) -> Path:
        return Path(self._cache.cache_path).parents[1]


def guard(entry: Any) -> None:
    """Make an entry point work even if its cache files cannot be read or written."""
    cache = getattr(entry, "_cache", None)
    if cache is None:  # if the JIT is disabled
        return
    if not PLAIN:
        cache._cache_file = KernelFiles(cache.cache_path, cache._impl.filename_base)
    entry._cache = GuardedCache(cache)


def lacks_code(entry: Any) -> bool:
    """Return True if the cache contains no compiled code of an entry point yet.

    For an entry point without a cache, the result is False, because its code cannot be saved.
    """
    cache = getattr(entry, "_cache", None)
    if not isinstance(cache, GuardedCache):
        return False
    name = glob.escape(cache._impl.filename_base)
    return not any(Path(cache.cache_path).glob(f"{name}.*.nbc"))
