"""Many live games at a time: `python -m tests.load_web --games 100 --watchers 100 --seconds 60`.

A server plays games of six bots, each watched by browsers' connections. A frame is late by how much longer than the
games' pace it comes after the one before. Then the server is killed (SIGKILL) and started again: every frame that
anybody had seen must be there, and the games go on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

from risk_agents.web.table import PACE

BOTS = ("grower", "breaker", "hunter", "attacker", "planner", "beam")
RULES = {"setup": "random", "attack": "blitz", "defender_dice": "max", "max_rounds": 300}
WISH = {"preset": "classic", "map": "classic", "players": BOTS, "options": RULES}
LIMIT = 300.0  # seconds for the server to start, and for a connection to be answered
LONGEST_MESSAGE = 1 << 26
FIRST = 4  # messages of a game before the measurement: its bots have been loaded then


class Watcher:
    """A connection that watches a game: its frames, and when each message came."""

    def __init__(self, address: str, game: str) -> None:
        self.address = f"{address.replace('http', 'ws')}/game/{game}/live"
        self.frames: list[Any] = []
        self.times: list[float] = []
        self.delays: list[float] = []  # seconds until the server answered a ping

    async def watch(self, begun: asyncio.Barrier, seconds: float) -> None:
        """Watch for some seconds after all have seen their games begin."""
        async with connect(self.address, open_timeout=LIMIT, ping_interval=None, max_size=LONGEST_MESSAGE) as link:
            await link.send(json.dumps({"token": "", "have": 0}))
            async with asyncio.timeout(LIMIT):
                while len(self.times) < FIRST and not self.is_over:
                    await self._take(link)
            await begun.wait()
            self.times.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await asyncio.gather(self._read(link), self._ping(link))

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.frames) and any(event["kind"] == "over" for event in self.frames[-1][1])

    async def _read(self, link: Any) -> None:
        while True:
            await self._take(link)

    async def _take(self, link: Any) -> None:
        """Take messages up to the next one with frames; RuntimeError for one that reports a problem."""
        while not (message := json.loads(await link.recv())).get("frames"):
            if "refused" in message or message.get("problem"):
                raise RuntimeError(str(message))
        self.frames += message["frames"]
        self.times.append(time.perf_counter())

    async def _ping(self, link: Any) -> None:
        while True:
            self.delays.append(await (await link.ping()))
            await asyncio.sleep(1)


def main(argv: Sequence[str] | None = None) -> int:
    """Begin the games, watch them, kill the server, and look at what is left; the status is 1 if a limit is missed."""
    arguments = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "games.sqlite"
        with served(file) as (address, server):
            games = [begin(address) for _ in range(arguments.games)]
            before = watched(address, games, arguments.watchers, arguments.seconds)
            server.send_signal(signal.SIGKILL)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6  # the most that it took
        with served(file) as (address, _server):
            began = time.perf_counter()
            after = watched(address, games, len(before), 1.0)
            restored = time.perf_counter() - began
    lost = [old for old, new in zip(before, after, strict=True) if new.frames[: len(old.frames)] != old.frames]
    late, delays = lateness(before)
    messages = sum(len(watcher.times) for watcher in before)
    print(f"{arguments.games} games, {len(before)} watchers, {arguments.seconds:g} s: {messages} messages with frames")
    print(f"late by {1000 * late:.0f} ms at most (99 %); a ping is answered within {1000 * delays:.0f} ms (99 %)")
    print(f"memory {memory:.0f} MB; killed and open again within {restored:.1f} s; {len(lost)} watchers lost frames")
    return int(bool(lost) or late > arguments.late or memory > arguments.memory)


def lateness(watchers: Sequence[Watcher]) -> tuple[float, float]:
    """Seconds by which 99 % of the frames are late at most, and within which 99 % of the pings are answered."""
    gaps = np.concatenate([np.diff(watcher.times) for watcher in watchers])
    delays = np.concatenate([watcher.delays for watcher in watchers])
    return float(np.quantile(np.maximum(gaps - PACE, 0), 0.99)), float(np.quantile(delays, 0.99))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests.load_web", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--games", type=int, default=100, metavar="N", help="games that are played at a time (default: 100)")
    add("--watchers", type=int, default=100, metavar="N", help="connections (default: 100)")
    add("--seconds", type=float, default=60.0, metavar="S", help="how long they watch (default: 60)")
    add(
        "--late", type=float, default=0.25, metavar="S", help="seconds that 99 %% of frames may be late (default: 0.25)"
    )
    add("--memory", type=float, default=1000.0, metavar="MB", help="memory that the server may take (default: 1000)")
    return parser


@contextlib.contextmanager
def served(file: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of its own process; it is killed in the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "risk_env", "serve", "--port", str(port), "--games", str(file)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _await(address, server)
        yield address, server
    finally:
        server.kill()
        server.wait()


def _await(address: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + LIMIT
    while time.monotonic() < until and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api/games"):
            return
        time.sleep(0.05)
    raise RuntimeError("the server has not started")


def begin(address: str) -> str:
    """A new game; its name."""
    request = urllib.request.Request(f"{address}/api/games", json.dumps(WISH).encode())
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["game"])


def watched(address: str, games: Sequence[str], count: int, seconds: float) -> list[Watcher]:
    """Connections to the games in turn, after they have watched."""
    watchers = [Watcher(address, games[k % len(games)]) for k in range(count)]

    async def all_at_once() -> None:
        begun = asyncio.Barrier(count)
        await asyncio.gather(*(watcher.watch(begun, seconds) for watcher in watchers))

    asyncio.run(all_at_once())
    return watchers


if __name__ == "__main__":
    sys.exit(main())
