"""docs/maps.md: its example is a complete map that works, and it names every key and the real errors."""

import re
from pathlib import Path

import pytest

import risk_env
from risk_env import Game, Rules, arena, load_map, presets
from risk_env.board.maps import Board, MapError, read_map
from risk_env.render import draw_ansi, draw_rgb, draw_svg, scene_of
from risk_env.render.geometry import geometry_of
from tests.foreign_maps import DOMINATION
from tests.games import can_be_played
from tests.pages import ROOT, code_of, page, run_code

PAGE = page("maps")
ISLES = "\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture(scope="module")
def isles() -> Board:
    return read_map(ISLES, "isles.toml")


@pytest.mark.parametrize("preset", presets())
def test_every_preset_can_be_played_and_drawn(isles: Board, preset: str) -> None:
    assert can_be_played(preset, isles)
    rules = Rules.preset(preset, 2 if preset == "two_player" else 3, attack="blitz", max_rounds=5)
    game = Game(rules, isles, seed=1)
    while not game.is_over:
        game.step(int(game.legal_actions()[0]))
    assert draw_svg(isles, scene_of(game)).count("<title>") == 8
    assert draw_rgb(isles, scene_of(game), 300).shape[1] == 300
    assert "Heath" in draw_ansi(isles, scene_of(game))


def test_bots_play_on_it(isles: Board) -> None:
    rules = Rules.preset("classic", 3, attack="blitz", defender_dice="max", max_rounds=50)
    results = arena.play(rules, isles, ["grower", "attacker", "random"], 30, seed=1)
    assert (results["winner"] >= 0).mean() > 0.5


def test_its_areas_touch_as_the_page_says(isles: Board) -> None:
    pairs = {(isles.territories[t], isles.territories[u]) for t, u in geometry_of(isles).touching if t < u}
    assert {
        ("Ash", "Birch"),
        ("Ash", "Cedar"),
        ("Birch", "Cedar"),
        ("Dale", "Fern"),
        ("Glen", "Heath"),
    } <= pairs
    assert len(geometry_of(isles).sea) == 4 + 1  # one of them in two pieces, over the edges


def test_the_graph_of_the_page_can_be_imported(tmp_path: Path) -> None:
    (graph,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "graph.json").write_text(graph, encoding="utf-8")
    assert risk_env.import_map(tmp_path / "graph.json").board.territories == ("Ash", "Elm")


def test_the_code_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("isles.toml").write_text(ISLES, encoding="utf-8")
    Path("luca.map").write_text(DOMINATION, encoding="utf-8")
    run_code(code_of(PAGE))
    assert Path("isles.svg").read_text(encoding="utf-8").startswith("<svg")


def test_every_key_is_on_the_page() -> None:
    readers = ("maps", "charts", "drawings")
    sources = [(ROOT / "risk_env" / "board" / f"{name}.py").read_text(encoding="utf-8") for name in readers]
    read = re.findall(r'\.(?:text|whole|flag|texts|table|tables|get)\(\s*"(\w+)"', "".join(sources))
    assert len(set(read)) > 30
    assert {key for key in read if not re.search(rf"`{key}`|\[\[?(drawing\.)?{key}[.\]]", PAGE)} == set()


def test_the_folder_and_its_maps_are_on_the_page() -> None:
    assert {"classic", "big", "tiny"} <= set(risk_env.map_names())
    assert (ROOT / "risk_env/board/map_files").is_dir() and "`risk_env/board/map_files/`" in PAGE


def test_errors_read_as_on_the_page(isles: Board) -> None:
    with pytest.raises(MapError) as error:
        read_map(ISLES.replace('borders = ["Fern", "Glen"]', 'borders = ["Fern"]'), "isles.toml")
    assert str(error.value) in PAGE
    with pytest.raises(ValueError) as refused:
        Game(Rules.preset("basic_training", 4), isles)
    assert str(refused.value) in PAGE
    assert load_map("tiny").digest != isles.digest
