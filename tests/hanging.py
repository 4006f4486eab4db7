"""Tasks for workers that hang or fail."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.jobs import play_and_store
from risk_agents.tournament.schedule import Chunk


def stop_once(mark: Path, number: int) -> int:
    """Return the number. The first call of all creates the mark and stops its process for ever."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return number
    time.sleep(0.5)  # so that the task is seen running
    os.kill(os.getpid(), signal.SIGSTOP)
    return -1


def link(
    state: npt.NDArray[np.int64], number: int, mark: Path | None = None, how: str = "", seconds: float = 0
) -> tuple[int, npt.NDArray[np.int64]]:
    """Return the result of one link of a chain, and the state plus 1.

    The result is `number` plus the sum of the state. With `how` "raise", the link raises an error. With
    "stop" or "end", the first call of all, which creates the mark, stops or ends its process.
    """
    time.sleep(seconds)
    if how == "raise":
        raise ArithmeticError(number)
    if mark is not None and not mark.exists():
        if how == "stop":
            stop_once(mark, number)
        mark.touch()
        os._exit(1)
    return number + int(state.sum()), state + 1


def store_and_stop_once(config: TournamentConfig, path: str, chunk: Chunk) -> float:
    """Call `play_and_store`. The first call of all stops its process for ever after one stored game."""
    play_and_store(config, path, chunk[:1])
    stop_once(Path(path).with_suffix(".stopped"), 0)
    return play_and_store(config, path, chunk)


def loop(seconds: float) -> None:
    """Keep the process busy for `seconds`."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def large(bits: int, given: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[np.generic]]:
    """Return arrays of some MB, and the given array plus 1."""
    return {
        "bits": np.full(1 << bits, 7, np.uint8),
        "records": np.ones(1000, [("a", "i4"), ("b", "f8", 500)]),
        "given": given + 1,
    }


def refuse(text: str) -> None:
    """Raise an error that cannot be pickled."""

    class HereError(Exception):
        pass

    raise HereError(text)


def place(seconds: float) -> str:
    """Return the node of the Ray cluster, after `seconds`."""
    import ray

    time.sleep(seconds)
    return str(ray.get_runtime_context().get_node_id())


def put() -> tuple[object, int]:
    """Return a value in Ray's object store, and the process that owns it."""
    import ray

    return ray.put(None), os.getpid()
