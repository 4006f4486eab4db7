"""The table in a browser: first and second taps, composed choices, a fixed board, and the lobby."""

import secrets
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from risk_env import Game, Rules
from tests.browser import DESKTOP, PHONE, TABLET, opened_page, violations
from tests.positions import position
from tests.web_server import served

PREPARED = 300_000  # milliseconds for agents to compile their code
LEAST = 44  # pixels that a finger needs
ASKED = "JSON.stringify(live.question)"
# Stores the largest movement of the board on the page, in pixels, in `boardShift`
WATCH_BOARD = """() => { const board = document.getElementById("board"), known = [];
    const place = () => { const { x, y, width, height } = board.getBoundingClientRect();
        return [x + scrollX, y + scrollY, width, height]; };
    window.boardShift = 0;
    const measure = () => {
        known.push(...(known.length ? [] : place()));
        const shifts = place().map((number, i) => Math.abs(number - known[i]));
        window.boardShift = Math.max(window.boardShift, ...shifts);
        requestAnimationFrame(measure); };
    measure(); }"""
SMALL = """least => [...document.querySelectorAll("button, select, a, summary, input, textarea")]
    .filter((node) => node.offsetParent && !node.disabled)
    .map((node) => [node.outerHTML.slice(0, 90), node.getBoundingClientRect()])
    .filter(([, { width, height }]) => width < least - 0.5 || height < least - 0.5).map(([words]) => words)"""
CENTRE = """t => { const [x, y] = live.facts.map.centres[t];
    const point = new DOMPoint(x, y).matrixTransform(document.getElementById("board").getScreenCTM());
    return [point.x, point.y]; }"""
DOUBLE_TAP = """([clientX, clientY]) => {
    const tap = { clientX, clientY, pointerType: "touch", bubbles: true };
    const board = document.getElementById("board");
    for (const _ of [1, 2]) board.dispatchEvent(new PointerEvent("click", tap)); }"""
COMPOSE = """([number, troops]) => {
    const { action } = live.question.legal.filter(({ kind }) => kind === "territory")[number];
    live.asker.give({ action, troops }); }"""
WISH = {
    "preset": "secret_mission",
    "map": "classic",
    "players": ["human", "human", "human"],
    "options": {"setup": "random", "attack": "blitz", "defender_dice": "max"},
}


class Hand:
    """A mouse or a finger on the page of the seat whose turn it is."""

    def __init__(self, page: Any, touch: bool) -> None:
        self.page, self.touch = page, touch
        self.presses = 0  # number of clicks and taps

    def at(self, territory: int) -> None:
        """Click or touch a territory once."""
        self.presses += 1
        self.page.evaluate("scrollTo(0, 0)")
        x, y = self.page.evaluate(CENTRE, territory)
        (self.page.touchscreen.tap if self.touch else self.page.mouse.click)(x, y)
        self.page.wait_for_timeout(330 if self.touch else 0)  # two quick taps zoom

    def choose(self, territory: int) -> None:
        """Choose a territory, and wait for the next question."""
        before = self.page.evaluate(ASKED)
        self.aim(territory)
        self.page.wait_for_function(f"before => live.question && {ASKED} !== before", arg=before)

    def aim(self, territory: int) -> None:
        """Choose a territory: a finger touches it twice, unless the choice waits for its confirmation."""
        before, waits = self.page.evaluate(f"[{ASKED}, live.question.composes]")
        self.at(territory)
        if self.touch and not waits:
            assert self.page.evaluate(ASKED) == before
            name = self.page.evaluate("t => live.facts.map.territories[t]", territory)
            assert name in self.asked and name in self.page.locator("#place").inner_text()
            self.at(territory)

    @property
    def asked(self) -> str:
        """The sentence of the question."""
        return str(self.page.locator("#asked").inner_text())

    def legal(self, kind: str) -> list[Any]:
        """Return the places of the legal actions of a kind."""
        found = "kind => live.question.legal.filter((c) => c.kind === kind).map((c) => c.places)"
        return list(self.page.evaluate(found, kind))

    def press(self, name: str) -> None:
        """Press a button of the question, and wait for the next question."""
        before = self.page.evaluate(ASKED)
        self.push(self.page.locator("#question").get_by_role("button", name=name).first)
        self.page.wait_for_function(f"before => live.question && {ASKED} !== before", arg=before)

    def push(self, button: Any) -> None:
        """Click or touch a button."""
        self.presses += 1
        (button.tap if self.touch else button.click)()


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (PHONE, "light"),
        pytest.param(PHONE, "dark", marks=pytest.mark.long),
        pytest.param(TABLET, "dark", marks=pytest.mark.long),
        pytest.param(DESKTOP, "light", marks=pytest.mark.long),
    ],
)
def test_a_turn_at_every_size(browser: Any, tmp_path: Path, size: dict[str, int], scheme: str) -> None:
    touch = size != DESKTOP
    with served(tmp_path) as (address, lobby), opened_page(browser, address, size, scheme, touch) as page:
        begin = page.request.post(f"{address}/api/games", data=WISH).json()
        seat = lobby.tables[begin["game"]].game.seat
        page.goto(f"{address}/game/{begin['game']}#token={begin['tokens'][seat]}")
        page.wait_for_selector('#question[data-asked="true"]')
        hand = Hand(page, touch)
        page.evaluate(WATCH_BOARD)
        draft_and_attack(hand)
        look_back(hand)
        if touch:
            zoom_by_fingers(hand)
            assert page.evaluate(SMALL, LEAST) == []
        assert page.evaluate("boardShift") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        page.get_by_role("tab", name="Goals").click()
        assert "Your mission: " in page.locator("#goals").inner_text()
        assert page.title().startswith("● Your turn") and "You are" in page.locator(".bar h1").inner_text()
        assert violations(page) == []


