"""The project's own trainer of values: TD(λ) on games in which the beam plays by what was learnt so far, in one file.

A *position* is what a seat leaves behind: when its attacks are over, and again when its turn is. Its value is the
seat's chance to win, learnt from how the game went on for that seat (Tesauro 1995 did so for backgammon): by how it
ended, or where the rounds ran out by the value of what the seat left behind last, and with `td_lambda` below 1 partly
by the values on the way. A round of whole games is played, then the network learns from the latest rounds.

The first round is played by scripted bots alone: nothing is known yet. From then on every seat is a bot's with the
chance `bot_share`, and the beam's by the learned value otherwise. So that more is seen than what seems best, now and
then attacks are called off and troops drafted anywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from risk_agents.learned.learned_value import AT_ONCE, WORKSPACE, num_columns
from risk_agents.learned.schema import schema_of
from risk_agents.scripted import random_bot
from risk_agents.search.outlook import WEIGHTS
from risk_agents.search.turn_search import MOST_WIDTH
from risk_agents.search.value_beam import ValueFile, look_all
from risk_env import arena
from risk_env.batch import GameBatch
from risk_env.board.maps import load_map
from risk_env.bots import CompiledBot
from risk_env.core.types import Phase
from risk_env.seeds import game_seed
from risk_training.config import GameSettings, known_settings
from risk_training.files import replace_file
from risk_training.run_log import RunLog, timed
from risk_training.win_rate import check_rivals, win_rate

Array = npt.NDArray[Any]

CHECKPOINT = "checkpoint.pt"
VALUE = "value.npz"
POSITIONS = "positions-{:06}.npz"  # of a round


@dataclass(frozen=True)
class Config(GameSettings):
    """A training run."""

    games: int = 24_000
    round_games: int = 1000  # games between two fits
    memory: int = 20  # rounds that are learnt from, the latest
    beam_width: int = 4  # positions that the beam keeps at each depth, in training
    bots: tuple[str, ...] = ("planner", "beam")
    bot_share: float = 0.2  # of the seats
    explore: float = 0.02  # chance that a draft goes anywhere, and that attacks are called off
    td_lambda: float = 0.8
    units: int = 16  # of the first layer
    judges: int = 16  # of the second
    minibatches: int = 800  # a round
    minibatch: int = 512
    learning_rate: float = 2e-3  # falls to a tenth, linearly
    weight_decay: float = 0.01
    evaluate_against: tuple[str, ...] = ("grower", "beam")
    evaluate_games: int = 200
    evaluate_every: int = 8_000  # games
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("games", "round_games", "memory", "minibatches", "minibatch", "evaluate_games", "evaluate_every"):
            _check_range(name, getattr(self, name), 1, None)
        for name, most in (("beam_width", MOST_WIDTH), ("units", WORKSPACE[1]), ("judges", WORKSPACE[1])):
            _check_range(name, getattr(self, name), 1, most)
        for name in ("bot_share", "explore", "td_lambda"):
            _check_range(name, getattr(self, name), 0, 1)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Config:
        """A configuration from a file; ValueError names what is unknown or wrong."""
        return cls(**known_settings(cls, facts))


def _check_range(name: str, value: float, least: float, most: float | None) -> None:
    if value < least or (most is not None and value > most):
        allowed = f"at least {least}" if most is None else f"{least} ... {most}"
        raise ValueError(f"{name}={value!r} must be {allowed}")


class Network(nn.Module):
    """The value of `risk_agents.learned.learned_value` with torch, to be trained."""

    def __init__(self, columns: int, units: int, judges: int) -> None:
        super().__init__()
        self.weights = nn.ParameterDict()
        for name, inputs, outputs in (("first", columns, units), ("second", units, judges), ("output", judges, 1)):
            self.weights[name] = nn.init.kaiming_uniform_(torch.empty(outputs, inputs), 5**0.5).T.contiguous()
            self.weights[f"{name}_bias"] = torch.zeros(outputs)
        self.weights["trust"] = torch.ones(1)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Log-odds to win, (k,), of what is seen, float32 (k, columns)."""
        weights = self.weights
        units = (seen @ weights["first"] + weights["first_bias"]).clip(0)
        judges = (units @ weights["second"] + weights["second_bias"]).clip(0)
        correction = (judges @ weights["output"] + weights["output_bias"])[:, 0]
        return weights["trust"] * seen[:, -1] + correction

    def chances(self, seen: Array) -> Array:
        """Chances to win float32 (k,), of what is seen."""
        with torch.no_grad():
            parts = torch.as_tensor(seen).split(1 << 14)
            return torch.cat([self(part.float()).sigmoid() for part in parts]).numpy()

    def arrays(self) -> dict[str, Array]:
        """The weights as NumPy arrays, copied."""
        return {name: value.detach().numpy().copy() for name, value in self.weights.items()}


