"""Maps of other programs: they load, or are refused with all their problems at once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from risk_env import Game, Rules, cli, load_map, map_command
from risk_env.board.importing.draft import MOST_SHOWN
from risk_env.board.importing.reader import MOST_BYTES, ImportedMap, import_map
from risk_env.board.maps import MAX_TERRITORIES, MapError
from tests.foreign_maps import CARDS, CLUB, CONQUEST, CSV, DOMINATION, FILES, Foreign
from tests.full_disk import full_disk


def written(file: Foreign, folder: Path) -> Path:
    """Write a file, and its cards where the map finds them."""
    path = folder / file.file
    path.write_bytes(file.content)
    if file.cards is not None:
        (folder / "corners.cards").write_bytes(file.cards)
    return path


def test_there_are_sixteen_files() -> None:
    assert len(FILES) == 16


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.file)
def test_a_file_loads_or_all_its_problems_are_reported(file: Foreign, tmp_path: Path) -> None:
    path = written(file, tmp_path)
    if file.problems:
        with pytest.raises(MapError) as error:
            import_map(path)
        lines = str(error.value).splitlines()
        count = len(file.problems)
        assert lines[0] == f"{file.file}: {count} problem{'s' if count > 1 else ''}:"
        for line, problem in zip(lines[1:], file.problems, strict=False):
            assert problem in line
    if file.territories:
        check_loaded(file, import_map(path, **file.options), tmp_path)


def check_loaded(file: Foreign, found: ImportedMap, folder: Path) -> None:
    """Compare an imported map with what is known of the file, and read the written map again."""
    assert (found.board.num_territories, len(found.board.borders)) == (file.territories, file.borders)
    for part in file.decisions:
        assert any(part in decision for decision in found.decisions), (part, found.decisions)
    if not file.decisions:
        assert found.decisions == ()
    path = folder / "written.toml"
    path.write_text(found.text, encoding="utf-8")
    assert load_map(path) == found.board
    game = Game(Rules.preset("classic", 2, setup="random"), load_map(path), seed=1)
    for _ in range(40):
        action = int(game.legal_actions()[-1])
        assert game.parse_action(game.action_text(action)) == action
        game.step(action)
    assert Game.from_text(game.to_text(), board=game.board).to_text() == game.to_text()


def test_facts_of_a_file_are_kept(tmp_path: Path) -> None:
    board = import_map(written(FILES[0], tmp_path)).board
    assert board.name == "Four Corners"
    assert board.territories == ("Ash", "Birch Hill", "Cedar", "Dune")
    assert list(zip(board.continents, board.bonuses, strict=True)) == [("West Side", 2), ("East", 3)]
    assert board.symbols == ("infantry", "cavalry", "artillery", "infantry")
    assert board.num_wilds == 1
    assert [m.kind for m in board.missions] == ["territories", "continents", *3 * ["destroy"]]
    assert board.missions[1].any_third
    assert {m.fallback_territories for m in board.missions[2:]} == {3}
    assert board.drawing is not None
    (x0, y0), (x1, y1), _, (x3, y3) = board.drawing.centres
    assert (y0, x1, y1) == (y1, x3, y0)
    assert (x1 - x0) * 80 == pytest.approx((y3 - y1) * 100, abs=100)
    assert all(len(rings) == 1 for rings in board.drawing.outlines)


# ------------------------------------------------------------------------------------------- hostile files

BIG = "continent,C,1\n" + "".join(f"territory,T{i},C\n" for i in range(257))
LONG = "continent,C,1\n" + "".join(f"territory,{i}{'a' * 1500},C\n" for i in range(256)) + "border,x,y\n" * 50
CROWD = (
    "continent,C,1\n"
    + "".join(f"territory,T{i},C\n" for i in range(33))
    + "".join(f"border,T{i},T{j}\n" for i in range(33) for j in range(i))
)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "unknown format"),
        (b"\xff\xfe[\x00", "cannot be read: the text is encoded as UTF-16"),
        (b"[countries]\n", "the section [continents] is missing; the file has '[countries]'"),
        (b"x" * (MOST_BYTES + 1), f"is larger than {MOST_BYTES} bytes"),
        (BIG.encode(), "number of territories: 257; must be from 2 to 256"),
        (CROWD.encode(), "1056 borders (a two-way border counts as two): a map has at most 1024"),
        (b'{"territories":' + b"[" * 5000, "cannot be|levels|not"),
        (b'{"a": 1' + b"0" * 6000 + b"}", "digits"),
        (b"<map>" * 40, "XML file too large"),
        (b"<map>" + b"<a/>" * 20_001, "20000 elements"),
        (b"<map>", "not XML"),
        (b'<!DOCTYPE x SYSTEM "http://example.invalid/x.dtd"><map/>', "a document type or an entity"),
        (b"border,A,B\n" * 5000, f"and {10_000 + 2 - MOST_SHOWN} more"),
        (b"continent,C,1\nterritory,A\x81,C\n", "A\\x81|cannot be read"),
        (b"continent,C,1,red,x,,\n", "line 1: 'x' is one value too many; the row is name, bonus, colour"),
        (b'{"borders": [["A", "B", 3]]}', "border 1: 3 is one value too many; the row is from, to"),
        (b"continent,C,1\nterritory,A\nterritory,B\nborder,A,B", "no continent has a territory"),
        (LONG.encode(), "a name must have 1 to 60 characters"),
        (b"continent,C,1001\nterritory,A,C\nterritory,B,C\nborder,A,B", "the bonus 1001: at most 1000"),
    ],
)
def test_hostile_files_are_refused_soon(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "evil"
    path.write_bytes(content)
    start = time.process_time()
    with pytest.raises(MapError) as error:
        import_map(path)
    assert any(part in str(error.value) for part in problem.split("|")), str(error.value)[:500]
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "named",
    ["../secret.cards", "/etc/passwd", "secret.txt", "..\\secret.cards", "a\0b.cards", "x" * 300 + ".cards"],
)
def test_a_map_names_only_cards_next_to_it(named: str, tmp_path: Path) -> None:
    (tmp_path / "secret.cards").write_text("[cards]\nsecret 1\n")
    folder = tmp_path / "maps"
    folder.mkdir()
    path = folder / "corners.map"
    path.write_text(DOMINATION.replace("corners.cards", named))
    found = import_map(path)
    assert any("no .cards file" in decision for decision in found.decisions)


def test_coordinates_far_apart_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text("continent,C,1\nterritory,A,C,0,0\nterritory,B,C,10000001,0\nborder,A,B\n")
    assert (
        "coordinates are more than 10000000 pixels apart: the drawing is automatic"
        in import_map(path).decisions
    )


def test_cards_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "map").write_text(DOMINATION)
    (tmp_path / "other").write_text(CARDS)
    assert import_map(tmp_path / "map", tmp_path / "other").board.num_wilds == 1
    (tmp_path / "graph").write_text(CSV)
    with pytest.raises(MapError, match="only Domination maps have"):
        import_map(tmp_path / "graph", tmp_path / "other")
    with pytest.raises(MapError, match="cannot be read"):
        import_map(tmp_path / "map", tmp_path / "nowhere")


TOO_MANY = range(MAX_TERRITORIES + 1)
TOO_LARGE = {
    "domination.map": "[continents]\nC 1\n[countries]\n"
    + "".join(f"{t + 1} T{t} 1\n" for t in TOO_MANY)
    + "[borders]\n",
    "conquest.map": "[Continents]\nC=1\n[Territories]\n" + "".join(f"T{t},0,0,C\n" for t in TOO_MANY),
    "club.xml": "<map><territories>"
    + "".join(f"<territory><name>T{t}</name></territory>" for t in TOO_MANY)
    + "</territories></map>",
    "graph.json": json.dumps({"territories": [f"T{t}" for t in TOO_MANY]}),
    "graph.csv": "".join(f"territory,T{t}\n" for t in TOO_MANY),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_every_importer_names_the_largest_number_of_territories(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(TOO_LARGE[name])
    with pytest.raises(MapError, match=f"territories: {len(TOO_MANY)}; must be from 2 to {MAX_TERRITORIES}"):
        import_map(path)


def test_map_files_and_random_maps_name_the_largest_number_of_territories(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    table = '[[territory]]\nname = "T{}"\nborders = []\n'
    head = 'name = "Large"\n[[continent]]\nname = "C"\nbonus = 1\n'
    path.write_text(head + "".join(table.format(t) for t in TOO_MANY))
    with pytest.raises(MapError, match=f"must be at most {MAX_TERRITORIES}"):
        load_map(path)
    with pytest.raises(MapError, match=f"territories={len(TOO_MANY)}: must be 6 to {MAX_TERRITORIES}"):
        load_map(f"random:1:territories={len(TOO_MANY)}")


def test_problems_name_their_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "corners.map"
    path.write_text(DOMINATION.replace("4 Dune 2", "4 Ash 9"))
    (tmp_path / "corners.cards").write_text(
        CARDS.replace("Cannon 3", "Cannon 77").replace("1 0 0 0", "x 0 0 0")
    )
    with pytest.raises(MapError) as error:
        import_map(path)
    for problem in (
        "line 14: territory 'Ash' is given twice",
        "line 14: territory 'Ash': no continent 9; the file has 2 continents",
        "cards, line 4: no country with the ID '77'",
        "cards, line 8, mission: 'x' is not a whole number",
    ):
        assert f"\n  {problem}" in str(error.value)


def test_an_error_has_the_decisions_as_notes(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text(CSV.replace("Dune", "done") + "border,Ash\nterritory,,East\n")
    with pytest.raises(MapError) as error:
        import_map(path)
    assert "line 12: to is missing; the row is from, to" in str(error.value)
    assert "territory 5: the name is missing" in str(error.value)
    assert "territory 'done' is renamed to 'done 2'" in error.value.__notes__


# --------------------------------------------------------------------------------------------- the command


def test_the_command_imports_checks_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, picture = (str(tmp_path / name) for name in ("m.map", "m.toml", "m.svg"))
    Path(source).write_text(CONQUEST)
    assert cli.main(["maps", "import", source]) == 0
    assert "Nothing is written" in capsys.readouterr().out
    assert cli.main(["maps", "import", source, "--out", out]) == 0
    assert "note: the file has no cards" in capsys.readouterr().out
    assert cli.main(["maps", "check", out]) == 0
    printed = capsys.readouterr().out
    assert "m: 4 territories, 4 borders, 2 continents" in printed
    assert "classic: 2, 3, 4 players" in printed
    assert cli.main(["maps", out, "--out", picture]) == 0
    drawn = Path(picture).read_text()
    assert "Birch Hill" in drawn
    for arguments in (["import", source, "--out", out], ["draw", out, "--out", picture]):
        assert cli.main(["maps", *arguments]) == 2
        assert "the file exists; choose another name" in capsys.readouterr().err
    capsys.readouterr()
    assert cli.main(["maps"]) == 0
    assert "classic" in capsys.readouterr().out


@pytest.mark.parametrize("action", ["draw", "import"])
def test_a_full_disk_leaves_no_part_of_a_file(action: str, tmp_path: Path) -> None:
    source, out = tmp_path / "m.map", tmp_path / ("x.svg" if action == "draw" else "x.toml")
    source.write_text(CONQUEST)
    arguments = [action, "tiny" if action == "draw" else str(source), "--out", str(out)]
    with full_disk(50), pytest.raises(OSError):
        map_command.main(arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["m.map"]
    map_command.main(arguments)
    assert out.stat().st_size > 50


def test_the_command_prints_all_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.xml"
    path.write_text(CLUB.replace("<border>Ash</border>", "").replace("<bonus>3", "<bonus>-3"))
    assert cli.main(["maps", "import", str(path), "--out", str(tmp_path / "x.toml")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[1].endswith("no chain of borders leads to 'Ash' from 'Birch Hill', 'Cedar', 'Dune'")
    assert any("Use --mirror" in line for line in lines)
    assert any(line.startswith("  note: ") and "cards" in line for line in lines)
    assert lines[-1] == "risk-env: error: broken.xml: 2 problems"
    assert not (tmp_path / "x.toml").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["draw"],
        ["list", "classic"],
        ["check", "classic", "--out", "x.svg"],
        ["draw", "tiny", "--mirror"],
        ["paint", "tiny"],
    ],
)
def test_wrong_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["maps", *arguments])
    assert stop.value.code == 2
