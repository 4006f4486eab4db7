"""Untrusted words on screen: no name ends a report, moves the cursor, or becomes a formula."""

import csv
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk_agents.agent_list import labelled
from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results_store import Store
from risk_env.board.rules import Rules
from risk_env.cli import main as command
from risk_env.text.escape import LABEL_LETTERS, for_csv, for_figure, for_html, for_terminal, is_label, label

RULES = Rules.preset("classic", num_players=2, attack="blitz", defender_dice="max", max_rounds=2)
NAMES = ("[/red]", r"$\frac{$", "_hidden", "=1+2", "<b>&\"'", "\\", "$", "100 % {x}", "[bold")


@given(st.text())
def test_what_is_shown_is_printable_and_labels_are_labels(words: str) -> None:
    assert for_terminal(words).isprintable()
    assert for_terminal(words) == words or not words.isprintable()
    assert is_label(label(words))
    assert 1 <= len(label(words)) <= LABEL_LETTERS
    assert not str(for_csv(words)).startswith(("=", "+", "-", "@"))
    assert not {"<", ">", '"', "'"} & set(for_html(words))


def test_what_terminals_obey_is_spelled_out() -> None:
    assert for_terminal("\x1b]0;mine\x07\u202eevil\ud800\r") == "\\x1b]0;mine\\x07\\u202eevil\\ud800\\r"
    assert for_terminal("two\nlines", keep="\n") == "two\nlines"
    assert (for_csv("\t=1"), for_csv("-1"), for_csv(-1), for_csv("a-1")) == ("\\t=1", "'-1", -1, "a-1")
    assert (for_figure("$a$"), for_figure("_a")) == (r"\$a\$", " _a")


def test_an_error_does_not_reach_the_terminal_raw(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["replay", "no\x1b[2Jfile"]) == 2
    assert "no\\x1b[2Jfile" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a" * 41, " a"])
def test_a_label_has_an_end(name: str) -> None:
    with pytest.raises(ValueError, match="printable characters, and no space"):
        labelled(f"{name}=grower")


def test_a_tournament_of_odd_names_comes_to_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make_config([f"bot{k}=random" for k in range(len(NAMES))], RULES)
    entrants = tuple(replace(old, label=name) for old, name in zip(config.entrants, NAMES, strict=True))
    out = tmp_path / "games.sqlite"
    Store.create(out, replace(config, entrants=entrants), {"games": 10}).close()
    files = [f"--{kind}={tmp_path / f'all.{kind}'}" for kind in ("csv", "json")]
    tournament(["--resume", str(out), *files, "--report", str(tmp_path / "report.html")])
    told = capsys.readouterr()
    for name in NAMES:
        assert name in told.out
    with open(tmp_path / "all.csv", newline="") as file:
        agents = {row[column] for row in csv.DictReader(file) for column in ("agents_0", "agents_1")}
    assert "'=1+2" in agents and "=1+2" not in agents
    page = (tmp_path / "report.html").read_text()
    assert "&lt;b&gt;" in page and "<b>" not in page
    tournament(["--resume", str(out), "--quiet", "--report", str(tmp_path / "report.png")])


def test_reasons_of_an_altered_file_are_spelled_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "games.sqlite"
    tournament(["--agents", "random,grower", "--players", "2", "--games", "2", "--out", str(out), "--quiet"])
    with sqlite3.connect(out) as database:
        evil = (
            "UPDATE games SET ending = 'forfeit', forfeit_kind = 'crash', "
            "forfeit_seat = 0, forfeit_reason = ?"
        )
        database.execute(evil, ("\x1b[2J[/red]",))
    database.close()
    capsys.readouterr()
    tournament(["--resume", str(out), "--quiet"])
    assert "\\x1b[2J[/red]" in capsys.readouterr().out
