"""Bad bots (`tests.bad_bots`): none stops a tournament, outlives it, or exceeds its limits."""

import base64
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from risk_agents import registry
from risk_agents import sandbox as sandboxes
from risk_agents.external import ExternalAgent
from risk_agents.game_files import save_game
from risk_agents.play.cli import main as play
from risk_agents.program import KEPT_ERRORS, Program, ProgramFault
from risk_agents.sandbox import OPEN, SandboxError, sandbox, shown_to
from risk_agents.tournament import host, jobs
from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.host import AgentServer, Host
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results_store import Store
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_env.saved_game import SavedGame
from tests.bad_bots.contest import BAD_BOTS, RULES, Contest, agent, program

ROOT = Path(__file__).parent.parent
LONG = ("mute",)  # a minute: what a program has to say hello
QUICK = [name for name, bot in BAD_BOTS.items() if bot.spec.startswith("cmd:") and name not in LONG]
HOSTED = ("HalfMessage", "GarbageMessage", "EndlessMessage", "CrashingOddly", "Dying", "Loud")
FEW = ("garbage", "illegal", "hangs", "dies")  # one bot for each kind of forfeit
SOON = ("GarbageMessage", "Dying")  # agents that forfeit before their limit of time


@pytest.mark.parametrize(
    "names",
    [FEW, *(pytest.param(names, marks=pytest.mark.long) for names in (SOON, QUICK, HOSTED))],
    ids=["few programs", "few agents", "programs", "agents"],
)
def test_a_tournament_stands_bad_bots(names: list[str], tmp_path: Path) -> None:
    contest = Contest(names, time_limit=0.5 if names in (FEW, QUICK) else 5.0)
    store = Store.create(tmp_path / "games.sqlite", contest.config)
    expected = contest.expected()
    problems = {contest.config.labels[r.seats[1]]: contest.problem(r, expected) for r in contest.play(store)}
    assert len(list(store.results(actions=True))) == 2 * len(names)
    store.close()
    assert {name: problem for name, problem in problems.items() if problem} == {}


def python(code: str, **options: object) -> Program:
    """Return a program that runs some code."""
    command = [sys.executable, "-c", code]
    return Program(command, "it", shown=shown_to(command[:1]), **options)


def test_the_end_of_standard_error_is_kept_and_no_more() -> None:
    program = python(
        "import sys\nfor k in range(200000): print('line', k, file=sys.stderr)\nsys.exit('the end')"
    )
    with pytest.raises(ProgramFault, match=r"status 1: .*line 199999 the end"):
        program.request({}, 20)
    assert len(program._errors) <= KEPT_ERRORS


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_limit_of_time_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match=r"time_limit=.*: must be more than 0 and at most 1,000,000 seconds"):
        make_config(["random", "grower"], RULES, time_limit=limit)
    with pytest.raises(ValueError, match="time_limit="):
        ExternalAgent(program("good"), time_limit=limit)


def test_what_a_host_answers_is_checked() -> None:
    with pytest.raises(ProgramFault) as fault:
        Host(agent("Nobody"), RULES, "classic", 5.0)
    assert fault.value.kind == "crash"
    assert "does not define 'Nobody'" in str(fault.value)


def test_what_a_host_loads_or_compiles_first_does_not_count_as_its_agents_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # less than it takes to import risk_env and to load its kernels
    monkeypatch.setattr(host, "START_LIMIT", 0.5)
    found = Host(f"{ROOT / 'tests' / 'players.py'}:Good", RULES, "classic", 5.0)
    found.close()
    assert found.name == "good"


@pytest.mark.parametrize(
    ("spec", "survives"),
    [pytest.param("strategist", True, marks=pytest.mark.long), (agent("Hanging"), False)],
)
def test_an_installed_agent_may_compile_for_longer_than_one_from_a_file(
    monkeypatch: pytest.MonkeyPatch, spec: str, survives: bool
) -> None:
    monkeypatch.setattr(host, "PREPARATION", 0.01)
    monkeypatch.setattr(host, "_UNPREPARED", set())
    found = Host(spec, RULES, "tiny", 5.0)
    found.prepare(seat=0)
    assert found.is_alive == survives
    found.close()


PREPARING = """
import random, sys, time
from risk_env import Agent

random.seed(7)
SEEN = set()  # by all instances of the process

class Learning(Agent):
    def reset(self, seat, rules, board, seed):
        self.games = getattr(self, "games", 0) + 1

    def act(self, view):
        SEEN.add(view.phase)
        return int(random.choice(view.legal_actions))

class Noting(Learning):
    def prepare(self, rules, board):
        with open(__file__ + ".log", "a") as log:
            print("prepared", rules.num_players, board.name, file=log)

class HangingThen(Learning):
    def prepare(self, rules, board):
        with open(__file__ + ".log", "a") as log:
            print("hangs", file=log)
        time.sleep(1000)
"""


