"""Replays: every state from its frame, nothing hidden in a seat's view, small pages, harmless names."""

import base64
import copy
import gzip
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from risk_agents.game_files import save_game
from risk_agents.registry import play_game
from risk_agents.replay import main as replay
from risk_agents.replay import moments
from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.replays import parse_selection, selected
from risk_agents.tournament.results import GameResult
from risk_agents.win_chances import chances_by_play, shares
from risk_env import Game, Rules, load_map, presets
from risk_env.core.cards import FORCED_HAND
from risk_env.render import draw_rgb, scene_of
from risk_env.saved_game import SavedGame
from tests.games import random_rules

EVIL = "</script><script>alert(1)</script><!--data-->"


def played(preset: str, seed: int, actions: int) -> Game:
    """Return a game of a preset after this many random actions."""
    rules = Rules.preset(preset, 2 if preset == "two_player" else 3, attack="blitz", max_rounds=30)
    game = Game(rules, "classic", seed=seed)
    for step in range(actions):
        if game.is_over:
            break
        legal = game.legal_actions()
        game.step(int(legal[(seed + 7 * step) % len(legal)]))
    return game


def states(facts: dict) -> list[dict]:
    """Return the state of every frame, as the page computes it."""
    state, found = copy.deepcopy(facts["start"]), []
    for changes, _events in json.loads(json.dumps(facts["frames"])):
        for name, value in changes.items():
            if isinstance(value, dict):
                for place, number in value.items():
                    state[name][int(place)] = number
            else:
                state[name] = value
        found.append(copy.deepcopy(state))
    return found


