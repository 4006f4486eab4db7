"""The project's own trainer: PPO by self-play on all seats of a `GameBatch`, in one file.

A *transition* is one decision of one seat. What follows it is that seat's own next decision, however many others
decide in between; a seat that dies ends there, the end of the game ends everybody, and where the rounds run out the
value of what each seat saw last takes the place of what might have come. A win pays 1 and all else nothing, so a value
is a (discounted) chance to win, and nothing is gained by losing later.

In `league_share` of the games one seat is the learner's and the others are drawn from a `League` of scripted bots and
snapshots; in the rest the learner plays every seat. Only the learner's decisions are trained on.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import schema_of
from risk_agents.learned.sight import look_all
from risk_env import arena
from risk_env.batch import GameBatch
from risk_env.board.maps import Board, load_map
from risk_env.core.observe import GLOBAL_BLOCKS, TERRITORY_WIDTH
from risk_env.core.types import MAX_SEATS
from risk_training.config import GameSettings, known_settings
from risk_training.files import replace_file
from risk_training.league import League, LeagueSettings, snapshot_name
from risk_training.network import Network, drawn, log_probabilities
from risk_training.run_log import RunLog, timed
from risk_training.win_rate import check_rivals, win_rate

Array = npt.NDArray[Any]

GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2  # what a transition leads to
NO_STEP = -1
CHECKPOINT = "checkpoint.pt"
POLICY = "policy.npz"
_TERRITORIES = TERRITORY_WIDTH, [name for name, _, _ in GLOBAL_BLOCKS].index("territories")


@dataclass(frozen=True)
class Config(GameSettings):
    """A training run. Numbers of decisions count those of the learner."""

    decisions: int = 20_000_000
    games: int = 512  # lanes
    steps: int = 64  # decisions of each lane between two updates
    epochs: int = 2
    minibatch: int = 1024
    learning_rate: float = 1.2e-3  # falls to a tenth, linearly
    gamma: float = 0.999
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.003  # falls to a tenth, linearly
    value_weight: float = 1.0
    max_gradient: float = 0.5
    width: int = 128
    local: int = 32
    shaping: float = 0.0  # weight of the potential (`potential`)
    league: LeagueSettings = field(default_factory=lambda: LeagueSettings(bots=()))
    league_share: float = 0.5  # of the games, where the league has anybody
    snapshot_every: int = 2_000_000
    evaluate_against: tuple[str, ...] = ("random",)
    evaluate_games: int = 200
    evaluate_every: int = 2_000_000
    checkpoint_every: int = 1_000_000
    seed: int = 0

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Config:
        """A configuration from a file; ValueError names what is unknown."""
        values = known_settings(cls, facts)
        if isinstance(league := values.get("league"), Mapping):
            values["league"] = LeagueSettings.from_dict(league)
        return cls(**values)


def chance_to_win(outputs: torch.Tensor, shaping: float) -> torch.Tensor:
    """Values (k,) of what the network puts out for them: between 0 and 1, or with shaped rewards -`shaping` and 1."""
    return outputs.sigmoid() * (1 + shaping) - shaping


# ---------------------------------------------------------------------------------------------------- the games


@dataclass
class Rollout:
    """What the learner saw, did and got: T steps of N lanes, filled by `Arena.collect`."""

    places: Array  # float32 (T, N, territories, 2 F): what the network looks at (`risk_training.network`)
    whole: Array  # float32 (T, N, I)
    masks: Array  # bool (T, N, n)
    seats: Array  # int64 (T, N)
    actions: Array  # int64 (T, N)
    log_probabilities: Array  # float32 (T, N)
    values: Array  # float32 (T, N)
    potentials: Array  # float32 (T, N)
    rewards: Array  # float32 (T, N)
    ends: Array  # int8 (T, N): GOES_ON, TERMINATED or TRUNCATED
    last_values: Array  # float32 (T, N): value of what the seat saw last, where TRUNCATED
    last_potentials: Array  # float32 (T, N): potential of the same
    next_seats: Array  # int64 (N,): who decides next
    next_values: Array  # float32 (N,)
    next_potentials: Array  # float32 (N,)

    @classmethod
    def empty(cls, steps: int, lanes: int, layout: Layout) -> Rollout:
        """Room for so many steps."""
        places, whole = (layout.territories, 2 * layout.columns), (layout.inputs,)
        inner = {"places": places, "whole": whole, "masks": (layout.num_actions,)}
        shapes = {name: (steps, lanes, *shape) for name, shape in inner.items()}
        kinds = {"masks": np.bool_, "seats": np.int64, "actions": np.int64, "ends": np.int8, "next_seats": np.int64}
        names = [entry.name for entry in dataclasses.fields(cls)]
        usual = {name: (lanes,) if name.startswith("next_") else (steps, lanes) for name in names}
        return cls(**{name: np.zeros((usual | shapes)[name], kinds.get(name, np.float32)) for name in names})


class Arena:
    """The games that are trained on, and who plays which seat of each."""

    def __init__(self, config: Config, board: Board) -> None:
        self.config, self.rules, self.board = config, config.rules(), board
        self.batch = GameBatch(self.rules, board, config.games, config.seed, autoreset=False)
        self.bots = config.league.bots
        self.league = League(config.league, config.seed)
        self.table = arena.Arena(self.batch, [*self.bots, Snapshots(self)])
        self.playing: dict[str, Network] = {}  # snapshots by label; those of games under way included
        self.opponent = np.full(config.games, "", dtype=object)  # (N,) label, "" where the learner plays every seat
        self.chance = np.random.default_rng(config.seed)
        self.draws = torch.Generator().manual_seed(config.seed)
        self.lanes = np.arange(config.games)
        self.last_step = np.full((config.games, MAX_SEATS), NO_STEP)  # of each seat in this rollout
        self.won: list[tuple[str, bool]] = []  # games that ended since they were last told: opponent, learner won
        self.rounds: list[int] = []

    def begin(self, lanes: Array) -> None:
        """Begin the next game of these lanes and seat its players."""
        self.batch.begin(lanes)
        self.table.numbers[lanes] = arena.CALLER
        self.opponent[lanes] = ""
        self.last_step[lanes] = NO_STEP
        if self.league.names:
            against = lanes[self.chance.random(len(lanes)) < self.config.league_share]
            for lane, name in zip(against, self.league.draw(len(against)), strict=True):
                self._seat_opponent(int(lane), name)
        self.table.seat_players(lanes)

    def _seat_opponent(self, lane: int, label: str) -> None:
        """One seat is the learner's, all others the opponent's."""
        self.opponent[lane] = label
        number = self.bots.index(label) if label in self.bots else len(self.bots)
        self.table.numbers[lane, : self.rules.num_players] = number
        self.table.numbers[lane, self.chance.integers(self.rules.num_players)] = arena.CALLER

    def collect(self, network: Network, rollout: Rollout) -> None:
        """Play until the learner has decided `steps` times in every lane; write all of it."""
        self.last_step[:] = NO_STEP
        rollout.ends[:] = GOES_ON
        rollout.rewards[:] = 0
        for step in range(len(rollout.actions)):
            actions, logs, values = self.decide(network, *self.keep_view(network, rollout, step))
            rollout.seats[step], rollout.actions[step] = self.batch.seat, actions
            rollout.log_probabilities[step], rollout.values[step] = logs, values
            rollout.potentials[step] = potential(self.batch.observation, self.board, self.config.shaping)
            self.last_step[self.lanes, self.batch.seat] = step
            self.table.actions[:] = actions
            self.settle(network, rollout)
        rollout.next_seats[:] = self.batch.seat
        rollout.next_values[:] = self.see_and_decide(network, self.batch.observation, self.batch.action_mask)[2]
        rollout.next_potentials[:] = potential(self.batch.observation, self.board, self.config.shaping)

    def keep_view(self, network: Network, rollout: Rollout, step: int) -> tuple[torch.Tensor, ...]:
        """What the network looks at in every lane, and the masks: written into the rollout, to be learnt from."""
        places, whole, legal = rollout.places[step], rollout.whole[step], rollout.masks[step]
        look_all(network.sight, self.batch.observation, places, whole)
        legal[:] = self.batch.action_mask
        return torch.as_tensor(places), torch.as_tensor(whole), torch.as_tensor(legal)

    def see_and_decide(self, network: Network, codes: Array, masks: Array) -> tuple[Array, Array, Array]:
        """`decide` for views, int8 (k, D), and masks (k, n)."""
        return self.decide(network, *network.look(codes), torch.as_tensor(masks > 0))

    def decide(
        self, network: Network, places: torch.Tensor, whole: torch.Tensor, legal: torch.Tensor
    ) -> tuple[Array, Array, Array]:
        """Sampled actions, their log-probabilities, and values, each (k,)."""
        with torch.no_grad():
            logits, values = network.answer(places, whole, legal)
            logs = logits - logits.logsumexp(1, keepdim=True)
            actions = drawn(logs, legal, self.draws)
            chances = chance_to_win(values, self.config.shaping)
            return actions.numpy(), logs.gather(1, actions[:, None])[:, 0].numpy(), chances.numpy()

    def settle(self, network: Network, rollout: Rollout | None = None) -> None:
        """Play on until the learner is to decide in every lane; games that are over give way to the next."""
        for over in self.table.run(self.lanes):
            self.note_ends(over, network, rollout)
            self.begin(over)
            self.table.resume(over)
        self.note_ends(self.lanes, network, rollout)
        self.batch.ask(self.lanes)

    def note_ends(self, lanes: Array, network: Network, rollout: Rollout | None) -> None:
        """Seats of these lanes that have just ended: the reward goes to the last decision of each."""
        batch = self.batch
        ended = batch.terminated[lanes] | batch.truncated[lanes]
        if not ended.any():
            return
        over = lanes[batch.game_over[lanes]]
        if len(over):
            batch.finish(over)
            self._note_games(over)
        rows, seats = np.nonzero(ended)
        at = lanes[rows]
        steps = self.last_step[at, seats]
        self.last_step[at, seats] = NO_STEP
        known = steps != NO_STEP
        if rollout is not None and known.any():
            self._credit(rollout, network, steps[known], at[known], seats[known])

    def _credit(self, rollout: Rollout, network: Network, steps: Array, lanes: Array, seats: Array) -> None:
        rollout.rewards[steps, lanes] = self.batch.reward[lanes, seats] > 0
        cut = self.batch.truncated[lanes, seats]
        rollout.ends[steps, lanes] = np.where(cut, TRUNCATED, TERMINATED)
        if cut.any():
            codes = self.batch.final_observation[lanes[cut], seats[cut]]
            nothing = np.zeros((len(codes), self.batch.num_actions), np.bool_)
            rollout.last_values[steps[cut], lanes[cut]] = self.see_and_decide(network, codes, nothing)[2]
            rollout.last_potentials[steps[cut], lanes[cut]] = potential(codes, self.board, self.config.shaping)

    def _note_games(self, over: Array) -> None:
        """Who won, for the league and the log."""
        self.rounds += self.batch.final_rounds[over].tolist()
        for lane in over[self.opponent[over] != ""]:
            winner, label = int(self.batch.records["winner"][lane]), self.opponent[lane]
            won = winner >= 0 and self.table.numbers[lane, winner] == arena.CALLER
            self.league.record(label, float(won))
            self.won.append((label, won))

    def take_snapshot(self, network: Network, copy: Network, decisions: int) -> None:
        """The learner as it is now joins the league, as a copy; those that left go when their games are over."""
        self.league.add_snapshot(decisions)
        copy.load_state_dict(network.state_dict())
        self.playing[snapshot_name(decisions)] = copy
        needed = {*self.opponent, *self.league.snapshots}
        self.playing = {name: found for name, found in self.playing.items() if name in needed}

    _ARRAYS = ("batch._games", "batch.episodes", "batch.seeds", "table.numbers", "table.randoms", "table.memory")

    def state_dict(self) -> dict[str, Any]:
        """Games, players and chance, for a checkpoint taken between two rollouts."""
        return {
            "arrays": {name: _read(self, name).tobytes() for name in self._ARRAYS},
            "opponent": self.opponent.tolist(),
            "playing": {label: network.state_dict() for label, network in self.playing.items()},
            "league": self.league.state_dict(),
            "chance": self.chance.bit_generator.state,
            "draws": self.draws.get_state(),
            "won": self.won,
            "rounds": self.rounds,
        }

    def load_state_dict(self, state: dict[str, Any], make: Callable[[], Network]) -> None:
        """Go on from a checkpoint."""
        for name, values in state["arrays"].items():
            array = _read(self, name)
            array[...] = np.frombuffer(values, array.dtype).reshape(array.shape)
        self.opponent[:] = state["opponent"]
        self.league.load_state_dict(state["league"])
        for label, weights in state["playing"].items():
            self.playing[label] = make()
            self.playing[label].load_state_dict(weights)
        self.chance.bit_generator.state = state["chance"]
        self.draws.set_state(state["draws"])
        self.won, self.rounds = list(state["won"]), list(state["rounds"])
        self.batch.ask(self.lanes)


def _read(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


class Snapshots:
    """The snapshots that play in an arena's games, as one player: each answers for all its lanes at once."""

    def __init__(self, games: Arena) -> None:
        self.games = games

    def begin(self, batch: GameBatch, lanes: Array, seats: Array) -> None:
        """They keep nothing of a game."""

    def choose(self, batch: GameBatch, lanes: Array, actions: Array) -> None:
        """Sampled actions in these lanes."""
        batch.ask(lanes)
        labels = self.games.opponent[lanes]
        for label in sorted(set(labels)):
            theirs = lanes[labels == label]
            codes, masks = np.asarray(batch.observation)[theirs], np.asarray(batch.action_mask)[theirs]
            actions[theirs] = self.games.see_and_decide(self.games.playing[label], codes, masks)[0]