@pytest.fixture
def preparing(tmp_path: Path) -> Path:
    """Write a file of agents that note all calls."""
    path = tmp_path / "preparing.py"
    path.write_text(PREPARING, encoding="utf-8")
    return path


def test_an_agent_without_prepare_rehearses_every_phase_of_the_game(preparing: Path) -> None:
    server = AgentServer()
    server.load(Rules.preset("classic", 3, max_rounds=100).to_dict(), "classic")
    server.introduce(f"{preparing}:Learning")
    server.prepare(seat=0, seconds=1000.0)
    seen = registry._module_of(preparing).SEEN
    assert {Phase.CLAIM, Phase.DEPLOY, Phase.TRADE, Phase.DRAFT, Phase.ATTACK, Phase.OCCUPY} <= seen


def test_a_rehearsal_leaves_the_agents_that_play_and_the_global_generators_as_they_were(
    preparing: Path,
) -> None:
    actions = []
    for seconds in (0.0, 1000.0):
        random.seed(7)
        np.random.seed(7)  # noqa: NPY002
        server, game = AgentServer(), Game(RULES, load_map("classic"), seed=3)
        server.load(RULES.to_dict(), "classic")
        server.introduce(f"{preparing}:Learning")
        server.prepare(game.seat, seconds)
        server.begin(game.seat, seed=5)
        assert server._agents[game.seat].games == 1
        record = base64.b64encode(game.determinize(game.seat, 0).to_record()).decode()
        actions.append([server.act(game.seat, record) for _ in range(20)] + [int(np.random.randint(10**9))])  # noqa: NPY002
    assert actions[0] == actions[1]


@pytest.mark.long
def test_every_process_of_an_agent_prepares_before_its_first_game(preparing: Path) -> None:
    config = make_config([f"{preparing}:Noting", "random"], RULES, "tiny", time_limit=50.0, fresh=True)
    results = [result for pairing in config.schedule(2) for result in jobs.play(config, (pairing,))]
    jobs.close_pools()
    assert not any(result.forfeit_kind for result in results)
    told = Path(f"{preparing}.log").read_text().splitlines()
    # when it was tried, and in a new process for each game
    assert told == ["prepared 2 Tiny"] * (1 + len(results))


@pytest.mark.long
def test_an_agent_that_hangs_while_it_prepares_plays_unprepared(
    preparing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "PREPARATION", 0.02)
    monkeypatch.setattr(host, "_UNPREPARED", set())
    config = make_config([f"{preparing}:HangingThen", "random"], RULES, "tiny", time_limit=50.0, fresh=True)
    results = [result for pairing in config.schedule(2) for result in jobs.play(config, (pairing,))]
    jobs.close_pools()
    assert not any(result.forfeit_kind for result in results)
    assert Path(f"{preparing}.log").read_text() == "hangs\n"  # once: another process would hang, too


# ------------------------------------------------------------------------------------------------ ends

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")


def running(mark: str) -> list[int]:
    """Return the processes whose command line contains a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Return True if a condition becomes true in time."""
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return true()


TREE = (  # a process that ignores signals, its child, and a grandchild that leaves the session
    "import signal, subprocess, sys, time\n"
    "[signal.signal(n, signal.SIG_IGN) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]\n"
    "subprocess.Popen(['sleep', '{mark}'])\n"
    'subprocess.Popen([sys.executable, \'-c\', \'import subprocess; subprocess.Popen(["sleep", "{mark}"], '
    "start_new_session=True)']).wait()\n"
    "print('{{}}', flush=True)\n"
    "time.sleep({mark})\n"
)


@needs_linux
def test_what_a_program_has_started_ends_with_it() -> None:
    mark = str(100_000 + os.getpid())
    program = python(TREE.format(mark=mark))
    program.request({}, 20)
    assert len(running(mark)) >= 3
    program.kill()
    assert wait_until(lambda: not running(mark))


@needs_linux
def test_programs_die_with_their_tournament_even_if_it_is_killed() -> None:
    mark = str(200_000 + os.getpid())
    code = "from tests.test_bad_bots import *\np = python(sys.argv[1]); p.request({}, 20); time.sleep(600)"
    command = [sys.executable, "-c", code, TREE.format(mark=mark)]
    caller = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert wait_until(lambda: len([pid for pid in running(mark) if pid != caller.pid]) >= 3, 60)
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    assert wait_until(lambda: not running(mark))


