"""Makes `risk_env/Risk-v0` known to Gymnasium without importing it: at once where it is loaded, else as soon as it is.

Gymnasium has had no entry points for environments since 1.0, and takes longer to import than all of this package.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ID = "risk_env/Risk-v0"
HOME = "risk_env.doors.gymnasium_env"
GYMNASIUM = "gymnasium"


def announce() -> None:
    """Register now if Gymnasium is loaded, else when it is."""
    if GYMNASIUM in sys.modules:
        register(sys.modules[GYMNASIUM])
    elif not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


def register(gymnasium: Any) -> None:
    """Let `gymnasium.make` and `gymnasium.make_vec` know the environment."""
    registry = getattr(gymnasium, "registry", None)  # None in the middle of its own import
    if registry is not None and ID not in registry:
        gymnasium.register(ID, entry_point=f"{HOME}:RiskEnv", vector_entry_point=f"{HOME}:RiskVectorEnv")


class _Waiting(MetaPathFinder):
    """Waits on `sys.meta_path` until Gymnasium is imported, not only looked for, and leaves."""

    def __init__(self) -> None:
        self._is_asking = False

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Gymnasium's own spec, whose loader registers when it is done; None for every other module."""
        if fullname != GYMNASIUM or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(GYMNASIUM)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
