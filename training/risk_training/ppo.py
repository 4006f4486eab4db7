"""The trainer `selfplay`: PPO (Schulman et al. 2017) by self-play in many games at once.

A *transition* is one decision of one seat. The next state of the transition is the same seat's next decision,
however many other seats decide in between. The transitions of a seat end when the seat is eliminated or the
game ends. A game that is truncated at the round limit is bootstrapped from the value of each seat's final
observation. Without shaping, the reward of a win is 1, and every other reward is 0. A value is then a
(discounted) win probability, and a later loss is no better than an early loss.

The module `selfplay` plays the games, and the module `run` writes the log and the checkpoints. This module
contains the algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.workers import InProcess, WorkExecutor
from risk_env.arrays import Array
from risk_env.board.tables import tables
from risk_env.core.types import MAX_SEATS
from risk_training.actors import Actors
from risk_training.config import MOST_BATCH, MOST_STEPS, RATES, EvaluationSettings, setting
from risk_training.declared import Declared
from risk_training.rollout_steps import CONTINUES, TRUNCATED, Rollout
from risk_training.run import Metrics, TorchRun, timed
from risk_training.run_files import POLICY_FILE
from risk_training.selfplay import SelfPlay, SelfPlaySettings
from risk_training.torch_network import Network

Tensor = torch.Tensor


@dataclass(frozen=True)
class Config(SelfPlaySettings):
    """Configuration of a run of the trainer `selfplay`.

    Settings of PPO have the same names as in Stable-Baselines3.
    """

    TRAINER: ClassVar[str] = "selfplay"
    LENGTH: ClassVar[str] = "n_timesteps"
    evaluation: EvaluationSettings = field(
        default_factory=lambda: EvaluationSettings(opponents=("random",), interval=2_000_000)
    )
    n_timesteps: int = setting(20_000_000, 1, MOST_STEPS)
    n_epochs: int = setting(2, 1, 1000)
    batch_size: int = setting(1024, 1, MOST_BATCH)
    learning_rate: float = setting(1.2e-3, *RATES)  # decays linearly to a tenth
    gamma: float = setting(0.999, 0, 1)
    gae_lambda: float = setting(0.95, 0, 1)
    clip_range: float = setting(0.2, 1e-3, 10)
    ent_coef: float = setting(0.003, 0, 10)  # decays linearly to a tenth
    vf_coef: float = setting(1.0, 0, 100)
    max_grad_norm: float = setting(0.5, 1e-6, 1e6)


def advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> tuple[Array, Array]:
    """Return generalised advantage estimates (GAE), float32 (T, N), and a mask, bool (T, N).

    The estimates are computed along each seat's own decisions. The mask is True where the advantage is known.
    The advantage of a seat's last decision in a rollout is known only if the seat decides next, has been
    eliminated or has finished its game.
    """
    T, N = rollout.actions.shape
    lanes = np.arange(N)
    value, advantage = np.zeros((N, MAX_SEATS), np.float32), np.zeros((N, MAX_SEATS), np.float32)
    follows, ahead = np.zeros((N, MAX_SEATS), np.bool_), np.zeros((N, MAX_SEATS), np.float32)
    value[lanes, rollout.next_seats], follows[lanes, rollout.next_seats] = rollout.next_values, True
    ahead[lanes, rollout.next_seats] = rollout.next_potentials
    estimates, known = np.zeros((T, N), np.float32), np.zeros((T, N), np.bool_)
    for step in range(T - 1, -1, -1):
        here = lanes, rollout.seats[step]
        ends, truncated = rollout.ends[step] != CONTINUES, rollout.ends[step] == TRUNCATED
        next_value = np.where(ends, np.where(truncated, rollout.last_values[step], 0), value[here])
        next_potential = np.where(ends, np.where(truncated, rollout.last_potentials[step], 0), ahead[here])
        reward = rollout.rewards[step] + gamma * next_potential - rollout.potentials[step]
        td_error = reward + gamma * next_value - rollout.values[step]
        known[step] = ends | follows[here]
        estimates[step] = np.where(
            known[step], td_error + gamma * gae_lambda * np.where(ends, 0, advantage[here]), 0
        )
        value[here], advantage[here], follows[here] = rollout.values[step], estimates[step], True
        ahead[here] = rollout.potentials[step]
    return estimates, known


def _flat(part: Array) -> Array:
    """Return the decisions (T N, ...) of an array (T, N, ...)."""
    return part.reshape(-1, *part.shape[2:])


class Trainer(TorchRun):
    """A run of PPO: network, optimizer and games."""

    CONFIG, FILE, KIND = Config, POLICY_FILE, PolicyFile
    config: Config

    def __init__(
        self, config: Config, folder: Any, executor: WorkExecutor | None = None, named: Sequence[str] = ()
    ) -> None:
        super().__init__(config, folder, executor, named)
        self.layout = Layout(self.rules, self.board, tables(self.rules, self.board).num_actions)
        self.games = self._new_games()
        self.network = Network(self.layout, config.width, config.local).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), config.learning_rate, eps=1e-5, fused=True
        )
        self.rollout = Rollout.empty(config.n_steps, config.actors * config.n_envs, self.layout)

    def _new_games(self) -> SelfPlay | Actors:
        """Return the games of the run.

        A single actor without staleness plays in this process. Raises ValueError if such a run has workers.
        """
        config = self.config
        if config.actors > 1 or config.staleness:
            return Actors(config, self.executor)
        if not isinstance(self.executor, InProcess):
            raise ValueError(
                "actors=1, staleness=0: the games are played in this process, so --workers must be 1; remove "
                "--workers, or set more actors with --set actors=N"
            )
        return SelfPlay(config, self.board, named=self.named)

    def begin(self) -> None:
        """Start all games, and play until the learner must decide."""
        super().begin()
        self.games.start(self.network)

    def run_updates(self) -> None:
        """Run all remaining updates, and stop the programs that the games have started."""
        with closing(self.games):
            super().run_updates()

    def update(self) -> Metrics:
        """Play a rollout and learn from it."""
        with timed(self.spent, "games"):
            self.games.collect(self.network, self.rollout)
        with timed(self.spent, "update"):
            metrics = self.learn()
        self.steps += self.rollout.actions.size
        if self.passes(self.config.snapshot_interval):
            self.games.take_snapshot(self.network, self.steps)
        return metrics | self.games.results()

    def learn(self) -> Metrics:
        """Run the epochs of PPO on the rollout, and return metrics."""
        config, rollout = self.config, self.rollout
        if isinstance(self.games, Actors):  # actors send no features
            rollout.write_features(self.network.spec)
        estimates, known = advantages(rollout, config.gamma, config.gae_lambda)
        returns = estimates + rollout.values
        normalized = (estimates - estimates[known].mean()) / (estimates[known].std() + 1e-8)
        parts = rollout.territory_features, rollout.board_features, rollout.logprobs, normalized, returns
        territories, boards, *flat = (self.moved(_flat(part)) for part in parts)
        legal = rollout.legal_actions().to(self.device)
        chosen = legal.find(self.moved(_flat(rollout.actions)), self.layout.num_actions)
        decisions = self.moved(np.flatnonzero(known))
        learning_rate = self.set_learning_rate()
        minibatches = (
            decisions[rows] for _ in range(config.n_epochs) for rows in self.minibatches(len(decisions))
        )
        losses = [
            self._update_on(
                territories, legal.select(some), *(part[some] for part in (boards, chosen, *flat))
            )
            for some in minibatches
        ]
        metrics = {
            f"train/{name}": math.fsum(loss[name].item() for loss in losses) / len(losses)
            for name in losses[0]
        }
        metrics["train/explained_variance"] = 1 - float(
            estimates[known].var() / (returns[known].var() + 1e-8)
        )
        return metrics | {"train/learning_rate": learning_rate}

    def _update_on(  # type: ignore[no-untyped-def]
        self, territory_features, legal, board_features, chosen, old_logprobs, advantages, returns
    ) -> dict[str, Tensor]:
        """Make one step of the optimizer on a minibatch, and return the metrics of the minibatch.

        The tensors have the shape (k, ...), except `territory_features`, which belong to the whole rollout.
        """
        config = self.config
        with self.mixed():
            logits, values = self.network.legal_logits(territory_features, board_features, legal)
        all_logprobs = legal.logprobs(logits)
        logprobs, entropy = (
            all_logprobs[legal.starts + chosen],
            -legal.sums(all_logprobs.exp() * all_logprobs),
        )
        logratio = logprobs - old_logprobs
        ratio = logratio.exp()
        clipped = ratio.clip(1 - config.clip_range, 1 + config.clip_range)
        policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
        targets = ((returns + config.shaping) / (1 + config.shaping)).clip(0, 1)
        value_loss = nn.functional.binary_cross_entropy_with_logits(values, targets)
        loss = policy_loss + config.vf_coef * value_loss - self.left() * config.ent_coef * entropy.mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), config.max_grad_norm, foreach=True)
        self.optimizer.step()
        self.average_weights()
        with torch.no_grad():
            approx_kl = ((ratio - 1) - logratio).mean()
            clipfrac = ((ratio - 1).abs() > config.clip_range).float().mean()
        losses = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy.mean()}
        return {
            name: loss.detach()
            for name, loss in (losses | {"approx_kl": approx_kl, "clipfrac": clipfrac}).items()
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the run, including the games."""
        return super().state_dict() | {"games": self.games.state_dict()}

    def declared(self) -> dict[str, Declared]:
        """Return the declaration of the run, including the games."""
        return super().declared() | {"games": self.games.declared(self.network)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        super().load_state_dict(state)
        self.games.load_state_dict(state["games"])
