"""The trainer `turn_policy`: a network chooses the plans worth trying when a turn begins.

In a training round, whole games are played with each number of players in `tables`. Bots play some of the
seats, and the learner plays the other seats. At the start of each turn, the learner tries all plans,
evaluates the resulting positions with a state value, and follows the best plan
(`risk_agents.search.lookahead`). The network learns the win probability of each plan, minus the mean over all
plans. This method is expert iteration (Anthony et al. 2017) with a search of one turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from risk_agents.learned.schema import schema_of
from risk_agents.learned.state_value import MOST_UNITS, StateValue, StateValueFile, input_columns, write_codes
from risk_agents.registry import load_bot
from risk_agents.search.lookahead import UNTRIED, Effort
from risk_agents.search.plans import MEMORY, NAMES, ROUND
from risk_agents.search.turn_policy import TurnPolicyFile, chooser
from risk_agents.workers import WorkExecutor, in_order
from risk_env.arena import play
from risk_env.board.maps import load_map
from risk_env.bots import CompiledBot
from risk_training.config import MOST_GAMES, MOST_STEPS, TWO, EvaluationSettings, setting
from risk_training.position_files import start_positions
from risk_training.run import Metrics, TorchRun, made_by, timed
from risk_training.run_files import TURN_POLICY_FILE
from risk_training.state_value import StateNetwork, StateNetworkSettings
from risk_training.win_rate import Seating

Array = npt.NDArray[Any]
Tensor = torch.Tensor

LANES = 256
SCALE = 10  # an output of 1 is a gain of 1 / SCALE in win probability
LEARNER = 0  # index of the learner among the players; the bots follow


@dataclass(frozen=True)
class Config(StateNetworkSettings):
    """Configuration of a run of the trainer `turn_policy`."""

    TRAINER: ClassVar[str] = "turn_policy"

    evaluation: EvaluationSettings = field(
        default_factory=lambda: EvaluationSettings(opponents=("beam", "breaker"), games=300, interval=5000)
    )
    games: int = setting(5000, 1, MOST_STEPS)
    round_games: int = setting(500, 1, MOST_GAMES)
    hidden_sizes: tuple[int, ...] = setting((192, 64), 1, MOST_UNITS, length=TWO)
    bot_share: float = setting(0.5, 0, 1)  # share of the seats that bots play
    samples: int = setting(2, 1, 1000)  # number of samples of each plan when a turn begins
    judge: str | None = None  # state value: file or agent (default: the value of `strategist`)

    def judge_file(self) -> StateValueFile:
        """Return the value that evaluates positions after a turn.

        Raises ValueError if the value cannot be read or does not fit these games.
        """
        return self.read_value(self.judge or "strategist")


@dataclass
class Trials:
    """Positions at the start of turns, and the outcome of each plan at these positions.

    All games have the same number of players.
    """

    codes: Array  # int8 (k, columns): observations of the seat whose turn begins
    worths: Array  # float32 (k, plans): mean win probability, or UNTRIED
    players: int

    @classmethod
    def joined(cls, chunks: Sequence[Trials]) -> Trials:
        """Join the trials of several chunks, which must have the same number of players."""
        codes, worths = (
            np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("codes", "worths")
        )
        return cls(codes, worths, chunks[0].players)

    @property
    def gains(self) -> Array:
        """Win probability of each plan minus the mean over all plans, float32 (k, plans).

        Unavailable plans are NaN, and do not count in the mean.
        """
        worths = np.where(self.worths == UNTRIED, np.nan, self.worths)
        return worths - np.nanmean(worths, axis=1, keepdims=True)


class Recorder:
    """A bot that tries all plans with a policy and a value, and records the results."""

    def __init__(self, policy: StateValue, value: StateValue, samples: int) -> None:
        self.worths = np.zeros((LANES, len(NAMES)), np.float32)
        effort = Effort(plans=len(NAMES), samples=samples)
        self._choose, self._policy = chooser(policy, value, effort, self.worths), policy
        self.trials: list[tuple[Array, Array]] = []  # codes and worths
        self.bot = CompiledBot("recorder", "1", self.choose, MEMORY)

    def choose(
        self, games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any
    ) -> None:
        """Choose an action in each of the lanes, and record the trials of turns that begin."""
        seats = games["seat"][lanes]
        rounds = memory[lanes, seats, ROUND].copy()
        self._choose(games, boards, rules, lanes, randoms, memory, actions)
        begun = lanes[memory[lanes, seats, ROUND] != rounds]
        codes = np.zeros((len(begun), len(self._policy.columns)), np.int8)
        write_codes(games, boards, rules, begun, self._policy.columns, self._policy.dangers, codes)
        self.trials.append((codes, self.worths[begun]))


def play_chunk(config: Config, players: int, first: int, count: int, policy: StateValue) -> Trials:
    """Play `count` games with this number of players, and return the learner's trials.

    The first game has number `first`.
    """
    chance = np.random.default_rng([config.seed, players, first])
    recorder = Recorder(policy, config.judge_file().value, config.samples)
    line_ups = 1 + chance.integers(len(config.bots), size=(count, players))
    line_ups[chance.random(line_ups.shape) >= config.bot_share] = LEARNER
    # the learner gets at least one seat per game
    line_ups[np.arange(count), chance.integers(players, size=count)] = LEARNER
    seats, rules, board = (
        [recorder.bot, *map(load_bot, config.bots)],
        config.rules_for(players),
        load_map(config.map),
    )
    positions = start_positions(config, board, players)
    deals = first + np.arange(count)
    play(rules, board, seats, count, config.seed, LANES, line_ups=line_ups, deals=deals, positions=positions)
    codes, worths = (np.concatenate(parts) for parts in zip(*recorder.trials, strict=True))
    return Trials(codes, worths, players)


class Trainer(TorchRun):
    """A run of the trainer `turn_policy`: network and optimizer."""

    CONFIG, FILE, KIND = Config, TURN_POLICY_FILE, TurnPolicyFile
    config: Config

    def __init__(
        self,
        config: Config,
        folder: str | Path,
        executor: WorkExecutor | None = None,
        named: Sequence[str] = (),
    ) -> None:
        super().__init__(config, folder, executor, named)
        self.judge = config.judge_file()
        columns = len(input_columns(self.board))
        self.network = StateNetwork(columns, *config.hidden_sizes, len(NAMES)).to(self.device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), weight_decay=config.weight_decay, fused=True
        )

    def update(self) -> Metrics:
        """Play a round and learn from it."""
        with timed(self.spent, "games"):
            played = self._play_round()
        self.steps += self.config.round_games
        with timed(self.spent, "update"):
            metrics = {"games/positions": sum(len(part.codes) for part in played)}
            for part in played:
                metrics |= self.gain_metrics(part)
            return metrics | self.learn(played)

    def _play_round(self) -> list[Trials]:
        """Play the next round, and return the trials for each number of players."""
        config, policy = self.config, self.executor.share(self.policy().value)
        pieces = [(config, *chunk, policy) for chunk in config.chunks(self.steps)]
        trials = list(in_order(self.executor, play_chunk, pieces))
        return [
            Trials.joined([part for part in trials if part.players == players]) for players in config.tables
        ]

    def gain_metrics(self, part: Trials) -> Metrics:
        """Return the mean gain of the policy's favourite plans, and of the best single plan."""
        with torch.no_grad():
            outputs = torch.cat(
                [self.network(self.moved(codes)) for codes in torch.as_tensor(part.codes).split(1 << 13)]
            )
        gains = part.gains
        liked = np.where(np.isnan(gains), -np.inf, outputs.cpu().numpy()).argmax(axis=1)
        chosen, best = gains[np.arange(len(gains)), liked].mean(), np.nan_to_num(gains).mean(axis=0).max()
        return {f"games/gain_{part.players}": float(chosen), f"games/best_plan_{part.players}": float(best)}

    def learn(self, played: list[Trials]) -> Metrics:
        """Fit the network to these trials."""
        codes = self.moved(np.concatenate([part.codes for part in played]))
        gains = self.moved(np.concatenate([part.gains for part in played]).astype(np.float32))
        learning_rate = self.set_learning_rate()
        rows = [row for _ in range(self.config.n_epochs) for row in self.minibatches(len(codes))]
        losses = [self._update_on(codes[at], gains[at]) for at in rows]
        policy_loss = np.mean([loss.item() for loss in losses])
        return {"train/policy_loss": float(policy_loss), "train/learning_rate": learning_rate}

    def _update_on(self, codes: Tensor, gains: Tensor) -> Tensor:
        """Make one step of the optimizer on a minibatch and return the mean squared error before the step.

        The mean is taken over the plans that are available at the positions of the minibatch.
        """
        with self.mixed():
            outputs = self.network(codes)
        is_there = ~gains.isnan()
        liked = outputs - (outputs * is_there).sum(1, keepdim=True) / is_there.sum(1, keepdim=True)
        loss = (liked - SCALE * gains)[is_there].square().mean()
        return self.step_optimizer(loss)

    def policy(self) -> TurnPolicyFile:
        """Return the current network as a policy file."""
        facts = made_by(self) | {"plans": list(NAMES)}
        return TurnPolicyFile(self.arrays(), schema_of(self.rules, self.board), facts)

    def seating(self) -> Seating:
        """Return a factory of the policy as a compiled bot, with the value from which the policy learns."""
        return partial(self.policy().bot, "learner", judge=self.judge)
