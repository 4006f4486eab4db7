"""The page: a server that decides everything, browsers that see only their seats' facts, saved games."""

import json
import random
import socket
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from risk_env.saved_game import SavedGame

pytest.importorskip("starlette")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from risk_agents.game_files import save_game
from risk_agents.web.browser_table import Setting
from risk_agents.web.cli import main as serve
from risk_agents.web.game_store import GameStore
from risk_env import Game, Rules, load_map, presets
from risk_env.core.types import Phase
from tests.browser import DESKTOP, PHONE, TABLET, opened_page, violations
from tests.test_table_page import ASKED, WATCH_BOARD, Hand
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

POSITION = Game(Rules.preset("classic", 2, setup="random"), "tiny", seed=5).to_text()


# ----------------------------------------------------------------------------------------------- what is seen


def test_a_browser_gets_only_what_its_seat_may_see(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, preset="secret_mission", map="classic", players=["human"] * 3)
        table = server.lobby.tables[begin["game"]]
        for seat, token in enumerate(begin["tokens"]):
            with seated(server, begin["game"], token) as socket:
                facts, seen = socket.receive_json()["facts"], frames(socket)
            assert facts["seat"] == seat and facts["start"]["mission"] == int(table.game.record.mission[seat])
            told = [event["seat"] for _, events in seen for event in events if event["kind"] == "mission"]
            assert told == [seat]
            assert not any(
                secret in json.dumps([facts, seen]) for secret in (*begin["tokens"], begin["owner"])
            )
        with seated(server, begin["game"], "") as socket:
            facts = socket.receive_json()["facts"]
            assert facts["seat"] == -1 and "mission" not in facts["start"]


def test_a_game_on_a_random_map_is_kept(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, map="random:7:territories=12", players=["human"] * 3)
        assert server.lobby.tables[begin["game"]].game.board == load_map("random:7:territories=12")
    with client(tmp_path) as server, seated(server, begin["game"], "") as socket:
        assert len(socket.receive_json()["facts"]["map"]["territories"]) == 12


def test_a_game_begins_with_a_position_and_is_kept(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, position=POSITION, players=["human", "human"])
        game = server.lobby.tables[begin["game"]].game.copy()
        assert game.public() == Game.from_text(POSITION).public()
    with client(tmp_path) as server, seated(server, begin["game"], "") as socket:
        socket.receive_json()
        assert server.lobby.tables[begin["game"]].game == game


def test_a_number_of_troops_is_one_answer(tmp_path: Path) -> None:
    text = POSITION.partition("[")[0].splitlines()[1:3]
    places = "[territories]\nAsh: 0, 5\nBirch: 0\nCedar: 1\nDune: 1\nEmber: 1\nFlint: 1\n"
    position = "\n".join(
        ["risk_env game 1", *text, "phase: draft_amount", "draft left: 40", "target: Ash", places]
    )
    with client(tmp_path) as server:
        begin = begun(server, position=position, players=["human", "human"])
        game = server.lobby.tables[begin["game"]].game
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
            for wrong, told in (
                ({"troops": 0}, "troops=0: must be from 1 to 40"),
                ({"troops": 7, "x": 1}, "'x' is unknown"),
                ({}, "no action, troops, cards or words"),
                ({"troops": 7, "action": int(game.legal_actions()[0])}, "both action and troops"),
            ):
                socket.send_json(
                    {"decision": question(socket)["decision"] if wrong == {"troops": 0} else 0, **wrong}
                )
                while not (message := socket.receive_json()).get("refused"):
                    pass
                assert told in message["refused"] and game.actions == ()
            socket.send_json({"decision": 0, "troops": 37})
            now = question(socket)
            assert (now["phase"], now["decision"]) == ("DRAFT", len(game.actions)) and len(game.actions) > 1
            assert (game.troops[0], game.record.draft_left) == (42, 3)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("1 / 0", " failed: ZeroDivisionError"),
        ("return -1", " failed: it chose an illegal action"),
        ("error = OSError(); error.kind = 'time'; raise error", " failed: it exceeded its time limit"),
    ],
)
def test_an_agent_that_fails_stops_its_game_and_says_so(tmp_path: Path, act: str, told: str) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(f"from risk_env import Agent\nclass Wrong(Agent):\n    def act(self, view): {act}\n")
    with client(tmp_path, allow_programs=True) as server:
        begin = begun(server, players=[f"{bot}:Wrong", f"{bot}:Wrong"])
        with seated(server, begin["game"], "") as socket:
            assert told in stopped(socket)


