"""The trainer of policies over plans: which bot should play the turn, for two to six players, learnt from rollouts.

A round plays whole games at every table. Seats are played by the policy as it is, or by bots. Where turns begin, some
positions are kept, and from each of them every plan (a bot that plays the whole turn) is tried in a game of its own,
with the same chance: the game is played on until the seat's next turns have begun, and there a value for every table
says how good it is (`risk_agents.learned.table_value`). The network learns how much better each plan is than the mean
of all: one step of policy improvement (Tesauro and Galperin 1996), which the next round's games begin from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from risk_agents.learned.schema import schema_of
from risk_agents.learned.table_value import TableValueFile, input_columns
from risk_agents.search.judges import judge_for, judges_by
from risk_agents.search.plan_policy import PLANS, SET_UP_PLAN, PlanPolicyFile
from risk_agents.workers import WorkExecutor, in_order
from risk_env.arena import ANY_SEAT, Arena
from risk_env.board.maps import Board, load_map
from risk_env.core.types import MAX_SEATS, NOBODY, Phase
from risk_env.lanes import Lanes
from risk_env.seeds import game_seed
from risk_training.config import EvaluationSettings, check_range
from risk_training.run import Metrics, TorchRun, made_by, timed
from risk_training.table_values import TableNetwork, TableSettings

Array = npt.NDArray[Any]
Tensor = torch.Tensor

POLICY = "policy.npz"
LANES = 512
BY_POLICY = -1  # instead of the number of a seat's bot


@dataclass(frozen=True)
class Config(TableSettings):
    """A run of the trainer of policies over plans."""

    TRAINER: ClassVar[str] = "plan_policy"

    evaluation: EvaluationSettings = field(
        default_factory=lambda: EvaluationSettings(opponents=("beam", "breaker"), games=300, interval=5000)
    )
    n_games: int = 10_000
    round_games: int = 1000
    plans: tuple[str, ...] = tuple(PLANS)
    bot_share: float = 0.5  # of the seats
    explore: float = 0.1  # probability that any plan is followed, not the best
    share: float = 0.8  # of the turns' beginnings that are learned from
    turns: int = 2  # own turns that are played on before a position is judged
    rivals: tuple[str, ...] = ("breaker", "hunter")  # the bots that play on
    judge: str | None = None  # the file of a value for every table, the strategist's if there is none

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("turns", self.turns, 0)
        for name in ("bot_share", "explore", "share"):
            check_range(name, getattr(self, name), 0, 1)
        if SET_UP_PLAN not in self.plans or any(plan not in PLANS for plan in self.plans):
            raise ValueError(f"plans={self.plans!r} must be names of {', '.join(PLANS)}, {SET_UP_PLAN!r} among them")


@dataclass
class Trials:
    """Positions of a table where turns began, and what became of every plan there."""

    codes: Array  # int8 (k, columns): what the seat to decide observes
    gains: Array  # float32 (k, plans): its chance to win by each plan, less the mean of all plans
    players: int

    @classmethod
    def joined(cls, chunks: Sequence[Trials]) -> Trials:
        """The trials of a table in a round, of its chunks."""
        codes, gains = (np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("codes", "gains"))
        return cls(codes, gains, chunks[0].players)


def play_chunk(config: Config, players: int, first: int, count: int, policy: PlanPolicyFile | None) -> Trials:
    """Play some games of a round at the table of that many players, from game number `first` on."""
    chance = np.random.default_rng([config.seed, players, first])
    return Table(config, players, load_map(config.map), chance, count).play(policy, first, count)


class Table:
    """Lanes for the games of a number of players, and lanes in which plans are tried."""

    def __init__(
        self, config: Config, players: int, board: Board, chance: np.random.Generator, lanes: int = LANES
    ) -> None:
        self.config, self.players, self.chance, lanes = config, players, chance, min(LANES, lanes)
        self.columns, self.plans = input_columns(board), np.arange(len(config.plans))
        rules, plans = config.table(players), [PLANS[name] for name in config.plans]
        self.arena = Arena(Lanes(rules, board, lanes, mask=None, autoreset=False), [*plans, *config.bots])
        self.arena.stop_at_turn[:] = ANY_SEAT
        batch = Lanes(rules, board, lanes * len(plans), observation=None, mask=None, autoreset=False)
        self.trials = Arena(batch, [*plans, *config.rivals])
        find = judges_by(TableValueFile.load(config.judge), config.judge) if config.judge else judge_for
        self.judge = find(rules, board)
        self.players_of = np.zeros((lanes, MAX_SEATS), np.int64)  # number of each seat's bot, or BY_POLICY

    def play(self, policy: PlanPolicyFile | None, first: int, count: int) -> Trials:
        """Play that many games from number `first` on. Without a policy plans are drawn."""
        phases = self.arena.batch.records["phase"]
        lanes, found = np.arange(self.arena.batch.num_games), []
        begun = len(lanes)
        self._begin(lanes, first + lanes)
        while len(lanes):
            self.arena.play_on(lanes)  # until a turn begins in each, so that the order of draws depends on no clock
            over, lanes = lanes[phases[lanes] == Phase.OVER], lanes[phases[lanes] != Phase.OVER]
            found.append(self._try_some(policy, lanes))
            free = over[: count - begun]
            self._begin(free, first + begun + np.arange(len(free)))
            begun += len(free)
            lanes = np.concatenate([lanes, free])
        codes, gains = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Trials(codes, gains, self.players)

    def _try_some(self, policy: PlanPolicyFile | None, lanes: Array) -> tuple[Array, Array]:
        """Try all plans in some of these lanes, in which turns begin, and choose plans for the policy's seats."""
        lanes = lanes[self.arena.batch.records["round_number"][lanes] > 0]  # set-up is over
        kept = lanes[self.chance.random(len(lanes)) < self.config.share]
        found = self._observed(kept), self.tried(self.arena.batch.records[kept])
        self._follow(policy, lanes)
        return found

    def _begin(self, lanes: Array, games: Array) -> None:
        """Begin games, by their numbers, in these lanes."""
        shape = len(lanes), MAX_SEATS
        bots = len(self.plans) + self.chance.integers(len(self.config.bots), size=shape)
        by_bot = self.chance.random(shape) < self.config.bot_share
        self.players_of[lanes] = np.where(by_bot, bots, BY_POLICY)
        self.arena.numbers[lanes] = np.where(by_bot, bots, self.config.plans.index(SET_UP_PLAN))
        seeds = [game_seed(self.config.seed, game) for game in games.tolist()]
        self.arena.batch.begin_seeded(lanes, np.array(seeds, np.uint64))
        self.arena.seat_players(lanes)

    def _observed(self, lanes: Array) -> Array:
        """What the seats to decide in these lanes observe: int8 (k, columns)."""
        self.arena.batch.ask(lanes)
        return self.arena.batch.observation[lanes[:, None], self.columns]

    def _follow(self, policy: PlanPolicyFile | None, lanes: Array) -> None:
        """Choose plans where turns of the policy's seats begin."""
        arena = self.arena
        seats = arena.batch.records["turn"][lanes].astype(np.int64)
        theirs = self.players_of[lanes, seats] == BY_POLICY
        lanes, seats = lanes[theirs], seats[theirs]
        plans = self.chance.integers(len(self.plans), size=len(lanes))
        if policy is not None:
            best = policy.outputs(arena.batch.records[lanes], arena.batch.tables).argmax(axis=1)
            plans = np.where(self.chance.random(len(lanes)) < self.config.explore, plans, best)
        arena.numbers[lanes, seats] = plans
        arena.memory[lanes, seats] = 0

    def tried(self, games: Array) -> Array:
        """What each plan gains over the mean of all in games (k,) where a turn begins: float32 (k, plans)."""
        plans, arena = len(self.plans), self.trials
        lanes, seats = np.arange(len(games) * plans), np.repeat(games["turn"].astype(np.int64), plans)
        rivals = plans + self.chance.integers(len(self.config.rivals), size=(len(games), MAX_SEATS))
        arena.batch.records[lanes] = np.repeat(self._with_new_chance(games), plans)
        arena.batch.seeds[lanes] = np.repeat(self._words(len(games)), plans)
        arena.numbers[lanes] = np.repeat(rivals, plans, axis=0)
        after = arena.numbers[lanes, seats]  # who plays the seat after this turn
        arena.numbers[lanes, seats] = np.tile(self.plans, len(games))
        arena.seat_players(lanes)
        arena.stop_at_death[lanes], arena.stop_at_turn[lanes] = NOBODY, ANY_SEAT
        arena.play_on(lanes)
        arena.numbers[lanes, seats], arena.memory[lanes, seats] = after, 0
        self._await_turns(lanes, seats)
        chances = self.judge(arena.batch, lanes)[lanes, seats].reshape(-1, plans)
        return (chances - chances.mean(axis=1, keepdims=True)).astype(np.float32)

    def _await_turns(self, lanes: Array, seats: Array) -> None:
        """Play the trials on until enough turns of these seats have begun, or they are dead."""
        records = self.trials.batch.records
        self.trials.stop_at_death[lanes] = self.trials.stop_at_turn[lanes] = seats
        for _ in range(self.config.turns):
            is_open = (records["phase"][lanes] != Phase.OVER) & (records["death"][lanes, seats] == 0)
            self.trials.play_on(lanes[is_open])

    def _with_new_chance(self, games: Array) -> Array:
        games = games.copy()
        games["random"] = self._words(len(games))
        return games

    def _words(self, count: int) -> Array:
        return self.chance.integers(2**64, size=count, dtype=np.uint64)


