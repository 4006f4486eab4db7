"""Rewrite the screenshots in docs/pictures/ with a real browser: `python docs/pictures.py`."""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from risk_agents.registry import play_game  # noqa: E402
from risk_agents.review import review  # noqa: E402
from risk_agents.win_chances import chances_by_play  # noqa: E402
from risk_env import Game, Rules, load_map  # noqa: E402
from risk_env.core.types import Phase  # noqa: E402
from risk_env.viewer.replay import Replay  # noqa: E402
from tests.browser import DESKTOP, PHONE, opened_browser, opened_page  # noqa: E402
from tests.web_server import served  # noqa: E402

NAMES = ("grower", "breaker", "attacker")
PREPARED = 300_000  # time limit for agents to compile their code, in milliseconds
PICTURES = ROOT / "docs" / "pictures"


def main() -> None:
    """Write pictures of a replay, a review, the analysis board, two live games and the lobby.

    The replay is drawn on a desktop, light and dark, and on a phone.
    """
    rules = Rules.preset("classic", 3, profile="fast", setup="claim")
    game = play_game(rules, load_map("classic"), NAMES, seed=3)
    with tempfile.TemporaryDirectory() as folder, opened_browser() as browser:
        path = Path(folder) / "game.html"
        replay = game.replay(NAMES, evaluate=chances_by_play(rules, game.board, "breaker"))
        replay.save(path)
        kinds = [{event["kind"] for event in events} for _, events in replay.facts["frames"]]
        battles = [n for n, frame_kinds in enumerate(kinds) if "battle" in frame_kinds]
        for name, size, scheme, battle in (
            ("replay", DESKTOP, "light", 100),
            ("replay_dark", DESKTOP, "dark", 170),
            ("replay_phone", PHONE, "light", 100),
        ):
            with opened_page(browser, f"{path.as_uri()}#{battles[battle]}", size, scheme) as page:
                page.wait_for_selector("body[data-ready]")
                if scheme == "dark":
                    page.get_by_role("tab", name="Curves").click()
                save(page, PICTURES / f"{name}.png")
        draw_review(browser, path, replay, game)
        with served(Path(folder)) as (address, lobby):
            draw_analysis(browser, address, game)
            draw_table(browser, address)
            draw_first_game(browser, address, lobby)
            draw_lobby(browser, address)


def draw_review(browser: Any, path: Path, replay: Replay, game: Game) -> None:
    """Draw the review of a game, with a better plan on the board."""
    replay.facts["review"] = review(game, NAMES).to_dict()
    replay.save(path)
    with opened_page(browser, path.as_uri()) as page:
        page.wait_for_selector("body[data-ready]")
        page.get_by_role("tab", name="Review").click()
        page.locator("[data-route=Better]").first.dispatch_event("click")
        save(page, PICTURES / "review.png")


def attack_of(game: Game) -> Game:
    """Return the game at the first attack decision of the fifth round."""
    past = game.beginning()
    for action in game.actions:
        if past.round == 5 and past.phase == Phase.ATTACK:
            break
        past.step(action)
    return past


def draw_analysis(browser: Any, address: str, game: Game) -> None:
    """Draw the analysis board of `risk-env serve`."""
    text = attack_of(game).to_text()
    with opened_page(browser, f"{address}/analysis") as page:
        page.wait_for_selector("#agent option", state="attached")
        page.evaluate("([text, names]) => analysis.open(text, names)", [text, NAMES])
        page.wait_for_selector("#estimated:has-text('games')", timeout=PREPARED)
        page.click("#ask button")
        page.wait_for_selector("#plans li", timeout=PREPARED)
        save(page, PICTURES / "analysis.png")


def draw_table(browser: Any, address: str) -> None:
    """Draw a turn of a live game."""
    wish = {
        "preset": "classic",
        "map": "classic",
        "players": ["human", *NAMES[1:]],
        "options": {"setup": "random"},
    }
    with opened_page(browser, f"{address}/game/none", DESKTOP, "dark") as page:
        begin = page.request.post(f"{address}/api/games", data=wish).json()
        page.goto(f"{address}/game/{begin['game']}#token={begin['tokens'][0]}")
        page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
        page.locator("#amount").fill("2")
        page.locator('.area[data-lit="true"]').first.dispatch_event("click")
        page.wait_for_selector(".bubbles .gain")
        page.get_by_role("tab", name="Goals").click()
        save(page, PICTURES / "game.png")


def draw_first_game(browser: Any, address: str, lobby: Any) -> None:
    """Draw the first game of a new player on a phone, with the odds of an attack."""
    with opened_page(browser, f"{address}/game/none", PHONE, touch=True) as page:
        begin = page.request.post(f"{address}/api/first", data={}).json()
        page.evaluate("game => import('risk/guide').then(({ guideGame }) => guideGame(game))", begin["game"])
        page.goto(f"{address}/game/{begin['game']}#token={begin['tokens'][0]}")
        page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
        page.get_by_role("button", name="Next", exact=True).click()
        territory = lobby.tables[begin["game"]].game.board.territory("Curlew")
        area = page.locator(f'.area[data-territory="{territory}"]')
        area.dispatch_event("click")
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_function("() => live.question?.phase === 'ATTACK'")
        area.dispatch_event("click")
        save(page, PICTURES / "first_game.png")


def draw_lobby(browser: Any, address: str) -> None:
    """Draw the form for a new game."""
    with opened_page(browser, address) as page:
        page.wait_for_selector("#seats option[disabled]", state="attached", timeout=PREPARED)
        page.locator("#seats .about").last.wait_for()
        page.wait_for_function("() => document.getElementById('picture').naturalWidth > 0")
        save(page, PICTURES / "lobby.png")


def save(page: Any, path: Path) -> None:
    """Save a screenshot of the page in 256 colours."""
    path.parent.mkdir(exist_ok=True)
    # with a plain background, few colours suffice
    page.evaluate("document.getElementById('stage')?.style.setProperty('background', 'var(--sea)')")
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