def test_nobody_is_asked_before_the_agents_have_prepared(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import pathlib, time\nfrom risk_env import Agent\nclass Slow(Agent):\n"
        "    ready = False\n"
        "    def prepare(self, rules, board):\n"
        "        while not pathlib.Path(__file__ + '.go').exists(): time.sleep(0.01)\n"
        "        self.ready = True\n"
        "    def reset(self, *facts):\n"
        "        if not self.ready: raise RuntimeError\n"
        "    def act(self, view):\n"
        "        if not self.ready: raise RuntimeError\n"
        "        return int(view.legal_actions[0])\n"
    )
    with client(tmp_path, allow_programs=True) as server:
        begin = begun(server, players=["human", f"{bot}:Slow"])
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
            while not (message := socket.receive_json()).get("problem"):
                pass
            assert "preparing" in message["problem"] and message["question"] is None
            assert server.get("/api/games").json()[0]["state"] == "preparing"
            Path(f"{bot}.go").touch()
            for _ in range(7):  # the last answer may not be played yet
                now = question(socket)
                socket.send_json({"action": now["legal"][0]["action"], "decision": now["decision"]})
        table = server.lobby.tables[begin["game"]]
        assert not table.notice and not table.problem and len(table.game.actions) >= 6


def test_only_the_seat_that_is_asked_may_answer_and_only_once(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server)
        table = server.lobby.tables[begin["game"]]
        asked = table.game.seat
        with (
            seated(server, begin["game"], begin["tokens"][asked]) as mine,
            seated(server, begin["game"], begin["tokens"][1 - asked]) as other,
        ):
            now = question(mine)
            action, decision = now["legal"][0]["action"], now["decision"]
            answer = {"action": action, "decision": decision}
            for socket, wrong in (
                (other, answer),
                (mine, answer | {"action": 9999}),
                (mine, answer | {"decision": 7}),
            ):
                socket.send_json(wrong)
                while "refused" not in (message := socket.receive_json()):
                    pass
                assert message["refused"] and len(table.game.actions) == 0
            mine.send_json(answer)
            while not mine.receive_json().get("frames"):
                pass
            assert table.game.actions == (action,)


@pytest.mark.long
def test_a_killed_server_loses_no_action_and_agents_play_on(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, players=["human", "grower"], options={"setup": "random", "max_rounds": 5})
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
            for _ in range(6):
                now = question(socket)
                socket.send_json({"action": now["legal"][0]["action"], "decision": now["decision"]})
            question(socket)
        before = server.lobby.tables[begin["game"]].game.copy()
        kept = server.lobby.store.load(begin["game"])
    assert kept is not None and kept[1] == list(before.actions)
    with client(tmp_path) as server, seated(server, begin["game"], begin["tokens"][0], have=3) as socket:
        (listed,) = server.get("/api/games").json()
        assert listed["game"] == begin["game"] and listed["names"] == ["Player 0", "grower"]
        assert socket.receive_json()["facts"]["seat"] == 0
        seen = frames(socket)
        table = server.lobby.tables[begin["game"]]
        assert table.game == before and len(seen) == len(table.frames[0]) - 3


# -------------------------------------------------------------------------------------------- what is refused


def test_requests_of_other_origins_and_hosts_are_refused(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        assert (
            server.post("/api/games", json=WISH, headers={"origin": "http://evil.example"}).status_code == 403
        )
        assert server.get("/", headers={"host": "evil.example"}).status_code == 400
        game = begun(server)["game"]
        with pytest.raises(WebSocketDisconnect):
            server.websocket_connect(
                f"/game/{game}/live", headers={"origin": "http://evil.example"}
            ).__enter__()
        policy = server.get("/").headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy
        assert (
            server.get("/static/app.py").status_code == server.get("/static/..%2Fapp.js").status_code == 404
        )


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ([], "must be a JSON object with preset, map and players"),
        (WISH | {"preset": "chess"}, "preset='chess'"),
        (WISH | {"map": "/etc/passwd"}, "map='/etc/passwd'"),
        (WISH | {"map": "random:1:territories=65"}, "at most 64 territories"),
        (WISH | {"map": ["random:1"]}, "is not a shipped map"),
        (WISH | {"players": ["human", "cmd:true"]}, "need --allow-programs"),
        (WISH | {"players": ["human", "bot.py:Mine"]}, "need --allow-programs"),
        (WISH | {"players": ["human"] * 9}, "must be a list of at most 6"),
        (WISH | {"names": [7, "b"]}, "names=[7, 'b']: must be 2 strings"),
        (WISH | {"options": {"fortify": "sideways"}}, "fortify"),
        (WISH | {"players": ["human"]}, "num_players"),
        (WISH | {"position": "risk_env position 1\nnonsense"}, "line"),
        (
            WISH | {"position": POSITION, "players": ["human"] * 3},
            "the position has 2 players, but the request has 3",
        ),
        (WISH | {"options": {"x": "y" * 140_000}}, "too long: at most 131072 bytes"),
    ],
)
def test_a_wrong_wish_is_refused_by_name(wish: Any, message: str, tmp_path: Path) -> None:
    with client(tmp_path) as server:
        answer = server.post("/api/games", json=wish, headers=HERE)
        assert answer.status_code == 400 and message in answer.json()["error"]
        assert server.get("/api/games").json() == []  # nothing was begun


