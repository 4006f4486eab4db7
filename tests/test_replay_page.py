"""The page of a replay in a real browser: every moment, by mouse and keyboard, on desktop and phone."""

import json
from pathlib import Path
from typing import Any

import pytest

from risk_agents.registry import play_game
from risk_env import Game, Rules, load_map
from tests.browser import DESKTOP, PHONE, opened_page, violations
from tests.test_replay import EVIL, played, states

SLOWEST = 2000.0  # milliseconds to draw any moment, on a slow machine


@pytest.fixture(scope="module")
def game() -> Game:
    rules = Rules.preset("secret_mission", 3, attack="blitz", defender_dice="max", max_rounds=150)
    return play_game(rules, load_map("classic"), ["random"] * 3, seed=2)


@pytest.fixture(scope="module")
def address(game: Game, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "game.html"
    game.replay(["first", EVIL, "third"], evaluate=lambda position: [0.2, 0.3, 0.5]).save(path)
    return path.as_uri()


def wait(page: Any) -> None:
    page.wait_for_selector("body[data-ready]")


def frame(page: Any) -> int:
    return int(page.locator("#count").inner_text().split(" / ")[0].replace(",", "")) - 1


def troops(page: Any) -> list[str]:
    return page.locator("#board .token text").all_text_contents()


@pytest.mark.long
def test_every_moment_is_drawn_as_it_was_and_at_once(browser: Any, address: str, game: Game) -> None:
    expected = states(game.replay().facts)
    with opened_page(browser, address) as page:
        wait(page)
        for number in (0, 1, 63, len(expected) // 2, len(expected) - 1, 2):
            page.evaluate("number => replay.show(number)", number)
            shown = [int(text) for text in troops(page)]
            assert shown == expected[number]["troops"] and frame(page) == number
        assert (
            max(milliseconds(page, number) for number in range(7, len(expected), len(expected) // 12))
            <= SLOWEST
        )


def milliseconds(page: Any, number: int) -> float:
    """Return the CPU time for showing a frame, including layout."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    before = spent()
    page.evaluate("number => { replay.show(number); document.body.getBoundingClientRect(); }", number)
    return 1000 * (spent() - before)


def test_it_is_stepped_and_jumped_through_by_mouse_and_by_keyboard(
    browser: Any, address: str, game: Game
) -> None:
    frames = game.replay().facts["frames"]
    turns = [
        number
        for number, (_, events) in enumerate(frames)
        if any(event["kind"] == "turn" for event in events)
    ]
    rounds = [
        number
        for number, (_, events) in enumerate(frames)
        if any(event["kind"] == "round" for event in events)
    ]
    with opened_page(browser, address) as page:
        wait(page)
        for name, at in (
            ("Next step", 1),
            ("Next turn", turns[0]),
            ("Next turn", turns[1]),
            ("Next round", rounds[1]),
        ):
            page.get_by_role("button", name=name).click()
            assert frame(page) == at
        page.locator("#stage").focus()
        steps = (
            ("ArrowRight", rounds[1] + 1),
            ("Home", 0),
            ("Shift+ArrowRight", turns[0]),
            ("ArrowDown", rounds[1]),
        )
        for key, at in (
            *steps,
            ("ArrowUp", rounds[0]),
            ("End", len(frames) - 1),
            ("ArrowLeft", len(frames) - 2),
        ):
            page.keyboard.press(key)
            assert frame(page) == at
        page.locator("#slider").fill(str(turns[3]))
        assert frame(page) == turns[3]
        page.keyboard.press("Home")
        page.get_by_label("Speed").select_option("20")
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_timeout(600)
        page.get_by_role("button", name="Pause", exact=True).click()
        assert frame(page) > 5
        page.keyboard.press("Home")
        page.locator(".event", has_text="deploys").nth(3).click()
        assert frames[frame(page)][1][-1]["kind"] == "deploy"


def test_it_shows_who_plays_what_happens_and_how_it_went(browser: Any, address: str, game: Game) -> None:
    with opened_page(browser, address) as page:
        wait(page)
        assert page.locator(".player .name").all_inner_texts() == ["first", EVIL, "third"]
        assert page.locator(".chance").all_inner_texts() == ["20 %", "30 %", "50 %"]
        assert "Mission:" in page.locator(".player").first.inner_text()
        page.get_by_role("tab", name="Curves").click()
        assert page.locator(".chart:visible figcaption").all_inner_texts() == [
            *("Chance to win", "Territories", "Troops", "Income")
        ]
        page.get_by_role("tab", name="Curves").press("ArrowRight")
        page.get_by_role("tab", name="Text").press("ArrowRight")
        assert page.locator(".event").first.is_visible() and not page.locator(".chart").first.is_visible()
        page.get_by_role("tab", name="Events").press("ArrowLeft")
        page.get_by_role("tab", name="Text").press("ArrowLeft")
        page.locator(".chart svg").nth(1).click()
        assert 0.3 < frame(page) / len(game.replay().facts["frames"]) < 0.7


@pytest.mark.parametrize(
    ("size", "scheme"), [pytest.param(DESKTOP, "light", marks=pytest.mark.long), (PHONE, "dark")]
)
def test_it_fits_the_screen_and_can_be_read(
    browser: Any, address: str, size: dict[str, int], scheme: str
) -> None:
    with opened_page(browser, f"{address}#500", size, scheme) as page:
        wait(page)
        assert frame(page) == 500
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if size == DESKTOP:
            assert page.evaluate("document.documentElement.scrollHeight") <= size["height"]
        assert violations(page) == []
        page.get_by_role("button", name="Zoom").click()
        names = page.locator(".label").first
        assert names.is_visible() and names.locator("tspan").first.bounding_box()["height"] >= 11


def test_one_seat_s_replay_shows_its_cards(browser: Any, tmp_path: Path) -> None:
    game = played("secret_mission", 5, 400)
    game.replay(seat=1).save(tmp_path / "seat.html")
    with opened_page(browser, (tmp_path / "seat.html").as_uri()) as page:
        wait(page)
        page.keyboard.press("End")
        shown = page.locator(".player").all_inner_texts()
        assert [("Mission:" in text) for text in shown] == [False, True, False]
        assert all(name in shown[1] for name in game.hand(1) if name != "wild")


def test_a_page_of_another_version_says_so(browser: Any, tmp_path: Path) -> None:
    replay = played("classic", 1, 20).replay()
    replay.facts["schema"] = 99
    replay.save(tmp_path / "other.html")
    with opened_page(browser, (tmp_path / "other.html").as_uri()) as page:
        assert "schema 99" in page.get_by_role("alert").inner_text()


def test_a_saved_notebook_shows_it(browser: Any, tmp_path: Path) -> None:
    frame_of_replay = played("classic", 1, 60).replay()._repr_html_()
    (tmp_path / "notebook.html").write_text(
        f"<!doctype html><meta charset=utf-8>{frame_of_replay}", encoding="utf-8"
    )
    with opened_page(browser, (tmp_path / "notebook.html").as_uri()) as page:
        inside = page.frame_locator("iframe")
        inside.locator("body[data-ready]").wait_for()
        inside.get_by_role("button", name="Next step").click()
        assert json.loads(inside.locator("#count").inner_text().split(" / ")[0]) == 2


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("world_domination", ["Alaska (infantry)", "wild card"]),
        ("command_room", ["Alaska (1 star)", "Ontario (2 stars)"]),
    ],
)
def test_cards_show_what_counts_in_the_game(
    browser: Any, tmp_path: Path, preset: str, words: list[str]
) -> None:
    game = Game(Rules.preset(preset, 3), "classic", seed=1)
    game.replay().save(tmp_path / "game.html")
    cards = [game.board.territory(each.split(" (")[0]) if "(" in each else 42 for each in words]
    with opened_page(browser, (tmp_path / "game.html").as_uri()) as page:
        wait(page)
        assert page.evaluate("cards => cards.map((card) => replay.words.card(card))", cards) == words
