"""Common parts of all tests: no screen, the modes, and the settings of hypothesis.

The suite runs compiled. The tests marked `modes` also run in three modes. All of them run with
NUMBA_DISABLE_JIT=1 in `make test`. Tests of single games run with NUMBA_BOUNDSCHECK=1 in `make test`, and all
of them in `make long`. Some run with RISK_ENV_PLAIN_NUMBA=1 in `make long`. With the JIT off the kernels are
Python code, so hypothesis tries fewer examples there.

The tests marked `interpreted` need kernels that only tests use. In `make test` they run only with the JIT
off, so that these kernels need not be compiled. `make long` runs them compiled.
"""

import gc
import os
import random
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from risk_env.compiler import PLAIN

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("MPLBACKEND", "Agg")


def switched_on(variable: str) -> bool:
    """Return True if a switch is on in the process environment."""
    return os.environ.get(variable, "0") not in ("", "0")


def mode() -> str:
    """Return how the kernels run: "interpreted", "bounds-checked", "plain" or "compiled"."""
    if switched_on("NUMBA_DISABLE_JIT"):
        return "interpreted"
    if switched_on("NUMBA_BOUNDSCHECK"):
        return "bounds-checked"
    return "plain" if PLAIN else "compiled"


QUIET = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("compiled", **QUIET, max_examples=100)
settings.register_profile("plain", **QUIET, max_examples=50)
settings.register_profile("bounds-checked", **QUIET, max_examples=50)
settings.register_profile("interpreted", **QUIET, max_examples=10)
settings.load_profile(mode())


def pytest_report_header() -> str:
    """Return a line for the heading of the run that tells how the kernels run."""
    return f"kernels: {mode()}"


def pytest_collection_finish() -> None:
    """Leave what was imported out of later searches for unused objects, which saves time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _same_seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make seeds that a test leaves open depend on the test's name alone: its games are always the same."""
    monkeypatch.setattr(secrets, "randbits", random.Random(request.node.nodeid).getrandbits)


@pytest.fixture(scope="session")
def kernel_mode() -> str:
    """Mode of this run, as `mode` names it."""
    return mode()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium for the tests of a module."""
    from tests.browser import opened_browser  # playwright is not installed for the quick tests

    with opened_browser() as found:
        yield found
