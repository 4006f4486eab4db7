"""Hostile clients of the web server and of MCP: errors name the cause, and other clients are not affected."""

import asyncio
import http.client
import json
import logging
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from risk_agents.program import ProgramFault
from risk_agents.serving import connections, hosts, rates
from risk_agents.web import analyst, app, browser_table, game_store, lobby, work_process
from risk_agents.web.analyst import Analyst
from risk_agents.web.browser_request import Refused
from risk_agents.web.cli import main as serve
from risk_agents.web.game_store import GameStore, NotKept
from risk_env import Game
from tests.web_server import (
    HERE,
    WISH,
    begun,
    client,
    frames,
    posted,
    question,
    refused,
    seated,
    served,
    stopped,
)

BOTS = {
    "players": ["random", "random"],
    "options": {"setup": "random", "attack": "blitz", "defender_dice": "max"},
}


# ------------------------------------------------------------------------------------------------ host names


@pytest.mark.parametrize(
    ("host", "address", "allowed"),
    [
        ("testserver", "testserver", True),
        ("localhost:8642", "127.0.0.1", True),
        ("127.0.0.1:8642", "127.0.0.1", True),
        ("192.168.1.5", "192.168.1.5", True),
        ("[::1]:8642", "::1", True),
        ("[::1]", "::1", True),
        ("192.168.1.5", "::ffff:192.168.1.5", True),
        ("game.example", "127.0.0.1", True),
        ("GAME.example", "127.0.0.1", True),
        ("evil.example", "127.0.0.1", False),
        ("192.168.1.6", "192.168.1.5", False),
        ("localhost.evil.example", "127.0.0.1", False),
        ("localhost@evil.example", "127.0.0.1", False),
        ("[::1", "::1", False),
        ("", "127.0.0.1", False),
        ("*", "127.0.0.1", False),
    ],
)
def test_only_named_hosts_are_served(host: str, address: str, allowed: bool) -> None:
    names = hosts.served_names("0.0.0.0", ["testserver", "game.example"])
    assert (status(names, address, [("host", host)]) == 200) is allowed
    assert status(names, address, [("host", host), ("origin", "http://evil.example")]) in (400, 403)
    assert (status(names, address, [("host", host), ("origin", f"http://{host}")]) == 200) is allowed


@pytest.mark.parametrize(
    "origin", ["null", "http://[", "http://[::1", "//", "http://localhost:1", "\xff", "javascript:0", ""]
)
def test_odd_origins_are_refused(origin: str) -> None:
    assert status(["localhost"], "127.0.0.1", [("host", "localhost"), ("origin", origin)]) == 403
    assert status(["localhost"], "127.0.0.1", [("host", "localhost")] * 2) == 400
    assert status(["localhost"], "127.0.0.1", []) == 400


def status(names: list[str], address: str, headers: list[tuple[str, str]]) -> int:
    """Return the status of the response to a request, or 200 if the request is passed on."""
    found: list[Any] = []

    async def passed(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def send(message: Any) -> None:
        found.append(message)

    scope: Any = {"type": "http", "server": (address, 80), "method": "GET", "path": "/"}
    scope["headers"] = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    asyncio.run(hosts.NamedHosts(passed, names)(scope, None, send))  # type: ignore[arg-type]
    return int(found[0]["status"])


@pytest.mark.parametrize("name", ["*", "*.example", "a b", "", "http://a", "a/b", "-"])
def test_a_pattern_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="must be a host name or an address"):
        serve(["--host", "0.0.0.0", "--allowed-host", name, "--allow-programs"])


def test_the_address_of_a_page_is_written_as_browsers_read_it() -> None:
    assert hosts.url("::1", 80, "game/x") == "http://[::1]:80/game/x"
    assert hosts.url("127.0.0.1", 8642) == "http://127.0.0.1:8642/"


# ----------------------------------------------------------------------------------------- rates, connections


