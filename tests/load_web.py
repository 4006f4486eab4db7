"""Many live games at a time: `python -m tests.load_web --games 100 --watchers 100 --seconds 60`.

A server plays games of six bots, each watched by connections. A frame is late if the time since the frame
before exceeds the pace of the games. Then the server is killed (SIGKILL) and started again: every frame that
a viewer had seen must still be there, and the games must continue.

`--unread`, `--half-open` and `--blitzes` add hostile clients: viewers that do not read, connections that send
nothing, and games and analyses with the largest allowed armies.
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
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from risk_agents.web.browser_table import PACE

BOTS = ("grower", "breaker", "hunter", "attacker", "planner", "beam")
RULES = {"setup": "random", "attack": "blitz", "defender_dice": "max", "max_rounds": 300}
WISH = {"preset": "classic", "map": "classic", "players": BOTS, "options": RULES}
LIMIT = 300.0  # seconds for the server to start, and for a connection to be answered
LONGEST_MESSAGE = 1 << 26
BETWEEN = 0.005  # seconds between the first attempts of two watchers to connect
AGAIN = 1.0  # seconds until a watcher connects again, as in play.js
OTHERS = "127.0.0.2"  # the address from which hostile clients come
LARGEST = 9_990  # troops on each side of a blitz
BLITZ = f"""risk_env game 1
rules: preset=classic, num_players=2, attack=blitz, defender_dice=max
map: tiny
phase: attack
[territories]
Ash: 0, {LARGEST}
Birch: 0
Cedar: 1, {LARGEST}
Dune: 1
Ember: 1
Flint: 1
"""
FIRST = 4  # number of messages of a game before the measurement, when its bots are loaded


class Watcher:
    """A connection that watches a game, with the game's frames and the times of its messages."""

    def __init__(self, address: str, game: str) -> None:
        self.address = f"{address.replace('http', 'ws')}/game/{game}/live"
        self.frames: list[Any] = []
        self.times: list[float] = []
        self.losses = 0  # connections that were refused or closed before the game began
        self.delays: list[float] = []  # seconds until the server answered a ping

    async def watch(self, wait: float, begun: asyncio.Barrier, seconds: float) -> None:
        """Connect after `wait` seconds. Watch for `seconds` when the games of all watchers have begun."""
        await asyncio.sleep(wait)
        async with asyncio.timeout(LIMIT):
            link = await self._connected()
        async with link:
            await begun.wait()
            self.times.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await asyncio.gather(self._read(link), self._ping(link))

    async def _connected(self) -> Any:
        """Return a connection to a game that has begun; connect again, as the page does, after a loss."""
        while True:
            try:
                link = await connect(
                    self.address, open_timeout=LIMIT, ping_interval=None, max_size=LONGEST_MESSAGE
                )
                await link.send(json.dumps({"token": "", "have": len(self.frames)}))
                while len(self.times) < FIRST and not self.is_over:
                    await self._take(link)
                return link
            except (OSError, WebSocketException):
                self.losses += 1
                await asyncio.sleep(AGAIN)

    @property
    def is_over(self) -> bool:
        """Return True if the game has ended."""
        return bool(self.frames) and any(event["kind"] == "over" for event in self.frames[-1][1])

    async def _read(self, link: Any) -> None:
        while True:
            await self._take(link)

    async def _take(self, link: Any) -> None:
        """Read messages up to the next one with frames, or raise RuntimeError if one reports a problem."""
        while not (message := json.loads(await link.recv())).get("frames"):
            if message.get("final") or message.get("problem"):
                raise RuntimeError(str(message))
        self.frames += message["frames"]
        if not message["more"]:
            self.times.append(time.perf_counter())

    async def _ping(self, link: Any) -> None:
        while True:
            self.delays.append(await (await link.ping()))
            await asyncio.sleep(1)


def main(argv: Sequence[str] | None = None) -> int:
    """Begin and watch games, kill the server, and check that nothing is lost.

    Return status 1 if a limit is missed.
    """
    arguments = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "games.sqlite"
        with served(file) as (address, server):
            games = [begin(address) for _ in range(arguments.games)]
            with hostile(address, games, arguments) as did:
                before = watched(address, games, arguments.watchers - arguments.unread, arguments.seconds)
            memory = most_memory(server.pid)
            server.send_signal(signal.SIGKILL)
        with served(file) as (address, _server):
            began = time.perf_counter()
            after = watched(address, games, len(before), 1.0)
            restored = time.perf_counter() - began
    lost = [
        old for old, new in zip(before, after, strict=True) if new.frames[: len(old.frames)] != old.frames
    ]
    print_load(arguments, before, len(did))
    again, after_restart = (sum(watcher.losses for watcher in watchers) for watchers in (before, after))
    print(f"connected again after a refusal: {again} times, and {after_restart} times after the restart")
    print(
        f"memory {memory:.0f} MB; killed and open again within {restored:.1f} s; "
        f"{len(lost)} watchers lost frames"
    )
    return int(bool(lost) or lateness(before)[0] > arguments.late or memory > arguments.memory)


def print_load(arguments: argparse.Namespace, watchers: Sequence[Watcher], blitzes: int) -> None:
    """Print the number of games and clients, and how late the messages were."""
    late, delays = lateness(watchers)
    messages = sum(len(watcher.times) for watcher in watchers)
    print(
        f"{arguments.games} games, {len(watchers)} watchers, {arguments.seconds:g} s: "
        f"{messages} messages with frames"
    )
    print(f"late by {1000 * late:.0f} ms at most; a ping is answered within {1000 * delays:.0f} ms (99 %)")
    print(
        f"hostile clients: {arguments.unread} do not read, {arguments.half_open} are half open, "
        f"{blitzes} blitzes"
    )


