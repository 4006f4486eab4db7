"""The tournament: fair schedules, equal games for every way of running, ratings, survived bad agents."""

import csv
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from risk_agents.agent_list import split_agents
from risk_agents.replay import main as replay
from risk_agents.replay import replayed_games
from risk_agents.tournament import cli, sprt
from risk_agents.tournament.cli import main as tournament
from risk_agents.tournament.cli import show_agents
from risk_agents.tournament.config import Entrant, TournamentConfig
from risk_agents.tournament.exports import plain, remarks
from risk_agents.tournament.host import NO_DEAL
from risk_agents.tournament.jobs import close_pools, play
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.players import PlayerPool, compiled_bot, lane_player
from risk_agents.tournament.ratings import POINTS, Rankings, rates, ratings
from risk_agents.tournament.records import write_records
from risk_agents.tournament.report import PLOTS, picture, write_report
from risk_agents.tournament.results import (
    FORFEIT,
    NOBODY,
    TRUNCATED,
    WON,
    GameResult,
    final_places,
    opening_of,
    winner_of_forfeit,
)
from risk_agents.tournament.results_store import Store, StoreError
from risk_agents.tournament.runner import play_compiled, play_single
from risk_agents.tournament.running import conduct
from risk_agents.tournament.schedule import Cutter, duel_pairings, pairings
from risk_agents.tournament.summary import Estimate, summarise
from risk_env.board import maps
from risk_env.board.rules import Rules
from risk_env.cli import main as command
from risk_env.game import Game, SavedGameError
from risk_env.seeds import bot_seed, game_seed, hashed_seed
from risk_env.text.escape import label
from tests.kill_tournaments import kill_runs

ROOT = Path(__file__).parent.parent
PLAYERS = ROOT / "tests" / "players.py"
FIRST, BOLD, LAZY = (f"{PLAYERS}:{name}" for name in ("FIRST", "BOLD", "LAZY"))
FAST = {"attack": "blitz", "defender_dice": "max"}


def rules_for(players: int, rounds: int = 6) -> Rules:
    return Rules.preset("classic", num_players=players, max_rounds=rounds, **FAST)


def config_of(*agents: str, players: int = 3, rounds: int = 6, **options: object) -> TournamentConfig:
    return make_config(agents, rules_for(players, rounds), **options)


def untried(config: TournamentConfig, name: str) -> TournamentConfig:
    """Return the configuration with a class of `players.py` as the last agent, which is not tried out."""
    last = config.entrants[-1]
    other = Entrant(last.label, f"{PLAYERS}:{name}", last.version, compiled=False)
    return replace(config, entrants=(*config.entrants[:-1], other))


def timeless(results: list[GameResult]) -> list[GameResult]:
    """Return results in the order of the schedule, without times."""
    return sorted((replace(result, seconds=()) for result in results), key=lambda result: result.game)


def played(config: TournamentConfig, games: int) -> list[GameResult]:
    left = Cutter(config.schedule(games), config.is_compiled)
    return [result for chunk in iter(left.cut, ()) for result in play(config, chunk)]


# ------------------------------------------------------------------------------------------------ schedule


@pytest.mark.parametrize(
    ("agents", "players", "games_a_deal"), [(2, 2, 2), (3, 3, 6), (2, 3, 3), (5, 3, 6), (4, 4, 8), (6, 6, 12)]
)
def test_every_agent_sits_in_every_seat_equally_often_in_every_deal(
    agents: int, players: int, games_a_deal: int
) -> None:
    schedule = pairings(agents, players, 200, seed=1)
    deals: dict[int, list[tuple[int, ...]]] = {}
    for pairing in schedule:
        deals.setdefault(pairing.deal, []).append(pairing.seats)
    for seatings in deals.values():
        assert len(set(seatings)) == len(seatings) == games_a_deal
        for agent in set(seatings[0]):
            assert len({sum(seats[place] == agent for seats in seatings) for place in range(players)}) == 1


@pytest.mark.parametrize(("agents", "players"), [(2, 3), (7, 3), (5, 2), (9, 6), (4, 6), (1, 3)])
def test_all_agents_play_equally_often_and_meet_all_others(agents: int, players: int) -> None:
    schedule = pairings(agents, players, 3000, seed=2)
    line_ups = {pairing.deal: pairing.seats for pairing in schedule}.values()
    counts = Counter(agent for seats in line_ups for agent in seats)
    assert len(counts) == agents
    assert max(counts.values()) - min(counts.values()) <= 1
    met = Counter((a, b) for seats in line_ups for a in set(seats) for b in set(seats) if a < b)
    assert len(met) == agents * (agents - 1) // 2
    assert not met or min(met.values()) > 0.7 * max(met.values())


def test_a_schedule_depends_on_its_seed_and_begins_a_longer_one() -> None:
    long = pairings(7, 4, 500, seed=3)
    assert pairings(7, 4, 100, seed=3) == long[: len(pairings(7, 4, 100, seed=3))]
    assert pairings(7, 4, 500, seed=4) != long
    assert [pairing.game for pairing in long] == list(range(len(long)))


