"""The MCP server with the official client: games of every preset, two clients at one table, refusals."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

from risk_agents.mcp.server import make_server
from risk_env import presets
from tests.examples import example

COMMAND = [sys.executable, "-m", "risk_env", "mcp"]
QUICK = {"max_rounds": 2, "defender_dice": "max", "attack": "blitz"}
answer = example("report_reader").answer

Use = Callable[[Client], Awaitable[Any]]


def using(server: Any, use: Use) -> Any:
    """Return the result of a function of a client of the server."""

    async def run() -> Any:
        async with Client(server) as client:
            return await use(client)

    return asyncio.run(run())


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of a tool's result; raise ValueError with the text of an error."""
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content)
    if result.is_error:
        raise ValueError(text)
    return text


async def begin(client: Client, **arguments: Any) -> tuple[dict[str, Any], str]:
    first, _, report = (await call(client, "new_game", **arguments)).partition("\n")
    return json.loads(first), report


async def play_on(client: Client, token: str, report: str) -> str:
    """Play to the end as the scripted reader does.

    Play `end` or any legal action if the reader has no better answer.
    """
    for _ in range(2000):
        if "OVER" in report:
            return report
        try:
            report = await call(client, "act", token=token, plan=answer(report))
        except ValueError:
            legal = (await call(client, "legal_actions", token=token)).splitlines()
            report = await call(client, "act", token=token, plan="done" if "done" in legal else legal[-1])
    raise AssertionError("the game has not ended")