def facts_of(page: str) -> dict:
    """Return the data of a page."""
    (packed,) = re.findall('<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.mark.parametrize("preset", presets())
def test_frames_give_back_every_state_and_event(preset: str) -> None:
    game = played(preset, 3, 150)
    for seat in (None, 0):
        facts = game.replay(seat=seat).facts
        shown = states(facts)
        public = json.loads(json.dumps(game.public().to_json()))
        assert {name: shown[-1][name] for name in ("owner", "troops", "round", "hand_sizes", "capitals")} == {
            name: public[name] for name in ("owner", "troops", "round", "hand_sizes", "capitals")
        }
        kinds = [event["kind"] for _changes, events in facts["frames"] for event in events]
        assert kinds == [event.kind for event in game.events(seat=seat)]


def test_the_last_state_of_a_seat_has_its_own_cards_and_mission() -> None:
    game = played("secret_mission", 5, 400)
    for seat in range(3):
        last = states(game.replay(seat=seat).facts)[-1]
        names = [*game.board.territories, "wild"]
        assert [names[card] for card in last["hand"]] == list(game.hand(seat))
        assert game.board.missions[last["mission"]] == game.mission(seat)
    assert "hand" not in states(game.replay().facts)[-1]


@pytest.mark.parametrize("preset", ["classic", "capital", "secret_mission", "command_room"])
def test_what_a_seat_does_not_know_is_not_in_its_replay(preset: str) -> None:
    """Games that differ only in facts unknown to a seat, and continue alike, have equal replays."""
    game = played(preset, 11, 250)
    others = [game.determinize(0, seed) for seed in (1, 2)]
    assert game.is_over or others[0].to_record() != others[1].to_record()
    pages = [other.replay(seat=0).facts for other in others]
    assert pages[0] == pages[1] and pages[0]["secrets"] == {}
    if not game.is_over:
        spectators = [other.replay().facts for other in others]
        assert spectators[0] == spectators[1]


def test_a_question_about_cards_is_seen_by_its_seat_only() -> None:
    game = played("classic", 4, 900)
    for viewer in (None, 1):
        asked = [state for state in states(game.replay(seat=viewer).facts) if state["phase"] == "TRADE"]
        others = [state for state in asked if state["seat"] != viewer]
        # all know that a set is owed
        assert all(state["hand_sizes"][state["seat"]] >= FORCED_HAND for state in others)
        assert all(state["picked"] == [] for state in others)
    assert any(event.phase == "TRADE" for seat in range(3) for event in game.events(seat=seat))


def test_missions_are_open_when_the_game_is_over() -> None:
    rules = Rules.preset("secret_mission", 3, attack="blitz", defender_dice="max", max_rounds=3)
    game = Game(rules, seed=2)
    assert game.replay().facts["secrets"] == {}
    while not game.is_over:
        game.step(int(game.legal_actions()[0]))
    missions = game.replay().facts["secrets"]["missions"]
    assert [game.board.missions[number] for number in missions] == [game.mission(seat) for seat in range(3)]
    assert game.replay(seat=0).facts["secrets"] == {}


def test_names_are_data_and_the_page_needs_nothing_else() -> None:
    game = played("classic", 1, 60)
    page = game.replay(names=[EVIL, "b", "c"]).to_html()
    assert EVIL not in page and "alert(1)</script>" not in page
    assert facts_of(page)["names"] == [EVIL, "b", "c"]
    assert re.findall(r"""(?:src|href)=["'](?!#)""", page) == [] and "default-src 'none'" in page
    assert page == game.replay(names=[EVIL, "b", "c"]).to_html()
    with pytest.raises(ValueError, match="2 names for num_players=3"):
        game.replay(names=["a", "b"]).to_html()
    with pytest.raises(ValueError, match="seat=3"):
        game.replay(seat=3).to_html()


def test_a_game_of_300_turns_fits_in_600_kilobytes() -> None:
    rules = Rules.preset("classic", 3, attack="blitz", defender_dice="max", max_rounds=150)
    game = play_game(rules, load_map("classic"), ["random"] * 3, seed=2)
    replay_of_game = game.replay()
    kinds = [event["kind"] for _changes, events in replay_of_game.facts["frames"] for event in events]
    assert kinds.count("turn") >= 300
    assert len(replay_of_game.to_html()) <= 600_000


def test_chances_are_asked_for_once_a_turn_without_hidden_facts() -> None:
    game, asked = played("secret_mission", 3, 300), []

    def evaluate(position: Game) -> list[float]:
        asked.append(position)
        return [0.5, 0.25, 0.25]

    chances = game.replay(evaluate=evaluate).facts["chances"]
    turns = sum(event.kind == "turn" for event in game.events())
    assert len(chances) == len(asked) == turns + 1 and chances[0] == (0, [0.5, 0.25, 0.25])
    assert all(position.seat >= 0 and len(position.legal_actions()) > 1 for position in asked)


def test_chances_by_play_are_shares_that_know_who_is_ahead() -> None:
    rules = Rules.preset("classic", 3, attack="blitz", defender_dice="max", setup="random")
    game = Game(rules, "tiny", seed=3)
    evaluate = chances_by_play(rules, game.board, "grower", 32)
    found = evaluate(game)
    assert found.shape == (3,) and found.sum() == pytest.approx(1) and (found == evaluate(game)).all()
    late = play_game(rules, game.board, ["grower"] * 3, seed=3)
    before = [state.copy() for state in moments(late, "round")][-2:]
    assert evaluate(before[-1]).tolist() == [float(seat == late.winner) for seat in range(3)]
    assert evaluate(before[0])[late.winner] > 0.5
    truncated = play_game(rules.replace(max_rounds=1), game.board, ["random"] * 3, seed=3)
    assert truncated.truncated and evaluate(truncated).tolist() == pytest.approx([1 / 3] * 3)
    assert shares(np.array([0, 0, -1, 1]), np.array([True, True, False])).tolist() == [0.625, 0.375, 0.0]


def test_notebooks_show_games_boards_and_replays() -> None:
    game = played("classic", 1, 60)
    assert repr(game.board) == "<Board 'Classic', 42 territories, 6 continents>"
    assert repr(game.rules) == "Rules(attack='blitz', max_rounds=30)"
    assert game.rules == Rules(attack="blitz", max_rounds=30)
    replayed = game.replay(names=[EVIL, "b", "c"])
    assert repr(replayed) == f"<Replay {replayed.title!r}, {len(replayed.facts['frames'])} frames>"
    assert all("\n" not in repr(shown) for shown in (game, replayed))
    assert game._repr_svg_().startswith("<svg") and game.board._repr_svg_().count("<title>") == 42
    shown = game.replay(names=[EVIL, "b", "c"])._repr_html_()
    assert (
        shown.startswith("<iframe srcdoc=") and "<script" not in shown and 'sandbox="allow-scripts"' in shown
    )


def test_random_rules_have_replays() -> None:
    rng, board = random.Random(5), load_map("classic")
    for preset in presets():
        game = Game(random_rules(rng, board, preset), board, seed=1)
        for _ in range(120):
            if not game.is_over:
                game.step(int(game.legal_actions()[-1]))
        assert len(states(game.replay(seat=0).facts)) > 50


# ------------------------------------------------------------------------------------------------ commands


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = played("classic", 1, 60)
    save_game(tmp_path / "game.json", SavedGame.of(game, ("human", "grower", "random")))
    replay([str(tmp_path / "game.json"), "--html", str(tmp_path / "game.html"), "--seat", "0"])
    assert "1 game replayed" in capsys.readouterr().out
    facts = facts_of((tmp_path / "game.html").read_text())
    assert facts["names"] == ["human", "grower", "random"] and facts["seat"] == 0
    with pytest.raises(ValueError, match="must be a file in a folder that exists"):
        replay([str(tmp_path / "game.json"), "--html", str(tmp_path / "no" / "game.html")])


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_the_command_writes_moving_pictures(kind: str, tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    game = played("classic", 1, 6)
    save_game(tmp_path / "game.json", SavedGame.of(game, ("human", "grower", "random")))
    path = tmp_path / f"game.{kind}"
    replay([str(tmp_path / "game.json"), f"--{kind}", str(path), "--fps", "5"])
    with imageio.get_reader(path) as reader:
        frames, facts = list(reader.iter_data()), reader.get_meta_data()
    moments_shown, held = len(game.actions) + 1, 9  # 2 seconds, of which the last moment is one fifth
    if kind == "mp4":
        assert facts["fps"] == 5 and len(frames) == moments_shown + held
    else:
        assert shown_for(path) == pytest.approx([0.2] * (moments_shown - 1) + [2.0])
    drawn = draw_rgb(game.board, scene_of(game, ("human", "grower", "random")))
    assert np.abs(frames[-1][: drawn.shape[0], : drawn.shape[1], :3].astype(int) - drawn).mean() < 12
    with pytest.raises(ValueError, match=f"must end in .{kind}"):
        replay([str(tmp_path / "game.json"), f"--{kind}", str(tmp_path / "game.avi")])


def shown_for(path: Path) -> list[float]:
    """Return the seconds for which each picture of a GIF is shown."""
    from PIL import Image, ImageSequence

    with Image.open(path) as picture:
        return [frame.info["duration"] / 1000 for frame in ImageSequence.Iterator(picture)]


@pytest.mark.parametrize("fps", ["0", "51", "nan"])
def test_a_speed_out_of_range_is_refused(fps: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"--fps=.*: must be .* from 0\.1 to 50"):
        replay([str(tmp_path / "game.json"), "--gif", str(tmp_path / "game.gif"), "--fps", fps])


@pytest.mark.parametrize("every", ["decision", "turn", "round"])
def test_moments_of_a_moving_picture(every: str) -> None:
    game = played("classic", 1, 300)
    past = [state.copy() for state in moments(game, every)]
    counts = {
        "decision": 300,
        "turn": sum(event.kind == "turn" for event in game.events()),
        "round": game.round,
    }
    assert past[0] == game.beginning() and past[-1] == game
    assert counts[every] < len(past) <= counts[every] + 2


def test_a_history_has_a_beginning() -> None:
    game = Game("classic", seed=5)
    assert played("classic", 5, 40).beginning() == Game(played("classic", 5, 0).rules, seed=5)
    loaded = Game.from_bytes(game.to_bytes())
    loaded.step(int(loaded.legal_actions()[0]))
    assert loaded.beginning() == game and loaded != game


def test_a_tournament_writes_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own").write_text("mine")
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / "game-0.html").symlink_to(tmp_path / "own")  # not followed
    tournament(
        [
            *("--agents", "grower,random", "--players", "2", "--games", "8", "--quiet"),
            *("--out", str(tmp_path / "games.sqlite"), "--save", str(tmp_path / "games.jsonl")),
            *("--replays", str(tmp_path / "replays"), "--replay-games", "every:4"),
        ]
    )
    assert "2 replays in" in capsys.readouterr().out
    assert (tmp_path / "own").read_text() == "mine"
    pages = sorted((tmp_path / "replays").iterdir())
    assert [page.name for page in pages] == ["game-0.html", "game-4.html"]
    assert sorted(facts_of(pages[0].read_text())["names"]) == ["grower", "random"]
    with pytest.raises(ValueError, match="several games: choose one with --game"):
        replay([str(tmp_path / "games.jsonl"), "--html", str(tmp_path / "one.html")])
    replay([str(tmp_path / "games.jsonl"), "--game", "4", "--html", str(tmp_path / "one.html")])
    assert (tmp_path / "one.html").read_text() == pages[1].read_text()
    replay(
        [
            str(tmp_path / "games.jsonl"),
            "--game",
            "4",
            "--html",
            str(tmp_path / "one.html"),
            "--chances",
            "grower",
        ]
    )
    chances = facts_of((tmp_path / "one.html").read_text())["chances"]
    assert len(chances) > 3 and sorted(chances[-1][1]) == [0.0, 1.0]


def result(game: int, seats: tuple[int, ...], winner: int, rounds: int, ending: str = "won") -> GameResult:
    nothing = (0,) * len(seats)
    return GameResult(game, game, seats, 0, ending, winner, (1, 2), rounds, nothing, nothing, nothing)


@pytest.mark.parametrize(
    ("selection", "games"),
    [
        ("all", [0, 1, 2, 3]),
        ("every:3", [0, 3]),
        ("longest:2", [2, 0]),
        ("upsets:5", [1]),
        ("forfeits", [3]),
    ],
)
def test_games_are_selected(selection: str, games: list[int]) -> None:
    results = [result(0, (0, 1), 0, 20), result(1, (0, 1), 1, 5), result(2, (1, 0), 1, 30)]
    results.append(result(3, (1, 0), 0, 2, "forfeit"))
    assert selected(results, selection, [1600.0, 1400.0]) == games


@pytest.mark.parametrize("selection", ["", "every", "every:0", "all:3", "longest:x", "best"])
def test_a_wrong_selection_is_refused(selection: str) -> None:
    with pytest.raises(ValueError, match=r"--replay-games .*: must be all, every:N"):
        parse_selection(selection)
