"""The benchmarks run, count correctly, and store their output. No test judges a time."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from benchmarks import (
    bots,
    calibration,
    first_use,
    hazards,
    measures,
    models,
    networks,
    peers,
    protocol,
    random_play,
    records,
    robustness,
    scaling,
    speed,
    strength,
)
from benchmarks.random_play import Event
from risk_agents import kept_out
from risk_agents.scripted import attacker, grower, style
from risk_agents.search import judges, strategist
from risk_agents.tournament.summary import Estimate
from risk_env import cli
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, presets
from risk_env.board.tables import tables
from risk_env.core.types import Phase
from risk_env.game import Game
from tests.conftest import mode

GAMES = 4 if mode() == "interpreted" else 8
SMALL = ("--games", str(GAMES), "--seconds", "0.01", "--repeats", "2", "--no-first-use")
CLOCK = measures.Clock(seconds=0.001, repeats=2)
# With the JIT off, a decision takes a millisecond.
FEW_IN_SPEED = {
    "STAGES": 4,
    "SCOUTS": 1,
    "CALIBRATION_SWEEPS": 2,
    "SCOUT_SWEEPS": 20,
    "EMPTY_CALLS": 1,
    "DECISIONS_ALONE": 8,
}
FEW_IN_MEASURES = {"TYPICAL_BATCH": 4, "THREADED_BATCHES": (4,), "LANES_SPREAD": 4, "WARM_UP": 2, "PAIRS": 2}


@pytest.fixture
def short(kernel_mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the benchmarks play few decisions if the kernels are interpreted."""
    if kernel_mode != "interpreted":
        return
    monkeypatch.setitem(speed.OPTIONS, "max_rounds", 3)
    monkeypatch.setitem(measures.OPTIONS, "max_rounds", 3)
    for module, numbers in ((speed, FEW_IN_SPEED), (measures, FEW_IN_MEASURES)):
        for name, number in numbers.items():
            monkeypatch.setattr(module, name, number)


def begin(preset: str = "classic", games: int = GAMES, **options) -> speed.Play:
    """Return a new play of a preset."""
    rules = Rules.preset(preset, **{**speed.OPTIONS, **options})
    return speed.begin_play(tables(rules, load_map("classic")), games, seed=3)


def state(play: speed.Play) -> tuple[bytes, bytes]:
    """Return the complete state of a play."""
    return play.games.tobytes(), play.pickers.tobytes()


# Random play


@pytest.mark.long
def test_a_lane_plays_the_same_whatever_the_order() -> None:
    together, apart = begin(), begin()
    together.on(300)
    for lane in reversed(range(GAMES)):
        apart.on(300, np.array([lane]))
    assert state(together) == state(apart)


@pytest.mark.long
def test_lanes_play_different_games() -> None:
    play = begin()
    play.on(50)
    assert len({game.tobytes() for game in play.games}) == GAMES


@pytest.mark.long
def test_every_slot_is_a_decision_or_a_new_game() -> None:
    begun = begin(max_rounds=1).on(2000)
    census = census_of(begin(max_rounds=1), 2000)
    assert begun == census.events[Event.GAME] > 0
    assert census.decisions.sum() == 2000 * GAMES - begun


def census_of(play: speed.Play, sweeps: int) -> speed.Census:
    """Return a census that does not change the play."""
    return speed.take_census(play, sweeps)


@pytest.mark.long
@pytest.mark.parametrize("preset", ["classic", "two_player", "command_room"])
def test_the_census_plays_the_same_games(preset: str) -> None:
    played, counted = begin(preset), begin(preset)
    played.on(500)
    counts = (np.zeros(len(Phase), np.int64), np.zeros(len(Phase), np.int64), np.zeros(len(Event), np.int64))
    random_play.take_census(*counted.records, counted.lanes, 500, *counts)
    assert state(played) == state(counted)
    assert counts[0].sum() + counts[2][Event.GAME] == 500 * GAMES


