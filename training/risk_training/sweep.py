"""Sweeps: runs of one configuration with different values of some settings (docs/sweeps.md).

    sweep.db     an Optuna study with the trials, from which an interrupted sweep continues
    sweep.csv    the trials with their values and win rates, best first
    sweep.png    win rates over the values of each key
    trial-N/     the run, or the runs, of trial N

The values of a trial depend only on the settings of the sweep and on the results of earlier trials. A sweep
that was killed and continued therefore has the same trials as a sweep that was not interrupted.
"""

from __future__ import annotations

import csv
import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from risk_env.messages import cause, shortened
from risk_env.whole_file import whole_file
from risk_training.config import (
    MOST_SEED,
    MOST_STEPS,
    Settings,
    check_names,
    check_range,
    difference,
    read_names,
    setting,
    typed_number,
)

STUDY, TABLE, PICTURE = "sweep.db", "sweep.csv", "sweep.png"
SETTINGS = "settings"  # user attribute of the study: settings that must stay the same
TPE, RANDOM, GRID = "tpe", "random", "grid"  # samplers
MOST_TRIALS, MOST_KEYS, MOST_VALUES = 10_000, 32, 100

Choice = tuple[Any, ...]  # the possible values of a key
RunTrial = Callable[[int, Mapping[str, Any]], float | None]  # number, values by key -> win rate


