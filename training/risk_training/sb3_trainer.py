"""The trainer `sb3`: sb3-contrib's MaskablePPO against a league, with the log and checkpoints of `run.Run`.

Besides the files of every run, the folder contains `last.zip`, the policy at the last checkpoint, and
`best.zip`, the policy of the best evaluation. Both files are agents (`risk_agents.make("runs/N/best.zip")`),
and `MaskablePPO.load` reads both files too. With the project's own network, `best.npz` contains the weights
of the best policy, and is an agent that plays without Stable-Baselines3.
"""

from __future__ import annotations

import io
import json
import math
import random
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from risk_agents.learned.layout import Layout
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.sb3_policy import (
    FACTS,
    OWN_POLICY,
    POLICIES,
    Sb3Policy,
    ZipPolicy,
    check_policy,
    own_network,
    read_weights,
)
from risk_agents.learned.schema import schema_of
from risk_agents.workers import InProcess, WorkExecutor
from risk_env.board.maps import load_map
from risk_env.messages import shortened
from risk_training.config import (
    AUTO,
    MOST_BATCH,
    MOST_LANES,
    MOST_LETTERS,
    MOST_STEPS,
    NAMES,
    PRECISIONS,
    RATES,
    EvaluationSettings,
    RunSettings,
    check_range,
    setting,
)
from risk_training.declared import Bytes, Declared, Exactly, ListOf, Number, OrNone, SomeOf, Whole
from risk_training.devices import find_device, find_precision, mixed
from risk_training.first_weights import copy_weights, read_arrays
from risk_training.league import League, LeagueSettings
from risk_training.position_files import start_positions
from risk_training.run import Metrics, Run, declared_moments, load_moments, made_by, replace_file
from risk_training.run_files import BEST, BEST_WEIGHTS, LAST
from risk_training.sb3_league import LeagueVecEnv
from risk_training.sb3_policies import BoardPolicy, BoardRolloutBuffer
from risk_training.win_rate import Seating

LINEAR = "lin_"

Schedule = Callable[[float], float]


@dataclass(frozen=True)
class BestSettings(EvaluationSettings):
    """Settings of the evaluations by which the best policy is chosen.

    The best policy has the highest mean win rate against `best_by`, or against all opponents if `best_by` is
    empty.
    """

    opponents: tuple[str, ...] = setting(("random", "attacker", "grower"), length=range(1, 65))
    best_by: tuple[str, ...] = setting((), **NAMES)

    def __post_init__(self) -> None:
        super().__post_init__()
        if strange := set(self.best_by) - set(self.opponents):
            raise ValueError(
                f"evaluation.best_by: {min(strange)!r} is not in opponents={list(self.opponents)!r}"
            )


@dataclass(frozen=True)
class Config(RunSettings):
    """Configuration of a run of MaskablePPO.

    The settings from `policy` to `target_kl` are arguments of MaskablePPO. `learning_rate` and
    `clip_range` may have the form `lin_3e-4`: a value that falls linearly to 0 over the run.
    """

    TRAINER: ClassVar[str] = "sb3"
    LENGTH: ClassVar[str] = "n_timesteps"

    evaluation: BestSettings = field(default_factory=BestSettings)
    checkpoint_interval: int = setting(250_000, 1, MOST_STEPS)
    reward: str = setting("win", choices=("win", "placement"))
    shaping: float = setting(0.0, 0, 10)  # weight of the potential (risk_training.selfplay.potential)
    precision: str = setting(AUTO, choices=PRECISIONS)
    n_timesteps: int = setting(20_000_000, 1, MOST_STEPS)
    n_envs: int = setting(256, 1, MOST_LANES)
    policy: str = setting(OWN_POLICY, choices=POLICIES)
    policy_kwargs: Mapping[str, Any] = field(default_factory=dict)
    n_steps: int = setting(128, 1, MOST_LANES)
    batch_size: int = setting(2048, 2, MOST_BATCH)
    n_epochs: int = setting(3, 1, 1000)
    gamma: float = setting(0.999, 0, 1)
    gae_lambda: float = setting(0.95, 0, 1)
    learning_rate: float | str = "lin_5e-4"
    clip_range: float | str = 0.2
    clip_range_vf: float | None = setting(None, 1e-3, 100)
    normalize_advantage: bool = True
    ent_coef: float = setting(0.005, 0, 10)
    vf_coef: float = setting(0.5, 0, 100)
    max_grad_norm: float = setting(0.5, 1e-6, 1e6)
    target_kl: float | None = setting(None, 1e-6, 100)
    league: LeagueSettings = field(default_factory=LeagueSettings)
    snapshot_interval: int = setting(1_000_000, 1, MOST_STEPS)  # steps between two snapshots for the league

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_envs * self.n_steps < 2:
            raise ValueError("n_envs=1 and n_steps=1: an update needs at least two decisions")
        check_policy(self.policy, self.policy_kwargs)
        check_range("learning_rate", first_value(schedule("learning_rate", self.learning_rate)), *RATES)
        check_range("clip_range", first_value(schedule("clip_range", self.clip_range)), 1e-3, 10)


