"""The first game of a new player: its position, and the guide through one turn."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from risk_env import Game
from risk_env.viewer.page import static
from tests.browser import DESKTOP, PHONE, opened_page, violations
from tests.test_table_page import LEAST, PREPARED, SMALL, WATCH_BOARD, Hand
from tests.web_server import client, refused, served


def test_the_position_is_what_the_guide_says(tmp_path: Path) -> None:
    game = Game.from_text(static("first_game.txt", "risk_agents.web"))
    board, owner = game.board, game.owner.tolist()
    advised = board.territory("Curlew")
    open_land = [t for t in board.members_of[board.continents.index("Westmoor")] if owner[t] != 0]
    assert game.seat == 0 and game.phase.name == "DRAFT" and owner[advised] == 0
    assert open_land == [board.territory("Furze")] and open_land[0] in board.targets(advised)
    with client(tmp_path) as server:
        assert "has no settings" in refused(server, "/api/first", {"players": []})


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "scheme"),
    [(PHONE, "light"), (DESKTOP, "dark")],
)
def test_a_guided_turn(browser: Any, tmp_path: Path, size: dict[str, int], scheme: str) -> None:
    touch = size == PHONE
    with served(tmp_path) as (address, lobby), opened_page(browser, address, size, scheme, touch) as page:
        page.wait_for_selector("body[data-ready]")
        page.get_by_role("button", name="First game").click()
        page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
        (table,) = lobby.tables.values()
        table.set_pace(0)
        assert table.setting.game.players == ("human", "grower")
        page.on("dialog", lambda dialog: dialog.accept())
        hand = Hand(page, touch)
        page.evaluate(WATCH_BOARD)
        assert "all 27 territories" in advice(page) and violations(page) == []
        page.get_by_role("button", name="Next", exact=True).click()
        play_the_turn(hand, table)
        assert "a whole turn" in advice(page)
        if touch:
            assert page.evaluate(SMALL, LEAST) == []
        page.get_by_role("button", name="Finish").click()
        page.wait_for_selector(".guide", state="detached")
        assert page.evaluate("boardShift") == 0
        page.reload()
        page.wait_for_selector('#question[data-asked="true"]')
        assert page.locator(".guide").count() == 0


def advice(page: Any) -> str:
    return str(page.locator(".guide .advice").inner_text())


def play_the_turn(hand: Hand, table: Any) -> None:
    """Draft, attack, occupy and end the turn, as the guide says."""
    page, places = hand.page, table.game.board.territory
    assert "You get 10 new troops" in advice(page) and "Choose Curlew" in advice(page)
    assert page.locator(".hints path").count() == 1
    hand.choose(places("Curlew"))
    assert "Confirm plays it" in advice(page)
    hand.press("Confirm")
    source = advice(page).partition("Choose ")[2].partition(":")[0]
    hand.at(places(source))
    target = advice(page).partition("high: ")[2].partition(" falls")[0]
    assert "over 99 %" in advice(page)
    hand.choose(places(target))
    assert table.game.owner[places(target)] == 0
    assert "Move most of the troops into it" in advice(page)
    hand.press("Move")
    assert "you get a card" in advice(page)
    hand.press("End the attacks")
    assert "Once a turn" in advice(page)
    hand.press("End the turn")


@pytest.mark.long
def test_the_guide_can_be_skipped(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _lobby), opened_page(browser, f"{address}/game/none") as page:
        begun = page.request.post(f"{address}/api/first", data={}).json()
        page.evaluate("game => import('risk/guide').then(({ guideGame }) => guideGame(game))", begun["game"])
        page.goto(f"{address}/game/{begun['game']}#token={begun['tokens'][0]}")
        page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
        page.get_by_role("button", name="Skip the guide").click()
        assert page.locator(".guide").count() == 0 and page.locator(".hints path").count() == 0
        page.locator('.area[data-lit="true"]').first.dispatch_event("click")
        page.wait_for_selector("[data-command=confirm]")
