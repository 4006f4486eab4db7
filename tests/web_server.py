"""A server of the web page for tests: in this process, with a client for it or at an address."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from risk_agents.serving.connections import make_server
from risk_agents.web import app as web
from risk_agents.web.browser_table import PREPARING
from risk_agents.web.game_store import GameStore
from risk_agents.web.lobby import Lobby

HERE = {"origin": "http://testserver"}
WISH = {"preset": "classic", "map": "tiny", "players": ["human", "human"], "options": {"setup": "random"}}


@contextmanager
def client(folder: Path, **options: Any) -> Iterator[TestClient]:
    """Open a client of a server in this process.

    Its attribute `lobby` holds the games.
    """
    lobby = Lobby(GameStore(folder / "games.sqlite"), **options)
    with TestClient(web.make_app(lobby, ["testserver"])) as server:
        server.lobby = lobby
        yield server


def begun(server: TestClient, **changes: Any) -> dict[str, Any]:
    """Begin a new game and return its name and secrets."""
    return posted(server, "/api/games", WISH | changes)


def posted(server: TestClient, address: str, wish: Any) -> dict[str, Any]:
    """Return the reply of the server."""
    answer = server.post(address, json=wish, headers=HERE)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(server: TestClient, address: str, wish: Any) -> str:
    """Return the error with which the server refuses a request."""
    answer = server.post(address, json=wish, headers=HERE)
    assert answer.status_code == 400, answer.text
    return answer.json()["error"]


@contextmanager
def seated(server: TestClient, game: str, token: str, have: int = 0) -> Iterator[Any]:
    """Open a socket of the seat with this secret."""
    with server.websocket_connect(f"/game/{game}/live", headers=HERE) as socket:
        socket.send_json({"token": token, "have": have})
        yield socket


def frames(socket: Any) -> list[Any]:
    """Return all available frames, from all messages."""
    received: list[Any] = []
    while True:
        message = socket.receive_json()
        received += message["frames"]
        if not message["more"]:
            return received


def stopped(socket: Any) -> str:
    """Return the reason why the game of a socket has stopped."""
    while (problem := socket.receive_json().get("problem") or PREPARING) == PREPARING:
        pass
    return str(problem)


def question(socket: Any) -> dict[str, Any]:
    """Return the next decision of a socket's seat."""
    while True:
        message = socket.receive_json()
        if message.get("question"):
            return message["question"]


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[tuple[str, Lobby]]:
    """Run a server and yield its address and its games."""
    lobby = Lobby(GameStore(folder / "games.sqlite"))
    server = make_server(web.make_app(lobby, []), "127.0.0.1", port, log_level="error")
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield address, lobby
    finally:
        server.should_exit = True
        thread.join(10)
