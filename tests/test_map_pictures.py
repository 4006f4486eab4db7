"""Pictures under maps: read safely, imported in their own scale, and drawn in every drawing."""

from __future__ import annotations

import base64
import time
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from risk_env import Game, MapError, Rules, cli, load_map
from risk_env.board.importing.reader import import_map
from risk_env.board.map_pictures import (
    MOST_BYTES,
    MOST_NAME,
    MOST_PARTS,
    MOST_SCANS,
    MOST_SIDE,
    picture_of,
    problem_of_file_name,
)
from risk_env.board.maps import Board, read_map
from risk_env.render import draw_rgb, draw_svg, scene_of
from risk_env.render.svg import draw_map
from risk_env.viewer.map_data import map_data
from tests.browser import opened_page
from tests.foreign_maps import CONQUEST, CSV, DOMINATION
from tests.pictures import BASELINE, PROGRESSIVE, RED, SIGNATURE, chunks_of, png, png_of

PNG = png(8, 6)
HEADER, DATA, END = chunks_of(PNG)
FRAME = BASELINE.index(b"\xff\xc0")  # the segment with the size
SCAN = BASELINE.index(b"\xff\xda")


@pytest.mark.parametrize(
    ("content", "kind"),
    [(PNG, "png"), (BASELINE, "jpeg"), (PROGRESSIVE, "jpeg")],
    ids=["png", "jpeg", "progressive"],
)
def test_an_image_is_kept_as_it_is(content: bytes, kind: str) -> None:
    picture = picture_of(content)
    assert (picture.media_type, picture.width, picture.height) == (f"image/{kind}", 8, 6)
    head, _, rest = picture.url.partition(",")
    assert head == f"data:image/{kind};base64" and base64.b64decode(rest) == content


def header(width: int = 8, height: int = 6, rest: tuple[int, ...] = (8, 2, 0, 0, 0)) -> tuple[bytes, bytes]:
    """Return the first chunk of a PNG image."""
    return b"IHDR", width.to_bytes(4) + height.to_bytes(4) + bytes(rest)


