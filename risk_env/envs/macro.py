"""Lanes in which each decision is a move with an amount, or a whole turn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_env.arena import STOPPED
from risk_env.arrays import Array
from risk_env.board.action_space import ALL, AMOUNTS, HALF
from risk_env.bots import CompiledBot
from risk_env.core.types import ALL_OF_THEM, MANY, Phase
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.players import Named, find_player
from risk_env.text.amounts import AMOUNT_PHASES, first_amount
from risk_env.text.notation import IllegalAction

NAMED_AMOUNTS = (ALL, HALF, "least")  # amounts that an action of `MoveVector` can contain
PLANS = ("attacker", "grower", "hunter", "breaker")
_ALL, _HALF, _LEAST = range(len(NAMED_AMOUNTS))
_AMOUNT_NUMBERS = {str(amount): number for number, amount in enumerate(AMOUNTS)}  # index in the AMOUNT block
# With fewer troops, no troops can move on after a capture with the maximum number of dice.
_LEAST_ATTACKERS = 5


class MoveVector(SingleSeatVector):
    """Lanes in which every action of the learner also contains an amount of troops.

    Action `a + n * k` is action `a` of the game with the amount `NAMED_AMOUNTS[k]`, where n is the number of
    the game's actions. The amount answers the next decision about an amount, which follows a draft, a
    capture or a fortify move. "least" is one troop in a draft or a fortify move, and no additional troop in
    an occupation. An occupation or a fortify move ends after one amount. A draft to the only possible
    territory uses the amount again until no troops are left. If the learner's first decision in a game is
    about an amount, all troops are chosen.
    """

    _state_names = (*SingleSeatVector._state_names, "amounts")

    def _make_arrays(self) -> None:
        super()._make_arrays()
        self.amounts = np.zeros(self.num_lanes, np.int8)  # (N,) index in NAMED_AMOUNTS of the last amount
        self._blocks = self.batch.tables.space.blocks
        # (MANY + 1,): index in the AMOUNT block, by number of available troops: half, or "all" for one troop
        self._halves = np.full(MANY + 1, ALL_OF_THEM)
        for most in range(2, MANY + 1):
            amount, _ = first_amount(most // 2, most)
            self._halves[most] = _AMOUNT_NUMBERS[amount]

    @property
    def num_actions(self) -> int:
        """Number of actions: each action of the game with each amount."""
        return len(NAMED_AMOUNTS) * self.batch.num_actions

    def masks(self) -> npt.NDArray[np.int8]:
        """Return the learners' legal actions as a new array, int8 (N, 3 n)."""
        with_amount = self._mask * self._before_amounts()
        return np.concatenate([self._mask, with_amount, with_amount], axis=1)

    def _before_amounts(self) -> npt.NDArray[np.int8]:
        """Return a mask of the actions that can lead to a decision about an amount, int8 (N, n)."""
        games, blocks = self.batch.records, self._blocks
        phase, troops = games["phase"], games["troops"]
        before = np.zeros(self._mask.shape, np.int8)
        source = np.maximum(games["source"], 0)
        is_draft = (phase == Phase.DRAFT) & (games["draft_left"] > 1)
        is_move = (phase == Phase.FORTIFY_TO) & (troops[self._all, source] > 2)
        before[:, blocks["territory"].start : blocks["territory"].stop] = (is_draft | is_move)[:, None]
        if self.rules.attack == "choice":
            before[:, blocks["dice"].start : blocks["dice"].stop] = (phase == Phase.ATTACK_DICE)[:, None]
        else:
            strong = troops[:, self.board.edge_index[0]] >= _LEAST_ATTACKERS
            border = slice(blocks["border"].start, blocks["border"].stop)
            before[:, border] = strong & (phase == Phase.ATTACK)[:, None]
        return before

    def _check_legal(self, actions: Array, lanes: Array) -> None:
        n = self.batch.num_actions
        _check_range(actions, lanes, self.num_actions)
        super()._check_legal(actions % n, lanes)
        named = lanes[actions[lanes] >= n]
        if not len(named):
            return
        wrong = named[self._before_amounts()[named, actions[named] % n] == 0]
        if len(wrong):
            lane = int(wrong[0])
            amount, action = NAMED_AMOUNTS[actions[lane] // n], actions[lane] % n
            raise IllegalAction(
                f"lane {lane}: action {actions[lane]} is action {action} with the amount {amount!r}, "
                f"but no decision about an amount can follow: play action {action}"
            )

    def _take(self, actions: Array, lanes: Array) -> None:
        n = self.batch.num_actions
        self.amounts[lanes] = actions[lanes] // n
        super()._take(actions % n, lanes)

    def _begin(self, lanes: Array) -> None:
        self.amounts[lanes] = _ALL
        super()._begin(lanes)

    def _play_on(self, lanes: Array) -> None:
        """Play in `lanes` until the learners must act. Decisions about amounts are taken for the learners."""
        super()._play_on(lanes)
        is_repeated = False
        while len(lanes := self._at_amounts(lanes)):
            self.arena.actions[lanes] = self._amount_actions(lanes, is_repeated)
            super()._play_on(lanes)
            is_repeated = True

    def _at_amounts(self, lanes: Array) -> Array:
        """Return the lanes whose learners must decide on an amount."""
        games = self.batch.records
        is_due = np.isin(games["phase"][lanes], AMOUNT_PHASES)
        return lanes[is_due & (games["seat"][lanes] == self.seat[lanes])]

    def _amount_actions(self, lanes: Array, is_repeated: bool) -> npt.NDArray[np.int64]:
        """Return the actions for decisions about amounts, int64 (k,).

        If `is_repeated` is True, an occupation or a fortify move gets the action DONE, which ends the move.
        """
        games, kinds = self.batch.records, self.amounts[lanes]
        phase, troops = games["phase"][lanes], games["troops"]
        is_draft = phase == Phase.DRAFT_AMOUNT
        leaving = troops[lanes, np.maximum(games["source"][lanes], 0)] - 1
        room = self.batch.tables.rules["max_troops"][0] - troops[lanes, games["target"][lanes]]
        most = np.minimum(np.where(is_draft, games["draft_left"][lanes], leaving), room)
        chosen = np.choose(kinds, [ALL_OF_THEM, self._halves[np.minimum(most, MANY)], 0])
        chosen = np.where((kinds == _LEAST) & (most == 1), ALL_OF_THEM, chosen)
        stops = ~is_draft & is_repeated | (phase == Phase.OCCUPY) & (kinds == _LEAST)
        return np.where(stops, self._blocks["done"].start, self._blocks["amount"].start + chosen)


class TurnVector(SingleSeatVector):
    """Lanes in which the learner chooses one of the `plans` once per turn. A plan is a compiled bot.

    The chosen bot plays for the learner until the learner's next turn begins. The bot also decides in the
    turns of other seats. The first bot that the learner chooses in a game also plays the set-up. A bot begins
    each turn without memory. Action k chooses plan k, and all actions are legal.
    """

    def __init__(self, *arguments: Any, plans: Sequence[Named] = PLANS, **options: Any) -> None:
        self.plans = _compiled(plans)
        super().__init__(*arguments, **options)
        self._options["plans"] = list(plans)

    @property
    def num_actions(self) -> int:
        """Number of plans."""
        return len(self.plans)

    def masks(self) -> npt.NDArray[np.int8]:
        """Return the learners' legal actions as a new array of ones, int8 (N, K)."""
        return np.ones((self.num_lanes, self.num_actions), np.int8)

    def _check_legal(self, actions: Array, lanes: Array) -> None:
        _check_range(actions, lanes, self.num_actions, self.plans)

    def _take(self, actions: Array, lanes: Array) -> None:
        self.arena.seat_bots(lanes, self.seat[lanes], len(self.players) + actions[lanes])

    def _begin(self, lanes: Array) -> None:
        super()._begin(lanes)
        self.arena.stop_at_turn[lanes] = self.seat[lanes]

    def _over(self, lanes: Array) -> Array:
        """Return the lanes whose games are over for the learner. Lanes in the set-up continue."""
        games = self.batch.records
        begins = (self.arena.states[lanes] == STOPPED) & (games["death"][lanes, self.seat[lanes]] == 0)
        in_setup = lanes[begins & (games["round_number"][lanes] == 0)]
        if len(in_setup):
            self.arena.resume(in_setup)
        return lanes[~begins]

    def load_state_dict(self, state: Any) -> None:
        """Continue from the `state_dict` of lanes with the same arguments."""
        super().load_state_dict(state)
        self.arena.stop_at_turn[:] = self.seat


def _check_range(actions: Array, lanes: Array, count: int, plans: Sequence[CompiledBot] = ()) -> None:
    """Raise IllegalAction unless the actions in `lanes` are from 0 to `count - 1`.

    If actions are indices of plans, the message lists the `plans`.
    """
    wrong = lanes[(actions[lanes] < 0) | (actions[lanes] >= count)]
    if len(wrong):
        lane, names = int(wrong[0]), [plan.name for plan in plans]
        listed = f", the index of a plan in {names}" if names else ""
        raise IllegalAction(f"lane {lane}: action {actions[lane]} must be from 0 to {count - 1}{listed}")


def _compiled(plans: Any) -> list[CompiledBot]:
    """Return `plans` as compiled bots. Raises ValueError for an empty list, and for other players."""
    listed = [find_player(plan) for plan in plans] if isinstance(plans, list | tuple) else []
    bots = [plan for plan in listed if isinstance(plan, CompiledBot)]
    if not bots or len(bots) < len(listed):
        needed = "must be a list of CompiledBot objects or their names, with at least one entry"
        raise ValueError(f"plans={plans!r:.80}: {needed}")
    return bots