def test_a_block_of_the_sequential_test_holds_the_lone_agent_in_every_seat() -> None:
    block = [pairing.seats for pairing in duel_pairings(3, 1)]
    assert sorted(block) == sorted([(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    assert [pairing.seats for pairing in duel_pairings(2, 1)] == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("workers", "games", "first", "sizes"),
    [(2, 3084, 32, [512, 512, 507, 381, 285]), (2, 64, 16, [25, 23]), (1000, 6000, 3, [6, 6, 6])],
)
def test_chunks_fit_the_workers_and_get_smaller(
    workers: int, games: int, first: int, sizes: list[int]
) -> None:
    config = config_of("random", "grower", players=2)
    left = Cutter(config.schedule(games), config.is_compiled)
    chunk = left.cut(workers)
    assert len(chunk) == first
    left.ended(chunk, first / 100)  # 100 games a second
    found = [len(chunk) for chunk in iter(lambda: left.cut(workers), ())]
    assert (
        found[: len(sizes)] == sizes and found == sorted(found, reverse=True) and sum(found) == games - first
    )


# ------------------------------------------------------------------------------------------------ results


def test_shared_places_are_drawn_for_by_the_seed_and_who_forfeits_is_last() -> None:
    assert final_places([2, 1, 3], 7) == (2, 1, 3)
    assert final_places([1, 2, 3], 7, last=0) == (3, 1, 2)
    drawn = Counter(final_places([1, 1, 1], seed) for seed in range(600))
    assert len(drawn) == 6
    assert min(drawn.values()) > 60
    assert final_places([1, 1, 1], 5) == final_places([1, 1, 1], 5)


def test_a_forfeit_is_a_win_only_for_a_sole_survivor() -> None:
    assert winner_of_forfeit([True, True], 0) == 1
    assert winner_of_forfeit([True, True, False], 1) == 0
    assert winner_of_forfeit([True, True, True], 1) == NOBODY


# ------------------------------------------------------------------------------------------------ games


@pytest.mark.parametrize("players", [3, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 5))])
def test_games_of_a_block_are_the_games_played_alone(players: int) -> None:
    config = config_of(FIRST, BOLD, players=players, rounds=12, record=True)
    schedule = config.schedule(8)[:8]
    bots = {agent: compiled_bot(entrant.spec) for agent, entrant in enumerate(config.entrants)}
    together = list(play_compiled(config, schedule, bots))
    pool = PlayerPool(config)
    alone = [play_single(config, pairing, pool) for pairing in schedule]
    assert timeless(together) == timeless(alone)
    assert {result.ending for result in alone} <= {WON, TRUNCATED}
    assert all(sum(result.decisions) == len(result.actions) > 0 for result in alone)
    assert all(turns <= result.rounds + 1 for result in alone for turns in result.turns)


@pytest.mark.parametrize(
    ("preset", "setup"), [("classic", "claim"), ("classic", "deal"), ("basic_training", "chart")]
)
def test_an_opening_is_the_position_when_the_first_turn_begins(preset: str, setup: str) -> None:
    rules = Rules.preset(preset, 3, setup=setup, max_rounds=4, **FAST)
    config = make_config([FIRST, BOLD, "grower"], rules, record=True)
    results = played(config, 12)
    for result in results:
        game = Game(rules, config.board, config.seed, lane=result.deal)
        for action in result.actions:
            if game.round == 1:
                break
            game.step(action)
        assert result.opening == opening_of(game.record, 3, config.board.num_territories)
    assert len({result.opening for result in results}) == (1 if setup == "chart" else 12)


def test_an_opening_counts_owners_from_the_starter() -> None:
    game = Game(Rules.preset("classic", 3, setup="random"), seed=1)
    turned = game.copy().record
    turned.starter = (turned.starter + 1) % 3
    turned.owner[:42] = (turned.owner[:42] + 1) % 3
    assert opening_of(turned, 3, 42) == opening_of(game.record, 3, 42)
    turned.troops[0] += 1
    assert opening_of(turned, 3, 42) != opening_of(game.record, 3, 42)


def test_lanes_take_the_next_game_when_theirs_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(FIRST, BOLD, players=2, rounds=8, record=True)
    many = played(config, 40)
    monkeypatch.setattr("risk_agents.tournament.runner.LANES", 3)
    few = played(config, 40)
    assert timeless(few) == timeless(many)
    assert len(few) == 40


def test_an_agent_in_a_process_of_its_own_plays_as_the_compiled_one() -> None:
    config = config_of(BOLD, FIRST, players=2, record=True)
    assert timeless(played(untried(config, "Good"), 4)) == timeless(played(config, 4))


@pytest.mark.long
def test_the_games_do_not_depend_on_the_jobs(tmp_path: Path) -> None:
    config = config_of(FIRST, BOLD, f"other={BOLD}", players=2)
    found = []
    for jobs in (1, 2):
        store = Store.create(tmp_path / f"{jobs}.sqlite", config)
        conduct(store, 12, jobs)
        found.append(timeless(list(store.results())))
        store.close()
    assert found[0] == found[1]
    assert len(found[0]) == 12


def test_any_executor_will_do(tmp_path: Path) -> None:
    config = config_of(FIRST, BOLD, players=2)
    store = Store.create(tmp_path / "games.sqlite", config)
    with ThreadPoolExecutor(1) as executor:
        conduct(store, 10, executor=executor)
    assert timeless(list(store.results())) == timeless(played(config, 10))
    store.close()


# ------------------------------------------------------------------------------------------------ bad agents


AGENT = """
from risk_env.agent import Agent

class Mine(Agent):
    def reset(self, seat, rules, board, seed):
        open(__file__ + ".told", "a").write(f"{seed}\\n")

    def act(self, view):
        return view.legal_actions[0]
"""


def test_a_file_of_python_is_loaded_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("import os\nPLACE = os.getpid()\n")
    told = tmp_path / "told"
    tell = f"import beside\nopen({str(told)!r}, 'a').write(f'{{beside.PLACE}}\\n')\nprint('aloud')\n"
    (tmp_path / "mine.py").write_text(tell + AGENT)
    config = config_of(FIRST, f"{tmp_path}/mine.py:Mine", players=2, rounds=2)
    assert [result.ending for result in played(config, 2)] == [TRUNCATED] * 2
    processes = told.read_text().split()
    assert processes and str(os.getpid()) not in processes


@pytest.mark.parametrize(
    ("first", "told"), [("import sys; sys.exit(0)", "SystemExit: 0"), ("1 / 0", "ZeroDivision")]
)
def test_a_file_that_cannot_be_loaded_is_named(first: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"{first}\n{AGENT}")
    with pytest.raises(ValueError, match=rf"mine\.py.*{told}"):
        config_of(FIRST, f"{tmp_path}/mine.py:Mine", players=2)


