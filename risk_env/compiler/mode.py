"""How the kernels run in this process, and where those of this package are."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numba

JIT_DISABLED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
BOUNDS_CHECKED = bool(numba.config.BOUNDSCHECK)  # type: ignore[attr-defined]

_CORE = ("risk_env.core.", "risk_env.engine.")  # what counts as the core: its kernels make no arrays and index from 0


def is_core(module: str) -> bool:
    """Whether a module's kernels are of the core or the engine."""
    return module.startswith(_CORE)


@contextmanager
def numba_setting(name: str, value: Any) -> Any:
    """Change one of Numba's settings for a moment, and for nothing else in this process."""
    before = getattr(numba.config, name)
    setattr(numba.config, name, value)
    try:
        yield
    finally:
        setattr(numba.config, name, before)