# ---------------------------------------------------------------------------------------------------- the games


@dataclass
class Positions:
    """The positions of a round, in the order in which they came up."""

    seen: Array  # float16 (k, columns)
    games: Array  # int32 (k,)
    seats: Array  # int8 (k,)
    won: Array  # bool (k,): whether that seat won that game
    cut: Array  # bool (k,): whether the rounds of that game ran out

    def save(self, path: Path) -> None:
        """Write a file."""
        replace_file(path, lambda fresh: np.savez_compressed(fresh, **vars(self)))

    @classmethod
    def load(cls, path: Path) -> Positions:
        """What `save` wrote."""
        with np.load(path) as found:
            return cls(**{name: found[name] for name in found.files})


class Arena:
    """Plays rounds of whole games, the same for any number of threads."""

    def __init__(self, config: Config, threads: int = 1) -> None:
        self.config, self.rules, self.board = config, config.rules(), load_map(config.map)
        self.columns = num_columns(self.rules, self.board)
        if self.columns + AT_ONCE > WORKSPACE[1]:
            raise ValueError(f"map={config.map!r} has too many continents for a learned value")
        self.batch = GameBatch(self.rules, self.board, config.round_games, observation=None, mask=None, autoreset=False)
        self.chance = np.random.default_rng(config.seed)
        self.threads = threads

    def play(self, first: int, learner: CompiledBot | None) -> Positions:
        """Play a round, of games number `first` on; all seats are bots' where there is no learner."""
        lanes = np.arange(self.config.round_games)
        table = self._table(learner)
        seeds = np.array([game_seed(self.config.seed, first + lane) for lane in lanes], np.uint64)
        self.batch.begin_seeded(lanes, seeds)
        table.seat_players(lanes)
        records, found = self.batch.records, []
        running = lanes
        with ThreadPoolExecutor(self.threads) as pool:
            while len(running):
                turn, phase = records["turn"][running].copy(), records["phase"][running].copy()
                parts = np.array_split(running, self.threads)
                list(pool.map(table.ask, parts))
                self._explore(running, phase, table)
                table.step(running)
                found.append(self._left_behind(running, turn, phase))
                running = running[records["seat"][running] >= 0]
        return self._positions(found)

    def _table(self, learner: CompiledBot | None) -> arena.Arena:
        """Who plays which seat: drawn for every seat by itself."""
        config, P = self.config, self.rules.num_players
        table = arena.Arena(self.batch, [*config.bots, *([learner] if learner else []), random_bot.BOT])
        shape = config.round_games, P
        by_bot = self.chance.random(shape) < (config.bot_share if learner else 1.0)
        bots = self.chance.integers(len(config.bots), size=shape) if config.bots else np.zeros(shape, np.int64)
        table.numbers[:, :P] = np.where(by_bot, bots, len(config.bots))
        return table

    def _explore(self, running: Array, phase: Array, table: arena.Arena) -> None:
        """Now and then a draft goes anywhere, or attacks are called off; who plays there plans anew."""
        surprised = self.chance.random(len(running)) < self.config.explore
        called_off = running[surprised & (phase == Phase.ATTACK)]
        table.actions[called_off] = self.batch.tables.rules[0].done
        anywhere = running[surprised & (phase == Phase.DRAFT)]
        T = self.batch.tables
        random_bot.BOT.choose(
            self.batch.records, T.board, T.rules, anywhere, table.randoms, table.memory, table.actions
        )
        table.memory[np.concatenate([called_off, anywhere])] = 0

    def _left_behind(self, running: Array, turn: Array, phase: Array) -> tuple[Array, Array, Array]:
        """Games, seats and what the seats see, where attacks or a turn have just ended."""
        records = self.batch.records
        goes_on = records["seat"][running] >= 0
        turn_over = goes_on & (phase >= Phase.DRAFT) & (records["turn"][running] != turn)
        in_attacks = (phase >= Phase.DRAFT) & (phase < Phase.FORTIFY_FROM)
        attacks_over = goes_on & in_attacks & (turn_over | (records["phase"][running] == Phase.FORTIFY_FROM))
        games = np.concatenate([running[attacks_over], running[turn_over]])
        seats = np.concatenate([turn[attacks_over], turn[turn_over]]).astype(np.int64)
        seen = np.zeros((len(games), self.columns), np.float32)
        moved = np.arange(len(games)) >= attacks_over.sum()
        T = self.batch.tables
        look_all(records, T.board, T.rules, games, seats, moved, WEIGHTS.astype(np.float32), seen)
        return games, seats, seen.astype(np.float16)

    def _positions(self, found: list[tuple[Array, Array, Array]]) -> Positions:
        games, seats, seen = (np.concatenate(parts) for parts in zip(*found, strict=True))
        records = self.batch.records
        won = records["winner"][games] == seats
        return Positions(seen, games.astype(np.int32), seats.astype(np.int8), won, records["truncated"][games] > 0)