def potential(codes: Array, board: Board, weight: float) -> Array:
    """Of what seats see, int8 (k, D): their share of the territories that seats hold, times `weight`; float32 (k,).

    Shaped rewards are gamma * potential(next) - potential(now), and the potential of an end is 0: whatever the
    weight, the best policy stays the best (Ng, Harada and Russell 1999).
    """
    if not weight:
        return np.zeros(len(codes), np.float32)
    before = sum(width for name, width, _ in GLOBAL_BLOCKS[: _TERRITORIES[1]])
    first = TERRITORY_WIDTH * board.num_territories + before
    held = codes[:, first : first + MAX_SEATS].astype(np.float32)
    return weight * held[:, 0] / np.maximum(held.sum(1), 1)


def advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> tuple[Array, Array]:
    """Generalised advantages float32 (T, N) along each seat's own decisions, and which of them are known, bool (T, N).

    A seat's last decision in a rollout is known only if it has ended, or is the one to decide next.
    """
    T, N = rollout.actions.shape
    lanes = np.arange(N)
    value, beyond = np.zeros((N, MAX_SEATS), np.float32), np.zeros((N, MAX_SEATS), np.float32)
    follows, ahead = np.zeros((N, MAX_SEATS), np.bool_), np.zeros((N, MAX_SEATS), np.float32)
    value[lanes, rollout.next_seats], follows[lanes, rollout.next_seats] = rollout.next_values, True
    ahead[lanes, rollout.next_seats] = rollout.next_potentials
    found, known = np.zeros((T, N), np.float32), np.zeros((T, N), np.bool_)
    for step in range(T - 1, -1, -1):
        here = lanes, rollout.seats[step]
        ends, cut = rollout.ends[step] != GOES_ON, rollout.ends[step] == TRUNCATED
        next_value = np.where(ends, np.where(cut, rollout.last_values[step], 0), value[here])
        next_potential = np.where(ends, np.where(cut, rollout.last_potentials[step], 0), ahead[here])
        reward = rollout.rewards[step] + gamma * next_potential - rollout.potentials[step]
        surprise = reward + gamma * next_value - rollout.values[step]
        known[step] = ends | follows[here]
        found[step] = np.where(known[step], surprise + gamma * gae_lambda * np.where(ends, 0, beyond[here]), 0)
        value[here], beyond[here], follows[here] = rollout.values[step], found[step], True
        ahead[here] = rollout.potentials[step]
    return found, known


