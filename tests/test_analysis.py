"""The analysis board: requests to the server, and the page.

Every kind of question is answered by hand.
"""

import random
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette")

from risk_agents.web import analysis_board, analyst, position_edit
from risk_agents.web.analyst import Analyst
from risk_agents.web.work_process import reply_to
from risk_env import Game, Rules, presets
from risk_env.core.types import Phase
from tests.browser import DESKTOP, PHONE, TABLET, opened_page, violations
from tests.test_table_page import LEAST, SMALL
from tests.web_server import client, posted, refused, served

NODE, EDIT, CHANCES, PLANS, ODDS = (
    f"/api/analysis/{name}" for name in ("node", "edit", "chances", "plans", "odds")
)
TEXT = """risk_env game 1
rules: preset=classic, num_players=3, attack=blitz
map: tiny
phase: attack
hand 0: Ash, wild
[territories]
Ash: 0, 9
Birch: 0, 2
Cedar: 1, 4
Dune: 1, 2
Ember: 2, 3
Flint: 2, 3
"""
DRAFT = TEXT.replace("attack\n", "draft_amount\ndraft left: 40\ntarget: Ash\n")


def place(territory: int, owner: int, troops: int) -> dict[str, int]:
    return {"territory": territory, "owner": owner, "troops": troops}


# ------------------------------------------------------------------------------------------- what is answered