def schedule(name: str, value: float | str) -> float | Schedule:
    """Return `value` as a number, or for `lin_3e-4` as a function of the remaining share of the run."""
    if not isinstance(value, str):
        return float(value)
    try:
        first = float(value[:MOST_LETTERS].removeprefix(LINEAR))
    except ValueError:
        raise ValueError(
            f"{name}={shortened(value)}: must be a number or {LINEAR}NUMBER, as in {LINEAR}3e-4"
        ) from None
    return Linear(first) if value.startswith(LINEAR) else first


def first_value(schedule: float | Schedule) -> float:
    """Return a schedule's value at the start of the run."""
    return schedule(1.0) if callable(schedule) else schedule


@dataclass(frozen=True)
class Linear:
    """A schedule that falls from `first` to 0."""

    first: float

    def __call__(self, remaining: float) -> float:
        """Return the value for the remaining share of the run.

        `remaining` falls from 1 to 0, and below 0 if the last update passes the end of the run.
        """
        return self.first * max(0.0, remaining)


class QuickMaskablePPO(MaskablePPO):
    """MaskablePPO with timed updates and a given matmul `precision`."""

    update_seconds = 0.0  # CPU seconds
    precision = AUTO

    def train(self) -> None:
        """Update the policy as MaskablePPO does."""
        start = time.process_time()
        with mixed(find_precision(self.precision, self.device), self.device):
            super().train()
        self.update_seconds += time.process_time() - start


