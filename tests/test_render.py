"""Pictures: sizes, equality, visible contents, no display needed, no hidden facts."""

import dataclasses
import os
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest

from risk_env.board.drawings import nearest_distance
from risk_env.board.maps import load_map, map_names
from risk_env.board.rules import Rules
from risk_env.core.types import Phase, Reward
from risk_env.game import Game
from risk_env.render import Scene, draw_ansi, draw_rgb, draw_svg, rgb
from risk_env.render import scene_of as game_scene
from risk_env.render.geometry import geometry_of
from risk_env.render.layout import MARGIN, automatic_drawing, drawing_of
from risk_env.render.picture import (
    NEUTRAL,
    SEATS,
    Area,
    Lines,
    compose,
    continent_colour,
    name_lines,
    pips,
    seat_colour,
    short_number,
)
from risk_env.render.window import Window

OBJECTIVES = (-1, -2, -2, 1, *[-2] * 8)  # the first of a map face up, the fourth held by seat 1


def scene_of(board, players=6, **facts) -> Scene:
    """Return a scene in which seats, the neutral army and nobody alternate over the territories."""
    owner = tuple((t + 1) % (players + 2) - 1 for t in range(board.num_territories))
    troops = tuple(0 if o < 0 else 1 + t for t, o in enumerate(owner))
    return Scene(owner, troops, players, **facts)


def full_scene(board) -> Scene:
    facts = {
        "turn": 1,
        "seat": 0,
        "phase": Phase.DEFEND,
        "round": 7,
        "hand_sizes": (0, 1, 2, 3, 4, 5),
        "alive": (True, True, True, True, True, False),
        "names": ("Ada", "<Bob> & co", "Cyd", "Dee", "Eve", "a player whose name is far too long"),
        "cities": (0, 1, 2),
        "capitals": (0, 1, 2, 3, 4, 5),
        "headquarters": (5, 4, 3, -1, 1, 0),
        "airfields": (2, -1),
        "objectives": OBJECTIVES,
        "objective_rewards": (Reward.AIRFIELD, *[-1] * 11),
        "rewards": (*[-1] * 6, 1, -1),
        "source": board.borders[0][0],
        "target": board.borders[0][1],
        "dice": ((6, 5, 1), (7, 2)),
    }
    return scene_of(board, **facts)


