"""Files of compiled code: what is wrong with one costs the time to compile it again, and no more.

A file holds the code of one entry point for one list of argument types: a checksum, then a pickle. The folder is ours
alone (`cache`), so the checksum is no signature: it finds files that were cut, damaged or only begun. In plain mode
(`mode.PLAIN`) files are Numba's own, without a checksum.
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
    """The files of one entry point, in place of Numba's, whose index two processes can write at the same time."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = Path(folder), name

    def load(self, key: Any) -> Any:
        """What was saved with this key, None if nothing was; ValueError if the file is damaged."""
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(content[_CHECKSUM:]).digest() != content[:_CHECKSUM]:
            raise ValueError("wrong checksum")
        kept, data = pickle.loads(content[_CHECKSUM:])
        return data if kept == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write a file in one step."""
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
    """Numba's cache of an entry point, whose errors are reported once and end nothing."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        """The compiled code from the disk; None if there is none, or none that can be read, which is then removed."""
        try:
            return self._cache.load_overload(*arguments)
        except Exception as error:  # a damaged pickle can raise any
            report_once(f"compiled code in {self._root} is damaged and is compiled again", error)
            with suppress(Exception):
                self._cache.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep compiled code on the disk, if there is room."""
        try:
            self._cache.save_overload(*arguments)
        except OSError as error:
            report_once(f"compiled code cannot be kept in {self._root}: every process compiles it again", error)

    @property
    def _root(self) -> Path:
        return Path(self._cache.cache_path).parents[1]


def guard(entry: Any) -> None:
    """Let an entry point that is cached outlive whatever happens to its files."""
    cache = getattr(entry, "_cache", None)
    if cache is None:  # with the JIT disabled
        return
    if not PLAIN:
        cache._cache_file = KernelFiles(cache.cache_path, cache._impl.filename_base)
    entry._cache = GuardedCache(cache)
