"""Registers `risk_env/Risk-v0` with Gymnasium without importing Gymnasium: now if it is imported, else when it is.

Since version 1.0 Gymnasium finds no environments by entry points, and its import takes longer than that of risk_env.
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
    """Register now if Gymnasium is imported, else when it is."""
    if GYMNASIUM in sys.modules:
        register(sys.modules[GYMNASIUM])
    elif not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


def register(gymnasium: Any) -> None:
    """Register the environment for `gymnasium.make` and `gymnasium.make_vec`."""
    registry = getattr(gymnasium, "registry", None)  # None while Gymnasium is being imported
    if registry is not None and ID not in registry:
        gymnasium.register(ID, entry_point=f"{HOME}:RiskEnv", vector_entry_point=f"{HOME}:RiskVectorEnv")


class _Waiting(MetaPathFinder):
    """Stays on `sys.meta_path` until Gymnasium is imported (not only searched for), then removes itself."""

    def __init__(self) -> None:
        self._is_searching = False

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Gymnasium's spec, with a loader that registers after loading; None for every other module."""
        if fullname != GYMNASIUM or self._is_searching:
            return None
        self._is_searching = True
        try:
            spec = importlib.util.find_spec(GYMNASIUM)
        finally:
            self._is_searching = False
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
