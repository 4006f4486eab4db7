"""Write the pictures of docs/pictures/ again, from a real game in a real browser: `python docs/pictures.py`."""

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
from risk_agents.rollouts import chances_by_play  # noqa: E402
from risk_env import Rules, load_map  # noqa: E402
from tests.browser import DESKTOP, PHONE, opened_browser, opened_page  # noqa: E402

NAMES = ("grower", "breaker", "attacker")


def main() -> None:
    """A replay, light and dark, on a desk and on a phone."""
    rules = Rules.preset("classic", 3, attack="blitz", defender_dice="max", max_rounds=100)
    game = play_game(rules, load_map("classic"), NAMES, seed=3)
    with tempfile.TemporaryDirectory() as folder, opened_browser() as browser:
        path = Path(folder) / "game.html"
        replay = game.replay(NAMES, evaluate=chances_by_play(rules, game.board, "breaker"))
        replay.save(path)
        battles = [n for n, (_, events) in enumerate(replay.facts["frames"]) if events[0]["kind"] == "roll"]
        for name, size, scheme, battle in (
            ("replay", DESKTOP, "light", 240),
            ("replay_dark", DESKTOP, "dark", 420),
            ("replay_phone", PHONE, "light", 240),
        ):
            with opened_page(browser, f"{path.as_uri()}#{battles[battle]}", size, scheme) as page:
                page.wait_for_selector("body[data-ready]")
                if scheme == "dark":
                    page.get_by_role("tab", name="Curves").click()
                save(page, ROOT / "docs" / "pictures" / f"{name}.png")


def save(page: Any, path: Path) -> None:
    """Write what the page shows, in 256 colours."""
    path.parent.mkdir(exist_ok=True)
    page.evaluate("document.getElementById('stage').style.background = 'var(--sea)'")  # few colours suffice then
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