def with_frame(kind: int, *values: int) -> bytes:
    """Return the JPEG image with another kind of frame and other first values in the frame."""
    at = FRAME + 4
    return (
        BASELINE[: FRAME + 1]
        + bytes((kind,))
        + BASELINE[FRAME + 2 : at]
        + bytes(values)
        + (BASELINE[at + len(values) :])
    )


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "neither a PNG nor a JPEG"),
    "gif": (b"GIF89a\1\0\1\0\0\0\0;", "neither a PNG nor a JPEG"),
    "svg": (b"<svg onload='alert(1)'/>", "neither a PNG nor a JPEG"),
    "signature alone": (SIGNATURE, "damaged"),
    "cut": (PNG[:-1], "damaged"),
    "no end": (png_of([HEADER, DATA]), "damaged"),
    "no data": (png_of([HEADER, END]), "damaged"),
    "no header": (png_of([DATA, END]), "damaged"),
    "short header": (png_of([(b"IHDR", HEADER[1][:12]), DATA, END]), "damaged"),
    "wrong checksum": (PNG.replace(zlib.crc32(b"IEND").to_bytes(4), b"abcd"), "damaged"),
    "chunk beyond the end": (SIGNATURE + b"\xff\xff\xff\xffIHDR" + HEADER[1], "damaged"),
    "content after the end": (PNG + b"<script>", "content after the end"),
    "no width": (png_of([header(width=0), DATA, END]), "0 x 6 pixels"),
    "too wide": (png_of([header(width=MOST_SIDE + 1), DATA, END]), "10001 x 6 pixels: an image may have"),
    "too many pixels": (png_of([header(5000, 5000), DATA, END]), "at most 16777216 pixels in total"),
    "largest width": (png_of([header(width=2**32 - 1), DATA, END]), "4294967295 x 6 pixels"),
    "depth": (png_of([header(rest=(3, 2, 0, 0, 0)), DATA, END]), "damaged"),
    "colours": (png_of([header(rest=(8, 5, 0, 0, 0)), DATA, END]), "damaged"),
    "no palette": (png_of([header(rest=(8, 3, 0, 0, 0)), DATA, END]), "damaged"),
    "compression": (png_of([header(rest=(8, 2, 1, 0, 0)), DATA, END]), "damaged"),
    "interlace": (png_of([header(rest=(8, 2, 0, 0, 2)), DATA, END]), "damaged"),
    "many chunks": (png_of([HEADER, *MOST_PARTS * [(b"tEXt", b"")], DATA, END]), f"more than {MOST_PARTS}"),
    "jpeg start alone": (b"\xff\xd8", "damaged"),
    "jpeg cut": (BASELINE[:-2], "damaged"),
    "jpeg cut in a segment": (BASELINE[: FRAME + 6], "damaged"),
    "jpeg without a scan": (BASELINE[:SCAN] + b"\xff\xd9", "damaged"),
    "jpeg without a frame": (BASELINE[:FRAME] + BASELINE[SCAN:], "damaged"),
    "jpeg with two frames": (BASELINE[:SCAN] + BASELINE[FRAME:], "damaged"),
    "jpeg with a segment of no length": (b"\xff\xd8\xff\xe0\0\0" + BASELINE[2:], "damaged"),
    "jpeg with content after the end": (BASELINE + b"PK\3\4", "content after the end"),
    "jpeg without loss": (with_frame(0xC3), "unusual kind"),
    "jpeg of 12 bits": (with_frame(0xC1, 12), "unusual kind"),
    "jpeg of four colours": (with_frame(0xC0, 8, 0, 6, 0, 8, 4), "unusual kind"),
    "jpeg without height": (with_frame(0xC0, 8, 0, 0), "8 x 0 pixels"),
    "jpeg too high": (with_frame(0xC0, 8, 0xFF, 0xFF), "8 x 65535 pixels"),
    "jpeg of fill bytes": (b"\xff\xd8" + (1 << 20) * b"\xff", "damaged"),
    "jpeg of fill bytes in a scan": (BASELINE[:-2] + (1 << 20) * b"\xff" + b"\0", "damaged"),
    "jpeg of segments": (b"\xff\xd8" + 2 * MOST_PARTS * b"\xff\xe0\0\2", f"more than {MOST_PARTS}"),
    "jpeg of scans": (
        BASELINE[:-2] + MOST_SCANS * BASELINE[SCAN:-2] + b"\xff\xd9",
        f"more than {MOST_SCANS} scans",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_images_are_refused_soon(name: str) -> None:
    content, problem = HOSTILE[name]
    start = time.process_time()
    with pytest.raises(ValueError, match=problem):
        picture_of(content)
    assert time.process_time() - start < 5


# --------------------------------------------------------------------------------------------- map files


def with_picture(name: str) -> str:
    """Return the text of a map of two territories with this picture."""
    return f"""
name = "Two"
[[continent]]
name = "C"
bonus = 1
[[territory]]
name = "Ash"
continent = "C"
borders = ["Elm"]
[[territory]]
name = "Elm"
continent = "C"
borders = ["Ash"]
[drawing]
width = 300
height = 200
picture = '{name}'
[drawing.centres]
Ash = [50, 100]
Elm = [250, 100]
"""


def two(folder: Path, picture: bytes = PNG) -> Board:
    """Return the map of two territories with a picture."""
    (folder / "two.png").write_bytes(picture)
    (folder / "two.toml").write_text(with_picture("two.png"))
    return load_map(folder / "two.toml")


def test_a_map_file_names_a_picture_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = two(tmp_path)
    assert board.drawing is not None and board.drawing.picture == picture_of(PNG)
    without = read_map(with_picture("two.png").replace("picture = 'two.png'", ""))
    assert board == without and board.digest == without.digest
    monkeypatch.chdir(tmp_path)
    assert load_map("two.toml") == board
    with pytest.raises(MapError, match=r"drawing, picture: 'two.png': the folder of the picture is unknown"):
        read_map(with_picture("two.png"))


def test_a_picture_that_is_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "two.png").symlink_to("other.png")
    (tmp_path / "other.png").symlink_to("two.png")
    (tmp_path / "two.toml").write_text(with_picture("two.png"))
    with pytest.raises(MapError, match="drawing, picture"):
        load_map(tmp_path / "two.toml")


def test_the_first_message_of_a_browser_has_room_for_the_largest_picture() -> None:
    from risk_agents.serving.connections import MOST_UNREAD

    assert 4 * MOST_BYTES / 3 < 0.9 * MOST_UNREAD


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.png", "/etc/secret.png", "..\\secret.png", "maps/../../secret.png", "C:secret.png"),
        *(".png", "..", "", "secret", "secret.svg", "secret.toml", "a\u202egnp.png"),
        "x" * MOST_NAME + ".png",
    ],
)
def test_names_of_other_files_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "map.toml").write_text(with_picture(name), encoding="utf-8")
    assert problem_of_file_name(name)
    with pytest.raises(MapError, match=r"map\.toml: drawing, picture: .* cannot be used: "):
        load_map(folder / "map.toml")


def test_links_folders_and_large_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    folder = tmp_path / "maps"
    folder.mkdir()
    path = folder / "map.toml"
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "own.png").write_bytes(PNG)
    (folder / "inside.png").symlink_to(folder / "own.png")
    (folder / "folder.png").mkdir()
    (folder / "large.png").write_bytes(PNG + bytes(MOST_BYTES))
    for name, problem in (
        ("link.png", "a link to a file outside the folder"),
        ("folder.png", "no regular file"),
        ("missing.png", "no regular file"),
        ("large.png", f"larger than {MOST_BYTES} bytes"),
    ):
        path.write_text(with_picture(name))
        with pytest.raises(MapError, match=problem):
            load_map(path)
    path.write_text(with_picture("inside.png"))
    assert load_map(path).drawing is not None


# --------------------------------------------------------------------------------------------- import