# ------------------------------------------------------------------------------------------------ sandbox


def told_in(level: str | None, code: str) -> object:
    """Run code in a sandbox and return its output as JSON."""
    code = f"import json, os, resource, socket\nprint(json.dumps({code}), flush=True)"
    program = python(code, sandbox=sandbox(level))
    try:
        return program.request({}, 20)
    finally:
        program.kill()


@needs_linux
def test_limits_hold_in_a_sandbox_and_keys_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "1234")
    code = "{'memory': resource.getrlimit(resource.RLIMIT_DATA), 'key': os.environ.get('SECRET_KEY')}"
    assert told_in("yes", code) == {"memory": [sandboxes.MEMORY] * 2, "key": None}
    assert told_in(None, code) == {
        "memory": list(resource.getrlimit(resource.RLIMIT_DATA)),
        "key": "1234",
    }
    with pytest.raises(ProgramFault, match="MemoryError"):
        told_in("yes", f"len(bytes({sandboxes.MEMORY + 1}))")


def test_a_sandbox_says_what_it_enforces_and_there_is_no_network() -> None:
    says = sandbox("yes").says
    assert ("4 GiB of memory per process" if sys.platform == "linux" else "NO memory limit") in says
    if says.startswith("no network"):
        interfaces = told_in("yes", "{'names': [name for _, name in socket.if_nameindex()]}")
        assert interfaces == {"names": ["lo"]}
    else:
        assert says.endswith("the network")
    assert sandbox(None) == OPEN


def test_strict_is_refused_where_it_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes.shutil, "which", lambda name: None)
    sandbox.cache_clear()
    with pytest.raises(SandboxError, match="--sandbox=strict needs bubblewrap: bwrap is not installed"):
        tournament(["--agents", "random,grower", "--sandbox", "strict"])
    sandbox.cache_clear()


# ------------------------------------------------------------------------------------------ programs in files


def test_a_strangers_tournament_starts_no_program_unasked(tmp_path: Path) -> None:
    out, mark = tmp_path / "games.sqlite", tmp_path / "ran"
    config = make_config([program("good"), "random"], RULES)
    facts = json.loads(config.to_json())
    facts["agents"][0]["spec"] = f"cmd:touch {mark}"
    Store.create(out, type(config).from_json(json.dumps(facts)), {"games": 2}).close()
    for more in ([], ["--sandbox"]):
        with pytest.raises(
            ValueError, match=r"games.sqlite names programs, language models .*: 'cmd:touch .*allow-programs"
        ):
            tournament(["--resume", str(out), *more])
    assert not mark.exists()
    with pytest.raises(ValueError, match="cannot play"):  # it is named, started, and plays no Risk
        tournament(["--resume", str(out), "--allow-programs"])
    assert mark.exists()


@pytest.mark.parametrize("spec", ["llm:expensive", "theirs.py:Bot"])
def test_a_strangers_tournament_asks_no_model_and_loads_no_file_unasked(tmp_path: Path, spec: str) -> None:
    out = tmp_path / "games.sqlite"
    config = make_config(["random", "grower"], RULES)
    facts = json.loads(config.to_json())
    facts["agents"][0] |= {"spec": spec, "compiled": False}
    Store.create(out, type(config).from_json(json.dumps(facts)), {"games": 2}).close()
    with pytest.raises(ValueError, match=f"'{spec}'.*--allow-programs"):
        tournament(["--resume", str(out)])


def test_a_label_is_not_taken_for_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = make_config(["random", "grower"], RULES)
    sly = replace(config.entrants[0], label="cmd:touch ran #")
    Store.create("games.sqlite", replace(config, entrants=(sly, config.entrants[1])), {"games": 2}).close()
    tournament(["--resume", "games.sqlite", "--quiet"])
    assert not Path("ran").exists()


def test_a_kept_game_of_a_stranger_starts_no_program_unasked(tmp_path: Path) -> None:
    path, mark = tmp_path / "kept.json", tmp_path / "ran"
    save_game(path, SavedGame.of(Game(RULES, seed=1), ["human", f"cmd:touch {mark}"]))
    with pytest.raises(
        ValueError, match=r"kept.json names programs, language models .*: 'cmd:touch .*--allow-programs"
    ):
        play(["--resume", str(path)])
    assert not mark.exists()
    with pytest.raises(ValueError, match="cannot play"):
        play(["--resume", str(path), "--allow-programs"])
    assert mark.exists()
