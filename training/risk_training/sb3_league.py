"""`RiskVecEnv` with a league: the opponents of each game are drawn from bots and snapshots."""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from risk_agents.learned.compiled_network import Network, compiled_network
from risk_agents.learned.policy import choose_actions
from risk_agents.registry import load_bot
from risk_env.arrays import Array
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.players import Policy
from risk_training.declared import Declared, ListOf, OrNone, TableOf, Whole
from risk_training.league import League, points_of
from risk_training.sb3 import RiskVecEnv
from risk_training.selfplay import potential

_UNFAMILIAR = np.zeros(len(Phase), np.bool_)  # no phase is unfamiliar: all phases occur in training


class SnapshotSlot(Policy):
    """A place for a snapshot among the opponents: a policy whose weights can be replaced."""

    name = "snapshot"

    def __init__(self) -> None:
        self.snapshot: str | None = None  # name of the snapshot
        self.policy: Any = None
        self.seconds = 0.0  # CPU time of the snapshots in this slot
        self.player: Any = self  # the player that the environment seats, whatever the weights

    def load(self, name: str, policy: Any, weights: Mapping[str, Any]) -> None:
        """Load a snapshot: the weights for a copy of the learner's policy."""
        if self.policy is None:
            self.policy = untrained_copy(policy)
        self.snapshot = name
        self.policy.load_state_dict(weights)

    def act_batch(self, observations: Array, masks: Array, seats: Array, state: Array | None = None) -> Array:
        """Draw actions, int64 (k,), from the policy's probabilities in one forward pass."""
        start = process_time()
        with torch.no_grad():
            actions = self.policy._predict(torch.as_tensor(observations), action_masks=masks)
        self.seconds += process_time() - start
        return np.asarray(actions.numpy(), np.int64)


def untrained_copy(policy: Any) -> Any:
    """Return a policy of the same architecture with random weights.

    The run's random generators do not advance.

    `copy.deepcopy` does not work, because a policy keeps the last distribution of actions, whose tensors
    cannot be copied.
    """
    with torch.random.fork_rng(devices=[]):
        made = type(policy)(**policy._get_constructor_parameters()).to(policy.device)
    made.set_training_mode(False)
    return made