@pytest.fixture(scope="module")
def http() -> Iterator[str]:
    """Return the address of a server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*COMMAND, "--http", "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize("preset", presets())
def test_a_client_plays_a_whole_game_of_every_preset(preset: str) -> None:
    async def use(client: Client) -> str:
        others = ["random"] if preset == "two_player" else ["random", "random"]
        game, report = await begin(client, preset=preset, opponents=others, options=QUICK, seed=1)
        return await play_on(client, game["token"], report)

    assert "question to nobody: OVER" in using(make_server(), use)


def test_the_command_serves_over_standard_input_and_output() -> None:
    async def use(client: Client) -> str:
        game, report = await begin(client, board="tiny", opponents=["random"], options=QUICK, seed=1)
        return await play_on(client, game["token"], report)

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert "OVER" in using(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment), use)


def test_two_clients_at_one_table_do_not_see_each_others_cards(http: str) -> None:
    async def use(client: Client) -> None:
        async with Client(http) as other:
            rules = {**QUICK, "max_rounds": 4}
            game, _ = await begin(client, board="tiny", opponents=["open"], options=rules, seed=2)
            seats = list(zip((client, other), (game["token"], game["open_seats"]["P1"]), strict=True))
            hands = set()
            while "OVER" not in (reports := [await call(c, "report", token=token) for c, token in seats])[0]:
                hands.add(tuple(re.search("Your cards: (.*)", report)[1] for report in reports))
                asked = int(re.search(r"question to P(\d)", reports[0])[1])
                (player, token), (idle, idle_token) = seats[asked], seats[1 - asked]
                with pytest.raises(ValueError, match=f"P{asked} decides now"):
                    await call(idle, "act", token=idle_token, plan="end")
                assert not await call(idle, "legal_actions", token=idle_token)
                legal = (await call(player, "legal_actions", token=token)).splitlines()
                plan = answer(reports[asked]) if "draft" in legal[0] else legal[-1]
                await call(player, "act", token=token, plan=plan)
            assert len(hands) > 1 and any(mine != theirs for mine, theirs in hands)

    using(http, use)


def test_odds_rules_history_and_resources_are_there() -> None:
    async def use(client: Client) -> None:
        game, _ = await begin(client, opponents=["grower", "grower"], seed=1)
        assert await call(client, "odds", attackers=4, defenders=2) == "65.6 %"
        assert (
            json.loads((await call(client, "rules", preset="capital")).splitlines()[0])["victory"]
            == "headquarters"
        )
        first = await call(client, "history", token=game["token"])
        following = int(first.rpartition("next: ")[2])
        assert (
            following
            and await call(client, "history", token=game["token"], since=following) == f"next: {following}"
        )
        board = json.loads((await client.read_resource("risk://map/classic")).contents[0].text)
        assert len(board["territories"]) == 42 and len(board["borders"]) == 166
        choices = json.loads((await client.read_resource("risk://choices")).contents[0].text)
        assert "open" in choices["opponents"] and "classic" in choices["presets"]
        assert "How to answer" in (await client.read_resource("risk://rules/classic")).contents[0].text

    using(make_server(), use)


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("new_game", {"options": {"num_players": 3}}, "is the number of opponents"),
        ("new_game", {"options": {"max_rounds": 1001}}, "max_rounds=1001: must be at most 1000 on"),
        ("new_game", {"preset": "chess"}, "preset='chess' is unknown"),
        ("new_game", {"opponents": ["cmd:rm -rf /"]}, "choose one of open"),
        ("new_game", {"opponents": ["evil.py:Bot"]}, "choose one of open"),
        ("new_game", {"opponents": ["random"], "board": "/etc/passwd"}, "'/etc/passwd' is not a shipped map"),
        ("new_game", {"opponents": ["random"], "board": "random:1:territories=65"}, "at most 64 territories"),
        ("new_game", {"opponents": ["random"], "seat": 2}, "seat=2: must be a whole number from 0 to 1"),
        ("report", {"token": "guessed"}, "unknown game token"),
        ("act", {"token": "guessed", "plan": "end"}, "unknown game token"),
        ("odds", {"attackers": 10**9, "defenders": 1}, "must be from 1 to 100,000"),
    ],
)
def test_what_is_wrong_is_said(tool: str, arguments: dict[str, Any], problem: str) -> None:
    async def use(client: Client) -> None:
        with pytest.raises(ValueError, match=problem):
            await call(client, tool, **arguments)

    using(make_server(), use)


def test_an_illegal_plan_changes_nothing_and_says_what_is_legal() -> None:
    async def use(client: Client) -> None:
        game, report = await begin(client, opponents=["random"], seed=3)
        with pytest.raises(ValueError, match="legal: deploy"):
            await call(client, "act", token=game["token"], plan="deploy Atlantis")
        assert await call(client, "report", token=game["token"]) == report

    using(make_server(), use)


def test_a_client_ends_no_game_of_another(monkeypatch: Any) -> None:
    from risk_agents.mcp import games as limits

    monkeypatch.setattr(limits, "MOST_GAMES", 8)
    monkeypatch.setattr(limits, "MOST_OF_CLIENT", 5)
    games = limits.OpenGames()

    def begun(client: str) -> str:
        return games.begin("classic", ["open"], board="tiny", client=client)[0]

    mine = begun("192.0.2.1")
    theirs = [begun("192.0.2.9") for _ in range(20)]
    assert games.report(mine) and games.report(theirs[-1])
    with pytest.raises(ValueError, match="unknown game token"):
        games.report(theirs[0])
    for number in range(2):
        begun(f"192.0.2.{number + 2}")
    with pytest.raises(ValueError, match="all 8 games of the server are in use"):
        begun("192.0.2.7")
    monkeypatch.setattr(limits, "IDLE", 0.0)
    games.report(mine)
    assert games.report(begun("192.0.2.7")) and games.report(mine)


def test_a_game_that_makes_room_is_closed(monkeypatch: Any) -> None:
    from risk_agents.mcp import games as limits

    monkeypatch.setattr(limits, "MOST_OF_CLIENT", 1)
    monkeypatch.setattr(limits, "MOST_GAMES", 2)
    games, closed = limits.OpenGames(), list[Any]()

    def close(table: Any) -> None:
        assert not games._lock.locked()
        closed.append(table)
        raise OSError("stuck")

    monkeypatch.setattr(limits.OpenGame, "close", close)
    tables = []
    for client in "aab":
        token = games.begin("classic", ["open"], board="tiny", client=client)[0]
        tables.append(games._seats[token][0])
    assert closed == tables[:1]
    with pytest.raises(ValueError, match="all 2 games of the server are in use"):
        games.begin("classic", ["open"], board="tiny", client="c")
    assert len(closed) == 2 and closed[1] not in tables


def test_a_plan_that_waits_for_a_game_that_ends_is_refused(monkeypatch: Any) -> None:
    from risk_agents.mcp import games as limits

    monkeypatch.setattr(limits, "MOST_OF_CLIENT", 1)
    games = limits.OpenGames()
    token = games.begin("classic", ["open"], board="tiny")[0]
    table = games._seats[token][0]

    class EndsMeanwhile:
        def __enter__(self) -> None:
            if table in {found for found, _ in games._seats.values()}:
                games.begin("classic", ["open"], board="tiny")

        def __exit__(self, *_: Any) -> None:
            pass

    table.lock = EndsMeanwhile()
    with pytest.raises(ValueError, match="unknown game token"):
        games.act(token, "end")


def test_a_game_and_its_history_are_bounded(monkeypatch: Any) -> None:
    from risk_agents.mcp import games as limits

    monkeypatch.setattr(limits, "MOST_DECISIONS", 60)
    games = limits.OpenGames()
    options = QUICK | {"max_rounds": 100, "setup": "random"}
    tokens = games.begin("classic", ["open"], board="tiny", seed=1, options=options)
    token = tokens[0]
    with pytest.raises(ValueError, match="has reached the limit of 60 decisions: start another game"):
        for _ in range(100):
            asked = next(one for one in tokens.values() if games.legal_actions(one))
            games.act(asked, games.legal_actions(asked)[-1])
    assert "question to" in games.report(token)
    lines, following = games.history(token)
    monkeypatch.setattr(limits, "LONGEST_HISTORY", 900)
    told, since = list[str](), 0
    while since < following:
        some, since = games.history(token, since)
        told += some
        assert sum(map(len, some)) <= 900
    assert len(told) >= len(lines) > 3 and "".join(told).split()[:2] == "".join(lines).split()[:2]


def test_a_client_that_begins_many_sessions_locks_nobody_out() -> None:
    from starlette.testclient import TestClient

    from risk_agents.mcp.server import make_app

    facts = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": facts}
    headers = {"accept": "application/json, text/event-stream"}
    with TestClient(make_app(["game.example"]), base_url="http://game.example") as client:  # type: ignore[arg-type]
        answers = [client.post("/mcp", json=hello, headers=headers) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {200}
        assert not any("mcp-session-id" in answer.headers for answer in answers)  # nothing stays open


def test_foreign_pages_and_host_names_are_refused() -> None:
    from starlette.testclient import TestClient

    from risk_agents.mcp.server import make_app

    with TestClient(make_app(["game.example"]), base_url="http://game.example") as client:  # type: ignore[arg-type]
        hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert client.post("/mcp", json=hello).status_code not in (403, 421)
        assert client.post("/mcp", json=hello, headers={"host": "evil.example"}).status_code == 400
        assert client.post("/mcp", json=hello, headers={"origin": "http://evil.example"}).status_code == 403
        assert client.post("/mcp", content=b"x" * 200_000).status_code in (400, 413)
