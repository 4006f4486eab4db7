"""The trainer `imitation`: a policy learns the decisions of a compiled bot, the teacher.

In a training round, whole games are played. Each seat gets the teacher or another bot. The network learns to
predict the teacher's actions (behavioural cloning, Pomerleau 1991) and the win probability of the teacher's
seat. Every round plays new games.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from risk_agents.dataset.recorder import GameDecisions, RecordingSpec, record
from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.registry import load_bot
from risk_agents.workers import InProcess, WorkExecutor
from risk_env.arrays import Array
from risk_env.board.tables import tables
from risk_training.config import (
    MOST_BATCH,
    MOST_GAMES,
    MOST_STEPS,
    MOST_WIDTH,
    RATES,
    EvaluationSettings,
    NetworkSettings,
    setting,
)
from risk_training.position_files import start_positions
from risk_training.run import Metrics, TorchRun, timed
from risk_training.run_files import POLICY_FILE
from risk_training.torch_network import Network, action_logprobs

Tensor = torch.Tensor


@dataclass(frozen=True)
class Config(NetworkSettings):
    """Configuration of a run of the trainer `imitation`. One step is one game."""

    TRAINER: ClassVar[str] = "imitation"
    LENGTH: ClassVar[str] = "games"

    evaluation: EvaluationSettings = field(
        default_factory=lambda: EvaluationSettings(opponents=("random", "grower"), interval=2000)
    )
    # games between two checkpoints; 1: after every training round
    checkpoint_interval: int = setting(1, 1, MOST_STEPS)
    games: int = setting(8000, 1, MOST_STEPS)
    round_games: int = setting(200, 1, MOST_GAMES)  # games between two fits
    teacher: str = "beam"  # compiled bot whose decisions the policy learns
    bots: tuple[str, ...] = setting((), length=range(65))  # bots that share the seats with the teacher
    width: int = setting(128, 1, MOST_WIDTH)  # width of the network's trunk
    local: int = setting(32, 1, MOST_WIDTH)  # width of the network's local heads
    n_epochs: int = setting(2, 1, 1000)  # epochs per fit
    batch_size: int = setting(1024, 1, MOST_BATCH)
    learning_rate: float = setting(2e-3, *RATES)  # decays linearly to a tenth

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.teacher, *self.bots):
            load_bot(name)


@dataclass
class Decisions:
    """Decisions of the teacher."""

    observations: Array  # int8 (k, D)
    masks: Array  # uint8 (k, ceil(n / 8)): bits of the legal actions, as in `GameDecisions`
    actions: Array  # int32 (k,)
    won: Array  # bool (k,): True if the seat has the first place, even in a truncated game

    @classmethod
    def of(cls, games: list[GameDecisions]) -> Decisions:
        """Return the decisions of these games."""
        names = ("observations", "masks", "actions")
        columns = (np.concatenate([getattr(game, name) for game in games]) for name in names)
        return cls(*columns, np.concatenate([game.placement[game.seats] == 1 for game in games]))

    def masks_of(self, rows: Array, num_actions: int) -> Tensor:
        """Return the legal actions of some decisions, bool (k, n)."""
        bits = np.unpackbits(self.masks[rows], axis=1, count=num_actions, bitorder="little")
        return torch.as_tensor(bits.view(np.bool_))


def losses(
    network: Network, observations: Array, masks: Tensor, actions: Tensor, won: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the cross-entropies of actions and results, and the agreement with the teacher, each a scalar.

    The agreement is the share of decisions in which the network's likeliest action is the teacher's action.
    The inputs are observations int8 (k, D), masks bool (k, n), the teacher's actions int64 (k,), and `won`
    float32 (k,): 1 where the seat has the first place in its game.
    """
    logits, values = network(observations, masks)
    policy_loss = -action_logprobs(logits, actions)[0].mean()
    same = (logits.detach().argmax(1) == actions).float().mean()
    return policy_loss, binary_cross_entropy_with_logits(values, won), same


class Trainer(TorchRun):
    """A run of the trainer `imitation`: network, optimizer and games of the teacher."""

    CONFIG, FILE, KIND = Config, POLICY_FILE, PolicyFile
    config: Config

    def __init__(
        self,
        config: Config,
        folder: str | Path,
        executor: WorkExecutor | None = None,
        named: Sequence[str] = (),
    ) -> None:
        super().__init__(config, folder, executor, named)
        if not isinstance(self.executor, InProcess):
            raise ValueError(
                "--workers must be 1, because trainer imitation plays its games in this process: remove "
                "--workers"
            )
        for name in (config.teacher, *config.bots):
            load_bot(name).check(self.rules, self.board)
        self.num_actions = tables(self.rules, self.board).num_actions
        layout = Layout(self.rules, self.board, self.num_actions)
        self.network = Network(layout, config.width, config.local).to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), config.learning_rate, fused=True)
        self.recorded: Iterator[GameDecisions] | None = None

    def update(self) -> Metrics:
        """Play a round and learn from it."""
        with timed(self.spent, "games"):
            played = self._play_round()
        self.steps += self.config.round_games
        with timed(self.spent, "update"):
            return {"games/positions": len(played.actions)} | self.learn(played)

    def _play_round(self) -> Decisions:
        """Play the next round, and return the teacher's decisions."""
        config = self.config
        if self.recorded is None:
            agents = (config.teacher, *config.bots)
            spec = RecordingSpec(self.rules, self.board, agents, config.seed, (config.teacher,))
            positions = start_positions(config, self.board)
            self.recorded = record(spec, first=self.steps, positions=positions)
        return Decisions.of(list(islice(self.recorded, config.round_games)))

    def learn(self, played: Decisions) -> Metrics:
        """Fit the network to these decisions.

        The metric `games/agreement` is the agreement (`losses`) in the first epoch. In this epoch, each
        minibatch contains only decisions that no earlier step has used.
        """
        learning_rate = self.set_learning_rate()
        epochs = [self.minibatches(len(played.actions)) for _ in range(self.config.n_epochs)]
        fits = [[self._update_on(played, rows.cpu().numpy()) for rows in epoch] for epoch in epochs]
        policy_loss, value_loss, _ = torch.tensor([row for fit in fits for row in fit]).mean(0).tolist()
        return {
            "games/agreement": float(np.mean([row[2].item() for row in fits[0]])),
            "train/policy_loss": policy_loss,
            "train/value_loss": value_loss,
            "train/learning_rate": learning_rate,
        }

    def _update_on(self, played: Decisions, rows: Array) -> tuple[Tensor, Tensor, Tensor]:
        """Make one step of the optimizer on a minibatch, and return the `losses` before the step."""
        masks = self.moved(played.masks_of(rows, self.num_actions))
        actions, won = (self.moved(part[rows]) for part in (played.actions, played.won))
        with self.mixed():
            policy_loss, value_loss, same = losses(
                self.network, played.observations[rows], masks, actions.long(), won.float()
            )
        self.step_optimizer(policy_loss + value_loss)
        return policy_loss.detach(), value_loss.detach(), same

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned. The next round begins with game number `steps`."""
        super().load_state_dict(state)
        self.recorded = None