def test_an_agents_seed_does_not_tell_the_games(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    config = config_of(FIRST, f"{tmp_path}/mine.py:Mine", players=2, rounds=2)
    played(config, 2)
    known = {int(bot_seed(int(game_seed(0, deal)), seat)) for deal in range(2) for seat in range(2)}
    seeds_told = set(map(int, (tmp_path / "mine.py.told").read_text().split()))
    assert seeds_told and not seeds_told & (known | {int(game_seed(0, deal)) for deal in range(2)})
    rehearsal = {int(bot_seed(int(game_seed(0, NO_DEAL)), seat)) for seat in range(2)}
    assert seeds_told <= {hashed_seed(seed) for seed in known | rehearsal}


@pytest.mark.parametrize("fresh", [False, pytest.param(True, marks=pytest.mark.long)])
def test_an_agents_process_does_not_get_the_command_line(
    fresh: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [sys.argv[0], "--seed", "918273645546372819"])
    (tmp_path / "mine.py").write_text(
        "import os, sys\n" + AGENT.replace("{seed}", "{os.getpid()} {sys.argv}")
    )
    config = config_of(FIRST, f"{tmp_path}/mine.py:Mine", players=2, rounds=2, seed=1, fresh=fresh)
    (tmp_path / "mine.py.told").unlink(missing_ok=True)  # it was tried before
    played(config, 2)
    close_pools()
    told = (tmp_path / "mine.py.told").read_text()
    assert "918273645546372819" not in told
    assert len({line.split()[0] for line in told.splitlines()}) == (2 if fresh else 1)
    assert sys.argv[1:] == ["--seed", "918273645546372819"]


def test_the_example_plays_whole_games() -> None:
    config = config_of("random", f"{ROOT / 'examples' / 'bot.py'}:Borderer", players=2, rounds=60)
    assert config.entrants[1].label == "borderer"
    results = played(config, 2)
    assert all(result.ending != FORFEIT for result in results)
    winners = [result.seats[result.winner] for result in results if result.winner != NOBODY]
    assert winners and set(winners) == {1}


def test_what_an_agent_calls_itself_is_made_a_label() -> None:
    assert label("[/x]\ud800 my\nbot" + "t" * 99) == "[/x] mybot" + "t" * 30
    assert label("\x1b") == "?"


def test_a_bad_agent_is_counted_in_the_summary() -> None:
    bad = Entrant("bad", f"{ROOT}/tests/bad_bots/agents.py:Crashing", "1", compiled=False)
    config = config_of(FIRST, f"bad={FIRST}", players=2, rounds=2)
    config = replace(config, entrants=(config.entrants[0], bad))
    results = played(config, 2)
    assert [result.seats[result.forfeit_seat] for result in results] == [1, 1]
    summary = summarise(config, results)
    assert summary.forfeited == 2
    assert summary.agents[-1].forfeits == 2
    assert any("crash" in line and "what is a border?" in line for line in summary.forfeits)


@pytest.mark.long
def test_who_thinks_too_long_in_a_whole_game_forfeits_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AGENT)
    config = config_of(FIRST, f"{tmp_path}/mine.py:Mine", players=2, game_time=1e-6)
    for result in played(config, 2):
        assert (result.ending, result.forfeit_kind) == (FORFEIT, "time")
        assert result.forfeit_reason == "used more than 1e-06 s in one game"


def test_a_compiled_bot_without_an_answer_forfeits() -> None:
    results = played(config_of(FIRST, LAZY, players=2, record=True), 4)
    for result in results:
        assert (result.ending, result.forfeit_kind, result.seats[result.forfeit_seat]) == (
            FORFEIT,
            "illegal",
            1,
        )
        assert sum(result.decisions) == len(result.actions) + 1


def test_a_bot_that_does_not_compile_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise TypeError("no such field")

    bot = compiled_bot(FIRST)
    monkeypatch.setattr("risk_agents.tournament.loading.lane_player", lambda spec: bot_of(spec, bot, broken))
    with pytest.raises(ValueError, match="cannot play: TypeError: no such field"):
        config_of(FIRST, BOLD, players=2)


def test_a_bot_that_raises_spoils_only_its_own_games(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(FIRST, BOLD, f"other={BOLD}", players=2)
    good = played(config, 12)

    def broken(*arguments: object) -> None:
        if len(arguments[3]):
            raise ZeroDivisionError("how?")

    bot = compiled_bot(FIRST)
    monkeypatch.setattr("risk_agents.tournament.jobs.lane_player", lambda spec: bot_of(spec, bot, broken))
    monkeypatch.setattr("risk_agents.tournament.players.lane_player", lambda spec: bot_of(spec, bot, broken))
    for before, after in zip(timeless(good), timeless(played(config, 12)), strict=True):
        if 0 in after.seats:
            assert (after.forfeit_kind, after.seats[after.forfeit_seat]) == ("crash", 0)
        else:
            assert after == before


def bot_of(spec: str, bot: object, choose: object) -> object:
    return replace(bot, choose=choose) if spec == FIRST else lane_player(spec)


def test_what_an_agents_process_is_sent_holds_nothing_hidden() -> None:
    game = Game(Rules.preset("secret_mission", num_players=3, **FAST), seed=5)
    rng = random.Random(1)
    for number in range(400):
        seat = game.seat
        shown = game.determinize(seat, 0)
        assert game.determinize(seat, number).determinize(seat, 0).to_record() == shown.to_record()
        assert shown.legal_actions().tolist() == game.legal_actions().tolist()
        game.step(rng.choice(game.legal_actions().tolist()))
    assert shown.to_record() != game.to_record()


@pytest.mark.parametrize(
    "text", ["nobody-of-this-name", f"{PLAYERS}:Nobody", "no/such/file.py:Bot", "cmd:./no-such"]
)
def test_an_agent_that_cannot_be_had_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="agent"):
        config_of("random", text, players=2)


def test_two_agents_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"other=.*:FIRST"):
        config_of(FIRST, FIRST, players=2)


def test_quotes_protect_commas_in_a_list_of_agents() -> None:
    assert split_agents('random, grower,"cmd:./bot --levels 1,2"') == [
        "random",
        "grower",
        "cmd:./bot --levels 1,2",
    ]


# ------------------------------------------------------------------------------------------------ files


