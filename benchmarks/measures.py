"""The measures of `benchmarks.peers`: environments of risk_env and of other libraries.

Each measure runs in a separate process. A measure is a generator of rows. Actions are uniformly random among
the legal actions; for PufferLib, which has no masks, among all actions. The choice of the actions does not
count in the time of a step. When a game ends, the step also begins a new game, and the time includes the
beginning. Each measure imports the library that it measures, because most of these libraries are not
dependencies of risk_env.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

BATCHES = (1, 64, 256, 1024, 16384)
THREADED_BATCHES = (1024, 16384)
TYPICAL_BATCH = 1024  # number of games in measures of a single size
PGX_BATCHES = {"backgammon": (64, 256, 1024, 4096), "chess": (16, 64, 256, 1024)}
PUFFER_BATCHES = (64, 1024)
PUFFER_ACTIONS = 256  # number of sets of actions drawn before the clock starts
LANES_SPREAD = 256  # number of different games; other lanes begin as copies with other random numbers
WARM_UP = 20  # number of steps before the clock starts
PAIRS = 10  # number of short windows into which a window is split to compare one thread with two threads
OPTIONS: dict[str, Any] = {
    "setup": "random",
    "attack": "choice",
    "defender_dice": "choice",
    "max_rounds": 100,
}

Row = dict[str, Any]
Step = Callable[[Any], int]  # plays actions and returns the number of decisions
Choose = Callable[[], Any]


class Clock(NamedTuple):
    """Length of a measurement: `repeats` windows, each with `seconds` of steps."""

    seconds: float
    repeats: int
    now: Callable[[], float] = time.perf_counter

    def row(self, choose: Choose, step: Step, game: str, interface: str, games: int, **more: Any) -> Row:
        """Return one row: the environment, and its decisions per second in the best and median windows."""
        for _ in range(WARM_UP):
            step(choose())
        rates = [self.window(choose, step) for _ in range(self.repeats)]
        best = max(rates)
        speeds = {"steps_per_second": best, "median": statistics.median(rates), "ns_per_step": 1e9 / best}
        return {"game": game, "interface": interface, "games": games, **speeds, **more}

    def window(self, choose: Choose, step: Step) -> float:
        """Return the decisions per second in one window.

        Choosing actions is not timed.
        """
        spent, decisions = 0.0, 0
        while spent < self.seconds:
            actions = choose()
            start = self.now()
            decisions += step(actions)
            spent += self.now() - start
        return decisions / spent


# This project


class OurBatch:
    """A `GameBatch` of `classic` for three players, and a compiled random policy.

    The lanes are at different stages of their games.
    """

    def __init__(self, games: int, threads: int = 1, **outputs: Any) -> None:
        from benchmarks import random_play, speed
        from risk_env.batch import GameBatch
        from risk_env.board.rules import Rules

        self.kernels = random_play
        self.batch = GameBatch(
            Rules.preset("classic", **OPTIONS), num_games=games, threads=threads, **outputs
        )
        self.batch.reset()
        spread = speed.spread(self.batch.tables, min(games, LANES_SPREAD), seed=0)
        self.actions, self.lanes = np.zeros(games, np.int64), np.arange(games)
        chance = self.batch.records["random"].copy()
        self.batch.records[:] = np.resize(spread.games, games)
        self.batch.records["random"] = chance
        self.pickers = chance + np.uint64(1)
        self.begin_ended()

    def begin_ended(self) -> None:
        """Begin the next game in all lanes whose game is over."""
        from risk_env.core.types import Phase

        self.batch.begin(np.flatnonzero(self.batch.records["phase"] == Phase.OVER))

    def choose(self) -> Any:
        """Return an action for each lane."""
        self.kernels.choose(self.batch.records, self.pickers, self.lanes, self.actions)
        return self.actions

    def step(self, actions: Any) -> int:
        """Step the batch and return the number of decisions."""
        self.batch.step(actions)
        return self.batch.num_games


def our_batch(clock: Clock, sizes: Sequence[int] = BATCHES) -> Iterator[Row]:
    """Measure `GameBatch` with one thread: byte masks, byte masks with observations, and bit masks."""
    outputs = [("bytes", None), ("bytes", "flat")]
    settings = [(games, mask, view) for games in sizes for mask, view in outputs] + [
        (TYPICAL_BATCH, "bits", None)
    ]
    for games, mask, view in settings:
        ours = OurBatch(games, mask=mask, observation=view)
        interface = f"GameBatch, {mask[:-1]} mask" + (" and observation" if view else "")
        yield clock.row(
            ours.choose, ours.step, "risk", interface, games, measure="batch", mask=mask, observation=view
        )


def our_parts(clock: Clock) -> Iterator[Row]:
    """Measure the parts of a step of `TYPICAL_BATCH` games, each called and timed separately."""
    ours = OurBatch(TYPICAL_BATCH, mask="bytes", observation="flat")
    windows = [parts_of_a_step(ours, clock.seconds) for _ in range(clock.repeats)]
    names = windows[0].keys()
    yield {
        "measure": "parts",
        "games": TYPICAL_BATCH,
        "ns": {name: min(window[name] for window in windows) for name in names},
    }


def parts_of_a_step(ours: OurBatch, seconds: float) -> dict[str, float]:
    """Return the time of each part of a step, in ns per decision. The measurement takes about `seconds`."""
    from risk_env.engine import batch_loop

    batch, steps = ours.batch, 0
    work: dict[str, Callable[[], Any]] = {
        "choose": ours.choose,
        "check": lambda: batch_loop.first_illegal(
            batch.records, batch.tables.rules, ours.lanes, ours.actions
        ),
        "rules": lambda: batch.step_lanes(ours.lanes, ours.actions),
        "ends": lambda: batch.finish(np.flatnonzero(batch.game_over)),
        "mask and observation": lambda: batch.ask(ours.lanes),
    }
    spent = dict.fromkeys(work, 0.0)
    while sum(spent.values()) < seconds:
        for name, part in work.items():
            start = time.perf_counter()
            part()
            spent[name] += time.perf_counter() - start
        steps += batch.num_games
    return {name: total / steps * 1e9 for name, total in spent.items()}


def our_threads(clock: Clock) -> Iterator[Row]:
    """Measure `GameBatch` with one and two threads, in alternating short windows.

    Other load on the machine then affects both numbers of threads equally.
    """
    brief = Clock(clock.seconds / PAIRS, clock.repeats)
    for games in THREADED_BATCHES:
        batches = [OurBatch(games, threads, mask="bytes", observation="flat") for threads in (1, 2)]
        for ours in batches * WARM_UP:
            ours.step(ours.choose())
        rates = [rates_in_turn(brief, batches, pair % 2) for pair in range(clock.repeats * PAIRS)]
        one, two = map(max, zip(*rates, strict=True))
        yield {
            "measure": "threads",
            "games": games,
            "one": one,
            "two": two,
            "ratios": [b / a for a, b in rates],
        }


def rates_in_turn(brief: Clock, batches: list[OurBatch], first: int) -> list[float]:
    """Return the decisions per second of each batch in one window.

    `first` is the index of the batch that is measured first, so that callers can cancel out drift.
    """
    rates = [0.0] * len(batches)
    for k in (first, 1 - first):
        rates[k] = brief.window(batches[k].choose, batches[k].step)
    return rates


def our_aec(clock: Clock) -> Iterator[Row]:
    """Measure the PettingZoo environment of risk_env, with and without its wrapper."""
    from risk_env import risk_v0

    for name, make in (("raw_env()", risk_v0.raw_env), ("env()", risk_v0.env)):
        yield aec_row(clock, partial(make, **OPTIONS), "risk", f"risk_v0.{name}", "aec")


# Peers


def aec_row(clock: Clock, make: Callable[[], Any], game: str, interface: str, measure: str) -> Row:
    """Measure a PettingZoo environment with `step()` and `last()`.

    The step of a dead agent is timed, but not counted as a decision.
    """
    env = make()
    picker = np.random.default_rng(0)
    env.reset(seed=0)
    newest = [env.last()]

    def choose() -> int | None:
        observation, _, terminated, truncated, _ = newest[0]
        return (
            None
            if terminated or truncated
            else int(picker.choice(np.flatnonzero(observation["action_mask"])))
        )

    def step(action: int | None) -> int:
        env.step(action)
        if not env.agents:
            env.reset()
        newest[0] = env.last()
        return action is not None

    return clock.row(choose, step, game, interface, 1, measure=measure)


def pettingzoo_chess(clock: Clock) -> Iterator[Row]:
    """Measure PettingZoo's chess environment."""
    from pettingzoo.classic import chess_v6

    yield aec_row(clock, chess_v6.env, "chess", "PettingZoo env()", "pettingzoo-chess")


