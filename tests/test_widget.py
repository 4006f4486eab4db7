"""Boards in notebooks: one slider moves two replays to the same turn."""

import base64
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from risk_env import Game, Rules
from risk_env.viewer.page import HEIGHT, static
from risk_env.viewer.replay import Replay
from tests.browser import opened_page, violations
from tests.pages import code_of, run_code
from tests.pages import page as page_of

# a page that shows the board as a notebook does, with a model instead of the kernel
PAGE = """<!doctype html><html lang="en"><head><title>A notebook</title></head><body><main></main>
<script type="module">
const facts = %s, calls = [];
window.model = { get: (name) => facts[name], on: (_, call) => calls.push(call), save_changes() {},
    set(name, value) { facts[name] = value; calls.forEach((call) => call()); } };
const { default: board } = await import("data:text/javascript;base64,%s");
window.close_board = board.render({ model, el: document.querySelector("main") });
</script></body></html>"""
WIDTHS = (600, pytest.param(900, marks=pytest.mark.long))


def replay_of(seed: int, decisions: int) -> Replay:
    game, rng = Game(Rules.preset("classic", 3, setup="random"), "tiny", seed), random.Random(seed)
    for _ in range(decisions):
        game.step(int(rng.choice(game.legal_actions())))
    return game.replay(["A", "B", "</script>"])


@pytest.mark.parametrize("width", WIDTHS)
def test_a_board_plays_steps_and_scrubs_two_games(browser: Any, tmp_path: Path, width: int) -> None:
    replays = [replay_of(1, 60), replay_of(2, 90)]
    facts = {
        "pages": [one.to_html() for one in replays],
        "titles": ["one", "two"],
        "turn": 0,
        "height": HEIGHT,
    }
    text = json.dumps(facts).replace("<", "\\u003c")
    path = tmp_path / "notebook.html"
    path.write_text(PAGE % (text, base64.b64encode(static("widget.js").encode()).decode()), "utf-8")
    with opened_page(browser, path.as_uri(), {"width": width, "height": 900}) as page:
        page.wait_for_function("() => document.querySelector('input')?.max > 2")
        assert page.locator("iframe").first.bounding_box()["height"] == HEIGHT
        for part in page.frames[1:]:
            part.wait_for_selector("body[data-ready]")
            part.evaluate("window.turns = [0, ...replay.history.turns]")
            assert part.evaluate("document.documentElement.scrollWidth") <= width
        longest = max(part.evaluate("turns.length") for part in page.frames[1:])

        def wait_for(turn: int) -> None:
            for part in page.frames[1:]:
                part.wait_for_function(
                    "turn => replay.frame === (turns[turn] ?? replay.history.length - 1)", arg=turn
                )

        page.wait_for_function(
            "longest => Number(document.querySelector('input').max) === longest", arg=longest
        )
        page.get_by_role("button", name="Next turn").click()
        wait_for(1)
        page.get_by_role("slider").fill("3")
        wait_for(3)
        page.evaluate(f"model.set('turn', {longest - 1})")
        wait_for(longest - 1)
        page.get_by_role("button", name="Play").click()
        wait_for(longest)
        assert page.get_by_role("button", name="Play", exact=True).count() == 1
        assert violations(page) == []


def test_a_board_needs_anywidget_and_one_or_two_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = replay_of(1, 5)
    monkeypatch.delitem(sys.modules, "risk_env.viewer.widget", raising=False)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "anywidget", None)
        with pytest.raises(ImportError, match=r"pip install 'risk-env\[notebook\]'"):
            replay.board()
    pytest.importorskip("anywidget")
    with pytest.raises(ValueError, match="3 replays: a board shows 1 to 2"):
        replay.board(replay, replay)
    board = replay.board(replay)
    board.turn = 2
    assert repr(board) == "<ReplayBoard of 2 replays, turn 2>" and len(board.pages) == 2
    assert len(str(board._repr_mimebundle_())) < 500
    assert run_code(code_of(page_of("browser"), ".board("))["board"].turn == 5
