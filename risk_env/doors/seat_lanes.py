"""Lanes of one learner each: all other seats are played inside (the Gymnasium and SB3 doors).

Opponents move until the learner must decide. When it has died, or the game is over, the lane ends and its next game
begins at once: the rest of a game whose learner has died is not played.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.arena import CALLER, Arena, Policy, as_floats
from risk_env.arrays import Array
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot, compiled
from risk_env.core.types import MAX_SEATS
from risk_env.engine import batch_loop
from risk_env.game import Game
from risk_env.lanes import Lanes, check_choice, contiguous, restore
from risk_env.seeds import game_seed, word

Opponent = Any  # the name of a compiled bot, a CompiledBot or a Policy

ORDERS = ("clockwise", "shuffled", "drawn")
OBSERVATIONS = ("flat", "structured")
ILLEGAL = ("raise", "random")
MOST_EMPTY = 1000  # games in a row in which no learner had a decision
_ORDER_SALT = np.uint64(0x5EA7)  # keeps the seating's chance apart from the bots' own
_SPARE_BITS = np.uint64(11)  # of a word, beyond the 53 of a number in [0, 1)
_REPLACED = 2  # a stream of chance beside the bots' own (seeds.bot_seed)


FINAL = np.dtype(
    [
        ("winner", np.int64),  # seat, -1 if nobody has won: truncated, or still open when the learner died
        ("placement", np.int64),  # the learner's place (RULES 11.2)
        ("rounds", np.int64),
        ("seat", np.int64),  # the learner's
        ("seed", np.uint64),  # of the game
    ]
)


class SeatLanes:
    """`num_lanes` learners, lane i in the games `mix(seed, i, 0)`, `mix(seed, i, 1)`, ...

    `seat` is the learners' seat in every game; None: each lane takes all seats in turn, beginning at different ones.
    `opponents` is one player for all other seats, or a list. `opponent_order` seats a list of P - 1 players
    `"clockwise"` from the learner or `"shuffled"` in each game, or fills every seat with a player `"drawn"` from a list
    of any length. `illegal_action="random"` plays a random legal action instead of an illegal one, for learners
    without masks.
    """

    def __init__(
        self,
        rules: Rules,
        board: Board | str = "classic",
        num_lanes: int = 1,
        opponents: Opponent | Sequence[Opponent] = "random",
        *,
        seat: int | None = None,
        opponent_order: str = "clockwise",
        reward: str = "win",
        observation: str = "flat",
        illegal_action: str = "raise",
    ) -> None:
        self.rules, self.board = rules, board if isinstance(board, Board) else load_map(board)
        check_choice("opponent_order", opponent_order, ORDERS)
        check_choice("observation", observation, OBSERVATIONS)
        check_choice("illegal_action", illegal_action, ILLEGAL)
        check_seat(seat, rules.num_players)
        self.num_lanes = num_lanes
        self.autoreset = True  # False: a lane that has ended waits for `reset`
        self.opponent_order, self.observation_kind = opponent_order, observation
        self.illegal_action = illegal_action
        self._fixed_seat = seat
        players = _players(opponents, rules.num_players, opponent_order)
        self.players: list[Any] = list(dict.fromkeys(players))
        self._plan = np.array([self.players.index(player) for player in players])
        self._bounds = np.linspace(0, 1, len(players) + 1)[1:]  # (K,) of [0, 1): where each drawn player's part ends
        self._is_even = True
        self.batch = Lanes(rules, self.board, num_lanes, autoreset=False, reward=reward)
        self.arena = Arena(self.batch, self.players, observation=observation)
        self._arguments = (rules, self.board, num_lanes, opponents)
        self._options = {"seat": seat, "opponent_order": opponent_order, "reward": reward}
        self._options |= {"observation": observation, "illegal_action": illegal_action}
        self._mask: Array = np.asarray(self.batch.action_mask)  # lent by the batch
        self._is_interrupted = False  # whether a step or reset has begun and not ended
        self._make_arrays()

    def _make_arrays(self) -> None:
        N = self.num_lanes
        self._all = self.batch._all
        self._has_decided = np.zeros(N, np.bool_)  # (N,) whether the learner has had anything to decide in this game
        self._words = np.zeros((N, MAX_SEATS), np.uint64)
        self.seat = self.arena.stop_at_death  # (N,) the learner's seat
        self.seat[:] = 0
        self.reward = np.zeros(N, np.float32)  # (N,) what the last step brought the learner
        self.terminated = np.zeros(N, np.bool_)
        self.truncated = np.zeros(N, np.bool_)
        self.ended = np.zeros(N, np.bool_)  # (N,) terminated or truncated: the final fields are valid
        self.replaced = np.zeros(N, np.bool_)  # (N,) an illegal action was replaced (illegal_action="random")
        self.final = np.zeros(N, FINAL)  # (N,) how the lane's last game ended
        self._final_codes = np.zeros(self.batch.observation.shape, np.int8)

    # ------------------------------------------------------------------------------------------ what doors call

    @property
    def num_actions(self) -> int:
        """n: how many action numbers there are."""
        return self.batch.num_actions

    def reset(self, seed: int | None = None, lanes: Array | None = None) -> None:
        """Begin the next game of every lane, or of these; with `seed` their first."""
        lanes = self._all if lanes is None else self.batch.as_lanes(lanes)
        others_interrupted = self._is_interrupted and len(lanes) < self.num_lanes
        self._is_interrupted = True
        if seed is not None:
            self.batch.seed_word = word(seed)
            self.batch.episodes[lanes] = -1
        self._clear_results(lanes)
        self.replaced[lanes] = False
        self._begin(lanes)
        self._play_on(lanes)
        self.batch.ask(self._all)
        self._is_interrupted = others_interrupted

    def step(self, actions: Array, lanes: Array | None = None) -> None:
        """Play the learners' actions (int, N) and everybody else's until every learner is to decide again.

        Only in these lanes (int64, k; None: in all); in the others nothing happens, whatever their actions. An illegal
        one raises IllegalAction, and no lane is stepped. Written are reward, terminated, truncated, ended and, where
        it ended, the final fields; without `autoreset` a lane that has ended needs a reset. After an opponent's error
        has interrupted a step, all lanes need one.
        """
        if self._is_interrupted:
            raise RuntimeError("step: an error ended the last one before its end, call reset() first")
        actions = self.batch.as_actions(actions)
        lanes = self._all if lanes is None else self.batch.as_lanes(lanes)
        if self.illegal_action == "random":
            actions = self._made_legal(actions, lanes)
        self.batch._check_legal(contiguous(actions), lanes)
        self._is_interrupted = True
        self._clear_results(self._all)
        self._has_decided[lanes] = True
        self.arena.actions[lanes] = actions[lanes]
        self._play_on(lanes)
        self.batch.ask(lanes)
        self._is_interrupted = False

    def observation(self) -> Any:
        """What every learner sees: a new float32 (N, D), or {"territories": (N, T, F), "globals": (N, G)}."""
        return as_floats(np.asarray(self.batch.observation), self.board, self.observation_kind)

    def masks(self) -> npt.NDArray[np.int8]:
        """The learners' legal actions: a new int8 (N, n)."""
        return self._mask.copy()

    def final_observation(self, lanes: Array) -> Any:
        """What the learners of these lanes (k) saw last: a new float32 (k, D), or as `observation`."""
        return as_floats(self._final_codes[self.batch.as_lanes(lanes)], self.board, self.observation_kind)

    def sample(self, lane: int, seed: int) -> Game:
        """Return a copy of a lane's game for search: unknown facts and all chance are drawn from `seed`."""
        return self.batch.game(lane).determinize(int(self.seat[lane]), seed)

    def draw_by(self, weights: Array) -> None:
        """From the next games on draw opponent k of the list with a chance in proportion to `weights[k]` (float, K)."""
        weights = np.asarray(weights, np.float64)
        if self.opponent_order != "drawn" or weights.shape != self._bounds.shape:
            raise ValueError(
                f"weights of shape {weights.shape} need opponent_order='drawn', not {self.opponent_order!r}, "
                f"and {len(self._bounds)} opponents to draw from"
            )
        if not (weights >= 0).all() or not weights.sum() > 0:
            raise ValueError(f"weights={weights.tolist()} must be 0 or more, and one of them more")
        self._bounds = np.cumsum(weights / weights.sum())
        self._bounds[np.flatnonzero(weights)[-1] :] = 1.0
        self._is_even = False

    def state_dict(self) -> dict[str, Any]:
        """All games, players' chance and memories, for `load_state_dict`; not who the players are."""
        draw = None if self._is_even else self._bounds.copy()
        arrays = [attrgetter(name)(self).copy() for name in _STATE]
        return {"seed_word": int(self.batch.seed_word), "draw": draw, "arrays": arrays}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the `state_dict` of lanes with the same arguments."""
        self.batch.seed_word = np.uint64(state["seed_word"])
        self._is_even = state["draw"] is None
        if not self._is_even:
            restore("draw", self._bounds, state["draw"])
        for name, values in zip(_STATE, state["arrays"], strict=True):
            restore(name, attrgetter(name)(self), values)
        self.arena.check_numbers()
        if self.seat.min() < 0 or self.seat.max() >= self.rules.num_players:
            raise ValueError(f"seats {self.seat.min()} ... {self.seat.max()} for num_players={self.rules.num_players}")
        self.batch.check_records()
        if self.batch.records["random"].any():  # games have begun
            self.batch.ask(self._all)

    def place(self, lane: int, position: str) -> None:
        """Continue in a lane from a position as text, with the chance of the lane's game; opponents begin there."""
        batch, lane = self.batch, self.batch.as_lane(lane)
        seed, episode = int(batch.seed_word), int(batch.episodes[lane])
        batch.records[lane] = Game.from_position(position, self.rules, self.board, seed, lane, episode).record
        lanes = self._all[lane : lane + 1]
        self.arena.seat_players(lanes)
        self._clear_results(lanes)
        self._has_decided[lanes] = True
        self._play_on(lanes)
        self.batch.ask(self._all)

    def _made_legal(self, actions: Array, lanes: Array) -> Array:
        """The actions, with a random legal one, by the game's seed and length, for each illegal one in these lanes."""
        mask = self._mask
        inside = (actions >= 0) & (actions < self.num_actions)
        is_legal = inside & (mask[self._all, np.where(inside, actions, 0)] > 0)
        self.replaced[:] = False
        self.replaced[lanes] = ~is_legal[lanes]
        actions = np.array(actions, np.int64)
        for lane in np.flatnonzero(self.replaced):
            legal = np.flatnonzero(mask[lane])
            chance = game_seed(int(self.batch.seeds[lane]), self.batch.games[lane].decisions, _REPLACED)
            actions[lane] = legal[int(chance) % len(legal)]
        return actions

    # ------------------------------------------------------------------------------------------ the games

    def _clear_results(self, lanes: Array) -> None:
        for result in (self.reward, self.terminated, self.truncated, self.ended):
            result[lanes] = 0

    def _begin(self, lanes: Array) -> None:
        """Begin the next game of these lanes, everybody seated."""
        self.batch.begin(lanes)
        self._has_decided[lanes] = False
        P = self.rules.num_players
        learner: Any = self._fixed_seat
        if learner is None:
            first = int(game_seed(int(self.batch.seed_word), -1, -1) % np.uint64(P))
            learner = (first + lanes + self.batch.episodes[lanes]) % P
        self.seat[lanes] = learner
        self.arena.numbers[lanes, self.seat[lanes]] = CALLER
        for step, numbers in enumerate(self._chosen(lanes).T, 1):
            self.arena.numbers[lanes, (self.seat[lanes] + step) % P] = numbers
        self.arena.seat_players(lanes)

    def _chosen(self, lanes: Array) -> Array:
        """int (k, P - 1): number of the player of each seat clockwise from the learner."""
        others = self.rules.num_players - 1
        if self.opponent_order == "clockwise":
            return np.broadcast_to(self._plan, (len(lanes), others))
        batch_loop.seed_bots(self.batch.seeds ^ _ORDER_SALT, lanes, self._words)
        words = self._words[lanes, :others]
        if self.opponent_order == "shuffled":
            return self._plan[np.argsort(words, axis=1)]
        if self._is_even:
            return self._plan[(words % np.uint64(len(self._plan))).astype(np.int64)]
        return self._plan[np.searchsorted(self._bounds, (words >> _SPARE_BITS) * 2.0**-53, side="right")]

    def _play_on(self, lanes: Array) -> None:
        """Play on in these lanes until their learners have to decide; games end and the next ones begin on the way."""
        empty = 0
        for over in self.arena.run(lanes):
            decided = self._has_decided[over]
            empty += not decided.all()
            if empty > MOST_EMPTY:
                raise RuntimeError(f"in {MOST_EMPTY} games in a row the learner had nothing to decide")
            if decided.any():
                self._write_end(over[decided])
            again = over if self.autoreset else over[~decided]  # where the learner decided nothing, it is no game
            if len(again):
                self._begin(again)
                self.arena.resume(again)

    def _write_end(self, lanes: Array) -> None:
        """What the learners of these lanes got at the end, and how it came."""
        batch, seats = self.batch, self.seat[lanes]
        batch.finish(lanes)
        self.ended[lanes] = True
        self.reward[lanes] = batch.reward[lanes, seats]
        self.terminated[lanes] = batch.terminated[lanes, seats]
        self.truncated[lanes] = batch.truncated[lanes, seats]
        self._final_codes[lanes] = batch.final_observation[lanes, seats]
        self.final["winner"][lanes] = batch.records["winner"][lanes]
        self.final["placement"][lanes] = batch.final_placement[lanes, seats]
        self.final["rounds"][lanes] = batch.final_rounds[lanes]
        self.final["seat"][lanes] = seats
        self.final["seed"][lanes] = batch.seeds[lanes]

    # ------------------------------------------------------------------------------------------ copies

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are new lanes with the same state."""
        return _restored, (self._arguments, self._options, self.autoreset, self.state_dict())


_STATE = (
    *("batch.records", "batch.episodes", "batch.seeds"),
    *("arena.numbers", "arena.randoms", "arena.memory"),
    *("seat", "_has_decided", "reward", "terminated", "truncated", "ended", "replaced", "final", "_final_codes"),
)


def _restored(arguments: tuple[Any, ...], options: dict[str, Any], autoreset: bool, state: dict[str, Any]) -> SeatLanes:
    lanes = SeatLanes(*arguments, **options)
    lanes.autoreset = autoreset
    lanes.load_state_dict(state)
    return lanes


def _players(opponents: Opponent | Sequence[Opponent], num_players: int, order: str) -> list[CompiledBot | Policy]:
    """The opponents as players: P - 1 of them, or any number to draw from."""
    if isinstance(opponents, list | tuple):
        players = [_player(opponent) for opponent in opponents]
        if order != "drawn" and len(players) != num_players - 1:
            raise ValueError(
                f"opponents={list(opponents)!r}: {len(players)} opponents, but num_players={num_players} needs one for "
                f"all or a list of {num_players - 1}; a list of another length needs opponent_order='drawn'"
            )
        if not players:
            raise ValueError("opponents=[]: opponent_order='drawn' needs at least one to draw")
        return players
    return [_player(opponents)] * (num_players - 1)


def _player(opponent: Opponent) -> CompiledBot | Policy:
    if isinstance(opponent, str | CompiledBot):
        return compiled(opponent)
    if isinstance(opponent, Policy):
        return opponent
    allowed = "a bot's name, a CompiledBot or an object with act_batch (docs/gymnasium.md)"
    raise ValueError(f"opponent={opponent!r} must be {allowed}")


def check_seat(seat: Any, num_players: int) -> None:
    """ValueError unless a learner's seat is None (all in turn) or one of the game's."""
    is_seat = isinstance(seat, int | np.integer) and not isinstance(seat, bool) and 0 <= seat < num_players
    if seat is not None and not is_seat:
        raise ValueError(f"seat={seat!r} must be None (all in turn) or a whole number from 0 to {num_players - 1}")