class Trainer(Run):
    """A run of MaskablePPO: model and environments."""

    CONFIG = Config
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
                "--workers must be 1, because trainer sb3 plays its games in this process: remove --workers"
            )
        self.spent["snapshots"] = 0.0
        torch.distributions.Distribution.set_default_validate_args(False)
        self.env = make_environments(config)
        self.model = make_model(config, self.env)
        if not config.league.bots:
            self.env.add_snapshot(0, self.model.policy)
        self.best = -1.0
        self.best_files: dict[str, bytes] = {}

    def run_updates(self) -> None:
        """Run MaskablePPO's own loop, with a callback between updates."""
        if not self.is_resumed:
            self.begin()
        self.model.set_logger(Logger(None, []))
        left = self.config.n_timesteps - self.steps
        self.model.learn(left, callback=_BetweenUpdates(self), reset_num_timesteps=False)

    def update(self) -> Metrics:
        """Finish an update of the model: take a snapshot if due, draw opponents, and return metrics."""
        self.steps = self.model.num_timesteps
        if self.env.slots and self.passes(self.config.snapshot_interval):
            self.env.add_snapshot(self.steps, self.model.policy)
        self.env.draw_opponents()
        snapshots = sum(slot.seconds for slot in self.env.slots)
        self.spent["snapshots"] += snapshots
        self.spent["games"] += self.env.seconds - snapshots
        self.spent["update"] += self.model.update_seconds
        for timed in (self.env, *self.env.slots):
            timed.seconds = 0.0
        self.model.update_seconds = 0.0
        return self._losses() | self.env.results() | self.env.league_metrics()

    def _losses(self) -> Metrics:
        """Return the metrics of the update under the names that all trainers use."""
        logger = self.model.logger
        metrics = {_NAMES.get(name, name): float(value) for name, value in logger.name_to_value.items()}
        logger.dump()  # clears the values
        if "train/entropy_loss" in metrics:
            metrics["train/entropy"] = -metrics.pop("train/entropy_loss")
        if math.isnan(metrics.get("train/explained_variance", 0.0)):
            del metrics["train/explained_variance"]  # undefined if all returns are equal
        return {name: value for name, value in metrics.items() if name.startswith("train/")}

    def load_first_weights(self, source: str) -> None:
        """Load the weights of a trained file, or of an agent (`Run.load_first_weights`)."""
        policy = self.model.policy
        if self.config.policy != OWN_POLICY:
            trained = ZipPolicy(source)
            trained.schema.check(schema_of(self.rules, self.board), source)
            copy_weights(policy.state_dict(), read_weights(trained.path), source)
        elif Path(source).suffix == ".zip":
            file = own_network(source)
            file.check(self.rules, self.board, source)
            copy_weights(policy.network.weights, file.arrays, source)
        else:
            arrays = read_arrays(PolicyFile, source, self.rules, self.board)
            copy_weights(policy.network.weights, arrays, source)
        self.env.replace_weights(policy)

    def seating(self) -> Seating:
        """Return a factory of the policy as a compiled bot.

        A policy of Stable-Baselines3 decides for all lanes in one call instead.
        """
        if self.config.policy == OWN_POLICY:
            return partial(self._policy_file().bot, "learner")
        return lambda: Sb3Policy(self.model.policy, self.rules, self.board)

    def _policy_file(self) -> PolicyFile:
        """Return the weights of the project's own network as a policy file."""
        arrays = self.model.policy.network.arrays()
        return PolicyFile(arrays, schema_of(self.rules, self.board), made_by(self))

    def evaluate(self) -> Metrics:
        """Return the metrics of the evaluations, and keep the best policy so far."""
        metrics, settings = super().evaluate(), self.config.evaluation
        mean = float(
            np.mean([metrics[f"eval/win_rate_{name}"] for name in settings.best_by or settings.opponents])
        )
        if mean >= self.best:
            self.best, self.best_files = mean, {BEST: self._zip()} | self._weights()
        return metrics | {"eval/best_by": mean}

    def _zip(self) -> bytes:
        """Return the policy as an SB3 `.zip`, with the facts that `risk_agents.make` needs."""
        buffer = io.BytesIO()
        self.model.save(buffer)
        facts = {"name": self.folder.name or "sb3", "schema": schema_of(self.rules, self.board).to_dict()}
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(FACTS, json.dumps(facts | {"made": made_by(self)}))
        return buffer.getvalue()

    def _weights(self) -> dict[str, bytes]:
        """Return the content of the weights file by file name, or {} for a policy of Stable-Baselines3."""
        if self.config.policy != OWN_POLICY:
            return {}
        buffer = io.BytesIO()
        self._policy_file().save(buffer)
        return {BEST_WEIGHTS: buffer.getvalue()}

    def write_policy(self) -> None:
        """Write the last policy and the best policy."""
        for name, content in ({LAST: self._zip()} | self.best_files).items():
            replace_file(self.folder / name, methodcaller("write_bytes", content))

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the model, the environments, the best policy and all random generators."""
        model = self.model
        return {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict()["state"],
            "counters": {name: getattr(model, name) for name in _COUNTERS},
            "last": (model._last_obs, model._last_episode_starts),
            "env": self.env.state_dict(),
            "random": (random.getstate(), np.random.get_state(), torch.get_rng_state()),  # noqa: NPY002
            "best": (
                self.best,
                {name: np.frombuffer(file, np.uint8) for name, file in self.best_files.items()},
            ),
        }

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the policy."""
        return dict(self.model.policy.named_parameters())

    def declared(self) -> dict[str, Declared]:
        """Return the declaration (`risk_training.declared`) that a state must match for `load_state_dict`."""
        model, numbers = self.model, Whole(0, 2**32 - 1)
        lanes = self.config.n_envs, *self.env.observation_space.shape  # type: ignore[misc]
        python = Exactly(3), ListOf(numbers, 625, 625), OrNone(Number())
        numpy = Exactly("MT19937"), np.zeros(624, np.uint32), Whole(0, 624), Whole(0, 1), Number()
        files = {BEST: Bytes(), BEST_WEIGHTS: Bytes()}  # each entry is written to a file of the run
        return {
            "policy": model.policy.state_dict(),
            "optimizer": declared_moments(model.policy.optimizer),
            "counters": {
                "num_timesteps": Exactly(self.steps),
                "_n_updates": Whole(),
                "_current_progress_remaining": Number(),
            },
            "last": (np.zeros(lanes, np.float32), np.zeros(lanes[0], np.bool_)),
            "env": self.env.declared(model.policy),
            "random": (python, numpy, torch.get_rng_state()),
            "best": (Number(-1, 1), SomeOf(files)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        model = self.model
        model.policy.load_state_dict(state["policy"])
        load_moments(model.policy.optimizer, state["optimizer"])
        for name in _COUNTERS:
            setattr(model, name, state["counters"][name])
        self.env.load_state_dict(state["env"], model.policy)
        model._last_obs, model._last_episode_starts = state["last"]
        self.best, files = state["best"]
        self.best_files = {name: file.tobytes() for name, file in files.items()}
        python_state, numpy_state, torch_state = state["random"]  # last: the lines above draw random numbers
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.set_rng_state(torch_state)


_COUNTERS = ("num_timesteps", "_n_updates", "_current_progress_remaining")
_NAMES = {"train/policy_gradient_loss": "train/policy_loss", "train/clip_fraction": "train/clipfrac"}


class _BetweenUpdates(BaseCallback):
    """A callback that ends each update of the run, and saves a checkpoint at the start."""

    def __init__(self, run: Trainer) -> None:
        super().__init__()
        self.run = run

    def _on_training_start(self) -> None:
        if not self.run.is_resumed:
            self.run.save()

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps > self.run.steps:
            self.run.end_update(self.run.update())

    def _on_training_end(self) -> None:
        self.run.end_update(self.run.update())

    def _on_step(self) -> bool:
        return True


def make_environments(config: Config) -> LeagueVecEnv:
    """Return the environments of a configuration, with a new league."""
    board = load_map(config.map)
    return LeagueVecEnv(
        League(config.league, config.seed),
        config.n_envs,
        config.seed,
        shaping=config.shaping,
        gamma=config.gamma,
        compiled=config.policy == OWN_POLICY,
        preset=config.rules(),
        board=board,
        positions=start_positions(config, board),
        reward=config.reward,
    )


def make_model(config: Config, env: LeagueVecEnv) -> QuickMaskablePPO:
    """Return an untrained model for these environments."""
    own: dict[str, Any] = {"policy": config.policy, "policy_kwargs": dict(config.policy_kwargs)}
    if config.policy == OWN_POLICY:
        rules, board = env.lanes.rules, env.lanes.board
        own["policy_kwargs"] |= {"rules": rules.to_dict(), "map_source": board.source}
        own |= {"policy": BoardPolicy, "rollout_buffer_class": BoardRolloutBuffer}
        own["rollout_buffer_kwargs"] = {"layout": Layout(rules, board, env.lanes.num_actions)}
    same = (
        *("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range_vf", "normalize_advantage"),
        *("ent_coef", "vf_coef", "max_grad_norm", "target_kl", "seed"),
    )
    own |= {name: getattr(config, name) for name in same}
    schedules = {name: schedule(name, getattr(config, name)) for name in ("learning_rate", "clip_range")}
    model = QuickMaskablePPO(env=env, device=find_device(config.device), **own, **schedules)
    model.precision = config.precision
    return model
