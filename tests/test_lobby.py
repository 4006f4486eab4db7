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


def listed(found: Any) -> list[dict[str, Any]]:
    """Return the games of the lobby's page."""
    return list(found.get("/api/games").json())


def finish(found: Any, game: str) -> None:
    """Wait until a game of agents is over."""
    found.lobby.tables[game].set_pace(0)
    with seated(found, game, "") as socket:
        while not socket.receive_json().get("outlook", {}).get("ending"):
            pass


def test_the_list_tells_mode_date_turn_and_end(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found)
        (entry,) = listed(found)
        assert entry["mode"] == "Classic" and entry["begun"] > 1_700_000_000
        assert entry["state"].startswith("round 1, Player") and entry["state"].endswith("'s turn")
        over = begun(found, players=["random", "random"], options=SHORT)
        finish(found, over["game"])
    with client(tmp_path) as found:
        states = {entry["game"]: entry["state"] for entry in listed(found)}
        assert states[begin["game"]] == "saved"
        assert states[over["game"]].startswith(("Nobody has won", "random "))


def test_a_game_is_played_again_with_other_dice_and_secrets(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found, players=["human", "random"])
        game = begin["game"]
        for token in ("", begin["tokens"][0], "guess"):
            assert "before it is over" in refused(found, "/api/again", {"game": game, "token": token})
        new = posted(found, "/api/again", {"game": game, "token": begin["owner"]})
        old, again = (found.lobby.tables[name].setting for name in (game, new["game"]))
        assert again.game.players == old.game.players and again.game.rules == old.game.rules
        assert again.game.seed != old.game.seed and again.mode == "classic"
        assert not {*filter(None, again.tokens), again.owner} & {*old.tokens, old.owner}
        over = begun(found, players=["random", "random"], options=SHORT)
        finish(found, over["game"])
        assert posted(found, "/api/again", {"game": over["game"], "token": ""})["game"] != over["game"]
        recorded = SavedGame.of(Game(Rules.preset("classic", 2, setup="random"), "tiny", seed=1), ("a", "b"))
        name = found.lobby.add_recorded(recorded)
        assert refused(found, "/api/again", {"game": name, "token": ""})
        for wrong in ({}, [], {"game": 1, "token": ""}, {"game": "none", "token": ""}):
            assert refused(found, "/api/again", wrong)


def test_only_the_person_who_began_a_game_deletes_it(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        begin = begun(found)
        game = begin["game"]
        name = found.lobby.add_recorded(
            SavedGame.of(Game(Rules.preset("classic", 2, setup="random"), "tiny", seed=1), ("a", "b"))
        )
        for token in ("", "guess", *begin["tokens"]):
            assert "began a game" in refused(found, "/api/delete", {"game": game, "token": token})
            assert refused(found, "/api/delete", {"game": name, "token": token})
        asked = found.lobby.tables[game].game.seat
        with seated(found, game, begin["tokens"][asked]) as socket:
            now = question(socket)
            socket.send_json({"decision": now["decision"], "action": now["legal"][0]["action"]})
            question(socket)
            assert posted(found, "/api/delete", {"game": game, "token": begin["owner"]}) == {}
            while socket.receive_json().get("problem") != "The game was deleted.":
                pass
        assert [entry["game"] for entry in listed(found)] == [name]
        assert refused(found, "/api/delete", {"game": game, "token": begin["owner"]})
        with seated(found, game, "") as socket:
            assert "no such game" in socket.receive_json()["refused"]
    with closing(sqlite3.connect(tmp_path / "games.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM actions WHERE game = ?", (game,)).fetchone() == (0,)


def test_agents_are_described_and_refused_by_game(tmp_path: Path) -> None:
    wish = {"preset": "classic", "map": "classic", "count": 3, "options": {"setup": "deal"}}
    with client(tmp_path) as found:
        told = posted(found, "/api/agents", wish)
        assert "marshal" in told["refused"] and "planner" not in told["refused"]
        assert told["agents"]["planner"]["level"] == "medium" and told["players"] == 3
        assert all(found["technique"] for found in told["agents"].values())
        assert not any("/" in name for name in told["refused"])  # no path of this machine
        position = Game(Rules.preset("classic", 4, setup="random"), "tiny", seed=5).to_text()
        assert posted(found, "/api/agents", {"position": position})["players"] == 4
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
            assert refused(found, "/api/agents", wrong)


def test_every_mode_has_a_picture_on_every_map(tmp_path: Path) -> None:
    with client(tmp_path) as found:
        assert found.get("/api/options").json()["maps"]["inner_sea"] == "Inner Sea, 27 territories"
        for name in found.lobby.maps:
            pictures = [found.get("/mode/" + preset, params={"map": name}) for preset in presets()]
            assert {picture.headers["content-type"] for picture in pictures} == {"image/svg+xml"}
            assert len({picture.text for picture in pictures}) == len(presets())
            assert all(ET.fromstring(picture.text).tag.endswith("svg") for picture in pictures)
        for mode, name in (("chess", "classic"), ("classic", "../classic.toml"), ("classic", "random:1")):
            assert found.get(f"/mode/{mode}", params={"map": name}).status_code == 404
        assert found.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
