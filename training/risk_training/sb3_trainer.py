"""Training with sb3-contrib's MaskablePPO: opponents from a league, evaluation, checkpoints, resuming.

A run is a folder:

    config.yml        what was asked for
    checkpoint.pt     everything that `--resume` needs, replaced at once
    best.zip          the policy with the best evaluation so far, an agent: `risk_agents.make("runs/NAME/best.zip")`
    last.zip          the policy at the last checkpoint, an agent too
    metrics.jsonl     a line of metrics an update; training/README.md explains each
    tensorboard/      the same for TensorBoard
"""

from __future__ import annotations

import json
import random
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from torch.utils.tensorboard import SummaryWriter

from risk_agents.learned.layout import Layout
from risk_agents.learned.sb3_policy import FACTS, Sb3Policy
from risk_agents.learned.schema import schema_of
from risk_env.board.maps import load_map
from risk_training.config import Sb3Config, schedule, write_config
from risk_training.files import replace_file
from risk_training.league import League
from risk_training.sb3_league import LeagueVecEnv
from risk_training.sb3_policies import BoardPolicy, BoardRolloutBuffer
from risk_training.win_rate import check_rivals, win_rate

CHECKPOINT, CONFIG, METRICS = "checkpoint.pt", "config.yml", "metrics.jsonl"
BEST, LAST = "best.zip", "last.zip"

Progress = Callable[[dict[str, Any]], None]


class QuickMaskablePPO(MaskablePPO):
    """MaskablePPO that times itself and, where the processor multiplies bfloat16, trains in it."""

    update_seconds = 0.0

    def train(self) -> None:
        """The update, as MaskablePPO does it."""
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16) if multiplies_bfloat16() else nullcontext():
            super().train()
        self.update_seconds += time.perf_counter() - start


def multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for products of bfloat16 matrices."""
    flags = Path("/proc/cpuinfo")
    return flags.is_file() and any(name in flags.read_text() for name in ("avx512_bf16", "amx_bf16"))


class Run:
    """One run: model, environments and counters, in a folder."""

    def __init__(self, config: Sb3Config, folder: str | Path) -> None:
        self.config, self.folder = config, Path(folder)
        torch.distributions.Distribution.set_default_validate_args(False)
        self.rules, self.board = config.rules(), load_map(config.map)
        check_rivals(config.evaluation.opponents, self.rules, self.board)
        self.schema = schema_of(self.rules, self.board)
        self.env = make_environments(config)
        self.model = make_model(config, self.env)
        if not config.league.bots:
            self.env.add_snapshot(0, self.model.policy)
        self.best = -1.0
        self.best_steps = 0
        self.seconds = 0.0  # of this run, wall clock, before this start
        self.rows: list[dict[str, Any]] = []

    @classmethod
    def resume(cls, folder: str | Path, steps: int | None = None) -> Run:
        """The run of a folder as it was at its last checkpoint; `steps` is a new end."""
        path = Path(folder) / CHECKPOINT
        if not path.is_file():
            raise ValueError(f"run {str(folder)!r} has no {CHECKPOINT}: nothing to resume")
        state = torch.load(path, weights_only=False)
        facts = state["config"] | ({} if steps is None else {"n_timesteps": steps})
        run = cls(Sb3Config.from_dict(facts), folder)
        run._load_state(state)
        return run

    def train(self, progress: Progress = lambda row: None) -> None:
        """Train to the end of the run; `progress` is told every line of metrics."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_config(self.config.to_dict(), self.folder / CONFIG)
        left = self.config.n_timesteps - self.model.num_timesteps
        if left <= 0:
            raise ValueError(f"n_timesteps={self.config.n_timesteps}: the run has made {self.model.num_timesteps}")
        writer = SummaryWriter(str(self.folder / "tensorboard"), purge_step=self.model.num_timesteps)
        self.model.set_logger(Logger(None, [_Metrics(self, writer, progress)]))
        self.model.learn(left, callback=_Intervals(self), reset_num_timesteps=False)
        writer.close()

    # ------------------------------------------------------------------------------------------ files

    def save(self) -> None:
        """Checkpoint, last policy and metrics, each replaced at once."""
        replace_file(self.folder / LAST, lambda path: self.save_policy(path))
        lines = "".join(json.dumps(row) + "\n" for row in self.rows)
        replace_file(self.folder / METRICS, lambda path: path.write_text(lines))
        replace_file(self.folder / CHECKPOINT, lambda path: torch.save(self._state(), path))

    def save_policy(self, path: Path) -> None:
        """Write the policy as an SB3 `.zip`, with what `risk_agents.make` needs to know of it."""
        self.model.save(path)
        made = {"config": self.config.to_dict(), "steps": self.model.num_timesteps, "seconds": round(self.seconds)}
        facts = {"name": self.folder.name or "sb3", "schema": self.schema.to_dict(), "made": made}
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(FACTS, json.dumps(facts))

    def _state(self) -> dict[str, Any]:
        model = self.model
        return {
            "config": self.config.to_dict(),
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "counters": {name: getattr(model, name) for name in _COUNTERS},
            "last": (model._last_obs, model._last_episode_starts),
            "env": self.env.state_dict(),
            "chance": (random.getstate(), np.random.get_state(), torch.get_rng_state()),  # noqa: NPY002
            "best": (self.best, self.best_steps),
            "seconds": self.seconds,
            "spent": (self.env.seconds, [slot.seconds for slot in self.env.slots], model.update_seconds),
            "rows": self.rows,
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        model = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        for name, value in state["counters"].items():
            setattr(model, name, value)
        self.env.load_state_dict(state["env"], model.policy)
        model._last_obs, model._last_episode_starts = state["last"]
        self.best, self.best_steps = state["best"]
        self.seconds, self.rows = state["seconds"], state["rows"]
        self.env.seconds, slots, model.update_seconds = state["spent"]
        for slot, seconds in zip(self.env.slots, slots, strict=True):
            slot.seconds = seconds
        python, numpy_state, torch_state = state["chance"]  # last: what is above draws
        random.setstate(python)
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.set_rng_state(torch_state)


_COUNTERS = ("num_timesteps", "_n_updates", "_current_progress_remaining")


def make_environments(config: Sb3Config) -> LeagueVecEnv:
    """The environments of a configuration, with a new league."""
    return LeagueVecEnv(
        League(config.league, config.seed),
        config.n_envs,
        config.seed,
        shaping=config.shaping,
        gamma=config.gamma,
        compiled=config.policy == "BoardPolicy",
        preset=config.preset,
        num_players=config.players,
        board=config.map,
        reward=config.reward,
        **config.options,
    )


def make_model(config: Sb3Config, env: LeagueVecEnv) -> QuickMaskablePPO:
    """An untrained model for these environments."""
    own: dict[str, Any] = {"policy": config.policy, "policy_kwargs": dict(config.policy_kwargs)}
    if config.policy == "BoardPolicy":
        rules, board = env.lanes.rules, env.lanes.board
        own["policy"] = BoardPolicy
        own["policy_kwargs"] |= {"rules": rules.to_dict(), "map_source": board.source}
        own["rollout_buffer_class"] = BoardRolloutBuffer
        own["rollout_buffer_kwargs"] = {"layout": Layout(rules, board, env.lanes.num_actions)}
    return QuickMaskablePPO(
        env=env,
        **own,
        learning_rate=schedule("learning_rate", config.learning_rate),
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=schedule("clip_range", config.clip_range),
        clip_range_vf=config.clip_range_vf,
        normalize_advantage=config.normalize_advantage,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        target_kl=config.target_kl,
        seed=config.seed,
        device=config.device,
    )


class _Intervals(BaseCallback):
    """What is due between two updates: snapshots, evaluations, checkpoints, and who is met next."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self._told = 0  # steps at the last of these

    def _on_training_start(self) -> None:
        self._told = self.model.num_timesteps
        self._before = self.run.seconds - time.perf_counter()
        if not self.model.num_timesteps:
            self.run.save()

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps > self._told:
            self._after_update()

    def _on_training_end(self) -> None:
        self._after_update(is_last=True)

    def _after_update(self, is_last: bool = False) -> None:
        run, config, steps = self.run, self.run.config, self.model.num_timesteps
        run.seconds = self._before + time.perf_counter()
        if run.env.slots and self._passes(config.snapshot_interval):
            run.env.add_snapshot(steps, self.model.policy)
        run.env.draw_anew()
        if is_last or self._passes(config.evaluation.interval):
            self._evaluate()
        self._record()
        self.logger.dump(steps)
        if is_last or self._passes(config.checkpoint_interval):
            run.save()
        self._told = steps

    def _passes(self, interval: int) -> bool:
        return self._told // interval != self.model.num_timesteps // interval

    def _on_step(self) -> bool:
        return True

    def _evaluate(self) -> None:
        """Win rates of the likeliest actions; the best policy so far is kept."""
        run, settings = self.run, self.run.config.evaluation
        policy, rates = Sb3Policy(self.model.policy), {}
        for name in settings.opponents:
            found = win_rate(policy, run.rules, run.board, name, settings.games, seed=run.config.seed)
            rates[name], low, high = found.interval
            self.logger.record(f"eval/win_rate_{name}", rates[name])
            self.logger.record(f"eval/low_{name}", low)
            self.logger.record(f"eval/high_{name}", high)
            self.logger.record(f"eval/truncated_{name}", found.truncated)
        mean = float(np.mean([rates[name] for name in settings.best_by]))
        self.logger.record("eval/best_by", mean)
        if mean >= run.best:
            run.best, run.best_steps = mean, self.model.num_timesteps
            replace_file(run.folder / BEST, run.save_policy)

    def _record(self) -> None:
        """Games, league and times since the last line."""
        run, record = self.run, self.logger.record
        played, run.env.played = run.env.played, []
        record("games/number", len(played))
        if played:
            _, seats, won, truncated, rounds = (np.array(column) for column in zip(*played, strict=True))
            record("games/win_rate", won.mean())
            record("games/truncated", truncated.mean())
            record("games/rounds", rounds.mean())
            for seat in np.unique(seats):
                record(f"games/win_rate_seat_{seat}", won[seats == seat].mean())
        self._record_league()
        self._record_times()

    def _record_league(self) -> None:
        league, record = self.run.env.league, self.logger.record
        for name, weight in zip(league.names, league.weights(), strict=True):
            if name in league.settings.bots or name == league.names[-1]:
                shown = name if name in league.settings.bots else "latest"
                record(f"league/win_rate_{shown}", league.win_rate(name))
                record(f"league/weight_{shown}", weight)
        record("league/snapshots", len(league.snapshots))

    def _record_times(self) -> None:
        run, record, steps = self.run, self.logger.record, self.model.num_timesteps
        record("time/steps", steps)
        record("time/seconds", run.seconds)
        record("time/steps_a_second", steps / run.seconds)
        snapshots = sum(slot.seconds for slot in run.env.slots)
        record("time/ns_games", 1e9 * (run.env.seconds - snapshots) / steps)
        record("time/ns_snapshots", 1e9 * snapshots / steps)
        record("time/ns_update", 1e9 * self.run.model.update_seconds / steps)


class _Metrics(KVWriter):
    """Keeps each line of metrics for the run's file, and tells TensorBoard and the progress bar."""

    def __init__(self, run: Run, board: SummaryWriter, progress: Progress) -> None:
        self.run, self.board, self.progress = run, board, progress

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """A line: what has been recorded since the last."""
        row = {name: _plain(value) for name, value in key_values.items()}
        if "time/steps" not in row:
            return
        self.run.rows.append(row)
        for name, value in row.items():
            self.board.add_scalar(name, value, step)
        self.progress(row)

    def close(self) -> None:
        """The writer's owner closes it."""


def _plain(value: Any) -> float | int:
    return value if isinstance(value, int) else float(value)
