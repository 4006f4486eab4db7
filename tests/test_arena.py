"""Arena: equal games for every way of asking players; line-ups, stops, tallies, illegal answers."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents.registry import load, play_game
from risk_agents.scripted import grower, random_bot
from risk_env import GameBatch, IllegalAction, Policy, Rules, arena, load_map
from risk_env.agent import Agent
from risk_env.arena import CALLER, REFUSED, STOPPED, Arena
from risk_env.bots import CompiledBot, compiled
from risk_env.compiler import JIT_DISABLED, entry_point
from risk_env.compiler.calls import HAS_ADDRESSES, NO_ADDRESS, address_of
from risk_env.core.types import NOBODY
from tests.pages import code_of, page, run_code

RULES = Rules.preset(
    "classic", 3, setup="random", attack="blitz", defender_dice="max", max_rounds=20, initial_troops=6
)
BOARD = load_map("tiny")
GROWER = dataclasses.replace(grower.BOT, name="wrapped grower", choose=lambda *given: grower.choose(*given))


@entry_point
def choose_nothing(games, boards, rules, lanes, randoms, memory, actions):
    """Choose no action."""


@entry_point
def choose_wrong(games, boards, rules, lanes, randoms, memory, actions):
    """Choose an action that does not exist."""
    for k in range(len(lanes)):
        actions[lanes[k]] = 10_000


@entry_point
def choose_error(games, boards, rules, lanes, randoms, memory, actions):
    """Raise an error in the middle of a game."""
    for k in range(len(lanes)):
        if games[lanes[k]].round_number > 2:
            raise ValueError("out of ideas")
        grower.choose(games, boards, rules, lanes, randoms, memory, actions)


class FirstLegal(Agent):
    """An agent in Python."""

    name = "first"

    def act(self, view: Any) -> int:
        return int(view.legal_actions[0])


class Coin(Policy):
    """A policy that chooses the first or the last legal action."""

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        last = masks.shape[1] - 1 - (masks[:, ::-1] > 0).argmax(axis=1)
        return np.where(observations[:, 3] > 0.1, last, masks.argmax(axis=1))


def begun(players: list[Any], lanes: int = 12, **options: Any) -> Arena:
    """Return an arena in which player s sits at seat s of every lane."""
    batch = GameBatch(RULES, BOARD, lanes, seed=3, autoreset=False)
    table = Arena(batch, players, **options)
    table.numbers[:, : len(players)] = np.arange(len(players))
    batch.reset()
    table.seat_players(np.arange(lanes))
    return table


@pytest.mark.modes
def test_the_games_are_the_same_however_the_bots_are_asked() -> None:
    ends = []
    for players, options in (
        (["grower", "random", "hunter"], {}),
        ([GROWER, "random", "hunter"], {}),
        (["grower", "random", "hunter"], {"on_actions": lambda lanes: None}),
    ):
        table = begun(players, 6, **options)
        table.play_on(np.arange(6))
        ends.append(table.batch.records.tobytes())
    assert ends[0] == ends[1] == ends[2]


def test_entry_points_have_addresses_and_others_have_none() -> None:
    batch = GameBatch(RULES, BOARD, 1)
    memory = np.zeros((1, 6, 1), np.int32)
    T = batch.tables
    given = (batch.records, T.board, T.rules, np.zeros(1, np.int64), np.zeros((1, 6), np.uint64), memory)
    given = (*given, np.zeros(1, np.int64))
    assert (address_of(grower.choose, *given) != NO_ADDRESS) == HAS_ADDRESSES
    assert address_of(GROWER.choose, *given) == NO_ADDRESS


def test_a_tally_counts_the_same_however_the_bots_are_asked() -> None:
    players = ["grower", "random", "hunter"]
    tables = [
        begun(players, 20, keeps_actions=True, **options)
        for options in ({}, {"on_actions": lambda lanes: None})
    ]
    for table in tables:
        table.play_on(np.arange(20))
        assert (table.tally.seconds[:, :3].sum(axis=0) > 0).all()
        assert table.tally.seconds.sum() < 60
        assert (table.tally.decisions.sum(axis=1) == table.batch.records["decisions"]).all()
    for name in ("decisions", "turns"):
        assert (getattr(tables[0].tally, name) == getattr(tables[1].tally, name)).all()
    for lane in range(20):
        assert tables[0].tally.actions(lane) == tables[1].tally.actions(lane)
        game = play_game(RULES, BOARD, players, seed=3, lane=lane)
        assert tuple(tables[0].tally.actions(lane)) == game.actions


def test_no_seat_of_a_game_that_is_over_is_counted() -> None:
    table = begun(["random"] * 3, 2, counts=True)
    table.play_on(np.arange(2))
    before = table.tally.decisions.copy()
    for call in (table.tally.count, lambda lanes: table.tally.add_seconds(lanes, 1.0)):
        with pytest.raises(ValueError, match=r"lane 1: the game is over"):
            call([1])
    table.tally.add_seconds([], 1.0)
    assert (table.tally.decisions == before).all() and not table.tally.seconds[:, 3:].any()


def test_a_log_larger_than_the_memory_of_the_machine_is_refused() -> None:
    tally = begun(["random"] * 3, 2, keeps_actions=True).tally
    before = tally.log
    with pytest.raises(ValueError, match=r"decisions=\d+ needs about .* GiB of memory"):
        tally.make_room(10**18)
    assert tally.log is before


def test_the_last_actions_of_a_log() -> None:
    table = begun(["grower", "random", "hunter"], 2, keeps_actions=True)
    table.play_on(np.arange(2))
    actions = table.tally.actions(1)
    for since in (0, 5, len(actions), len(actions) + 1):
        assert table.tally.actions(1, since) == actions[since:]


def test_a_log_grows_with_its_game() -> None:
    batch = GameBatch(RULES.replace(max_rounds=40, initial_troops=20), "classic", 1, seed=1, autoreset=False)
    table, lane = Arena(batch, [random_bot.BOT], keeps_actions=True), np.zeros(1, np.int64)
    table.numbers[:, :3] = 0
    batch.reset()
    table.seat_players(lane)
    table.play_on(lane)
    assert len(table.tally.actions(0)) == batch.records["decisions"][0] > 600
    assert (
        tuple(table.tally.actions(0)) == play_game(batch.rules, batch.board, ["random"] * 3, seed=1).actions
    )


@pytest.mark.parametrize(
    ("choose", "wrapped"),
    [(choose_nothing, False), (choose_wrong, False), (choose_nothing, True), (choose_wrong, True)],
)
def test_an_answer_that_is_not_legal_is_refused_with_the_bots_name(choose: Any, wrapped: bool) -> None:
    bot = CompiledBot("bad", "1", (lambda *given: choose(*given)) if wrapped else choose)
    with pytest.raises(IllegalAction, match=r"lane \d+, bad: "):
        begun(["grower", bot, "random"]).play_on(np.arange(12))
    table = begun(["grower", bot, "random"], stops_at_illegal=True)
    table.play_on(np.arange(12))
    refused = np.flatnonzero(table.states == REFUSED)
    assert len(refused) > 8  # in the others the grower wins before the seat is asked
    assert (table.batch.records["seat"][refused] == 1).all()
    assert "legal" in str(table.illegal_action(int(refused[0])))


@pytest.mark.skipif(JIT_DISABLED, reason="a compiled bot's error")
def test_an_error_of_a_bot_is_raised() -> None:
    with pytest.raises(ValueError, match="out of ideas"):
        begun(["grower", CompiledBot("lost", "1", choose_error), "random"]).play_on(np.arange(12))


def test_the_caller_decides_for_its_own_seats() -> None:
    table = begun(["grower", "random", "random"])
    table.numbers[:, 1] = CALLER
    running, asked = np.arange(12), 0
    while len(running):
        table.play_on(running)
        seats = table.batch.records["seat"][running]
        running = running[seats >= 0]
        assert (table.batch.records["seat"][running] == 1).all()
        table.batch.ask(running)
        table.actions[running] = np.asarray(table.batch.action_mask)[running].argmax(axis=1)
        asked += len(running)
    assert asked > 100
    assert table.batch.game_over.all()


def test_policies_and_agents_play_beside_compiled_bots() -> None:
    table = begun(["grower", Coin(), FirstLegal])
    table.play_on(np.arange(12))
    assert table.batch.game_over.all()
    results = arena.play(RULES, BOARD, ["grower", Coin(), FirstLegal], 12, seed=3, lanes=5)
    assert results["rounds"].tolist() == table.batch.records["round_number"].tolist()
    assert results["winner"].tolist() == table.batch.records["winner"].tolist()


def test_agents_play_the_games_that_they_play_by_themselves() -> None:
    players = [load("grower"), FirstLegal, compiled("random")]
    results = arena.play(RULES, BOARD, players, 4, seed=6, lanes=2)
    for lane, result in enumerate(results):
        game = play_game(RULES, BOARD, ["grower", FirstLegal(), "random"], seed=6, lane=lane)
        assert (result["winner"], result["rounds"]) == (game.winner, game.round)


def test_line_ups_and_deals_say_who_sits_where_in_which_game() -> None:
    line_ups = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]])
    deals = np.array([2, 2, 0, 10**15])  # a high number needs no memory
    results = arena.play(
        RULES, BOARD, ["grower", "random"], 4, seed=8, lanes=3, line_ups=line_ups, deals=deals
    )
    for line_up, deal, result in zip(line_ups, deals, results, strict=True):
        names = [("grower", "random")[number] for number in line_up]
        game = play_game(RULES, BOARD, names, seed=8, lane=int(deal))
        assert (result["winner"], result["rounds"], result["decisions"]) == (
            game.winner,
            game.round,
            len(game.actions),
        )
    with pytest.raises(ValueError, match=r"line_ups must be whole numbers of shape \(4, 3\)"):
        arena.play(RULES, BOARD, ["grower"], 4, line_ups=line_ups[:, :2])
    with pytest.raises(ValueError, match="player numbers must be from 0 to 0"):
        arena.play(RULES, BOARD, ["grower"], 4, line_ups=line_ups)
    with pytest.raises(ValueError, match="2 players for num_players=3"):
        arena.play(RULES, BOARD, ["grower", "random"], 4)


def test_lanes_stop_at_a_death_and_where_a_turn_begins() -> None:
    table = begun(["grower", "random", "random"], 40)
    table.stop_at_death[:] = 1
    table.play_on(np.arange(40))
    records = table.batch.records
    stopped = table.states == STOPPED
    assert (records["death"][stopped, 1] != 0).all()
    assert (records["seat"][stopped] >= 0).all()
    assert stopped.sum() > 3
    table.stop_at_death[:] = NOBODY
    table.play_on(np.arange(40))
    assert table.batch.game_over.all()

    table = begun(["grower", "random", "random"], 40)
    table.stop_at_turn[:] = 2
    table.play_on(np.arange(40))
    stopped = table.states == STOPPED
    assert (table.batch.records["turn"][stopped] == 2).all()
    assert stopped.sum() > 30


def test_rewards_gather_what_a_run_brings() -> None:
    table = begun(["grower", "random", "random"])
    table.play_on(np.arange(12))
    batch = table.batch
    assert (batch.terminated | batch.truncated).all()
    won = batch.records["winner"] >= 0
    assert (batch.reward[won].max(axis=1) == 1).all()
    assert np.allclose(batch.reward[won].sum(axis=1), 0)
    table.play_on(np.arange(12))
    assert not batch.reward.any()


def test_who_is_no_player_is_named() -> None:
    with pytest.raises(ValueError, match="player=3: must be"):
        begun([3, "random", "random"])


def test_the_example_of_the_module_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = arena.__doc__.partition("An example:\n\n")[2].partition("\n\ndocs/")[0]
    names = run_code([textwrap.dedent(example)], np=np, GameBatch=GameBatch, Arena=Arena, CALLER=CALLER)
    assert names["batch"].game_over.all()


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_code(code_of(page("arena")))
    assert sum(map(np.sum, names["ends"])) > 10
    assert (names["learner"].batch.records["round_number"] >= names["game"].round).all()


def test_a_program_plays_at_a_seat_of_some_lanes() -> None:
    program = Path(__file__).parents[1] / "examples" / "bot_stdlib.py"
    table = begun(["grower", load(f"cmd:{sys.executable} {program}"), FirstLegal], 3)
    table.numbers[:, :3] = [[0, 1, 2], [0, 2, 0], [1, 0, 0]]
    table.batch.reset()
    with contextlib.closing(table):
        table.seat_players(np.arange(3))
        for _ in range(8):
            table.step(np.arange(3))
    assert (table.batch.records["decisions"] == 8).all()


@pytest.mark.long
def test_the_strategist_plays_at_a_seat_of_some_lanes() -> None:
    table = begun(["grower", "strategist"], 2)
    table.numbers[:, :3] = [[1, 0, 0], [0, 0, 1]]
    table.batch.reset()
    table.seat_players(np.arange(2))
    while (table.batch.records["round_number"] < 3).any():
        table.step(np.arange(2))
    assert (table.batch.records["seat"] >= 0).any()