# ------------------------------------------------------------------------------------------- moments of games


def finished() -> SavedGame:
    """Return a finished game with missions, played elsewhere."""
    rules = Rules.preset("secret_mission", 3, max_rounds=4, defender_dice="max")
    game, rng = Game(rules, "classic", seed=9, lane=3), random.Random(0)
    while not game.is_over:
        game.step(int(rng.choice(game.legal_actions())))
    return SavedGame.of(game, ("Ann", "Bob", "bot\u202e"))


def moment(game: str, frame: int, token: str = "") -> dict[str, Any]:
    return {"game": game, "frame": frame, "token": token}


def test_a_new_game_from_a_moment_keeps_the_agents(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, players=["human", "grower"])
        there = posted(server, "/api/moment", moment(begin["game"], 0, begin["tokens"][0]))
        assert there["players"] == ["", "grower"]
        name = server.lobby.add_recorded(replace(finished(), players=("Ann", "breaker", "bot.py")))
        assert posted(server, "/api/moment", moment(name, 0))["players"] == ["", "breaker", ""]


def test_a_finished_game_is_gone_on_with_from_any_moment(tmp_path: Path) -> None:
    saved = finished()
    with client(tmp_path) as server:
        name = server.lobby.add_recorded(saved)
        assert server.lobby.add_recorded(saved) == name  # once
        with seated(server, name, "") as socket:
            names, seen = socket.receive_json()["facts"]["names"], frames(socket)
        assert names == ["Ann", "Bob", "bot"]
        battle = next(
            n for n, (_, events) in enumerate(seen) if "battle" in {event["kind"] for event in events}
        )
        opened = posted(server, "/api/moment", moment(name, battle))
        there = Game.from_text(opened["position"])
        past = saved.start()
        for action in saved.actions:
            if past.public() == there.public():
                break
            past.step(action)
        assert [there.hand(s) for s in range(3)] == [past.hand(s) for s in range(3)]
        begin = begun(server, position=opened["position"], players=["human"] * 3)
        assert server.lobby.tables[begin["game"]].game.public() == past.public() != saved.replay().public()
        assert posted(server, "/api/moment", moment(name, len(seen) - 1))["over"]
        for wrong in (
            moment(name, len(seen)),
            moment(name, -1),
            moment(name, 0, "guess"),
            moment("none", 0),
            [],
            {},
        ):
            assert refused(server, "/api/moment", wrong)


