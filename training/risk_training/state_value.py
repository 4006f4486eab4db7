"""The trainer `state_value`: a network learns each seat's win probability when a turn begins.

In a training round, compiled bots play whole games with each number of players in `tables`. When the turn of
a seat begins, another bot sometimes replaces the bot of the seat. Positions are therefore more varied than
with one bot. Some seats place all their first troops on a random territory, or claim a random continent
first. `strategist` may make such choices too.

The network's targets are the results of the games and, by TD(λ), the network's predictions for later turns
(Tesauro 1995). After each round, the network learns from the positions of the round. With a `bot_share` below
1, `tactician` plays the remaining seats. The current network, or the value that `judge` names, then evaluates
the plans of `tactician`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from risk_agents.learned.dangers import first_danger
from risk_agents.learned.schema import schema_of
from risk_agents.learned.state_value import (
    MOST_UNITS,
    StateValueFile,
    input_columns,
    state_value_shapes,
    write_codes,
)
from risk_agents.registry import load_bot
from risk_agents.scripted import style
from risk_agents.search import beam
from risk_agents.search.beam import GATHER
from risk_agents.search.judges import judges_by
from risk_agents.search.strategist import LEAST_GAMES, Budget, Strategist
from risk_agents.search.tactician import judged_by
from risk_agents.workers import InProcess, WorkExecutor
from risk_env.arena import ANY_SEAT, Arena
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import CHOICES, Rules
from risk_env.bots import CompiledBot
from risk_env.core.observe import BLOCK, TERRITORY_WIDTH
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.game_vector import GameVector
from risk_env.network_features import count_features
from risk_env.seeds import game_seed
from risk_training.config import (
    MOST_BATCH,
    MOST_GAMES,
    MOST_LANES,
    MOST_STEPS,
    RATES,
    TWO,
    EvaluationSettings,
    NetworkSettings,
    setting,
)
from risk_training.devices import NamedWeights, moved
from risk_training.first_weights import path_of
from risk_training.position_files import start_positions
from risk_training.run import Metrics, TorchRun, made_by, timed
from risk_training.run_files import STATE_VALUE_FILE
from risk_training.win_rate import Seating

Array = npt.NDArray[Any]
Tensor = torch.Tensor

LANES = 512
GATHERER = beam.other_turn(beam.BOT, "gathering beam", width=1)  # places only the first troops
CLAIMER = style.bot("claimer", "1", style.Style(gathers=1))  # claims a random continent first
LEARNER = "learner"  # name of `tactician` with the value that is being trained
DEAD = -1e9  # logit of a seat that cannot win


@dataclass(frozen=True)
class StateNetworkSettings(NetworkSettings):
    """Settings shared by the trainers `state_value` and `turn_policy`. One step is one game."""

    LENGTH: ClassVar[str] = "games"

    # games between two checkpoints; 1: after every training round
    checkpoint_interval: int = setting(1, 1, MOST_STEPS)
    games: int = setting(14_000, 1, MOST_STEPS)
    # numbers of players in the games of a training round
    tables: tuple[int, ...] = setting((2, 3, 4, 5, 6), 2, MAX_SEATS, length=range(1, MAX_SEATS))
    round_games: int = setting(2000, 1, MOST_GAMES)  # games between two fits, divided evenly among `tables`
    chunk_games: int = setting(100, 1, MOST_LANES)  # games per chunk; each chunk has its own seed
    bots: tuple[str, ...] = setting(("breaker", "hunter", "grower", "planner", "beam"), length=range(1, 65))
    hidden_sizes: tuple[int, ...] = setting((192, 32), 1, MOST_UNITS, length=TWO)  # layer widths
    n_epochs: int = setting(3, 1, 1000)  # epochs per fit
    batch_size: int = setting(1024, 1, MOST_BATCH)
    learning_rate: float = setting(2e-3, *RATES)  # decays linearly to a tenth
    weight_decay: float = setting(0.01, 0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.tables)) < len(self.tables):
            raise ValueError(f"tables={self.tables!r}: name each number of players once")
        if self.round_games % len(self.tables):
            raise ValueError(
                f"round_games={self.round_games!r}: must be a multiple of {len(self.tables)}, "
                "the number of entries of tables"
            )
        for players in self.tables:
            self.rules_for(players)

    def chunks(self, begin: int) -> list[tuple[int, int, int]]:
        """Return the chunks of the round that begins with game number `begin`.

        A chunk is a tuple of the number of players, the number of the first game and the number of games. The
        chunks are in the order of the numbers of players in `tables`.
        """
        count, size = self.round_games // len(self.tables), self.chunk_games
        firsts = range(0, count, size)
        return [(players, begin + k, min(size, count - k)) for players in self.tables for k in firsts]

    def rules(self) -> Rules:
        """Return the rules of the evaluation games."""
        return self.rules_for(self.players or max(self.tables))

    def read_value(self, source: str) -> StateValueFile:
        """Return the value of a file, or of the agent with this name.

        Raises ValueError if the value cannot be read or does not fit the games.
        """
        source = path_of(StateValueFile.KIND, source)
        value = StateValueFile.load(source)
        value.check(self.rules(), load_map(self.map), source)
        return value


@dataclass(frozen=True)
class Config(StateNetworkSettings):
    """Configuration of a run of the trainer `state_value`."""

    TRAINER: ClassVar[str] = "state_value"

    evaluation: EvaluationSettings = field(
        default_factory=lambda: EvaluationSettings(opponents=("beam",), games=60, interval=14_000)
    )
    weights: tuple[float, ...] = setting((0.4, 0.3, 0.2, 0.07, 0.03), 0, 1e6)  # weight of each bot
    change: float = setting(0.1, 0, 1)  # probability that a seat gets another bot when the seat's turn begins
    # probability that a seat places all first troops together, or claims a random continent first
    gather: float = setting(0.5, 0, 1)
    share: float = setting(0.8, 1e-3, 1)  # share of the positions to keep
    td_lambda: float = setting(0.9, 0, 1)
    search_games: int = setting(60, LEAST_GAMES, 10**6)  # games per turn of `strategist` in evaluations
    # set-ups, which the chunks of games use in turn (default: the set-up of the rules)
    setups: tuple[str, ...] = setting((), choices=CHOICES["setup"], length=range(5))
    dangers: bool = False  # True if the network reads dangers (`risk_agents.learned.dangers`)
    bot_share: float = setting(1.0, 0, 1)  # share of the seats that bots play, not `tactician`
    judge: str | None = None  # value of `tactician`: file or agent (default: the current network)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != len(self.bots) or not sum(self.weights):
            raise ValueError(
                f"weights={self.weights!r}: must have one number for each of bots={self.bots!r}, not all 0"
            )
        for players in self.tables:
            self.setups_for(players)
        if self.judge is not None and not self.has_tactician:
            raise ValueError(f"judge={self.judge!r} needs a bot_share below 1: with 1, bots play every seat")

    def setups_for(self, players: int) -> list[Rules]:
        """Return the rules with each of `setups` that this number of players allows, in order.

        Without `setups`, the rules keep their set-up. Raises ValueError if this number of players allows none
        of `setups`.
        """
        rules = self.rules_for(players)
        allowed, refused = [], None
        for setup in self.setups or (rules.setup,):
            try:
                allowed.append(rules.replace(setup=setup))
            except ValueError as error:
                refused = error
        if not allowed:
            raise ValueError(f"setups={self.setups!r}: not allowed with {players} players: {refused}")
        return allowed

    @property
    def has_tactician(self) -> bool:
        """True if `tactician` plays some of the seats."""
        return self.bot_share < 1


class StateNetwork(NamedWeights):
    """The network of `risk_agents.learned.state_value` in PyTorch, for training."""

    def __init__(self, columns: int, first: int, second: int, outputs: int) -> None:
        super().__init__()
        for name, shape in state_value_shapes(columns, first, second, outputs).items():
            self.weights[name] = torch.zeros(shape)
            if len(shape) == 2:
                nn.init.kaiming_uniform_(self.weights[name].T, 5**0.5)
        self.register_buffer("scales", torch.as_tensor(count_features()), persistent=False)

    def forward(self, codes: Tensor) -> Tensor:
        """Return outputs (k, outputs) for codes int8 (k, columns)."""
        weights = self.weights
        inputs = self.scales[codes.int()].flatten(1)
        first = (inputs @ weights["first"] + weights["first_bias"]).clip(0)
        second = (first @ weights["second"] + weights["second_bias"]).clip(0)
        outputs: Tensor = second @ weights["output"] + weights["output_bias"]
        return outputs


class Network(StateNetwork):
    """The network of a state value."""

    def __init__(self, columns: int, alive: Array, first: int, second: int) -> None:
        super().__init__(columns, first, second, MAX_SEATS)
        self.register_buffer("alive", torch.as_tensor(alive), persistent=False)

    def forward(self, codes: Tensor) -> Tensor:
        """Return log-probabilities (k, 6) of winning for codes int8 (k, columns).

        Column 0 of the result belongs to the observing seat. The other seats follow in the order of play.
        """
        return super().forward(codes).masked_fill(codes[:, self.alive] == 0, DEAD).log_softmax(1)

    def chances(self, codes: Array) -> Array:
        """Return win probabilities, float32 (k, 6), for observation codes, int8 (k, columns)."""
        with torch.no_grad():
            parts = (moved(part, self.scales.device) for part in torch.as_tensor(codes).split(1 << 13))
            return torch.cat([self(part).exp() for part in parts]).cpu().numpy()


@dataclass
class Positions:
    """Positions at the start of turns. The positions of each game are in the order of play.

    All games have the same number of players.
    """

    codes: Array  # int8 (k, columns): the network's columns for the seat whose turn begins
    games: Array  # int64 (k,): number of the game
    lookers: Array  # int64 (k,): seat whose turn begins, which observes
    winners: Array  # int64 (games,): winning seat, or -1 if the game was truncated
    players: int

    @classmethod
    def joined(cls, chunks: Sequence[Positions], size: int) -> Positions:
        """Join the positions of chunks with the same number of players.

        Every chunk except the last has `size` games.
        """
        names = ("codes", "games", "lookers", "winners")
        parts = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in names)
        positions = cls(*parts, chunks[0].players)
        positions.games += np.repeat(size * np.arange(len(chunks)), [len(chunk.games) for chunk in chunks])
        return positions


def play_chunk(
    config: Config, players: int, first: int, count: int, judge: StateValueFile | None = None
) -> Positions:
    """Play `count` games with this number of players, and return the positions.

    The first game has number `first`. `judge` is the value of `tactician`, if `tactician` plays some seats.
    """
    return Games(config, players, first, judge).play(count)


class Games:
    """Whole games with one number of players, beginning with game number `first`.

    The players are compiled bots, and `tactician` if there is a `judge`.
    """

    def __init__(self, config: Config, players: int, first: int, judge: StateValueFile | None = None) -> None:
        self.config, self.players, self.first = config, players, first
        setups = config.setups_for(players)
        self.rules = setups[first // config.chunk_games % len(setups)]
        self.board = load_map(config.map)
        self.gatherer = CLAIMER if self.rules.setup == "claim" else GATHERER
        bots, weights = self._bots_that_know()
        self.gatherer_number = len(bots)
        self.seated = [*bots, self.gatherer, *([] if judge is None else [judged_by(judge, LEARNER)])]
        # the last two entries are the gatherer and `tactician`
        self.weights = np.append(config.bot_share * weights, [0, 1 - config.bot_share])
        self.positions = start_positions(config, self.board, players)
        self.columns = input_columns(self.board, config.dangers)
        self.chance = np.random.default_rng([config.seed, players, first])

    def _bots_that_know(self) -> tuple[list[CompiledBot], Array]:
        """Return the bots that can play these games, and their shares of the bots' seats.

        The policies of `selfplay`, for example, play only with the number of players of their training.
        Raises ValueError if no bot can play.
        """
        specs = zip(self.config.bots, self.config.weights, strict=True)
        bots = [(load_bot(spec), weight) for spec, weight in specs if weight]
        fit = [(bot, weight) for bot, weight in bots if bot.knows(self.rules, self.board)]
        if not fit:
            raise ValueError(
                f"bots={self.config.bots!r}: no bot with a weight above 0 can play these rules with "
                f"{self.players} players on this map"
            )
        weights = np.array([weight for _, weight in fit])
        return [bot for bot, _ in fit], weights / weights.sum()

    def play(self, count: int) -> Positions:
        """Play `count` games, and return their positions."""
        lanes = np.arange(min(LANES, count))
        batch = GameVector(self.rules, self.board, len(lanes), observation=None, mask=None, autoreset=False)
        arena = Arena(batch, self.seated)
        arena.stop_at_turn[:] = ANY_SEAT
        records, winners, pieces = arena.batch.records, np.full(count, -1), []
        game_of, following = lanes.copy(), len(lanes)
        self._begin(arena, lanes, lanes)
        while len(lanes):
            arena.play_on(lanes)
            is_over = records["phase"][lanes] == Phase.OVER
            over, lanes = lanes[is_over], lanes[~is_over]
            winners[game_of[over]] = records["winner"][over]
            in_turns = lanes[records["round_number"][lanes] > 0]  # after the set-up
            pieces.append(self._seen(arena, in_turns, game_of))
            self._change_players(arena, in_turns)
            free = over[: count - following]
            game_of[free] = following + np.arange(len(free))
            following += len(free)
            self._begin(arena, free, game_of[free])
            lanes = np.concatenate([lanes, free])
        codes, games, lookers = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return Positions(codes, games, lookers, winners, self.players)

    def _begin(self, arena: Arena, lanes: Array, numbers: Array) -> None:
        """Begin the games with these numbers in these lanes."""
        arena.numbers[lanes] = self._draw((len(lanes), MAX_SEATS))
        seeds = [game_seed(self.config.seed, self.first + game) for game in numbers.tolist()]
        arena.batch.begin_seeded(lanes, np.array(seeds, np.uint64))
        arena.batch.begin_at(lanes, self.positions, self.first + numbers)
        is_gathering = self.chance.random((len(lanes), MAX_SEATS)) < self.config.gather
        arena.numbers[lanes] = np.where(is_gathering, self.gatherer_number, arena.numbers[lanes])
        arena.seat_players(lanes)
        for k, seat in np.argwhere(is_gathering[:, : self.players]).tolist():
            self._choose_first(arena, lanes[k], seat)

    def _choose_first(self, arena: Arena, lane: int, seat: int) -> None:
        """Draw the first continent of a CLAIMER, or the place of the first troops of a GATHERER."""
        memory = arena.memory[lane, seat]
        if self.gatherer is CLAIMER:
            memory[style.FAVOURITE] = 1 + self.chance.integers(len(self.board.continents))
        elif len(own := np.flatnonzero(arena.batch.records["owner"][lane] == seat)):
            memory[GATHER] = 1 + self.chance.choice(own)

    def _draw(self, shape: tuple[int, ...]) -> Array:
        """Draw players, as indices into `seated`, with probabilities `weights`."""
        return self.chance.choice(len(self.weights), size=shape, p=self.weights)

    def _seen(self, arena: Arena, lanes: Array, game_of: Array) -> tuple[Array, Array, Array]:
        """Return codes, games and seats for a random share of these lanes, in which turns begin."""
        kept = lanes[self.chance.random(len(lanes)) < self.config.share]
        batch, codes = arena.batch, np.zeros((len(kept), len(self.columns)), np.int8)
        dangers = first_danger(self.board) if self.config.dangers else 0
        write_codes(batch.records, batch.tables.board, batch.tables.rules, kept, self.columns, dangers, codes)
        return codes, game_of[kept], batch.records["seat"][kept].astype(np.int64)

    def _change_players(self, arena: Arena, lanes: Array) -> None:
        """Draw new players for seats whose turns begin: random seats, and all seats of the gatherer."""
        seats = arena.batch.records["turn"][lanes]
        is_changed = self.chance.random(len(lanes)) < self.config.change
        is_changed |= arena.numbers[lanes, seats] == self.gatherer_number
        changed, seats = lanes[is_changed], seats[is_changed]
        arena.seat_bots(changed, seats, self._draw((len(changed),)))


def living(columns: Array, board: Board) -> Array:
    """Return the indices int64 (6,), in `columns`, of the columns that are 1 for living players."""
    first = TERRITORY_WIDTH * board.num_territories + BLOCK.alive
    return np.searchsorted(columns, first + np.arange(MAX_SEATS))


def table_targets(positions: Positions, chances: Array, td_lambda: float) -> Array:
    """Return the targets of TD(λ), float32 (k, 6), given the current win probabilities float32 (k, 6).

    Column 0 belongs to the observing seat, and the other seats follow in the order of play. The last position
    of a game gets the result of the game, or its own probabilities if the game was truncated. Every earlier
    position gets `td_lambda` times the target of the next position plus `1 - td_lambda` times the
    probabilities of the next position.
    """
    P = positions.players
    seats = (positions.lookers[:, None] + np.arange(P)) % P  # seat of each column
    rows = np.arange(len(chances))[:, None]
    by_seat = np.zeros((len(chances), P), np.float32)
    by_seat[rows, seats] = chances[:, :P]
    targets = np.zeros_like(by_seat)
    for game, own in _by_game(positions.games):
        winner = positions.winners[game]
        ahead = by_seat[own[-1]] if winner < 0 else np.eye(P, dtype=np.float32)[winner]
        for row in own[::-1]:
            targets[row] = ahead
            ahead = td_lambda * ahead + (1 - td_lambda) * by_seat[row]
    padded = np.zeros((len(chances), MAX_SEATS), np.float32)
    padded[:, :P] = targets[rows, seats]
    return padded


def _by_game(games: Array) -> list[tuple[int, Array]]:
    """Return the number and the rows of each game, in ascending order of the games."""
    order = np.argsort(games, kind="stable")
    numbers, firsts = np.unique(games[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(order, firsts[1:]), strict=True))


class Trainer(TorchRun):
    """A run of the trainer `state_value`: network and optimizer."""

    CONFIG, FILE, KIND = Config, STATE_VALUE_FILE, StateValueFile
    config: Config

    def __init__(
        self,
        config: Config,
        folder: str | Path,
        executor: WorkExecutor | None = None,
        named: Sequence[str] = (),
    ) -> None:
        super().__init__(config, folder, executor, named)
        columns = input_columns(self.board, config.dangers)
        self.network = Network(len(columns), living(columns, self.board), *config.hidden_sizes).to(
            self.device
        )
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), weight_decay=config.weight_decay, fused=True
        )
        self.running: list[Future[Positions]] = []  # chunks of the next round
        self.judge = None if config.judge is None else config.read_value(config.judge)
        if config.has_tactician:
            judged_by(self.judge or self.policy(), LEARNER).check(self.rules, self.board)

    def policy(self) -> StateValueFile:
        """Return the current network as a `StateValueFile`."""
        facts = made_by(self) | {"dangers": self.config.dangers}
        return StateValueFile(self.arrays(), schema_of(self.rules, self.board), facts)

    def update(self) -> Metrics:
        """Play a round and learn from it."""
        with timed(self.spent, "games"):
            played = self._play_round()
        self.steps += self.config.round_games
        with timed(self.spent, "update"):
            chances = [self.network.chances(part.codes) for part in played]
            metrics = {"games/positions": sum(len(part.games) for part in played)}
            for part, predicted in zip(played, chances, strict=True):
                metrics |= table_metrics(part, predicted)
            return metrics | self.learn(played, chances)

    def _play_round(self) -> list[Positions]:
        """Play the next round, and return the positions for each number of players.

        If the network does not play in the games, workers begin the following round.
        """
        config, following = self.config, self.steps + self.config.round_games
        if not self.running:
            self._begin_round(self.steps)
        results, self.running = [future.result() for future in self.running], []
        plays = config.has_tactician and self.judge is None
        if not plays and not isinstance(self.executor, InProcess) and following < config.length:
            self._begin_round(following)
        chunks = len(results) // len(config.tables)
        tables = (results[k : k + chunks] for k in range(0, len(results), chunks))
        return [Positions.joined(table, config.chunk_games) for table in tables]

    def _begin_round(self, begin: int) -> None:
        """Submit the round that begins with game number `begin` to the executor, in chunks."""
        chunks = self.config.chunks(begin)
        judge = self.executor.share(self.judge or self.policy()) if self.config.has_tactician else None
        self.running = [self.executor.submit(play_chunk, self.config, *chunk, judge) for chunk in chunks]

    def learn(self, played: list[Positions], chances: list[Array]) -> Metrics:
        """Fit the network to these positions."""
        wanted = [
            table_targets(part, now, self.config.td_lambda) for part, now in zip(played, chances, strict=True)
        ]
        codes = self.moved(np.concatenate([part.codes for part in played]))
        targets = self.moved(np.concatenate(wanted))
        learning_rate = self.set_learning_rate()
        rows = [row for _ in range(self.config.n_epochs) for row in self.minibatches(len(targets))]
        losses = [self._update_on(codes[at], targets[at]) for at in rows]
        value_loss = np.mean([loss.item() for loss in losses])
        return {"train/value_loss": float(value_loss), "train/learning_rate": learning_rate}

    def _update_on(self, codes: Tensor, targets: Tensor) -> Tensor:
        """Make one step of the optimizer on a minibatch and return the cross-entropy before the step."""
        with self.mixed():
            log_chances = self.network(codes)
        loss = -(targets * log_chances).sum(1).mean()
        return self.step_optimizer(loss)

    def seating(self) -> Seating:
        """Return a factory of the agent that evaluates positions with the current network.

        The agent is `strategist`, or `tactician` if `tactician` plays in the training games.
        """
        if self.config.has_tactician:
            return partial(judged_by, self.policy(), LEARNER)
        return partial(strategist_by, self.policy(), self.config.search_games)


def strategist_by(learned: StateValueFile, games: int) -> Callable[[], Strategist]:
    """Return a function that makes a `strategist` with this value and this number of games per turn."""
    return partial(Strategist, Budget(games=games, again=0), judges_by(learned, "learner"))


def table_metrics(positions: Positions, chances: Array) -> Metrics:
    """Return the Brier score of the observing seats' win probabilities, and the share of truncated games."""
    won = positions.winners[positions.games] == positions.lookers
    truncated = float((positions.winners < 0).mean())
    brier = float(np.mean((chances[:, 0] - won) ** 2))
    return {f"games/brier_{positions.players}": brier, f"games/truncated_{positions.players}": truncated}
