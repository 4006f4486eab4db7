"""External programs over the line protocol (docs/protocol.md): good ones play, bad ones stop nothing."""

import ast
import json
import shlex
import sys
import time
from pathlib import Path

import pytest

from risk_agents.external import ExternalAgent
from risk_agents.program import ProgramFault
from risk_agents.protocol import game_facts, state_facts
from risk_agents.registry import play_game
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.players import PlayerPool
from risk_agents.tournament.results import FORFEIT, NOBODY
from risk_agents.tournament.runner import play_single
from risk_agents.tournament.schedule import Pairing
from risk_env.agent import View
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, presets
from risk_env.game import Game
from tests.bad_bots.contest import program

ROOT = Path(__file__).parent.parent
EXAMPLES = {"stdlib": ROOT / "examples" / "bot_stdlib.py", "plans": ROOT / "examples" / "bot_plans.py"}
RULES = Rules.preset("classic", num_players=2, attack="blitz", defender_dice="max", max_rounds=20)
FIRST = f"{ROOT / 'tests' / 'players.py'}:FIRST"


def example(name: str = "stdlib") -> str:
    """Return the spec of an example bot."""
    return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES[name]))}"


@pytest.fixture
def start():
    """Start programs, and end them after the test."""
    running = []

    def begin(spec: str, time_limit: float = 5.0) -> ExternalAgent:
        running.append(ExternalAgent(spec, time_limit=time_limit))
        return running[-1]

    yield begin
    for agent in running:
        agent.close()


