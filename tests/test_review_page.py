"""The review in a real browser: the tab of a replay, and the button after a game on a server."""

from pathlib import Path
from typing import Any

import pytest

from risk_agents.registry import play_game
from risk_env import Game, Rules, SavedGame, load_map
from tests.browser import DESKTOP, PHONE, TABLET, opened_page, violations

pytestmark = pytest.mark.long
NAMES = ["Ann", "Bob", "<b>Cleo</b>"]
BETTER = {"words": "Attack Birch.", "drafts": [[0, 3]], "attacks": [[0, 1], [1, 4]], "moves": [[4, 5, 2]]}
PLAYED = {"words": "No attack.", "drafts": [], "attacks": [], "moves": []}


@pytest.fixture(scope="module")
def game() -> Game:
    rules = Rules.preset("classic", 3, profile="fast", max_rounds=12)
    return play_game(rules, load_map("tiny"), ["random"] * 3, seed=1)


def review_of(game: Game) -> dict[str, Any]:
    """Return a review of every turn, in which seat 1 has a costly turn in round 2."""
    turns, seat, round_number = [], -1, 0
    for event in game.events():
        round_number = event.number if event.kind == "round" else round_number
        if event.kind == "turn":
            seat = event.seat
            luck = [0.25, -0.25, 0.0] if not turns else [0.0] * 3
            facts = {"round": round_number, "seat": seat, "chances": [0.5, 0.3, 0.2], "luck": luck}
            turns.append(facts | {"loss": 0.1 if (round_number, seat) == (2, 1) else 0.0})
    mistake = {"round": 2, "seat": 1, "loss": 0.1, "error": 0.02, "games": 640, "plan": "beam 1"}
    mistakes = [mistake | {"played": PLAYED, "better": BETTER}]
    facts = {"schema": 1, "names": NAMES, "turns": turns, "end": [0.0, 0.0, 1.0], "mistakes": mistakes}
    return facts | {"note": "Luck is a rough estimate."}


def rows(page: Any) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".sums tbody tr").all_inner_texts()]


def drawn(page: Any) -> list[str]:
    """Return the words beside the arrows of the plan on the board."""
    return page.locator("#board .plan").all_text_contents()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, TABLET, PHONE], ids=["desktop", "tablet", "phone"])
def test_the_tab_of_a_replay_draws_the_better_plan(
    browser: Any, game: Game, tmp_path: Path, size: dict[str, int], scheme: str
) -> None:
    replay = game.replay(NAMES)
    replay.facts["review"] = review_of(game)
    replay.save(tmp_path / "game.html")
    with opened_page(browser, (tmp_path / "game.html").as_uri(), size, scheme, touch=size == PHONE) as page:
        page.wait_for_selector("body[data-ready]")
        page.get_by_role("tab", name="Review").click()
        assert page.get_by_text("Luck is a rough estimate").is_visible()
        assert rows(page) == [
            "0Ann 50 % +25 % +0 % 0 %",
            "1Bob 30 % −25 % −10 % 0 %",
            "2<b>Cleo</b> 20 % +0 % +0 % 100 %",
        ]
        assert violations(page) == []
        better, played = page.locator("[data-route=Better]"), page.locator("[data-route=Played]")
        better.click()
        assert page.locator("#status").inner_text().startswith("Round 2, Bob's turn")
        assert drawn(page) == ["1", "2", "move 2"] and better.get_attribute("aria-pressed") == "true"
        assert page.locator("#stage").bounding_box()["y"] >= 0  # the board is in view
        played.click()
        assert drawn(page) == [] and better.get_attribute("aria-pressed") == "false"
        better.click()
        page.evaluate("replay.step('event', 1)")
        assert drawn(page) == [] and better.get_attribute("aria-pressed") == "false"


def test_a_replay_without_a_review_has_no_tab(browser: Any, game: Game, tmp_path: Path) -> None:
    game.replay(NAMES).save(tmp_path / "game.html")
    with opened_page(browser, (tmp_path / "game.html").as_uri()) as page:
        page.wait_for_selector("body[data-ready]")
        assert page.get_by_role("tab", name="Review").count() == 0
        page.get_by_role("tab", name="Curves").click()
        page.get_by_role("tab", name="Curves").press("ArrowRight")  # skips the hidden tab
        assert page.get_by_role("tab", name="Text").get_attribute("aria-selected") == "true"


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_button_after_a_game_shows_the_review(
    browser: Any, game: Game, tmp_path: Path, size: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from risk_agents.web.reviews import Reviews
    from tests.web_server import served

    answers: list[dict[str, Any]] = [{"waiting": True}, {"review": review_of(game)}]

    async def of(self: Any, name: str, table: Any) -> dict[str, Any]:
        return answers.pop(0)

    monkeypatch.setattr(Reviews, "of", of)
    with served(tmp_path) as (address, lobby):
        name = lobby.add_recorded(SavedGame.of(game, ["a", "b", "c"]))
        with opened_page(browser, f"{address}/game/{name}", size, touch=size == PHONE) as page:
            page.wait_for_selector("body[data-ready]")
            page.get_by_role("button", name="Review").click()
            page.wait_for_selector(".question:has-text('Reviewing the game')")
            page.wait_for_selector("#tab-review[aria-selected=true]")
            assert len(rows(page)) == 3
            page.locator("[data-route=Better]").click()
            assert drawn(page) == ["1", "2", "move 2"] and not answers
