"""Where compiled code is kept between runs.

Numba's own cache notices a change in the file of a kernel, not in the files of the kernels it calls. So the folder of
the cache is named by a hash of all sources, of the mode and of the compiler's version: stale code is never found.
"""

import hashlib
import os
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numba
import numpy as np

from risk_env.compiler.mode import BOUNDS_CHECKED

_PACKAGE = Path(__file__).parent.parent
_CORE_FOLDERS = [_PACKAGE / name for name in ("compiler", "core", "engine")]


@cache
def cache_directory(folder: Path, module: str) -> str | None:
    """Folder of the compiled code of a module in `folder`; None (and a warning) if none can be written.

    A module has its own: compiled code knows the name its module was imported by.
    """
    name = f"{module}-{cache_key(folder)}"
    for root in _cache_roots():
        directory = root / name
        if _writable(directory):
            return str(directory)
    warnings.warn(
        "no folder for compiled code can be written: kernels are compiled anew in every process "
        "(set RISK_ENV_CACHE_DIR to a folder that you may write)",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("RISK_ENV_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    account = os.getuid() if hasattr(os, "getuid") else "user"
    return [Path(user) / "risk_env", Path(tempfile.gettempdir()) / f"risk_env-{account}"]


@cache
def cache_key(folder: Path) -> str:
    """Hash of the sources that a kernel in `folder` may use, of the bounds-check mode and of the versions."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {BOUNDS_CHECKED}".encode())
    for place in sorted({*_CORE_FOLDERS, *_folders_beside(folder)}):
        for source in sorted(place.glob("*.py")):
            digest.update(f"{place.name}/{source.name}".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _folders_beside(folder: Path) -> list[Path]:
    """The folder and, where it is a sub-package, the others of its package that hold kernels: it may use theirs."""
    if folder.parent == _PACKAGE or not (folder.parent / "__init__.py").is_file():
        return [folder]
    others = [other for other in folder.parent.iterdir() if (other / "__init__.py").is_file() and _has_kernels(other)]
    return [folder, *others]


def _has_kernels(folder: Path) -> bool:
    return any(b"risk_env.compiler" in source.read_bytes() for source in folder.glob("*.py"))


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False