class Trainer(TorchRun):
    """A run: network and optimizer."""

    CONFIG, FILE = Config, POLICY
    config: Config

    def __init__(self, config: Config, folder: str | Path, executor: WorkExecutor | None = None) -> None:
        super().__init__(config, folder, executor)
        columns = len(input_columns(self.board))
        self.network = TableNetwork(columns, *config.hidden_sizes, len(config.plans)).to(self.device)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), weight_decay=config.weight_decay, fused=True)

    def update(self) -> Metrics:
        """Play a round and learn from it."""
        with timed(self.spent, "games"):
            played = self._play_round()
        self.steps += self.config.round_games
        with timed(self.spent, "update"):
            metrics = {"games/positions": sum(len(part.codes) for part in played)}
            for part in played:
                metrics |= self.gains(part)
            return metrics | self.learn(played)

    def _play_round(self) -> list[Trials]:
        """The next round, the trials of each table."""
        config, policy = self.config, self.executor.share(self.policy() if self.updates else None)
        pieces = [(config, *chunk, policy) for chunk in config.chunks(self.steps)]
        found = list(in_order(self.executor, play_chunk, pieces))
        return [Trials.joined([part for part in found if part.players == players]) for players in config.tables]

    def gains(self, part: Trials) -> Metrics:
        """What the plans gain that the policy chooses at a table, and what the best plan gains if always followed."""
        with torch.no_grad():
            outputs = torch.cat(
                [self.network(self.moved(codes)) for codes in torch.as_tensor(part.codes).split(1 << 13)]
            )
        chosen = part.gains[np.arange(len(part.gains)), outputs.argmax(1).cpu().numpy()]
        names = f"games/gain_{part.players}", f"games/best_plan_{part.players}"
        return dict(zip(names, (float(chosen.mean()), float(part.gains.mean(axis=0).max())), strict=True))

    def learn(self, played: list[Trials]) -> Metrics:
        """Fit the network to these trials."""
        codes = self.moved(np.concatenate([part.codes for part in played]))
        gains = self.moved(np.concatenate([part.gains for part in played]))
        learning_rate = self.set_learning_rate()
        rows = [row for _ in range(self.config.n_epochs) for row in self.minibatches(len(codes))]
        losses = [self._update_on(codes[at], gains[at]) for at in rows]
        policy_loss = np.mean([loss.item() for loss in losses])
        return {"train/policy_loss": float(policy_loss), "train/learning_rate": learning_rate}

    def _update_on(self, codes: Tensor, gains: Tensor) -> Tensor:
        """One step of the optimizer on a minibatch; the squared error before it, added up over the plans."""
        with self.mixed():
            outputs = self.network(codes)
        loss = (outputs - outputs.mean(1, keepdim=True) - gains).square().sum(1).mean()
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()

    def policy(self) -> PlanPolicyFile:
        """The network as it is."""
        return PlanPolicyFile(self.network.arrays(), schema_of(self.rules, self.board), made_by(self))