def first_question(agent: ExternalAgent) -> int:
    """Ask an agent the first question of a game."""
    game = Game(RULES, seed=1)
    agent.reset(game.seat, game.rules, game.board, seed=5)
    return agent.act(View(game, game.seat))


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda path: path.stem)
def test_an_example_uses_the_standard_library_only_and_is_short(example: Path) -> None:
    tree = ast.parse(example.read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert len(example.read_text().splitlines()) < 65


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("players", [2, 3])
def test_an_example_plays_whole_games(players: int, name: str) -> None:
    rules = (
        RULES.replace(num_players=players)
        if players == 2
        else Rules.preset("secret_mission", num_players=3, attack="choice", max_rounds=10)
    )
    config = make_config([FIRST, example(name)], rules, record=True)
    pool = PlayerPool(config)
    try:
        results = [play_single(config, pairing, pool) for pairing in config.schedule(2)[:2]]
    finally:
        pool.close()
    assert [result.ending == FORFEIT for result in results] == [False, False], results
    assert config.labels == ("first", name)


def test_the_same_seed_gives_the_same_game() -> None:
    config = make_config([FIRST, example()], RULES, record=True)
    found = []
    for _ in range(2):
        pool = PlayerPool(config)
        found.append(play_single(config, config.schedule(1)[0], pool).actions)
        pool.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("habit", ["good", "texts", "digits"])
def test_an_answer_is_a_number_or_a_text(habit: str, start) -> None:
    agent = start(program(habit))
    assert (agent.name, agent.version) == (habit, "7")
    assert first_question(agent) == Game(RULES, seed=1).legal_actions()[0]


@pytest.mark.parametrize(
    ("habit", "kind", "told"),
    [
        ("garbage", "garbage", "I attack!"),
        ("stale", "garbage", "id 0"),
        ("endless", "garbage", "bytes"),
        ("nan", "garbage", "NaN"),
        ("overflows", "garbage", "1e999"),
        ("deep_and_closed", "garbage", "instead of a JSON object"),
        ("illegal", "illegal", "attack Nowhere > Elsewhere"),
        ("dies", "died", "I have had enough"),
        ("hangs", "time", "0.5 s"),
        ("leaves", "time", "0.5 s"),
    ],
)
def test_a_bad_answer_is_a_fault_that_says_what_is_wrong(habit: str, kind: str, told: str, start) -> None:
    agent = start(program(habit), time_limit=0.5)
    begun = time.monotonic()
    with pytest.raises(ProgramFault, match=told) as fault:
        first_question(agent)
    assert fault.value.kind == kind
    assert time.monotonic() - begun < 5


def test_a_program_that_does_not_read_is_late_too(start) -> None:
    agent = start(program("deaf"), time_limit=0.5)
    game = Game(RULES, seed=1)
    with pytest.raises(ProgramFault) as fault:
        for _ in range(200):  # until the pipe is full
            agent.reset(0, game.rules, game.board, seed=5)
    assert fault.value.kind == "time"


def test_a_program_that_says_no_hello_is_refused() -> None:
    with pytest.raises(ProgramFault) as fault:
        ExternalAgent(program("mute"), start_limit=0.5)
    assert fault.value.kind == "time"


def test_a_program_of_another_protocol_is_refused_with_both_named() -> None:
    with pytest.raises(ProgramFault, match=r"speaks protocol 2; it must speak protocol 1"):
        ExternalAgent(program("newer"))


@pytest.mark.parametrize("spec", ["cmd:./no-such-program --fast", "cmd:", "cmd:   "])
def test_a_program_that_cannot_be_started_is_refused(spec: str) -> None:
    with pytest.raises(ProgramFault):
        ExternalAgent(spec)


def test_a_program_that_stays_after_goodbye_is_ended() -> None:
    agent = ExternalAgent(program("clings"))
    begun = time.monotonic()
    agent.close()
    assert time.monotonic() - begun < 10
    assert agent._program._process.poll() is not None


@pytest.mark.parametrize(("habit", "kind"), [("dies", "died"), ("garbage", "garbage"), ("hangs", "time")])
def test_a_bad_program_forfeits_its_games_and_the_next_begins(habit: str, kind: str) -> None:
    config = make_config([FIRST, program(habit)], RULES, time_limit=0.5)
    pool = PlayerPool(config)
    try:
        results = [play_single(config, pairing, pool) for pairing in config.schedule(2)]
    finally:
        pool.close()
    for result in results:
        bad = result.seats.index(1)
        assert (result.ending, result.forfeit_seat, result.forfeit_kind) == (FORFEIT, bad, kind)
        assert result.places[bad] == 2
        assert result.winner == 1 - bad != NOBODY


def test_a_program_plays_whole_turns_in_one_answer(start) -> None:
    agent = start(program("plans"))
    game, asked = play_game(RULES, load_map("classic"), [agent, "random"], seed=2), agent._requests
    assert game.is_over
    turns = {event.number for event in game.events() if event.kind == "round"}
    assert len(turns) <= asked <= 3 * len(turns) + 60  # set-up and occupations are asked one by one


def test_its_standard_error_is_shown_on_request(
    start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for wish, shown in (("", ""), ("1", "thinking\\x1b[31m\n")):
        monkeypatch.setenv("RISK_ENV_SHOW_STDERR", wish)
        first_question(start(program("talks")))
        assert capsys.readouterr().err == shown


def test_a_plan_that_cannot_begin_is_an_illegal_answer(start) -> None:
    agent = start(program("plans-badly"))
    with pytest.raises(ProgramFault, match="Nowhere") as fault:
        first_question(agent)
    assert fault.value.kind == "illegal"


@pytest.mark.parametrize("preset", presets())
def test_a_question_says_what_a_seat_may_know_in_numbers(preset: str) -> None:
    game = Game(Rules.preset(preset, max_rounds=3), seed=3)
    for number in range(300):
        if game.is_over:
            break
        facts = state_facts(game, game.seat)
        assert json.loads(json.dumps(facts)) == json.loads(
            json.dumps(state_facts(game.determinize(game.seat, number), game.seat))
        )
        assert len(facts["hand"]) == facts["hand_sizes"][game.seat]
        assert ("amount" in facts) == (game.phase.name in ("DRAFT_AMOUNT", "OCCUPY", "FORTIFY_AMOUNT"))
        legal = game.legal_actions()
        game.step(int(legal[number * 7 % len(legal)]))


BLOCKS = {
    "territory": 0,
    "border": 6,
    "dice": 20,
    "amount": 24,
    "card": 41,
    "done": 48,
    "die": 49,
    "objective": 49,
    "end": 61,
}


def test_the_blocks_of_actions_are_numbered() -> None:
    game = Game(Rules.preset("command_room", 3), "tiny", seed=5)
    assert list(game_facts(game.rules, game.board)["actions"].items()) == list(BLOCKS.items())


def test_a_program_plays_all_seats_in_one_process() -> None:
    config = make_config([FIRST, program("good")], RULES.replace(num_players=3, max_rounds=1))
    pool, processes = PlayerPool(config), []
    try:
        for seats in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
            play_single(config, Pairing(0, 0, seats), pool)
            processes.append(pool.players(seats)[seats.index(1)]._agent._program)
        twice = pool.players((1, 0, 1))
    finally:
        pool.close()
    assert len(set(processes)) == 1
    assert twice[0] is not twice[2]


def test_the_end_of_a_game_comes_with_the_last_events() -> None:
    told: list[dict] = []
    config = make_config([FIRST, program("plans")], RULES.replace(max_rounds=2))
    pool = PlayerPool(config)
    try:
        pool.players((0, 1))[1]._agent = agent = ExternalAgent(program("plans"))
        agent._tell = lambda message: told.append(message) or agent._program.tell(message, 5)
        play_single(config, config.schedule(1)[0], pool)
    finally:
        pool.close()
    (over,) = [message for message in told if message["type"] == "over"]
    assert over["events"][-1]["kind"] == "over"
    assert all(event["only"] in (-1, over["seat"]) for event in over["events"])


def test_the_numbers_of_the_blocks_are_those_of_the_actions() -> None:
    game = Game(RULES, seed=1)
    facts = game_facts(game.rules, game.board)
    while game.phase.name != "ATTACK":
        game.step(int(game.legal_actions()[0]))
    for action in game.legal_actions()[:-1]:
        source, target = facts["map"]["borders"][action - facts["actions"]["border"]]
        names = facts["map"]["territories"]
        assert game.action_text(int(action)) == f"attack {names[source]} > {names[target]}"
    assert game.action_text(facts["actions"]["done"]) == "done"
    assert facts["actions"]["end"] == game.num_actions
