"""Invalid lanes, seats, players, actions, seeds and masks are refused before a kernel runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.state_value import StateValueFile
from risk_agents.mcp.games import OpenGames
from risk_agents.scripted import breaker, grower
from risk_agents.search import beam
from risk_agents.search.beam_value import BeamValueFile
from risk_agents.search.judges import judge_heuristically
from risk_agents.search.rollouts import Rollouts
from risk_agents.search.turn_policy import TurnPolicyFile
from risk_env import Game, GameBatch, IllegalAction, Rules, load_map
from risk_env.arena import ANY_SEAT, CALLER, Arena, TallyBook, play
from risk_env.core.types import SIZE_CLASSES, game_dtype
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.game_vector import GameVector
from risk_env.start_positions import StartPositions

RULES = Rules.preset(
    "classic", 3, setup="random", attack="blitz", defender_dice="max", max_rounds=20, initial_troops=6
)
BOARD = load_map("tiny")
N = 5
WRONG_LANES = (
    *(
        [-1],
        [N],
        [10**7],
        [-(10**7)],
        [2**62],
        [0, 0],
        [3, 1, 3],
        [0] * 1000,
        [0.5],
        [True],
        [[0]],
        0,
        "0",
        None,
    ),
    *(np.array([2**63], np.uint64), np.array([-(2**63)]), np.array([1.0])),
)
WRONG_LANE = (-1, N, 10**9, 0.0, True, "0", None)
WRONG_ACTIONS = ([], [0] * (N - 1), [0] * (N + 1), [0.0] * N, [[0]] * N, [True] * N, None, "actions", 0)
# The names of arguments that kernels use as places in arrays, or that must fit the batch
CHECKED = {
    *(
        "lane",
        "lanes",
        "seat",
        "seats",
        "action",
        "actions",
        "numbers",
        "seeds",
        "masks",
        "observations",
        "records",
    ),
    *("plans", "places", "samples", "deals", "line_ups", "states"),
}


def batch_of(kind: type[Any] = GameBatch, **options: Any) -> Any:
    """Return lanes with games in progress."""
    found = kind(RULES, BOARD, N, 3, **options)
    found.begin(np.arange(N))
    found.ask(np.arange(N))
    return found


def arena_of(**options: Any) -> Arena:
    """Return an arena with players at all seats; the caller plays seat 0."""
    found = Arena(batch_of(autoreset=False), ["grower", "random"], counts=True, keeps_actions=True, **options)
    found.numbers[:, :3] = [CALLER, 0, 1]
    found.seat_players(np.arange(N))
    return found


def single_seat_vector() -> SingleSeatVector:
    """Return learners with games in progress."""
    found = SingleSeatVector(RULES, BOARD, N)
    found.reset(3)
    return found


def rollouts() -> Rollouts:
    """Return rollouts of two plans."""
    return Rollouts(RULES, BOARD, (grower.BOT, beam.BOT), (breaker.BOT,), judge_heuristically, 8)


WORK = {"_marks", "_kinds", "_actions"}  # arrays that hold nothing of a game between two calls


def states_of(owner: Any) -> list[bytes]:
    """Return all arrays of an object and of its inner objects."""
    facts = {name: value for name, value in vars(owner).items() if name not in WORK}
    inner = [part for part in facts.values() if isinstance(part, GameVector | Arena | TallyBook)]
    arrays = [value.tobytes() for value in facts.values() if isinstance(value, np.ndarray)]
    return arrays + [state for part in inner for state in states_of(part)]


def samples() -> Any:
    """Return records of games during a turn."""
    game = Game(RULES, BOARD, 1)
    return np.repeat(game.records, 2)


def start(rules: Rules = RULES, name: str = "tiny") -> StartPositions:
    """Return the position of a game that has just begun."""
    board = load_map(name)
    return StartPositions.of(Game(rules, board, 1), rules, board)


RNG = np.random.default_rng(0)
Call = tuple[Callable[..., Any], list[tuple[Any, ...]]]


def with_lanes(call: Callable[..., Any], *rest: Any) -> Call:
    """Return a call, and its arguments with wrong lanes."""
    return call, [(lanes, *rest) for lanes in WRONG_LANES]


LANES: dict[str, list[Call]] = {
    "as_lane": [(lambda b, lane: b.as_lane(lane), [(lane,) for lane in WRONG_LANE])],
    "as_lanes": [with_lanes(lambda b, lanes: b.as_lanes(lanes))],
    "as_actions": [(lambda b, actions: b.as_actions(actions), [(actions,) for actions in WRONG_ACTIONS])],
    "game": [(lambda b, lane: b.game(lane), [(lane,) for lane in WRONG_LANE])],
    "check_legal": [
        with_lanes(lambda b, lanes: b.check_legal(np.zeros(N, int), lanes)),
        (lambda b, actions: b.check_legal(actions, [0]), [(actions,) for actions in WRONG_ACTIONS]),
    ],
    "begin": [with_lanes(lambda b, lanes: b.begin(lanes))],
    "begin_seeded": [
        with_lanes(lambda b, lanes: b.begin_seeded(lanes, np.zeros(np.size(lanes), np.uint64))),
        (
            lambda b, seeds: b.begin_seeded([0, 1], seeds),
            [([1],), ([1, 2, 3],), ([-1, 2],), ([0.5, 1],), (None,), (7,)],
        ),
    ],
    "step_lanes": [
        with_lanes(lambda b, lanes: b.step_lanes(lanes, np.zeros(N, int))),
        (
            lambda b, actions: b.step_lanes([0], actions),
            [(actions,) for actions in (*WRONG_ACTIONS, [10**6] * N)],
        ),
    ],
    "load": [
        with_lanes(lambda b, lanes: b.load(lanes, Game(RULES, BOARD, 1))),
        (
            lambda b, positions: b.load([0, 1], positions),
            [([],), ("nothing",), ([b"", b""],), (None,), ([b"1", "x", 3],)],
        ),
    ],
    "load_records": [
        with_lanes(lambda b, lanes: b.load_records(lanes, samples())),
        (
            lambda b, records: b.load_records([0, 1], records),
            [
                (np.zeros(1, game_dtype(SIZE_CLASSES[0])),),
                (np.zeros(2, game_dtype(SIZE_CLASSES[1])),),
                (np.zeros(2),),
            ],
        ),
    ],
    "reseed": [
        with_lanes(lambda b, lanes: b.reseed(lanes, np.zeros(np.size(lanes), np.uint64))),
        (lambda b, seeds: b.reseed([0, 1], seeds), [([1],), ([-1, 2],), ([0.5, 1],), (None,)]),
    ],
    "begin_at": [
        with_lanes(lambda b, lanes: b.begin_at(lanes, start(), np.zeros(np.size(lanes), int))),
        (lambda b, games: b.begin_at([0, 1], start(), games), [([1],), ([0.5, 1],), (None,)]),
        (
            lambda b, positions: b.begin_at([0, 1], positions, [0, 1]),
            [(start(RULES.replace(num_players=2)),), (start(RULES.replace(initial_troops=None), "classic"),)],
        ),
    ],
    "finish": [with_lanes(lambda b, lanes: b.finish(lanes))],
    "ask": [with_lanes(lambda b, lanes: b.ask(lanes))],
}
STEP = (
    lambda b, actions: b.step(actions),
    [(actions,) for actions in (*WRONG_ACTIONS, [10**6] * N, [-1] * N)],
)
ARENA: dict[str, list[Call]] = {
    "seat_players": [with_lanes(lambda a, lanes: a.seat_players(lanes))],
    "seat_bots": [
        with_lanes(lambda a, lanes: a.seat_bots(lanes, [0] * np.size(lanes), [0] * np.size(lanes))),
        (
            lambda a, seats: a.seat_bots([0, 1], seats, [0, 0]),
            [([0],), ([-1, 0],), ([0, 6],), ([0.0, 1.0],), (None,)],
        ),
        (
            lambda a, numbers: a.seat_bots([0, 1], [0, 0], numbers),
            [([0],), ([-1, 0],), ([0, 99],), ([0.0, 0.0],), (None,)],
        ),
    ],
    "run": [with_lanes(lambda a, lanes: list(a.run(lanes)))],
    "resume": [with_lanes(lambda a, lanes: a.resume(lanes))],
    "play_on": [with_lanes(lambda a, lanes: a.play_on(lanes))],
    "step": [with_lanes(lambda a, lanes: a.step(lanes))],
    "players_to_act": [with_lanes(lambda a, lanes: a.players_to_act(lanes))],
    "query_players": [with_lanes(lambda a, lanes: a.query_players(lanes))],
    "illegal_action": [(lambda a, lane: a.illegal_action(lane), [(lane,) for lane in WRONG_LANE])],
}
TALLY: dict[str, list[Call]] = {
    "clear": [with_lanes(lambda a, lanes: a.tally.clear(lanes))],
    "count": [with_lanes(lambda a, lanes: a.tally.count(lanes))],
    "add_seconds": [with_lanes(lambda a, lanes: a.tally.add_seconds(lanes, 1.0))],
    "actions": [(lambda a, lane: a.tally.actions(lane), [(lane,) for lane in WRONG_LANE])],
    "make_room": [(lambda a, count: a.tally.make_room(count), [(-1,), (None,), (2.5,)])],
}
SEATED: dict[str, list[Call]] = {
    "reset": [
        with_lanes(lambda s, lanes: s.reset(None, lanes) if lanes is not None else s.reset(None, [-1]))
    ],
    "step": [
        with_lanes(lambda s, lanes: s.step(s.masks().argmax(1), lanes if lanes is not None else [-1])),
        (lambda s, actions: s.step(actions), [(actions,) for actions in (*WRONG_ACTIONS, [10**6] * N)]),
    ],
    "sample": [(lambda s, lane: s.sample(lane, 0), [(lane,) for lane in WRONG_LANE])],
    "final_observation": [with_lanes(lambda s, lanes: s.final_observation(lanes))],
    "place": [
        (lambda s, lane: s.place(lane, Game(RULES, BOARD, 1).to_text()), [(lane,) for lane in WRONG_LANE])
    ],
}
WRONG_SAMPLES = (
    samples()[:0],
    samples()[:, None],
    np.zeros(2),
    None,
    np.zeros(1, game_dtype(SIZE_CLASSES[1])),
)
WRONG_SEATS = (-1, 3, 6, 10**6, None, 0.5)
WRONG_PLANS = ([], [2], [-1], [10**6], [0] * 9, [0.5])
ROLLOUTS: dict[str, list[Call]] = {
    "play": [
        (lambda r, plans: r.play(plans, samples(), RNG), [(plans,) for plans in WRONG_PLANS]),
        (lambda r, records: r.play([0], records, RNG), [(records,) for records in WRONG_SAMPLES]),
        (lambda r, turns: r.play([0], samples(), RNG, turns), [(-1,), (0.5,), (10**6,)]),
    ],
    "ends_of_turn": [
        (lambda r, plans: r.ends_of_turn(plans, samples(), RNG), [(plans,) for plans in WRONG_PLANS]),
        (lambda r, records: r.ends_of_turn([0], records, RNG), [(records,) for records in WRONG_SAMPLES]),
    ],
    "continue_games": [
        (lambda r, seat: r.continue_games(samples(), seat, RNG, 1), [(seat,) for seat in WRONG_SEATS]),
        (lambda r, records: r.continue_games(records, 0, RNG, 1), [(records,) for records in WRONG_SAMPLES]),
    ],
    "set_up": [
        (lambda r, column: r.set_up(column, [0], samples(), 0, RNG), [(-1,), (10**6,), (0.5,)]),
        (lambda r, numbers: r.set_up(0, numbers, samples(), 0, RNG), [([7],), ([-1],), ([],), ([0] * 9,)]),
        (lambda r, seat: r.set_up(0, [0], samples(), seat, RNG), [(seat,) for seat in WRONG_SEATS]),
    ],
}
# tests/test_trained_files.py
IN_TRAINED_FILES = {"logits", "logits_and_values", "chances", "outputs", "checked_records"}
TABLES: dict[type[Any], tuple[Callable[[], Any], dict[str, list[Call]]]] = {
    GameVector: (lambda: batch_of(GameVector), LANES),
    GameBatch: (batch_of, LANES | {"step": [STEP]}),
    Arena: (arena_of, ARENA),
    TallyBook: (arena_of, TALLY),
    SingleSeatVector: (single_seat_vector, SEATED),
    Rollouts: (rollouts, ROLLOUTS),
    **{
        kind: (int, {name: [] for name in IN_TRAINED_FILES})
        for kind in (PolicyFile, BeamValueFile, StateValueFile)
    },
    TurnPolicyFile: (int, {name: [] for name in IN_TRAINED_FILES}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_public_method_that_takes_such_numbers_is_tested_here(kind: type[Any]) -> None:
    methods = inspect.getmembers(kind, callable)
    found = {
        name
        for name, method in methods
        if not name.startswith("_") and CHECKED & set(inspect.signature(method).parameters)
    }
    assert found <= set(TABLES[kind][1])


@pytest.mark.modes
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in TABLES for name in sorted(TABLES[kind][1])]
)
def test_wrong_numbers_are_refused_and_change_nothing(kind: type[Any], name: str) -> None:
    make, calls = TABLES[kind]
    for call, wrong in calls[name]:
        owner = make()
        before = states_of(owner)
        for arguments in wrong:
            with pytest.raises(ValueError):
                call(owner, *arguments)
            assert states_of(owner) == before, f"{kind.__name__}.{name}{arguments}"


def test_errors_say_what_was_given_and_what_is_allowed() -> None:
    batch = batch_of()
    for lanes, words in (
        ([7], "lanes contain 7: the batch has lanes 0 to 4"),
        ([1, 1], "lanes contain 1 twice"),
    ):
        with pytest.raises(ValueError, match=words):
            batch.ask(lanes)
    with pytest.raises(ValueError, match="lane=-1: must be a whole number from 0 to 4"):
        batch.game(-1)
    with pytest.raises(ValueError, match="seeds contain -3: all must be 0 or more"):
        batch.begin_seeded([0], [-3])
    with pytest.raises(IllegalAction, match="lane 0"):
        batch.step_lanes([0], [10**6] * N)


@pytest.mark.modes
def test_lanes_without_a_game_are_not_played() -> None:
    batch = GameBatch(RULES, BOARD, N, autoreset=False)
    arena = Arena(batch, ["grower", "random"])
    arena.numbers[:, :3] = [0, 1, 0]
    batch.begin([1, 2])
    for call in (arena.play_on, arena.step, arena.query_players, arena.resume):
        with pytest.raises(ValueError, match="lane 0 has no game: call reset"):
            call([1, 0])
    batch.ask(np.arange(N))
    batch.finish([0])  # of a lane without a game: nothing is read beyond its record
    arena.play_on([1, 2])
    assert batch.game_over[[1, 2]].all()


@pytest.mark.modes
@pytest.mark.parametrize("number", [2, -2, 10**6, 2**62, -(2**63)])
def test_a_number_of_no_player_is_an_error_wherever_it_is_written(number: int) -> None:
    for call in (Arena.play_on, Arena.step, Arena.query_players, Arena.players_to_act, Arena.seat_players):
        arena = arena_of()
        arena.numbers[3, 1] = number
        before = states_of(arena)
        with pytest.raises(ValueError, match=r"numbers range from .*: player numbers must be from -1 .* 1"):
            call(arena, [0, 3])
        assert states_of(arena) == before


@pytest.mark.modes
def test_numbers_that_are_written_during_a_run_are_checked_too() -> None:
    arena = arena_of()
    arena.numbers[:, 0] = 0
    run = arena.run(np.arange(N))
    stopped = next(run)
    arena.batch.begin(stopped)
    arena.seat_players(stopped)
    arena.numbers[stopped, 0] = 99
    arena.resume(stopped)
    with pytest.raises(ValueError, match="numbers range from"):
        list(run)


@pytest.mark.modes
@pytest.mark.parametrize("name", ["stop_at_death", "stop_at_turn"])
@pytest.mark.parametrize("seat", [3, 10**7, -3, -(10**7), 2**62])
def test_a_stop_at_no_seat_is_an_error(name: str, seat: int) -> None:
    arena = arena_of()
    getattr(arena, name)[2] = seat
    for call in (arena.play_on, arena.step):
        with pytest.raises(ValueError, match=f"lane 2: .*{name}={seat}"):
            call([2])
    arena.stop_at_death[2], arena.stop_at_turn[2] = 2, ANY_SEAT
    arena.play_on([2])


@pytest.mark.parametrize("change", [{"lanes": 0}, {"deals": [-1, 0]}, {"deals": [0]}, {"games": 0}])
def test_whole_games_check_their_arguments(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        play(**{"rules": RULES, "board": BOARD, "players": ["random"] * 3, "games": 2, **change})


@pytest.mark.parametrize("value", ["x" * 10**5, 10**5000, [[]] * 10**4], ids=["text", "number", "list"])
def test_messages_about_wrong_values_are_short(value: Any) -> None:
    for call in (
        lambda: Game("classic", BOARD, 1).hand(value),
        lambda: GameBatch(RULES, BOARD, num_games=value if isinstance(value, str | list) else -value),
        lambda: GameBatch(RULES, BOARD, observation=value),
        lambda: Rules.preset(value),
        lambda: Rules.preset("classic", profile=value),
        lambda: OpenGames().begin("classic", ["x" * 10**5]),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize("make", [batch_of, arena_of])
def test_arrays_that_kernels_are_bound_to_cannot_be_replaced(make: Callable[[], Any]) -> None:
    owner = make()
    for name in sorted(type(owner).FIXED):
        kept = getattr(owner, name)
        with pytest.raises(AttributeError, match=f"{name} cannot be replaced: write into the array"):
            setattr(owner, name, np.zeros(1, np.int64))
        assert getattr(owner, name) is kept
    owner.__dict__.get("batch", owner).seeds[:] += np.uint64(1)
