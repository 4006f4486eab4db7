"""How processes are started: Python's import nothing from the working folder, and speak UTF-8.

The folder in which a user calls a command is not a place for modules: a file `random.py` there is not Python's.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_OURS = "risk_env"  # the value of PYTHONSAFEPATH that is ours, and not the user's
_lock = Lock()


@contextmanager
def safe_start() -> Iterator[None]:
    """A `with` block in which Python processes start that find no modules in the working folder."""
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
    """The environment variables of a program that is not ours: in UTF-8, and its modules are where Python looks."""
    ours = {"PYTHONIOENCODING"} | ({"PYTHONSAFEPATH"} if os.environ.get("PYTHONSAFEPATH") == _OURS else set())
    return {name: value for name, value in os.environ.items() if name not in ours} | {"PYTHONUTF8": "1"}