def pixels_of(picture, colour: str) -> int:
    """Return the number of pixels with exactly this colour."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return int((picture == np.array(wanted, np.uint8)).all(axis=2).sum())


@pytest.fixture(params=[*map_names(), "automatic"])
def board(request):
    """Return one of the shipped maps, or a map without a drawing."""
    if request.param == "automatic":
        return dataclasses.replace(load_map("classic"), drawing=None)
    return load_map(request.param)


def test_rgb_is_the_same_every_time(board):
    picture = draw_rgb(board, full_scene(board), 600)
    drawing = drawing_of(board)
    assert picture.dtype == np.uint8
    assert picture.shape[1:] == (600, 3)
    assert picture.shape[0] > 600 * drawing.height / drawing.width
    assert picture.flags.c_contiguous
    assert (picture == draw_rgb(board, full_scene(board), 600)).all()


def test_every_owner_is_seen(board):
    scene = scene_of(board, players=min(6, board.num_territories - 2))
    picture = draw_rgb(board, scene, 600)
    svg = draw_svg(board, scene)
    for colour in {seat_colour(scene, owner) for owner in scene.owner}:
        assert pixels_of(picture, colour) > 100
        assert f"fill='{colour}'" in svg


def test_another_position_is_another_picture(board):
    scene = full_scene(board)
    picture, svg, text = draw_rgb(board, scene, 600), draw_svg(board, scene), draw_ansi(board, scene)
    changes = [
        {"owner": (2, *scene.owner[1:])},
        {"troops": (77, *scene.troops[1:])},
        {"turn": 2},
        {"round": 8},
        {"phase": Phase.ATTACK},
        {"hand_sizes": (9, 1, 2, 3, 4, 5)},
        {"cities": (0, 1)},
        {"headquarters": (5, 4, 3, -1, 1, -1)},
        {"airfields": (2, 3)},
        {"objectives": (0, *OBJECTIVES[1:])},
        {"rewards": (*[-1] * 6, 2, -1)},
        {"target": board.borders[1][1]},
        {"dice": ((6, 5, 2), (7, 2))},
        {"winner": 3},
    ]
    for change in changes:
        other = dataclasses.replace(scene, **change)
        assert (draw_rgb(board, other, 600) != picture).any(), change
        assert draw_svg(board, other) != svg, change
        assert draw_ansi(board, other) != text, change


def test_svg_is_well_formed(board):
    scene = full_scene(board)
    svg = draw_svg(board, scene)
    assert svg == draw_svg(board, scene)
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    titles = {title.text for title in root.iter(f"{space}title")}
    assert {title.split(" (")[0] for title in titles} == set(board.territories)
    words = [text.text for text in root.iter(f"{space}text")]
    for name in board.territories:
        assert all(line in words for line in name_lines(name))
    assert "<Bob> & co" in words
    assert "out" in words


def test_pictures_of_plain_scenes(board):
    """A scene needs only owners, troops and the number of players."""
    scene = Scene((-1,) * board.num_territories, (0,) * board.num_territories, 2)
    assert draw_rgb(board, scene, 300).shape[1] == 300
    assert "Set-up" in draw_svg(board, scene)
    assert draw_ansi(board, scene).startswith("Set-up\n")


def test_names_do_not_overlap():
    """Names (half an em per letter) and discs of maps with a drawing do not overlap."""
    for name in map_names():
        board, drawing = load_map(name), load_map(name).drawing
        if drawing is None:
            continue
        boxes = []
        for t, (x, y) in enumerate(drawing.labels):
            lines = name_lines(board.territories[t])
            half = max(map(len, lines)) * 3, len(lines) * 6
            boxes.append((t, x - half[0], y - half[1], x + half[0], y + half[1]))
            boxes += [(t, x - 10, y - 10, x + 10, y + 10) for x, y in [drawing.centres[t]]]
        for i, (t, *one) in enumerate(boxes):
            for u, *other in boxes[:i]:
                apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
                assert t == u or apart, (board.territories[t], board.territories[u])


def test_labels_and_discs_lie_in_the_picture(board):
    drawing = drawing_of(board)
    assert all(10 <= x <= drawing.width - 10 and 8 <= y <= drawing.height - 8 for x, y in drawing.centres)
    assert all(10 <= x <= drawing.width - 10 and 8 <= y <= drawing.height - 8 for x, y in drawing.labels)


def test_classic_sea_lines():
    """Lines show those of the 83 borders whose areas do not touch; one line crosses the edges of the map."""
    board = load_map("classic")
    geometry = geometry_of(board)
    assert len(geometry.touching) // 2 + len(geometry.sea) - 1 == 83
    pair = (board.territory("Alaska"), board.territory("Kamchatka"))
    assert pair in board.drawing.wrapped
    ends = [point[0] for path in geometry.sea for point in path]
    assert 0.0 in ends
    assert float(board.drawing.width) in ends


@pytest.mark.parametrize("size", [2, 3, 40, 256])
def test_automatic_layout(size):
    borders = tuple(sorted((t, (t + step) % size) for t in range(size) for step in {1, size - 1}))
    drawing = automatic_drawing(size, borders)
    automatic_drawing.cache_clear()
    assert automatic_drawing(size, borders) == drawing
    assert nearest_distance(drawing.centres) > 60
    assert all(MARGIN <= x <= drawing.width - MARGIN for x, _ in drawing.centres)
    assert all(MARGIN <= y <= drawing.height - MARGIN for _, y in drawing.centres)


def test_lines_of_automatic_drawings_pass_no_other_disc():
    """No line of the classic board crosses another disc; on larger maps some crossings are unavoidable."""
    board = load_map("classic")
    drawing = automatic_drawing(board.num_territories, board.borders)
    centres = np.array(drawing.centres)
    radius = drawing.outlines[0][0][0][0] - centres[0, 0]
    for source, target in board.borders:
        along = centres[target] - centres[source]
        for other in set(range(len(centres))) - {source, target}:
            part = np.clip((centres[other] - centres[source]) @ along / (along @ along), 0, 1)
            assert np.hypot(*(centres[other] - centres[source] - part * along)) > radius


def test_colours_are_told_apart():
    board = load_map("classic")
    assert len({*SEATS, NEUTRAL}) == 7
    assert len({continent_colour(board, c) for c in range(6)}) == 6
    plain = dataclasses.replace(board, colours=(None,) * 6)
    assert len({continent_colour(plain, c) for c in range(6)}) == 6


@pytest.mark.parametrize(
    ("troops", "text"), [(1, "1"), (9999, "9999"), (10_000, "10k"), (999_999, "999k"), (2**31 - 1, "2147M")]
)
def test_short_numbers(troops, text):
    assert short_number(troops) == text


@pytest.mark.parametrize("face", range(1, 7))
def test_pips(face):
    assert len(set(pips(face))) == len(pips(face)) == face


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"owner": (0,)}, "owner: 1 value; the map 'Tiny' has 6"),
        ({"troops": (0,) * 7}, "troops: 7 values"),
        ({"owner": (0, 0, 0, 3, 0, 0)}, r"owner of Dune: 3; allowed: -1 \(free\) to 2"),
        ({"hand_sizes": (1,)}, r"hand_sizes: 1 value; allowed: none, or one per seat \(2\)"),
    ],
)
@pytest.mark.parametrize("draw", [draw_svg, draw_rgb, draw_ansi])
def test_scene_of_another_board(draw, change, words):
    scene = dataclasses.replace(Scene((0,) * 6, (1,) * 6, 2), **change)
    with pytest.raises(ValueError, match=words):
        draw(load_map("tiny"), scene)


@pytest.mark.parametrize("width", [0, 99, 8001])
def test_width_is_checked(width):
    with pytest.raises(ValueError, match=f"width={width}: must be 100"):
        draw_rgb(load_map("tiny"), Scene((0,) * 6, (1,) * 6, 2), width)


# ------------------------------------------------------------------------------------------------ text


def test_ansi_of_tiny():
    board = load_map("tiny")
    scene = Scene(
        (0, 0, 1, 2, 1, -1),
        (3, 14, 1, 2, 250, 0),
        2,
        turn=0,
        seat=0,
        phase=Phase.DRAFT,
        round=1,
        hand_sizes=(1, 3),
        cities=(0,),
    )
    assert draw_ansi(board, scene) == (
        "Round 1, Player 0's turn, draft\n"
        "\n"
        "Woods +2             Waste +1\n"
        "0 Ash        3*      N Dune       2\n"
        "0 Birch     14       1 Ember    250\n"
        "1 Cedar      1       . Flint      -\n"
        "\n"
        "* city   ^ capital   # headquarters   + airfield\n"
        "\n"
        "> 0 Player 0           2 territories     17 troops  1 card\n"
        "  1 Player 1           2 territories    251 troops  3 cards\n"
        "  N Neutral            1 territories      2 troops\n"
    )


def test_ansi_colours_change_nothing_else(board):
    scene = full_scene(board)
    plain, coloured = draw_ansi(board, scene), draw_ansi(board, scene, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[34m" in coloured
    for name in board.territories:
        assert name in plain
        assert name in coloured


def test_ansi_keeps_to_its_width(board):
    for width in (60, 100, 160):
        lines = draw_ansi(board, full_scene(board), width=width).splitlines()[2:]
        assert all(len(line) <= max(width, 60) for line in lines if "territories" not in line)


# ------------------------------------------------------------------------------------------------ pygame

DRAW = """
import sys
from risk_env.board.maps import load_map
from risk_env.render import Scene, draw_ansi, draw_rgb, draw_svg
board, scene = load_map("tiny"), Scene((0,) * 6, (1,) * 6, 2)
draw_ansi(board, scene), draw_svg(board, scene)
assert "pygame" not in sys.modules
draw_rgb(board, scene, 200)
import pygame
assert not pygame.display.get_init()
"""


def test_no_display_is_needed():
    """Text and SVG work without pygame, and pixels without a display."""
    free = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")}
    result = subprocess.run(
        [sys.executable, "-c", DRAW], env=free, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""


def test_missing_pygame_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"pip install 'risk-env\[render\]'"):
        rgb.draw_rgb(load_map("tiny"), Scene((0,) * 6, (1,) * 6, 2))


def test_window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    import pygame

    window = Window(width=300)
    for name in ("tiny", "classic"):
        board = load_map(name)
        window.show(board, scene_of(board, players=3))
        shown = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
        assert (shown == draw_rgb(board, scene_of(board, players=3), 300)).all()
    assert window.is_open
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.pump()
    assert not window.is_open
    window.show(board, scene_of(board, players=3))
    window.close()
    assert not pygame.display.get_init()


def test_everybody_sees_objectives_and_rewards():
    """Pictures show face-up and taken Objectives with their Rewards and owners (RULES 9.5, 9.8)."""
    scene = full_scene(load_map("classic"))
    assert scene.goals(load_map("classic")) == [
        ("Objectives face up", "Europe [Airfield]"),
        ("<Bob> & co", "8 cities, [Defense Die]"),
    ]
    assert "Objectives face up: Europe [Airfield]\n" in draw_ansi(load_map("classic"), scene)
    game = Game(Rules.preset("command_room", 3), seed=1)
    scene = game_scene(game)
    laid = [number for number, state in enumerate(scene.objectives) if state == -1]
    assert len(laid) == sum(scene.objectives != -2) == 8
    assert all(scene.objective_rewards[number] >= 0 for number in laid)


@pytest.mark.parametrize("preset", ["command_room", "capital"])
def test_all_pictures_of_a_game_are_of_one_size(preset):
    game = Game(Rules.preset(preset, 3, attack="blitz", defender_dice="max", max_rounds=12), seed=2)
    rng, heights, goals = random.Random(2), set(), set()
    while not game.is_over:
        if rng.random() < 0.05:
            heights.add(compose(game.board, game_scene(game)).height)
            goals.add(tuple(game_scene(game).goals(game.board)))
        game.step(rng.choice(game.legal_actions().tolist()))
    assert len(heights) == 1
    assert len(goals) > 1 or preset == "capital"


def test_territories_of_different_seats_have_different_lines() -> None:
    board, players = load_map("classic"), 6
    owner = np.array([t % players for t in range(board.num_territories)])
    shapes = compose(board, Scene(owner, np.ones_like(owner), players)).shapes
    hatches = {}
    for area, lines in pairwise(shapes):
        if isinstance(area, Area) and area.title and isinstance(lines, Lines) and len(lines.paths) > 1:
            (x, y), (to_x, to_y) = lines.paths[0]
            inside = [point for path in lines.paths for point in path]
            xs, ys = zip(*(point for ring in area.rings for point in ring), strict=True)
            assert all(min(xs) - 1 < x < max(xs) + 1 and min(ys) - 1 < y < max(ys) + 1 for x, y in inside)
            found = hatches.setdefault(area.fill, set())
            found.add((round(np.arctan2(to_y - y, to_x - x) % np.pi, 3) % 3.142, lines.colour))
    assert len(hatches) == players - 1 and all(len(found) == 1 for found in hatches.values())
    turns = [turn for found in hatches.values() for turn, _ in found]
    assert len(set(turns)) == 4  # two seats share a direction, with lines at other distances