def most_memory(process: int) -> float:
    """Return the peak megabytes of a process and its child processes, such as the analyst."""
    folder = Path(f"/proc/{process}")
    peak = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmHWM"))
    children = [int(child) for found in folder.glob("task/*/children") for child in found.read_text().split()]
    return int(peak.split()[1]) * 1024 / 1e6 + sum(map(most_memory, children))


def lateness(watchers: Sequence[Watcher]) -> tuple[float, float]:
    """Return the delay of the latest frame, and the 99 % quantile of the ping times, in seconds."""
    gaps = np.concatenate([np.diff(watcher.times) for watcher in watchers])
    delays = np.concatenate([watcher.delays for watcher in watchers])
    return max(float(gaps.max()) - PACE, 0.0), float(np.quantile(delays, 0.99))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests.load_web", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--games", type=int, default=100, metavar="N", help="number of simultaneous games (default: 100)")
    add("--watchers", type=int, default=100, metavar="N", help="connections that watch (default: 100)")
    add("--seconds", type=float, default=60.0, metavar="S", help="seconds of watching (default: 60)")
    add(
        "--late",
        type=float,
        default=0.25,
        metavar="S",
        help="largest delay of a frame in seconds (default: 0.25)",
    )
    add(
        "--memory",
        type=float,
        default=500.0,
        metavar="MB",
        help="most memory of the server in MB (default: 500)",
    )
    add("--unread", type=int, default=30, metavar="N", help="connections that do not read (default: 30)")
    add(
        "--half-open",
        type=int,
        default=1000,
        metavar="N",
        help="connections that send nothing (default: 1000)",
    )
    add(
        "--blitzes",
        type=int,
        default=20,
        metavar="N",
        help="number of blitzes of the largest armies (default: 20)",
    )
    return parser


@contextlib.contextmanager
def hostile(address: str, games: Sequence[str], arguments: argparse.Namespace) -> Iterator[list[int]]:
    """Run hostile clients from another address and yield a list that collects the blitzes that are done."""
    open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, open_files[1]), open_files[1]))
    with contextlib.ExitStack() as stack:
        for number in range(arguments.half_open):
            stack.enter_context(
                contextlib.closing(connected(address, number % 2 * "GET / HTTP/1.1\r\nHost: "))
            )
        for number in range(arguments.unread):
            stack.enter_context(contextlib.closing(unread(address, games[number % len(games)])))
        did: list[int] = []
        blitzing = threading.Thread(target=blitz, args=(address, arguments.blitzes, did))
        blitzing.start()
        yield did
        blitzing.join()


def connected(address: str, words: str = "") -> socket.socket:
    """Return a connection that has sent some words."""
    host, _, port = address.removeprefix("http://").partition(":")
    link = socket.create_connection((host, int(port)), timeout=LIMIT, source_address=(OTHERS, 0))
    with contextlib.suppress(OSError):
        link.sendall(words.encode())
    return link


def unread(address: str, game: str) -> socket.socket:
    """Return a connection that watches a game, but reads only the first reply."""
    host = address.removeprefix("http://")
    link = connected(address)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    key = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        + "A" * 22
        + "=="
    )
    link.sendall(f"GET /game/{game}/live HTTP/1.1\r\nHost: {host}\r\n{key}\r\n\r\n".encode())
    if not link.recv(16).startswith(b"HTTP/1.1 101"):
        raise RuntimeError("a viewer that does not read was not let in")
    link.sendall(bytes([0x81, 0x82, 0, 0, 0, 0]) + b"{}")  # a masked text frame
    return link


def blitz(address: str, count: int, did: list[int]) -> None:
    """Play blitzes of the largest armies, alternately in games of bots and on the analysis board."""
    for number in range(count):
        with contextlib.suppress(OSError):
            if number % 2:
                wish = {
                    "preset": "classic",
                    "map": "tiny",
                    "players": ["attacker", "attacker"],
                    "position": BLITZ,
                }
                asked(address, "games", wish)
            else:
                board = asked(address, "analysis/node", {"position": BLITZ})
                action = next(
                    choice["action"] for choice in board["question"]["legal"] if choice["kind"] == "attack"
                )
                asked(address, "analysis/node", {"position": BLITZ, "action": action})
                asked(address, "analysis/chances", {"position": BLITZ})  # the analyst's memory counts
            did.append(number)


@contextlib.contextmanager
def served(file: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server in a separate process, and kill it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "risk_env", "serve", "--port", str(port), "--database", str(file)]
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
    """Begin a new game and return its name."""
    return str(asked(address, "games", WISH)["game"])


def asked(address: str, name: str, wish: dict[str, Any]) -> dict[str, Any]:
    """Return the reply of the server."""
    request = urllib.request.Request(f"{address}/api/{name}", json.dumps(wish).encode())
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def watched(address: str, games: Sequence[str], count: int, seconds: float) -> list[Watcher]:
    """Return connections to the games in turn, after they have watched."""
    watchers = [Watcher(address, games[k % len(games)]) for k in range(count)]

    async def all_together() -> None:
        begun = asyncio.Barrier(count)
        await asyncio.gather(
            *(watcher.watch(BETWEEN * number, begun, seconds) for number, watcher in enumerate(watchers))
        )

    asyncio.run(all_together())
    return watchers


if __name__ == "__main__":
    sys.exit(main())
