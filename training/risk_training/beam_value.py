"""The trainer `beam_value`: TD(λ) on games in which `beam` plays with the value that is being trained.

A *position* is the board at the end of a seat's attacks, or at the end of the seat's turn. With
`every_attack`, the board before each attack is a position too. The value of a position is the seat's win
probability, learned from the rest of the game as in backgammon (Tesauro 1995). The target is the result of
the game or, if the game was truncated, the value of the last position. With `td_lambda` below 1, the values
of the positions in between count as well. In this module, a *round* is a training round: whole games are
played, then the network learns from the latest rounds.

Unless `begin_with` is set, only bots play the first round and, with `staleness: 1`, the second round. In all
other rounds, each seat is played by a bot with probability `bot_share`, and otherwise by `beam` with the
value that is being trained. The bots are drawn from the setting `bots`. If `bots` is empty, `random` plays
the rounds without a trained value, and `beam` plays every seat of the other rounds. For exploration, attacks
are sometimes stopped, and troops are sometimes drafted to a random territory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from risk_agents.learned.beam_value_features import MOST_UNITS, num_columns
from risk_agents.learned.schema import schema_of
from risk_agents.registry import load_bot
from risk_agents.scripted import random_bot
from risk_agents.search.beam_value import BeamValueFile, encode_positions
from risk_agents.search.evaluation import WEIGHTS
from risk_agents.search.turn_search import MOST_WIDTH
from risk_agents.workers import WorkExecutor
from risk_env.arena import Arena
from risk_env.arrays import Array, read_npz
from risk_env.board.maps import load_map
from risk_env.bots import CompiledBot
from risk_env.bounded_io import UNREADABLE
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.game_vector import GameVector
from risk_env.seeds import game_seed
from risk_training.config import (
    MOST_BATCH,
    MOST_GAMES,
    MOST_LANES,
    MOST_STEPS,
    NAMES,
    RATES,
    TWO,
    EvaluationSettings,
    NetworkSettings,
    setting,
)
from risk_training.declared import Declared, Exactly, OneOf, OrNone
from risk_training.devices import NamedWeights, moved
from risk_training.position_files import start_positions
from risk_training.run import MOST_BYTES, Metrics, TorchRun, replace_file, timed
from risk_training.run_files import BEAM_VALUE_FILE

Tensor = torch.Tensor

POSITIONS = "positions-{:06}.npz"  # positions of a round
POSITION_TYPES = {"games": np.int32, "seats": np.int8, "won": np.bool_, "truncated": np.bool_}
# bytes of a position without its features
BYTES_BESIDE = sum(np.dtype(kind).itemsize for kind in POSITION_TYPES.values())
HEADERS = 1 << 12  # maximum size of the headers in a file of positions, in bytes


@dataclass(frozen=True)
class Config(NetworkSettings):
    """Configuration of a run of the trainer `beam_value`. A step is a game."""

    TRAINER: ClassVar[str] = "beam_value"
    LENGTH: ClassVar[str] = "games"
    evaluation: EvaluationSettings = field(
        default_factory=lambda: EvaluationSettings(opponents=("grower", "beam"), interval=8_000)
    )
    # games between two checkpoints; 1: after every training round
    checkpoint_interval: int = setting(1, 1, MOST_STEPS)
    games: int = setting(24_000, 1, MOST_STEPS)
    round_games: int = setting(1000, 1, MOST_GAMES)  # games between two fits
    chunk_games: int = setting(100, 1, MOST_LANES)  # games per chunk; each chunk has its own seed
    staleness: int = setting(0, 0, 1)  # 1: play a round while learning from the previous round
    memory: int = setting(20, 1, 1000)  # number of latest rounds to learn from
    beam_width: int = setting(4, 1, MOST_WIDTH)  # beam width in training games
    bots: tuple[str, ...] = setting(("planner", "beam"), **NAMES)
    bot_share: float = setting(0.2, 0, 1)  # share of the seats that bots play
    explore: float = setting(0.02, 0, 1)  # per decision: probability of a random draft, or of no more attacks
    every_attack: bool = False  # also learn from the position before each attack
    td_lambda: float = setting(0.8, 0, 1)
    hidden_sizes: tuple[int, ...] = setting((16, 16), 1, MOST_UNITS, length=TWO)  # layer widths
    minibatches: int = setting(800, 1, 10**6)  # number of minibatches per round
    batch_size: int = setting(512, 1, MOST_BATCH)
    learning_rate: float = setting(2e-3, *RATES)  # decays linearly to a tenth
    weight_decay: float = setting(0.01, 0, 1)


class Network(NamedWeights):
    """The network of `risk_agents.learned.beam_value_features` in PyTorch, for training."""

    def __init__(self, columns: int, first: int, second: int) -> None:
        super().__init__()
        for name, inputs, outputs in (
            ("first", columns, first),
            ("second", first, second),
            ("output", second, 1),
        ):
            self.weights[name] = nn.init.kaiming_uniform_(torch.empty(outputs, inputs), 5**0.5).T.contiguous()
            self.weights[f"{name}_bias"] = torch.zeros(outputs)
        self.weights["trust"] = torch.ones(1)

    def forward(self, features: Tensor) -> Tensor:
        """Return log-odds of winning (k,) for features float32 (k, columns).

        The last column is the log-odds of the heuristic.
        """
        weights = self.weights
        first = (features @ weights["first"] + weights["first_bias"]).clip(0)
        second = (first @ weights["second"] + weights["second_bias"]).clip(0)
        correction = (second @ weights["output"] + weights["output_bias"])[:, 0]
        return weights["trust"] * features[:, -1] + correction

    def chances(self, features: Array) -> Array:
        """Return win probabilities float32 (k,) for features (k, columns)."""
        with torch.no_grad():
            parts = torch.as_tensor(features).split(1 << 14)
            device = self.weights["output"].device
            return torch.cat([self(moved(part, device).float()).sigmoid() for part in parts]).cpu().numpy()


# The games


@dataclass
class Positions:
    """The positions of a round or of a chunk. The positions of each game are in the order of play."""

    features: Array  # float16 (k, columns)
    games: Array  # int32 (k,): number of the game
    seats: Array  # int8 (k,): seat for which the position is evaluated
    won: Array  # bool (k,): True if the seat won the game
    truncated: Array  # bool (k,): True if the game was truncated

    @classmethod
    def joined(cls, chunks: Sequence[Positions], size: int) -> Positions:
        """Join the positions of several chunks. Every chunk except the last has `size` games."""
        positions = cls(
            *(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in vars(chunks[0]))
        )
        positions.games += np.repeat(
            size * np.arange(len(chunks)), [len(chunk.games) for chunk in chunks]
        ).astype(np.int32)
        return positions

    def save(self, path: Path) -> None:
        """Write the positions to a file."""
        np.savez_compressed(path, **vars(self))  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path, columns: int, most: int = MOST_BYTES) -> Positions:
        """Return the positions in a file that `save` wrote, with `columns` features per position.

        Raises ValueError, which names the file, if the file has other content or more than `most` bytes.
        """
        try:
            arrays = read_npz(path, most, "fib")
        except UNREADABLE as error:
            raise ValueError(f"{path.name} cannot be read: {error}") from error
        count = np.size(arrays.get("games", ()))
        wanted = {name: (np.dtype(dtype), (count,)) for name, dtype in POSITION_TYPES.items()}
        wanted["features"] = np.dtype(np.float16), (count, columns)
        if {name: (values.dtype, values.shape) for name, values in arrays.items()} != wanted:
            raise ValueError(f"{path.name} does not have the arrays of positions with {columns} columns")
        games, seats = arrays["games"], arrays["seats"]
        if count and (games.min() < 0 or not 0 <= seats.min() <= seats.max() < MAX_SEATS):
            given = f"game numbers from {games.min()} and seats from {seats.min()} to {seats.max()}"
            needed = f"must have game numbers of 0 or more, and seats from 0 to {MAX_SEATS - 1}"
            raise ValueError(f"{path.name} has {given}; it {needed}")
        if not np.isfinite(arrays["features"]).all():
            raise ValueError(f"{path.name} has features that are not finite")
        return cls(**arrays)


def play_chunk(config: Config, first: int, count: int, learner: BeamValueFile | None) -> Positions:
    """Play `count` games, beginning with game number `first`, and return the positions.

    Without a learner, bots play all seats.
    """
    return Games(config, first, count).play(learner and learner.bot("learner", width=config.beam_width))


class Games:
    """Whole games with consecutive numbers, played together."""

    def __init__(self, config: Config, first: int, count: int) -> None:
        self.config, self.rules, self.board = config, config.rules(), load_map(config.map)
        self.first = first
        self.columns = num_columns(self.rules, self.board)
        self.batch = GameVector(self.rules, self.board, count, observation=None, mask=None, autoreset=False)
        self.seeds = np.array([game_seed(config.seed, first + lane) for lane in range(count)], np.uint64)
        self.chance = np.random.default_rng([config.seed, first])

    def play(self, learner: CompiledBot | None) -> Positions:
        """Play the games, and return their positions.

        Without a learner, bots play all seats.
        """
        running = np.arange(self.batch.num_games)
        arena = self._arena(learner)
        self.batch.begin_seeded(running, self.seeds)
        self.batch.begin_at(running, start_positions(self.config, self.board), self.first + running)
        arena.seat_players(running)
        records, pieces = self.batch.records, []
        while len(running):
            turn, phase = records["turn"][running].copy(), records["phase"][running].copy()
            arena.query_players(running)
            self._explore(running, phase, arena)
            arena.step(running)
            pieces.append(self._left_behind(running, turn, phase))
            running = running[records["seat"][running] >= 0]
        games, seats, features = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        won, truncated = records["winner"][games] == seats, records["truncated"][games] > 0
        return Positions(features, games.astype(np.int32), seats.astype(np.int8), won, truncated)

    def _arena(self, learner: CompiledBot | None) -> Arena:
        """Return an arena in which the player of each seat of each game is drawn separately."""
        config, P = self.config, self.rules.num_players
        arena = Arena(
            self.batch, [*map(load_bot, config.bots), *([learner] if learner else []), random_bot.BOT]
        )
        shape = self.batch.num_games, P
        by_bot = self.chance.random(shape) < (config.bot_share if learner else 1.0)
        bots = (
            self.chance.integers(len(config.bots), size=shape) if config.bots else np.zeros(shape, np.int64)
        )
        arena.numbers[:, :P] = np.where(by_bot, bots, len(config.bots))
        return arena

    def _explore(self, running: Array, phase: Array, arena: Arena) -> None:
        """Replace some actions, selected at random, by a random draft or by the end of the attacks.

        The player then makes a new plan.
        """
        explored = self.chance.random(len(running)) < self.config.explore
        called_off = running[explored & (phase == Phase.ATTACK)]
        arena.actions[called_off] = self.batch.tables.rules[0].done
        anywhere = running[explored & (phase == Phase.DRAFT)]
        records, T = self.batch.records, self.batch.tables
        random_bot.BOT.choose(records, T.board, T.rules, anywhere, arena.randoms, arena.memory, arena.actions)
        arena.memory[np.concatenate([called_off, anywhere])] = 0

    def _left_behind(self, running: Array, turn: Array, phase: Array) -> tuple[Array, Array, Array]:
        """Return games, seats and features of the positions after a step.

        `turn` contains the seats whose turn it was before the step, and `phase` the phases before the step.
        """
        records = self.batch.records
        after = records["phase"][running]
        is_open = records["seat"][running] >= 0
        turn_over = is_open & (phase >= Phase.DRAFT) & (records["turn"][running] != turn)
        in_attacks = (phase >= Phase.DRAFT) & (phase < Phase.FORTIFY_FROM)
        attacks_over = is_open & in_attacks & (turn_over | (after == Phase.FORTIFY_FROM))
        if self.config.every_attack:
            attacks_over |= is_open & (after == Phase.ATTACK)
        games = np.concatenate([running[attacks_over], running[turn_over]])
        seats = np.concatenate([turn[attacks_over], turn[turn_over]]).astype(np.int64)
        features = np.zeros((len(games), self.columns), np.float32)
        moved = np.arange(len(games)) >= attacks_over.sum()
        T = self.batch.tables
        encode_positions(records, T.board, T.rules, games, seats, moved, WEIGHTS.astype(np.float32), features)
        return games, seats, features.astype(np.float16)


def lambda_returns(positions: Positions, chances: Array, td_lambda: float) -> Array:
    """Return the targets of TD(λ), float32 (k,), given the current values `chances` (k,).

    Targets are computed along a seat's own positions in a game. The last position gets 1 if the seat won, 0
    if the seat did not win, or its own value if the game was truncated. Every earlier position gets
    `td_lambda` times the target of the next position plus `1 - td_lambda` times the value of the next
    position.
    """
    targets = np.where(positions.truncated, chances, positions.won).astype(np.float32)
    order = np.lexsort((np.arange(len(targets)), positions.seats, positions.games))
    games, seats = positions.games[order], positions.seats[order]
    begins = np.flatnonzero(np.append(True, (games[1:] != games[:-1]) | (seats[1:] != seats[:-1])))
    lengths = np.diff(np.append(begins, len(order)))  # number of positions of each seat in each game
    for place in range(int(lengths.max(initial=0)) - 2, -1, -1):
        begun = begins[lengths > place + 1] + place
        here, after = order[begun], order[begun + 1]
        targets[here] = td_lambda * targets[after] + (1 - td_lambda) * chances[after]
    return targets


def brier_score(chances: Array, won: Array) -> float:
    """Return the mean squared error of win probabilities."""
    return float(np.mean((chances - won) ** 2))


# Learning


class Trainer(TorchRun):
    """A run of TD(λ): network, optimizer and the latest positions."""

    CONFIG, FILE, KIND = Config, BEAM_VALUE_FILE, BeamValueFile
    config: Config

    def __init__(
        self,
        config: Config,
        folder: str | Path,
        executor: WorkExecutor | None = None,
        named: Sequence[str] = (),
    ) -> None:
        super().__init__(config, folder, executor, named)
        self.network = Network(num_columns(self.rules, self.board), *config.hidden_sizes).to(self.device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), weight_decay=config.weight_decay, fused=True
        )
        self.positions: dict[int, Positions] = {}  # latest positions, by number of the round
        self.ahead: dict[str, Any] | None = None  # weights used in the running round
        self.running: list[Future[Positions]] = []  # chunks of the running round

    def update(self) -> Metrics:
        """Play a round and learn from the latest rounds."""
        stale = {"actors/staleness": int(self.ahead is not None)} if self.config.staleness else {}
        with timed(self.spent, "games"):
            played = self._play_round()
        metrics = stale | self.predictions(played)
        self.steps += self.config.round_games
        self._keep(self.updates + 1, played)
        with timed(self.spent, "update"):
            return metrics | self.learn()

    def _play_round(self) -> Positions:
        """Play the next round. With `staleness: 1`, also start the following round, if any."""
        config = self.config
        is_trained = self.updates > 0 or config.begin_with is not None
        weights = self.arrays() if is_trained else {}
        if self.ahead is None:
            self._begin_round(self.steps, weights)
        played = Positions.joined([future.result() for future in self.running], config.chunk_games)
        self.ahead, following = None, self.steps + config.round_games
        if config.staleness and following < config.length:
            self.ahead = weights
            self._begin_round(following, weights)
        return played

    def _begin_round(self, begin: int, weights: Mapping[str, Array]) -> None:
        """Submit the round that begins with game number `begin` to the executor, in chunks.

        Without weights, bots play all seats.
        """
        config, end = self.config, begin + self.config.round_games
        learner = BeamValueFile(weights, schema_of(self.rules, self.board), {}) if weights else None
        shared, size = self.executor.share(learner), config.chunk_games
        pieces = ((first, min(size, end - first)) for first in range(begin, end, size))
        self.running = [self.executor.submit(play_chunk, config, *piece, shared) for piece in pieces]

    def _keep(self, number: int, played: Positions) -> None:
        """Store the positions of a round in memory and in the folder.

        Only the latest `memory` rounds stay in memory.
        """
        replace_file(self._file(number), played.save)
        self.positions[number] = played
        self.positions.pop(number - self.config.memory, None)

    def predictions(self, played: Positions) -> Metrics:
        """Return metrics of games that no update has used, such as Brier scores of network and heuristic."""
        heuristic = 1 / (1 + np.exp(-played.features[:, -1].astype(np.float32)))
        return {
            "games/positions": len(played.won),
            "games/truncated": float(played.truncated.mean()),
            "games/brier": brier_score(self.network.chances(played.features), played.won),
            "games/brier_heuristic": brier_score(heuristic, played.won),
        }

    def learn(self) -> Metrics:
        """Fit the network to the latest positions."""
        config, latest = self.config, list(self.positions.values())
        targets = [
            lambda_returns(part, self.network.chances(part.features), config.td_lambda) for part in latest
        ]
        features = self.moved(np.concatenate([part.features for part in latest]))
        wanted = self.moved(np.concatenate(targets))
        learning_rate = self.set_learning_rate()
        rows = chain.from_iterable(self.minibatches(len(wanted)) for _ in count())  # one pass after another
        losses = [
            self._update_on(features[at].float(), wanted[at]) for at in islice(rows, config.minibatches)
        ]
        value_loss = np.mean([loss.item() for loss in losses])
        return {"train/value_loss": float(value_loss), "train/learning_rate": learning_rate}

    def _update_on(self, features: Tensor, targets: Tensor) -> Tensor:
        """Make one step of the optimizer on a minibatch and return the cross-entropy before the step."""
        with self.mixed():
            logits = self.network(features)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, targets)
        return self.step_optimizer(loss)

    def write_policy(self) -> None:
        """Write `beam_value.npz`, and remove position files that are no longer needed."""
        super().write_policy()
        needed = {self._file(number) for number in self.positions}
        for path in set(self.folder.glob(POSITIONS.replace("{:06}", "*"))) - needed:
            path.unlink()

    def state_dict(self) -> dict[str, Any]:
        """Return the run's state, the numbers of the stored rounds, and the weights for the next round.

        The positions of each round are in a separate file.
        """
        return super().state_dict() | {"positions": list(self.positions), "ahead": self.ahead}

    def declared(self) -> dict[str, Declared]:
        """Return the declarations of the run, of its latest rounds, and of the round that is being played."""
        latest = range(max(1, self.updates - self.config.memory + 1), self.updates + 1)
        weights = self.network.arrays()
        ahead = OrNone(OneOf(({}, weights))) if self.config.staleness else Exactly(None)
        return super().declared() | {"positions": Exactly(list(latest)), "ahead": ahead}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        super().load_state_dict(state)
        columns, most = num_columns(self.rules, self.board), self._most_bytes()
        self.positions = {
            number: Positions.load(self._file(number), columns, most) for number in state["positions"]
        }
        self.ahead = state["ahead"]
        if self.ahead is not None:
            self._begin_round(self.steps, self.ahead)

    def _most_bytes(self) -> int:
        """Return the maximum size of a file with the positions of a round, in bytes.

        Without `every_attack`, a turn of a seat has at most two positions.
        """
        rules = self.rules
        if rules.max_rounds is None or self.config.every_attack:
            return MOST_BYTES
        positions = 2 * rules.num_players * (rules.max_rounds + 1) * self.config.round_games
        return min(MOST_BYTES, positions * (2 * num_columns(rules, self.board) + BYTES_BESIDE) + HEADERS)

    def _file(self, number: int) -> Path:
        return self.folder / POSITIONS.format(number)
