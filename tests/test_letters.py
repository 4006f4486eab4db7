"""Texts written by people: byte-order marks, and letters with combining marks, composed or not."""

import codecs
import time
import unicodedata
from pathlib import Path

import pytest
from rich.cells import cell_len

from risk_agents.agent_list import labelled
from risk_agents.human.answers import understand
from risk_agents.llm.settings import settings_for
from risk_env import Game, Rules, View, load_map
from risk_env.board.maps import MapError, read_map
from risk_env.bounded_io import composed, read_text, text_of
from risk_env.render import ansi, scene_of
from risk_env.text.escape import is_label, label
from risk_env.text.positions import PositionError
from risk_env.words import seat_report
from risk_env.words.action_plan import ActionPlan, read_plan
from risk_env.words.report import read_report

TINY = (Path(read_map.__code__.co_filename).parent / "map_files" / "tiny.toml").read_text(encoding="utf-8")
NAMES = {  # Hindi, Portuguese, Tamil, Thai, Burmese, Vietnamese; a continent in Hindi
    "Ash": "हिन्दी",
    "Birch": "São João",
    "Cedar": "தமிழ்",
    "Dune": "ก่ำน้ำ",
    "Ember": "မြန်မာ",
    "Flint": "Bình Định",
    "Woods": "भारत महाद्वीप",
}


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def marked_map(folder: Path) -> Path:
    """Write the map tiny with the names of NAMES, decomposed, after a byte-order mark."""
    text = TINY
    for plain, name in NAMES.items():
        text = text.replace(f'"{plain}"', f'"{name}"')
    path = folder / "marked.toml"
    path.write_bytes(codecs.BOM_UTF8 + decomposed(text).encode())
    return path


def test_a_map_with_a_mark_and_decomposed_names_is_read(tmp_path: Path) -> None:
    board = load_map(marked_map(tmp_path))
    assert board.territories == tuple(composed(NAMES[name]) for name in load_map("tiny").territories)
    assert composed(NAMES["Woods"]) in board.continents
    for name in NAMES.values():
        if name != NAMES["Woods"]:
            for written in (name, decomposed(name), decomposed(name).upper()):
                assert board.territories[board.territory(written)] == composed(name)


def test_such_a_map_is_played_in_texts_of_either_form(tmp_path: Path) -> None:
    game = Game(Rules.preset("classic", 2, initial_troops=9), load_map(marked_map(tmp_path)), seed=1)
    for _ in range(60):
        for action in game.legal_actions().tolist():
            text = game.action_text(action)
            assert game.parse_action(decomposed(text)) == game.parse_action(text) == action
        again = Game.from_text("\ufeff" + decomposed(game.to_text()), board=game.board)
        assert again.to_text() == game.to_text()
        assert read_plan(decomposed(text), game.board) == read_plan(text, game.board)
        game.step(action)


# Names that replace the territory names of the map tiny, in the same order
ODD = ("1 > 2", "4th; Army, x", "\u2605", "#7: [x] -> y", "'half'", "12")


def test_any_names_are_quoted_in_texts(tmp_path: Path) -> None:
    """Actions, positions, plans and typed answers keep names that look like parts of the texts."""
    text = TINY
    for plain, name in zip(("Ash", "Birch", "Cedar", "Dune", "Ember", "Flint"), ODD, strict=True):
        text = text.replace(f'"{plain}"', f'"{name}"')
    board = read_map(text.replace('"Woods"', '"A: [B], +1"'))
    assert [name[0] for name in board.names_in_text] == ['"'] * 6
    game = Game(Rules.preset("classic", 2, initial_troops=9), board, seed=1)
    for step in range(150):
        view = View(game)
        for action, words in zip(game.legal_actions().tolist(), view.texts, strict=True):
            assert game.parse_action(words) == action
            assert understand(words, view, view.texts).action == action
        assert Game.from_text(game.to_text(), board=board).to_text() == game.to_text()
        facts = read_report(seat_report(game, game.seat), board)
        assert list(facts["owner"]) == game.owner.tolist()
        script = ActionPlan(game.seat)
        script.give(view.texts[step % len(view.texts)], game)
        game.step(script.next_action(game))


