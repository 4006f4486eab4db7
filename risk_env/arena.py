"""Arena: games between any players, in many lanes at once.

The loop of an arena plays the games of Gymnasium environments, trainers, data sets and rollouts, and of
tournaments between compiled bots and ONNX models. An example:

    batch = GameBatch("classic", "tiny", num_games=2, num_players=3, max_rounds=20, autoreset=False)
    arena = Arena(batch, ["grower", "random"])
    # player of each seat, by lane: the caller plays seat 1 in lane 0 and seat 2 in lane 1
    arena.numbers[:, :3] = [[0, CALLER, 1], [1, 0, CALLER]]
    batch.reset(seed=7)
    arena.seat_players(lanes := np.arange(2))
    arena.play_on(lanes)  # until each lane waits for the caller, or the game of the lane is over
    while len(waiting := lanes[~batch.game_over]):
        batch.ask(waiting)  # writes observation, mask and seat
        arena.actions[waiting] = batch.action_mask[waiting].argmax(axis=1)  # the caller's actions
        for stopped in arena.run(waiting):  # like play_on, but yields lanes as soon as their games end
            print(batch.records["winner"][stopped])

docs/arena.md shows one loop with a learner and opponents.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.agent import Agent
from risk_env.arguments import check_count
from risk_env.arrays import Array, Numbers
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.compiler import BoundKernel
from risk_env.compiler.calls import COUNTS_CYCLES, NO_ADDRESS, address_of
from risk_env.core.entry import seed_of
from risk_env.core.types import MAX_SEATS, NOBODY
from risk_env.engine import batch_loop
from risk_env.engine.play_on import (
    ANY_SEAT,
    CALLER,
    NO_ACTION,
    OVER,
    REFUSED,
    STOPPED,
    UNFIT,
    UNWRITTEN,
    Flow,
    Seats,
    Stops,
    Tally,
    count_decisions,
    play_on,
)
from risk_env.game_vector import FixedArrays, GameVector, check_memory, whole_numbers
from risk_env.messages import counted
from risk_env.players import AgentFactory, Named, Policy, check_seats, close_all, find_player
from risk_env.seated import AgentSeats, Seated, seat_player
from risk_env.start_positions import StartPositions
from risk_env.text import notation

__all__ = [
    "ANY_SEAT",
    "CALLER",
    "OVER",
    "REFUSED",
    "STOPPED",
    "Arena",
    "TallyBook",
    "play",
    "result_dtype",
]

MAX_LANES = 1024
# kinds of players, in the order in which they act: bots that the kernel calls, bots that Python calls,
# agents and policies, the caller
NATIVE, COMPILED, OTHER, NOT_OURS = range(4)
# bounds of the target duration of a call of the kernel, in seconds; an interrupt waits for the end of a call
_SHORT, _LONG = 0.01, 0.05
_MOST_AT_ONCE = 1 << 10  # maximum number of actions that one call of the kernel plays in a lane


class TallyBook:
    """Counters for each seat of the game in each lane, and a log of the actions of each game.

    `counts` switches the counters on, and `keeps_actions` switches the log on.
    """

    def __init__(self, batch: GameVector, counts: bool, keeps_actions: bool) -> None:
        self.counts, self.keeps_actions = counts, keeps_actions
        shape = (batch.num_games, batch.num_players) if self.counts else (0, 0)
        self.decisions = np.zeros(shape, np.int64)  # (N, P) number of decisions of each seat
        # (N, P) number of rounds in which the seat made a decision; the set-up counts as one round
        self.turns = np.zeros(shape, np.int64)
        self.seconds = np.zeros(shape)  # (N, P) thinking time of each seat in seconds
        self._batch = batch
        self._last_round = np.full(shape, -1)
        self._cycles = np.zeros(shape if COUNTS_CYCLES else (0, 0), np.uint64)
        self._log = np.zeros((batch.num_games, 512 if keeps_actions else 0), np.int32)

    @property
    def log(self) -> Array:
        """The actions of the game in each lane, int32 (N, A), with room for A actions per lane."""
        return self._log

    def arrays(self) -> Tally:
        """Return the counters and the log as an argument of the kernel `play_on`."""
        return Tally(self.decisions, self.turns, self._last_round, self._cycles, self._log)

    def clear(self, lanes: Numbers) -> None:
        """Reset the counters of these lanes, in which games have begun."""
        if not self.counts:
            return
        lanes = self._batch.as_lanes(lanes)
        for counts in (self.decisions, self.turns, self.seconds):
            counts[lanes] = 0
        self._last_round[lanes] = -1

    def make_room(self, actions: int) -> bool:
        """Make room in the log for `actions` further actions in every lane.

        Returns True if a larger array has replaced the log.
        """
        if not self.keeps_actions:
            return False
        check_count("actions", actions)
        needed = int(self._batch.records["decisions"].max()) + actions
        missing = needed - self._log.shape[1]
        if missing > 0:
            check_memory("decisions", needed, 2 * self._log.itemsize * len(self._log))
            self._log = np.pad(self._log, ((0, 0), (0, max(missing, self._log.shape[1]))))
        return missing > 0

    def actions(self, lane: int, since: int = 0) -> list[int]:
        """Return the actions of the game in a lane, without the first `since` actions.

        The actions must have been kept (`keeps_actions`).
        """
        lane = self._batch.as_lane(lane)
        return self._log[lane, since : self._batch.records["decisions"][lane]].tolist()

    def count(self, lanes: Numbers) -> None:
        """Count a decision of the seat to act in each of these lanes.

        Does nothing if the counters are off. Otherwise raises ValueError unless each lane has a game in
        progress.
        """
        if self.counts:
            self._count(self._in_play(lanes))

    def add_seconds(self, lanes: Numbers, seconds: float) -> None:
        """Add an equal share of `seconds` to the thinking time of the seat to act in each of these lanes.

        Does nothing if the counters are off. Otherwise raises ValueError unless each lane has a game in
        progress.
        """
        if self.counts and len(lanes := self._in_play(lanes)):
            self._add_seconds(lanes, seconds)

    def _count(self, lanes: Numbers) -> None:
        """Count a decision in each of these lanes. The lanes are not checked."""
        count_decisions(self._batch.records, self.arrays(), lanes)

    def _add_seconds(self, lanes: Numbers, seconds: float) -> None:
        """Add an equal share of `seconds` in each of these lanes. `lanes` must not be empty."""
        self.seconds[lanes, self._batch.records["seat"][lanes]] += seconds / len(lanes)

    def _in_play(self, lanes: Numbers) -> Numbers:
        """Return lanes for kernels, int64 (k,). Raises ValueError unless each lane has a game in progress."""
        lanes = self._batch.as_lanes(lanes, are_begun=True)
        over = lanes[self._batch.records["seat"][lanes] < 0]
        if len(over):
            raise ValueError(f"lane {over[0]}: the game is over, so no seat has to act")
        return lanes

    def convert_cycles(self, cycles: int, seconds: float) -> None:
        """Add the time that each seat's bot took in a call of the kernel to the seat's thinking time.

        `cycles` is the number of processor cycles of the whole call, and `seconds` is the call's duration.
        """
        if cycles > 0:
            self.seconds += self._cycles * (seconds / cycles)
            self._cycles[:] = 0


class Arena(FixedArrays):
    """Players at the seats of the games in a batch, and the loop that plays these games.

    The loop calls the players, checks their actions and plays the actions.

    `players` are of any kind (`players.find_player`). `numbers[lane, seat]` is the index in `players` of the
    player at a seat, or CALLER if the caller acts for the seat. For a class or a function that makes
    agents, the arena creates one agent for each seat of this player in each lane.

    `counts` switches the counters of `tally` on. `keeps_actions` switches the counters on and keeps the
    actions of each game. An arena with agents always keeps the actions.

    With `on_actions`, every decision passes through Python code. Before the arena plays actions of its
    players, it calls `on_actions(lanes)` with the lanes of these actions. The attribute `actions` contains
    the actions.

    An illegal action raises IllegalAction. With `stops_at_illegal`, an illegal action stops the lane instead,
    and sets the entry of the lane in `states` to REFUSED.

    A kernel plays compiled bots, lane by lane, if it can call the bots (`compiler.calls`). Otherwise Python
    code calls the bots. The games are the same in both cases.
    """

    FIXED = frozenset(("numbers", "randoms", "memory", "stop_at_death", "stop_at_turn", "actions", "states"))

    def __init__(
        self,
        batch: GameVector,
        players: Sequence[Named | Seated],
        *,
        counts: bool = False,
        keeps_actions: bool = False,
        on_actions: Callable[[Numbers], None] | None = None,
        stops_at_illegal: bool = False,
    ) -> None:
        self.batch = batch
        self.players = _seated(players, batch)
        # agents may read `view.events`, which needs the actions
        has_agents = any(isinstance(player, AgentSeats) for player in self.players)
        self.tally = TallyBook(batch, counts or keeps_actions, keeps_actions or has_agents)
        self._on_actions, self._stops_at_illegal = on_actions, stops_at_illegal
        bots = [player for player in self.players if isinstance(player, CompiledBot)]
        for bot in bots:
            bot.check(batch.rules, batch.board)
        self._make_arrays(max((bot.memory for bot in bots), default=1))
        # maximum number of actions per lane in the next call of the kernel; duration of the last call
        self._at_once, self._seconds = 1, 0.0
        self._kernel: BoundKernel | None = None
        self._bind()

    def _make_arrays(self, words: int) -> None:
        """Make the arrays of all lanes. `words` is the size of the largest bot memory, in words."""
        N = self.batch.num_games
        # (N, 6) number of the player at each seat, or CALLER
        self.numbers = np.full((N, MAX_SEATS), CALLER, np.int64)
        self.randoms = np.zeros((N, MAX_SEATS), np.uint64)
        self.memory = np.zeros((N, MAX_SEATS, words), np.int32)
        # memory at the beginning of a game: one row for each player, and a last row for CALLER
        self._first_memory = np.zeros((len(self.players) + 1, words), np.int32)
        for number, player in enumerate(self.players):
            if isinstance(player, CompiledBot):
                self._first_memory[number, : len(player.begins)] = player.begins
        self.stop_at_death = np.full(N, NOBODY, np.int64)  # (N,) elimination of this seat stops the lane
        # (N,) the lane stops when a turn of this seat begins; ANY_SEAT: at every turn, NOBODY: at no turn
        self.stop_at_turn = np.full(N, NOBODY, np.int64)
        self.actions = np.full(N, NO_ACTION, np.int64)  # (N,) next action to play in each lane, or NO_ACTION
        self.states = np.zeros(N, np.int8)  # (N,) RUNNING, OVER, STOPPED or REFUSED (`engine.play_on`)
        self._stopped, self._left = np.zeros((2, N), np.int64)
        self._resumed: list[Numbers] = []

    def seat_players(self, lanes: Numbers) -> None:
        """Prepare the players in `numbers` for the games that have begun in these lanes.

        Compiled bots get new random states and memories. Agents and policies begin a game. The results, the
        counters and the `actions` of these lanes are cleared.
        """
        lanes = self.batch.as_lanes(lanes)
        self._check_players(lanes)
        batch_loop.seed_bots(self.batch.seeds, lanes, self.randoms)
        self.memory[lanes] = self._first_memory[self.numbers[lanes]]
        self.actions[lanes] = NO_ACTION
        for results in (self.batch.reward, self.batch.terminated, self.batch.truncated, self.batch.game_over):
            results[lanes] = 0
        self.tally.clear(lanes)
        for number, player in enumerate(self.players):
            if not isinstance(player, CompiledBot):
                rows, seats = np.nonzero(self.numbers[lanes] == number)
                player.begin(self, lanes[rows], seats)

    def seat_bots(self, lanes: Numbers, seats: Numbers, numbers: Numbers) -> None:
        """Let compiled bots take over one seat in each of these lanes, whose games are in progress.

        `seats` and `numbers`, int (k,), are the seats and the numbers of the bots. The bots begin with a new
        memory, and continue the random state of the seat. Raises ValueError for invalid lanes, seats and
        arrays, and for the number of a player that is not a compiled bot.
        """
        lanes = self.batch.as_lanes(lanes)
        bots = [n for n, player in enumerate(self.players) if isinstance(player, CompiledBot)]
        seats = _chosen("seats", seats, len(lanes), range(self.batch.rules.num_players))
        numbers = _chosen("numbers", numbers, len(lanes), bots)
        self.numbers[lanes, seats] = numbers
        self.memory[lanes, seats] = self._first_memory[numbers]

    def prepare(self) -> None:
        """Compile the code of the loop and of all compiled bots, or load the code from the cache.

        No game is played.
        """
        nobody = np.zeros(0, np.int64)
        batch_loop.seed_bots(self.batch.seeds, nobody, self.randoms)
        self.batch.as_lanes(nobody)
        self.tally.count(nobody)
        for player, choose in zip(self.players, self._choosers, strict=True):
            if isinstance(player, CompiledBot):
                choose(nobody)
        self._play(nobody, True, 1)

    def check_numbers(self) -> None:
        """Raise ValueError if `numbers` contains an unknown player number in any lane.

        Call this method after `numbers` has been read from a file.
        """
        self._check_players(self.batch.as_lanes(np.arange(self.batch.num_games)))

    def _check_players(self, lanes: Numbers) -> None:
        """Raise ValueError if `numbers` contains an unknown player number in these lanes."""
        numbers = self.numbers[lanes]
        least, most = int(numbers.min(initial=CALLER)), int(numbers.max(initial=CALLER))
        if least < CALLER or most >= len(self.players):
            raise ValueError(
                f"numbers range from {least} to {most}: player numbers must be from {CALLER} (the caller) to "
                f"{len(self.players) - 1}"
            )

    def _unfit(self, lane: int) -> ValueError:
        """Return the error for a lane that the kernel has found UNFIT."""
        try:
            self._check_players(np.array([lane]))
        except ValueError as error:
            return error
        stops = int(self.stop_at_death[lane]), int(self.stop_at_turn[lane])
        seats = f"must be a seat from 0 to {self.batch.num_players - 1}, or {NOBODY} (no stop)"
        allowed = f"{seats}; stop_at_turn may also be {ANY_SEAT} (any seat)"
        return ValueError(f"lane {lane}: stop_at_death={stops[0]}, stop_at_turn={stops[1]}: {allowed}")

    # ------------------------------------------------------------------------------------------ the loop

    def run(self, lanes: Numbers) -> Iterator[Numbers]:
        """Play in these lanes, int (k,), until each lane waits for the caller or has stopped.

        The values in `actions` are played first. Yields the lanes that have just stopped. `resume` lets these
        lanes continue in the same run. The arrays `reward`, `terminated` and `truncated` of the batch
        accumulate the results of the run.

        A lane stops when its game ends, when the seat in `stop_at_death` is eliminated, and when a turn of
        the seat in `stop_at_turn` begins. With `stops_at_illegal`, a lane also stops at an illegal action.
        """
        lanes, is_first, self._resumed = self.batch.as_lanes(lanes, are_begun=True), True, []
        while len(lanes):
            stopped, lanes = self._play(lanes, is_first, self._at_once)
            is_first = False
            if len(stopped):
                self._check_refused(stopped)
                yield stopped
            if self._resumed:
                lanes = self.batch.as_lanes(np.concatenate([*self._resumed, lanes]))
                self._resumed = []
            elif len(lanes):
                self._query_first(lanes)

    def resume(self, lanes: Numbers) -> None:
        """Let these lanes continue in the current run. Call this method after `run` has yielded the lanes."""
        self._resumed.append(self.batch.as_lanes(lanes, are_begun=True))

    def run_games(
        self,
        games: int,
        begin: Callable[[Numbers, Numbers], None],
        on_stop: Callable[[Numbers], None] | None = None,
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Play the games with the numbers 0 to `games` - 1. Each lane plays one game after another.

        Yields the lanes in which games have ended, and the numbers of these games. `begin(lanes, games)` must
        begin the games with the numbers `games` in `lanes`. To do so, it writes the players into
        `Arena.numbers`, and calls `batch.begin_seeded` and `seat_players`.

        The arena calls `on_stop(lanes)` for lanes in the state STOPPED. These lanes then continue. Without
        `on_stop`, the games of such lanes count as ended.
        """
        check_count("games", games)
        game_of = np.arange(min(self.batch.num_games, games))
        following = len(game_of)
        begin(game_of, game_of)
        for stopped in self.run(game_of.copy()):
            ended = stopped
            if on_stop is not None and (self.states[stopped] == STOPPED).any():
                ended = stopped[self.states[stopped] != STOPPED]
                continuing = stopped[self.states[stopped] == STOPPED]
                on_stop(continuing)
                self.resume(continuing)
            yield ended, game_of[ended]
            free = ended[: games - following]
            if len(free):
                game_of[free] = np.arange(following, following + len(free))
                following += len(free)
                begin(free, game_of[free])
                self.resume(free)

    def play_on(self, lanes: Numbers) -> None:
        """Play in these lanes as `run` does. Lanes that stop are not resumed."""
        for _ in self.run(lanes):
            pass

    def step(self, lanes: Numbers) -> None:
        """Play one action in each of these lanes: the entry in `actions`, or else the player's action.

        If a lane waits for the caller and has no entry, the game of the lane does not change.
        """
        lanes = self.batch.as_lanes(lanes, are_begun=True)
        self._check_players(lanes)
        waiting = lanes[self.actions[lanes] == NO_ACTION]
        numbers = self._to_act(waiting)
        kinds = self._kinds[numbers]
        in_python = (kinds == COMPILED) | (kinds == OTHER)
        self._choose(waiting[in_python], numbers[in_python])
        stopped, _ = self._play(lanes, True, 1)
        self._check_refused(stopped)

    def players_to_act(self, lanes: Numbers) -> Numbers:
        """Return the number of the player to act in each of these lanes, int64 (k,).

        The number is CALLER if the caller acts or the game is over.
        """
        lanes = self.batch.as_lanes(lanes)
        self._check_players(lanes)
        return self._to_act(lanes)

    def _to_act(self, lanes: Numbers) -> Numbers:
        seats = self.batch.records["seat"][lanes]
        return np.where(seats >= 0, self.numbers[lanes, seats], CALLER)

    def query_players(self, lanes: Numbers) -> Numbers:
        """Call the player to act in each of these lanes, and write the player's action into `actions`.

        Returns the lanes in which a player was called. Lanes that wait for the caller, and lanes whose game
        is over, are left out.
        """
        lanes = self.batch.as_lanes(lanes, are_begun=True)
        self._check_players(lanes)
        numbers = self._to_act(lanes)
        waiting = numbers != CALLER
        self._query_all(lanes[waiting], numbers[waiting])
        return lanes[waiting]

    def _query_all(self, lanes: Numbers, numbers: Numbers) -> None:
        """Call the player with the number `numbers[k]` for `lanes[k]`, for each k."""
        for number in sorted(set(numbers.tolist())):
            self._query(number, lanes[numbers == number])

    def _play(self, lanes: Numbers, is_first: bool, most: int) -> tuple[Numbers, Numbers]:
        """Play on with the bots that the kernel can call, for at most `most` actions in each lane.

        Returns the lanes that have stopped, and the running lanes in which a player acts next. Lanes that
        wait for the caller are in neither array.
        """
        if self.tally.make_room(most) or self._kernel is None:
            self._kernel = self._bound_kernel()
        start = perf_counter()
        try:
            stopped, left, cycles = self._kernel(lanes, is_first, most)
        except BaseException:  # a bot raised the error, and has not chosen an action
            self.actions[self.actions == UNWRITTEN] = NO_ACTION
            raise
        if stopped == UNFIT:
            raise self._unfit(left)
        self._seconds = perf_counter() - start
        self.tally.convert_cycles(cycles, self._seconds)
        return self._stopped[:stopped].copy(), self._left[:left]

    def _query_first(self, lanes: Numbers) -> None:
        """Call the players of one kind in the lanes where they must act, compiled bots first.

        Players of other kinds are called later, so that they act in as many lanes at once as possible. If a
        bot that the kernel can call must act, no player is called: the next call of the kernel plays the bot.
        """
        numbers = self._to_act(lanes)
        kinds = self._kinds[numbers]
        first = kinds.min()
        if first == NATIVE:  # these bots act in the next call; adapt the length of that call
            factor = 2.0 if self._seconds < _SHORT else 0.5 if self._seconds > _LONG else 1.0
            self._at_once = min(max(1, int(self._at_once * factor)), _MOST_AT_ONCE)
        elif first != NOT_OURS:
            chosen = kinds == first
            self._choose(lanes[chosen], numbers[chosen])

    def _choose(self, lanes: Numbers, numbers: Numbers) -> None:
        self._query_all(lanes, numbers)
        if self._on_actions is not None and len(lanes):
            self._on_actions(lanes)

    def _query(self, number: int, lanes: Numbers) -> None:
        """Let a player write an action for its seat in each of these lanes."""
        self.actions[lanes] = UNWRITTEN
        if self.tally.counts:
            self.tally._count(lanes)
        start = perf_counter()
        try:
            self._choosers[number](lanes)
        except BaseException:
            self.actions[lanes] = NO_ACTION
            raise
        finally:
            if self.tally.counts:
                self.tally._add_seconds(lanes, perf_counter() - start)

    def _check_refused(self, stopped: Numbers) -> None:
        """Raise IllegalAction if one of these lanes is REFUSED, unless `stops_at_illegal` is set."""
        refused = stopped[self.states[stopped] == REFUSED]
        if len(refused) and not self._stops_at_illegal:
            lane = int(refused[0])
            number = int(self._to_act(refused)[0])
            name = "the caller" if number == CALLER else self.players[number].name
            error = self.illegal_action(lane)
            error.args = (f"lane {lane}, {name}: {error}",)
            raise error

    def illegal_action(self, lane: int) -> notation.IllegalAction:
        """Return the error for the action in a lane whose state is REFUSED."""
        batch, lane = self.batch, self.batch.as_lane(lane)
        return notation.illegal_action(batch.games[lane], batch.tables, batch.board, int(self.actions[lane]))

    # -------------------------------------------------------------------------------------- players in Python

    @property
    def in_python(self) -> list[Seated]:
        """The players that are not compiled bots, in the order of `players`."""
        return [player for player in self.players if isinstance(player, Seated)]

    def continue_as(self, in_python: Sequence[Seated], log: Array) -> None:
        """Take over the Python players (`in_python`) and the action log (`log`) of another arena."""
        left = iter(in_python)
        self.players = tuple(next(left) if isinstance(player, Seated) else player for player in self.players)
        self.tally._log = log
        self._bind()

    def close(self) -> None:
        """Close the agents that the arena has made."""
        close_all(self.in_python)

    # ------------------------------------------------------------------------------------------ calls

    def _bind(self) -> None:
        """Make the functions that call the players.

        The kernel is bound at its first use, because binding compiles the bots.
        """
        self._choosers = [self._chooser(player) for player in self.players]
        kinds = [COMPILED if isinstance(player, CompiledBot) else OTHER for player in self.players]
        self._kinds = np.array([*kinds, NOT_OURS])  # (K + 1,) kind of each player, and NOT_OURS for CALLER
        self._kernel = None

    def _chooser(self, player: CompiledBot | Seated) -> Callable[[Numbers], None]:
        """Return a function that takes lanes, and lets the player write an action for each lane."""
        if not isinstance(player, CompiledBot):
            return lambda lanes: player.choose(self, lanes)
        call = BoundKernel(player.choose)
        records, T = self.batch.records, self.batch.tables
        return lambda lanes: call(records, T.board, T.rules, lanes, self.randoms, self.memory, self.actions)

    def _bound_kernel(self) -> BoundKernel:
        batch = self.batch
        addresses = np.array([self._address(player) for player in self.players], np.int64)
        self._kinds[:-1][addresses != NO_ADDRESS] = NATIVE
        seats = Seats(self.numbers, addresses, self.randoms, self.memory)
        stops = Stops(self.stop_at_death, self.stop_at_turn)
        flow = Flow(self.actions, self.states, self._stopped, self._left)
        return BoundKernel(play_on, batch._records, batch._results, seats, stops, self.tally.arrays(), flow)

    def _address(self, player: CompiledBot | Seated) -> int:
        """Return the address of a bot's entry point, or NO_ADDRESS for a player that Python calls."""
        is_timed_here = self.tally.counts and not COUNTS_CYCLES
        if not isinstance(player, CompiledBot) or self._on_actions is not None or is_timed_here:
            return NO_ADDRESS
        batch, T = self.batch, self.batch.tables
        arguments = (batch.records, T.board, T.rules, self._left, self.randoms, self.memory, self.actions)
        return address_of(player.choose, *arguments)

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the functions with machine code, which a copy makes again."""
        return {name: value for name, value in vars(self).items() if name not in ("_choosers", "_kernel")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._bind()


def _seated(players: Sequence[Named | Seated], batch: GameVector) -> tuple[CompiledBot | Seated, ...]:
    """Return players (`find_player`), with agents and policies seated in the lanes of a batch."""
    resolved = [player if isinstance(player, Seated) else find_player(player) for player in players]
    check_seats(player for player in resolved if isinstance(player, Agent))
    return tuple(
        player if isinstance(player, CompiledBot | Seated) else seat_player(player, batch)
        for player in resolved
    )


# ------------------------------------------------------------------------------------------------ whole games


def result_dtype(num_players: int) -> np.dtype[Any]:
    """Return the dtype of the result of one game.

    The fields are `seed`, `winner` (-1: nobody), `placement` (P places), `rounds`, `decisions` (without
    forced actions) and `truncated`.
    """
    counts = [("rounds", np.int32), ("decisions", np.int32), ("truncated", np.bool_)]
    return np.dtype(
        [("seed", np.uint64), ("winner", np.int8), ("placement", np.int8, (num_players,)), *counts]
    )


def play(
    rules: Rules,
    board: Board,
    players: Sequence[Named],
    games: int,
    seed: int = 0,
    lanes: int = MAX_LANES,
    progress: Callable[[int], None] | None = None,
    *,
    line_ups: Array | None = None,
    deals: Array | None = None,
    positions: StartPositions | None = None,
) -> Array:
    """Play whole games between players of any kind, and return the results, `result_dtype` (games,).

    `line_ups`, int (games, P), contains the index of the player at each seat of each game (default: seat s
    has player s). `deals`, int (games,), contains the deal of each game (default: game g plays deal g). A
    deal has the seed `seeds.game_seed(seed, deal)` and the start position, if any, from `positions`. At most
    `lanes` games run at once (one if an agent plays). `progress` gets the number of games that just ended.
    """
    P = rules.num_players
    _check_sizes(games, lanes, P)
    line_ups = _checked_line_ups(line_ups, len(players), games, P)
    arena = _arena_for(rules, board, players, min(lanes, games), seed)
    batch, results = arena.batch, np.zeros(games, result_dtype(P))
    deals = np.arange(games) if deals is None else np.asarray(deals)
    results["seed"] = _seeds_of(batch.seed_word, deals, games)

    def begin(free: Numbers, numbers: Numbers) -> None:
        arena.numbers[free, :P] = line_ups[numbers]
        batch.begin_seeded(free, results["seed"][numbers])
        batch.begin_at(free, positions, deals[numbers])
        arena.seat_players(free)

    with closing(arena):
        for ended, numbers in arena.run_games(games, begin):
            _write_results(results, numbers, batch, ended)
            if progress is not None:
                progress(len(ended))
    return results


def _check_sizes(games: int, lanes: int, num_players: int) -> None:
    check_count("games", games)
    check_count("lanes", lanes)
    check_memory("games", games, result_dtype(num_players).itemsize + 8 * num_players)


def _arena_for(rules: Rules, board: Board, players: Sequence[Named], lanes: int, seed: int) -> Arena:
    """Return an arena with only the arrays that the players need. An arena with agents has one lane."""
    resolved = [find_player(player) for player in players]
    if any(isinstance(player, Agent | AgentFactory) for player in resolved):
        lanes = 1
    shown: dict[str, Any] = {"observation": None, "mask": None}
    if any(isinstance(player, Policy) for player in resolved):
        shown = {}
    return Arena(GameVector(rules, board, lanes, seed, autoreset=False, **shown), resolved)


def _write_results(results: Array, numbers: Numbers, batch: GameVector, ended: Numbers) -> None:
    """Write the results of the games that have ended in these lanes into the rows `numbers`."""
    batch.finish(ended)
    results["placement"][numbers] = batch.final_placement[ended]
    results["rounds"][numbers] = batch.final_rounds[ended]
    for field in ("winner", "decisions", "truncated"):
        results[field][numbers] = batch.records[field][ended]


def _checked_line_ups(line_ups: Array | None, num_players: int, games: int, seats: int) -> Array:
    """Return the number of the player at each seat, int (games, P).

    Raises ValueError for wrong `line_ups`, or, without `line_ups`, for a wrong number of players.
    """
    if line_ups is None:
        if num_players != seats:
            raise ValueError(
                f"players: {counted(num_players, 'player')} for num_players={seats}; give {seats} players"
            )
        return np.broadcast_to(np.arange(seats), (games, seats))
    line_ups = whole_numbers(line_ups, (games, seats), "line_ups must be")
    if line_ups.size and not (line_ups.min() >= 0 and line_ups.max() < num_players):
        raise ValueError(
            f"line_ups range from {line_ups.min()} to {line_ups.max()}: player numbers must be from 0 to "
            f"{num_players - 1}"
        )
    return line_ups


def _seeds_of(seed: np.uint64, deals: Numbers, games: int) -> npt.NDArray[np.uint64]:
    """Return the seed of each game, uint64 (games,), given the deal of each game."""
    deals = whole_numbers(deals, (games,), "deals must be")
    if deals.min() < 0:
        raise ValueError(f"deals contain {deals.min()}: all must be 0 or more")
    known, indices = np.unique(deals.astype(np.uint64), return_inverse=True)
    return np.array([seed_of(seed, deal, np.uint64(0)) for deal in known], np.uint64)[indices]


def _chosen(name: str, values: Any, count: int, choices: Sequence[int]) -> Numbers:
    """Return the values of an argument, int64 (count,).

    Raises ValueError for values of another shape or type, and for values that are not in `choices`.
    """
    numbers = whole_numbers(values, (count,), f"{name} must be")
    wrong = numbers[~np.isin(numbers, choices)]
    if len(wrong):
        raise ValueError(f"{name} contain {wrong[0]}: each must be one of {list(choices)}")
    return numbers.astype(np.int64)