@dataclass(frozen=True)
class Span:
    """A range of numbers, or of integers if both ends are integers. With `log`, the scale is logarithmic."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Sampling(Settings):
    """Settings of a sweep, except its keys."""

    trials: int = setting(8, 1, MOST_TRIALS)
    sampler: str = setting(TPE, choices=(TPE, RANDOM, GRID))
    seed: int = setting(0, 0, MOST_SEED)


@dataclass(frozen=True)
class Sweep:
    """A sweep: the possible values of each key, and the settings of the sampling."""

    keys: Mapping[str, Choice | Span]
    sampling: Sampling

    @property
    def trials(self) -> int:
        """Number of trials. A grid has one trial for each combination of values."""
        if self.sampling.sampler != GRID:
            return self.sampling.trials
        return math.prod(len(values) for values in self.keys.values() if not isinstance(values, Span))

    def extremes(self) -> list[dict[str, Any]]:
        """Return values to check before the first trial: all listed values, and the ends of all ranges."""
        ends = {
            key: (values.low, values.high) if isinstance(values, Span) else values
            for key, values in self.keys.items()
        }
        return [{key: value} for key, values in ends.items() for value in values]


def read_sweep(path: str | Path) -> Sweep:
    """Return the sweep in a YAML file. Raises ValueError, which names the file and the problem."""
    name = f"--sweep {str(path)!r}"
    if not Path(path).is_file():
        raise ValueError(f"{name} does not exist")
    facts = read_names(Path(path), name)
    try:
        keys = facts.pop("keys", None)
        if not isinstance(keys, Mapping) or not 1 <= len(keys) <= MOST_KEYS:
            raise ValueError(f"keys={shortened(keys)}: must be 1 to {MOST_KEYS} keys with their values")
        sweep = Sweep(
            {str(key): _choice_or_span(f"keys.{key}", each) for key, each in keys.items()},
            Sampling.from_facts(facts, "sweep"),
        )
        if sweep.sampling.sampler == GRID:
            _check_grid(sweep, facts)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return sweep


def _check_grid(sweep: Sweep, facts: Mapping[str, Any]) -> None:
    for key, values in sweep.keys.items():
        if isinstance(values, Span):
            raise ValueError(f"keys.{key}: sampler 'grid' needs {{values: [...]}}, not a range")
    if "trials" in facts:
        raise ValueError(
            f"trials={facts['trials']}: remove this key, because sampler 'grid' tries every combination"
        )
    check_range("number of combinations", sweep.trials, 1, MOST_TRIALS)


def _choice_or_span(name: str, facts: Any) -> Choice | Span:
    """Return the values of a key, from `{values: [...]}` or `{low: ..., high: ..., log: ...}`."""
    if isinstance(facts, Mapping) and "values" in facts:
        check_names(name, facts, ("values",))
        values = facts["values"]
        if not isinstance(values, list) or not 1 <= len(values) <= MOST_VALUES:
            raise ValueError(
                f"{name}.values={shortened(values)}: must be a list of 1 to {MOST_VALUES} values"
            )
        return tuple(values)
    if not isinstance(facts, Mapping) or not facts.keys() >= {"low", "high"}:
        raise ValueError(f"{name}={shortened(facts)}: must be {{values: [...]}} or {{low: ..., high: ...}}")
    check_names(name, facts, ("low", "high", "log"))
    low, high = (_number(f"{name}.{end}", facts[end]) for end in ("low", "high"))
    log = facts.get("log", False)
    if not isinstance(log, bool):
        raise ValueError(f"{name}.log={shortened(log)}: must be true or false")
    if low >= high or (log and low <= 0):
        raise ValueError(f"{name}: low={low:g}, high={high:g}: low must be below high, and above 0 with log")
    return Span(low, high, log)


def _number(name: str, value: Any) -> float:
    """Return a number from YAML, which reads 1e-3 as text. An integer stays an integer."""
    kind = "int" if isinstance(value, int) else "float"
    number = typed_number(name, value, kind)
    check_range(name, number, -MOST_STEPS, MOST_STEPS)
    return number


# ------------------------------------------------------------------------------------------------ trials


def run_sweep(sweep: Sweep, config: Mapping[str, Any], folder: Path, run_trial: RunTrial) -> list[Any]:
    """Run all trials that have no result yet, and return the trials of the Optuna study.

    `config` are the settings of the runs. `run_trial` trains, and returns the win rate of a trial, or None if
    the training diverges. Raises ValueError if the folder has another sweep.
    """
    from optuna.trial import TrialState

    study = _study(sweep, config, folder)
    while True:
        trials = study.get_trials(deepcopy=False)
        begun = [trial for trial in trials if trial.state == TrialState.RUNNING]
        if not begun and len(trials) >= sweep.trials:
            return trials
        if not begun:
            _begin_trial(sweep, study, len(trials))
            continue
        number = begun[0].number
        rate = run_trial(number, values_of(sweep, begun[0]))
        study.tell(number, rate, TrialState.FAIL if rate is None else TrialState.COMPLETE)


def _study(sweep: Sweep, config: Mapping[str, Any], folder: Path) -> Any:
    """Return the study in a folder. If the folder has no study, create one.

    Raises ValueError if the study in the folder cannot be read or belongs to another sweep.
    """
    import optuna
    from sqlalchemy.exc import DatabaseError
    from sqlalchemy.pool import QueuePool

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / STUDY
    try:
        # a path in a URL would need quoting that depends on the version of SQLAlchemy
        connected = {"creator": partial(sqlite3.connect, path), "poolclass": QueuePool}
        study = optuna.create_study(
            storage=optuna.storages.RDBStorage("sqlite://", connected),
            study_name="sweep",
            direction="maximize",
            load_if_exists=True,
        )
        kept = dict(study.user_attrs.get(SETTINGS, {}))
    except (DatabaseError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} is not the study of a sweep: {cause(error)}") from error
    keys = {key: vars(values) if isinstance(values, Span) else values for key, values in sweep.keys.items()}
    same = {"keys": keys, "sampler": sweep.sampling.sampler, "seed": sweep.sampling.seed}
    same["config"] = {name: value for name, value in config.items() if name != "device"}
    wanted = json.loads(json.dumps(same))
    for name in same:
        if kept and kept.get(name) != wanted[name]:
            told = difference(name, kept.get(name), wanted[name])
            raise ValueError(f"{path}: the sweep in this folder has {told}; choose another folder")
    study.set_user_attr(SETTINGS, wanted)
    return study


def _begin_trial(sweep: Sweep, study: Any, number: int) -> None:
    """Add a trial with its values to the study.

    With `tpe`, a quarter of the trials, and at least two, are random. Each trial has a new sampler with its
    own seed, so that the values do not depend on interruptions.
    """
    from optuna.samplers import RandomSampler, TPESampler
    from optuna.trial import TrialState, create_trial

    spaces, seed = {key: _space(values) for key, values in sweep.keys.items()}, sweep.sampling.seed + number
    if sweep.sampling.sampler == GRID:
        combination = list(product(*(space.choices for space in spaces.values())))[number]
        params = dict(zip(spaces, combination, strict=True))
        study.add_trial(create_trial(state=TrialState.RUNNING, params=params, distributions=spaces))
        return
    seed %= MOST_SEED + 1
    if sweep.sampling.sampler == RANDOM:
        study.sampler = RandomSampler(seed=seed)
    else:
        study.sampler = TPESampler(seed=seed, n_startup_trials=max(2, sweep.trials // 4))
    study.ask(spaces)


def _space(values: Choice | Span) -> Any:
    """Return the values of a key as a distribution of Optuna. Listed values become JSON texts."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(values, Span):
        return CategoricalDistribution(tuple(map(json.dumps, values)))
    is_whole = isinstance(values.low, int) and isinstance(values.high, int)
    return (IntDistribution if is_whole else FloatDistribution)(values.low, values.high, log=values.log)