def test_the_command_shows_a_recorded_game(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr("risk_agents.serving.connections.run", lambda *given, **options: None)
    file, game = tmp_path / "game.json", Game("classic", seed=5)
    game.step(int(game.legal_actions()[0]))
    save_game(file, SavedGame.of(game, ["grower", "grower", "random"]))
    own = ["--database", str(tmp_path / "games.sqlite"), "--port", "0"]
    serve([*own, "--from", str(file), "--at", "1"])
    address = capsys.readouterr().out.split()[1]
    assert "/game/recorded-" in address and address.endswith("#1")
    with pytest.raises(ValueError, match="contains no game; choose another file"):
        (tmp_path / "none.jsonl").write_text("")
        serve([*own, "--from", str(tmp_path / "none.jsonl")])


def test_an_address_that_cannot_be_served_is_refused_by_name(tmp_path: Path) -> None:
    own = ["--database", str(tmp_path / "games.sqlite")]
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        for wrong, said in (
            (["--port", "70000"], "--port 70000: must be from 0 to 65535"),
            (["--port", "-1"], "--port -1"),
            (["--port", str(port)], f"--port {port}: another program uses this port"),
            (["--host", "203.0.113.9"], "--host 203.0.113.9: the server cannot listen"),
        ):
            with pytest.raises(ValueError, match=said):
                serve([*own, *wrong])
    assert not (tmp_path / "games.sqlite").exists()


def test_a_seat_goes_on_from_what_it_knows_while_the_game_is_played(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(
            server, preset="secret_mission", map="classic", players=["human", "human", "random"], options={}
        )
        server.portal.call(server.lobby.table, begin["game"])
        table, game = server.lobby.tables[begin["game"]], begin["game"]
        assert "wait until the game is over" in refused(server, "/api/moment", moment(game, 0))
        assert "wait until the game is over" in refused(
            server, "/api/moment", moment(game, 0, begin["owner"])
        )
        drawn = [
            posted(server, "/api/moment", moment(game, 0, begin["tokens"][1]))["position"] for _ in range(12)
        ]
        missions = [[Game.from_text(text).mission(seat) for text in drawn] for seat in range(3)]
        assert set(missions[1]) == {table.game.mission(1)}
        assert len(set(missions[0])) > 1 < len(set(missions[2]))
        assert len({Game.from_text(text).record.random for text in drawn}) == len(drawn)


def test_a_moment_does_not_tell_whether_another_seat_is_asked_in_secret(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        position = "risk_env game 1\nrules: preset=classic, num_players=2\nmap: tiny\nphase: trade\nturn: 1\n"
        position += (
            "hand 1: Ash, wild, Birch\n[territories]\n"
            "Ash: 0, 3\nBirch: 0\nCedar: 0\nDune: 1\nEmber: 1\nFlint: 1\n"
        )
        begin = begun(server, position=position)
        wish = moment(begin["game"], 0, begin["tokens"][0])
        drawn = {Game.from_text(posted(server, "/api/moment", wish)["position"]).phase for _ in range(40)}
        assert drawn == {Phase.TRADE, Phase.DRAFT}
        assert (
            "phase: TRADE"
            in posted(server, "/api/moment", moment(begin["game"], 0, begin["tokens"][1]))["position"]
        )


def final_message(server: TestClient, game: str) -> str:
    """Return the message with which a socket for this game is closed at once."""
    with seated(server, game, "") as socket:
        return socket.receive_json()["refused"]


def test_a_file_of_games_starts_no_programs_unasked(tmp_path: Path) -> None:
    rules, program = Rules.preset("classic", 2, setup="random"), f"cmd:touch {tmp_path / 'started'}"
    game = Game(rules, "tiny", seed=1)
    facts, theirs = (
        Setting.new(SavedGame.of(game, players), ["a", "b"]).to_dict()
        for players in (["human", "random"], ["human", program])
    )
    with client(tmp_path) as server:
        server.lobby.store.add_game("theirs", theirs)
        server.lobby.store.add_game("map", facts | {"game": facts["game"] | {"map": "/dev/zero"}})
        server.lobby.store.add_game("odd", {"names": 7})
        server.lobby.store.add_game("names", facts | {"names": ["\x1b[2J", "b"]})
        server.lobby.store.add_game("seats", facts | {"tokens": ["one"]})
        assert "--allow-programs" in final_message(server, "theirs")
        assert "/dev/zero" in final_message(server, "map")
        assert "a saved game of the server must have" in final_message(server, "odd")
        assert "name that is not a valid label" in final_message(server, "names")
        assert "it must have one name and one token, both strings" in final_message(server, "seats")
        listed = {entry["game"]: entry for entry in server.get("/api/games").json()}
        assert (
            listed["names"]["names"] == listed["odd"]["names"] == [] and "damaged" in listed["odd"]["state"]
        )
    assert not (tmp_path / "started").exists()


def test_another_file_is_no_file_of_games(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("something else, long enough to be taken for a header" * 9)
    with pytest.raises(ValueError, match="other"):
        GameStore(tmp_path / "other")


@pytest.mark.parametrize(
    "more",
    [
        "CREATE TRIGGER t AFTER INSERT ON actions BEGIN DELETE FROM games; END",
        "CREATE VIEW v AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
        "CREATE VIRTUAL TABLE v USING fts5(words)",
    ],
)
def test_a_file_of_games_that_could_do_more_is_refused(tmp_path: Path, more: str) -> None:
    GameStore(tmp_path / "games.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "games.sqlite")) as database, database:
        database.execute(more)
    with pytest.raises(ValueError, match="must contain only the tables games and actions"):
        GameStore(tmp_path / "games.sqlite")


def test_a_pace_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server)
        with seated(server, begin["game"], begin["owner"]) as socket:
            socket.send_text('{"pace": "nan"}')
            while "refused" not in (message := socket.receive_json()):
                pass
        assert "number" in message["refused"]


def test_wrong_messages_end_the_socket_and_nothing_else(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server)
        for token, texts in (
            ("wrong", []),
            (begin["tokens"][0], ["[" * 3000]),
            (begin["tokens"][0], ["x" * 5000]),
            (begin["tokens"][0], ["{}"] * 60),
        ):
            with seated(server, begin["game"], token) as socket:
                for text in texts:
                    socket.send_text(text)
                while not (message := socket.receive_json()).get("final"):
                    pass
                assert message["refused"]
        with seated(server, "nosuchgame", "") as socket:
            assert "no such game" in socket.receive_json()["refused"]
        with seated(server, begin["game"], begin["tokens"][0]) as socket:
            assert socket.receive_json()["facts"]


# --------------------------------------------------------------------------------------------- in the browser


def begin_by_hand(page: Any, preset: str, players: list[str], map_name: str = "tiny") -> None:
    page.wait_for_selector("body[data-ready]")
    page.select_option("#preset", preset)
    page.select_option("#map", map_name)
    page.select_option("#count", str(len(players)))
    for seat, player in enumerate(players):
        page.locator("#seats select").nth(seat).select_option(player)
    page.select_option("#attack", "blitz")
    page.get_by_role("button", name="Begin").click()


def play_by_hand(hand: Hand, most: int) -> None:
    """Answer every question by clicks or taps, on the board if possible, until the game is over."""
    page = hand.page
    page.on("dialog", lambda dialog: dialog.accept())
    for _ in range(most):
        page.wait_for_selector('#question[data-asked="true"], #asked:has-text("The game is over.")')
        if "over" in page.locator("#asked").inner_text():
            return
        before = page.evaluate(ASKED)
        answer_by_hand(hand)
        page.wait_for_function(f"before => {ASKED} !== before", arg=before)
    raise AssertionError(f"the game was not over after {most} answers")


def answer_by_hand(hand: Hand) -> None:
    """Answer a question: confirm, a territory or an attack, a number of troops, or the last button."""
    page, attacks, territories = hand.page, hand.legal("attack"), hand.legal("territory")
    if page.locator("[data-command=confirm]").count():
        hand.push(page.locator("[data-command=confirm]"))
    elif attacks:
        source, target = attacks[0]
        hand.at(source)
        hand.aim(target)
    elif territories:
        hand.aim(territories[0][0])
    elif page.locator(".amount [type=submit]").count():
        hand.push(page.locator(".amount [type=submit]"))
    else:
        hand.push(page.locator("#answers button").last)


@pytest.mark.long
def test_a_whole_game_of_three_is_played_by_clicks(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, lobby), opened_page(browser, address) as page:
        begin_by_hand(page, "classic", ["human", "random", "random"])
        page.wait_for_selector("body[data-ready] #board .area")
        page.select_option("#pace", "0")
        play_by_hand(Hand(page, touch=False), 400)
        (table,) = lobby.tables.values()
        assert table.game.is_over and page.locator("#status").inner_text().startswith("Round")


@pytest.mark.long
@pytest.mark.parametrize("size", [DESKTOP, TABLET, PHONE], ids=["mouse", "tablet", "phone"])
@pytest.mark.parametrize("preset", presets())
def test_the_board_stays_in_place_in_a_whole_game_of_every_preset(
    browser: Any, tmp_path: Path, preset: str, size: dict[str, int]
) -> None:
    touch = size != DESKTOP
    wish = {
        "preset": preset,
        "map": "classic" if preset == "basic_training" else "tiny",
        "players": ["human", *["random"] * (1 if preset == "two_player" else 2)],
        "options": {"attack": "blitz", "max_rounds": 1 if touch else 3},
    }
    with (
        served(tmp_path) as (address, lobby),
        opened_page(browser, f"{address}/game/none", size, touch=touch) as page,
    ):
        begin = page.request.post(f"{address}/api/games", data=wish).json()
        (table,) = lobby.tables.values()
        table.set_pace(0)
        page.goto(f"{address}/game/{begin['game']}#token={begin['tokens'][0]}")
        page.wait_for_selector("body[data-ready] #board .area")
        page.evaluate(WATCH_BOARD)
        play_by_hand(Hand(page, touch), 300)
        assert table.game.is_over and page.evaluate("boardShift") == 0


@pytest.mark.long
def test_a_turn_is_played_by_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, lobby), opened_page(browser, address) as page:
        wish = {
            "preset": "capital",
            "map": "classic",
            "players": ["human", "random", "random"],
            "options": {},
        }
        begin = page.request.post(f"{address}/api/games", data=wish).json()
        table = lobby.tables[begin["game"]]
        table.set_pace(0)
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"{address}/game/{begin['game']}#token={begin['tokens'][0]}")
        page.wait_for_selector('#question[data-asked="true"]')
        page.keyboard.press("q")
        for answered in range(12):
            page.wait_for_selector('#question[data-asked="true"]')
            before = page.evaluate(ASKED)
            assert page.evaluate("document.getElementById('question').contains(document.activeElement)")
            for _ in range(answered % 3):
                page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('#answers button')"):
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("q")
                page.keyboard.press("Enter")
            page.wait_for_function(f"before => {ASKED} !== before", arg=before)
        assert len(table.game.actions) >= 6


def test_two_browsers_play_and_a_reload_loses_nothing(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, lobby), opened_page(browser, address) as first:
        begin_by_hand(first, "secret_mission", ["human", "human", "random"], "classic")
        first.locator("#invitations a").nth(1).wait_for()
        links = [link.get_attribute("href") for link in first.locator("#invitations a").all()]
        assert len(links) == 2
        with opened_page(browser, address + links[1]) as second:
            first.goto(address + links[0])
            for page in (first, second):
                page.wait_for_selector("body[data-ready] #board .area")
            (table,) = lobby.tables.values()
            for seat, page in enumerate((first, second)):
                missions = [("Mission:" in text) for text in page.locator(".player").all_inner_texts()]
                assert missions == [seat == other for other in range(3)]
            for _ in range(3):
                while (seat := table.game.seat) == 2:
                    time.sleep(0.1)
                asked, played = (first, second)[seat], len(table.game.actions)
                asked.reload()
                asked.wait_for_selector('#question[data-asked="true"]')
                before = asked.evaluate(ASKED)
                asked.locator("#answers button[data-action]").first.press("Enter")
                asked.wait_for_function(f"before => {ASKED} !== before", arg=before)
                while len(table.game.actions) == played:  # the page changes before the server has played
                    time.sleep(0.1)
            assert len(table.game.actions) >= 3


def test_a_moment_of_a_game_is_played_on_and_analysed(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, lobby):
        name = lobby.add_recorded(finished())
        with opened_page(browser, f"{address}/game/{name}#40", PHONE) as page:
            page.wait_for_selector("body[data-ready]")
            assert page.evaluate("live.view.frame") == 40 and page.locator("#pace-of-agents").is_hidden()
            page.locator(".area").first.dispatch_event("mouseover")
            assert page.locator("#place").inner_text().startswith("Alaska (North America): ")
            status = page.locator("#status").inner_text()
            page.click("#play-on")
            page.wait_for_selector("body[data-ready] #new:has-text('Continue')")
            assert page.locator("#seats label").all_inner_texts()[0].startswith("Seat 0: Ann")
            for seat in range(3):
                page.locator("#seats select").nth(seat).select_option("human")
            page.get_by_role("button", name="Begin").click()
            page.locator("#invitations a").first.wait_for()
            (begun,) = (table for key, table in lobby.tables.items() if key != name)
            page.goto(address + page.locator("#invitations a").nth(begun.game.seat).get_attribute("href"))
            page.wait_for_selector('#question[data-asked="true"]')
            page.click("#analyse")
            page.wait_for_selector("#status:has-text('Set-up'), #status:has-text('Round')")
            assert page.evaluate("analysis.node.question.phase") == begun.game.phase.name
            assert page.locator("#status").inner_text().split(",")[0] == status.split(",")[0].split(":")[0]


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "dark"), (PHONE, "light")])
def test_lobby_and_game_can_be_read(browser: Any, tmp_path: Path, size: dict[str, int], scheme: str) -> None:
    with served(tmp_path) as (address, _lobby), opened_page(browser, address, size, scheme) as page:
        page.wait_for_selector("body[data-ready]")
        page.wait_for_function("() => document.getElementById('picture').naturalWidth > 0")
        assert violations(page) == []
        begin_by_hand(page, "classic", ["human", "random"])
        page.wait_for_selector('#question[data-asked="true"]')
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert violations(page) == []


def test_the_lobby_offers_every_preset(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        assert list(server.get("/api/options").json()["presets"]) == list(presets())
