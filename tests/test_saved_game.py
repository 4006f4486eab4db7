"""Saved games: one form with one set of checks, for every file, database and message."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents.game_files import load_game, read_games, save_game
from risk_agents.replay import replayed_games
from risk_agents.web.browser_table import Setting
from risk_env import Agent, Game, Match, Rules, SavedGame, SavedGameError, View, load_map
from risk_env.game import game_by_chance
from tests.pages import code_of, page, run_code

RULES = Rules.preset("classic", 2, setup="random", initial_troops=9, max_rounds=5)
PLAYERS = ("human", "random")


def played(game: Game, actions: int = 30) -> Game:
    for _ in range(actions):
        if not game.is_over:
            game.step(int(game.legal_actions()[0]))
    return game


FACTS = SavedGame.of(played(Game(RULES, "tiny", seed=7, lane=2, episode=1)), PLAYERS).to_dict()


def from_file(facts: dict[str, Any], folder: Path) -> Game:
    (folder / "game.json").write_text(json.dumps(facts))
    return load_game(folder / "game.json").replay()


def from_tournament(facts: dict[str, Any], folder: Path) -> Game:
    result = {"game": 0, "ending": "forfeit", "rounds": from_file(facts, folder).round}
    (folder / "games.jsonl").write_text(json.dumps(facts | {"result": result}) + "\n")
    ((_, game, _),) = replayed_games(str(folder / "games.jsonl"), None)
    return game


def from_page(facts: dict[str, Any], folder: Path) -> Game:
    kept = {"game": facts, "names": ["A", "B"], "tokens": ["", ""], "owner": "", "mode": "", "begun": 0}
    return Setting.from_dict(json.loads(json.dumps(kept)), facts["actions"]).game.replay()


READERS: dict[str, Callable[[dict[str, Any], Path], Game]] = {
    "message": lambda facts, folder: SavedGame.from_dict(json.loads(json.dumps(facts))).replay(),
    "file": from_file,
    "tournament": from_tournament,
    "page": from_page,
}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"format": "something else"}, "not a saved game"),
    ({"schema": 99}, "schema 99; this version reads schema 1"),
    ({"sead": 3}, "'sead' is unknown; did you mean 'seed'"),
    ({"seed": "7"}, "seed is '7', but must be of type int"),
    ({"lane": True}, "lane is True, but must be of type int"),
    ({"actions": [0.5]}, "actions has 0.5, but every value must be of type int"),
    ({"players": [1, 2]}, "players has 1, but every value must be of type str"),
    ({"players": ["human"]}, "1 player, but the rules have 2 seats"),
    ({"rules": {**FACTS["rules"], "fortify": "sideways"}}, "fortify='sideways'"),
    ({"position": "nonsense"}, "line 1"),
    ({"map": "atlantis"}, "atlantis"),
    ({"map_digest": "0" * 64}, "saved on the map with digest '0000000000000000', but 'tiny' has digest"),
    ({"num_actions": 7}, "saved with an action space of 7 actions, but this version has"),
    ({"seed": 8}, "action|another state"),
    ({"actions": [9999]}, "action 0: .*9999"),
    ({"actions": FACTS["actions"][:-1]}, "another state"),
    ({"state": "0" * 32}, "another state"),
]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_plays_a_saved_game_again(reader: str, tmp_path: Path) -> None:
    game = played(Game(RULES, "tiny", seed=7, lane=2, episode=1))
    again = READERS[reader](FACTS, tmp_path)
    assert again == game and again.actions == game.actions and again.origin == game.origin


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("changes", "told"), WRONG, ids=[told for _, told in WRONG])
def test_every_reader_refuses_what_is_wrong(
    reader: str, changes: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(SavedGameError, match=told) as error:
        READERS[reader]({**FACTS, **changes}, tmp_path)
    if reader in ("file", "tournament"):
        assert f"{tmp_path}" in str(error.value) and "line 1: " in str(error.value)


def nested(levels: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({3: 4, None: 5, "x": 6}, "3 is unknown"),
        ({"rules": {3: 4, "x": 6}}, "option 3 is unknown"),
        ({"rules": {"setup": nested(100_000)}}, "setup=<list too large to be shown>: must be"),
        ({"seed": nested(100_000)}, "seed is <list too large to be shown>, but must be of type int"),
        ({"rules": {"max_rounds": 10**5000}}, "max_rounds=<int too large to be shown>: must be"),
        ({"schema": {}}, "schema {}; this version reads"),
        ({"players": {"a": 1}}, "players is {'a': 1}, but must be of type list"),
    ],
)
def test_odd_values_are_refused_by_name(changes: dict[Any, Any], told: str) -> None:
    with pytest.raises(SavedGameError, match=told):
        SavedGame.from_dict(FACTS | changes)


@pytest.mark.parametrize("facts", [None, [], "risk_env game", 3, {}, {"format": []}])
def test_a_value_that_is_no_saved_game_is_refused(facts: Any) -> None:
    with pytest.raises(SavedGameError, match="not a saved game"):
        SavedGame.from_dict(facts)


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_is_needed(name: str) -> None:
    with pytest.raises(
        SavedGameError, match="not a saved game" if name == "format" else f"schema None|missing keys: {name}"
    ):
        SavedGame.from_dict({other: value for other, value in FACTS.items() if other != name})


def test_a_file_is_one_game_or_many(tmp_path: Path) -> None:
    saved, path = SavedGame.from_dict(FACTS), tmp_path / "games.jsonl"
    assert save_game(path, saved) == path and load_game(path) == saved
    path.write_text(path.read_text() * 2)
    assert [game for game, _ in read_games(path)] == [saved, saved]
    with pytest.raises(SavedGameError, match="several games; must contain exactly one"):
        load_game(path)
    for text, told in {
        "": "no saved game; must contain exactly one",
        json.dumps(FACTS)[:99]: "line 1: not a saved game, or damaged",
        "[1]": "line 1: not a saved game",
        json.dumps(FACTS | {"result": 3}): "line 1: result is 3, but must be of type dict",
    }.items():
        path.write_text(text)
        with pytest.raises(SavedGameError, match=told):
            load_game(path)


def test_a_match_goes_on_where_the_game_was_left() -> None:
    whole = Match(RULES, load_map("tiny"), ["grower", "grower"], seed=3)
    whole.run()
    half = Match(RULES, load_map("tiny"), ["grower", None], seed=3)
    for action in whole.game.actions[: len(whole.game.actions) // 2]:
        half.step(action)
    saved = SavedGame.of(half.game, ["grower", "someone"])
    match = saved.match(["grower", "grower"])
    assert match.game == half.game
    match.run()
    assert match.game == whole.game
    assert saved.beginning().match(["grower", "grower"]).run() == -1


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"actions": [*FACTS["actions"][:4], 9999]}, "action 4: .*9999"), ({"state": "0"}, "another state")],
)
def test_a_match_that_cannot_continue_closes_the_players_that_were_made(
    changes: dict[str, Any], told: str
) -> None:
    closed = []

    class Closing(Agent):
        def act(self, view: View) -> int:
            return int(view.legal_actions[0])

        def close(self) -> None:
            closed.append(self)

    mine, saved = Closing(), SavedGame.from_dict(FACTS | changes)
    with pytest.raises(SavedGameError, match=told):
        saved.match([Closing, mine])
    assert len(closed) == 1 and closed[0] is not mine
    with pytest.raises(ValueError, match="'nobody'"):
        saved.match([Closing, "nobody"])
    assert len(closed) == 2 and closed[1] is not mine


def test_a_game_that_begins_with_a_position_is_saved_with_it() -> None:
    text = played(Game(RULES, "tiny", seed=1)).to_text()
    game = played(Game(RULES, "tiny", seed=4, episode=2, position=text), 9)
    saved = SavedGame.of(game, PLAYERS)
    assert saved.position == text and SavedGame.from_dict(saved.to_dict()).replay() == game


@pytest.mark.parametrize(
    "change",
    [
        lambda game: Game.from_text(game.to_text()),
        lambda game: game.determinize(0, 1),
        lambda game: game_by_chance(RULES, game.board, np.uint64(5)),
    ],
)
def test_a_state_without_its_history_is_not_saved_as_actions(change: Callable[[Game], Game]) -> None:
    with pytest.raises(ValueError, match=r"save it with to_bytes\(\)"):
        SavedGame.of(change(Game(RULES, "tiny", seed=1)), PLAYERS)


def test_one_player_a_seat() -> None:
    with pytest.raises(ValueError, match="1 player, but the game has 2 seats"):
        SavedGame.of(Game(RULES, "tiny", seed=1), ["human"])


def test_the_page_about_saving_says_what_the_bytes_are() -> None:
    names = run_code(code_of(page("saving"))[:2])
    assert names["header"]["digest"] == names["game"].board.digest
