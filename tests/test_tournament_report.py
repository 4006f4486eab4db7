"""The report of a tournament as a page: sortable tables, links to replays, small screens and dark mode."""

import re
from pathlib import Path
from typing import Any

import pytest

from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.report import PLOTS, picture
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.summary import summarise
from risk_env import __version__
from tests.browser import DESKTOP, PHONE, TABLET, opened_page, violations

pytest.importorskip("matplotlib")

AGENTS = ("--agents", "grower,bold=random", "--players", "2")
COMMAND = (*AGENTS, "--games", "12", "--max-rounds", "4", "--seed", "5")
SORTED = """name => { const table = document.querySelector('.games table');
    [...table.querySelectorAll('th button')].find((button) => button.textContent === name).click();
    const column = table.querySelector('[aria-sort]').cellIndex;
    return [...table.tBodies[0].rows].map((row) => row.cells[column].textContent); }"""
DARK = """pictures => pictures.map((one) =>
    one.querySelector('img').currentSrc === one.querySelector('source').srcset)"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("50% a#b")
    files = ("--out", "games.sqlite", "--report", "report.html", "--replays", "pages")
    paths = [word if word.startswith("--") else str(folder / word) for word in files]
    tournament([*COMMAND, *paths, "--replay-games", "every:5", "--quiet"])
    return folder / "report.html"


def test_a_report_names_date_version_and_command(report: Path) -> None:
    text = report.read_text()
    assert re.search(r"<dt>date</dt><dd>20\d\d-\d\d-\d\d \d\d:\d\d UTC</dd>", text)
    assert f"risk_env {__version__}, Python 3." in text
    (command,) = re.findall("<code>(.*)</code>", text)
    assert command.startswith("risk-env tournament ") and all(word in command.split() for word in COMMAND)
    tournament([*command.split()[2:], "--quiet", "--out", str(report.parent / "again.sqlite")])
    first, again = (Store.open(report.parent / f"{name}.sqlite") for name in ("games", "again"))
    assert [(game.places, game.rounds) for game in first.results()] == [
        (game.places, game.rounds) for game in again.results()
    ]
    first.close()
    again.close()


def test_games_link_to_their_replays(report: Path) -> None:
    links = re.findall(r'<a href="([^"]*)">game (\d+)</a>', report.read_text())
    assert links == [(f"pages/game-{game}.html", game) for game in ("0", "5", "10")]
    assert all((report.parent / link).is_file() for link, _ in links)


def test_rates_have_axes_to_100(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    drawn: list[Any] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure.axes[0]))
    store = Store.open(report.parent / "games.sqlite")
    summary = summarise(store.config, list(store.results()))
    store.close()
    for name in ("Win rate by turn order", "Win rates with 95 % confidence intervals"):
        picture(summary, [name], 1)
    assert drawn[0].get_ylim() == (0, 100) == drawn[1].get_xlim()


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (PHONE, "dark"),
        pytest.param(DESKTOP, "light", marks=pytest.mark.long),
        pytest.param(TABLET, "dark", marks=pytest.mark.long),
    ],
)
def test_a_report_is_sorted_and_read_on_every_screen(
    browser: Any, report: Path, size: dict[str, int], scheme: str
) -> None:
    with opened_page(browser, report.as_uri(), size, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert violations(page) == []
        rounds = page.evaluate(SORTED, "rounds")
        assert rounds == sorted(rounds, key=int, reverse=True)
        assert page.evaluate(SORTED, "replay")[:3] == ["game 0", "game 5", "game 10"]
        pictures = page.locator("picture").evaluate_all(DARK)
        assert pictures == [scheme == "dark"] * len(PLOTS)
