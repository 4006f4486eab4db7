"""Play with the accessibility tree and the keyboard only, without a screen or mouse; answers in words."""

import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from risk_agents.web.browser_request import Refused
from risk_agents.web.browser_table import Answer, choice_of
from risk_agents.web.composition import Composition
from risk_env import Game, presets
from tests.browser import DESKTOP, PHONE, opened_page, violations
from tests.positions import position
from tests.web_server import served

NO_GAME = "/game/none"  # a page that opens at once
PREPARED = 300_000  # milliseconds for agents to compile their code
LANDMARKS = ("region", "complementary")
DECISION = "Your decision"  # name of the region with question and answers
ATTACK = re.compile(r"(.+ > .+), (?:over |under )?(\d+) %$")
NEWS = """() => { const region = document.querySelector(".unseen");
    window.told = [];
    new MutationObserver(() => told.push(region.textContent))
        .observe(region, { childList: true, characterData: true, subtree: true }); }"""


SILENT = """() => { window.tones = 0;
    const nothing = () => {}, same = (node) => node;
    window.AudioContext = class {
        currentTime = 0; destination = {}; resume = async () => {};
        createOscillator() { tones += 1;
            return { frequency: {}, connect: same, start: nothing, stop: nothing }; }
        createGain() { const gain = { setValueAtTime: nothing, exponentialRampToValueAtTime: nothing };
            return { gain, connect: same }; } }; }"""
NEXT_TURN = """() => { const { latest, view } = live;
    live.isWaiting = true;
    live.takeFrames({ frames: [], more: false, question: latest, problem: "", outlook: view.outlook }); }"""


class Reader:
    """A person with a screen reader and a keyboard, who knows only the accessibility tree of the page."""

    def __init__(self, page: Any) -> None:
        self.page, self.session = page, page.context.new_cdp_session(page)
        self.session.send("Accessibility.enable")
        self.session.send("DOM.enable")

    def nodes(self, region: str) -> list[dict[str, Any]]:
        """Return the nodes inside a region of the tree, in their order."""
        found = {node["nodeId"]: node for node in self.session.send("Accessibility.getFullAXTree")["nodes"]}

        def below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
            for key in node.get("childIds", []):
                yield found[key]
                yield from below(found[key])

        (root,) = (node for node in found.values() if _name(node) == region and _role(node) in LANDMARKS)
        return [node for node in below(root) if not node["ignored"]]

    def buttons(self) -> dict[str, int]:
        """Return the enabled buttons of the question: names and nodes."""
        found = [node for node in self.nodes(DECISION) if _role(node) == "button"]
        return {_name(node): node["backendDOMNodeId"] for node in found if not _is(node, "disabled")}

    @property
    def has_focus(self) -> bool:
        """Return whether the keyboard focus is in the question."""
        return any(_is(node, "focused") for node in self.nodes(DECISION))

    def press(self, button: int) -> None:
        self.session.send("DOM.focus", {"backendNodeId": button})
        self.page.keyboard.press("Enter")

    def wait(self) -> bool:
        """Wait for the next question; return False if the game is over."""
        self.page.wait_for_selector('#question[data-asked="true"], #asked:has-text("The game is over.")')
        return not any("The game is over." in _name(node) for node in self.nodes(DECISION))

    def answer(self) -> None:
        """Press the most promising button: confirm, the best attack above 50 %, an end, or any answer."""
        buttons = self.buttons()
        chances = {name: int(found[2]) for name in buttons if (found := ATTACK.match(name))}
        best = max(chances, key=lambda name: chances[name], default="")
        if "Confirm" in buttons:
            chosen = "Confirm"
        elif best:
            chosen = best if chances[best] > 50 else "End the attacks"
        else:
            chosen = next(name for name in buttons if name not in ("Undo", "One less", "One more"))
        self.press(buttons[chosen])


def _name(node: dict[str, Any]) -> str:
    return str(node.get("name", {}).get("value", ""))


def _role(node: dict[str, Any]) -> str:
    return str(node.get("role", {}).get("value", ""))


def _is(node: dict[str, Any], state: str) -> bool:
    return any(found["name"] == state and found["value"]["value"] for found in node.get("properties", []))


def begin(page: Any, lobby: Any, **wish: Any) -> Any:
    """Begin a game, open the page of its first seat, and return its table."""
    options = {"attack": "blitz", "defender_dice": "max"} | wish.pop("options", {})
    address = page.url.removesuffix(NO_GAME)
    found = page.request.post(f"{address}/api/games", data={"map": "tiny", **wish, "options": options}).json()
    table = lobby.tables[found["game"]]
    table.set_pace(0)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{address}/game/{found['game']}#token={found['tokens'][0]}")
    page.wait_for_selector('#question[data-asked="true"]', timeout=PREPARED)
    return table


RULES = "preset=classic, num_players=2, attack=blitz, defender_dice=max"


def end_of() -> Game:
    """Return a game on the map `tiny` that the first seat can win in two turns."""
    armies = ("rest 9, Ash 12", "Ember 1, Flint 1")
    return position(RULES, *armies, map="tiny", phase="draft", draft_left=3)