def values_of(sweep: Sweep, trial: Any) -> dict[str, Any]:
    """Return the values of a trial by key."""
    return {
        key: trial.params[key] if isinstance(values, Span) else json.loads(trial.params[key])
        for key, values in sweep.keys.items()
    }


# ----------------------------------------------------------------------------------------------- results


def ranked(trials: list[Any]) -> list[Any]:
    """Return the trials, best first. Trials that diverged come last."""
    return sorted(trials, key=lambda trial: -1.0 if trial.value is None else trial.value, reverse=True)


def write_table(sweep: Sweep, trials: list[Any], folder: Path) -> None:
    """Write the trials to TABLE, best first."""
    with whole_file(folder / TABLE) as fresh, fresh.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["trial", "win_rate", *sweep.keys])
        for trial in ranked(trials):
            rate = "diverged" if trial.value is None else f"{trial.value:.4f}"
            table.writerow([trial.number, rate, *values_of(sweep, trial).values()])


def lines(sweep: Sweep, trials: list[Any]) -> list[str]:
    """Return a line for each trial, best first."""
    rows = []
    for trial in ranked(trials):
        told = "diverged" if trial.value is None else f"win rate {100 * trial.value:.1f} %"
        values = values_of(sweep, trial).items()
        shown = (
            f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in values
        )
        rows.append(f"trial {trial.number}: {told}, {', '.join(shown)}")
    return rows


def draw(sweep: Sweep, trials: list[Any], folder: Path) -> None:
    """Draw the win rates to PICTURE: one panel for each key. The colours show the numbers of the trials."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    done = [trial for trial in trials if trial.value is not None]
    figure = Figure(figsize=(3 * len(sweep.keys) + 1, 3.2), layout="constrained")
    panels = figure.subplots(1, len(sweep.keys), sharey=True, squeeze=False)[0]
    for (key, values), panel in zip(sweep.keys.items(), panels, strict=True):
        drawn = [values_of(sweep, trial)[key] for trial in done]
        if isinstance(values, Span):
            panel.set_xscale("log" if values.log else "linear")
        else:
            panel.set_xticks(range(len(values)), [str(value) for value in values])
            drawn = [values.index(value) for value in drawn]
        points = panel.scatter(drawn, [t.value for t in done], c=[t.number for t in done])
        panel.set_xlabel(key)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("win rate")
    figure.colorbar(points, ax=panels, label="trial", ticks=MaxNLocator(integer=True))
    with whole_file(folder / PICTURE) as fresh:
        figure.savefig(fresh, dpi=120, format="png")
