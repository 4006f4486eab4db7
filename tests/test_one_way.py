"""One-way borders (RULES 1.2): map files, rules, actions, bots, pictures and words."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import risk_env
from risk_agents.human.answers import _no_attack
from risk_agents.scripted import grower
from risk_agents.scripted.threats import largest_threat
from risk_agents.search.evaluation import WORKSPACE
from risk_agents.web.composition import settling_action
from risk_env import ActionSpace, Board, Game, MapError, Rules, arena, load_map
from risk_env.agent import CompiledAgent, View
from risk_env.board.maps import read_map
from risk_env.core.types import Phase
from risk_env.map_command import description
from risk_env.network_features import NEIGHBOUR_SCALE, feature_names, static_features
from risk_env.render.geometry import geometry_of
from risk_env.render.svg import draw_map
from risk_env.text.positions import PositionError
from risk_env.viewer.map_data import map_data
from risk_env.words import seat_report
from tests.conftest import mode
from tests.one_way import RING, one_way_map, one_way_text, random_one_way_map, ring
from tests.positions import in_phase, legal, play, play_at_random, position, refused, troops_on
from tests.test_largest_maps import scripted
from tests.test_star_games import check_rolls, command_room

ARMIES = ("Ash 3, Birch 4, Cedar 2", "Dune 4, Ember 2", "Flint 5")


def on_ring(*armies: str, rules: str = "classic", **lines: Any) -> Game:
    """Return a position on the map with the ring Ash > Birch > Ember > Dune > Cedar > Ash.

    Forced decisions are asked.
    """
    return position(rules, *(armies or ARMIES), map=ring(), ask_forced=True, **lines)


def named(board: Board, numbers: Any) -> list[str]:
    return [board.territories[t] for t in numbers]


# ------------------------------------------------------------------------------------------------ the map


def test_a_map_lists_one_way_borders_in_one_direction() -> None:
    board, tiny = ring(), load_map("tiny")
    assert len(board.borders) == len(tiny.borders) - 5
    assert [named(board, way) for way in board.one_way_borders] == [
        ["Ash", "Birch"],
        ["Birch", "Ember"],
        ["Cedar", "Ash"],
        ["Dune", "Cedar"],
        ["Ember", "Dune"],
    ]
    birch = board.territory("Birch")
    assert named(board, board.targets(birch)) == ["Cedar", "Ember"]
    assert named(board, board.sources(birch)) == ["Ash", "Cedar"]
    assert board.edge_index.T.tolist() == [list(way) for way in board.borders]
    space = ActionSpace(Rules.preset("classic", 2), board)
    assert len(space.blocks["border"]) == len(board.borders)
    with pytest.raises(ValueError, match="the border from Ash to Birch is one-way"):
        space.encode("attack", "Birch", "Ash")
    with pytest.raises(ValueError, match="Ash does not border Flint"):
        space.encode("attack", "Ash", "Flint")
    assert tiny.one_way_borders == ()
    assert all(tiny.sources(t) == tiny.targets(t) for t in range(6))
    assert board.digest != tiny.digest


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'to = ["Birch"]',
            'to = ["Birch", "Cedar"]',
            "'Ash', one_way_to 2: .* 'Cedar' lists 'Ash' in return",
        ),
        ('to = ["Birch"]', 'to = ["Ash"]', "'Ash', one_way_to 1: a territory does not border itself"),
        ('to = ["Birch"]', 'to = ["Birsh"]', "'Ash', one_way_to 1: no territory 'Birsh'; .*'Birch'"),
        ('to = ["Birch"]', "to = 3", "'Ash', one_way_to: 3 is not a list of strings"),
        ('["Cedar"]\none', '["Cedar"]\nalso', "'Birch': unknown key 'also_way_to'"),
        ('["Cedar"]\none', '["Cedar", "Ember"]\none', "'Birch', one_way_to 1: 'Ember' is listed twice"),
        ('to = ["Dune"]', 'to = ["Dune", "Birch"]', "'Birch', one_way_to 1: territory 'Ember' lists 'Birch'"),
        ('one_way_to = ["Ash"]\n', "", "'Birch', borders: no chain of borders leads from this territory"),
        ('["Flint"]\n', "[]\n", "'Flint', border 1: territory 'Ember' does not list .* in one_way_to"),
    ],
)
def test_refused_borders(old: str, new: str, words: str) -> None:
    text = one_way_text("tiny", RING)
    assert text.count(old) == 1, text
    with pytest.raises(MapError, match=words):
        read_map(text.replace(old, new))


@pytest.mark.parametrize(
    ("ways", "words"),
    [
        (
            [("Flint", "Ember")],
            "'Flint', borders: no chain of borders leads to this territory from territory 'Ash'",
        ),
        (
            [("Ember", "Flint")],
            "'Flint', borders: no chain of borders leads from this territory to territory 'Ash'",
        ),
    ],
)
def test_every_territory_reaches_every_other_one(ways: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(MapError, match=words):
        one_way_map("tiny", *ways)


# ------------------------------------------------------------------------------------------------ the rules


@pytest.mark.modes
def test_attacks_go_along_the_border_only() -> None:
    assert legal(on_ring()) == ["attack Birch > Ember", "done"]
    game = on_ring(turn=1)
    assert set(legal(game)) == {"attack Dune > Cedar", "attack Ember > Flint", "done"}
    refused(game, "attack Ember > Birch")


@pytest.mark.modes
@pytest.mark.parametrize(
    ("rules", "source", "reached"),
    [
        ("preset=classic, fortify=adjacent", "Ash", {"Birch"}),
        ("preset=classic, fortify=adjacent", "Birch", {"Cedar", "Ember"}),
        ("classic", "Ash", {"Birch", "Cedar", "Ember"}),
        ("preset=classic, fortify=free", "Birch", {"Ash", "Cedar", "Ember"}),
    ],
)
def test_moves_go_along_the_border_only(rules: str, source: str, reached: set[str]) -> None:
    game = on_ring("Ash 3, Birch 4, Cedar, Ember", "Dune 2", "Flint 5", rules=rules)
    play(game, "done", f"from {source}")
    assert set(legal(game)) == {f"to {name}" for name in reached}


@pytest.mark.modes
@pytest.mark.parametrize("fortify", ["adjacent", "connected", "free"])
@pytest.mark.parametrize("full", [False, True], ids=["", "max_troops"])
def test_troops_leave_only_where_a_border_leads_to_an_own_territory(fortify: str, full: bool) -> None:
    """Ember borders Dune, and the seat owns both Ember and Dune; Dune leads to an enemy only."""
    rules = f"preset=classic, fortify={fortify}" + ", initial_troops=20, max_troops=12" * full
    game = on_ring("Ember 4, Dune 4, Ash 2", "Birch 2, Cedar 2", "Flint 12", rules=rules)
    play(game, "done")
    assert set(legal(game)) == {"from Ember", "done"}
    play(game, "from Ember", "to Dune", "move 2")
    assert troops_on(game, "Ember", "Dune") == [2, 6]


AIR_WAYS = ("Alaska", "Kamchatka"), ("Japan", "Kamchatka"), ("Kamchatka", "Irkutsk")


@pytest.mark.parametrize(
    ("holder", "airfield", "bonus"),
    [
        (0, "Alaska", (1, 0)),  # out of the territory of the airfield
        (1, "Japan", (0, 1)),  # the attacked territory is adjacent to Japan
        (1, "Irkutsk", (0, 0)),  # Irkutsk is adjacent to the attacked territory, but not the reverse
        (1, "Mongolia", (0, 1)),  # by a two-way border
    ],
)
def test_an_airfield_helps_where_a_border_leads(holder: int, airfield: str, bonus: tuple[int, int]) -> None:
    check_rolls(airfield_game(holder, airfield), "Alaska > Kamchatka", 3, 2, airfields=bonus, number=8)


@pytest.mark.parametrize(("airfield", "helps"), [("Japan", True), ("Irkutsk", False)])
def test_the_browser_shows_whether_an_airfield_helps(airfield: str, helps: bool) -> None:
    table = pytest.importorskip("risk_agents.web.browser_table")
    game = airfield_game(1, airfield)
    assert table.changes_dice(game, game.board.territory("Kamchatka")) == helps


def airfield_game(holder: int, airfield: str) -> Game:
    """Return a game on a map with AIR_WAYS, before the attack from Alaska to Kamchatka."""
    armies = ("Alaska 9, Alberta 9", "Kamchatka 9, Japan 9, Irkutsk 9, Mongolia 9", "rest 9")
    goals, board = {"Asia": (holder, "airfield")}, one_way_map("classic", *AIR_WAYS)
    return command_room(*armies, airfield=airfield, goals=goals, map=board)


# ------------------------------------------------------------------------------------------------ texts


def test_positions_are_saved_and_checked() -> None:
    board = random_one_way_map("classic")
    game = Game(Rules.preset("classic", 3, setup="random", fortify="adjacent"), board, seed=3)
    for moment in play_at_random(game, random.Random(5), 30):
        assert Game.from_text(moment.to_text(), board=board).to_text() == moment.to_text()
    assert Game.from_bytes(game.to_bytes(), board=board).to_bytes() == game.to_bytes()
    game = play(on_ring("Ash 3, Birch 9, Cedar 2", "Dune 4, Ember 1", "Flint 5"), "attack Birch > Ember")
    text = play(game, "blitz").to_text()
    assert in_phase(game, Phase.OCCUPY, 0)
    unsealed = re.sub("checksum: .*\n", "", text)
    against = unsealed.replace("source: Birch", "source: Ember").replace("target: Ember", "target: Birch")
    with pytest.raises(PositionError, match="Birch was not captured this turn along Ember > Birch"):
        Game.from_text(against, board=ring())


def test_words_tell_the_direction() -> None:
    game = on_ring()
    assert _no_attack("Ember > Birch", View(on_ring(turn=1))) == "the border from Birch to Ember is one-way"
    (line,) = [line for line in seat_report(game, 0, "full").splitlines() if line.startswith("Borders")]
    assert line == (
        "Borders (A>B is one-way, from A to B): Ash>Birch; Birch-Cedar; Birch>Ember; Cedar>Ash; Dune>Cedar; "
        "Ember-Flint; Ember>Dune"
    )
    assert "Under threat" in seat_report(on_ring("Ash, Birch, Cedar", "Dune 30, Ember", "Flint"), 0)
    assert "Under threat" not in seat_report(on_ring("Ash, Birch, Cedar", "Dune, Ember 30", "Flint"), 0)
    assert "6 territories, 7 borders (5 one-way), 2 continents" in next(iter(description(ring())))


# ------------------------------------------------------------------------------------------------ importers


def test_importers_keep_one_way_borders(tmp_path: Path) -> None:
    rows = (
        "continent,C,1\nterritory,A,C\nterritory,B,C\nterritory,D,C\nborder,A,B\none_way,B,D\none_way,D,A\n"
    )
    (tmp_path / "m.csv").write_text(rows)
    found = risk_env.import_map(tmp_path / "m.csv")
    assert found.board.borders == ((0, 1), (1, 0), (1, 2), (2, 0))
    assert found.decisions[:2] == (
        "one-way border 'B' > 'D': it stays one-way (--mirror: it becomes two-way)",
        "one-way border 'D' > 'A': it stays one-way (--mirror: it becomes two-way)",
    )
    assert 'one_way_to = ["D"]' in found.text
    mirrored = risk_env.import_map(tmp_path / "m.csv", mirror=True)
    assert (len(mirrored.board.borders), mirrored.board.one_way_borders) == (6, ())
    (tmp_path / "sink.csv").write_text(rows.replace("one_way,D,A\n", ""))
    with pytest.raises(MapError, match=r"(?s)no chain of borders leads to 'A' from 'D'.*Use --mirror"):
        risk_env.import_map(tmp_path / "sink.csv")
    assert len(risk_env.import_map(tmp_path / "sink.csv", mirror=True).board.borders) == 4


# ------------------------------------------------------------------------------------------------ players


def test_networks_see_the_targets() -> None:
    board, rules = ring(), Rules.preset("classic", 3, profile="fast")
    game = Game(rules, board, seed=1)
    found, (own, _) = risk_env.features(game), feature_names(rules, board)
    troops = np.where(game.owner == game.seat, game.troops, 0) > 0
    near = [NEIGHBOUR_SCALE * troops[list(board.targets(t))].sum() for t in range(6)]
    assert found.territories[:, own.index("near_troops_0_any")].tolist() == near
    facts = static_features(board)
    assert (8 * facts.territories[:, 0]).tolist() == [len(board.targets(t)) for t in range(6)]
    assert (8 * facts.continents[:, 2]).tolist() == [1, 1]  # Cedar and Ember can be attacked from outside


ENEMY_AHEAD = ("Ash 3, Birch 3, Cedar 3", "Dune 5, Ember 30", "Flint")  # Ember cannot attack Birch


def test_bots_defend_against_sources() -> None:
    game = on_ring(*ENEMY_AHEAD, phase="draft", draft_left=5)
    player = CompiledAgent(grower.BOT)
    player.reset(0, game.rules, game.board, 0)
    assert game.action_text(player.act(View(game))) == "draft Cedar"


@pytest.mark.modes
@pytest.mark.skipif(mode() != "interpreted", reason="the function is a helper of kernels")
def test_threats_come_from_sources() -> None:
    game, work = on_ring(*ENEMY_AHEAD), np.zeros(WORKSPACE)
    board, rules = game.tables.board[0], game.tables.rules[0]
    threats = [largest_threat(game.record, board, rules, 0, t, 0.0, work) for t in range(3)]
    assert threats == [-1.0, 0.0, 4.0]  # of Ash, Birch, Cedar


def test_the_server_settles_towards_sources() -> None:
    game = on_ring(*ENEMY_AHEAD, phase="deploy")
    assert game.action_text(settling_action(game)) == "deploy Cedar"


@pytest.mark.parametrize("name", ["classic", "tiny"])
def test_every_bot_plays_on_one_way_maps(name: str) -> None:
    board, ladder = random_one_way_map(name) if name == "classic" else ring(), scripted()
    options = {"setup": "random", "attack": "blitz", "defender_dice": "max", "max_rounds": 6}
    rules = Rules.preset("classic", 3, **options)
    for first in range(0, len(ladder), 3):
        seated = [ladder[(first + seat) % len(ladder)] for seat in range(3)]
        results = arena.play(rules, board, seated, games=1, seed=first)
        assert results["decisions"].min() > 0


# ------------------------------------------------------------------------------------------------ pictures


def nearer(board: Board, point: Any, one: int, other: int) -> float:
    """Return by how much a point is nearer to the outline of a territory than to that of another one."""
    outlines = (np.array([p for ring in board.drawing.outlines[t] for p in ring]) for t in (one, other))
    here, there = (np.hypot(*(outline - point).T).min() for outline in outlines)
    return there - here


@pytest.mark.parametrize("name", ["classic", "inner_sea", "tiny"])
def test_each_one_way_border_has_an_arrow(name: str) -> None:
    """The arrow points to the target, or, on a border with a route, along the route."""
    board = random_one_way_map(name)
    arrows = geometry_of(board).arrows
    bent = {frozenset(pair) for pair in board.drawing.wrapped}
    bent |= {frozenset((one, other)) for one, other, _ in board.drawing.routes}
    assert len(arrows) == len(board.one_way_borders) > 0
    for (source, target), (tip, left, right) in zip(board.one_way_borders, arrows, strict=True):
        base = np.add(left, right) / 2
        if (source, target) in geometry_of(board).touching:
            along = np.subtract(board.drawing.centres[target], board.drawing.centres[source])
            assert (tip - base) @ along > 0
        elif {source, target} not in bent:
            assert nearer(board, tip, target, source) > nearer(board, base, target, source)
    assert len(geometry_of(board).sea) == len(geometry_of(load_map(name)).sea)
    assert map_data(board)["one_way"].count("Z") == len(arrows)
    assert map_data(load_map(name))["one_way"] == ""
    assert len(draw_map(board)) > len(draw_map(load_map(name)))
    json.dumps(map_data(board))