def pettingzoo_connect_four(clock: Clock) -> Iterator[Row]:
    """Measure PettingZoo's connect four environment."""
    from pettingzoo.classic import connect_four_v3

    yield aec_row(clock, connect_four_v3.env, "connect four", "PettingZoo env()", "pettingzoo-connect-four")


def pgx(game: str, clock: Clock) -> Iterator[Row]:
    """Measure a game of Pgx on the CPU: `jit(vmap(auto_reset(step)))` at several batch sizes."""
    import jax
    import pgx as library
    from pgx.experimental.wrappers import auto_reset

    env = library.make(game)
    begin, play = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    pick = jax.jit(lambda key, mask: jax.random.categorical(key, jax.numpy.where(mask, 0.0, -jax.numpy.inf)))
    for games in PGX_BATCHES[game]:
        key = [jax.random.PRNGKey(0)]
        state = [begin(jax.random.split(key[0], games))]

        def choose(games: int = games, key: list[Any] = key, state: list[Any] = state) -> Any:
            key[0], ours, theirs = jax.random.split(key[0], 3)
            return jax.block_until_ready(
                (pick(ours, state[0].legal_action_mask), jax.random.split(theirs, games))
            )

        def step(actions: Any, games: int = games, state: list[Any] = state) -> int:
            state[0] = jax.block_until_ready(play(state[0], *actions))
            return games

        yield clock.row(choose, step, game, "Pgx, jit and vmap", games, measure=f"pgx-{game}")