def returns(positions: Positions, chances: Array, td_lambda: float) -> Array:
    """What each position is taught: float32 (k,), of the present values `chances` (k,).

    Along a seat's own positions of a game: at its last one whether it won, or its value where the rounds ran out;
    before that `td_lambda` of what the next one is taught and the rest of what the next one is worth.
    """
    taught = np.where(positions.cut, chances, positions.won).astype(np.float32)
    order = np.lexsort((np.arange(len(taught)), positions.seats, positions.games))
    games, seats = positions.games[order], positions.seats[order]
    followed = (games[:-1] == games[1:]) & (seats[:-1] == seats[1:])
    for i in np.flatnonzero(followed)[::-1]:
        here, after = order[i], order[i + 1]
        taught[here] = td_lambda * taught[after] + (1 - td_lambda) * chances[after]
    return taught


def _brier(chances: Array, won: Array) -> float:
    """Mean squared error of chances."""
    return float(np.mean((chances - won) ** 2))


# ---------------------------------------------------------------------------------------------------- learning


class Trainer:
    """One run: network, optimiser, the latest positions and counters; `train` goes on until enough games are played."""

    def __init__(self, config: Config, folder: str | Path, threads: int = 1) -> None:
        self.config, self.folder = config, Path(folder)
        torch.manual_seed(config.seed)
        self.arena = Arena(config, threads)
        check_rivals(config.evaluate_against, self.arena.rules, self.arena.board)
        self.network = Network(self.arena.columns, config.units, config.judges)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), weight_decay=config.weight_decay, fused=True)
        self.shuffle = torch.Generator().manual_seed(config.seed)
        self.positions: dict[int, Positions] = {}  # by round
        self.games = self.rounds = 0
        self.seconds = 0.0
        self.spent = dict.fromkeys(("games", "learning", "evaluation"), 0.0)
        self.log = RunLog("games")

    def train(self, progress: Callable[[Trainer], None] = lambda trainer: None) -> None:
        """Train to the end of the run; `progress` is called after every round."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while self.games < self.config.games:
            start = process_time()
            facts = self.play_and_learn()
            self.seconds += process_time() - start
            self._write(facts)
            self.save()
            progress(self)

    def play_and_learn(self) -> dict[str, Any]:
        """A round of games and a fit; what there is to log."""
        config, before = self.config, self.games
        with timed(self.spent, "games"):
            fresh = self.arena.play(
                self.games, self.value().bot("learner", width=config.beam_width) if self.rounds else None
            )
        facts = self._foreseen(fresh)
        self.rounds += 1
        self.games += config.round_games
        self.positions[self.rounds] = fresh
        self.positions.pop(self.rounds - config.memory, None)
        with timed(self.spent, "learning"):
            facts |= self.learn()
        if before // config.evaluate_every != self.games // config.evaluate_every or self.games >= config.games:
            with timed(self.spent, "evaluation"):
                facts |= self.evaluate()
        return facts

    def _foreseen(self, fresh: Positions) -> dict[str, Any]:
        """How well the values foresaw games that they had not learnt from, beside the plain outlook."""
        outlook = 1 / (1 + np.exp(-fresh.seen[:, -1].astype(np.float32)))
        return {
            "positions": len(fresh.won),
            "brier": _brier(self.network.chances(fresh.seen), fresh.won),
            "brier_outlook": _brier(outlook, fresh.won),
            "cut": float(fresh.cut.mean()),
        }

    def learn(self) -> dict[str, Any]:
        """Fit the network to the latest positions."""
        config, latest = self.config, list(self.positions.values())
        taught = [returns(part, self.network.chances(part.seen), config.td_lambda) for part in latest]
        seen = torch.as_tensor(np.concatenate([part.seen for part in latest]))
        wanted = torch.as_tensor(np.concatenate(taught))
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * (1 - 0.9 * min(1.0, self.games / config.games))
        rows = self._minibatches(len(wanted))
        losses = [self._descend(seen[at].float(), wanted[at]) for at in islice(rows, config.minibatches)]
        return {"value_loss": float(np.mean(losses))}

    def _minibatches(self, count: int) -> Iterator[torch.Tensor]:
        """Minibatches of so many positions without end, all of them once before any again."""
        while True:
            yield from torch.randperm(count, generator=self.shuffle).split(self.config.minibatch)

    def _descend(self, seen: torch.Tensor, wanted: torch.Tensor) -> float:
        """One step of the optimiser on a minibatch; the cross-entropy before it."""
        loss = nn.functional.binary_cross_entropy_with_logits(self.network(seen), wanted)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return loss.item()

    def evaluate(self) -> dict[str, Any]:
        """Win rates against scripted bots in all seats, with their 95 % intervals; the beam is as wide as it plays."""
        bot, facts = self.value().bot("learner"), {}
        for rival in self.config.evaluate_against:
            found = win_rate(bot, self.arena.rules, self.arena.board, rival, self.config.evaluate_games)
            facts[f"win_rate/{rival}"], facts[f"win_rate_low/{rival}"], facts[f"win_rate_high/{rival}"] = found.interval
        return facts

    def value(self) -> ValueFile:
        """The network as it is, as a value that the beam plays by."""
        made = {
            "name": self.folder.name,
            "version": str(self.games),
            "config": dataclasses.asdict(self.config),
            "games": self.games,
            "cpu_seconds": round(self.seconds),
        }
        return ValueFile(self.network.arrays(), schema_of(self.arena.rules, self.arena.board), made)

    # ---------------------------------------------------------------------------------------------- files

    def _write(self, facts: dict[str, Any]) -> None:
        """A row of the log."""
        counts = {"games": self.games, "cpu_seconds": round(self.seconds, 3), "rounds": self.rounds}
        breakdown = {f"ms/{name}": 1e3 * spent / self.games for name, spent in self.spent.items()}
        self.log.rows.append(counts | facts | breakdown)

    def save(self) -> None:
        """Positions, checkpoint, value and log, each replaced at once: a killed run goes on from its last round."""
        self.positions[self.rounds].save(self._positions_file(self.rounds))
        state = {
            "config": dataclasses.asdict(self.config),
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "chance": self.arena.chance.bit_generator.state,
            "shuffle": self.shuffle.get_state(),
            "counters": (self.games, self.rounds, self.seconds, self.spent),
            "log": self.log.rows,
        }
        replace_file(self.folder / CHECKPOINT, lambda path: torch.save(state, path))
        replace_file(self.folder / VALUE, lambda path: self.value().save(path))
        self.log.write(self.folder)
        self._positions_file(self.rounds - self.config.memory).unlink(missing_ok=True)

    def _positions_file(self, number: int) -> Path:
        return self.folder / POSITIONS.format(number)

    @classmethod
    def resume(cls, folder: str | Path, games: int | None = None, threads: int = 1) -> Trainer:
        """The run of a folder as it was after its last round, to go on to so many games if that is given."""
        path = Path(folder) / CHECKPOINT
        if not path.is_file():
            raise ValueError(f"run {str(folder)!r} has no {CHECKPOINT}: nothing to resume")
        state = torch.load(path, weights_only=False)
        config = Config.from_dict(state["config"])
        trainer = cls(dataclasses.replace(config, games=games or config.games), folder, threads)
        trainer.network.load_state_dict(state["network"])
        trainer.optimiser.load_state_dict(state["optimiser"])
        trainer.arena.chance.bit_generator.state = state["chance"]
        trainer.shuffle.set_state(state["shuffle"])
        trainer.games, trainer.rounds, trainer.seconds, trainer.spent = state["counters"]
        latest = range(max(1, trainer.rounds - config.memory + 1), trainer.rounds + 1)
        trainer.positions = {number: Positions.load(trainer._positions_file(number)) for number in latest}
        trainer.log.restore(state["log"])
        return trainer