@pytest.mark.long
def test_with_single_rolls_every_attack_is_a_battle() -> None:
    """With `attack="max"` each answer in ATTACK but DONE is one roll, and DONE ends every turn."""
    options = {"attack": "max", "defender_dice": "max"}
    play = begin(games=1, **options)
    game, battles, turns = play.games[0], 0, 0
    for _ in range(400):
        before = int(game["battles"]), int(game["turn"])
        play.on(1)
        passed = before[1] != int(game["turn"])
        turns += passed
        battles += 0 if passed else int(game["battles"]) - before[0]
    census = census_of(begin(games=1, **options), 400)
    assert census.events[Event.TURN] == turns > 0
    assert battles <= census.events[Event.BATTLE] <= battles + turns  # a roll may be the last act of a turn
    assert census.decisions[Phase.ATTACK_DICE] == census.decisions[Phase.DEFEND] == 0


DRAWS = 100  # expected number of draws of each action


@pytest.mark.long
def test_picks_are_legal_and_even() -> None:
    play = begin(games=1)
    legal = [action for action in range(play.tables.num_actions) if is_legal(play.games[0], action)]
    picked = np.zeros(1, np.int64)
    counts = dict.fromkeys(legal, 0)
    draws = DRAWS * len(legal)
    for _ in range(draws):
        random_play.choose(play.games, play.pickers, play.lanes, picked)
        counts[int(picked[0])] += 1
    deviation = sum((count - DRAWS) ** 2 / DRAWS for count in counts.values())
    assert len(legal) > 5
    assert deviation < len(legal) + 6 * (2 * len(legal)) ** 0.5


