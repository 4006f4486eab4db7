"""Environment variables of child processes: no imports from the working directory, and UTF-8 text.

A file `random.py` in the directory in which a user runs a command must not replace Python's module `random`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_OURS = "risk_env"  # value of PYTHONSAFEPATH that this module sets
_lock = Lock()


@contextmanager
def safe_start() -> Iterator[None]:
    """Keep Python processes that start inside the `with` block from importing from the working directory."""
    with _lock:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = before or _OURS
        try:
            yield
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before


def environment_of_programs() -> dict[str, str]:
    """Return the user's environment variables for another program, with Python's UTF-8 mode.

    PYTHONSAFEPATH has the user's value, or is left out. PYTHONIOENCODING is left out.
    """
    ours = {"PYTHONIOENCODING"} | ({"PYTHONSAFEPATH"} if os.environ.get("PYTHONSAFEPATH") == _OURS else set())
    return {name: value for name, value in os.environ.items() if name not in ours} | {"PYTHONUTF8": "1"}