# ---------------------------------------------------------------------------------------------------- learning


class Trainer:
    """One run: network, optimiser, games and counters; `train` goes on until enough decisions have been trained on."""

    def __init__(self, config: Config, folder: str | Path) -> None:
        self.config, self.folder = config, Path(folder)
        self.board = load_map(config.map)
        check_rivals(config.evaluate_against, config.rules(), self.board)
        torch.manual_seed(config.seed)
        self.arena = Arena(config, self.board)
        batch = self.arena.batch
        self.layout = Layout(self.arena.rules, self.board, batch.num_actions)
        self.network = self._new_network()
        self.optimiser = torch.optim.Adam(self.network.parameters(), config.learning_rate, eps=1e-5, fused=True)
        self.rollout = Rollout.empty(config.steps, config.games, self.layout)
        self.shuffle = torch.Generator().manual_seed(config.seed)
        self.decisions = self.updates = 0
        self.seconds = 0.0
        self.spent = dict.fromkeys(("games and inference", "update", "evaluation"), 0.0)
        self.log = RunLog("decisions")

    def _new_network(self) -> Network:
        return Network(self.layout, self.config.width, self.config.local)

    def train(self, progress: Callable[[Trainer], None] = lambda trainer: None) -> None:
        """Train to the end of the run; `progress` is called after every update."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.updates:
            self.arena.begin(self.arena.lanes)
            self.arena.settle(self.network)
        while self.decisions < self.config.decisions:
            start, before = time.process_time(), self.decisions
            facts = self.update()
            self._at_intervals(before, facts)
            self.seconds += time.process_time() - start
            self._write(facts)
            if self._passes(self.config.checkpoint_every, before) or self.decisions >= self.config.decisions:
                self.save()
            progress(self)

    def update(self) -> dict[str, Any]:
        """Play a rollout and learn from it; what there is to log."""
        with timed(self.spent, "games and inference"):
            self.arena.collect(self.network, self.rollout)
        with timed(self.spent, "update"):
            facts = self.learn()
        self.decisions += self.rollout.actions.size
        self.updates += 1
        return facts | self._games_played()

    def learn(self) -> dict[str, Any]:
        """Some epochs of PPO on the rollout (Schulman et al. 2017)."""
        config, rollout = self.config, self.rollout
        found, known = advantages(rollout, config.gamma, config.gae_lambda)
        returns, wanted = found + rollout.values, found[known]
        gains = (found - wanted.mean()) / (wanted.std() + 1e-8)
        seen = rollout.places, rollout.whole, rollout.masks, rollout.actions, rollout.log_probabilities
        flat = [torch.as_tensor(part.reshape(found.size, *part.shape[2:])) for part in (*seen, gains, returns)]
        decisions = torch.as_tensor(np.flatnonzero(known))
        sums: dict[str, float] = {}
        for _ in range(config.epochs):
            for rows in self._minibatches(len(decisions)):
                told = self._descend(*(part[decisions[rows]] for part in flat))
                sums = {name: sums.get(name, 0.0) + value for name, value in told.items()}
        steps = config.epochs * -(-len(decisions) // config.minibatch)
        explained = 1 - float(wanted.var() / (returns[known].var() + 1e-8))
        return {name: value / steps for name, value in sums.items()} | {"explained_variance": explained}

    def _minibatches(self, count: int) -> Iterator[torch.Tensor]:
        return iter(torch.randperm(count, generator=self.shuffle).split(self.config.minibatch))

    def _descend(  # type: ignore[no-untyped-def]
        self, places, whole, masks, actions, old, gains, returns
    ) -> dict[str, float]:
        """One step of the optimiser on a minibatch, tensors of (k, ...)."""
        config, left = self.config, 1 - 0.9 * min(1.0, self.decisions / self.config.decisions)
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * left
        logits, values = self.network.answer(places, whole, masks)
        logs, entropy = log_probabilities(logits, actions)
        ratio = (logs - old).exp()
        policy_loss = -torch.minimum(ratio * gains, ratio.clip(1 - config.clip, 1 + config.clip) * gains).mean()
        targets = ((returns + config.shaping) / (1 + config.shaping)).clip(0, 1)
        value_loss = nn.functional.binary_cross_entropy_with_logits(values, targets)
        loss = policy_loss + config.value_weight * value_loss - left * config.entropy * entropy.mean()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), config.max_gradient, foreach=True)
        self.optimiser.step()
        with torch.no_grad():
            far = ((ratio - 1).abs() > config.clip).float().mean()
            change = ((ratio - 1) - (logs - old)).mean()
        told = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy.mean()}
        return {name: value.item() for name, value in (told | {"clip_fraction": far, "approx_kl": change}).items()}

    def _games_played(self) -> dict[str, Any]:
        """Of the games that ended since last asked: how many, how long, and how often the learner won."""
        arena = self.arena
        facts: dict[str, Any] = {"games": len(arena.rounds)}
        if arena.rounds:
            facts["rounds"] = float(np.mean(arena.rounds))
        for label in arena.bots:
            results = [won for against, won in arena.won if against == label]
            if results:
                facts[f"train_win_rate/{label}"] = float(np.mean(results))
        arena.rounds, arena.won = [], []
        return facts

    def _at_intervals(self, before: int, facts: dict[str, Any]) -> None:
        """Snapshots and evaluations that are due."""
        if self._passes(self.config.snapshot_every, before):
            self.arena.take_snapshot(self.network, self._new_network(), self.decisions)
        if self._passes(self.config.evaluate_every, before) or self.decisions >= self.config.decisions:
            with timed(self.spent, "evaluation"):
                facts |= self.evaluate()

    def _passes(self, interval: int, before: int) -> bool:
        return before // interval != self.decisions // interval

    def evaluate(self) -> dict[str, Any]:
        """Win rates of the likeliest actions against scripted bots, all seats in turn, with their 95 % intervals."""
        policy, facts = self.policy(), {}
        for bot in self.config.evaluate_against:
            found = win_rate(policy, self.arena.rules, self.board, bot, self.config.evaluate_games)
            facts[f"win_rate/{bot}"], facts[f"win_rate_low/{bot}"], facts[f"win_rate_high/{bot}"] = found.interval
            facts[f"cut/{bot}"] = found.truncated
        return facts

    def policy(self) -> PolicyFile:
        """The network as it is, as a policy that plays."""
        made = {
            "name": self.folder.name,
            "version": str(self.decisions),
            "config": dataclasses.asdict(self.config),
            "decisions": self.decisions,
            "cpu_seconds": round(self.seconds),
        }
        return PolicyFile(self.network.arrays(), schema_of(self.arena.rules, self.board), made)

    # ---------------------------------------------------------------------------------------------- files

    def _write(self, facts: dict[str, Any]) -> None:
        """A line of the log, kept until the next checkpoint."""
        counts = {"decisions": self.decisions, "cpu_seconds": round(self.seconds, 3), "updates": self.updates}
        breakdown = {f"ns/{name}": 1e9 * spent / self.decisions for name, spent in self.spent.items()}
        self.log.rows.append(counts | facts | breakdown)

    def save(self) -> None:
        """Checkpoint, policy and log, each replaced at once: a run that is killed goes on from the last."""
        state = {
            "config": dataclasses.asdict(self.config),
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "arena": self.arena.state_dict(),
            "shuffle": self.shuffle.get_state(),
            "counters": (self.decisions, self.updates, self.seconds, self.spent),
            "log": self.log.rows,
        }
        replace_file(self.folder / CHECKPOINT, lambda path: torch.save(state, path))
        replace_file(self.folder / POLICY, lambda path: self.policy().save(path))
        self.log.write(self.folder)

    @classmethod
    def resume(cls, folder: str | Path, decisions: int | None = None) -> Trainer:
        """The run of a folder as it was at its last checkpoint, to go on to so many decisions if that is given."""
        path = Path(folder) / CHECKPOINT
        if not path.is_file():
            raise ValueError(f"run {str(folder)!r} has no {CHECKPOINT}: nothing to resume")
        state = torch.load(path, weights_only=False)
        config = Config.from_dict(state["config"])
        trainer = cls(dataclasses.replace(config, decisions=decisions or config.decisions), folder)
        trainer.network.load_state_dict(state["network"])
        trainer.optimiser.load_state_dict(state["optimiser"])
        trainer.arena.load_state_dict(state["arena"], trainer._new_network)
        trainer.shuffle.set_state(state["shuffle"])
        trainer.decisions, trainer.updates, trainer.seconds, trainer.spent = state["counters"]
        trainer.log.restore(state["log"])
        return trainer