def open_spiel_backgammon(clock: Clock) -> Iterator[Row]:
    """Measure OpenSpiel's backgammon from Python: action, dice, legal mask and observation."""
    import pyspiel

    game = pyspiel.load_game("backgammon")
    picker = random.Random(0)
    state = [begin_open_spiel(game, picker)]

    def step(action: int) -> int:
        state[0].apply_action(action)
        if state[0].is_terminal():
            state[0].returns()
            state[0] = begin_open_spiel(game, picker)
        roll_open_spiel(state[0], picker)
        state[0].legal_actions_mask()
        state[0].observation_tensor()
        return 1

    def choose() -> int:
        return picker.choice(state[0].legal_actions())

    yield clock.row(choose, step, "backgammon", "OpenSpiel from Python", 1, measure="open-spiel-backgammon")


def begin_open_spiel(game: Any, picker: random.Random) -> Any:
    """Return a new game with its first dice rolled."""
    state = game.new_initial_state()
    roll_open_spiel(state, picker)
    return state


def roll_open_spiel(state: Any, picker: random.Random) -> None:
    """Play chance events until a player must act."""
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(picker.choices(outcomes, chances)[0])


def puffer(game: str, clock: Clock) -> Iterator[Row]:
    """Measure a game of PufferLib's Ocean.

    PufferLib has no action masks. The actions are therefore drawn before the clock starts.
    """
    from pufferlib.ocean import env_creator

    for games in PUFFER_BATCHES:
        env = env_creator(f"puffer_{game}")(num_envs=games)
        env.reset(seed=0)
        drawn = [env.action_space.sample() for _ in range(PUFFER_ACTIONS)]

        def step(actions: Any, env: Any = env) -> int:
            env.step(actions)
            return env.num_agents

        yield clock.row(
            partial(random.choice, drawn), step, game, "PufferLib", games, measure=f"puffer-{game}"
        )
        env.close()


class Measure(NamedTuple):
    """A generator of rows, and the packages that the generator needs."""

    rows: Callable[[Clock], Iterator[Row]]
    packages: tuple[str, ...] = ()
    is_ours: bool = False
    cores: int = 1


MEASURES = {
    "batch": Measure(our_batch, is_ours=True),
    "parts": Measure(our_parts, is_ours=True),
    "threads": Measure(our_threads, is_ours=True, cores=2),
    "aec": Measure(our_aec, is_ours=True),
    "pettingzoo-chess": Measure(pettingzoo_chess, ("pettingzoo", "chess")),
    "pettingzoo-connect-four": Measure(pettingzoo_connect_four, ("pettingzoo",)),
    "pgx-backgammon": Measure(partial(pgx, "backgammon"), ("pgx", "jax")),
    "pgx-chess": Measure(partial(pgx, "chess"), ("pgx", "jax")),
    "open-spiel-backgammon": Measure(open_spiel_backgammon, ("open_spiel",)),
    "puffer-go": Measure(partial(puffer, "go"), ("pufferlib",)),
    "puffer-tetris": Measure(partial(puffer, "tetris"), ("pufferlib",)),
}