def test_requests_of_an_address_are_limited(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(app, "BURST", 5)
    monkeypatch.setattr(app, "MOST_REQUESTS", 0.001)
    with client(tmp_path) as server:
        answers = [server.get("/api/options").status_code for _ in range(8)]
        assert answers == [200] * 5 + [429] * 3
        assert "Too many requests" in server.post("/api/games", json=WISH, headers=HERE).json()["error"]
        with pytest.raises(WebSocketDisconnect):
            server.websocket_connect("/game/x/live", headers=HERE).__enter__()
        other = TestClient(server.app, client=("203.0.113.9", 1), base_url="http://testserver")
        assert other.get("/api/options").status_code == 200


def test_a_forged_address_evades_no_limit(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(app, "BURST", 3)
    monkeypatch.setattr(app, "MOST_REQUESTS", 0.001)
    with served(tmp_path) as (address, _lobby):
        answers = []
        for number in range(5):
            link = http.client.HTTPConnection(address.removeprefix("http://"), timeout=20)
            link.request("GET", "/api/options", headers={"X-Forwarded-For": f"192.0.2.{number}"})
            answers.append(link.getresponse().status)
            link.close()
        assert answers == [200] * 3 + [429] * 2


def test_an_address_of_version_6_counts_with_its_subscriber() -> None:
    assert rates.network_of(("2001:db8::1", 1)) == rates.network_of(("2001:db8::ffff", 2)) == "2001:db8::"
    assert rates.network_of(("::ffff:192.0.2.1", 1)) == rates.network_of(("192.0.2.1", 7)) == "192.0.2.1"
    assert rates.network_of(None) == "" and rates.network_of(("testclient", 1)) == "testclient"


@contextmanager
def connected(address: str, count: int, source: str = "127.0.0.2") -> Iterator[list[socket.socket]]:
    """Return silent connections from an address of their own."""
    port, found = int(address.rpartition(":")[2]), []
    try:
        for _ in range(count):
            link = socket.socket()
            found.append(link)
            link.bind((source, 0))
            link.settimeout(20)
            link.connect(("127.0.0.1", port))
        yield found
    finally:
        for link in found:
            link.close()


def test_half_open_connections_lock_nobody_out(tmp_path: Path) -> None:
    from urllib.request import urlopen

    with served(tmp_path) as (address, _lobby), connected(address, 300) as links:
        time.sleep(1)
        assert urlopen(f"{address}/api/options", timeout=30).status == 200
        for link in links[: 300 - connections.MOST_WAITING_OF_ADDRESS]:
            assert ended(link)
        for part in (b"GET / HTTP/1.1\r\n", f"Host: {address[7:]}\r\n\r\n".encode()):
            links[-1].sendall(part)
        assert links[-1].recv(15) == b"HTTP/1.1 200 OK"


def ended(link: socket.socket) -> bool:
    """Return True if the server has closed a connection."""
    try:
        return link.recv(1) == b""
    except ConnectionError:
        return True


def test_unfinished_requests_and_unread_answers_are_given_up(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 1.0)
    monkeypatch.setattr(connections, "STALLED", 1.0)
    with served(tmp_path) as (address, _lobby), connected(address, 4) as (silent, slow, body, unread):
        host = f"Host: {address[7:]}\r\n".encode()
        slow.sendall(b"GET / HT")
        body.sendall(b"POST /api/games HTTP/1.1\r\n" + host + b"Content-Length: 100000\r\n\r\n{")
        unread.sendall((b"GET /static/replay.js HTTP/1.1\r\n" + host + b"\r\n") * 3000)  # 30 MB of answers
        time.sleep(4)
        for link in (silent, slow, body):
            assert ended(link)
        assert unread.fileno() > 0 and sum(map(len, iter(lambda: received(unread), b""))) < 20_000_000


def received(link: socket.socket) -> bytes:
    """Return received bytes; none at the end."""
    try:
        return link.recv(1 << 16)
    except ConnectionError:
        return b""


def test_a_log_is_bounded() -> None:
    written: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(record.getMessage())

    logger, handler = logging.getLogger("flooded"), Handler()
    handler.addFilter(connections.FewRecords())
    logger.addHandler(handler)
    for number in range(1000):
        logger.warning("line %s", number)
    assert len(written) == connections.MOST_RECORDS and "omitted" in written[-1]


def test_a_viewer_that_does_not_read_is_dropped(monkeypatch: Any) -> None:
    monkeypatch.setattr(app, "SENDING", 0.2)

    class Stuck:
        async def send_text(self, text: str) -> None:
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(app._send(Stuck(), "x"))  # type: ignore[arg-type]


def test_frames_come_in_pieces() -> None:
    many = ["x" * 100] * 5000
    sent, pieces = 0, []
    while sent < len(many):
        pieces.append(browser_table.next_frames(many, sent))
        sent += len(pieces[-1])
    assert sent == len(many) and all(sum(map(len, piece)) <= browser_table.PIECE for piece in pieces)
    assert (
        browser_table.next_frames(["y" * 10**6, "z"], 0) == ["y" * 10**6]
        and browser_table.next_frames([], 0) == []
    )


# ------------------------------------------------------------------------------------------------ games


def test_armies_that_are_absurd_are_refused(tmp_path: Path) -> None:
    attack = (
        "risk_env game 1\nrules: preset=classic, num_players=2, attack=blitz\n"
        "map: tiny\nphase: attack\n[territories]\n"
    )
    attack += "Ash: 0, 200000\nBirch: 0\nCedar: 1, 200000\nDune: 1\nEmber: 1\nFlint: 1\n"
    with client(tmp_path) as server:
        large = BOTS | {"options": {"setup": "random", "initial_troops": 30_000}}
        assert "allows at most 20000" in refused(server, "/api/games", WISH | large)
        assert "400004 troops" in refused(server, "/api/games", WISH | {"position": attack})
        for name in ("node", "chances"):
            assert "400004 troops" in refused(server, f"/api/analysis/{name}", {"position": attack})
        assert server.lobby.tables == {}


def test_a_game_that_grows_too_long_is_stopped(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(browser_table, "MOST_BYTES", 3000)
    with client(tmp_path) as server:
        begin = begun(server, **BOTS)
        server.lobby.tables[begin["game"]].set_pace(0)
        with seated(server, begin["game"], "") as watching:
            assert "more than 3000 bytes" in stopped(watching)


@pytest.mark.parametrize("player", ["cmd:true", "cmd:/nowhere", "cmd:echo {}", "nothing.py:Bot"])
def test_an_agent_that_cannot_be_made_is_refused(tmp_path: Path, player: str) -> None:
    with client(tmp_path, allow_programs=True) as server:
        assert "cannot play" in refused(server, "/api/games", WISH | {"players": ["human", player]})
        assert server.get("/api/games").json() == []


def test_unwatched_games_make_room_and_go_on_when_they_are_opened(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(lobby, "MOST_GAMES", 2)
    with client(tmp_path) as server:
        first, second, third = (begun(server, **BOTS)["game"] for _ in range(3))
        assert list(server.lobby.tables) == [second, third]
        with seated(server, first, "") as one, seated(server, second, "") as two:
            assert one.receive_json()["facts"] and two.receive_json()["facts"]
            assert set(server.lobby.tables) == {first, second}
            listed = server.get("/api/games").json()
            assert "2 other games are watched" in refused(server, "/api/games", WISH)
            assert [entry["game"] for entry in server.get("/api/games").json()] == [
                entry["game"] for entry in listed
            ]
            assert set(server.lobby.tables) == {first, second}


def test_growing_games_keep_to_the_bound_of_all_games(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(lobby, "MOST_BYTES", 20_000)
    with client(tmp_path) as server:
        first, second, third = (begun(server, **BOTS)["game"] for _ in range(3))
        tables = {name: server.lobby.tables[name] for name in (first, second, third)}
        with seated(server, second, "") as one, seated(server, third, "") as two:
            assert one.receive_json()["facts"] and two.receive_json()["facts"]
            for playing in tables.values():
                playing.set_pace(0)
            until = time.monotonic() + 90
            while time.monotonic() < until and not tables[second].problem and not tables[third].problem:
                time.sleep(0.02)
            problem = tables[second].problem or tables[third].problem
            assert problem == "The game was stopped: all open games together take more than 20000 bytes."
            assert first not in server.lobby.tables and tables[first].is_closed
            assert sum(playing.bytes for playing in server.lobby.tables.values()) < 40_000


def test_programs_that_leave_slowly_keep_nobody_waiting(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(lobby, "MOST_GAMES", 1)
    left = threading.Event()
    with client(tmp_path) as server:
        first = begun(server, **BOTS)["game"]
        closing_table = server.lobby.tables[first]
        monkeypatch.setattr(closing_table, "close", lambda: left.wait(20))
        assert begun(server, **BOTS)["game"] in server.lobby.tables
        assert closing_table.is_closed and not left.is_set()
        began = time.monotonic()
        with seated(server, first, "") as watching:
            assert watching.receive_json()["facts"]
        assert time.monotonic() - began < 15
        left.set()


def test_kept_games_that_open_slowly_keep_no_new_one_waiting(tmp_path: Path, monkeypatch: Any) -> None:
    released = threading.Event()

    def slow(name: str) -> Any:
        released.wait(20)
        raise Refused(name)

    with client(tmp_path) as server:
        monkeypatch.setattr(server.lobby, "_restored", slow)
        opening = [
            server.portal.start_task_soon(server.lobby.table, f"kept {k}") for k in range(lobby.OPENERS + 1)
        ]
        assert begun(server)["game"] in server.lobby.tables
        assert not any(one.done() for one in opening)
        released.set()
        assert [str(one.exception()) for one in opening] == [f"kept {k}" for k in range(len(opening))]


def test_a_page_is_told_to_connect_again_while_too_many_kept_games_open(
    tmp_path: Path, monkeypatch: Any
) -> None:
    with client(tmp_path) as server:
        game = begun(server)["game"]
    monkeypatch.setattr(lobby, "MOST_OPENING", 0)
    with client(tmp_path) as server, seated(server, game, "") as watching:
        message = watching.receive_json()
        assert message["refused"] == "the server is busy: try again soon" and message["final"] is False
        with pytest.raises(WebSocketDisconnect) as closed:
            watching.receive_json()
        assert closed.value.code == app.TRY_AGAIN_LATER


# ---------------------------------------------------------------------------------------- games that are kept


def test_a_game_waits_while_it_cannot_be_kept_and_goes_on(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(browser_table, "AGAIN", 0.05)
    with client(tmp_path) as server:
        begin = begun(server)
        playing = server.lobby.tables[begin["game"]]
        with seated(server, begin["game"], begin["tokens"][playing.game.seat]) as mine:
            now = question(mine)
            monkeypatch.setattr(playing, "_keep", full(playing._keep, 5))
            mine.send_json({"action": now["legal"][0]["action"], "decision": now["decision"]})
            while not (message := mine.receive_json()).get("problem"):
                pass
            assert "cannot be saved now: database or disk is full" in message["problem"]
            while mine.receive_json().get("problem"):
                pass
        assert playing.problem == playing.notice == "" and len(playing.game.actions) >= 1
        assert server.lobby.store.load(begin["game"])[1] == list(playing.game.actions)


def full(add: Any, times: int) -> Any:
    """Return a method that fails some times, as on a full disk."""
    left = [None] * times

    def failing(*arguments: Any) -> None:
        if left:
            left.pop()
            raise NotKept("database or disk is full")
        add(*arguments)

    return failing


def test_a_full_file_keeps_nothing_half(tmp_path: Path) -> None:
    with closing(GameStore(tmp_path / "games.sqlite")) as kept:
        kept.add_game("a", {"x": 1}, [1, 2])
        (pages,) = kept._database.execute("PRAGMA page_count").fetchone()
        kept._database.execute(f"PRAGMA max_page_count={pages}")
        for _ in range(2):
            with pytest.raises(NotKept, match="full"):
                kept.add_game("b", {"x": "y" * 20_000}, range(3))
        with pytest.raises(NotKept, match="full"):
            for number in range(2, 10_000):
                kept.add_action("a", number, 0)
        kept._database.execute(f"PRAGMA max_page_count={2 * pages}")
        kept.add_action("a", number, 0)
        kept.add_action("a", number, 0)  # once more, where it was not known that it had been kept
        found = kept.load("a")
        assert found is not None and len(found[1]) == number + 1 and kept.load("b") is None


def test_a_closed_game_keeps_nothing_more(tmp_path: Path) -> None:
    with closing(GameStore(tmp_path / "games.sqlite")) as kept:
        kept.add_game("a", {})
        with pytest.raises(NotKept, match="closed"):
            kept.add_action("a", 0, 5, lambda: False)
        assert kept.load("a") == ({}, [])
    with pytest.raises(NotKept):
        kept.add_action("a", 0, 5)


def test_a_file_of_games_that_has_grown_too_large_takes_no_new_ones(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(game_store, "MOST_BYTES", 1)
    with client(tmp_path) as server:
        assert "more than 1 bytes" in refused(server, "/api/games", WISH)


def test_a_file_of_games_belongs_to_one_server(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    with closing(GameStore(path)) as first:
        with pytest.raises(ValueError, match="another process uses the file"):
            GameStore(path)
        first.add_game("a", {})
    with closing(GameStore(path)) as again:
        assert again.games(9) == (["a"], "")


def test_a_damaged_file_of_games_harms_no_lobby(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        games = [begun(server, **BOTS)["game"] for _ in range(3)]
    content, rng, path = (
        (tmp_path / "games.sqlite").read_bytes(),
        random.Random(0),
        tmp_path / "x" / "games.sqlite",
    )
    path.parent.mkdir()
    opened = 0
    for _ in range(60):
        changed = bytearray(content)
        for _ in range(rng.choice((1, 3, 30))):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        path.write_bytes(changed)
        for rest in path.parent.glob("*-*"):
            rest.unlink()
        try:
            kept = lobby.Lobby(GameStore(path))
        except ValueError:
            continue
        opened += 1
        listed = kept._listed()
        assert all(set(entry) - {"mode", "begun"} == {"game", "names", "state"} for entry in listed)
        for game in games:
            try:
                kept._restored(game).close()
            except ValueError:
                pass
        kept.close()
    assert opened > 20


def test_missing_actions_are_damage(tmp_path: Path) -> None:
    with closing(GameStore(tmp_path / "games.sqlite")) as kept:
        kept.add_game("a", {}, [1, 2, 3])
        kept._database.execute("DELETE FROM actions WHERE number = 1")
        with pytest.raises(ValueError, match="missing"):
            kept.load("a")
        kept._database.execute("UPDATE games SET facts = CAST(x'ff' AS TEXT)")
        with pytest.raises(ValueError, match="UTF-8"):
            kept.load("a")
    with client(tmp_path) as server:
        (entry,) = server.get("/api/games").json()
        assert entry["names"] == [] and entry["state"].startswith("damaged")
        assert begun(server)["game"]


# ------------------------------------------------------------------------------------------------ analysis


class Process:
    """Stand-in for the analysis process, which answers at once, or too late for the browser."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        self.is_alive, self.limits = True, []
        processes.append(self)

    def request(self, question: dict[str, Any], limit: float) -> dict[str, Any]:
        self.limits.append((question["type"], question["position"] == THEIRS, limit))
        if question["type"] == "slow" and question["position"] == THEIRS:
            self.is_alive = False
            raise ProgramFault("time", "no answer within 20 s")
        return {"result": 1}


processes: list[Process] = []
THEIRS, OTHERS = (Game("classic", board, seed=1).to_text() for board in ("classic", "tiny"))


def test_no_question_of_a_browser_ever_gets_the_time_to_compile(monkeypatch: Any) -> None:
    monkeypatch.setattr(work_process, "Program", Process)
    processes.clear()
    asked = Analyst()
    for _ in range(3):
        with pytest.raises(ValueError, match="no answer"):
            asked.request({"type": "slow", "position": THEIRS, "bot": "random"})
    first = [("slow", False, analyst.FIRST_LIMIT), ("prepare", True, analyst.FIRST_LIMIT)]
    assert [process.limits for process in processes] == [[*first, ("slow", True, analyst.LIMIT)]] * 3


def test_an_analysis_prepares_its_agent_for_each_map(monkeypatch: Any) -> None:
    monkeypatch.setattr(work_process, "Program", Process)
    processes.clear()
    asked = Analyst()
    for position in (THEIRS, OTHERS, THEIRS, OTHERS):
        asked.request({"type": "chances", "position": position, "bot": "random"})
    kinds = [kind for kind, _theirs, _limit in processes[0].limits]
    assert kinds == ["chances", "prepare", "chances", "prepare", *["chances"] * 3]
    with pytest.raises(ValueError, match="line 1"):
        asked.request({"type": "chances", "position": "nonsense", "bot": "random"})
    prepare = {"type": "prepare", "position": OTHERS, "agent": "random"}
    assert work_process.reply_to(prepare, analyst.METHODS) == {"result": None}


# ------------------------------------------------------------------------------------------------ what is odd


ODD = (
    *(
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b"NaN",
        b'{"a":' * 3000,
        b"[" * 100_000,
        b"1" * 5000,
        b'"\\ud800"',
    ),
    *(b'{"position":"\\ud800"}', b'{"position":"","action":1e400}', b'{"attackers":1e999,"defenders":1}'),
    b'{"attackers":' + b"9" * 4000 + b',"defenders":1}',
    b'{"game":"\\ud800","frame":' + b"9" * 400 + b',"token":"\\ud800"}',
    b'{"preset":"\\ud800","map":"\\ud800","players":["human"]}',
    b'{"preset":"classic","map":"tiny","players":["human","human"],"names":["\\ud800","\\u202e"]}',
    b'{"preset":"classic","map":"tiny","players":["human","human"],"options":{"initial_troops":'
    + b"9" * 400
    + b"}}",
)


def test_no_body_is_an_error_of_the_server(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(app, "BURST", 10_000)

    def result(_self: Analyst, request: dict[str, Any]) -> Any:
        return work_process.reply_to(request, analyst.METHODS).get("result")

    monkeypatch.setattr(Analyst, "request", result)
    names = ("games", "moment", *(f"analysis/{name}" for name in ("node", "chances", "plans", "odds")))
    with client(tmp_path) as server:
        for address in (f"/api/{name}" for name in names):
            for body in ODD:
                answer = server.post(address, content=body, headers=HERE)
                assert answer.status_code in (200, 400), (address, body[:80], answer.text)
        for path in (
            "/game/%ff",
            "/game/a%00b",
            "/static/%2e%2e",
            "/%",
            "/api",
            "/api/games/",
            "//",
            "/game/" + "x" * 5000,
            "/mode/%ff?map=%00",
            "/mode/classic?map=" + "x" * 5000,
            "/mode/classic?map=tiny&map=%2e%2e",
        ):
            assert server.get(path).status_code < 500
        for method in ("PUT", "DELETE", "TRACE", "OPTIONS", "HEAD", "BREW"):
            assert server.request(method, "/api/games").status_code < 500
        assert all(isinstance(entry["state"], str) for entry in server.get("/api/games").json())


@pytest.mark.parametrize(
    "message",
    [
        *(
            {"bytes": b"x"},
            {"text": "\ud800"},
            {"text": '{"token": ["x"]}'},
            {"text": '{"token": "\\ud800"}'},
        ),
        *({"text": '{"have": 1e999}'}, {"text": "NaN"}, {"text": "[" * 4000}, {"text": "9" * 4090}),
        *({"text": '{"have": -5}'}, {"text": f'{{"have": {"9" * 400}}}'}, {"text": ""}),
    ],
)
def test_no_first_message_is_an_error_of_the_server(tmp_path: Path, message: dict[str, Any]) -> None:
    with client(tmp_path) as server:
        game = begun(server)["game"]
        with server.websocket_connect(f"/game/{game}/live", headers=HERE) as link:
            link.send({"type": "websocket.receive", **message})
            assert {"facts", "refused"} & link.receive_json().keys()
        for name in ("%ff", "a%00b", "\u202e", "x" * 3000):
            with server.websocket_connect(f"/game/{name}/live", headers=HERE) as link:
                link.send_json({})
                assert link.receive_json()["refused"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"action": 1.5, "decision": 0}',
            '{"action": "1", "decision": 0}',
            '{"action": null}',
            '{"action": true}',
        ),
        *('{"pace": "x"}', '{"pace": null}', '{"pace": []}', f'{{"pace": {"9" * 400}}}'),
        f'{{"action": {"9" * 400}, "decision": 0}}',
    ],
)
def test_no_message_is_an_error_of_the_server(tmp_path: Path, text: str) -> None:
    with client(tmp_path) as server:
        begin = begun(server)
        with seated(server, begin["game"], begin["tokens"][0]) as mine:
            mine.send_text(text)
            while "refused" not in mine.receive_json():
                pass


@pytest.mark.parametrize("more", [{"compose": True}, {"command": "undo"}])
def test_composing_is_for_the_seat_that_decides_and_limited(
    tmp_path: Path, monkeypatch: Any, more: dict[str, Any]
) -> None:
    monkeypatch.setattr(browser_table, "Composition", None)  # nothing is copied for an unknown client
    with client(tmp_path) as server:
        begin = begun(server)
        table = server.lobby.tables[begin["game"]]
        for token in ("", begin["owner"], begin["tokens"][1 - table.game.seat]):
            with seated(server, begin["game"], token) as link:
                for _ in range(3):
                    link.send_json({"decision": 0, "action": 0, **more})
                    while "refused" not in (told := link.receive_json()):
                        pass
                    assert told["refused"] == "it is no longer your decision"


def test_many_viewers_and_a_flood_of_begun_games_leave_the_server_fast(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, **BOTS)
        for _ in range(20):
            with seated(server, begin["game"], "") as watching:
                assert watching.receive_json()["facts"] and frames(watching)
        assert server.lobby.tables[begin["game"]].viewers == 0
        assert json.dumps(posted(server, "/api/games", WISH | BOTS))