class CompiledSlot(SnapshotSlot):
    """A slot for snapshots of a `BoardPolicy`.

    The network of the snapshot runs as compiled code (`risk_agents.learned.compiled_network`).
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.player = CompiledBot(f"slot {number}", "", self._choose)

    def load(self, name: str, policy: Any, weights: Mapping[str, Any]) -> None:
        """Load a snapshot, and prepare its network for compiled code."""
        super().load(name, policy, weights)
        network = self.policy.network
        self.network: Network = compiled_network(network.layout, network.arrays())

    def _choose(
        self,
        games: Array,
        boards: Array,
        rules: Array,
        lanes: Array,
        randoms: Array,
        memory: Array,
        actions: Array,
    ) -> None:
        start = process_time()
        choose_actions(games, boards, rules, lanes, randoms, actions, self.network, _UNFAMILIAR, True)
        self.seconds += process_time() - start


class LeagueVecEnv(RiskVecEnv):
    """`RiskVecEnv` with games against opponents of the league. Results are reported to the league.

    Rewards are shaped by the potential of `risk_training.selfplay.potential`, multiplied by `shaping`.
    `gamma` is the learner's discount factor. With `compiled`, the learner's policy must be a `BoardPolicy`,
    and its snapshots play as compiled code.
    """

    def __init__(
        self,
        league: League,
        num_envs: int,
        seed: int,
        *,
        shaping: float = 0.0,
        gamma: float = 1.0,
        compiled: bool = False,
        **arguments: Any,
    ) -> None:
        settings = league.settings
        slots = settings.window + settings.history if settings.snapshot_share > 0 or not settings.bots else 0
        self.league, self.shaping, self.gamma = league, shaping, gamma
        self.slots = [CompiledSlot(number) if compiled else SnapshotSlot() for number in range(slots)]
        self.weights: dict[str, Mapping[str, Any]] = {}  # weights of the snapshots, by name
        self.played: list[tuple[str, int, bool, bool, int]] = []  # opponent, seat, won, truncated, rounds
        self.seconds = 0.0  # CPU time of the games and the opponents
        opponents = [*map(load_bot, settings.bots), *(slot.player for slot in self.slots)]
        super().__init__(num_envs, seed, opponents=opponents, opponent_order="drawn", **arguments)
        # (N,) True if an opponent was replaced during the game; the result of this game is not recorded
        self._is_stale = np.zeros(num_envs, np.bool_)
        self._potential = np.zeros(num_envs, np.float32)
        if self.league.names:
            self.draw_opponents()

    def draw_opponents(self) -> None:
        """Draw the opponents of later games with the current probabilities of the league."""
        weights = dict(zip(self.league.names, self.league.weights(), strict=True))
        names = [*self.league.settings.bots, *(slot.snapshot for slot in self.slots)]
        self.lanes.draw_by(np.array([weights.get(name, 0.0) for name in names]))  # type: ignore[arg-type]

    def add_snapshot(self, steps: int, policy: Any) -> None:
        """Add the learner's current policy, after `steps` steps, to the league.

        Raises ValueError if the league has bots and a `snapshot_share` of 0, because such a league draws no
        snapshots.
        """
        if not self.slots:
            share, bots = self.league.settings.snapshot_share, self.league.settings.bots
            raise ValueError(
                f"league.snapshot_share={share} with bots={list(bots)!r}: this league has no snapshots; "
                "allowed: a share above 0, or no bots"
            )
        leaving = self.league.add_snapshot(steps)
        name = self.league.snapshots[-1]
        self.weights = {known: held for known, held in self.weights.items() if known not in leaving}
        self.weights[name] = {key: value.detach().clone() for key, value in policy.state_dict().items()}
        slot = next(slot for slot in self.slots if slot.snapshot is None or slot.snapshot in leaving)
        number = self.lanes.players.index(slot.player)
        self._is_stale |= (self.lanes.arena.numbers == number).any(axis=1)
        slot.load(name, policy, self.weights[name])
        self.draw_opponents()

    def replace_weights(self, policy: Any) -> None:
        """Replace the weights of all snapshots by the learner's current weights."""
        for slot in self.slots:
            if slot.snapshot is not None:
                self.weights[slot.snapshot] = {k: v.detach().clone() for k, v in policy.state_dict().items()}
                slot.load(slot.snapshot, policy, self.weights[slot.snapshot])

    def reset(self) -> Any:
        """Begin a new game in each lane, and return the observations (`RiskVecEnv.reset`)."""
        observations = super().reset()
        self._potential = potential(self.lanes.batch.observation, self.lanes.board, self.shaping)
        return observations

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Return the results of the step, with shaped rewards (`RiskVecEnv.step_wait`)."""
        start = process_time()
        numbers = self.lanes.arena.numbers.copy()
        observations, rewards, dones, infos = super().step_wait()
        ended = np.flatnonzero(dones)
        self._note(ended, numbers)
        if self.shaping:
            rewards += self._shaped(ended)
        self.seconds += process_time() - start
        return observations, rewards, dones, infos

    def _note(self, ended: Array, numbers: Array) -> None:
        """Report the results of finished games to the league, except games with a replaced opponent.

        `ended` are the lanes of the finished games. `numbers` (N, 6) are the numbers of the players by seat.
        """
        names = {slot.player: slot.snapshot for slot in self.slots}
        for lane in ended:
            final, truncated = self.lanes.final[lane], bool(self.lanes.truncated[lane])
            seat, won = int(final["seat"]), final["winner"] == final["seat"]
            places = self.lanes.batch.final_placement[lane].tolist()
            others = [other for other in range(self.lanes.rules.num_players) if other != seat]
            for other in others if not self._is_stale[lane] else []:
                player = self.lanes.players[numbers[lane, other]]
                name = names.get(player, player.name)
                self.league.record(name, points_of(places[seat], places[other]))
                self.played.append((name, seat, bool(won), truncated, int(final["rounds"])))
        self._is_stale[ended] = False

    def _shaped(self, ended: Array) -> npt.NDArray[np.float32]:
        """Return the shaping reward of each lane, float32 (N,): gamma * next potential - last potential.

        The potential is 0 at the end of a game, except after a truncation.
        """
        lanes = self.lanes
        now = potential(lanes.batch.observation, lanes.board, self.shaping)
        following = now.copy()
        following[ended] = (
            potential(lanes._final_codes[ended], lanes.board, self.shaping) * lanes.truncated[ended]
        )
        gained = self.gamma * following - self._potential
        self._potential = now
        return gained

    def results(self) -> dict[str, Any]:
        """Return metrics of the games that ended since the last call.

        Each opponent in a game counts as one result.
        """
        played, self.played = self.played, []
        metrics: dict[str, Any] = {"games/number": len(played)}
        if played:
            _, seats, won, truncated, rounds = (np.array(column) for column in zip(*played, strict=True))
            means = {"win_rate": won.mean(), "truncated": truncated.mean(), "rounds": rounds.mean()}
            metrics |= {f"games/{name}": mean for name, mean in means.items()}
            metrics |= {f"games/win_rate_seat_{seat}": won[seats == seat].mean() for seat in np.unique(seats)}
        return {name: value if isinstance(value, int) else float(value) for name, value in metrics.items()}

    def league_metrics(self) -> dict[str, Any]:
        """Return metrics of the bots and the latest snapshot.

        The metrics of each opponent are the learner's smoothed share of points (`League.win_rate`) and the
        probability that the league draws the opponent.
        """
        league, metrics = self.league, {}
        for name, weight in zip(league.names, league.weights(), strict=True):
            if name in league.settings.bots or name == league.names[-1]:
                shown = name if name in league.settings.bots else "latest"
                metrics[f"league/win_rate_{shown}"] = league.win_rate(name)
                metrics[f"league/weight_{shown}"] = float(weight)
        return metrics | {"league/snapshots": len(league.snapshots)}

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`: games, league, snapshots and the slots of the snapshots."""
        return {
            "lanes": self.lanes.state_dict(),
            "league": self.league.state_dict(),
            "weights": self.weights,
            "slots": [slot.snapshot for slot in self.slots],
            "stale": self._is_stale.copy(),
            "potential": self._potential.copy(),
            "played": list(self.played),
        }

    def declared(self, policy: Any) -> Declared:
        """Return the declaration (`risk_training.declared`) that a state must match for `load_state_dict`."""
        lanes, slots, seats = self.lanes.state_dict(), len(self.slots), Whole(0, MAX_SEATS - 1)
        return {
            "lanes": {"seed_word": Whole(0, 2**64 - 1), "draw": object, "arrays": tuple(lanes["arrays"])},
            "league": self.league.declared(),
            "weights": TableOf(policy.state_dict(), slots),
            "slots": ListOf(OrNone(str), slots, slots),
            "stale": self._is_stale,
            "potential": self._potential,
            "played": ListOf((str, seats, bool, bool, Whole())),
        }

    def load_state_dict(self, state: Mapping[str, Any], policy: Any) -> None:
        """Restore the state that `state_dict` returned. Raises ValueError for an inconsistent state.

        `policy` is the learner's policy. Snapshots are copies of this policy with other weights.
        """
        self.league.load_state_dict(state["league"])
        self.weights = dict(state["weights"])
        if not set(self.league.snapshots) == self.weights.keys() == {*state["slots"]} - {None}:
            raise ValueError("the league, the weights and the slots name different snapshots")
        for slot, name in zip(self.slots, state["slots"], strict=True):
            slot.snapshot = None
            if name is not None:
                slot.load(name, policy, self.weights[name])
        self.lanes.load_state_dict(state["lanes"])
        empty = [self.lanes.players.index(slot.player) for slot in self.slots if slot.snapshot is None]
        if np.isin(self.lanes.arena.numbers[:, : self.lanes.rules.num_players], empty).any():
            raise ValueError("a seat is played by a slot without a snapshot")
        self._is_stale[:], self._potential[:] = state["stale"], state["potential"]
        self.played = list(state["played"])
        if self.league.names:
            self.draw_opponents()
        self._first_seed = None