def draft_and_attack(hand: Hand) -> None:
    """Compose a draft, take it back, compose and confirm it, and attack with the odds in sight."""
    first, second = (places[0] for places in hand.legal("territory")[:2])
    hand.choose(first)
    assert "Confirm" in hand.asked and hand.page.locator(".bubbles .gain").count() == 1
    hand.press("Undo")
    hand.page.locator("#amount").fill("1")
    hand.choose(first)
    hand.page.locator("#amount").fill("99")
    hand.choose(second)
    assert hand.page.locator("#answers button").first.inner_text() == "Confirm"
    hand.press("Confirm")
    source, target = hand.page.evaluate(BEST_ATTACK)
    hand.at(source)
    assert "%" in hand.page.locator(".arrows .plan").first.text_content()
    hand.choose(target)


def look_back(hand: Hand) -> None:
    """An earlier moment is read-only, and a button leads back to the decision."""
    page = hand.page
    before = page.evaluate("JSON.stringify(live.question)")
    page.get_by_role("button", name="Previous step").click()
    assert "earlier moment" in hand.asked and page.locator('.area[data-lit="true"]').count() == 0
    page.locator('.area[data-territory="0"]').dispatch_event("click")
    page.keyboard.press("d")
    page.get_by_role("button", name="Back to now").click()
    assert page.evaluate("JSON.stringify(live.question)") == before and "earlier" not in hand.asked


