"""Where compiled code is cached between runs.

Numba's own cache notices a change in the file of a kernel, but not in the files of the kernels it calls. So the cache
folder is named by a hash of all sources, the mode and the versions: stale code is never found.
"""

import hashlib
import os
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numba
import numpy as np

from risk_env.compiler.mode import MODE

_PACKAGE = Path(__file__).parent.parent
_CORE_FOLDERS = [_PACKAGE / name for name in ("compiler", "core", "engine")]


@cache
def cache_directory(folder: Path, module: str) -> str | None:
    """Cache folder of a module in `folder`; None, with a warning, if no folder can be written.

    Each module has its own, because compiled code refers to the name that its module was imported by.
    """
    root = _cache_root()
    directory = root / f"{module}-{cache_key(folder)}" if root else None
    return str(directory) if directory and _is_writable(directory) else None


@cache
def _cache_root() -> Path | None:
    chosen = os.environ.get("RISK_ENV_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    roots = [Path(chosen)] if chosen else [root for root in _usual_roots() if _is_private(root)]
    for root in roots:
        if _is_writable(root):
            return root
    warnings.warn(
        "no folder for compiled code can be written: kernels are compiled again in every process "
        "(set RISK_ENV_CACHE_DIR to a folder that you may write)",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _usual_roots() -> list[Path]:
    """The folder in the user's cache, if the user has a home, and one in the folder of temporary files."""
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(Path("~", ".cache"))
    account = os.getuid() if hasattr(os, "getuid") else "user"
    roots = [Path(user) / "risk_env", Path(tempfile.gettempdir()) / f"risk_env-{account}"]
    return [root for root in roots if root.is_absolute()]


def _is_private(root: Path) -> bool:
    """Whether nobody else can put code into this folder, which is made if it is not there.

    What is in the cache is executed, and others can make folders in that of temporary files.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = root.stat()
    except OSError:
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


@cache
def cache_key(folder: Path) -> str:
    """Hash of the sources that a kernel in `folder` may use, the mode, and the versions of Numba and NumPy."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {MODE}".encode())
    for place in sorted({*_CORE_FOLDERS, *_folders_beside(folder)}):
        for source in sorted(place.glob("*.py")):
            digest.update(f"{place.name}/{source.name}".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _folders_beside(folder: Path) -> list[Path]:
    """The folder and, if it is a sub-package, its package's other folders with kernels, which it may import."""
    if folder.parent == _PACKAGE or not (folder.parent / "__init__.py").is_file():
        return [folder]
    others = [other for other in folder.parent.iterdir() if (other / "__init__.py").is_file() and _has_kernels(other)]
    return [folder, *others]


def _has_kernels(folder: Path) -> bool:
    return any(b"risk_env.compiler" in source.read_bytes() for source in folder.glob("*.py"))


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False
