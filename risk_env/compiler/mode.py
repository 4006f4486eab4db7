"""The mode in which kernels run in this process."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from typing import Any

import numba

# versions of Numba with which the use of private classes was tested
TESTED = ("0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")

JIT_DISABLED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
BOUNDS_CHECKED = bool(numba.config.BOUNDSCHECK)  # type: ignore[attr-defined]

_STRICT = ("risk_env.core.", "risk_env.engine.", "risk_agents.scripted.")


def plain_reason(version: str, setting: str) -> str:
    """Return the reason to use only Numba's public interface, or "" if there is no reason.

    `version` is Numba's version, `setting` the value of RISK_ENV_PLAIN_NUMBA.
    """
    if setting not in ("", "0"):
        return f"RISK_ENV_PLAIN_NUMBA={setting} is set"
    if ".".join(version.split(".")[:2]) not in TESTED:
        return f"Numba {version} is untested; tested: {TESTED[0]} to {TESTED[-1]}"
    return ""


_REASON = plain_reason(numba.__version__, os.environ.get("RISK_ENV_PLAIN_NUMBA", ""))
# True: kernels are compiled with Numba's public interface only. The results are the same; kernels are slower.
PLAIN = bool(_REASON)

# settings that change compiled code
MODE = (BOUNDS_CHECKED, PLAIN, str(numba.config.OPT))  # type: ignore[attr-defined]

if PLAIN and not JIT_DISABLED:
    warnings.warn(
        f"{_REASON}: kernels are compiled by plain numba.njit and are slower; the results are the same",
        RuntimeWarning,
        stacklevel=2,
    )


def is_strict(module: str) -> bool:
    """Return True if a module belongs to the core, the engine or the scripted bots.

    The kernels of these modules make no arrays on the heap and use no negative index.
    """
    return module.startswith(_STRICT)


@contextmanager
def numba_setting(name: str, value: Any) -> Any:
    """Change one of Numba's settings inside a `with` block, for this process only."""
    before = getattr(numba.config, name)
    setattr(numba.config, name, value)
    try:
        yield
    finally:
        setattr(numba.config, name, before)
