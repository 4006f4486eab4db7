"""The list of games, playing again, deleting, and the agents that can play a game."""

import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from risk_env import Game, Rules, presets
from risk_env.saved_game import SavedGame
from tests.web_server import begun, client, posted, question, refused, seated

SHORT = {"setup": "random", "max_rounds": 1, "attack": "blitz", "defender_dice": "max"}


def listed(server: Any) -> list[dict[str, Any]]:
    """Return the games of the lobby's page."""
    return list(server.get("/api/games").json())


def finish(server: Any, game: str) -> None:
    """Wait until a game of agents is over."""
    server.lobby.tables[game].set_pace(0)
    with seated(server, game, "") as socket:
        while not socket.receive_json().get("outlook", {}).get("ending"):
            pass


def test_the_list_tells_mode_date_turn_and_end(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server)
        (entry,) = listed(server)
        assert entry["mode"] == "Classic" and entry["begun"] > 1_700_000_000
        assert entry["state"].startswith("round 1, Player") and entry["state"].endswith("'s turn")
        over = begun(server, players=["random", "random"], options=SHORT)
        finish(server, over["game"])
    with client(tmp_path) as server:
        states = {entry["game"]: entry["state"] for entry in listed(server)}
        assert states[begin["game"]] == "saved"
        assert states[over["game"]].startswith(("Nobody has won", "random "))


def test_a_game_is_played_again_with_other_dice_and_secrets(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server, players=["human", "random"])
        game = begin["game"]
        for token in ("", begin["tokens"][0], "guess"):
            assert "before it is over" in refused(server, "/api/again", {"game": game, "token": token})
        new = posted(server, "/api/again", {"game": game, "token": begin["owner"]})
        old, again = (server.lobby.tables[name].setting for name in (game, new["game"]))
        assert again.game.players == old.game.players and again.game.rules == old.game.rules
        assert again.game.seed != old.game.seed and again.mode == "classic"
        assert not {*filter(None, again.tokens), again.owner} & {*old.tokens, old.owner}
        over = begun(server, players=["random", "random"], options=SHORT)
        finish(server, over["game"])
        assert posted(server, "/api/again", {"game": over["game"], "token": ""})["game"] != over["game"]
        recorded = SavedGame.of(Game(Rules.preset("classic", 2, setup="random"), "tiny", seed=1), ("a", "b"))
        name = server.lobby.add_recorded(recorded)
        assert refused(server, "/api/again", {"game": name, "token": ""})
        for wrong in ({}, [], {"game": 1, "token": ""}, {"game": "none", "token": ""}):
            assert refused(server, "/api/again", wrong)


def test_only_the_person_who_began_a_game_deletes_it(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        begin = begun(server)
        game = begin["game"]
        name = server.lobby.add_recorded(
            SavedGame.of(Game(Rules.preset("classic", 2, setup="random"), "tiny", seed=1), ("a", "b"))
        )
        for token in ("", "guess", *begin["tokens"]):
            assert "began a game" in refused(server, "/api/delete", {"game": game, "token": token})
            assert refused(server, "/api/delete", {"game": name, "token": token})
        asked = server.lobby.tables[game].game.seat
        with seated(server, game, begin["tokens"][asked]) as socket:
            now = question(socket)
            socket.send_json({"decision": now["decision"], "action": now["legal"][0]["action"]})
            question(socket)
            assert posted(server, "/api/delete", {"game": game, "token": begin["owner"]}) == {}
            while socket.receive_json().get("problem") != "The game was deleted.":
                pass
        assert [entry["game"] for entry in listed(server)] == [name]
        assert refused(server, "/api/delete", {"game": game, "token": begin["owner"]})
        with seated(server, game, "") as socket:
            assert "no such game" in socket.receive_json()["refused"]
    with closing(sqlite3.connect(tmp_path / "games.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM actions WHERE game = ?", (game,)).fetchone() == (0,)


def test_agents_are_described_and_refused_by_game(tmp_path: Path) -> None:
    wish = {"preset": "classic", "map": "classic", "count": 3, "options": {"setup": "deal"}}
    with client(tmp_path) as server:
        told = posted(server, "/api/agents", wish)
        assert "marshal" in told["refused"] and "planner" not in told["refused"]
        assert told["agents"]["planner"]["level"] == "medium" and told["players"] == 3
        assert all(found["technique"] for found in told["agents"].values())
        assert not any("/" in name for name in told["refused"])  # no path of this machine
        position = Game(Rules.preset("classic", 4, setup="random"), "tiny", seed=5).to_text()
        assert posted(server, "/api/agents", {"position": position})["players"] == 4
        for wrong in (
            {},
            [],
            {"position": 7},
            {"position": "nonsense"},
            wish | {"count": "3"},
            wish | {"count": 9},
            wish | {"map": []},
            wish | {"preset": "chess"},
            wish | {"options": {"x": 1}},
        ):
            assert refused(server, "/api/agents", wrong)


def test_every_mode_has_a_picture_on_every_map(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        assert server.get("/api/options").json()["maps"]["inner_sea"] == "Inner Sea, 27 territories"
        for name in server.lobby.maps:
            pictures = [server.get("/mode/" + preset, params={"map": name}) for preset in presets()]
            assert {picture.headers["content-type"] for picture in pictures} == {"image/svg+xml"}
            assert len({picture.text for picture in pictures}) == len(presets())
            assert all(ET.fromstring(picture.text).tag.endswith("svg") for picture in pictures)
        for mode, name in (("chess", "classic"), ("classic", "../classic.toml"), ("classic", "random:1")):
            assert server.get(f"/mode/{mode}", params={"map": name}).status_code == 404
        assert server.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