def is_legal(game, action: int) -> bool:
    """Return True if a bit of the legal actions is set."""
    return bool(int(game["legal"][action // 64]) >> action % 64 & 1)


@pytest.mark.long
def test_masks_written_again_are_the_same() -> None:
    play = begin()
    play.on(40)
    before = play.games["legal"].copy()
    random_play.write_masks(*play.records[:3], play.lanes)
    assert (play.games["legal"] == before).all()


@pytest.mark.interpreted
@pytest.mark.usefixtures("short")
def test_lanes_are_spread_over_games() -> None:
    play = speed.spread(begin().tables, 8, seed=0)
    rounds = play.games["round_number"]
    assert rounds.max() - rounds.min() > speed.OPTIONS["max_rounds"] // 3


# The command `bench`


@pytest.mark.interpreted
@pytest.mark.usefixtures("short")
def test_bench_prints_and_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *SMALL, "--record", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    (path,) = tmp_path.glob("speed-classic-*.json")
    record = json.loads(path.read_text())
    assert path.with_suffix(".md").read_text() == shown
    assert {"command", "date", "machine", "versions"} <= record.keys()
    (found,) = record["presets"]
    assert (found["preset"], found["num_players"], found["games"]) == ("classic", 3, GAMES)
    assert found["options"] == speed.OPTIONS
    assert found["decisions_per_second"] >= found["decisions_per_second_median"] > 0
    assert sum(row["share_of_time"] for row in found["phases"]) == pytest.approx(1, abs=0.01)
    decisions = [row["share"] for row in found["phases"] if row["phase"] != "OVER"]
    assert sum(decisions) == pytest.approx(1, abs=0.001)
    assert all(row["phase"] in shown for row in found["phases"] if row["phase"] != "OVER")


@pytest.mark.interpreted
@pytest.mark.usefixtures("short")
def test_bench_takes_every_preset(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if mode() == "interpreted":
        monkeypatch.setattr(speed, "typical_length", lambda play: 8)
    assert cli.main(["bench", "--preset", "all", *SMALL]) == 0
    shown = capsys.readouterr().out
    assert all(f"| {name}, " in shown for name in presets())


@pytest.mark.interpreted
@pytest.mark.usefixtures("short")
def test_bench_takes_players(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--preset", "secret_mission", "--players", "6", *SMALL]) == 0
    assert "secret_mission, 6 players" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["--games", "0"], ["--repeats", "0"], ["--seconds", "0"], ["--games", "many"]]
)
def test_bench_refuses_a_wrong_number(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["bench", *arguments])
    assert stop.value.code == 2
    assert arguments[1] in capsys.readouterr().err


@pytest.mark.long
def test_first_use_plays_a_game_and_compiles_nothing_for_the_second() -> None:
    found = first_use.measure(cold=False, warm_runs=1)
    assert found["compiled_by_second"] == 0
    assert found["cold_s"] is None
    assert found["warm_s"] > 0
    shown = "\n".join(speed.first_use_lines(found))
    assert found["game"] in shown
    assert "nothing compiled before" not in shown


def test_nothing_heavy_is_imported_before_the_clock_of_the_first_use_runs() -> None:
    script = (
        "import benchmarks.first_use, sys; print(*sorted({'numba', 'numpy', 'risk_env'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=first_use.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


# Peers


@pytest.mark.parametrize(
    "name", ["aec", *(pytest.param(name, marks=pytest.mark.interpreted) for name in ("parts", "threads"))]
)
@pytest.mark.usefixtures("short")
def test_our_measures_run(name: str) -> None:
    rows = list(measures.MEASURES[name].rows(CLOCK))
    assert rows
    assert all(row["measure"] == name for row in rows)


@pytest.mark.interpreted
@pytest.mark.usefixtures("short")
def test_the_batch_is_measured_at_every_size() -> None:
    rows = list(measures.our_batch(CLOCK, sizes=(1, 4)))
    assert [row["games"] for row in rows] == [1, 1, 4, 4, measures.TYPICAL_BATCH]
    assert {row["observation"] for row in rows} == {None, "flat"}
    assert all(row["steps_per_second"] >= row["median"] > 0 for row in rows)


class Hands:
    """A clock that the measured code moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        return self.now

    def takes(self, seconds: float, result: int) -> int:
        self.now += seconds
        return result


def test_only_the_step_is_timed() -> None:
    hands = Hands()
    clock = measures.Clock(seconds=2, repeats=3, now=hands.read)
    row = clock.row(lambda: hands.takes(10, 0), lambda _: hands.takes(0.5, 7), "none", "none", 1)
    assert row["steps_per_second"] == row["median"] == 14


def test_the_beginning_of_a_new_game_is_timed() -> None:
    """A game has two decisions and the step of the dead agent. A step takes 1 s, a reset 5 s."""
    hands = Hands()

    class Env:
        agents = ("a",)

        def reset(self, seed: int | None = None) -> None:
            hands.now += 5
            self.agents, self.steps = ("a",), 0

        def step(self, action: int | None) -> None:
            assert (action is None) == (self.steps == 2)
            hands.now += 1
            self.steps += 1
            self.agents = ("a",) if self.steps < 3 else ()

        def last(self) -> tuple[Any, ...]:
            return {"action_mask": np.array([0, 1])}, 0.0, self.steps == 2, False, {}

    row = measures.aec_row(measures.Clock(79.5, 3, hands.read), Env, "none", "none", "none")
    assert row["median"] == pytest.approx(20 / 80)  # 10 games of 2 decisions


def test_a_run_shows_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("pufferlib"):
        pytest.skip("nothing is missing here")
    only = "pettingzoo-connect-four,puffer-go"
    peers.main(
        ["--only", only, "--seconds", "0.01", "--repeats", "1", "--rounds", "2", "--record", str(tmp_path)]
    )
    shown = capsys.readouterr().out
    (path,) = tmp_path.glob("peers-*.json")
    record = json.loads(path.read_text())
    assert path.with_suffix(".md").read_text() == shown
    assert "* puffer-go: ModuleNotFoundError" in shown
    assert "missing" in record["measures"]["puffer-go"]


def test_a_measure_that_breaks_is_reported() -> None:
    arguments = peers.read_arguments([])
    arguments.repeats = 0
    assert "--repeats" in peers.run_in(sys.executable, "aec", arguments)["failed"]


def test_of_several_rounds_each_row_is_the_best_one() -> None:
    rates, others = ([{"steps_per_second": rate} for rate in found] for found in ((3, 1), (2, 4)))
    assert peers.better_rows({"rows": rates}, {"rows": others})["rows"] == [
        {"steps_per_second": 3},
        others[1],
    ]
    slow, fast = ({"ns": {"rules": rules, "ends": 30}} for rules in (120, 90))
    assert peers.better(slow, fast) is peers.better(fast, slow) is fast
    both = peers.better({"one": 4, "two": 5, "ratios": [1.25]}, {"one": 2, "two": 6, "ratios": [3, 2]})
    assert both == {"one": 4, "two": 6, "ratios": [1.25, 3, 2]}
    assert peers.better_rows({}, {"missing": "it"}) == {"missing": "it"}
    assert peers.better_rows({"rows": rates}, {"failed": "once"}) == {"rows": rates}


def test_aims_are_judged() -> None:
    found = {
        "batch": {"rows": [batch_row(1, 50e3), batch_row(1024, 9e6)]},
        "pgx-backgammon": {"rows": [{"steps_per_second": 100e3}, {"steps_per_second": 50e3}]},
        "threads": {"rows": [{"ratios": [1.5, 1.4, 7]}, {"ratios": [1.95]}]},
    }
    reached = [(aim.found, aim.reached) for aim in peers.aims(found)]
    share = 100 * (1 / 50e3) / (1024 / 9e6)
    assert reached[:4] == [(9, True), (90, False), (pytest.approx(share), False), (1.95, True)]
    assert reached[4:] == [(None, False), (None, False)]


def batch_row(games: int, rate: float) -> peers.Row:
    """Return a row as `our_batch` yields it."""
    return {"games": games, "observation": "flat", "steps_per_second": rate}


@pytest.mark.parametrize("arguments", [["--only", "chess"], ["--measure", "nothing"], ["--seconds", "fast"]])
def test_peers_refuses_wrong_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        peers.main(arguments)
    assert stop.value.code == 2


# Records


def test_a_record_shows_no_path_of_the_machine() -> None:
    words = ["--python", "/home/somebody/.peers/bin/python", "--only", "aec"]
    assert peers.without_paths(words) == ["--python", "python", "--only", "aec"]


def test_a_table_is_markdown() -> None:
    assert records.table(("name", "n"), [("a", 1), ("longer", 23)]) == [
        "| name   |   n |",
        "| ------ | --: |",
        "| a      |   1 |",
        "| longer |  23 |",
    ]


def test_versions_leave_out_what_is_not_installed() -> None:
    assert records.versions(["numpy", "no-such-package"]).keys() == {"numpy"}


@pytest.mark.parametrize(
    ("number", "shown"), [(9_870_000, "9.87 M"), (61_200, "61.2 k"), (1420, "1.42 k"), (950, "950")]
)
def test_amounts_show_three_digits(number: float, shown: str) -> None:
    assert peers.amount(number) == shown


def test_recorded_results_name_machine_command_and_date() -> None:
    found = sorted(records.RESULTS.glob("*.json"))
    assert found
    for path in found:
        record = json.loads(path.read_text())
        assert record["machine"]["processor"]
        assert record["command"]
        assert record["date"] in path.with_suffix(".md").read_text()


# Bots


def test_bots_play_whole_games_and_the_report_has_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    bots.main(["--bots", "random,grower", "--seconds", "0.001"])
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split("|") for line in lines if line.startswith(("| random", "| grower"))]
    assert [(row[1].strip(), int(row[2])) for row in rows] == [
        (b, n) for b in ("random", "grower") for n in (2, 3, 6)
    ]
    assert all(float(row[3].replace(",", "")) > 0 and float(row[4]) > 1 for row in rows)
    assert sum(line.startswith("* grower") for line in lines) == 2


# Programs and language models


def test_every_form_of_the_line_protocol_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    protocol.main(["--games", "1", "--max-rounds", "2"])
    rows = [
        line.split("|")
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("| numbers", "| with"))
    ]
    assert [row[1].strip() for row in rows] == list(protocol.FORMS)
    assert len({row[2] for row in rows}) == 1 and all(float(row[3]) > 0 for row in rows)


def test_many_games_of_a_model_are_played_at_once_without_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("httpx2")
    monkeypatch.setenv("OPENAI_BASE_URL", "")  # put back afterwards
    found = models.measure(8, 0.2, [*models.GAMES, "--map", "tiny", "--max-rounds", "3"])
    assert found["games"] == 8 and found["faults"] == 0 and found["answers"] >= 8
    assert found["wall_s"] < found["answers"] * 0.2  # they did not wait for each other
    assert "share of one core" in models.report({**records.heading(["bench"], ()), "found": found})
    assert not capsys.readouterr().out


# Strength


def test_an_agent_is_measured_at_every_seat_against_a_drawn_field(capsys: pytest.CaptureFixture[str]) -> None:
    strength.main(["grower", "--players", "3", "--field", "random", "--games", "7"])
    told = capsys.readouterr().out
    assert (
        told.startswith("grower: ")
        and " of 9 games won, even share 33 %; " in told
        and 1.0 <= float(told.partition("mean place ")[2].partition(";")[0]) < 2.0
        and "ms of CPU time per turn" in told
    )
    others = strength.drawn(5, 5, np.random.default_rng(0))
    assert sorted(others) == [1, 2, 3, 4, 5]
    assert set(strength.drawn(2, 5, np.random.default_rng(0))) <= {1, 2}
    with pytest.raises(ValueError, match="max_rounds=0"):
        strength.main(["grower", "--players", "3", "--field", "random", "--option", "max-rounds=0"])
    with pytest.raises(ValueError, match="must be a compiled bot"):
        strength.main(["grower", "--players", "3", "--field", "strategist"])


def test_robustness_compares_tables_of_styles_with_tables_of_known_bots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    styles = ["--styles", "random,attacker", "--known", "attacker,random", "--players", "3"]
    few = ["attacker", *styles, "--setups", "deal", "--games", "4", "--out", str(tmp_path)]
    with pytest.raises(ValueError, match="two agents have the label"):
        robustness.main(few)
    few[4] = "random"
    robustness.main([*few, "--styles", "grower"])
    told = capsys.readouterr().out
    assert "| grower" in told and "| known bots" in told and "Largest gap: " in told
    assert told.count("|     6 |") == 2  # two deals, each from three seats
    robustness.main([*few, "--styles", "grower"])  # nothing is played again
    again = capsys.readouterr().out
    assert again[again.index("## 3 players") :] == told[told.index("## 3 players") :]
    with pytest.raises(ValueError, match="another agent"):
        robustness.main([*few, "--styles", "grower", "--seed", "1"])
    with pytest.raises(ValueError, match="--players x: give numbers"):
        robustness.main([*few, "--players", "x"])


def test_the_interval_of_a_gap_combines_both_intervals() -> None:
    found = robustness.gap(Estimate(0.5, 0.4, 0.6), Estimate(0.3, 0.26, 0.33))
    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - (0.1**2 + 0.03**2) ** 0.5)
    assert found.high == pytest.approx(0.2 + (0.1**2 + 0.04**2) ** 0.5)


class EvenValue:
    """A value that predicts the same for all three seats."""

    def chances(self, records: Any, tables: Any) -> Any:
        return np.full((len(records), 6), 1 / 3)


@pytest.mark.parametrize("seat", range(3))
def test_hazards_are_counted_by_turns(seat: int) -> None:
    rules = Rules.preset("classic", 3, profile="fast")
    match = hazards.WatchedMatch.of(Game(rules, "tiny", seed=4), [grower.BOT] * 3)
    value: Any = EvenValue()
    turns, game = hazards.turns_of_game(match, seat, value, deal=7), match.game
    begun = [event for event in game.events() if event.kind == "turn" and event.seat == seat]
    assert game.is_over and len(turns) == len(begun) > 0
    assert [turn.died for turn in turns] == [False] * (len(turns) - 1) + [not game.alive[seat]]
    assert {turn.won for turn in turns} == {game.winner == seat}
    assert {(turn.deal, turn.predicted) for turn in turns} == {(7, 1 / 3)}
    assert [turn.round for turn in turns] == sorted({turn.round for turn in turns})


def test_hazards_of_states_and_groups() -> None:
    turns = [
        hazards.Turn(0, 2, 0.9, 5, 0.9, died=True, won=False),  # before FIRST_ROUND
        hazards.Turn(0, 5, 0.2, 4, 0.9, died=True, won=False),
        hazards.Turn(1, 6, 0.8, 1, 0.1, died=False, won=True),
    ]
    kept = np.array(turns, [(name, np.float64) for name in hazards.Turn._fields])
    died = {row["state"]: (row["turns"], row["died"][0]) for row in hazards.deaths(kept, seed=1)}
    assert died["all turns"] == (2, 0.5)
    assert died["4 or more cards"] == died["one troop on over 70% of territories"] == (1, 1.0)
    assert died["fewer than 4 cards"] == died["one troop on at most 70% of territories"] == (1, 0.0)
    groups = hazards.calibration(kept, seed=1)
    assert [(group["predicted"], group["won"][0]) for group in groups] == [(0.2, 0), (0.8, 1), (0.9, 0)]
    assert all(low <= mean <= high for mean, low, high in (group["won"] for group in groups))


def test_calibration_refuses_claims_of_two_players(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        calibration.main(["--field", "grower", "--players", "3", "2", "--setup", "claim"])
    assert "--players 2 --setup claim: two players need --setup deal" in capsys.readouterr().err


def test_calibration_counts_every_turn_of_every_seat() -> None:
    rules, value = Rules.preset("classic", 3, profile="fast"), EvenValue()
    games = calibration.Games(rules, load_map("tiny"), [grower.BOT, attacker.BOT])
    turns = calibration.played(games, cast("Any", value), 6, seed=1)
    assert set(turns["deal"]) == set(range(6)) and set(turns["predicted"]) == {1 / 3}
    for deal in range(6):
        own = turns[turns["deal"] == deal]
        assert 0 < own["won"].sum() < len(own)
        assert list(own["round"]) == sorted(own["round"])
    again = calibration.played(games, cast("Any", value), 6, seed=1)
    assert np.array_equal(turns, again)


def test_the_error_of_exact_predictions_is_the_expected_error() -> None:
    chance = np.random.default_rng(1)
    turns = np.zeros(4000, calibration.TURN)
    turns["deal"], turns["round"], turns["predicted"] = np.arange(4000), 5, chance.random(4000)
    turns["won"] = chance.random(4000) < turns["predicted"]
    exact = calibration.rows_of(turns, 3, "deal", seed=1)[0]
    assert 0.5 < calibration.error_of(exact) / exact["expected_error"] < 2
    turns["predicted"] /= 2
    wrong = calibration.rows_of(turns, 3, "deal", seed=1)[0]
    assert calibration.error_of(wrong) > 0.4 > 5 * wrong["expected_error"]
    assert "all turns" in calibration.report({**records.heading([], ()), "rows": [exact, wrong]})


@pytest.mark.long
def test_a_field_of_opponents_that_nothing_was_trained_with(capsys: pytest.CaptureFixture[str]) -> None:
    value = str(judges.FILE)
    strength.main(["random", "--players", "3", "--field", "kept_out,beam", "--games", "3"])
    assert "0.0 % (" in capsys.readouterr().out
    strength.main([value, "--players", "3", "--field", "random", "--games", "3"])
    assert f"{value}: 100.0 % (" in capsys.readouterr().out
    names = [bot.name for bot in kept_out.beams()]
    assert len(set(names)) == 4
    used = *strategist.PLANS, *strategist.PLANS_FOR_THREE, *strategist.DUEL_PLANS, *strategist.PLAYERS
    assert not set(names) & {bot.name for bot in used}
    styles = [kept_out.find(name) for name in kept_out.STYLES]
    assert len(set(kept_out.STYLES.values())) == 12
    assert not {bot.begins for bot in styles} & {bot.begins for bot in used if bot.choose is style.choose}


def test_tournaments_of_networks_and_bots(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(networks, "RULES", networks.RULES.replace(max_rounds=2))
    networks.main(["--games", "4", "--repeats", "1"])
    lines = capsys.readouterr().out.splitlines()
    mixed, alone = ([cell.strip() for cell in line.split("|")[2:5]] for line in lines[-2:])
    assert alone[2] == "0" and int(mixed[2].replace(",", "")) > 100
    assert int(mixed[0]) >= 4 and int(alone[0]) >= 4


# Workers


def test_what_more_workers_bring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "small.yml"
    config.write_text(
        "{trainer: selfplay, map: tiny, n_envs: 8, n_steps: 8, width: 8, local: 4, options: {max_rounds: 5}}"
    )
    few = ["--games", "12", "--updates", "1", "--simulated", "60"]
    scaling.main(["--kinds", "this process", "--agent", "random", "--config", str(config), *few])
    tables = capsys.readouterr().out
    assert "one driver can supply" in tables and "a learner on one core needs" in tables
    assert [line.split()[1] for line in tables.splitlines()[-4:]] == ["1", "10", "100", "1,000"]


def test_ray_is_compared_with_as_many_processes_round_by_round() -> None:
    def windows(*rates: float) -> list[dict[str, Any]]:
        return [{"workers": 2, "us_a_piece": 1.0} | dict.fromkeys(scaling.RATES, rate) for rate in rates]

    found = {
        "2 processes": windows(10, 20, 40),
        "2 Ray workers": windows(9, 19, 32),
        "1 Ray worker": windows(5, 10, 20),
    }
    row = scaling.summary("2 Ray workers", found)
    assert (row["games_a_second"], row["games_a_second_ratio"]) == (19, 1.8)
    assert row["of_processes"]["played_a_second"] == {"ratio": 0.9, "low": 0.8, "high": 0.95}
    assert "of_processes" not in scaling.summary("2 processes", found)


def test_the_interval_of_a_median_leaves_out_what_chance_allows() -> None:
    assert scaling.interval([3, 1, 2]) == (1, 3)
    assert scaling.interval(range(6)) == (0, 5)  # 1 in 32 is outside
    assert scaling.interval(range(9)) == (1, 7)  # 1 in 26; 1 in 6 further inside
    assert scaling.interval(range(20)) == (5, 14)


def test_the_expectation_ends_where_the_driver_or_the_learner_does() -> None:
    game = {"us_a_game": 1000, "core_seconds_a_game": 0.5, "bytes_out_a_game": 10, "bytes_back_a_game": 90}
    learned = {"us_play": 50, "us_pack": 0, "us_unpack": 5, "us_learn": 15, "bytes_a_decision": 1000}
    rows = scaling.expected({"driver": game, "learner": learned})
    assert [row["games_a_second"] for row in rows] == [2, 20, 200, 1000]
    assert [row["games_sent"] for row in rows] == [200, 2000, 20_000, 100_000]
    assert [round(row["decisions_a_second"]) for row in rows] == [15_385, 50_000, 50_000, 50_000]