@pytest.mark.parametrize(
    ("file", "text"), [("corners.map", DOMINATION), ("conquest.map", CONQUEST), ("graph.csv", CSV)]
)
def test_coordinates_are_pixels_of_the_picture(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    (tmp_path / "under.png").write_bytes(png(240, 160))
    found = import_map(tmp_path / file, simplify=True, picture=tmp_path / "under.png")
    drawing = found.board.drawing
    assert drawing is not None and drawing.picture is not None and drawing.picture.width == 240
    assert (drawing.width, drawing.height) == (600, 400)  # the form of the picture
    assert drawing.centres[:2] == ((25.0, 25.0), (275.0, 25.0))  # 10, 10 and 110, 10 of 240 x 160 pixels
    (tmp_path / "new.toml").write_text(found.text, encoding="utf-8")
    assert load_map(tmp_path / "new.toml").drawing == drawing


def test_a_picture_that_does_not_fit_is_a_problem_among_the_others(tmp_path: Path) -> None:
    path, picture = tmp_path / "corners.map", tmp_path / "under.png"
    for size, text, problem in (
        ((100, 160), DOMINATION, "outside the picture of 100 x 160 pixels: 'Birch Hill', 'Dune': a picture"),
        ((240, 160), DOMINATION.replace(" 10 10\n", "\n"), "no coordinates for 'Ash': a picture needs"),
        (
            (240, 160),
            DOMINATION.replace("110 90", "10 90"),
            "coordinates of several territories are the same",
        ),
    ):
        path.write_text(text.replace("East 3", "East x"))
        picture.write_bytes(png(*size))
        with pytest.raises(MapError) as error:
            import_map(path, picture=picture)
        assert problem in str(error.value) and "'x' is not a whole number" in str(error.value)
    path.write_text(DOMINATION)
    picture.write_bytes(b"GIF89a")
    with pytest.raises(MapError, match="neither a PNG nor a JPEG"):
        import_map(path, picture=picture)


def test_the_command_copies_the_picture_beside_the_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, picture = tmp_path / "corners.map", tmp_path / "under.png"
    source.write_text(DOMINATION)
    picture.write_bytes(png(240, 160))
    folder = tmp_path / "maps"
    folder.mkdir()
    command = ["maps", "import", str(source), "--picture", str(picture), "--out"]
    assert cli.main([*command, str(folder / "a.toml")]) == 0
    assert "drawing: from the file, with a picture" in capsys.readouterr().out
    assert (folder / "under.png").read_bytes() == picture.read_bytes()
    assert cli.main([*command, str(folder / "same.toml")]) == 0
    picture.write_bytes(png(480, 320))
    assert cli.main([*command, str(folder / "b.toml")]) == 2  # the folder has another picture of this name
    assert "under.png: the file exists" in capsys.readouterr().err and not (folder / "b.toml").exists()
    assert cli.main([*command, str(tmp_path / "c.toml")]) == 0
    assert cli.main(["maps", "draw", str(folder / "a.toml"), "--out", str(tmp_path / "a.svg")]) == 0
    assert "<image " in (tmp_path / "a.svg").read_text()
    with pytest.raises(SystemExit):
        cli.main(["maps", "draw", "tiny", "--picture", str(picture)])
    assert "draw: --picture is for import only" in capsys.readouterr().err


# --------------------------------------------------------------------------------------------- drawings


def test_an_svg_contains_the_picture_under_the_territories(tmp_path: Path) -> None:
    board = two(tmp_path)
    game = Game(Rules.preset("classic", 2, setup="random", deck="none"), board, seed=1)
    for text in (draw_map(board), draw_svg(board, scene_of(game))):
        shapes = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text)]
        assert shapes.count("image") == 1 and shapes.index("image") < shapes.index("path")
        assert board.drawing and board.drawing.picture and board.drawing.picture.url in text
    assert "<image" not in draw_map(load_map("tiny"))
    assert map_data(load_map("tiny"))["picture"] is None


@pytest.mark.parametrize("content", [PNG, BASELINE, PROGRESSIVE], ids=["png", "jpeg", "progressive"])
def test_pixels_show_the_picture(content: bytes, tmp_path: Path) -> None:
    board = two(tmp_path, content)
    game = Game(Rules.preset("classic", 2, setup="random", deck="none"), board, seed=1)
    pixels = draw_rgb(board, scene_of(game), 300)
    assert np.abs(pixels[150, 5].astype(int) - RED).max() < 60  # the lower left corner of the map


def test_an_image_that_cannot_be_decoded_leaves_the_map(tmp_path: Path) -> None:
    board = two(tmp_path, png_of([HEADER, (b"IDAT", b"not compressed"), END]))
    game = Game(Rules.preset("classic", 2, setup="random", deck="none"), board, seed=1)
    assert draw_rgb(board, scene_of(game), 300).shape[1] == 300


def test_a_page_shows_the_picture(browser: Any, tmp_path: Path) -> None:
    game = Game(Rules.preset("classic", 2, setup="random", deck="none"), two(tmp_path), seed=1)
    game.replay().save(tmp_path / "game.html")
    with opened_page(browser, (tmp_path / "game.html").as_uri()) as page:  # the policy of the page allows it
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate("""async () => {
            const image = new Image();
            image.src = document.querySelector("#board image").getAttribute("href");
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }""") == [8, 6]