def test_a_game_is_won_by_the_tree_and_the_keyboard(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "randbits", lambda _bits: 7)  # the same dice in every run
    with served(tmp_path) as (address, lobby), opened_page(browser, address + NO_GAME) as page:
        wish = {"preset": "classic", "players": ["human", "random"], "position": end_of().to_text()}
        table = begin(page, lobby, **wish)
        reader = Reader(page)
        page.evaluate(NEWS)
        play_to_the_end(reader, 60)
        assert table.game.winner == 0
        assert "You have won: all opponents are eliminated." in page.locator("#asked").inner_text()
        told = page.evaluate("told")
        assert any("attacks Ember" in words and "takes it" in words for words in told)
        others = sum(event.kind == "turn_end" and event.seat == 1 for event in table.game.events())
        assert sum("random" in words for words in told) <= others + 1
        page.get_by_role("tab", name="Text").press("Enter")
        names = [_name(node) for node in reader.nodes("Players and events") if _role(node) == "StaticText"]
        assert "Ember: Player 0," in " ".join(names) and not any("random," in name for name in names)


def play_to_the_end(reader: Reader, most: int) -> None:
    """Play the game; the keyboard focus stays in the question."""
    reader.page.locator(".sentences").focus()
    for _ in range(most):
        if not reader.wait():
            assert "Play again" in reader.buttons() and reader.has_focus
            return
        assert reader.has_focus
        before = reader.page.evaluate("JSON.stringify(live.question)")
        reader.answer()
        reader.page.wait_for_function(
            "before => JSON.stringify(live.question) !== before && (live.question || live.latest === null)",
            arg=before,
        )
    raise AssertionError(f"the game was not over after {most} answers")


@pytest.mark.long
@pytest.mark.parametrize("preset", presets())
def test_a_whole_game_of_every_preset_by_the_tree(browser: Any, tmp_path: Path, preset: str) -> None:
    options = {"max_rounds": 3}
    game = {"map": "classic"} if preset == "basic_training" else {"map": "tiny"}
    players = ["human", *["random"] * (1 if preset == "two_player" else 2)]
    with served(tmp_path) as (address, lobby), opened_page(browser, address + NO_GAME) as page:
        table = begin(page, lobby, preset=preset, players=players, options=options, **game)
        play_to_the_end(Reader(page), 600)
        assert table.game.is_over


@pytest.mark.parametrize(
    ("size", "scheme"), [pytest.param(DESKTOP, "dark", marks=pytest.mark.long), (PHONE, "light")]
)
def test_a_turn_is_played_in_words(browser: Any, tmp_path: Path, size: dict[str, int], scheme: str) -> None:
    start = position(RULES, "rest 5, Ash 9", "Ember 1, Flint 3", map="tiny", phase="draft", draft_left=7)
    with served(tmp_path) as (address, lobby), opened_page(browser, address + NO_GAME, size, scheme) as page:
        wish = {"preset": "classic", "players": ["human", "human"], "position": start.to_text()}
        table = begin(page, lobby, **wish)
        page.get_by_role("tab", name="Text").click()
        assert "Ash: Player 0, 9 troops" in page.locator("#text").inner_text()
        field = page.get_by_label("Answer in words")
        field.fill("oxford 2")
        field.press("Enter")
        page.wait_for_selector("#hint[role=alert]:has-text('oxford')")
        for words, shown in (("ash 4", "Place 3 troops"), ("undo", "Place 7"), ("ash all", "Confirm")):
            field.fill(words)
            field.press("Enter")
            page.wait_for_selector(f"#asked:has-text('{shown}')")
            assert page.evaluate("document.activeElement.id") == "said"
        field.fill("confirm")
        field.press("Enter")
        page.wait_for_function("() => live.question?.phase === 'ATTACK'")
        assert "Ash: Player 0, 16 troops" in page.locator("#text").inner_text()
        assert table.game.phase.name == "ATTACK" and violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_a_tone_tells_that_it_is_your_turn(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as (address, lobby), opened_page(browser, address + NO_GAME) as page:
        begin(page, lobby, preset="classic", players=["human"] * 2, position=end_of().to_text())
        for tones in (0, 2):  # off at first; then two notes when the sound is turned on, and two at the turn
            page.evaluate(SILENT)
            if tones:
                page.get_by_role("button", name="Sound").click()
                page.wait_for_function("() => tones === 2")
            page.evaluate(NEXT_TURN)
            page.wait_for_function("n => tones === n", arg=2 * tones)
            page.wait_for_timeout(50)
            assert page.evaluate("tones") == 2 * tones
        page.reload()
        page.wait_for_selector("#sound[aria-pressed=true]")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "is empty"),
        ("x" * 201, "at most 200 are allowed"),
        ("2", "no numbered list"),
        ("ash 99", "troops=99: must be from 1 to 3"),
        ("oak", "no territory 'oak'"),
        ("ash; 3", "no territory"),
    ],
)
def test_words_that_are_no_answer_are_refused(words: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        Composition(end_of()).add(choice_of(end_of(), Answer(words=words)))


def test_words_mean_what_they_mean_in_the_terminal() -> None:
    game = position(RULES, "rest 5, Ash 90", "Flint 1", map="tiny", phase="draft", draft_left=37)
    composed = Composition(game)
    composed.add(choice_of(game, Answer(words="ash half")))
    assert composed.facts["composed"] == ["18 on Ash"]
    game.step("draft Ash")
    assert choice_of(game, Answer(words="29")) == "troops 29"
    with pytest.raises(Refused, match="cannot be combined"):
        choice_of(game, Answer(words="29", troops=3))
