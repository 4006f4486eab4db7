"""`risk-env play`: people finish games, see only their own facts, and continue saved games."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from risk_agents import registry
from risk_agents.game_files import load_game, save_game
from risk_agents.human.answers import understand
from risk_agents.human.human import Desk, Human
from risk_agents.human.narration import Words, narrate
from risk_agents.human.questions import own_lines
from risk_agents.human.terminal import Terminal
from risk_agents.play import cli
from risk_agents.play.terminal_table import Leave, TerminalTable
from risk_agents.tournament.loading import make_config
from risk_env.agent import Agent, View
from risk_env.board.maps import load_map
from risk_env.board.rules import PRESETS, Rules
from risk_env.cli import main
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_env.players import PlayerFault
from risk_env.saved_game import SavedGame
from tests.cases import one_of_each_preset
from tests.positions import position

SEED = 3
ROOT = Path(__file__).parent.parent

Answer = Callable[[View], str]


class Typist(io.StringIO):
    """Types for all people at a table, and presses Enter when the keyboard is handed over."""

    def __init__(self, screen: io.StringIO, answer: Answer, lines: int = 100_000) -> None:
        super().__init__()
        self._screen, self._answer, self._left = screen, answer, lines
        self.table: Any = None
        self.pressed_enter = 0

    def readline(self, size: int = -1) -> str:
        prompt = self._screen.getvalue()[-90:].rpartition("\n")[2]
        if "Enter" in prompt:
            self.pressed_enter += 1
            return "\n"
        self._left -= 1
        return f"{self._answer(View(self.table.game))}\n" if self._left >= 0 else ""


def as_attacker() -> Answer:
    """Type the action of `attacker`."""
    bots: dict[int, Agent] = {}

    def answer(view: View) -> str:
        if view.seat not in bots:
            bots[view.seat] = registry.make("attacker")
            bots[view.seat].reset(view.seat, view.rules, view.board, view.seat)
        return view.texts[view.legal_actions.tolist().index(bots[view.seat].act(view))]

    return answer


def table_of(
    rules: Rules, players: list[str], answer: Answer, lines: int = 100_000, path: str = "", seed: int = SEED
) -> tuple[TerminalTable, io.StringIO, Typist]:
    """Return a table with a typist, and the text on the screen."""
    screen = io.StringIO()
    typist = Typist(screen, answer, lines)
    table = TerminalTable(Game(rules, seed=seed), players, Terminal(typist, screen), path)
    typist.table = table
    return table, screen, typist


GAMES = one_of_each_preset(
    [(name, players) for name in PRESETS for players in PRESETS[name].players if players in (2, 3, 5, 6)]
)


@pytest.mark.parametrize(("preset", "players"), GAMES)
def test_every_preset_is_played_to_the_end(preset: str, players: int) -> None:
    rules = Rules.preset(preset, players, expert=preset == "world_domination", max_rounds=6)
    table, screen, _ = table_of(rules, ["human", *["attacker"] * (players - 1)], as_attacker())
    table.play()
    assert table.game.is_over
    shown = screen.getvalue()
    assert max(map(len, shown.splitlines())) <= 100
    assert "1. " in " ".join(shown.splitlines()[-2:])


def test_a_game_without_limit_is_won_by_somebody() -> None:
    table, screen, _ = table_of(Rules.preset("classic", 3), ["human", "attacker", "attacker"], as_attacker())
    table.play()
    assert table.game.winner >= 0
    assert f"{table.names[table.game.winner]} won in round {table.game.round}" in screen.getvalue()


# ------------------------------------------------------------------------------------------------ answers


def view_at(*actions: str, rules: Rules | None = None, seed: int = SEED) -> View:
    """Return the view after some actions of a quick start."""
    game = Game(rules or Rules.preset("classic", 3, setup="random"), "classic", seed)
    for action in actions:
        game.step(action)
    return View(game)


def meant(answer: str, view: View, listed: list[str] | None = None) -> str:
    """Return the text of the action that an answer stands for."""
    action = understand(answer, view, view.texts if listed is None else listed).action
    return view.texts[view.legal_actions.tolist().index(action)]


def test_answers_are_understood_in_many_forms() -> None:
    view = view_at(rules=Rules.preset("classic", 3))  # all territories are free to claim
    assert meant("claim Alaska", view) == meant("ALASKA", view) == meant("alas", view) == "claim Alaska"
    assert meant("russia", view) == meant("  claim   ukraine ", view) == "claim Ukraine"  # an alias
    assert meant("3", view) == view.texts[2]
    assert meant("india", view) == "claim India"
    with pytest.raises(ValueError, match="India or Indonesia"):
        meant("ind", view)
    for wrong, said in [
        ("0", "choose 1 to 42"),
        ("43", "choose 1 to 42"),
        ("atlantis", "atlantis"),
        ("done", "not legal here"),
    ]:
        with pytest.raises(ValueError, match=said):
            meant(wrong, view)
    with pytest.raises(ValueError, match="no longer legal"):
        meant("1", view, listed=["claim Nowhere"])


def attack_view() -> View:
    """Return a view during the attacks of a quick start."""
    view = view_at()
    return view_at(view.texts[0], "troops all")


def test_attacks_are_understood_with_any_arrow_and_cut_names() -> None:
    view = attack_view()
    text = view.texts[0]
    source, target = text.removeprefix("attack ").split(" > ")
    assert meant(text.replace(">", "->"), view) == meant(f"{source.lower()}>{target.upper()}", view) == text
    assert meant("done", view) == meant("DONE", view) == "done"
    with pytest.raises(ValueError, match="SOURCE > TARGET"):
        meant(f"attack {source}", view)
    with pytest.raises(ValueError, match="border"):
        meant("attack Alaska > Brazil", view)


def test_the_unknown_word_of_an_attack_is_named() -> None:
    view = attack_view()
    for wrong, said in (
        ("north > mex", "no territory 'mex'"),
        ("north > brazil", "'north' could be Northwest Territory or Northern Europe or North Africa"),
        ("xyz > north", "no territory 'xyz'"),
        ("alas > braz", "Alaska does not border Brazil"),
    ):
        with pytest.raises(ValueError, match=said):
            meant(wrong, view)


def test_a_draft_names_its_territory_and_its_troops() -> None:
    view = view_at()
    place = view.texts[0].removeprefix("draft ")
    for said, then in ((f"{place} 2", ("2",)), (f"draft {place.lower()} all", ("all",)), (place, ())):
        found = understand(said, view, [])
        assert (view.texts[view.legal_actions.tolist().index(found.action)], found.then) == (
            f"draft {place}",
            then,
        )
    game = Game(view.rules, "classic", SEED)
    game.record.draft_left = 1  # the game asks for no number, so the next question would get the 1
    assert understand(f"{place} 1", View(game), []).then == ()
    with pytest.raises(ValueError, match="atlantis"):
        understand("atlantis 2", view, [])
    with pytest.raises(ValueError, match="no attack is possible now"):
        understand("north > mex", view, [])


def test_everything_fits_a_narrow_terminal(monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown, _ = screen_after(["?", "list", "board", "hand"])
    lines = shown.split("saved", 1)[0].splitlines()
    assert max(map(len, lines)) <= 40, max(lines, key=len)


def test_no_color_is_obeyed(monkeypatch: Any) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Terminal(screen, screen).has_colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Terminal(screen, screen).has_colour


def test_amounts_are_numbers_and_any_number_can_be_said() -> None:
    view = view_at()
    place = view.texts[0].removeprefix("draft ")
    game = Game(view.rules, "classic", SEED)
    game.record.draft_left = 20
    game.step(view.texts[0])
    view = View(game)
    assert meant("20", view) == meant("all", view) == meant("A", view) == "troops all"
    assert meant("8", view) == meant("troops 8", view) == "troops 8"
    assert meant("10", view) == "troops 10"
    assert meant("half", view) == meant("troops 10", view)
    split = understand("14", view, [])
    assert (view.texts[view.legal_actions.tolist().index(split.action)], split.then) == (
        "troops 12",
        (place, "2"),
    )
    for wrong in ("0", "21"):
        with pytest.raises(ValueError, match="choose 1 to 20"):
            meant(wrong, view)


class Scripted(Typist):
    """Types the given lines, then the actions of `attacker`."""

    def __init__(self, screen: io.StringIO, lines: list[str]) -> None:
        super().__init__(screen, as_attacker())
        self.lines = lines

    def readline(self, size: int = -1) -> str:
        return f"{self.lines.pop(0)}\n" if self.lines else ""


def screen_after(lines: list[str], rules: Rules | None = None, path: str = "") -> tuple[str, Game]:
    """Return the text shown while a person types these lines and leaves, and the game afterwards."""
    screen = io.StringIO()
    rules = rules or Rules.preset("classic", 2, setup="random")
    terminal = Terminal(Scripted(screen, lines), screen)
    table = TerminalTable(Game(rules, seed=SEED), ["human", "attacker"], terminal, path)
    with pytest.raises((EOFError, Leave)):
        table.play()
    return screen.getvalue(), table.game


def test_a_wrong_answer_says_what_is_allowed_and_asks_again() -> None:
    shown, game = screen_after(
        ["fly to the moon", "", "draft alsaka; 3", "?", "list", "board", "hand", "log 5"]
    )
    assert "fly to the moon" in shown and "draft " in shown and "Type an answer, or ? for help." in shown
    assert "alsaka" in shown and "dropped: 3" in shown.replace("\n", " ")
    for words in (
        "all legal actions",
        "save the game in a file",
        "Your cards: ",
        "North America +5",
        "-- Round 1 --",
    ):
        assert words in shown
    own = [action for action in game.actions if action < 0]
    assert own == [] and game.phase.name == "DRAFT"


def test_several_answers_go_on_one_line() -> None:
    place = "madagascar"
    shown, game = screen_after([f"{place}; 1; {place}; all; done; done"])
    assert game.round == 2
    assert shown.count("draft> ") == 2  # one line for the whole turn, and the next turn


def test_numbers_keep_their_meaning_while_a_list_is_on_the_screen() -> None:
    screen = io.StringIO()
    typist = Scripted(screen, ["1", "3", "1", "2"])
    table = TerminalTable(Game("classic", seed=SEED), ["human"] * 3, Terminal(typist, screen), "")
    with pytest.raises(EOFError):
        table.play()
    claimed = [event.territory for event in table.game.events() if event.kind == "claim"]
    assert [table.game.board.territories[t] for t in claimed] == ["Alaska", "Alberta", "Northwest Territory"]
    assert "2 was 'claim Northwest Territory', which is no longer legal" in screen.getvalue()


# --------------------------------------------------------------------------------------------- what is hidden

HIDING = ["capital", "secret_mission", "command_room", "classic"]


@pytest.mark.parametrize("preset", HIDING)
def test_a_drawn_card_and_a_secret_choice_are_told_without_what_they_are(preset: str) -> None:
    rules = Rules.preset(preset, 3, attack="blitz", defender_dice="max", max_rounds=5)
    table, _, _ = table_of(rules, ["human", "attacker", "attacker"], as_attacker())
    table.play()
    lines = narrate(table.game.events(), table._words(0), 100)
    drew = [line for line in lines if "drew" in line]
    assert len(drew) >= 5 and all(line.endswith("drew a card") for line in drew)
    picked = [line for line in lines if "picked the headquarters" in line]
    assert len(picked) == (2 if preset == "capital" else 0)
    assert all(line.endswith("picked the headquarters in secret") for line in picked)


def test_only_the_own_mission_is_shown_until_the_end() -> None:
    rules = Rules.preset("secret_mission", 4, max_rounds=3)
    table, screen, _ = table_of(rules, ["human", *["attacker"] * 3], as_attacker())
    own = own_lines(View(table.game, 0), table._words(0), 100)[-1]
    table.play()
    before, _, after = screen.getvalue().partition("Mission of ")
    assert before.count("mission") == before.count(own) > 0
    assert after.count("Mission of ") == 2


def test_the_screen_shows_the_same_whatever_is_hidden() -> None:
    """Copies of the game with other hidden facts look alike at every question."""
    rules, attacker = Rules.preset("capital", 3, max_rounds=3), as_attacker()

    def answer(view: View) -> str:
        game = table.game
        written = []
        for other in (game, game.determinize(game.seat, 1), game.determinize(game.seat, 2)):
            screen = io.StringIO()
            person = Human(Desk(Terminal(io.StringIO("hand\nboard\nlist\n"), screen)))
            person.reset(view.seat, rules, game.board, 0)
            with pytest.raises(EOFError):
                person.act(View(other))
            written.append(screen.getvalue())
        assert written[0] == written[1] == written[2]
        return attacker(view)

    table, _, _ = table_of(rules, ["human", "attacker", "attacker"], answer)
    table.play()


def test_people_at_one_screen_hand_over_before_cards_are_shown() -> None:
    rules = Rules.preset("classic", 2, setup="random", max_rounds=12)
    table, screen, typist = table_of(rules, ["human", "human"], as_attacker())
    table.play()
    shown = screen.getvalue()
    assert table.names == ("Player 0", "Player 1", "neutral")
    assert typist.pressed_enter >= 12
    assert "Your cards" not in shown  # by the command `hand` only
    seat = ""
    traded = 0
    for line in shown.splitlines():
        if "the keyboard is yours" in line:
            seat = line[:8]
        if line.startswith("Player") and ", card>" in line:
            traded += 1
            assert line.startswith(seat)
    assert traded > 0


def test_what_one_person_has_read_is_cleared_before_another_is_asked() -> None:
    screen = io.StringIO()
    desk = Desk(Terminal(io.StringIO("\n" * 9), screen))
    desk.people = 2
    names = ("Player 0", "Player 1", "neutral")

    def shown(seat: int, phase: Phase) -> str:
        screen.seek(0)
        screen.truncate()
        desk.hand_to(seat, names, phase)
        return screen.getvalue()

    assert "Player 0, the keyboard is yours" in shown(0, Phase.DRAFT)
    assert shown(0, Phase.ATTACK) == shown(1, Phase.DEFEND) == shown(0, Phase.ATTACK) == ""
    desk.secrets_of = 0
    assert shown(0, Phase.ATTACK) == ""
    told = shown(1, Phase.DEFEND)
    assert "Player 0, press Enter to clear" in told and told.count("\n" * 40) == 1
    desk.secrets_of = 1  # by the command `hand`
    assert "Player 1, press Enter to clear" in shown(0, Phase.ATTACK)
    told = shown(1, Phase.TRADE)
    assert "Player 1, the keyboard is yours" in told and told.endswith("\n" * 40)


def test_each_headquarters_is_picked_with_nobody_looking() -> None:
    rules = Rules.preset("capital", 3, initial_troops=14)
    table, screen, _ = table_of(rules, ["human"] * 3, as_attacker(), 42 + 2)
    with pytest.raises(EOFError):
        table.play()
    picks = screen.getvalue().split("headquarters> ")[1:-1]
    assert len(picks) == 2
    assert all("press Enter to clear the screen" in after and "\n" * 40 in after for after in picks)


@pytest.mark.parametrize("hand", ["Alaska, Alberta, Argentina", "Alaska, Alberta, Ontario"])
def test_the_screen_is_cleared_after_a_turn_whatever_cards_were_held(hand: str) -> None:
    """The next person must not learn whether the game asked about a trade."""
    board = load_map("classic")
    symbols = {board.symbols[board.territory(card)] for card in hand.split(", ")}
    can_trade = len(symbols) in (1, 3)
    phase = "trade" if can_trade else "draft"
    game = position("classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase=phase, hand_0=hand)
    desk = Desk(Terminal(io.StringIO("\n1\n1\n"), io.StringIO()))
    desk.people = 2
    person = Human(desk)
    person.reset(0, game.rules, game.board, 0)
    if can_trade:
        game.step("done")
    person.act(View(game))
    assert desk.secrets_of == 0


# ------------------------------------------------------------------------------------------------ going on


@pytest.mark.parametrize("lines", [0, 1, 20, 50])
def test_a_resumed_game_is_the_same_game(lines: int, tmp_path: Path) -> None:
    rules = Rules.preset("secret_mission", 3, max_rounds=5)
    players = ["attacker", "human", "random"]

    def firsts(view: View) -> str:
        return view.texts[0] if view.phase.name != "ATTACK" else "done"

    whole, _, _ = table_of(rules, players, firsts)
    whole.play()
    assert len(whole.game.actions) > 100
    path = tmp_path / "kept.json"
    part, screen, _ = table_of(rules, players, firsts, lines, str(path))
    assert cli.play(part) == 0
    assert f"risk-env play --resume {path}" in screen.getvalue()
    saved = load_game(path)
    assert saved.actions == part.game.actions == whole.game.actions[: len(saved.actions)]
    screen = io.StringIO()
    typist = Typist(screen, firsts)
    rest = TerminalTable(saved.start(), saved.players, Terminal(typist, screen), str(path))
    typist.table = rest
    rest.resume(saved)
    assert rest.game == part.game
    assert "otherwise" not in screen.getvalue()
    rest.play()
    assert rest.game == whole.game
    assert rest.game.actions == whole.game.actions
    assert rest.game.events() == whole.game.events()


def kept(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """Return a saved game, and the content of its file."""
    path = tmp_path / "kept.json"
    table, _, _ = table_of(
        Rules.preset("classic", 3), ["human", "attacker", "random"], as_attacker(), 5, str(path)
    )
    assert cli.play(table) == 0
    return path, json.loads(path.read_text())


def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, facts = kept(tmp_path)
    text = path.read_text()
    damages = {
        text[: len(text) // 2]: "damaged",
        json.dumps({**facts, "state": "0" * 32}): "another state",
        json.dumps({**facts, "actions": [0, 0]}): "not legal",
        json.dumps({**facts, "players": []}): "0 players",
    }
    for damaged, said in damages.items():
        path.write_text(damaged)
        assert main(["play", "--resume", str(path)]) == 2
        told = capsys.readouterr().err
        assert said in told and str(path) in told
    path.write_bytes(b"\xff\xfe\x00")
    assert main(["play", "--resume", str(path)]) == 2
    assert main(["play", "--resume", str(tmp_path / "none.json")]) == 2


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("chapter one")
    assert save_game(path, SavedGame.of(Game(seed=1), ["human"] * 3)) == tmp_path / "thesis-2.txt"
    better = tmp_path / "mine.json"
    shown, _ = screen_after([f"save {path}", f"save {better}", "quit"])
    assert path.read_text() == "chapter one"
    assert "thesis-3.txt" in shown
    assert load_game(better).players == ("human", "attacker")
    names = ["mine.json", "thesis-2.txt", "thesis-3.txt", "thesis.txt"]
    assert sorted(each.name for each in tmp_path.iterdir()) == names


def test_a_game_that_cannot_be_kept_where_it_should_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.tempfile, "gettempdir", lambda: str(tmp_path))
    nowhere = tmp_path / "no" / "such" / "folder.json"
    table, screen, _ = table_of(
        Rules.preset("classic", 2), ["human", "random"], as_attacker(), 1, str(nowhere)
    )
    assert cli.play(table) == 0
    (found,) = tmp_path.glob("risk-*.json")
    assert str(found) in screen.getvalue() and "no/such" in screen.getvalue()


def test_an_interrupt_keeps_the_game(tmp_path: Path) -> None:
    def interrupt(view: View) -> str:
        raise KeyboardInterrupt

    path = tmp_path / "kept.json"
    table, _, _ = table_of(Rules.preset("classic", 2), ["human", "random"], interrupt, path=str(path))
    assert cli.play(table) == 130
    assert load_game(path).seed == SEED


# ------------------------------------------------------------------------------------------------ bots


@pytest.mark.parametrize(
    ("bot", "said"), [("Crashing", "what is a border"), ("Illegal", "-7"), ("Wordy", "TypeError")]
)
def test_a_bot_that_fails_is_named_and_the_game_kept(bot: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    spec = f"{ROOT}/tests/bad_bots/agents.py:{bot}"
    table, screen, _ = table_of(Rules.preset("classic", 2), ["human", spec], as_attacker(), path=str(path))
    with pytest.raises(PlayerFault, match=said) as fault:
        cli.play(table)
    assert bot.lower() in str(fault.value) and "seat 1" in str(fault.value)
    assert load_game(path).actions == table.game.actions
    assert "The game is saved" in screen.getvalue()


def test_bots_play_as_in_any_other_arena() -> None:
    rules = Rules.preset("classic", 3, max_rounds=4)

    class Puppet(Agent):
        def act(self, view: View) -> int:
            return int(view.legal_actions[0])

    def first(view: View) -> str:
        return view.texts[0]

    arena = registry.play_game(rules, load_map("classic"), [Puppet(), "attacker", "random"], SEED)
    table, _, _ = table_of(rules, ["human", "attacker", "random"], first)
    table.play()
    assert table.game == arena


@pytest.mark.parametrize("typed", ["", "quit"])
def test_people_who_are_out_may_watch_or_leave(typed: str) -> None:
    def weak(view: View) -> str:
        return "done" if "done" in view.texts else view.texts[0]

    class Loser(Typist):
        def readline(self, size: int = -1) -> str:
            is_out = "No person is left" in self._screen.getvalue()[-90:]
            return f"{typed}\n" if is_out else super().readline(size)

    screen = io.StringIO()
    typist = Loser(screen, weak)
    rules = Rules.preset("classic", 4, setup="random")
    table = TerminalTable(Game(rules, seed=SEED), ["human", *["attacker"] * 3], Terminal(typist, screen), "")
    typist.table = table
    if typed:
        with pytest.raises(Leave):
            table.play()
    else:
        table.play()
    shown, _, after = screen.getvalue().partition("No person is left in the game")
    assert "eliminated You" in shown and not table.game.alive[0]
    assert (
        table.game.is_over
        == (typed == "")
        == ("won in round" in after)
        == (f"Round {table.game.round}: " in after)
    )


# ------------------------------------------------------------------------------------------------ words


def test_the_game_is_told_as_it_is_played() -> None:
    rules = Rules.preset("command_room", 3, max_rounds=6)
    table, _, _ = table_of(rules, ["human", "attacker", "attacker"], as_attacker())
    table.play()
    events = table.game.events()
    lines = narrate(events, Words(table.names, table.game.board), 100)
    assert any("took the Objective" in line for line in lines) == any(
        event.kind == "objective" for event in events
    )
    assert any("drew a card" in line for line in lines)
    rounds = [line for line in lines if line.startswith("-- Round")]
    assert rounds == [f"-- Round {number} --" for number in range(1, table.game.round + 1)]


# ----------------------------------------------------------------------------------------------- command line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--opponents", "planner,beam", "--players", "2"], "only 1 seat for opponents"),
        (["--opponents", "plannr"], "planner"),
        (["--seat", "3"], "0 to 2"),
        (["--preset", "clasic"], "clasic"),
        (["--players", "9"], "9"),
        (["--option", "fortify"], "NAME=VALUE"),
        (["--option", "fortify=sometimes"], "sometimes"),
        (["--map", "nowhere.toml"], "nowhere.toml"),
        (["--opponents", "duelist", "--preset", "secret_mission"], "duelist"),
        (["--opponents", "cmd:no-such-program-here"], "no-such-program-here"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1


def test_resume_takes_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["play", "--resume", "x.json", "--seed", "3"])
    assert "cannot be combined with --seed" in capsys.readouterr().err


def test_the_command_plays_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    arguments = ["--opponents", "me=random,random", "--seat", "2", "--seed", "7", "--save", "mine.json"]
    assert main(["play", *arguments, "--option", "fortify=adjacent"]) == 0
    shown = capsys.readouterr().out
    assert "0 me, 1 random, 2 You, seed 7" in shown and "\x1b" not in shown
    saved = load_game("mine.json")
    assert (saved.players, saved.rules.fortify) == (("me=random", "random", "human"), "adjacent")
    assert (saved.rules.attack, saved.rules.defender_dice) == ("choice", "choice")
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    assert main(["play", "--resume", "mine.json"]) == 0
    assert len(load_game("mine.json").actions) > len(saved.actions)
    assert main(["play", *arguments]) == 2  # the file exists
    assert "--save mine.json" in capsys.readouterr().err


def test_the_default_is_the_presets_own_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "OPPONENTS", ("random", "attacker"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for preset, players in (("classic", 3), ("two_player", 2)):
        path = tmp_path / f"{preset}.json"
        assert main(["play", "--preset", preset, "--save", str(path)]) == 0
        saved = load_game(path)
        assert saved.rules == Rules.preset(preset, players)
        assert saved.players == ("human", "random", "attacker")[:players]


def test_human_is_an_agent_but_not_in_tournaments(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(registry.make("human"), Human)
    for refused in (
        lambda: registry.load("human"),
        lambda: make_config(["me=human", "random"], Rules.preset("classic", 2)),
    ):
        with pytest.raises(ValueError, match="risk-env play"):
            refused()
    assert main(["agents"]) == 0
    assert "human" not in capsys.readouterr().out


def test_a_human_plays_in_any_arena() -> None:
    screen, attacker = io.StringIO(), as_attacker()
    typist = Typist(screen, attacker)

    class Watched(Human):
        def act(self, view: View) -> int:
            typist.table = type("Now", (), {"game": view._game})
            return super().act(view)

    rules = Rules.preset("classic", 2, setup="random", max_rounds=3)
    person = Watched(Desk(Terminal(typist, screen)))
    game = registry.play_game(rules, load_map("classic"), [person, "attacker"], SEED)
    assert game.is_over
    assert "Player 1" in screen.getvalue() and "You" in screen.getvalue()
