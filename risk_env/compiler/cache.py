"""Folders in which compiled code is cached between runs.

Numba's own cache notices a change in the file of a kernel, but not in the files of the helpers that the
kernel calls. The name of a cache folder therefore contains a hash (`cache_key`) of all sources that a kernel
in the folder may use.
"""

import hashlib
import os
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numba
import numpy as np

from risk_env.compiler.mode import MODE

_PACKAGE = Path(__file__).parent.parent
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_CORE_FOLDERS = [_PACKAGE / name for name in ("compiler", "core", "engine")]


def cache_directory(folder: Path, module: str) -> str | None:
    """Return the cache folder of a module in `folder`, or None if no cache folder can be used.

    Each module has its own cache folder, because compiled code refers to the name under which the module was
    imported.
    """
    root = cache_root()
    if root is None:
        return None
    directory = root / f"{module}-{cache_key(folder)}"
    return str(directory) if _is_writable(directory) else None


@cache
def cache_root() -> Path | None:
    """Return the folder that contains all cache folders.

    The result is the folder that the user has chosen, or else the first default folder (`_usual_roots`) that
    only this user can write to. If this process cannot write to such a folder, the function warns once and
    returns None.
    """
    chosen = os.environ.get("RISK_ENV_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    roots = [Path(chosen)] if chosen else _usual_roots()
    for root in roots:
        if _is_writable(root) and (chosen or _is_private(root)):
            return root
    warnings.warn(
        f"no usable folder for compiled code (tried: {', '.join(map(str, roots)) or 'none'}): "
        "kernels are compiled again in every process "
        "(set RISK_ENV_CACHE_DIR to a folder that only you can write to)",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _usual_roots() -> list[Path]:
    """Return the default folders for `cache_root`, in order of preference.

    The first folder is in the user's cache folder, if the path of the cache folder is known. The last folder
    is in the folder of temporary files.
    """
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    account = os.getuid() if hasattr(os, "getuid") else "user"
    roots = [Path(user) / "risk_env", Path(tempfile.gettempdir()) / f"risk_env-{account}"]
    return [root for root in roots if root.is_absolute()]


@cache
def cache_key(folder: Path) -> str:
    """Return a hash that identifies the compiled code of the kernels in `folder`.

    The hash covers the sources that the kernels may use, the mode, and the versions of Numba and NumPy.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {MODE}".encode())
    for place in sorted({*_CORE_FOLDERS, *_folders_beside(folder)}):
        for source in sorted(place.glob("*.py")):
            digest.update(f"{place.name}/{source.name}".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _folders_beside(folder: Path) -> list[Path]:
    """Return `folder`, and the folders outside the core from which a kernel in `folder` may import kernels.

    If `folder` is part of a package other than risk_env, the result contains the package's other folders with
    kernels.
    """
    if folder.parent == _PACKAGE or not (folder.parent / "__init__.py").is_file():
        return [folder]
    others = [
        other
        for other in folder.parent.iterdir()
        if (other / "__init__.py").is_file() and _has_kernels(other)
    ]
    return [folder, *others]


def _has_kernels(folder: Path) -> bool:
    return any(b"risk_env.compiler" in source.read_bytes() for source in folder.glob("*.py"))


def _is_writable(directory: Path) -> bool:
    """Return True if this process can write into a folder. The folder is created if necessary."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _is_private(directory: Path) -> bool:
    """Return True if `directory` is a folder of this user that nobody else can write to.

    A symbolic link is not allowed. The check is necessary because code in the folder is executed.
    """
    found = directory.lstat()
    is_ours = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & _OTHERS_WRITE)
    return stat.S_ISDIR(found.st_mode) and is_ours
