"""The first game of `play`, which begins before the code of the game is compiled.

The compilation of the rules and the bots takes a minute or more. The first game therefore runs with the JIT
off, and a second process compiles all code for later games. Compiled and uncompiled code plays the same
games.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from risk_agents.registry import HUMAN
from risk_env import bots
from risk_env.children import safe_start
from risk_env.compiler import JIT_DISABLED, cache_root, lacks_code
from risk_env.core import entry

# Modules of bots that take at most about a second per turn on the classic map without compiled code
FAST = ("risk_agents.scripted.", "risk_agents.search.planner")
RULES = (entry.set_up_game, entry.step_game)  # the largest entry points of a single game
LOCK = "compiling.lock"  # file in the cache folder that the compiling process locks
LOWEST_PRIORITY = 19


def must_wait(players: Sequence[str]) -> bool:
    """Return True if a game would wait for compilation, but can also be played without compiled code.

    All players must be people, or bots that are fast without compiled code.
    """
    names = {name for name in players if name != HUMAN}
    if JIT_DISABLED or os.name != "posix" or not names <= set(bots.names()):
        return False
    chosen = [bots.find(name) for name in sorted(names)]
    if not all(
        isinstance(bot, bots.CompiledBot) and bot.choose.__module__.startswith(FAST) for bot in chosen
    ):
        return False
    return any(map(lacks_code, (*RULES, *(bot.choose for bot in chosen))))


def is_command_line(argv: Sequence[str]) -> bool:
    """Return True if this process was started as the command `play` with the arguments `argv`.

    A program that calls the command as a function must not be replaced.
    """
    return sys.argv[1:][-len(argv) - 1 :] == ["play", *argv]


def play_uncompiled(argv: Sequence[str]) -> NoReturn:
    """Replace this process with `play` and the arguments `argv`, with the JIT off.

    Another process compiles the rules and all bots meanwhile.
    """
    with safe_start():
        subprocess.Popen(
            [sys.executable, "-m", "risk_agents.play.uncompiled"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
        os.execve(sys.executable, [sys.executable, "-m", "risk_env", "play", *argv], environment)


def compile_for_later() -> None:
    """Compile the rules and all bots at the lowest priority, unless another process already does so."""
    import fcntl  # not on Windows

    from risk_env import compiling

    root = cache_root()
    if root is None:
        return
    os.nice(LOWEST_PRIORITY)
    with Path(root, LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for _part in compiling.compile_parts(compiling.stages(with_players=True)):
            pass


if __name__ == "__main__":
    compile_for_later()