def test_columns_of_a_terminal_line_up(tmp_path: Path) -> None:
    game = Game(Rules.preset("classic", 2, setup="random"), load_map(marked_map(tmp_path)), seed=1)
    blocks = [ansi._block(game.board, scene_of(game), continent, False) for continent in range(2)]
    assert {cell_len(line) for block in blocks for line in block} == {ansi._block_width(game.board)}


def test_names_in_escapes_are_composed_too() -> None:
    board = read_map(TINY.replace('"Flint"', r'"Flin\u0303t"'))
    assert composed("Flin\u0303t") in board.territories


@pytest.mark.parametrize(
    "name", ["\u0303Flint", "Flint \u0303", "Fl-\u0303int", "Flint\u20dd", "Fli\u200dnt", "Fl\u202eint"]
)
def test_marks_without_a_letter_and_other_signs_are_refused(name: str) -> None:
    with pytest.raises(MapError, match="cannot be a name: a name must not"):
        read_map(TINY.replace('"Flint"', f'"{name}"'))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings_are_refused_with_the_reason(encoding: str, tmp_path: Path) -> None:
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else b""
    (tmp_path / "map.toml").write_bytes(mark + TINY.replace("Flint", "Flïnt").encode(encoding))
    why = (
        "codec can't decode"
        if encoding == "latin-1"
        else f"is encoded as {encoding[:6].upper()}: save it as UTF-8"
    )
    with pytest.raises(MapError, match=why):
        load_map(tmp_path / "map.toml")


@pytest.mark.parametrize(
    "marks", ["\u0315" * 60_000 + "\u0300" * 60_000, "\u0315\u0300" * 60_000, "\u0301" * 31]
)
def test_rows_of_marks_are_refused_at_once(marks: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match="combining marks in a row: at most 30"):
        composed("a" + marks)
    with pytest.raises(MapError, match="combining marks"):
        read_map(f'name = "a{marks}"')
    if len(marks) < 60_000:
        with pytest.raises(PositionError, match="combining marks"):
            Game.from_text(f"risk_env position 1\nrules: a{marks}")
        with pytest.raises(ValueError, match="combining marks"):
            Game(Rules.preset("classic", 2), "tiny", 1).parse_action(f"claim a{marks}")
    label("a" + marks)
    assert time.process_time() - begun < 5


def test_labels_of_agents_and_players() -> None:
    for name in ("हिन्दी", "São João", "ไทยก่ำ"):
        assert label(decomposed(name)) == composed(name) and is_label(composed(name))
        assert labelled(f"{decomposed(name)}=random") == (composed(name), "random")
    assert label(decomposed("ã" * 60)) == "ã" * 40
    for words in ("ậ" * 80, "\u0958" * 80, "a" + "\u0301" * 80):
        assert is_label(label(words)), words


def test_other_files_of_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "llm.toml").write_bytes(codecs.BOM_UTF8 + b"attempts = 7\n")
    monkeypatch.setenv("RISK_ENV_LLM", str(tmp_path / "llm.toml"))
    assert settings_for("x").attempts == 7
    assert text_of(codecs.BOM_UTF8 + decomposed("ã").encode()) == "ã"
    (tmp_path / "binary").write_bytes(b"\xff\xfeab")
    with pytest.raises(ValueError, match=r"binary.*UTF-16"):
        read_text(tmp_path / "binary", 100)


def test_a_person_may_type_either_form(tmp_path: Path) -> None:
    from risk_env.agent import View

    game = Game(Rules.preset("classic", 2, initial_troops=9), load_map(marked_map(tmp_path)), seed=1)
    view = View(game)
    for text in view.texts:
        name = text.removeprefix("claim ")
        assert understand(decomposed(name), view, view.texts).action == game.parse_action(text)
