"""The league around `RiskVecEnv`: opponents drawn anew for each game, snapshots among them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from risk_agents.learned.network import Network, compiled_network
from risk_agents.learned.policy import answer_lanes
from risk_env.bots import CompiledBot
from risk_env.core.types import Phase
from risk_training.league import League
from risk_training.ppo import potential
from risk_training.sb3 import RiskVecEnv

Array = npt.NDArray[Any]

_NOTHING_ANEW = np.zeros(len(Phase), np.bool_)  # no question comes up that did not in training


class SnapshotSlot:
    """A place for a snapshot among the opponents: a policy with the weights of whoever sits in it."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.policy: Any = None
        self.seconds = 0.0
        self.player: Any = self  # who sits among the opponents, whatever its weights

    def load(self, name: str, policy: Any, weights: Mapping[str, Any]) -> None:
        """Seat a snapshot: weights for a copy of the learner's policy."""
        if self.policy is None:
            self.policy = copy.deepcopy(policy)
            self.policy.set_training_mode(False)
        self.name = name
        self.policy.load_state_dict(weights)

    def act_batch(self, observations: Array, masks: Array, seats: Array) -> Array:
        """Actions int64 (k,), drawn as the policy would have them, in one inference."""
        start = perf_counter()
        with torch.no_grad():
            actions = self.policy._predict(torch.as_tensor(observations), action_masks=masks)
        self.seconds += perf_counter() - start
        return np.asarray(actions.numpy(), np.int64)


class CompiledSlot(SnapshotSlot):
    """The same for `BoardPolicy`, whose network plays compiled (`risk_agents.learned.network`)."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.player = CompiledBot(f"slot {number}", "", self._choose)

    def load(self, name: str, policy: Any, weights: Mapping[str, Any]) -> None:
        """Seat a snapshot."""
        super().load(name, policy, weights)
        network = self.policy.network
        self.network: Network = compiled_network(network.layout, network.arrays())

    def _choose(
        self, games: Array, boards: Array, rules: Array, lanes: Array, randoms: Array, memory: Array, actions: Array
    ) -> None:
        start = perf_counter()
        answer_lanes(games, boards, rules, lanes, randoms, actions, self.network, _NOTHING_ANEW, True)
        self.seconds += perf_counter() - start


class LeagueVecEnv(RiskVecEnv):
    """`RiskVecEnv` whose games are played against the league's opponents, and whose results the league is told.

    Rewards are shaped by `shaping` times the potential of `risk_training.ppo.potential`; `gamma` is the learner's.
    `compiled`: the learner's policy is a `BoardPolicy`, and its snapshots play compiled.
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
        self.weights: dict[str, Mapping[str, Any]] = {}  # of the league's snapshots
        self.played: list[tuple[str, int, bool, bool, int]] = []  # opponent, seat, won, truncated, rounds; since told
        self.seconds = 0.0  # in games and opponents
        opponents = [*settings.bots, *(slot.player for slot in self.slots)]
        super().__init__(num_envs, seed, opponents=opponents, opponent_order="drawn", **arguments)
        self._is_stale = np.zeros(num_envs, np.bool_)  # (N,) an opponent of this game was replaced: no result
        self._potential = np.zeros(num_envs, np.float32)
        if self.league.names:
            self.draw_anew()

    def draw_anew(self) -> None:
        """Let the next games draw their opponents as the league would now."""
        weights = dict(zip(self.league.names, self.league.weights(), strict=True))
        names = [*self.league.settings.bots, *(slot.name for slot in self.slots)]
        self.lanes.draw_by(np.array([weights.get(name, 0.0) for name in names]))  # type: ignore[arg-type]

    def add_snapshot(self, steps: int, policy: Any) -> None:
        """The learner's policy as it is joins the league after `steps` steps, and can be drawn from now on."""
        leaving = self.league.add_snapshot(steps)
        name = self.league.snapshots[-1]
        self.weights = {known: held for known, held in self.weights.items() if known not in leaving}
        self.weights[name] = {key: value.detach().clone() for key, value in policy.state_dict().items()}
        slot = next(slot for slot in self.slots if slot.name is None or slot.name in leaving)
        number = self.lanes.players.index(slot.player)
        self._is_stale |= (self.lanes.seating.numbers == number).any(axis=1)
        slot.load(name, policy, self.weights[name])
        self.draw_anew()

    def reset(self) -> Any:
        """As `RiskVecEnv.reset`."""
        seen = super().reset()
        self._potential = self._potentials(self.lanes.batch.observation)
        return seen

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """As `RiskVecEnv.step_wait`, with shaped rewards."""
        start = perf_counter()
        numbers = self.lanes.seating.numbers.copy()
        seen, rewards, dones, infos = super().step_wait()
        ended = np.flatnonzero(dones)
        self._note(ended, numbers)
        if self.shaping:
            rewards += self._shaped(ended)
        self.seconds += perf_counter() - start
        return seen, rewards, dones, infos

    def _note(self, ended: Array, numbers: Array) -> None:
        """Tell the league who lost to the learner, `numbers` (N, 6) being the players of the games that ended."""
        names = {slot.player: slot.name for slot in self.slots}
        for lane in ended:
            final, truncated = self.lanes.final[lane], bool(self.lanes.truncated[lane])
            seat, won = int(final["seat"]), final["winner"] == final["seat"]
            for other in range(self.lanes.rules.num_players):
                player = self.lanes.players[numbers[lane, other]]
                name = names.get(player, player.name)
                if other != seat and not self._is_stale[lane]:
                    self.league.record(name, float(won))
                    self.played.append((name, seat, bool(won), truncated, int(final["rounds"])))
        self._is_stale[ended] = False

    def _shaped(self, ended: Array) -> npt.NDArray[np.float32]:
        """float32 (N,): gamma times the next potential, less the last; that of an end is 0, but not of a truncation."""
        lanes = self.lanes
        now = self._potentials(lanes.batch.observation)
        following = now.copy()
        following[ended] = self._potentials(lanes._final_codes[ended]) * lanes.truncated[ended]
        gained = self.gamma * following - self._potential
        self._potential = now
        return gained

    def _potentials(self, codes: Array) -> npt.NDArray[np.float32]:
        return np.asarray(potential(codes, self.lanes.board, self.shaping), np.float32)

    def state_dict(self) -> dict[str, Any]:
        """Games, league, snapshots and who sits where."""
        return {
            "lanes": self.lanes.state_dict(),
            "league": self.league.state_dict(),
            "weights": self.weights,
            "slots": [slot.name for slot in self.slots],
            "stale": self._is_stale.copy(),
            "potential": self._potential.copy(),
            "played": list(self.played),
        }

    def load_state_dict(self, state: Mapping[str, Any], policy: Any) -> None:
        """Go on from what `state_dict` gave; `policy` is the learner's, of which the snapshots are copies."""
        self.league.load_state_dict(state["league"])
        self.weights = dict(state["weights"])
        for slot, name in zip(self.slots, state["slots"], strict=True):
            slot.name = None
            if name is not None:
                slot.load(name, policy, self.weights[name])
        self.lanes.load_state_dict(state["lanes"])
        self._is_stale[:], self._potential[:] = state["stale"], state["potential"]
        self.played = list(state["played"])
        self._first_seed = None