def test_a_store_gives_back_what_was_put_in(tmp_path: Path) -> None:
    config = config_of(FIRST, BOLD, players=2, record=True)
    results = played(config, 6)
    store = Store.create(tmp_path / "games.sqlite", config, {"seed": 0})
    for result in results + results:
        store.add(result)
    again = Store.open(store.path)
    assert (again.config, again.arguments) == (config, {"seed": 0})
    assert timeless(list(again.results(actions=True))) == timeless(results)
    assert again.count() == (6, 0)
    with pytest.raises(FileExistsError, match="--resume"):
        Store.create(store.path, config)
    for opened in (store, again):
        opened.close()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text(
        "not a database at all, but long enough to look like something" * 20
    )
    with pytest.raises(ValueError, match=r"no tournament|not a readable tournament file"):
        Store.open(tmp_path / "text.sqlite")
    with pytest.raises(FileNotFoundError):
        Store.open(tmp_path / "nothing.sqlite")


ALTERED = (  # statements that alter a file, and what is said of it
    ("UPDATE games SET winner = 'me'", "winner is 'me': must be a seat, or -1"),
    ("UPDATE games SET winner = 2", "winner is 2"),
    ("UPDATE games SET places = '[1, 1]'", "places is .*: must be the places"),
    ("UPDATE games SET places = '[1]'", "must be a list of 2 values"),
    ("UPDATE games SET places = '[1e999, 2]'", "too large for a number"),
    ("UPDATE games SET agents = '[[], {}]'", "must be agents of this tournament"),
    ("UPDATE games SET seconds = '[NaN, 1]'", "NaN is not allowed"),
    ("UPDATE games SET turns = '[1, 99999999999999999999]'", "turns is"),
    ("UPDATE games SET decisions = '" + "[" * 50_000 + "'", "too many levels"),
    (
        "UPDATE games SET opening = '0123456789ABCDEF'",
        "opening is '0123456789ABCDEF': must be 16 hexadecimal digits",
    ),
    ("UPDATE games SET ending = x'ff'", "ending is b'.*': must be one of"),
    ("UPDATE games SET forfeit_reason = cast(x'ff' as text)", "UTF-8"),
    ("UPDATE games SET deal = -1", "deal is -1"),
    ("DROP TABLE games", "must contain only the tables"),
    ("ALTER TABLE games DROP COLUMN turns", "must contain only the tables"),
    ("CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END", "must contain only the tables"),
    ("DELETE FROM setting", "must have one row of two strings"),
    ("UPDATE setting SET arguments = '[]'", "'setting' must be a JSON object"),
    ("UPDATE setting SET arguments = '{\"games\": 1e99}'", "games is 1e\\+99, but must be a whole number"),
    ("UPDATE setting SET setting = '" + "[" * 50_000 + "'", "too many levels"),
    ("UPDATE setting SET setting = '{}'", "schema is None; this version reads tournaments of schema 1"),
    (
        "UPDATE setting SET setting = replace(setting, 'time_limit\": 10.0', 'time_limit\": Infinity')",
        "Infinity is not allowed",
    ),
    (
        "UPDATE setting SET setting = replace(setting, 'seed\": 0', 'seed\": []')",
        r"has seed=\[\]: must be of type int",
    ),
    (
        "UPDATE setting SET setting = replace(setting, '\"compiled\": true', '\"compiled\": 7')",
        "each agent of the configuration must have",
    ),
    (
        'UPDATE setting SET setting = replace(setting, \'"label": "bold"\', \'"label": "first"\')',
        "must be one or more agents, each with a different label",
    ),
    (
        'UPDATE setting SET setting = replace(setting, \'label": "bold"\', \'label": "\\u001b"\')',
        "of an agent: must be 1 to",
    ),
    (
        "UPDATE setting SET setting = replace(setting, '\"agents\": [{', '\"agents\": [{}, {')",
        "each agent of the configuration must have",
    ),
    ("UPDATE setting SET setting = replace(setting, 'num_players\": 2', 'num_players\": -2')", "num_players"),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a file of two games."""
    path = tmp_path_factory.mktemp("finished") / "games.sqlite"
    config = config_of(FIRST, BOLD, players=2)
    store = Store.create(path, config, {"games": 2})
    conduct(store, 2)
    store.close()
    return path.read_bytes()


@pytest.mark.parametrize(("statement", "told"), ALTERED)
def test_an_altered_file_is_refused_by_name(
    statement: str, told: str, finished: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "altered.sqlite"
    path.write_bytes(finished)
    with sqlite3.connect(path) as database:
        database.execute(statement)
    database.close()
    with pytest.raises(StoreError, match=f"altered.sqlite.*({told}|is not a readable tournament file)"):
        tournament(["--resume", str(path), "--quiet", "--allow-programs"])


def test_a_damaged_file_is_refused_by_name(finished: bytes, tmp_path: Path) -> None:
    rng, path = random.Random(1), tmp_path / "damaged.sqlite"
    outcomes = Counter()
    for _ in range(60):
        data = bytearray(finished)
        for _ in range(rng.choice((1, 10, 1000))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.choice((len(data), len(data), rng.randrange(len(data))))])
        for beside in tmp_path.glob("damaged.sqlite-*"):
            beside.unlink()
        try:
            store = Store.open(path)
            list(store.results())
            store.close()
            outcomes["read"] += 1
        except StoreError as error:
            assert "damaged.sqlite" in str(error)
            outcomes["refused"] += 1
    assert outcomes["refused"] > 20


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk_names_the_file_and_the_way_on(tmp_path: Path) -> None:
    out = tmp_path / "games.sqlite"
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    code = limit + "from risk_env.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = [
        "tournament",
        "--agents",
        "random,grower",
        "--players",
        "2",
        "--games",
        "2000",
        "--max-rounds",
        "3",
    ]
    command = [sys.executable, "-c", code, *arguments, "--out", str(out), "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert re.search(rf"{out} cannot be written: .*--resume {out}", done.stderr)
    before = Store.open(out).count()[0]
    assert 0 < before < 2000
    tournament(["--resume", str(out), "--quiet", "--games", "10"])


def test_a_report_that_could_not_be_written_is_refused_before_the_first_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = ["tournament", "--agents", "random,grower", "--out", str(tmp_path / "games.sqlite")]
    assert command([*arguments, "--report", str(tmp_path / "report.html")]) == 1
    assert "pip install 'risk-env[tournament]'" in capsys.readouterr().err
    locked = tmp_path / "games.csv"
    locked.touch()
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != locked)
    assert command([*arguments, "--csv", str(locked)]) == 2
    assert "games.csv: the file cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [locked]


def test_records_play_again_and_a_changed_one_does_not(tmp_path: Path) -> None:
    config = config_of(FIRST, BOLD, LAZY, players=2, record=True)
    store = Store.create(tmp_path / "games.sqlite", config)
    conduct(store, 12)
    write_records(store, tmp_path / "games.jsonl")
    replayed = replayed_games(str(tmp_path / "games.jsonl"), None)
    for (_, game, _), result in zip(replayed, store.results(), strict=True):
        assert game.round == result.rounds
        if result.ending != FORFEIT:
            assert final_places(game.placements().tolist(), int(game._chance)) == result.places
    store.close()
    lines = (tmp_path / "games.jsonl").read_text().splitlines()
    assert len(lines) == 12
    facts = next(facts for facts in map(json.loads, lines) if facts["result"]["ending"] != FORFEIT)
    for changes, told in (
        ({"seed": facts["seed"] + 1}, "line 1"),
        ({"actions": facts["actions"][:-1]}, "over=False, but the file records True"),
        ({"result": facts["result"] | {"winner": 5}}, "winner=.*, but the file records 5"),
    ):
        (tmp_path / "changed.jsonl").write_text(json.dumps({**facts, **changes}))
        with pytest.raises(SavedGameError, match=told):
            list(replayed_games(str(tmp_path / "changed.jsonl"), None))


# ------------------------------------------------------------------------------------------------ statistics


def made_up(strengths: list[float], games: int, players: int, seed: int) -> np.ndarray:
    """Draw rankings from a Plackett-Luce model: int (games, players)."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(games):
        who = rng.permutation(len(strengths))[:players]
        lots = rng.gumbel(size=players) + np.array(strengths)[who]
        found.append(who[np.argsort(-lots)])
    return np.array(found)


def test_the_fit_is_that_of_choix() -> None:
    choix = pytest.importorskip("choix")
    order = made_up([0.0, 0.5, 1.0, -0.7], 400, 3, seed=1)
    mine = Rankings(order, 4).fit(prior=0.0)
    theirs = choix.ilsr_rankings(4, order.tolist(), alpha=0.0)
    assert mine == pytest.approx(theirs - theirs.mean(), abs=1e-5)


def test_weights_count_games_as_often() -> None:
    order = made_up([0.0, 0.6, -0.4], 100, 3, seed=2)
    weights = np.random.default_rng(0).integers(0, 3, 100).astype(float)
    twice = Rankings(np.repeat(order, weights.astype(int), axis=0), 3).fit()
    assert Rankings(order, 3).fit(weights) == pytest.approx(twice, abs=1e-6)


def test_rating_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    strengths = np.array([0.0, 0.4, -0.4])
    truth = 1500 + POINTS * (strengths - strengths.mean())
    hits = 0
    for seed in range(25):
        order = made_up(strengths.tolist(), 150, 3, seed)
        _, ends = ratings(Rankings(order, 3), np.arange(150), seed, samples=80)
        hits += int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
    assert 0.84 <= hits / 75 <= 0.999


def test_who_always_wins_has_a_finite_rating() -> None:
    values, ends = ratings(Rankings(np.array([[0, 1]] * 50), 2), np.arange(50) // 2, 0)
    assert values[0] - values[1] > 400
    assert np.isfinite([*values, *ends.reshape(-1)]).all()


def test_ratings_from_one_deal_have_no_interval() -> None:
    values, ends = ratings(Rankings(np.array([[0, 1]] * 4), 2), np.zeros(4, np.int64), 0)
    assert values[0] > values[1] and np.isnan(ends).all()
    assert plain(Estimate(1500.0, *ends[0])) == "1500 [no interval]"


def test_copies_of_an_agent_in_a_game_are_rated_as_one() -> None:
    order = made_up([0.0, 0.0, 1.0], 2000, 3, seed=3)
    merged = np.where(order == 1, 0, np.where(order == 2, 1, 0))
    strengths = Rankings(merged, 2).fit()
    assert strengths[1] - strengths[0] == pytest.approx(1.0, abs=0.15)


def test_intervals_of_rates_take_games_of_a_deal_as_one() -> None:
    rng = np.random.default_rng(0)
    wins = np.repeat(rng.random(100) < 0.5, 6).reshape(100, 6).sum(axis=1, keepdims=True).astype(float)
    (rate,), ((low, high),) = rates(wins, np.full((100, 1), 6.0), 0)
    assert low < rate < high
    assert 0.14 < high - low < 0.26  # of 100 deals; 600 independent games would have 0.08


def test_a_rate_that_never_varies_is_still_in_doubt() -> None:
    (rate,), ((low, high),) = rates(np.zeros((10, 1)), np.full((10, 1), 6.0), 0)
    assert (rate, low) == (0.0, 0.0)
    assert 0.2 < high < 0.4


def repeated(games: int, times: int) -> tuple[np.ndarray, np.ndarray]:
    """Return deals and openings (games * times,), with the given games repeated in new deals."""
    return np.arange(games * times), np.tile(np.arange(games), times)


def test_openings_that_differ_leave_the_intervals_of_ratings_as_they_are() -> None:
    rankings = Rankings(made_up([0.0, 0.4, -0.4], 120, 3, seed=5), 3)
    deals = np.arange(120) // 6
    alone = ratings(rankings, deals, 0, samples=50)
    for openings in (np.arange(120), deals):
        assert np.array_equal(alone[1], ratings(rankings, deals, 0, samples=50, openings=openings)[1])


def test_the_same_games_again_do_not_make_a_rating_surer() -> None:
    order = made_up([0.0, 0.4, -0.4], 120, 3, seed=5)
    deals, openings = repeated(120, 4)
    (_, once), (_, naive), (_, again) = (
        ratings(Rankings(order, 3), np.arange(120), 0),
        ratings(Rankings(np.tile(order, (4, 1)), 3), deals, 0),
        ratings(Rankings(np.tile(order, (4, 1)), 3), deals, 0, openings=openings),
    )
    widths = [np.diff(ends).reshape(-1) for ends in (once, naive, again)]
    assert widths[1] == pytest.approx(widths[0] / 2, rel=0.25)
    assert widths[2] == pytest.approx(widths[0], rel=0.25)


@pytest.mark.parametrize("times", [1, 2, 9])
def test_the_same_games_again_do_not_make_a_rate_surer(times: int) -> None:
    config = config_of(FIRST, BOLD, players=2)
    rng = np.random.default_rng(3)
    winners = rng.integers(2, size=100).tolist()
    results = []
    for game, opening in zip(*repeated(100, times), strict=True):
        places = (1, 2) if winners[opening] == 0 else (2, 1)
        results.append(replace(result_of(int(game), int(game), (0, 1), places), opening=f"{opening:016x}"))
    summary = summarise(config, results)
    rate = summary.agents[0].win_rate
    assert 0.16 < rate.high - rate.low < 0.23  # of 100 games
    assert summary.openings == 100
    known_by_none = summarise(config, [replace(result, opening="") for result in results])
    assert (known_by_none.openings, known_by_none.deals) == (0, 100 * times)
    assert (known_by_none.agents[0].win_rate == rate) == (times == 1)


def test_who_never_wins_few_openings_is_still_in_doubt() -> None:
    results = [
        replace(result_of(game, game, (0, 1), (1, 2)), opening=f"{game % 4:016x}") for game in range(400)
    ]
    summary = summarise(config_of(FIRST, BOLD, players=2), results)
    assert summary.agents[-1].win_rate.high > 0.4  # Wilson's interval of four games
    assert any(
        "fewer than 10 openings" in line for line in remarks(config_of(FIRST, BOLD, players=2), summary)
    )


def blocks(rng: np.random.Generator, gain: float, number: int) -> np.ndarray:
    """Return scores of blocks of three players: wins of the lone A minus wins of the lone B, over 3."""
    return (rng.binomial(3, (1 + 1.5 * gain) / 3, number) - rng.binomial(3, (1 - 1.5 * gain) / 3, number)) / 3


@pytest.mark.parametrize(("gain", "right"), [(0.0, sprt.NO_BETTER), (sprt.GAIN, sprt.BETTER)])
def test_the_sequential_test_errs_about_as_seldom_as_it_should(gain: float, right: str) -> None:
    rng = np.random.default_rng(1)
    verdicts = Counter(sprt.judge(blocks(rng, gain, 6000)).verdict for _ in range(300))
    assert verdicts[right] / verdicts.total() > 0.92
    assert verdicts[sprt.OPEN] == 0


def test_a_clear_case_is_decided_early_and_later_blocks_do_not_count() -> None:
    scores = np.full(500, 1.0)
    verdict = sprt.judge(scores)
    assert (verdict.verdict, verdict.blocks) == (sprt.BETTER, sprt.LEAST_BLOCKS)
    scores[100:] = -1.0
    assert sprt.judge(scores) == verdict
    assert sprt.judge(scores[:5]).verdict == sprt.OPEN


def test_scores_of_blocks_worked_out_by_hand() -> None:
    duel = [
        sprt.Played(0, (0, 1), 0),
        sprt.Played(0, (1, 0), 1),
        sprt.Played(1, (0, 1), 1),
        sprt.Played(1, (1, 0), 0),
    ]
    assert sprt.scores(duel, 2).tolist() == [1.0, -1.0]
    seatings = [pairing.seats for pairing in duel_pairings(3, 1)]
    winners = [0, NOBODY, 0, 1, 1, 0]  # the lone A of the first three once, the lone B of the others once
    block = [sprt.Played(0, seats, winner) for seats, winner in zip(seatings, winners, strict=True)]
    assert sprt.scores(block, 6).tolist() == [0.0]
    block[2] = block[2]._replace(winner=2)
    assert sprt.scores(block, 6).tolist() == pytest.approx([1 / 3])
    assert not len(sprt.scores(block[:5], 6))


def result_of(
    game: int, deal: int, seats: tuple[int, ...], places: tuple[int, ...], ending: str = WON
) -> GameResult:
    winner = places.index(1) if ending == WON else NOBODY
    P = len(seats)
    return GameResult(game, deal, seats, 1, ending, winner, places, 9, (10,) * P, (5,) * P, (0.01,) * P)


def test_a_summary_of_games_worked_out_by_hand() -> None:
    config = config_of(FIRST, BOLD, players=2)
    results = [
        result_of(0, 0, (0, 1), (1, 2)),
        result_of(1, 0, (1, 0), (2, 1)),
        result_of(2, 1, (0, 1), (2, 1)),
        result_of(3, 1, (1, 0), (1, 2), TRUNCATED),
    ]
    summary = summarise(config, results)
    agents = {agent.label: agent for agent in summary.agents}
    assert (summary.games, summary.deals, summary.won, summary.truncated) == (4, 2, 3, 1)
    assert (agents["first"].wins, agents["bold"].wins) == (2, 1)
    assert agents["first"].win_rate.value == 0.5
    assert agents["bold"].win_rate.value == 0.25
    assert agents["first"].places == (0.5, 0.5)
    assert agents["first"].mean_place.value == 1.5
    assert agents["first"].ms_a_turn == pytest.approx(2.0)
    assert agents["first"].rating.value == pytest.approx(1500)
    assert [estimate.value for estimate in summary.seat_win_rate] == [0.25, 0.5]
    assert [estimate.value for estimate in summary.order_win_rate] == [0.5, 0.25]
    assert agents["first"].win_rate_by_order == (0.5, 0.5)
    assert not any("at least" in line for line in remarks(config, summary))
    assert any(
        "first finished ahead of all other agents" in line
        for line in remarks(config, summarise(config, results[:1]))
    )


# ------------------------------------------------------------------------------------------------ the command


def run(tmp_path: Path, *arguments: str) -> Path:
    """Run the command in this process and return the file of the games."""
    out = tmp_path / "games.sqlite"
    tournament(["--out", str(out), "--quiet", "--max-rounds", "6", *arguments])
    return out


def test_the_command_plays_tells_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {kind: tmp_path / f"games.{kind}" for kind in ("csv", "json", "html", "jsonl")}
    run(
        tmp_path,
        *("--agents", f"{FIRST},{BOLD}", "--players", "3", "--games", "30"),
        *("--csv", str(names["csv"]), "--json", str(names["json"])),
        *("--report", str(names["html"]), "--save", str(names["jsonl"])),
    )
    told = capsys.readouterr().out
    assert "first" in told and "bold" in told and "30 games, 10 deals" in told
    with open(names["csv"], newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    assert {row["agents_0"] for row in rows} == {"first", "bold"}
    facts = json.loads(names["json"].read_text())
    assert facts["summary"]["games"] == 30
    assert facts["setting"]["rules"]["attack"] == "blitz"
    page = names["html"].read_text()
    assert page.count("<img ") == len(PLOTS) == page.count("data:image/png;base64,") / 2  # light and dark
    replay([str(names["jsonl"])])
    assert "30 games replayed" in capsys.readouterr().out
    replay([str(names["jsonl"]), "--game", "3", "--log", "--board"])
    told = capsys.readouterr().out
    assert "chance: starter" in told and "1 game replayed" in told
    with pytest.raises(ValueError, match="no game 99"):
        replay([str(names["jsonl"]), "--game", "99"])


def test_a_tournament_on_a_map_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = Path(maps.__file__).parent / "map_files" / "tiny.toml"
    (tmp_path / "isles.toml").write_text(tiny.read_text())
    file, games = tmp_path / "t.sqlite", tmp_path / "t.jsonl"
    options = ["--players", "2", "--games", "2", "--map", str(tmp_path / "isles.toml"), "--max-rounds", "3"]
    options += ["--agents", "grower,random", "--out", str(file), "--save", str(games)]
    assert command(["tournament", *options]) == 0
    assert command(["tournament", "--resume", str(file), "--games", "4"]) == 0
    capsys.readouterr()
    assert command(["replay", str(games)]) == 0
    assert "2 games replayed without differences" in capsys.readouterr().out
    assert command(["replay", str(file)]) == 2
    assert (
        "is an SQLite file: give a file of saved games, from `tournament --save`" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "setup"),
    [
        ((), "deal"),
        (("--players", "3", "--preset", "command_room"), "capitals"),
        (("--players", "3", "--setup", "claim"), "claim"),
        (("--players", "3", "--option", "setup=random"), "random"),
    ],
)
def test_territories_are_dealt_where_they_would_be_claimed(
    arguments: tuple[str, ...], setup: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, "--agents", "random,grower,attacker", "--games", "1", *arguments)
    store = Store.open(tmp_path / "games.sqlite")
    assert store.config.rules.setup == setup
    store.close()
    assert re.search(r"6 games, 1 deal, \d openings?: ", capsys.readouterr().out)


def test_every_plot_shows_something(tmp_path: Path) -> None:
    config = config_of(FIRST, BOLD, players=2)
    summary = summarise(config, played(config, 8))
    image = pytest.importorskip("matplotlib.image")
    for name in PLOTS:
        (tmp_path / "plot.png").write_bytes(picture(summary, [name], 1))
        pixels = image.imread(tmp_path / "plot.png")[..., :3]
        assert min(pixels.shape[:2]) > 300
        assert 0.005 < (pixels < 0.9).any(axis=2).mean() < 0.9
    write_report(config, summary, tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 20_000
    with pytest.raises(ValueError, match=r"\.html or \.png"):
        write_report(config, summary, tmp_path / "report.pdf")


def test_resuming_with_other_options_is_refused_with_both_named(tmp_path: Path) -> None:
    agents = ("--agents", f"{FIRST},{BOLD}")
    out = run(tmp_path, *agents, "--games", "2")
    with pytest.raises(ValueError, match=r"--attack is 'choice', but .* was started with 'blitz'"):
        tournament(["--resume", str(out), "--attack", "choice", "--quiet"])
    with pytest.raises(ValueError, match=r"--seed is 5, but .* was started with 0"):
        tournament(["--resume", str(out), "--seed", "5", "--quiet"])
    with pytest.raises(ValueError, match="started without --save and --replays, so it contains no actions"):
        tournament(["--resume", str(out), "--save", str(tmp_path / "games.jsonl"), "--quiet"])
    with pytest.raises(FileExistsError, match="--resume"):
        tournament(["--out", str(out), *agents, "--quiet"])
    with sqlite3.connect(out) as database:
        (line,) = database.execute("SELECT setting FROM setting").fetchone()
        database.execute(
            "UPDATE setting SET setting = ?", (line.replace('"version": "1"', '"version": "0"'),)
        )
    with pytest.raises(ValueError, match="agent='first' is version '1', but was '0' in"):
        tournament(["--resume", str(out), "--quiet", "--allow-programs"])


def test_resuming_may_ask_for_more_games(tmp_path: Path) -> None:
    out = run(tmp_path, "--agents", f"{FIRST},{BOLD}", "--games", "4")
    tournament(["--resume", str(out), "--games", "9", "--quiet", "--agents", f"{FIRST},{BOLD}"])
    store = Store.open(out)
    assert timeless(list(store.results())) == timeless(played(config_of(FIRST, BOLD, players=2), 10))
    store.close()


def test_a_sequential_test_stops_when_the_question_is_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(tmp_path, "--agents", BOLD, "--against", LAZY, "--players", "2", "--games", "4000")
    assert "Is bold better than lazy? better after 30 blocks" in capsys.readouterr().out
    store = Store.open(out)
    assert store.count()[0] < 2000
    store.close()


@pytest.mark.parametrize(
    "arguments",
    [[], ["--agents", "a,b", "--workers", "0"], ["--nonsense"]],
)
def test_a_wrong_command_line_is_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        tournament(arguments)
    assert stop.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--games", "0"], "--games 0: must be from 1 to 1,000,000"),
        (["--games", "10000000"], "must be from 1 to 1,000,000"),
        (["--csv", "nowhere/games.csv"], "--csv nowhere/games.csv: must be a file in a folder that exists"),
        (["--json", "."], "--json .: must be a file"),
        (["--report", "x.pdf"], "--report x.pdf: the name must end in .html or .png"),
        (["--option", "num_players=3"], "--option num_players is not allowed: use --players instead"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_played(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(told)):
        tournament(["--agents", f"{FIRST},{BOLD}", *arguments])
    with pytest.raises(ValueError, match="--out b cannot be combined with --resume, which writes to a"):
        tournament(["--resume", "a", "--out", "b"])
    assert list(tmp_path.iterdir()) == []


def test_few_deals_are_said_to_be_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "few").mkdir()
    run(tmp_path / "few", "--agents", f"{FIRST},{BOLD}", "--games", "18")
    assert "fewer than 10 deals" in capsys.readouterr().out
    run(tmp_path, "--agents", f"{FIRST},{BOLD}", "--games", "20")
    assert "fewer than" not in capsys.readouterr().out


def test_agents_tries_who_plays_no_game_of_three_in_one_of_two(capsys: pytest.CaptureFixture[str]) -> None:
    show_agents(["marshal"])
    assert capsys.readouterr().out.split("\n")[1].split()[::2] == ["marshal", "compiled"]


def test_agents_tells_what_an_agent_says_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    show_agents([f"{PLAYERS}:Good,{FIRST}"])
    told = capsys.readouterr().out.split("\n")
    assert told[1].split()[:3] == ["good", "1", "other"]
    assert told[2].split()[:3] == ["first", "1", "compiled"]


def test_the_command_that_continues_a_tournament_keeps_sandbox_and_files(tmp_path: Path) -> None:
    agents = [f"{PLAYERS}:Good", "random"]
    store = Store.create(tmp_path / "a b.sqlite", replace(config_of(*agents), sandbox="yes"))
    with closing(store):
        arguments = cli._parser().parse_args(["--agents", ",".join(agents), "--save", "games.jsonl"])
        words = cli._continuing(store, arguments)[2:]
        again = cli._parser().parse_args(words)
    assert (again.resume, again.sandbox, again.save) == (str(store.path), "yes", "games.jsonl")
    assert again.allow_programs and again.games is None


# -------------------------------------------------------------------------------------------- kill and resume


def begun(tmp_path: Path, jobs: int, other: str) -> tuple[subprocess.Popen, Path]:
    """Start a tournament in a separate process, and wait until it has played some games."""
    out = tmp_path / "games.sqlite"
    arguments = ["--agents", f"{FIRST},{other}", "--games", "100000", "--max-rounds", "6", "--players", "2"]
    command = [
        sys.executable,
        "-m",
        "risk_env",
        "tournament",
        *arguments,
        "--out",
        str(out),
        "--workers",
        str(jobs),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        time.sleep(0.1)
        if out.exists() and process.poll() is None and games_in(out) >= 3:
            return process, out
    raise AssertionError("no game within a minute")


def games_in(out: Path) -> int:
    try:
        with sqlite3.connect(out, timeout=5) as database:
            return database.execute("SELECT count(*) FROM games").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def living_children(process: int) -> set[int]:
    """Return the ids of the living descendants of a process (Linux)."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry.parent.name)] = int(fields[1])
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


class Interrupt:
    """A trace function that interrupts at the n-th call of a Python function.

    Generator expressions do not count, because Python drops errors raised while it closes one.
    """

    def __init__(self, moment: int) -> None:
        self.moment, self.calls = moment, 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or frame.f_code.co_name == "<genexpr>":
            return
        self.calls += 1
        if self.calls == self.moment:
            raise KeyboardInterrupt


def interrupted(config: TournamentConfig, out: Path, moment: int) -> tuple[bool, int]:
    """Play two games with an interrupt at a moment.

    Return whether the interrupt was noticed, and the number of moments.
    """
    store, before, interrupt = Store.create(out, config), sys.gettrace(), Interrupt(moment)
    sys.settrace(interrupt)
    try:
        conduct(store, 2)
    except KeyboardInterrupt:
        return True, interrupt.calls
    finally:
        sys.settrace(before)
        store.close()
    return False, interrupt.calls


def test_an_interrupt_is_heard_whenever_it_comes(tmp_path: Path) -> None:
    """NumPy drops errors in Python code that looks up the class of an operand, such as an IntEnum."""
    config = config_of(FIRST, BOLD, players=2, rounds=1)
    interrupted(config, tmp_path / "compiled", 0)
    heard, moments = interrupted(config, tmp_path / "never", 0)
    assert not heard and moments > 1000
    tried = range(1, moments, moments // 150)
    assert [k for k in tried if not interrupted(config, tmp_path / str(k), k)[0]] == []


@pytest.mark.slow
def test_killed_at_random_moments_a_tournament_loses_nothing() -> None:
    assert kill_runs(1, games=1000, jobs=1, seed=3, say=str) == 1000


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("jobs", "how", "other"),
    [
        pytest.param(2, signal.SIGKILL, BOLD, marks=pytest.mark.long),
        pytest.param(1, signal.SIGINT, BOLD, marks=pytest.mark.long),
        pytest.param(2, signal.SIGINT, BOLD, marks=pytest.mark.long),
        pytest.param(2, signal.SIGKILL, f"{PLAYERS}:Good", marks=pytest.mark.long),
    ],
    ids=("kill", "interrupt-one-job", "interrupt", "kill-with-agents-in-processes"),
)
def test_a_killed_tournament_goes_on_where_it_was(
    tmp_path: Path, jobs: int, how: signal.Signals, other: str
) -> None:
    process, out = begun(tmp_path, jobs, other)
    children = living_children(process.pid)
    process.send_signal(how)
    process.wait(30)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{child}/cmdline").exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [child for child in children if Path(f"/proc/{child}/cmdline").exists()]
    before = games_in(out)
    store = Store.open(out)
    kept = timeless(list(store.results()))
    tournament(["--resume", str(out), "--games", str(before + 2), "--quiet", "--allow-programs"])
    after = timeless(list(store.results()))
    store.close()
    found = {result.game: result for result in after}
    assert [found.get(result.game) for result in kept] == kept
    assert before <= len(kept) < len(after)
    numbers = [result.game for result in after]
    assert numbers[: before + 2] == list(range(before + 2))