def zoom_by_fingers(hand: Hand) -> None:
    """A double tap and a pinch zoom, and a finger moves the board; none of these gestures answers."""
    page = hand.page
    before = page.evaluate("JSON.stringify(live.question)")
    page.evaluate("scrollTo(0, 0)")
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(DOUBLE_TAP, [x, y])
    page.wait_for_function("() => live.view.zoom.scale > 1.4")
    assert page.locator(".label").first.is_visible()
    left = page.evaluate("live.view.zoom.x")
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        found = [{"x": px, "y": py, "id": number} for number, (px, py) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": found})

    touch("touchStart", (x, y))
    touch("touchMove", (x - 40, y))
    touch("touchEnd")
    page.wait_for_function("left => live.view.zoom.x > left", arg=left)
    page.wait_for_timeout(330)
    page.get_by_role("button", name="Zoom").click()
    assert page.evaluate("live.view.zoom.scale") == 1
    touch("touchStart", (x - 30, y), (x + 30, y))
    touch("touchMove", (x - 90, y), (x + 90, y))
    touch("touchEnd")
    page.wait_for_function("() => live.view.zoom.scale > 1.4")
    page.wait_for_timeout(330)
    page.evaluate("board.addEventListener('click', () => { window.heard = true; }, { once: true })")
    page.locator("#board").dispatch_event("click")  # a click after a pinch is not lost
    assert page.evaluate("window.heard")
    page.get_by_role("button", name="Zoom").click()
    assert page.evaluate("JSON.stringify(live.question)") == before


@pytest.mark.long
def test_many_choices_can_be_confirmed_and_links_replace_no_secret(browser: Any, tmp_path: Path) -> None:
    start = position("classic", "rest 3", "Kamchatka 3", "Japan 3", phase="draft", draft_left="30").to_text()
    with served(tmp_path) as (address, lobby), opened_page(browser, address, PHONE) as page:
        wish = WISH | {"position": start}
        begin = page.request.post(f"{address}/api/games", data=wish).json()
        game, mine = begin["game"], begin["tokens"][0]
        page.goto(f"{address}/game/{game}#token={mine}")
        page.wait_for_selector('#question[data-asked="true"]')
        for number in range(16):
            troops = 15 if number == 15 else 1
            page.evaluate(COMPOSE, [number, troops])
            page.wait_for_function("n => live.question?.steps === n", arg=number + 1)
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            assert page.locator("#answers").bounding_box()["height"] >= 44
            assert page.locator("#answers button").bounding_box()["height"] >= 28
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_function("() => live.question?.phase === 'ATTACK'")
        assert len(lobby.tables[game].game.actions) == 2 * 16
        page.evaluate(
            "([game, owner]) => localStorage.setItem(`owner ${game}`, owner)", [game, begin["owner"]]
        )
        for link in (f"game/{game}#token=wrong", f"#invite={game}&tokens=x&owner=y", f"#invite={game}"):
            page.goto("about:blank")
            page.goto(f"{address}/{link}")
            page.wait_for_selector("body[data-ready], #asked:has-text('no seat')")
            kept = page.evaluate(
                f"[localStorage['{game}'], sessionStorage['{game}'], localStorage['owner {game}']]"
            )
            assert kept == [mine, mine, begin["owner"]]


@pytest.mark.long
def test_the_lobby_keeps_seats_and_deletes_games(browser: Any, tmp_path: Path) -> None:
    position = Game(Rules.preset("classic", 4, setup="random"), "classic", seed=5).to_text()
    with served(tmp_path) as (address, lobby), opened_page(browser, address) as page:
        page.wait_for_selector("body[data-ready]")
        page.wait_for_selector('#seats option[value="marshal"][disabled]', state="attached")
        page.locator("#seats select").nth(1).select_option("hunter")
        page.select_option("#preset", "capital")
        assert page.locator("#seats select").nth(1).input_value() == "hunter"
        page.locator("summary").click()
        page.fill("#position", position)
        page.locator("#position").blur()
        page.wait_for_function("() => document.querySelectorAll('#seats select').length === 4")
        page.fill("#position", "")
        page.locator("#position").blur()
        page.wait_for_selector("#preset:visible")
        page.select_option("#preset", "classic")
        for seat in (1, 2):
            page.locator("#seats select").nth(seat).select_option("random")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
        page.goto(address)
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        page.wait_for_selector("#games:has-text('none yet')")
        assert not lobby.tables and lobby.store.games(5) == ([], "")


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("size", "starter"),
    [
        (PHONE, 1),
        pytest.param(PHONE, 0, marks=LONG),
        pytest.param(TABLET, 1, marks=LONG),
        pytest.param(TABLET, 2, marks=LONG),
        pytest.param(DESKTOP, 0, marks=LONG),
        pytest.param(DESKTOP, 1, marks=LONG),
    ],
)
def test_the_first_attack_needs_eight_clicks_or_taps(
    browser: Any, tmp_path: Path, monkeypatch: Any, size: dict[str, int], starter: int
) -> None:
    touch = size != DESKTOP
    seed = next(seed for seed in range(99) if Game(CLASSIC, seed=seed).record.starter == starter)
    monkeypatch.setattr(secrets, "randbits", lambda _bits: seed)
    with served(tmp_path) as (address, lobby), opened_page(browser, address, size, touch=touch) as page:
        page.wait_for_selector("body[data-ready]")
        hand = Hand(page, touch)
        hand.push(page.get_by_role("button", name="Begin"))
        page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
        (table,) = lobby.tables.values()
        table.set_pace(0)
        while (phase := page.evaluate("live.question.phase")) != "ATTACK":
            FIRST_TURN[phase](hand)
        source, target = page.evaluate(BEST_ATTACK)
        hand.at(source)
        hand.choose(target)
        assert hand.presses <= 8
        names = table.game.board.territories
        attack = f"Player 0 attacks {names[target]} from {names[source]}"
        page.wait_for_selector(f"#happened:text-is('{attack}')")
        record = table.game.record
        assert (table.game.phase.name, record.source, record.target) == ("ATTACK_DICE", source, target)


CLASSIC = Rules.preset("classic", 3)
BEST_ATTACK = """live.question.legal.filter((c) => c.kind === "attack")
    .sort((a, b) => b.chance - a.chance)[0].places"""
FIRST_TURN = {
    "CLAIM": lambda hand: hand.press("Choose the rest for me"),
    "DEFEND": lambda hand: hand.press("Always roll the most"),
    "DRAFT": lambda hand: hand.choose(hand.legal("territory")[0][0]),
    "CONFIRM": lambda hand: hand.press("Confirm"),
}
