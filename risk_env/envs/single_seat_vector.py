"""Lanes with one learner each, for the Gymnasium and SB3 environments.

Opponents play all other seats until the learner must act. When the learner is eliminated or the game is over,
the episode ends. With `autoreset`, the lane's next game then begins at once. After the elimination of the
learner, the rest of the game is not played.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.arena import CALLER, Arena
from risk_env.arguments import FLAT, OBSERVATIONS, check_choice, check_seat
from risk_env.arrays import Array
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS
from risk_env.engine import batch_loop
from risk_env.game import Game
from risk_env.game_vector import GameVector, contiguous, restore
from risk_env.observations import as_floats
from risk_env.players import Named, Player, find_player
from risk_env.seated import Seated
from risk_env.seeds import game_seed, uint64
from risk_env.start_positions import StartPositions, records_of

ORDERS = ("clockwise", "shuffled", "drawn")
ILLEGAL = ("raise", "random")
MOST_EMPTY = 1000  # maximum number of games in a row in which the learner of a lane had no decision
_ORDER_SALT = np.uint64(0x5EA7)  # makes the random seating independent of the bots' random numbers
_SPARE_BITS = np.uint64(11)  # number of bits of a word beyond the 53 bits of a float in [0, 1)
_REPLACED = 2  # number of a random stream that no bot uses (`seeds.bot_seed`)


FINAL = np.dtype(
    [
        # winner's seat; -1: the game was truncated, or undecided when the learner was eliminated
        ("winner", np.int64),
        ("placement", np.int64),  # the learner's place (RULES 11.2)
        ("rounds", np.int64),
        ("seat", np.int64),  # the learner's seat
        ("seed", np.uint64),  # seed of the game
    ]
)

_STATE = (
    *("batch.records", "batch.episodes", "batch.seeds"),
    *("arena.numbers", "arena.randoms", "arena.memory"),
    *(
        "seat",
        "_has_decided",
        "reward",
        "terminated",
        "truncated",
        "ended",
        "replaced",
        "final",
        "_final_codes",
    ),
)


class SingleSeatVector:
    """`num_lanes` learners, one in each lane. Game k of lane i has the seed `seeds.game_seed(seed, i, k)`.

    `seat` is the learners' seat in every game. With `seat=None`, each learner has the next seat in each new
    game, and neighbouring lanes begin at different seats. `opponents` is one player for all other seats, or a
    list. `opponent_order` seats a list of P - 1 players `"clockwise"` from the learner or `"shuffled"` in
    each game. With `"drawn"`, every other seat gets a random player from a list of any length.
    `illegal_action="random"` is for learners without masks: a random legal action replaces an illegal action.
    `start_at` sets the start positions of games.
    """

    plans: Sequence[CompiledBot] = ()  # bots that a learner can choose (`macro.TurnVector`)
    _state_names: tuple[str, ...] = _STATE  # attributes in a `state_dict`

    def __init__(
        self,
        rules: Rules,
        board: Board | str = "classic",
        num_lanes: int = 1,
        opponents: Named | Sequence[Named] = "random",
        *,
        seat: int | None = None,
        opponent_order: str = "clockwise",
        reward: str = "win",
        observation: str = FLAT,
        illegal_action: str = "raise",
    ) -> None:
        self.rules, self.board = rules, board if isinstance(board, Board) else load_map(board)
        check_choice("opponent_order", opponent_order, ORDERS)
        check_choice("observation", observation, OBSERVATIONS)
        check_choice("illegal_action", illegal_action, ILLEGAL)
        check_seat(seat, rules.num_players, or_none=True)
        self.num_lanes = num_lanes
        self.autoreset = True  # False: a lane that has ended waits for `reset`
        self.opponent_order, self.observation_kind = opponent_order, observation
        self.illegal_action = illegal_action
        self._fixed_seat = seat
        players = _players(opponents, rules.num_players, opponent_order)
        self.players: list[Player] = list(dict.fromkeys(players))
        self._plan = np.array([self.players.index(player) for player in players])
        # (K,) upper end of each player's part of the interval [0, 1), for `opponent_order="drawn"`
        self._bounds = np.linspace(0, 1, len(players) + 1)[1:]
        self._is_even = True
        self.batch = GameVector(rules, self.board, num_lanes, autoreset=False, reward=reward)
        self.arena = Arena(self.batch, [*self.players, *self.plans])
        self._arguments = (rules, self.board, num_lanes, opponents)
        self._options: dict[str, Any] = {"seat": seat, "opponent_order": opponent_order, "reward": reward}
        self._options |= {"observation": observation, "illegal_action": illegal_action}
        self._mask: Array = np.asarray(self.batch.action_mask)  # a view of the batch's buffer
        self._is_interrupted = False  # true if `step`, `reset` or `place` has begun and not ended
        self.start_at(None)
        self._make_arrays()

    def _make_arrays(self) -> None:
        N = self.num_lanes
        self._all = self.batch._all
        self._has_decided = np.zeros(N, np.bool_)  # (N,) true if the learner has had a decision in this game
        self._empty = np.zeros(N, np.int64)  # (N,) games in a row without a decision of the learner
        self._words = np.zeros((N, MAX_SEATS), np.uint64)
        self.seat = self.arena.stop_at_death  # (N,) the learner's seat
        self.seat[:] = 0
        self.reward = np.zeros(N, np.float32)  # (N,) the learner's reward for the last step
        self.terminated = np.zeros(N, np.bool_)
        self.truncated = np.zeros(N, np.bool_)
        self.ended = np.zeros(N, np.bool_)  # (N,) terminated or truncated: the final fields are valid
        self.replaced = np.zeros(N, np.bool_)  # (N,) an illegal action was replaced (illegal_action="random")
        self.final = np.zeros(N, FINAL)  # (N,) the end of the lane's last game
        self._final_codes = np.zeros(self.batch.observation.shape, np.int8)

    # -------------------------------------------------------------------------------- public methods

    @property
    def num_actions(self) -> int:
        """Number of actions n."""
        return self.batch.num_actions

    def start_at(self, positions: Any) -> None:
        """Set the start positions of all later games. With None, games begin with the set-up.

        `positions` is a list of positions, or one position (`GameVector.load`). Game k of lane i begins at
        position i + k N modulo the number of positions. Seed, lane and k determine the future dice. Raises
        ValueError for a list that is empty or too long, an invalid position, and a position whose game is
        over.
        """
        self.positions = None if positions is None else StartPositions.of(positions, self.rules, self.board)

    def reset(self, seed: int | None = None, lanes: Array | None = None) -> None:
        """Begin the next game in every lane, or only in `lanes`.

        With `seed`, begin the first game of the seed.
        """
        lanes = self._all if lanes is None else self.batch.as_lanes(lanes)
        others_interrupted = self._is_interrupted and len(lanes) < self.num_lanes
        self._is_interrupted = True
        if seed is not None:
            self.batch.seed_word = uint64(seed)
            self.batch.episodes[lanes] = -1
        self._clear_results(lanes)
        self.replaced[lanes] = False
        self._begin(lanes)
        self._play_on(lanes)
        self.batch.ask(self._all)
        self._is_interrupted = others_interrupted

    def step(self, actions: Array, lanes: Array | None = None) -> None:
        """Play the learners' `actions`, int (N,), then let all other seats play until each learner must act.

        Only `lanes`, int64 (k,), are stepped (None: all lanes). The games in other lanes do not change. With
        `illegal_action="raise"`, an illegal action raises IllegalAction, and no lane is stepped. The step
        writes reward, terminated, truncated, ended and, in lanes that ended, the final fields. Without
        `autoreset`, a lane that has ended needs a reset. If an opponent's error has interrupted a step, all
        lanes need a reset.
        """
        if self._is_interrupted:
            raise RuntimeError("step: an error interrupted the previous step or reset; call reset() first")
        actions = self.batch.as_actions(actions)
        lanes = self._all if lanes is None else self.batch.as_lanes(lanes)
        if self.illegal_action == "random":
            actions = self._made_legal(actions, lanes)
        self._check_legal(contiguous(actions), lanes)
        self._is_interrupted = True
        self._clear_results(self._all)
        self._has_decided[lanes] = True
        self._take(actions, lanes)
        self._play_on(lanes)
        self.batch.ask(lanes)
        self._is_interrupted = False

    def observation(self) -> Any:
        """Return the observations of all learners, as a new array.

        The result is float32 (N, D), or a dict of "territories" (N, T, F) and "globals" (N, G).
        """
        return as_floats(np.asarray(self.batch.observation), self.board, self.observation_kind)

    def masks(self) -> npt.NDArray[np.int8]:
        """Return the masks of the learners' legal actions as a new array, int8 (N, n)."""
        return self._mask.copy()

    def _check_legal(self, actions: Array, lanes: Array) -> None:
        """Raise IllegalAction if an action in `lanes` is illegal."""
        self.batch._check_legal(actions, lanes)

    def _take(self, actions: Array, lanes: Array) -> None:
        """Let the arena play the learners' actions in `lanes`."""
        self.arena.actions[lanes] = actions[lanes]

    def final_observation(self, lanes: Array) -> Any:
        """Return the last observation of the learners of `lanes` (k,).

        The result is a new array, float32 (k, D), or a dict as in `observation`.
        """
        return as_floats(self._final_codes[self.batch.as_lanes(lanes)], self.board, self.observation_kind)

    def sample(self, lane: int, seed: int) -> Game:
        """Return a copy of a lane's game for search.

        `seed` determines future chance events, and all facts that the learner does not know.
        """
        return self.batch.game(lane).determinize(int(self.seat[lane]), seed)

    def draw_by(self, weights: Array) -> None:
        """Draw opponent k of the list with a probability proportional to `weights[k]`.

        `weights` is float (K,), with one weight for each opponent. The weights apply from each lane's next
        game on. Raises ValueError if `weights` has another shape, if a weight is negative, if all weights are
        0, or if `opponent_order` is not "drawn".
        """
        weights = np.asarray(weights, np.float64)
        if self.opponent_order != "drawn" or weights.shape != self._bounds.shape:
            raise ValueError(
                f"weights of shape {weights.shape}, opponent_order={self.opponent_order!r}: weights need "
                f"opponent_order='drawn' and the shape ({len(self._bounds)},), one weight for each opponent"
            )
        if not (weights >= 0).all() or not weights.sum() > 0:
            needed = "no weight may be negative, and at least one weight must be above 0"
            raise ValueError(f"weights={weights.tolist()}: {needed}")
        self._bounds = np.cumsum(weights / weights.sum())
        self._bounds[np.flatnonzero(weights)[-1] :] = 1.0
        self._is_even = False

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all games for `load_state_dict`, without the players.

        Raises ValueError if an opponent is an agent or a policy with a state. `copy.deepcopy` and pickle keep
        such players. Raises RuntimeError if an error has interrupted a step or a reset.
        """
        if self._is_interrupted:
            raise RuntimeError("state_dict: an error interrupted the previous step or reset; call reset()")
        for player in self.arena.in_python:
            if player.keeps_memory:
                raise ValueError(
                    f"opponent {player.name}: state_dict cannot hold the memory of agents "
                    "and of policies with a state"
                )
        return self._state_dict()

    def _state_dict(self) -> dict[str, Any]:
        draw = None if self._is_even else self._bounds.copy()
        arrays = [attrgetter(name)(self).copy() for name in self._state_names]
        return {"seed_word": int(self.batch.seed_word), "draw": draw, "arrays": arrays}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the `state_dict` of lanes with the same arguments.

        Raises ValueError for arrays that do not fit these lanes, and for impossible positions.
        """
        self.batch.seed_word = np.uint64(state["seed_word"])
        self._is_even = state["draw"] is None
        if not self._is_even:
            restore("draw", self._bounds, state["draw"])
        for name, values in zip(self._state_names, state["arrays"], strict=True):
            restore(name, attrgetter(name)(self), values)
        self.arena.check_numbers()
        if self.seat.min() < 0 or self.seat.max() >= self.rules.num_players:
            raise ValueError(
                f"seats range from {self.seat.min()} to {self.seat.max()}: with num_players="
                f"{self.rules.num_players}, seats must be from 0 to {self.rules.num_players - 1}"
            )
        self.batch.check_records()
        if self.batch.records["random"].any():  # games have begun
            self.batch.ask(self._all)
        self._is_interrupted = False

    def place(self, lane: int, position: str) -> None:
        """Continue the game of a lane from `position`, a text.

        Seed, lane and episode determine the chance events. The opponents start again at this position.
        """
        lane = self.batch.as_lane(lane)
        records = records_of([position], ["position"], self.rules, self.board)
        at = StartPositions(records, self.rules, self.board)
        lanes, was_interrupted = self._all[lane : lane + 1], self._is_interrupted
        self._is_interrupted = True
        self.batch.begin_at(lanes, at, self._all[:1])
        self.arena.numbers[lanes, self.seat[lanes]] = CALLER
        self.arena.seat_players(lanes)
        self._clear_results(lanes)
        self._has_decided[lanes] = True
        self._play_on(lanes)
        self.batch.ask(self._all)
        self._is_interrupted = was_interrupted

    def _made_legal(self, actions: Array, lanes: Array) -> Array:
        """Return `actions`, with a random legal action for each illegal action in `lanes`.

        The random action depends on the seed of the game and the number of decisions in the game.
        """
        mask = self.masks()
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

    # -------------------------------------------------------------------------------- the games

    def _clear_results(self, lanes: Array) -> None:
        for result in (self.reward, self.terminated, self.truncated, self.ended):
            result[lanes] = 0

    def _begin(self, lanes: Array) -> None:
        """Begin the next game in each of `lanes`, and seat all players."""
        self.batch.begin(lanes)
        self.batch.begin_at(lanes, self.positions, lanes + self.batch.episodes[lanes] * self.num_lanes)
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
        """Return the number of the player at each other seat, clockwise from the learner, int (k, P - 1)."""
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
        """Play in `lanes` until the learners must act.

        When a game ends meanwhile, the lane's next game begins. If `autoreset` is False, the lane stops
        instead, unless the learner had no decision in the game.
        """
        self._empty[lanes] = 0
        for stopped in self.arena.run(lanes):
            over = self._over(stopped)
            decided = self._has_decided[over]
            if not decided.all():
                self._empty[over[~decided]] += 1
                check_empty(int(self._empty[over].max()))
            if decided.any():
                self._write_end(over[decided])
            # a game without a decision of the learner does not count
            again = over if self.autoreset else over[~decided]
            if len(again):
                self._begin(again)
                self.arena.resume(again)

    def _over(self, lanes: Array) -> Array:
        """Return the lanes among `lanes` whose games are over for the learner. All `lanes` have stopped."""
        return lanes

    def _write_end(self, lanes: Array) -> None:
        """Write the learners' rewards and flags in `lanes`, and the facts at the end of each game."""
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

    # -------------------------------------------------------------------------------- copies

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function and arguments that make lanes with the same state, for `copy` and pickle."""
        names = "autoreset", "positions", "_is_interrupted"
        settings = {name: vars(self)[name] for name in names}
        in_python, log = self.arena.in_python, self.arena.tally.log
        made_by = (type(self), self._arguments, self._options, settings)
        return _restored, (*made_by, self._state_dict(), in_python, log)

    def close(self) -> None:
        """Close the agents that these lanes made for opponents."""
        self.arena.close()


def _restored(
    kind: type[SingleSeatVector],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    settings: dict[str, Any],
    state: dict[str, Any],
    in_python: list[Seated],
    log: Array,
) -> SingleSeatVector:
    lanes = kind(*arguments, **options)
    lanes.load_state_dict(state)
    vars(lanes).update(settings)
    lanes.arena.continue_as(in_python, log)
    return lanes


def _players(opponents: Named | Sequence[Named], num_players: int, order: str) -> list[Player]:
    """Return the opponents as players: P - 1 players, or any number of players to draw from."""
    if not isinstance(opponents, list | tuple):
        return [find_player(opponents)] * (num_players - 1)
    if order != "drawn" and len(opponents) != num_players - 1:
        raise ValueError(
            f"opponents={list(opponents)!r}: {len(opponents)} given, but num_players={num_players} "
            f"needs one opponent for all other seats or a list of {num_players - 1}; "
            "a list of another length needs opponent_order='drawn'"
        )
    if not opponents:
        raise ValueError("opponents=[]: opponent_order='drawn' needs at least one opponent")
    # an object that is listed twice is one player
    by_id = {id(opponent): find_player(opponent) for opponent in opponents}
    return [by_id[id(opponent)] for opponent in opponents]


def check_empty(games: int) -> None:
    """Raise RuntimeError if the learner had no decision in more than MOST_EMPTY games in a row."""
    if games > MOST_EMPTY:
        raise RuntimeError(
            f"the learner had no decision in {MOST_EMPTY} games in a row: choose other start positions"
        )