def test_a_number_of_troops_is_one_answer(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        node = posted(server, NODE, {"position": DRAFT, "troops": 37})
        assert (node["state"]["troops"][0], node["state"]["draft_left"], node["words"]) == (
            46,
            3,
            "troops 37",
        )


def test_moves_are_tried_with_dice_that_can_be_rolled_again(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        root = posted(server, NODE, {"position": TEXT})
        assert root["map"]["territories"][0] == "Ash" and root["state"]["hands"][0] and not root["events"]
        attack = next(choice for choice in root["question"]["legal"] if choice["kind"] == "attack")

        def after(chance: int) -> dict[str, Any]:
            return posted(
                server, NODE, {"position": root["position"], "action": attack["action"], "chance": chance}
            )

        assert after(0) == after(0) and "map" not in after(0) and after(0)["words"] == attack["text"]
        assert len({after(chance)["position"] for chance in range(5)}) > 1
        assert Game.from_text(after(1)["position"]).troops.sum() < Game.from_text(TEXT).troops.sum()


@pytest.mark.parametrize(
    ("address", "wish", "message"),
    [
        (NODE, {"position": "nonsense"}, "line 1: expected 'risk_env game 1', found 'nonsense'"),
        (NODE, {"position": TEXT.replace("Ash: 0, 9", "Ash: 0, -9")}, "line 7"),
        (NODE, {"position": TEXT, "action": 9999}, "9999 is not legal in phase ATTACK"),
        (NODE, {"position": TEXT, "troops": 3}, "troops=3: this decision takes no number of troops"),
        (NODE, {"position": DRAFT, "troops": -3}, "troops=-3: must be from 1 to "),
        (NODE, {"position": TEXT, "action": "1"}, "action must be of type int"),
        (NODE, {"text": TEXT}, "the request must be a JSON object with these entries: position"),
        (NODE, {"position": TEXT, "acton": 1}, "'acton' is unknown; did you mean 'action'"),
        (
            NODE,
            {"position": DRAFT, "action": 0, "troops": 3},
            "both action and troops; it must have exactly one of",
        ),
        (NODE, {"position": "x" * 140_000}, "too long"),
        (EDIT, {"position": TEXT, "territory": 0, "troops": 3}, "the edit has territory, troops; it must"),
        (EDIT, {"position": TEXT} | place(99, 0, 3), "territory=99: must be from 0 to 5"),
        (EDIT, {"position": TEXT} | place(0, 3, 3), "neutral"),
        (EDIT, {"position": TEXT} | place(0, 0, -3), "'player 0, -3' is not of the form"),
        (EDIT, {"position": TEXT} | place(0, 0, 99_999), "this server allows at most"),
        (EDIT, {"position": TEXT, "seat": 0, "cards": "wild\nround: 7"}, "no territory 'wild round: 7'"),
        (EDIT, {"position": TEXT, "seat": 0, "cards": "x" * 3000}, "3000 characters; at most 2000"),
        (EDIT, {"position": TEXT, "seat": 7, "part": "draft"}, "turn: '7' is not a whole number from 0 to 2"),
        (EDIT, {"position": TEXT, "seat": 0, "part": "lunch"}, "part='lunch': choose one of draft, attack"),
        (ODDS, {"attackers": 2000, "defenders": 1}, "attackers=2000: must be from 1 to 1000"),
        (ODDS, {"attackers": True, "defenders": 1}, "attackers must be of type int"),
    ],
)
def test_wrong_questions_are_refused_by_name(address: str, wish: Any, message: str, tmp_path: Path) -> None:
    with client(tmp_path) as server:
        assert message in refused(server, address, wish)


def edited(server: Any, text: str, **edit: Any) -> Game:
    return Game.from_text(posted(server, EDIT, {"position": text, **edit})["position"])


def test_a_position_is_edited(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        game = edited(server, TEXT, **place(1, 2, 7))
        assert (game.owner[1], game.troops[1], game.seat, game.phase) == (2, 7, 0, Phase.ATTACK)
        assert game.hand(0) == ("Ash", "wild")
        game = edited(server, game.to_text(), seat=0, cards="Ash, Dune, wild")
        assert game.hand(0) == ("Ash", "Dune", "wild")
        for seat, part, phase in (
            *((0, "draft", Phase.TRADE), (1, "draft", Phase.DRAFT)),
            *((2, "attack", Phase.ATTACK), (2, "fortify", Phase.FORTIFY_FROM)),
        ):
            game = edited(server, game.to_text(), seat=seat, part=part)
            assert (game.seat, game.turn, game.phase) == (seat, seat, phase)


def test_an_edit_keeps_the_order_of_elimination() -> None:
    text = TEXT.replace("num_players=3", "num_players=4").replace(": 2,", ": 0,")
    game = Game.from_text(text.replace("hand 0", "fallen: 3, 2\nhand 0"))
    for edit, deaths in (
        ({"seat": 1, "part": "attack"}, [0, 0, 2, 1]),
        ({"seat": 0, "cards": "Dune"}, [0, 0, 2, 1]),
        (place(3, 2, 5), [0, 0, 0, 1]),
    ):
        assert position_edit.edited(game, edit).record["death"][:4].tolist() == deaths


def test_the_page_opens_with_a_position(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        node = posted(server, "/api/analysis/start", {})
        assert node["players"] == 3 and Game.from_text(node["position"]).phase == Phase.DRAFT


def test_odds_are_those_of_the_library(tmp_path: Path) -> None:
    with client(tmp_path) as server:
        assert posted(server, ODDS, {"attackers": 3, "defenders": 1})["win"] == pytest.approx(
            0.7542, abs=1e-4
        )


@pytest.mark.long
def test_a_process_estimates_and_one_that_takes_too_long_is_ended(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(analyst, "LIMIT", 300.0)
    with client(tmp_path) as server:
        chances = posted(server, CHANCES, {"position": TEXT})
        assert sum(chances["chances"]) == pytest.approx(1) and chances["games"] == analysis_board.GAMES
        assert "agent='cmd:true': choose one of" in refused(
            server, PLANS, {"position": TEXT, "agent": "cmd:true"}
        )
        monkeypatch.setattr(analyst, "LIMIT", 1e-3)
        assert "no answer within" in refused(server, CHANCES, {"position": TEXT})
        monkeypatch.setattr(analyst, "LIMIT", 300.0)
        assert posted(server, CHANCES, {"position": TEXT}) == chances  # by a new process


def test_too_many_questions_at_a_time_are_refused(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(analysis_board, "MOST_WAITING", 0)
    with client(tmp_path) as server:
        assert "the server is busy" in refused(server, NODE, {"position": TEXT})


# ------------------------------------------------------------------------------------------------ the page


# an answer of the server that comes after another position is shown
LATE = """() => { const soon = window.fetch;
    window.fetch = async (...request) => {
        const found = await new Promise((tell) => setTimeout(() => tell(soon(...request)), 100));
        setTimeout(() => { window.late = true; }, 50);
        return found; };
    analysis.show(analysis.root);
    analysis.play({ action: analysis.root.question.legal.find(({ kind }) => kind === "done").action });
    analysis.show(analysis.root); }"""


@pytest.fixture
def here(monkeypatch: Any) -> None:
    """Make estimates in this process, which has loaded all code."""

    def result(_self: Analyst, request: dict[str, Any]) -> Any:
        return reply_to(request, analyst.METHODS)["result"]

    monkeypatch.setattr(Analyst, "request", result)


@pytest.fixture
def no_estimates(monkeypatch: Any) -> None:
    """Make no estimates."""
    monkeypatch.setattr(Analyst, "request", lambda _self, request: [0.0] * 3)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_a_position_is_analysed(browser: Any, tmp_path: Path, size: dict[str, int], scheme: str) -> None:
    link = f"/analysis#{urlencode({'position': TEXT, 'players': 3})}"
    with (
        served(tmp_path) as (address, _lobby),
        opened_page(browser, address + link, size, scheme) as page,
    ):
        page.wait_for_selector("#estimated:has-text(' games')")
        chance = re.compile(r"\d+ % \[\d+–\d+\]")
        assert all(map(chance.fullmatch, page.locator(".chance").all_inner_texts()))
        page.wait_for_selector("#agent option", state="attached")
        assert page.input_value("#agent") == "strategist"
        page.click("#ask button")
        plans = page.locator("#plans button")
        plans.first.click(timeout=300_000)  # the first time, code is compiled
        assert all("attack" in words and chance.search(words) for words in plans.all_inner_texts())
        assert page.inner_text("#estimated") == "estimated by strategist; 95 % intervals"
        assert re.fullmatch("Player 0 would choose: (no )?attack.*", page.inner_text("#considered"))
        assert page.locator(".arrows .plan").count() >= 1
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert violations(page) == []
        for t in (0, 2):  # an attack of Ash on Cedar, by clicks
            page.locator(f'.area[data-territory="{t}"]').dispatch_event("click")
        page.wait_for_selector("#moves li:nth-child(2)")
        assert "Player 0: attack Ash > Cedar" in page.locator("#moves").inner_text()
        page.click("#again")
        page.wait_for_selector("#moves li:nth-child(3)")
        page.click("#back")
        assert page.locator("#moves [aria-current=true]").inner_text() == "The position"
        page.keyboard.press("ArrowRight")
        assert "attack" in page.locator("#moves [aria-current=true]").inner_text()
        page.fill("#attackers", "3")
        page.fill("#defenders", "1")
        page.wait_for_selector("#odds:has-text('75 %')")
        page.evaluate(LATE)
        page.wait_for_function("() => window.late")
        assert page.evaluate(
            "analysis.node === analysis.root && !document.querySelector('#moves li:nth-child(4)')"
        )


@pytest.mark.usefixtures("no_estimates")
def test_the_page_shows_the_stars_of_cards_in_games_with_stars(browser: Any, tmp_path: Path) -> None:
    text = Game(Rules.preset("command_room", 3), "classic", seed=1).to_text()
    with (
        served(tmp_path) as (address, _lobby),
        opened_page(browser, f"{address}/analysis", DESKTOP) as page,
    ):
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate("analysis.words.card(0)") == "Alaska (infantry)"
        page.fill("#position", text)
        page.click("#paste button")
        page.wait_for_function("() => analysis.words.card(0) === 'Alaska (1 star)'")


CENTRE = """t => { const [x, y] = analysis.map.centres[t];
    const point = new DOMPoint(x, y).matrixTransform(document.getElementById("board").getScreenCTM());
    return [point.x, point.y]; }"""


@pytest.mark.usefixtures("no_estimates")
@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (PHONE, "dark"),
        pytest.param(TABLET, "light", marks=pytest.mark.long),
        pytest.param(DESKTOP, "dark", marks=pytest.mark.long),
        pytest.param(DESKTOP, "light", marks=pytest.mark.long),
    ],
)
def test_a_position_is_edited_on_the_page_and_linked(
    browser: Any, tmp_path: Path, size: dict[str, int], scheme: str
) -> None:
    touch = size != DESKTOP
    with (
        served(tmp_path) as (address, _lobby),
        opened_page(browser, f"{address}/analysis", size, scheme, touch) as page,
    ):
        press = page.tap if touch else page.click
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate("analysis.map.territories.length") == 42
        page.fill("#position", TEXT)
        press("#paste button")
        page.wait_for_function("() => analysis.map.territories.length === 6")
        press("#edit summary")
        page.wait_for_selector("body[data-edits]")
        page.evaluate("scrollTo(0, 0)")
        board = page.locator("#board").bounding_box()
        (page.touchscreen.tap if touch else page.mouse.click)(*page.evaluate(CENTRE, 1))
        assert page.input_value("#edit-place") == "1" and page.evaluate("!analysis.node.parent")
        page.select_option("#edit-owner", "2")
        page.fill("#edit-troops", "17")
        page.keyboard.press("Enter")
        page.wait_for_function("() => analysis.node.state.troops[1] === 17")
        page.select_option("#edit-part", "draft")
        press("#edit-turn button")
        page.wait_for_function("() => analysis.node.question.phase === 'DRAFT_AMOUNT'")
        assert page.input_value("#edit-part") == "draft"
        page.fill("#edit-hand", "wild, Ash, Dune")
        press("#edit-cards button")
        page.wait_for_function("() => analysis.node.question.phase === 'TRADE'")
        assert page.locator("#moves li").count() == 4 and violations(page) == []
        assert not touch or page.evaluate(SMALL, LEAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        page.evaluate("scrollTo(0, 0)")
        assert page.locator("#board").bounding_box() == board
        there = page.evaluate("analysis.node.position")
        page.goto("about:blank")
        page.go_back()
        page.wait_for_function("there => window.analysis?.root?.position === there", arg=there)


@pytest.mark.usefixtures("no_estimates")
def test_a_wrong_position_is_explained_on_the_page(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, _lobby):
        page = browser.new_page()  # its console reports the refusal
        page.goto(f"{address}/analysis")
        page.wait_for_selector("body[data-ready]")
        page.fill("#position", TEXT.replace("Ash: 0, 9", "Oak: 0, 9"))
        page.click("#paste button")
        page.wait_for_selector("#error:has-text('line 7')")
        page.close()


# --------------------------------------------------------------------------------------------- every question


@cache
def questions(preset: str) -> dict[Phase, str]:
    """Return a position for each kind of question of a preset, found by random play on a small map."""
    options = {"initial_troops": 9} | ({} if preset == "two_player" else {"num_players": 3})
    options |= {"card_reroll": True, "commander": True} if preset == "classic" else {}
    found, rng = dict[Phase, str](), random.Random(0)
    for seed in range(40):
        board, options = ("classic", {}) if preset == "basic_training" else ("tiny", options)
        game = Game(Rules.preset(preset, **options, defender_dice="choice"), board, seed)
        for _ in range(300):
            if game.is_over:
                break
            if game.phase not in found:
                found[game.phase] = game.to_text()
            game.step(int(rng.choice(game.legal_actions())))
    return found


def test_random_play_asks_every_question() -> None:
    asked = set().union(*map(questions, presets()))
    assert set(Phase) - asked == {Phase.OVER, Phase.ROLL, Phase.DRAW}


@pytest.mark.long
@pytest.mark.usefixtures("no_estimates")
@pytest.mark.parametrize("preset", presets())
def test_every_question_is_answered_by_mouse_and_by_keyboard(
    browser: Any, tmp_path: Path, preset: str
) -> None:
    with served(tmp_path) as (address, _lobby), opened_page(browser, f"{address}/analysis") as page:
        page.wait_for_selector("body[data-ready]")
        for phase, text in questions(preset).items():
            page.evaluate("text => analysis.open(text, [])", text)
            assert page.evaluate("analysis.node.question.phase") == phase.name
            for answer in (by_mouse, by_keyboard):
                page.evaluate("analysis.show(analysis.root)")
                answer(page)
                page.wait_for_function("() => Boolean(analysis.node.parent)")


def by_mouse(page: Any) -> None:
    """Answer by a click on the board if possible, otherwise by a slider or a button."""
    kinds = page.evaluate("analysis.node.question.legal.map(({kind, places}) => [kind, ...places])")
    board = next((places for kind, *places in kinds if kind in ("territory", "attack")), None)
    if board is not None:
        for t in board:
            page.locator(f'.area[data-territory="{t}"]').dispatch_event("click")
    elif page.locator(".amount").count():
        slider = page.locator(".amount input[type=range]")
        slider.evaluate("slider => { slider.value = slider.min; slider.dispatchEvent(new Event('input')); }")
        page.locator(".amount [type=submit]").click()
    else:
        page.locator("#answers button").last.click()


def by_keyboard(page: Any) -> None:
    """Type a number and Enter, or choose the first answer."""
    page.evaluate("document.activeElement.blur()")
    if page.locator(".amount").count():
        page.keyboard.press("1")
    else:
        page.keyboard.press("q")
    page.keyboard.press("Enter")


@pytest.mark.usefixtures("no_estimates")
def test_any_number_of_troops_is_moved_by_one_answer(browser: Any, tmp_path: Path) -> None:
    text = TEXT.replace("Ash: 0, 9", "Ash: 0, 60").replace("phase: attack", "phase: draft\ndraft left: 40")
    with served(tmp_path) as (address, _lobby), opened_page(browser, f"{address}/analysis") as page:
        page.wait_for_selector("body[data-ready]")
        page.evaluate("text => analysis.open(text, [])", text)
        page.locator('.area[data-territory="0"]').dispatch_event("click")
        page.wait_for_selector("#amount")
        page.keyboard.type("37")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "() => analysis.node.state.draft_left === 3 && analysis.node.question.phase === 'DRAFT'"
        )
        assert page.evaluate("analysis.node.state.troops[0]") == 97
        moving = TEXT.replace("Ash: 0, 9", "Ash: 0, 60").replace(
            "attack\n", "fortify_amount\nsource: Ash\ntarget: Birch\n"
        )
        page.evaluate("text => analysis.open(text, [])", moving)
        page.wait_for_selector("#amount")
        page.keyboard.type("37")  # 30, 6, 1 and done
        page.keyboard.press("Enter")
        page.wait_for_function("() => analysis.node.state.troops[1] === 39 && analysis.node.state.turn === 1")
